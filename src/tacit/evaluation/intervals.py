"""Intervals from draws, somewhat wider than draws say. Public side."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from tacit.errors import bad_parameter
from tacit.evaluation.model import Floats

ROWS = 3.0  # that none is seen among n rows is likely, at 5 %, as long as its share is below 3/n


def check_level(owner: str, level: float) -> float:
    """Check the level of an interval."""
    if not (is_number(level) and 0.5 <= level < 1):
        raise bad_parameter(owner, "level", "a number from 0.5 to below 1", level)
    return float(level)


def is_number(value: Any) -> bool:
    """Whether something is a real number of Python's or of numpy's; truth values and NaN are none."""
    return not isinstance(value, bool) and isinstance(value, Real) and value == value


def widened(draws: Floats, level: float, room: float) -> tuple[Floats, Floats, Floats]:
    """Lower end, middle and upper end of the draws in each column, the ends so many times as far from the middle."""
    tail = (1 - level) / 2
    low, middle, high = np.quantile(draws, [tail, 0.5, 1 - tail], axis=0)
    return middle - room * (middle - low), middle, middle + room * (high - middle)
