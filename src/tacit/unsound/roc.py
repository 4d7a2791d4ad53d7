"""NOT PRIVATE: thresholds and counts for ROC curves, as the paper wrote them down (Algorithms 3 and 4).

Thresholds fall from 1 to 0. A score of exactly 0 is above none of them, so such rows are lost: that is as written, too.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression

Floats = NDArray[np.float64]


def data_thresholds(scores: ArrayLike, number: int) -> Floats:
    """NOT PRIVATE: thresholds of the Laplace baseline, quantiles of the exact scores between 1 and 0."""
    inner = np.quantile(np.asarray(scores, dtype=np.float64), np.linspace(1, 0, number)[1:-1])
    return np.concatenate([[1.0], inner, [0.0]])


def fixed_space(n: int, alpha: float) -> Floats:
    """NOT PRIVATE: α-FixedSpace, ⌊αn⌋ + 1 even thresholds. Their number tells n, which one row more would change."""
    return np.linspace(1, 0, max(1, math.floor(alpha * n)) + 1)


def recursive_medians(scores: ArrayLike, epsilon: float, levels: int, rng: np.random.Generator) -> Floats:
    """NOT PRIVATE: k-RecursiveMedians (Algorithm 4), 2^k − 1 noisy medians between 1 and 0.

    Each of k levels may lose ε/k, but the noise is scaled by ε, and the smooth sensitivity is taken with β = ε/k where
    noise of density 1/(1 + z²) needs half of that: one level alone loses up to about k times its share.

    Examples
    --------
    >>> thresholds = recursive_medians(np.linspace(0, 1, 500), 1.0, 3, np.random.default_rng(0))
    >>> len(thresholds), bool((np.diff(thresholds) <= 0).all())
    (9, True)
    """
    found: list[float] = []
    _find_medians(np.sort(np.asarray(scores, dtype=np.float64)), epsilon, levels, levels, 0.0, 1.0, rng, found)
    return np.concatenate([[1.0], np.sort(found)[::-1], [0.0]])


def _find_medians(
    ordered: Floats,
    epsilon: float,
    levels: int,
    left_over: int,
    left: float,
    right: float,
    rng: np.random.Generator,
    found: list[float],
) -> None:
    if left_over == 0:
        return
    middle = (left + right) / 2
    if len(ordered):
        noise = math.tan(math.pi * (rng.random() - 0.5))
        scale = 8 * smooth_sensitivity_of_median(ordered, epsilon / levels, left, right) / epsilon
        median = float(ordered[(len(ordered) - 1) // 2]) + scale * noise
        if left < median < right:
            middle = median
    found.append(middle)
    below = ordered[: np.searchsorted(ordered, middle, "left")]
    above = ordered[np.searchsorted(ordered, middle, "right") :]
    _find_medians(below, epsilon, levels, left_over - 1, left, middle, rng, found)
    _find_medians(above, epsilon, levels, left_over - 1, middle, right, rng, found)


def smooth_sensitivity_of_median(ordered: Floats, beta: float, left: float, right: float) -> float:
    """Return the β-smooth sensitivity of the median of sorted values in [left, right].

    The largest e^(−βj)·(x[m + i] − x[m + i − j − 1]) over j ≥ 0 changed rows and 0 ≤ i ≤ j + 1, with values outside of
    the data at the ends of the range.

    Examples
    --------
    >>> smooth_sensitivity_of_median(np.array([0.5]), 0.0, 0.0, 1.0)
    1.0
    """
    n = len(ordered)
    middle = (n - 1) // 2
    padded = np.concatenate([np.full(n + 2, left), ordered, np.full(n + 2, right)])
    best = 0.0
    for changed in range(n + 1):
        weight = math.exp(-beta * changed)
        if weight * (right - left) <= best:
            break
        start = middle + n + 2 - changed - 1
        low = padded[start : start + changed + 2]
        high = padded[start + changed + 1 : start + 2 * changed + 3]
        best = max(best, weight * float((high - low).max()))
    return best


def laplace_counts(
    scores: ArrayLike, positive: ArrayLike, thresholds: ArrayLike, epsilon: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """NOT PRIVATE with `data_thresholds`: true and false positives by threshold, noise of scale (2·thresholds + 1)/ε.

    About twice the noise that it takes: a row is in one class only.
    """
    hits = [_cumulated(scores, positive, thresholds), _cumulated(scores, ~np.asarray(positive, bool), thresholds)]
    scale = (2 * len(hits[0]) + 1) / epsilon
    true_positives, false_positives = (count + rng.laplace(0, scale, count.shape) for count in hits)
    return true_positives, false_positives


def privelet_counts(
    scores: ArrayLike, positive: ArrayLike, thresholds: ArrayLike, epsilon: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """NOT PRIVATE with the thresholds of this module: true and false positives by Privelet, half of ε for each."""
    hits = [_cumulated(scores, positive, thresholds), _cumulated(scores, ~np.asarray(positive, bool), thresholds)]
    true_positives, false_positives = (count + np.cumsum(_haar_noise(len(count), epsilon / 2, rng)) for count in hits)
    return true_positives, false_positives


def _cumulated(scores: ArrayLike, chosen: ArrayLike, thresholds: ArrayLike) -> Floats:
    """Count the chosen rows whose score is above each threshold but the first, which is 1."""
    ordered = np.sort(np.asarray(scores, dtype=np.float64)[np.asarray(chosen, bool)])
    above = len(ordered) - np.searchsorted(ordered, np.asarray(thresholds)[1:], "right")
    return np.asarray(above, dtype=np.float64)


def _haar_noise(bins: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """Noise on bins from Laplace noise on their Haar coefficients: a coefficient over w bins has weight w.

    The transform is linear, so the noise of the coefficients can be carried back alone and added to the exact counts.
    """
    height = max(0, math.ceil(math.log2(bins)))
    scale = (1 + height) / epsilon
    noise = np.full(1, rng.laplace(0, scale / 2**height))
    for level in range(height, 0, -1):
        detail = rng.laplace(0, scale / 2**level, noise.shape)
        noise = np.stack([noise + detail, noise - detail], axis=1).ravel()
    return noise[:bins]


def rates(true_positives: ArrayLike, false_positives: ArrayLike) -> tuple[Floats, Floats]:
    """Turn noisy counts into rates that grow from 0 to 1: isotonic regression, then division by the last count.

    The paper does not say what to do where the last count is below 1: it is then taken as 1.
    """
    curves = []
    for counts in (false_positives, true_positives):
        grown = np.maximum(isotonic_regression(np.asarray(counts, dtype=np.float64)), 0.0)
        curves.append(np.concatenate([[0.0], grown[:-1] / max(float(grown[-1]), 1.0), [1.0]]).clip(0, 1))
    return curves[0], curves[1]
