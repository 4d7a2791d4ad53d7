"""Spark counts what the embedded engine counts: on a real cluster of one master and two workers on this machine."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import tacit
from tacit.data import spark, spark_files, statistics
from tacit.data.bounding import Bounding, first_of_each, row_order
from tacit.data.columns import CategoryColumn, NumberColumn, SparseColumn, TextColumn
from tacit.data.errors import SchemaError, SourceError
from tacit.data.features import encode
from tacit.data.generator import generate_text
from tacit.data.readers import FileOptions
from tacit.data.schema import Schema
from tacit.data.sources import open_source
from tacit.data.split import split_source
from tacit.privacy._seal import open_exact
from tacit.privacy.exact import Exact
from tacit.privacy.gate import release
from tacit.privacy.mechanisms import DiscreteLaplace
from tacit.privacy.unit import Unit
from tests.support import spark_cluster

pytestmark = pytest.mark.xdist_group("spark")

TEXTS = [
    "Don’t PANIC: it's 42 ❤️ 你好 again, and again, and more words here",
    "ΣΊΣΥΦΟΣ Ελλάς İstanbul STRASSE straße ẞ one two three four",
    "Съешь же ещё этих мягких французских булок ЁЖ",
    None,
    "",
    "ひらがなカタカナ 漢字々〇 ﾊﾝｶｸ ＦＵＬＬ",
    "a'b''c 'd' e' f’g",
    "🙂🙂🇩🇪 👩‍👩‍👧 ☃",
    "नमस्ते दुनिया",
    "שלום עולם",
    "مرحبا بالعالم؟",
    "\u0085x\u2028y\tz\x00w",
    "𝔘𝔫𝔦 𠀀𠀁 \U0010ffff",
    "tiếng Việt ƠƯ e\u0301té été",
    "x" * 5000,
    "a'" * 50_000,  # must not overflow a stack
    *(f"{year} {year} {'word ' * (year % 7)}w{year} v{year % 13}" for year in range(1990, 2020)),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[spark_cluster.Cluster]:
    reason = spark_cluster.missing()
    if reason is not None:
        pytest.skip(reason)
    running = spark_cluster.Cluster()
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def session(cluster: spark_cluster.Cluster) -> Iterator[Any]:
    opened = cluster.session()
    yield opened
    opened.stop()


@pytest.fixture
def both(session: Any, tmp_path: Path) -> Any:
    """Count a Polars frame on both engines, through Parquet, and check that everything is equal."""

    def count_both(frame: pl.DataFrame, schema: Schema, bounding: Bounding) -> None:
        path = tmp_path / "data.parquet"
        frame.write_parquet(path, row_group_size=16)
        there = spark.count(path, schema, bounding, session=session, version="v")
        here = statistics.count(open_source(frame, schema, version="v"), bounding)
        assert_same(there.features, here.features)
        assert_same(there.labels, here.labels)

    return count_both


def assert_same(one: Exact, other: Exact, *, named_alike: bool = True) -> None:
    """``named_alike``: not where one of them has a name for labels, or for a model, that the other does not know."""
    assert np.array_equal(open_exact(one), open_exact(other))
    assert open_exact(one).sum() > 0
    for name in ("sensitivity", "unit", "query", *(["version"] if named_alike else [])):
        assert getattr(one, name) == getattr(other, name)


def text_frame() -> pl.DataFrame:
    """Texts of many alphabets, and strings of random code points."""
    rng = np.random.default_rng(11)
    ranges = [(0x20, 0x7F), (0x20, 0x250), (0x370, 0x700), (0x900, 0x1200), (0x1E00, 0x3200), (0x20, 0xD7FF)]
    ranges += [(0xE000, 0xFFFF), (0x10000, 0x10FFFF)]
    noise = ["".join(map(chr, rng.integers(*ranges[i % 8], size=40))) for i in range(400)]
    texts = TEXTS + noise
    return pl.DataFrame({"text": texts, "label": rng.integers(0, 3, len(texts))}, schema_overrides={"text": pl.String})


@pytest.mark.parametrize("max_ones", [5, 10_000])
def test_multilingual_text_in_buckets(both: Any, max_ones: int) -> None:
    both(text_frame(), Schema.text((0, 1), bits=10, label="label"), Bounding(max_ones, seed=-(2**63)))


def test_text_with_public_words_and_a_preference(both: Any) -> None:
    words = ("panic", "don't", "мягких", "你", "one", "x", "été", "again", "w1999", "word")
    schema = Schema((TextColumn("text", words=words),), classes=(0, 1, 2), label="label")
    both(text_frame(), schema, Bounding(2, seed=7))
    hashed = Schema.text((0, 1, 2), bits=8, label="label")
    both(text_frame(), hashed, Bounding(4, seed=7, preference=np.arange(256) % 3))


def test_broken_bytes_are_repaired_alike(both: Any) -> None:
    pieces = [
        b"caf\xc3\xa9",
        b"\xff",
        b"\xc3",
        b"a\xe2\x82b",
        b"\xf0\x9f\x99",
        b"ok \xed\xa0\x80 b",
        b"",
        b"\xf0\x9f\x99\x82 x",
    ]
    rng = np.random.default_rng(4)
    texts = [b" ".join(pieces[i] for i in rng.integers(0, len(pieces), 5)) for _ in range(200)]
    people = [pieces[i] for i in rng.integers(0, len(pieces), 200)]
    frame = pl.DataFrame({"text": texts, "who": people, "label": np.arange(200) % 2})
    unit = Unit.user("who", 5)
    both(frame, Schema((TextColumn("text", bits=6),), classes=(0, 1), label="label", unit=unit), Bounding(3, unit, 1))


def odd_table() -> pl.DataFrame:
    """Numbers, categories, truth values, dates and persons, with everything odd about them."""
    numbers = [
        "1",
        "2.5",
        " 7 ",
        "1e3",
        "inf",
        "-INF",
        "NaN",
        "x",
        "",
        "?",
        None,
        "true",
        "5\u2028",
        "1d",
        "0x10",
        ".5",
    ]
    numbers += ["5.", "+3", "1e999", "99999999999999999999", "-0", "1_0", "١", "3\n"]
    values = ["a", "b ", " a", "zz", "", "?", None, "A", "b", "a\u00a0", "\ta", "Ä", "Ä"]
    people = ["p1", "p2", " p1", "p3", "", "?", None, "p1", "pé", "p2", "p1"]
    fractions = [0.5, 1.0, None, float("nan"), float("inf"), -0.0, 0.0, 1e300, -3.5, 2.0, float("-inf")]
    rng = np.random.default_rng(5)

    def draw(choices: list[Any]) -> list[Any]:
        return [choices[i] for i in rng.integers(0, len(choices), 600)]

    return pl.DataFrame(
        {
            "n": draw(numbers),
            "c": draw(values),
            "d": draw([1, 2, 3, None, 5, -7, 2**40]),
            "e": draw(fractions),
            "b": draw([True, False, None]),
            "t": draw(["true", "TRUE", " True", "False", "FALSE", "tRue", "", None]),
            "day": pl.Series(draw(["2024-02-29", "1999-12-31"])).str.to_date(),
            "who": draw(people),
            "id": draw([1, 2, 3, 4, 5, 6, 7, 8, None]),
            "y": draw(["yes", "no", " yes", "maybe", None, "yes"]),
        }
    )


def table_schema(unit: Unit) -> Schema:
    columns = (
        NumberColumn("n", (0, 1, 3, 8)),
        CategoryColumn("c", ("a", "b", "Ä")),
        CategoryColumn("d", (1, 5, 2.0, 2**40)),
        NumberColumn.equal_bins("e", 0, 10, 5),
        NumberColumn("d2", (0, 4)),
        CategoryColumn("b", ("true", "FALSE")),
        CategoryColumn("t", ("True", "false", "FALSE")),
        CategoryColumn("day", ("1999-12-31",)),
        CategoryColumn("e2", (0.5,)),
        CategoryColumn("b2", (1,)),
    )
    missing = ("", "?", "3", "-7", "2", "-3.5", "1.0", "1e300", "inf", "false")
    return Schema(columns, classes=("no", "yes"), label="y", unit=unit, missing=missing)


@pytest.mark.parametrize(
    ("unit", "max_ones"),
    [
        (Unit.row(), 3),
        (Unit.user("who", 1), 100),
        (Unit.user("who", 3), 2),
        (Unit.user("id", 2), 4),
    ],
)
def test_tables_with_odd_values_and_persons(both: Any, unit: Unit, max_ones: int) -> None:
    frame = odd_table().with_columns(d2=pl.col("d"), e2=pl.col("e"), b2=pl.col("b"))
    both(frame, table_schema(unit), Bounding(max_ones, unit, seed=3))


def test_decimal_commas(both: Any) -> None:
    texts = ["3,14", "3.14", "-0,5e1", ",5", "5,", "1.234,5", "1,2,3", ",", "9,9", "inf", None, "1,\n2", "120,5"]
    frame = pl.DataFrame({"a": texts, "b": [0.5 * i for i in range(len(texts))], "y": ["no"] * len(texts)})
    columns = [NumberColumn(name, (-5.0, 0.0, 1.0, 3.0, 4.0, 50.0, 200.0), ",") for name in ("a", "b")]
    schema = Schema(tuple(columns), classes=("no", "yes"), label="y", missing=("", "9,9"))
    both(frame, schema, Bounding(2, seed=3))


def test_arrays_of_features_equal_a_matrix(session: Any, tmp_path: Path) -> None:
    matrix = sp.random_array((300, 1000), density=0.03, rng=np.random.default_rng(2), format="csr")
    labels = np.arange(300) % 2
    ids = [matrix.indices[a:b].tolist() for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)]
    ids[0] = [*ids[0], *ids[0], -1, 1000, None]  # repeated ones count once, those outside are ignored
    pl.DataFrame({"x": ids, "y": labels}).write_parquet(tmp_path / "x.parquet")
    column = SparseColumn("x", 1000)
    bounding = Bounding(20, seed=1)
    there = spark.count(
        session.read.parquet(str(tmp_path / "x.parquet")),
        Schema((column,), classes=(0, 1), label="y"),
        bounding,
        version="v",
    )
    here = statistics.count(open_source(matrix, Schema.matrix(1000, (0, 1)), y=labels, version="v"), bounding)
    assert np.array_equal(open_exact(there.features), open_exact(here.features))
    assert np.array_equal(open_exact(there.labels), open_exact(here.labels))


DELIMITED = [
    ("a.csv", 'text,label,note\n"one, ""two""",0,\nthree,1,x,y\n"four\nfive",1,z\n\nsix,0,\nseven,1\n,1,q\n', None),
    ("a.tsv", 'text\tlabel\n"one two\t0\nthree" four\t1\nfive\t0\t2\n\t1\n', None),
    ("b.tsv", "0\tone two\n1\tthree\n", FileOptions(header=("label", "text"))),
    ("c.csv.gz", "text,label\none two,0\nthree,1\n", None),
]


@pytest.mark.parametrize(("name", "content", "options"), DELIMITED)
def test_delimited_files_are_read_alike(
    session: Any, tmp_path: Path, name: str, content: str, options: FileOptions | None
) -> None:
    path = tmp_path / name
    data = content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    schema = Schema((TextColumn("text", bits=8),), classes=(0, 1), label="label")
    there = spark.count(path, schema, Bounding(5, seed=2), options=options, session=session, version="v")
    here = statistics.count(open_source(path, schema, options=options, version="v"), Bounding(5, seed=2))
    assert_same(there.features, here.features)
    assert_same(there.labels, here.labels)


@pytest.mark.parametrize("name", ["d.csv", "d.tsv"])
def test_a_wide_record_is_dropped(session: Any, tmp_path: Path, name: str) -> None:
    """Spark ended the run at 20,480 fields, which told that such a record is there."""
    sign = "," if name == "d.csv" else "\t"
    lines = [f"text{sign}label", *[f"a{sign}0", f"b{sign}1"] * 20, "a" + sign * 25_000, f"c{sign}1"]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    schema = Schema((TextColumn("text", bits=8),), classes=(0, 1), label="label")
    counts = spark.count(tmp_path / name, schema, Bounding(5, seed=2), session=session, version="v")
    assert open_exact(counts.labels).tolist() == [20, 21]


def test_an_open_quote_is_refused_as_on_one_machine(session: Any, tmp_path: Path) -> None:
    """It swallowed the records behind it, so that one row more took away many, without a word."""
    path, schema = tmp_path / "d.csv", Schema((TextColumn("text", bits=8),), classes=(0, 1), label="label")
    path.write_text("text,label\n" + "a,0\n" * 9 + '"open,1\n' + "b,1\n" * 9)
    for wanted, given in ((path, path), (str(tmp_path), tmp_path)):
        options = FileOptions(format="csv") if given == tmp_path else None
        with pytest.raises(SourceError, match="never closed"):
            spark.count(wanted, schema, Bounding(5), options=options, session=session, version="v")
    for wanted, options, words in (
        ("hdfs://there/d.csv", None, "cannot be looked through"),
        (path, FileOptions(delimiter=";"), "read as a file's name says"),
    ):
        with pytest.raises(SourceError, match=words):
            spark.count(wanted, schema, Bounding(5), options=options, session=session, version="v")
    plain = spark.count(path, schema, Bounding(5), options=FileOptions(quote=""), session=session, version="v")
    assert open_exact(plain.labels).tolist() == [9, 10]


@pytest.mark.parametrize("unit", [Unit.row(), Unit.user("who", 2)])
def test_score_histograms_equal_those_of_the_scores(session: Any, tmp_path: Path, unit: Unit) -> None:
    rng = np.random.default_rng(8)
    frame = text_frame().with_columns(who=pl.Series([f"p{i}" for i in rng.integers(0, 60, text_frame().height)]))
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=50)
    schema = Schema((TextColumn("text", bits=10),), classes=(0, 1, 2), label="label", unit=unit)
    weights = rng.normal(size=1024)
    rows = encode(frame, schema, None)
    ones = np.ones(len(rows.indices))
    scores = sp.csr_array((ones, rows.indices, rows.indptr), shape=(len(rows), 1024)) @ weights - 0.25
    grid = np.quantile(scores, [0.1, 0.5, 0.9])
    grid[1] = scores[17]  # a score that lies on a threshold
    there = spark.score_histogram(
        tmp_path / "t.parquet", schema, weights, grid, intercept=-0.25, seed=4, session=session, version="v"
    )
    kept = np.flatnonzero(rows.labels >= 0)
    if unit.column is not None:
        people, labels = frame["who"].gather(kept), rows.labels[kept]
        order = row_order((scores[kept] + 0.0).view(np.int64), labels, people, Bounding(1, unit, 4).key)
        kept = kept[first_of_each(people, order, unit.max_rows)]
    here = np.zeros((3, 4), dtype=np.int64)
    np.add.at(here, (rows.labels[kept], np.searchsorted(grid, scores[kept], side="right")), 1)
    assert np.array_equal(open_exact(there), here)
    assert there.sensitivity.l1 == unit.max_rows
    other = spark.score_histogram(tmp_path / "t.parquet", schema, -weights, grid, seed=4, session=session, version="v")
    assert other.version != there.version, "another model's histogram is another release"
    data = session.read.parquet(str(tmp_path / "t.parquet"))
    table = spark.score(data, schema, weights, intercept=-0.25).select("text", "score").toArrow()
    assert sorted(table.column("score").to_pylist()) == sorted(scores.tolist())


def one_of_each(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """The first row of each set of features and label."""
    kinds = {}
    for place in range(len(frame)):
        rows = next(open_source(frame[place], schema).rows())
        kinds.setdefault((tuple(rows.indices), tuple(rows.labels)), place)
    return frame[list(kinds.values())]


def test_copies_have_coins_of_their_own(session: Any) -> None:
    data = session.range(4000).selectExpr("if(id % 2 = 0, 'a b', 'c') as text", "0 as label", "map('k', 'v') as more")
    train, test = spark.split(data, Schema.text((0, 1), bits=4, label="label"), 0.5, seed=3)
    sizes = [dict(part.groupBy("text").count().collect()) for part in (train, test)]
    for text in ("a b", "c"):
        assert sizes[0][text] + sizes[1][text] == 2000
        assert abs(sizes[1][text] - 1000) < 5 * np.sqrt(500)  # five deviations: a false alarm in 1.7 million
    assert train.columns == data.columns


@pytest.mark.parametrize("unit", [Unit.row(), Unit.user("id", 2)])
def test_splits_follow_the_same_coins(session: Any, tmp_path: Path, unit: Unit) -> None:
    frame = odd_table().with_columns(d2=pl.col("d"), e2=pl.col("e"), b2=pl.col("b"))
    schema, rule = table_schema(unit), Bounding(4, unit, seed=2)
    frame = one_of_each(frame, schema)  # copies are rows that are equal in all columns: Spark keeps all of them
    frame.write_parquet(tmp_path / "t.parquet")
    parts = spark.split(tmp_path / "t.parquet", schema, 0.5, seed=-6, session=session)
    sources = split_source(open_source(frame, schema, version="v"), 0.5, seed=-6)
    for there, here in zip(parts, sources, strict=True):
        one, other = spark.count(there, schema, rule), statistics.count(here, rule)
        assert np.array_equal(open_exact(one.features), open_exact(other.features))
        assert 0 < open_exact(one.labels).sum() < len(frame)


def test_a_split_is_registered_with_its_account(session: Any) -> None:
    data = session.range(10).selectExpr("'a b' as text", "0 as label")
    schema = Schema.text((0, 1), bits=4, label="label")
    account = tacit.Ledger.open().account("split", budget=tacit.Budget(1.0), unit="row")
    with pytest.raises(tacit.ParameterError, match="'version'"):
        spark.split(data, schema, account=account)
    parts = spark.split(data, schema, account=account, version="v")
    assert parts.accounts is not None
    assert list(parts.accounts) == ["train", "test"]


def test_parts_that_may_overlap_never_share_a_name(session: Any, tmp_path: Path) -> None:
    """The position of the label in the classes is hashed into a row's coin."""
    (tmp_path / "rows.csv").write_text("".join(f"t{i},{i % 2},{i // 2 % 2}\n" for i in range(100)))
    account = tacit.Ledger.open().account("split", budget=tacit.Budget(1.0), unit="row")

    def register(*header: str, classes: tuple[int, int] = (0, 1), label: str = "label") -> None:
        schema, options = Schema.text(classes, bits=4, label=label), FileOptions(header=header)
        path = tmp_path / "rows.csv"
        spark.split(path, schema, account=account, version="v", options=options, session=session)

    for _ in range(2):
        register("text", "label", "other")
        register("text", "label", "other", classes=(1, 0))
        register("text", "label", "other", label="other")
        register("text", "other", "label")
    assert len(account.splits()) == 4


def test_no_python_runs_on_the_executors(session: Any) -> None:
    from tacit.data import spark_sql

    data = session.range(100).selectExpr("'a b' as text", "'0' as label", "cast(id as string) as who")
    schema = Schema((TextColumn("text", bits=4),), classes=(0, 1), label="label", unit=Unit.user("who", 2))
    rows = spark_sql.bound(spark_sql.encode(data, schema), Bounding(1, schema.unit, seed=1))
    plan = spark_sql.cell_counts(rows)._jdf.queryExecution().toString()
    assert "EvalPython" not in plan
    assert "WindowGroupLimit" in plan  # rows beyond the bound are dropped before the shuffle
    assert "BroadcastNestedLoopJoin" not in plan


def test_counts_from_spark_pass_the_gate(session: Any) -> None:
    data = session.sql("select * from values ('a b c', 0), ('c d', 1) as t(text, label)")
    counts = spark.count(data, Schema.text((0, 1), bits=4, label="label"), Bounding(2, seed=1))
    again = spark.count(data, Schema.text((0, 1), bits=4, label="label"), Bounding(2, seed=1))
    assert counts.features.version == again.features.version
    account = tacit.Ledger.open().account("spark", budget=tacit.Budget(1.0), unit="row")
    receipt = release(account, counts.features, DiscreteLaplace(1.0)).receipt
    assert receipt["sensitivity"]["l1"] == 2
    with pytest.raises(tacit.PrivacyError):
        repr(counts.labels)


def test_what_concerns_the_whole_is_a_clear_error(session: Any, tmp_path: Path) -> None:
    data = session.sql("select 'a' as text, 0 as label, 1.5D as x")
    schema = Schema.text((0, 1), bits=4, label="label")
    rule = Bounding(2, seed=1)
    with pytest.raises(SchemaError, match="no column 'other'"):
        spark.count(data, Schema.text((0, 1), bits=4, label="other"), rule)
    with pytest.raises(SchemaError, match="must name the label's column"):
        spark.count(data, Schema.text((0, 1), bits=4), rule)
    with pytest.raises(SchemaError, match="type double"):
        spark.count(data, Schema.text((0, 1), bits=4, label="label", name="x"), rule)
    with pytest.raises(SchemaError, match="array of whole numbers"):
        spark.count(data, Schema((SparseColumn("x", 5),), classes=(0, 1), label="label"), rule)
    with pytest.raises(tacit.ParameterError, match="schema's unit"):
        spark.count(data, schema, Bounding(2, Unit.user("who", 2)))
    with pytest.raises(tacit.ParameterError, match="'weights'"):
        spark.score(data, schema, [1.0])
    with pytest.raises(tacit.ParameterError, match="'weights'"):
        spark.score(data, schema, [float("nan")] * 16)
    with pytest.raises(tacit.ParameterError, match="'thresholds'"):
        spark.score_histogram(data, schema, np.zeros(16), [1.0, 1.0])
    with pytest.raises(tacit.ParameterError, match="'data'"):
        spark.count([("a", 0)], schema, rule)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="PATH_NOT_FOUND"):
        spark.count(tmp_path / "absent.parquet", schema, rule, session=session)
    with pytest.raises(SourceError, match="CSV, TSV or Parquet"):
        spark.count(tmp_path / "data.jsonl", schema, rule, session=session)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and then nothing PAR1")
    with pytest.raises(SourceError, match="Spark"):
        spark.count(tmp_path / "broken.parquet", schema, rule, session=session)


def test_files_whose_headers_differ_are_refused(session: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label\none,0\n")
    (tmp_path / "b.csv").write_text("label,text\n0,two\n")
    schema = Schema.text((0, 1), bits=4, label="label")
    with pytest.raises(SourceError, match="Spark"):
        spark.count(tmp_path, schema, Bounding(2, seed=1), options=FileOptions(format="csv"), session=session)


def test_without_pyspark_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_files, "find_spec", lambda name: None)
    with pytest.raises(tacit.MissingExtraError, match=r"pip install \"tacit\[spark\]\""):
        spark.count("x.parquet", Schema.text((0, 1)), Bounding(1))


def test_killing_a_worker_changes_nothing(cluster: spark_cluster.Cluster, session: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frames = []
    for batch in generate_text(100_000, seed=5):
        people = [f"p{i}" for i in rng.integers(0, 30_000, len(batch.texts))]
        frames.append(pl.DataFrame({"text": batch.texts, "label": batch.labels, "who": people}))
    whole = pl.concat(frames)
    for number, part in enumerate(whole.iter_slices(6_250)):
        part.write_parquet(tmp_path / f"part{number:02}.parquet")
    schema = Schema((TextColumn("text", bits=12),), classes=(0, 1), label="label", unit=Unit.user("who", 2))
    rule = Bounding(6, schema.unit, seed=9)
    session.conf.set("spark.sql.files.openCostInBytes", str(1 << 30))  # one file, one task
    result: list[Any] = []

    def work() -> None:
        options = FileOptions(format="parquet")
        result.append(spark.count(tmp_path, schema, rule, options=options, session=session, version="v"))

    job = threading.Thread(target=work)
    job.start()
    done = wait_for_tasks(session, at_least=4, of=16)
    cluster.kill_worker(0)
    job.join(120)
    assert not job.is_alive()
    assert 4 <= done < 16
    here = statistics.count(open_source(whole, schema, version="v"), rule)
    assert_same(result[0].features, here.features)
    assert_same(result[0].labels, here.labels)
    assert 30_000 < open_exact(result[0].labels).sum() < len(whole)


def wait_for_tasks(session: Any, at_least: int, of: int) -> int:
    """Wait until a stage has finished some of its tasks and not all, and return how many."""
    tracker = session.sparkContext.statusTracker()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None and info.numTasks == of and info.numCompletedTasks >= at_least:
                return int(info.numCompletedTasks)
        time.sleep(0.02)
    raise AssertionError("the job finished before it could be disturbed")
