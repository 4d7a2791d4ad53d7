"""What is listed can be told from noise: exact tails, shuffled labels, features that no row has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.models._clearness import Noise, of_coefficients, of_counts
from tacit.models.weights import feature_weights

COLUMNS = {f"c{k}": {"kind": "category", "values": ["a", "b", "c", "d", "never"]} for k in range(4)}
SCHEMA = tacit.Schema.from_dict({"label": {"classes": ["no", "yes"]}, "columns": COLUMNS})
RNG = np.random.default_rng(3)
N = 4000
CODES = RNG.integers(0, 4, (N, 4))
CODES[:, 3] = CODES[:, 2]  # two columns say the same
TABLE = pl.DataFrame({f"c{k}": np.array(list("abcd"))[CODES[:, k]] for k in range(4)})
Y = (RNG.random(N) < 0.2 + 0.4 * (CODES[:, 0] == 1)).astype(int)


def named(labels: Any) -> Any:
    return np.array(["no", "yes"])[labels]


@pytest.mark.parametrize(("scale", "variance", "chance"), [(1.0, 0.0, 0.0), (1.0, 4.0, 0.5), (0.0, 2.0, 1.0)])
def test_tails_are_those_of_the_law(scale: float, variance: float, chance: float) -> None:
    """Within a few deviations of what 2·10^6 draws give, and beyond them straight lines of the right slope."""
    rng = np.random.default_rng(1)
    draws = rng.laplace(0, scale, 2_000_000) + rng.normal(0, math.sqrt(variance + chance), 2_000_000)
    gaps = np.array([0.5, 1.0, 3.0, 5.0])
    found = np.exp(-Noise(scale, variance).clearness(gaps, chance))
    drawn = (np.abs(draws)[:, None] > gaps).mean(axis=0)
    assert (np.abs(found - drawn) < 5 * np.sqrt(found / 2_000_000)).all()
    far = Noise(scale, variance).clearness(np.array([300.0, 301.0]), chance)
    assert np.isfinite(far).all()
    if scale:
        assert far[1] - far[0] == pytest.approx(1 / scale, rel=1e-6)


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.8, 1.0])
def test_a_second_laplace_noise_is_not_underrated(ratio: float) -> None:
    """Beside the exact tail of a sum of two, from one gap in fifty to one in e^18."""
    gaps = np.linspace(4.0, 21.0, 60)
    a, b = 1.0, min(ratio, 1 - 1e-6)
    exact = (a**2 * np.exp(-gaps / a) - b**2 * np.exp(-gaps / b)) / (a**2 - b**2)
    claimed = Noise(1.0, 0.0).beside(Noise(ratio, 0.0)).clearness(gaps)
    assert (np.minimum(claimed, 18) <= -np.log(exact) + 1e-3).all()


def test_counts_that_differ_by_noise_and_chance_are_seldom_clear() -> None:
    """With probability exp(−3) at most, and of that the most part: 20,000 features, of one row in ten to nine."""
    rng, sizes = np.random.default_rng(4), np.array([6000, 2000])
    having = rng.integers(800, 7200, 20_000)
    yes = rng.hypergeometric(2000, 6000, having)
    counts = np.vstack([having - yes, yes]) + np.rint(rng.laplace(0, 30, (2, 20_000))).astype(np.int64)
    found = np.abs(of_counts(counts, sizes, Noise(30.0, 0.0), Noise(0.0, 0.0), 1))
    share = float((found > 3).mean())
    assert 0.3 * math.exp(-3) < share < 1.05 * math.exp(-3)


def test_coefficients_of_features_that_no_row_has_are_noise_over_the_ridge() -> None:
    draws = np.random.default_rng(5).laplace(0, 2.0, 100_000) / 8.0
    found = of_coefficients(draws, 0.0, Noise(2.0, 0.0), 8.0, 1)
    assert (found > 3).mean() < 1.05 * math.exp(-3)
    assert of_coefficients(np.array([-0.9, 0.1]), -1.0, Noise(0.01, 0.0), 100.0, 1)[0] == 0, "labels alone tell as much"


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_is_listed_of_a_table_is_there(delta: float) -> None:
    model = tacit.TabularClassifier(1.0, delta, schema=SCHEMA, random_state=1).fit(TABLE, named(Y))
    assert [step["step"] for step in model.receipt_["steps"]] == ["labels", "counts", "regression"]
    listed = dict(feature_weights(model) or [])
    assert listed["c0 = b"] > 0
    assert all(name.startswith("c0") for name in listed)
    assert sum(float(step["sensitivity"]["l1"]) > 0 for step in model.receipt_["steps"]) == 3
    assert model.receipt_["epsilon"] == 1.0


def test_the_mean_of_a_column_is_in_the_intercept() -> None:
    model = tacit.TabularClassifier(100.0, schema=SCHEMA, random_state=1).fit(TABLE, named(Y))
    rows = np.array([(value == CODES).sum(axis=0) for value in range(4)])
    means = (model.weights_[1].reshape(4, -1)[:, :4] * rows.T / N).sum(axis=1)
    assert np.abs(means).max() < 0.01


@pytest.mark.parametrize("epsilon", [1.0, 0.3])
def test_shuffled_labels_list_nothing_in_four_fits_of_five(epsilon: float) -> None:
    """Twenty fits; eight of them or more would list something once in thirty times if it were one fit in five."""
    rng, wrong = np.random.default_rng(6), 0
    for seed in range(20):
        labels = named(rng.permutation(Y))
        model = tacit.TabularClassifier(epsilon, schema=SCHEMA, random_state=seed).fit(TABLE, labels)
        wrong += bool(feature_weights(model))
    assert wrong < 8


def test_matrices_of_shuffled_labels_list_nothing_and_others_what_is_there() -> None:
    rng = np.random.default_rng(7)
    X = (rng.random((4000, 30)) < 0.2).astype(int)
    X[:, 29] = 0
    y = (rng.random(4000) < 0.2 + 0.6 * X[:, 0]).astype(int)
    for delta in (0.0, 1e-6):
        model = tacit.LogisticRegression(1.0, delta, random_state=1).fit(X, y)
        assert [name for name, _ in feature_weights(model) or []] == ["x0"]
        for seed in range(5):
            shuffled = tacit.LogisticRegression(1.0, delta, random_state=seed).fit(X, rng.permutation(y))
            assert len(feature_weights(shuffled) or []) < 2


def test_a_saved_model_lists_the_same(tmp_path: Any) -> None:
    model = tacit.TabularClassifier(1.0, schema=SCHEMA, random_state=1).fit(TABLE, named(Y))
    model.save(tmp_path / "model.json")
    again = tacit.load(tmp_path / "model.json")
    assert feature_weights(again) == feature_weights(model)
    assert (again.clearness_ == model.clearness_).all()
