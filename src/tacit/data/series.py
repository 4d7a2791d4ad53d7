"""Whatever one-dimensional thing a user has, as a column. Private in, private out.

What becomes of a value depends on that value alone: if a text among numbers, or a gap among whole numbers, changed how
the others are read, one row more could change the persons, the labels and the coins of all rows.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Set
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray

from tacit.data.columns import EXACT
from tacit.data.errors import SchemaError
from tacit.data.features import as_text, repair_utf8
from tacit.data.text import valid_text
from tacit.errors import ParameterError, bad_parameter, unless_it_fails

MOST_BITS = 1024
"""Whole numbers of more bits are written in hexadecimal: Python refuses to write them out."""

MOST_DIGITS = 1024
"""Decimals of more digits are written with an exponent: one of them may have a billion."""

_SIMPLE = {int, float, bool, str, type(None)}

DEEPEST = 32
"""Lists within lists are told so far."""

UNTOLD = "\ufffd"
"""Stands for a value that has no text. It separates words, and is no number."""

_TRAILING = re.compile(r"(\.[0-9]*?)0+(?=$|[+-])")  # zeros at the end of a fraction, before the zone if there is one


def listed(values: Any) -> Any:
    """A sequence that has no type for all of its values, such as a deque, as a list; all else as it is.

    numpy would give it one, which an odd value decides on.
    """
    kind = type(values)
    if issubclass(kind, list | tuple | str | bytes | bytearray | memoryview | Mapping | Set):
        return values
    if any(hasattr(kind, name) for name in ("__array__", "__array_interface__", "__array_struct__")):
        return values
    plain = hasattr(kind, "__getitem__") and hasattr(kind, "__len__") and not hasattr(values, "dtype")
    return list(values) if plain else values


def check_collected(owner: str, data: Any) -> None:
    """Refuse a lazy frame of Polars, by its type alone: it is a program yet to be run, and no table.

    Whether it fails depends on rows, and its errors quote them: one text in a column that is guessed to hold numbers
    is enough. An error without the text would tell of that row, too, before anything is charged; and its rows can be
    others each time that it is run.
    """
    if isinstance(data, pl.LazyFrame):
        remedy = "Collect it first: X.collect(). What goes wrong then is for the eyes of whoever holds the data."
        raise bad_parameter(owner, "X", "rows in memory, such as a Polars DataFrame", "a LazyFrame", remedy)


def is_of_pandas(values: Any) -> bool:
    """Whether something is a column, an index or a bare array of a type of pandas' own."""
    return hasattr(getattr(values, "dtype", None), "construct_array_type")


def as_series(name: str, values: Any) -> pl.Series:
    """A column from whatever one-dimensional thing a user has."""
    values = listed(values)
    if isinstance(values, pl.Series):
        return values.rename(name) if values.dtype != pl.Object else _object_series(name, values.to_list())
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _arrow_series(name, values)
    if isinstance(values, list | tuple):
        return _object_series(name, list(values))  # numpy would pad all texts to the longest
    if is_of_pandas(values):  # a bare array, too: numpy would make floats of whole numbers with a gap
        return _pandas_series(name, getattr(values, "array", values))
    array = np.asarray(values) if not hasattr(values, "to_numpy") else values.to_numpy()
    if array.ndim != 1:
        got = f"{array.ndim} dimensions" if array.ndim else type(values).__name__
        raise ParameterError(f"{name!r} must be one-dimensional: a list, an array or one column of a frame. Got {got}.")
    if isinstance(values, np.ma.MaskedArray):  # what is masked is missing
        mask = np.ma.getmaskarray(values)
        return _object_series(name, [None if gap else value for gap, value in zip(mask, array, strict=True)])
    if array.dtype.kind in "OUTc":
        return _object_series(name, array.tolist())
    if array.dtype == np.longdouble:
        return pl.Series(name, as_doubles(array))
    return pl.Series(name, _in_known_steps(array))


def as_doubles(numbers: Any) -> Any:
    """Numbers of more than 64 bits as such of 64. Too large ones are infinite; a warning would tell of them."""
    with np.errstate(all="ignore"):
        return numbers.astype(np.float64)


def _pandas_series(name: str, values: Any) -> pl.Series:
    """A column of a type of pandas' own.

    What Arrow holds is read as Arrow's: among Python's objects one text that is not UTF-8, or one far moment, would be
    an error, which quotes it. So would a moment next to the end of all that pandas knows, in its own zone.
    """
    held = arrow_of(values)
    if held is not None:
        if not pa.types.is_nested(held.type) and not pa.types.is_decimal(held.type):
            return _arrow_series(name, held)
        return _object_series(name, [from_arrow(value) for value in held])
    if hasattr(values, "tz_convert"):
        values = values.tz_convert("UTC")
    return _object_series(name, values.astype(object).tolist())


def arrow_of(values: Any) -> Any:
    """What Arrow holds, or could, of a column of a type of pandas' own: whole numbers with gaps, say; or else None."""
    kind = values.dtype
    by_arrow = hasattr(kind, "pyarrow_dtype") or getattr(kind, "storage", None) == "pyarrow"
    return pa.array(values) if by_arrow or (kind.kind in "iufb" and hasattr(values, "__arrow_array__")) else None


def from_arrow(value: Any) -> Any:
    """One of Arrow's values as an object of Python's. What cannot be told is a mark: a list with broken UTF-8, say."""
    return unless_it_fails(value.as_py, UNTOLD)


def _arrow_series(name: str, values: Any) -> pl.Series:
    """A column of Arrow's; a type that Polars does not know, and an array that is none, are refused as a whole."""
    try:
        if pa.types.is_decimal256(values.type):  # on which Polars would end the program
            raise pl.exceptions.ComputeError("decimals of 256 bits")
        return _checked_series(name, values)
    except (pl.exceptions.PolarsError, pa.ArrowException):
        remedy = "Turn it into another, or write it anew."
        raise SchemaError(
            f"Column {name!r} of Arrow's type {values.type} is broken, or of a type that cannot be read. {remedy}",
            column=name,
        ) from None


def _checked_series(name: str, values: Any) -> pl.Series:
    """Nobody checks whether Arrow's texts are UTF-8, and Polars trusts in it: one that is not would end the program."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
        words = [_checked_series(name, chunk.dictionary).to_arrow() for chunk in chunks]
        pairs = zip(chunks, words, strict=True)
        kind = pa.dictionary(kind.index_type, pa.large_string() if _is_text(kind.value_type) else kind.value_type)
        chunks = [pa.DictionaryArray.from_arrays(chunk.indices, word.cast(kind.value_type)) for chunk, word in pairs]
        return pl.Series(name, pl.from_arrow(pa.chunked_array(chunks, kind)))
    if _is_text(kind):
        try:
            values.validate(full=True)
        except pa.ArrowInvalid as error:
            if "UTF8" not in str(error):
                raise
            return repair_utf8(pl.Series(name, pl.from_arrow(values.cast(pa.large_binary()))), None, name)
    return pl.Series(name, pl.from_arrow(values))


def frame_of_arrow(table: Any) -> pl.DataFrame:
    """A table of Arrow's, or a batch of one."""
    columns = zip(table.schema.names, table.columns, strict=True)
    return pl.DataFrame([as_series(name, values) for name, values in columns])


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _in_known_steps(array: NDArray[Any]) -> NDArray[Any]:
    """Times in steps that Polars knows, such as milliseconds for seconds; those that are too far are missing."""
    kind, known = array.dtype.kind, ("ms", "us", "ns", "D" if array.dtype.kind == "M" else "")
    if kind not in "mM" or (step := np.datetime_data(array.dtype)[0]) in known:
        return array
    if step in ("ps", "fs", "as"):
        return array.astype(f"{kind}8[ns]")
    times = array.astype(f"{kind}8[ms]")
    times[times.astype(array.dtype) != array] = np.array("NaT", dtype=times.dtype)
    return times


def _object_series(name: str, values: list[Any]) -> pl.Series:
    """Python objects: texts, or numbers with None or NaN among them, or anything."""
    if set(map(type, values)) <= {str, type(None)}:
        return valid_text(values).rename(name)
    plain = [_read(value) for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if kinds == {bool} or kinds == {float}:
        return pl.Series(name, plain, dtype=pl.Boolean if kinds == {bool} else pl.Float64)
    if kinds and kinds <= {int, float} and all(abs(value) < EXACT for value in plain if type(value) is int):
        return pl.Series(name, plain, dtype=pl.Int64 if kinds == {int} else pl.Float64, strict=False)
    return valid_text(_written(plain)).rename(name)


def _read(value: Any) -> Any:
    """One value as Python's own; None for a gap; a mark for one of a foreign type that cannot be asked."""
    return unless_it_fails(lambda: None if _is_missing(value) else _plain(value), UNTOLD)


def _is_missing(value: Any) -> bool:
    if value is np.ma.masked:
        return True
    if _is_array(value):  # a row of a list of rows, say: those that differ must stay apart
        return False
    # pandas.NA and the like are neither equal nor unequal to themselves.
    return value is None or unless_it_fails(lambda: bool(value != value), True)


def _is_array(value: Any) -> bool:
    return hasattr(type(value), "__array__") and not isinstance(value, np.generic)


def _plain(value: Any) -> Any:
    """Python's own number or text in place of numpy's; dates and durations stay, since Python's are coarser.

    One complex number makes all others of a column complex: those on the real line are real all the same.
    """
    if isinstance(value, np.longdouble):
        return float(value)
    if isinstance(value, complex | np.complexfloating) and not value.imag:
        return float(value.real)
    told_by_python = isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64)
    return value.item() if told_by_python else value


def _written(values: list[Any]) -> list[str | None]:
    """Each value as the text that it has in a column of its kind."""
    floats = [place for place, value in enumerate(values) if type(value) is float]
    texts = [None if value is None else _told_or_not(value) for value in values]
    column = as_text(pl.Series([values[place] for place in floats], dtype=pl.Float64), "")
    for place, text in zip(floats, column, strict=True):
        texts[place] = text
    return texts


def _told_or_not(value: Any) -> str | None:
    """One value as text, which is not of a foreign type either; a mark where it has none."""

    def told() -> str | None:
        text = _as_written(value)
        return text if text is None else str.__str__(text)

    return unless_it_fails(told, UNTOLD)


def _as_written(value: Any) -> str | None:
    """One value as text; None for a date that no calendar knows."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value}" if value.bit_length() < MOST_BITS else f"{value:#x}"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Decimal):
        return _short(f"{value:f}") if abs(value.adjusted()) < MOST_DIGITS else f"{value}"
    if isinstance(value, dt.datetime):
        if hasattr(value, "asm8") and not dt.MINYEAR <= value.year <= dt.MAXYEAR:  # pandas knows more than Python
            far = _as_written(value.asm8)
            return far if far is None or value.tzinfo is None else f"{far}+00:00"
        moment = value if value.tzinfo is None else _in_utc(value)
        finest = "nanoseconds" if hasattr(value, "nanosecond") else "microseconds"
        return _short(moment.isoformat(sep=" ", timespec=finest))
    if isinstance(value, dt.time):
        return _short(value.isoformat(timespec="microseconds"))
    if isinstance(value, np.datetime64 | np.timedelta64):
        text: str | None = as_text(pl.Series(_in_known_steps(np.array([value]))), "")[0]
        return text
    if isinstance(value, dt.timedelta):
        return _in_milliseconds(value)
    return _told(value)


def _in_milliseconds(value: dt.timedelta) -> str | None:
    """A duration of Python's or of pandas', which has steps of its own; one that 64 bits do not hold is missing."""
    if hasattr(value, "asm8"):
        step = np.datetime_data(value.asm8.dtype)[0]
        steps, smaller = int(value.asm8.view(np.int64)), {"s": -3, "ms": 0, "us": 3, "ns": 6}[step]
    else:
        steps, smaller = value // dt.timedelta(microseconds=1), 3
    if smaller < 0:
        steps, smaller = steps * 1000, 0
        if abs(steps) >= 2**63:
            return None
    whole, rest = divmod(abs(steps), 10**smaller)
    return f"{'-' * (steps < 0)}{_short(f'{whole}.{rest:0{smaller}}') if rest else whole} ms"


def _told(value: Any, above: tuple[int, ...] = ()) -> str:
    """Anything else in words, part by part, so that values that differ stay apart. What cannot be told is a mark.

    ``above`` are the lists that it is in.
    """
    value = np.asarray(value).tolist() if _is_array(value) else _plain(value)  # numpy's words leave out the middle
    if len(above) > DEEPEST or id(value) in above:
        return UNTOLD
    if type(value) in (list, tuple) and set(map(type, value)) <= _SIMPLE:
        with suppress(ValueError):  # of a number that is too long
            return str(value)
    within = (*above, id(value))
    if isinstance(value, list | tuple | set | frozenset):
        parts = [_told(part, within) for part in value]
        opening, closing = "[]" if isinstance(value, list) else "()" if isinstance(value, tuple) else "{}"
        return opening + ", ".join(sorted(parts) if opening == "{" else parts) + closing
    if isinstance(value, dict):
        pairs = (f"{_told(key, within)}: {_told(part, within)}" for key, part in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{_as_written(value)}"
    if isinstance(value, Fraction):
        return f"{_told(value.numerator)}/{_told(value.denominator)}"
    return unless_it_fails(lambda: repr(value) if above else str(value), UNTOLD)


def _in_utc(moment: dt.datetime) -> dt.datetime:
    """A moment in UTC; as it is, if it lies in the first or last hours of all that Python knows.

    A foreign zone that does not know its distance to UTC is left out.
    """
    try:
        return moment.astimezone(dt.UTC)
    except OverflowError:
        return moment
    except KeyboardInterrupt:
        raise
    except BaseException:
        return moment.replace(tzinfo=None)


def _short(text: str) -> str:
    """A number or a time without the zeros at the end of its fraction."""
    return _TRAILING.sub(lambda found: found[1] if len(found[1]) > 1 else "", text)
