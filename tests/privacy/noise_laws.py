"""What the noise should be, computed another way: exact masses, tests of fit with their power, scripted bytes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tacit.privacy import _noise

PRECISE = Context(prec=90)

Masses = Callable[[NDArray[np.int64]], NDArray[np.float64]]


# -- the laws, in floating point: good to about 1e-13, far below what a sample can tell ----------------------------


def laplace_masses(scale: float) -> Masses:
    """P(x) = tanh(1/(2·scale)) · exp(−|x|/scale)."""
    return lambda x: math.tanh(1 / (2 * scale)) * np.exp(-np.abs(x) / scale)


def gaussian_masses(sigma: float) -> Masses:
    """P(x) = exp(−x²/(2σ²)) / Σ exp(−y²/(2σ²))."""
    reach = np.arange(-math.ceil(40 * sigma) - 1, math.ceil(40 * sigma) + 2, dtype=np.float64)
    total = np.exp(-((reach / sigma) ** 2) / 2).sum()
    return lambda x: np.exp(-((x / sigma) ** 2) / 2) / total


def permute_and_flip_masses(heads: Sequence[Any]) -> list[Any]:
    """Choose uniformly among those that show heads, each with its own probability, by going through all patterns."""
    masses = [0 * heads[0]] * len(heads)
    for pattern in itertools.product([False, True], repeat=len(heads)):
        chance = math.prod(p if shown else 1 - p for p, shown in zip(heads, pattern, strict=True))
        for j in (j for j, shown in enumerate(pattern) if shown):
            masses[j] += chance / sum(pattern)
    return masses


# -- goodness of fit, with its power --------------------------------------------------------------------------------


def cells(masses: Masses, reach: int, least: float) -> NDArray[np.int64]:
    """Cut the whole numbers into runs of at least this mass, and return where each but the first begins."""
    x = np.arange(-reach, reach + 1)
    levels = np.cumsum(masses(x))
    starts: list[int] = []
    below = 0.0
    while levels[-1] - below >= 2 * least:
        cut = int(np.searchsorted(levels, below + least)) + 1
        if cut >= x.size or levels[-1] - levels[cut - 1] < least:
            break
        starts.append(int(x[cut]))
        below = levels[cut - 1]
    return np.array(starts, dtype=np.int64)


def cell_masses(masses: Masses, ends: NDArray[np.int64], reach: int) -> NDArray[np.float64]:
    """Return the mass of each cell; what lies beyond the reach goes to the outermost ones."""
    x = np.arange(-reach, reach + 1)
    mass = np.add.reduceat(masses(x), np.r_[0, ends + reach])
    return mass / mass.sum()


def tally(draws: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the draws in each cell."""
    return np.bincount(np.searchsorted(ends, draws, side="right"), minlength=ends.size + 1)


def p_value(counts: NDArray[np.int64], masses: NDArray[np.float64]) -> float:
    """Return Pearson's p-value of counts against the masses of their cells."""
    expected = counts.sum() * masses
    assert expected.min() > 5, "cells are too small for the chi-square approximation"
    return float(stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1))


def power(truth: NDArray[np.float64], claimed: NDArray[np.float64], draws: float, alarm: float) -> float:
    """Return the chance that a sample of the truth is told from what is claimed, at this false-alarm rate."""
    freedom = truth.size - 1
    noncentral = draws * ((truth - claimed) ** 2 / claimed).sum()
    return float(stats.ncx2.sf(stats.chi2.isf(alarm, freedom), freedom, noncentral))


def two_sample_p_value(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return the p-value for two tallies over the same cells to come from one law."""
    pooled = (first + second) / (first.sum() + second.sum())
    statistic = sum(((c - c.sum() * pooled) ** 2 / (c.sum() * pooled)).sum() for c in (first, second))
    return float(stats.chi2.sf(statistic, first.size - 1))


# -- bytes that were chosen -----------------------------------------------------------------------------------------


class Script:
    """An entropy source that reads out given bytes, and notes how many were asked for at a time."""

    def __init__(self, content: Iterable[int] = ()) -> None:
        self._content = bytes(content)
        self.asked: list[int] = []

    def draw(self, count: int) -> NDArray[np.uint8]:
        """Return the next bytes; running out is an error."""
        taken, self._content = self._content[:count], self._content[count:]
        assert len(taken) == count, "the script has run out"
        self.asked.append(count)
        return np.frombuffer(taken, dtype=np.uint8)

    @property
    def over(self) -> bool:
        """Whether every byte was read."""
        return not self._content


def bytes_for(p: _noise.Probability, outcome: bool) -> list[int]:
    """Return the bytes that make a coin of this probability show the outcome, as soon as may be."""
    index = 0
    while p.byte(index) == (0 if outcome else 255):
        index += 1
    return [0 if outcome else 255] * (index + 1)


def bytes_along(p: _noise.Probability, length: int, outcome: bool) -> list[int]:
    """Return bytes that agree with the probability for at least ``length`` bytes and only then decide."""
    while p.byte(length) == (0 if outcome else 255):
        length += 1
    return [*(p.byte(i) for i in range(length)), p.byte(length) + (-1 if outcome else 1)]


# -- exact arithmetic that shares nothing with the library ----------------------------------------------------------


def floor_scaled(bounds: Callable[[int], tuple[Fraction, Fraction]], bits: int) -> int:
    """Return floor(p · 2^bits) from ever closer rational bounds on p."""
    terms = 8
    while True:
        low, high = bounds(terms)
        if math.floor(low * 2**bits) == math.floor(high * 2**bits):
            return math.floor(low * 2**bits)
        terms += 8


def exp_bounds(rate: Fraction, terms: int) -> tuple[Fraction, Fraction]:
    """Bracket exp(−rate): 1/Σ rate^i/i!, whose tail is at most geometric."""
    terms += 2 * math.ceil(rate)
    total = term = Fraction(1)
    for i in range(1, terms):
        term = term * rate / i
        total += term
    tail = 2 * term * rate / terms  # each further term is at most half of the one before
    return 1 / (total + tail), 1 / total


@lru_cache(maxsize=1024)
def as_decimal(p: _noise.Probability) -> Decimal:
    """Return a probability to 120 digits after the point."""
    return PRECISE.divide(Decimal(p.prefix(400)), Decimal(2**400))


def exp_decimal(rate: Fraction) -> Decimal:
    """Return exp(−rate) to 90 digits."""
    return PRECISE.exp(PRECISE.divide(Decimal(-rate.numerator), Decimal(rate.denominator)))
