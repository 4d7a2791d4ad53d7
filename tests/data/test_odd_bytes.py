"""Records of any bytes, at any place of a file, follow a rule: they cause no error, and change no other record."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.data.columns import TextColumn
from tacit.data.errors import SourceError
from tacit.data.faults import Faults
from tacit.data.features import as_text
from tacit.data.files import FileOptions, pieces
from tacit.data.packed import BLOCK, Repaired
from tacit.data.schema import Schema
from tacit.data.series import as_series
from tacit.data.sources import open_source
from tacit.desk.parts import open_part, rows_for_fit

RECORDS = b'label,text\nyes,"one"\nno,"two\nlines"\n'


def read(path: Path) -> list[tuple[str, str]]:
    found = pieces(path, ["label", "text"], FileOptions(), batch_rows=2, strict=None)
    return pl.concat([piece.frame for piece in found]).rows()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "odd",
    [
        b"x,y,z\n",  # the last field of the last valid record has a line break, and the file ends with no quote
        b"lines\n",
        b"\xff\xfe,y,z\n",  # pyarrow cannot tell such a text, and gave up
        b"yes,\xe2\x82,\xff\n",
        b'"\xff",\xff,\xff',
        b"\xff\n\xff\n",
        b"x\0,y,z\r\n\r\n",
    ],
)
def test_records_of_the_wrong_width_are_dropped(tmp_path: Path, odd: bytes, packed: bool, capfd: Any) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(gzip.compress(RECORDS + odd) if packed else RECORDS + odd)
    assert read(path) == [("yes", "one"), ("no", "two\nlines")]
    path.write_bytes(RECORDS.replace(b"yes", odd.rstrip() + b"\nyes"))
    assert read(path) == [("yes", "one"), ("no", "two\nlines")]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("tail", [b'no,"two\nlines"x\n', b'no,"open\n'])
def test_an_odd_quote_in_the_last_record_swallows_nothing(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(b"label,text\nyes,one\n" + tail)
    assert [label for label, _ in read(path)] == ["yes", "no"]


def test_a_quote_that_swallows_the_rest_is_an_error_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    for before in (b"", b"x,y,z\n"):
        path.write_bytes(b"label,text\n" + before + b'yes,"one\nno,two ""and""\nno,three\n\n')
        with pytest.raises(SourceError, match="never closed"):
            read(path)


@pytest.mark.parametrize("size", [1, BLOCK, -1])
def test_repaired_bytes_are_those_that_python_repairs(tmp_path: Path, size: int) -> None:
    content = "aé€𝄞\n".encode() * 7 + b"\xff\xe2\x82\xf0\x9d" + b"x" * 10 + b"\xe2"
    content = content if size == 1 else content * (BLOCK // len(content) + 2)
    path = tmp_path / "d"
    path.write_bytes(content)
    with path.open("rb") as file:
        stream = Repaired(file)
        found = b"".join(iter(lambda: stream.read(size), b""))
    assert found == content.decode("utf-8", "replace").encode()


def broken(kind: pa.DataType, texts: list[bytes]) -> pa.Array:
    """Texts of Arrow's that are not UTF-8, as other programs write them."""
    bare = pa.array(texts, pa.large_binary() if kind == pa.large_string() else pa.binary())
    return pa.Array.from_buffers(kind, len(texts), bare.buffers())


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), "dictionary"])
def test_texts_of_arrow_may_hold_any_bytes(tmp_path: Path, kind: Any) -> None:
    """Polars took them for UTF-8, and panicked where a split hashed them. Categories in files pyarrow refuses."""
    texts = [b"win cash", b"see you"] * 5
    several = pa.string() if kind == "dictionary" else kind
    whole, odd = (broken(several, found) for found in (texts, [*texts, b"win \xff\xfecash"]))
    if kind == "dictionary":
        whole, odd = whole.dictionary_encode(), pa.DictionaryArray.from_arrays(pa.array(range(len(odd))), odd)
    schema = Schema((TextColumn("text", bits=6),), classes=("no", "yes"), label="label")
    rows = []
    for column in (whole, odd):
        table = pa.table({"text": column, "label": pa.array((["no", "yes"] * 6)[: len(column)])})
        path = tmp_path / f"{len(column)}.parquet"
        if kind != "dictionary":
            pq.write_table(table, path)
        for data in (table, path) if path.exists() else (table, table):
            rows.append(np.concatenate([batch.indices for batch in open_source(data, schema).rows()]).tolist())
        assert sum(part.num_rows for part in tacit.split(table, random_state=1)) == len(column)
        part = open_part(data, classes=("no", "yes"), unit=tacit.Unit.row(), label="label", text="text")
        account = tacit.Ledger.open().account("d", budget=tacit.Budget(1))
        halves = [rows_for_fit(half)[1] for half in part.split(0.5, account, 0)[:2]]
        assert sum(map(len, halves)) == len(column)
    assert rows[0] == rows[1] == rows[2][: len(rows[0])]
    assert rows[2] == rows[3]
    assert sorted(rows[2][len(rows[0]) :]) == sorted(rows[0][:2])


@pytest.mark.parametrize("kind", ["texts", "text dtype", "categories", "lists", "moments", "days", "durations", "zone"])
def test_columns_of_pandas_that_arrow_holds_may_hold_anything(kind: str) -> None:
    """As Python's objects, a text that is not UTF-8 and a moment far away were errors that quote them."""
    pd = pytest.importorskip("pandas", minversion="2.1")
    texts, far = broken(pa.string(), [b"win cash", b"win \xff\xfecash"]), pa.array([0, 2**63 - 1])
    days = pa.Array.from_buffers(pa.date32(), 2, pa.array([0, 2**31 - 1], pa.int32()).buffers())
    held: dict[str, tuple[Any, list[str | None]]] = {
        "texts": (texts, ["win cash", "win \ufffd\ufffdcash"]),
        "text dtype": (texts, ["win cash", "win \ufffd\ufffdcash"]),
        "categories": (pa.DictionaryArray.from_arrays(pa.array([0, 1]), texts), ["win cash", "win \ufffd\ufffdcash"]),
        "lists": (pa.ListArray.from_arrays(pa.array([0, 1, 2]), texts), ["['win cash']", "\ufffd"]),
        "moments": (far.cast(pa.timestamp("us", "+14:00")), ["1970-01-01 00:00:00+00:00", None]),
        "days": (days, ["1970-01-01", None]),
        "durations": (far.cast(pa.duration("ms")), ["0 ms", f"{2**63 - 1} ms"]),
        "zone": (far.cast(pa.timestamp("ns", "UTC")), ["1970-01-01 00:00:00+00:00"]),
    }
    values, expected = held[kind]
    column = pd.Series(pd.arrays.ArrowExtensionArray(values))
    if kind == "text dtype":
        column = pd.Series(pd.arrays.ArrowStringArray(pa.chunked_array([values])))
    if kind == "zone":  # a type of pandas' own: it cannot write its last moment in a zone east of Greenwich
        column = column.astype("datetime64[ns, UTC]").dt.tz_convert("Asia/Tokyo")
        expected = [*expected, "2262-04-11 23:47:16.854775807+00:00"]
    assert as_text(as_series("x", column), "x").to_list() == expected
    assert sum(map(len, tacit.split(pd.DataFrame({"x": column}), random_state=1))) == 2


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("record", ["\ufeffyes,one\n", '\ufeff"yes","one, two"\n'])
def test_a_mark_of_utf8_before_a_record_depends_on_no_other(
    tmp_path: Path, packed: bool, strict: bool, record: str
) -> None:
    """Of a file without a header, whichever record was the first lost its mark, and with it became another row."""
    found = []
    for place, others in enumerate(["", "no,two\n"]):
        content = (others + record).encode()
        path = tmp_path / f"{place}.csv"
        path.write_bytes(gzip.compress(content) if packed else content)
        read = pieces(
            path,
            ["label", "text"],
            FileOptions(header=("label", "text")),
            batch_rows=2,
            strict=Faults() if strict else None,
        )
        found.append(pl.concat([piece.frame for piece in read]).rows())
    assert found[1] == [("no", "two"), *found[0]]
    assert found[0] == [("yes", "one") if '"' not in record else ('"yes"', "one, two")]
