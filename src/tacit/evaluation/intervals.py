"""Intervals from draws, somewhat wider than draws say. Public side."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from tacit.errors import bad_parameter
from tacit.evaluation.evidence import Floats

ROWS = 3.0  # that none is seen among n rows is likely, at 5 %, as long as its share is below 3/n
OUTWARD = 1e-6  # relative rounding of ends outward: an end of .9999999 must not exclude 1


def check_level(owner: str, level: float) -> float:
    """Check the level of an interval."""
    if not (is_number(level) and 0.5 <= level < 1):
        percent = is_number(level) and 50 <= level < 100
        remedy = f"For {level:g} % pass {level / 100:g}." if percent else "0.95 is usual."
        raise bad_parameter(owner, "level", "a number from 0.5 to below 1", level, remedy)
    return float(level)


def is_number(value: Any) -> bool:
    """Whether something is a real number of Python's or of numpy's; truth values and NaN are none."""
    return not isinstance(value, bool) and isinstance(value, Real) and value == value


def widened(draws: Floats, level: float, room: float) -> tuple[Floats, Floats, Floats]:
    """Lower end, middle and upper end of the draws in each column, the ends so many times as far from the middle,
    and rounded outward."""
    tail = (1 - level) / 2
    low, middle, high = np.quantile(draws, [tail, 0.5, 1 - tail], axis=0)
    return _outward(middle - room * (middle - low), -1), middle, _outward(middle + room * (high - middle), 1)


def _outward(ends: Floats, way: int) -> Floats:
    return np.asarray(ends + way * OUTWARD * np.maximum(np.abs(ends), 1.0))
