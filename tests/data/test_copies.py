"""Rows count as copies only if nobody who gets them can tell them apart; else one row more would move many others."""

from __future__ import annotations

import datetime as dt
import struct
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.data.coins import content_keys, copy_numbers, given_keys

LONG = np.longdouble(1)


def nan(bits: int) -> float:
    return float(np.array([bits], dtype=np.uint64).view(np.float64)[0])


def content(value: Any) -> str:
    """What there is to see of a value."""
    if isinstance(value, float | np.floating) and not isinstance(value, np.longdouble):
        return f"{type(value)} {struct.pack('>d', value).hex()}"
    if isinstance(value, list | tuple | np.ndarray):
        return f"{type(value)} {[content(part) for part in value]}"
    return f"{type(value)} {value!r}"


def contents(part: Any) -> list[str]:
    if sp.issparse(part):
        bounds = part.indptr[1:-1]
        pairs = zip(np.split(part.indices, bounds), np.split(part.data, bounds), strict=True)
        return [f"{columns.tolist()} {content(numbers)}" for columns, numbers in pairs][: part.shape[0]]
    if isinstance(part, pa.Array):
        return [value.cast(pa.large_binary()).as_py().hex() for value in part]
    if isinstance(part, pd.DataFrame):
        return list(map(content, part.itertuples(index=False)))
    return list(map(content, part.rows() if isinstance(part, pl.DataFrame) else part))


def moved(made: Any, one: Any, other: Any) -> list[Any]:
    """For some seeds what one more row of the first kind, at the front, changes in the parts."""
    changes = []
    for seed in range(6):
        before = tacit.split(made([other, one] * 8), test_size=0.5, random_state=seed)
        after = tacit.split(made([one, *[other, one] * 8]), test_size=0.5, random_state=seed)
        bags = [(Counter(contents(was)), Counter(contents(now))) for was, now in zip(before, after, strict=True)]
        lost, won = [was - now for was, now in bags], [now - was for was, now in bags]
        changes.append((sum(sum(bag.values()) for bag in lost), sum(sum(bag.values()) for bag in won)))
    return changes


def column(rows: list[Any]) -> Any:
    return np.array(rows)[:, None]


def objects(rows: list[Any]) -> Any:
    array = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        array[place] = row
    return array


def entries(rows: list[list[tuple[int, float]]]) -> Any:
    """A sparse matrix with these entries in this sequence."""
    ends = np.cumsum([0, *map(len, rows)])
    places, numbers = np.array([entry for row in rows for entry in row]).T
    return sp.csr_array((numbers, places.astype(np.int32), ends), shape=(len(rows), 2))


def bytes_of_arrow(rows: list[bytes]) -> Any:
    """Texts of Arrow's, which nobody checks."""
    ends = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    return pa.Array.from_buffers(pa.string(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(rows))])


def frame(rows: list[Any]) -> Any:
    return pd.DataFrame({"t": pd.to_timedelta(rows)})


KINDS = {
    "zeros": (column, 0.0, -0.0),
    "zeros of 32 bits": (column, np.float32(0), np.float32("-0")),
    "zeros in a list": (list, 0.0, -0.0),
    "zeros in a frame": (lambda rows: pl.DataFrame({"x": rows}), 0.0, -0.0),
    "stored zeros": (entries, [(0, 0.0)], [(0, -0.0)]),
    "a stored zero, and none": (entries, [(1, 1.0), (0, 0.0)], [(1, 1.0)]),
    "entries in another sequence": (entries, [(0, 1.0), (1, 2.0)], [(1, 2.0), (0, 1.0)]),
    "bits of NaN": (column, nan(0x7FF8000000000000), nan(0x7FF8000000000001)),
    "signs of NaN in a list": (list, nan(0x7FF8000000000000), nan(0xFFF8000000000000)),
    "a gap and NaN": (lambda rows: pl.DataFrame({"x": pl.Series(rows, dtype=pl.Float64)}), None, float("nan")),
    "a gap and NaN in a list": (list, None, float("nan")),
    "numbers beyond 64 bits": (column, LONG, np.nextafter(LONG, LONG + 1)),
    "numbers beyond 64 bits in a list": (list, LONG, np.nextafter(LONG, LONG + 1)),
    "complex": (lambda rows: sp.csr_array(column(rows)), 1 + 1j, 1 + 0j),
    "a number and its text": (list, 1, "1"),
    "a number and its text in an array": (objects, 1, "1"),
    "a whole number and a float in a list": (list, 1, 1.0),
    "bytes": (list, b"\xff", b"\xfe"),
    "bytes in an array": (np.array, b"\xff", b"\xfe"),
    "bytes as texts of Arrow": (bytes_of_arrow, b"\xff", b"\xfe"),
    "half characters": (list, "\ud800", "\udfff"),
    "durations": (list, dt.timedelta(microseconds=1), dt.timedelta(microseconds=2)),
    "durations in a frame": (frame, dt.timedelta(microseconds=1), dt.timedelta(microseconds=2)),
    "zones": (
        list,
        dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
        dt.datetime(2020, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))),
    ),
    "lists": (list, [np.float64(0.0)], [-0.0]),
    "sets": (list, {1}, {1.0}),
}


@pytest.mark.parametrize(("made", "one", "other"), KINDS.values(), ids=KINDS)
def test_one_more_row_moves_no_other_that_can_be_told_from_it(made: Any, one: Any, other: Any) -> None:
    if np.finfo(np.longdouble).nmant == 52 and (isinstance(one, np.longdouble)):
        pytest.skip("no longer numbers here")
    assert contents(made([one])) != contents(made([other]))
    assert set(moved(made, one, other)) == {(0, 1)}


def test_labels_that_are_handed_on_are_no_copies_either() -> None:
    X = np.zeros((101, 1))
    for one, other in ((0.0, -0.0), (1, "1")):
        y = objects([one, *[other, one] * 50])
        for seed in range(6):
            before, after = (tacit.split(X[: len(of)], of, 0.5, random_state=seed)[2:] for of in (y[1:], y))
            bags = [(Counter(contents(was)), Counter(contents(now))) for was, now in zip(before, after, strict=True)]
            assert sorted(sum((now - was).values()) for was, now in bags) == [0, 1]
            assert not any(was - now for was, now in bags)


def test_a_black_box_in_a_workflow_gets_what_coins_were_made_of() -> None:
    """A box that reads signs of zero: one row more at the front moved half of the others to the other part."""
    signs = np.where(np.arange(400) % 2 == 0, 0.0, -0.0)[:, None]
    few, more = (
        copy_numbers(*content_keys(X, np.zeros(len(X), dtype=np.int64), 5)) for X in (signs, np.r_[signs[:1], signs])
    )
    assert few.tolist() == np.repeat(np.arange(200), 2).tolist()
    assert more[1::2].tolist() == [*range(1, 201)]
    assert more[2::2].tolist() == few[1::2].tolist()


NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([0.0, -0.0, 1.0, 0.5, nan(0x7FF8000000000001)]), st.none())


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_whether_numbers_are_copies_does_not_depend_on_the_type_of_their_column(values: list[Any]) -> None:
    """One text more makes an array of numbers one of objects: it would renumber, and so move, the others."""
    plain = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    columns = [plain, objects([*values, "?"]), objects([*plain, "?"]), pd.Series(plain)]
    columns.append(pd.Series([*plain, "?"], dtype=object))
    numbers = [copy_numbers(*given_keys(column, None, 5))[: len(values)].tolist() for column in columns]
    assert numbers == [numbers[0]] * len(columns)
    matrices = [plain[:, None], columns[1][:, None], columns[2][:, None]]
    numbers = [copy_numbers(*given_keys(matrix, None, 5))[: len(values)].tolist() for matrix in matrices]
    assert numbers == [numbers[0]] * len(matrices)


def test_a_signalling_nan_is_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    X = np.zeros((50, 2), dtype=np.float32)
    X.view(np.uint32)[17, 0] = 0x7F8007A2
    y = np.arange(50) % 2
    for matrix in (X, sp.csr_array(X)):
        tacit.split(matrix, y, random_state=1)
        tacit.Workflow(1.0, random_state=1).run(matrix, y)
    assert not recwarn.list
