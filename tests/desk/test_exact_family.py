"""The paper's family, exactly: the real procedures run on every data set of a tiny domain, along many paths."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import Budget, Ledger, Unit
from tacit.data.scores import Scores
from tacit.desk import roc_family as desk
from tacit.desk.roc_family import Method, Recipe
from tacit.privacy._seal import open_exact
from tacit.privacy.exact import Exact
from tacit.privacy.hierarchy import FORMS, Form
from tacit.privacy.mechanisms import Mechanism
from tacit.privacy.release import Receipt, Release
from tacit.privacy.smooth import SmoothNoise
from tests.desk.test_exact_release import SCORES, Rows, Told, units
from tests.privacy.test_smooth import log_mass

EPSILON = 2.0
FAR = 10**7


class ToldMedians(Told):
    """Knows the law of noisy medians too."""

    def release(self, statistic: Exact, mechanism: Mechanism, *, last: bool = False) -> Release:
        if not isinstance(mechanism, SmoothNoise):
            return super().release(statistic, mechanism, last=last)
        values, answer = open_exact(statistic), np.array(self.answers.pop(0)[: statistic.shape[0]])
        for value, scale, told in zip(
            values[:, 0], mechanism.scales(values[:, 1:], statistic.sensitivity), answer, strict=True
        ):
            self.log_probability += float(log_mass(np.array([float(told - value)]), float(scale))[0])
        self.spent += mechanism.epsilon
        return Release(answer, Receipt({"mechanism": "", "noise": ""}))


def outputs(method: Method, bins: int | None) -> Iterator[list[Any]]:
    """Totals that lead to two levels; medians near rows, between and far outside; counts at either end."""
    totals = [[]] if bins is not None else [[(9, -7)]]
    medians: list[list[Any]] = [[]]
    if method == "recursive-medians":
        first, second = (1, 20_000, FAR), (-FAR, 21_000)
        medians = [[[a], [b, c]] for a in first for b, c in itertools.product(second, repeat=2)]
    for start, between, count in itertools.product(totals, medians, (-7, 9)):
        yield [*start, *between, count]


CASES: list[tuple[Method, Form, int | None]] = [
    *itertools.product(("laplace", "fixed-space"), FORMS, (4, None)),  # type: ignore[list-item]
    ("recursive-medians", "privelet", 4),
    ("recursive-medians", "tree", None),
]


@pytest.mark.parametrize(("method", "form", "bins"), CASES)
@pytest.mark.parametrize("rows", [1, 2])
def test_the_release_is_as_private_as_it_says(
    monkeypatch: pytest.MonkeyPatch, method: Method, form: Form, bins: int | None, rows: int
) -> None:
    """Every data set of up to two units, and every unit added: log-ratios stay within ε."""
    unit = Unit.row() if rows == 1 else Unit.user("person", max_rows=rows)
    account = Ledger.open().account("tiny", budget=Budget(EPSILON), unit=unit)

    @cache
    def log_probabilities(data: tuple[Rows, ...]) -> NDArray[np.float64]:
        labels, scores = [y for one in data for y, _ in one], [s for one in data for _, s in one]
        persons = [str(i) for i, one in enumerate(data) for _ in one] if unit.column else None
        options = {"pos_label": 1, "score_range": (0.0, 1.0), "unit": unit, "persons": persons, "seed": 1}
        kept = Scores(np.array(labels, dtype=int), np.array(scores, dtype=float), **options)  # type: ignore[arg-type]
        monkeypatch.setattr(desk, "Scores", lambda *_, **__: kept)
        found = []
        for answers in outputs(method, bins):
            told = ToldMedians(answers)
            monkeypatch.setattr(desk, "Purse", lambda *_, told=told, **__: told)
            desk.release_family(
                labels,
                scores,
                recipe=Recipe(method, form, bins, 2),
                budget=Budget(EPSILON),
                pos_label=1,
                score_range=(0.0, 1.0),
                persons=None,
                account=account,
                random_state=None,
            )
            assert told.spent == Fraction(EPSILON)
            found.append(told.log_probability)
        return np.array(found)

    assert len(SCORES) == 3
    added = units(rows)
    smaller: list[tuple[Rows, ...]] = [(), *((one,) for one in added)] if rows == 1 else [()]
    worst = 0.0
    for data in smaller:
        here = log_probabilities(data)
        for unit_added in added:
            worst = max(worst, float(np.abs(here - log_probabilities(tuple(sorted((*data, unit_added))))).max()))
    assert worst <= EPSILON + 1e-9
    assert worst >= (0.9 if method != "recursive-medians" else 0.75) * EPSILON
