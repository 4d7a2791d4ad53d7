"""Objective perturbation: a mechanism that lets the private side minimise under noise. Proof: docs/proofs/.

The noise is drawn by the gate and handed to the sealed problem, which returns the minimiser on a grid; the gate then
adds a little noise once more, which covers that the minimiser is not exact. Two forms: Laplace noise, which gives pure
ε, and Gaussian noise for (ε, δ), which suits rows of bounded L2 norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import bad_parameter, small_epsilon
from tacit.privacy.accounting import noise_delta, rho_within
from tacit.privacy.budget import Budget, Number, as_float, exact_delta
from tacit.privacy.exact import Sealed
from tacit.privacy.loss import Loss
from tacit.privacy.mechanisms import MAX_LAPLACE_SCALE, PureMechanism
from tacit.privacy.unit import Sensitivity, Unit

NOISE_GRID = 1 << 30
"""Steps of the noise in one unit of the gradient."""

OUTPUT_GRID = 1 << 30
"""Steps of the released minimiser in one unit."""

INEXACTNESS = Fraction(1, 1 << 20)
"""The minimiser handed to the gate lies within this distance (L2) of the exact one: certified by the private side."""

LEAST_REGULARISATION = Fraction(1, 4)
"""A larger Λ is as private; with a smaller one the minimiser could not be certified in double precision."""

COARSE = 1 << 14
"""Steps of the noise grid in a step of the coarse part of Gaussian noise; exact samplers need moderate scales."""

FINE_DEVIATION = 4 * COARSE
"""Standard deviation of the fine part of Gaussian noise, which fills the gaps of the coarse part."""

MAX_COARSE_DEVIATION = 1 << 24
MOST_EPSILON, LEAST_DELTA, MOST_ROWS = 50, Fraction(1, 10**100), 64
"""Where the Gaussian form is proven: up to this ε, from this δ, for units of up to so many rows."""

MOST_RATE = 1000
"""Of ε₂ a row, this much is used at most: e^1000 is as good as infinite, and can be computed."""

OUTPUT_SHARE = Fraction(2, 100)
CURVATURE_SHARES = (Fraction(5, 100), Fraction(10, 100), Fraction(20, 100))
"""Parts of ε: for the output noise, and for the curvature, of which the first is taken that gives a Λ of at most the
noise's deviation, or else the last. The noise gets the rest."""

Ints = NDArray[np.int64]
Solver = Callable[[Ints, Fraction, Fraction], Ints]


class ExactObjective(Sealed):
    """A convex problem on private data: minimise Σ ℓ(row) + Λ/2·‖θ‖² + b·θ for noise b that the gate draws.

    Parameters
    ----------
    solve : callable
        Given b in steps of 1/NOISE_GRID, Λ and g, returns θ in steps of 1/OUTPUT_GRID, rounded, from a point where
        the gradient of the objective has an L2 norm of at most g.
    size : int
        Length of θ.
    curvature : Fraction
        Upper bound c of ℓ''·‖x‖₂².
    sensitivity : Sensitivity
        Of the gradient Σ ℓ'·x, where rows have L2 norm at most 1 and −1 ≤ ℓ' ≤ 0.
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
class ObjectivePerturbation(PureMechanism):
    """Releases the minimiser of a regularised convex loss whose objective is perturbed by discrete Laplace noise: ε-DP.

    Rows have L2 norm at most 1, |ℓ'| ≤ 1 and 0 ≤ ℓ''·‖x‖₂² ≤ c. ε is divided: the noise hides a row's gradient, the
    regularisation Λ its curvature, and a little output noise the inexactness of the minimiser. Where ``share``, the
    curvature's part of ε, is not given, a rule finds it and keeps Λ from falling below the deviation of the noise. Nor
    does Λ fall below ``least``.
    """

    name: ClassVar[str] = "objective perturbation"
    proof: ClassVar[str] = "docs/proofs/objective-perturbation.md"
    curvature: Fraction
    size: int
    share: Fraction | None
    least: Fraction

    def __init__(
        self,
        epsilon: Number,
        curvature: Fraction,
        size: int,
        *,
        share: Fraction | None = None,
        least: Fraction = LEAST_REGULARISATION,
    ) -> None:
        owner = type(self).__name__
        PureMechanism.__init__(self, epsilon)
        object.__setattr__(self, "curvature", Fraction(curvature))
        object.__setattr__(self, "size", int(size))
        object.__setattr__(self, "share", share)
        object.__setattr__(self, "least", max(least, LEAST_REGULARISATION))
        if self.curvature <= 0 or not 1 <= self.size <= 1 << 20:
            raise bad_parameter(owner, "curvature, size", "above 0, with 1 to 2^20 coefficients", (curvature, size))

    def split(self, sensitivity: Sensitivity) -> tuple[Fraction, Fraction]:
        """The parts ε₁ for the noise and ε₂ for the curvature.

        A Λ below the deviation of the noise would only let the noise move the coefficients more.
        """
        for share in CURVATURE_SHARES if self.share is None else (self.share,):
            noise, curvature = self.epsilon * (1 - OUTPUT_SHARE - share), self.epsilon * share
            if self._hiding(curvature, sensitivity) <= self._deviation(noise, sensitivity):
                break
        return noise, curvature

    def deviation(self, sensitivity: Sensitivity) -> float:
        """Standard deviation of an entry of b, in units of the gradient."""
        return self._deviation(self.split(sensitivity)[0], sensitivity)

    def _deviation(self, noise: Fraction, sensitivity: Sensitivity) -> float:
        return math.sqrt(2) * float(self._scale(noise, sensitivity)) / NOISE_GRID

    def noise_scale(self, sensitivity: Sensitivity) -> Fraction:
        """Scale of b in steps of the noise grid: (L1·NOISE_GRID + m·d)/ε₁ for m rows a unit."""
        scale = self._scale(self.split(sensitivity)[0], sensitivity)
        return self._within(scale, "fewer rows of a unit" if sensitivity.linf > 1 else None)

    def _scale(self, noise: Fraction, sensitivity: Sensitivity) -> Fraction:
        return (sensitivity.l1 * NOISE_GRID + sensitivity.linf * self.size) / noise

    def left_out(self) -> Fraction:
        """Bound of the L2 norm of what the computed noise lacks to the one of the proof: half a step an entry."""
        return Fraction(math.isqrt(self.size) + 1, 2 * NOISE_GRID)

    def regularisation(self, sensitivity: Sensitivity) -> Fraction:
        """Λ: enough to hide a unit's curvature, and not below the noise's deviation, which suits it."""
        # The part of the inexactness that the noise's grid causes must be half of it at most.
        certifiable = max(self.least, 2 * self.left_out() / INEXACTNESS)
        suitable = Fraction(f"{self.deviation(sensitivity):.6g}") if self.share is None else Fraction(0)
        return max(self._hiding(self.split(sensitivity)[1], sensitivity), certifiable, suitable)

    def _hiding(self, curvature: Fraction, sensitivity: Sensitivity) -> Fraction:
        """The least Λ with m·ln(1 + c/Λ) ≤ ε₂, rounded up to 12 digits."""
        rate = min(curvature / sensitivity.linf, Fraction(MOST_RATE))
        down = Context(prec=40, rounding=ROUND_FLOOR)
        exponential = down.exp(down.divide(Decimal(rate.numerator), Decimal(rate.denominator)))
        gain = down.subtract(down.next_minus(exponential), Decimal(1))  # a lower bound of e^rate − 1
        if gain <= 0:
            expected, remedy = "large enough to be told from 0", "Ask for a larger epsilon."
            raise small_epsilon(type(self).__name__, expected, as_float(self.epsilon), remedy)
        up = Context(prec=12, rounding=ROUND_CEILING)
        c = up.divide(Decimal(self.curvature.numerator), Decimal(self.curvature.denominator))
        return Fraction(up.divide(c, gain))

    def allowed_gradient(self, sensitivity: Sensitivity) -> Fraction:
        """The norm of the gradient at which a point is within ``INEXACTNESS`` of the minimiser."""
        return INEXACTNESS * self.regularisation(sensitivity) - self.left_out()

    def output_scale(self) -> Fraction:
        """Scale of the output noise in steps of the output grid: 2·(√d·OUTPUT_GRID·INEXACTNESS + d)/ε₃."""
        root = Fraction(np.ceil(np.sqrt(float(self.size))).item())
        moved = root * OUTPUT_GRID * INEXACTNESS + self.size
        return self._within(2 * moved / (self.epsilon * OUTPUT_SHARE), "fewer features")

    def _within(self, scale: Fraction, instead: str | None) -> Fraction:
        if scale > MAX_LAPLACE_SCALE:
            expected = f"large enough for a noise scale of at most {MAX_LAPLACE_SCALE:.3g} steps"
            remedy = _larger(float(scale / MAX_LAPLACE_SCALE), instead)
            raise small_epsilon(type(self).__name__, expected, as_float(self.epsilon), remedy)
        return scale

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how the objective and the minimiser are perturbed."""
        return self.describe_noise(sensitivity) | {
            "noise_grid": NOISE_GRID,
            "regularisation": str(self.regularisation(sensitivity)),
            "curvature": str(self.curvature),
            "output_scale": str(self.output_scale()),
            "output_grid": OUTPUT_GRID,
            "inexactness": str(INEXACTNESS),
        }

    def describe_noise(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how the noise of the objective is scaled."""
        return {"noise_scale": str(self.noise_scale(sensitivity)), "norm": "L1"}


@dataclass(frozen=True, slots=True, init=False)
class GaussianObjectivePerturbation(ObjectivePerturbation):
    """The form with Gaussian noise on the objective, scaled to the L2 norm of rows: (ε, δ)-DP.

    The noise has a coarse and a fine part, both discrete Gaussian, whose sum differs from a continuous Gaussian by less
    than any δ can tell. ℓ' must have one sign, which spares a factor 2 in δ.
    """

    name: ClassVar[str] = "Gaussian objective perturbation"
    proof: ClassVar[str] = "docs/proofs/objective-perturbation.md#gaussian-noise"
    delta: Fraction

    def __init__(
        self,
        epsilon: Number,
        delta: Number,
        curvature: Fraction,
        size: int,
        *,
        share: Fraction | None = None,
        least: Fraction = LEAST_REGULARISATION,
    ) -> None:
        ObjectivePerturbation.__init__(self, epsilon, curvature, size, share=share, least=least)
        object.__setattr__(self, "delta", exact_delta(delta, type(self).__name__))
        if self.epsilon > MOST_EPSILON or self.delta < LEAST_DELTA:
            expected = f"at most {MOST_EPSILON}, with a delta of at least 1e-100"
            raise bad_parameter(type(self).__name__, "epsilon", expected, as_float(self.epsilon))

    @property
    def budget(self) -> Budget:
        """The (ε, δ) that was asked for."""
        return Budget.amount(self.epsilon, self.delta)

    def loss(self) -> Loss:
        """(ε, 0.9 δ), and no more."""
        return Loss(self.epsilon, noise_delta(self.delta), None)

    def coarse_variance(self, sensitivity: Sensitivity) -> Fraction:
        """Variance of the coarse part in coarse steps."""
        return self._variance(self.split(sensitivity)[0], sensitivity)

    def _variance(self, noise: Fraction, sensitivity: Sensitivity) -> Fraction:
        m = sensitivity.linf
        if m > MOST_ROWS:
            raise bad_parameter(type(self).__name__, "sensitivity", f"of at most {MOST_ROWS} rows a unit", m)
        # As in the proof: (1 − ε₃/2)² pays for the inexactness, and 2^m − 1 is the number of sets of rows.
        delta = noise_delta(self.delta) * (1 - self.epsilon * OUTPUT_SHARE / 2) ** 2 / (2**m - 1)
        variance = _coarse_variance(noise, delta, sensitivity.l2_squared)
        if variance > MAX_COARSE_DEVIATION**2:
            times = 2
            while _coarse_variance(noise * times, delta / 2, sensitivity.l2_squared) > MAX_COARSE_DEVIATION**2:
                times *= 2
            expected, remedy = "large enough for noise of moderate scale", _larger(times, "delta = 0")
            raise small_epsilon(type(self).__name__, expected, as_float(self.epsilon), remedy)
        return Fraction(variance)

    def _deviation(self, noise: Fraction, sensitivity: Sensitivity) -> float:
        steps = math.hypot(math.sqrt(self._variance(noise, sensitivity)) * COARSE, FINE_DEVIATION)
        return steps / NOISE_GRID

    def left_out(self) -> Fraction:
        """2·(√d + 40) steps: a Gaussian vector of deviation 2 is longer with probability below e^(−800)."""
        return Fraction(2 * (math.isqrt(self.size) + 41), NOISE_GRID)

    def describe_noise(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how the noise of the objective is scaled."""
        return {
            "noise_deviation": f"{self.deviation(sensitivity):.9g}",
            "coarse_variance": str(self.coarse_variance(sensitivity)),
            "coarse_step": COARSE,
            "fine_deviation": FINE_DEVIATION,
            "norm": "L2",
        }


def _larger(factor: float, instead: str | None) -> str:
    """The remedy where noise is too large by this factor of ε."""
    times = Context(prec=2, rounding=ROUND_CEILING).create_decimal(factor)
    return f"An epsilon about {times:f} times as large would do{f', or {instead}' if instead else ''}."


@lru_cache(maxsize=256)
def _coarse_variance(epsilon: Fraction, delta: Fraction, l2_squared: int) -> Fraction | float:
    """L2²/(2ρ) in coarse steps, rounded up to 12 digits, for the ρ within (ε, δ); a billionth of ε is for the grids.

    Infinite where ρ cannot be told from 0.
    """
    rho = rho_within(epsilon * (1 - Fraction(1, 10**9)), delta)
    if not rho:
        return math.inf
    exact = Fraction(l2_squared * (NOISE_GRID // COARSE) ** 2) / (2 * rho)
    up = Context(prec=12, rounding=ROUND_CEILING)
    return Fraction(up.divide(Decimal(exact.numerator), Decimal(exact.denominator)))
