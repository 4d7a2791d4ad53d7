"""Coins: a keyed hash of each row's own content and of its number among its copies, or of its person's id.

Coins, in the notation of :mod:`tacit.data.bounding`: X(seed, 4, k, y, c) for a row of a source, X(seed, 5, P) for a
person, X(seed, 6, K, Y, c) for a row of data in memory, where K is made of the row's values and Y = ``xxhash64`` of its
label as text (in a workflow, the label's position). c is how many copies of the row stand before it: of equal rows it
does not matter which is which, so that one row more is one coin more, and moves no other row.

Rows count as copies where two keys of theirs agree, each of 64 bits. The second must tell apart whatever is read apart:
if two different rows were taken for copies, one row more would move others. Both are keyed, and the second hashes texts
by keyed BLAKE2b, so that nobody can make up such rows, as would be possible with the first alone.
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
from tacit.data.features import as_numbers, as_text, plain_text
from tacit.data.hashing import Longs, chain, chain_last, hash_strings, spread
from tacit.data.rows import Rows
from tacit.data.series import as_series
from tacit.data.sparse import native

_VALUE, _CELL, _NULL, _SECOND = 7, 8, 9, 10  # further uses of the seed, for values that are no features
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


def content_keys(X: Any, y: Longs | pl.Series, seed: int) -> tuple[Longs, Longs]:
    """The two keys of each row of data in memory, its label included, which is a number or any value."""
    second = _second(seed)
    strong = _strong_hashes(second)
    one, other = (hash_strings(_text(y)), _cell_keys(y, second, strong)) if isinstance(y, pl.Series) else (y, y)
    return chain(seed, RAW_COIN, raw_keys(X, seed), one), chain(second, _exact_keys(X, second), other)


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
        return _matrix_keys(matrix, seed)
    return _mixed_keys(X, seed) if isinstance(X, np.ndarray) and X.ndim == 2 else _cell_keys(X, seed, hash_strings)


def _exact_keys(X: Any, seed: int) -> Longs:
    """A key that tells apart whatever is read apart, such as the texts "7" and "07" of an array: to the first, one."""
    matrix = _numbers(X)
    return _cell_keys(X, seed, _strong_hashes(seed)) if matrix is None else _matrix_keys(matrix, seed, exact=True)


def _numbers(X: Any) -> Any:
    """A matrix of numbers with its entries as they are stored; None for anything else."""
    dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"
    return sp.csr_array(native(X)) if dense or sp.issparse(X) else None


def _cell_keys(X: Any, seed: int, hashes: TextHash) -> Longs:
    """XOR over the columns of a hash of the cell as text; NaN is a gap there, as None is."""
    keys = np.zeros(X.shape[0] if hasattr(X, "shape") else len(X), dtype=np.int64)
    for place, series in enumerate(_columns(X)):
        text = as_text(series, series.name)
        values = chain(seed, _CELL, place, hashes(text.fill_null("")))
        keys ^= np.where(text.is_null().to_numpy(), chain(seed, _NULL, place), values)
    return keys


def _mixed_keys(X: NDArray[Any], seed: int) -> Longs:
    """Keys of an array that is no matrix of numbers because of some cells: the others count as they would in one.

    A gap counts as NaN does, and so does any other cell that is no number, whose text is added.
    """
    columns = _columns(X)
    numbers = np.column_stack([np.empty((len(X), 0)), *(as_numbers(column, ())[0] for column in columns)])
    keys = _matrix_keys(sp.csr_array(numbers), seed)
    for place, column in enumerate(columns):
        text = plain_text(column, ())
        words = np.isnan(numbers[:, place]) & (text.str.to_lowercase() != "nan").fill_null(False).to_numpy()
        keys ^= np.where(words, chain(seed, _CELL, place, hash_strings(_text(column))), 0)
    return keys


def _matrix_keys(csr: Any, seed: int, *, exact: bool = False) -> Longs:
    """Sum over the stored entries that are not 0, each a hash of its column and value: two for one cell never cancel.

    Whole numbers count as floats, as they are in a matrix with a gap; ``exact`` tells apart those of 54 bits and more.
    """
    columns, values = csr.indices.astype(np.int64), csr.data.astype(np.float64)
    values[np.isnan(values)] = np.nan  # one pattern of bits for all of them
    bits = csr.data.astype(np.int64) if exact and csr.data.dtype.kind in "iu" else values.view(np.int64)
    hashes = chain(seed, KEY, columns) if len(columns) else np.empty(0, dtype=np.int64)
    other = values != 1
    if other.any():
        hashes[other] = chain(seed, _VALUE, columns[other], bits[other])
        hashes[values == 0] = 0
    keys = np.zeros(csr.shape[0], dtype=np.int64)
    filled = np.flatnonzero(np.diff(csr.indptr))
    if len(filled):
        keys[filled] = np.add.reduceat(hashes, csr.indptr[filled])
    return keys


def _columns(X: Any) -> list[pl.Series]:
    if isinstance(X, pl.DataFrame):
        return X.get_columns()
    if isinstance(X, pa.Table | pa.RecordBatch):
        return [as_series(name, column) for name, column in zip(X.schema.names, X.columns, strict=True)]
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        return [as_series(str(name), X[name]) for name in X.columns]
    if getattr(X, "ndim", 1) == 2:
        return [as_series(str(place), X[:, place]) for place in range(X.shape[1])]
    return [as_series("", X)]
