"""Minimising under noise, at the desk."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.data.objective import (
    CURVATURE,
    LossName,
    Norm,
    certifiable,
    classification_problem,
    coefficients,
    curvature,
    entry_of,
)
from tacit.data.regression import Regressors, text_regression, thin
from tacit.data.sums import GRID, MAX_WEIGHT, Weighing
from tacit.desk.counts import Visit
from tacit.errors import ParameterError
from tacit.privacy.mechanisms import Mechanism
from tacit.privacy.objective import OUTPUT_GRID, GaussianObjectivePerturbation, ObjectivePerturbation
from tacit.privacy.unit import Bound, Sensitivity

__all__ = [
    "CURVATURE",
    "LossName",
    "Norm",
    "Regressors",
    "TableProblem",
    "minimise",
    "perturbation",
    "regress",
    "scaling",
    "table_problem",
]

MOST_LEARNT = 80_000
"""Rows, about, that a regression of texts learns from. Of 360,000 tweets at ε = 1, half as many cost nearly a point of
accuracy, and save a fifth of the time of a fit."""

ENOUGH = 15
"""Rows, times ε over the rows of a unit, for each feature of a table, from which a regression mostly beats counts.
Chosen by simulations on Adult (test rows looked at), a survey and drawn tables of 1 to 20 columns. Where columns are
independent given the label, or tell little, counts stay up to two points ahead somewhat above it."""

MOST_OF_TABLE = 1 << 18
"""Rows, about, that a regression of a table learns from. Double precision certifies the minimiser for so many."""

MOST_HELD = 1 << 28
"""Features of all rows, about, that a regression holds in memory; larger tables are counted as they stream by."""

LEAST_CURVATURE, MOST_CURVATURE = Fraction(2, 1000), Fraction(100, 1000)
"""The part of ε that hides the curvature in a regression of a table: a small one means a large Λ."""

LEAST_TELLING, MOST_TELLING = 80, 270
"""The part of ε for counts beside a regression of a table, times ε and rows, over columns and the rows of a unit. From
80 on one feature of a survey of eight questions can be told from noise, with 270 some twenty features of Adult."""

LEAST_TOLD, USUAL_TOLD, MOST_TOLD = 0.02, 0.10, 0.15
"""The part of ε for such counts. It is a tenth, unless that is too little to tell, or more than it takes."""

USUAL_ONES = 12
"""Ones of a usual row, for choosing the norm; a row that has more gains more from the norm L2."""


def scaling(width: int, norm: Norm, *, constant: float, floor: int) -> Weighing:
    """How rows of binary features are scaled to norm 1, of which a constant feature takes its part.

    Rows of fewer than ``floor`` ones are scaled as if they had that many.
    """
    squared = norm == "L2"
    weight = MAX_WEIGHT["L2"] if squared else 1  # roots of sums of squares are rounded up: large ones by little
    return Weighing(
        np.full(width, weight, dtype=np.int64),
        floor=floor * (weight**2 if squared else 1),
        class_scale=(GRID, GRID),
        words_share=int(GRID * (math.sqrt(1 - constant**2) if squared else 1 - constant)),
        norm=norm,
    )


def perturbation(visit: Visit, loss: LossName, *, constant: float, floor: int) -> tuple[ObjectivePerturbation, Norm]:
    """The form of objective perturbation, and the norm of rows, by a public rule.

    Gaussian noise where there is a δ and the entries of a usual row, scaled to L2 norm 1, are larger beside it than
    those of the same row in L1 norm 1 beside Laplace noise.
    """
    size = visit.schema.n_features + 1
    weighing = scaling(visit.schema.n_features, "L1", constant=constant, floor=floor)
    pure = ObjectivePerturbation(visit.epsilon, curvature(weighing, loss), size)
    if not visit.delta:
        return pure, "L1"
    try:
        gaussian = GaussianObjectivePerturbation(visit.epsilon, visit.delta, CURVATURE[loss], size)
        deviation = gaussian.deviation(_gradients(visit, "L2", size))
    except ParameterError:  # ε or δ is out of its range
        return pure, "L1"
    ones = min(USUAL_ONES, size - 1)
    with_laplace = (1 - constant) / ones / pure.deviation(_gradients(visit, "L1", size))
    with_gauss = math.sqrt((1 - constant**2) / ones) / deviation
    return (gaussian, "L2") if with_gauss > with_laplace else (pure, "L1")


def _gradients(visit: Visit, norm: Norm, size: int) -> Sensitivity:
    return Sensitivity.of_row_gradients(Bound(rows=visit.unit.max_rows, ones=1), norm=norm, entries=size)


def minimise(
    visit: Visit, step: str, loss: LossName, weighing: Weighing, *, rate: Fraction = Fraction(1)
) -> NDArray[np.float64]:
    """The released coefficients of the features, and of the constant if there is one; from a part of the rows."""
    rows, version = thin(visit.rows, rate, visit.seed), f"{visit.version}/{rate}"
    statistic = classification_problem(rows, weighing, loss, unit=visit.unit, version=version)
    return visit.release(step, statistic).values / OUTPUT_GRID


@dataclass(frozen=True, slots=True)
class TableProblem:
    """How the rows of a table, each with one feature of every column, are learnt from: a public choice."""

    mechanism: ObjectivePerturbation
    weighing: Weighing
    rate: Fraction
    told: Mechanism | None = None
    """The noise of counts that tell which features matter, where there are any."""

    @property
    def entry(self) -> float:
        """What a feature of a row counts."""
        return entry_of(self.weighing)

    def count(self, visit: Visit, columns: int) -> NDArray[np.int64] | None:
        """Release rows by label and feature, if that is part of it: before the last step."""
        if self.told is None:
            return None
        visit.then("counts", self.told)
        return visit.counts("counts", columns)

    def minimise(self, visit: Visit, step: str) -> NDArray[np.float64]:
        """The released weights of features in the log-odds: the last step of a visit."""
        visit.then(step, self.mechanism, last=True)
        return minimise(visit, step, "logistic", self.weighing, rate=self.rate) * self.entry


def table_problem(
    visit: Visit, columns: int, labels: NDArray[np.int64], epsilon: Fraction, delta: Fraction
) -> TableProblem | None:
    """How to learn from a table of about so many rows by label; None where there are too few for their ε.

    Where rows are many, a part of ε counts them by label and feature.
    """
    whole = _regression(visit, columns, labels, epsilon, delta)
    told = None if whole is None else _telling_counts(visit, columns, labels)
    if told is None:
        return whole
    rest = _regression(visit, columns, labels, epsilon - told.budget.exact_epsilon, delta)
    return whole if rest is None else replace(rest, told=told)


def _regression(
    visit: Visit, columns: int, labels: NDArray[np.int64], epsilon: Fraction, delta: Fraction
) -> TableProblem | None:
    """How to learn from a table of about so many rows by label; None where there are too few for their ε.

    All numbers are public or released. Let σ be the deviation of the noise in the gradient of a weight: for Laplace's,
    √2·columns·rows of a unit/ε. The form with the smallest σ is taken.
    """
    sizes = np.maximum(labels.astype(np.float64), 1.0)
    if sizes.sum() * columns > MOST_HELD:
        return None
    rate = min(Fraction(1), Fraction(MOST_OF_TABLE, int(sizes.sum())))
    sizes *= float(rate)
    rows, width = int(sizes.sum()), visit.schema.n_features
    norms: tuple[Norm, ...] = ("L1", "L2") if delta else ("L1",)
    weighings = [scaling(width, norm, constant=0, floor=columns) for norm in norms]
    forms = [_TableForm(visit, weighing, columns, rows, epsilon, delta) for weighing in weighings]
    form = min(forms, key=lambda form: form.noise(MOST_CURVATURE))
    sigma = form.noise(MOST_CURVATURE)
    if rows * math.sqrt(2) * columns / sigma < ENOUGH * width:
        return None
    # A weight has this curvature: ℓ'' is about ⅔ of the product of the classes' parts, and a usual feature is in
    # columns/width of the rows. A ridge of σ²/(curvature·variance of weights) suits it, for log-odds of variance 1.
    bend = 2 / 3 * sizes[0] * sizes[1] / sizes.sum() * columns / width
    suitable = 0.25 * visit.unit.max_rows * bend / (float(epsilon) * sigma**2)
    share = min(max(Fraction(f"{suitable:.3g}"), LEAST_CURVATURE), MOST_CURVATURE)
    return TableProblem(form.mechanism(share), form.weighing, rate)


def _telling_counts(visit: Visit, columns: int, labels: NDArray[np.int64]) -> Mechanism | None:
    """The noise of counts by label and feature that tell which features matter; None where they could not.

    A part of ε by a public rule: the more rows, the smaller.
    """
    strength = float(np.maximum(labels, 1).sum()) * float(visit.epsilon) / (columns * visit.unit.max_rows)
    if MOST_TOLD * strength < LEAST_TELLING:
        return None
    share = min(max(USUAL_TOLD, LEAST_TELLING / strength), MOST_TELLING / strength)
    return visit.noise(Fraction(f"{max(share, LEAST_TOLD):.3g}"), delta_share=0, ones=columns)


@dataclass(frozen=True, slots=True)
class _TableForm:
    """One form of noise for a table: Laplace for rows of L1 norm 1, Gaussian for those of L2 norm 1."""

    visit: Visit
    weighing: Weighing
    columns: int
    rows: int
    epsilon: Fraction
    delta: Fraction

    def mechanism(self, share: Fraction) -> ObjectivePerturbation:
        bound, size = curvature(self.weighing, "logistic"), coefficients(self.weighing)
        length = entry_of(self.weighing) * math.sqrt(self.columns)  # L2 norm of a row
        least = Fraction(f"{certifiable(self.rows, self.columns, length):.3g}")
        if self.weighing.norm == "L1":
            return ObjectivePerturbation(self.epsilon, bound, size, share=share, least=least)
        return GaussianObjectivePerturbation(self.epsilon, self.delta, bound, size, share=share, least=least)

    def noise(self, share: Fraction) -> float:
        """The deviation of the noise beside a feature; infinite out of the form's range."""
        gradients = _gradients(self.visit, self.weighing.norm, coefficients(self.weighing))
        try:
            mechanism = self.mechanism(share)
            mechanism.describe(gradients)
        except ParameterError:
            return math.inf
        return mechanism.deviation(gradients) / entry_of(self.weighing)


def regress(
    visit: Visit,
    step: str,
    regressors: Regressors,
    epsilon: Fraction,
    rows: float,
    *,
    loss: LossName,
    share: Fraction,
) -> NDArray[np.float64]:
    """The released coefficients of a regression of texts.

    ``rows`` is about how many there are, ``share`` the part of ε that hides the curvature.
    """
    rate = min(Fraction(1), Fraction(MOST_LEARNT, max(int(rows), 1)))
    statistic = text_regression(
        visit.rows, regressors, loss, rate=rate, seed=visit.seed, unit=visit.unit, version=visit.version
    )
    visit.then(step, ObjectivePerturbation(epsilon, statistic.curvature, regressors.size, share=share))
    return visit.release(step, statistic).values / OUTPUT_GRID
