"""Objective perturbation: a mechanism that lets the private side minimise under noise. Proof: docs/proofs/.

The noise is drawn by the gate and handed to the sealed problem, which returns the minimiser on a grid; the gate then
adds a little noise once more, which covers that the minimiser is not exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import bad_parameter
from tacit.privacy.budget import Budget, Number, exact_epsilon
from tacit.privacy.exact import Sealed
from tacit.privacy.loss import Loss
from tacit.privacy.unit import Sensitivity, Unit

NOISE_GRID = 1 << 30
"""Steps of the noise in one unit of the gradient."""

OUTPUT_GRID = 1 << 30
"""Steps of the released minimiser in one unit."""

INEXACTNESS = Fraction(1, 1 << 20)
"""The minimiser handed to the gate lies within this distance (L2) of the exact one: certified by the private side."""

LEAST_REGULARISATION = Fraction(1, 4)
"""A larger Λ is as private; with a smaller one the minimiser could not be certified in double precision."""

SHARES = {"noise": Fraction(78, 100), "curvature": Fraction(20, 100), "output": Fraction(2, 100)}

Ints = NDArray[np.int64]
Solver = Callable[[Ints, Fraction], Ints]


class ExactObjective(Sealed):
    """A convex problem on private data: minimise Σ ℓ(row) + Λ/2·‖θ‖² + b·θ for noise b that the gate draws.

    Parameters
    ----------
    solve : callable
        Given b in steps of 1/NOISE_GRID and Λ, returns θ in steps of 1/OUTPUT_GRID, rounded, from a point that is
        within ``INEXACTNESS`` of the exact minimiser.
    size : int
        Length of θ.
    curvature : Fraction
        Upper bound c of ℓ''.
    sensitivity : Sensitivity
        Of the gradient Σ ℓ'·x in steps of 1/``grid``: one row's gradient has L1 norm at most ``grid``.
    """

    __slots__ = ("curvature", "shape")

    shape: tuple[int, ...]
    curvature: Fraction

    def __init__(
        self,
        solve: Solver,
        size: int,
        *,
        curvature: Fraction,
        sensitivity: Sensitivity,
        unit: Unit,
        query: str,
        version: str,
    ) -> None:
        super().__init__(lambda: solve, sensitivity, unit, query, version)
        object.__setattr__(self, "shape", (size,))
        object.__setattr__(self, "curvature", curvature)


@dataclass(frozen=True, slots=True, init=False)
class ObjectivePerturbation:
    """Releases the minimiser of a regularised convex loss whose objective is perturbed by discrete Laplace noise: ε-DP.

    Rows have L1 norm at most 1, |ℓ'| ≤ 1 and 0 ≤ ℓ'' ≤ c. ε is divided: the noise hides a row's gradient, the
    regularisation Λ its curvature, and a little output noise the inexactness of the minimiser.
    """

    name: ClassVar[str] = "objective perturbation"
    proof: ClassVar[str] = "docs/proofs/objective-perturbation.md"
    epsilon: Fraction
    curvature: Fraction
    size: int

    def __init__(self, epsilon: Number, curvature: Fraction, size: int) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon, "ObjectivePerturbation"))
        object.__setattr__(self, "curvature", Fraction(curvature))
        object.__setattr__(self, "size", int(size))
        if self.curvature <= 0 or not 1 <= self.size <= 1 << 20:
            expected = "above 0, with 1 to 2^20 coefficients"
            raise bad_parameter("ObjectivePerturbation", "curvature, size", expected, (curvature, size))

    @property
    def budget(self) -> Budget:
        """The ε that was asked for."""
        return Budget.amount(self.epsilon)

    def loss(self) -> Loss:
        """ε, without δ."""
        return Loss.pure(self.epsilon)

    def noise_scale(self, sensitivity: Sensitivity) -> Fraction:
        """Scale of b in steps of the noise grid: (m + m·d/NOISE_GRID)·NOISE_GRID/ε₁ for m rows a unit."""
        m = sensitivity.linf
        scale = Fraction(m * (NOISE_GRID + self.size)) / (self.epsilon * SHARES["noise"])
        return self._within(scale)

    def regularisation(self, sensitivity: Sensitivity) -> Fraction:
        """The least Λ with m·ln(1 + c/Λ) ≤ ε₂, rounded up to 12 digits, and at least ``LEAST_REGULARISATION``."""
        rate = self.epsilon * SHARES["curvature"] / sensitivity.linf
        down = Context(prec=40, rounding=ROUND_FLOOR)
        exponential = down.exp(down.divide(Decimal(rate.numerator), Decimal(rate.denominator)))
        gain = down.subtract(down.next_minus(exponential), Decimal(1))  # a lower bound of e^rate − 1
        if gain <= 0:
            raise bad_parameter("ObjectivePerturbation", "epsilon", "large enough to be told from 0", self.epsilon)
        up = Context(prec=12, rounding=ROUND_CEILING)
        c = up.divide(Decimal(self.curvature.numerator), Decimal(self.curvature.denominator))
        # The part of the inexactness that the noise's grid causes, √d/(2·NOISE_GRID·Λ), must be half of it at most.
        needed = Fraction(math.isqrt(self.size) + 1, NOISE_GRID) / INEXACTNESS
        return max(Fraction(up.divide(c, gain)), LEAST_REGULARISATION, needed)

    def output_scale(self) -> Fraction:
        """Scale of the output noise in steps of the output grid: 2·(√d·OUTPUT_GRID·INEXACTNESS + d)/ε₃."""
        root = Fraction(np.ceil(np.sqrt(float(self.size))).item())
        moved = root * OUTPUT_GRID * INEXACTNESS + self.size
        return self._within(2 * moved / (self.epsilon * SHARES["output"]))

    def _within(self, scale: Fraction) -> Fraction:
        if scale > 1 << 40:
            expected = "large enough for a noise scale of at most 2^40 steps"
            raise bad_parameter("ObjectivePerturbation", "epsilon", expected, float(self.epsilon))
        return scale

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how the objective and the minimiser are perturbed."""
        return {
            "noise_scale": str(self.noise_scale(sensitivity)),
            "noise_grid": NOISE_GRID,
            "regularisation": str(self.regularisation(sensitivity)),
            "curvature": str(self.curvature),
            "output_scale": str(self.output_scale()),
            "output_grid": OUTPUT_GRID,
            "inexactness": str(INEXACTNESS),
        }
