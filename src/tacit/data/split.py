"""Splitting: an independent coin for each row, or each person. Private in, private out.

The coin is a keyed hash of the row's own content and of its number among its copies (or of the person's id), so a row
that is added or removed changes one part alone, and parallel composition holds. A permutation of n rows would not have
this property. Copies have coins of their own, so that parts are fair samples, however few kinds of rows there are. What
coins are made of: :mod:`tacit.data.coins`.

A coin is in the test part if it is smaller than ⌊test_size · 2^64⌋ − 2^63, and in fold (coin mod 2^63) mod n_folds.
Where data in memory come with persons, a row without one has the coin 2^63 − 1.
"""

from __future__ import annotations

import functools
import numbers
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import scipy.sparse as sp
import xxhash
from numpy.typing import NDArray

from tacit.data.bounding import FeatureHasher, check_seed
from tacit.data.coins import given_keys, numbered, person_coins, source_keys
from tacit.data.errors import SourceError
from tacit.data.features import plain_text
from tacit.data.hashing import Longs
from tacit.data.schema import Schema
from tacit.data.series import as_series, is_of_pandas, listed
from tacit.data.sources import Source
from tacit.data.sparse import native
from tacit.data.statistics import in_parallel
from tacit.errors import PrivacyError, bad_parameter
from tacit.ledger import Account
from tacit.privacy.unit import Unit

_THREADS = len(os.sched_getaffinity(0))
_LARGEST = np.int64(2**63 - 1)  # the coin of rows that belong to nobody: never in a test part
COINS = 6
"""Which rules for coins these are: splits by other rules overlap, and must not share a name in a ledger."""

Mask = NDArray[np.bool_]


class _Rows(Protocol):
    @property
    def labels(self) -> Longs: ...
    @property
    def persons(self) -> pl.Series | None: ...
    def take(self, chosen: Longs, /) -> Self: ...


B = TypeVar("B", bound=_Rows)


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
    purpose = f"split|{Fraction(float(test_size))}|{'row' if persons is None else 'person'}|coins {COINS}"
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
    """Split a source into train and test: each part is a source of its own, and nothing is read before its rows are."""
    limit = coin_limit(test_size)
    purpose = split_rule("source", Fraction(float(test_size)), source.schema)
    key = _seed(account, purpose, seed)
    result = Split(
        _parts(source, key, lambda coins: (coins < limit).astype(np.int64), [f"train {limit}", f"test {limit}"])
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
    names = [f"fold {fold} of {n_folds}" for fold in range(n_folds)]
    result = Split(_parts(source, key, lambda coins: fold_of(coins, n_folds), names))
    if account is not None:
        _check_unit(account, source.schema.unit)
        own = [f"fold-{fold}" for fold in range(n_folds)]
        result.accounts = account.split(split_name(account, purpose, key, f"{source.version}/{source.reading}"), own)
    return result


def coin_limit(test_size: Any, owner: str = "split") -> int:
    """Below which coin a row is in the test part."""
    if isinstance(test_size, bool) or not isinstance(test_size, numbers.Real) or not 0 < float(test_size) < 1:
        raise bad_parameter(owner, "test_size", "a fraction between 0 and 1", test_size)
    return int(Fraction(float(test_size)) * 2**64) - 2**63


def fold_of(coins: Longs, n_folds: int) -> Longs:
    """The fold of each coin."""
    return (coins & np.int64(2**63 - 1)) % n_folds


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


def _parts(source: Source, seed: int, side: Callable[[Longs], Longs], names: list[str]) -> list[Source]:
    hasher = FeatureHasher(seed)
    people = None if source.schema.unit.column is None else seed
    jobs = divided(source.jobs, lambda rows: source_keys(rows, hasher), side, person_seed=people)

    def made(part: int, name: str) -> Source:
        version = lambda: f"{source.version}/{seed}/{name}"  # noqa: E731
        return Source(source.schema, functools.partial(jobs, part), version, reading=source.reading)

    return [made(part, name) for part, name in enumerate(names)]


def divided(
    jobs: Callable[[], Iterator[Callable[[], B]]],
    keys: Callable[[B], tuple[Longs, Longs]],
    side: Callable[[Longs], Longs],
    *,
    person_seed: int | None,
) -> Callable[[int], Iterator[Callable[[], B]]]:
    """The batches of each part, by the sides of coins: 0 for the first part, 1 for the second …

    ``keys`` are those of the rows of a batch: to number copies, all are read once more, before the first part is. With
    ``person_seed`` rows have the coins of their persons, and that is not needed.
    """
    known = functools.cache(lambda: _sides(in_parallel(jobs(), keys, _THREADS), side))

    def chosen(job: Callable[[], B], part: int, sides: Longs | None) -> B:
        batch = job()
        if person_seed is not None and batch.persons is not None:
            sides = side(person_coins(batch.persons, person_seed))
        if sides is None or len(sides) != len(batch.labels):
            raise SourceError("The data changed while they were read. Run it again when nobody writes to them.")
        return batch.take(np.flatnonzero(sides == part))

    def of_part(part: int) -> Iterator[Callable[[], B]]:
        sides = iter(known() if person_seed is None else ())
        return (functools.partial(chosen, job, part, next(sides, None)) for job in jobs())

    return of_part


def _sides(keys: Iterable[tuple[Longs, Longs]], side: Callable[[Longs], Longs]) -> list[Longs]:
    """The side of each row of each batch."""
    batches = list(keys)
    if not batches:
        return []
    coins = numbered(*(np.concatenate(one) for one in zip(*batches, strict=True)))
    return np.split(side(coins).astype(np.int32), np.cumsum([len(first) for first, _ in batches])[:-1])


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
        return np.where(people.is_null().to_numpy(), _LARGEST, person_coins(people.fill_null(""), seed))
    return numbered(*given_keys(X, y, seed))


def rows_of(data: Any, mask: Mask) -> Any:
    """The chosen rows, in the type they came in."""
    return rows_at(data, np.flatnonzero(mask))


def rows_at(data: Any, places: Longs) -> Any:
    """The rows at some places, in the type they came in."""
    data = listed(data)
    if hasattr(data, "iloc"):
        return data.iloc[places]
    if isinstance(data, pl.DataFrame | pl.Series):
        return data[places]
    if isinstance(data, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
        return data.take(pa.array(places))
    if isinstance(data, list | tuple):
        return [data[place] for place in places]
    if sp.issparse(data):
        data = native(data)
        return sp.csr_array(data)[places] if data.format not in ("csr", "csc") else data[places]
    return data[places] if is_of_pandas(data) or isinstance(data, np.ma.MaskedArray) else np.asarray(data)[places]
