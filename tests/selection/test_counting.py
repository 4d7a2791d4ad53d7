"""CountSelector: oracle without noise, scikit-learn's interface, accounts, degenerate data."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import tacit
from tacit.selection.rounds import Found, posterior
from tacit.selection.scores import score_features

RNG = np.random.default_rng(2)
X = sp.csr_array((RNG.random((400, 30)) < np.linspace(0.02, 0.6, 30)).astype(float))
Y = (RNG.random(400) < 0.3 + 0.4 * (X[:, [20]].toarray().ravel() > 0)).astype(int)
DENSE = X.toarray()
ONES = np.array([DENSE[label == Y].sum(axis=0) for label in (0, 1)])
LABELS = np.bincount(Y)
MUCH = 1e7


@pytest.mark.parametrize("max_ones", [30, None])
@pytest.mark.parametrize("score", ["tc", "dc", "pi", "ig", "chi2"])
def test_without_noise_it_selects_by_the_exact_score(score: str, max_ones: int | None) -> None:
    selector = tacit.CountSelector(k=6, score=score, epsilon=MUCH, max_ones=max_ones, random_state=0).fit(X, Y)
    expected = score_features(score, ONES, LABELS)
    assert np.allclose(selector.scores_, expected)
    assert sorted(expected[selector.get_support()]) == sorted(np.sort(expected)[-6:])


def test_without_noise_a_threshold_is_exact() -> None:
    selector = tacit.CountSelector(threshold=100, epsilon=MUCH, max_ones=30, random_state=0).fit(X, Y)
    assert (selector.get_support() == (DENSE.sum(axis=0) >= 100)).all()


def test_csr_stays_sparse_and_names_follow() -> None:
    selector = tacit.CountSelector(k=3, epsilon=MUCH, random_state=0).fit(X, Y)
    kept = selector.transform(X)
    assert sp.issparse(kept)
    assert kept.shape == (400, 3)
    assert list(selector.get_feature_names_out()) == [f"x{j}" for j in selector.get_support(indices=True)]
    assert (selector.transform(DENSE) == kept.toarray()).all()


def test_two_rounds_find_the_frequent_features() -> None:
    rng = np.random.default_rng(3)
    matrix = sp.csr_array((rng.random((5000, 200)) < np.r_[np.full(10, 0.3), np.full(190, 0.004)]).astype(float))
    selector = tacit.CountSelector(threshold=500, epsilon=0.5, rounds=2, random_state=1).fit(matrix, np.zeros(5000))
    assert selector.get_support(indices=True).tolist() == list(range(10))
    top = tacit.CountSelector(k=10, epsilon=0.5, rounds=2, random_state=1).fit(matrix, np.zeros(5000))
    assert top.get_support(indices=True).tolist() == list(range(10))
    assert top.receipt_["epsilon"] == 0.5


def test_without_noise_two_rounds_are_exact() -> None:
    counts = DENSE.sum(axis=0)
    for threshold in (20, 100, 180):
        selector = tacit.CountSelector(threshold=threshold, epsilon=MUCH, rounds=2, random_state=0).fit(X, Y)
        assert (selector.get_support() == (counts >= threshold)).all()
    top = tacit.CountSelector(k=6, epsilon=MUCH, rounds=2, random_state=0).fit(X, Y)
    assert sorted(counts[top.get_support()]) == sorted(np.sort(counts)[-6:])


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_without_noise_two_rounds_are_exact_at_any_threshold(share: float) -> None:
    """Counts from 0 to 60, next to each other, in short rows or in rows of up to 900 features."""
    matrix = (np.arange(60)[:, None] < np.arange(61) * share).repeat(1 if share < 1 else 15, axis=1)
    counts = matrix.sum(axis=0)
    for threshold in (0.5, 1, 2, 7.3, 30, 59, 60):
        selector = tacit.CountSelector(threshold=threshold, epsilon=1e9, rounds=2, random_state=0).fit(matrix, [0] * 60)
        assert (selector.get_support() == (counts >= threshold)).all()
    top = tacit.CountSelector(k=5, epsilon=1e9, rounds=2, random_state=0).fit(matrix, [0] * 60)
    assert np.allclose(top.scores_, counts, atol=1e-3)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_the_selection_has_the_largest_expected_f1(probabilities: list[float]) -> None:
    """Among all sets, where the expected F1 is 2·Σp/(size + Σ of all p)."""
    p = np.array(probabilities)
    chosen = Found(p, p).selected()
    sets = itertools.chain.from_iterable(itertools.combinations(range(len(p)), k) for k in range(1, len(p) + 1))
    best = max(2 * p[list(ids)].sum() / (len(ids) + p.sum()) for ids in sets)
    assert (2 * p[chosen].sum() / max(1e-300, len(chosen) + p.sum()) if p.sum() else 0.0) >= best - 1e-12


@pytest.mark.parametrize("threshold", [np.float32(50), np.int8(50), Decimal(50), Fraction(50)])
@pytest.mark.parametrize("rounds", [1, 2])
def test_a_threshold_is_any_number(threshold: Any, rounds: int) -> None:
    settings: dict[str, Any] = {"rounds": rounds, "random_state": 0}
    plain = tacit.CountSelector(threshold=50, **settings).fit(X, Y)
    assert (tacit.CountSelector(threshold=threshold, **settings).fit(X, Y).support_ == plain.support_).all()


def test_the_posterior_follows_the_looks() -> None:
    nothing = np.full(3, np.inf)
    first = np.array([-50.0, 100.0, 400.0])
    counts, reaching = posterior(first, 20.0, np.zeros(3), nothing, 100.0, 5000.0)
    assert reaching[0] < 0.02 < reaching[1] < 0.9 < reaching[2]
    assert counts[0] < counts[1] < counts[2]
    _, surer = posterior(first, 20.0, np.array([0.0, 300.0, 400.0]), np.full(3, 10.0), 100.0, 5000.0)
    assert surer[1] > 0.99


@pytest.mark.parametrize("epsilon", [0.02, 5.0])
def test_two_rounds_are_paid_once_in_three_steps(epsilon: float) -> None:
    account = tacit.Ledger.open().account("survey", budget=tacit.Budget(10.0))
    selector = tacit.CountSelector(threshold=50, epsilon=epsilon, rounds=2, account=account).fit(X, Y)
    assert [step["step"] for step in selector.receipt_["steps"]] == ["first", "lengths", "second"]
    assert account.spent.epsilon == pytest.approx(epsilon)
    assert np.isfinite(selector.scores_).all()


def test_the_receipt_and_the_account_agree() -> None:
    account = tacit.Ledger.open().account("survey", budget=tacit.Budget(1.0))
    selector = tacit.CountSelector(k=3, epsilon=0.4, account=account).fit(X, Y)
    assert account.spent.epsilon == 0.4
    assert selector.receipt_["epsilon"] == 0.4
    assert selector.receipt_["status"] == "private"
    again = clone(selector).fit(X, Y)
    assert account.spent.epsilon == 0.4
    assert (again.scores_ == selector.scores_).all()


@pytest.mark.parametrize(
    "matrix",
    [np.zeros((0, 3)), np.zeros((1, 3)), np.ones((5, 3)), np.array([[np.nan, 1.0, np.inf]] * 4)],
    ids=["no row", "one row", "all ones", "odd values"],
)
@pytest.mark.parametrize("rounds", [1, 2])
def test_degenerate_data_give_a_valid_selection(matrix: Any, rounds: int) -> None:
    selector = tacit.CountSelector(k=2, rounds=rounds, random_state=0).fit(matrix, np.zeros(len(matrix)))
    assert selector.get_support().sum() == 2
    assert np.isfinite(selector.scores_).all()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"k": None}, "k"),
        ({"threshold": 3.0}, "k"),
        ({"k": 31}, "k"),
        ({"k": 0}, "k"),
        ({"score": "x"}, "score"),
        ({"rounds": 3}, "rounds"),
        ({"rounds": 2, "score": "ig"}, "rounds"),
        ({"rounds": np.array([1, 2])}, "rounds"),
        ({"rounds": 2, "max_ones": 3}, "max_ones"),
        ({"score": ["tc"]}, "score"),
        ({"k": None, "threshold": "5"}, "threshold"),
        ({"k": None, "threshold": 1e300}, "threshold"),
        ({"epsilon": 0}, "epsilon"),
        ({"classes": (1,)}, "classes"),
        ({"account": "mine"}, "account"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_parameters_are_named(change: dict[str, Any], name: str) -> None:
    with pytest.raises(tacit.ParameterError, match=f"'{name}' parameter of CountSelector"):
        tacit.CountSelector(**({"k": 3} | change)).fit(X, Y)
