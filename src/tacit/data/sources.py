"""Anything in, batches of rows out: arrays, sparse matrices, data frames, Arrow tables, files, folders, globs.

Private. A :class:`Source` can be read any number of times and gives the same rows each time; what it gives does not
depend on the size of its batches.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import scipy.sparse as sp
import xxhash

from tacit.data.columns import SparseColumn
from tacit.data.errors import SchemaError, name_absent
from tacit.data.faults import Faults, Where
from tacit.data.features import check_kinds, encode, label_codes
from tacit.data.files import (
    FileOptions,
    Piece,
    check_files,
    check_whole,
    format_of,
    list_files,
    pieces,
    reading_of,
    unchanged,
)
from tacit.data.hashing import Longs
from tacit.data.rows import Rows
from tacit.data.schema import Schema
from tacit.data.series import as_series, check_collected
from tacit.data.sparse import check_matrix, libsvm_rows, matrix_persons, matrix_rows
from tacit.errors import ParameterError, bad_parameter

BATCH_ROWS = 1 << 14
MATRIX_ENTRIES = 1 << 22  # of a batch of a matrix: many to a table of counts, few enough to share among cores

_FRAMES = "Rows of a table must be a pandas or Polars frame, an Arrow table, an array or a list of texts."

Job = Callable[[], Rows]


class Source:
    """Private data with its public description.

    Made by :func:`open_source`. ``jobs`` gives one function for each batch, so that batches can be turned into rows on
    several cores; ``rows`` runs them one after the other.
    """

    def __init__(
        self,
        schema: Schema,
        jobs: Callable[[], Iterator[Job]],
        version: Callable[[], str],
        frames: Callable[[], Iterator[pl.DataFrame]] | None = None,
        reading: str = "",
        check: Callable[[], None] | None = None,
    ) -> None:
        self.schema = schema
        self.reading = reading  # how files are read: the same bytes may be other rows
        self._jobs = jobs
        self._frames = frames
        self._check = check
        self._version = version
        self._known_version: str | None = None

    def jobs(self) -> Iterator[Job]:
        """Yield one function for each batch."""
        return self._jobs()

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the batches as they were read, where they were tables."""
        if self._frames is None:
            raise SchemaError("This needs a table or a list of texts; matrices and parts of a split have none.")
        return self._frames()

    def rows(self) -> Iterator[Rows]:
        """Yield the batches."""
        return (job() for job in self.jobs())

    def checked(self) -> Source:
        """This source, once its files were read to their ends: for whoever pays before the rows are read."""
        if self._check is not None:
            self._check()
        return self

    @property
    def version(self) -> str:
        """Which version of the data this is: declared by the user, or a fingerprint of it. Not for showing."""
        if self._known_version is None:
            self._known_version = self._version()
        return self._known_version

    def __repr__(self) -> str:
        return f"<private source with {self.schema.n_features} features>"


def open_source(
    data: Any,
    schema: Schema,
    *,
    y: Any = None,
    persons: Any = None,
    options: FileOptions | None = None,
    strict: bool = False,
    batch_rows: int = BATCH_ROWS,
    version: str | None = None,
) -> Source:
    """Open private data of any kind.

    Parameters
    ----------
    data : array, sparse matrix, data frame, Arrow table, list of texts, path, or list of ``pathlib.Path``
        A path is a file, a folder or a glob. A list of ``str`` is a list of texts.
    schema : Schema
    y : array, optional
        Labels, where they are not a column of the data.
    persons : array, optional
        Who each row belongs to, where this is not a column of the data and the unit is a person.
    options : FileOptions, optional
        How files are written.
    strict : bool, default False
        Read everything at once, and raise an error that names every kind of odd rows, how many there are and where the
        first one is, for whoever cleans the data. Such an error tells something about those rows.
    batch_rows : int, default 16384
        A matter of speed and memory alone.
    version : str, optional
        A name for this version of the data; default a fingerprint (XXH3, 128 bits) of all of it. Two versions that
        share a name would at worst get the same stored release.
    """
    if isinstance(batch_rows, bool) or not isinstance(batch_rows, int) or batch_rows < 1:
        raise bad_parameter("open_source", "batch_rows", "a whole number of at least 1", batch_rows)
    declared = None if version is None else (lambda: version)
    faults = Faults() if strict else None
    source = _open(data, schema, y, persons, options, faults, batch_rows, declared)
    if faults is not None:
        for _ in source.rows():
            pass
        faults.refuse()
    return source


def _open(
    data: Any,
    schema: Schema,
    y: Any,
    persons: Any,
    options: FileOptions | None,
    strict: Faults | None,
    batch_rows: int,
    declared: Callable[[], str] | None,
) -> Source:
    paths = _paths(data)
    if paths is not None:
        _check_alone(y, persons)
        return _open_files(paths, schema, options or FileOptions(), strict, batch_rows, declared)
    if isinstance(schema.columns[0], SparseColumn):
        return _open_matrix(data, schema, y, persons, strict, declared)
    frame = as_frame(data, schema)
    frame = _with_side_columns(frame, schema, y, persons)
    check_columns(data, frame, schema)
    labels = None
    if schema.label is None:
        if y is None:
            raise SchemaError("There are no labels: name their column in the schema's [label], or pass them as y.")
        labels = _array_labels(y, schema, None if strict is None else Where(faults=strict), len(frame))
    frame = frame.select(schema.names_needed)
    check_kinds(frame)

    def jobs() -> Iterator[Job]:
        for begin in range(0, len(frame), batch_rows):
            yield lambda begin=begin: _encode_slice(frame, begin, batch_rows, schema, labels, strict)  # type: ignore[misc]

    def frames() -> Iterator[pl.DataFrame]:
        return frame.iter_slices(batch_rows)

    return Source(schema, jobs, declared or (lambda: _fingerprint_frame(frame, labels)), frames)


def _encode_slice(
    frame: pl.DataFrame, begin: int, size: int, schema: Schema, labels: Longs | None, strict: Faults | None
) -> Rows:
    where = None if strict is None else Where(None, lambda place: begin + place + 1, strict)
    part = None if labels is None else labels[begin : begin + size]
    return encode(frame.slice(begin, size), schema, where, part)


def _paths(data: Any) -> list[Path] | None:
    if isinstance(data, str | Path):
        return list_files(data)
    if isinstance(data, list | tuple) and data and all(isinstance(item, Path) for item in data):
        return [path for item in data for path in list_files(item)]
    return None


def _check_alone(y: Any, persons: Any) -> None:
    """Refuse arrays beside files: records that cannot be read are left out, so that nobody knows which row is which."""
    for name, values in (("y", y), ("persons", persons)):
        if values is not None:
            remedy = "Name their column instead, or read the files into a frame."
            raise bad_parameter("fit", name, "left out where the data are files", type(values).__name__, remedy)


def _open_files(
    paths: list[Path],
    schema: Schema,
    options: FileOptions,
    strict: Faults | None,
    batch_rows: int,
    declared: Callable[[], str] | None,
) -> Source:
    columns = schema.names_needed
    if isinstance(schema.columns[0], SparseColumn):
        strange = [path for path in paths if format_of(path, options) != "libsvm"]
        if strange or schema.unit.column is not None:
            raise SchemaError(
                "A schema of kind 'sparse' fits libsvm files, which name no persons. For other files declare columns."
            )
    elif schema.label is None:
        raise SchemaError("Files need the name of their label column in the schema's [label].")
    elif any(format_of(path, options) == "libsvm" for path in paths):
        raise SchemaError("A libsvm file needs a schema with one column of kind 'sparse'.")
    check = unchanged(paths)
    check_files(paths, columns, options)

    def read() -> Iterator[Piece]:
        for path in paths:
            check(path)
            yield from pieces(path, columns, options, batch_rows=batch_rows, strict=strict)
            check(path)

    def jobs() -> Iterator[Job]:
        for piece in read():
            where = None if strict is None else replace(piece.where, faults=strict)
            turn = libsvm_rows if isinstance(schema.columns[0], SparseColumn) else encode
            yield lambda piece=piece, where=where, turn=turn: turn(piece.frame, schema, where)  # type: ignore[misc]

    def frames() -> Iterator[pl.DataFrame]:
        return (piece.frame for piece in read())

    named = declared or (lambda: fingerprint_files(paths))
    whole = functools.partial(check_whole, paths, columns, options)
    return Source(schema, jobs, named, frames, reading_of(paths, options), whole)


def _open_matrix(
    data: Any, schema: Schema, y: Any, persons: Any, strict: Faults | None, declared: Callable[[], str] | None
) -> Source:
    matrix = data if sp.issparse(data) else np.asarray(data)
    check_matrix(matrix, schema)
    if y is None:
        raise SchemaError("A matrix needs its labels: pass them as y.")
    where = None if strict is None else Where(faults=strict)
    labels = _array_labels(y, schema, where, matrix.shape[0])
    people = matrix_persons(persons, schema, matrix.shape[0], where)
    rows = matrix_rows(matrix, labels, people)
    valid = labels >= 0 if people is None else (labels >= 0) & people.is_not_null().to_numpy()
    rows = rows if valid.all() else rows.take(np.flatnonzero(valid))
    steps = np.linspace(0, len(rows.indices), max(1, len(rows.indices) // MATRIX_ENTRIES), endpoint=False)
    edges = np.unique(np.r_[0, np.searchsorted(rows.indptr, steps), len(rows)]).tolist()

    def jobs() -> Iterator[Job]:
        if len(edges) < 3:
            return iter([lambda: rows])
        return (functools.partial(rows.part, begin, end) for begin, end in itertools.pairwise(edges))

    return Source(schema, jobs, declared or (lambda: _fingerprint_rows(rows)))


def _array_labels(y: Any, schema: Schema, strict: Where | None, n_rows: int) -> Longs:
    series = as_series("y", y)
    if len(series) != n_rows:
        raise SchemaError("'y' must have one label for each row of the data.")
    return label_codes(series, schema, strict, "y")


def check_columns(data: Any, frame: pl.DataFrame, schema: Schema) -> None:
    """Refuse a table without a declared column; ``frame`` is what was made of ``data``, which may name more columns."""
    absent = [name for name in schema.names_needed if name not in frame.columns]
    if not absent:
        return
    present = frame.columns
    if _is_table(data):
        present = [str(name) for name in _names_of(data)]
    names = name_absent(absent, present)
    persons = ", or pass whose each row is as persons=" if schema.unit.column in absent else ""
    raise SchemaError(f"The data have no column {names}. Correct the declared names{persons}.", column=absent[0])


def _is_table(data: Any) -> bool:
    """Whether something is a table of Arrow's, or of pandas', which is not imported for it."""
    return isinstance(data, pa.Table | pa.RecordBatch) or (hasattr(data, "columns") and hasattr(data, "iloc"))


def _names_of(table: Any) -> list[Any]:
    return list(table.columns if hasattr(table, "iloc") else table.schema.names)


def as_frame(data: Any, schema: Schema) -> pl.DataFrame:
    """A table from whatever a user has: a frame, an Arrow table, an array, a list of texts."""
    if isinstance(data, str | Path):
        raise ParameterError(
            f"{_FRAMES} Got the path {str(data)!r}: read the file first, or apply 'tacit score' to it."
        )
    if isinstance(data, pl.DataFrame):
        return data
    check_collected("fit", data)
    if _is_table(data):
        present = _names_of(data)
        wanted = [name for name in schema.names_needed if name in present]
        twice = next((name for name in wanted if present.count(name) > 1), None)
        if twice is not None:
            raise SchemaError(f"The data have two columns {twice!r}. Rename or drop one of them.", column=twice)
        return pl.DataFrame([as_series(name, data[name]) for name in wanted])
    if isinstance(data, np.ndarray) and data.ndim == 2:
        names = [column.name for column in schema.columns]
        if data.shape[1] != len(names):
            raise SchemaError(f"The schema declares {len(names)} columns. Got an array with {data.shape[1]}.")
        return pl.DataFrame([as_series(name, data[:, place]) for place, name in enumerate(names)])
    if isinstance(data, Sequence | np.ndarray | pl.Series | pa.Array | pa.ChunkedArray) or hasattr(data, "to_numpy"):
        if len(schema.columns) != 1:
            remedy = (
                "For several columns pass a data frame, also for one row: frame.iloc[[0]]. Files in a list are Paths."
            )
            raise SchemaError(f"A list of texts fits a schema with one column. {remedy}")
        return pl.DataFrame([as_series(schema.columns[0].name, data)])
    raise ParameterError(f"{_FRAMES} Got {type(data).__name__!r}.")


def _with_side_columns(frame: pl.DataFrame, schema: Schema, y: Any, persons: Any) -> pl.DataFrame:
    """Labels and persons that were passed as arrays become the columns that the schema names.

    Labels win over a column of theirs, as ``fit(frame, frame["label"])`` means; persons do not.
    """
    for name, values, parameter in ((schema.label, y, "y"), (schema.unit.column, persons, "persons")):
        if name is not None and values is not None:
            if name in frame.columns and parameter == "persons":
                raise bad_parameter("fit", parameter, f"left out: the data have a column {name!r}", "an array")
            series = as_series(name, values)
            if len(series) != len(frame):
                raise SchemaError(f"{parameter!r} must have one entry for each row of the data.")
            frame = frame.with_columns(series)
    return frame


# -- fingerprints: equal data, equal name ---------------------------------------------------------------------------


def _digest(parts: Iterable[Any]) -> str:
    state = xxhash.xxh3_128()
    for part in parts:
        state.update(part)
    return state.hexdigest()


def fingerprint_files(paths: list[Path]) -> str:
    """A name for the content of files."""

    def blocks() -> Iterator[bytes]:
        for path in paths:
            yield f"{path.stat().st_size};".encode()
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    yield block

    return _digest(blocks())


def _fingerprint_rows(rows: Rows) -> str:
    people: Iterable[bytes] = () if rows.persons is None else _buffers(pl.DataFrame([rows.persons]))
    arrays = (np.ascontiguousarray(array) for array in (rows.indptr, rows.indices, rows.labels))
    return _digest(itertools.chain(arrays, people))


def _fingerprint_frame(frame: pl.DataFrame, labels: Longs | None) -> str:
    return _digest(itertools.chain(_buffers(frame), [] if labels is None else [labels]))


def _buffers(frame: pl.DataFrame) -> Iterator[bytes]:
    for part in frame.iter_slices(1 << 18):
        yield part.rechunk().write_ipc(None, compression="uncompressed").getvalue()
