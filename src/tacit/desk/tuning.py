"""Tuning at the desk: the public shape of the data, and how many rows a candidate gets right, released with noise."""

from __future__ import annotations

import secrets
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.data.series import listed
from tacit.data.split import rows_of
from tacit.desk.blackbox import class_codes
from tacit.desk.estimators import check_labels
from tacit.desk.parts import row_widths
from tacit.desk.payer import one_off
from tacit.errors import bad_parameter
from tacit.privacy.budget import Budget
from tacit.privacy.exact import Exact
from tacit.privacy.gate import release
from tacit.privacy.mechanisms import DiscreteLaplace
from tacit.privacy.unit import Bound, Sensitivity, Unit

OWNER = "tune"


def labels_to_tune(X: Any, y: Any) -> Any:
    """The labels, one for each row: rows must be in memory, as they are read by every run."""
    shape = getattr(X, "shape", None)
    if isinstance(X, str | bytes) or shape == () or (shape is None and not hasattr(X, "__len__")):
        raise bad_parameter(OWNER, "X", "a matrix, a data frame or a sequence of texts, in memory", type(X).__name__)
    return check_labels(OWNER, X, y)


def no_rows(X: Any) -> Any:
    """Data of the same public shape without a row."""
    X = listed(X)
    if not isinstance(X, list | tuple):
        return rows_of(X, np.zeros(0, dtype=np.bool_))
    widths = row_widths(X)
    width = widths.pop() if len(widths) == 1 else None
    return np.empty((0,) if width is None else (0, width), dtype=object)


def noisy_correct(guess: Any, y: Any, classes: tuple[Any, ...], epsilon: Fraction, random_state: int | None) -> int:
    """Release how many predictions are right, on an account of its own.

    One row more adds 0 or 1 to the count, provided that each prediction depends on its own row alone. So does each
    label: it is looked up among the classes by itself.
    """
    unit = Unit.row()
    guesses, labels = (class_codes("y", values, classes) for values in (guess, y))
    statistic = Exact(
        np.array([int(((guesses == labels) & (labels >= 0)).sum())]),
        sensitivity=Sensitivity.of_correct_counts(Bound(rows=1, ones=1), 1),
        unit=unit,
        query="rows that a candidate classifies correctly",
        version="one-off",
    )
    account = one_off(None, Budget(epsilon), OWNER)
    return int(release(account, statistic, DiscreteLaplace(epsilon), random_state=random_state).values[0])


def exact_coin(chance: Fraction, draw: Any = None) -> bool:
    """Show True with exactly this chance."""
    below = secrets.randbelow if draw is None else draw
    return bool(below(chance.denominator) < chance.numerator)
