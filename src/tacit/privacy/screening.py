"""Screening: which features are in many rows, by tests that every row pays for itself. Proof: docs/proofs/screening.md.

A test says yes or no. One more row makes a yes more likely and a no less likely, never the other way round. So every
row has two accounts, one for the answers yes to what it has and one for the answers no, each with the whole ε: what it
pays into one cannot add to the other. A row adds to a test no more than it could pay for whichever answer comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import bad_parameter
from tacit.privacy.budget import Number
from tacit.privacy.exact import Sealed
from tacit.privacy.mechanisms import MAX_LAPLACE_SCALE, PureMechanism, check_scale
from tacit.privacy.unit import Sensitivity, Unit, check_count

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

GRID = 1 << 16
"""What a row has to give in one round, divided among its features."""

STEPS = 1 << 10
"""Prices are whole multiples of 1/STEPS of an account for all that a row can give."""

ACCOUNT = GRID * STEPS
FINE = 1 << 8
"""Numbers of features are told in steps of 1/FINE."""

BLOCKS = 64
"""Features are tested in this many turns a round; a row knows the answers of earlier turns."""

LOOK = ACCOUNT // 40
"""What a look at the lengths of rows costs in each account; there are two."""

SIZE = ACCOUNT // 200
"""What it costs in each account to learn roughly how many rows there are."""

SIZES = (2.0 ** (np.arange(20, 81) / 2)).astype(np.int64)

BELOW, ABOVE = 2, 3
"""A look aims at the length that 3 of 5 rows do not exceed: long rows have more of the features than short ones."""

USUAL_LENGTH = 12
LONGER = 2.0 ** (np.arange(41) / 4)
OTHER = 2.0 ** (np.arange(-12, 5) / 5)
"""Candidates for the length: before anything is known, and as multiples of the length before."""

FREQUENT = 4 / 3
"""How much shorter rows are without the features that the first round selects."""

FINENESS = 1 / 50
"""Rows of up to FINENESS·ε·τ features count in full: rough sums of normalised rows are for small ε·τ."""

MOST_DOUBLINGS = 8


class ExactRows(Sealed):
    """Rows as sets of features, whole: only a mechanism that bounds what each row does may open them.

    Parameters
    ----------
    indptr, indices : arrays of whole numbers
        Row i has the features ``indices[indptr[i]:indptr[i + 1]]``, each once.
    width : int
        How many features there are; public.
    sensitivity, unit, query, version : as for :class:`tacit.privacy.exact.Exact`
    """

    __slots__ = ("shape",)

    shape: tuple[int, ...]

    def __init__(
        self,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        width: int,
        *,
        sensitivity: Sensitivity,
        unit: Unit,
        query: str,
        version: str,
    ) -> None:
        super().__init__(lambda: (indptr, indices), sensitivity, unit, query, version)
        object.__setattr__(self, "shape", (width,))


class Chance(Protocol):
    """What a screening draws."""

    def order(self, count: int) -> Ints:
        """A random order of ``count`` things."""
        ...

    def test(self, count: int, threshold: int, up: Fraction, down: Fraction) -> Callable[[Ints, int], Bools]:
        """What tells of sums, from one place of ``count`` on, whether they reach the threshold with noise.

        The noise of each place is geometric, of one scale upwards and another downwards.
        """
        ...

    def choose(self, utilities: Ints, rate: Fraction) -> int:
        """The index that permute-and-flip selects."""
        ...


@dataclass(frozen=True, slots=True)
class Round:
    """A round of tests: prices of yes and no in STEPS, and the threshold as a multiple of what was asked for."""

    yes: int
    no: int
    threshold: float


@dataclass(frozen=True, slots=True, init=False)
class Screening(PureMechanism):
    """Tells which features at least ``threshold`` rows have, in three rounds of tests: ε-DP.

    The first selects the most frequent features, the second rules most of the others out, and the third, where rows
    are short, selects among the rest. Releases 1 (reached) or 0 for each feature.
    """

    name: ClassVar[str] = "screening"
    proof: ClassVar[str] = "docs/proofs/screening.md"
    threshold: int

    def __init__(self, epsilon: Number, threshold: int) -> None:
        PureMechanism.__init__(self, epsilon)
        object.__setattr__(self, "threshold", check_count("Screening", "threshold", threshold))
        if self.threshold >= 1 << 40:
            raise bad_parameter("Screening", "threshold", "below 2^40", threshold)

    def rate(self, sensitivity: Sensitivity) -> Fraction:
        """What an account of a row is worth: ε over the rows of a unit."""
        return self.epsilon / sensitivity.l1

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say what is asked, and what a row can pay."""
        rate = self.rate(sensitivity)
        check_scale("Screening", self.epsilon, ACCOUNT / rate, MAX_LAPLACE_SCALE)
        return {"threshold": self.threshold, "rounds": 3, "account": str(rate), "look": str(rate * LOOK / ACCOUNT)}


def rounds(signal: float, width: int, crowd: float) -> tuple[Round, Round, Round]:
    """The three rounds, by public rules.

    ``signal`` is how many ε's τ rows of usual length are worth: the more, the less the first two rounds need of it.
    Features that hardly any row has reach a threshold by noise alone, so these rounds ask for more where there are more
    features. At most ``crowd`` features can reach τ: where these are many, rows hear yes often, and save for it.
    """
    part = math.sqrt(min(1.0, 4 / signal))
    few = math.sqrt(min(1.0, 1500 / crowd))
    sure = max(1.5, 0.7 * math.log(width + 1) / (part * few * signal))
    doubtful = 1.1 * (2 / signal) ** 0.4 + 0.25 * max(0.0, math.log(width) - 9) / (0.85 * part * signal)
    return (
        _round(part * few, 0.24 * part, sure),
        _round(0.85 * part, 0.47 * part, doubtful),
        _round(1, 0.8 + 0.8 * part * (few**-0.5 - 1), 1 - 0.15 * part),
    )


def _round(yes: float, no: float, threshold: float) -> Round:
    return Round(max(1, round(STEPS * yes)), max(1, round(STEPS * no)), threshold)


class Screen:
    """Private rows during a screening, with their accounts."""

    def __init__(
        self, indptr: Ints, indices: NDArray[Any], width: int, threshold: int, rate: Fraction, chance: Chance
    ) -> None:
        self._owner = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        self._feature = indices[indptr[0] : indptr[-1]].astype(np.int64)
        self._rows, self._width = len(indptr) - 1, width
        self._threshold, self._rate, self._chance = threshold, rate, chance
        self._yes = np.full(self._rows, ACCOUNT - 2 * LOOK - SIZE)
        self._no = self._yes.copy()
        in_full = int(math.log2(max(1.0, FINENESS * float(rate) * threshold)))
        self._least = 1 << min(MOST_DOUBLINGS, in_full)  # a power of two, so that shares of GRID are whole

    def run(self) -> Ints:
        """Ask three times, and return 1 for each feature that reached the threshold."""
        size = int(SIZES[self._chance.choose(-np.abs(self._rows - SIZES), self._rate * SIZE / ACCOUNT / 2)])
        everything = np.ones(self._width, dtype=np.bool_)
        mass = np.full(self._rows, GRID)
        usual = self._length(everything, mass, self._least * LONGER, around=max(USUAL_LENGTH, self._least))
        signal = float(self._rate) * self._threshold / usual
        frequent, doubtful, final = rounds(signal, self._width, max(1.0, size * usual / self._threshold))
        selected = self._test(everything, mass, frequent, usual)
        usual = max(usual / FREQUENT, self._least)
        left = self._test(~selected, mass, doubtful, usual)
        # Not all of a row's features will get the same answer: it counts on at most 17/20 yes and 3/5 no.
        mass = np.minimum(GRID, np.minimum(self._yes * 20 // (17 * final.yes), self._no * 5 // (3 * final.no)))
        usual = self._length(left, mass, np.unique(np.maximum(usual * OTHER, self._least)))
        selected |= self._test(left, mass, final, usual)
        return selected.astype(np.int64)

    def _counts(self, asked: Bools) -> Ints:
        """How many of the features each row has."""
        return np.bincount(self._owner[asked[self._feature]], minlength=self._rows)

    def _length(self, asked: Bools, mass: Ints, candidates: NDArray[Any], around: float | None = None) -> float:
        """How many features share what a row can give, for a usual row: a private quantile of whole numbers."""
        counts = self._counts(asked)
        able = (counts > 0) & (mass > 0)
        lengths = np.sort(np.maximum(counts[able], self._least) * (GRID * FINE) // mass[able])
        places = np.rint(candidates * FINE).astype(np.int64)
        shorter = np.searchsorted(lengths, places, side="left")
        longer = len(lengths) - np.searchsorted(lengths, places, side="right")
        too_long = BELOW * shorter - ABOVE * (len(lengths) - shorter)
        too_short = ABOVE * longer - BELOW * (len(lengths) - longer)
        utilities = -np.maximum(np.maximum(too_long, too_short), 0)
        rate = self._rate * LOOK / ACCOUNT / (2 * max(BELOW, ABOVE))
        if around is not None:  # a public base measure: few texts have rows of thousands of words
            utilities -= np.rint(0.5 * np.log(candidates / around) ** 2 / float(rate)).astype(np.int64)
        return float(candidates[self._chance.choose(utilities, rate)])

    def _test(self, asked: Bools, mass: Ints, plan: Round, usual: float) -> Bools:
        """Ask of each feature whether it reaches the threshold, in turns, and let rows pay for the answers."""
        share = mass // np.maximum(self._counts(asked), self._least)
        features = np.flatnonzero(asked)
        order = features[self._chance.order(len(features))]
        turns = min(BLOCKS, len(order))
        place = np.full(self._width, -1)
        place[order] = np.arange(len(order))
        entries = np.flatnonzero(asked[self._feature])
        entries = entries[np.argsort(place[self._feature[entries]], kind="stable")]
        owner, place_of = self._owner[entries], place[self._feature[entries]]
        starts = np.arange(turns + 1) * len(order) // max(1, turns)
        ends = np.searchsorted(place_of, starts)
        threshold = math.ceil(plan.threshold * self._threshold * GRID / usual)
        up, down = (ACCOUNT / (self._rate * price) for price in (plan.yes, plan.no))
        reaches = self._chance.test(len(order), threshold, up, down)
        reached = np.zeros(self._width, dtype=np.bool_)
        for turn in range(turns):
            part = slice(ends[turn], ends[turn + 1])
            rows, spot = owner[part], place_of[part] - starts[turn]
            given = self._given(rows, share, plan)
            sums = np.bincount(spot, weights=given, minlength=starts[turn + 1] - starts[turn]).astype(np.int64)
            answers = reaches(sums, int(starts[turn]))
            self._pay(rows, given, answers[spot], plan)
            reached[order[starts[turn] : starts[turn + 1]]] = answers
        return reached

    def _given(self, rows: Ints, share: Ints, plan: Round) -> Ints:
        """What each row adds to each of its features in this turn: its share, if it can pay for any answers to all."""
        here = np.bincount(rows, minlength=self._rows)[rows]
        most = np.minimum(self._yes[rows] // (plan.yes * here), self._no[rows] // (plan.no * here))
        return np.minimum(share[rows], most)

    def _pay(self, rows: Ints, given: Ints, answers: Bools, plan: Round) -> None:
        for account, price, which in ((self._yes, plan.yes, answers), (self._no, plan.no, ~answers)):
            paid = np.bincount(rows[which], weights=given[which], minlength=self._rows).astype(np.int64)
            account -= price * paid
