"""Regularised linear classification under noise: a sealed problem, and a minimiser with a certificate.

Sees private rows, returns :class:`tacit.privacy.objective.ExactObjective` alone. The proof that goes with it is
``docs/proofs/objective-perturbation.md``: rows have norm at most 1, and where the minimisation ends the gradient is as
small as the mechanism asked for, rounding errors included.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data.rows import Rows, concatenate
from tacit.data.sums import GRID, Weighing, row_vectors
from tacit.errors import bad_parameter
from tacit.privacy.objective import INEXACTNESS, NOISE_GRID, OUTPUT_GRID, ExactObjective
from tacit.privacy.unit import Bound, Sensitivity, Unit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LossName = Literal["logistic", "huber"]
Norm = Literal["L1", "L2"]

CURVATURE: dict[str, Fraction] = {"logistic": Fraction(1, 4), "huber": Fraction(1)}
"""Upper bounds of the second derivative. Huber's hinge is quadratic for margins from ½ to 3/2."""

_UNIT = 2.0**-53
_NEWTON_STEPS = 100
_CONJUGATE_STEPS = 200
_FLAT = 0.1  # part of the slope at its begin that a step may have at its end
_HALVINGS = 40
_USUAL_REACH = 64.0  # Σ|θx| of a row
_FEW_ROUNDINGS = 1 << 28  # rows times rows of a block: their sums are then off by 6e-8 at most, which is little

_MANY_ROWS = 1 << 15  # from so many on, threads pay, and a first look at every so many rows
_SOME = 8
_THREADS = len(os.sched_getaffinity(0))


class _Part(NamedTuple):
    """Some rows in a run, and the same rows in blocks."""

    begin: int
    end: int
    rows: Any
    blocks: list[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows times labels (±1), so that the loss is ℓ(A·θ); a row's norm is at most 1, and entries are exact."""

    matrix: Any
    loss: LossName
    lengths: Ints  # entries of each row
    sizes: Floats  # bounds of the rows' L2 norms
    parts: tuple[_Part, ...]  # one for each thread
    block: int

    @classmethod
    def of(cls, matrix: Any, loss: LossName) -> Problem:
        """The problem of a CSR matrix whose rows have norm at most 1."""
        n = matrix.shape[0]
        lengths = np.diff(matrix.indptr).astype(np.int64)
        sizes = np.minimum(np.sqrt(_squares(matrix).sum(axis=1)) * (1 + 1e-6), 1.0)
        block = _block(n)
        parts = tuple(
            _Part(begin, end, matrix[begin:end], [matrix[at : min(at + block, end)] for at in range(begin, end, block)])
            for begin, end in pairwise(np.linspace(0, n, 1 + (_THREADS if n >= _MANY_ROWS else 1)).astype(int).tolist())
        )
        return cls(matrix, loss, lengths, sizes, parts, block)

    def times(self, theta: Floats) -> Floats:
        """A·θ."""
        return np.concatenate(_each(self.parts, lambda part: part.rows @ theta))

    def back(self, values: Floats) -> Floats:
        """Aᵀ·values, with no care for rounding."""
        total: Floats = np.sum(_each(self.parts, lambda part: part.rows.T @ values[part.begin : part.end]), axis=0)
        return total

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

    def gradient(self, theta: Floats) -> tuple[Floats, Floats]:
        """The margins, and Σ ℓ'·x added up in blocks."""
        margins = self.times(theta)
        slopes = self.slopes(margins)
        total: Floats = np.sum(_each(self.parts, lambda part: _by_blocks(part, slopes, self.block)), axis=0)
        return margins, total

    def rounding(self, theta: Floats) -> float:
        """A bound of the L2 norm of the rounding error of the gradient there.

        A margin is a sum of k products: error (k + 1)·u·Σ|θx|, times ℓ'' ≤ 1. Each row has its own: one very long row
        among many others must not make a minimiser uncertain.
        """
        away = np.abs(theta)
        reached = np.concatenate([abs(part.rows) @ away for part in self.parts])
        of_margins = float((self.sizes * (self.lengths + 1)) @ reached) * (1 + 1e-6)
        return 2 * _UNIT * (of_margins + float(self.sizes.sum()) * (1 + 1e-6) * _roundings(len(self.sizes)))


def _block(n: int) -> int:
    """Rows that are added up at a time."""
    return max(1, math.isqrt(n), _FEW_ROUNDINGS // max(n, 1))


def _roundings(n: int) -> float:
    """Roundings of ℓ' and of adding up n terms, in units of the terms' total size.

    ℓ' is right to 8 units. Adding in blocks costs block + n/block roundings, and one for each thread.
    """
    block = _block(n)
    return 8 + min(block, n) + n / block + 2 + 2 * _THREADS


def certifiable(n: int, longest: int, size: float) -> float:
    """A Λ with which double precision certifies the minimiser of such rows, unless log-odds are very large."""
    return 4 * 2 * n * size * _UNIT * ((longest + 1) * _USUAL_REACH + _roundings(n)) / float(INEXACTNESS)


def _by_blocks(part: _Part, slopes: Floats, block: int) -> Floats:
    total = np.zeros(part.rows.shape[1])
    for at, rows in zip(range(part.begin, part.end, block), part.blocks, strict=True):
        total += rows.T @ slopes[at : at + rows.shape[0]]
    return total


def _each(parts: tuple[_Part, ...], work: Callable[[_Part], Floats]) -> list[Floats]:
    """Work on each part, on threads of their own; results in order, so that sums are always the same."""
    if len(parts) == 1:
        return [work(parts[0])]
    return list(_pool(os.getpid()).map(work, parts))


@cache
def _pool(process: int) -> ThreadPoolExecutor:  # noqa: ARG001 - a forked process has no threads and needs its own
    return ThreadPoolExecutor(_THREADS, "tacit-objective")


def classification_problem(
    batches: Iterable[Rows], weighing: Weighing, loss: LossName, *, unit: Unit, version: str
) -> ExactObjective:
    """Make the sealed problem of a linear rule.

    The weighing's ``words_share`` is the part of a row's norm for its features. The rest, if there is any, is that of a
    constant feature, to which the last coefficient belongs.
    """
    if loss not in CURVATURE:
        raise bad_parameter("classification_problem", "loss", f"one of {sorted(CURVATURE)}", loss)
    parts = list(batches)
    constant = " and a constant" if constant_share(weighing) else ""
    query = (
        f"minimiser of the {loss} loss over {weighing.words} feature(s){constant}, "
        f"rows of {weighing.norm} norm at most 1"
    )
    return sealed_problem(
        lambda: _problem(parts, weighing, loss),
        coefficients(weighing),
        norm=weighing.norm,
        curvature=curvature(weighing, loss),
        query=query,
        unit=unit,
        version=f"{version}/{weighing!r}",
    )


def sealed_problem(
    layout: Callable[[], Problem],
    size: int,
    *,
    norm: Norm,
    curvature: Fraction,
    query: str,
    unit: Unit,
    version: str,
) -> ExactObjective:
    """Seal a problem of rows with norm at most 1 and ℓ''·‖x‖₂² at most ``curvature``; it is laid out when solved."""
    made: list[Problem] = []

    def solve(noise: Ints, regularisation: Fraction, allowed: Fraction) -> Ints:
        if not made:
            made.append(layout())
        return _certified(made[0], noise, regularisation, allowed)

    bound = Bound(rows=unit.max_rows, ones=1)
    return ExactObjective(
        solve,
        size,
        curvature=curvature,
        sensitivity=Sensitivity.of_row_gradients(bound, norm=norm, entries=size),
        unit=unit,
        query=query,
        version=version,
    )


def _problem(parts: list[Rows], weighing: Weighing, loss: LossName) -> Problem:
    """Lay out the rows: words in their order, then the constant, if there is one."""
    size, constant = coefficients(weighing), constant_share(weighing)
    if not parts:
        return Problem.of(sp.csr_array((0, size)), loss)
    rows = concatenate(parts)
    ids, values, owner = row_vectors(rows, weighing)
    signs = 2 * rows.labels - 1
    ends = np.searchsorted(owner, np.arange(1, len(rows) + 1))  # where a row's constant goes
    values *= signs[owner]
    if constant:
        values, ids = np.insert(values, ends, constant * signs), np.insert(ids, ends, size - 1)
        ends += np.arange(1, len(rows) + 1)
    parted = (values / GRID, ids.astype(np.int32), np.concatenate([[0], ends]))
    matrix = sp.csr_array(parted, shape=(len(rows), size))
    return Problem.of(matrix, loss)


def coefficients(weighing: Weighing) -> int:
    """How many coefficients the problem of such rows has."""
    return weighing.words + (constant_share(weighing) > 0)


def curvature(weighing: Weighing, loss: LossName) -> Fraction:
    """Bound of ℓ''·‖x‖₂² over all rows: where no entry is large, the L2 norm is far below the L1 norm.

    Σv² is at most the largest v times Σv, and v at most the largest weight over the floor.
    """
    if weighing.norm == "L2":
        return CURVATURE[loss]
    words, constant = Fraction(weighing.words_share, GRID), Fraction(constant_share(weighing), GRID)
    largest = min(Fraction(int(weighing.weights.max()), weighing.floor), Fraction(1))
    return CURVATURE[loss] * (words**2 * largest + constant**2)


def entry_of(weighing: Weighing) -> float:
    """What a one counts in a row of at most as many ones as the floor, where all have the largest weight."""
    divisor = weighing.floor if weighing.norm == "L1" else math.isqrt(weighing.floor) + 1
    return int(weighing.weights.max()) * weighing.words_share // divisor / GRID


def constant_share(weighing: Weighing) -> int:
    """What the words leave of a row's norm, in steps of ``GRID``: the constant feature's."""
    if weighing.norm == "L1":
        return GRID - weighing.words_share
    return math.isqrt(GRID**2 - weighing.words_share**2)


def _certified(problem: Problem, noise: Ints, regularisation: Fraction, allowed: Fraction) -> Ints:
    """Minimise until the norm of the gradient, rounding errors included, is at most ``allowed``.

    Newton's method; its steps by conjugate gradients, with the diagonal of the Hessian as preconditioner, because
    features differ in frequency by orders of magnitude and the constant is in every row.
    """
    theta = np.zeros(len(noise))
    limit = float(allowed) * (1 - 1e-9)
    if np.abs(noise).max() >= 1 << 53:  # never seen, but possible: such noise is no double
        return _slowly(problem, noise, regularisation, theta, limit)
    lam, b = float(regularisation), noise / NOISE_GRID
    n = problem.matrix.shape[0]
    if n >= _MANY_ROWS:  # a minimiser for a part of the rows, on which all weighs less, is a good start
        some = Problem.of(problem.matrix[::_SOME], problem.loss)
        theta = _descend(some, lam / _SOME, b / _SOME, theta, n * 1e-5)[0]
    theta, certain = _descend(problem, lam, b, theta, limit)
    return _on_grid(theta) if certain else _slowly(problem, noise, regularisation, theta, limit)


def _descend(problem: Problem, lam: float, b: Floats, theta: Floats, limit: float) -> tuple[Floats, bool]:
    """Newton's method until the gradient is below the limit, and whether it is."""
    for _ in range(_NEWTON_STEPS):
        margins, slope = problem.gradient(theta)
        slope += lam * theta + b
        norm = float(np.linalg.norm(slope)) * (1 + 1e-9)
        # Λ as a double is rounded; that changes the gradient by less than 2u·Λ·‖θ‖, which is part of this.
        norm += 8 * _UNIT * (lam * float(np.linalg.norm(theta)) + float(np.linalg.norm(b)))
        if norm <= limit and norm + problem.rounding(theta) <= limit:
            return theta, True
        step = _newton_step(problem, problem.curvatures(margins), lam, slope, limit)
        theta = theta + _step_length(problem, margins, step, lam, lam * theta + b) * step
    return theta, False


def _step_length(problem: Problem, margins: Floats, step: Floats, lam: float, linear: Floats) -> float:
    """How far to go: the whole step, unless the objective rises again before its end; then about to its minimum.

    Looks at slopes alone: near the minimum values no longer tell two points apart. On a line the slope of a convex
    objective only grows, so that halving finds where it is near 0.
    """
    moves = problem.times(step)
    constant, growth = float(linear @ step), lam * float(step @ step)

    def slope(t: float) -> float:
        return float(problem.slopes(margins + t * moves) @ moves) + constant + t * growth

    small = _FLAT * abs(slope(0.0))
    low, high = 0.0, 1.0
    if slope(high) <= small:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = slope(middle)
        if abs(found) <= small:
            return middle
        low, high = (middle, high) if found < 0 else (low, middle)
    return low


def _newton_step(problem: Problem, curvatures: Floats, lam: float, slope: Floats, limit: float) -> Floats:
    """Solve (H + Λ)·step = −slope, loosely far from the minimum and within ``limit``/4 near it."""
    diagonal = _squares(problem.matrix).T @ curvatures + lam
    step = np.zeros_like(slope)
    rest = -slope
    size = float(np.linalg.norm(slope))
    goal = max(limit / 4, size * min(0.1, size))
    scaled = rest / diagonal
    direction, product = scaled, float(rest @ scaled)
    for _ in range(_CONJUGATE_STEPS):
        if float(np.linalg.norm(rest)) <= goal:
            break
        image = problem.back(curvatures * problem.times(direction)) + lam * direction
        length = product / float(direction @ image)
        step += length * direction
        rest -= length * image
        scaled = rest / diagonal
        before, product = product, float(rest @ scaled)
        direction = scaled + (product / before) * direction
    return step


def _squares(matrix: Any) -> Any:
    return sp.csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)


def _on_grid(theta: Floats) -> Ints:
    return np.rint(theta * OUTPUT_GRID).astype(np.int64)  # the grid is a power of two: the product is exact


def _slowly(problem: Problem, noise: Ints, regularisation: Fraction, start: Floats, allowed: float) -> Ints:
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
