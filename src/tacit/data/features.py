"""From a frame and a public description to sets of binary features. Private in, private out.

Rules for odd values, in the order of this module; ``strict`` turns the first one met into an error:

==============================  ==========================================
a label outside the classes     the row is dropped
no person where one is needed   the row is dropped
a category that is not declared becomes "other"
a number outside its bounds     goes to the nearest bin
not a number, infinite or NaN   becomes "missing" (±∞ goes to the end bins)
missing text                    has no words
a date that no calendar knows   is missing
==============================  ==========================================
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.data.columns import (
    BLANKS,
    CategoryColumn,
    Column,
    NumberColumn,
    StyledTextColumn,
    TextColumn,
    Value,
    names_read,
    spellings,
    word_table,
)
from tacit.data.errors import SchemaError
from tacit.data.faults import Where
from tacit.data.hashing import Longs
from tacit.data.rows import Ids, Rows, offsets_of
from tacit.data.schema import Schema
from tacit.data.style import read_style
from tacit.data.text import token_hashes

NUMBER_PATTERN = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""What counts as a number when it comes as text. Readers differ on the rest (hexadecimal, suffixes, names)."""

_INFINITE = {"inf": np.inf, "+inf": np.inf, "-inf": -np.inf}
_BOOLEANS = {"true": 1.0, "false": 0.0}
CALENDAR = 8_200_000_000_000
"""Seconds before and after 1970 that have a date, some 260,000 years: moments further away count as missing."""

_STEPS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
LONG = [kind for kind in (pl.Int128, getattr(pl, "UInt128", None)) if kind is not None]
"""Types of whole numbers that numpy does not have."""


def encode(frame: pl.DataFrame, schema: Schema, strict: Where | None, labels: Longs | None = None) -> Rows:
    """Turn a frame with the declared columns into rows of features; rows without a valid label or person are dropped.

    ``labels`` are positions in the classes, −1 for an odd one, where labels do not come from a column.
    """
    codes = label_codes(frame[schema.label], schema, strict) if labels is None and schema.label else labels
    if codes is None:
        raise SchemaError("There are no labels: name their column in the schema's [label], or pass them as y.")
    valid = codes >= 0
    persons = None
    if schema.unit.column is not None:
        persons = plain_text(frame[schema.unit.column], schema.missing)
        absent = persons.is_null().to_numpy()
        if strict is not None:
            strict.refuse(absent, "no person is named", schema.unit.column, "Fill in who the row belongs to.")
        valid &= ~absent
    if not valid.all():
        chosen = np.flatnonzero(valid)
        if strict is not None:  # rows that are left out may have other faults
            _encode_columns(frame, schema, strict)
            strict = None
        frame, codes = frame[chosen], codes[chosen]
        persons = None if persons is None else persons.gather(chosen)
    indptr, indices = _side_by_side(_encode_columns(frame, schema, strict))
    return Rows(indptr, indices, codes, persons)


Part = tuple[Longs, Ids]  # how many features each row has, and the features, row by row


def _series(frame: pl.DataFrame, column: Column) -> pl.Series:
    """The values of a column; of several columns of text, row by row, one text."""
    names = names_read(column)
    if len(names) == 1:
        return frame[column.name]
    texts = frame.select(as_text(frame[name], name) for name in names)
    return texts.select(pl.concat_str(pl.all(), separator=" ", ignore_nulls=True)).to_series().alias(column.name)


def _encode_columns(frame: pl.DataFrame, schema: Schema, strict: Where | None) -> list[Part]:
    return [
        _encode_column(_series(frame, column), column, offset, schema.missing, strict)
        for column, offset in zip(schema.columns, schema.offsets.values(), strict=True)
    ]


def _encode_column(
    series: pl.Series, column: Column, offset: int, missing: tuple[str, ...], strict: Where | None
) -> Part:
    if isinstance(column, TextColumn):
        return _encode_text(series, column, offset)
    if isinstance(column, StyledTextColumn):
        return _encode_styled(series, column, offset)
    if isinstance(column, CategoryColumn):
        local = _categories(series, column, missing, strict)
    elif isinstance(column, NumberColumn):
        local = _bins(series, column, missing, strict)
    else:
        raise SchemaError(
            f"Column {column.name!r} is of kind 'sparse', which fits matrices and libsvm files, not tables. "
            "Declare the columns of the table instead.",
            column=column.name,
        )
    return np.ones(len(local), dtype=np.int64), (local + offset).astype(np.int32)


def _side_by_side(parts: list[Part]) -> Part:
    """Join the columns' features row by row. Columns have ascending feature numbers, so rows stay sorted."""
    if len(parts) == 1:
        return offsets_of(parts[0][0]), parts[0][1]
    lengths = np.sum([counts for counts, _ in parts], axis=0)
    indptr = offsets_of(lengths)
    indices = np.empty(indptr[-1], dtype=np.int32)
    filled = indptr[:-1].copy()
    for counts, ids in parts:
        starts = offsets_of(counts)
        indices[np.arange(len(ids)) + np.repeat(filled - starts[:-1], counts)] = ids
        filled += counts
    return indptr, indices


def _encode_text(series: pl.Series, column: TextColumn, offset: int) -> Part:
    """The distinct buckets (or listed words) of each row, ascending."""
    hashes, starts = token_hashes(as_text(series, column.name))
    n = len(series)
    counts = np.diff(starts)
    bits = column.bits if column.bits is not None else max(1, (column.width - 1).bit_length())
    # Sorting (row, bucket) pairs as single integers; 32 bits sort in half the time.
    kind = np.dtype(np.uint32 if n << bits <= 1 << 32 else np.uint64)
    edges = (np.arange(n, dtype=np.uint64) << np.uint64(bits)).astype(kind)
    if column.bits is not None:
        keys = hashes.astype(kind)
        keys &= kind.type((1 << bits) - 1)
        keys |= np.repeat(edges, counts)
    else:
        known, numbers = word_table(column)
        places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        found = known[places] == hashes
        keys = np.repeat(edges, counts)[found] | numbers[places[found]].astype(kind)
    keys.sort()
    keys = keys[_firsts(keys)]
    begins = np.append(np.searchsorted(keys, edges), len(keys))
    ids: Ids = np.bitwise_and(keys, kind.type((1 << bits) - 1)).astype(np.int32)
    ids += np.int32(offset)
    return np.diff(begins), ids


def _encode_styled(series: pl.Series, column: StyledTextColumn, offset: int) -> Part:
    """The distinct buckets of each row, each in the part of the row where it stands first, ascending; and its style."""
    hashes, starts, style = read_style(as_text(series, column.name), column.letters)
    n, counts = len(series), np.diff(starts)
    last = column.borders[-1] if column.borders else 0
    part_of = np.searchsorted(np.array(column.borders), np.arange(last + 1), side="right")
    part_bits = len(column.borders).bit_length()
    shift = column.bits + part_bits
    kind = np.dtype(np.uint32 if n << shift <= 1 << 32 else np.uint64)
    places = np.arange(len(hashes))
    places -= np.repeat(starts[:-1], counts)
    edges = (np.arange(n, dtype=np.uint64) << np.uint64(shift)).astype(kind)
    keys = hashes.astype(kind)
    keys &= kind.type((1 << column.bits) - 1)
    keys <<= kind.type(part_bits)
    keys |= part_of.astype(kind)[np.minimum(places, last)]
    keys |= np.repeat(edges, counts)
    keys.sort()
    keys = keys[_firsts(keys >> kind.type(part_bits))]
    begins = np.append(np.searchsorted(keys, edges), len(keys))
    keys &= kind.type((1 << shift) - 1)
    ids = (keys >> kind.type(part_bits)).astype(np.int32)
    ids *= np.int32(column.parts)
    ids += (keys & kind.type((1 << part_bits) - 1)).astype(np.int32)
    ids += np.int32(offset)
    bins = np.searchsorted(np.array(column.edges[1:-1]), style, side="right")
    bins += offset + column.cells + np.arange(style.shape[1]) * len(column.edges)
    marks = style.shape[1]
    return np.diff(begins) + marks, np.insert(ids, np.repeat(begins[1:], marks), bins.ravel())


def _firsts(keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of sorted keys differ from the one before."""
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first


def _categories(series: pl.Series, column: CategoryColumn, missing: tuple[str, ...], strict: Where | None) -> Longs:
    codes, absent = match_values(series, column.values, missing)
    if strict is not None:
        remedy = "Add the value to the schema, or correct it; without strict it counts as 'other'."
        strict.refuse((codes < 0) & ~absent, "the value is not among the declared ones", column.name, remedy)
    codes[codes < 0] = len(column.values)
    codes[absent] = len(column.values) + 1
    return codes


def _bins(series: pl.Series, column: NumberColumn, missing: tuple[str, ...], strict: Where | None) -> Longs:
    numbers, absent = as_numbers(series, missing, column.decimal)
    numbers[absent] = np.nan
    unreadable = np.isnan(numbers)
    low, high = column.edges[0], column.edges[-1]
    if strict is not None:
        remedy = "Correct it, or widen the bounds in the schema; without strict it goes to the nearest bin."
        strict.refuse((numbers < low) | (numbers > high), "the number is outside its bounds", column.name, remedy)
        remedy = "Correct it, list its text under 'missing', or declare decimal = ',' for numbers such as 3,14; "
        remedy += "without strict it counts as missing."
        strict.refuse(unreadable & ~absent, "the value is not a number", column.name, remedy)
    bins = np.searchsorted(np.array(column.edges[1:-1]), numbers, side="right").astype(np.int64)
    bins[unreadable] = len(column.edges) - 1
    return bins


def label_codes(series: pl.Series, schema: Schema, strict: Where | None, name: str | None = None) -> Longs:
    """Positions of labels in the declared classes; −1 for anything else."""
    codes, _ = match_values(series, schema.classes, schema.missing)
    if strict is not None:
        remedy = "Correct it, or declare it in classes; without strict the row is dropped."
        strict.refuse(codes < 0, "the label is not among the classes", name or schema.label or "y", remedy)
    return codes


def match_values(
    series: pl.Series, values: tuple[Value, ...], missing: tuple[str, ...]
) -> tuple[Longs, NDArray[np.bool_]]:
    """Positions of entries in a list of declared values (−1: not there), and which entries are missing."""
    if all(isinstance(value, str) for value in values):
        text = plain_text(series, ())
        codes = (
            text.replace_strict(spellings(values), default=-1, return_dtype=pl.Int64)
            .fill_null(-1)
            .to_numpy(writable=True)
        )
        # A declared value stays itself even where the same text stands for "missing" elsewhere.
        absent = (text.is_null() | text.is_in(list(missing))).to_numpy() & (codes < 0)
        return codes, absent
    if series.dtype.is_integer() and not series.null_count() and series.dtype not in LONG:
        numbers, absent = series.to_numpy(), _written_as(series, missing)
        if values == tuple(range(len(values))) and ((numbers >= 0) & (numbers < len(values))).all():
            return numbers.astype(np.int64), np.zeros_like(absent)  # labels that are their own positions
    else:
        numbers, absent = as_numbers(series, missing)
    codes = np.full(len(series), -1, dtype=np.int64)
    for code, value in enumerate(values):
        codes += (numbers == value) * np.int64(code + 1)
    return codes, absent & (codes < 0)


def plain_text(series: pl.Series, missing: tuple[str, ...]) -> pl.Series:
    """Values as text without outer white space; integral numbers without a decimal point; null where missing."""
    text = as_text(series, series.name).str.strip_chars(BLANKS)
    if missing:
        text = text.set(text.is_in(list(missing)), None)
    return text


def as_text(series: pl.Series, name: str) -> pl.Series:
    """Values as text, the same whatever type the file gave them."""
    kind = series.dtype
    if kind == pl.String:
        return series
    if kind.is_integer() or kind == pl.Null or isinstance(kind, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    if kind == pl.Boolean:
        return series.replace_strict({True: "true", False: "false"}, default=None, return_dtype=pl.String)
    if kind.is_float():
        series = series.cast(pl.Float64)
        whole = series.is_finite() & (series == series.floor()) & (series.abs() < 2.0**63)
        integral = series.set(~whole.fill_null(False), None).cast(pl.Int64).cast(pl.String)
        return integral.zip_with(whole.fill_null(False), series.fill_nan(None).cast(pl.String))
    if kind == pl.Date:
        return _in_calendar(series).cast(pl.String)
    if kind.is_decimal() or kind == pl.Time or isinstance(kind, pl.Datetime | pl.Duration):
        return _exactly(series)
    if kind == pl.Binary:
        return repair_utf8(series, None, name)
    raise SchemaError(
        f"Column {name!r} is of type {kind}, which is neither text, number, truth value nor date. "
        "Turn it into one of them first.",
        column=name,
    )


def check_kinds(frame: pl.DataFrame) -> None:
    """Refuse a column of a type that has no text. Types are public, so that this says nothing of the rows."""
    for series in frame.clear():
        as_text(series, series.name)


def _exactly(series: pl.Series) -> pl.Series:
    """Decimals and times as text that does not depend on the precision of their column; moments in UTC."""
    kind = series.dtype
    if isinstance(kind, pl.Duration):
        return _in_milliseconds(series.to_physical().cast(pl.String), len(str(_STEPS[kind.time_unit])) - 4)
    zoned = isinstance(kind, pl.Datetime) and kind.time_zone is not None
    if zoned:
        series = series.dt.convert_time_zone("UTC")
    if isinstance(kind, pl.Datetime):
        text = _in_calendar(series).dt.to_string("%Y-%m-%d %H:%M:%S%.9f")
    else:
        text = series.dt.to_string("%H:%M:%S%.9f") if kind == pl.Time else series.cast(pl.String)
    text = text.str.replace(r"(\.[0-9]*?)0+$", "$1").str.strip_suffix(".")
    return text + "+00:00" if zoned else text


def _in_milliseconds(steps: pl.Series, places: int) -> pl.Series:
    """Durations in milliseconds, exactly, from whole steps of which each is that many decimal places smaller."""
    sign = steps.str.extract("^(-?)")
    digits = steps.str.strip_prefix("-").str.zfill(places + 1)
    text = digits.str.slice(0, digits.str.len_chars() - places) + "." + digits.str.tail(places)
    return sign + text.str.strip_chars_end("0").str.strip_suffix(".") + " ms"


def _in_calendar(series: pl.Series) -> pl.Series:
    """Dates and moments without those that no calendar knows, such as "infinity" of a database: writing one panics."""
    unit = series.dtype.time_unit if isinstance(series.dtype, pl.Datetime) else None
    furthest = CALENDAR // 86_400 if unit is None else min(CALENDAR * _STEPS[unit], 2**63 - 1)
    steps = series.to_physical()
    far = ((steps > furthest) | (steps < -furthest)).fill_null(False)
    return steps.set(far, None).cast(series.dtype) if far.any() else series


def as_numbers(
    series: pl.Series, missing: tuple[str, ...], decimal: str = "."
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values as 64-bit floats (NaN: no number), and which of them are missing by declaration.

    With a decimal comma, "3.14" is a number as well: among texts, numbers are written so.
    """
    kind = series.dtype
    if kind.is_numeric() or kind == pl.Boolean or kind == pl.Null:
        numbers = series.cast(pl.Float64).fill_null(np.nan).to_numpy(writable=True)
        return numbers, np.isnan(numbers) | _written_as(series, missing)
    text = plain_text(series, ())
    absent = (text.is_null() | text.is_in(list(missing))).to_numpy()
    text = text if decimal == "." else text.str.replace(decimal, ".", literal=True)
    looks = text.str.contains(NUMBER_PATTERN).fill_null(False)
    numbers = text.set(~looks, None).cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    words = text.str.to_lowercase().replace_strict(_INFINITE | _BOOLEANS, default=np.nan, return_dtype=pl.Float64)
    return np.where(looks.to_numpy(), numbers, words.fill_null(np.nan).to_numpy()), absent


def _written_as(series: pl.Series, texts: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which numbers are written as one of some texts: in a column of texts, they would be such a text."""
    if not any(re.match(NUMBER_PATTERN, text) or text in _INFINITE or text in _BOOLEANS for text in texts):
        return np.zeros(len(series), dtype=np.bool_)
    return as_text(series, series.name).is_in(list(texts)).fill_null(False).to_numpy()


def written_numbers(texts: Sequence[str]) -> list[float]:
    """The numbers that are written as one of some texts, for engines that write numbers otherwise."""
    found = [float(text) for text in texts if re.match(NUMBER_PATTERN, text) or text in _INFINITE]
    written = as_text(pl.Series(found, dtype=pl.Float64), "")
    return [number for number, text in zip(found, written, strict=True) if text in texts]


def repair_utf8(series: pl.Series, strict: Where | None, name: str) -> pl.Series:
    """Bytes as text; what is not UTF-8 becomes U+FFFD, which no word contains."""
    try:
        return series.cast(pl.String)
    except pl.exceptions.PolarsError:
        values = series.to_list()  # only a batch with broken bytes comes here, so it may be slow
    if strict is not None:
        remedy = "Save the file as UTF-8; without strict the broken bytes separate words."
        strict.refuse(np.array([_is_broken(value) for value in values]), "the text is not valid UTF-8", name, remedy)
    repaired = [None if value is None else value.decode("utf-8", "replace") for value in values]
    return pl.Series(series.name, repaired, dtype=pl.String)


def _is_broken(value: bytes | None) -> bool:
    try:
        (value or b"").decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False
