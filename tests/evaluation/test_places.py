"""Places of scores inside of bins: right at cuts, never falling between them, and as unknown as they are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.evaluation.places import Paths, Places, along, axis, bent, inner_grid
from tacit.privacy.grid import CELLS, cells_of, scores_at

Floats = NDArray[np.float64]
CUTS = np.array([CELLS, 45_000, 33_000, 21_000, 0], dtype=np.float64)
KNOTS = np.array([[0.0, 0.05, 0.2, 0.6, 1.0], [0.0, 0.4, 0.8, 0.95, 1.0]])  # false- and true-positive rates


def places(ties: int = 0, draws: int = 500) -> Places:
    """The same curve in all draws, straight inside of bins, which have so many scores, or are spread."""
    rates = np.broadcast_to(KNOTS, (draws, *KNOTS.shape)).copy()
    paths = Paths(rates, np.full((draws, 2), 100.0), np.full((draws, 4), ties))
    return Places(CUTS, paths, np.random.default_rng(0))


def test_many_interpolations_at_once_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(1)
    knots = np.sort(np.round(rng.random((30, 12)), 1), axis=1)
    knots[:, 0], knots[:, -1] = 0.0, 1.0
    values = np.sort(rng.random((30, 12)), axis=1)
    for at in (rng.random(9), rng.random((30, 9))):
        rows = np.broadcast_to(at, (30, 9))
        brute = np.array([np.interp(*row) for row in zip(rows, knots, values, strict=True)])
        assert np.allclose(along(at, knots, values), brute)


def test_at_cuts_places_are_those_of_the_counts() -> None:
    assert np.allclose(places().rates(CUTS), KNOTS)


@pytest.mark.parametrize("ties", [0, 1, 3])
def test_places_never_fall_as_scores_do(ties: int) -> None:
    rates = places(ties).rates(np.linspace(CELLS, 0, 301))
    assert (np.diff(rates, axis=2) >= -1e-12).all()
    assert np.allclose(rates[:, :, 0], 0.0)
    assert np.allclose(rates[:, :, -1], 1.0)


def test_in_the_middle_of_a_bin_little_is_known_and_near_its_ends_much() -> None:
    """Between two cuts a tenth to nine tenths of the rows may be above the middle; a hundredth of the way in, few."""
    middle, near = (places().rates(np.array([cell]))[:, 1, 0] for cell in (27_000.0, 32_880.0))
    low, high = (np.quantile(middle, [0.025, 0.975]) - 0.8) / 0.15
    assert low < 0.3
    assert high > 0.7
    assert np.quantile(near, 0.9) < 0.8 + 0.1 * 0.15


def test_in_a_bin_up_to_1_logits_are_no_guide() -> None:
    """From 0.25 to next to 1 most logits are above that of 0.7, but scores of the bin need not be."""
    cuts = np.array([CELLS, 65_300, 22_000, 10_000, 0], dtype=np.float64)
    paths = Paths(np.broadcast_to(KNOTS, (500, 2, 5)).copy(), np.full((500, 2), 100.0), np.zeros((500, 4), dtype=bool))
    found = Places(cuts, paths, np.random.default_rng(0)).rates(cells_of(np.array([0.7])).astype(np.float64))
    low, high = (np.quantile(found[:, 1, 0], [0.025, 0.975]) - 0.4) / 0.4
    assert low < 0.25
    assert high > 0.9


def test_ties_are_above_a_threshold_or_below_it_with_both_classes() -> None:
    found = places(ties=1).rates(np.array([27_000.0]))[:, :, 0]
    above = np.isclose(found[:, 1], 0.95)
    assert 0.35 < above.mean() < 0.65
    assert np.allclose(found[above], KNOTS[:, 3])
    assert np.allclose(found[~above], KNOTS[:, 2])


@pytest.mark.parametrize("ties", [1, 2, 5])
def test_a_tie_may_stand_at_the_very_end_of_the_range(ties: int) -> None:
    """The highest cell may hold a share of its bin, or all of it, as predictions of 1 do; and so may the lowest."""
    highest, lowest = np.moveaxis(places(ties).rates(np.array([CELLS - 1.0, 1.0]))[:, 1], 1, 0)
    assert 0.55 < np.mean(highest > 0.01) < 0.85
    assert 0.55 < np.mean(lowest < 0.999) < 0.85
    assert np.allclose(places(ties).rates(CUTS), KNOTS, atol=1e-8)
    if ties == 1:
        assert set(np.round(highest, 6)) == {0.0, 0.4}


def test_several_ties_in_a_bin_are_steps_of_unlike_sizes() -> None:
    found = np.round(places(ties=3).rates(np.arange(33_000.0, 21_000.0, -50.0))[:, 1], 6)
    steps = [len(np.unique(draw)) for draw in found]
    assert max(steps) <= 4
    assert len(np.unique(found)) > 100


def test_interpolation_can_take_the_first_of_several_knots() -> None:
    knots, values = np.array([[0.0, 0.5, 0.5, 1.0]]), np.array([[0.0, 0.2, 0.6, 1.0]])
    assert along(np.array([0.5, 1.0]), knots, values, side="left").tolist() == [[0.2, 1.0]]
    assert along(np.array([0.5, 1.0]), knots, values).tolist() == [[0.6, 1.0]]


def test_stretches_and_bends_keep_the_ends() -> None:
    share = np.linspace(0.0, 1.0, 11)
    assert np.allclose(bent(share, np.array(0.0)), share, atol=1e-6)
    assert bent(share, np.array(1.0))[5] > 0.7
    assert bent(share, np.array(0.0), 2.0)[2] < share[2]
    assert np.allclose(bent(share, np.array(1.0), 0.5)[[0, -1]], [0, 1], atol=1e-3)


def test_the_axis_is_the_logit_of_the_score() -> None:
    cells = np.array([60_000.0, 40_000.0, 32_768.0, 10_000.0])
    scores = scores_at(cells.astype(np.int64))
    assert np.allclose(axis(cells), np.log(1 - scores) - np.log(scores), rtol=1e-2)


def test_steps_inside_of_bins_hold_their_ends() -> None:
    grid = inner_grid(KNOTS[:1])
    assert (np.diff(grid, axis=1) > 0).all()
    assert np.isin(np.round(KNOTS[0], 9), np.round(grid, 9)).all()
