"""Exact privacy loss: how far apart the output distributions of two neighbours are, pure and with δ, both ways.

Works on masses. ε(δ) is the largest ln((P(S) − δ)/Q(S)) over sets S of outputs; by Neyman and Pearson's lemma the best
sets hold the outputs of largest ratio, so sorting finds it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.audit.laws import Law

Floats = NDArray[np.float64]
_SAME = 1e-12  # log-ratios closer than this belong to one cell: far below the 1e-9 that is promised


@dataclass(frozen=True, slots=True)
class Apart:
    """Two distributions over the same outputs, as masses.

    Examples
    --------
    >>> coin = Apart.of({0: 0.25, 1: 0.75}, {0: 0.75, 1: 0.25})
    >>> round(coin.epsilon(), 6), round(coin.delta(0.0), 6)
    (1.098612, 0.5)
    """

    p: Floats
    q: Floats

    @classmethod
    def of(cls, p: Law, q: Law) -> Apart:
        """Line up two laws by their outputs; an output that one of them lacks has probability 0 there."""
        outputs = list(p.keys() | q.keys())
        return cls(np.array([p.get(o, 0.0) for o in outputs]), np.array([q.get(o, 0.0) for o in outputs]))

    @classmethod
    def nothing(cls) -> Apart:
        """Two distributions that are the same."""
        return cls(np.ones(1), np.ones(1))

    def swapped(self) -> Apart:
        """The other way round."""
        return Apart(self.q, self.p)

    def together(self, other: Apart) -> Apart:
        """Both outputs, drawn independently. Outputs of equal ratio are merged, which keeps every ε(δ)."""
        p, q = np.outer(self.p, other.p).ravel(), np.outer(self.q, other.q).ravel()
        ratio = _log_ratio(p, q)
        order = np.argsort(ratio)
        ratio, p, q = ratio[order], p[order], q[order]
        with np.errstate(invalid="ignore"):
            starts = np.flatnonzero(np.concatenate([[True], ~(np.diff(ratio) <= _SAME) & (ratio[1:] != ratio[:-1])]))
        return Apart(np.add.reduceat(p, starts), np.add.reduceat(q, starts))

    def one_way(self, delta: float = 0.0) -> float:
        """The least ε ≥ 0 with P(S) ≤ e^ε·Q(S) + δ for all S."""
        ratio = _log_ratio(self.p, self.q)
        order = np.argsort(-ratio, kind="stable")
        if delta == 0.0:  # the largest ratio of one output; sums could only blur it
            return max(0.0, float(ratio[order[0]]))
        p, q = np.cumsum(self.p[order]) - delta, np.cumsum(self.q[order])
        gains = p > 0
        return max(0.0, float(_log_ratio(p[gains], q[gains]).max(initial=0.0)))

    def epsilon(self, delta: float = 0.0) -> float:
        """The least ε for this δ, both ways."""
        return max(self.one_way(delta), self.swapped().one_way(delta))

    def delta(self, epsilon: float) -> float:
        """The least δ for this ε, both ways: the hockey-stick divergence."""
        forward = np.maximum(self.p - math.exp(epsilon) * self.q, 0).sum()
        back = np.maximum(self.q - math.exp(epsilon) * self.p, 0).sum()
        return float(max(forward, back))


def _log_ratio(p: Floats, q: Floats) -> Floats:
    """ln(p/q): infinite where only one is 0, and −∞ where both are (such an output says nothing)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = np.log(p) - np.log(q)
    ratio[p <= 0] = -math.inf
    return ratio


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst of many pairs of neighbours."""

    epsilon: float
    delta: float
    pair: tuple[Any, Any] | None
    pairs: int


def worst_pair(
    apart: Callable[[Any, Any], Apart], pairs: Iterable[tuple[Any, Any]], *, epsilon: float, delta: float = 0.0
) -> Worst:
    """Go through all pairs; return the largest ε at ``delta`` and the largest δ at ``epsilon``."""
    most, most_delta, where, number = 0.0, 0.0, None, 0
    for pair in pairs:
        distance = apart(*pair)
        found = distance.epsilon(delta)
        if found > most or where is None:
            most, where = max(found, most), pair
        most_delta = max(most_delta, distance.delta(epsilon))
        number += 1
    return Worst(most, most_delta, where, number)


def by_law(law: Callable[[Any], Law]) -> Callable[[Any, Any], Apart]:
    """Compare two data sets by a law that is computed once for each."""
    kept: dict[Hashable, Law] = {}

    def apart(first: Hashable, second: Hashable) -> Apart:
        for data in (first, second):
            if data not in kept:
                kept[data] = law(data)
        return Apart.of(kept[first], kept[second])

    return apart


def by_entry(law: Callable[[int], Law]) -> Callable[[Any, Any], Apart]:
    """Compare two vectors whose entries are perturbed independently; entries that agree say nothing."""
    one = by_law(law)

    def apart(first: Iterable[int], second: Iterable[int]) -> Apart:
        whole = Apart.nothing()
        for a, b in zip(first, second, strict=True):
            if a != b:
                whole = whole.together(one(a, b))
        return whole

    return apart
