"""Intervals from draws, somewhat wider than draws say. Public side."""

from __future__ import annotations

import numpy as np

from tacit.errors import bad_parameter
from tacit.evaluation.model import Floats

ROWS = 3.0  # that none is seen among n rows is likely, at 5 %, as long as its share is below 3/n


def check_level(owner: str, level: float) -> float:
    """Check the level of an interval."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 <= level < 1:
        raise bad_parameter(owner, "level", "a number from 0.5 to below 1", level)
    return float(level)


def widened(draws: Floats, level: float, room: float) -> tuple[Floats, Floats, Floats]:
    """Lower end, middle and upper end of the draws in each column, the ends so many times as far from the middle."""
    tail = (1 - level) / 2
    low, middle, high = np.quantile(draws, [tail, 0.5, 1 - tail], axis=0)
    return middle - room * (middle - low), middle, middle + room * (high - middle)
