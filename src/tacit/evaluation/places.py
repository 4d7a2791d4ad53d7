"""Where scores stand on a ROC curve: places inside of bins, which no count tells, drawn at random. Public side.

Counts say how many rows are between two cuts, not where they stand there. On probit paper, with logits of scores along
the other side, both classes together are mostly near a straight line, so each draw goes straight from cut to cut, with
a bend of its own in each bin; beyond the last cuts it goes on with a slope of its own. In a bin so wide that logits are
no good guide, draws lie between that line and one along the public grid. The two classes part along the draw's ROC
curve, as it is inside of that bin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

from tacit.evaluation.evidence import Floats
from tacit.privacy.grid import CELLS, scores_at

# Steps inside of a bin, by false positives: fine at both ends, where curves may be steep or flat.
ACROSS = np.array([0.0, 0.002, 0.01, 0.04, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.96, 0.99, 0.998])
# Spreads of bends as log-odds: at least, and for each unit by which the logarithm of the slope changes around a bin;
# of the logarithms of stretches, which move rows to the middle or to both ends; and of the slope beyond the last cuts.
LEAST_BEND, BEND, MOST_TURN, END_SPREAD = 0.4, 0.35, 4.0, 0.6
STRETCH, MOST_STRETCH = 0.4, 1.5
LEAST_SLOPE, MOST_SLOPE, USUAL_SLOPE = 0.03, 30.0, 0.6
FREEDOM = 4.0  # bends have a t-distribution: some scores crowd far more than others
FINE = np.arange(8) / 8  # steps inside of a bin, along the public grid
# Scores that share a bin are of unlike sizes (log-odds of their steps). A tie in the first or the last bin often stands
# at the very end of the range, as predictions of 0 and 1 do.
UNLIKE, AT_END = 0.7, 0.7
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Paths:
    """ROC curves of populations that fit a release, one a draw, with steps inside of bins.

    Attributes
    ----------
    rates : array of shape (draws, 2, bins · steps + 1)
        False- and true-positive rates from (0, 0) to (1, 1); every ``steps``-th is the end of a bin.
    sizes : array of shape (draws, 2)
        Expected rows of both classes.
    ties : array of shape (draws, bins)
        How many scores the rows of a bin share: one, or several. None (0) where they are spread.
    """

    rates: Floats
    sizes: Floats
    ties: NDArray[Any]

    @property
    def knots(self) -> Floats:
        """The middle of both rates at the ends of bins: where a set with as many of either class is cut."""
        steps = (self.rates.shape[2] - 1) // self.ties.shape[1]
        return np.asarray(self.rates[:, :, ::steps].mean(axis=1))


def bent(share: Floats, bends: Floats, stretches: Floats | float = 1.0) -> Floats:
    """Shares of the way between two knots: log-odds are stretched, which moves rows from the ends, and then shifted."""
    return np.asarray(expit(stretches * logit(np.clip(share, _TINY, 1 - _TINY)) + bends))


def inner_grid(fpr: Floats) -> Floats:
    """False-positive rates with steps inside of bins, for those at their ends (one row a draw)."""
    inner = fpr[:, :-1, None] + np.diff(fpr, axis=1)[:, :, None] * ACROSS
    return np.concatenate([inner.reshape(len(fpr), -1), fpr[:, -1:]], axis=1)


def fine_cells(cuts: Floats) -> Floats:
    """Cells from the highest down: all cuts, some between them, and those next to both ends, where ties may be."""
    steps = cuts[:-1, None] + np.diff(cuts)[:, None] * FINE
    return np.sort(np.append(np.rint(steps).ravel(), [CELLS - 1, 1, cuts[-1]]))[::-1]


def axis(cells: Floats) -> Floats:
    """Logits of the scores of cells, falling as scores do: minus the logit."""
    cells = np.asarray(np.clip(cells, 1, CELLS - 1))
    share = scores_at(np.minimum(cells, CELLS - cells).astype(np.int64))
    return np.asarray(np.where(cells < CELLS / 2, -1.0, 1.0) * logit(np.clip(share, 1e-300, 0.5)))


class Places:
    """For each draw, the place of any score: how much of each class scores at least as high.

    Parameters
    ----------
    cuts : array
        Ends of the bins as cells, from the highest scores down.
    paths : Paths
    rng : numpy generator
    ends : (bool, bool), optional
        Whether the first and the last bin are scores at the very ends of the range; None if there may be such scores
        in these bins. All others are placed by themselves.
    hidden : array of shape (draws, 2), optional
        Shares of all rows that score at the top and at the bottom of the range, but have no bins of their own.
    """

    def __init__(
        self,
        cuts: Floats,
        paths: Paths,
        rng: np.random.Generator,
        ends: tuple[bool, bool] | None = None,
        hidden: Floats | None = None,
    ) -> None:
        top, bottom = ends or (False, False)
        self._hidden = np.zeros((len(paths.ties), 2)) if hidden is None else hidden
        self._paths, self._pooled_paths = paths, paths.rates.mean(axis=1)
        self._cuts, self._ties = cuts[top : len(cuts) - bottom], paths.ties[:, top : paths.ties.shape[1] - bottom]
        knots = paths.knots[:, top : len(cuts) - bottom]
        self._first, self._last = knots[:, :1], knots[:, -1:]
        self._knots = (knots - self._first) / np.maximum(self._last - self._first, _TINY)
        self._axis = axis(self._cuts)
        self._levels = ndtri(np.clip(self._knots[:, 1:-1], 1e-6, 1 - 1e-6))
        draws, bins = self._ties.shape
        slopes = self._slopes()
        heavy = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, (draws, 1)))
        self._ends = slopes[:, [0, -1]] * np.exp(END_SPREAD * heavy * rng.standard_normal((draws, 2)))
        spread = heavy * (LEAST_BEND + BEND * _turns(slopes))
        self._bends = spread * rng.standard_normal((draws, bins))
        self._stretches = np.exp(
            np.clip(STRETCH * heavy * rng.standard_normal((draws, bins)), -MOST_STRETCH, MOST_STRETCH)
        )
        self._axes = rng.random((draws, 1))
        # Where the first step is: at 1 a tie is as high as can be, at 0 as low. The more bins, the more often cuts fall
        # to one side of a tie or the other, each somewhere in what the last one left: so it is next to one of them.
        steps, crowding = rng.random((draws, bins)), max(math.log2(bins) - 2, 1.0)
        self._steps = np.where(self._ties == 1, expit(crowding * logit(steps)), steps)
        at_end = rng.random((draws, 2)) < (AT_END if ends is None else 0.0)
        self._steps[:, 0][at_end[:, 0]], self._steps[:, -1][at_end[:, 1]] = 1.0, -_TINY
        self._unlike = UNLIKE * rng.standard_normal((draws, bins))

    def _slopes(self) -> Floats:
        """Slopes between cuts, and those of the nearest ones for the ends: one a bin."""
        gaps = np.maximum(np.diff(self._axis[1:-1]), _TINY)
        inner = np.clip(np.diff(self._levels, axis=1) / gaps, LEAST_SLOPE, MOST_SLOPE)
        if not inner.shape[1]:
            inner = np.full((len(inner), 1), USUAL_SLOPE)
        return np.concatenate([inner[:, :1], inner, inner[:, -1:]], axis=1)[:, : len(self._cuts) - 1]

    @property
    def sizes(self) -> Floats:
        """Expected rows of both classes, one row a draw."""
        return self._paths.sizes

    def rates(self, cells: Floats) -> Floats:
        """False- and true-positive rates at cells: an array of shape (draws, 2, cells)."""
        pooled = self.pooled(cells)
        return np.stack([along(pooled, self._pooled_paths, rate) for rate in self._paths.rates.swapaxes(0, 1)], axis=1)

    def pooled(self, cells: Floats) -> Floats:
        """The middle of both rates at cells."""
        place = np.interp(-cells, -self._cuts, np.arange(len(self._cuts)))
        bin_ = np.minimum(place.astype(np.int64), len(self._cuts) - 2)
        across = place - bin_
        low, high = self._knots[:, bin_], self._knots[:, bin_ + 1]
        smooth = (ndtr(self._line(axis(cells), across, bin_)) - low) / np.maximum(high - low, _TINY)
        share = bent(smooth, self._bends[:, bin_], self._stretches[:, bin_])
        share = self._stepped(share, across, bin_)
        share = np.where(across <= 0, 0.0, np.where(across >= 1, 1.0, share))
        found = self._first + (low + share * (high - low)) * (self._last - self._first)
        found = np.clip(found, self._hidden[:, :1] * (cells < CELLS), 1 - self._hidden[:, 1:] * (cells > 0))
        beyond = np.clip(cells - self._cuts[0], 0.0, 1.0), np.clip(self._cuts[-1] - cells, 0.0, 1.0)
        return np.asarray(found * (1 - beyond[0]) + (1 - found) * beyond[1])

    def _stepped(self, share: Floats, across: Floats, bin_: NDArray[np.int64]) -> Floats:
        """Shares that grow in steps where there are ties: one anywhere in its bin, several at even ranks, about."""
        ties = self._ties[:, bin_]
        number = np.maximum(ties, 1)
        steps = np.floor(number * np.where(ties == 1, across, share) + self._steps[:, bin_]) / number
        uneven = bent(np.clip(steps, 0.0, 1.0), np.where(ties > 1, self._unlike[:, bin_], 0.0))
        return np.where(ties > 0, uneven, share)

    def _line(self, x: Floats, across: Floats, bin_: NDArray[np.int64]) -> Floats:
        """Probits of the middle of both rates: straight from cut to cut, and on beyond the last ones.

        Between cuts each draw has an axis of its own, from logits to the public grid: in narrow bins these agree.
        """
        cuts, levels = self._axis[1:-1], self._levels
        last = levels.shape[1] - 1
        left, right = np.clip(bin_ - 1, 0, last), np.clip(bin_, 0, last)
        share = np.clip((x - cuts[left]) / np.maximum(cuts[right] - cuts[left], _TINY), 0.0, 1.0)
        share = share + self._axes * (across - share)
        inner = levels[:, left] + share * (levels[:, right] - levels[:, left])
        above = levels[:, :1] + self._ends[:, :1] * np.minimum(x - cuts[0], 0.0)
        below = levels[:, -1:] + self._ends[:, 1:] * np.maximum(x - cuts[-1], 0.0)
        return np.asarray(np.where(bin_ == 0, above, np.where(bin_ == last + 1, below, inner)))


def along(places: Floats, knots: Floats, values: Floats, side: Literal["left", "right"] = "right") -> Floats:
    """Values at places from 0 to 1, the same for all draws or one row a draw: straight between a draw's knots.

    Where several knots are at one place, the value is that of the first ("left") or of the last one ("right").
    """
    draws, width = knots.shape
    places = np.broadcast_to(places, (draws, places.shape[-1]))
    row = np.arange(draws)[:, None]
    # All draws lie one after another, two apart, so that one search serves all of them.
    found = np.searchsorted((knots + 2.0 * row).ravel(), places + 2.0 * row, side=side) - width * row
    right = np.clip(found, 1, width - 1)
    left = right - 1
    (low, high), (first, last) = ([np.take_along_axis(a, i, axis=1) for i in (left, right)] for a in (knots, values))
    share = np.clip((places - low) / np.maximum(high - low, _TINY), 0.0, 1.0)
    return np.asarray(first * (1 - share) + last * share)


def _turns(slopes: Floats) -> Floats:
    """By how much the logarithm of the slope changes around each bin."""
    steps = np.abs(np.diff(np.log(slopes), axis=1))
    around = np.pad(steps, ((0, 0), (1, 1)), mode="edge") if steps.shape[1] else np.zeros((len(slopes), 2))
    return np.asarray(np.minimum(np.maximum(around[:, :-1], around[:, 1:]), MOST_TURN))
