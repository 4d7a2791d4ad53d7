"""Where thresholds of a ROC curve go: public arithmetic, and what it does for few rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Unit
from tacit.desk import cutting
from tacit.desk.cutting import Cutting
from tacit.privacy.grid import CELLS

TOTALS = st.tuples(*[st.integers(-(10**6), 10**9)] * 2)
NO_TIES = (0, 100.0)
EPSILONS = st.fractions(Fraction(1, 10**12), 10**12).filter(bool)


def test_weights_stay_together_where_totals_are_noise() -> None:
    """Clear totals give each class the root of its size; totals that are noise alone must not silence a class."""
    assert cutting.class_weights(np.array([900, 100]), 0.0) == (21, 64)
    assert cutting.class_weights(np.array([-40, 700]), 3000.0) == (64, 49)
    assert cutting.class_weights(np.array([10**6, 1]), 0.0) == (9, 64)


def test_cuts_are_paid_where_rows_can_steer_them() -> None:
    """The least share where rows are too few to matter, and where they are so many that little is needed."""
    shares = [cutting.cutting_share(Fraction(strength), 2) for strength in (1, 30, 200, 10_000)]
    assert shares == [cutting.LEAST, Fraction(30, cutting.FEW), cutting.MOST, cutting.LEAST]
    few, persons = (cutting.steering(np.array([100, 400]), (64, 32), Fraction(1, m)) for m in (1, 3))
    assert few == 300
    assert persons == 100


@pytest.mark.parametrize(
    ("totals", "epsilon", "bins"),
    [
        ((385, 299), 0.25, 4),
        ((385, 299), 0.5, 8),
        ((5000, 5000), 0.1, 8),
        ((5000, 5000), 0.25, 8),
        ((5000, 5000), 1.0, 32),
    ],
)
def test_bins_are_few_where_noise_is_large(totals: tuple[int, int], epsilon: float, bins: int) -> None:
    """Four are for small ε·√n alone: with 5.5 of it or more, eight are better (docs/measured/roc.md)."""
    assert cutting.number_of_bins(np.array(totals), epsilon, Unit.row()) == bins


def test_ties_that_are_sure_bring_more_bins_up_to_a_limit() -> None:
    """Half of the bins would else be empty; where most rows may be untied there are as many as usual."""

    def bins(totals: int, tied: int, scale: float, epsilon: int | Fraction = 1) -> int:
        return Cutting.of(np.array([totals, totals]), 33.0, (tied, scale), Fraction(epsilon), Unit.row()).bins

    assert [bins(150, tied, 10.0) for tied in (-100, 0, 170, 190, 300)] == [8, 8, 8, 16, 16]
    assert bins(150, 300, 60.0) == 8
    assert bins(5000, 9000, 20.0) == 32
    assert bins(100_000, 190_000, 20.0) == bins(100_000, 0, 20.0) == 128


def test_ties_are_paid_where_they_could_be_told() -> None:
    """Enough for noise of a fifteenth of the rows; the least where that much cannot be had, or is more than enough."""
    shares = [cutting.ties_share(np.array([n, n]), Fraction(1, 2), Unit.row()) for n in (10, 190, 300, 1500, 10**6)]
    assert shares == [Fraction(1, 200), Fraction(1, 200), Fraction(1, 50), Fraction(1, 100), Fraction(1, 200)]
    assert cutting.ties_share(np.array([3000, 3000]), Fraction(1, 2), Unit.user("person", max_rows=2)) == Fraction(
        1, 100
    )


@given(TOTALS, EPSILONS, st.integers(1, 1000), st.integers(0, 5))
def test_every_plan_is_within_bounds(totals: tuple[int, int], epsilon: Fraction, rows: int, level: int) -> None:
    """Whatever noise says of the totals: shares that add up, bins that are powers of two, finite preferences."""
    unit = Unit.row() if rows == 1 else Unit.user("person", max_rows=rows)
    share, crowd = (rule(np.array(totals), epsilon, unit) for rule in (cutting.ties_share, cutting.a_crowd))
    assert cutting.TIES[0] <= share <= cutting.TIES[1]
    assert crowd >= cutting.LEAST_CROWD
    plan = Cutting.of(np.array(totals), float(1 / epsilon), NO_TIES, epsilon, unit)
    assert cutting.LEAST <= plan.share <= cutting.MOST
    assert 2**plan.depth == plan.bins
    assert 0 < plan.middle < 1
    preference = plan.preference(2**level, 127)
    assert preference.shape == (2**level, 127)
    assert np.isfinite(preference).all()
    np.testing.assert_allclose(np.exp(preference).mean(axis=1), 1.0)


def test_any_epsilon_has_a_plan() -> None:
    for exponent in (-300, 300):
        plan = Cutting.of(np.array([10**6, 10**6]), 1.0, NO_TIES, Fraction(10) ** exponent, Unit.row())
        assert np.isfinite(plan.preference(4, 100)).all()


def test_a_peak_is_sharp_where_rows_say_little_and_flat_where_they_say_much() -> None:
    """At its peak a cut is 3.5 times as likely as far from it where rows decide, and 100 times where they cannot."""
    heights = [cutting.reluctance(nats) for nats in (0.1, 2.0, 6.0, 20.0, 200.0)]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] > np.log(100)
    assert heights[-1] == pytest.approx(np.log(3.5), abs=0.05)


def test_the_first_cut_leans_to_the_share_of_positives() -> None:
    """Calibrated scores have their middle there: below the middle of the grid where positives are few."""
    rare, even, common = (
        Cutting.of(np.array(totals), 10.0, NO_TIES, Fraction(1, 100), Unit.row()).preference(1, 999)[0].argmax()
        for totals in ([9000, 1000], [5000, 5000], [1000, 9000])
    )
    assert rare < even < common
    assert even == pytest.approx(499, abs=1)
    assert common - even == pytest.approx(even - rare, abs=2)


def test_few_rows_do_not_scatter_the_cuts() -> None:
    """At ε = 0.1 a few hundred rows cannot steer a cut, so that it stays near its public place in most runs."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [300, 380])
    scores = 1 / (1 + np.exp(-rng.normal(1.5 * y - 0.75)))
    curves = [tacit.roc_curve(y, scores, epsilon=0.1, random_state=i) for i in range(60)]
    inner = [curve._binned.cuts[2:-2] if curve._binned.apart else curve._binned.cuts[1:-1] for curve in curves]
    cuts = np.array([found for found in inner if len(found) == 3])
    assert len(cuts) > 50  # noise seldom says that rows are tied, and then there are more bins
    usual = np.array([cutting.INWARD / 2, 0.5, 1 - cutting.INWARD / 2])
    assert (np.abs(cuts / CELLS - usual) < 0.1).mean() > 0.8


def test_many_rows_bring_the_cuts_to_where_scores_are() -> None:
    """Scores between 0.05 and 0.15, far from any public place: with 20,000 rows at ε = 1 all cuts are among them."""
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 10_000)
    curve = tacit.roc_curve(y, rng.uniform(0.05, 0.13, len(y)) + 0.02 * y, epsilon=1.0, random_state=0)
    inner = np.array(curve._binned.counts)[:, 1:-1].sum(axis=0)
    assert (inner < 3 * inner.sum() * 0.5**curve._binned.depths).all()


LOOKS = [
    ((3000, 3000), Fraction(1), 1, Fraction(1, 50)),
    ((3000, 3000), Fraction(5, 2), 1, Fraction(1, 125)),
    ((10**4, 10**4), Fraction(100), 1, cutting.LOOK[0]),
    ((10**5, 10**5), Fraction(1, 2), 1, cutting.LOOK[1]),
    ((10**6, 10**6), Fraction(49, 100), 1, 0),
    ((900, 900), Fraction(1), 1, 0),  # few bins
    ((20_000, 20_000), Fraction(1), 2, cutting.LOOK[1]),
    ((20_000, 20_000), Fraction(1), 3, 0),
]


@pytest.mark.parametrize(("totals", "epsilon", "rows", "share"), LOOKS)
def test_classes_are_looked_at_where_that_is_cheap(
    totals: tuple[int, int], epsilon: Fraction, rows: int, share: Fraction
) -> None:
    """Where there are many bins, for noise of 50 rows, if 4 % of ε buy it."""
    unit = Unit.row() if rows == 1 else Unit.user("person", max_rows=rows)
    assert cutting.look_share(np.array(totals), epsilon, unit) == share


def test_intervals_are_left_whole_where_a_class_is_all_but_absent() -> None:
    counts = np.array([[900, 49, 51, -30, 0], [800, 700, 60, 900, 3]])
    assert cutting.one_sided(counts, 50.0).tolist() == [False, True, False, True, True]


@given(st.lists(st.booleans(), max_size=40), st.randoms(use_true_random=False))
def test_splits_are_those_that_made_the_bins(halved: list[bool], order: Any) -> None:
    """Any bins that halving makes are read back, cut by cut; all others are refused."""
    nodes, made = [(0.0, 1.0)], set()
    for _ in halved:
        low, high = nodes.pop(order.randrange(len(nodes)))
        nodes += [(low, (low + high) / 2), ((low + high) / 2, high)]
        made.add((low, (low + high) / 2, high))
    nodes.sort()
    ends = [low for low, _ in nodes] + [1.0]
    depths = np.array([round(-np.log2(high - low)) for low, high in nodes])
    assert {tuple(ends[i] for i in split) for split in cutting.splits(depths).tolist()} == made
    for wrong in (depths + 1, np.append(depths, depths[-1] + 1), np.array([], dtype=int)):
        with pytest.raises(ValueError, match="halving"):
            cutting.splits(wrong)


@pytest.mark.parametrize("budget", [1.0, 0.5])
def test_cuts_are_where_both_classes_are(budget: float) -> None:
    """Classes that meet in a tenth of the rows: bins are there, but for intervals that noise makes look mixed."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [20_000, 20_000])
    scores = 1 / (1 + np.exp(-rng.normal(6 * y - 3, 1.8)))
    found = [tacit.roc_curve(y, scores, epsilon=budget, random_state=i).release for i in range(8)]
    most = cutting.number_of_bins(found[0].totals, budget, Unit.row())
    assert most >= 32
    assert np.mean([len(one.depths) for one in found]) < 0.7 * most
    for one in found:
        assert set(one.depths.tolist()) == {cutting.LOOK_AFTER, most.bit_length() - 1}
        assert one.receipt["steps"][2]["what"] == "classes in the first intervals"
