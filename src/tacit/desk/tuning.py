"""The score of a candidate that was fitted privately: how many rows it gets right, released with noise."""

from __future__ import annotations

import secrets
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.data.features import match_values
from tacit.data.series import as_series
from tacit.desk.payer import one_off
from tacit.privacy.budget import Budget
from tacit.privacy.exact import Exact
from tacit.privacy.gate import release
from tacit.privacy.mechanisms import DiscreteLaplace
from tacit.privacy.unit import Bound, Sensitivity, Unit


def noisy_correct(guess: Any, y: Any, classes: tuple[Any, ...], epsilon: Fraction, random_state: int | None) -> int:
    """Release how many predictions are right, on an account of its own.

    One row more adds 0 or 1 to the count, provided that each prediction depends on its own row alone. So does each
    label: it is looked up among the classes by itself.
    """
    unit = Unit.row()
    guesses, labels = (match_values(as_series("y", values), classes, ())[0] for values in (guess, y))
    statistic = Exact(
        np.array([int(((guesses == labels) & (labels >= 0)).sum())]),
        sensitivity=Sensitivity.of_correct_counts(Bound(rows=1, ones=1), 1),
        unit=unit,
        query="rows that a candidate classifies correctly",
        version="one-off",
    )
    account = one_off(None, Budget(epsilon), "tune")
    return int(release(account, statistic, DiscreteLaplace(epsilon), random_state=random_state).values[0])


def exact_coin(chance: Fraction, draw: Any = None) -> bool:
    """Show True with exactly this chance."""
    below = secrets.randbelow if draw is None else draw
    return bool(below(chance.denominator) < chance.numerator)
