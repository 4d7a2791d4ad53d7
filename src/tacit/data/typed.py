"""Files of typed columns, piece by piece: Parquet, and Arrow's own (IPC, Feather version 2). Private data comes out.

Both end with a description of the whole file, so that one that was cut off is always noticed. Arrow's streams do not,
and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.ipc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from tacit.data.packed import seekable
from tacit.data.series import as_series

Batches = Iterator[pl.DataFrame]


def typed_names(path: Path, format: str | None) -> list[str]:
    """The names of a file's columns."""
    return list(_schema(path, format).names)


def typed_head(path: Path, columns: list[str], format: str | None) -> pl.DataFrame:
    """The columns of a file without their rows."""
    schema = _schema(path, format)
    return _frame(pa.schema([schema.field(name) for name in columns]).empty_table(), columns)


def parquet_frames(path: Path, columns: list[str], batch_rows: int) -> Batches:
    """Read Parquet."""
    with seekable(path) as source, pq.ParquetFile(source, pre_buffer=False) as file:
        for batch in file.iter_batches(batch_size=batch_rows, columns=columns, use_threads=False):
            yield _frame(batch, columns)


def arrow_frames(path: Path, columns: list[str], batch_rows: int) -> Batches:
    """Read Arrow's file format, one of its batches at a time."""
    with _arrow_file(path) as reader:
        fields = [reader.schema.get_field_index(name) for name in columns]
    options = pyarrow.ipc.IpcReadOptions(use_threads=False, included_fields=fields)
    with _arrow_file(path, options) as reader:
        for place in range(reader.num_record_batches):
            batch = reader.get_batch(place)
            batch.validate(full=False)
            yield from _frame(batch, columns).iter_slices(batch_rows)


def _frame(batch: Any, columns: list[str]) -> pl.DataFrame:
    return pl.DataFrame([as_series(name, batch.column(name)) for name in columns])


@contextmanager
def _arrow_file(path: Path, options: Any = None) -> Iterator[Any]:
    with seekable(path) as source, pa.OSFile(str(source)) if source is path else pa.PythonFile(source) as file:
        yield pyarrow.ipc.open_file(file, options=options)


def _schema(path: Path, format: str | None) -> Any:
    if format == "parquet":
        with seekable(path) as source:
            return pq.read_schema(source)
    with _arrow_file(path) as reader:
        return reader.schema
