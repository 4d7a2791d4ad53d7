"""Counting in two rounds: a first look at all features, a second at those in doubt. Public side: sees releases only.

Every feature keeps a posterior over its count: before anything is seen Zipf's law, by which the density of counts falls
as 1/c², times the likelihood of what was released about it, which is known exactly, because the noise is ours. Only how
much rows count in part is a guess, and it is calibrated by a release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.desk.counts import Visit

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

ROUNDS = {"first": Fraction(59, 100), "lengths": Fraction(3, 100), "second": Fraction(38, 100)}
"""Parts of the budget: a first look at all features, how many features in doubt a row has, and a second look at those.
Between 55 and 65 % for the first look little changes."""

USUAL_ONES = 12
"""Ones of a usual row, to read the first look as counts."""

USUAL_DOUBTFUL = 3.5
"""Features in doubt of a usual row, where the release of lengths is noise alone; true within a factor of about 1.35."""

DOUBT = 5.0
"""Noise scales above the threshold from which the first look is believed, and the feature is not counted again: the
most frequent features then no longer use up the rows of those in doubt."""

ROOM = 15
"""Features that reach the threshold τ are at most ROOM·rows/τ, as long as a usual row has no more ones than this."""

FINENESS = 0.05
"""Rows of several features count in part, which is rough but lowers the noise, as long as a full count's noise would be
above this part of the threshold."""

CLEAR = 1 / 16
"""Noise scales, in rows, below which counts are believed: a count is then off by half a row in one of 3,000 cases."""

LONGEST = 8
MOST_DOUBLINGS = 16
GRID_POINTS = 64
CHUNK = 1 << 14


@dataclass(frozen=True, slots=True)
class Found:
    """What two rounds tell of each feature: an estimate of its count, and how probably that reaches the threshold."""

    counts: Floats
    reaching: Floats

    def selected(self) -> NDArray[np.int64]:
        """The set of largest expected F1: with p the probabilities, the k largest maximise 2·Σp/(k + Σ of all p)."""
        order = np.argsort(-self.reaching, kind="stable")
        hits = self.reaching[order].cumsum()
        expected = 2 * hits / (np.arange(1, len(order) + 1) + hits[-1])
        return np.sort(order[: int(expected.argmax()) + 1]).astype(np.int64) if hits[-1] > 0 else order[:0]


def two_rounds(visit: Visit, k: int | None, threshold: float | None) -> Found:
    """Look at all features, then at those in doubt, and put both looks together."""
    width = visit.schema.n_features
    everything = np.ones(width, dtype=np.bool_)
    parts = {name: float(visit.epsilon * share) / visit.unit.max_rows for name, share in ROUNDS.items()}
    length = part_length(parts["first"], threshold)
    sums, noise = visit.totals("first", everything, length=length)
    first, first_scale = sums * max(length, USUAL_ONES), noise * max(length, USUAL_ONES)
    rows = max(1.0, float(sums.sum()) * max(1.0, length / USUAL_ONES))
    room = 8 * k if k is not None else math.ceil(ROOM * rows / max(threshold or 1.0, 1.0))
    order = np.argsort(-first, kind="stable")[: min(width, max(room, 10))]
    if threshold is None:
        threshold = max(1.0, float(first[order[min(k or 1, len(order)) - 1]]))
        sure = np.zeros(width, dtype=np.bool_)
    else:
        sure = first > threshold + DOUBT * first_scale
    doubtful = np.zeros(width, dtype=np.bool_)
    doubtful[order] = True
    doubtful &= ~sure
    second, second_scale = np.zeros(width), math.inf
    if doubtful.any():
        length = part_length(parts["second"], threshold)
        part = counted_part(*visit.lengths("lengths", doubtful, LONGEST), length)
        sums, noise = visit.totals("second", doubtful, length=length)
        second, second_scale = sums / part, noise / part
    scales = np.where(doubtful, second_scale, math.inf)  # features that were not looked at again tell nothing more
    counts, reaching = posterior(first, first_scale, second, scales, threshold, largest=max(rows, 2 * threshold))
    return Found(np.where(sure, np.maximum(first, counts), counts), np.where(sure, 1.0, reaching))


def part_length(epsilon: float, threshold: float | None) -> int:
    """The number of ones up to which a row counts in full: as many as the noise allows.

    A power of two, and not too large, so that a row's share is a whole number of steps of the grid of sums.
    """
    wanted = FINENESS * epsilon * (threshold or 1.0)
    return 1 << min(MOST_DOUBLINGS, int(math.log2(max(wanted, 1.0))))


def counted_part(rows: NDArray[np.int64], deviation: float, length: int) -> float:
    """What a one of a row counts on average, from noisy numbers of rows by length and a public guess."""
    lengths = np.arange(len(rows))
    ones, counted = float(rows @ lengths), float(rows @ (lengths / np.maximum(lengths, length)))
    guess = math.log(1 / max(USUAL_DOUBTFUL, length))
    if ones <= 0 or counted <= 0:
        return math.exp(guess)
    error = (deviation * math.sqrt(float(lengths @ lengths)) / ones) ** 2
    seen = math.log(min(max(counted / ones, 1 / len(rows)), 1 / length))
    return math.exp((0.09 * seen + error * guess) / (0.09 + error))


def posterior(
    first: Floats, first_scale: float, second: Floats, second_scales: Floats, threshold: float, largest: float
) -> tuple[Floats, Floats]:
    """Mean count, and probability of reaching the threshold, after two looks under Laplace noise; prior 1/c².

    On a grid of counts. Noise of a small part of a row is finer than that: then the finer look is believed as it is.
    """
    below = np.geomspace(1.0, threshold, GRID_POINTS, endpoint=False) if threshold > 1 else np.zeros(0)
    grid = np.concatenate([below, np.geomspace(max(threshold, 1.0), max(largest, threshold + 1.0), GRID_POINTS)])
    log_prior = np.log(np.gradient(grid)) - 2 * np.log(grid)
    answers = np.stack([grid, grid >= threshold], axis=1)
    found = np.empty((len(first), 2))
    for begin in range(0, len(first), CHUNK):
        part = slice(begin, begin + CHUNK)
        log_weight = log_prior - np.abs(first[part, None] - grid) / first_scale
        log_weight -= np.abs(second[part, None] - grid) / second_scales[part, None]
        weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
        found[part] = weight @ answers / weight.sum(axis=1, keepdims=True)
    seen, scale = np.where(second_scales < first_scale, second, first), np.minimum(second_scales, first_scale)
    clear = scale < CLEAR
    found[clear, 0] = np.maximum(seen[clear], 0.0)
    found[clear, 1] = seen[clear] >= math.ceil(threshold) - 0.5  # counts are whole
    return found[:, 0], found[:, 1]
