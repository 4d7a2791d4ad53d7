"""The paper's family of curves: valid whatever the data, right where there is no noise, paid once, refused early."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

import tacit
from tacit import Budget, BudgetError, Ledger, ParameterError, Unit
from tacit.desk.roc_family import number_of_bins, public_cuts
from tacit.evaluation.storage import curve_to_dict, load_curve
from tacit.privacy.grid import CELLS
from tests.evaluation.test_roc import ROWS, area_between, check_valid, made_up

METHODS = ("laplace", "fixed-space", "recursive-medians")
COUNTS = ("cells", "cumulative", "tree", "privelet")


@settings(max_examples=60, deadline=None)
@given(
    ROWS,
    st.sampled_from(METHODS),
    st.sampled_from(COUNTS),
    st.sampled_from([None, 2, 32]),
    st.sampled_from([0.05, 1.0, 100.0]),
    st.integers(0, 2**32),
)
def test_any_data_give_a_valid_curve(
    rows: list[tuple[Any, float]], method: str, counts: str, bins: int | None, epsilon: float, seed: int
) -> None:
    y, s = [label for label, _ in rows], np.array([score for _, score in rows], dtype=float)
    options: dict[str, Any] = {"method": method, "counts": counts, "bins": bins, "branching": 3}
    curve = tacit.roc_curve(np.array(y, dtype=object), s, epsilon=epsilon, random_state=seed, **options)
    check_valid(curve)
    assert 0 <= tacit.compare(curve, curve).probability <= 1
    assert 0 <= curve.metrics.accuracy(0.5).value <= 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [0, 1, 2, 300])
@pytest.mark.parametrize("label", [0, 1])
def test_a_missing_class_is_called_unknown(method: str, n: int, label: int) -> None:
    curve = tacit.roc_curve(np.full(n, label), np.linspace(0, 1, n), epsilon=20.0, method=method, random_state=3)
    check_valid(curve)
    assert curve.unknown
    assert curve.auc_interval() == (0.0, 1.0)
    assert "unknown" in repr(curve)
    low, high = curve.band()
    assert (low == 0).all()
    assert (high == 1).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("span", [(0.0, 1.0), (-10.0, 30.0)])
def test_with_little_noise_rates_are_true_at_every_threshold(
    method: str, counts: str, span: tuple[float, float]
) -> None:
    """The oracle counts scores at or above each threshold; ties, and scores at both ends, included."""
    y, s = made_up(3000, 0.4, seed=5)
    s[:300], s[300:500], s[500:700] = 0.0, 1.0, 0.25
    s = span[0] + (span[1] - span[0]) * s
    options: dict[str, Any] = {"method": method, "counts": counts, "score_range": span, "bins": 64}
    curve = tacit.roc_curve(y, s, epsilon=1e6, random_state=1, **options)
    above = s[:, None] >= curve.thresholds
    assert np.allclose(above[y == 0].mean(axis=0), curve.fpr)
    assert np.allclose(above[y == 1].mean(axis=0), curve.tpr)
    low, high = curve.auc_interval()
    assert low < metrics.roc_auc_score(y, s) < high


@pytest.mark.parametrize("method", ["fixed-space", "recursive-medians"])
def test_with_many_thresholds_the_curve_is_the_true_one(method: str) -> None:
    y, s = made_up(5000, 0.3, seed=2)
    curve = tacit.roc_curve(y, s, epsilon=1e6, method=method, random_state=1)
    assert len(curve.fpr) == 1025
    assert area_between(curve, y, s) < 0.002


def test_medians_cut_crowded_scores_where_even_spacing_cannot() -> None:
    """All scores within a thousandth of 1: one bin of an even spacing, many of the medians'."""
    y, s = made_up(4000, 0.5, distance=2.0, seed=3)
    s = 1 - s / 10_000
    options: dict[str, Any] = {"epsilon": 20.0, "bins": 16, "random_state": 0}
    even, cut = (tacit.roc_curve(1 - y, s, method=m, **options) for m in ("fixed-space", "recursive-medians"))
    assert area_between(even, 1 - y, s) > 0.25
    assert area_between(cut, 1 - y, s) < 0.03


@pytest.mark.parametrize("method", METHODS)
def test_constant_scores_give_the_diagonal(method: str) -> None:
    y, _ = made_up(4000)
    curve = tacit.roc_curve(y, np.full(4000, 0.7), epsilon=5.0, method=method, bins=16, random_state=1)
    assert area_between(curve, y, np.full(4000, 0.7)) < 0.05


def test_wavelets_beat_running_sums_with_many_thresholds() -> None:
    """Medians of 15 runs: the noise on a rate is 7 × 7/ε and 64 × 64/ε in variance, with factors of a few."""
    y, s = made_up(1500, 0.5)
    errors = {}
    for counts in ("cumulative", "privelet"):
        options: dict[str, Any] = {"epsilon": 0.5, "method": "fixed-space", "counts": counts, "bins": 64}
        curves = [tacit.roc_curve(y, s, random_state=seed, **options) for seed in range(15)]
        errors[counts] = float(np.median([area_between(curve, y, s) for curve in curves]))
    assert errors["privelet"] < 0.6 * errors["cumulative"]


@pytest.mark.parametrize(("method", "counts", "epsilon"), [("laplace", "cells", 1.0), ("fixed-space", "tree", 0.5)])
def test_bands_hold_the_population(method: str, counts: str, epsilon: float) -> None:
    """At 95 % the chance of fewer than 32 hits of 40 is below 1e-4."""
    truth_f, truth_t, _ = metrics.roc_curve(*made_up(400_000, 0.5, seed=99))
    area, grid = metrics.auc(truth_f, truth_t), np.linspace(0.01, 0.99, 50)
    truth = np.interp(grid, truth_f, truth_t)
    hits, held, widths = 0, 0, []
    for seed in range(40):
        y, s = made_up(800, seed=seed)
        curve = tacit.roc_curve(y, s, epsilon=epsilon, method=method, counts=counts, bins=16, random_state=seed)
        low, high = curve.auc_interval()
        hits += low <= area <= high
        below, above = (np.interp(grid, curve.fpr, side) for side in curve.band())
        held += bool(((below <= truth) & (truth <= above)).all())
        widths.append(high - low)
    assert hits >= 32
    assert held >= 32
    assert np.mean(widths) < 0.5


class TestPaying:
    @pytest.mark.parametrize("method", METHODS)
    def test_one_charge_of_exactly_the_price(self, method: str) -> None:
        y, s = made_up(500)
        account = Ledger.open().account("test set", budget=Budget(1.0))
        curve = tacit.roc_curve(y, s, epsilon=0.4, account=account, method=method)
        assert account.spent == Budget(0.4)
        (charge,) = account.entries()
        assert charge.released == charge.steps
        assert curve.receipt["epsilon"] == 0.4
        assert curve.receipt["status"] == "private"
        assert method in curve.receipt["mechanism"]
        assert json.loads(curve.receipt.to_json())["proof"] == "docs/proofs/roc-family.md"
        names = [step["mechanism"] for step in curve.receipt["steps"]]
        assert ("smooth sensitivity" in names) == (method == "recursive-medians")

    def test_asking_again_is_free_and_another_recipe_is_not(self) -> None:
        y, s = made_up(500)
        account = Ledger.open().account("test set", budget=Budget(0.5))
        options: dict[str, Any] = {"epsilon": 0.5, "account": account, "method": "fixed-space"}
        first, again = (tacit.roc_curve(y, s, **options) for _ in range(2))
        assert np.array_equal(first.tpr, again.tpr)
        assert first.auc_interval() == again.auc_interval()
        for change in ({"counts": "tree"}, {"counts": "tree", "branching": 2}, {"bins": 64}, {"method": "laplace"}):
            with pytest.raises(BudgetError):
                tacit.roc_curve(y, s, **options | change)
        assert len(account.entries()) == 1

    def test_persons(self) -> None:
        y, s = made_up(900)
        unit = Unit.user("patient", max_rows=2)
        for method in METHODS:
            account = Ledger.open().account("clinic", budget=Budget(1.0), unit=unit)
            options: dict[str, Any] = {"method": method, "counts": "cells", "bins": 8, "random_state": 0}
            persons = [str(i // 3) for i in range(900)]
            curve = tacit.roc_curve(y, s, epsilon=1.0, persons=persons, account=account, **options)
            check_valid(curve)
            assert curve.receipt["sensitivity"]["l1"] == 2
            assert "at most 2 row(s)" in curve.receipt["query"]

    def test_gaussian_noise_where_it_is_better(self) -> None:
        """A row is in many running sums, so the L2 norm soon wins; in one cell it does not."""
        y, s = made_up(500)
        for counts, expected in (("cells", "discrete Laplace"), ("cumulative", "discrete Gaussian")):
            options: dict[str, Any] = {"method": "fixed-space", "counts": counts, "bins": 256, "random_state": 0}
            curve = tacit.roc_curve(y, s, epsilon=1.0, delta=1e-6, **options)
            assert curve.receipt["steps"][-1]["mechanism"] == expected
            assert curve.receipt["delta"] == 1e-6
            check_valid(curve)


class TestInput:
    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("counts", ["magic", 3, True]),
            ("bins", [0, 1, 3, 2048, 8.0, True, "8"]),
            ("branching", [1, 0, 2.0, 5000, None]),
        ],
    )
    def test_wrong_parameters_cost_nothing(self, name: str, values: list[Any]) -> None:
        account = Ledger.open().account("test set", budget=Budget(1.0))
        for value in values:
            given = {"method": "fixed-space", "account": account, name: value}
            with pytest.raises(ParameterError, match=f"'{name}'"):
                tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0, **given)
        assert not account.entries()

    @pytest.mark.parametrize("method", ["auto", *METHODS])
    def test_an_epsilon_too_small_for_any_noise_costs_nothing(self, method: str) -> None:
        for epsilon in (1e-9, 3e-10, 1e-10, 1e-11, 1e-14):
            for delta in (0.0, 1e-6):
                account = Ledger.open().account("test set", budget=Budget(1.0, 0.1))
                counts = None if method == "auto" else "cumulative"
                given: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "account": account, "random_state": 0}
                try:
                    curve = tacit.roc_curve([0, 1], [0.1, 0.9], method=method, counts=counts, **given)
                except ParameterError:
                    assert not account.entries()
                else:
                    assert epsilon > 1e-11
                    check_valid(curve)

    @pytest.mark.parametrize("given", [{"counts": "tree"}, {"bins": 8}, {"branching": 7}])
    def test_the_default_takes_none_of_them(self, given: dict[str, Any]) -> None:
        with pytest.raises(ParameterError, match="belongs to"):
            tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0, **given)


def test_the_number_of_bins_follows_noisy_totals() -> None:
    for method, rows, bins in (
        ("fixed-space", -50, 4),
        ("recursive-medians", 684, 1024),
        ("fixed-space", 500, 512),
        ("fixed-space", 10**7, 1024),
        ("laplace", 684, 16),
        ("laplace", 3, 2),
    ):
        assert number_of_bins(method, np.array([rows - 2, 2])) == bins  # type: ignore[arg-type]


def test_public_thresholds() -> None:
    for bins in (2, 64, 1024):
        assert public_cuts("laplace", bins).tolist() == [i * CELLS // bins for i in range(bins + 1)]
        even = tacit.roc_curve([0, 1], [0.2, 0.8], epsilon=1.0, method="fixed-space", bins=bins).thresholds
        assert even[0] == np.inf
        assert np.allclose(even[1:], np.arange(bins - 1, -1, -1) / bins, atol=1e-3)


def test_pictures_and_displays() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    y, s = made_up(500)
    curve = tacit.roc_curve(y, s, epsilon=1.0, method="recursive-medians", bins=16, random_state=0)
    assert "ε = 1" in curve.plot().get_title()
    assert curve.to_display().roc_auc == curve.auc
    matplotlib.pyplot.close("all")


class TestStorage:
    def stored(self, folder: Path, method: str, **options: Any) -> tuple[Any, Path]:
        y, s = made_up(400)
        given = {"epsilon": 1.0, "method": method, "score_range": (0.0, 2.0), "random_state": 0} | options
        curve = tacit.roc_curve(y, s, **given)
        path = folder / "curve.json"
        path.write_text(json.dumps(curve_to_dict(curve)))
        return curve, path

    @pytest.mark.parametrize("method", ["auto", *METHODS])
    def test_a_curve_is_read_back_to_the_last_bit(self, tmp_path: Path, method: str) -> None:
        options = {} if method == "auto" else {"counts": "tree", "bins": 16}
        curve, path = self.stored(tmp_path, method, **options)
        again = load_curve(path)
        assert type(again) is type(curve)
        for name in ("fpr", "tpr", "thresholds"):
            assert np.array_equal(getattr(again, name), getattr(curve, name))
        assert again.auc_interval() == curve.auc_interval()
        assert dict(again.receipt) == dict(curve.receipt)
        assert again.score_range == (0.0, 2.0)

    @pytest.mark.parametrize(
        "change",
        [
            {"layout": {"form": "magic", "bins": 16, "branching": 4}},
            {"layout": {"form": "tree", "bins": 8, "branching": 4}},
            {"layout": {"form": "tree", "bins": 16, "branching": 1}},
            {"layout": {"form": "tree", "bins": 16, "branching": 2}},
            {"released": [[1, 2], [3, 4]]},
            {"noise_scale": -1.0},
            {"totals": [1, 2, 3]},
            {"cuts": [0, 5, 65_536]},
            {"more": 1},
        ],
    )
    def test_what_does_not_fit_is_refused(self, tmp_path: Path, change: dict[str, Any]) -> None:
        _, path = self.stored(tmp_path, "fixed-space", counts="tree", bins=16)
        body = json.loads(path.read_text())
        body["release"] |= change
        path.write_text(json.dumps(body))
        with pytest.raises(tacit.TacitError, match="cannot be used"):
            load_curve(path)

    def test_bins_at_the_ends_of_the_range_are_one_cell_each(self, tmp_path: Path) -> None:
        """Or there are none, as with few rows, and in older files."""
        _, path = self.stored(tmp_path, "auto")
        body = json.loads(path.read_text())
        release = body["release"]
        assert (release["cuts"][1], release["cuts"][-2]) == (1, 65_535)
        for cuts in ([0, 2, *release["cuts"][2:]], [0, *release["cuts"][2:]], [0], []):
            path.write_text(json.dumps(body | {"release": release | {"cuts": cuts}}))
            with pytest.raises(tacit.TacitError, match="makes no sense"):
                load_curve(path)
        for depths in ([], [1], [0, 1], [2, 2, 2], [1, *release["depths"]], release["depths"][1:]):
            path.write_text(json.dumps(body | {"release": release | {"depths": depths}}))
            with pytest.raises(tacit.TacitError, match="makes no sense"):
                load_curve(path)
        older = {name: value for name, value in release.items() if name != "depths"}
        path.write_text(json.dumps(body | {"release": older}))
        assert load_curve(path).release.depths.tolist() == release["depths"]
        fewer = {"cuts": [0, *release["cuts"][2:-2], 65_536], "counts": [part[1:-1] for part in release["counts"]]}
        path.write_text(json.dumps(body | {"release": release | fewer}))
        assert len(load_curve(path).cuts) == len(fewer["cuts"])
