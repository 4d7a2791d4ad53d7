"""An odd value changes no other in whatever holds them, and none of them ends the program."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit.data.features import as_text
from tacit.data.scores import Scores
from tacit.data.series import UNTOLD, as_series
from tacit.privacy._seal import open_exact

LONG = [2**60 + place % 7 for place in range(28)]
NUMBERS = [place % 7 / 2 for place in range(28)]


class Own:
    """A sequence by its methods alone."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: int) -> Any:
        return self._values[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)


def texts(values: Any) -> list[str | None]:
    return as_text(as_series("x", values), "x").to_list()


def totals(y: Any, s: Any, **options: Any) -> list[int]:
    given: dict[str, Any] = {"pos_label": 1, "score_range": (0, 1), "unit": tacit.Unit.row(), "seed": 1} | options
    return open_exact(Scores(y, s, **given).totals()).tolist()


@pytest.mark.parametrize("kind", ["Int64", "UInt64", "int64[pyarrow]", "category"])
@pytest.mark.parametrize("bare", [lambda values: values.values, lambda values: values.array, pd.Index])
def test_a_gap_in_a_bare_array_of_pandas_merges_no_others(kind: str, bare: Callable[[Any], Any]) -> None:
    """numpy would make floats of whole numbers with a gap: one row without an id merged all other persons."""
    whole, gap = (bare(pd.Series(pd.array(values, dtype=kind))) for values in (LONG, [*LONG, None]))
    assert texts(gap) == [*map(str, LONG), None]
    unit = tacit.Unit.user("who", 1)
    kept = [totals([0] * n, [0.5] * n, unit=unit, persons=ids) for n, ids in ((28, whole), (29, gap))]
    assert kept == [[7, 0], [7, 0]]
    assert totals(gap, [0.5] * 29, pos_label=2**60 + 1) == [25, 4]
    X = np.arange(29)
    sides = [set(tacit.split(X[:n], None, 0.5, persons=ids, random_state=1)[1]) for n, ids in ((28, whole), (29, gap))]
    assert sides[1] - {28} == sides[0]
    handed_on = tacit.split(X, gap, 0.5, random_state=1)[2:]
    assert sorted(str(value) for part in handed_on for value in part)[:28] == sorted(map(str, LONG))


@pytest.mark.parametrize("made", [collections.deque, collections.UserList, Own])
@pytest.mark.parametrize(("values", "odd"), [(NUMBERS, "?"), (LONG, 0.5), ([True, False] * 14, 5)])
def test_a_sequence_is_read_as_a_list_is(made: Callable[[Any], Any], values: list[Any], odd: Any) -> None:
    """numpy would give all values the type of the oddest: a text among numbers made texts of them."""
    assert texts(made(values)) == texts(values) == texts(made([*values, odd]))[:-1]
    first = values[0]
    assert totals(made([*values, odd]), [*NUMBERS, 0.5], pos_label=str(first)) == totals(
        [*values, odd], [*NUMBERS, 0.5], pos_label=str(first)
    )
    X = np.arange(29)
    for options in ({"persons": made([*values, odd])}, {"y": made([*values, odd])}):
        listed = {name: list(given) for name, given in options.items()}
        for part, same in zip(
            tacit.split(X, test_size=0.5, random_state=1, **options),
            tacit.split(X, test_size=0.5, random_state=1, **listed),
            strict=True,
        ):
            assert list(part) == list(same)


def test_rows_of_a_sequence_are_rows() -> None:
    rows, y = [[1, 0], [0, 1]] * 20, [0, 1] * 20
    usual = tacit.BernoulliNB(epsilon=100, random_state=0).fit(rows, y)
    for odd in ([*rows, ["HIV positive", 1]], [*rows, [None, 1]]):
        listed, other = (tacit.BernoulliNB(epsilon=100, random_state=0).fit(made(odd), [*y, 1]) for made in (list, Own))
        assert np.array_equal(listed.weights_, other.weights_)
    assert np.array_equal(
        usual.weights_, tacit.BernoulliNB(epsilon=100, random_state=0).fit(Own(rows), Own(y)).weights_
    )
    words = tacit.TextClassifier(bits=8, random_state=0).fit(collections.deque(["win", "lunch", 7] * 9), [0, 1, 1] * 9)
    assert words.predict(collections.deque(["win", 7])).shape == (2,)


FRAMES: list[Callable[[list[Any]], Any]] = [
    lambda y: pl.DataFrame({"y": y}),
    lambda y: pd.DataFrame({"y": pd.array(y, dtype="Int64")}),
    lambda y: pd.DataFrame({"y": pd.array(y, dtype="int64[pyarrow]")}),
    lambda y: pa.table({"y": y}),
]


@pytest.mark.parametrize("frame", FRAMES, ids=["Polars", "pandas", "Arrow in pandas", "Arrow"])
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_labels_in_a_frame_of_one_column_keep_their_type(frame: Callable[[list[Any]], Any]) -> None:
    """numpy made floats of them beside a gap, in which whole numbers above 2^53 are merged: all rows were lost."""
    y = [2**60 + 1] * 50 + [2**60 + 2] * 50
    for labels in (y, [*y, None]):
        model = tacit.BernoulliNB(1000.0, classes=(str(2**60 + 1), str(2**60 + 2)), random_state=0)
        assert model.fit(np.ones((len(labels), 2)), frame(labels)).class_count_.tolist() == [50, 50]


TEXTS: list[tuple[Any, Any]] = [
    (pd.Series([np.nan, np.nan]), pd.Series([np.nan, np.nan, "my PIN is 4711"])),
    (pd.Series([1234, 77]), pd.Series([1234, 77, "call me"])),
    (pl.Series([None, None]), pl.Series([None, None, "a"])),
    (pl.Series([1234, 77]), pl.Series(["1234", "77", "a"])),
    (np.array([1234, 77]), np.array([1234, 77, "a"])),
    (np.array([]), np.array(["a"])),
    (pl.Series([]), pl.Series(["a"])),
]


@pytest.mark.parametrize(("few", "more"), TEXTS, ids=lambda column: str(column.dtype))
def test_a_column_without_a_text_is_one_of_texts_too(few: Any, more: Any) -> None:
    """As a file is read in which nobody wrote one: the fit was refused, for nothing, if and only if no row has one."""
    for column in (few, more):
        model = tacit.TextClassifier(1.0, bits=6, random_state=0).fit(column, [0, 1, 0][: len(column)])
        assert len(model.predict(column)) == len(column)


class Zone(dt.tzinfo):
    def utcoffset(self, moment: dt.datetime | None) -> dt.timedelta:
        raise RuntimeError("HIV positive")


class Array:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("HIV positive")


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("HIV positive")


class Whole(int):
    def __format__(self, form: str) -> str:
        raise RuntimeError("HIV positive")


class Number(complex):
    @property
    def imag(self) -> float:  # type: ignore[override]
        raise RuntimeError("HIV positive")


class Fixed(decimal.Decimal):
    def __format__(self, *_: Any) -> str:
        raise RuntimeError("HIV positive")


class Pairs(dict[Any, Any]):
    def items(self) -> Any:
        raise RuntimeError("HIV positive")


class Panic(BaseException):
    """As one of Rust's, which is no Exception."""


class Panicking:
    def __repr__(self) -> str:
        raise Panic("HIV positive")


RAISING = [
    Panicking(),
    dt.time(1, tzinfo=Zone()),
    dt.datetime(2020, 1, 1, tzinfo=Zone()),
    Array(),
    Text("a"),
    Whole(3),
    Number(1),
    Fixed("1"),
    Pairs(a=1),
]


@pytest.mark.parametrize("odd", RAISING, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("made", [list, lambda values: pd.Series(values, dtype=object).to_numpy()])
def test_a_value_that_raises_is_a_mark(made: Callable[[Any], Any], odd: Any) -> None:
    """Its error would tell that it is there, and may quote it."""
    values = [0, 1, 1, 0.5, "x"]
    assert texts(made([*values, odd])) in ([*texts(values), told] for told in (UNTOLD, "2020-01-01 00:00:00"))
    assert totals(made([*values, odd]), [0.5] * 6) == [4, 2]
    assert totals([1] * 6, made([*values, odd])) == [0, 6]
    tacit.split(made([*values, odd]), made([*values, odd]))


@pytest.mark.parametrize("kind", ["m8", "M8"])
@pytest.mark.parametrize("step", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("number", [5, -5, 1500, 2**50, 2**55, 2**62, -(2**62), -(2**63) + 1])
@pytest.mark.parametrize("zone", [None, "Asia/Kolkata"])
def test_times_of_pandas_have_one_text_in_any_column(kind: str, step: str, number: int, zone: str | None) -> None:
    """Long ones ended the program, with an error that quotes them, or had another text as an object."""
    column = pd.Series(np.array([1, number]).astype(f"{kind}[{step}]"))
    if zone and kind == "M8":
        column = column.dt.tz_localize("UTC").dt.tz_convert(zone)
    told = texts(column)
    for other in (column.array, column.astype(object), list(column), [*column, "?"], pd.Index(column)):
        assert texts(other)[:2] == told
    if zone is None:
        assert texts(column.to_numpy()) == texts(list(column.to_numpy())) == told


def test_durations_are_told_exactly() -> None:
    usual = [dt.timedelta(microseconds=count) for count in (0, 1, -1, 1500, -1000, 10**7)]
    told = ["0 ms", "0.001 ms", "-0.001 ms", "1.5 ms", "-1 ms", "10000 ms"]
    assert texts(usual) == texts(pd.Series(usual)) == texts(np.array(usual, dtype="m8[ns]")) == told
    assert texts([dt.timedelta.max, pd.Timedelta(5, "ns")]) == ["86399999999999999.999 ms", "0.000005 ms"]


def test_what_is_masked_is_missing_in_a_list_too() -> None:
    assert texts([1, np.ma.masked, 2]) == ["1", None, "2"]
    y = np.ma.array([1, 1, 0], mask=[True, False, False])
    handed_on = tacit.split([0, 1, 2], y, 0.5, random_state=1)[2:]
    assert sum(part.count() for part in handed_on) == 2
