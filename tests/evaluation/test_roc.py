"""Private ROC curves: valid whatever the data, near the truth where noise is small, and honest about the rest."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import metrics

import tacit
from tacit import Budget, BudgetError, Ledger, ParameterError, Unit
from tacit.desk import cutting
from tacit.evaluation.display import shown_area

Floats = NDArray[np.float64]


def made_up(n: int, positives: float = 0.5, distance: float = 1.5, seed: int = 0) -> tuple[NDArray[np.int64], Floats]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < positives).astype(int)
    return y, 1 / (1 + np.exp(-rng.normal(distance * y)))


def area_between(curve: Any, y: Any, s: Any) -> float:
    fpr, tpr, _ = metrics.roc_curve(y, s)
    grid = (np.arange(4000) + 0.5) / 4000
    return float(np.abs(np.interp(grid, curve.fpr, curve.tpr) - np.interp(grid, fpr, tpr)).mean())


def check_valid(curve: Any) -> None:
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()
    assert curve.thresholds[0] == np.inf
    assert np.isfinite(curve.thresholds[1:]).all()
    assert (curve.thresholds[:-1] >= curve.thresholds[1:]).all()
    assert len(curve.fpr) == len(curve.tpr) == len(curve.thresholds)
    low, high = curve.band()
    assert (low >= 0).all()
    assert (low <= curve.tpr).all()
    assert (curve.tpr <= high).all()
    assert (high <= 1).all()
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    first, last = curve.auc_interval()
    assert 0 <= first <= last <= 1
    assert curve.unknown or first <= curve.auc <= last
    assert curve.auc == pytest.approx(metrics.auc(curve.fpr, curve.tpr))


ROWS = st.lists(st.tuples(st.sampled_from([0, 1, 2, None]), st.sampled_from([0.0, 0.3, 1.0, -5.0, np.nan])), max_size=8)


@settings(max_examples=20, deadline=None)
@given(ROWS, st.sampled_from([0.05, 1.0, 100.0]), st.integers(0, 2**32))
def test_any_data_give_a_valid_curve(rows: list[tuple[Any, float]], epsilon: float, seed: int) -> None:
    y, s = [label for label, _ in rows], np.array([score for _, score in rows], dtype=float)
    check_valid(tacit.roc_curve(np.array(y, dtype=object), s, epsilon=epsilon, random_state=seed))


@pytest.mark.parametrize("n", [0, 1, 2, 300])
@pytest.mark.parametrize("label", [0, 1])
def test_a_missing_class_is_called_unknown(n: int, label: int) -> None:
    curve = tacit.roc_curve(np.full(n, label), np.linspace(0, 1, n), epsilon=20.0, random_state=3)
    check_valid(curve)
    assert curve.unknown
    assert curve.auc_interval() == (0.0, 1.0)
    assert "unknown" in repr(curve)
    low, high = curve.band()
    assert (low[:-1] == 0).all()
    assert (high == 1).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "positives"), [(2_000, 0.5), (20_000, 0.1), (100_000, 0.02)])
def test_with_little_noise_the_curve_is_the_true_one(n: int, positives: float, seed: int) -> None:
    """What is left is what bins cannot show, 1/(bins · √n) at most: far below the limit."""
    y, s = made_up(n, positives, seed=seed)
    curve = tacit.roc_curve(y, s, epsilon=1000.0, random_state=seed)
    assert area_between(curve, y, s) < 0.4 / np.sqrt(min(y.sum(), n - y.sum()))
    middle = np.flatnonzero((curve.fpr > 0.05) & (curve.fpr < 0.95))[::40]
    for i in middle:
        above = s >= curve.thresholds[i]
        assert above[y == 0].mean() == pytest.approx(curve.fpr[i], abs=0.03)
        assert above[y == 1].mean() == pytest.approx(curve.tpr[i], abs=0.06)


def test_constant_scores_give_the_diagonal() -> None:
    y, _ = made_up(4000)
    curve = tacit.roc_curve(y, np.full(4000, 0.7), epsilon=5.0, random_state=1)
    assert abs(curve.auc - 0.5) < 0.05
    assert area_between(curve, y, np.full(4000, 0.7)) < 0.05


@pytest.mark.parametrize("n", [300, 5000])
def test_ties_give_straight_curves(n: int) -> None:
    """Predictions of 0 and 1 alone: two straight pieces. A smooth curve through the knots would be off by 0.06."""
    rng = np.random.default_rng(n)
    errors = []
    for seed in range(9):
        y = np.repeat([0, 1], [n, n])
        s = (rng.random(2 * n) < np.where(y == 1, 0.8, 0.2)).astype(float)
        errors.append(area_between(tacit.roc_curve(y, s, epsilon=1.0, random_state=seed), y, s))
    assert np.median(errors) < 0.02


def test_predictions_of_0_and_1_are_held_at_a_small_epsilon() -> None:
    """Four bins, two of them empty, and a seventh of the negatives in the highest: a straight curve of area .8."""
    y = np.repeat([0, 1], 5000)
    answers = np.concatenate([np.arange(5000) < 750, np.arange(5000) < 3750]).astype(float)
    curves = [tacit.roc_curve(y, answers, epsilon=0.1, random_state=seed) for seed in range(12)]
    held = [low <= 0.8 <= high for low, high in (curve.auc_interval() for curve in curves)]
    assert sum(held) >= 8


@pytest.mark.parametrize(("tpr", "fpr"), [(0.8, 0.05), (0.5, 0.0), (0.5, 0.067), (0.99, 0.5)])
@pytest.mark.parametrize("epsilon", [1.0, 1e4])
def test_predictions_of_0_and_1_by_any_rule_have_their_area(tpr: float, fpr: float, epsilon: float) -> None:
    """Two heavy bins among many empty ones can only be ties, whatever they have of either class."""
    rows = np.arange(10_000)
    answers = np.concatenate([rows < fpr * 10_000, rows < tpr * 10_000]).astype(float)
    curve = tacit.roc_curve(np.repeat([0, 1], 10_000), answers, epsilon=epsilon, random_state=1)
    area = (1 + tpr - fpr) / 2
    low, high = curve.auc_interval()
    assert curve.auc == pytest.approx(area, abs=0.003)
    assert low <= area <= high <= low + 0.02


@pytest.mark.parametrize("epsilon", [1.0, 1e6])
def test_ties_leave_bands_that_no_monotone_curve_could_narrow(epsilon: float) -> None:
    """Scores of 0, 1 or a tenth between: before, upper ends fell again behind a tie, and thresholds began infinite."""
    y, s = made_up(500, 0.3)
    for scores in (np.round(s, 1), (s > 0.5).astype(float), np.ones(500), 1.0 - y):
        check_valid(tacit.roc_curve(y, scores, epsilon=epsilon, random_state=0))


def test_scores_that_crowd_are_no_ties() -> None:
    """Most negatives of a good classifier are near 0. Straight over such bins, the median error would be 0.016."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [481, 77])
    logits = np.concatenate([rng.normal(-25, 8, 481), rng.normal(15, 8, 62), rng.normal(-9, 4, 15)])
    s = 1 / (1 + np.exp(-logits))
    errors = [area_between(tacit.roc_curve(y, s, epsilon=1.0, random_state=seed), y, s) for seed in range(15)]
    assert np.median(errors) < 0.012


def test_accuracy_at_everyday_budgets() -> None:
    """Medians of 25 runs; the limits are twice what was measured, so that chance does not reach them."""
    y, s = made_up(684, 0.45, distance=1.1)
    for epsilon, limit in ((1.0, 0.022), (0.25, 0.042), (0.1, 0.08)):
        errors = [area_between(tacit.roc_curve(y, s, epsilon=epsilon, random_state=i), y, s) for i in range(25)]
        assert np.median(errors) < limit


def broken(n0: int, n1: int, seed: int) -> tuple[NDArray[np.int64], Floats]:
    """A curve with a corner that no smooth model has: three in ten negatives score as positives do."""
    rng = np.random.default_rng(seed)
    alike = rng.random(n0) < 0.3
    scores = rng.beta(np.where(alike, 5, 1), np.where(alike, 2, 6)), rng.beta(5, 2, n1)
    return np.repeat([0, 1], [n0, n1]), np.concatenate(scores)


def normal(n0: int, n1: int, seed: int) -> tuple[NDArray[np.int64], Floats]:
    y = np.repeat([0, 1], [n0, n1])
    return y, 1 / (1 + np.exp(-np.random.default_rng(seed).normal(1.5 * y)))


@pytest.mark.parametrize(
    ("made", "sizes", "epsilon", "few"),
    [
        (normal, (300, 300), 1.0, 26),
        (normal, (500, 80), 0.25, 32),
        (normal, (5000, 100), 0.1, 25),
        (broken, (300, 400), 0.25, 22),
    ],
)
def test_bands_hold_the_population(made: Any, sizes: tuple[int, int], epsilon: float, few: int) -> None:
    """At 93 % the chance of fewer than 32 hits of 40 is below 1e-3.

    A quarter of the width had 23, 26, 20 and 17 hits, and must have few: of intervals twice as wide it would have
    had 29, 38, 30 and 28.
    """
    truth_f, truth_t, _ = metrics.roc_curve(*made(200_000, 200_000, 99))
    area = metrics.auc(truth_f, truth_t)
    grid = np.linspace(0.002, 0.998, 250)
    truth = np.interp(grid, truth_f, truth_t)
    hits, held, narrow = 0, 0, 0
    for seed in range(40):
        curve = tacit.roc_curve(*made(*sizes, seed), epsilon=epsilon, random_state=seed)
        low, high = curve.auc_interval()
        hits += low <= area <= high
        narrow += abs(area - (low + high) / 2) <= (high - low) / 8
        below, above = (np.interp(grid, curve.fpr, side) for side in curve.band())
        held += bool(((below <= truth) & (truth <= above)).all())
    assert hits >= 32
    assert held >= 32
    assert narrow <= few


def nearly_perfect(n0: int, n1: int, seed: int) -> tuple[NDArray[np.int64], Floats]:
    """Half a per cent of either class scores as the other does, three per cent stand between, and all else is apart."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n0, n1])
    kind = rng.random(n0 + n1)
    center = np.where(kind < 0.005, -6.0, np.where(kind < 0.035, 1.0, 6.0)) * np.where(y == 1, 1, -1)
    return y, 1 / (1 + np.exp(-(center + 1.5 * rng.standard_normal(n0 + n1))))


@pytest.mark.parametrize(("sizes", "epsilon"), [((3000, 3000), 1.0), ((4800, 740), 0.25)])
def test_bands_hold_strays_of_many_rows(sizes: tuple[int, int], epsilon: float) -> None:
    """Rows that stray among the other class are few, spread over many bins, and each of these looks empty.

    Bands hold in about .83 here; at .8 the chance of fewer than 17 hits of 30 is below 2e-3. Read as smooth curves
    without strays, they held in 2 and in 4 of 30.
    """
    truth = metrics.roc_curve(*nearly_perfect(200_000, 200_000, 99))[:2]
    grid, held, widths = np.linspace(0.001, 0.999, 999), 0, []
    for seed in range(30):
        curve = tacit.roc_curve(*nearly_perfect(*sizes, seed), epsilon=epsilon, random_state=seed)
        below, above = (np.interp(grid, curve.fpr, side) for side in curve.band())
        curve_there = np.interp(grid, *truth)
        held += bool(((below <= curve_there) & (curve_there <= above)).all())
        widths.append(np.mean(above - below))
    assert held >= 17
    assert np.mean(widths) < 0.027  # measured: .016 and .018


def test_a_look_at_both_classes_helps_where_they_are_all_but_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most counts would else be noise beside nothing: errors are less than half (.44, with a standard error of .05)."""

    def error(seed: int, bins: int) -> float:
        y = np.repeat([0, 1], 10_000)
        s = 1 / (1 + np.exp(-3 * np.random.default_rng(seed).normal(3.8 * y - 1.9)))
        monkeypatch.setattr(cutting, "LOOK_FROM", bins)
        curve = tacit.roc_curve(y, s, epsilon=1.0, random_state=seed)
        grid = np.linspace(0, 1, 4001)
        return float(
            np.abs(np.interp(grid, curve.fpr, curve.tpr) - np.interp(grid, *metrics.roc_curve(y, s)[:2])).mean()
        )

    with_look, without = np.mean([[error(seed, bins) for bins in (32, 10**6)] for seed in range(16)], axis=0)
    assert with_look < 0.7 * without


def test_bands_are_not_much_wider_than_sampling_makes_them() -> None:
    """With 10,000 rows at ε = 1 privacy costs little: the interval is at most 1.4 times that without noise."""
    y, s = normal(5000, 5000, 0)
    curve = tacit.roc_curve(y, s, epsilon=1.0, random_state=0)
    low, high = curve.auc_interval()
    above = s[y == 1][:, None] > s[y == 0][None, :]
    spread = np.sqrt(above.mean(axis=0).var() / 5000 + above.mean(axis=1).var() / 5000)
    assert 0.9 < (high - low) / (2 * 1.96 * spread) < 1.4
    first, last = curve.band()
    assert np.mean(last - first) < 0.06


def test_bands_do_not_widen_where_bins_become_many() -> None:
    """The model serves up to 32 bins, and beyond with bins merged: more ε, which brings more bins, costs no width."""
    widths = []
    for seed in range(4):  # of one data set they differ by up to a twentieth
        y, s = normal(20_000, 20_000, seed)
        few, many = (tacit.roc_curve(y, s, epsilon=epsilon, random_state=1) for epsilon in (0.4, 2.0))
        assert len(few.cuts) - 1 == 32
        assert len(many.cuts) - 1 > 64
        widths.append([float(np.mean(high - low)) for low, high in (few.band(), many.band())])
    assert np.mean(widths, axis=0)[1] < 1.05 * np.mean(widths, axis=0)[0]


def test_a_band_allows_for_rows_that_were_not_seen() -> None:
    """Of 100 positives none is missed; but where 3 of 100 of the population are, that happens once in 20 times."""
    y = np.repeat([0, 1], 100)
    curve = tacit.roc_curve(y, np.linspace(0.0, 1.0, 200), epsilon=20.0, random_state=0)
    low, high = curve.band()
    assert np.interp(0.5, curve.fpr, low) < 0.98
    assert (high[1:] == 1.0).all()


@pytest.mark.parametrize("rounded", [False, True])
def test_the_auc_is_in_its_interval_which_allows_for_unseen_rows(rounded: bool) -> None:
    """Classes far apart, by scores or by answers of 0 and 1: three rows of 300 may go unseen, whatever the level."""
    y = np.repeat([0, 1], 300)
    for seed in range(5):
        logits = np.random.default_rng(seed).normal(8 * y - 4)
        scores = (logits > 0).astype(float) if rounded else 1 / (1 + np.exp(-logits))
        curve = tacit.roc_curve(y, scores, epsilon=1.0, random_state=seed)
        intervals = [curve.auc_interval(level) for level in (0.5, 0.8, 0.95, 0.99)]
        assert all(low <= curve.auc <= high for low, high in intervals)
        assert all(outer[0] <= inner[0] for inner, outer in itertools.pairwise(intervals))
        assert all(inner[1] <= outer[1] for inner, outer in itertools.pairwise(intervals))
        assert intervals[0][0] < 1 - 2 / 300


class TestPaying:
    def test_one_charge_of_exactly_the_price(self) -> None:
        y, s = made_up(500)
        account = Ledger.open().account("test set", budget=Budget(1.0))
        curve = tacit.roc_curve(y, s, epsilon=0.4, account=account)
        assert account.spent == Budget(0.4)
        (charge,) = account.entries()
        assert charge.released == charge.steps
        assert curve.receipt["epsilon"] == 0.4
        assert curve.receipt["status"] == "private"
        assert curve.receipt["unit"] == "row"
        assert json.loads(curve.receipt.to_json())["proof"] == "docs/proofs/roc.md"
        assert curve.receipt["steps"][0]["what"] == "class totals"

    def test_asking_again_is_free_and_gives_the_same_curve(self) -> None:
        y, s = made_up(500)
        account = Ledger.open().account("test set", budget=Budget(0.5))
        first, again = (tacit.roc_curve(y, s, epsilon=0.5, account=account) for _ in range(2))
        assert np.array_equal(first.tpr, again.tpr)
        assert first.auc_interval() == again.auc_interval()
        with pytest.raises(BudgetError):
            tacit.roc_curve(y, 1 - s, epsilon=0.5, account=account)
        assert len(account.entries()) == 1

    def test_a_seed_is_a_simulation(self) -> None:
        y, s = made_up(300)
        one, two, other = (tacit.roc_curve(y, s, epsilon=1.0, random_state=seed) for seed in (5, 5, 6))
        assert np.array_equal(one.tpr, two.tpr)
        assert not np.array_equal(one.tpr, other.tpr)
        assert "not private" in one.receipt["status"]

    def test_persons(self) -> None:
        y, s = made_up(900)
        persons = [str(i // 3) for i in range(900)]
        unit = Unit.user("patient", max_rows=2)
        account = Ledger.open().account("clinic", budget=Budget(1.0), unit=unit)
        curve = tacit.roc_curve(y, s, epsilon=1.0, persons=persons, account=account, random_state=0)
        check_valid(curve)
        assert curve.receipt["sensitivity"]["l1"] == 2
        assert "at most 2 row(s)" in curve.receipt["query"]

    def test_gaussian_noise_only_where_it_is_better(self) -> None:
        y, s = made_up(500)
        usual = tacit.roc_curve(y, s, epsilon=1.0, delta=1e-6, random_state=0)
        assert usual.receipt["delta"] == 0.0  # Laplace noise needs none, so that none is charged
        assert usual.receipt["steps"][-1]["mechanism"] == "discrete Laplace"
        loose = tacit.roc_curve(y, s, epsilon=0.1, delta=0.3, random_state=0)
        assert loose.receipt["steps"][-1]["mechanism"] == "discrete Gaussian"
        check_valid(loose)
        assert loose.receipt["delta"] == 0.3


class TestInput:
    def test_sample_weights_are_refused_with_a_reason(self) -> None:
        with pytest.raises(ParameterError, match=r"sample_weight.*bound"):
            tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0, sample_weight=[1, 2])

    @pytest.mark.parametrize(
        "span", [(1, 0), (0, 0), (0, np.inf), (np.nan, 1), 5, ("a", "b"), (0, 1, 2), ("0", "1"), "01"]
    )
    def test_ranges(self, span: Any) -> None:
        with pytest.raises(ParameterError, match="'score_range'"):
            tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0, score_range=span)

    def test_methods_and_levels(self) -> None:
        with pytest.raises(ParameterError, match="'method'"):
            tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0, method="magic")
        curve = tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0)
        for level in (0.2, 1.0, True, "high"):
            with pytest.raises(ParameterError, match="'level'"):
                curve.band(level)

    def test_scores_of_another_range_give_thresholds_of_that_range(self) -> None:
        y, s = made_up(3000)
        plain = tacit.roc_curve(y, s, epsilon=5.0, random_state=2)
        wide = tacit.roc_curve(y, 20 * s - 10, epsilon=5.0, score_range=(-10, 10), random_state=2)
        assert np.allclose(wide.tpr, plain.tpr, atol=0.02)
        assert np.allclose(wide.thresholds[1:], 20 * plain.thresholds[1:] - 10, atol=0.2)


class TestDisplay:
    def test_plot(self) -> None:
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        y, s = made_up(500)
        curve = tacit.roc_curve(y, s, epsilon=1.0, random_state=0)
        ax = curve.plot()
        assert "ε = 1" in ax.get_title()
        assert "not private" in ax.get_title()
        assert curve.plot(ax) is ax
        matplotlib.pyplot.close("all")

    def test_what_is_drawn_on_must_be_axes(self) -> None:
        pytest.importorskip("matplotlib")
        curve = tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0, random_state=0)
        for draw in (curve.plot, curve.metrics.lift().plot):
            with pytest.raises(ParameterError, match=r"'ax' parameter of plot must be axes of matplotlib.*Got 3"):
                draw(3)

    def test_the_legend_of_an_unknown_curve_says_so(self) -> None:
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        curve = tacit.roc_curve(np.zeros(50), np.linspace(0, 1, 50), epsilon=1.0, random_state=0)
        texts = [text.get_text() for text in curve.plot().get_legend().get_texts()]
        assert texts == ["95 % band", "AUC unknown: a class is too small"]
        matplotlib.pyplot.close("all")

    @pytest.mark.parametrize(
        ("area", "text"),
        [
            (0.91234, "0.912"),
            (0.9994, "0.999"),
            (0.9996, "0.9996"),
            (0.99997, "0.99997"),
            (1 - 2e-11, ">0.99999"),
            (1.0, "1.000"),
        ],
    )
    def test_no_area_is_rounded_up_to_1(self, area: float, text: str) -> None:
        assert shown_area(area) == text

    def test_a_nearly_perfect_curve_is_not_shown_as_a_perfect_one(self) -> None:
        y, s = made_up(20_000, distance=7.0)
        curve = tacit.roc_curve(y, s, epsilon=1.0, random_state=0)
        assert 0.9995 < curve.auc < 1
        assert "AUC 1.000" not in repr(curve)
        assert ">1.000 (" not in curve._repr_html_()

    def test_a_level_in_per_cent_is_refused_with_the_share(self) -> None:
        curve = tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0, random_state=0)
        with pytest.raises(ParameterError, match=r"For 95 % pass 0\.95"):
            curve.auc_interval(95)
        with pytest.raises(ParameterError, match=r"Got 7\. 0\.95 is usual\.$"):
            curve.band(7)

    def test_a_notebook_shows_a_table_of_text(self) -> None:
        y = np.array(["<b>no</b>", "<b>yes</b>"] * 200)
        curve = tacit.roc_curve(y, np.linspace(0, 1, 400), epsilon=1.0, pos_label="<b>yes</b>", random_state=0)
        shown = curve._repr_html_()
        assert "&lt;b&gt;yes&lt;/b&gt;" in shown
        assert "<b>" not in shown
        assert f"{curve.auc:.3f}" in shown
        assert "not private" in shown

    def test_a_missing_matplotlib_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
        curve = tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0)
        with pytest.raises(tacit.MissingExtraError, match="pip install matplotlib"):
            curve.plot()

    def test_scikit_learn_s_display(self) -> None:
        y, s = made_up(500)
        curve = tacit.roc_curve(y, s, epsilon=1.0, random_state=0)
        display = curve.to_display()
        assert display.roc_auc == curve.auc
        assert np.array_equal(display.fpr, curve.fpr)


class TestCompare:
    def test_a_clear_case_and_a_tie(self) -> None:
        y, good = made_up(5000, distance=2.0, seed=1)
        other, poor = made_up(5000, distance=1.0, seed=2)
        a = tacit.roc_curve(y, good, epsilon=1.0, random_state=1)
        b = tacit.roc_curve(other, poor, epsilon=1.0, random_state=2)
        clear = tacit.compare(a, b)
        assert clear.probability > 0.99
        assert clear.interval()[0] > 0
        assert tacit.compare(b, a).probability == pytest.approx(1 - clear.probability, abs=0.01)
        assert tacit.compare(a, a).probability == 0.5

    @pytest.mark.parametrize(("n", "options"), [(2000, {"method": "recursive-medians"}), (100_000, {})])
    def test_curves_of_other_methods_and_sizes_are_compared(self, n: int, options: dict[str, str]) -> None:
        a = tacit.roc_curve(*made_up(2000, distance=2.0), epsilon=1.0, random_state=1)
        b = tacit.roc_curve(*made_up(n, distance=0.5), epsilon=1.0, random_state=2, **options)
        assert len(a.auc_draws()) != len(b.auc_draws())
        assert tacit.compare(a, b).probability > 0.9
        assert tacit.compare(b, a).probability < 0.1

    def test_turned_around_a_comparison_says_the_reverse(self) -> None:
        """Also where curves have other numbers of draws; and it is no surer than the curves are by themselves."""
        a = tacit.roc_curve(*made_up(2000), epsilon=1.0, random_state=1)
        b = tacit.roc_curve(*made_up(60_000, distance=1.4), epsilon=5.0, random_state=2)
        found, back = tacit.compare(a, b), tacit.compare(b, a)
        assert found.probability + back.probability == pytest.approx(1.0, abs=1e-12)
        assert found.interval() == pytest.approx(tuple(-end for end in back.interval()[::-1]))
        low, high = found.interval()
        widths = [np.subtract(*curve.auc_interval()[::-1]) for curve in (a, b)]
        assert high - low > 0.97 * np.hypot(*widths)

    def test_only_curves_are_compared(self) -> None:
        with pytest.raises(ParameterError, match="'curve_b'"):
            tacit.compare(tacit.roc_curve([0, 1], [0.1, 0.9], epsilon=1.0), 0.9)  # type: ignore[arg-type]
