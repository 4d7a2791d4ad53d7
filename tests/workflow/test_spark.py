"""A workflow on Spark: the same story, with no row in this process; on a real Spark of one core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.desk.cluster import open_on_spark

pytestmark = pytest.mark.xdist_group("spark")

N = 3000
rng = np.random.default_rng(0)
LABELS = ["yes" if x else "no" for x in rng.integers(0, 2, N)]
FRAME = pl.DataFrame(
    {
        "colour": [
            "red" if (label == "yes") == (x < 0.8) else "blue" for label, x in zip(LABELS, rng.random(N), strict=True)
        ],
        "note": [f"good {i}" if label == "yes" else f"bad {i}" for i, label in enumerate(LABELS)],
        "person": [f"p{i // 2}" for i in range(N)],
        "label": LABELS,
    }
)
SCHEMA = tacit.Schema.from_dict(
    {
        "label": {"classes": ["no", "yes"], "column": "label"},
        "columns": {"colour": {"kind": "category", "values": ["red", "blue"]}},
    }
)
CLASSES = ("no", "yes")


def test_a_table_with_persons_on_spark(session: Any, tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "rows.parquet")
    url = f"sqlite:///{tmp_path}/ledger.db"
    settings: dict[str, Any] = {
        "classes": CLASSES,
        "schema": SCHEMA,
        "unit": "person",
        "rows_per_unit": 2,
        "ledger": url,
        "dataset": "rows",
        "engine": "spark",
    }
    first, second = (tacit.Workflow(2.0, **settings).run(tmp_path / "rows.parquet") for _ in range(2))
    assert first.receipt.to_json() == second.receipt.to_json(), "again is free, and the same"
    assert first.receipt["composition"]["sum"] == "ε: 0 on all rows + the largest of 2 (train) and 2 (test) = 2"
    assert first.receipt["unit"] == "user (column 'person', at most 2 rows)"
    assert 0.65 < first.curve.auc < 0.95
    assert first.model.predict(FRAME[:3]).shape == (3,)
    assert tacit.Ledger.open(url).account("rows").spent == tacit.Budget(2.0)


def test_a_column_that_numbers_rows_leaves_parts_fair(session: Any) -> None:
    """Of few kinds of rows, each is in both parts: what the schema does not name tells no copies apart."""
    frame = session.range(400).selectExpr("id as `row.id`", "'red' as colour", "if(id % 2 = 0, 'no', 'yes') as label")
    part = open_on_spark(frame, classes=CLASSES, unit=tacit.Unit.row(), schema=SCHEMA, version="v")
    account = tacit.Ledger.open().account("rows", budget=tacit.Budget(1.0), unit="row")
    for half in part.split(0.5, account, seed=3)[:2]:
        sizes = dict(half._frame.groupBy("label").count().collect())
        assert all(50 < sizes[label] < 150 for label in CLASSES)


def test_texts_and_cells_agree_with_the_embedded_engine(session: Any, tmp_path: Path) -> None:
    from tacit.data import spark
    from tacit.data.scores import Scores
    from tacit.privacy._seal import open_exact
    from tacit.privacy.unit import Unit

    FRAME.write_parquet(tmp_path / "rows.parquet")
    frame = session.read.parquet(str(tmp_path / "rows.parquet"))
    settings: dict[str, Any] = {"classes": CLASSES, "text": "note", "label": "label", "language": None}
    with pytest.raises(tacit.ParameterError, match="'version'"):
        tacit.Workflow(1.0, engine="spark", **settings).run(frame)
    result = tacit.Workflow(1.0, engine="spark", version="today", **settings).run(frame)
    assert isinstance(result.model, tacit.TabularClassifier)
    assert result.curve.auc > 0.9
    model = result.model
    weights, intercept = np.diff(model.weights_, axis=0)[0], float(np.diff(model.intercept_)[0])
    schema = tacit.Schema(model.schema.columns, CLASSES, label="label")
    there = spark.scores(frame, schema, weights, intercept=intercept)
    chances = model.predict_proba(FRAME)[:, 1]
    here = Scores(
        np.array(LABELS) == "yes", chances, pos_label=True, score_range=(0.0, 1.0), unit=Unit.row()
    )  # fmt: skip
    cuts = np.arange(0, (1 << 16) + 1, 1 << 12)
    one, other = (open_exact(scores.counts((cuts, cuts))) for scores in (here, there))
    assert one.sum() == other.sum() == N
    assert np.abs(one - other).sum() <= 0.01 * N, "cells differ by one at most, where a score lies on an edge"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"classifier": tacit.BernoulliNB()}, "'classifier'"),
        ({"classifier": tacit.TextClassifier()}, "'classifier'"),
        ({"strict": True}, "'strict'"),
        ({"label": "outcome"}, "no column 'outcome'"),
    ],
)
def test_what_spark_cannot_do(session: Any, tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    FRAME.write_parquet(tmp_path / "rows.parquet")
    usual: dict[str, Any] = {"classes": CLASSES, "text": "note", "label": "label", "engine": "spark"}
    with pytest.raises(tacit.TacitError, match=words):
        tacit.Workflow(1.0, **(usual | settings)).run(tmp_path / "rows.parquet")
