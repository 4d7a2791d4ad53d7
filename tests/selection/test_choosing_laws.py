"""Laws of the selectors that choose, for any small matrix: limits, one charge, and no mistakes without noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.selection.scores import score_features

MUCH = 1e6
FEW = settings(max_examples=25)
SCORES = st.sampled_from(["tc", "dc", "pi"])


@st.composite
def data(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    rows, features = draw(st.integers(0, 12)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from([0.1, 0.5, 0.9]))
    return (rng.random((rows, features)) < share).astype(float), rng.integers(0, 2, rows)


def exact_scores(score: str, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    ones = np.array([X[y == label].sum(axis=0) for label in (0, 1)])
    return score_features(score, ones, np.bincount(y, minlength=2))


def fit(selector: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Fit on an account: it is charged once, with what the selector asks for, and its support is in order."""
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(2 * MUCH))
    selector.set_params(account=account).fit(X, y)
    (charge,) = account.entries()
    assert charge.budget == account.spent == tacit.Budget(selector.epsilon)
    support = selector.get_support(indices=True)
    assert (np.diff(support) > 0).all()
    assert set(support.tolist()) <= set(range(X.shape[1]))
    if len(X) and len(support):
        assert np.array_equal(selector.transform(X), X[:, support])
    return selector


@FEW
@given(data(), SCORES, st.sampled_from(["peeling", "one-shot"]), st.data())
def test_top_k(rows: Any, score: str, method: Any, more: Any) -> None:
    X, y = rows
    k = more.draw(st.integers(1, X.shape[1]))
    selector = fit(tacit.TopKSelector(k, score, epsilon=0.5, method=method), X, y)
    assert selector.get_support().sum() == k
    assert sorted(selector.ranking_.tolist()) == selector.get_support(indices=True).tolist()
    exact = exact_scores(score, X, y)
    best = fit(tacit.TopKSelector(k, score, epsilon=MUCH, method=method), X, y)
    assert exact[best.ranking_].tolist() == np.sort(exact)[::-1][:k].tolist()


@FEW
@given(data(), SCORES, st.integers(0, 12), st.integers(1, 6))
def test_threshold_with_a_limit(rows: Any, score: str, threshold: int, limit: int) -> None:
    X, y = rows
    selector = fit(tacit.ThresholdSelector(threshold, limit, score, epsilon=0.5), X, y)
    assert selector.get_support().sum() <= limit
    assert np.array_equal(selector.get_support(), selector.answers_ == 1)
    reached = exact_scores(score, X, y) >= threshold
    best = fit(tacit.ThresholdSelector(threshold, limit, score, epsilon=MUCH), X, y).get_support()
    assert best.sum() == min(limit, reached.sum())
    assert not (best & ~reached).any()


@FEW
@given(data(), st.integers(1, 12))
def test_threshold_without_a_limit(rows: Any, threshold: int) -> None:
    X, y = rows
    selector = fit(tacit.ThresholdSelector(threshold, None, epsilon=0.5), X, y)
    assert set(selector.answers_.tolist()) <= {0, 1}
    if X.any():  # else nothing tells how long rows are, and what noise there is decides
        best = fit(tacit.ThresholdSelector(threshold, None, epsilon=MUCH), X, y)
        assert np.array_equal(best.get_support(), X.sum(axis=0) >= threshold)
