from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.data.bounding import Bounding
from tacit.data.compiled import is_plain
from tacit.data.errors import SchemaError
from tacit.data.files import FileOptions
from tacit.data.schema import CategoryColumn, NumberColumn, Schema, TextColumn
from tacit.data.sources import open_source
from tacit.data.statistics import Counts, count
from tacit.errors import ParameterError
from tacit.privacy._seal import open_exact
from tacit.privacy.unit import Unit
from tests.data import oracle

FRAME = pl.DataFrame(
    {
        "y": ["no", "yes", "yes", "no", "maybe", None, "yes"],
        "text": ["Hello, hello world", 'say "hi"\nthere', None, "a,b\tc", "dropped", "dropped", "ünï ❤️ 中文"],
        "colour": ["red", "blue", "?", "", "red", "red", "green"],
        "age": ["18", "120", "-5", "x", "1", "1", "65"],
        "person": ["p1", "p1", "p1", "p2", "p2", "p2", "p3"],
        "ignored": list("abcdefg"),
    }
)
COLUMNS = (
    TextColumn("text", bits=6),
    CategoryColumn("colour", ("red", "blue")),
    NumberColumn("age", (0, 18, 65, 100)),
)
SCHEMA = Schema(COLUMNS, classes=("no", "yes"), label="y", missing=("", "?"))
PEOPLE = Schema(COLUMNS, classes=("no", "yes"), label="y", missing=("", "?"), unit=Unit.user("person", 1))
PLAIN = FRAME.with_columns(pl.col("text").str.replace_all("[\t\n]", " "))


def expected(
    schema: Schema = SCHEMA, frame: pl.DataFrame = FRAME, bounding: Bounding | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The counts by the letter of the rules."""
    bounding = bounding or Bounding(5, schema.unit, seed=1)
    rows = []
    for row in frame.iter_rows(named=True):
        if row["y"] not in ("no", "yes"):
            continue
        features = set(oracle.buckets(row["text"] or "", 6))
        features.add(64 + {"red": 0, "blue": 1, "?": 3, "": 3, None: 3}.get(row["colour"], 2))
        try:
            age = float(row["age"])
            features.add(68 + (0 if age < 18 else 1 if age < 65 else 2))
        except (TypeError, ValueError):
            features.add(68 + 3)
        rows.append((frozenset(features), ("no", "yes").index(row["y"]), row["person"]))
    return oracle.count(oracle.bound(rows, bounding), 2, schema.n_features)


def same(counts: Counts, wanted: tuple[np.ndarray, np.ndarray]) -> bool:
    return np.array_equal(open_exact(counts.features), wanted[0]) and np.array_equal(
        open_exact(counts.labels), wanted[1]
    )


def counted(data: object, schema: Schema = SCHEMA, **options) -> Counts:
    jobs, passes = options.pop("jobs", 1), options.pop("passes", 1)
    source = open_source(data, schema, **options)
    return count(source, Bounding(5, schema.unit, seed=1), jobs=jobs, passes=passes)


def write_csv(frame: pl.DataFrame, path: Path) -> None:
    frame.write_csv(path)


def write_tsv(frame: pl.DataFrame, path: Path) -> None:
    lines = ["\t".join(frame.columns), *("\t".join(v or "" for v in row) for row in frame.rows())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_jsonl(frame: pl.DataFrame, path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in frame.rows(named=True)), encoding="utf-8")


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    frame.write_parquet(path, row_group_size=3)


WRITERS: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    "csv": write_csv,
    "tsv": write_tsv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
}


@pytest.mark.parametrize("schema", [SCHEMA, PEOPLE], ids=["row", "person"])
@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow", "batch"])
def test_frames_in_memory(kind: str, schema: Schema) -> None:
    data = {
        "polars": lambda: FRAME,
        "pandas": lambda: pd.DataFrame(FRAME.to_dict(as_series=False)),
        "arrow": lambda: pa.table(FRAME.to_dict(as_series=False)),
        "batch": lambda: pa.record_batch(FRAME.to_dict(as_series=False)),
    }[kind]()
    assert same(counted(data, schema), expected(schema))


@pytest.mark.parametrize("schema", [SCHEMA, PEOPLE], ids=["row", "person"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("kind", list(WRITERS))
def test_files(kind: str, packed: bool, schema: Schema, tmp_path: Path) -> None:
    path = tmp_path / f"data.{kind}"
    frame = PLAIN if kind == "tsv" else FRAME
    WRITERS[kind](frame, path)
    if packed:
        zipped = tmp_path / f"data.{kind}.gz"
        zipped.write_bytes(gzip.compress(path.read_bytes()))
        path = zipped
    assert same(counted(path, schema), expected(schema, frame))
    assert same(counted(str(path), schema, batch_rows=2, jobs=3), expected(schema, frame))


def test_a_folder_a_glob_and_a_list_of_paths_are_all_their_files(tmp_path: Path) -> None:
    write_csv(PLAIN[:3], tmp_path / "a.csv")
    write_parquet(PLAIN[3:5], tmp_path / "b.parquet")
    (tmp_path / "deep").mkdir()
    write_jsonl(PLAIN[5:], tmp_path / "deep" / "c.jsonl")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden").write_text("")
    for schema in (SCHEMA, PEOPLE):
        assert same(counted(tmp_path, schema), expected(schema, PLAIN))
        assert same(counted(str(tmp_path / "**" / "*.*[lvt]"), schema), expected(schema, PLAIN))
        paths = [tmp_path / "b.parquet", tmp_path / "deep", tmp_path / "a.csv"]
        assert same(counted(paths, schema), expected(schema, PLAIN))


@settings(max_examples=25)
@given(st.permutations(range(len(FRAME))), st.integers(1, 9), st.integers(1, 3), st.integers(1, 3))
def test_order_batches_threads_and_passes_do_not_matter(order: list[int], batch: int, jobs: int, passes: int) -> None:
    for schema in (SCHEMA, PEOPLE):
        counts = counted(FRAME[order], schema, batch_rows=batch, jobs=jobs, passes=passes)
        assert same(counts, expected(schema))


def test_a_file_without_header_and_other_separators(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    rows = ["yes;'a;b'", "no;'it''s'"]
    path.write_text("\n".join(rows), encoding="utf-8")
    schema = Schema((TextColumn("t", bits=8),), classes=("no", "yes"), label="y")
    options = FileOptions(format="csv", header=("y", "t"), delimiter=";", quote="'")
    table, _ = oracle.count([(oracle.buckets("a;b", 8), 1, None), (oracle.buckets("it's", 8), 0, None)], 2, 256)
    counts = counted(path, schema, options=options)
    assert open_exact(counts.features).sum(axis=1).tolist() == [1, 2]
    assert np.array_equal(open_exact(counts.features), table)


def test_quotes_are_ordinary_characters_in_tsv(tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    path.write_text('y\tt\nno\t"open quote\nyes\tclosed"\n', encoding="utf-8")
    schema = Schema((TextColumn("t", bits=8),), classes=("no", "yes"), label="y")
    assert open_exact(counted(path, schema).labels).tolist() == [1, 1]


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    path.write_text("y\tt\nno\ta\u0085b\u2028c\x0bd\r\nyes\te\n", encoding="utf-8", newline="")
    schema = Schema((TextColumn("t", bits=8),), classes=("no", "yes"), label="y")
    assert open_exact(counted(path, schema).labels).tolist() == [1, 1]


def test_types_do_not_matter(tmp_path: Path) -> None:
    schema = Schema(
        (CategoryColumn("c", (1, 2)), CategoryColumn("t", ("true", "1")), NumberColumn("n", (0, 1, 2))),
        classes=(0, 1),
        label="y",
    )
    as_text = pl.DataFrame(
        {
            "c": ["1", "2.0", "3", ""],
            "t": ["true", "false", "true", ""],
            "n": ["0.5", "1", "9", ""],
            "y": ["0", "1", "+1", "1e0"],
        }
    )
    typed = pl.DataFrame(
        {
            "c": [1.0, 2.0, 3.0, None],
            "t": [True, False, True, None],
            "n": [0.5, 1.0, 9.0, float("nan")],
            "y": [False, True, True, True],
        }
    )
    path = tmp_path / "t.parquet"
    typed.write_parquet(path)
    reference = open_exact(counted(as_text, schema).features)
    for data in (typed, path, typed.to_arrow(), pd.DataFrame(typed.to_dict(as_series=False))):
        assert np.array_equal(open_exact(counted(data, schema).features), reference)


binary = st.integers(1, 12).flatmap(
    lambda d: st.lists(st.lists(st.integers(0, 1), min_size=d, max_size=d), min_size=1, max_size=10)
)


@settings(max_examples=50)
@given(binary, st.integers(1, 5), st.randoms(use_true_random=False))
def test_matrices(rows: list[list[int]], r: int, random) -> None:
    matrix = np.array(rows)
    n, d = matrix.shape
    y = np.array([random.choice([0, 1, 7]) for _ in rows])
    people = [random.choice(["a", "b"]) for _ in rows]
    plain = [
        (frozenset(np.flatnonzero(row).tolist()), int(label), person)
        for row, label, person in zip(matrix, y, people, strict=True)
        if label < 2
    ]
    for unit in (Unit.row(), Unit.user("who", 2)):
        schema = Schema.matrix(d, (0, 1))
        schema = Schema(schema.columns, schema.classes, unit=unit)
        bounding = Bounding(r, unit, seed=9)
        wanted = oracle.count(oracle.bound(plain, bounding), 2, d)
        scaled = matrix * np.array([[random.choice([1.0, -2.5, 1e-300]) for _ in range(d)] for _ in range(n)])
        repeated = sp.csr_matrix((np.ones(2 * int(matrix.sum())), np.tile(np.nonzero(matrix), 2)), shape=(n, d))
        for data in (
            matrix,
            matrix.astype(bool),
            scaled,
            sp.csr_array(matrix),
            sp.csc_matrix(scaled),
            sp.coo_array(matrix),
            repeated,
        ):
            source = open_source(data, schema, y=y, persons=people)
            assert same(count(source, bounding, jobs=2), wanted)


def test_a_matrix_is_left_as_it_was() -> None:
    data = np.array([1.0, -1.0, 0.0, np.nan, 2.0])
    matrix = sp.csr_matrix((data, np.array([2, 2, 0, 1, 1]), np.array([0, 3, 5])), shape=(2, 3))
    counts = count(open_source(matrix, Schema.matrix(3, (0, 1)), y=[0, 1]), Bounding(3, seed=0))
    assert open_exact(counts.features).tolist() == [[0, 0, 1], [0, 1, 0]]
    assert np.array_equal(matrix.data, data, equal_nan=True)
    assert matrix.indices.tolist() == [2, 2, 0, 1, 1]


@pytest.mark.parametrize("broken", ["repeated", "descending", "negative", "two", "nan", "beyond", "none"])
def test_the_compiled_check_sees_what_is_not_plain(broken: str) -> None:
    indptr, indices = np.array([0, 3, 3, 5, 6, 6]), np.array([1, 4, 6, 0, 2, 5], dtype=np.int32)
    data = np.ones(6)
    change = {
        "repeated": lambda: indices.__setitem__(1, 1),
        "descending": lambda: indices.__setitem__(3, 3),
        "negative": lambda: indices.__setitem__(3, -1),
        "two": lambda: data.__setitem__(5, 2),
        "nan": lambda: data.__setitem__(0, np.nan),
        "beyond": lambda: indices.__setitem__(5, 7),
        "none": lambda: None,
    }
    change[broken]()
    assert is_plain(indptr, indices, data, 7) == (broken == "none")
    assert is_plain(indptr.astype(np.int32), indices, data.astype(np.float32), 7) == (broken == "none")


def test_a_falling_index_pointer_is_not_plain() -> None:
    assert not is_plain(np.array([0, 2, 1, 3]), np.arange(3, dtype=np.int32), np.ones(3), 3)
    assert is_plain(np.array([0]), np.zeros(0, dtype=np.int32), np.ones(0), 3)


@pytest.mark.parametrize("rows", [50, 300_000])
@pytest.mark.parametrize("index", [-1, 7])
def test_a_broken_matrix_is_an_error(rows: int, index: int) -> None:
    matrix = sp.csr_array(np.ones((rows, 7)))
    matrix.indices[3] = index
    with pytest.raises(SchemaError, match="broken"):
        open_source(matrix, Schema.matrix(7, (0, 1)), y=np.zeros(rows, dtype=int))


def test_threads_share_large_matrices() -> None:
    random = np.random.default_rng(5)
    n, d = 150_000, 30
    matrix = sp.csr_array((random.random((n, d)) < 0.3).astype(np.float64))
    y = random.integers(0, 2, n)
    one, two, general = (
        count(open_source(matrix, Schema.matrix(d, (0, 1)), y=y), Bounding(12, seed=0, preference=ranks), jobs=jobs)
        for jobs, ranks in ((1, None), (3, None), (1, np.zeros(d, dtype=int)))
    )
    assert same(one, (open_exact(two.features), open_exact(two.labels)))
    assert same(one, (open_exact(general.features), open_exact(general.labels)))
    kept = count(open_source(matrix, Schema.matrix(d, (0, 1)), y=y), Bounding(d), jobs=3)
    assert np.array_equal(open_exact(kept.features), (matrix.T @ np.stack([1 - y, y], axis=1)).T)


def test_libsvm(tmp_path: Path) -> None:
    lines = [
        "+1 1:1 3:0.5 # note",
        "-1 2:1 3:0 qid:4",
        "",
        "1 3:1 3:1",
        "0 1:1",
        "1 nonsense",
        "1 9:1 1:1",
        "-1",
        "-1 2:abc",
    ]
    path = tmp_path / "d.libsvm"
    path.write_text("\n".join(lines) + "\n")
    schema = Schema.matrix(3, (-1, 1))
    for batch in (1, 3, 100):
        counts = count(open_source(path, schema, batch_rows=batch), Bounding(3, seed=0))
        assert open_exact(counts.features).tolist() == [[0, 1, 0], [2, 0, 2]]
        assert open_exact(counts.labels).tolist() == [2, 3]


def test_lists_of_texts_and_two_dimensional_arrays() -> None:
    schema = Schema.text((0, 1), bits=5)
    texts = ["a b", "b c", ""]
    wanted = oracle.count([(oracle.buckets(t, 5), y, None) for t, y in zip(texts, [0, 1, 1], strict=True)], 2, 32)
    for data in (texts, np.array(texts), pd.Series(texts), pl.Series(texts), pa.array(texts), tuple(texts)):
        assert same(counted(data, schema, y=np.array([0, 1, 1])), wanted)
    table = Schema((NumberColumn("a", (0, 1, 2)), NumberColumn("b", (0, 5))), classes=("n", "y"))
    counts = counted(np.array([[0.5, 3], [1.5, np.nan]]), table, y=["n", "y"])
    assert open_exact(counts.features).tolist() == [[1, 0, 0, 1, 0], [0, 1, 0, 0, 1]]


def test_versions_follow_the_data(tmp_path: Path) -> None:
    def version(data: object, schema: Schema = SCHEMA, **options) -> str:
        return open_source(data, schema, **options).version

    assert version(FRAME) == version(FRAME.clone()) != version(FRAME[1:])
    assert version(FRAME, version="2026-11") == "2026-11"
    matrix, schema = sp.csr_array(np.eye(3)), Schema.matrix(3, (0, 1))
    assert version(matrix, schema, y=[0, 1, 1]) == version(matrix.copy(), schema, y=[0, 1, 1])
    assert version(matrix, schema, y=[0, 1, 1]) != version(matrix, schema, y=[0, 1, 0])
    for name in ("a", "b"):
        write_csv(FRAME, tmp_path / f"{name}.csv")
    assert version(tmp_path / "a.csv") == version(tmp_path / "b.csv")
    counts = {counted(FRAME, version="v").features.version, counted(FRAME, PEOPLE, version="v").features.version}
    assert len(counts) == 2


def test_odd_requests() -> None:
    with pytest.raises(ParameterError, match="batch_rows"):
        open_source(FRAME, SCHEMA, batch_rows=0)
    with pytest.raises(ParameterError, match="Rows of a table"):
        open_source(3, SCHEMA)
    with pytest.raises(ParameterError, match="bounding"):
        count(open_source(FRAME, SCHEMA), Bounding(1, Unit.user("person", 1)))
    with pytest.raises(ParameterError, match="preference"):
        count(open_source(FRAME, SCHEMA), Bounding(1, preference=np.arange(3)))
    with pytest.raises(ParameterError, match="jobs"):
        count(open_source(FRAME, SCHEMA), Bounding(1), jobs=0)
    with pytest.raises(ParameterError, match="'persons' parameter of fit must be left out"):
        open_source(FRAME, PEOPLE, persons=[0] * 7)
    assert "7" not in repr(open_source(FRAME, Schema.text(("no", "yes"), bits=3, label="y")))
