"""Whatever one-dimensional thing a user has, as a column. Private in, private out.

What becomes of a value depends on that value alone: if a text among numbers, or a gap among whole numbers, changed how
the others are read, one row more could change the persons, the labels and the coins of all rows.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
from numpy.typing import NDArray

from tacit.data.columns import EXACT
from tacit.data.features import as_text
from tacit.data.text import valid_text
from tacit.errors import ParameterError

MOST_BITS = 1024
"""Whole numbers of more bits are written in hexadecimal: Python refuses to write them out."""

_LARGEST = Fraction(sys.float_info.max)
_TRAILING = re.compile(r"(\.[0-9]*?)0+(?=$|[+-])")  # zeros at the end of a fraction, before the zone if there is one


def as_series(name: str, values: Any) -> pl.Series:
    """A column from whatever one-dimensional thing a user has."""
    if isinstance(values, pl.Series):
        return values.rename(name)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return pl.Series(name, pl.from_arrow(values))
    if isinstance(values, list | tuple):
        return _object_series(name, list(values))  # numpy would pad all texts to the longest
    kind = getattr(values, "dtype", None)
    if hasattr(values, "array") and not isinstance(kind, np.dtype):  # a column of a type of pandas' own
        if getattr(kind, "kind", "O") in "iufb" and hasattr(values.array, "__arrow_array__"):
            return pl.Series(name, pl.from_arrow(pa.array(values.array)))
        return _object_series(name, values.to_numpy(dtype=object).tolist())
    array = np.asarray(values) if not hasattr(values, "to_numpy") else values.to_numpy()
    if array.ndim != 1:
        got = f"{array.ndim} dimensions" if array.ndim else type(values).__name__
        raise ParameterError(f"{name!r} must be one-dimensional: a list, an array or one column of a frame. Got {got}.")
    if isinstance(values, np.ma.MaskedArray):  # what is masked is missing
        mask = np.ma.getmaskarray(values)
        return _object_series(name, [None if gap else value for gap, value in zip(mask, array, strict=True)])
    if array.dtype.kind == "c":  # one such number makes all others of a column complex
        return _object_series(name, [number if number.imag else number.real for number in array.tolist()])
    if array.dtype.kind in "OUT":
        return _object_series(name, array.tolist())
    return pl.Series(name, _in_known_steps(array))


def _in_known_steps(array: NDArray[Any]) -> NDArray[Any]:
    """Times in steps that Polars knows, such as milliseconds in place of seconds."""
    if array.dtype.kind in "mM" and np.datetime_data(array.dtype)[0] not in ("D", "ms", "us", "ns"):
        return array.astype(f"{array.dtype.kind}8[ms]")
    return array


def _object_series(name: str, values: list[Any]) -> pl.Series:
    """Python objects: texts, or numbers with None or NaN among them, or anything."""
    if set(map(type, values)) <= {str, type(None)}:
        return valid_text(values).rename(name)
    plain = [None if _is_missing(value) else _plain(value) for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if kinds == {bool} or kinds == {float}:
        return pl.Series(name, plain, dtype=pl.Boolean if kinds == {bool} else pl.Float64)
    if kinds and kinds <= {int, float} and all(abs(value) < EXACT for value in plain if type(value) is int):
        return pl.Series(name, plain, dtype=pl.Int64 if kinds == {int} else pl.Float64, strict=False)
    return valid_text(_written(plain)).rename(name)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # pandas.NA and the like are neither equal nor unequal
        return True


def _plain(value: Any) -> Any:
    """Python's own number or text in place of numpy's; dates stay, since Python's are coarser."""
    if isinstance(value, Fraction):
        return float(value) if abs(value) <= _LARGEST else math.inf if value > 0 else -math.inf
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value


def _written(values: list[Any]) -> list[str | None]:
    """Each value as the text that it has in a column of its kind."""
    floats = [place for place, value in enumerate(values) if type(value) is float]
    texts = [None if value is None else _as_written(value) for value in values]
    column = as_text(pl.Series([values[place] for place in floats], dtype=pl.Float64), "")
    for place, text in zip(floats, column, strict=True):
        texts[place] = text
    return texts


def _as_written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value}" if value.bit_length() < MOST_BITS else f"{value:#x}"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Decimal):
        return _short(f"{value:f}")
    if isinstance(value, dt.datetime):
        moment = value if value.tzinfo is None else _in_utc(value)
        finest = "nanoseconds" if hasattr(value, "nanosecond") else "microseconds"
        return _short(moment.isoformat(sep=" ", timespec=finest))
    if isinstance(value, dt.time):
        return _short(value.isoformat(timespec="microseconds"))
    if isinstance(value, np.datetime64):
        return str(as_text(pl.Series(_in_known_steps(np.array([value]))), "")[0])
    if isinstance(value, dt.timedelta):
        milliseconds = abs(value) // dt.timedelta(milliseconds=1)
        return f"{'-' if value < dt.timedelta(0) and milliseconds else ''}{milliseconds} ms"
    return str(value)


def _in_utc(moment: dt.datetime) -> dt.datetime:
    """A moment in UTC; as it is, if it lies in the first or last hours of all that Python knows."""
    try:
        return moment.astimezone(dt.UTC)
    except OverflowError:
        return moment


def _short(text: str) -> str:
    """A number or a time without the zeros at the end of its fraction."""
    return _TRAILING.sub(lambda found: found[1] if len(found[1]) > 1 else "", text)
