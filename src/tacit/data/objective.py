"""Regularised linear classification under noise: a sealed problem, and a minimiser with a certificate.

Sees private rows, returns :class:`tacit.privacy.objective.ExactObjective` alone. The proof that goes with it is
``docs/proofs/objective-perturbation.md``: rows have L1 norm at most 1, and what is returned lies within ``INEXACTNESS``
of the exact minimiser, rounding errors included.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg

from tacit.data.rows import Rows, concatenate
from tacit.data.sums import GRID, Weighing, row_vectors
from tacit.errors import bad_parameter
from tacit.privacy.objective import INEXACTNESS, NOISE_GRID, OUTPUT_GRID, ExactObjective
from tacit.privacy.unit import Bound, Sensitivity, Unit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LossName = Literal["logistic", "huber"]

CURVATURE: dict[str, Fraction] = {"logistic": Fraction(1, 4), "huber": Fraction(1)}
"""Upper bounds of the second derivative. Huber's hinge is quadratic for margins from ½ to 3/2."""

_UNIT = 2.0**-53
_NEWTON_STEPS = 30


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """Rows times labels (±1), so that the loss is ℓ(A·θ); a row's L1 norm is at most 1, and entries are exact."""

    matrix: Any
    loss: LossName
    longest: int

    def slopes(self, margins: Floats) -> Floats:
        """ℓ' at the margins: in [−1, 0]."""
        if self.loss == "logistic":
            return -np.exp(-np.logaddexp(0.0, margins))
        clipped: Floats = np.clip(margins - 1.5, -1.0, 0.0)
        return clipped

    def curvatures(self, margins: Floats) -> Floats:
        """ℓ'' at the margins, for Newton's method alone."""
        if self.loss == "logistic":
            slope = self.slopes(margins)
            return -slope * (1 + slope)
        return ((margins > 0.5) & (margins < 1.5)).astype(np.float64)

    def value(self, margins: Floats) -> float:
        """Σ ℓ."""
        if self.loss == "logistic":
            return float(np.logaddexp(0.0, -margins).sum())
        short = np.clip(1.5 - margins, 0.0, None)
        return float(np.where(short <= 1.0, short * short / 2, short - 0.5).sum())

    def gradient(self, theta: Floats) -> tuple[Floats, float]:
        """Σ ℓ'·x, added up in blocks, and a bound of the L2 norm of its rounding error."""
        n = self.matrix.shape[0]
        block = max(1, math.isqrt(n))
        total = np.zeros(self.matrix.shape[1])
        for begin in range(0, n, block):
            part = self.matrix[begin : begin + block]
            total += part.T @ self.slopes(part @ theta)
        widest = float(np.abs(theta).max(initial=0.0))  # Σ|θx| is at most this, as ‖x‖₁ ≤ 1
        # A margin is a sum of at most `longest` products: error (longest + 1)·u·Σ|θx|, times ℓ'' ≤ 1. ℓ' itself is
        # right to 8 units. Adding n terms of total size at most n in blocks costs block + n/block roundings. Twice for
        # slack.
        error = 2 * n * _UNIT * ((self.longest + 1) * widest + 8 + block + n / block + 2)
        return total, error


def classification_problem(
    batches: Iterable[Rows], weighing: Weighing, loss: LossName, *, unit: Unit, version: str
) -> ExactObjective:
    """Make the sealed problem of a linear rule with intercept: the last coefficient belongs to a constant feature.

    The weighing's ``words_share`` is the part of a row's norm for its features; the rest is the constant's.
    """
    if loss not in CURVATURE:
        raise bad_parameter("classification_problem", "loss", f"one of {sorted(CURVATURE)}", loss)
    size = weighing.words + 1
    parts = list(batches)
    problem: list[_Problem] = []

    def solve(noise: Ints, regularisation: Fraction) -> Ints:
        if not problem:
            problem.append(_problem(parts, weighing, loss))
        return _certified(problem[0], noise, regularisation)

    query = f"minimiser of the {loss} loss over {weighing.words} feature(s) and a constant, rows of L1 norm at most 1"
    return ExactObjective(
        solve,
        size,
        curvature=CURVATURE[loss],
        sensitivity=Sensitivity.of_row_gradients(Bound(rows=unit.max_rows, ones=1)),
        unit=unit,
        query=query,
        version=f"{version}/{weighing!r}",
    )


def _problem(parts: list[Rows], weighing: Weighing, loss: LossName) -> _Problem:
    size = weighing.words + 1
    if not parts:
        return _Problem(sp.csr_array((0, size)), loss, 1)
    rows = concatenate(parts)
    ids, values, owner = row_vectors(rows, weighing)
    constant = np.full(len(rows), GRID - weighing.words_share, dtype=np.int64)
    signs = 2 * rows.labels - 1
    data = np.concatenate([values * signs[owner], constant * signs]) / GRID
    places = (np.concatenate([owner, np.arange(len(rows))]), np.concatenate([ids, np.full(len(rows), size - 1)]))
    matrix = sp.csr_array(sp.coo_array((data, places), shape=(len(rows), size)))
    return _Problem(matrix, loss, int(np.diff(matrix.indptr).max(initial=1)))


def _certified(problem: _Problem, noise: Ints, regularisation: Fraction) -> Ints:
    """Minimise until the certificate holds: ‖θ − θ*‖ ≤ (‖∇J(θ)‖ + rounding + half a step of the noise)/Λ.

    Λ in floating point is rounded; that changes the gradient by less than 2u·Λ·‖θ‖, which is added to the error.
    """
    lam = float(regularisation)
    b = noise / NOISE_GRID
    size = len(b)
    allowed = float(INEXACTNESS) * lam * (1 - 1e-9) - math.sqrt(size) / (2 * NOISE_GRID)

    def objective(theta: Floats) -> tuple[float, Floats]:
        margins = problem.matrix @ theta
        value = problem.value(margins) + lam / 2 * float(theta @ theta) + float(b @ theta)
        return value, problem.matrix.T @ problem.slopes(margins) + lam * theta + b

    def residual(theta: Floats) -> tuple[Floats, float]:
        """The gradient, and a bound of its norm that includes all rounding."""
        slope, error = problem.gradient(theta)
        whole = slope + lam * theta + b
        error += 8 * _UNIT * (lam * float(np.linalg.norm(theta)) + float(np.linalg.norm(b)))
        return whole, float(np.linalg.norm(whole)) * (1 + 1e-9) + error

    if np.abs(noise).max() >= 1 << 53:  # never seen, but possible: such noise is no double
        return _slowly(problem, noise, regularisation, np.zeros(size), allowed)
    steps = {"maxiter": 1000, "maxcor": 20, "ftol": 0.0, "gtol": allowed / (4 * math.sqrt(size))}
    theta = minimize(objective, np.zeros(size), jac=True, method="L-BFGS-B", options=steps).x
    slope, norm = residual(theta)
    for _ in range(_NEWTON_STEPS):
        if norm <= allowed:
            return _on_grid(theta)
        # Values of the objective no longer tell two points apart here, but gradients do: Newton's method on them.
        curvature = problem.curvatures(problem.matrix @ theta)
        hessian = LinearOperator(
            (size, size), lambda v, k=curvature: problem.matrix.T @ (k * (problem.matrix @ v)) + lam * v, dtype=float
        )
        step, _ = cg(hessian, -slope, rtol=1e-6, maxiter=200)
        for shrink in (1.0, 0.5, 0.25, 0.0625):
            there, bound = residual(theta + shrink * step)
            if bound < norm:
                theta, slope, norm = theta + shrink * step, there, bound
                break
        else:
            break
    return _slowly(problem, noise, regularisation, theta, allowed)


def _on_grid(theta: Floats) -> Ints:
    return np.array([round(Fraction(value) * OUTPUT_GRID) for value in theta.tolist()], dtype=np.int64)


def _slowly(problem: _Problem, noise: Ints, regularisation: Fraction, start: Floats, allowed: float) -> Ints:
    """Gradient descent in 60 decimal digits, certified in the end: for whatever floating point cannot certify."""
    matrix = problem.matrix
    rows = [
        (matrix.indices[a:b].tolist(), [Decimal(v) for v in matrix.data[a:b].tolist()])
        for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]
    with localcontext() as context:
        context.prec = 60
        lam = Decimal(regularisation.numerator) / Decimal(regularisation.denominator)
        b = [Decimal(int(k)) / NOISE_GRID for k in noise.tolist()]
        theta = [Decimal(value) for value in start.tolist()]
        step = 1 / (lam + len(rows))
        while True:
            slope = [lam * t + k for t, k in zip(theta, b, strict=True)]
            for ids, values in rows:
                margin = sum((v * theta[j] for j, v in zip(ids, values, strict=True)), Decimal(0))
                tilt = _precise_slope(margin, problem.loss)
                for j, v in zip(ids, values, strict=True):
                    slope[j] += tilt * v
            if sum(s * s for s in slope) <= (Decimal(allowed) * Decimal("0.999")) ** 2:
                return np.array([round(Fraction(t) * OUTPUT_GRID) for t in theta], dtype=np.int64)
            theta = [t - step * s for t, s in zip(theta, slope, strict=True)]


def _precise_slope(margin: Decimal, loss: LossName) -> Decimal:
    if loss == "logistic":
        return -1 / (1 + margin.exp()) if margin < 1000 else Decimal(0)
    return min(max(margin - Decimal("1.5"), Decimal(-1)), Decimal(0))
