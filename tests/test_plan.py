"""What is forecast is what happens: on other data, with other seeds, within what noise can do."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import tacit
from tacit import ParameterError, plan
from tacit.cli import main

BASE = ["plan", "--rows", "3000", "--positives", "600", "--features", "200"]


def _width(y: np.ndarray, scores: np.ndarray, epsilon: float, seeds: range) -> float:
    curves = [tacit.roc_curve(y, scores, epsilon=epsilon, random_state=seed) for seed in seeds]
    return float(np.median([high - low for low, high in (curve.auc_interval() for curve in curves)]))


@pytest.mark.parametrize("epsilon", [0.25, 2.0])
def test_the_width_of_the_interval_is_what_other_scores_give(epsilon: float) -> None:
    (found,) = tacit.forecast(rows=4000, positives=800, features=10, epsilon=epsilon, auc=0.85).expected
    rng = np.random.default_rng(99)
    y = np.repeat([0, 1], [960, 240])
    scores = np.where(y == 1, rng.beta(3, 2, len(y)), rng.beta(2, 5, len(y)))  # AUC about .85, and not normal
    assert 0.6 < _width(y, scores, epsilon, range(100, 105)) / found.auc_width < 1.6


def test_the_survey_comes_out_as_forecast() -> None:
    pytest.importorskip("statsmodels", reason="the survey comes with statsmodels: pip install 'tacit[demo]'")
    survey = tacit.datasets.load_survey()
    parts = tacit.split(survey.frame, survey.labels, test_size=0.3, random_state=3)
    train, test, y_train, y_test = parts
    model = tacit.TabularClassifier(1.0, schema=survey.schema, random_state=3).fit(train, y_train)
    scores = model.predict_proba(test)[:, 1]
    rows, positives = len(survey), int(survey.labels.sum())
    (found,) = tacit.forecast(rows=rows, positives=positives, features=62, epsilon=1.0, auc=0.73).expected
    assert 0.6 < _width(y_test, scores, 1.0, range(5)) / found.auc_width < 1.6


def test_curves_that_are_drawn_on_other_grids_are_put_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise may look like ties: then the curve has knees, and more points than others."""
    drawn, rng = plan._Case._curve, np.random.default_rng(0)
    y = np.arange(1500) % 2
    tied = tacit.roc_curve(y, (rng.random(1500) < 0.2 + 0.6 * y).astype(float), epsilon=1.0, random_state=0)
    usual = tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0, random_state=0)
    assert len(tied.fpr) > len(usual.fpr)
    monkeypatch.setattr(plan._Case, "_curve", lambda self, budget, seed: tied if seed else drawn(self, budget, seed))
    (found,) = tacit.forecast(rows=5_000, positives=2_000, features=100, epsilon=1.0).expected
    assert len(found.fpr) > len(usual.fpr)
    assert len(found.fpr) == len(found.low) == len(found.high)
    assert (np.diff(found.fpr) > 0).all()
    assert 0 < found.band_width < 1


def _zipf_rows(rows: int, features: int, ones: int, seed: int) -> sp.csr_array:
    """Binary rows whose j-th feature is in a share min(1, c/j) of them, with c from the mean number of ones."""
    low, high = 0.0, float(features)
    rank = np.arange(1, features + 1)
    for _ in range(60):
        c = (low + high) / 2
        low, high = (low, c) if np.minimum(1, c / rank).sum() > ones else (c, high)
    rng = np.random.default_rng(seed)
    return sp.csr_array((rng.random((rows, features)) < np.minimum(1, c / rank)).astype(np.int8))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (2.0, 0.0), (0.5, 1e-6)])
def test_as_many_features_stand_out_as_forecast(epsilon: float, delta: float) -> None:
    (found,) = tacit.forecast(
        rows=20_000, positives=10_000, features=1000, ones=12, epsilon=epsilon, delta=delta, test_size=0.5, repeats=1
    ).expected
    X = _zipf_rows(10_000, 1000, 12, seed=5)
    y = np.arange(10_000) % 2
    # Of twelve features four are counted, so a count of a third is what the rows that are needed leave.
    least = found.rows_needed * 4 / 12
    selector = tacit.CountSelector(threshold=least, epsilon=epsilon, delta=delta, random_state=0).fit(X, y)
    counts = np.asarray(X.sum(axis=0)).ravel()
    assert (counts[selector.support_] < 0.3 * found.rows_needed).mean() < 0.1, "hardly any of them is noise"
    assert 0.7 < selector.support_.sum() / found.features_told < 1.4


def test_the_epsilon_that_is_named_is_enough() -> None:
    found = tacit.forecast(rows=10_000, positives=3000, features=10, epsilon=1.0, auc_width=0.06, repeats=2)
    assert found.wanted is not None
    again = tacit.forecast(rows=10_000, positives=3000, features=10, epsilon=found.wanted["epsilon"])
    assert 0.7 < again.expected[0].auc_width / 0.06 < 1.2


def test_what_no_epsilon_can_do_is_said() -> None:
    found = tacit.forecast(rows=500, positives=100, features=10, epsilon=1.0, auc_width=0.01, repeats=1)
    assert found.wanted is not None
    assert found.wanted["epsilon"] is None
    assert found.wanted["rows"] > 5000
    assert "cannot be had" in str(found)


def test_persons_with_several_rows_cost_more() -> None:
    asked = {"rows": 3000, "positives": 1000, "features": 100, "epsilon": 0.5}
    one, four = (tacit.forecast(**asked, rows_per_unit=m).expected[0] for m in (1, 4))  # type: ignore[arg-type]
    assert four.auc_width > 1.3 * one.auc_width
    assert four.rows_needed == pytest.approx(4 * one.rows_needed, abs=4)


def test_a_forecast_shows_itself_in_notebooks() -> None:
    expected = tacit.forecast(rows=2000, positives=500, features=10, epsilon=1.0)
    assert repr(expected) == str(expected)


def test_huge_sets_are_forecast_too() -> None:
    (found,) = tacit.forecast(rows=3_000_000_000, positives=10_000_000, features=10**7, epsilon=1.0, repeats=1).expected
    assert 0 < found.auc_width < 0.01
    assert found.features_told > 10_000


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"rows": 0}, "rows"),
        ({"positives": 3000}, "positives"),
        ({"features": -1}, "features"),
        ({"epsilon": []}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 2.0}, "delta"),
        ({"auc": 0.5}, "auc"),
        ({"auc_width": 1.5}, "auc_width"),
        ({"ones": 11}, "ones"),
        ({"test_size": 1}, "test_size"),
        ({"rows_per_unit": 0}, "rows_per_unit"),
        ({"repeats": True}, "repeats"),
    ],
)
def test_bad_input_names_its_parameter(change: dict[str, object], name: str) -> None:
    asked = {"rows": 3000, "positives": 600, "features": 10, "epsilon": 1.0} | change
    with pytest.raises(tacit.ParameterError, match=f"'{name}'"):
        tacit.forecast(**asked)  # type: ignore[arg-type]


def test_the_command_prints_a_table_json_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    picture = tmp_path / "plan.svg"
    assert main([*BASE, "--epsilon", "0.5", "2", "--out", str(picture)]) == 0
    table = capsys.readouterr().out
    assert "counts above noise" in table
    assert len(table.splitlines()) == 5
    assert picture.read_text().startswith("<?xml")
    assert main([*BASE, "--epsilon", "0.5", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["expected"]
    assert found["epsilon"] == 0.5
    assert main([*BASE, "--epsilon", "0.5", "--epsilon", "2", "--json"]) == 0
    assert [row["epsilon"] for row in json.loads(capsys.readouterr().out)["expected"]] == [0.5, 2.0]


@pytest.mark.parametrize("out", ["here.txt", "no/such/folder.png", "there.png"])
def test_a_file_that_cannot_be_drawn_into_is_refused(
    out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.png").touch()
    assert main([*BASE, "--epsilon", "1", "--out", out]) == 2
    assert "'--out'" in capsys.readouterr().err


def test_a_user_s_error_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*BASE, "--epsilon", "0"]) == 2
    assert "'--epsilon'" in capsys.readouterr().err


def test_numbers_of_numpy_are_numbers() -> None:
    """Before, an ε of numpy's was a TypeError, and numbers of rows could not be written as JSON."""
    case = {"rows": 1000, "positives": 300, "features": 20, "ones": 5, "auc": 0.75, "repeats": 1}
    mine = tacit.forecast(epsilon=0.5, **case)  # type: ignore[arg-type]
    theirs = {name: np.float32(value) if name == "auc" else np.int64(value) for name, value in case.items()}
    for epsilon in (np.float32(0.5), np.array([0.5]), Decimal("0.5")):
        found = tacit.forecast(epsilon=epsilon, **theirs)  # type: ignore[arg-type]
        assert json.loads(json.dumps(found.to_dict())) == mine.to_dict()
    for wrong in (None, np.array(0.5), "0.5"):
        with pytest.raises(ParameterError, match="'epsilon'"):
            tacit.forecast(epsilon=wrong, **case)  # type: ignore[arg-type]
