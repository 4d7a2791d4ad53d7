"""Ways to count bins so that sums over many of them are told well: cells, running sums, a tree, Haar differences.

Pure arithmetic. ``transform`` turns whole counts into whole numbers for the gate; ``restore`` turns released numbers
back into counts, by least squares where they overlap. Bins lie along the last axis, and their number is a power of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.privacy.unit import Bound, Sensitivity

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Form = Literal["cells", "cumulative", "tree", "privelet"]

FORMS: tuple[Form, ...] = ("cells", "cumulative", "tree", "privelet")


@dataclass(frozen=True, slots=True)
class Layout:
    """How bins are counted.

    Attributes
    ----------
    form : {"cells", "cumulative", "tree", "privelet"}
        Each bin; each bin with all bins above it; each node of a tree over the bins, its root included; or the total
        and, for each node of a binary tree, the difference of its halves.
    bins : int
        A power of two.
    branching : int
        Children of a node of the tree.
    """

    form: Form
    bins: int
    branching: int = 4

    def __str__(self) -> str:
        return f"tree, {self.branching} children a node" if self.form == "tree" else self.form

    @property
    def levels(self) -> int:
        """How many of the numbers one row is in, at most."""
        counted = {"cells": 1, "cumulative": self.bins, "privelet": self.bins.bit_length()}
        return counted.get(self.form) or len(self._starts())

    @property
    def size(self) -> int:
        """How many numbers there are for a class."""
        return sum(map(len, self._starts())) if self.form == "tree" else self.bins

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """What a unit moves: every row is in at most one number on each level."""
        if self.form == "cells":
            return Sensitivity.of_row_counts(bound)
        return Sensitivity.of_level_counts(bound, self.levels, signed=self.form == "privelet")

    def transform(self, counts: Ints) -> Ints:
        """Whole counts of bins into the whole numbers that are released."""
        if self.form == "cells":
            return counts
        if self.form == "cumulative":
            return np.asarray(np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1])
        if self.form == "tree":
            return np.concatenate([np.add.reduceat(counts, s, axis=-1) for s in self._starts()], axis=-1)
        parts: list[Ints] = []
        sums = counts
        while sums.shape[-1] > 1:
            parts.append(sums[..., ::2] - sums[..., 1::2])
            sums = sums[..., ::2] + sums[..., 1::2]
        return np.concatenate([sums, *reversed(parts)], axis=-1)

    def restore(self, released: NDArray[Any]) -> Floats:
        """Released numbers into estimates of the counts of bins."""
        values = released.astype(np.float64)
        if self.form == "cells":
            return values
        if self.form == "cumulative":
            return -np.diff(values, axis=-1, append=0.0)
        if self.form == "tree":
            return self._consistent(values)
        sums, first = values[..., :1], 1
        while sums.shape[-1] < self.bins:
            gaps = values[..., first : 2 * first]
            sums = np.stack([(sums + gaps) / 2, (sums - gaps) / 2], axis=-1).reshape(*gaps.shape[:-1], 2 * first)
            first *= 2
        return sums

    def total_variance(self) -> float:
        """Variance of the restored total, for noise of variance 1: at most this."""
        return float(self.bins) if self.form == "cells" else 1.0

    def _starts(self) -> list[Ints]:
        """The first bin of each node, from the root down to the bins; the last node of a level may be smaller."""
        starts, width = [np.arange(self.bins)], 1
        while len(starts[-1]) > 1:
            width *= self.branching
            starts.append(np.arange(0, self.bins, width))
        return starts[::-1]

    def _consistent(self, values: Floats) -> Floats:
        """Least squares under "a node is the sum of its children": up the tree by precision, then down."""
        sizes = [len(starts) for starts in self._starts()]
        levels = np.split(values, np.cumsum(sizes)[:-1], axis=-1)
        found, spread = levels[-1], np.ones(self.bins)
        below: list[tuple[Floats, Floats, Floats]] = []
        for level in reversed(levels[:-1]):
            starts = np.arange(0, found.shape[-1], self.branching)
            sums, spreads = np.add.reduceat(found, starts, axis=-1), np.add.reduceat(spread, starts)
            below.append((found, spread, sums))
            found = sums + spreads / (1 + spreads) * (level - sums)
            spread = spreads / (1 + spreads)
        for children, spread_of, sums in reversed(below):
            parent = np.arange(children.shape[-1]) // self.branching
            weight = spread_of / np.bincount(parent, spread_of)[parent]
            found = children + weight * (found - sums)[..., parent]
        return found
