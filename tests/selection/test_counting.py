"""CountSelector: oracle without noise, scikit-learn's interface, accounts, degenerate data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import tacit
from tacit.selection.scores import score_features

RNG = np.random.default_rng(2)
X = sp.csr_array((RNG.random((400, 30)) < np.linspace(0.02, 0.6, 30)).astype(float))
Y = (RNG.random(400) < 0.3 + 0.4 * (X[:, [20]].toarray().ravel() > 0)).astype(int)
DENSE = X.toarray()
ONES = np.array([DENSE[label == Y].sum(axis=0) for label in (0, 1)])
LABELS = np.bincount(Y)
MUCH = 1e7


@pytest.mark.parametrize("score", ["tc", "dc", "pi", "ig", "chi2"])
def test_without_noise_it_selects_by_the_exact_score(score: str) -> None:
    selector = tacit.CountSelector(k=6, score=score, epsilon=MUCH, max_ones=30, random_state=0).fit(X, Y)
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
        ({"epsilon": 0}, "epsilon"),
        ({"classes": (1,)}, "classes"),
        ({"account": "mine"}, "account"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_parameters_are_named(change: dict[str, Any], name: str) -> None:
    with pytest.raises(tacit.ParameterError, match=f"'{name}' parameter of CountSelector"):
        tacit.CountSelector(**({"k": 3} | change)).fit(X, Y)
