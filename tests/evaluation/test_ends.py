"""Private ROC curves at the ends: of a bin, of the range of areas, of the range of ε and of what scores may be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.special import ndtr, ndtri

import tacit
from tests.evaluation.test_roc import check_valid, made_up


def test_at_thresholds_rates_are_those_of_the_curve() -> None:
    """With four bins most of a threshold is where it stands inside of one; even in cells, the mean error is 0.10."""
    errors = []
    for seed in range(8):
        y, s = made_up(2000, 0.3, distance=2.0, seed=seed)
        curve = tacit.roc_curve(y, s, epsilon=0.25, random_state=seed)
        true = [1 - np.searchsorted(np.sort(s[y == label]), curve.thresholds) / (y == label).sum() for label in (0, 1)]
        gaps = np.abs(true[0] - curve.fpr) + np.abs(true[1] - curve.tpr)
        errors.append(trapezoid(gaps, (curve.fpr + curve.tpr) / 2))
        for place in (60, 120, 200):
            recall = curve.metrics.recall(curve.thresholds[place]).value
            assert recall == pytest.approx(curve.tpr[place], abs=0.06)
    assert np.mean(errors) < 0.075


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_intervals_hold_the_area_of_a_perfect_classifier_and_of_its_reverse(epsilon: float) -> None:
    """Before, they ended some hundred-thousandths short of 1, and far from 0: in none of these runs they held it."""
    rng = np.random.default_rng(1)
    held = np.zeros(2)
    for seed in range(4):
        y = (rng.random(3000) < 0.3).astype(int)
        s = np.where(y == 1, 0.5, 0.0) + 0.5 * rng.random(3000)
        good, bad = (tacit.roc_curve(y, scores, epsilon=epsilon, random_state=seed) for scores in (s, 1 - s))
        held += good.auc_interval()[1] == 1, bad.auc_interval()[0] == 0
        check_valid(bad)
    assert held.min() >= 2


@pytest.mark.parametrize("wrong", [False, True])
def test_bands_hold_a_perfect_curve_as_long_as_counts_do_not_rule_it_out(wrong: bool) -> None:
    """A few positives that score low share a bin with most negatives, and whether they stand on top is not counted.

    Before, bands held the perfect curve in 6 of 12 runs, and its reverse in 8. Where misplaced rows are many, they must
    not.
    """

    def bands(n0: int, n1: int, low: float, seed: int) -> bool:
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [n0, n1])
        center = np.where(y == 0, -25.0, np.where(rng.random(n0 + n1) < low, -8.0, 20.0))
        s = 1 / (1 + np.exp(-(center + 4 * rng.standard_normal(n0 + n1))))
        curve = tacit.roc_curve(y, 1 - s if wrong else s, epsilon=1.0, random_state=seed)
        below, above = curve.band()
        check_valid(curve)
        return bool((below[:-1] == 0).all() if wrong else (above[1:] == 1).all())

    assert sum(bands(481, 77, 0.12, seed) for seed in range(12)) >= 10
    y, s = made_up(4000, 0.3, distance=3.0)
    for seed in range(4):
        curve = tacit.roc_curve(y, 1 - s if wrong else s, epsilon=1.0, random_state=seed)
        below, above = (np.interp(0.05, curve.fpr, side) for side in curve.band())
        assert below > 0 or wrong
        assert above < 1


def test_bands_hold_curves_of_classifiers_that_are_mostly_wrong() -> None:
    """As of those that are mostly right; before, 9 in 20. At 93 % the chance of fewer than 9 in 12 is below 1e-3."""
    hits = 0
    for seed in range(12):
        y, s = made_up(5000, 0.4, distance=-3.0, seed=seed)
        curve = tacit.roc_curve(y, s, epsilon=1.0, random_state=seed)
        low, high = curve.band()
        inner = (curve.fpr > 1e-3) & (curve.fpr < 1 - 1e-3)
        truth = ndtr(ndtri(curve.fpr) - 3.0)
        hits += bool(((low <= truth) & (truth <= high))[inner].all())
    assert hits >= 9


@pytest.mark.parametrize("method", ["auto", "laplace", "fixed-space", "recursive-medians"])
@pytest.mark.parametrize("epsilon", [1e100, 1e308])
def test_any_epsilon_gives_a_curve(method: str, epsilon: float) -> None:
    """Before, curves were charged, and then ended in a division by 0 or had intervals from 0.3 to 1."""
    y, s = made_up(400)
    curve = tacit.roc_curve(y, s, epsilon=epsilon, method=method, random_state=0)
    usual = tacit.roc_curve(y, s, epsilon=1e6, method=method, random_state=0)
    check_valid(curve)
    assert curve.auc_interval() == pytest.approx(usual.auc_interval(), abs=0.01)


def test_what_is_masked_is_missing() -> None:
    y, s = made_up(600)
    hidden = np.arange(600) % 3 == 0
    masked = tacit.roc_curve(np.ma.array(y, mask=hidden), np.ma.array(s, mask=hidden), epsilon=1.0, random_state=0)
    plain = tacit.roc_curve(np.where(hidden, 0, y), np.where(hidden, np.nan, s), epsilon=1.0, random_state=0)
    assert (masked.tpr == plain.tpr).all()
    fractions = [Fraction(float(score)) for score in s]
    assert (
        tacit.roc_curve(y, fractions, epsilon=1.0, random_state=0).tpr
        == tacit.roc_curve(y, s, epsilon=1.0, random_state=0).tpr
    ).all()


@pytest.mark.parametrize("method", ["auto", "laplace", "fixed-space", "recursive-medians"])
def test_scores_at_the_top_of_the_range_reach_the_first_thresholds(method: str) -> None:
    """−62.6 + (67.7 + 62.6) is above 67.7, as rounding has it: the first thresholds were, and no score reached them."""
    y = np.arange(500) % 2
    span = (-62.6, 67.7)
    curve = tacit.roc_curve(
        y, np.where(y == 1, span[1], span[0]), epsilon=1e6, method=method, score_range=span, random_state=0
    )
    assert curve.thresholds[1:].max() <= span[1]
