"""Scores at the very ends of the range, which have bins of their own; and intervals that can be wrong at one end."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import expit

import tacit
from tacit import Unit
from tacit.desk.cutting import ends_apart
from tacit.desk.scores import Binned
from tacit.evaluation.draws import ModelDraws
from tacit.evaluation.evidence import Evidence
from tacit.evaluation.posterior import Inside
from tacit.privacy.grid import CELLS
from tacit.privacy.release import Receipt
from tests.evaluation.test_roc import check_valid, made_up

CUTS = np.array([0, 1, 20_000, 30_000, 40_000, CELLS - 1, CELLS])


def crowded(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """As Naive Bayes scores: half of the positives are exactly 1, others next to it; a quarter of all rows are 0."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    logits = np.where(y == 1, rng.normal(60, 60, n), rng.normal(-8, 8, n))
    return y, expit(np.where(rng.random(n) < 0.25, -800.0, logits))


def released(bottom: tuple[int, int], top: tuple[int, int], *, gaussian: bool = False) -> Binned:
    """Counts of a smooth classifier, and so many negatives and positives at either end, with noise of scale 5."""
    negatives, positives = [400, 200, 100, 50], [30, 60, 120, 250]
    counts = [[bottom[y], *inner, top[y]] for y, inner in enumerate((negatives, positives))]
    return Binned(
        cuts=CUTS,
        depths=np.full(4, 2),
        counts=(np.array(counts[0]), np.array(counts[1])),
        totals=np.array([750, 460]),
        tied=0,
        crowd=40,
        noise_scale=5.0,
        totals_scale=30.0,
        tied_scale=50.0,
        gaussian=gaussian,
        weights=(50, 64),
        level_rate=0.001,
        receipt=Receipt({}),
    )


def test_what_noise_may_explain_at_an_end_is_no_bin() -> None:
    """Of 10, two scales, a twentieth goes to the next bin; 300 are a bin, of one class or of both."""
    none = Evidence.of(released((0, 0), (-9, 4)))
    assert none.ends == (False, False)
    assert none.bins == none.counts.shape[1] == 4
    assert np.abs(none.counts.sum(axis=1) - (750, 460)).max() < 1
    assert (none.cuts(CUTS) == [0, 20_000, 30_000, 40_000, CELLS]).all()
    few = Evidence.of(released((0, 0), (0, 10)))
    assert few.counts[1, 0] - 250 == pytest.approx(10 / (1 + np.exp(3)))
    many = Evidence.of(released((300, 0), (0, 300)))
    assert many.ends == (True, True)
    assert (many.bins, many.counts.shape[1]) == (4, 6)
    assert (many.counts[:, [0, -1]] == [[0, 300], [300, 0]]).all()
    assert (many.cuts(CUTS) == CUTS).all()
    one = Evidence.of(released((0, 0), (0, 300)))
    assert one.ends == (True, False)
    assert (one.cuts(CUTS) == [0, 20_000, 30_000, 40_000, CELLS - 1, CELLS]).all()
    assert one.turned().ends == (False, True)


def test_wrong_rows_may_be_sure_where_both_classes_are_at_one_end() -> None:
    """Or where many are on the wrong side; else classes are as far apart as such scores say."""
    mixed = replace(
        released((0, 0), (0, 0)), counts=(np.array([300, 400, 90, 50, 30, 200]), np.array([0, 0, 2, 3, 5, 300]))
    )
    assert Evidence.of(mixed).misplaced < Evidence.of(mixed).misplaced_by_noise(0.95)  # of bins that can be cut
    assert Evidence.of(mixed).sure == 1
    assert Evidence.of(released((300, 0), (0, 300))).sure > 0.9  # a few hundred of others are on the wrong side
    clean = replace(
        released((300, 0), (0, 300)), counts=(np.array([300, 400, 90, 2, 0, 0]), np.array([0, 0, 3, 8, 250, 300]))
    )
    assert Evidence.of(clean).sure == 0
    assert Evidence.of(released((0, 0), (0, 0))).sure == 0


def test_a_class_may_have_no_scores_at_an_end() -> None:
    """Three scales of noise may be no rows; thirty are some; and the class that made the bin is there in all draws."""
    shares = []
    for few in (2, 15, 150):
        draws = ModelDraws(Evidence.of(released((0, 0), (few, 300))), 400)
        for counts in (draws.sample, draws.population):
            assert (counts[:, 1, 0] > 100).all()
        shares.append((draws.population[:, 0, 0] == 0).mean())
    assert 0.1 < shares[0] < 0.6
    assert 0.005 < shares[1] < shares[0] / 2
    assert shares[2] == 0


def test_bins_next_to_those_at_the_ends_are_the_first_and_last_ones() -> None:
    """Which may be steep, mixed, or have all positives at their end; tied scores beyond do not count."""
    counts = np.tile([[900.0, 40.0, 100.0, 150.0, 50.0, 500.0], [300.0, 200.0, 60.0, 20.0, 40.0, 80.0]], (2000, 1, 1))
    none, rng = np.zeros((2000, 6)), np.random.default_rng(0)
    inside = Inside.draw(counts, np.ones((2000, 1)), none, rng, sure=1.0, apart=(True, True))
    late, inner = (inside.late > 0).mean(axis=0), slice(2, 4)
    assert (np.abs(late[[1, 4]] - 0.3) < 0.1).all()
    assert not late[inner].any()
    assert not inside.straight[:, inner].any()
    assert np.quantile(inside.late[inside.late > 0], 0.9) > 0.93
    assert not (Inside.draw(counts, np.ones((2000, 1)), none, rng).late > 0).any()


def test_gaussian_noise_is_less_often_far_out() -> None:
    count = (0, 18)  # 3.6 scales
    assert not Evidence.of(released((0, 0), count)).ends[0]
    assert Evidence.of(released((0, 0), count, gaussian=True)).ends[0]


def test_bins_at_the_ends_stay_apart_when_others_are_merged() -> None:
    evidence = Evidence.of(released((300, 5), (4, 300)))
    merged = evidence.merged(2)
    assert (merged.bins, merged.ends) == (2, (True, True))
    assert (merged.counts == [[4, 150, 600, 300], [300, 370, 90, 5]]).all()
    assert merged.noise.scale == pytest.approx(5 * np.sqrt(2))


def test_few_rows_have_no_bins_for_the_ends() -> None:
    """Their noise would be felt. Persons of many rows, whose noise is larger, count for less."""
    totals, person = np.array([300, 100]), Unit.user("person", max_rows=4)
    assert ends_apart(totals, Fraction(1, 5), Unit.row())
    assert not ends_apart(totals, Fraction(19, 100), Unit.row())
    assert ends_apart(totals, Fraction(4, 5), person)
    assert not ends_apart(totals, Fraction(3, 4), person)
    y, s = made_up(300)
    for epsilon, apart in ((2.0, True), (0.1, False)):
        curve = tacit.roc_curve(y, s, epsilon=epsilon, random_state=0)
        assert curve.release.apart == apart
        assert len(curve.cuts) - 1 in (4, 8, 16)  # nothing scores 0 or 1
        check_valid(curve)


def test_how_many_score_exactly_1_is_known() -> None:
    """Half of the positives do. Before, recall there was 0 in all of these runs, and no interval held it in three."""
    truth = np.mean([s[y == 1] == 1 for y, s in [crowded(200_000, 99)]])
    found = []
    for seed in range(6):
        m = tacit.roc_curve(*crowded(2000, seed), epsilon=0.5, random_state=seed).metrics
        for estimate in (m.recall(1.0), m.recall(0.0)):
            assert estimate.low <= estimate.value <= estimate.high
        found.append(m.recall(1.0))
        assert m.recall(0.0).value == pytest.approx(1.0)
        assert m.accuracy(1e-9).value < 0.85  # a quarter of the positives are below
    assert np.mean([abs(one.value - truth) for one in found]) < 0.05
    assert np.mean([one.high - one.low for one in found]) < 0.2
    assert sum(one.low <= truth <= one.high for one in found) >= 4


def test_rows_at_an_end_that_noise_may_explain_are_allowed_for() -> None:
    """A tenth of the positives score 1: too few for a bin at ε = 0.1. Recall there was held in five of these runs."""
    held, spread = [], []
    for seed in range(20):
        y, s = made_up(2000, 0.24, seed=seed)
        s[(y == 1) & (np.random.default_rng(1000 + seed).random(2000) < 0.1)] = 1.0
        m = tacit.roc_curve(y, s, epsilon=0.1, random_state=seed).metrics
        held.append(m.recall(1.0).low <= 0.1 <= m.recall(1.0).high)
        plain = tacit.roc_curve(*made_up(2000, 0.24, seed=seed), epsilon=1.0, random_state=seed).metrics.recall(1.0)
        spread.append(plain.high)
    assert sum(held) >= 15
    assert np.median(spread) < 0.02  # with little noise nothing is hidden


def test_crowds_beside_the_ends_do_not_spoil_a_curve() -> None:
    """Median area off at ε = 0.1: 0.09 when ends were cut like all else, and a usual curve's is 0.03."""
    errors = []
    for seed in range(10):
        y, s = crowded(2000, seed)
        curve = tacit.roc_curve(y, s, epsilon=0.1, random_state=seed)
        exact = tacit.roc_curve(y, s, epsilon=1e6, random_state=seed)
        grid = np.linspace(0, 1, 501)
        errors.append(np.abs(np.interp(grid, curve.fpr, curve.tpr) - np.interp(grid, exact.fpr, exact.tpr)).mean())
        check_valid(curve)
    assert np.median(errors) < 0.06


def test_an_end_that_cannot_be_wrong_leaves_its_share_to_the_other() -> None:
    """Where an interval ends at 1, its lower end is where that of an interval with twice the misses would be."""
    y, s = made_up(2000, 0.4, distance=7.0)
    one_sided = 0
    for seed in range(6):
        for scores, wrong in ((s, 0), (1 - s, 1)):
            curve = tacit.roc_curve(y, scores, epsilon=0.1, random_state=seed)
            ends, plain, wide = curve.auc_interval(), curve._area_ends(0.95), curve._area_ends(0.9)
            if ends[1 - wrong] == 1 - wrong:
                assert ends[wrong] == pytest.approx(wide[wrong], abs=1e-9)
                assert abs(ends[wrong] - curve.auc) <= abs(plain[wrong] - curve.auc)
                one_sided += ends[wrong] != plain[wrong]
    assert one_sided >= 6
    usual = tacit.roc_curve(*made_up(2000), epsilon=1.0, random_state=0)
    assert usual.auc_interval() == usual._area_ends(0.95)


def test_ties_at_the_ends_are_not_counted_as_ties() -> None:
    """They need no telling, so that the number of ties says more of all others."""
    y = np.arange(4000) % 2
    curve = tacit.roc_curve(y, y.astype(float), epsilon=5.0, random_state=0)
    assert abs(curve.release.tied) < 5 * curve.release.tied_scale
    inner = tacit.roc_curve(y, 0.4 + 0.2 * y, epsilon=5.0, random_state=0)
    assert inner.release.tied > 3000
    assert inner.release.apart
