"""Topics: a public map from the words of a text to a few numbers. Sees private rows, returns them to the private side.

Which words come together can be learnt from public texts. A private text is then told by a few numbers instead of
thousands of words, so that the same norm, and the same noise, is shared by few. All sums are of whole numbers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data.hashing import Longs
from tacit.errors import bad_parameter

MOST_MASS = 1 << 46
"""No norm is larger, so that every sum, and its product with the grid of sums, stays exact in 64 bits."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Topics:
    """How much each word has of each topic: whole numbers.

    A row's topics are the sums of its words' loadings, divided by their norm, or by ``floor`` where that is larger.

    Parameters
    ----------
    places : array of whole numbers, one for each cell of words
        The cell's row of ``loadings``, or −1 where its words are in no topic.
    loadings : array of whole numbers, words × topics
    parts : array of whole numbers
        Weights of the words that share a cell, such as those of the parts of a text.
    floor : int
        The least norm that a row's sums are divided by.
    norm : {"L1", "L2"}
    """

    places: Longs
    loadings: Longs
    parts: Longs
    floor: int
    norm: Literal["L1", "L2"] = "L1"

    def __post_init__(self) -> None:
        whole = all(array.dtype == np.int64 for array in (self.places, self.loadings, self.parts))
        if not whole or self.loadings.ndim != 2 or not 0 < self.number < 1 << 11 or not self.loadings.size:
            raise bad_parameter("Topics", "places, loadings, parts", "whole numbers of 64 bits, not none", "others")
        if self.places.min(initial=0) < -1 or self.places.max(initial=-1) >= len(self.loadings):
            raise bad_parameter("Topics", "places", f"from -1 to {len(self.loadings) - 1}", "others")
        largest = int(np.abs(self.loadings).max()) * int(np.abs(self.parts).max())
        most = largest * int((self.places >= 0).sum()) * len(self.parts) * self.number
        if max(most, self.floor) > MOST_MASS or self.floor < 1:
            raise bad_parameter("Topics", "loadings, floor", f"so small that norms stay below {MOST_MASS}", "larger")

    @property
    def number(self) -> int:
        """How many topics there are."""
        return int(self.loadings.shape[1])

    @property
    def words(self) -> int:
        """How many features are words."""
        return len(self.places) * len(self.parts)

    def digest(self) -> str:
        """A name for these topics."""
        state = hashlib.sha256(repr((self.floor, self.norm, self.loadings.shape)).encode())
        for array in (self.places, self.loadings, self.parts):
            state.update(np.ascontiguousarray(array).tobytes())
        return state.hexdigest()

    def sums(self, indptr: Longs, indices: NDArray[np.int32]) -> tuple[Longs, Longs]:
        """Rows × topics before division, and each row's divisor, a whole number no less than the norm of its sums."""
        known = indices < self.words
        known[known] = self.places[indices[known] // len(self.parts)] >= 0
        before = np.zeros(len(indices) + 1, dtype=np.int64)
        np.cumsum(known, out=before[1:])
        words = indices[known]
        table = (self.parts[words % len(self.parts)], self.places[words // len(self.parts)], before[indptr])
        sums: Longs = sp.csr_array(table, shape=(len(indptr) - 1, len(self.loadings))) @ self.loadings
        return sums, np.maximum(self._norms(sums), self.floor)

    def _norms(self, sums: Longs) -> Longs:
        """Norms of rows, or a little more; each row's depends on that row alone, to the last bit."""
        if self.norm == "L1":
            return np.asarray(np.abs(sums).sum(axis=1))
        squares = np.zeros(len(sums))
        for column in sums.T:
            squares += column.astype(np.float64) ** 2
        # Each of fewer than 2^12 roundings loses less than 2^-52 of the square.
        return np.floor(np.sqrt(squares) * (1 + 2.0**-40)).astype(np.int64) + 1

    def scores(self, indptr: Longs, indices: NDArray[np.int32], weights: Floats) -> Floats:
        """Rows × columns: a row's topics times each column of weights, by operations on single rows alone."""
        sums, divisors = self.sums(indptr, indices)
        total = np.zeros((len(sums), weights.shape[1]))
        for column, row in zip(sums.T, weights, strict=True):
            part = column / divisors
            for place, weight in enumerate(row):
                if weight:
                    total[:, place] += part * weight
        return total

    def by_cell(self, weights: Floats) -> Floats:
        """What a word at the beginning of a short text adds to a score with these weights of topics, for each cell."""
        by_word = self.loadings @ weights * (self.parts[0] / self.floor)
        return np.asarray(np.where(self.places >= 0, by_word[self.places], 0.0))
