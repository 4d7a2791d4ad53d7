"""The posterior behind a curve: its densities are the right ones, and its draws follow them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import trapezoid

from tacit.evaluation import posterior
from tacit.evaluation.draws import COARSE, GRID, Draws, ModelDraws
from tacit.evaluation.evidence import BROAD, Evidence, Noise
from tacit.evaluation.model import (
    D_MEAN,
    D_SPREAD,
    FREEDOM,
    LINE,
    SHAPE,
    STRAY,
    STRAY_TAIL,
    WIGGLES,
    Model,
)
from tacit.evaluation.posterior import (
    Inside,
    curves,
    draw,
    kept_positive,
    plain_curve,
    weighted_median,
)
from tests.support.releases import bins_of, evidence_of

Floats = NDArray[np.float64]


def made_up(scale: float, gaussian: bool = False) -> Evidence:
    """A release of four bins: 300 negatives and 200 positives, and one draw of the noise."""
    counts = np.array([[10.0, 40.0, 90.0, 160.0], [95.0, 60.0, 35.0, 10.0]])
    noise = scale * np.array([[0.4, -1.1, 0.2, 0.9], [-0.3, 0.8, -1.6, 0.1]])
    return evidence_of(counts + noise, Noise(scale, gaussian), (1.0, 1.0), 60.0)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize(("scale", "spread"), [(1.0, 0.1), (3.0, 3.0), (0.5, 20.0), (12.0, 2.0)])
def test_densities_are_convolutions(scale: float, spread: float, gaussian: bool) -> None:
    rest = np.linspace(-6, 6, 13) * (scale + spread)
    law = stats.norm(scale=scale) if gaussian else stats.laplace(scale=scale)
    nodes = np.linspace(-9, 9, 20_001)
    brute = (law.pdf(rest[:, None] - spread * nodes) * stats.norm.pdf(nodes)).sum(axis=1) * (nodes[1] - nodes[0])
    found = Noise(scale, gaussian).log_density(rest, np.full_like(rest, spread))
    assert np.allclose(found - found[6], np.log(brute / brute[6]), atol=2e-3)


@pytest.mark.parametrize("gaussian", [False, True])
def test_drawn_counts_follow_their_posterior(gaussian: bool) -> None:
    """Means and spreads of 40,000 draws beside sums over a grid; the tolerance is ten standard errors."""
    noise = Noise(5.0, gaussian)
    for released, mean, spread in ((20.0, 12.0, 4.0), (-3.0, 9.0, 3.0), (60.0, 10.0, 3.0), (90.0, 10.0, 400.0)):
        shape = (40_000,)
        rng = np.random.default_rng(1)
        drawn = noise.draw_counts(np.full(shape, released), np.full(shape, mean), np.full(shape, spread), rng)
        grid = np.linspace(mean - 120, mean + 200, 64_001)
        law = stats.norm(scale=5.0) if gaussian else stats.laplace(scale=5.0)
        weight = law.pdf(released - grid) * stats.norm.pdf(grid, mean, spread)
        middle = np.average(grid, weights=weight)
        width = np.sqrt(np.average((grid - middle) ** 2, weights=weight))
        assert drawn.mean() == pytest.approx(middle, abs=10 * width / 200)
        assert drawn.std() == pytest.approx(width, rel=0.05)


def test_draws_of_curves_follow_the_posterior() -> None:
    """Against 400,000 draws from the prior, weighed by the likelihood: separation, slope, and rates at the cuts.

    The brute force is worth 300 equal draws and more, so that limits of a third of a standard deviation are five
    standard errors. Draws under twice the noise do not pass.
    """
    model = Model(made_up(12.0))
    rng = np.random.default_rng(2)
    prior = rng.standard_normal((400_000, model.size))
    prior[:, -2:] *= 0.2  # sizes are well known: draw them near what was released
    wiggles = prior[:, 2:LINE]
    wiggles *= np.sqrt(FREEDOM / rng.chisquare(FREEDOM, (len(prior), 1)))
    heavy = (FREEDOM + WIGGLES) * np.log1p((wiggles**2).sum(axis=1) / FREEDOM)
    rest = np.delete(prior[:, :-2], np.s_[2:LINE], axis=1)
    logs = model.log_posterior(prior) + (heavy + (rest**2).sum(axis=1)) / 2 + (prior[:, -2:] ** 2).sum(axis=1) / 0.08
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    assert 1 / (weights**2).sum() > 300

    def shown(xi: Floats) -> Floats:
        state = model.unfold(xi)
        return np.column_stack([state.separation, np.log(state.slope), state.fpr, state.tpr])

    brute = shown(prior)
    middle = weights @ brute
    width = np.sqrt(weights @ (brute - middle) ** 2)
    ours = shown(draw(model, rng, number=1000))
    assert (np.abs(ours.mean(axis=0) - middle) < 0.33 * width).all()
    assert (np.abs(np.log(ours.std(axis=0) / width)) < 0.3).all()
    wrong = shown(draw(Model(made_up(24.0)), rng, number=1000))
    assert (np.abs(np.log(wrong.std(axis=0) / width)) > 0.3).any()


def test_bins_that_look_empty_do_not_add_up() -> None:
    """Counts are at least 0, large ones stay as they are, and classes keep their sizes as far as small ones allow."""
    drawn = np.random.default_rng(5).normal(0.3, 1.5, (200, 2, 32))
    drawn[:, :, :4] += 100
    kept = kept_positive(drawn)
    assert (kept >= 0).all()
    assert ((kept == 0) | (kept == drawn)).all()
    assert (kept[:, :, :4] == drawn[:, :, :4]).all()
    off = kept.sum(axis=2) - drawn.sum(axis=2)
    cut_off = np.maximum(drawn, 0).sum(axis=2) - drawn.sum(axis=2)
    assert cut_off.mean() > 10  # rows that would be there for nothing
    assert ((off > -1e-9) & (off <= cut_off + 1e-9)).all()
    assert off.mean() < cut_off.mean() / 4
    assert kept_positive(np.full((1, 2, 4), -1.0)).sum() == 0


def test_strays_score_as_the_other_class_does() -> None:
    """With a share of each class among the other, rates are mixtures of both, at cuts and along the curve."""
    model = Model(made_up(12.0))
    xi = np.zeros((2, model.size))
    xi[1, LINE:SHAPE] = np.arcsinh(np.sqrt(np.array([0.01, 0.05]) / STRAY)) / STRAY_TAIL
    state = model.unfold(xi)
    fpr, tpr = state.fpr[0], state.tpr[0]
    mixed = 0.99 * fpr + 0.01 * tpr, 0.95 * tpr + 0.05 * fpr
    assert np.allclose([state.fpr[1], state.tpr[1]], mixed)
    along = state.curve(np.stack([fpr, mixed[0]]))
    assert np.allclose(along[0], tpr, atol=2e-3)
    assert np.allclose(along[1], mixed[1], atol=2e-3)
    ends = state.curve(np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert np.allclose(ends, [[0, 1], [0, 1]], atol=1e-6)


@pytest.mark.parametrize(
    "counts",
    [
        [[0, -2, 0, 0, 0, 0, 3, 479], [52, 1, 13, 0, -1, 2, 3, 9]],
        [[0, -2, 2, 0, -1, 0, -1, 481], [60, 3, 0, 6, 0, -1, 1, 10]],
        [[-1, -1, -3, 1, 0, 0, -1, 480], [65, 0, -3, 2, 2, 0, 1, 13]],
    ],
)
def test_cuts_may_all_stand_close_together(counts: list[list[float]]) -> None:
    """Real releases of nearly perfect classifiers, whose cuts all fell between the two classes.

    With gaps that are each of the usual size, slopes of about a half and areas of .9765 to .9903 were read into them;
    the areas of these test sets are .998.
    """
    draws = Draws(evidence_of(np.array(counts, float), Noise(1.18), (0.4, 1.0), 50.0), 400)
    assert np.median(draws._modelled._state.slope) > 0.58
    assert trapezoid(np.maximum.accumulate(draws.best_guess()), GRID) > 0.9915


def test_straight_curves_bend_less_than_broken_ones() -> None:
    """Slopes of neighbouring bins, and the roughness of a curve, say how far it may be from the chord between knots."""
    straight = np.full((400, 2, 8), 50.0)
    broken = straight.copy()
    broken[:, 1, 4:] = 0.1
    rng = np.random.default_rng(0)
    none = np.zeros((400, 8))
    flat, steep = (Inside.draw(counts, np.ones((400, 1)), none, rng) for counts in (straight, broken))
    rough = Inside.draw(straight, np.full((400, 1), 3.0), none, rng)
    assert steep.bends[:, 3].std() > 3 * flat.bends[:, 3].std()
    assert 2.5 < rough.bends.std() / flat.bends.std() < 3.5
    assert not flat.corners[:, 1:-1].any()  # corners only at the ends, and where the slope falls steeply
    assert steep.corners[:, 3].any()
    assert flat.straight[:, [0, -1]].any(axis=0).all()  # straight ones at both ends alone
    assert not flat.straight[:, 1:-1].any()
    assert not (flat.straight & flat.corners).any()


def test_corners_are_as_high_as_concave_curves_can_be() -> None:
    """Slopes 2, 1 and 1/2 of three bins: prolonged chords of the neighbours, and the ends of the square."""
    counts = np.array([[[2.0, 4.0, 6.0], [4.0, 4.0, 3.0]]])
    fpr, tpr = np.array([0, 2, 6, 12]) / 12, np.array([0, 4, 8, 11]) / 11
    grid = np.linspace(0.0, 1.0, 241)[1:-1]
    none = np.zeros((1, 3), dtype=bool)
    chance = np.zeros((1, SHAPE + 4))  # parameters of a curve that is the diagonal: straight in each bin
    chance[0, 0] = -D_MEAN / D_SPREAD
    state = Model(evidence_of(counts[0], Noise(1.0), (1.0, 1.0), 1.0, depths=[1, 2, 2])).unfold(chance)
    (smooth,) = curves(state, counts, grid, none, sags=np.ones(1))
    inside = Inside(np.zeros((1, 3)), ~none, none, np.zeros((1, 3)), np.full((2, 1, 3), 0.5))
    (high,) = curves(state, counts, grid, none, sags=np.ones(1), inside=inside)
    slopes = np.diff(tpr) / np.diff(fpr)
    before = tpr[1:3] + slopes[:2] * (grid[:, None] - fpr[1:3])  # of the first and the second bin, from their ends
    after = tpr[1:3] + slopes[1:] * (grid[:, None] - fpr[1:3])  # of the second and the third bin, from their starts
    bin_ = np.searchsorted(fpr[1:-1], grid, side="right")
    expected = np.choose(bin_, [after[:, 0], np.minimum(before[:, 0], after[:, 1]), np.minimum(before[:, 1], 1.0)])
    assert np.allclose(high, expected)
    assert np.allclose(smooth, np.interp(grid, fpr, tpr))
    knees = np.array([[[0.2, 0.5, 1.0]], [[0.6, 0.5, 0.7]]])  # over ties: in two pieces, or straight
    (over,) = curves(state, counts, grid, ~none, sags=np.ones(1), inside=replace(inside, knees=knees))
    x, y = np.array([0, 0.4, 2, 6, 12, 12]) / 12, np.array([0, 2.4, 4, 8, 8 + 0.7 * 3, 11]) / 11
    assert np.allclose(over, np.interp(grid, x, y), atol=1e-6)
    assert np.allclose(plain_curve(counts[0], fpr[1:-1], none[0]), tpr[1:-1])


def test_draws_reach_what_many_more_moves_reach_where_noise_is_much_of_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty negatives, and noise of half of them on one count: proposals as narrow as the best fit reach .75 of it."""
    widths = []
    for moves in (posterior.STEPS, 300):
        monkeypatch.setattr(posterior, "STEPS", moves)
        monkeypatch.setattr(posterior, "WORK", 10**6)
        found = []
        for change in range(6):
            counts = np.array([[1.0 + 1e-6 * change, 25.0, 3.0, 14.0], [700.0, 520.0, 400.0, 340.0]])
            draws = ModelDraws(evidence_of(counts, Noise(4.4), (1.0, 0.2), 30.0), 400)
            low, high = np.quantile(draws.population_curves(COARSE), [0.025, 0.975], axis=0)
            found.append((high - low).mean())
        widths.append(np.mean(found))
    assert widths[0] > 0.79 * widths[1]


def test_weighted_medians_are_medians_of_repeated_draws() -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 5, 41) * 2 + rng.permutation(np.repeat([0, 1], [40, 1]))  # the sum is odd: one middle
    drawn = rng.standard_normal((41, 30))
    assert np.array_equal(weighted_median(drawn, weights / 7), np.median(np.repeat(drawn, weights, axis=0), axis=0))


@pytest.mark.parametrize(("scale", "least", "most"), [(0.1, 0.0, 0.001), (20.0, 0.001, 0.02)])
def test_the_best_guess_leans_to_usual_slopes_where_little_is_known(scale: float, least: float, most: float) -> None:
    """A steep curve under little noise and much: the guess is near the plain median, or between it and slope 1."""
    counts = np.array([[5.0, 45.0, 150.0, 100.0], [60.0, 150.0, 85.0, 5.0]])
    draws = ModelDraws(evidence_of(counts, Noise(scale), (1.0, 1.0), 60.0), 4000)
    drawn = curves(draws._state, draws.sample, COARSE, draws.tied, sags=draws._sags)
    far = np.abs(np.log(draws._state.slope))
    plain, near = np.median(drawn, axis=0), np.median(drawn[far < np.median(far)], axis=0)
    moved = draws.sample_curve(COARSE) - plain
    assert least <= np.abs(moved).mean() < most
    assert np.corrcoef(moved, near - plain)[0, 1] > 0.8


def test_nothing_is_known_inside_a_bin_that_holds_all() -> None:
    """All scores crowd between two cuts: then the release says next to nothing, and no interval may be narrow."""
    areas = Draws(bins_of([-8.0, 11.0, 1761.0, -2.0], [-4.0, 11.0, 220.0, -2.0], 170.0), 400).population_curves.mean(
        axis=1
    )
    assert np.ptp(np.quantile(areas, [0.025, 0.975])) > 0.15


def test_merged_bins_keep_their_rows_and_their_noise() -> None:
    fine = evidence_of(np.arange(128.0).reshape(2, 64), Noise(3.0), (1.0, 0.5), 60.0)
    merged = fine.merged(32)
    assert merged.bins == 32
    assert (merged.counts == fine.counts[:, ::2] + fine.counts[:, 1::2]).all()
    assert merged.noise.variance == pytest.approx(2 * fine.noise.variance)
    assert fine.merged(64) is fine


def test_the_last_cuts_are_undone_first() -> None:
    """Of bins that were cut unevenly the smallest are added up, two and two, and those that were left whole stay."""
    uneven = evidence_of(np.arange(12.0).reshape(2, 6), Noise(3.0), (1.0, 1.0), 60.0, depths=[3, 3, 2, 2, 3, 3])
    merged = uneven.merged(4)
    assert merged.depths.tolist() == [2, 2, 2, 2]
    assert merged.counts[0].tolist() == [1.0, 2.0, 3.0, 9.0]
    assert uneven.merged(2).counts[0].tolist() == [3.0, 12.0]
    whole = evidence_of(np.arange(8.0).reshape(2, 4), Noise(3.0), (1.0, 1.0), 60.0, depths=[1, 2, 3, 3])
    assert whole.merged(2).counts[1].tolist() == [4.0, 18.0]


@pytest.mark.parametrize("depths", [[2, 2, 2, 2], [1, 3, 3, 2], [3, 3, 2, 2, 3, 3]])
def test_balances_are_sums_over_the_sides_of_each_cut(depths: list[int]) -> None:
    """As a tree of nested lists has them, whatever the order of its cuts."""
    counts = np.random.default_rng(0).uniform(50, 400, (2, len(depths)))
    model = Model(evidence_of(counts, Noise(1.0), (0.5, 1.0), 1.0, depths=depths))
    state = model.unfold(np.zeros((1, model.size)))
    gap, spread, total = model.balances(state, np.full((1, 2, len(depths)), 4.0))
    mass, expected, todo = 0.5 * state.expected[0, 0] + state.expected[0, 1], [], list(enumerate(depths))
    sums = [((m,), d) for m, (_, d) in zip(mass, todo, strict=True)]
    while len(sums) > 1:
        i = next(i for i in range(len(sums) - 1) if sums[i][1] == sums[i + 1][1] == max(d for _, d in sums))
        (above, depth), (below, _) = sums[i], sums[i + 1]
        expected.append((sum(above) - sum(below), 4.0 * 1.25 * len(above + below), sum(above + below)))
        sums[i : i + 2] = [(above + below, depth - 1)]
    found = np.stack([gap[0], spread[0] ** 2, total[0]], axis=1)
    assert np.allclose(sorted(found.tolist()), sorted(expected))


def test_laplace_noise_beside_a_broad_normal_deviate_is_as_good_as_normal() -> None:
    """Both forms of the density agree, with their constant, where one hands over to the other."""
    noise, rest = Noise(1.5), np.linspace(-40, 40, 81)
    broad = noise.log_density(rest, np.full(81, 1.001 * BROAD * 1.5))
    narrow = noise.log_density(rest, np.full(81, 0.999 * BROAD * 1.5))
    assert np.abs(broad - narrow).max() < 0.03
