"""Scores of binary features, from a table of counts: exact tables in tests, released ones in selectors.

Public side. Any score of released counts is post-processing, so that every score costs the same and none needs a
sensitivity of its own. Noisy tables may hold anything: they are first moved to the nearest possible ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.errors import bad_parameter

Floats = NDArray[np.float64]


def total_count(ones: Floats, labels: Floats) -> Floats:  # noqa: ARG001 - all scores have one signature
    """TC: how many rows have the feature."""
    total: Floats = ones.sum(axis=0)
    return total


def difference_count(ones: Floats, labels: Floats) -> Floats:  # noqa: ARG001 - as above
    """DC: among rows with the feature, how far the most frequent label is ahead of all others together.

    For two labels, |n₁ − n₀|.
    """
    ahead: Floats = np.abs(ones[1] - ones[0]) if len(ones) == 2 else 2 * ones.max(axis=0) - ones.sum(axis=0)
    return np.maximum(ahead, 0.0)


def purity_index(ones: Floats, labels: Floats) -> Floats:
    """PI: the larger of DC among rows with the feature and DC among rows without it."""
    zeros = np.maximum(labels[:, None] - ones, 0)
    index: Floats = np.maximum(difference_count(ones, labels), difference_count(zeros, labels))
    return index


def information_gain(ones: Floats, labels: Floats) -> Floats:
    """IG: the mutual information of feature and label, in nats."""
    n = labels.sum()
    if n <= 0:
        return np.zeros(ones.shape[1])
    zeros = np.maximum(labels[:, None] - ones, 0)
    after = (ones.sum(axis=0) * _entropy(ones) + zeros.sum(axis=0) * _entropy(zeros)) / n
    gain: Floats = np.maximum(_entropy(labels[:, None])[0] - after, 0.0)
    return gain


def chi_squared(ones: Floats, labels: Floats) -> Floats:
    """χ²: Pearson's statistic of independence between feature and label."""
    n = labels.sum()
    if n <= 0:
        return np.zeros(ones.shape[1])
    share = ones.sum(axis=0) / n
    score = np.zeros(ones.shape[1])
    for row, size in zip(ones, labels, strict=True):
        variance = size * share * (1 - share)
        # (o − e)²/e summed over presence and absence of the feature is (o − e)²/(size·share·(1 − share)).
        score += np.divide((row - size * share) ** 2, variance, out=np.zeros_like(score), where=variance > 0)
    return score


def _entropy(table: Floats) -> Floats:
    total = table.sum(axis=0)
    share = np.divide(table, total, out=np.zeros_like(table, dtype=np.float64), where=total > 0)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    entropy: Floats = -(share * logs).sum(axis=0)
    return entropy


SCORES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "tc": total_count,
    "dc": difference_count,
    "pi": purity_index,
    "ig": information_gain,
    "chi2": chi_squared,
}


def score_features(
    name: str, ones: NDArray[np.generic], labels: NDArray[np.generic], *, owner: str = "score"
) -> Floats:
    """Score every feature of a table of counts.

    Parameters
    ----------
    name : {"tc", "dc", "pi", "ig", "chi2"}
    ones : array of shape (classes, features)
        Rows by label that have each feature, exact or released.
    labels : array of shape (classes,)
        Rows by label.

    Examples
    --------
    >>> score_features("dc", np.array([[3, 0], [1, 2]]), np.array([4, 4]))
    array([2., 2.])
    """
    if name not in SCORES:
        raise bad_parameter(owner, "score", f"one of {sorted(SCORES)}", name)
    sizes = np.maximum(np.asarray(labels, dtype=np.float64), 0)
    table = np.clip(np.asarray(ones, dtype=np.float64), 0, sizes[:, None])
    return SCORES[name](table, sizes)
