"""Scores against scikit-learn and brute force; noisy tables never give NaN."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import chi2
from sklearn.metrics import mutual_info_score

from tacit.errors import ParameterError
from tacit.selection.scores import SCORES, score_features

RNG = np.random.default_rng(1)
X = (RNG.random((300, 12)) < RNG.random(12)).astype(int)
X[:, 0], X[:, 1] = 0, 1
Y = (RNG.random(300) < 0.2 + 0.5 * X[:, 2]).astype(int)
ONES = np.array([X[label == Y].sum(axis=0) for label in (0, 1)])
LABELS = np.bincount(Y)


def test_information_gain_is_mutual_information() -> None:
    expected = [mutual_info_score(X[:, j], Y) for j in range(12)]
    assert np.allclose(score_features("ig", ONES, LABELS), expected, atol=1e-12)


def test_chi_squared_adds_presence_and_absence() -> None:
    """scikit-learn's χ² looks at presence alone; with absence added it is Pearson's statistic of the 2 × 2 table."""
    present, _ = chi2(X[:, 2:], Y)
    absent, _ = chi2(1 - X[:, 2:], Y)
    assert np.allclose(score_features("chi2", ONES, LABELS)[2:], present + absent)


@pytest.mark.parametrize("score", sorted(SCORES))
def test_a_constant_feature_tells_nothing(score: str) -> None:
    scores = score_features(score, ONES, LABELS)
    if score in ("ig", "chi2"):
        assert scores[0] == pytest.approx(0, abs=1e-12)
        assert scores[1] == pytest.approx(0, abs=1e-12)


def test_counting_scores_by_brute_force() -> None:
    for j in range(12):
        n = {(f, y): int(((X[:, j] == f) & (y == Y)).sum()) for f, y in itertools.product((0, 1), repeat=2)}
        dc = abs(n[1, 1] - n[1, 0])
        assert score_features("tc", ONES, LABELS)[j] == n[1, 0] + n[1, 1]
        assert score_features("dc", ONES, LABELS)[j] == dc
        assert score_features("pi", ONES, LABELS)[j] == max(dc, abs(n[0, 1] - n[0, 0]))


@pytest.mark.parametrize("score", sorted(SCORES))
@given(
    ones=st.lists(st.lists(st.integers(-50, 50), min_size=3, max_size=3), min_size=2, max_size=4),
    size=st.integers(-50, 50),
)
def test_any_noisy_table_has_finite_scores(score: str, ones: list[list[int]], size: int) -> None:
    labels = np.array([size + i for i in range(len(ones))])
    scores = score_features(score, np.array(ones), labels)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()


def test_an_unknown_score_names_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="'chi2', 'dc', 'ig', 'pi', 'tc'"):
        score_features("nonsense", ONES, LABELS)
