"""Rows as sets of binary features: the common form between sources, bounding and statistics.

Private. A ``Rows`` never shows itself; it is passed from room to room on the private side only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.data.hashing import Longs

Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Rows:
    """A batch of rows in compressed form.

    Attributes
    ----------
    indptr : int64 array of length n + 1
        Row i has the features ``indices[indptr[i]:indptr[i + 1]]``.
    indices : int32 array
        Feature numbers, ascending and without repetition within a row.
    labels : int64 array of length n
        Position of the row's label in the declared classes.
    persons : Polars string column, optional
        Who each row belongs to.
    """

    indptr: Longs
    indices: Ids
    labels: Longs
    persons: pl.Series | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return "<private rows>"

    def take(self, chosen: Longs) -> Rows:
        """The chosen rows, in the order given."""
        if len(chosen) == len(self) and np.array_equal(chosen, np.arange(len(self))):
            return self
        lengths = np.diff(self.indptr)[chosen]
        indptr = offsets_of(lengths)
        places = np.arange(indptr[-1], dtype=np.int64)
        places += np.repeat(self.indptr[chosen] - indptr[:-1], lengths)
        persons = None if self.persons is None else self.persons.gather(chosen)
        return Rows(indptr, self.indices[places], self.labels[chosen], persons)

    def part(self, begin: int, end: int) -> Rows:
        """The rows from ``begin`` up to ``end``, as a view."""
        low, high = self.indptr[begin], self.indptr[end]
        persons = None if self.persons is None else self.persons[begin:end]
        indptr = self.indptr[begin : end + 1] - low
        return Rows(indptr, self.indices[low:high], self.labels[begin:end], persons)


def offsets_of(lengths: Longs) -> Longs:
    """Where each row begins, and the end of the last."""
    indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return indptr


def concatenate(parts: Sequence[Rows]) -> Rows:
    """Several batches as one."""
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    persons = [part.persons for part in parts if part.persons is not None]
    return Rows(
        offsets_of(lengths),
        np.concatenate([part.indices[part.indptr[0] : part.indptr[-1]] for part in parts]),
        np.concatenate([part.labels for part in parts]),
        pl.concat(persons) if persons else None,
    )
