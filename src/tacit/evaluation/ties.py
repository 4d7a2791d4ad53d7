"""Ties: what the number of tied rows, and how unevenly bins were cut, say of the bins of a curve. Public side.

Rows of one score cannot be cut in two. A curve is straight over them, and bins are as uneven as they are. Many
classifiers have few scores (trees, neighbours, rules, rounded ones), or give exactly 0 and 1 to many rows; the number
of rows beyond the first few of their cell of the grid, which is released with some noise, tells them from others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.desk.cutting import CROWDS, MOST_EVEN, even_part
from tacit.evaluation.evidence import Evidence, Floats
from tacit.evaluation.model import TIES

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

SOME_TIES = 0.1  # chance that scores are tied, before that was asked
# A bin is the ties of one score if its other half has less than that part of a usual bin, or if it is so many usual
# ones itself. Else it may have several, with that chance.
WHOLE, ALONE, SEVERAL = 0.05, 3.0, 0.5
RARE, APART = 0.3, 0.6  # how much rarer than the other a class is in a bin, and the chance that it is not tied there
MOST_TIES, MORE_TIED = 5, 2.0  # scores that a bin may have
MOST_UNEVEN = 8.0  # nats that cuts may say for ties or against them


def tied_bins(evidence: Evidence, counts: Floats, rng: np.random.Generator) -> tuple[Bools, Floats]:
    """Bins that hold ties, the heaviest first, as far as the number of tied rows goes; and the share of other rows.

    A bin that is no heavier than others may hold several, and one in which a class is rare may hold ties of the other
    alone, unless so many rows are tied that those of the rare class must be: then draws differ.
    """
    top, bottom = evidence.ends
    counts = counts[:, :, evidence.inner]
    mass = evidence.weights[0] * counts[:, 0] + evidence.weights[1] * counts[:, 1]
    share = mass.sum(axis=1, keepdims=True) * evidence.usual
    rows = counts.sum(axis=(1, 2))[:, None]
    tied = draw_tied(evidence, rows[:, 0], rng)[:, None]
    order = np.argsort(-mass, axis=1)
    excess = np.take_along_axis(np.maximum(counts.sum(axis=1) - evidence.crowd, 1e-9), order, axis=1)
    found = np.zeros(mass.shape, dtype=bool)
    np.put_along_axis(found, order, tied - np.cumsum(excess, axis=1) >= -excess / 2, axis=1)
    whole = _other_halves(mass, evidence.splits) < WHOLE * share
    several = (mass < ALONE * share) & ~whole & (rng.random(mass.shape) < SEVERAL)
    parts = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1e-9)
    untied = rows * (1 - 1 / CROWDS) - tied
    apart = (parts.min(axis=1) < RARE * parts.max(axis=1)) & (untied > counts.min(axis=1) / 2)
    found &= ~several & ~(apart & (rng.random(mass.shape) < APART))
    held = np.where(found, counts.sum(axis=1), 0.0)
    spare = held.sum(axis=1, keepdims=True) - tied - evidence.crowd * found.sum(axis=1, keepdims=True)
    beside = np.clip(spare / np.maximum(held, 1e-9), 0.0, 1.0) * found
    ends = (0, 0), (int(top), int(bottom))
    return np.pad(found, ends, constant_values=True), np.pad(beside, ends)


def draw_tied(evidence: Evidence, rows: Floats, rng: np.random.Generator, *, uneven: float | None = None) -> Floats:
    """Draw the number of tied rows: usually none, else all of them, as with scores of few values, or any number.

    ``uneven`` is what cuts say, by default as they are.
    """
    scale, released = evidence.tied_noise.scale, evidence.tied
    uneven = unevenness(evidence) if uneven is None else uneven
    # The first rows of each crowd are not in the released number: nor are those of the crowds that make full bins.
    crowds = float((evidence.counts[:, evidence.inner].sum(axis=0) > evidence.crowd).sum())
    everything = np.maximum(rows - evidence.crowd * crowds, 0.0)
    # The law of the noise around an even number between 0 and all rows, cut off there.
    low, high = (_laplace_cdf((end - released) / scale) for end in (0.0, rows))
    none = (1 - SOME_TIES) * math.exp(-abs(released) / scale - uneven)
    entire = SOME_TIES / 2 * np.exp(-np.abs(everything - released) / scale)
    some = SOME_TIES / 2 * 2 * scale * (high - low) / np.maximum(rows, 1.0)
    drawn = released + scale * _laplace_quantile(low + (high - low) * rng.random(rows.shape))
    pick = rng.random(rows.shape) * (none + entire + some)
    return np.where(pick < none, 0.0, np.where(pick < none + entire, rows, np.clip(drawn, 0.0, rows)))


def draw_ties(evidence: Evidence, counts: Floats, tied: Bools, rng: np.random.Generator) -> Ints:
    """How many scores the rows of each bin share, in each draw: told by the number of tied rows alone.

    That cuts are even makes bins of one score unlikely, but not those of two. Rows that share a score with few others
    do not count as tied. So where half of them do, all may be.
    """
    rows = counts[:, :, evidence.inner].sum(axis=(1, 2))
    share = draw_tied(evidence, rows, rng, uneven=0.0) / np.maximum(rows, 1.0)
    some = rng.random(tied.shape) < MORE_TIED * share[:, None]
    number = np.minimum(rng.geometric(0.5, tied.shape), MOST_TIES)
    return np.where(tied, 1, np.where(some, number, 0))


def surely_tied(evidence: Evidence, rng: np.random.Generator) -> float:
    """The share of all rows that is tied in nine draws of ten."""
    rows = max(float(evidence.counts[:, evidence.inner].sum()), 1.0)
    return min(float(np.quantile(draw_tied(evidence, np.full(500, rows), rng), 0.1)) / rows, 0.95)


def unevenness(evidence: Evidence) -> float:
    """How much likelier sides of cuts as uneven as these are with ties, which cannot be cut, as a logarithm."""
    mass = np.maximum(np.dot(evidence.weights, evidence.counts[:, evidence.inner]), 0.0)
    scale, loose = evidence.balance.scale, max(TIES, 1 - even_part(evidence.nats) / MOST_EVEN)
    low, middle, high = np.concatenate([[0.0], np.cumsum(mass)])[evidence.splits.T]
    gaps, ways = np.abs(2 * middle - low - high), np.maximum((high - low) / scale, 1.0)
    # Of the even places for a cut one is next to the best.
    found = -float(np.log(loose + (1 - loose) * ways * np.exp(-gaps / scale)).sum())
    return min(max(found, -MOST_UNEVEN), MOST_UNEVEN)


def _other_halves(mass: Floats, splits: Ints) -> Floats:
    """What the last cut of each bin parted from it; without end where that was cut again."""
    found = np.full(mass.shape, np.inf)
    left, right, _ = splits[splits[:, 2] - splits[:, 0] == 2].T
    found[:, left], found[:, right] = mass[:, right], mass[:, left]
    return found


def _laplace_cdf(x: Any) -> Any:
    return np.where(x < 0, np.exp(np.minimum(x, 0.0)) / 2, 1 - np.exp(-np.maximum(x, 0.0)) / 2)


def _laplace_quantile(p: Floats) -> Floats:
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.where(p < 0.5, np.log(2 * p), -np.log(2 * (1 - p)))


def draw_knees(untied: Floats, counts: Floats, first: Bools, last: Bools, rng: np.random.Generator) -> Floats:
    """Where rows beside ties in one bin end, as shares of both classes.

    Those before the ties have more positives, those after them fewer. The ``first`` bins have none before, the ``last``
    ones none after.
    """
    before = rng.random(untied.shape) < np.where(first, 0.0, np.where(last, 1.0, 0.5))
    rows = counts.sum(axis=1)
    positives = counts[:, 1] / np.maximum(rows, 1e-9)
    way = rng.random(untied.shape)
    part = np.where(before, positives + (1 - positives) * way, positives * way)  # positives among those beside
    beside = untied * rng.random(untied.shape) * rows
    knee = np.stack([beside * (1 - part), beside * part]) / np.maximum(counts.swapaxes(0, 1), 1e-9)
    knee = np.minimum(knee, 1.0)
    return np.where(before, knee, 1 - knee)
