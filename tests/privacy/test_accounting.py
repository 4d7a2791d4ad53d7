"""The accountant: conversions against other ways to compute them, plans against the optimum, the laws of the filter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.pld.common import DifferentialPrivacyParameters
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from tacit import Budget
from tacit.privacy.accounting import (
    Accounting,
    admits,
    compose_plan,
    epsilon_within,
    noise_delta,
    remaining,
    rho_within,
    spent,
)
from tacit.privacy.loss import Loss, compose
from tacit.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from tests.privacy import noise_laws as laws

F = Fraction

CONCENTRATED, BASIC = Accounting.CONCENTRATED, Accounting.BASIC


def scientific(mantissa: int, exponent: int) -> Fraction:
    return F(mantissa, 100) * F(10) ** exponent


epsilons = st.builds(scientific, st.integers(100, 999), st.integers(-3, 1))
deltas = st.builds(scientific, st.integers(100, 999), st.integers(-15, -2))
rhos = st.builds(scientific, st.integers(100, 999), st.integers(-8, 1))


# -- from zCDP to (ε, δ) and back -------------------------------------------------------------------------------------


def minimum(function: Callable[[Decimal], Decimal]) -> Decimal:
    """Minimise over orders α > 1 to 60 digits: a dense grid in ln(α − 1), then thirds around its best point."""
    grid = [Decimal(i) / 4 for i in range(-40, 120)]
    best = min(grid, key=function)
    low, high = best - Decimal("0.25"), best + Decimal("0.25")
    for _ in range(80):
        third = (high - low) / 3
        if function(low + third) < function(high - third):
            high -= third
        else:
            low += third
    return function((low + high) / 2)


def log_delta(rho: Fraction, epsilon: Fraction) -> Decimal:
    """Return the smallest ln δ for which ρ-zCDP implies (ε, δ)-DP, by the form that has δ on the left.

    Canonne, Kamath and Steinke 2020, Proposition 12: δ = exp((α−1)(αρ−ε)) / (α−1) · (1−1/α)^α.
    """
    with localcontext(laws.PRECISE):
        r, e = (Decimal(v.numerator) / Decimal(v.denominator) for v in (rho, epsilon))

        def at(log_order: Decimal) -> Decimal:
            less = log_order.exp()
            order = 1 + less
            return less * (order * r - e) - log_order + order * (less / order).ln()

        return minimum(at)


@given(epsilons, deltas)
@example(F(1), F(1, 10**6))
@settings(max_examples=15)
def test_rho_within_is_sound_and_tight(epsilon: Fraction, delta: Fraction) -> None:
    """Soundness to 60 digits; a ρ larger by one part in 10^8 would not do."""
    rho = rho_within(epsilon, delta)
    with localcontext(laws.PRECISE):
        target = (Decimal(delta.numerator) / Decimal(delta.denominator)).ln()
    assert log_delta(rho, epsilon) <= target
    assert log_delta(rho * (1 + F(1, 10**8)), epsilon) > target


@given(rhos, deltas)
@example(F(1, 10**10), F(1, 100))
@settings(max_examples=15)
def test_epsilon_within_is_sound_and_tight(rho: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_within(rho, delta)
    assert epsilon is not None
    with localcontext(laws.PRECISE):
        target = (Decimal(delta.numerator) / Decimal(delta.denominator)).ln()
    assert log_delta(rho, epsilon) <= target
    if epsilon > 0:
        assert log_delta(rho, epsilon * (1 - F(1, 10**8))) > target


@given(epsilons, deltas)
def test_the_conversions_are_inverse_up_to_rounding(epsilon: Fraction, delta: Fraction) -> None:
    back = epsilon_within(rho_within(epsilon, delta), delta)
    assert back is not None
    assert abs(back - epsilon) <= epsilon * F(1, 10**8)
    rho = rho_within(epsilon, delta)
    assert abs(rho_within(back, delta) - rho) <= rho * F(1, 10**8)


@given(rhos, deltas)
def test_the_conversion_is_never_worse_than_bun_and_steinke(rho: Fraction, delta: Fraction) -> None:
    """ε = ρ + 2·√(ρ·ln(1/δ)): Proposition 1.3 of their paper of 2016."""
    epsilon = epsilon_within(rho, delta)
    assert epsilon is not None
    assert float(epsilon) <= float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta))) * (1 + 1e-12)


@given(epsilons, deltas, st.integers(101, 300))
def test_a_wider_budget_never_gets_a_smaller_rho(epsilon: Fraction, delta: Fraction, percent: int) -> None:
    here = rho_within(epsilon, delta)
    assert rho_within(epsilon * percent / 100, delta) > here
    assert rho_within(epsilon, delta * percent / 100) > here


def gaussian_delta(rho: float, epsilon: float) -> float:
    """Return the δ of the continuous Gaussian mechanism, which is exactly ρ-zCDP (Balle and Wang 2018, Theorem 8)."""
    mu = math.sqrt(2 * rho)
    above = stats.norm.logcdf(mu / 2 - epsilon / mu)
    below = epsilon + stats.norm.logcdf(-mu / 2 - epsilon / mu)
    return float(np.exp(above) - np.exp(below))


@given(epsilons, deltas)
def test_a_gaussian_of_that_rho_really_is_private(epsilon: Fraction, delta: Fraction) -> None:
    assert gaussian_delta(float(rho_within(epsilon, delta)), float(epsilon)) <= float(delta) * (1 + 1e-9)


def test_without_delta_there_is_no_conversion() -> None:
    assert rho_within(F(1), F(0)) == 0
    assert epsilon_within(F(1), F(0)) is None
    assert epsilon_within(F(0), F(0)) == 0
    assert epsilon_within(F(0), F(1, 10)) == 0


@given(rhos, deltas)
@settings(max_examples=20)
def test_dp_accounting_converts_alike(rho: Fraction, delta: Fraction) -> None:
    """Its accountant, given many orders, comes close from above, or below only by its KL bound at a large δ.

    Next to ε = 0 the grid of its orders is too coarse by some 1e-7.
    """
    orders = 1 + np.exp(np.linspace(math.log(0.011), 16, 2_000))
    theirs, _ = dp_accounting.rdp.compute_epsilon(orders, orders * float(rho), float(delta))
    ours = epsilon_within(rho, delta)
    assert ours is not None
    if theirs > 0:
        assert float(ours) <= theirs * (1 + 1e-9)
        assert float(ours) >= theirs * (1 - 1e-3) - 1e-6


# -- plans ------------------------------------------------------------------------------------------------------------


def optimal_delta(epsilons_: Sequence[Fraction], epsilon: float) -> float:
    """Return the least δ of the composition of pure mechanisms (Kairouz, Oh and Viswanath; Murtagh and Vadhan)."""
    sizes = [float(e) for e in epsilons_]
    sums = np.array([sum(s * sign for s, sign in zip(sizes, signs, strict=True)) for signs in _signs(len(sizes))])
    logs = sums / 2 - sum(np.logaddexp(s / 2, -s / 2) for s in sizes)
    return float(np.maximum(np.exp(logs) - np.exp(epsilon - sums + logs), 0).sum())


def _signs(count: int) -> list[tuple[int, ...]]:
    return list(itertools.product((-1, 1), repeat=count))


def optimal_epsilon(epsilons_: Sequence[Fraction], delta: float) -> float:
    low, high = 0.0, float(sum(epsilons_))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if optimal_delta(epsilons_, middle) <= delta else (middle, high)
    return high


steps = st.lists(st.builds(lambda n: F(n, 1000), st.integers(1, 1500)), min_size=2, max_size=8)


def test_the_optimum_agrees_with_the_formula_for_equal_steps() -> None:
    """Kairouz, Oh and Viswanath, Theorem 3.3: at ((k − 2i)·ε, δ_i), written out."""
    k, e = 8, 0.3
    for i in range(k // 2 + 1):
        terms = (
            math.comb(k, j) * (math.exp((k - j) * e) - math.exp((k - 2 * i + j) * e)) / (1 + math.exp(e)) ** k
            for j in range(i)
        )
        assert math.isclose(optimal_delta([F(3, 10)] * k, (k - 2 * i) * e), sum(terms), rel_tol=1e-9, abs_tol=1e-15)


@given(steps, deltas)
@example([F(1, 10)] * 8, F(1, 100))
@settings(max_examples=40)
def test_a_plan_of_pure_steps_is_valid_and_near_the_optimum(parts: list[Fraction], delta: Fraction) -> None:
    """No better than the optimal composition, no worse than plain sums, and within 1e-3 of the optimum."""
    total = compose_plan([Loss.pure(e) for e in parts], delta)
    assert total.epsilon is not None
    assert total.delta <= noise_delta(delta)
    assert total.epsilon <= sum(parts)
    assert total.rho == sum(e * e / 2 for e in parts)
    assert optimal_delta(parts, float(total.epsilon)) <= float(total.delta) * (1 + 1e-9) + 1e-15
    assert float(total.epsilon) <= optimal_epsilon(parts, float(noise_delta(delta))) + 1e-3


losses = st.one_of(
    st.builds(lambda e: Loss.pure(e), st.builds(scientific, st.integers(100, 999), st.integers(-3, 0))),
    st.builds(lambda e, d: DiscreteGaussian(e, d).loss(), epsilons, deltas),
    st.builds(Loss.concentrated, rhos),
    st.builds(Loss.approximate, epsilons, deltas),
)


@given(st.lists(losses, min_size=1, max_size=4), st.one_of(st.just(F(0)), deltas))
@settings(max_examples=50)
def test_a_plan_never_costs_more_than_plain_sums_or_one_conversion(parts: list[Loss], delta: Fraction) -> None:
    plan, sums, target = compose_plan(parts, delta), compose(parts), noise_delta(delta)
    assert plan.rho == sums.rho
    options = []
    if sums.epsilon is not None and sums.delta <= target:
        options.append(sums.epsilon)
    if sums.rho is not None and target > 0:
        options.append(epsilon_within(sums.rho, target) or F(0))
    if options:
        assert plan.epsilon is not None
        assert plan.epsilon <= min(options)
        assert plan.delta <= target
    else:
        assert plan.epsilon is None  # no statement is better than one that δ does not cover


@given(st.lists(epsilons, min_size=1, max_size=5))
def test_a_pure_plan_without_delta_is_the_plain_sum(parts: list[Fraction]) -> None:
    pure = [Loss.pure(epsilon) for epsilon in parts]
    assert compose_plan(pure, F(0)) == compose(pure)


@pytest.mark.parametrize("delta", [F(1, 10**15), F(1, 10**17), F(1, 10**30), F(1, 10**400)])
def test_a_plan_of_a_tiny_delta_has_a_price(delta: Fraction) -> None:
    """Below what the composition in double precision tells, it answered with infinity, which no fraction is."""
    plain = compose([Loss.pure(F(1, 10))] * 100)
    plan = compose_plan([Loss.pure(F(1, 10))] * 100, delta)
    assert plan.epsilon is not None
    assert plain.epsilon is not None
    assert plan.epsilon <= plain.epsilon
    assert plan.rho == plain.rho
    assert plan.delta <= noise_delta(delta)


@pytest.mark.parametrize(("epsilon", "count"), [(F(1, 10), 40), (F(1, 2), 10), (F(1, 100), 500)])
def test_a_plan_agrees_with_dp_accounting(epsilon: Fraction, count: int) -> None:
    """Its own composition of a privacy-loss distribution with itself.

    Ours is never below it, and above it by no more than one step of its grid, 1e-4, for each release.
    """
    delta = F(1, 10**5)
    one = privacy_loss_distribution.from_privacy_parameters(DifferentialPrivacyParameters(float(epsilon), 0.0))
    theirs = one.self_compose(count).get_epsilon_for_delta(float(noise_delta(delta)))
    ours = compose_plan([Loss.pure(epsilon)] * count, delta)
    assert ours.epsilon is not None
    assert ours.epsilon < epsilon * count
    assert theirs <= float(ours.epsilon) <= theirs + 1.001e-4 * count


def test_a_plan_of_gaussians_agrees_with_dp_accounting() -> None:
    """Ten Gaussian releases through its Rényi accountant, over many orders."""
    delta = F(1, 10**6)
    one = DiscreteGaussian(0.3, 1e-6).loss()
    assert one.rho is not None
    accountant = dp_accounting.rdp.RdpAccountant(orders=1 + np.exp(np.linspace(-4, 8, 4_000)))
    accountant.compose(dp_accounting.GaussianDpEvent(1 / math.sqrt(2 * float(one.rho))), 10)
    ours = compose_plan([one] * 10, delta)
    assert ours.epsilon is not None
    assert math.isclose(float(ours.epsilon), accountant.get_epsilon(float(noise_delta(delta))), rel_tol=1e-5)
    assert ours.epsilon < 10 * F(3, 10)


# -- the filter -------------------------------------------------------------------------------------------------------

budgets = st.builds(
    lambda e, d: Budget(e, d),
    st.builds(scientific, st.integers(100, 999), st.integers(-1, 1)),
    st.one_of(st.just(F(0)), st.builds(scientific, st.integers(100, 999), st.integers(-10, -3))),
)
shares = st.integers(1, 60).map(lambda percent: F(percent, 100))


@st.composite
def histories(draw: st.DrawFn) -> tuple[Budget, Accounting, list[Loss]]:
    """Draw an account and the losses that its filter let through, one after the other."""
    budget = draw(budgets)
    accounting = draw(st.sampled_from(Accounting))
    admitted: list[Loss] = []
    for share, kind, own in draw(st.lists(st.tuples(shares, st.sampled_from("lgax"), shares), max_size=8)):
        epsilon, delta = budget.exact_epsilon * share, budget.exact_delta * own
        if kind == "l" or delta == 0:
            loss = DiscreteLaplace(epsilon).loss()
        elif kind == "g":
            loss = DiscreteGaussian(epsilon, delta).loss()
        elif kind == "a":
            loss = Loss.approximate(epsilon, delta)
        else:
            loss = Loss.concentrated(epsilon**2 / 20)
        if admits(budget, accounting, compose([*admitted, loss])):
            admitted.append(loss)
    return budget, accounting, admitted


@given(histories())
def test_exactly_what_remains_is_always_granted(history: tuple[Budget, Accounting, list[Loss]]) -> None:
    """As fractions, and as the floats that a user reads and types: Gaussian where a δ is left, else Laplace."""
    budget, accounting, admitted = history
    total = compose(admitted)
    left = remaining(budget, accounting, total)
    for epsilon, delta in ((left.exact_epsilon, left.exact_delta), (left.epsilon, left.delta)):
        if epsilon > 0:
            request = DiscreteGaussian(epsilon, delta) if delta > 0 else DiscreteLaplace(epsilon)
            assert admits(budget, accounting, compose([total, request.loss()]))


@given(histories())
def test_what_was_granted_really_is_within_the_budget(history: tuple[Budget, Accounting, list[Loss]]) -> None:
    """Not by the filter's own sums: by the optimal composition of what was granted, where it is known.

    Pure steps alone: the formula of Kairouz, Oh and Viswanath. Gaussians alone: they compose to one Gaussian.
    """
    budget, _, admitted = history
    epsilon, delta = float(budget.exact_epsilon), float(budget.exact_delta)
    if admitted and all(loss.epsilon is not None and loss.delta == 0 for loss in admitted):
        assert optimal_delta([loss.epsilon or F(0) for loss in admitted], epsilon) <= delta + 1e-12
    gaussians = [loss.rho for loss in admitted if loss.rho is not None and loss.delta > 0]
    if gaussians:
        assert gaussian_delta(float(sum(gaussians)), epsilon) <= delta * (1 + 1e-9)


@given(budgets.filter(lambda budget: budget.exact_delta > 0), st.integers(25, 60))
@settings(max_examples=20)
def test_an_account_filled_with_gaussians_really_is_within_its_budget(budget: Budget, percent: int) -> None:
    """As many equal ones as the filter lets through are together one Gaussian, whose δ at the budget's ε is known."""
    share = F(percent, 100)
    one = DiscreteGaussian(budget.exact_epsilon * share, budget.exact_delta * share).loss()
    assert one.rho is not None
    most = next(n for n in itertools.count(1) if not admits(budget, CONCENTRATED, compose([one] * (n + 1))))
    assert gaussian_delta(float(most * one.rho), float(budget.exact_epsilon)) <= float(budget.exact_delta)


@given(histories())
@settings(max_examples=40)
def test_spending_grows_and_what_remains_shrinks(history: tuple[Budget, Accounting, list[Loss]]) -> None:
    budget, accounting, admitted = history
    totals = [compose(admitted[:n]) for n in range(len(admitted) + 1)]
    assert spent(budget, accounting, totals[0]) == Budget.amount(F(0))
    assert remaining(budget, accounting, totals[0]).exact_epsilon >= budget.exact_epsilon * (1 - F(1, 10**9))
    for before, after in itertools.pairwise(totals):
        assert admits(budget, accounting, before)
        assert spent(budget, accounting, before).exact_epsilon <= spent(budget, accounting, after).exact_epsilon
        left = [remaining(budget, accounting, total).exact_epsilon for total in (before, after)]
        assert left[0] >= left[1]


@given(histories())
def test_what_is_granted_is_shown_within_the_budget(history: tuple[Budget, Accounting, list[Loss]]) -> None:
    budget, accounting, admitted = history
    assert spent(budget, accounting, compose(admitted)) <= budget


def test_deltas_that_concentration_pays_for_are_not_shown_as_spent() -> None:
    """Plain sums would say (0.12, 2e-6) here, more δ than there is; the filter let it through by its other way."""
    budget = Budget(1.0, 1e-6)
    small = DiscreteGaussian(0.01, 1e-6).loss()
    total = compose([DiscreteLaplace(0.1).loss(), small, small])
    assert admits(budget, CONCENTRATED, total)
    assert spent(budget, CONCENTRATED, total) <= budget


@given(budgets, st.sampled_from(Accounting), losses)
def test_a_larger_budget_admits_whatever_a_smaller_one_does(budget: Budget, accounting: Accounting, loss: Loss) -> None:
    larger = Budget(budget.exact_epsilon * 2, budget.exact_delta * 2)
    assert not admits(budget, accounting, loss) or admits(larger, accounting, loss)


@pytest.mark.parametrize("accounting", Accounting)
def test_ten_tenths_fill_the_whole_and_not_a_hair_more(accounting: Accounting) -> None:
    budget, tenth = Budget(1.0), DiscreteLaplace(0.1).loss()
    assert admits(budget, accounting, compose([tenth] * 10))
    assert spent(budget, accounting, compose([tenth] * 10)) == budget
    assert remaining(budget, accounting, compose([tenth] * 10)) == Budget.amount(F(0))
    hair = Loss.pure(F(1, 10**30))
    assert not admits(budget, accounting, compose([*[tenth] * 10, hair]))
    assert not admits(budget, accounting, compose([*[tenth] * 11]))


@pytest.mark.parametrize("accounting", Accounting)
def test_one_gaussian_may_take_the_whole_budget(accounting: Accounting) -> None:
    budget = Budget(1.0, 1e-6)
    assert admits(budget, accounting, DiscreteGaussian(1.0, 1e-6).loss())
    assert not admits(budget, accounting, DiscreteGaussian(1.001, 1e-6).loss())


def test_many_small_gaussians_go_further_by_concentration() -> None:
    """Plain sums pay for 10 of (0.1, 1e-7); adding up ρ pays for several times as many."""
    budget, one = Budget(1.0, 1e-6), DiscreteGaussian(0.1, 1e-7).loss()

    def most(accounting: Accounting) -> int:
        return next(n for n in itertools.count() if not admits(budget, accounting, compose([one] * (n + 1))))

    assert most(BASIC) == 10
    assert most(CONCENTRATED) > 50


def test_the_two_ways_out_of_the_filter_share_delta() -> None:
    """0.9 δ for plain sums and 0.1 δ for the conversion: whichever way a run takes, δ covers both."""
    budget = Budget(1.0, 1e-6)
    within = Loss.approximate(F(1, 2), F(9, 10**7))
    assert admits(budget, CONCENTRATED, within)
    assert not admits(budget, CONCENTRATED, Loss.approximate(F(1, 2), F(9, 10**7) + F(1, 10**20)))
    assert admits(budget, BASIC, Loss.approximate(F(1, 2), F(1, 10**6)))
    rho = rho_within(F(1), F(1, 10**7))
    assert admits(budget, CONCENTRATED, Loss.concentrated(rho))
    assert not admits(budget, CONCENTRATED, Loss.concentrated(rho * (1 + F(1, 10**11))))
    assert not admits(budget, BASIC, Loss.concentrated(rho / 10**6))
