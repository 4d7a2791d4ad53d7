"""A prior on ROC curves and score bins, and how likely noisy counts are under it. Public side: sees released numbers.

On a probit axis z = Φ⁻¹(FPR) a ROC curve is close to a straight line, whatever the scale of the scores. The prior is
such a line (two parameters) with a few smooth wiggles, of which a small share of each class strays among the other, cut
into bins at unknown places, and classes of unknown size.
Every parameter is a standard normal deviate, so that the prior reads −‖ξ‖²/2. The likelihood is that of the release:
the law of its noise around counts that scatter about the curve, and of cuts by their balance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from tacit.desk.cutting import FEWEST_BINS, MOST_EVEN, even_part
from tacit.evaluation.evidence import Evidence, Floats

WIGGLES = 5
# Centre and spread of the separation, and spreads of log σ, of the first wiggle, of log-gaps and of the middle cut.
D_MEAN, D_SPREAD, SIGMA_SPREAD, WIGGLE_SPREAD, GAP_SPREAD, MIDDLE_SPREAD = 2.0, 1.5, 0.55, 0.2, 1.0, 1.0
# Of the logarithm of all gaps together, where cuts are many: they may all be close to each other. And where both ends
# of the range have bins, between which there may be few rows.
SPAN_SPREAD, SPAN_BETWEEN_ENDS = 1.0, 2.0
LINE = 2 + WIGGLES  # parameters of the curve without strays: separation, spread, wiggles
SHAPE = LINE + 2  # and with them
# Rows that score as if they were of the other class, as labels are wrong at times: their share of their own class is
# this times sinh² of a normal deviate. Half of all shares are below .0002, one in twenty is above .005.
STRAY, STRAY_TAIL, MOST_STRAY = 0.0003, 1.25, 0.3
USUAL_SLOPE = 0.3  # how far from 1 slopes on probit paper usually are, as a logarithm
FREEDOM, MOST_ROUGH = 3.0, 4.0  # wiggles have a t-distribution together: some curves are far rougher than others
MISFIT = 0.06  # relative standard deviation of a bin's share around a smooth curve of middling roughness
FIRST_MISFIT = 0.07  # the same for the first fit, which does not weigh roughness
END_MISFIT = 0.4  # the same for scores at the very ends of the range: how many there are, no smooth curve says
ABSENT = 0.1  # chance that one class has no scores there
TIES = 0.05  # chance that a cut falls among ties
_LEAST = 1e-4  # expected count of a bin, at least
_EDGE = 8.0
_ALONG = np.linspace(-12.0, 8.0, 201)  # places on the probit axis at which curves are worked out


@dataclass(frozen=True, slots=True)
class State:
    """Curves and bins for a batch of parameters: knots on the probit axis, rates, and expected counts."""

    separation: Floats
    slope: Floats
    wiggles: Floats
    strays: Floats
    rough: Floats
    tied: Floats
    z: Floats
    fpr: Floats
    tpr: Floats
    sizes: Floats
    expected: Floats

    @property
    def misfit(self) -> Floats:
        """Variances of what no smooth curve shows: more for rougher curves, and in the tails, as for rare rows; and
        with ties, of which a bin has any number."""
        usual = self.expected.mean(axis=2, keepdims=True)
        share = (MISFIT * self.rough[:, :, None]) ** 2 + self.tied**2
        return np.asarray(share * self.expected * np.maximum(self.expected, usual))

    @property
    def usual(self) -> Floats:
        """Weights for a best guess: most classifiers have slopes near 1. Bands do without: they must hold for all."""
        return np.asarray(1 / (1 + (np.log(self.slope) / USUAL_SLOPE) ** 2))

    def curve(self, fpr: Floats) -> Floats:
        """True-positive rates of the smooth curves at false-positive rates (one row a curve)."""
        line = np.broadcast_to(_ALONG, (len(fpr), len(_ALONG)))
        along = np.maximum.accumulate(_tpr(line, self.separation, self.slope, self.wiggles), axis=1)
        rates = _strayed(ndtr(_ALONG)[None], along, self.strays)
        return np.stack([np.interp(x, a, b, left=0.0, right=1.0) for x, a, b in zip(fpr, *rates, strict=True)])


def _strayed(fpr: Floats, tpr: Floats, strays: Floats) -> tuple[Floats, Floats]:
    """Rates of both classes where a share of each scores as the other does."""
    gap = tpr - fpr
    return fpr + strays[:, :1] * gap, tpr - strays[:, 1:] * gap


def _tpr(z: Floats, separation: Floats, slope: Floats, wiggles: Floats) -> Floats:
    """The curve: Φ of a line in z, with wiggles that are cosines over the range where the curve bends."""
    u = (3.0 - z) / (separation + 3.0 + 3.0 / slope)[:, None]
    here = np.cos(np.pi * np.clip(u, 0.0, 1.0, out=u))
    before, twice = np.ones_like(here), 2 * here
    line = slope[:, None] * (separation[:, None] + z)
    for k in range(WIGGLES):  # Chebyshev: cos(kx) from the two before
        line += wiggles[:, k, None] * here
        before, here = here, twice * here - before
    return np.asarray(ndtr(line))


class Model:
    """The prior and the likelihood of an evidence, for batches of parameters ξ (one row each).

    ``tied`` is the share of rows that are surely tied: then no smooth curve says how many are in a bin.
    """

    def __init__(self, evidence: Evidence, tied: float = 0.0) -> None:
        self.evidence = evidence
        self.bins = evidence.counts.shape[1]
        self._splits = evidence.splits.T
        self.size = SHAPE + self.bins + 2  # middle cut, all gaps, each gap; sizes
        self._span = SPAN_BETWEEN_ENDS if all(evidence.ends) else SPAN_SPREAD if evidence.bins > FEWEST_BINS else 0.0
        least = np.sqrt(self.bins * evidence.noise.variance)
        # The chance that where a cut is says nothing about its two sides: ties cannot be cut in two, and where rows can
        # hardly steer a cut, it stays where cuts usually are.
        self._tied = np.full(self.bins, tied / (1 - tied))
        self._tied[evidence.at_ends] = max(tied / (1 - tied), END_MISFIT)
        self._loose = max(TIES, 1 - even_part(evidence.nats) / MOST_EVEN, tied)
        self._center = np.log(np.maximum(evidence.counts.sum(axis=1), least) + 1.0)

    def unfold(self, xi: Floats) -> State:
        """Turn deviates into curves, bins and expected counts."""
        m = self.bins
        d = np.maximum(D_MEAN + D_SPREAD * xi[:, 0], -2.0)
        sigma = np.exp(SIGMA_SPREAD * np.clip(xi[:, 1], -6, 6))
        wiggles = xi[:, 2:LINE] * (WIGGLE_SPREAD / np.arange(1, WIGGLES + 1))
        square = (xi[:, 2:LINE] ** 2).sum(axis=1, keepdims=True)
        strays = np.minimum(STRAY * np.sinh(STRAY_TAIL * np.clip(xi[:, LINE:SHAPE], -5, 5)) ** 2, MOST_STRAY)
        rough = np.minimum(np.sqrt((FREEDOM + square) / (FREEDOM + WIGGLES)), MOST_ROUGH)
        together = np.exp(self._span * np.clip(xi[:, SHAPE + 1], -4, 4))
        gaps = (together * (d + 3.0) / m)[:, None] * np.exp(GAP_SPREAD * np.clip(xi[:, SHAPE + 2 : SHAPE + m], -6, 4))
        steps = np.concatenate([np.zeros((len(xi), 1)), np.cumsum(gaps, axis=1)], axis=1)
        middle = -d / 2 + MIDDLE_SPREAD * np.sinh(np.clip(xi[:, SHAPE], -4, 4))  # mostly near, at times far
        z = np.clip(middle[:, None] + steps - steps[:, -1:] / 2, -_EDGE, _EDGE)
        fpr, tpr = _strayed(ndtr(z), np.maximum.accumulate(_tpr(z, d, 1 / sigma, wiggles), axis=1), strays)
        sizes = np.exp(np.clip(self._center + xi[:, -2:], 0.0, 40.0))
        rates = np.stack([fpr, tpr], axis=1)
        shares = np.diff(rates, axis=2, prepend=0.0, append=1.0)
        expected = np.maximum(shares * sizes[:, :, None], _LEAST)
        return State(d, 1 / sigma, wiggles, strays, rough, self._tied, z, fpr, tpr, sizes, expected)

    def balances(self, state: State, variances: Floats) -> tuple[Floats, Floats, Floats]:
        """For each cut: weight above minus below, its spread in a sample, and both together.

        ``variances`` are those of the counts of bins.
        """
        weights, inner = np.array(self.evidence.weights)[:, None], self.evidence.inner
        parts = (weights * state.expected[:, :, inner]).sum(axis=1), (weights**2 * variances[:, :, inner]).sum(axis=1)
        mass, square = (np.cumsum(np.pad(part, ((0, 0), (1, 0))), axis=1) for part in parts)
        low, middle, high = self._splits
        gap = 2 * mass[:, middle] - mass[:, low] - mass[:, high]
        return gap, np.sqrt(square[:, high] - square[:, low]), mass[:, high] - mass[:, low]

    def residuals(self, xi: Floats) -> Floats:
        """Residuals whose squares add up to about twice the negative log-posterior: for a first fit."""
        state = self.unfold(xi)
        e = self.evidence
        fit = (e.counts - state.expected) / np.sqrt(
            e.noise.variance + state.expected + (FIRST_MISFIT**2 + self._tied**2) * state.expected**2
        )
        gap, spread, total = self.balances(state, state.expected + state.misfit)
        balance = gap * np.sqrt(1 / (e.balance.variance + spread**2) + 3 / total**2)
        return np.concatenate([fit.reshape(len(xi), -1), self._scaled(xi), balance], axis=1)

    def log_posterior(self, xi: Floats) -> Floats:
        """The logarithm of the posterior density, up to a constant."""
        state = self.unfold(xi)
        e = self.evidence
        variances = state.expected + state.misfit
        fit = e.noise.log_density(e.counts - state.expected, np.sqrt(variances))
        fit[:, :, e.at_ends] = np.logaddexp(*self._at_ends(fit))
        gap, spread, total = self.balances(state, variances)
        # A cut's log-probability falls with its imbalance, unless the cut is loose: then any balance will do.
        balanced = e.balance.log_density(gap, spread) + math.log((1 - self._loose) / (2 * e.balance.scale))
        balance = np.logaddexp(balanced, np.log(self._loose / 2 / total))
        return np.asarray(fit.sum(axis=(1, 2)) + balance.sum(axis=1) - (self._scaled(xi) ** 2).sum(axis=1) / 2)

    def absent(self, state: State) -> Floats:
        """The chance that a class has no scores at an end of the range, where its count is but noise."""
        e = self.evidence
        fit = e.noise.log_density(e.counts - state.expected, np.sqrt(state.expected + state.misfit))
        some, none = self._at_ends(fit)
        return np.asarray(expit(none - some))

    def _at_ends(self, fit: Floats) -> tuple[Floats, Floats]:
        """Log-densities of the counts at the ends of the range, with the chances of the two cases: if they are as the
        model has them, and if there are no rows."""
        counts = self.evidence.counts[:, self.evidence.at_ends]
        none = self.evidence.noise.log_density(counts, np.full(counts.shape, _LEAST))
        return fit[:, :, self.evidence.at_ends] + math.log(1 - ABSENT), none + math.log(ABSENT)

    @staticmethod
    def _scaled(xi: Floats) -> Floats:
        """Deviates as the prior sees them: half their squares' sum is the prior's negative logarithm."""
        wiggles, sizes = xi[:, 2:LINE], xi[:, -2:] / 3.0  # next to nothing is known about the sizes of classes
        square = np.maximum((wiggles**2).sum(axis=1, keepdims=True) / FREEDOM, 1e-12)
        heavy = np.sqrt((FREEDOM + WIGGLES) / FREEDOM * np.log1p(square) / square)
        return np.concatenate([xi[:, :2], heavy * wiggles, xi[:, LINE:-2], sizes], axis=1)
