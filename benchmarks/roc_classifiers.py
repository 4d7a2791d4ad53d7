"""Private ROC curves of many kinds of classifier, those with few scores and with scores of exactly 0 and 1 among them.

    TACIT_DATA=folder python benchmarks/roc_classifiers.py [--quick] [--json] [--runs N] [--only NAME,NAME]

For trees, neighbours, forests, Naive Bayes, boosting and rounded or hard predictions on five published sets and the
digits that scikit-learn brings: test sets of 400, 2,000 and 10,000 rows are drawn with replacement, and it is counted
how often interval and band hold the population, how wide they are, and how far the curve is from the test set's.
``--json``: the last line is a flat object of ratios, area off for a guess drawn without data ÷ ours, larger is better.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from tacit.data import datasets
from tacit.data.datasets import DatasetError

sys.path.insert(0, str(Path(__file__).parent))
from roc_accuracy import EPSILONS, GUESS, MIDDLES, TestSet, Truth, area_of, exact_curve, private_curve, truth_of
from roc_accuracy import INNER as HELD
from support.roc_sets import Floats, Population

SIZES = (400, 2_000, 10_000)
Found = Iterator[tuple[str, Population]]


def parted(labels: Any, scores: Floats) -> Population:
    return scores[labels == 0], scores[labels == 1]


def of_adult() -> Found:
    """Income: trained on the published part for training, or its first rows."""
    train, test = (datasets.load_adult(part, form="binary") for part in ("train", "test"))
    X, X_test = train.matrix.toarray(), test.matrix.toarray()
    models: dict[str, tuple[Any, int]] = {
        "tree of 8 leaves": (DecisionTreeClassifier(max_depth=3, random_state=0), len(X)),
        "tree of 48 leaves": (DecisionTreeClassifier(max_depth=6, random_state=0), len(X)),
        "full tree": (DecisionTreeClassifier(random_state=0), 5_000),
        "5 neighbours": (KNeighborsClassifier(5), 4_000),
        "25 neighbours": (KNeighborsClassifier(25), 4_000),
        "forest of 10": (RandomForestClassifier(10, random_state=0), 5_000),
        "forest of 100": (RandomForestClassifier(100, min_samples_leaf=5, random_state=0), 5_000),
        "Bernoulli NB": (BernoulliNB(), len(X)),
        "Gaussian NB": (GaussianNB(), len(X)),
        "boosting": (HistGradientBoostingClassifier(random_state=0), len(X)),
    }
    for name, (model, rows) in models.items():
        scores = model.fit(X[:rows], train.labels[:rows]).predict_proba(X_test)[:, 1]
        yield f"ADULT {name}", parted(test.labels, scores)
    for name, some in (("decisions", (scores >= 0.5).astype(float)), ("1 decimal", np.round(scores, 1))):
        yield f"ADULT boosting, {name}", parted(test.labels, some)
    yield "ADULT boosting, 2 decimals", parted(test.labels, np.round(scores, 2))


def of_diabetes() -> Found:
    """Readmission: trained on 30,000 stays."""
    data = datasets.load_diabetes()
    few = [name for name in data.frame.columns if data.frame[name].n_unique() <= 120]
    X = OneHotEncoder(handle_unknown="ignore").fit_transform(data.frame.select(few).cast(str).to_numpy())
    order = np.random.default_rng(0).permutation(len(data.labels))
    train, test = order[:30_000], order[30_000:]
    models = {
        "tree of 13 leaves": DecisionTreeClassifier(max_depth=4, random_state=0),
        "Bernoulli NB": BernoulliNB(),
        "balanced regression": LogisticRegression(max_iter=200, class_weight="balanced", C=0.1),
    }
    for name, model in models.items():
        scores = model.fit(X[train], data.labels[train]).predict_proba(X[test])[:, 1]
        yield f"DIABETES {name}", parted(data.labels[test], scores)


def of_twitter() -> Found:
    """Mood of tweets: trained on 20,000."""
    data, first = datasets.load_twitter(120_000), 20_000
    texts = data.texts.to_list()
    small = CountVectorizer(max_features=30, binary=True)
    models = {
        "regression": make_pipeline(TfidfVectorizer(min_df=3), LogisticRegression(max_iter=200)),
        "tree of 30 leaves": make_pipeline(small, DecisionTreeClassifier(max_depth=5, random_state=0)),
    }
    for name, model in models.items():
        scores = model.fit(texts[:first], data.labels[:first]).predict_proba(texts[first:])[:, 1]
        yield f"TWITTER {name}", parted(data.labels[first:], scores)


def of_texts() -> Found:
    """Spam, and topics of articles: each fold scored by the others."""
    sms, reuters = datasets.load_sms(), datasets.load_reuters()
    forest = RandomForestClassifier(30, random_state=0)
    cases: list[tuple[str, Any, list[str], Any]] = [
        ("SMS regression", make_pipeline(TfidfVectorizer(), LogisticRegression()), sms.texts.to_list(), sms.labels),
        ("SMS forest of 30", make_pipeline(CountVectorizer(max_features=300), forest), sms.texts.to_list(), sms.labels),
        (
            "SMS 5 neighbours",
            make_pipeline(TfidfVectorizer(), KNeighborsClassifier(5)),
            sms.texts.to_list(),
            sms.labels,
        ),
        (
            "REUTERS Bernoulli NB",
            make_pipeline(CountVectorizer(binary=True, max_features=2_000), BernoulliNB()),
            reuters.texts.to_list(),
            reuters.labels,
        ),
        (
            "REUTERS titles",
            make_pipeline(CountVectorizer(binary=True, max_features=60), LogisticRegression()),
            [text[:60] for text in reuters.texts.to_list()],
            reuters.labels,
        ),
    ]
    for name, model, texts, labels in cases:
        yield name, parted(labels, cross_val_predict(model, texts, labels, cv=5, method="predict_proba")[:, 1])


def of_digits() -> Found:
    """Whether a digit is an eight; whether it is odd."""
    X, y = load_digits(return_X_y=True)
    cases = {
        "DIGITS eight": (LogisticRegression(max_iter=300, C=1e-3), (y == 8).astype(int)),
        "DIGITS odd, Gaussian NB": (GaussianNB(), y % 2),
    }
    for name, (model, labels) in cases.items():
        yield name, parted(labels, cross_val_predict(model, X, labels, cv=5, method="predict_proba")[:, 1])


SOURCES: tuple[Callable[[], Found], ...] = (of_adult, of_diabetes, of_twitter, of_texts, of_digits)


def classifiers(sources: tuple[Callable[[], Found], ...]) -> Found:
    """All of them; those of a file that is missing are left out, and said so."""
    for source in sources:
        try:
            yield from source()
        except DatasetError as error:
            print(f"Left out: {error}")


def one_run(test: TestSet, truth: Truth, epsilon: float, rng: np.random.Generator) -> list[float]:
    """Whether interval and band hold, their widths, and areas off for the curve and for the guess."""
    drawn = test.drawn(truth.scores, rng, replace=True)
    curve = private_curve(drawn, epsilon, rng)
    low, high = (np.interp(MIDDLES, curve.fpr, side) for side in curve.band())
    first, last = curve.auc_interval()
    exact = np.interp(MIDDLES, *exact_curve(*drawn))
    off = [1e4 * float(np.abs(one - exact).mean()) for one in (np.interp(MIDDLES, curve.fpr, curve.tpr), GUESS)]
    held = ((low <= truth.curve) & (truth.curve <= high))[HELD].all()
    return [float(first <= truth.area <= last), float(held), last - first, float((high - low).mean()), *off]


def table(found: Found, sizes: tuple[int, ...], runs: int) -> Iterator[tuple[str, float]]:
    """Print the table; yield names and ratios."""
    print(f"{'classifier':>28} {'rows':>6} {'ε':>5}  {'AUC':>5} {'width':>6}  {'curve':>5} {'width':>6}  {'error':>6}")
    for name, scores in found:
        truth, rows = truth_of(scores), sum(len(part) for part in scores)
        scored = len(np.unique(np.concatenate(scores)))
        print(f"{name:>28}  AUC {area_of(scores):.3f}, {scored:,} scores", flush=True)
        for size in sizes:
            if size > rows:
                continue
            positives = max(round(size * len(scores[1]) / rows), 5)
            test = TestSet(name, size - positives, positives)
            for epsilon in EPSILONS:
                rng = np.random.default_rng([size, round(1000 * epsilon)])
                measured = np.array([one_run(test, truth, epsilon, rng) for _ in range(runs)])
                auc, band, auc_width, width = measured[:, :4].mean(axis=0)
                error, guess = np.median(measured[:, 4:], axis=0)
                row = f"{'':>28} {size:6d} {epsilon:5g}  {auc:5.2f} {auc_width:6.3f}  {band:5.2f} {width:6.3f}"
                print(f"{row}  {error:6.0f}", flush=True)
                yield f"area_{name.replace(' ', '_').replace(',', '')}_{size}_eps{epsilon:g}", float(guess / error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="digits alone, 400 rows, five runs of each")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--runs", type=int, default=100, help="runs of each cell")
    parser.add_argument("--only", help="names of classifiers that begin so, such as 'ADULT tree,SMS'; default: all")
    options = parser.parse_args()
    sources, sizes = (SOURCES, SIZES) if not options.quick else ((of_digits,), SIZES[:1])
    begins = tuple(options.only.split(",")) if options.only else ("",)
    found = (pair for pair in classifiers(sources) if pair[0].startswith(begins))
    ratios = dict(table(found, sizes, 5 if options.quick else options.runs))
    if options.json:
        print(json.dumps({name: round(ratio, 3) for name, ratio in ratios.items()}))


if __name__ == "__main__":
    main()
