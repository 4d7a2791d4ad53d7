"""Exact losses: known laws to 1e-9, both ways, and the laws of mechanisms against slow ones."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.audit.exact import Apart, by_entry, by_law, worst_pair
from tacit.audit.laws import (
    cauchy_log,
    choice_law,
    gaussian_log,
    laplace_at_least,
    laplace_log,
    noise_law,
    selection_log,
)
from tacit.privacy.mechanisms import (
    Choice,
    DiscreteGaussian,
    DiscreteLaplace,
    Mechanism,
    SelectEach,
    Selection,
    SparseVector,
    TopK,
    TopKMethod,
)
from tacit.privacy.unit import Bound, Sensitivity
from tests.privacy import noise_laws as oracle

ONE = Sensitivity.of_row_counts(Bound(rows=1, ones=1))
SCORES = Sensitivity.of_feature_scores(Bound(rows=1, ones=1), 3, monotone=False)


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=6), st.lists(st.floats(0.01, 1), min_size=6, max_size=6))
def test_epsilon_is_what_all_sets_of_outputs_say(p: list[float], q: list[float]) -> None:
    """Against every set of outputs, for δ = 0 and above; and the two functions are inverse to each other."""
    first, second = np.array(p) / sum(p), np.array(q[: len(p)]) / sum(q[: len(p)])
    apart = Apart(first, second)
    sets = [list(s) for size in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), size)]
    for delta in (0.0, 0.05):
        slow = 0.0
        for a, b in ((first, second), (second, first)):
            slow = max(slow, *(math.log(max(a[s].sum() - delta, 1e-300) / b[s].sum()) for s in sets))
        assert apart.epsilon(delta) == pytest.approx(slow, abs=1e-9)
        if slow > 0:
            assert apart.delta(slow) == pytest.approx(delta, abs=1e-9)


def test_an_output_that_one_side_lacks_is_an_infinite_loss() -> None:
    apart = Apart.of({"a": 1.0}, {"a": 0.9, "b": 0.1})
    assert apart.epsilon() == math.inf
    assert apart.one_way() == pytest.approx(math.log(1 / 0.9), abs=1e-12)
    assert apart.epsilon(0.05) == math.inf
    assert apart.epsilon(0.1) == pytest.approx(0.0, abs=1e-12)
    assert apart.delta(5.0) == pytest.approx(0.1, abs=1e-12)


def test_randomised_response_and_laplace_noise_are_known() -> None:
    honest = 1 / (1 + math.exp(-1.25))
    assert Apart(np.array([honest, 1 - honest]), np.array([1 - honest, honest])).epsilon() == pytest.approx(
        1.25, abs=1e-9
    )
    law = by_law(lambda v: noise_law(DiscreteLaplace(0.7), ONE, v, 3))
    assert law(0, 1).epsilon() == pytest.approx(0.7, abs=1e-9)
    # δ(ε) of two Laplace laws one step apart, from the closed form of their densities.
    q = math.exp(-0.7)
    tail = 1 / (1 + q)
    assert law(0, 1).delta(0.2) == pytest.approx(tail - math.exp(0.2) * q * tail, abs=1e-9)


def test_independent_outputs_compose() -> None:
    """Three Gaussian entries against the full product of their laws."""
    mechanism = DiscreteGaussian(3.0, 1e-3)
    apart = by_entry(lambda v: noise_law(mechanism, ONE, v, 1))((0, 0, 0), (1, 1, 1))
    one = Apart.of(noise_law(mechanism, ONE, 0, 1), noise_law(mechanism, ONE, 1, 1))
    kept = one.p > 1e-12
    p, q = one.p[kept], one.q[kept]
    product = Apart(np.einsum("i,j,k", p, p, p).ravel(), np.einsum("i,j,k", q, q, q).ravel())
    for epsilon in (0.5, 2.0, 4.0):
        assert apart.delta(epsilon) == pytest.approx(product.delta(epsilon), abs=1e-9)


@pytest.mark.parametrize("scale", [0.3, 2.0, 50.0])
def test_noise_laws_sum_to_one(scale: float) -> None:
    x = np.arange(-5000, 5001)
    assert np.exp(laplace_log(x, scale)).sum() == pytest.approx(1, abs=1e-12)
    assert np.exp(gaussian_log(x, scale**2)).sum() == pytest.approx(1, abs=1e-12)
    assert np.exp(cauchy_log(x, scale)).sum() == pytest.approx(1 - 2 / math.pi * scale / 5000, abs=1e-3)
    for k in (-3, 0, 1, 7):
        assert laplace_at_least(k, scale) == pytest.approx(np.exp(laplace_log(x[x >= k], scale)).sum(), rel=1e-11)


@pytest.mark.parametrize("utilities", [(0, 3, 1), (7, 7, 7), (0, 40, -3), (5,)])
def test_permute_and_flip_agrees_with_ninety_digits(utilities: tuple[int, ...]) -> None:
    rate = Fraction(3, 10)
    heads = [Decimal(1) if u == max(utilities) else oracle.exp_decimal(rate * (max(utilities) - u)) for u in utilities]
    slow = oracle.permute_and_flip_masses(heads)
    fast = np.exp(selection_log(utilities, float(rate), Choice.PERMUTE_AND_FLIP))
    assert fast == pytest.approx([float(mass) for mass in slow], rel=1e-11)


CHOICES: list[Mechanism] = [
    Selection(1.0),
    Selection(1.0, Choice.EXPONENTIAL, weights=(1, 5, 2)),
    TopK(1.0, 2),
    TopK(1.0, 2, TopKMethod.ONE_SHOT),
    TopK(1.0, 2, choice=Choice.EXPONENTIAL),
    SparseVector(1.0, 1, 1),
    SparseVector(1.0, 1, 2),
]


@pytest.mark.parametrize("mechanism", CHOICES, ids=repr)
def test_laws_of_choices_sum_to_one(mechanism: Mechanism) -> None:
    for values in ((0, 3, 1), (2, 2, 2), (-20, 0, 20)):
        assert sum(choice_law(mechanism, SCORES, values).values()) == pytest.approx(1, abs=1e-11)


def test_a_choice_in_each_group_is_a_product() -> None:
    balances = Sensitivity.of_balances(Bound(rows=1, ones=1), 2, 4)
    law = choice_law(SelectEach(1.0), balances, np.array([[0, -2], [-4, 0]]))
    assert len(law) == 4
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)


def test_the_worst_pair_is_found() -> None:
    law = by_law(lambda v: noise_law(DiscreteLaplace(1.0), ONE, v, 6))
    worst = worst_pair(law, [(0, 1), (0, 3), (0, 0)], epsilon=1.0)
    assert worst.pair == (0, 3)
    assert worst.epsilon == pytest.approx(3.0, abs=1e-9)
    assert worst.delta > 0.1
    assert worst.pairs == 3
