"""Minimising under noise, at the desk."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.data.objective import CURVATURE, LossName, Norm, classification_problem
from tacit.data.regression import Regressors, text_regression
from tacit.data.sums import GRID, MAX_WEIGHT, Weighing
from tacit.desk.counts import Visit
from tacit.errors import ParameterError
from tacit.privacy.objective import OUTPUT_GRID, GaussianObjectivePerturbation, ObjectivePerturbation
from tacit.privacy.unit import Bound, Sensitivity

__all__ = ["CURVATURE", "LossName", "Norm", "Regressors", "minimise", "perturbation", "regress"]

MOST_LEARNT = 80_000
"""Rows, about, that a regression of texts learns from: more take long and add little, as the noise is small by then."""

CURVATURE_SHARE = Fraction(20, 100)
"""The part of ε that hides the curvature in a regression of texts, whose rows have small L2 norms."""

USUAL_ONES = 12
"""Ones of a usual row, for choosing the norm; a row that has more gains more from the norm L2."""


def perturbation(visit: Visit, loss: LossName, constant: float) -> tuple[ObjectivePerturbation, Norm]:
    """The form of objective perturbation, and the norm of rows, by a public rule.

    Gaussian noise where there is a δ and the entries of a usual row, scaled to L2 norm 1, are larger beside it than
    those of the same row in L1 norm 1 beside Laplace noise.
    """
    size = visit.schema.n_features + 1
    pure = ObjectivePerturbation(visit.epsilon, CURVATURE[loss], size)
    if not visit.delta:
        return pure, "L1"
    bound = Bound(rows=visit.unit.max_rows, ones=1)
    try:
        gaussian = GaussianObjectivePerturbation(visit.epsilon, visit.delta, CURVATURE[loss], size)
        deviation = gaussian.deviation(Sensitivity.of_row_gradients(bound, norm="L2", entries=size))
    except ParameterError:  # ε or δ is out of its range
        return pure, "L1"
    pure_deviation = pure.deviation(Sensitivity.of_row_gradients(bound, norm="L1", entries=size))
    ones = min(USUAL_ONES, size - 1)
    with_laplace = (1 - constant) / ones / pure_deviation
    with_gauss = math.sqrt((1 - constant**2) / ones) / deviation
    return (gaussian, "L2") if with_gauss > with_laplace else (pure, "L1")


def minimise(
    visit: Visit, step: str, loss: LossName, norm: Norm, *, constant: float, floor: int
) -> NDArray[np.float64]:
    """The released coefficients of the features, and of a constant that takes its part of every row's norm.

    Rows of fewer than ``floor`` ones are scaled as if they had that many.
    """
    squared = norm == "L2"
    weight = MAX_WEIGHT["L2"] if squared else 1  # roots of sums of squares are rounded up: large ones by little
    weighing = Weighing(
        np.full(visit.schema.n_features, weight, dtype=np.int64),
        floor=floor * (weight**2 if squared else 1),
        class_scale=(GRID, GRID),
        words_share=int(GRID * (math.sqrt(1 - constant**2) if squared else 1 - constant)),
        norm=norm,
    )
    statistic = classification_problem(visit.rows(), weighing, loss, unit=visit.unit, version=visit.version)
    return visit.release(step, statistic).values / OUTPUT_GRID


def regress(visit: Visit, step: str, regressors: Regressors, epsilon: Fraction, rows: float) -> NDArray[np.float64]:
    """The released coefficients of a regression of texts; ``rows`` is about how many there are."""
    rate = min(Fraction(1), Fraction(MOST_LEARNT, max(int(rows), 1)))
    statistic = text_regression(
        visit.rows(), regressors, rate=rate, seed=visit.seed, unit=visit.unit, version=visit.version
    )
    visit.then(step, ObjectivePerturbation(epsilon, statistic.curvature, regressors.size, share=CURVATURE_SHARE))
    return visit.release(step, statistic).values / OUTPUT_GRID
