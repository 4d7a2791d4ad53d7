"""Arrow in memory and in files: the same rows as from Parquet, the same refusals, and odd bytes handled by rule."""

from __future__ import annotations

import contextlib
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.data.errors import SchemaError, SourceError
from tacit.data.schema import CategoryColumn, NumberColumn, Schema, TextColumn
from tacit.data.sources import open_source

SCHEMA = Schema(
    (TextColumn("text", bits=8), CategoryColumn("kind", ("x", "y")), NumberColumn.equal_bins("size", 0, 10, 5)),
    classes=("no", "yes"),
    label="label",
)


def made(rows: int = 300) -> pa.Table:
    random = np.random.default_rng(5)
    return pa.table(
        {
            "left out": [[1, 2]] * rows,
            "label": random.choice(["no", "yes", "?"], rows),
            "text": [f"word{place % 7} in a text" for place in range(rows)],
            "kind": pa.array(random.choice(["x", "y", "z"], rows)).dictionary_encode(),
            "size": random.normal(5, 4, rows),
        }
    )


def rows_of(data: Any, schema: Schema = SCHEMA, **options: Any) -> list[tuple[int, tuple[int, ...]]]:
    found = []
    for rows in open_source(data, schema, **options).checked().rows():
        for place, label in enumerate(rows.labels.tolist()):
            found.append((label, tuple(rows.indices[rows.indptr[place] : rows.indptr[place + 1]].tolist())))
    return found


def not_utf8(texts: list[bytes]) -> pa.Array:
    """Texts by their type, of any bytes: other writers of Parquet do not check them."""
    raw = pa.array(texts, pa.binary())
    return pa.StringArray.from_buffers(len(texts), *raw.buffers()[1:])


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_feather_gives_the_rows_of_parquet(tmp_path: Path, compression: str) -> None:
    pq.write_table(made(), tmp_path / "a.parquet")
    pyarrow.feather.write_feather(made(), str(tmp_path / "a.feather"), compression=compression, chunksize=77)
    expected = rows_of(tmp_path / "a.parquet")
    assert len(expected) > 100
    assert rows_of(tmp_path / "a.feather") == rows_of(tmp_path / "a.feather", batch_rows=10) == expected
    (tmp_path / "b.feather.gz").write_bytes(gzip.compress((tmp_path / "a.feather").read_bytes()))
    assert rows_of(tmp_path / "b.feather.gz") == expected
    assert rows_of(made()) == expected


def test_what_polars_writes_is_read(tmp_path: Path) -> None:
    pl.DataFrame(pl.from_arrow(made())).write_ipc(tmp_path / "a.arrow")
    assert rows_of(tmp_path / "a.arrow") == rows_of(made())


def test_an_arrow_file_that_is_cut_off_is_refused_wherever(tmp_path: Path) -> None:
    path = tmp_path / "a.feather"
    pyarrow.feather.write_feather(made(), str(path), chunksize=100)
    whole = path.read_bytes()
    for end in [*range(1, len(whole), 499), len(whole) - 1]:
        path.write_bytes(whole[:end])
        with pytest.raises(SourceError, match="cannot be read"):
            rows_of(path)


def test_a_stream_of_arrow_is_refused(tmp_path: Path) -> None:
    with pyarrow.ipc.new_stream(str(tmp_path / "a.arrow"), made().schema) as stream:
        stream.write_table(made())
    with pytest.raises(SourceError, match="streams are not read"):
        rows_of(tmp_path / "a.arrow")


def test_a_broken_arrow_file_ends_with_a_message(tmp_path: Path) -> None:
    random, path = np.random.default_rng(1), tmp_path / "a.feather"
    pyarrow.feather.write_feather(made(), str(path), compression="uncompressed")
    whole = path.read_bytes()
    for place in random.integers(len(whole), size=150):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with contextlib.suppress(tacit.TacitError):  # and no other error, nor the end of the program
            rows_of(path)


@pytest.mark.parametrize("column", ["text", "kind", "label"])
@pytest.mark.parametrize("packed", [False, True])
def test_texts_that_are_not_utf8_follow_the_rule_for_bytes(tmp_path: Path, column: str, packed: bool) -> None:
    odd = [b"x", b"a\xffword", b"cut \xe2\x82", b"\xed\xa0\x80 yes"]
    plain = pa.table(
        {"label": ["no", "yes", "no", "yes"], "text": ["a", "b", "c", "d"], "kind": ["x"] * 4, "size": [1] * 4}
    )
    place = plain.schema.get_field_index(column)
    texts = not_utf8(odd)
    if packed:
        texts = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), texts)
    broken = plain.set_column(place, column, texts)
    expected = rows_of(plain.set_column(place, column, pa.array(odd, pa.binary())))
    assert rows_of(broken) == expected
    pq.write_table(broken, tmp_path / "a.parquet", store_schema=packed)
    pyarrow.feather.write_feather(broken, str(tmp_path / "a.feather"))
    assert rows_of(tmp_path / "a.parquet") == rows_of(tmp_path / "a.feather") == expected
    for seed in range(3):
        assert sum(len(part) for part in tacit.split(broken, random_state=seed)) == 4


def test_a_column_that_is_there_twice_is_named(tmp_path: Path) -> None:
    twice = made(3).append_column("size", pa.array([1, 2, 3]))
    with pytest.raises(SchemaError, match="two columns 'size'"):
        rows_of(twice)
    pq.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="two columns 'size'"):
        rows_of(tmp_path / "a.parquet")
    other = made(3).append_column("left out", pa.array([1, 2, 3]))
    assert rows_of(other) == rows_of(made(3))


@pytest.mark.parametrize("kind", [pa.decimal256(50, 2), pa.month_day_nano_interval()])
def test_types_that_cannot_be_read_are_refused_by_name(tmp_path: Path, kind: Any) -> None:
    strange = made(3).set_column(4, "size", pa.nulls(3, kind))
    with pytest.raises(SchemaError, match="'size' of Arrow's type"):
        rows_of(strange)
    with pyarrow.ipc.new_file(str(tmp_path / "a.arrow"), strange.schema) as file:
        file.write_table(strange)
    with pytest.raises(SchemaError, match="'size' of Arrow's type"):
        rows_of(tmp_path / "a.arrow")
    assert rows_of(made(3).append_column("strange", pa.nulls(3, kind))) == rows_of(made(3))


def test_a_record_batch_is_split_as_a_table_is() -> None:
    table = made().drop_columns(["left out"])
    for one, other in zip(
        tacit.split(table.combine_chunks().to_batches()[0], random_state=1),
        tacit.split(table, random_state=1),
        strict=True,
    ):
        assert one.num_rows == other.num_rows
