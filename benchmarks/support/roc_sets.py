"""Populations of scores for the ROC benchmarks: made-up shapes, and plain classifiers on five published sets.

A population is a pair of arrays, scores of negatives and of positives, from which test sets are drawn with replacement;
so the population's own curve is known, and it can be checked how often a band holds it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from tacit.data import datasets

Floats = NDArray[np.float64]
Population = tuple[Floats, Floats]
SHAPE_ROWS = 200_000  # of each class of a shape


def shapes(rng: np.random.Generator, n0: int = SHAPE_ROWS, n1: int = SHAPE_ROWS) -> dict[str, Population]:
    """Nine ways in which scores of two classes can lie: AUC from 0.5 to 0.98."""

    def normal(n: int) -> Floats:
        return rng.standard_normal(n)

    mixed, hard = rng.random(n1) < 0.5, rng.random(n0) < 0.3
    return {
        "chance": (expit(normal(n0)), expit(normal(n1))),
        "weak": (expit(normal(n0)), expit(normal(n1) + 0.7)),
        "middling": (expit(2 * normal(n0) - 1), expit(2 * normal(n1) + 1.4)),
        "good": (expit(3 * normal(n0) - 3), expit(3 * normal(n1) + 3)),
        "strong": (expit(4 * normal(n0) - 4), expit(4 * normal(n1) + 7.6)),
        "wide": (expit(normal(n0)), expit(1.8 * normal(n1) + 1.5)),
        "narrow": (expit(normal(n0)), expit(0.5 * normal(n1) + 0.8)),
        "mixed": (expit(normal(n0)), expit(normal(n1) + 3 * mixed)),
        "hard": (rng.beta(np.where(hard, 5, 1), np.where(hard, 2, 6)), rng.beta(5, 2, n1)),
    }


def odd_shapes(rng: np.random.Generator, n: int = SHAPE_ROWS) -> dict[str, Population]:
    """Thirteen ways that the nine leave out: scores that crowd, calibrated ones, nearly perfect ones, and ties."""

    def normal(mean: float | Floats, spread: float) -> Floats:
        return np.asarray(expit(mean + spread * rng.standard_normal(n)))

    def calibrated(scores: Floats) -> Population:
        return _parted((rng.random(len(scores)) < scores).astype(np.int64), scores)

    def some(share: float) -> NDArray[np.bool_]:
        return rng.random(n) < share

    skewed = calibrated(expit(-3 + 0.6 * rng.gamma(2, 1, 4 * n)))
    low = rng.random(len(skewed[0])) < 0.03
    five = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    return {
        "crowd": calibrated(expit(-2.1 + 0.35 * rng.standard_normal(4 * n))),
        "tight": calibrated(0.3 + 0.05 * rng.standard_normal(2 * n).clip(-4, 4)),
        "skewed": skewed,
        "lump": (np.where(low, expit(-6 + 0.5 * rng.standard_normal(len(low))), skewed[0]), skewed[1]),
        "beta": calibrated(rng.beta(1, 3, 2 * n)),
        "bimodal": calibrated(rng.beta(0.25, 0.35, 2 * n)),
        "near": (normal(-9, 3.5), normal(7, 5)),
        "heavy": (expit(-10 + 2.5 * rng.standard_t(3, n)), expit(8 + 4 * rng.standard_t(3, n))),
        "text": (normal(-12, 6), normal(np.where(some(0.12), -2.0, 12.0), 5)),
        "hopeless": (normal(-6, 2), normal(np.where(some(0.03), -5.0, 6.0), 2)),
        "floor": (np.where(some(0.5), 0.0, normal(-1, 1)), np.where(some(0.1), 0.0, normal(0.6, 1))),
        "answers": (some(0.15).astype(np.float64), some(0.75).astype(np.float64)),
        "five": (
            rng.choice(five, n, p=[0.4, 0.25, 0.2, 0.1, 0.05]),
            rng.choice(five, n, p=[0.05, 0.15, 0.2, 0.3, 0.3]),
        ),
    }


def _parted(labels: NDArray[np.int64], scores: Floats) -> Population:
    return scores[labels == 0], scores[labels == 1]


def sms() -> Population:
    """Spam, by Naive Bayes on words: ten folds, each scored by the nine others."""
    data = datasets.load_sms()
    model = make_pipeline(CountVectorizer(binary=True), BernoulliNB())
    found = cross_val_predict(model, data.texts.to_list(), data.labels, cv=10, method="predict_proba")
    return _parted(data.labels, found[:, 1])


def twitter() -> Population:
    """Mood of tweets, by Naive Bayes trained on 6,600 of them."""
    data = datasets.load_twitter(120_000)
    texts, first = data.texts.to_list(), 6_600
    model = make_pipeline(CountVectorizer(binary=True), BernoulliNB()).fit(texts[:first], data.labels[:first])
    return _parted(data.labels[first:], model.predict_proba(texts[first:])[:, 1])


def reuters() -> Population:
    """Topic of articles, by logistic regression on words: ten folds."""
    data = datasets.load_reuters()
    model = make_pipeline(CountVectorizer(binary=True), LogisticRegression(C=0.05, max_iter=200))
    found = cross_val_predict(model, data.texts.to_list(), data.labels, cv=3, method="predict_proba")
    return _parted(data.labels, found[:, 1])


def adult() -> Population:
    """Income, by logistic regression on 123 binary features, trained on the published part for training."""
    train, test = (datasets.load_adult(part, form="binary") for part in ("train", "test"))
    model = LogisticRegression(max_iter=300).fit(train.matrix, train.labels)
    return _parted(test.labels, model.predict_proba(test.matrix)[:, 1])


def diabetes() -> Population:
    """Readmission of patients, by logistic regression on the columns with few values: five folds."""
    data = datasets.load_diabetes()
    frame = data.frame
    few = [name for name in frame.columns if frame[name].n_unique() <= 120]
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=300))
    found = cross_val_predict(model, frame.select(few).cast(str).to_numpy(), data.labels, cv=5, method="predict_proba")
    return _parted(data.labels, found[:, 1])


PUBLISHED: dict[str, Callable[[], Population]] = {
    "SMS": sms,
    "TWITTER": twitter,
    "REUTERS": reuters,
    "ADULT": adult,
    "DIABETES": diabetes,
}
