"""What a release says of a ROC curve: noisy counts from the highest scores down, and the laws of their noise.

Public side: sees released numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr, ndtr, ndtri

from tacit.desk.cutting import splits
from tacit.desk.scores import Binned

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Nats against noise alone from which on scores at an end of the range are a bin, and are rather rows than not; and from
# which on intervals at the ends rather allow for rows there than not.
SURE_END, MAYBE_END = 5.0, 4.0
MANY_WRONG = 0.1  # of the smaller class
BROAD = 8.0  # beside a normal deviate of so many of its scales, Laplace noise is as good as normal
LEAST_SCALE = 1e-9  # of noise: less of it is no noise, and divides by next to nothing
LOG_ROOT = math.log(2 * math.pi) / 2
_EDGE = 8.0


@dataclass(frozen=True, slots=True)
class Noise:
    """The distribution of the noise on every count: its scale, and whether it is Laplace or Gaussian."""

    scale: float
    gaussian: bool = False

    @classmethod
    def of(cls, scale: float, gaussian: bool = False) -> Noise:
        """Noise of a released scale, as far as it can be told from none."""
        return cls(max(scale, LEAST_SCALE), gaussian)

    def nats(self, count: float) -> float:
        """By how much less likely noise alone is to be so much than to be nothing, as a logarithm."""
        far = max(count, 0.0) / self.scale
        return far**2 / 2 if self.gaussian else far

    @property
    def variance(self) -> float:
        """The variance of one count's noise."""
        return self.scale**2 * (1.0 if self.gaussian else 2.0)

    def _sides(self, rest: Floats, spread: Floats) -> tuple[Floats, Floats]:
        """Log-weights of "the count is below what was released" and "above it"."""
        b = self.scale
        reach, tilt = rest / spread, spread / b
        return -rest / b + log_ndtr(reach - tilt), rest / b + log_ndtr(-reach - tilt)

    def log_density(self, rest: Floats, spread: Floats) -> Floats:
        """Log-density, up to a constant, of this noise plus a normal deviate of the given spread."""
        variance = spread**2 + self.variance
        # The constant is that of the other form, as draws of both may meet.
        found = np.asarray(-(rest**2) / variance / 2 - np.log(variance) / 2 + math.log(2 * self.scale) - LOG_ROOT)
        narrow = spread <= BROAD * self.scale
        if not self.gaussian and narrow.any():
            up, down = self._sides(rest[narrow], spread[narrow])
            found[narrow] = np.logaddexp(up, down) + (spread[narrow] / self.scale) ** 2 / 2
        return found

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
        # Far out in the tail what is left below the edge is exponential, at a rate of the edge itself.
        far = edge + np.log(uniform) / np.maximum(-edge, _EDGE)
        cut = np.where(edge > -_EDGE, ndtri(np.maximum(uniform * ndtr(edge), 1e-300)), far)
        return mean + side * (spread * cut + spread**2 / self.scale)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was released: noisy counts of both classes in bins from the highest scores to the lowest.

    Attributes
    ----------
    counts : array of shape (2, bins)
        Negatives, then positives.
    depths : array of length bins
        How often the range was halved until each bin was left; bins at its very ends are not among them.
    noise : Noise
    weights : (float, float)
        How much a negative and a positive weighed when bins were balanced.
    balance : Noise
        How far the two sides of a cut may be from equal weight.
    tied, tied_noise, crowd
        The released number of tied rows, its noise, and how many rows of one score do not count as ties.
    apart : bool
        Whether scores at the very ends of the range were counted by themselves.
    ends : (bool, bool)
        Whether they were, and there are any: at the top, in the first bin, and at the bottom, in the last one.
    hidden : array of shape (2, 2)
        Counts at the top and at the bottom that noise may explain, and that are no bins.
    """

    counts: Floats
    depths: Ints
    noise: Noise
    weights: tuple[float, float]
    balance: Noise
    tied: float
    tied_noise: Noise
    crowd: int
    apart: bool = False
    ends: tuple[bool, bool] = (False, False)
    hidden: Floats = field(default_factory=lambda: np.zeros((2, 2)))

    @classmethod
    def of(cls, binned: Binned) -> Evidence:
        """Turn a release into evidence, from the highest scores down."""
        heavy, noise = max(binned.weights), Noise.of(binned.noise_scale, binned.gaussian)
        counts = np.stack([c[::-1].astype(np.float64) for c in binned.counts])
        hidden = counts[:, [0, -1]]
        counts, ends = _without_noise(counts, noise) if binned.apart else (counts, (False, False))
        return cls(
            counts=counts,
            depths=binned.depths[::-1],
            noise=noise,
            weights=(binned.weights[0] / heavy, binned.weights[1] / heavy),
            balance=Noise.of(1 / (binned.level_rate * heavy)),
            tied=float(binned.tied),
            tied_noise=Noise.of(binned.tied_scale),
            crowd=binned.crowd,
            apart=binned.apart,
            ends=ends,
            hidden=hidden * (binned.apart & ~np.array(ends)),
        )

    @property
    def bins(self) -> int:
        """How many bins there are, those at the ends of the range left out."""
        return len(self.depths)

    @property
    def splits(self) -> Ints:
        """Which bins, those at the ends of the range left out, every cut has on its two sides."""
        return splits(self.depths)

    @property
    def usual(self) -> Floats:
        """The weight of each bin if every cut is even: of all together between the ends of the range."""
        return np.asarray(0.5**self.depths)

    @property
    def inner(self) -> slice:
        """All bins but those at the ends of the range."""
        top, bottom = self.ends
        return slice(1 if top else 0, -1 if bottom else None)

    @property
    def at_ends(self) -> NDArray[np.int64]:
        """Which bins are at the ends of the range."""
        ends = zip((0, self.counts.shape[1] - 1), self.ends, strict=True)
        return np.array([at for at, there in ends if there], dtype=np.int64)

    @property
    def share_at_ends(self) -> float:
        """The share of rows that surely score there: two standard deviations of noise are taken off."""
        rows = self.counts[:, self.at_ends]
        doubt = 2 * math.sqrt(rows.size * self.noise.variance)
        return float(np.clip((rows.sum() - doubt) / max(self.counts.sum(), 1.0), 0.0, 1.0))

    def cuts(self, cuts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of all ends of released bins, in ascending order, those that are between the bins here."""
        kept = np.ones(len(cuts), dtype=bool)
        if self.apart:
            kept[-2], kept[1] = self.ends
        return cuts[kept]

    @property
    def area(self) -> float:
        """The area under the straight lines between cuts, as far as noise lets it be one."""
        rates = np.cumsum(self.counts, axis=1) / np.maximum(self.counts.sum(axis=1, keepdims=True), 1.0)
        false, true = np.pad(rates, ((0, 0), (1, 0)))
        return float((np.diff(false) * (true[1:] + true[:-1])).sum() / 2)

    @property
    def doubt(self) -> float:
        """The noise of a class total, as a share of the smaller class."""
        smaller = max(float(self.counts.sum(axis=1).min()), 1.0)
        return math.sqrt(self.counts.shape[1] * self.noise.variance) / smaller

    @property
    def sure(self) -> float:
        """How far wrong rows may be sure of it, from 0 to 1: if scores reach the ends of the range, and many are wrong
        beyond what noise explains, or are both classes at one end."""
        smaller = max(float(self.counts.sum(axis=1).min()), 1.0)
        mixed = float(self.counts[:, self.at_ends].min(axis=0).sum())
        wrong = max(self.misplaced, mixed) - self.misplaced_by_noise(0.95)
        return min(max(wrong / (MANY_WRONG * smaller), 0.0), 1.0) if any(self.ends) else 0.0

    @property
    def nats(self) -> float:
        """By how much rows could change the log-probability of cuts: of one on each level, together."""
        rows = float(np.dot(self.weights, np.maximum(self.counts.sum(axis=1), 1.0)))
        return int(self.depths.max()) * rows / self.balance.scale

    @property
    def misplaced(self) -> float:
        """Rows on the wrong sides of the one bin in which both classes may be if they are apart: as few as can be."""
        negatives, positives = self.counts
        above, below = np.cumsum(negatives) - negatives, np.cumsum(positives[::-1])[::-1] - positives
        return float((above + below).min())

    def misplaced_by_noise(self, level: float) -> float:
        """More rows than that are misplaced by noise alone with a chance of one minus the level."""
        return float(ndtri(level)) * math.sqrt((self.counts.shape[1] - 1) * self.noise.variance)

    def draw_hidden(self, sizes: Floats, rng: np.random.Generator) -> Floats:
        """Draw which share of all rows, of so many in both classes, scores at either end of the range beside its bins:
        at the top, and at the bottom."""
        shape, scale = (len(sizes), 2, 2), self.noise.scale
        noise = rng.normal(0.0, scale, shape) if self.noise.gaussian else rng.laplace(0.0, scale, shape)
        likely = [expit(self.noise.nats(most) - MAYBE_END) for most in self.hidden.max(axis=0)]
        there = (rng.random((len(sizes), 2)) < likely) & ~np.array(self.ends)
        shares = np.maximum(self.hidden + noise, 0.0) / sizes[:, :, None]
        return np.asarray(np.minimum(shares.mean(axis=1) * (there & self.apart), 0.5))

    def turned(self) -> Evidence:
        """The same for scores that were turned around: the lowest are the highest."""
        counts, depths, hidden = self.counts[:, ::-1].copy(), self.depths[::-1], self.hidden[:, ::-1]
        return replace(self, counts=counts, depths=depths, ends=self.ends[::-1], hidden=hidden)

    def merged(self, most: int) -> Evidence:
        """The same release in at most so many bins: the last cuts are undone, halves are added up, and with them their
        noise. Bins that were left whole are taken to have as much."""
        if self.bins <= most:
            return self
        last = self.depths == self.depths.max()
        kept = ~last | (np.cumsum(last) % 2 == 1)
        top, bottom = self.ends
        starts = np.flatnonzero(np.pad(kept, (int(top), int(bottom)), constant_values=True))
        counts = np.add.reduceat(self.counts, starts, axis=1)
        noise = replace(self.noise, scale=self.noise.scale * math.sqrt(2))
        return replace(self, counts=counts, depths=(self.depths - last)[kept], noise=noise).merged(most)


def _without_noise(counts: Floats, noise: Noise) -> tuple[Floats, tuple[bool, bool]]:
    """Counts without bins at the ends of the range that noise may explain, and which of the two are left.

    Most classifiers have no scores there. As much of such a bin as is likely to be rows goes to the next one.
    """
    nats = [noise.nats(counts[:, end].max()) for end in (0, -1)]
    top, bottom = (bool(found > SURE_END) for found in nats)
    counts[:, [1, -2]] += expit(np.array(nats) - SURE_END) * ~np.array([top, bottom]) * counts[:, [0, -1]]
    return counts[:, 0 if top else 1 : None if bottom else -1], (top, bottom)
