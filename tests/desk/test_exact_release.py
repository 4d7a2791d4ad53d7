"""The whole release, exactly: the real procedure runs on every data set of a tiny domain, along every path.

A purse that draws nothing takes its place: it is told each answer beforehand, and works out the log-probability of
that answer from the mechanism's formula. So each output of the procedure has an exact probability on each data set.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import Budget, Ledger, Unit
from tacit.data.scores import Scores
from tacit.desk import cutting
from tacit.desk import scores as desk
from tacit.privacy._seal import open_exact
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import DiscreteLaplace, Mechanism, SelectEach
from tacit.privacy.release import Receipt, Release
from tests.privacy import noise_laws as laws

SCORES = (0.0, 0.3, 1.0)
FINER = (0.0, 0.3, 0.7, 1.0)  # two that are not at an end of the range
LAYOUTS = np.array([[0.2, 0.5, 0.8], [0.1, 0.2, 0.3], [0.5, 0.5, 0.5], [0.35, 0.6, 0.9]])
Rows = tuple[tuple[int, float], ...]


@cache
def select_log_masses(row: tuple[int, ...], rate: float) -> NDArray[np.float64]:
    best = max(row)
    return np.log(laws.permute_and_flip_masses([math.exp(-rate * (best - u)) for u in row]))


class Told:
    """Stands for the gate's purse."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers, self.log_probability, self.spent = answers, 0.0, Fraction(0)

    def release(self, statistic: Exact, mechanism: Mechanism, *, last: bool = False) -> Release:
        values, answer = open_exact(statistic), self.answers.pop(0)
        if isinstance(mechanism, DiscreteLaplace):
            scale = float(mechanism.scale(statistic.sensitivity))
            answer = np.full(values.shape, answer) if np.isscalar(answer) else np.array(answer)
            self.log_probability -= float(np.abs(answer - values).sum()) / scale
        else:
            assert isinstance(mechanism, SelectEach)
            rate = float(mechanism.rate(statistic.sensitivity))
            answer = np.array(answer[: len(values)])
            for row, index in zip(values.tolist(), answer, strict=True):
                self.log_probability += float(select_log_masses(tuple(row), rate)[index])
        self.spent += mechanism.loss().epsilon or 0
        return Release(answer, Receipt({"mechanism": "", "noise": ""}))


def outputs() -> Iterator[list[Any]]:
    """Totals that lead to different weights, and to bins of their own for the ends of the range or none; ties, so many
    that there are more bins; each choice of cuts at the first two levels; counts at either end."""
    picks = range(cutting.CANDIDATES - 1)
    for totals, tied in itertools.product(((0, 2), (9, 2), (2, 2)), (-3, 900)):
        for first, *second in itertools.product(picks, repeat=3):
            for count in (-7, 9):
                third = [] if tied < 0 else [[0, 2, 1, 0]]
                yield [totals, tied, [first], list(second), *third, count]


def outputs_with_a_look() -> Iterator[list[Any]]:
    """After the first cut both classes are looked at, and both parts, one of them or neither are cut once or twice."""
    picks, many = range(cutting.CANDIDATES - 1), 1000
    for first, *second in itertools.product(picks, repeat=3):
        for upper, lower in itertools.product((0, many), repeat=2):
            parts = (upper > 0) + (lower > 0)
            if second[parts:] != [0] * (2 - parts):
                continue  # fewer are chosen
            for tied, count in ((-3, -7), (900, 9)):
                third = [] if tied < 0 or not parts else [[0, 2, 1, 0]]
                yield [(9, 2), tied, [first], [lower, upper, many, many], *([second] if parts else []), *third, count]


def outputs_with_a_layout() -> Iterator[list[Any]]:
    """Both levels of cuts are one of four layouts."""
    for totals, layout, count in itertools.product(((0, 2), (9, 2), (2, 2)), range(len(LAYOUTS)), (-7, 9)):
        yield [totals, -3, [layout], count]


def outputs_with_a_layout_and_cuts() -> Iterator[list[Any]]:
    """The first cut is one of four layouts, and two others follow."""
    picks = range(cutting.CANDIDATES - 1)
    for totals, *second in itertools.product(((0, 2), (9, 2), (2, 2)), picks, picks):
        for layout, count in itertools.product(range(len(LAYOUTS)), (-7, 9)):
            yield [totals, -3, [layout], list(second), count]


def units(rows: int, scores: tuple[float, ...] = SCORES) -> list[Rows]:
    kinds = list(itertools.product((0, 1), scores))
    return list(itertools.combinations_with_replacement(kinds, rows))


@pytest.mark.parametrize(
    ("rows", "way"), [(1, ""), (1, "look"), (1, "layout"), (1, "first"), (2, ""), (2, "layout"), (2, "first")]
)
def test_the_release_is_as_private_as_it_says(monkeypatch: pytest.MonkeyPatch, rows: int, way: str) -> None:
    """Every data set of up to two units, and every unit added: log-ratios stay within ε and come close to it."""
    epsilon = 2.0
    monkeypatch.setattr(cutting, "CANDIDATES", 4)
    monkeypatch.setattr(cutting, "LEAST_CROWD", 1)  # else no such data set has ties
    monkeypatch.setattr(cutting, "APART", 7)  # else the ends of the range have no bins of their own on any path
    monkeypatch.setattr(cutting, "LOOK_FROM", 4 if way == "look" else 1024)
    monkeypatch.setattr(cutting, "LEVELS", {"layout": 2, "first": 1}.get(way, 64))
    monkeypatch.setattr(cutting, "STEERED", (0.0, math.inf))
    monkeypatch.setattr(cutting, "BOTH", 0.0)
    laid = LAYOUTS[:, 1:2] if way == "first" else LAYOUTS
    monkeypatch.setattr(desk, "layouts", lambda *_: (laid, np.log([0.4, 0.3, 0.2, 0.1])))
    ways = {"": outputs, "look": outputs_with_a_look, "layout": outputs_with_a_layout}
    paths = ways.get(way, outputs_with_a_layout_and_cuts)
    monkeypatch.setattr(desk, "LOOK_AFTER", 1)
    unit = Unit.row() if rows == 1 else Unit.user("person", max_rows=rows)
    account = Ledger.open().account("tiny", budget=Budget(epsilon), unit=unit)
    kept: dict[Rows, Scores] = {}

    def log_probabilities(data: tuple[Rows, ...]) -> NDArray[np.float64]:
        flat = tuple(sorted(row for one in data for row in one))
        persons = [str(i) for i, one in enumerate(data) for _ in one]
        labels, scores = [y for one in data for y, _ in one], [s for one in data for _, s in one]

        def cached(*_: Any, **options: Any) -> Scores:
            if flat not in kept:
                options["persons"] = persons if unit.column else None
                kept[flat] = Scores(np.array(labels, dtype=int), np.array(scores, dtype=float), **options)
            return kept[flat]

        monkeypatch.setattr(desk, "Scores", cached)
        found = []
        for answers in paths():
            told = Told(answers)
            monkeypatch.setattr(desk, "Purse", lambda *_, told=told, **__: told)
            desk.release_scores(
                labels,
                scores,
                budget=Budget(epsilon),
                pos_label=1,
                score_range=(0.0, 1.0),
                persons=None,
                account=account,
                random_state=None,
            )
            assert told.spent <= Fraction(epsilon)
            assert not told.answers
            found.append(told.log_probability)
        return np.array(found)

    by_rows, added = {}, units(rows, FINER if rows == 1 else SCORES)
    sets = [(), *((one,) for one in added)]
    if rows == 1:
        sets += [tuple(pair) for pair in itertools.combinations_with_replacement(added, 2)]
    for data in sets:
        by_rows[data] = log_probabilities(data)
    worst = 0.0
    for data in sets[: 1 + len(added)] if rows == 1 else sets[:1]:
        for unit_added in added:
            bigger = tuple(sorted((*data, unit_added)))
            worst = max(worst, float(np.abs(by_rows[data] - by_rows[bigger]).max()))
    assert worst <= epsilon + 1e-9
    assert worst >= 0.85 * epsilon
