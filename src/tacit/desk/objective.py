"""Minimising under noise, at the desk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.data.objective import CURVATURE, LossName, classification_problem
from tacit.data.sums import Weighing
from tacit.desk.counts import Visit
from tacit.privacy.objective import OUTPUT_GRID, ObjectivePerturbation

__all__ = ["CURVATURE", "OUTPUT_GRID", "ObjectivePerturbation", "minimise"]


def minimise(visit: Visit, step: str, weighing: Weighing, loss: LossName) -> NDArray[np.int64]:
    """The released coefficients, in steps of 1/OUTPUT_GRID; the last is the constant's."""
    statistic = classification_problem(visit.rows(), weighing, loss, unit=visit.unit, version=visit.version)
    return visit.release(step, statistic).values
