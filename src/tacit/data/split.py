"""Splitting: an independent coin for each row, or each person. Private in, private out.

The coin is a keyed hash of the row's own content (or of the person's id), so a row that is added or removed changes one
part alone, and parallel composition holds. A permutation of n rows would not have this property. Copies of a row share
their coin, so that no row is trained on in one part and tested on in the other.

Coins, in the notation of :mod:`tacit.data.bounding`: X(seed, 4, k, y) for a row of a source, X(seed, 5, P) for a
person, X(seed, 6, K, Y) for a row of data in memory without a schema, where K is made of the row's values and
Y = ``xxhash64`` of its label as text. Where data in memory come with persons, a row without one has the coin 2^63 − 1.
A coin is in the test part if it is smaller than ⌊test_size · 2^64⌋ − 2^63, and in fold (coin mod 2^63) mod n_folds.
"""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Iterator, Mapping, Set
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import scipy.sparse as sp
import xxhash
from numpy.typing import NDArray

from tacit.data.bounding import KEY, PERSON_COIN, RAW_COIN, ROW_COIN, FeatureHasher, check_seed, row_keys
from tacit.data.features import as_numbers, as_text, plain_text
from tacit.data.hashing import Longs, chain, hash_strings
from tacit.data.rows import Rows
from tacit.data.schema import Schema
from tacit.data.series import as_series
from tacit.data.sources import Job, Source
from tacit.data.sparse import native
from tacit.errors import PrivacyError, bad_parameter
from tacit.ledger import Account
from tacit.privacy.unit import Unit

_VALUE, _CELL, _NULL = 7, 8, 9  # further uses of the seed, for values that are no features
_LARGEST = np.int64(2**63 - 1)  # the coin of rows that belong to nobody: never in a test part
COINS = 2
"""Which rules for coins these are: splits by other rules overlap, and must not share a name in a ledger."""

Mask = NDArray[np.bool_]


class Split(tuple[Any, ...]):
    """The parts, in scikit-learn's order, with an account for each part where one was given.

    Attributes
    ----------
    accounts : dict of Account, or None
        By the name of the part: charges on different parts compose in parallel.
    """

    accounts: dict[str, Account] | None = None


def split(
    X: Any,
    y: Any = None,
    test_size: float = 0.2,
    *,
    persons: Any = None,
    account: Account | None = None,
    random_state: int | None = None,
) -> Split:
    """Split data in memory into train and test by a coin for each row, or for each person.

    Copies of a row fall into the same part. Where most rows are copies the parts are no fair samples: pass ids of the
    rows as ``persons``, with an account that protects one row of each.

    Parameters
    ----------
    X : array, sparse matrix, data frame, Arrow table or list of texts
    y : array, optional
    test_size : float, default 0.2
        The chance of a row (a person) to be in the test part. How many there are is private, and not exactly this.
    persons : array, optional
        Who each row belongs to: all rows of a person go to the same part. Rows without a person (missing or blank) go
        to the training part, where a fit for persons drops them.
    account : Account, optional
        Registers the split; ``.accounts["train"]`` and ``.accounts["test"]`` then pay for the parts. Only the name ties
        an account to its part: whoever pays for training rows with the account of the test part releases them twice
        for the price of once.
    random_state : int, optional
        A 64-bit seed; default one of the account's own (the same split each time), or else a fresh one.

    Returns
    -------
    Split
        X_train, X_test, y_train, y_test; without y, X_train, X_test.

    Examples
    --------
    >>> X_train, X_test, y_train, y_test = split(["a", "b", "c", "d"], [0, 1, 0, 1], 0.5, random_state=1)
    >>> len(X_train) + len(X_test)
    4
    """
    limit = coin_limit(test_size)
    if account is not None and not isinstance(account, Account):
        raise bad_parameter("split", "account", "None or a tacit Account", type(account).__name__)
    if account is not None and account.unit.column is not None and persons is None:
        raise PrivacyError(
            f"The account protects '{account.unit}', so all rows of a person must go to the same part: pass persons=."
        )
    purpose = f"split|{Fraction(float(test_size))}|{'row' if persons is None else 'person'}"
    seed = _seed(account, purpose, random_state, "random_state")
    _check_in_memory(X=X, y=() if y is None else y, persons=() if persons is None else persons)
    coins = _raw_coins(X, y, persons, seed)
    test = coins < limit
    parts: list[Any] = [rows_of(X, ~test), rows_of(X, test)]
    if y is not None:
        parts += [rows_of(y, ~test), rows_of(y, test)]
    result = Split(parts)
    if account is not None:
        version = xxhash.xxh3_128_hexdigest(coins.tobytes())
        result.accounts = account.split(split_name(account, purpose, seed, version), ["train", "test"])
    return result


def split_source(
    source: Source, test_size: float = 0.2, *, account: Account | None = None, seed: int | None = None
) -> Split:
    """Split a source into train and test, without reading it: each part is a source of its own."""
    limit = coin_limit(test_size)
    purpose = split_rule("source", Fraction(float(test_size)), source.schema)
    key = _seed(account, purpose, seed)
    result = Split(
        [
            _part(source, key, lambda coins: coins >= limit, f"train {limit}"),
            _part(source, key, lambda coins: coins < limit, f"test {limit}"),
        ]
    )
    if account is not None:
        _check_unit(account, source.schema.unit)
        result.accounts = account.split(
            split_name(account, purpose, key, f"{source.version}/{source.reading}"), ["train", "test"]
        )
    return result


def folds(source: Source, n_folds: int, *, account: Account | None = None, seed: int | None = None) -> Split:
    """Split a source into disjoint folds of equal chance."""
    if isinstance(n_folds, bool) or not isinstance(n_folds, int) or n_folds < 2:
        raise bad_parameter("folds", "n_folds", "a whole number of at least 2", n_folds)
    purpose = split_rule("folds", n_folds, source.schema)
    key = _seed(account, purpose, seed)
    result = Split(
        _part(source, key, functools.partial(_in_fold, n_folds, fold), f"fold {fold} of {n_folds}")
        for fold in range(n_folds)
    )
    if account is not None:
        _check_unit(account, source.schema.unit)
        names = [f"fold-{fold}" for fold in range(n_folds)]
        result.accounts = account.split(split_name(account, purpose, key, f"{source.version}/{source.reading}"), names)
    return result


def coin_limit(test_size: Any) -> int:
    """Below which coin a row is in the test part."""
    if isinstance(test_size, bool) or not isinstance(test_size, numbers.Real) or not 0 < float(test_size) < 1:
        raise bad_parameter("split", "test_size", "a fraction between 0 and 1", test_size)
    return int(Fraction(float(test_size)) * 2**64) - 2**63


def fold_of(coins: Longs, n_folds: int) -> Longs:
    """The fold of each coin."""
    return (coins & np.int64(2**63 - 1)) % n_folds


def _in_fold(n_folds: int, fold: int, coins: Longs) -> Mask:
    chosen: Mask = fold_of(coins, n_folds) == fold
    return chosen


def split_rule(kind: str, size: Fraction | int, schema: Schema) -> str:
    """Everything public that decides on coins, for the split's seed and name.

    The coin of a row hashes the position of its label in the classes, so another label column, or another order of the
    classes, moves rows: such splits overlap, and must not share a name.
    """
    return f"{kind}|{size}|{schema.digest}|coins {COINS}"


def split_name(account: Account, purpose: str, seed: int, version: str) -> str:
    """The name under which a split is registered: another rule, seed or version of the data is another split.

    The ledger takes the parts of one split for disjoint. Rows whose content was edited may change sides, so parts of
    two versions may overlap and must not share a name; keyed, so that the name tells nothing of the data.
    """
    return "split-" + account.ledger.fingerprint(f"{purpose}|{seed}|{version}")[:24]


def _seed(account: Account | None, purpose: str, seed: int | None, name: str = "seed") -> int:
    return account.seed_for(purpose) if account is not None and seed is None else check_seed(seed, "split", name)


def _check_unit(account: Account, unit: Unit) -> None:
    if account.unit != unit:
        raise PrivacyError(f"The account protects '{account.unit}', but the schema's unit is '{unit}'.")


def _part(source: Source, seed: int, wanted: Callable[[Longs], Mask], name: str) -> Source:
    hasher = FeatureHasher(seed)

    def chosen(job: Job) -> Rows:
        rows = job()
        return rows.take(np.flatnonzero(wanted(source_coins(rows, hasher))))

    def jobs() -> Iterator[Job]:
        return (functools.partial(chosen, job) for job in source.jobs())

    return Source(source.schema, jobs, lambda: f"{source.version}/{seed}/{name}", reading=source.reading)


def source_coins(rows: Rows, hasher: FeatureHasher) -> Longs:
    """The coin of each row: of its person, if it has one, or else of its content."""
    if rows.persons is not None:
        return chain(hasher.seed, PERSON_COIN, hash_strings(rows.persons))
    return chain(hasher.seed, ROW_COIN, row_keys(rows, hasher), rows.labels)


# -- data in memory without a schema --------------------------------------------------------------------------------


def _check_in_memory(**given: Any) -> None:
    for name, values in given.items():
        odd = isinstance(values, str | bytes | Mapping | Set)
        if odd or not (hasattr(values, "shape") or hasattr(values, "__len__")):
            expected = "rows in memory: a list, an array, a matrix, a data frame or an Arrow table"
            remedy = "Collect it first; files are split by tacit.Workflow."
            raise bad_parameter("split", name, expected, type(values).__name__, remedy)


def _raw_coins(X: Any, y: Any, persons: Any, seed: int) -> Longs:
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    for name, side in (("y", y), ("persons", persons)):
        if side is not None and len(side) != n_rows:
            raise bad_parameter("split", name, "as long as X", "another length")
    if persons is not None:
        people = plain_text(as_series("persons", persons), ("",))
        coins = chain(seed, PERSON_COIN, hash_strings(people.fill_null("")))
        return np.where(people.is_null().to_numpy(), _LARGEST, coins)
    labels = np.zeros(n_rows, dtype=np.int64) if y is None else _text_hashes(as_series("y", y))
    return chain(seed, RAW_COIN, raw_keys(X, seed), labels)


def raw_keys(X: Any, seed: int) -> Longs:
    """A key of each row's values alone: what another row holds must not change it, not even by way of a type."""
    if sp.issparse(X):
        csr = sp.csr_array(native(X), copy=True)
        csr.sum_duplicates()
        return _matrix_keys(csr, seed)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf":
        return _matrix_keys(sp.csr_array(native(X)), seed)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1]:
        return _mixed_keys([as_series(str(place), X[:, place]) for place in range(X.shape[1])], seed)
    keys = np.zeros(X.shape[0] if hasattr(X, "shape") else len(X), dtype=np.int64)
    for series in _columns(X):
        name, text = hash_strings([series.name]), as_text(series, series.name)  # where NaN is a gap, as None is
        values = chain(seed, _CELL, name, hash_strings(text.fill_null("")))
        keys ^= np.where(text.is_null().to_numpy(), chain(seed, _NULL, name), values)
    return keys


def _mixed_keys(columns: list[pl.Series], seed: int) -> Longs:
    """Keys of an array that is no matrix of numbers because of some cells: the others count as they would in one.

    A gap counts as NaN does, and so does any other cell that is no number, whose text is added.
    """
    numbers = np.column_stack([as_numbers(column, ())[0] for column in columns])
    keys = _matrix_keys(sp.csr_array(numbers), seed)
    for place, column in enumerate(columns):
        text = plain_text(column, ())
        words = np.isnan(numbers[:, place]) & (text.str.to_lowercase() != "nan").fill_null(False).to_numpy()
        keys ^= np.where(words, chain(seed, _CELL, place, hash_strings(text.fill_null(""))), 0)
    return keys


def _matrix_keys(csr: Any, seed: int) -> Longs:
    """XOR over the entries that are not 0: X(seed, 1, j) of a 1, which agrees with the row key of binary features."""
    columns, values = csr.indices.astype(np.int64), csr.data.astype(np.float64)
    values[np.isnan(values)] = np.nan  # one pattern of bits for all of them
    hashes = chain(seed, KEY, columns) if len(columns) else np.empty(0, dtype=np.int64)
    other = values != 1
    if other.any():
        hashes[other] = chain(seed, _VALUE, columns[other], values[other].view(np.int64))
        hashes[values == 0] = 0
    keys = np.zeros(csr.shape[0], dtype=np.int64)
    filled = np.flatnonzero(np.diff(csr.indptr))
    if len(filled):
        keys[filled] = np.bitwise_xor.reduceat(hashes, csr.indptr[filled])
    return keys


def _columns(X: Any) -> list[pl.Series]:
    if isinstance(X, pl.DataFrame):
        return X.get_columns()
    if isinstance(X, pa.Table):
        return pl.DataFrame(pl.from_arrow(X)).get_columns()
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        return [as_series(str(name), X[name]) for name in X.columns]
    return [] if getattr(X, "ndim", 1) == 2 else [as_series("", X)]


def _text_hashes(series: pl.Series) -> Longs:
    return hash_strings(as_text(series, series.name).fill_null(""))


def rows_of(data: Any, mask: Mask) -> Any:
    """The chosen rows, in the type they came in."""
    places = np.flatnonzero(mask)
    if hasattr(data, "iloc"):
        return data.iloc[places]
    if isinstance(data, pl.DataFrame | pl.Series):
        return data[places]
    if isinstance(data, pa.Table | pa.Array | pa.ChunkedArray):
        return data.take(pa.array(places))
    if isinstance(data, list | tuple):
        return [data[place] for place in places]
    if sp.issparse(data):
        data = native(data)
        return sp.csr_array(data)[places] if data.format not in ("csr", "csc") else data[places]
    return np.asarray(data)[places]
