"""The accountant: which losses an account of budget (ε, δ) may still take, and what a fixed plan costs.

Sees public numbers only. The theorems behind each function are in ``docs/proofs/accounting.md``:

* an account is spent adaptively, so :func:`admits` is a *filter*: it stays valid when each question depends on all
  earlier answers. It accepts a total that is within (ε, 0.9 δ) by plain sums, or within ρ(ε, 0.1 δ) by zCDP sums; the
  two shares of δ add up to δ, so either way out is sound.
* :func:`compose_plan` may use tighter, non-adaptive composition, because a plan fixes its mechanisms and scales first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from enum import Enum
from fractions import Fraction

from tacit.privacy.budget import Budget
from tacit.privacy.loss import ZERO, Loss, compose

#: Share of an account's δ that pays for converting zCDP to (ε, δ); mechanisms are calibrated to the rest.
CONVERSION_SHARE = Fraction(1, 10)

_DIGITS = 12
_DOWN = Context(prec=50, rounding=ROUND_FLOOR)
_UP = Context(prec=50, rounding=ROUND_CEILING)
_SLACK = Decimal("1e-40")  # covers the rounding of some ten operations at 50 digits, many times over


class Accounting(Enum):
    """How an account adds up what is spent."""

    CONCENTRATED = "concentrated"
    BASIC = "basic"


def noise_delta(delta: Fraction) -> Fraction:
    """Return the part of a δ asked for that a mechanism is calibrated to; the rest pays for the conversion."""
    return delta * (1 - CONVERSION_SHARE)


def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a ρ, the largest up to rounding, such that ρ-zCDP implies (ε, δ)-DP.

    Canonne, Kamath and Steinke 2020, Proposition 12: for every order α > 1 it is enough that
    ρ ≤ (ε + (ln δ + ln(α−1) − α ln(1−1/α)) / (α−1)) / α. Rounded down to 12 digits.
    """
    if delta <= 0:
        return ZERO
    order = _best_order(lambda a: -(float(epsilon) - _overhead_float(a, delta)) / a)
    with localcontext(_DOWN):
        bound = (_decimal(epsilon, _DOWN) - _overhead(order, delta)) / order - _SLACK
    return max(_round(bound, ROUND_FLOOR), ZERO)


def epsilon_within(rho: Fraction, delta: Fraction) -> Fraction | None:
    """Return an ε, the smallest up to rounding, such that ρ-zCDP implies (ε, δ)-DP; None if δ is 0 and ρ is not."""
    if rho == 0:
        return ZERO
    if delta <= 0:
        return None
    order = _best_order(lambda a: a * float(rho) + _overhead_float(a, delta))
    with localcontext(_UP):
        bound = order * _decimal(rho, _UP) + _overhead(order, delta) + _SLACK
    return max(_round(bound, ROUND_CEILING), ZERO)


def admits(budget: Budget, accounting: Accounting, total: Loss) -> bool:
    """Tell whether an account of this budget may have spent ``total``, however its questions were chosen."""
    by_sums = (
        total.epsilon is not None
        and total.epsilon <= budget.exact_epsilon
        and total.delta <= _sums_delta(budget, accounting)
    )
    return by_sums or (total.rho is not None and total.rho <= _rho_limit(budget, accounting))


def spent(budget: Budget, accounting: Accounting, total: Loss) -> Budget:
    """State a total loss as the smaller of its two (ε, δ) forms."""
    converted = _converted(budget, accounting, total)
    sums_hold = total.epsilon is not None and total.delta <= _sums_delta(budget, accounting)
    if total.epsilon is not None and sums_hold and (converted is None or total.epsilon <= converted):
        return Budget.amount(total.epsilon, total.delta * _asked_per_noise(accounting))
    # What was admitted is within the budget, also where the twelve digits of the conversion end above it.
    shown = budget.exact_epsilon if converted is None else min(converted, budget.exact_epsilon)
    return Budget.amount(shown, budget.exact_delta)


def remaining(budget: Budget, accounting: Accounting, total: Loss) -> Budget:
    """Return a budget that could be granted to the very next request as a whole: the larger of two ways to count.

    Where it has δ > 0, that request is one for a mechanism with a ρ, such as Gaussian noise.
    """
    by_sums = Budget.amount(ZERO)
    if total.epsilon is not None and total.epsilon < budget.exact_epsilon:
        left = budget.exact_delta - total.delta * _asked_per_noise(accounting)
        if left >= 0:
            by_sums = Budget.amount(budget.exact_epsilon - total.epsilon, left)
    rho_left = ZERO if total.rho is None else _rho_limit(budget, accounting) - total.rho
    if rho_left <= 0:
        return by_sums
    epsilon = _request_for(rho_left, budget)
    return by_sums if by_sums.exact_epsilon >= epsilon else Budget.amount(epsilon, budget.exact_delta)


def compose_plan(losses: Sequence[Loss], delta: Fraction) -> Loss:
    """Compose the steps of a plan whose mechanisms and scales are all fixed before the first draw.

    The (ε, δ) certificate is the best of three: plain sums; Rényi composition at the best order; and, where every step
    is pure, the optimal composition of ε-DP mechanisms through their privacy-loss distributions. It is None if δ does
    not cover the steps.
    """
    total = compose(losses)
    target = noise_delta(delta)
    certificates = []
    if total.epsilon is not None and total.delta <= target:
        certificates.append((total.epsilon, total.delta))
    if target > 0 and total.rho is not None:
        converted = epsilon_within(total.rho, target)
        if converted is not None:
            certificates.append((converted, target))
    if target > 0 and len(losses) > 1 and total.delta == 0 and total.epsilon is not None and total.epsilon < 100:
        tight = _pure_plan_epsilon([loss.epsilon or ZERO for loss in losses], target)
        certificates += [] if tight is None else [(tight, target)]
    if not certificates:
        return Loss(None, total.delta, total.rho)
    epsilon, used = min(certificates)
    return Loss(epsilon, used, total.rho)


def _pure_plan_epsilon(epsilons: Sequence[Fraction], delta: Fraction) -> Fraction | None:
    """Compose pure steps exactly enough: each is dominated by randomised response of the same ε.

    None where the tail of what is composed is beyond any ε, as it is for a δ below what double precision tells.
    """
    from dp_accounting.pld import privacy_loss_distribution as pld
    from dp_accounting.pld.common import DifferentialPrivacyParameters

    # A grid much finer than the smallest step, as losses are rounded up to it, but of at most a million points.
    finest = min(1e-4, float(min(epsilons)) / 100)
    grid = max(finest, float(sum(epsilons)) / 1e6)
    distributions = [
        pld.from_privacy_parameters(DifferentialPrivacyParameters(float(e), 0.0), value_discretization_interval=grid)
        for e in epsilons
    ]
    combined = distributions[0]
    for other in distributions[1:]:
        combined = combined.compose(other)
    epsilon = combined.get_epsilon_for_delta(math.nextafter(float(delta), 0.0))
    if not math.isfinite(epsilon):
        return None
    return _round(_decimal(Fraction(float(epsilon)), _UP) * Decimal("1.000000001"), ROUND_CEILING)


def _sums_delta(budget: Budget, accounting: Accounting) -> Fraction:
    if accounting is Accounting.BASIC:
        return budget.exact_delta
    return noise_delta(budget.exact_delta)


def _asked_per_noise(accounting: Accounting) -> Fraction:
    """Factor from a mechanism's own δ to the δ that was asked for it."""
    return Fraction(1) if accounting is Accounting.BASIC else 1 / (1 - CONVERSION_SHARE)


def _rho_limit(budget: Budget, accounting: Accounting) -> Fraction:
    if accounting is Accounting.BASIC:
        return ZERO
    return rho_within(budget.exact_epsilon, budget.exact_delta * CONVERSION_SHARE)


def _converted(budget: Budget, accounting: Accounting, total: Loss) -> Fraction | None:
    if total.rho is None or accounting is Accounting.BASIC:
        return None
    return epsilon_within(total.rho, budget.exact_delta * CONVERSION_SHARE)


def _request_for(rho: Fraction, budget: Budget) -> Fraction:
    """Invert the calibration: the largest ε (12 digits) whose Gaussian release at the account's δ costs at most ρ."""
    delta = noise_delta(budget.exact_delta)
    low, high = ZERO, epsilon_within(rho, delta) or ZERO
    high *= 2
    for _ in range(60):
        middle = _round(_decimal((low + high) / 2, _DOWN), ROUND_FLOOR)
        if middle <= low:
            break
        if rho_within(middle, delta) <= rho:
            low = middle
        else:
            high = middle
    return low


def _overhead(order: Decimal, delta: Fraction) -> Decimal:
    """What the conversion at this order adds to the Rényi divergence; computed to 50 digits, then raised by a slack."""
    with localcontext(_UP):
        log_delta = _decimal(delta, _DOWN).ln()
        log_shrink = order * (1 - 1 / order).ln()
        return (log_shrink - log_delta - (order - 1).ln()) / (order - 1) + _SLACK


def _overhead_float(order: float, delta: Fraction) -> float:
    log_delta = math.log(delta.numerator) - math.log(delta.denominator)
    return (order * math.log1p(-1 / order) - log_delta - math.log(order - 1)) / (order - 1)


def _best_order(objective: Callable[[float], float]) -> Decimal:
    """Minimise over the order; any order is valid, so only tightness rests on this search."""
    low, high = -7.0, 30.0
    for _ in range(120):
        third = (high - low) / 3
        if objective(1 + math.exp(low + third)) < objective(1 + math.exp(high - third)):
            high -= third
        else:
            low += third
    return 1 + Decimal(f"{math.exp((low + high) / 2):.7g}")


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _round(value: Decimal, direction: str) -> Fraction:
    return Fraction(Context(prec=_DIGITS, rounding=direction).create_decimal(value))
