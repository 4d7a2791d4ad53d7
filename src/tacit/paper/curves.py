"""ROC curves of one fixed test set: the paper's three methods as written (NOT PRIVATE) and sound, and tacit's own.

The test sets have the paper's sizes: SMS 558 rows, of which 481 of label 1 (ham), TWITTER 684, of which 385 of label 1.
Which rows, and which classifier, the paper does not say: rows are drawn at random with those class sizes, and scores
come from Naive Bayes without privacy on all other rows.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn import metrics

import tacit
from tacit import unsound
from tacit.paper.corpus import Floats, load
from tacit.paper.written import naive_bayes

TEST_SETS = {"SMS": (481, 77), "TWITTER": (385, 299)}
POSITIVE = {"SMS": 0, "TWITTER": 1}  # ham, and a happy tweet
THRESHOLD_SHARE = 0.2
"""The paper's ε₁ = .2 ε for choosing thresholds by recursive medians."""

MIDDLES: Floats = (np.arange(4000) + 0.5) / 4000
GRID: Floats = np.linspace(0, 1, 201)
SEED_OF_TEST_SETS = 2014

Mask = NDArray[np.bool_]


@lru_cache(maxsize=4)
def scored_rows(name: str, folder: str | None = None) -> tuple[Mask, Floats]:
    """Labels (whether positive) and scores of the test rows."""
    corpus = load(name, folder)
    rng = np.random.default_rng(SEED_OF_TEST_SETS)
    positive = corpus.labels == POSITIVE[name]
    chosen = [
        rng.choice(np.flatnonzero(side), number, replace=False)
        for side, number in zip((positive, ~positive), TEST_SETS[name], strict=True)
    ]
    test = np.sort(np.concatenate(chosen))
    train = np.setdiff1d(np.arange(corpus.rows), test)
    by_label = np.stack([~positive[train], positive[train]]).astype(np.float64)
    ones, sizes = by_label @ corpus.words[train], by_label.sum(axis=1)
    weights, intercept = naive_bayes(ones, sizes, np.ones(ones.shape[1], dtype=np.bool_))
    return positive[test], expit(corpus.words[test] @ weights + intercept)


def true_curve(positive: Mask, scores: Floats) -> tuple[Floats, Floats]:
    """The exact curve, all thresholds."""
    fpr, tpr, _ = metrics.roc_curve(positive, scores, drop_intermediate=False)
    return fpr, tpr


def area_between(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> float:
    """L1 area between two curves."""
    return float(np.abs(np.interp(MIDDLES, *first) - np.interp(MIDDLES, *second)).mean())


def thresholds_as_written(
    method: str, parameter: float, scores: Floats, epsilon: float, rng: np.random.Generator
) -> Floats:
    """NOT PRIVATE: the thresholds of a method; without privacy (ε = 0) exact quantiles stand for noisy medians."""
    if method == "laplace":
        return unsound.data_thresholds(scores, int(parameter) + 1)
    if method == "fixed-space":
        return unsound.fixed_space(len(scores), parameter)
    if epsilon == 0:
        return unsound.data_thresholds(scores, 2 ** int(parameter) + 1)
    return unsound.recursive_medians(scores, THRESHOLD_SHARE * epsilon, int(parameter), rng)


def curve_as_written(
    method: str, parameter: float, positive: Mask, scores: Floats, epsilon: float, rng: np.random.Generator
) -> tuple[tuple[Floats, Floats], float]:
    """NOT PRIVATE: a curve as the paper draws it, and the share of medians that fell back to a midpoint."""
    thresholds = thresholds_as_written(method, parameter, scores, epsilon, rng)
    fallen = midpoints(thresholds) if method == "recursive-medians" and epsilon > 0 else float("nan")
    rest = epsilon * (1 - THRESHOLD_SHARE) if method == "recursive-medians" else epsilon
    if epsilon == 0:
        counts = unsound.laplace_counts(scores, positive, thresholds, np.inf, rng)
    elif method == "laplace":
        counts = unsound.laplace_counts(scores, positive, thresholds, rest, rng)
    else:
        counts = unsound.privelet_counts(scores, positive, thresholds, rest, rng)
    return unsound.rates(*counts), fallen


def midpoints(thresholds: Floats) -> float:
    """Share of recursive medians that are the middle of their interval: there the data were not heard."""
    tree = thresholds[::-1]
    step, fallen, medians = len(tree) - 1, 0, 0
    while step > 1:
        left, right = tree[:-1:step], tree[step::step]
        middle = tree[step // 2 :: step]
        fallen += int((middle == (left + right) / 2).sum())
        medians += len(middle)
        step //= 2
    return fallen / medians


def areas(
    name: str,
    form: str,
    method: str,
    parameter: float,
    epsilon: float,
    repeats: int,
    rng: np.random.Generator,
    folder: str | None = None,
) -> dict[str, list[float]]:
    """Draw a curve many times: its area to the true one, its AUC, and the curve of the median run."""
    positive, scores = scored_rows(name, folder)
    truth = true_curve(positive, scores)
    found: dict[str, list[float]] = {"area": [], "auc": [], "fallen": []}
    drawn = []
    for _ in range(repeats):
        if form in ("as written", "exact"):
            curve, fallen = curve_as_written(method, parameter, positive, scores, epsilon, rng)
        else:
            released = sound_curve(form, method, parameter, positive, scores, epsilon, int(rng.integers(2**31)))
            curve, fallen = (np.asarray(released.fpr), np.asarray(released.tpr)), float("nan")
        drawn.append(curve)
        found["area"].append(area_between(truth, curve))
        found["auc"].append(float(np.interp(MIDDLES, *curve).mean()))
        found["fallen"].append(fallen)
    middle = int(np.argsort(found["area"])[len(drawn) // 2])
    found["median curve"] = np.interp(GRID, *drawn[middle]).tolist()
    return found


def public_bins(method: str, parameter: float, rows: int) -> int:
    """A power of two near the number of thresholds that the paper takes; the size of a test set is declared."""
    if method == "recursive-medians":
        return int(2**parameter)
    wanted = parameter if method == "laplace" else parameter * rows
    return int(2 ** math.floor(math.log2(wanted)))


def sound_curve(
    form: str, method: str, parameter: float, positive: Mask, scores: Floats, epsilon: float, seed: int
) -> Any:
    """A private curve: one of the paper's methods made sound, or tacit's default."""
    labels = positive.astype(np.int64)
    if form == "default":
        return tacit.roc_curve(labels, scores, epsilon=epsilon, random_state=seed)
    bins = public_bins(method, parameter, len(labels))
    return tacit.roc_curve(labels, scores, epsilon=epsilon, method=method, bins=bins, random_state=seed)
