"""Coins: a keyed hash of each row's own content and of its number among its copies, or of its person's id.

Coins, in the notation of :mod:`tacit.data.bounding`: X(seed, 4, k, y, c) for a row of a source, X(seed, 5, P) for a
person, X(seed, 6, K, Y, c) for a row of data in memory, where K is made of the row's values and Y = ``xxhash64`` of its
label as text (in a workflow, the label's position). c is how many copies of the row stand before it: of equal rows it
does not matter which is which, so that one row more is one coin more, and moves no other row.

Rows count as copies where two keys of theirs agree, each of 64 bits. The second must tell apart whatever is read apart:
if two different rows were taken for copies, one row more would move others. So it is made of what is handed on: of a
frame that a schema describes, the cells as they are read; of all else, every bit (:mod:`tacit.data.exactly`). Both are
keyed, and the second hashes texts by keyed BLAKE2b, so that nobody can make up such rows, as would be possible with the
first alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data.bounding import KEY, PERSON_COIN, RAW_COIN, ROW_COIN, FeatureHasher, row_keys
from tacit.data.exactly import exact_words
from tacit.data.features import as_numbers, as_text, plain_text
from tacit.data.hashing import Longs, chain, chain_last, hash_strings, spread
from tacit.data.rows import Rows
from tacit.data.series import as_series
from tacit.data.sparse import native

_VALUE, _CELL, _NULL, _SECOND, _PLACE = 7, 8, 9, 10, 11  # further uses of the seed, for values that are no features
TextHash = Callable[[pl.Series], Longs]


def person_coins(people: pl.Series, seed: int) -> Longs:
    """The coins of persons."""
    return chain(seed, PERSON_COIN, hash_strings(people))


def numbered(first: Longs, second: Longs) -> Longs:
    """Coins from two keys of each row: that of the first key, and of how many rows with the same two stand before."""
    return chain_last(first, spread(copy_numbers(first, second)))


def copy_numbers(first: Longs, second: Longs) -> Longs:
    """How many rows with the same two keys stand before each row.

    Examples
    --------
    >>> copy_numbers(np.array([5, 3, 5, 5]), np.array([1, 1, 1, 2]))
    array([0, 0, 1, 0])
    """
    order = np.lexsort((second, first))
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    starts = np.flatnonzero(new)
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return numbers


def source_coins(rows: Rows, hasher: FeatureHasher) -> Longs:
    """The coin of each row's person, if it has one, or else its first key: all of its coin but the number."""
    if rows.persons is not None:
        return person_coins(rows.persons, hasher.seed)
    return chain(hasher.seed, ROW_COIN, row_keys(rows, hasher), rows.labels)


def source_keys(rows: Rows, hasher: FeatureHasher) -> tuple[Longs, Longs]:
    """The two keys of each row of a source, its label included."""
    other = FeatureHasher(_second(hasher.seed))
    return source_coins(rows, hasher), chain(other.seed, row_keys(rows, other), rows.labels)


@np.errstate(all="ignore")  # a warning would tell of a row
def content_keys(X: Any, y: Longs, seed: int) -> tuple[Longs, Longs]:
    """The two keys of each row of a table, with the position of its label: a frame counts as it is read."""
    second = _second(seed)
    matrix = _numbers(X)
    other = _cell_keys(X, second, _strong_hashes(second)) if matrix is None else _bit_keys(matrix, second)
    return chain(seed, RAW_COIN, raw_keys(X, seed), y), chain(second, other, y)


@np.errstate(all="ignore")
def given_keys(X: Any, y: Any, seed: int) -> tuple[Longs, Longs]:
    """The two keys of each row of data in memory that are handed on as they came, its label included, if any."""
    second = _second(seed)
    first, matrix = raw_keys(X, seed), _numbers(X)
    longer = isinstance(matrix, np.ndarray) and matrix.dtype == np.longdouble  # than any whole number of numpy's
    other = _word_keys(X, second) if matrix is None or longer else _bit_keys(matrix, second)
    if y is None:
        none = np.zeros(len(first), dtype=np.int64)
        return chain(seed, RAW_COIN, first, none), chain(second, other, none)
    label = hash_strings(_text(as_series("y", y)))
    return chain(seed, RAW_COIN, first, label), chain(second, other, _word_keys(y, second))


def _second(seed: int) -> int:
    return int(chain(seed, _SECOND)[0])


def _text(series: pl.Series) -> pl.Series:
    return as_text(series, series.name).fill_null("")


def _strong_hashes(seed: int) -> TextHash:
    """64 bits of keyed BLAKE2b of each text."""
    key = seed.to_bytes(8, "little", signed=True)

    def hashes(texts: pl.Series) -> Longs:
        unique = texts.unique()
        digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8, key=key).digest() for text in unique)
        table = pl.DataFrame({"text": unique, "hash": np.frombuffer(digests, dtype="<i8")})
        found = texts.rename("text").to_frame().join(table, on="text", how="left", maintain_order="left")
        return found["hash"].to_numpy()

    return hashes


def raw_keys(X: Any, seed: int) -> Longs:
    """A key of each row's values alone: what another row holds must not change it, not even by way of a type."""
    matrix = _numbers(X)
    if matrix is not None:
        matrix = sp.csr_array(native(matrix))
        return _matrix_keys(matrix, matrix.data, seed)
    return _mixed_keys(X, seed) if isinstance(X, np.ndarray) and X.ndim == 2 else _cell_keys(X, seed, hash_strings)


def _numbers(X: Any) -> Any:
    """A matrix of numbers; None for anything else."""
    dense = isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray) and X.ndim == 2
    return X if sp.issparse(X) or (dense and X.dtype.kind in "biuf") else None


def _bit_keys(X: Any, seed: int) -> Longs:
    """A key of every bit of a matrix: it tells −0.0 from 0, and whole numbers of any size."""
    if not sp.issparse(X):  # without the numbers that have no bit set
        bits = np.ascontiguousarray(X).view(f"i{X.dtype.itemsize}")
        csr = sp.csr_array(bits)
        return _matrix_keys(csr, csr.data.view(X.dtype), seed, bits=csr.data)
    csr = sp.csr_array(native(X))
    csr = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)  # scipy remembers what may have changed
    places = None
    if not csr.has_canonical_format:  # the sequence in which a row's entries are stored may be read
        places = np.arange(csr.nnz) - np.repeat(csr.indptr[:-1], np.diff(csr.indptr))
    bits = csr.data
    if bits.dtype.kind == "c":
        bits = chain(
            seed, _VALUE, *(np.ascontiguousarray(half, dtype="f8").view("i8") for half in (bits.real, bits.imag))
        )
    return _matrix_keys(csr, csr.data, seed, bits=bits.view(f"i{bits.dtype.itemsize}"), places=places)


def _word_keys(X: Any, seed: int) -> Longs:
    """XOR over the columns of a hash of the cell's exact word."""
    keys, hashes = np.zeros(_length(X), dtype=np.int64), _strong_hashes(seed)
    for place, (_, column) in enumerate(_columns(X)):
        keys ^= chain(seed, _CELL, place, hashes(exact_words(column)))
    return keys


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _cell_keys(X: Any, seed: int, hashes: TextHash) -> Longs:
    """XOR over the columns of a hash of the cell as text; NaN is a gap there, as None is."""
    keys = np.zeros(_length(X), dtype=np.int64)
    for place, series in enumerate(_read(X)):
        text = as_text(series, series.name)
        values = chain(seed, _CELL, place, hashes(text.fill_null("")))
        keys ^= np.where(text.is_null().to_numpy(), chain(seed, _NULL, place), values)
    return keys


def _mixed_keys(X: NDArray[Any], seed: int) -> Longs:
    """Keys of an array that is no matrix of numbers because of some cells: the others count as they would in one.

    A gap counts as NaN does, and so does any other cell that is no number, whose text is added.
    """
    columns = _read(X)
    numbers = np.column_stack([np.empty((len(X), 0)), *(as_numbers(column, ())[0] for column in columns)])
    matrix = sp.csr_array(numbers)
    keys = _matrix_keys(matrix, matrix.data, seed)
    for place, column in enumerate(columns):
        text = plain_text(column, ())
        words = np.isnan(numbers[:, place]) & (text.str.to_lowercase() != "nan").fill_null(False).to_numpy()
        keys ^= np.where(words, chain(seed, _CELL, place, hash_strings(_text(column))), 0)
    return keys


def _matrix_keys(csr: Any, numbers: Any, seed: int, *, bits: Any = None, places: Any = None) -> Longs:
    """Sum over the stored entries of a hash of column and value: two for one cell never cancel.

    Without their ``bits``, entries count as floats, as they do in a matrix with a gap, and those that are 0 not at all.
    ``places`` are those of the entries in their rows, where these count.
    """
    columns, values = csr.indices.astype(np.int64), numbers.real.astype(np.float64)
    values[np.isnan(values)] = np.nan  # one pattern of bits for all of them
    content = values.view(np.int64) if bits is None else bits.astype(np.int64)
    hashes = chain(seed, KEY, columns) if len(columns) else np.empty(0, dtype=np.int64)
    other = numbers != 1
    if other.any():
        hashes[other] = chain(seed, _VALUE, columns[other], content[other])
    if places is not None:
        hashes = chain(seed, _PLACE, places, hashes)
    if bits is None:
        hashes[values == 0] = 0
    keys = np.zeros(csr.shape[0], dtype=np.int64)
    filled = np.flatnonzero(np.diff(csr.indptr))
    if len(filled):
        keys[filled] = np.add.reduceat(hashes, csr.indptr[filled])
    return keys


def _read(X: Any) -> list[pl.Series]:
    return [as_series(name, column) for name, column in _columns(X)]


def _columns(X: Any) -> list[tuple[str, Any]]:
    if isinstance(X, pl.DataFrame):
        return [(column.name, column) for column in X.get_columns()]
    if isinstance(X, pa.Table | pa.RecordBatch):
        return list(zip(X.schema.names, X.columns, strict=True))
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        return [(str(name), X[name]) for name in X.columns]
    if getattr(X, "ndim", 1) == 2:
        return [(str(place), X[:, place]) for place in range(X.shape[1])]
    return [("", X)]
