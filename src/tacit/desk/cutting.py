"""Where a ROC curve's thresholds go, and what finding them may cost. Public arithmetic on released totals.

Few rows can hardly steer a cut: a selection would then draw it at random from wherever cuts may be, and curves read
off such cuts are far worse than those off usual places. So each interval has a public peak, where most classifiers
have the middle of their scores, and the less rows can say, the sharper it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.desk.layouts import LEVELS
from tacit.privacy.grid import CELLS, cells_of
from tacit.privacy.unit import Unit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LEAST, MOST = Fraction(2, 100), Fraction(12, 100)  # share of ε for cuts
TIES = Fraction(5, 1000), Fraction(20, 1000)  # share of ε for the number of tied rows: at least, at most
ENOUGH, TOO_LITTLE = Fraction(15), Fraction(4)  # rows over the scale of its noise: enough, and too little to tell
CROWDS, LEAST_CROWD = 8, 4  # so many crowds fill a usual bin; and how many rows of one cell are a crowd, at least
# If, with so many scales of noise to spare, most rows are tied, bins are so many times as many, up to a limit: half of
# them will be empty.
SURELY, MORE_FOR_TIES, MOST_FOR_TIES = 3.0, 2, 32
APART = 80  # rows times ε: from there on scores at the very ends of the range have bins of their own
# After so many halvings both classes are looked at, if there are to be so many bins: an interval in which either class
# has fewer rows than the scale of the noise is left whole. That scale in rows, and the share of ε: at least, at most.
LOOK_AFTER, LOOK_FROM, LOOK_NOISE = 3, 32, 50
LOOK = Fraction(5, 1000), Fraction(40, 1000)
CANDIDATES, FEWEST, TOGETHER = 1024, 128, 16384  # of an interval: at most, at least; of a level: about
HEAVY = 64  # weight of a tuple of the smaller class
FEWEST_BINS, MOST_BINS = 4, 256
BINS_SCALE, MORE_FROM = 0.55, 5.5  # bins for each unit of ε·√n; and from where on there are more than the fewest
FEW = 1200  # weighted rows times ε for the whole of ε: with fewer, rows can hardly steer a cut
INWARD = 0.62  # the peak of an interval at an end of the grid: how far from that end
CALIBRATED = 0.2  # how far the first cut's peak is from the middle of the grid to where calibrated scores have theirs
FLAT, SHARP = 10.0, 6400.0  # a + b of the Beta(a, b) that is a peak: at least, and what is divided by nats squared
EVEN_NATS, MOST_EVEN = 40.0, 0.5  # a preference's even part: nats over the first, at most the second
LITTLE, PLENTY = 2.0, 10**6  # nats: fewer are as good as none, and more as infinitely many
STEERED = 12.0, 120.0  # nats: from which on rows can steer a layout of the first cuts, and from which on each cut
BOTH = 0.2  # of all weight must be in either class for that: else the cuts that matter are at an end, among few rows


@dataclass(frozen=True, slots=True)
class Cutting:
    """How a test set is cut into bins.

    Attributes
    ----------
    bins : int
        A power of two.
    weights : (int, int)
        Weights of a negative and of a positive in the balance of the two sides of a cut.
    share, look : Fraction
        The shares of ε for all cuts together, and for a look at both classes on the way; 0 if there is none.
    nats : float
        By how much rows can change the log-probability of cuts: of one on each level, together.
    middle : float
        Where on the grid, from 0 to 1, a calibrated classifier has the middle of its scores.
    negatives : float
        The share of negatives in all weight.
    together : int
        How many of the halvings are chosen together, as one of the public layouts. None where most rows are surely
        tied: a few scores lie anywhere.
    """

    bins: int
    weights: tuple[int, int]
    share: Fraction
    look: Fraction
    nats: float
    middle: float
    negatives: float
    together: int

    @classmethod
    def of(cls, totals: Ints, noise: float, ties: tuple[int, float], epsilon: Fraction, unit: Unit) -> Cutting:
        """The plan for noisy class totals with that scale of noise, ties with theirs, and the ε of the whole curve."""
        bins, weights = number_of_bins(totals, float(epsilon), unit), class_weights(totals, noise)
        tied, tied_scale = ties
        surely_tied = tied - SURELY * tied_scale > max(int(totals.sum()), 1) / 2
        if surely_tied:
            bins = max(bins, min(MORE_FOR_TIES * bins, MOST_FOR_TIES))
        strength = steering(totals, weights, epsilon / unit.max_rows)
        share = cutting_share(strength, bins.bit_length() - 1)
        nats = float(min(share * strength / 2, Fraction(PLENTY)))
        look = look_share(totals, epsilon, unit)
        heavy = np.multiply(_careful(totals, noise), weights)
        negatives = float(heavy[0] / heavy.sum())
        together = 0 if surely_tied else levels_together(bins, nats, negatives)
        return cls(bins, weights, share, look, nats, middle_place(totals, noise), negatives, together)

    @property
    def depth(self) -> int:
        """How many times all intervals are halved."""
        return self.bins.bit_length() - 1

    @property
    def first_place(self) -> float:
        """Where on the grid, from 0 to 1, the first cut usually is."""
        return 0.5 + CALIBRATED * (self.middle - 0.5)

    def preference(self, intervals: int, number: int) -> Floats:
        """Log-weights of equally spaced candidates in each interval, before any row is seen.

        One part is even over the interval, for scores that are anywhere. The other is a peak.
        """
        x = np.arange(1, number + 1) / (number + 1)
        places = np.full(intervals, 0.5)
        places[[0, -1]] = (INWARD, 1 - INWARD) if intervals > 1 else self.first_place
        even = even_part(self.nats)
        return np.stack([np.log(even + (1 - even) * _peak(x, place, self.nats)) for place in places])


def levels_together(bins: int, nats: float, negatives: float) -> int:
    """How many halvings are chosen together: three or none."""
    low, high = STEERED
    steered = low <= nats < high and BOTH <= negatives <= 1 - BOTH
    return LEVELS if steered and bins >= 1 << LEVELS else 0


def even_part(nats: float) -> float:
    """The part of a preference that is even over its interval: the less rows can say, the smaller."""
    return min(max(nats, LITTLE) / EVEN_NATS, MOST_EVEN)


def reluctance(nats: float) -> float:
    """How much likelier a cut is at its peak than far from it, before any row is seen, as a logarithm."""
    even = even_part(nats)
    x = np.linspace(0.0, 1.0, 101)[1:-1]
    return math.log1p((1 - even) / even * float(_peak(x, 0.5, nats).max()))


def _peak(x: Floats, place: float, nats: float) -> Floats:
    """The density of a Beta distribution with that mean; its mean over the candidates is 1."""
    total = FLAT + SHARP * max(nats, LITTLE) ** -2
    logs = (total * place - 1) * np.log(x) + (total * (1 - place) - 1) * np.log1p(-x)
    density = np.exp(logs - logs.max())
    return np.asarray(density / density.mean())


def number_of_bins(totals: Ints, epsilon: float, unit: Unit) -> int:
    """How many bins: noise grows with their number, and what they cannot show shrinks.

    With m bins the error of a rate has a noise part ∝ √m/(ε·n) and a part ∝ 1/√(m·n): best for m ∝ ε·√n. Of the two
    classes the smaller one counts more, as it does in the harmonic mean. The fewest bins show so little of a curve that
    twice as many are better even where the rule would have fewer.
    """
    negatives, positives = (max(int(total), 1) for total in totals)
    size = 2 / (1 / negatives + 1 / positives)
    rows = epsilon * math.sqrt(size) / unit.max_rows
    depth: int = round(math.log2(max(min(BINS_SCALE * rows, MOST_BINS), 1.0)))
    return min(max(1 << depth, FEWEST_BINS if rows < MORE_FROM else 2 * FEWEST_BINS), MOST_BINS)


def ties_share(totals: Ints, epsilon: Fraction, unit: Unit) -> Fraction:
    """The share of ε for the number of tied rows: enough for noise of a fifteenth of all rows, and within bounds.

    Where even the most would drown in noise, the least is paid.
    """
    strength = max(int(totals.sum()), 1) * epsilon / unit.max_rows
    least, most = TIES
    return least if strength * most < TOO_LITTLE else min(max(ENOUGH / strength, least), most)


def look_share(totals: Ints, epsilon: Fraction, unit: Unit) -> Fraction:
    """The share of ε for a look at both classes on the way; none where bins are few, or it would cost too much."""
    enough, (least, most) = unit.max_rows / (LOOK_NOISE * epsilon), LOOK
    few = number_of_bins(totals, float(epsilon), unit) < LOOK_FROM
    return Fraction(0) if few or enough > most else max(enough, least)


def one_sided(counts: Ints, noise: float) -> NDArray[np.bool_]:
    """Intervals that more cuts would tell little of: either class is all but absent, for all that this noise shows.

    The curve is next to a straight line there, while each count more has noise that all rates beyond it would feel.
    """
    return np.asarray((counts < noise).any(axis=0))


def a_crowd(totals: Ints, epsilon: Fraction, unit: Unit) -> int:
    """How many rows of one cell are none of its ties: an eighth of a usual bin."""
    rows = int(np.maximum(totals, 1).sum())
    return max(rows // (CROWDS * number_of_bins(totals, float(epsilon), unit)), LEAST_CROWD)


def ends_apart(totals: Ints, epsilon: Fraction, unit: Unit) -> bool:
    """Whether scores at the very ends of the range have bins of their own: two more, whose noise few rows would feel.

    Some classifiers give exactly 0 or 1 to many rows, beside others that crowd next to them.
    """
    return int(np.maximum(totals, 1).sum()) * epsilon >= APART * unit.max_rows


def steering(totals: Ints, weights: tuple[int, int], epsilon: Fraction) -> Fraction:
    """How firmly rows can steer cuts: their weight in a balance, times ε."""
    rows = sum(weight * max(int(total), 0) for weight, total in zip(weights, totals, strict=True))
    return max(Fraction(rows, HEAVY), Fraction(1)) * epsilon


def cutting_share(strength: Fraction, depth: int) -> Fraction:
    """The share of ε for thresholds: enough to miss a cut by less than a third of a bin, and within bounds.

    Where rows can hardly steer a cut, cuts stay near their public places, and counts get more.
    """
    enough = Fraction(7 * depth * 2**depth) / strength
    return min(max(min(enough, strength / FEW), LEAST), MOST)


def class_weights(totals: Ints, noise: float) -> tuple[int, int]:
    """Weights of negatives and positives: a class weighs as the root of its size, so that bins suit both."""
    small, large = sorted(_careful(totals, noise))
    light = max(round(HEAVY * math.sqrt(max(small / large, 0.02))), 1)
    return (HEAVY, light) if totals[0] <= totals[1] else (light, HEAVY)


def middle_place(totals: Ints, noise: float) -> float:
    """Where on the grid the share of positives is: half of the rows of either class are below it if scores are true."""
    negatives, positives = _careful(totals, noise)
    share = np.array([positives / (negatives + positives)])
    return float(cells_of(share)[0] + 0.5) / CELLS


def _careful(totals: Ints, noise: float) -> tuple[float, float]:
    """Class totals that are no clearer than their noise: a part of it, added to both, keeps them together."""
    negatives, positives = (max(int(total), 1) + noise / 3 for total in totals)
    return negatives, positives


def candidate_cuts(low: Ints, high: Ints) -> Ints:
    """For each interval, candidates at equal distances; repeated where the interval has fewer cells."""
    parts = min(CANDIDATES, max(FEWEST, TOGETHER // len(low)))
    steps = np.arange(1, parts)[None, :]
    return np.asarray(low[:, None] + (steps * (high - low)[:, None]) // parts)


def splits(depths: Ints) -> Ints:
    """Which bins every cut has on its two sides, those of its parts first: from the first to before the second number,
    and on to before the third.

    ``depths`` tells how often the whole was halved until each bin was left.
    """
    done: list[tuple[int, int, int]] = []
    found = []
    for i, depth in enumerate(depths.tolist()):
        done.append((i, i + 1, depth))
        while len(done) > 1 and done[-1][2] == done[-2][2]:
            middle, high, depth = done.pop()
            low, _, _ = done.pop()
            found.append((low, middle, high))
            done.append((low, high, depth - 1))
    if [depth for *_, depth in done] != [0]:
        raise ValueError("These bins were not made by halving.")
    return np.array(found, dtype=np.int64).reshape(-1, 3)
