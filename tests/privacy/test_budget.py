"""Budgets and losses: values that add up exactly, compare as they should, and refuse nonsense."""

from __future__ import annotations

import dataclasses
import math
import operator
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tacit import Budget, ParameterError
from tacit.privacy.budget import as_float, show_delta
from tacit.privacy.loss import Loss, compose, worst

F = Fraction

epsilons = st.floats(min_value=1e-300, max_value=1e300)
deltas = st.one_of(st.just(0.0), st.floats(min_value=1e-300, max_value=1, exclude_max=True))
budgets = st.builds(Budget, epsilons, deltas)

amounts = st.fractions(min_value=0, max_value=100, max_denominator=10**6)
losses = st.one_of(
    st.builds(Loss.pure, amounts),
    st.builds(Loss.approximate, amounts, st.fractions(0, 1, max_denominator=10**6)),
    st.builds(Loss.concentrated, amounts),
    st.builds(Loss, amounts, st.fractions(0, 1, max_denominator=10**6), amounts),
)


# -- order ------------------------------------------------------------------------------------------------------------


@given(budgets, budgets, budgets)
def test_budgets_are_partially_ordered(a: Budget, b: Budget, c: Budget) -> None:
    assert a <= a
    assert not a < a
    assert not (a <= b and b <= a) or a == b
    assert not (a <= b and b <= c) or a <= c
    assert (a < b) == (a <= b and a != b)
    assert (a >= b) == (b <= a)
    assert (a > b) == (b < a)
    assert (a <= b) == (a.exact_epsilon <= b.exact_epsilon and a.exact_delta <= b.exact_delta)


def test_budgets_of_which_neither_is_within_the_other_compare_false_both_ways() -> None:
    pure, loose = Budget(2.0), Budget(1.0, 1e-6)
    assert not pure <= loose
    assert not loose <= pure
    assert not pure < loose
    assert not pure > loose
    assert pure != loose


@given(budgets)
def test_equal_budgets_are_one_key(a: Budget) -> None:
    twin = Budget(a.exact_epsilon, a.exact_delta)
    assert twin == a
    assert {a: 1}[twin] == 1
    assert pickle.loads(pickle.dumps(a)) == a


@pytest.mark.parametrize("name", ["epsilon", "delta", "exact_epsilon", "exact_delta", "anything"])
def test_budgets_cannot_be_changed(name: str) -> None:
    budget = Budget(1.0, 1e-6)
    with pytest.raises(AttributeError):
        setattr(budget, name, F(5))
    assert budget == Budget(1.0, 1e-6)


def test_losses_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Loss.none().epsilon = F(1)  # type: ignore[misc]


# -- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "times", "total"), [(0.1, 10, 1.0), (0.07, 100, 7.0), (1e-7, 10, 1e-6)])
def test_a_float_is_the_decimal_that_it_prints_as(step: float, times: int, total: float) -> None:
    """In binary, ten times 0.1 is 1.0000000000000000555; here it is 1, and fills the budget to the last unit."""
    assert sum(Budget(step).exact_epsilon for _ in range(times)) == Budget(total).exact_epsilon
    assert Budget(step) * times == Budget(total)
    assert sum(Budget(1, step).exact_delta for _ in range(10)) == 10 * F(repr(step))


@given(epsilons)
def test_a_float_goes_in_and_comes_out(epsilon: float) -> None:
    assert Budget(epsilon).epsilon == epsilon
    assert Budget(epsilon).exact_epsilon == F(repr(epsilon))


@given(st.fractions(min_value=F(1, 10**9), max_value=10**9))
@example(F(1, 3))
@example(F(2, 3))
def test_a_fraction_comes_out_as_a_float_that_asks_for_no_more(value: Fraction) -> None:
    """What is shown as remaining can be asked for: the float, read back as a decimal, stays within the fraction."""
    shown = as_float(value)
    assert F(repr(shown)) <= value
    assert F(repr(shown)) >= value * (1 - F(1, 2**51))


@pytest.mark.parametrize(
    "value", [1, 1.0, F(1), Decimal("1.0"), np.int64(1), np.float64(1.0), np.float32(1.0), np.uint8(1)]
)
def test_all_kinds_of_real_numbers_are_understood(value: Any) -> None:
    assert Budget(value) == Budget(1)
    assert Budget(1, value * 0) == Budget(1)


@given(budgets, st.integers(1, 1000))
def test_a_budget_divided_is_put_together_again(budget: Budget, parts: int) -> None:
    assert (budget / parts) * parts == budget
    assert budget / parts <= budget
    assert parts * (budget / parts) == budget


@pytest.mark.parametrize("share", [0, -1, math.nan, math.inf, Decimal("sNaN"), True, "2", None])
def test_a_bad_share_is_refused(share: Any) -> None:
    with pytest.raises(ParameterError, match="'share' parameter of Budget"):
        Budget(1.0) * share
    with pytest.raises(ParameterError, match="'parts' parameter of Budget"):
        Budget(1.0) / share


# -- print ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "long", "short"),
    [
        (Budget(1.0), "Budget(epsilon=1.0, delta=0)", "ε = 1"),
        (Budget(0.1, 1e-6), "Budget(epsilon=0.1, delta=1e-06)", "ε = 0.1, δ = 1e-06"),
        (Budget(2, 2.5e-10), "Budget(epsilon=2.0, delta=2.5e-10)", "ε = 2, δ = 2.5e-10"),
        (Budget(2, 0.001), "Budget(epsilon=2.0, delta=1e-03)", "ε = 2, δ = 1e-03"),
        (Budget(2, 0.25), "Budget(epsilon=2.0, delta=0.25)", "ε = 2, δ = 0.25"),
    ],
)
def test_budgets_print_delta_in_scientific_notation(budget: Budget, long: str, short: str) -> None:
    assert repr(budget) == long
    assert str(budget) == short
    assert f"{budget}" == short


@given(st.floats(min_value=1e-300, max_value=1, exclude_max=True))
def test_no_delta_reads_as_zero(delta: float) -> None:
    assert float(show_delta(delta)) > 0
    assert math.isclose(float(show_delta(delta)), delta, rel_tol=1e-5)
    assert delta >= 0.1 or "e-" in show_delta(delta)


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon",
    [math.nan, math.inf, -math.inf, 0, 0.0, -0.0, -1, -1e-300, True, False, "1", None, 1j, [1.0], Decimal("NaN")],
)
def test_a_bad_epsilon_is_named_with_its_value_and_a_remedy(epsilon: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        Budget(epsilon)
    message = str(caught.value)
    assert "'epsilon' parameter of Budget must be a finite number above 0" in message
    assert f"Got {epsilon!r}." in message
    assert "Typical values lie between 0.1 and 4" in message


@pytest.mark.parametrize("delta", [math.nan, math.inf, -1e-12, 1, 1.0, 2, True, "1e-6", None, Decimal("Infinity")])
def test_a_bad_delta_is_named_with_its_value_and_a_remedy(delta: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        Budget(1.0, delta)
    message = str(caught.value)
    assert "'delta' parameter of Budget must be a number in [0, 1)" in message
    assert f"Got {delta!r}." in message
    assert "Use 0 for pure privacy" in message


# -- composition ------------------------------------------------------------------------------------------------------


def times(n: int, part: Fraction | None) -> Fraction | None:
    return None if part is None else n * part


@given(losses, st.integers(1, 50))
def test_n_releases_cost_n_times_one(loss: Loss, n: int) -> None:
    total = compose([loss] * n)
    assert total == Loss(times(n, loss.epsilon), n * loss.delta, times(n, loss.rho))
    looped = Loss.none()
    for _ in range(n):
        looped = compose([looped, loss])
    assert looped == total


@given(st.lists(losses, max_size=6), st.randoms(use_true_random=False))
def test_composition_knows_no_order_and_no_grouping(parts: list[Loss], random: Any) -> None:
    shuffled = parts[:]
    random.shuffle(shuffled)
    cut = random.randint(0, len(parts))
    assert compose(shuffled) == compose(parts)
    assert compose([compose(parts[:cut]), compose(parts[cut:])]) == compose(parts)
    assert worst(shuffled) == worst(parts)


@given(st.lists(losses, min_size=1, max_size=6))
def test_the_worst_part_covers_each_part_and_costs_no_more_than_the_sum(parts: list[Loss]) -> None:
    found, total = worst(parts), compose(parts)
    for name in ("epsilon", "delta", "rho"):
        values = [getattr(loss, name) for loss in parts]
        if None in values:
            assert getattr(found, name) is None
            assert getattr(total, name) is None
        else:
            assert getattr(found, name) == max(values)
            assert max(values) <= getattr(total, name) == sum(values)
    assert worst([found, found]) == found


@given(losses)
def test_nothing_is_the_neutral_loss(loss: Loss) -> None:
    assert compose([]) == worst([]) == Loss.none()
    assert compose([loss, Loss.none()]) == loss
    assert worst([loss, Loss.none()]) == loss


@given(losses)
def test_a_loss_survives_the_ledger(loss: Loss) -> None:
    assert Loss.from_json(loss.to_json()) == loss


@given(amounts)
def test_pure_privacy_is_also_concentrated(epsilon: Fraction) -> None:
    assert Loss.pure(epsilon).rho == epsilon**2 / 2
    assert Loss.approximate(epsilon, F(0)) == Loss.pure(epsilon)
    assert Loss.approximate(epsilon, F(1, 10**6)).rho is None


@pytest.mark.parametrize("parts", [(F(-1), F(0), F(0)), (F(0), F(-1), F(0)), (F(0), F(0), F(-1)), (None, F(-1), None)])
def test_a_negative_loss_is_refused(parts: tuple[Any, ...]) -> None:
    with pytest.raises(ParameterError, match="at least 0"):
        Loss(*parts)


@pytest.mark.parametrize("value", [10**400, Fraction(10**400, 3), Fraction(1, 10**400), Decimal("1e-400")])
def test_numbers_beyond_floats_are_refused(value: object) -> None:
    with pytest.raises(ParameterError, match="'epsilon'"):
        Budget(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("compare", [operator.le, operator.lt, operator.ge, operator.gt])
def test_budgets_compare_with_budgets_alone(compare: Callable[[object, object], bool]) -> None:
    with pytest.raises(TypeError):
        compare(Budget(1.0), 3)
    with pytest.raises(TypeError):
        compare(3, Budget(1.0))
