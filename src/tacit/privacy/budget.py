"""Budgets: how much may be learnt about any one unit. Public values only; nothing here sees data.

A budget is kept as two exact fractions. A float is taken for the decimal number that it prints as, so that ten
charges of 0.1 fill a budget of 1.0 to the last unit, and not a hair more.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from tacit.errors import bad_parameter

Number = int | float | Fraction | Decimal


def exact(value: object, owner: str, name: str, expected: str, remedy: str = "") -> Fraction:
    """Turn a finite real number into the fraction that it prints as."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise bad_parameter(owner, name, expected, value, remedy)
    try:
        number = float(value)
    except (OverflowError, ValueError):  # too large, or a NaN that signals
        number = math.inf
    if not math.isfinite(number):
        raise bad_parameter(owner, name, expected, value, remedy)
    if isinstance(value, numbers.Rational):
        whole = Fraction(int(value.numerator), int(value.denominator))
    else:
        whole = Fraction(value) if isinstance(value, Decimal) else Fraction(_printed(value, number))
    if whole and not number:
        raise bad_parameter(owner, name, f"{expected}, and large enough to be told from 0", value, remedy)
    return whole


def _printed(value: object, number: float) -> str:
    """A float as it prints: a short one of numpy's has fewer digits than the long one that it equals."""
    return str(value) if isinstance(value, np.floating) else repr(number)


def as_float(value: Fraction) -> float:
    """Return the nearest float whose printed decimal does not exceed ``value``."""
    number = float(value)
    while number > 0 and Fraction(repr(number)) > value:
        number = math.nextafter(number, 0.0)
    return number


def exact_epsilon(value: object, owner: str) -> Fraction:
    """Check an epsilon: a finite number above 0."""
    expected = "a finite number above 0"
    remedy = "Typical values lie between 0.1 and 4; smaller is more private."
    epsilon = exact(value, owner, "epsilon", expected, remedy)
    if epsilon <= 0:
        raise bad_parameter(owner, "epsilon", expected, value, remedy)
    return epsilon


def exact_delta(value: object, owner: str) -> Fraction:
    """Check a delta: a number in [0, 1)."""
    expected = "a number in [0, 1)"
    remedy = "Use 0 for pure privacy, or a value far below 1/n, such as 1e-06."
    delta = exact(value, owner, "delta", expected, remedy)
    if not 0 <= delta < 1:
        raise bad_parameter(owner, "delta", expected, value, remedy)
    return delta


@dataclass(frozen=True, init=False, repr=False)  # slots would make an assignment to a property a TypeError
class Budget:
    """A privacy budget (ε, δ).

    Budgets are partially ordered: ``a <= b`` if both ε and δ of ``a`` are at most those of ``b``; two budgets of which
    neither is within the other compare false both ways.

    Parameters
    ----------
    epsilon : float
        Finite and above 0.
    delta : float, default 0.0
        In [0, 1).

    Examples
    --------
    >>> Budget(1.0, 1e-6)
    Budget(epsilon=1.0, delta=1e-06)
    >>> Budget(0.5) <= Budget(1.0, 1e-6)
    True
    >>> print(Budget(1.0) / 4)
    ε = 0.25
    """

    exact_epsilon: Fraction
    exact_delta: Fraction

    def __init__(self, epsilon: Number, delta: Number = 0.0) -> None:
        object.__setattr__(self, "exact_epsilon", exact_epsilon(epsilon, "Budget"))
        object.__setattr__(self, "exact_delta", exact_delta(delta, "Budget"))

    @classmethod
    def amount(cls, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Budget:
        """Build what is spent or left, which unlike a budget that is asked for may be nothing."""
        budget = object.__new__(cls)
        object.__setattr__(budget, "exact_epsilon", max(epsilon, Fraction(0)))
        object.__setattr__(budget, "exact_delta", max(delta, Fraction(0)))
        return budget

    @property
    def epsilon(self) -> float:
        """The ε, as a float that is never above the exact one."""
        return as_float(self.exact_epsilon)

    @property
    def delta(self) -> float:
        """The δ, as a float that is never above the exact one."""
        return as_float(self.exact_delta)

    def __le__(self, other: Budget) -> bool:
        if not isinstance(other, Budget):
            return NotImplemented
        return self.exact_epsilon <= other.exact_epsilon and self.exact_delta <= other.exact_delta

    def __lt__(self, other: Budget) -> bool:
        if not isinstance(other, Budget):
            return NotImplemented
        return self <= other and self != other

    def __ge__(self, other: Budget) -> bool:
        return other.__le__(self) if isinstance(other, Budget) else NotImplemented

    def __gt__(self, other: Budget) -> bool:
        return other.__lt__(self) if isinstance(other, Budget) else NotImplemented

    def __mul__(self, share: Number) -> Budget:
        factor = exact(share, "Budget", "share", "a finite number above 0")
        if factor <= 0:
            raise bad_parameter("Budget", "share", "a finite number above 0", share)
        return Budget(self.exact_epsilon * factor, self.exact_delta * factor)

    __rmul__ = __mul__

    def __truediv__(self, parts: Number) -> Budget:
        divisor = exact(parts, "Budget", "parts", "a finite number above 0")
        if divisor <= 0:
            raise bad_parameter("Budget", "parts", "a finite number above 0", parts)
        return self * (1 / divisor)

    def __repr__(self) -> str:
        return f"Budget(epsilon={self.epsilon!r}, delta={show_delta(self.delta)})"

    def __str__(self) -> str:
        epsilon = f"ε = {self.epsilon:.6g}"
        return f"{epsilon}, δ = {show_delta(self.delta)}" if self.exact_delta else epsilon


def show_delta(delta: float) -> str:
    """Print a δ in scientific notation, so that a small one never reads as zero."""
    return "0" if delta == 0 else f"{delta:.6g}" if delta >= 0.1 else _scientific(delta)


def _scientific(delta: float) -> str:
    mantissa, exponent = f"{delta:.5e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{exponent}"
