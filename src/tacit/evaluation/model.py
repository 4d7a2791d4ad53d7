"""A prior on ROC curves and score bins, and how likely noisy counts are under it. Public side: sees released numbers.

On a probit axis z = Φ⁻¹(FPR) a ROC curve is close to a straight line, whatever the scale of the scores. The prior is
such a line (two parameters) with a few smooth wiggles, cut into bins at unknown places, and classes of unknown size.
Every parameter is a standard normal deviate, so that the prior reads −‖ξ‖²/2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri

Floats = NDArray[np.float64]

WIGGLES = 5
# Centre and spread of the separation, and spreads of log σ, of the first wiggle, of log-gaps and of the middle cut.
D_MEAN, D_SPREAD, SIGMA_SPREAD, WIGGLE_SPREAD, GAP_SPREAD, MIDDLE_SPREAD = 2.0, 1.5, 0.4, 0.2, 1.0, 2.0
SHAPE = 2 + WIGGLES  # parameters of the curve itself: separation, spread, wiggles
MISFIT = 0.10  # relative standard deviation of a bin's share around the smooth curve
_LEAST = 1e-4  # expected count of a bin, at least
_EDGE = 8.0


@dataclass(frozen=True, slots=True)
class Noise:
    """The distribution of the noise on every count: its scale, and whether it is Laplace or Gaussian."""

    scale: float
    gaussian: bool = False

    @property
    def variance(self) -> float:
        """The variance of one count's noise."""
        return self.scale**2 * (1.0 if self.gaussian else 2.0)

    def _sides(self, rest: Floats, spread: Floats) -> tuple[Floats, Floats]:
        """Log-weights of "the count is below what was released" and "above it"."""
        b = self.scale
        reach, tilt = rest / spread, spread / b
        return -rest / b + log_ndtr(reach - tilt), rest / b + log_ndtr(-reach - tilt)

    def draw_counts(self, released: Floats, mean: Floats, spread: Floats, rng: np.random.Generator) -> Floats:
        """Draw the true count, given its prior N(mean, spread²) and what was released."""
        if self.gaussian:
            gain = spread**2 / (spread**2 + self.variance)
            noise = rng.standard_normal(mean.shape) * np.sqrt(gain * self.variance)
            return mean + gain * (released - mean) + noise
        rest = released - mean
        up, down = self._sides(rest, spread)
        below = rng.random(mean.shape) < 1 / (1 + np.exp(np.clip(down - up, -700, 700)))
        side = np.where(below, 1.0, -1.0)
        # By symmetry both sides are a normal deviate cut off from above at ``edge``.
        edge = side * rest / spread - spread / self.scale
        uniform = 1.0 - rng.random(mean.shape)
        cut = np.where(edge > -_EDGE, ndtri(np.maximum(uniform * ndtr(edge), 1e-300)), edge + np.log(uniform) / _EDGE)
        return mean + side * (spread * cut + spread**2 / self.scale)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was released: noisy counts of both classes in bins from the highest scores to the lowest.

    Attributes
    ----------
    counts : array of shape (2, bins)
        Negatives, then positives.
    totals : array of shape (2,)
        The noisy class totals that were released first.
    noise, totals_noise : Noise
    weights : (float, float)
        How much a negative and a positive weighed when bins were balanced.
    imbalance : float
        How far the logarithms of the bins' weights may be apart, as a standard deviation.
    """

    counts: Floats
    totals: Floats
    noise: Noise
    totals_noise: Noise
    weights: tuple[float, float]
    imbalance: float

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return int(self.counts.shape[1])


@dataclass(frozen=True, slots=True)
class State:
    """Curves and bins for a batch of parameters: knots on the probit axis, rates, and expected counts."""

    separation: Floats
    slope: Floats
    wiggles: Floats
    z: Floats
    fpr: Floats
    tpr: Floats
    sizes: Floats
    expected: Floats

    def curve(self, fpr: Floats) -> Floats:
        """True-positive rates of the smooth curves at false-positive rates (one row a curve)."""
        return _tpr(ndtri(fpr), self.separation, self.slope, self.wiggles)


def _tpr(z: Floats, separation: Floats, slope: Floats, wiggles: Floats) -> Floats:
    """The curve: Φ of a line in z, with wiggles that are cosines over the range where the curve bends."""
    u = (3.0 - z) / (separation + 3.0 + 3.0 / slope)[:, None]
    angle = np.pi * np.clip(u, 0.0, 1.0)
    first = np.cos(angle)
    before, here = np.ones_like(first), first
    line = slope[:, None] * (separation[:, None] + z)
    for k in range(WIGGLES):  # Chebyshev: cos(kx) from the two before
        line = line + wiggles[:, k, None] * here
        before, here = here, 2 * first * here - before
    return np.asarray(ndtr(line))


class Model:
    """The prior and the likelihood of an evidence, for batches of parameters ξ (one row each)."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.bins = evidence.bins
        self.size = SHAPE + (self.bins - 1) + 2
        least = np.sqrt(self.bins * evidence.noise.variance)
        self._center = np.log(np.maximum(evidence.counts.sum(axis=1), least) + 1.0)

    def unfold(self, xi: Floats) -> State:
        """Turn deviates into curves, bins and expected counts."""
        m = self.bins
        d = np.maximum(D_MEAN + D_SPREAD * xi[:, 0], -2.0)
        sigma = np.exp(SIGMA_SPREAD * np.clip(xi[:, 1], -6, 6))
        wiggles = xi[:, 2:SHAPE] * (WIGGLE_SPREAD / np.arange(1, WIGGLES + 1))
        gaps = (d[:, None] + 3.0) / m * np.exp(GAP_SPREAD * np.clip(xi[:, SHAPE + 1 : SHAPE + m - 1], -6, 4))
        steps = np.concatenate([np.zeros((len(xi), 1)), np.cumsum(gaps, axis=1)], axis=1)
        middle = -d / 2 + MIDDLE_SPREAD * xi[:, SHAPE]
        z = np.clip(middle[:, None] + steps - steps[:, -1:] / 2, -_EDGE, _EDGE)
        fpr = ndtr(z)
        tpr = np.maximum.accumulate(_tpr(z, d, 1 / sigma, wiggles), axis=1)
        sizes = np.exp(np.clip(self._center + xi[:, -2:], 0.0, 40.0))
        rates = np.stack([fpr, tpr], axis=1)
        shares = np.diff(rates, axis=2, prepend=0.0, append=1.0)
        expected = np.maximum(shares * sizes[:, :, None], _LEAST)
        return State(d, 1 / sigma, wiggles, z, fpr, tpr, sizes, expected)

    def imbalance(self, state: State) -> Floats:
        """How far bins are from the equal weight that they were cut to have, in standard deviations of its log."""
        weights = np.array(self.evidence.weights)
        mass = (weights[None, :, None] * state.expected).sum(axis=1)
        return np.asarray(np.log(self.bins * mass / mass.sum(axis=1, keepdims=True) + 1e-3) / self.evidence.imbalance)

    def residuals(self, xi: Floats) -> Floats:
        """Residuals whose squares add up to twice the negative log-posterior of a normal approximation."""
        state = self.unfold(xi)
        e = self.evidence
        expected = state.expected
        spread = np.sqrt(e.noise.variance + expected + (MISFIT * expected) ** 2)
        fit = ((e.counts - expected) / spread).reshape(len(xi), -1)
        total = (e.totals - state.sizes) / np.sqrt(e.totals_noise.variance + state.sizes)
        sizes = xi[:, -2:] / 3.0  # a little help where nothing is known about a class
        return np.concatenate([fit, total, xi[:, :-2], sizes, self.imbalance(state)], axis=1)
