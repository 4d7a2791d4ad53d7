"""A parameter of the wrong type is refused by name, in the one sentence of all errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.scoring import evaluate

X, Y = np.eye(4)[np.arange(100) % 4], [1, 0] * 50
TEXTS = ["win cash now", "see you at lunch"] * 50

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "alpha": (lambda: tacit.BernoulliNB(alpha="1").fit(X, Y), "'alpha' parameter of BernoulliNB"),  # type: ignore[arg-type]
    "NaN": (lambda: tacit.BernoulliNB(alpha=float("nan")).fit(X, Y), "'alpha' parameter of BernoulliNB"),
    "counts": (
        lambda: tacit.CountSelector(threshold="9").fit(X, Y),  # type: ignore[arg-type]
        "'threshold' parameter of CountSelector",
    ),
    "threshold": (
        lambda: tacit.ThresholdSelector("9").fit(X, Y),  # type: ignore[arg-type]
        "'threshold' parameter of ThresholdSelector",
    ),
    "clusters": (
        lambda: tacit.ClusterSelector(threshold=None).fit(X, Y),  # type: ignore[arg-type]
        "'threshold' parameter of ClusterSelector",
    ),
    "loss": (
        lambda: tacit.LogisticRegression(loss=["huber"]).fit(X, Y),  # type: ignore[arg-type]
        "'loss' parameter of LogisticRegression",
    ),
    "bits": (lambda: tacit.TextClassifier(bits=14.0).fit(TEXTS, Y), "'bits' parameter of TextClassifier"),  # type: ignore[arg-type]
    "array": (
        lambda: tacit.BernoulliNB(max_ones=np.array([1, 2])).fit(X, Y),  # type: ignore[arg-type]
        "'max_ones' parameter of BernoulliNB",
    ),
    "array of seeds": (
        lambda: tacit.BernoulliNB(random_state=np.array([1, 2])).fit(X, Y),  # type: ignore[arg-type]
        "'random_state' parameter of BernoulliNB",
    ),
    "smoothing": (lambda: tacit.BernoulliNB(alpha=1e308).fit(X, Y), "'alpha' parameter of BernoulliNB"),
    "words": (
        lambda: tacit.TextClassifier(word_list=["en"]).fit(TEXTS, Y),  # type: ignore[arg-type]
        "'word_list' parameter of TextClassifier",
    ),
    "public text": (
        lambda: tacit.TextClassifier(public_text="abc").fit(TEXTS, Y),
        "'public_text' parameter of TextClassifier",
    ),
    "a generator": (
        lambda: tacit.TextClassifier(public_text=(text for text in TEXTS)).fit(TEXTS, Y),
        r"'public_text' parameter of TextClassifier .* list\(texts\)",
    ),
    "a text alone": (
        lambda: tacit.TextClassifier().fit(TEXTS, Y).predict("win"),
        r"'X' parameter of TextClassifier .* \[text\]",
    ),
    "two columns of scores": (
        lambda: tacit.roc_curve(Y, X[:, :2], epsilon=1.0),
        r"'y_score' parameter of roc_curve .*predict_proba\(X\)\[:, 1\]",
    ),
    "two columns of labels": (
        lambda: tacit.roc_curve(X[:, :2], Y, epsilon=1.0),
        r"'y_true' parameter of roc_curve .* one column",
    ),
    "no version": (lambda: tacit.roc_curve(Y, Y, epsilon=1.0, version=""), "'version' parameter of roc_curve"),
    "blank version": (lambda: tacit.Workflow(version=" "), "'version' parameter of Workflow"),
    "version": (
        lambda: tacit.roc_curve(Y, Y, epsilon=1.0, version=3),  # type: ignore[arg-type]
        "'version' parameter of roc_curve",
    ),
    "account": (lambda: tacit.split(X, Y, account="x"), "'account' parameter of split"),  # type: ignore[arg-type]
    "seed": (lambda: tacit.split(X, Y, random_state="a"), "'random_state' parameter of split"),  # type: ignore[arg-type]
    "shares": (lambda: tacit.Workflow(shares=[0.5]), "'shares' parameter of Workflow"),  # type: ignore[arg-type]
    "workflow's seed": (lambda: tacit.Workflow(random_state="a"), "'random_state' parameter of Workflow"),  # type: ignore[arg-type]
    "number of rows": (lambda: tacit.Workflow(test_size=30).run(X, Y), "'test_size' parameter of Workflow"),
    "class": (
        lambda: tacit.Workflow(classifier=tacit.BernoulliNB).run(X, Y),
        "'classifier' parameter of Workflow",
    ),
    "ε": (lambda: tacit.roc_curve(Y, X[:, 0], epsilon=0), "'epsilon' parameter of roc_curve"),
    "δ": (lambda: tacit.roc_curve(Y, X[:, 0], epsilon=1, delta=2), "'delta' parameter of roc_curve"),
    "positive label": (lambda: tacit.roc_curve(Y, X[:, 0], epsilon=1, pos_label=None), "'pos_label' parameter"),
    "no number": (lambda: tacit.roc_curve(Y, X[:, 0], epsilon=1, pos_label=np.nan), "'pos_label' parameter"),
    "curve's seed": (
        lambda: tacit.roc_curve(Y, X[:, 0], epsilon=1, random_state="a"),  # type: ignore[arg-type]
        "'random_state' parameter of roc_curve",
    ),
    "lazy frame": (lambda: tacit.split(pl.LazyFrame({"a": Y}), Y), "'X' parameter of split.*Collect it"),
    "generator": (lambda: tacit.split(X, (label for label in Y)), "'y' parameter of split"),
    "dictionary": (lambda: tacit.split({"a": Y}, Y), "'X' parameter of split"),
    "frame": (lambda: tacit.TextClassifier().fit(pl.DataFrame({"a": TEXTS}), Y), r"TextClassifier.*one column of it"),
    "generated labels": (lambda: tacit.TextClassifier().fit(TEXTS, (y for y in Y)), "'y' must be .* Got generator"),
    "list of lists": (lambda: tacit.Workflow().run(X.tolist(), Y), "'X' parameter of Workflow.run"),
    "list of arrays": (lambda: tacit.Workflow().run(list(X), Y), "np.asarray"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_type_is_refused_by_name(name: str) -> None:
    run, words = WRONG[name]
    with pytest.raises(tacit.ParameterError, match=words):
        run()


def test_a_list_among_texts_is_one_more_text() -> None:
    odd: list[Any] = [*TEXTS, ["no", "text"]]
    result = tacit.Workflow(random_state=0).run(odd, [*Y, 1])
    assert isinstance(result.model, tacit.TextClassifier)


def test_a_generator_of_numpy_is_a_seed() -> None:
    for fit in (
        lambda state: tacit.BernoulliNB(random_state=state).fit(X, Y).receipt_,
        lambda state: tacit.TextClassifier(random_state=state).fit(TEXTS, Y).receipt_,
        lambda state: tacit.roc_curve(Y, X[:, 0], epsilon=1, random_state=state).receipt,
    ):
        assert "not private" in fit(np.random.RandomState(0))["status"]


AGES = tacit.Schema.from_dict(
    {"label": {"column": "y", "classes": [0, 1]}, "columns": {"age": {"kind": "number", "low": 0, "high": 99}}}
)
LAZY: dict[str, Callable[[pl.LazyFrame, Any], Any]] = {
    "matrix": lambda X, _: tacit.BernoulliNB().fit(X.select("age"), np.zeros(300)),
    "selector": lambda X, _: tacit.TopKSelector(1).fit(X.select("age"), np.zeros(300)),
    "chosen": lambda X, _: tacit.TopKSelector(1).fit(np.ones((300, 1)), np.zeros(300)).transform(X),
    "table": lambda X, a: tacit.TabularClassifier(schema=AGES, account=a).fit(X),
    "chain": lambda X, _: tacit.SelectingClassifier(tacit.BernoulliNB(), schema=AGES).fit(X, np.zeros(300)),
    "text": lambda X, _: tacit.TextClassifier().fit(X.select("age"), np.zeros(300)),
    "black box": lambda X, _: tacit.BlackBoxClassifier(tacit.BernoulliNB(), epsilon=1.0).fit(X, np.zeros(300)),
    "workflow": lambda X, a: tacit.Workflow(schema=AGES, account=a).run(X),
    "workflow of texts": lambda X, a: tacit.Workflow(text="age", label="y", account=a).run(X),
    "tuning": lambda X, _: tacit.tune([tacit.BernoulliNB()], X, np.zeros(300), epsilon=1.0),
    "split": lambda X, _: tacit.split(X, np.zeros(300)),
    "evaluation": lambda X, a: evaluate(table_model(), X, epsilon=1.0, account=a, label="y"),
    "prediction": lambda X, _: table_model().predict(X),
}


def table_model() -> Any:
    return tacit.TabularClassifier(schema=AGES).fit(pl.DataFrame({"age": [1, 99] * 9, "y": [0, 1] * 9}))


@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_frame_is_refused_whatever_its_rows(name: str, tmp_path: Path) -> None:
    """It failed if and only if a row has a text behind those that its types were guessed from, and quoted that text."""
    lines = ["age,y", *(f"{i % 60},{i % 2}" for i in range(300))]
    errors = []
    for more in ([], ["Jane Doe,1"]):
        file = tmp_path / "d.csv"
        file.write_text("\n".join([*lines, *more]) + "\n")
        account = tacit.Ledger.open().account("a", budget=tacit.Budget(1.0))
        with pytest.raises(tacit.ParameterError, match=r"'X' parameter of .*LazyFrame") as caught:
            LAZY[name](pl.scan_csv(file), account)
        errors.append(str(caught.value))
        assert not account.entries()
    assert errors[0] == errors[1]
    assert "Jane" not in errors[1]


@pytest.mark.parametrize("make", [tacit.BernoulliNB, lambda **o: tacit.TopKSelector(2, **o)])
def test_an_arrow_table_has_names_and_is_selected_from(make: Any) -> None:
    frame = pl.DataFrame(X, schema=list("abcd"[: X.shape[1]]))
    for table in (frame.to_arrow(), frame.to_arrow().to_batches()[0]):
        fitted = make(random_state=0).fit(table, Y)
        assert fitted.feature_names_in_.tolist() == frame.columns
        use = fitted.transform if hasattr(fitted, "transform") else fitted.predict_proba
        assert np.array_equal(use(table), use(frame))
        with pytest.raises(ValueError, match="feature names should match"):
            use(frame.select(reversed(frame.columns)).to_arrow())


def test_a_chain_takes_no_path_in_place_of_a_schema() -> None:
    chained = tacit.SelectingClassifier(tacit.BernoulliNB(), schema="visits.toml")
    with pytest.raises(tacit.ParameterError, match=r"'schema' parameter of SelectingClassifier .* tacit\.Schema\.load"):
        chained.fit([[1]], [1])
