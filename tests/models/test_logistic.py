"""LogisticRegression: the certified minimiser, an oracle with little noise, receipts, degenerate data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression as Reference

import tacit
from tacit.data.objective import (
    CURVATURE,
    _certified,
    _problem,
    _slowly,
    classification_problem,
    curvature,
    entry_of,
)
from tacit.data.rows import Rows, offsets_of
from tacit.data.sums import GRID, Weighing
from tacit.desk.objective import scaling
from tacit.models.logistic import INTERCEPT_SHARE, LEAST_ONES
from tacit.privacy.objective import INEXACTNESS, NOISE_GRID, OUTPUT_GRID
from tacit.privacy.unit import Unit

RNG = np.random.default_rng(21)
X = sp.csr_array((RNG.random((600, 12)) < 0.4).astype(float))
Y = (RNG.random(600) < 1 / (1 + np.exp(2 - 4 * X[:, [1]].toarray().ravel()))).astype(int)
WEIGHING = Weighing(np.ones(12, dtype=np.int64), LEAST_ONES, (GRID, GRID), words_share=int(GRID * 0.8))


def rows() -> Rows:
    return Rows(X.indptr.astype(np.int64), X.indices.astype(np.int32), Y.astype(np.int64))


@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_the_minimiser_is_as_near_as_certified(loss: Any) -> None:
    """Against sixty digits, under noise."""
    problem = _problem([Rows(X.indptr[:41].astype(np.int64), X.indices[: X.indptr[40]], Y[:40])], WEIGHING, loss)
    noise = np.random.default_rng(1).integers(-3 * NOISE_GRID, 3 * NOISE_GRID, 13)
    lam = Fraction(2)
    quick = _certified(problem, noise, lam, INEXACTNESS * lam)
    exact = _slowly(problem, noise, lam, quick / OUTPUT_GRID, 1e-12)
    assert np.linalg.norm((quick - exact) / OUTPUT_GRID) <= float(INEXACTNESS) + 13 / OUTPUT_GRID


def test_rows_have_norm_one_at_most() -> None:
    matrix = _problem([rows()], WEIGHING, "logistic").matrix
    assert np.abs(matrix).sum(axis=1).max() <= 1.0


def test_with_little_noise_it_is_scikit_learn_s() -> None:
    """Same loss, same Λ, same scaled rows; the intercept is one of the regularised coefficients."""
    model = tacit.LogisticRegression(epsilon=1e4, loss="logistic", random_state=0).fit(X, Y)
    dense = X.toarray()
    scaled = dense * (1 - INTERCEPT_SHARE) / np.maximum(dense.sum(axis=1), LEAST_ONES)[:, None]
    scaled = np.column_stack([scaled, np.full(600, INTERCEPT_SHARE)])
    reference = Reference(C=4.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(scaled, Y)
    assert np.allclose(model.coef_[0], reference.coef_[0, :-1], atol=0.05)
    assert np.allclose(model.predict_proba(X), reference.predict_proba(scaled), atol=0.01)


@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_it_learns_at_epsilon_one(loss: Any) -> None:
    rng = np.random.default_rng(22)
    y = rng.integers(0, 2, 6000)
    matrix = sp.csr_array((rng.random((6000, 20)) < np.where(y[:, None] == np.arange(20) % 2, 0.5, 0.2)).astype(float))
    model = tacit.LogisticRegression(epsilon=1.0, loss=loss, random_state=0).fit(matrix, y)
    assert model.score(matrix, y) > 0.8
    assert model.receipt_["epsilon"] == 1.0
    assert model.receipt_["delta"] == 0.0


@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_with_a_delta_noise_is_gaussian_and_rows_have_an_l2_norm(loss: Any) -> None:
    rng = np.random.default_rng(23)
    y = rng.integers(0, 2, 6000)
    matrix = sp.csr_array((rng.random((6000, 40)) < np.where(y[:, None] == np.arange(40) % 2, 0.5, 0.2)).astype(float))
    account = tacit.Ledger.open().account("d", budget=tacit.Budget(1.0, 1e-5))
    model = tacit.LogisticRegression(0.8, 1e-6, loss=loss, account=account, random_state=0).fit(matrix, y)
    assert model.norm_ == "L2"
    assert model.score(matrix, y) > 0.8
    step = model.receipt_["steps"][0]
    assert (model.receipt_["epsilon"], model.receipt_["delta"]) == (0.8, 1e-6)
    assert step["mechanism"] == "Gaussian objective perturbation"
    assert "L2 norm at most 1" in step["query"]
    assert account.spent.epsilon == pytest.approx(0.8)
    assert account.spent.delta == pytest.approx(1e-6)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_saved_or_converted_model_predicts_the_same(delta: float, tmp_path: Any) -> None:
    model = tacit.LogisticRegression(5.0, delta, random_state=0).fit(X, Y)
    assert model.norm_ == ("L2" if delta else "L1")
    model.save(tmp_path / "model.json")
    assert np.allclose(tacit.load(tmp_path / "model.json").predict_proba(X), model.predict_proba(X))
    assert np.allclose(model.to_sklearn().predict_proba(X), model.predict_proba(X))
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.to_onnx().SerializeToString())
    outputs = session.run(None, {session.get_inputs()[0].name: X.toarray()})
    assert any(np.shape(out) == (600, 2) and np.allclose(out, model.predict_proba(X), atol=1e-5) for out in outputs)


@pytest.mark.parametrize(("epsilon", "delta", "features"), [(1.0, 1e-6, 2), (60.0, 1e-6, 40), (1.0, 1e-200, 40)])
def test_where_gaussian_noise_is_not_better_the_fit_is_pure(epsilon: float, delta: float, features: int) -> None:
    model = tacit.LogisticRegression(epsilon, delta, random_state=0).fit(np.eye(features), np.arange(features) % 2)
    assert model.norm_ == "L1"
    assert model.receipt_["delta"] == 0


def test_with_little_gaussian_noise_it_is_scikit_learn_s() -> None:
    """Rows of L2 norm 1; Λ is the receipt's."""
    many, labels = sp.vstack([X] * 50, format="csr"), np.tile(Y, 50)
    model = tacit.LogisticRegression(epsilon=10.0, delta=1e-3, random_state=0).fit(many, labels)
    assert model.norm_ == "L2"
    dense = X.toarray()
    scaled = dense * np.sqrt((1 - INTERCEPT_SHARE**2) / np.maximum(dense.sum(axis=1), LEAST_ONES))[:, None]
    scaled = np.column_stack([scaled, np.full(600, INTERCEPT_SHARE)])
    lam = float(Fraction(model.receipt_["steps"][0]["noise"]["regularisation"]))
    reference = Reference(C=50 / lam, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(scaled, Y)
    assert np.allclose(model.predict_proba(X), reference.predict_proba(scaled), atol=0.01)


def test_newton_steps_do_not_cycle() -> None:
    """Much noise and a loss that is bent in pieces: full Newton steps jump to and fro there."""
    rng = np.random.default_rng(3)
    matrix = sp.csr_array((rng.random((3000, 500)) < 0.03).astype(float))
    labels = (rng.random(3000) < 0.13).astype(np.int64)
    rows = Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), labels)
    weighing = Weighing(np.ones(500, dtype=np.int64), LEAST_ONES, (GRID, GRID), words_share=64_000, norm="L2")
    problem = _problem([rows], weighing, "huber")
    lam, allowed = Fraction(20), 20 * INEXACTNESS
    for seed in range(3):
        noise = (np.random.default_rng(seed).normal(0, 20, 501) * NOISE_GRID).astype(np.int64)
        theta = _certified(problem, noise, lam, allowed) / OUTPUT_GRID
        slope = problem.matrix.T @ problem.slopes(problem.matrix @ theta) + 20 * theta + noise / NOISE_GRID
        assert np.linalg.norm(slope) <= 2e-5 + 501 / OUTPUT_GRID * 3020


def test_an_account_pays_once_for_the_same_fit() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
    first = tacit.LogisticRegression(epsilon=0.6, account=account).fit(X, Y)
    second = tacit.LogisticRegression(epsilon=0.6, account=account).fit(X, Y)
    assert account.spent.epsilon == pytest.approx(0.6)
    assert (first.coef_ == second.coef_).all()
    assert first.receipt_["status"] == "private"


@given(
    st.lists(st.frozensets(st.integers(0, 8), max_size=9), min_size=1, max_size=5),
    st.integers(1, 9),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from(["L1", "L2"]),
)
def test_the_curvature_bounds_every_row(features: list[frozenset[int]], floor: int, constant: float, norm: Any) -> None:
    """Of any rows, also of rows with more ones than a table's columns; and norms are at most 1."""
    flat = np.array([j for row in features for j in sorted(row)], dtype=np.int32)
    made = Rows(offsets_of(np.array([len(row) for row in features])), flat, np.ones(len(features), dtype=np.int64))
    weighing = scaling(9, norm, constant=constant, floor=floor)
    matrix = _problem([made], weighing, "logistic").matrix
    assert matrix.shape == (len(features), 9 + (constant > 0))
    exact = [[Fraction(value) for value in row] for row in matrix.toarray().tolist()]
    assert all(sum(v * v for v in row) <= curvature(weighing, "logistic") / CURVATURE["logistic"] for row in exact)
    assert all(sum(v if norm == "L1" else v * v for v in row) <= 1 for row in exact)
    full = [row for row, has in zip(exact, features, strict=True) if len(has) == floor]
    assert all(max(row[:9]) == Fraction(entry_of(weighing)) for row in full)


def test_the_problem_is_sealed() -> None:
    statistic = classification_problem([rows()], WEIGHING, "huber", unit=Unit.row(), version="v")
    with pytest.raises(tacit.PrivacyError):
        str(statistic)


@pytest.mark.parametrize(
    ("matrix", "labels"),
    [
        (np.zeros((0, 3)), []),
        (np.ones((5, 3)), [1] * 5),
        (np.zeros((4, 2)), [0, 1, 0, 1]),
        (np.full((3, 2), np.nan), [0, 1, 5]),
    ],
    ids=["no row", "one class", "empty rows", "odd values"],
)
def test_degenerate_data_give_a_valid_model(matrix: Any, labels: Any) -> None:
    model = tacit.LogisticRegression(random_state=0).fit(matrix, labels)
    probabilities = model.predict_proba(np.ones((2, matrix.shape[1])))
    assert np.isfinite(probabilities).all()
    assert np.allclose(probabilities.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("change", "name"),
    [({"loss": "hinge"}, "loss"), ({"classes": (0, 1, 2)}, "classes"), ({"epsilon": 0}, "epsilon")],
)
def test_bad_parameters_are_named(change: dict[str, Any], name: str) -> None:
    with pytest.raises(tacit.ParameterError, match=f"'{name}' parameter of LogisticRegression"):
        tacit.LogisticRegression(**change).fit(X, Y)


def test_too_many_features_are_refused_before_anything_is_charged() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
    with pytest.raises(tacit.ParameterError, match=r"'X' parameter of LogisticRegression .*SelectingClassifier"):
        tacit.LogisticRegression(account=account).fit(sp.csr_array((2, 1 << 20)), [0, 1])
    assert account.spent.epsilon == 0


def test_one_very_long_row_does_not_make_the_minimiser_uncertain() -> None:
    """The roundings of all rows were taken to be those of the longest: one such row, and a fit took days."""
    width, n = 4_000, 2_000
    rng = np.random.default_rng(3)
    ids = np.sort(np.stack([rng.choice(width, 5, replace=False) for _ in range(n)]), axis=1)
    labels = rng.integers(0, 2, n + 1)
    weighing = scaling(width, "L1", constant=INTERCEPT_SHARE, floor=LEAST_ONES)
    lengths = np.append(np.full(n, 5), width)
    all_rows = Rows(offsets_of(lengths), np.append(ids.ravel(), np.arange(width)).astype(np.int32), labels)
    theta = rng.normal(size=width + 1)
    usual, whole = (
        _problem([found], weighing, "logistic").rounding(theta) for found in (all_rows.part(0, n), all_rows)
    )
    assert usual < whole < 3 * usual


def test_the_certificate_covers_the_rounding_of_each_row() -> None:
    """Against exact sums of the same slopes; of long and of short rows."""
    width, n = 300, 40
    rng = np.random.default_rng(4)
    chosen = [np.sort(rng.choice(width, size, replace=False)) for size in np.append(rng.integers(0, 9, n), width)]
    lengths = np.array([len(row) for row in chosen])
    found = Rows(offsets_of(lengths), np.concatenate(chosen).astype(np.int32), rng.integers(0, 2, n + 1))
    problem = _problem([found], scaling(width, "L1", constant=INTERCEPT_SHARE, floor=LEAST_ONES), "huber")
    theta = rng.normal(size=width + 1) * 10
    exact = [Fraction(0)] * (width + 1)
    matrix = problem.matrix
    for begin, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        row = [
            (int(j), Fraction(float(v))) for j, v in zip(matrix.indices[begin:end], matrix.data[begin:end], strict=True)
        ]
        margin = sum((v * Fraction(float(theta[j])) for j, v in row), Fraction(0))
        for j, v in row:
            exact[j] += min(max(margin - Fraction(3, 2), Fraction(-1)), Fraction(0)) * v
    gap = [float(Fraction(float(one)) - other) for one, other in zip(problem.gradient(theta)[1], exact, strict=True)]
    assert 0 < np.linalg.norm(gap) <= problem.rounding(theta)
