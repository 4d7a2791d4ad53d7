"""Curves by the paper's family of methods: released counts, made monotone, with bands from a bootstrap. Public side.

No prior and no smoothing: the curve goes straight from threshold to threshold. Its band says what that leaves open: the
errors of the rates at all thresholds together, and everything that a monotone curve may do between them.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.isotonic import isotonic_regression

from tacit.desk.roc_family import Counted
from tacit.evaluation.curve import RocCurve
from tacit.evaluation.evidence import Floats, Noise
from tacit.evaluation.intervals import ROWS, check_level
from tacit.evaluation.places import ACROSS, Paths, Places, bent
from tacit.privacy.grid import CELLS, cells_of, scores_at
from tacit.privacy.release import Receipt

REPLICATES = 200
SURE = 4.0  # standard deviations of noise that a class must hold before a bootstrap of it means anything
FEW_BINS = 64  # beyond, what a curve does inside of a bin is left straight in metrics
ANYWHERE = 2.0  # bends of such a spread fill the box between two thresholds
ONE_SCORE = 0.5  # share of replicates in which the rows of a bin share one score, which nothing rules out
ROOM = 1.3  # of metrics, as some bias of what was made monotone is left
UNSEEN = 2.0  # rows spread over the bins before sampling errors are drawn: an empty bin need not be empty next time


class Replicates:
    """What the method would have shown, had the test set and the noise been others.

    Attributes
    ----------
    sums : array of shape (replicates, 2, bins)
        Running counts of both classes from the highest scores down.
    """

    def __init__(self, sums: Floats, base: Floats, rng: np.random.Generator) -> None:
        self.sums, self._base, self._rng = sums, base, rng

    @cached_property
    def likely(self) -> Floats:
        """Running counts that the true ones may be.

        What was released was drawn around those as replicates are around what was released: so it is off as they are
        on average, and they are so once more. Noise that is made monotone adds up where there are no rows, most of all.
        """
        moved = self.sums - 2 * (self.sums.mean(axis=0) - self._base)
        return np.maximum.accumulate(np.maximum(moved, 0.0), axis=2)

    @cached_property
    def paths(self) -> Paths:
        """Curves that go anywhere between what their bins allow."""
        sums = self.likely
        replicates, _, bins = sums.shape
        steps = ACROSS if bins <= FEW_BINS else ACROSS[:1]
        bends = ANYWHERE * self._rng.logistic(size=(replicates, 1, bins, 1))
        shares = np.stack(np.broadcast_arrays(steps, bent(steps, bends[:, 0])), axis=1)
        rates = rates_at(sums)
        inner = rates[:, :, :-1, None] + np.diff(rates, axis=2)[..., None] * shares
        found = np.concatenate([inner.reshape(replicates, 2, -1), rates[:, :, -1:]], axis=2)
        ties = self._rng.random((replicates, bins)) < ONE_SCORE
        return Paths(found, sums[:, :, -1] + 1e-6, ties)

    def places(self, cuts: Floats) -> Places:
        """Where scores stand on curves, given the ends of bins as cells from the highest scores down."""
        return Places(cuts, self.paths, self._rng)


class FamilyCurve(RocCurve):
    """A private ROC curve by one of the paper's methods, with everything that :class:`RocCurve` has.

    Intervals and bands come from a parametric bootstrap: counts are drawn around the released ones, noise of the same
    law is added, and the same steps follow.
    """

    def __init__(self, counted: Counted, score_range: tuple[float, float], pos_label: Any) -> None:
        self._counted = counted
        self._noise = Noise.of(counted.noise_scale, counted.gaussian)
        self._totals_noise = Noise.of(counted.totals_scale)
        self.score_range = score_range
        self.pos_label = pos_label
        sums = self._merged(self._running(counted.released), counted.totals)
        self.unknown = bool(sums[:, -1].min() < max(SURE * np.sqrt(self._total_variance()), 1.0))
        self._sums = self._monotone(sums)
        self.fpr, self.tpr = rates_at(self._sums)
        self.thresholds = thresholds_at(counted.cuts[::-1], score_range)
        self.auc = float(area(self.fpr, self.tpr))
        for array in (self.fpr, self.tpr, self.thresholds):
            array.flags.writeable = False

    @property
    def receipt(self) -> Receipt:
        """What was released, what it cost, and why that is enough."""
        return self._counted.receipt

    @property
    def share_at_ends(self) -> float:
        """0: these methods do not count the very ends of the range by themselves."""
        return 0.0

    @property
    def release(self) -> Counted:
        """The public numbers that the curve is read from."""
        return self._counted

    @property
    def cuts(self) -> NDArray[np.int64]:
        """Ends of the bins, as cells of the public grid in ascending order."""
        return self._counted.cuts

    def auc_interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval for the area under the population's curve: noise, sampling, and what bins do not show."""
        reach = ndtri((1 + check_level("auc_interval", level)) / 2)
        if self.unknown:
            return 0.0, 1.0
        fpr, tpr = np.moveaxis(rates_at(self.posterior.sums), 1, 0)
        ends = []
        for corner in (-1, 1):
            here = area(self.fpr, self.tpr, corner)
            ends.append(float(np.clip(here + corner * reach * _spread(area(fpr, tpr, corner) - here), 0.0, 1.0)))
        return ends[0], ends[1]

    def auc_draws(self) -> Floats:
        """Areas under curves of other test sets and other noise, anywhere between what their bins allow."""
        fpr, tpr = np.moveaxis(rates_at(self.posterior.likely), 1, 0)
        low, high = (area(fpr, tpr, corner) for corner in (-1, 1))
        return np.asarray(low + (high - low) * self._generator(b"areas").random(len(low)))

    def band(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper true-positive rates at ``fpr`` that hold the population's whole curve together."""
        check_level("band", level)
        if self.unknown:
            return np.zeros_like(self.fpr), np.ones_like(self.fpr)
        base, replicates = rates_at(self._sums), rates_at(self.posterior.sums)
        row = 1 / np.maximum(self._sums[:, -1:], 2.0)
        spread = _spread(replicates - base) + row / 2
        reach = np.quantile((np.abs(replicates - base) / spread).max(axis=(1, 2)), level)
        # Rates grow along the curve, so a bound at one threshold holds at all that follow, or precede.
        low = np.maximum.accumulate(np.clip(base - reach * spread, 0.0, 1.0), axis=1)
        high = np.minimum.accumulate(np.clip(base + reach * spread, 0.0, 1.0)[:, ::-1], axis=1)[:, ::-1]
        low[:, 0], high[:, 0], low[:, -1], high[:, -1] = 0.0, 0.0, 1.0, 1.0
        # A threshold whose FPR is surely below f has a TPR of at most that at f; one surely above, of at least that. To
        # hold between two points as well, where a band is read off a straight line, each side looks one point further.
        before = np.searchsorted(high[0], np.append(0.0, self.fpr[:-1]), side="left") - 1
        after = np.searchsorted(low[0], np.append(self.fpr[1:], 1.0), side="right")
        below = np.where(before < 0, 0.0, low[1][np.maximum(before, 0)])
        return below, np.append(high[1], 1.0)[after]

    def room(self) -> float:
        """Intervals of metrics are wider than replicates say, as some of their bias is left."""
        return ROOM

    @property
    def unseen(self) -> float:
        """How many rows a count may miss: three by chance, and one standard deviation of its noise."""
        return ROWS + float(np.sqrt(self._noise.variance))

    @cached_property
    def posterior(self) -> Any:
        """The bootstrap's replicates, behind all intervals."""
        counted, rng = self._counted, self._generator(b"bootstrap")
        unseen = UNSEEN / counted.layout.bins
        expected = np.diff(self._sums, axis=1, prepend=0.0) + unseen
        counts = rng.poisson(expected, (REPLICATES, *expected.shape)) - unseen
        noise = self._running(_drawn(self._noise, (REPLICATES, *counted.released.shape), rng))
        totals = None
        if counted.totals is not None:
            totals = counts.sum(axis=2) + _drawn(self._totals_noise, (REPLICATES, 2), rng)
        sums = self._monotone(self._merged(np.cumsum(counts, axis=2) + noise, totals))
        return Replicates(sums, self._sums, self._generator(b"inside of bins"))

    def _running(self, released: NDArray[Any]) -> Floats:
        """Running counts from the highest scores down."""
        return np.asarray(np.cumsum(self._counted.layout.restore(released)[..., ::-1], axis=-1))

    def _merged(self, sums: Floats, totals: NDArray[Any] | None) -> Floats:
        """Running counts whose last one is averaged with the released class total, if there is one, by precision."""
        if totals is not None:
            share = self._total_variance() / self._totals_noise.variance
            sums[..., -1] += share * (totals - sums[..., -1])
        return sums

    def _monotone(self, sums: Floats) -> Floats:
        """The nearest running counts that never fall, the last one weighted by its precision."""
        weights = np.ones(sums.shape[-1])
        weights[-1] = self._layout_variance() / self._total_variance()
        rows = [isotonic_regression(row, sample_weight=weights) for row in sums.reshape(-1, len(weights))]
        return np.maximum(np.reshape(rows, sums.shape), 0.0)

    def _layout_variance(self) -> float:
        return self._counted.layout.total_variance() * self._noise.variance

    def _total_variance(self) -> float:
        """Variance of the noise of a class total, all that was released together."""
        known = 0.0 if self._counted.totals is None else 1 / self._totals_noise.variance
        return 1 / (1 / self._layout_variance() + known)

    def _generator(self, purpose: bytes) -> np.random.Generator:
        """A generator that depends on the release alone."""
        body = purpose + self._counted.released.tobytes()
        return np.random.default_rng(int.from_bytes(hashlib.sha256(body).digest()[:8], "little"))


def thresholds_at(cuts: NDArray[np.int64], score_range: tuple[float, float]) -> Floats:
    """The smallest score of each cut, in the range of the scores: up a step where rounding left it below the cut."""
    low, width = score_range[0], score_range[1] - score_range[0]
    scores = low + width * scores_at(cuts)
    for _ in range(2):
        below = cells_of(np.clip((scores - low) / width, 0.0, 1.0)) < np.minimum(cuts, CELLS - 1)
        scores = np.where(below, np.nextafter(scores, np.inf), scores)
    return np.where(cuts < CELLS, np.minimum(scores, score_range[1]), scores)


def rates_at(sums: Floats) -> Floats:
    """Rates from (0, 0) to (1, 1) at the ends of bins; along the bins where a class has nothing."""
    total = sums[..., -1:]
    even = np.arange(1, sums.shape[-1] + 1) / sums.shape[-1]
    rates = np.where(total > 0, sums / np.where(total > 0, total, 1.0), even)
    return np.concatenate([np.zeros_like(total), rates], axis=-1)


def area(fpr: Floats, tpr: Floats, corner: int = 0) -> Floats:
    """Area under straight lines between points, or under the lower (−1) or the upper (1) corners of their boxes."""
    share = (1 + corner) / 2
    return np.asarray((np.diff(fpr) * (tpr[..., :-1] * (1 - share) + tpr[..., 1:] * share)).sum(axis=-1))


def _spread(gaps: Floats) -> Floats:
    """How far an estimate may be off: the errors of replicates, and their bias once more, which it has as well."""
    return np.asarray(np.sqrt(np.mean(gaps**2, axis=0)) + np.abs(np.mean(gaps, axis=0)))


def _drawn(noise: Noise, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    return rng.normal(0.0, noise.scale, shape) if noise.gaussian else rng.laplace(0.0, noise.scale, shape)
