"""Public layouts of the first cuts: what they are, and that rows find a good one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Unit
from tacit.desk import cutting
from tacit.desk.cutting import Cutting
from tacit.desk.layouts import layouts
from tacit.privacy.grid import scores_at


@given(st.floats(0.3, 0.7), st.floats(0.0, 1.0))
def test_layouts_ascend_between_the_ends(first: float, negatives: float) -> None:
    places, weights = layouts(first, negatives)
    assert places.shape == (len(weights), 7)
    assert (np.diff(places, axis=1) > 0).all()
    assert places.min() > 0
    assert places.max() < 1
    assert np.exp(weights).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("first", [0.4, 0.5, 0.6])
def test_the_usual_layout_is_the_likeliest(first: float) -> None:
    """Its first cut is the usual one, and the others are quantiles of a logistic law."""
    places, weights = layouts(first, 0.5)
    best = places[weights.argmax()]
    assert best[3] == pytest.approx(first, abs=0.03)
    assert best[1] < 0.62 * first + 0.05
    assert best[5] > first + 0.38 * (1 - first) - 0.05


def test_classes_that_are_apart_have_a_gap_between_them() -> None:
    """If a quarter of the weight is in positives, the sixth cut is in the middle of some layouts' widest gap."""

    def widest_is_there(negatives: float) -> float:
        places, weights = layouts(0.5, negatives)
        usual = places[weights > np.log(1e-4)]
        gaps = np.diff(np.log(usual / (1 - usual)), axis=1)
        return float((gaps[:, 4] + gaps[:, 5] > 0.6 * gaps.sum(axis=1)).mean())

    assert widest_is_there(0.72) > 0.1
    assert widest_is_there(0.5) < 0.05


WAYS = [
    ((75, 75), 1, 0),
    ((300, 300), 1, 3),
    ((300, 300), Fraction(1, 4), 0),
    ((10_000, 10_000), 1, 0),
    ((300, 10_000), 1, 0),
    ((10_000, 300), 1, 0),
]


@pytest.mark.parametrize(("totals", "epsilon", "together"), WAYS)
def test_a_layout_is_chosen_where_rows_can_steer_it(
    totals: tuple[int, int], epsilon: int | Fraction, together: int
) -> None:
    """With few rows cuts stay at public places; with very many, or a rare class, each finds its own."""
    plan = Cutting.of(np.array(totals), 33.0, (0, 100.0), Fraction(epsilon), Unit.row())
    assert plan.together == together


def test_a_few_scores_are_found_one_by_one() -> None:
    """Where most rows are surely tied no layout fits: they may lie anywhere."""
    plans = [Cutting.of(np.array([300, 300]), 33.0, (tied, 10.0), Fraction(1), Unit.row()) for tied in (0, 600)]
    assert [plan.together for plan in plans] == [3, 0]


def test_cuts_of_a_layout_are_more_even(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores that crowd far from the usual places, 300 + 400 rows at ε = 1: bins differ by 16 rows, and by 62 if each
    cut is chosen by itself."""

    def uneven(levels: int) -> float:
        monkeypatch.setattr(cutting, "LEVELS", levels)  # of 64 none is ever chosen
        found = []
        for seed in range(24):
            rng = np.random.default_rng(seed)
            y = np.repeat([0, 1], [300, 400])
            scores = 1 / (1 + np.exp(2 - 0.4 * rng.normal(y)))
            cuts = tacit.roc_curve(y, scores, epsilon=1.0, random_state=seed).release.cuts
            found.append(np.diff(np.searchsorted(np.sort(scores), scores_at(cuts[1:-1]))).std())
        return float(np.mean(found))

    assert uneven(3) < 0.5 * uneven(64)
