"""Draws from the posterior of ROC curves given a release: best fit, its curvature, then a short Markov chain.

Public side, and deterministic: the generator is seeded from the released numbers, so that a release gives one curve.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from scipy.interpolate import PchipInterpolator

from tacit.evaluation.model import MISFIT, Evidence, Floats, Model, State

_STARTS = (-0.6, 0.8)  # separations of about 1.1 and 3.2
_FREEDOM = 20


def generator(evidence: Evidence) -> np.random.Generator:
    """A generator that depends on the release alone."""
    body = np.concatenate([evidence.counts.ravel(), evidence.totals]).tobytes()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(body).digest()[:8], "little"))


def best_fit(model: Model, rounds: int = 12) -> tuple[Floats, Floats]:
    """Levenberg–Marquardt from several starts at once; returns parameters and their precision matrix."""
    best: tuple[float, Floats, Floats] | None = None
    for start in _STARTS:
        xi = np.zeros(model.size)
        xi[0] = start
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


def draw(model: Model, rng: np.random.Generator, *, number: int, stretch: float = 1.0) -> Floats:
    """Draw parameters around the best fit.

    With ``stretch`` 1 from the normal approximation of the posterior, which is enough for a best guess. Larger values
    widen it and give it the tails of a t distribution: intervals then allow for curves unlike those of the model.
    """
    xi, precision = best_fit(model)
    deviates = rng.standard_normal((model.size, number))
    if stretch != 1.0:
        deviates *= stretch / np.sqrt(rng.chisquare(_FREEDOM, number) / _FREEDOM)
    drawn: Floats = xi + np.linalg.solve(np.linalg.cholesky(precision).T, deviates).T
    return drawn


def draw_counts(model: Model, state: State, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw, for each curve, the counts of the sample and the expected counts of the population behind it."""
    e, mean = model.evidence, state.expected
    misfit = (MISFIT * mean) ** 2
    sample = np.maximum(e.noise.draw_counts(e.counts[None], mean, np.sqrt(mean + misfit), rng), 0.0)
    gain = misfit / (misfit + mean)
    population = mean + gain * (sample - mean) + rng.standard_normal(mean.shape) * np.sqrt(gain * mean)
    return sample, np.maximum(population, 1e-6)


def draw_direct(
    evidence: Evidence, rng: np.random.Generator, *, number: int, stretch: float = 1.0
) -> tuple[Floats, Floats]:
    """Draw counts of the sample and the population where bins are so full that no model is needed."""
    counts, variance = evidence.counts, evidence.noise.variance
    near, far = (_moving_average(counts, width) for width in (3, 17))
    level = np.where(near > 4 * np.sqrt(variance), near, np.maximum(far, 0.02))
    prior = 0.25 * level**2 + level  # how far a bin may be from its neighbours
    gain = prior / (prior + variance)
    shape = (number, *counts.shape)
    noise = rng.standard_normal(shape) * stretch * np.sqrt(gain * variance)
    sample = np.maximum(level + gain * (counts - level) + noise, 0.0)
    return sample, np.maximum(sample + rng.standard_normal(shape) * stretch * np.sqrt(sample), 1e-6)


def _moving_average(counts: Floats, width: int) -> Floats:
    padded = np.pad(counts, ((0, 0), (width // 2, width // 2)), mode="reflect")
    sums = np.cumsum(np.pad(padded, ((0, 0), (1, 0))), axis=1)
    return np.asarray((sums[:, width:] - sums[:, :-width]) / width)


def rates_of(counts: Floats) -> Floats:
    """False- and true-positive rates at the ends of bins, from (0, 0) to (1, 1), for each draw of counts."""
    shares = counts + 1e-9
    rates = np.zeros((*counts.shape[:2], counts.shape[2] + 1))
    np.cumsum(shares, axis=2, out=rates[:, :, 1:])
    rates /= rates[:, :, -1:]
    return rates


def plain_curves(counts: Floats, grid: Floats) -> Floats:
    """True-positive rates on a grid: a monotone cubic through the median knots, warped to pass through each draw's."""
    rates = rates_of(counts)
    middle = rates_of(np.median(counts, axis=0)[None])[0]
    fpr, places = np.unique(middle[0], return_index=True)
    tpr = middle[1, places]
    smooth_at = PchipInterpolator(fpr, tpr)
    # A bin that could not be cut as small as the others holds ties, and a curve is straight over ties.
    tied = np.maximum(np.diff(fpr), np.diff(tpr)) > 4 / counts.shape[2]

    def curve(inner: Floats) -> Floats:
        place = np.clip(np.searchsorted(fpr, inner, side="right") - 1, 0, len(tied) - 1)
        return np.asarray(np.where(tied[place], np.interp(inner, fpr, tpr), smooth_at(inner)))

    model = np.broadcast_to(middle[:, None], (2, len(counts), rates.shape[2]))
    return _warped(rates, model, grid, curve)


def curves(state: State, counts: Floats, grid: Floats) -> Floats:
    """True-positive rates on a grid of false-positive rates: the smooth curve, warped to pass through the counts."""
    rates = rates_of(counts)
    model = np.zeros((2, len(counts), rates.shape[2]))
    model[:, :, 1:-1] = state.fpr, state.tpr
    model[:, :, -1] = 1.0
    return _warped(rates, model, grid, lambda inner: np.maximum.accumulate(state.curve(inner), axis=1))


def _warped(rates: Floats, model: Floats, grid: Floats, curve: Callable[[Floats], Floats]) -> Floats:
    """Move each smooth curve, bin by bin, from the model's knots to a draw's knots."""
    number = len(rates)
    inner = np.stack([np.interp(grid, rates[i, 0], model[0, i]) for i in range(number)])
    smooth = curve(inner)
    place = np.stack([np.searchsorted(rates[i, 0, 1:-1], grid, side="right") for i in range(number)])
    low, high = (np.take_along_axis(model[1], place + side, axis=1) for side in (0, 1))
    share = np.clip((smooth - low) / np.maximum(high - low, 1e-12), 0.0, 1.0)
    first, last = (np.take_along_axis(rates[:, 1], place + side, axis=1) for side in (0, 1))
    return np.asarray(first + share * (last - first))
