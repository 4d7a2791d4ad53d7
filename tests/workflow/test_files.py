"""What a run leaves in a folder, and that names cannot do harm there."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.evaluation.storage import load_curve
from tacit.report.files import safe_cell

NAMES = ['=HYPERLINK("http://x")', "<script>alert(1)</script>", "two\nlines", "plain, with a comma", "-1", "\t@x"]


@pytest.fixture(scope="module")
def result() -> tacit.Result:
    values = tuple(NAMES)
    columns = {
        "=x": {"kind": "category", "values": list(values)},
        "=y": {"kind": "number", "low": 0, "high": 1, "bins": 2},  # equal rows would fall into the same part
    }
    schema = tacit.Schema.from_dict({"label": {"classes": [0, 1]}, "columns": columns})
    import polars as pl

    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(values), 2000)
    frame = pl.DataFrame({"=x": [values[i] for i in picks], "=y": rng.random(2000)})
    return tacit.Workflow(2.0, schema=schema).run(frame, (picks % 2).astype(int))


def test_all_files_are_there_and_say_the_same(result: tacit.Result, tmp_path: Path) -> None:
    files = {file.name for file in result.save(tmp_path / "out")}
    assert files == {"model.json", "report.html", "receipt.json", "curve.json", "roc.csv", "roc.png", "features.csv"}
    folder = tmp_path / "out"
    assert json.loads((folder / "receipt.json").read_text()) == result.receipt.to_dict()
    assert (folder / "roc.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((folder / "roc.csv").read_text().splitlines()))
    assert [float(row["tpr"]) for row in rows] == result.curve.tpr.tolist()
    assert float(rows[0]["threshold"]) == np.inf
    assert all(float(row["tpr_low"]) <= float(row["tpr"]) <= float(row["tpr_high"]) for row in rows)
    curve = load_curve(folder / "curve.json")
    assert curve.auc == result.curve.auc
    assert curve.auc_interval() == result.curve.auc_interval()
    assert curve.receipt.to_json() == result.curve.receipt.to_json()


def test_names_are_harmless(result: tacit.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "out")
    rows = list(csv.reader((tmp_path / "out" / "features.csv").read_text().split("\n")[:-1]))
    assert rows[0] == ["feature", "weight"]
    assert len(rows) >= len(NAMES) + 1
    assert all(row[0].startswith("'=") for row in rows[1:]), "every name begins with the column's, which is a formula"
    assert not any(ord(sign) < 32 for row in rows for cell in row for sign in cell)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", " =1", "\t=1"])
def test_formulas_are_texts(text: str) -> None:
    assert safe_cell(text).startswith("'")


def test_a_folder_that_is_not_empty_is_refused(result: tacit.Result, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("mine")
    with pytest.raises(tacit.ParameterError, match="new or empty"):
        result.save(tmp_path)
    with pytest.raises(tacit.ParameterError, match="writable"):
        result.save(tmp_path / "kept.txt" / "inside")
    assert [file.name for file in tmp_path.iterdir()] == ["kept.txt"]


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.pop("format"),
        lambda body: body.update(version=9),
        lambda body: body["release"].pop("cuts"),
        lambda body: body["release"].update(cuts=[0, 5]),
        lambda body: body["release"].update(counts=[[1], [2]]),
        lambda body: body["release"].update(noise_scale=-1.0),
        lambda body: body["release"].update(strange=1),
        lambda body: body.update(score_range=[1, 0]),
        lambda body: body.update(release=None),
    ],
)
def test_a_curve_that_makes_no_sense(result: tacit.Result, tmp_path: Path, change) -> None:
    from tacit.evaluation.storage import curve_to_dict

    body = json.loads(json.dumps(curve_to_dict(result.curve)))
    change(body)
    (tmp_path / "curve.json").write_text(json.dumps(body))
    with pytest.raises(tacit.ModelError, match="cannot be used"):
        load_curve(tmp_path / "curve.json")
