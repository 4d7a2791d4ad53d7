"""How far what was released is from what noise and chance alone give. Public side: sees releases only.

A clearness of t means that noise and chance give as much with a probability of at most exp(−t).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from tacit.models._base import Floats

AS_GAUSSIAN = 5.0
"""The variance, over its squared scale, of the Gaussian that stands for a second Laplace noise beside a larger one:
more than its own, so that the tail of the sum is not underrated as far out as exp(−18)."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The law of a number's noise: Laplace of a scale, plus Gaussian of a variance; either may be 0."""

    scale: float
    variance: float

    @classmethod
    def of_step(cls, receipt: Mapping[str, Any], step: str) -> Noise:
        """What the receipt of a fit tells of a step's noise."""
        noise = next(part["noise"] for part in receipt["steps"] if part["step"] == step)
        if "variance" in noise:
            return cls(0.0, float(Fraction(noise["variance"])))
        if "noise_deviation" in noise:
            return cls(0.0, float(noise["noise_deviation"]) ** 2)
        return cls(float(Fraction(noise["noise_scale"])) / noise.get("noise_grid", 1), 0.0)

    def times(self, factor: float) -> Noise:
        """The law of so many times the number."""
        return Noise(self.scale * factor, self.variance * factor**2)

    def beside(self, smaller: Noise, times: int = 1) -> Noise:
        """The law of the sum with so many others, none of them larger: not underrated where it is far from 0."""
        added = AS_GAUSSIAN * smaller.scale**2 + smaller.variance
        return Noise(self.scale, self.variance + times * added)

    def clearness(self, gaps: Floats, chance: Floats | float = 0.0) -> Floats:
        """How clearly gaps differ from 0 beside this noise, and chance of that variance."""
        deviation = np.sqrt(np.maximum(self.variance + chance, 1e-300)) + np.zeros_like(gaps)
        if self.scale == 0:
            tail = log_ndtr(-np.abs(gaps) / deviation) + math.log(2)
        else:
            tail = _log_tail(np.abs(gaps), self.scale, np.maximum(deviation, 1e-9 * self.scale))
        found: Floats = np.maximum(-tail, 0.0)
        return found


def _log_tail(x: Floats, scale: float, deviation: Floats) -> Floats:
    """log P(|L + G| > x) for Laplace L and Gaussian G: log(2Φ(−z) + e^right − e^left)."""
    z, r = x / deviation, deviation / scale
    middle = math.log(2) + log_ndtr(-z)
    right = r**2 / 2 - x / scale + log_ndtr(z - r)
    left = r**2 / 2 + x / scale + log_ndtr(-z - r)
    both = np.logaddexp(middle, right)
    tail: Floats = both + np.log1p(-np.exp(np.minimum(left - both, -1e-12)))
    return tail


def ridge_of_step(receipt: Mapping[str, Any], step: str) -> float:
    """Λ of a regression under noise, as its receipt has it."""
    return next(float(Fraction(part["noise"]["regularisation"])) for part in receipt["steps"] if part["step"] == step)


def last_against_others(table: Floats) -> Floats:
    """Weights of the last class, less the mean of those of the others; of two classes one row may stand for both."""
    last: Floats = table[-1] if len(table) == 1 else table[-1] - table[:-1].mean(axis=0)
    return last


def of_counts(counts: NDArray[Any], sizes: NDArray[Any], noise: Noise, labels: Noise, unit: int) -> Floats:
    """How clearly the rows with a feature have the last class more often, or less often, than all rows; negative: less.

    Parameters
    ----------
    counts, sizes : released rows by class and feature, and by class
    noise, labels : Noise
        Of one of the counts, and of one of the sizes.
    unit : int
        Rows of a unit, which may all have the same label.
    """
    classes = np.maximum(sizes.astype(np.float64), 1.0)
    rows = classes.sum()
    share = classes[-1] / rows
    last, others = counts[-1].astype(np.float64), counts[:-1].sum(axis=0).astype(np.float64)
    gaps = (1 - share) * last - share * others
    having = np.maximum(last + others, 0.0)
    of_share = (2 * labels.scale**2 + labels.variance) * ((1 - share) ** 2 + (len(classes) - 1) * share**2) / rows**2
    parts = [1 - share] + [share] * (len(classes) - 1)
    law = noise.times(max(parts))
    for part in sorted(parts)[:-1]:
        law = law.beside(noise.times(part))
    drawn = having * np.maximum(1 - having / rows, 0.0)  # a feature of all rows cannot differ from them
    chance = unit * share * (1 - share) * drawn + having**2 * of_share
    found: Floats = np.sign(gaps) * law.clearness(gaps, chance)
    return found


def of_coefficients(coef: Floats, usual: float, noise: Noise, ridge: float, unit: int) -> Floats:
    """How clearly coefficients of a regression under noise b and a ridge Λ lie outside the stretch from 0 to ``usual``.

    A feature that says nothing has a coefficient in that stretch, plus a·b with ‖a‖₂ ≤ 1/Λ, plus the chance of who is
    in the data, of variance h/(h + Λ)² ≤ 1/(4Λ) where h is its curvature.
    """
    outside = np.maximum(coef - max(usual, 0.0), min(usual, 0.0) - coef)
    return noise.times(1 / ridge).clearness(np.maximum(outside, 0.0), unit / (4 * ridge))
