"""BernoulliNB: oracle without noise, receipts, accounts, persons, degenerate data, scikit-learn's checks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB as Reference

import tacit
from tacit.models.naive_bayes import train

RNG = np.random.default_rng(4)
X = sp.csr_array((RNG.random((500, 25)) < 0.3).astype(float))
Y = (RNG.random(500) < 0.2 + 0.5 * (X[:, [3]].toarray().ravel() > 0)).astype(int)
MUCH = 1e9


@pytest.mark.parametrize("max_ones", [25, None])
@pytest.mark.parametrize("alpha", [1.0, 0.1])
def test_without_noise_it_is_scikit_learn_s(alpha: float, max_ones: int | None) -> None:
    ours = tacit.BernoulliNB(epsilon=MUCH, max_ones=max_ones, alpha=alpha, random_state=0).fit(X, Y)
    theirs = Reference(alpha=alpha).fit(X, Y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert np.allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-6)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_without_noise_it_is_scikit_learn_s_for_three_classes() -> None:
    labels = np.array(["a", "b", "c"])[(Y + 2 * (X[:, [5]].toarray().ravel() > 0).astype(int)) % 3]
    ours = tacit.BernoulliNB(epsilon=MUCH, max_ones=25, classes=("a", "b", "c"), random_state=0).fit(X, labels)
    assert np.allclose(ours.predict_proba(X), Reference().fit(X, labels).predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_it_learns_at_epsilon_one(delta: float) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 4000)
    matrix = sp.csr_array((rng.random((4000, 50)) < np.where(y[:, None] == np.arange(50) % 2, 0.2, 0.1)).astype(float))
    model = tacit.BernoulliNB(epsilon=1.0, delta=delta, random_state=0).fit(matrix, y)
    assert model.score(matrix, y) > 0.75
    assert model.receipt_["epsilon"] <= 1.0
    assert model.receipt_["status"].startswith("simulation")


def test_dense_and_sparse_input_agree() -> None:
    sparse = tacit.BernoulliNB(random_state=0).fit(X, Y)
    dense = tacit.BernoulliNB(random_state=0).fit(X.toarray(), Y)
    assert (sparse.feature_count_ == dense.feature_count_).all()
    assert np.allclose(sparse.predict_proba(X), dense.predict_proba(X.toarray()))


@pytest.mark.parametrize("make", [tacit.BernoulliNB, tacit.LogisticRegression])
def test_rows_are_read_alike_in_training_and_in_prediction(make: Any) -> None:
    """A feature is there once, however often and in whatever order and type it is stored."""
    model = make(random_state=0).fit(X, Y)
    expected = model.predict_proba(X)
    twice = (np.tile([1.0, -1.0], X.nnz), np.repeat(X.indices, 2), 2 * X.indptr)
    turned = np.concatenate([X.indices[begin:end][::-1] for begin, end in itertools.pairwise(X.indptr)])
    for rows in (
        sp.csr_array(twice, shape=X.shape),
        sp.csr_array((X.data, turned, X.indptr), shape=X.shape),
        X.toarray().astype(np.float16),
        X.toarray().astype(">f8"),
    ):
        again = make(random_state=0).fit(rows, Y)
        assert np.array_equal(again.predict_proba(X), expected)
        assert np.array_equal(model.predict_proba(rows), expected)


def test_an_account_pays_once_for_the_same_fit() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
    first = tacit.BernoulliNB(epsilon=0.6, account=account).fit(X, Y)
    second = clone(first).fit(X, Y)
    assert account.spent.epsilon == pytest.approx(0.6)
    assert (first.feature_count_ == second.feature_count_).all()
    with pytest.raises(tacit.BudgetError, match="cannot pay"):
        tacit.BernoulliNB(epsilon=0.6, max_ones=3, account=account).fit(X, Y)


def test_a_one_off_account_draws_anew() -> None:
    first, second = (tacit.BernoulliNB(epsilon=0.5).fit(X, Y) for _ in range(2))
    assert (first.feature_count_ != second.feature_count_).any()
    assert first.receipt_["status"] == "private"


def test_persons_are_bounded() -> None:
    unit = tacit.Unit.user("who", max_rows=2)
    account = tacit.Ledger.open().account("visits", budget=tacit.Budget(1e9), unit=unit)
    rows = np.ones((40, 2))
    model = tacit.BernoulliNB(epsilon=1e9, max_ones=2, account=account).fit(rows, np.ones(40), persons=["x"] * 40)
    assert model.class_count_.tolist() == [0, 2]
    assert model.feature_count_.tolist() == [[0, 0], [2, 2]]
    with pytest.raises(tacit.PrivacyError, match="pass persons="):
        tacit.BernoulliNB(account=account).fit(rows, np.ones(40))


def test_a_long_row_is_cut() -> None:
    rows = np.ones((10, 30))
    model = tacit.BernoulliNB(epsilon=1e9, max_ones=4, random_state=0).fit(rows, np.ones(10))
    assert model.feature_count_.sum() == 40


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (np.zeros((0, 3)), []),
        (np.zeros((5, 3)), [0] * 5),
        (np.ones((5, 3)), [1] * 5),
        (np.ones((1, 1)), [0]),
        (np.full((4, 2), np.nan), [0, 1, 0, 1]),
        (np.ones((4, 2)), [7, 8, 9, 7]),
        (np.eye(3), [0, None, np.nan]),
    ],
    ids=["no row", "one class", "constant", "one row", "NaN", "foreign labels", "missing labels"],
)
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 1e9])
def test_degenerate_data_give_a_valid_model(rows: Any, labels: Any, epsilon: float) -> None:
    model = tacit.BernoulliNB(epsilon=epsilon, random_state=0).fit(rows, np.array(labels, dtype=object))
    probabilities = model.predict_proba(np.ones((2, rows.shape[1])))
    assert np.isfinite(probabilities).all()
    assert np.allclose(probabilities.sum(axis=1), 1)


@given(
    st.lists(st.lists(st.integers(-(10**6), 10**6), min_size=3, max_size=3), min_size=2, max_size=3),
    st.integers(-(10**6), 10**6),
    st.floats(0, 1e6),
    st.floats(0, 10),
)
def test_any_release_trains_a_finite_model(ones: list[list[int]], size: int, deviation: float, alpha: float) -> None:
    weights, intercept = train(np.array(ones), np.full(len(ones), size), deviation, alpha)
    assert np.isfinite(weights).all()
    assert np.isfinite(intercept).all()


@pytest.mark.parametrize("estimator", [tacit.BernoulliNB(), tacit.CountSelector(k=1)])
def test_the_number_of_rows_is_in_no_message(estimator: Any) -> None:
    with pytest.raises(tacit.ParameterError, match="one label for each row") as caught:
        estimator.fit(np.ones((731, 2)), [0, 1] * 364)
    assert "731" not in str(caught.value)
    assert "728" not in str(caught.value)
