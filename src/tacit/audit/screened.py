"""The law of a screening: the procedure itself, told what to draw, on all data sets of a tiny domain and all paths."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.audit.laws import selection_log
from tacit.privacy.mechanisms import Choice
from tacit.privacy.screening import Screen

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Row = tuple[int, ...]

SELECTED, TAKEN, LEFT, RULED_OUT = range(4)
"""What may become of a feature: yes at once; no, yes, yes; no, yes, no; no, no."""


def answer_logs(gap: int, up: float, down: float) -> tuple[float, float]:
    """Logarithms of P(Z ≥ gap) and P(Z < gap) for Z the difference of two geometric numbers of these scales."""
    above, below = -math.expm1(-1 / down), -math.expm1(-1 / up)
    both = -math.expm1(-1 / up - 1 / down)
    if gap > 0:
        yes = -gap / up + math.log(above / both)
        return yes, math.log(-math.expm1(yes))
    no = -(1 - gap) / down + math.log(below / both)
    return math.log(-math.expm1(no)), no


@lru_cache(maxsize=1 << 16)
def _choice_logs(utilities: tuple[int, ...], rate: float) -> list[float]:
    logs: list[float] = selection_log(utilities, rate, Choice.PERMUTE_AND_FLIP).tolist()
    return logs


class Told:
    """Stands for chance: gives the answers that it was told, and works out how probable they are.

    Parameters
    ----------
    fates : sequence of int
        What becomes of each feature.
    choices : sequence of int
        Which candidates are chosen: for the number of rows, and for the usual length, first and second.
    """

    def __init__(self, fates: Sequence[int], choices: Sequence[int]) -> None:
        left = [fate for fate in fates if fate != SELECTED]
        self._answers = [
            [fate == SELECTED for fate in fates],
            [fate != RULED_OUT for fate in left],
            [fate == TAKEN for fate in left if fate != RULED_OUT],
        ]
        self._choices = list(choices)
        self.log_probability, self.candidates = 0.0, 0

    def order(self, count: int) -> Ints:
        """No shuffling: any order is as good."""
        return np.arange(count)

    def test(self, count: int, threshold: int, up: Fraction, down: Fraction) -> Callable[[Ints, int], Bools]:
        """Answer as told."""
        told = np.array(self._answers.pop(0), dtype=np.bool_)
        assert len(told) == count

        def reaches(sums: Ints, begin: int) -> Bools:
            answers: Bools = told[begin : begin + len(sums)]
            for value, answer in zip(sums.tolist(), answers.tolist(), strict=True):
                self.log_probability += answer_logs(threshold - value, float(up), float(down))[0 if answer else 1]
            return answers

        return reaches

    def choose(self, utilities: Ints, rate: Fraction) -> int:
        """Choose as told."""
        self.candidates = len(utilities)
        wanted = self._choices.pop(0) % len(utilities)
        self.log_probability += _choice_logs(tuple(utilities.tolist()), float(rate))[wanted]
        return wanted


def columns(data: Sequence[Row]) -> tuple[Ints, Ints]:
    """Rows in compressed form."""
    return np.cumsum([0, *map(len, data)]), np.array([j for row in data for j in row], dtype=np.int64)


def _paths(width: int) -> Iterator[tuple[tuple[int, ...], tuple[int, int, int]]]:
    """Every fate of every feature, for few and many rows, which are short, middling or long."""
    choices = [(0, 0, 0), (0, 6, 9), (30, 30, 9), (9, 6, 0)] if width < 3 else [(0, 6, 9)]
    return itertools.product(itertools.product(range(4), repeat=width), choices)


def largest_loss(width: int, threshold: int, epsilon: Fraction, most: int, unit: int = 1) -> tuple[float, int]:
    """The largest log-ratio over paths, data sets of up to ``most`` rows and a unit of ``unit`` rows, and the pairs."""
    kinds = [tuple(np.flatnonzero(bits).tolist()) for bits in itertools.product((0, 1), repeat=width)]

    @cache
    def log_probabilities(data: tuple[Row, ...]) -> NDArray[np.float64]:
        found = []
        for fates, choices in _paths(width):
            told = Told(fates, choices)
            Screen(*columns(data), width, threshold, epsilon / unit, told).run()
            found.append(told.log_probability)
        return np.array(found)

    worst, pairs = 0.0, 0
    for size in range(most + 1):
        for data in itertools.combinations_with_replacement(kinds, size):
            for added in itertools.combinations_with_replacement(kinds, unit):
                change = log_probabilities(tuple(sorted((*data, *added)))) - log_probabilities(tuple(sorted(data)))
                worst, pairs = max(worst, float(np.abs(change).max())), pairs + 1
    return worst, pairs
