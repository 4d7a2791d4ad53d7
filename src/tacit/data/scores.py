"""Exact work on the scores of a private test set: one pass into a histogram on the public grid, then sums of it.

Sees a user's labels and scores, returns :class:`tacit.privacy.exact.Exact` alone.
"""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray

from tacit.data.bounding import Bounding, first_of_each, row_order
from tacit.data.columns import EXACT
from tacit.data.errors import SchemaError
from tacit.data.features import LONG, as_numbers, match_values, plain_text
from tacit.data.series import as_doubles, as_series, listed
from tacit.errors import PrivacyError, bad_parameter
from tacit.privacy.exact import Exact
from tacit.privacy.grid import CELLS, cells_of
from tacit.privacy.hierarchy import Layout
from tacit.privacy.unit import Bound, Sensitivity, Unit, check_persons

Ints = NDArray[np.int64]

_ONE_COLUMN = {
    "y_true": "Pass the labels themselves, one column: y[:, 0] of an array, y['label'] of a frame.",
    "y_score": "Pass the scores of the positive class alone, such as model.predict_proba(X)[:, 1].",
}
_NO_NUMBERS = {"M", "m", "V"}  # moments, durations and records, as numpy and pandas call them
_CHUNK = 1 << 15  # scores worked on together: few enough to stay in the cache
_LOT = 1 << 20  # cells collected before they are counted


class Scores:
    """Labels and scores of a private test set, counted by class and cell of the public grid.

    Parameters
    ----------
    y_true, y_score : one-dimensional, of the same length
        A label that equals ``pos_label`` is positive and any other is negative, missing ones included. A score is
        clipped to the range; one that is not a number counts as the lowest.
    pos_label : label
    score_range : (float, float)
        Public bounds of the scores.
    unit : Unit
    persons : one-dimensional, optional
        For privacy of persons: who each row belongs to. Rows without a person are dropped.
    seed : int, optional
        Decides which rows of a person are kept.
    version : str, optional
        A name for the rows and for what scored them; default a fingerprint of the counts.
    """

    @np.errstate(all="ignore")  # a warning, or an error where they are errors, would tell of a row
    def __init__(
        self,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any,
        score_range: tuple[float, float],
        unit: Unit,
        persons: Any = None,
        seed: int | None = None,
        version: str | None = None,
    ) -> None:
        check_persons(unit, persons)
        (labels, wanted), scores = _labels(y_true, pos_label), _real_numbers(y_score)
        if len(labels) != len(scores):
            raise SchemaError("'y_true' and 'y_score' must have the same length.")
        if unit.column is not None:
            labels, scores = _bounded(labels == wanted, scores, persons, unit, seed)
            wanted = True
        public = f"{unit}|{pos_label!r}|{score_range}"
        self._fill(_histogram(labels, scores, wanted, score_range), unit, public, version)

    @classmethod
    def of_cells(cls, cells: Ints, unit: Unit, rule: str, version: str | None = None) -> Scores:
        """Scores that another engine counted by class and cell, for a unit that it bounded; ``rule`` names how."""
        scores = cls.__new__(cls)
        scores._fill(cells, unit, f"{unit}|{rule}", version)
        return scores

    def _fill(self, cells: Ints, unit: Unit, public: str, version: str | None) -> None:
        self.__cells = cells
        self.__sums = np.concatenate([np.zeros((2, 1), dtype=np.int64), np.cumsum(cells, axis=1)], axis=1)
        self.unit = unit
        self._bound = Bound(rows=unit.max_rows, ones=1)
        filled = np.flatnonzero(cells)
        content = b"counts" + np.stack([filled, cells.ravel()[filled]]).tobytes()
        named = content if version is None else f"version {version}".encode()
        self.version = hashlib.sha256(public.encode() + named).hexdigest()

    def __repr__(self) -> str:
        return "<private scores>"

    def __reduce__(self) -> Any:
        raise PrivacyError("Private scores cannot be stored. Release what you need through the gate.")

    def totals(self) -> Exact:
        """How many negatives and positives there are."""
        return self._seal(self.__sums[:, -1], Sensitivity.of_row_counts(self._bound), "rows by class (2)")

    def crowded(self, most: int, *, ends: bool) -> Exact:
        """How many rows there are in cells beyond the first ``most`` of each: ties, if that is far above usual.

        Whether the ``ends`` of the range are among these cells is the caller's choice.
        """
        cells = self.__cells if ends else self.__cells[:, 1:-1]
        beyond = np.maximum(cells.sum(axis=0) - most, 0).sum()
        query = f"rows beyond the first {most} of their cell" + ("" if ends else ", ends of the range left out")
        return self._seal(np.array([beyond]), Sensitivity.of_crowded_rows(self._bound, most), query)

    def counts(self, cuts: tuple[Ints, Ints]) -> Exact:
        """Negatives between their cuts, then positives between theirs; cuts are cells in ascending order."""
        parts = [np.diff(self.__sums[y, c]) for y, c in enumerate(cuts)]
        query = f"scores by class and bin ({len(parts[0])} + {len(parts[1])})"
        return self._seal(np.concatenate(parts), Sensitivity.of_row_counts(self._bound), query, *cuts)

    def layout(self, cuts: Ints, layout: Layout) -> Exact:
        """Negatives, then positives, between the cuts, counted in one of several ways."""
        values = layout.transform(np.diff(self.__sums[:, cuts], axis=1))
        query = f"scores by class and bin (2 × {layout.bins}; {layout})"
        return self._seal(values.ravel(), layout.sensitivity(self._bound), query, cuts)

    def median_sensitivity(self, width: int = 0) -> Sensitivity:
        """What a unit does to medians with profiles of that width."""
        return Sensitivity.of_median_profiles(self._bound, CELLS, width)

    def medians(self, cuts: Ints, width: int) -> Exact:
        """The median of each interval between cuts, with its profile: how far apart its neighbours on both sides are.

        Interval i holds the tuples of both classes whose cell is in [cuts[i], cuts[i + 1]).
        """
        values = median_profiles(self.__sums.sum(axis=0), cuts, width)
        return self._seal(values, self.median_sensitivity(width), f"medians of intervals ({len(cuts) - 1})", cuts)

    def balances(
        self, intervals: tuple[Ints, Ints], candidates: Ints, weights: tuple[int, int], offsets: Ints
    ) -> Exact:
        """Minus how far each candidate is from cutting its interval into halves of equal weight, plus public offsets.

        ``intervals`` are given by their first cells and by those after their last ones, ascending, and do not overlap.
        The candidates of interval i are ``candidates[i]``.
        """
        low, high = intervals
        if (low > high).any() or (high[:-1] > low[1:]).any():
            raise PrivacyError("Intervals that are balanced must be apart: else a row would be in several.")
        mass = weights[0] * self.__sums[0] + weights[1] * self.__sums[1]
        utilities = offsets - np.abs(2 * mass[candidates] - mass[low][:, None] - mass[high][:, None])
        sensitivity = Sensitivity.of_balances(self._bound, max(weights), candidates.size)
        query = f"balance of candidate cuts ({candidates.shape[0]} × {candidates.shape[1]})"
        return self._seal(utilities, sensitivity, query, low, high, candidates, np.array(weights), offsets)

    def laid_out(self, layouts: Ints, weights: tuple[int, int], offsets: Ints) -> Exact:
        """Minus how far each layout is from cutting its rows, their halves and so on into halves of equal weight,
        added up, plus public offsets.

        A layout is a row of 2^k + 1 cells that ascend: the ends of the range and all cuts of k levels.
        """
        levels = (layouts.shape[1] - 1).bit_length() - 1
        if layouts.shape[1] != (1 << levels) + 1 or (np.diff(layouts, axis=1) < 0).any():
            raise PrivacyError("The cuts of a layout must ascend, and halve: else a row would be beside several.")
        at = (weights[0] * self.__sums[0] + weights[1] * self.__sums[1])[layouts]
        utilities = np.array(offsets, dtype=np.int64)
        for half in (1 << level for level in range(levels)):
            ends, cuts = at[:, :: 2 * half], at[:, half :: 2 * half]
            utilities -= np.abs(2 * cuts - ends[:, :-1] - ends[:, 1:]).sum(axis=1)
        sensitivity = Sensitivity.of_balances(self._bound, max(weights), len(layouts), levels)
        query = f"balance of layouts of cuts ({len(layouts)}, {levels} levels)"
        return self._seal(utilities[None], sensitivity, query, layouts, np.array(weights), offsets)

    def _seal(self, values: Ints, sensitivity: Sensitivity, query: str, *public: Ints) -> Exact:
        digest = hashlib.sha256(b"".join(part.tobytes() for part in public)).hexdigest()
        people = "" if self.unit.column is None else f", at most {self.unit.max_rows} row(s) of a person"
        return Exact(
            values, sensitivity=sensitivity, unit=self.unit, query=query + people, version=f"{self.version}/{digest}"
        )


def median_profiles(sums: Ints, cuts: Ints, width: int) -> Ints:
    """For each interval between cuts its median cell, then ``width`` gaps around it.

    ``sums[c]`` rows lie in cells below c. With x₁ ≤ … ≤ x_n the cells of the rows in [a, b), x_i = a for i < 1,
    x_i = b for i > n and j = ⌈n/2⌉, the median is x_j and the gaps are x_{j+k} − x_{j−k}, k = 1, 2, …
    """
    low, high = cuts[:-1, None], cuts[1:, None]
    before = sums[low]
    rows = sums[high] - before
    middle = (rows + 1) // 2
    near = min(width, int(rows.max()) // 2 + 1)  # further out a gap is the whole interval
    steps = np.arange(1, near + 1)

    def cell(rank: Ints) -> Ints:
        inside = np.searchsorted(sums, before + rank, side="left") - 1
        return np.where(rank < 1, low, np.where(rank > rows, high, inside))

    far = np.broadcast_to(high - low, (len(low), width - near))
    return np.concatenate([cell(middle), cell(middle + steps) - cell(middle - steps), far], axis=1)


def _labels(values: Any, pos_label: Any) -> tuple[NDArray[Any], Any]:
    """Labels and the one that is positive: numbers as they are, and of anything else whether they are positive.

    Each label is compared by itself: a text among numbers must not turn the others into texts.
    """
    wanted = pos_label.item() if isinstance(pos_label, np.generic) else pos_label
    numbers = _as_they_are("y_true", values)
    if isinstance(wanted, int) and abs(wanted) >= EXACT:
        wanted = str(wanted)
    if numbers is not None and isinstance(wanted, int | float):
        return numbers.astype(np.float64) if numbers.dtype.kind == "f" else numbers, wanted
    codes, _ = match_values(as_series("y_true", values), (wanted,), ())
    return codes == 0, True


def _real_numbers(values: Any) -> NDArray[Any]:
    """Scores; NaN for what is no number. Whether they are refused is decided by the type that is declared for them."""
    numbers = _as_they_are("y_score", values)
    if numbers is not None:
        return numbers
    values = listed(values)
    kind = getattr(values, "dtype", None)
    if not isinstance(values, list | tuple):
        typed = kind is not None or isinstance(values, pa.Array | pa.ChunkedArray)
        declared = as_series("y_score", values[:0] if typed else values).dtype
        kinds = (pl.String, pl.Binary, pl.Object, pl.Null, pl.Boolean)
        text = declared in kinds or isinstance(declared, pl.Categorical | pl.Enum)
        if getattr(kind, "kind", "") in _NO_NUMBERS or not (text or declared.is_numeric()):
            raise bad_parameter("roc_curve", "y_score", "real numbers", f"type {kind or declared}")
    if isinstance(values, list | tuple) or getattr(kind, "kind", "") == "O":
        values = [_as_float(value) if issubclass(type(value), Fraction) else value for value in values]
    return as_numbers(as_series("y_score", values), ())[0]


def _as_float(value: Fraction) -> float:
    """The nearest number of 64 bits; infinite beyond them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _as_they_are(name: str, values: Any) -> NDArray[Any] | None:
    """An array of real numbers without gaps, not copied; None where there is anything else."""
    kind = getattr(values, "dtype", None)
    if isinstance(values, pl.Series):
        whole = values.dtype.is_integer() or values.dtype.is_float() or values.dtype == pl.Boolean
        return values.to_numpy() if whole and not values.null_count() and values.dtype not in LONG else None
    shape = getattr(values, "shape", None)
    if shape is not None and len(shape) != 1:
        raise bad_parameter("roc_curve", name, "one-dimensional", f"{len(shape)} dimensions", _ONE_COLUMN[name])
    if not isinstance(kind, np.dtype):
        return None
    if kind.kind not in "fiub" or isinstance(values, np.ma.MaskedArray):
        return None
    return np.asarray(values if kind != np.longdouble else as_doubles(np.asarray(values)))


def _histogram(labels: NDArray[Any], scores: NDArray[Any], pos_label: Any, span: tuple[float, float]) -> Ints:
    """Count by class and cell, a chunk at a time, so that memory does not grow with the number of scores."""
    counts = np.zeros(2 * CELLS, dtype=np.int64)
    lot = np.empty(min(_LOT, len(scores)), dtype=np.int64)
    low, high, width = *span, span[1] - span[0]
    for first in range(0, len(scores), _LOT):
        last = min(first + _LOT, len(scores))
        for start in range(first, last, _CHUNK):
            stop = min(start + _CHUNK, last)
            part = scores[start:stop].astype(np.float64)
            part[np.isnan(part)] = low  # np.fmax lets through what signals
            np.clip(part, low, high, out=part)
            if span != (0.0, 1.0):
                part = (part - low) / width
                np.minimum(part, 1.0, out=part)
            cells = lot[start - first : stop - first]
            cells[:] = labels[start:stop] == pos_label
            cells *= CELLS
            cells += cells_of(part)
        counts += np.bincount(lot[: last - first], minlength=2 * CELLS)
    return counts.reshape(2, CELLS)


def _bounded(
    positive: NDArray[Any], scores: NDArray[Any], persons: Any, unit: Unit, seed: int | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Keep at most m rows of each person, by an order that depends on that person's rows alone."""
    if persons is None:
        raise SchemaError(f"The unit is {unit}: pass who each row belongs to as persons=.")
    people = plain_text(as_series(str(unit.column), persons), ("",))
    if len(people) != len(scores):
        raise SchemaError("'persons' must have one entry for each score.")
    labels = np.asarray(positive, dtype=bool)
    rows = np.flatnonzero(people.is_not_null().to_numpy())
    people, labels, values = people.gather(rows), labels[rows], scores[rows].astype(np.float64)
    key = Bounding(1, unit, seed).key
    order = row_order((values + 0.0).view(np.int64), labels.astype(np.int64), people, key)
    kept = first_of_each(people, order, unit.max_rows)
    return labels[kept], values[kept]
