"""Metrics from the same release: near the true ones where there is little noise, with intervals that hold them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as exact

import tacit
from tacit import ParameterError

N, THRESHOLD = 20_000, 0.4


@pytest.fixture(scope="module")
def case() -> tuple[np.ndarray, np.ndarray, tacit.evaluation.metrics.Metrics]:  # type: ignore[name-defined]
    rng = np.random.default_rng(0)
    y = (rng.random(N) < 0.3).astype(int)
    s = 1 / (1 + np.exp(-(2 * rng.normal(2 * y - 1) - 0.85)))
    return y, s, tacit.roc_curve(y, s, epsilon=2.0, random_state=1).metrics


def test_at_a_threshold(case) -> None:  # type: ignore[no-untyped-def]
    y, s, m = case
    p = s >= THRESHOLD
    tn, fp, fn, tp = exact.confusion_matrix(y, p).ravel()
    for name, value in {"tp": tp, "fp": fp, "fn": fn, "tn": tn}.items():
        found = m.confusion_matrix(THRESHOLD)[name]
        assert found.low < value < found.high
        assert found.value == pytest.approx(value, rel=0.05)
    for found, value in (
        (m.accuracy(THRESHOLD), exact.accuracy_score(y, p)),
        (m.precision(THRESHOLD), exact.precision_score(y, p)),
        (m.recall(THRESHOLD), exact.recall_score(y, p)),
        (m.f1(THRESHOLD), exact.f1_score(y, p)),
        (m.average_precision(), exact.average_precision_score(y, s)),
    ):
        assert found.low < value < found.high
        assert float(found) == pytest.approx(value, abs=0.01)


def test_thresholds_beyond_the_range(case) -> None:  # type: ignore[no-untyped-def]
    y, _, m = case
    assert m.recall(-3.0).value == pytest.approx(1.0)
    assert m.recall(2.0).value == pytest.approx(0.0, abs=1e-6)
    assert m.accuracy(np.inf).value == pytest.approx(1 - y.mean(), abs=0.01)
    with pytest.raises(ParameterError, match="'threshold'"):
        m.recall(float("nan"))


def test_curves(case) -> None:  # type: ignore[no-untyped-def]
    y, s, m = case
    precision, recall, _ = exact.precision_recall_curve(y, s)
    band = m.precision_recall()
    inner = slice(10, 95)
    truth = np.interp(band.x, recall[::-1], precision[::-1])
    assert np.allclose(band.y[inner], truth[inner], atol=0.02)
    top = y[np.argsort(-s)][: N // 10].mean() / y.mean()
    assert m.lift().y[9] == pytest.approx(top, abs=0.1)
    assert m.lift().y[-1] == pytest.approx(1.0, abs=1e-6)
    calibration = m.calibration()
    assert (np.diff(calibration.x) > 0).all()
    assert np.allclose(calibration.x, calibration.y, atol=0.08)
    assert m.calibration_error().value < 0.03
    assert (calibration.low <= calibration.high).all()


def test_best_threshold(case) -> None:  # type: ignore[no-untyped-def]
    y, s, m = case
    for costs in ((1.0, 1.0), (5.0, 1.0), (1.0, 5.0)):
        threshold, cost = m.best_threshold(*costs)
        grid = np.linspace(0, 1, 101)
        spent = [(costs[0] * ((s >= t) & (y == 0)) + costs[1] * ((s < t) & (y == 1))).mean() for t in grid]
        here = (costs[0] * ((s >= threshold) & (y == 0)) + costs[1] * ((s < threshold) & (y == 1))).mean()
        assert here <= 1.05 * min(spent)
        assert cost.low <= here <= cost.high
    with pytest.raises(ParameterError, match="'false_negative'"):
        m.best_threshold(1.0, -1.0)


def test_an_unknown_class_makes_everything_unknown() -> None:
    m = tacit.roc_curve(np.zeros(100), np.linspace(0, 1, 100), epsilon=10.0, random_state=0).metrics
    found = m.recall(0.5)
    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.parametrize("name", ["precision_recall", "lift", "calibration"])
def test_curves_with_bands_are_drawn(case, name: str) -> None:  # type: ignore[no-untyped-def]
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    band = getattr(case[2], name)()
    ax = band.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == (band.x_label, band.y_label)
    assert ax.lines[0].get_ydata() == pytest.approx(band.y)
    assert band.plot(ax) is ax
    matplotlib.pyplot.close("all")
