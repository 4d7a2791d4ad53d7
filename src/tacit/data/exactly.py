"""What tells two values apart to the last bit. Private in, private out.

Rows are copies of each other if nobody who gets them can tell which is which: for rows that are handed on as they came,
equal text is not enough. A word stands for a value and for its kind. Values of equal words cannot be told apart, and
what word a value has depends on that value alone, within all the types that one column may have because of other rows:

- an array of objects would have been one of numbers without the one text in it. So a whole number, and the float that
  is that number, have one word there, and so have a gap and the usual NaN, which such an array would have made of it.
- a list hands on each object as it is: its words tell types apart.

What nothing can be told of, such as a value that raises whatever it is asked, is a mark, and all of these are the same.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]

from tacit.data.features import as_text
from tacit.data.series import DEEPEST, UNTOLD, arrow_of, as_series, from_arrow, is_of_pandas, listed
from tacit.errors import unless_it_fails

_GAP = "-"
_TEXT = "="  # in front of a text
_WIDTHS = {1, 2, 4, 8}
_NAN = struct.pack(">d", float("nan"))
_OBJECTS = {"O", "U", "S", "T", "V", "c"}


def exact_words(values: Any) -> pl.Series:
    """A word for each value of a one-dimensional thing."""
    values = listed(values)
    if isinstance(values, list | tuple):
        return _of_objects(list(values), typed=True)
    if isinstance(values, pl.Series):
        return _of_polars(values)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _of_arrow(values)
    if is_of_pandas(values):
        values = getattr(values, "array", values)
        held = arrow_of(values)
        if held is not None and pa.types.is_nested(held.type):
            return _of_objects([from_arrow(value) for value in held])
        if held is not None:
            return _of_arrow(held)
        return _of_numpy(values.asi8) if hasattr(values, "asi8") else _of_objects(values.astype(object).tolist())
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asanyarray(values)
    if not isinstance(array, np.ma.MaskedArray):
        return _of_numpy(array)
    gaps = pl.Series(np.ma.getmaskarray(array)).cast(pl.String)
    return gaps + _of_numpy(np.asarray(array.data))  # what is masked is handed on, too


def _of_numpy(array: Any) -> pl.Series:
    if array.dtype.kind in _OBJECTS or array.dtype.itemsize not in _WIDTHS:
        return _of_objects(array.tolist())
    return pl.Series(np.ascontiguousarray(array).view(f"i{array.dtype.itemsize}")).cast(pl.String)


def _of_polars(series: pl.Series) -> pl.Series:
    kind = series.dtype
    if kind.is_float():
        words = _of_numpy(series.fill_null(0.0).to_numpy())
    elif kind.is_integer() or kind == pl.Boolean:
        words = series.cast(pl.String)
    elif kind.is_temporal():
        words = series.to_physical().cast(pl.String)
    else:
        words = series.bin.encode("hex") if kind == pl.Binary else as_text(series, series.name)
    return (_TEXT + words).set(series.is_null(), _GAP)


def _of_arrow(values: Any) -> pl.Series:
    """Texts that are not UTF-8 by their bytes: as texts they would be repaired, and so the same."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.cast(kind.value_type), kind.value_type
    if str(kind) in ("string", "large_string", "string_view"):
        try:
            values.validate(full=True)
        except pa.ArrowInvalid:
            values = values.cast(pa.large_binary())
    return _of_polars(as_series("", values))


def _of_objects(values: list[Any], *, typed: bool = False) -> pl.Series:
    kinds = set(map(type, values))
    if kinds == {float}:
        return _of_numpy(np.array(values))
    if kinds <= {str, type(None)}:
        try:
            return (_TEXT + pl.Series(values, dtype=pl.String)).fill_null(_GAP)
        except UnicodeEncodeError:  # of half a character, for which UTF-8 has no bytes
            pass
    return pl.Series([_word(value, typed=typed) for value in values], dtype=pl.String)


def _word(value: Any, *, typed: bool, above: tuple[int, ...] = ()) -> str:
    """The word of an object; a mark where none can be told, as by an error."""

    def told() -> str:
        word = _simple(value)
        kind = f"{type(value).__module__}.{type(value).__qualname__} " if typed or word is None else ""
        return kind + (_content(value, above) if word is None else word)

    return unless_it_fails(told, UNTOLD)


def _simple(value: Any) -> str | None:
    """The word of a gap, a text, a truth value or a number; None for anything else."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return _GAP
    if isinstance(value, str):
        odd = any("\ud800" <= letter <= "\udfff" for letter in value)
        return f"half {str.__str__(value)!a}" if odd else _TEXT + str.__str__(value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, np.timedelta64):  # numpy takes it for a whole number
        return None
    if isinstance(value, int | np.integer):
        return f"{int(value):#x}"
    return _float_word(value) if isinstance(value, float | np.floating) else None


def _float_word(value: Any) -> str:
    if value != value:
        bits = struct.pack(">d", value)
        return _GAP if bits == _NAN else f"nan {bits.hex()}"
    number = float(value)
    if number != value:  # of more than 64 bits
        return repr(value)
    positive = math.copysign(1.0, number) > 0
    return f"{int(number):#x}" if number.is_integer() and (number or positive) else number.hex()


def _content(value: Any, above: tuple[int, ...]) -> str:
    """What is in any other object, part by part."""
    if len(above) > DEEPEST or id(value) in above:
        return UNTOLD
    within = (*above, id(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, complex):
        return struct.pack(">dd", value.real, value.imag).hex()
    if hasattr(value, "asm8"):  # a moment or a duration of pandas'
        return f"{_content(value.asm8, within)} {getattr(value, 'tzinfo', None)}"
    if isinstance(value, np.datetime64 | np.timedelta64):
        return f"{value.dtype} {value.view(np.int64)}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {_content(value.tolist(), within)}"
    if isinstance(value, dict):
        return _content([part for pair in value.items() for part in pair], within)
    if isinstance(value, list | tuple | set | frozenset):
        words = [_word(part, typed=True, above=within) for part in value]
        if isinstance(value, set | frozenset):
            words.sort()
        return "".join(f"{len(word)}:{word}" for word in words)
    return f"{value!a} {str(value)!a}"
