"""Text classifier and tuning where ε is so large that noise is nothing: beside what is computed without either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import tacit

MUCH = 1e6
WORDS = [a + b + c + d for a, b in ("ka", "lo", "mi", "su") for c in "bdfg" for d in "aeiou"]
"""Eighty words that differ in their first four letters."""


def texts(rows: int, seed: int, classes: int = 2) -> tuple[list[str], np.ndarray]:
    """Texts of six to fourteen words, whose frequencies depend on the class."""
    rng = np.random.default_rng(seed)
    tilt = np.random.default_rng(0).normal(0, 0.6, (classes, len(WORDS)))
    shares = np.exp(tilt) / np.exp(tilt).sum(axis=1, keepdims=True)
    y = rng.integers(0, classes, rows)
    return [" ".join(rng.choice(WORDS, rng.integers(6, 15), p=shares[label])) for label in y], y


def signed_sums(X: list[str], y: np.ndarray) -> dict[str, float]:
    """What each word adds up to over texts of sum 1, of the second class for it and of the first against it."""
    share = np.bincount(y).min() / np.bincount(y)
    sums: dict[str, float] = {}
    for text, label in zip(X, y, strict=True):
        words = set(text.split())
        for word in words:
            sums[word] = sums.get(word, 0.0) + (2 * label - 1) * share[label] / len(words)
    return sums


def by_sums(X: list[str], sums: dict[str, float]) -> np.ndarray:
    return np.array([sum(sums.get(word, 0.0) for word in set(text.split())) / np.sqrt(len(text.split())) for text in X])


def best_threshold(scores: np.ndarray, y: np.ndarray) -> float:
    return max(scores, key=lambda cut: ((scores >= cut) == y).mean())


def test_the_choice_of_a_rule_does_as_well_as_the_same_sums_without_noise() -> None:
    """Few rows times ε, so that no regression takes over; noise is a thirtieth of a row. Standard error 1.5 %."""
    (X, y), (others, truth) = texts(200, 1), texts(1000, 2)
    sums = signed_sums(X, y)
    cut = best_threshold(by_sums(X, sums), y)
    plain = ((by_sums(others, sums) >= cut) == truth).mean()
    model = tacit.TextClassifier(45.0, random_state=0).fit(X, y)
    assert "selection" in model.receipt_["mechanism"]
    assert 0.7 < plain < 0.98, "or the comparison tells nothing"
    assert model.score(others, truth) > plain - 0.045


def test_the_regression_does_as_well_as_one_without_noise() -> None:
    (X, y), (others, truth) = texts(2000, 3), texts(1000, 4)
    plain = make_pipeline(CountVectorizer(binary=True), LogisticRegression(max_iter=1000)).fit(X, y)
    model = tacit.TextClassifier(1000.0, random_state=0).fit(X, y)
    assert "objective perturbation" in model.receipt_["mechanism"]
    assert 0.7 < plain.score(others, truth) < 0.98
    assert model.score(others, truth) > plain.score(others, truth) - 0.045


def test_of_the_grid_of_rules_the_best_is_chosen() -> None:
    """For three classes the grid is kept: no other rule of it gets more of the texts right."""
    X, y = texts(150, 5, classes=3)
    model = tacit.TextClassifier(MUCH, classes=(0, 1, 2), random_state=0).fit(X, y)
    chosen, correct = model.choice_, []
    for choice in range(model.rules_.candidates):
        model.choice_ = choice
        correct.append(int((model.predict(X) == y).sum()))
    assert len(correct) > 20
    assert min(correct) < max(correct)
    assert correct[chosen] == max(correct)


RNG = np.random.default_rng(41)
Y = RNG.integers(0, 2, 300)
MATRIX = (RNG.random((300, 8)) < np.where(Y[:, None] == np.arange(8) % 2, 0.7, 0.3)).astype(float)
GOOD = {"max_ones": 8}
BAD = {"max_ones": 8, "alpha": 1e9}  # says the same of all rows


def test_tuning_picks_the_best_candidate_of_those_it_ran() -> None:
    """One candidate of three is good. It is run at all in three cases of four: 1 − γ(1−p)/(1 − (1−γ)(1−p)) with p = 1/3
    and γ = 1/6. So of 40 seeds at least 20 choose it, but for a chance of 2e-4."""
    found = []
    for seed in range(40):
        candidates = [tacit.BernoulliNB(**BAD), tacit.BernoulliNB(**GOOD), tacit.BernoulliNB(**BAD)]
        best = tacit.tune(candidates, MATRIX, Y, epsilon=MUCH, random_state=seed)
        right = int((best.model.predict(MATRIX) == Y).sum())
        assert best.score == right, "without noise the score is exact"
        assert (right > 200) == (best.candidate == 1)
        found.append(best.candidate)
    assert found.count(1) >= 20


@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(0, 20), st.sampled_from([0.3, 3.0, 300.0]), st.integers(0, 2**31))
def test_tuning_pays_once_and_returns_one_of_its_candidates(number: int, rows: int, epsilon: float, seed: int) -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(epsilon))
    candidates: list[Any] = [tacit.BernoulliNB(max_ones=ones) for ones in range(1, number + 1)]
    before = [candidate.get_params() for candidate in candidates]
    options: dict[str, Any] = {"epsilon": epsilon, "account": account, "random_state": seed}
    best = tacit.tune(candidates, MATRIX[:rows], Y[:rows], **options)
    (charge,) = account.entries()
    assert charge.budget == account.spent == tacit.Budget(epsilon)
    assert best.receipt["epsilon"] == best.model.receipt_["epsilon"] == epsilon
    assert best.model.max_ones == candidates[best.candidate].max_ones
    assert [candidate.get_params() for candidate in candidates] == before
    assert not any(hasattr(candidate, "receipt_") for candidate in candidates), "clones are fitted"
    with pytest.raises(tacit.BudgetError):
        tacit.tune(candidates, MATRIX[:rows], Y[:rows], **options)
