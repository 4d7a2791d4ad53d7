"""Layouts of counts: what a row moves, and that restoring is exact without noise and least squares with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.privacy.hierarchy import FORMS, Layout
from tacit.privacy.unit import Bound

LAYOUTS = [
    Layout(form, bins, branching)
    for form in FORMS
    for bins in (2, 8, 32)
    for branching in ((2, 3, 4, 64) if form == "tree" else (4,))
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_sensitivities_are_what_rows_move(layout: Layout) -> None:
    """Each row alone, and each pair of rows of one person: norms are reached by some and exceeded by none."""
    rows = layout.transform(np.eye(layout.bins, dtype=np.int64))
    assert rows.shape == (layout.bins, layout.size)
    pairs = (rows[:, None] + rows[None]).reshape(-1, rows.shape[1])
    for m, moved in ((1, rows), (2, pairs)):
        stated = layout.sensitivity(Bound(rows=m, ones=1))
        assert np.abs(moved).sum(axis=1).max() == stated.l1
        assert (moved**2).sum(axis=1).max() == stated.l2_squared
        assert np.abs(moved).max() == stated.linf
        assert stated.monotone == (moved >= 0).all()


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(LAYOUTS), st.integers(0, 2**32))
def test_without_noise_restoring_gives_the_counts(layout: Layout, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 1000, (3, 2, layout.bins))
    assert np.allclose(layout.restore(layout.transform(counts)), counts)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_with_noise_restoring_is_least_squares(layout: Layout) -> None:
    released = np.random.default_rng(1).normal(size=(2, len(layout.transform(np.zeros(layout.bins, dtype=np.int64)))))
    strategy = layout.transform(np.eye(layout.bins, dtype=np.int64)).T.astype(float)
    best = np.stack([np.linalg.lstsq(strategy, row, rcond=None)[0] for row in released])
    assert np.allclose(layout.restore(released), best)
    noise_to_total = np.ones(layout.bins) @ np.linalg.pinv(strategy)
    assert (noise_to_total**2).sum() <= layout.total_variance() + 1e-9


def test_haar_coefficients_by_hand() -> None:
    layout = Layout("privelet", 4)
    assert layout.transform(np.array([5, 1, 2, 4])).tolist() == [12, 0, 4, -2]
