"""On Spark one row changes what is said of no other: line ends, copies, models, columns, and files that change."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.data import spark, statistics
from tacit.data.bounding import Bounding
from tacit.data.columns import TextColumn
from tacit.data.errors import SourceError
from tacit.data.readers import FileOptions
from tacit.data.schema import Schema
from tacit.data.sources import open_source
from tacit.desk.cluster import open_on_spark
from tacit.privacy._seal import open_exact
from tacit.privacy.gate import release
from tacit.privacy.mechanisms import DiscreteLaplace
from tacit.privacy.unit import Unit

pytestmark = pytest.mark.xdist_group("spark")

TEXT = Schema((TextColumn("text", bits=4),), classes=(0, 1), label="label")
NO_HEADER = FileOptions(header=("text", "label"))
ENDS = ["x,0\r\n", '"x\r\ny",0\n', '"x\ry",0\n', '"x",0\r\n', "x,0\n"]


def counted(path: Path, options: FileOptions | None, session: Any) -> list[list[int]]:
    """Rows by label on Spark, and on one machine."""
    there = spark.count(path, TEXT, Bounding(5, seed=2), options=options, session=session, version="v")
    here = statistics.count(open_source(path, TEXT, options=options, version="v"), Bounding(5, seed=2))
    return [open_exact(found.labels).tolist() for found in (there, here)]


@pytest.mark.parametrize("odd", ENDS)
def test_a_record_decides_where_no_other_ends(session: Any, tmp_path: Path, odd: str) -> None:
    """Without a header the first record's line end was taken for that of all: of 100 rows one was left, or none."""
    others = "".join(f"t{i},{i % 2}\n" for i in range(100))
    for name, text in (("first", odd + others), ("last", others + odd)):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(text.encode())
        assert counted(path, NO_HEADER, session) == [[51, 50]] * 2


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_records_end_at_line_feeds_whatever_the_header_ends_in(session: Any, tmp_path: Path, end: str) -> None:
    """After a header with both, a record that ended in a line feed alone swallowed the next one, whosever it was."""
    rows = [f"t{i},{i % 2}{end if i % 3 else chr(10)}" for i in range(100)]
    (tmp_path / "mixed.csv").write_bytes(f"text,label{end}{''.join(rows)}".encode())
    assert counted(tmp_path / "mixed.csv", None, session) == [[50, 50]] * 2
    (tmp_path / "b.csv").write_bytes(f'"text","label"{chr(10)}"a","0"{end}"b","1"{end}'.encode())
    frame = spark.open_frame(tmp_path, FileOptions(format="csv"), session=session)
    assert (frame.columns, frame.count()) == (["text", "label"], 102)
    assert not frame.where("label not in ('0', '1')").count()


def test_copies_are_told_by_content(session: Any) -> None:
    """Texts of one collation, 0.0 and −0.0, and maps to the microsecond: one more row renumbered all of them."""
    kinds = {
        "zero": "cast(1 - 2 * (id % 2) as double) * 0.0D as x",
        "list": "array(cast(1 - 2 * (id % 2) as double) * 0.0D) as x",
        "struct": "named_struct('a', if(id % 2 = 0, 'b', 'c')) as x",
        "collated": "collate(if(id % 2 = 0, 'a', 'A'), 'UTF8_LCASE') as x",
        "map": "map('k', timestamp_micros(cast(1 + id % 2 as bigint))) as x",
    }
    for name, column in kinds.items():
        sizes = []
        for first in (0, -2):  # one row more, at the front
            data = session.range(first, 2000).where("id != -1").selectExpr(column, "'a' as text", "0 as label")
            tests = spark.split(data, TEXT, 0.5, seed=3)[1]
            told = {"zero": "cast(x as string)", "list": "cast(x[0] as string)", "struct": "x.a", "map": "x['k']"}
            shown = tests.selectExpr(f"{told.get(name, 'cast(x as binary)')} as x").collect()
            sizes.append(Counter(str(row[0]) for row in shown))
        moved = sum(abs(sizes[1][value] - sizes[0][value]) for value in sizes[0])
        assert (len(sizes[0]), moved <= 1) == (2, True), (name, sizes)


def test_whether_scores_are_the_same_is_told_by_the_model(session: Any) -> None:
    """Two models that differ in the weight of a word had one price if nobody has the word, and two if somebody has."""
    weights = np.zeros(16)
    other = np.append(weights[:-1], 5.0)
    for texts in (["none"] * 50, ["none"] * 49 + ["smith"]):
        rows = [(text, place % 2) for place, text in enumerate(texts)]
        data = session.createDataFrame(rows, "text string, label int")
        account = tacit.Ledger.open().account("a", budget=tacit.Budget(9.0))
        for model in (weights, other, weights):
            histogram = spark.score_histogram(data, TEXT, model, [0.5], seed=1)
            release(account, histogram, DiscreteLaplace(1.0))
        assert account.spent.epsilon == 2
        versions = [spark.scores(data, TEXT, model).version for model in (weights, other, weights)]
        assert len(set(versions)) == 2


def test_other_columns_make_another_split(session: Any) -> None:
    """Copies are equal in all columns: with a column more other rows are in the test part, under the same name."""
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(1.0))
    data = session.range(200).selectExpr("'a' as text", "cast(id % 2 as int) as label", "id as n")
    first, second = (spark.split(part, TEXT, 0.5, account=account, version="v") for part in (data, data.drop("n")))
    counts = [spark.count(part, TEXT, Bounding(1, seed=1)).labels for part in (first[1], second[0])]
    release(first.accounts["test"], counts[0], DiscreteLaplace(1.0))
    with pytest.raises(tacit.BudgetError):
        release(second.accounts["train"], counts[1], DiscreteLaplace(1.0))


def test_files_that_change_between_two_readings_are_refused(session: Any, tmp_path: Path) -> None:
    """Sorted anew in between, a file had rows in both parts, each charged as if they were apart."""
    path = tmp_path / "moving.csv"
    lines = [f"t{place},{place % 2}\n" for place in range(50)]
    path.write_text("text,label\n" + "".join(lines), encoding="utf-8")
    part = open_on_spark(str(path), classes=(0, 1), unit=Unit.row(), schema=TEXT)
    part.counts(TEXT, Bounding(5, seed=2))
    path.write_text("text,label\n" + "".join(reversed(lines)) + "more,0\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"moving\.csv' changed after it was opened"):
        part.counts(TEXT, Bounding(5, seed=2))
