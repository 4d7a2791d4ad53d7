"""Privacy losses as values, and the one function that composes them.

A release may be certified in two ways at once: as (ε, δ)-differentially private, and as ρ-zero-concentrated
differentially private. A :class:`Loss` holds both certificates; ``None`` means that there is none of that kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.errors import bad_parameter

ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Loss:
    """What a release costs.

    Attributes
    ----------
    epsilon, delta : Fraction
        The release is (epsilon, delta)-DP; ``epsilon`` is None if no such statement is made.
    rho : Fraction or None
        The release is rho-zCDP; None if it is not known to be.

    Examples
    --------
    >>> compose([Loss.pure(Fraction(1, 2)), Loss.pure(Fraction(1, 4))]).epsilon
    Fraction(3, 4)
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None

    def __post_init__(self) -> None:
        negative = self.delta < 0 or any(part is not None and part < 0 for part in (self.epsilon, self.rho))
        if negative:
            raise bad_parameter("Loss", "epsilon, delta, rho", "at least 0", self)

    @classmethod
    def none(cls) -> Loss:
        """Nothing was released."""
        return cls(ZERO, ZERO, ZERO)

    @classmethod
    def pure(cls, epsilon: Fraction) -> Loss:
        """ε-DP, which is also ε²/2-zCDP (Bun and Steinke 2016, Proposition 3.3)."""
        return cls(epsilon, ZERO, epsilon * epsilon / 2)

    @classmethod
    def approximate(cls, epsilon: Fraction, delta: Fraction) -> Loss:
        """(ε, δ)-DP of a mechanism about which no more is known."""
        return cls.pure(epsilon) if delta == 0 else cls(epsilon, delta, None)

    @classmethod
    def concentrated(cls, rho: Fraction) -> Loss:
        """ρ-zCDP without a statement at a particular δ."""
        return cls(None, ZERO, rho)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Loss:
        """Read back what ``to_json`` wrote."""
        epsilon, delta, rho = body["epsilon"], body["delta"], body["rho"]
        return cls(
            None if epsilon is None else Fraction(epsilon),
            Fraction(delta),
            None if rho is None else Fraction(rho),
        )

    def to_json(self) -> dict[str, Any]:
        """Write the exact fractions as text."""
        return {
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "delta": str(self.delta),
            "rho": None if self.rho is None else str(self.rho),
        }


def compose(losses: Iterable[Loss]) -> Loss:
    """Compose releases on the same data: each certificate adds up on its own.

    The only place where losses are added, so that n releases cost n times one by construction.
    """
    epsilon: Fraction | None = ZERO
    rho: Fraction | None = ZERO
    delta = ZERO
    for loss in losses:
        epsilon = None if epsilon is None or loss.epsilon is None else epsilon + loss.epsilon
        rho = None if rho is None or loss.rho is None else rho + loss.rho
        delta += loss.delta
    return Loss(epsilon, delta, rho)


def worst(losses: Iterable[Loss]) -> Loss:
    """Compose releases on disjoint parts of the data: a unit lies in one part and suffers that part's loss."""
    epsilon: Fraction | None = ZERO
    rho: Fraction | None = ZERO
    delta = ZERO
    for loss in losses:
        epsilon = None if epsilon is None or loss.epsilon is None else max(epsilon, loss.epsilon)
        rho = None if rho is None or loss.rho is None else max(rho, loss.rho)
        delta = max(delta, loss.delta)
    return Loss(epsilon, delta, rho)
