"""Negative controls through the front door: estimators and releases as users call them, replayed and run many times.

Replays are exact, for the answers that they look at, and use seeds; runs draw real noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone

import tacit
from tacit.audit.entries import Entry, Target, by_replay, by_runs
from tacit.audit.neighbours import (
    Pair,
    Scored,
    Table,
    many_rows,
    many_texts,
    person_pairs,
    scored_pairs,
    table_pairs,
    text_pairs,
)
from tacit.audit.replay import Procedure
from tacit.desk import roc_family
from tacit.desk.scores import release_scores
from tacit.privacy.budget import Budget
from tacit.privacy.unit import Unit

DELTA = 1e-5
COLOURS = ("red", "green", "blue")
SCHEMA = """
label = {classes = [0, 1]}
[columns.colour]
kind = "category"
values = ["red", "green", "blue"]
[columns.size]
kind = "category"
values = ["small", "large"]
"""
NOTES = {
    "label": {"classes": [0, 1]},
    "columns": {"letter": {"kind": "category", "values": ["c", "s"]}, "note": {"kind": "text", "bits": 4}},
}

PUBLIC = [
    f"hello {'word' if i % 2 else 'you'} {'call' if i % 3 else 'free'} {'there' if i % 5 else 'now'}" for i in range(80)
]


# -- replays ----------------------------------------------------------------------------------------------------------


def _fit(make: Callable[..., Any], **parameters: Any) -> Callable[[float], Procedure]:
    """Fit an estimator to a table."""
    return lambda epsilon: lambda data, seed: make(epsilon=epsilon, random_state=seed, **parameters).fit(data.X, data.y)


def _fit_texts(epsilon: float) -> Procedure:
    return lambda data, seed: tacit.TextClassifier(epsilon, bits=4, random_state=seed).fit(data.texts, data.y)


def _fit_topics(epsilon: float) -> Procedure:
    """The same with topics of public texts; sums are of few numbers then."""
    model = tacit.TextClassifier(epsilon, bits=4, public_text=PUBLIC)
    return lambda data, seed: clone(model).set_params(random_state=seed).fit(data.texts, data.y)


def _fit_text_and_columns(epsilon: float) -> Procedure:
    """A table of a text and a column: the text's own first letter."""
    model = tacit.TabularClassifier(epsilon, schema=tacit.Schema.from_dict(NOTES))
    return lambda data, seed: clone(model).set_params(random_state=seed).fit(_notes(data), data.y)


def _notes(data: Any) -> pl.DataFrame:
    return pl.DataFrame({"letter": [text[:1] for text in data.texts], "note": pl.Series(data.texts, dtype=pl.String)})


def _fit_columns(epsilon: float) -> Procedure:
    """The form by counts; the default may be a regression, which has no law in closed form."""
    model = tacit.TabularClassifier(epsilon, schema=tacit.Schema.from_toml(SCHEMA), max_ones=2)
    return lambda data, seed: clone(model).set_params(random_state=seed).fit(_columns(data), data.y)


def _columns(data: Table) -> pl.DataFrame:
    colours = [COLOURS[int(place)] for place in np.nan_to_num(data.X[:, 0], posinf=2, neginf=0).clip(0, 2)]
    return pl.DataFrame({"colour": colours, "size": ["large" if x else "small" for x in data.X[:, 1]]})


def _fit_persons(epsilon: float) -> Procedure:
    unit = Unit.user("person", max_rows=2)

    def run(data: Table, seed: int) -> Any:
        account = tacit.Ledger.open().account("persons", budget=Budget(epsilon), unit=unit)
        model = tacit.BernoulliNB(epsilon, max_ones=1, account=account, random_state=seed)
        return model.fit(data.X, data.y, persons=data.persons)

    return run


def _curve(epsilon: float) -> Procedure:
    """The release behind ``tacit.roc_curve``; drawing the curve from it costs time and no privacy."""

    def run(data: Scored, seed: int) -> Any:
        return release_scores(
            data.y,
            data.scores,
            budget=Budget(epsilon),
            pos_label=1,
            score_range=(0.0, 1.0),
            persons=None,
            account=None,
            random_state=seed,
        )

    return run


def _family(**options: Any) -> Callable[[float], Procedure]:
    """The paper's curves in sound form."""
    return lambda epsilon: (
        lambda data, seed: tacit.roc_curve(data.y, data.scores, epsilon=epsilon, random_state=seed, **options)
    )


def _chain(epsilon: float) -> Procedure:
    def run(data: Table, seed: int) -> Any:
        selector = tacit.CountSelector(k=3, epsilon=epsilon / 4, random_state=seed)
        classifier = tacit.BernoulliNB(3 * epsilon / 4, max_ones=2, random_state=seed)
        return tacit.SelectingClassifier(classifier, selector).fit(data.X, data.y)

    return run


def _workflow(epsilon: float) -> Procedure:
    """Split, train and evaluate: ε in all."""
    return lambda data, seed: tacit.Workflow(epsilon, random_state=seed).run(data.X, data.y)


def _split(epsilon: float) -> Procedure:
    """Both parts of a split are counted, each for ε: in parallel that costs ε."""

    def run(data: Table, seed: int) -> Any:
        X_train, X_test, y_train, y_test = tacit.split(data.X, data.y, 0.5, random_state=seed)
        for X, y in ((X_train, y_train), (X_test, y_test)):
            tacit.BernoulliNB(epsilon, max_ones=3, random_state=seed).fit(X, y)

    return run


def _replays() -> Iterator[Entry]:
    tables = table_pairs
    cases: list[tuple[str, Callable[[float], Procedure], tuple[str, ...], int]] = [
        ("BernoulliNB.fit", _fit(tacit.BernoulliNB, max_ones=3), ("BernoulliNB",), 0),
        ("BernoulliNB.fit, default bound", _fit(tacit.BernoulliNB), ("BernoulliNB",), 0),
        ("TabularClassifier.fit", _fit_columns, ("TabularClassifier",), 0),
        ("CountSelector.fit", _fit(tacit.CountSelector, k=2), ("CountSelector",), 0),
        ("CountSelector.fit, two rounds", _fit(tacit.CountSelector, k=2, rounds=2), ("CountSelector",), 0),
        ("TopKSelector.fit", _fit(tacit.TopKSelector, k=2), ("TopKSelector",), 30),
        ("TopKSelector.fit by difference", _fit(tacit.TopKSelector, k=1, score="dc"), ("TopKSelector",), 30),
        (
            "ThresholdSelector.fit",
            _fit(tacit.ThresholdSelector, threshold=4, max_selected=1),
            ("ThresholdSelector",),
            30,
        ),
        ("split, then counts of both parts", _split, ("split",), 0),
    ]
    for name, procedure, covers, tries in cases:
        yield by_replay(name, procedure, tables, covers=covers, tries=tries)
    yield by_replay("BernoulliNB.fit for persons", _fit_persons, person_pairs, covers=("BernoulliNB",))
    yield by_replay("TextClassifier.fit", _fit_texts, text_pairs, covers=("TextClassifier",))
    yield by_replay("TextClassifier.fit, topics", _fit_topics, text_pairs, covers=("TextClassifier",))
    mixed = "TabularClassifier.fit of text and a column"
    yield by_replay(mixed, _fit_text_and_columns, text_pairs, covers=("TabularClassifier",))
    yield by_replay("roc_curve", _curve, scored_pairs, covers=("roc_curve",), outputs=2)
    for method in roc_family.METHODS:
        name = f"roc_curve by {method}"
        covers = ("roc_curve", "SmoothNoise") if method == "recursive-medians" else ("roc_curve",)
        yield by_replay(name, _family(method=method, bins=4), scored_pairs, covers=covers, outputs=2)
    few = (0.1, 1.0, 4.0)
    cluster = _fit(tacit.ClusterSelector, threshold=4, n_clusters=2)
    yield by_replay("ClusterSelector.fit", cluster, tables, covers=("ClusterSelector",), outputs=2, epsilons=few)
    yield by_replay("SelectingClassifier.fit", _chain, tables, covers=("SelectingClassifier",), epsilons=few)
    yield by_replay("Workflow.run", _workflow, lambda: tables()[:5:2], covers=("Workflow",), outputs=2, epsilons=few)


# -- runs -------------------------------------------------------------------------------------------------------------


def _many(run: Callable[[float], Callable[[Any], Any]], pair: Pair) -> Callable[[float], Target]:
    """A function of one data set, run again and again."""

    def target(epsilon: float) -> Target:
        once = run(epsilon)
        return Target(lambda data, runs: [once(data) for _ in range(runs)], (pair.first, pair.second), Budget(epsilon))

    return target


def _naive_bayes(epsilon: float) -> Callable[[Table], Any]:
    def run(data: Table) -> Any:
        model = tacit.BernoulliNB(epsilon, max_ones=1).fit(data.X, data.y)
        return model.feature_count_, model.class_count_

    return run


def _naive_bayes_of_persons(epsilon: float) -> Callable[[Table], Any]:
    unit = Unit.user("person", max_rows=2)

    def run(data: Table) -> Any:
        account = tacit.Ledger.open().account("persons", budget=Budget(epsilon), unit=unit)
        model = tacit.BernoulliNB(epsilon, max_ones=1, account=account).fit(data.X, data.y, persons=data.persons)
        return model.feature_count_, model.class_count_

    return run


def _logistic(epsilon: float) -> Callable[[Table], Any]:
    def run(data: Table) -> Any:
        model = tacit.LogisticRegression(epsilon).fit(data.X[:, :1], data.y)
        return model.coef_, model.intercept_

    return run


def _tabular(epsilon: float) -> Callable[[Table], Any]:
    schema = tacit.Schema.from_toml(SCHEMA)

    def run(data: Table) -> Any:
        model = tacit.TabularClassifier(epsilon, schema=schema).fit(_columns(data), data.y)
        return model.weights_, model.intercept_, model.clearness_

    return run


def _text(epsilon: float) -> Callable[[Any], Any]:
    def run(data: Any) -> Any:
        model = tacit.TextClassifier(epsilon, bits=4).fit(data.texts, data.y)
        return model.rules_.weights, model.choice_

    return run


def _roc(epsilon: float) -> Callable[[Scored], Any]:
    def run(data: Scored) -> Any:
        curve = tacit.roc_curve(data.y, data.scores, epsilon=epsilon)
        return curve.auc, curve.tpr[:8], curve.fpr[:8]

    return run


def _tune(epsilon: float) -> Callable[[Table], Any]:
    def run(data: Table) -> Any:
        candidates = [tacit.BernoulliNB(max_ones=1), tacit.BernoulliNB(max_ones=2)]
        best = tacit.tune(candidates, data.X, data.y, epsilon=epsilon)
        return best.candidate, best.score, best.model.class_count_

    return run


def _split_counts(epsilon: float) -> Callable[[Table], Any]:
    def run(data: Table) -> Any:
        parts = tacit.split(data.X, data.y, 0.5)
        return [tacit.BernoulliNB(epsilon, max_ones=1).fit(parts[i], parts[2 + i]).class_count_ for i in (0, 1)]

    return run


def _threshold(epsilon: float) -> Callable[[Table], Any]:
    return lambda data: tacit.ThresholdSelector(4, 1, epsilon=epsilon).fit(data.X[:, :3], data.y).answers_


def _screening(epsilon: float) -> Callable[[Table], Any]:
    return lambda data: tacit.ThresholdSelector(4, None, epsilon=epsilon).fit(data.X[:, :3], data.y).answers_


def _top(epsilon: float) -> Callable[[Table], Any]:
    return lambda data: tacit.TopKSelector(1, epsilon=epsilon).fit(data.X[:, :3], data.y).ranking_


def _runs() -> Iterator[Entry]:
    tables = {pair.name: pair for pair in table_pairs()}
    one, empty = tables["no rows at all"], scored_pairs()[0]
    fits: list[tuple[str, Callable[[float], Callable[[Any], Any]], Pair, int, str]] = [
        ("BernoulliNB.fit, many runs", _naive_bayes, one, 1_500, "BernoulliNB"),
        ("BernoulliNB.fit for persons, many runs", _naive_bayes_of_persons, person_pairs()[2], 1_500, "BernoulliNB"),
        ("LogisticRegression.fit, many runs", _logistic, one, 1_000, "LogisticRegression"),
        ("TabularClassifier.fit, many runs", _tabular, one, 400, "TabularClassifier"),
        ("TextClassifier.fit, many runs", _text, text_pairs()[0], 800, "TextClassifier"),
        ("roc_curve, many runs", _roc, empty, 300, "roc_curve"),
        ("tune, many runs", _tune, one, 200, "tune"),
        ("split, then counts of both parts, many runs", _split_counts, one, 600, "split"),
        ("ThresholdSelector.fit, many runs", _threshold, tables["rows at a threshold"], 1_500, "ThresholdSelector"),
        ("screening, many runs", _screening, one, 600, "Screening"),
        ("TopKSelector.fit, many runs", _top, tables["the order of two scores"], 1_500, "TopKSelector"),
    ]
    for name, run, pair, number, covered in fits:
        yield by_runs(name, _many(run, pair), runs=number, covers=(covered,))
    learnt = _many(_text, many_texts())
    yield by_runs("TextClassifier.fit by regression", learnt, runs=200, covers=("TextClassifier",), epsilons=(4.0,))
    for name, pair in (("", many_rows()), (" and counts", many_rows(times=200))):
        regressed = _many(_tabular, pair)
        called = f"TabularClassifier.fit by regression{name}"
        yield by_runs(called, regressed, runs=300, covers=("TabularClassifier",), epsilons=(4.0,))


REPLAYS = list(_replays())
RUNS = list(_runs())
