"""Draws from the posterior of ROC curves given a release: best fit, its curvature, then a short Markov chain.

Public side, and deterministic: the generator is seeded from the released numbers, so that a release gives one curve.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr, ndtri

from tacit.evaluation.evidence import Evidence, Floats
from tacit.evaluation.model import LINE, SHAPE, Model, State
from tacit.evaluation.ties import draw_knees

_STARTS = (-0.6, 0.8)  # separations of about 1.1 and 3.2
LEAST_BEND, BEND, MOST_STEEP = 0.04, 0.08, 12.0
# Chance of a corner in a bin at the ends, or where the slope falls e⁴-fold or more: at least, and for each bin that
# there is. The more bins, the better all else is known, and the more of what is left open is inside of them.
LEAST_CORNERS, CORNERS, SHARP = 0.08, 0.01, 4.0
STRAIGHT = 0.06  # chance that rows of a bin at the ends are mixed evenly: few values, or rows that no score tells apart
# Chances that rows of such a bin are mixed evenly, or that some of its negatives come before all else, where scores
# reach the ends of the range: who is wrong is sure of it there. Corners are twice as many, and half as sharp.
STRAIGHT_IF_SURE, LATE_IF_SURE = 0.2, 0.3
FAR = 4.0
PROPOSALS, FRESH = 2, (0.6, 0.3)
# How much wider proposals are than the best fit's curvature says: more where noise may be much of a class, and the
# posterior is far from normal.
WIDEN, WIDEN_MORE, MUCH_NOISE = 1.05, 0.25, 0.25
STEPS, WORK = 24, 160  # moves of the chains, and moves times bins: with many bins the normal draw is nearly right


def generator(evidence: Evidence, purpose: bytes = b"") -> np.random.Generator:
    """A generator that depends on the release alone, and on what it is for."""
    digest = hashlib.sha256(purpose + evidence.counts.tobytes()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def best_fit(model: Model, rounds: int = 12) -> tuple[Floats, Floats]:
    """Levenberg–Marquardt from several starts at once; returns parameters and their precision matrix."""
    best: tuple[float, Floats, Floats] | None = None
    for start in _STARTS:
        xi = np.zeros(model.size)
        xi[0], xi[LINE:SHAPE] = start, 0.5  # at 0 shares of strays have no slope
        damping, (value, gradient, precision) = 1e-2, _local(model, xi)
        for _ in range(rounds):
            scaled = precision + damping * np.diag(np.diag(precision))
            step = np.linalg.solve(scaled, -gradient)
            step *= min(1.0, 3.0 / (np.abs(step).max() + 1e-12))
            moved = _local(model, xi + step)
            if moved[0] < value:
                gain = value - moved[0]
                xi, (value, gradient, precision), damping = xi + step, moved, damping / 5
                if gain < 1e-3:
                    break
            else:
                damping *= 6
        if best is None or value < best[0]:
            best = value, xi, precision
    assert best is not None
    return best[1], best[2]


def _local(model: Model, xi: Floats) -> tuple[float, Floats, Floats]:
    """Value, gradient and Gauss–Newton curvature, from one batch of forward differences."""
    h = 1e-4
    batch = np.concatenate([xi[None], xi + h * np.eye(model.size)])
    residuals = model.residuals(batch)
    here, slopes = residuals[0], (residuals[1:] - residuals[0]) / h
    return float(here @ here) / 2, slopes @ here, slopes @ slopes.T + 1e-6 * np.eye(model.size)


def draw(model: Model, rng: np.random.Generator, *, number: int) -> Floats:
    """Draw parameters from the posterior: draw widely around the best fit, weigh, then move by Markov chains.

    All chains move together. A move mixes the present place with a fresh normal draw and is accepted by the ratio of
    the posterior to that normal density, so that many parameters cost little.
    """
    center, precision = best_fit(model)
    widen = WIDEN + WIDEN_MORE * min(model.evidence.doubt / MUCH_NOISE, 1.0)
    root = widen * np.linalg.inv(np.linalg.cholesky(precision))  # ξ = centre + white · root
    white = rng.standard_normal((PROPOSALS * number, model.size))
    place = center + white @ root
    excess = model.log_posterior(place) + (white**2).sum(axis=1) / 2
    kept = _resampled(excess, number, rng)
    white, place, excess = white[kept], place[kept], excess[kept]
    for step in range(min(STEPS, WORK // model.bins)):
        fresh = FRESH[step % len(FRESH)]
        moved = math.sqrt(1 - fresh**2) * white + fresh * rng.standard_normal(white.shape)
        there = center + moved @ root
        gain = model.log_posterior(there) + (moved**2).sum(axis=1) / 2
        taken = np.log(1.0 - rng.random(number)) < gain - excess
        white[taken], place[taken], excess[taken] = moved[taken], there[taken], gain[taken]
    return place


def _resampled(excess: Floats, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Indices in proportion to the weights, or to a power of them where few draws would carry all the weight."""
    logs = excess - excess.max()
    power = 1.0
    while _effective(power * logs) < number / 2:
        power *= 0.8
    weights = np.cumsum(np.exp(power * logs))
    ticks = (np.arange(number) + rng.random()) / number
    return np.asarray(np.minimum(np.searchsorted(weights, ticks * weights[-1]), len(logs) - 1))


def _effective(logs: Floats) -> float:
    """How many equal weights these are worth."""
    weights = np.exp(logs)
    return float(weights.sum() ** 2 / (weights**2).sum())


def draw_counts(model: Model, state: State, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw, for each curve, the counts of the sample and the expected counts of the population behind it."""
    e, mean, misfit = model.evidence, state.expected, state.misfit
    # Where a count is far further from the curve than chance and noise explain, as with ties, so are sample and
    # population: noise of a hundred scales is less likely than a curve of another kind.
    gap = (e.counts - mean) ** 2
    misfit = np.where(gap > FAR**2 * (mean + misfit + e.noise.variance), gap, misfit)
    sample = kept_positive(e.noise.draw_counts(e.counts[None], mean, np.sqrt(mean + misfit), rng))
    gain = misfit / (misfit + mean)
    usual = np.maximum(mean + gain * (sample - mean), 1e-6)
    population = rng.gamma(usual / gain, gain)
    if any(e.ends):
        chance = model.absent(state)
        absent = rng.random(chance.shape) < chance
        for counts in (sample, population):
            counts[:, :, e.at_ends] *= ~absent
    return sample, population


def kept_positive(drawn: Floats) -> Floats:
    """No count is below 0. What cutting them off there adds to a class is taken from its smallest counts.

    Else many bins that look empty, each a little above 0 on average, would add up to rows that are not there.
    """
    positive = np.maximum(drawn, 0.0)
    added = (positive - drawn).sum(axis=2, keepdims=True)
    ascending = np.sort(positive, axis=2)
    emptied = (np.cumsum(ascending, axis=2) < added).sum(axis=2, keepdims=True)
    least = np.take_along_axis(ascending, np.minimum(emptied, drawn.shape[2] - 1), axis=2)
    return np.where(positive < least, 0.0, positive)


def draw_direct(evidence: Evidence, rng: np.random.Generator, *, number: int) -> tuple[Floats, Floats]:
    """Draw counts of the sample and the population where bins are so full that no model is needed."""
    counts, variance = evidence.counts, evidence.noise.variance
    near, far = (_moving_average(counts, width) for width in (3, 17))
    level = np.where(near > 4 * np.sqrt(variance), near, np.maximum(far, 0.02))
    prior = 0.25 * level**2 + level  # how far a bin may be from its neighbours
    gain = prior / (prior + variance)
    shape = (number, *counts.shape)
    noise = rng.standard_normal(shape) * np.sqrt(gain * variance)
    sample = kept_positive(level + gain * (counts - level) + noise)
    # Its mean is the count, at any size: a normal deviate cut off at 0 would make more rows of small counts.
    return sample, np.maximum(rng.gamma(np.maximum(sample, 1e-6)), 1e-6)


def _moving_average(counts: Floats, width: int) -> Floats:
    padded = np.pad(counts, ((0, 0), (width // 2, width // 2)), mode="reflect")
    sums = np.cumsum(np.pad(padded, ((0, 0), (1, 0))), axis=1)
    return np.asarray((sums[:, width:] - sums[:, :-width]) / width)


def weighted_median(draws: Floats, weights: Floats) -> Floats:
    """In each column, the smallest draw with at least half of the weight at or below it."""
    order = np.argsort(draws, axis=0)
    below = np.cumsum(weights[order], axis=0)
    place = (below < below[-1] / 2).sum(axis=0, keepdims=True)
    return np.asarray(np.take_along_axis(draws, np.take_along_axis(order, place, axis=0), axis=0)[0])


def rates_of(counts: Floats) -> Floats:
    """False- and true-positive rates at the ends of bins, from (0, 0) to (1, 1), for each draw of counts."""
    shares = counts + 1e-9
    rates = np.zeros((*counts.shape[:2], counts.shape[2] + 1))
    np.cumsum(shares, axis=2, out=rates[:, :, 1:])
    rates /= rates[:, :, -1:]
    return rates


def turns(counts: Floats) -> Floats:
    """By how much the slope changes around each bin, as a logarithm: negative where the curve is concave.

    A concave curve stays above the chord of a bin, and below the chords of its neighbours, prolonged. In terms of odds
    of the way between two knots that is from 1 to the ratio of the neighbours' slopes.
    """
    logs = np.log(counts + 0.5)
    steps = np.diff(logs[:, 1] - logs[:, 0], axis=1)
    return np.concatenate([2 * steps[:, :1], steps[:, 1:] + steps[:, :-1], 2 * steps[:, -1:]], axis=1)


def _ends(rates: Floats, apart: tuple[bool, bool]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which bins are the first and the last ones: those that have less than half of a usual bin beyond them.

    Scores at the very ends of the range, where these are bins ``apart``, do not count.
    """
    shares, (top, bottom) = rates.mean(axis=1), apart
    before, after = shares[:, int(top), None], shares[:, shares.shape[1] - 1 - bottom, None]
    light = 0.5 / (shares.shape[1] - 1 - top - bottom) * (after - before)
    return shares[:, :-1] - before < light, after - shares[:, 1:] < light


@dataclass(frozen=True, slots=True)
class Inside:
    """How curves run inside of bins, where nothing is counted: one a draw and bin.

    Attributes
    ----------
    bends : array
        How far a curve bends between two knots, as log-odds of the way.
    corners : array of bool
        Corners as sharp as a concave curve can have: at either end, where the first rows of a class begin, and where
        the slope falls steeply.
    straight : array of bool
        Bins at either end where rows are mixed evenly, but for the bend.
    late : array
        Which share of a bin's negatives come before its positives, with which the others are mixed evenly; mostly none,
        else rather many.
    knees : array
        Over ties, where rows beside them end, as shares of both classes.
    apart : (bool, bool)
        Which of the first and the last bin are scores at the very end of the range.
    """

    bends: Floats
    corners: NDArray[np.bool_]
    straight: NDArray[np.bool_]
    late: Floats
    knees: Floats
    apart: tuple[bool, bool] = (False, False)

    @classmethod
    def draw(
        cls,
        counts: Floats,
        rough: Floats,
        untied: Floats,
        rng: np.random.Generator,
        *,
        sure: float = 0.0,
        apart: tuple[bool, bool] = (False, False),
    ) -> Inside:
        """Draw it for populations, of which a share of each bin may be untied rows beside ties.

        ``sure``, from 0 to 1, says how far wrong rows may be sure of it.
        """
        turn, (first, last) = turns(counts), _ends(rates_of(counts), apart)
        spreads = rough * (LEAST_BEND + BEND * np.minimum(np.abs(turn), MOST_STEEP))
        chance = (1 + sure) * max(LEAST_CORNERS, CORNERS * turn.shape[1])
        corners = (first | last | (turn < -SHARP / (1 + sure))) & (rng.random(turn.shape) < chance)
        others, way = (first | last) & ~corners, rng.random(turn.shape)
        late = LATE_IF_SURE * sure
        return cls(
            spreads * rng.standard_normal(turn.shape),
            corners,
            others & (way < STRAIGHT + (STRAIGHT_IF_SURE - STRAIGHT) * sure),
            np.where(others, np.sqrt(np.maximum(way - (1 - late), 0.0) / max(late, 1e-9)), 0.0),
            draw_knees(untied, counts, first, last, rng),
            apart,
        )


def plain_curve(counts: Floats, grid: Floats, tied: NDArray[np.bool_]) -> Floats:
    """True-positive rates on a grid, without a model: a smooth curve through the knots, straight over ties."""
    rates = rates_of(counts[None])
    return np.asarray(_warped(rates, rates.transpose(1, 0, 2), grid, _probit_curve(rates[0]), tied[None])[0])


def _probit_curve(knots: Floats) -> Callable[[Floats], Floats]:
    """A monotone cubic through knots on probit paper, with straight ends there: most ROC curves are nearly straight."""
    x, y = ndtri(np.clip(knots[:, 1:-1], 1e-7, 1 - 1e-7))
    x, places = np.unique(x, return_index=True)
    y = y[places]
    slope = (y[-1] - y[0]) / (x[-1] - x[0]) if len(x) > 1 else 1.0
    ends = np.array([-10.0, 10.0])
    y = np.concatenate([y[:1] + slope * ends[:1], y, y[-1:] + slope * ends[1:]])
    inner = PchipInterpolator(np.concatenate([x[:1] + ends[:1], x, x[-1:] + ends[1:]]), y)
    return lambda fpr: np.asarray(ndtr(inner(ndtri(np.clip(fpr, 1e-7, 1 - 1e-7)))))


def curves(
    state: State,
    counts: Floats,
    grid: Floats,
    tied: NDArray[np.bool_],
    *,
    sags: Floats,
    inside: Inside | None = None,
) -> Floats:
    """True-positive rates on a grid of false-positive rates, one for all or one a draw: the smooth curve, warped to
    pass through the counts."""
    rates = rates_of(counts)
    model = np.zeros((2, len(counts), rates.shape[2]))
    model[:, :, 1:-1] = state.fpr, state.tpr
    model[:, :, -1] = 1.0

    def curve(inner: Floats) -> Floats:
        return np.maximum.accumulate(state.curve(inner), axis=1)

    return _warped(rates, model, grid, curve, tied, sags=sags, inside=inside)


def _warped(
    rates: Floats,
    model: Floats,
    grid: Floats,
    curve: Callable[[Floats], Floats],
    tied: NDArray[np.bool_],
    *,
    sags: Floats | None = None,
    inside: Inside | None = None,
) -> Floats:
    """Move each smooth curve, bin by bin, from the model's knots to a draw's knots, and bend it between them.

    A bend b multiplies the odds of the way between two knots by e^b. Below the chord between two knots, where few real
    curves are, a curve keeps the given share of its sag. In a corner it follows the chords of the neighbouring bins,
    prolonged, which is as high as a concave curve can be. Over ties it is straight.
    """
    grid = np.broadcast_to(grid, (len(rates), grid.shape[-1]))
    place = np.stack([np.searchsorted(*pair, side="right") for pair in zip(rates[:, 0, 1:-1], grid, strict=True)])

    def here(values: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(values, place, axis=1)

    left, right = here(rates[:, 0]), here(rates[:, 0, 1:])
    across = np.clip((grid - left) / np.maximum(right - left, 1e-12), 0.0, 1.0)
    low, high = here(model[0]), here(model[0, :, 1:])
    smooth = curve(low + (high - low) * across)
    low, high = here(model[1]), here(model[1, :, 1:])
    share = np.clip((smooth - low) / np.maximum(high - low, 1e-12), 0.0, 1.0)
    if sags is not None:
        share += (1 - sags[:, None]) * np.maximum(across - share, 0.0)
    over = across
    if inside is not None:
        share = np.where(here(inside.straight), across, share)
        odds = share * np.exp(here(inside.bends))
        share = odds / (1 - share + odds)
        before, after = (here(ratio) for ratio in _neighbours(rates, inside.apart))
        highest = np.clip(np.minimum(across * before, 1 - (1 - across) * after), share, 1.0)
        share = np.where(here(inside.corners), highest, share)
        late = here(inside.late)
        share = np.where(late > 0, np.maximum(across - late, 0.0) / np.maximum(1 - late, 1e-9), share)
        over = _two_pieces(across, np.stack([here(side) for side in inside.knees]))
    share = np.where(here(tied), over, share)
    low, high = here(rates[:, 1]), here(rates[:, 1, 1:])
    return np.asarray(low + share * (high - low))


def _two_pieces(across: Floats, knee: Floats) -> Floats:
    """Straight from (0, 0) to a knee, and on to (1, 1)."""
    x, y = np.clip(knee, 1e-9, 1 - 1e-9)
    return np.asarray(np.where(across < x, across * y / x, 1 - (1 - across) * (1 - y) / (1 - x)))


def _neighbours(rates: Floats, apart: tuple[bool, bool]) -> tuple[Floats, Floats]:
    """Slopes of the bins before and after each bin, in units of its own; at the ends as steep and as flat as can be."""
    steps = np.maximum(np.diff(rates, axis=2), 1e-6)
    slopes = steps[:, 1] / steps[:, 0]
    first, last = _ends(rates, apart)
    before = np.where(first, 1e6, np.roll(slopes, 1, axis=1) / slopes)
    return before, np.where(last, 0.0, np.roll(slopes, -1, axis=1) / slopes)
