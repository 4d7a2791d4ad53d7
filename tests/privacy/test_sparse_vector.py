"""The sparse vector technique: exact losses over all neighbours of small cases, and the gate against the formula."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest

from tacit.errors import ParameterError
from tacit.privacy import _noise
from tacit.privacy._drawing import draw
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import SparseVector
from tacit.privacy.unit import Sensitivity, Unit
from tests.privacy import noise_laws as laws

Vector = tuple[int, ...]
ALARM = 1e-6


def of_scores(monotone: bool, linf: int = 1) -> Sensitivity:
    return Sensitivity(l1=3 * linf, l2_squared=3 * linf**2, linf=linf, monotone=monotone, why="made up for this test")


def masses(mechanism: SparseVector, sensitivity: Sensitivity, entries: Vector) -> dict[Vector, float]:
    """Return the probability of each sequence of answers in the order 0, 1, 2, …: sum over the threshold's noise."""
    for_threshold, for_entries = (float(scale) for scale in mechanism.scales(sensitivity))
    z = np.arange(-math.ceil(40 * for_threshold) - 1, math.ceil(40 * for_threshold) + 2)
    weight = laws.laplace_masses(for_threshold)(z)
    q = math.exp(-1 / for_entries)

    def at_least(k: np.ndarray) -> np.ndarray:
        up = q ** np.maximum(k, 0) / (1 + q)
        return np.where(k > 0, up, 1 - q ** np.maximum(1 - k, 0) / (1 + q))

    reach = [at_least(mechanism.threshold + z - entry) for entry in entries]
    found: dict[Vector, float] = {}
    for answers in itertools.product((0, 1), repeat=len(entries)):
        ones = [i for i, a in enumerate(answers) if a]
        stop = ones[mechanism.limit - 1] + 1 if len(ones) >= mechanism.limit else len(entries)
        seen = answers[:stop] + (-1,) * (len(entries) - stop)
        if seen in found:
            continue
        product = weight.copy()
        for i in range(stop):
            product = product * (reach[i] if answers[i] else 1 - reach[i])
        found[seen] = float(product.sum())
    return found


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("linf", [1, 2])
def test_it_is_as_private_as_it_says(monotone: bool, limit: int, linf: int) -> None:
    """All pairs of neighbouring entries around the threshold, all answers; few entries stay below the bound."""
    sensitivity, epsilon = of_scores(monotone, linf), 2.0
    mechanism = SparseVector(epsilon, 0, limit)

    @cache
    def law(entries: Vector) -> dict[Vector, float]:
        found = masses(mechanism, sensitivity, entries)
        assert abs(sum(found.values()) - 1) < 1e-9
        return found

    worst = 0.0
    moves = (0, linf) if monotone else (-linf, 0, linf)
    for entries in itertools.product((-4, -1, 0, 1, 4), repeat=3):
        for move in itertools.product(moves, repeat=3):
            there = law(tuple(e + m for e, m in zip(entries, move, strict=True)))
            here = law(entries)
            worst = max(worst, *(abs(math.log(here[a] / there[a])) for a in here))
    assert worst <= epsilon * (1 + 1e-6)
    assert worst >= 0.3 * epsilon


def test_the_gate_answers_as_the_formula_says() -> None:
    """χ² on 4,000 draws of one entry beside others that surely fail: false alarm 1e-6."""
    sensitivity, mechanism = of_scores(monotone=True), SparseVector(1.0, 5, 1)
    entropy = _noise.SeededEntropy(3)
    right = masses(mechanism, sensitivity, (6,))
    count = 4_000
    statistic = Exact(np.array([6]), sensitivity=sensitivity, unit=Unit.row(), query="q", version="v")
    drawn = [int(draw(statistic, mechanism, entropy)[0][0]) for _ in range(count)]
    expected = np.array([right[0,], right[1,]])
    assert laws.p_value(np.bincount(drawn, minlength=2), expected) > ALARM
    wrong = masses(SparseVector(2.0, 5, 1), sensitivity, (6,))
    assert laws.power(expected, np.array([wrong[0,], wrong[1,]]), count, ALARM) > 0.99


def test_it_stops_after_the_limit_and_visits_in_any_order() -> None:
    entries = np.full(50, 1000)
    statistic = Exact(entries, sensitivity=of_scores(monotone=True), unit=Unit.row(), query="q", version="v")
    first = set()
    for seed in range(20):
        answers = draw(statistic, SparseVector(100.0, 0, 3), _noise.SeededEntropy(seed))[0]
        assert (answers == 1).sum() == 3
        assert (answers == -1).sum() == 47
        first.add(int(np.flatnonzero(answers == 1)[0]))
    assert len(first) > 5


@pytest.mark.parametrize("threshold", [1.5, True, "1", 2**61])
def test_a_threshold_is_a_whole_number(threshold: object) -> None:
    with pytest.raises(ParameterError, match="'threshold' parameter of SparseVector"):
        SparseVector(1.0, threshold, 1)  # type: ignore[arg-type]
