"""Private rows in batches, whole or in parts: what a workflow splits, trains on and scores. Private in, private out.

A batch holds valid rows alone: those with a declared label and, where the unit is a person, with a person. Parts are
made by a coin for each row or person, as in :mod:`tacit.data.split`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
import xxhash

from tacit.data.bounding import check_seed
from tacit.data.coins import content_keys
from tacit.data.columns import SparseColumn
from tacit.data.errors import SchemaError
from tacit.data.faults import Where
from tacit.data.features import encode, label_codes, plain_text
from tacit.data.hashing import Longs
from tacit.data.rows import Rows
from tacit.data.schema import Schema
from tacit.data.series import as_series
from tacit.data.sources import Source
from tacit.data.sparse import check_matrix, matrix_persons, matrix_rows
from tacit.data.split import coin_limit, divided, split_name, split_rule
from tacit.errors import PrivacyError
from tacit.ledger import Account


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Batch:
    """Some valid rows: the feature columns (or a matrix), the positions of their labels, and whose they are."""

    data: Any
    labels: Longs
    persons: pl.Series | None = None

    def take(self, chosen: Longs) -> Batch:
        """The chosen rows."""
        if len(chosen) == len(self.labels):
            return self
        persons = None if self.persons is None else self.persons.gather(chosen)
        return Batch(self.data[chosen], self.labels[chosen], persons)

    def rows(self, schema: Schema) -> Rows:
        """The batch as sets of features under a description of its columns."""
        if not isinstance(self.data, pl.DataFrame):
            return matrix_rows(self.data, self.labels, self.persons)
        bare = Schema(schema.columns, schema.classes, missing=schema.missing)  # persons were looked at already
        rows = encode(self.data, bare, None, self.labels)
        return replace(rows, persons=self.persons)


Job = Callable[[], Batch]


class Table:
    """Private rows with their public description, read in batches as often as is needed.

    ``jobs`` gives one function for each batch, so that batches can be made on several cores.
    """

    def __init__(self, schema: Schema, jobs: Callable[[], Iterator[Job]], version: Callable[[], str]) -> None:
        self.schema = schema
        self.jobs = jobs
        self._version = functools.cache(version)

    @property
    def version(self) -> str:
        """Which version of the data this is. Not for showing."""
        return self._version()

    def batches(self) -> Iterator[Batch]:
        """Yield the batches."""
        return (job() for job in self.jobs())

    def rows(self, schema: Schema) -> Source:
        """These rows under a description of their columns."""
        if schema.classes != self.schema.classes:
            raise SchemaError(f"The data were opened with the classes {list(self.schema.classes)}: declare the same.")
        encoded = lambda job: job().rows(schema)  # noqa: E731
        jobs = lambda: (functools.partial(encoded, job) for job in self.jobs())  # noqa: E731
        return Source(replace(schema, unit=self.schema.unit), jobs, lambda: self.version)

    def __repr__(self) -> str:
        return "<private table>"


def table_of_source(source: Source) -> Table:
    """The rows of files, frames or texts, with a label column; or of libsvm files."""
    schema = source.schema

    def jobs() -> Iterator[Job]:
        if isinstance(schema.columns[0], SparseColumn):
            return (functools.partial(_sparse_batch, job, schema.n_features) for job in source.jobs())
        return (functools.partial(_frame_batch, frame, schema) for frame in source.frames())

    return Table(schema, jobs, lambda: f"{source.version}/{source.reading}/{schema.digest}")


def table_of_matrix(
    X: Any, y: Any, schema: Schema, persons: Any = None, *, version: str | None = None, strict: bool = False
) -> Table:
    """The rows of a matrix in memory, with their values as they are: a black box may know more than presence."""
    matrix = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    check_matrix(matrix, schema)
    if matrix.dtype.kind not in "biuf":
        raise SchemaError(f"A matrix must hold numbers. Got dtype {matrix.dtype}.")
    series = as_series("y", y)
    if len(series) != matrix.shape[0]:
        raise SchemaError("'y' must have one label for each row of the data.")
    where = Where() if strict else None
    labels = label_codes(series, schema, where, "y")
    people = matrix_persons(persons, schema, matrix.shape[0], where)
    if where is not None:
        where.faults.refuse()
    valid = labels >= 0 if people is None else (labels >= 0) & people.is_not_null().to_numpy()
    batch = Batch(matrix, labels, people).take(np.flatnonzero(valid))
    return Table(schema, lambda: iter([lambda: batch]), lambda: version or _fingerprint(batch))


def _frame_batch(frame: pl.DataFrame, schema: Schema) -> Batch:
    labels = label_codes(frame[str(schema.label)], schema, None)
    valid, persons = labels >= 0, None
    if schema.unit.column is not None:
        persons = plain_text(frame[schema.unit.column], schema.missing)
        valid &= persons.is_not_null().to_numpy()
    batch = Batch(frame.select(column.name for column in schema.columns), labels, persons)
    return batch.take(np.flatnonzero(valid))


def _sparse_batch(job: Callable[[], Rows], width: int) -> Batch:
    rows = job()
    ones = np.ones(len(rows.indices))
    return Batch(sp.csr_array((ones, rows.indices, rows.indptr), shape=(len(rows), width)), rows.labels, rows.persons)


def _fingerprint(batch: Batch) -> str:
    state = xxhash.xxh3_128(f"{batch.data.dtype}|{batch.data.shape}".encode())
    data = batch.data
    arrays = (data.indptr, data.indices, data.data) if sp.issparse(data) else (data,)
    for array in (*arrays, batch.labels):
        state.update(np.ascontiguousarray(array).tobytes())
    for person in batch.persons if batch.persons is not None else ():
        state.update(f"{len(person)}:{person};".encode())
    return state.hexdigest()


def split_table(
    table: Table, test_size: float, account: Account, seed: int | None = None
) -> tuple[Table, Table, dict[str, Account]]:
    """Split into train and test by coins, and register the split: two tables, and an account for each."""
    limit = coin_limit(test_size)
    schema = table.schema
    if account.unit != schema.unit:
        raise PrivacyError(f"The account protects '{account.unit}', but the schema's unit is '{schema.unit}'.")
    purpose = split_rule("table", Fraction(test_size), schema)
    key = account.seed_for(purpose) if seed is None else check_seed(seed, "split")
    keys = lambda batch: content_keys(batch.data, batch.labels, key)  # noqa: E731
    side = lambda coins: (coins < limit).astype(np.int64)  # noqa: E731
    jobs = divided(table.jobs, keys, side, person_seed=None if schema.unit.column is None else key)

    def made(part: int, name: str) -> Table:
        return Table(schema, functools.partial(jobs, part), lambda: f"{table.version}/{key}/{limit}/{name}")

    train, test = made(0, "train"), made(1, "test")
    accounts = account.split(split_name(account, purpose, key, table.version), ["train", "test"])
    return train, test, accounts
