"""Laws of what chooses, for any utilities: answers are in range, limits hold, one charge pays, and without noise the
best is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import Budget, Ledger, Unit
from tacit.privacy import gate
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import Choice, Mechanism, SelectEach, Selection, SparseVector, TopK, TopKMethod
from tacit.privacy.release import Release
from tacit.privacy.unit import Bound, Sensitivity

MUCH = 10**6
"""An ε at which a difference of 1 is never missed: exp(−10⁶/2k) is 0 for all that matters."""

UTILITIES = st.lists(st.integers(-50, 50), min_size=1, max_size=8)
EPSILONS = st.sampled_from([0.1, 1.0, 10.0])
SEEDS = st.none() | st.integers(0, 2**31)
FEW = settings(max_examples=40)


def of_scores(width: int, *, monotone: bool = False) -> Sensitivity:
    return Sensitivity.of_feature_scores(Bound(rows=1, ones=1), width, monotone=monotone)


def ask(values: Any, mechanism: Mechanism, sensitivity: Sensitivity, seed: int | None = None) -> Release:
    """Release twice: the second time costs nothing and gives the same; the first costs what it says."""
    budget = Budget(3 * MUCH)
    account = Ledger.open().account("data", budget=budget)
    statistic = Exact(np.array(values), sensitivity=sensitivity, unit=Unit.row(), query="utilities", version="1")
    first = gate.release(account, statistic, mechanism, random_state=seed)
    second = gate.release(account, statistic, mechanism, random_state=seed)
    (charge,) = account.entries()
    assert charge.budget == account.spent == mechanism.budget
    assert np.array_equal(first.values, second.values)
    return first


@FEW
@given(UTILITIES, EPSILONS, st.sampled_from(Choice), st.booleans(), SEEDS)
def test_a_selection_is_a_candidate(
    utilities: list[int], epsilon: float, choice: Choice, monotone: bool, seed: int | None
) -> None:
    sensitivity = of_scores(len(utilities), monotone=monotone)
    (chosen,) = ask(utilities, Selection(epsilon, choice), sensitivity, seed).values
    assert 0 <= chosen < len(utilities)
    (best,) = ask(utilities, Selection(MUCH, choice), sensitivity, seed).values
    assert utilities[best] == max(utilities)


@FEW
@given(st.integers(1, 5), st.integers(1, 6), st.randoms(use_true_random=False), EPSILONS, SEEDS)
def test_a_selection_in_each_group_is_one_of_the_group(
    groups: int, width: int, random: Any, epsilon: float, seed: int | None
) -> None:
    utilities = np.array([[random.randint(-50, 50) for _ in range(width)] for _ in range(groups)])
    sensitivity = Sensitivity.of_balances(Bound(rows=1, ones=1), 1, utilities.size)
    chosen = ask(utilities, SelectEach(epsilon), sensitivity, seed).values
    assert chosen.shape == (groups,)
    assert ((chosen >= 0) & (chosen < width)).all()
    best = ask(utilities, SelectEach(MUCH), sensitivity, seed).values
    assert (utilities[np.arange(groups), best] == utilities.max(axis=1)).all()


@FEW
@given(UTILITIES, st.data(), EPSILONS, st.sampled_from(TopKMethod), st.sampled_from(Choice), SEEDS)
def test_the_top_k_are_k_different_candidates(
    utilities: list[int], data: Any, epsilon: float, method: TopKMethod, choice: Choice, seed: int | None
) -> None:
    k = data.draw(st.integers(1, len(utilities)))
    sensitivity = of_scores(len(utilities))
    chosen = ask(utilities, TopK(epsilon, k, method, choice), sensitivity, seed).values.tolist()
    assert len(set(chosen)) == k
    assert set(chosen) <= set(range(len(utilities)))
    best = ask(utilities, TopK(MUCH, k, method, choice), sensitivity, seed).values
    assert [utilities[i] for i in best] == sorted(utilities, reverse=True)[:k], "and the best comes first"


@FEW
@given(UTILITIES, st.integers(-50, 50), st.integers(1, 9), EPSILONS, SEEDS)
def test_the_sparse_vector_technique_stops_at_its_limit(
    entries: list[int], threshold: int, limit: int, epsilon: float, seed: int | None
) -> None:
    answers = ask(entries, SparseVector(epsilon, threshold, limit), of_scores(len(entries)), seed).values
    assert answers.shape == (len(entries),)
    assert set(answers.tolist()) <= {-1, 0, 1}
    reached = int((answers == 1).sum())
    assert reached <= limit
    assert reached == limit or (answers != -1).all(), "it stops for its limit alone"


@FEW
@given(UTILITIES, st.integers(-50, 50), st.integers(1, 9), SEEDS)
def test_without_noise_the_sparse_vector_technique_is_right_about_all_it_visits(
    entries: list[int], threshold: int, limit: int, seed: int | None
) -> None:
    answers = ask(entries, SparseVector(MUCH, threshold, limit), of_scores(len(entries)), seed).values
    exact = np.array(entries) >= threshold
    visited = answers != -1
    assert ((answers == 1)[visited] == exact[visited]).all()
    assert (answers == 1).sum() == min(limit, exact.sum())
