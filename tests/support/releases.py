"""Releases made up by hand, as evidence for the posterior of a ROC curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.evidence import Evidence, Noise

Floats = NDArray[np.float64]


def evidence_of(
    counts: Floats,
    noise: Noise,
    weights: tuple[float, float],
    balance: float,
    *,
    depths: list[int] | None = None,
    tied: float = 0.0,
    scale: float = 50.0,
) -> Evidence:
    """Counts from the highest scores down, and a number of tied rows with noise of that scale: usually none."""
    bins = counts.shape[1]
    halved = np.array(depths or [bins.bit_length() - 1] * bins)
    crowd = max(int(counts.sum()) // (8 * bins), 4)
    return Evidence(counts, halved, noise, weights, Noise(balance), tied, Noise(scale), crowd)


def bins_of(
    negatives: list[float], positives: list[float], balance: float, *, tied: float = 0.0, scale: float = 50.0
) -> Evidence:
    """A release of these counts, with noise of scale 5."""
    return evidence_of(np.array([negatives, positives]), Noise(5.0), (0.35, 1.0), balance, tied=tied, scale=scale)
