"""The posterior behind a curve: its densities are the right ones, and its draws follow them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tacit.evaluation.model import Evidence, Model, Noise
from tacit.evaluation.posterior import bend_spreads, draw, plain_curves

Floats = NDArray[np.float64]


def made_up(scale: float, gaussian: bool = False) -> Evidence:
    """A release of four bins: 300 negatives and 200 positives, and one draw of the noise."""
    counts = np.array([[10.0, 40.0, 90.0, 160.0], [95.0, 60.0, 35.0, 10.0]])
    noise = scale * np.array([[0.4, -1.1, 0.2, 0.9], [-0.3, 0.8, -1.6, 0.1]])
    return Evidence(counts + noise, Noise(scale, gaussian), (1.0, 1.0), Noise(60.0))


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
    for released, mean, spread in ((20.0, 12.0, 4.0), (-3.0, 9.0, 3.0), (60.0, 10.0, 3.0)):
        shape = (40_000,)
        rng = np.random.default_rng(1)
        drawn = noise.draw_counts(np.full(shape, released), np.full(shape, mean), np.full(shape, spread), rng)
        grid = np.linspace(mean - 60, mean + 60, 24_001)
        law = stats.norm(scale=5.0) if gaussian else stats.laplace(scale=5.0)
        weight = law.pdf(released - grid) * stats.norm.pdf(grid, mean, spread)
        middle = np.average(grid, weights=weight)
        width = np.sqrt(np.average((grid - middle) ** 2, weights=weight))
        assert drawn.mean() == pytest.approx(middle, abs=10 * width / 200)
        assert drawn.std() == pytest.approx(width, rel=0.05)


def test_draws_of_curves_follow_the_posterior() -> None:
    """Against 300,000 draws from the prior, weighed by the likelihood: separation, slope, and rates at the cuts.

    The brute force is worth 300 equal draws and more, so that limits of a third of a standard deviation are five
    standard errors. Draws under twice the noise do not pass.
    """
    model = Model(made_up(12.0))
    rng = np.random.default_rng(2)
    prior = rng.standard_normal((300_000, model.size))
    prior[:, -2:] *= 0.2  # sizes are well known: draw them near what was released
    logs = model.log_posterior(prior) + (prior[:, :-2] ** 2).sum(axis=1) / 2 + (prior[:, -2:] ** 2).sum(axis=1) / 0.08
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


def test_straight_curves_bend_less_than_broken_ones() -> None:
    """Slopes of neighbouring bins say how far a curve may be from the chord between two knots."""
    straight = np.full((1, 2, 8), 50.0)
    broken = straight.copy()
    broken[0, 1, 4:] = 1.0
    assert (bend_spreads(straight) <= bend_spreads(broken)).all()
    assert bend_spreads(broken)[0, 3] > 3 * bend_spreads(straight)[0, 3]


def test_corners_are_as_high_as_concave_curves_can_be() -> None:
    """Slopes 2, 1 and 1/2 of three bins: prolonged chords of the neighbours, and the ends of the square."""
    counts = np.array([[[2.0, 4.0, 6.0], [4.0, 4.0, 3.0]]])
    fpr, tpr = np.array([0, 2, 6, 12]) / 12, np.array([0, 4, 8, 11]) / 11
    grid = np.linspace(0.0, 1.0, 241)[1:-1]
    none = np.zeros((1, 3), dtype=bool)
    (smooth,) = plain_curves(counts, grid, none)
    (high,) = plain_curves(counts, grid, none, corners=~none)
    slopes = np.diff(tpr) / np.diff(fpr)
    before = tpr[1:3] + slopes[:2] * (grid[:, None] - fpr[1:3])  # of the first and the second bin, from their ends
    after = tpr[1:3] + slopes[1:] * (grid[:, None] - fpr[1:3])  # of the second and the third bin, from their starts
    bin_ = np.searchsorted(fpr[1:-1], grid, side="right")
    expected = np.choose(bin_, [after[:, 0], np.minimum(before[:, 0], after[:, 1]), np.minimum(before[:, 1], 1.0)])
    assert np.allclose(high, expected)
    assert (high >= smooth - 1e-12).all()
    assert (high - smooth).max() > 0.03
    assert np.allclose(plain_curves(counts, fpr[1:-1], none, corners=~none)[0], tpr[1:-1])
