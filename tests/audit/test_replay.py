"""Replays: exact log-ratios of whole procedures, and what they catch that a bound on noise would not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import Budget, Ledger, Unit
from tacit.audit.neighbours import (
    EDGES,
    Pair,
    Table,
    many_texts,
    person_pairs,
    scored_pairs,
    search,
    table_pairs,
    text_pairs,
)
from tacit.audit.replay import largest_loss, look, replay, watched
from tacit.privacy import gate
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import DiscreteLaplace, Selection
from tacit.privacy.unit import Bound, Sensitivity

ROW = Sensitivity.of_row_counts(Bound(rows=1, ones=1))


def release(values: Any, mechanism: Any, seed: int) -> Any:
    account = Ledger.open().account("a", budget=Budget(100.0))
    statistic = Exact(np.array(values), sensitivity=ROW, unit=Unit.row(), query="q", version="v")
    return gate.release(account, statistic, mechanism, random_state=seed).values


def test_the_exact_values_can_be_looked_at() -> None:
    values = np.array([[3, -1], [0, 2**40]])
    assert look(Exact(values, sensitivity=ROW, unit=Unit.row(), query="q", version="v")).tolist() == values.tolist()


def test_the_loss_is_that_of_the_law() -> None:
    """Without additive noise the loss is the whole shift; with it, no more."""

    def noisy(data: list[int], seed: int) -> None:
        release(data, DiscreteLaplace(0.8), seed)

    assert replay(noisy, [4], [5], 0, still=True) == pytest.approx(0.8, abs=1e-12)
    assert all(abs(replay(noisy, [4], [5], seed)) <= 0.8 + 1e-12 for seed in range(20))
    assert largest_loss(noisy, [4], [7], range(2)) == pytest.approx(2.4, abs=1e-12)


def test_a_choice_is_worked_out_too() -> None:
    def choose(data: list[int], seed: int) -> None:
        release(data, Selection(1.0), seed)

    losses = [replay(choose, [0, 0, 9], [1, 0, 9], seed) for seed in range(4)]
    assert max(map(abs, losses)) <= 1.0


def test_noise_that_depends_on_the_data_is_an_infinite_loss() -> None:
    assert (
        replay(lambda data, seed: release(data, DiscreteLaplace(1.0 if sum(data) else 2.0), seed), [0], [1], 0)
        == math.inf
    )


def test_a_shape_that_depends_on_the_data_is_an_infinite_loss() -> None:
    assert replay(lambda data, seed: release(data, DiscreteLaplace(1.0), seed), [0, 0], [0, 0, 0], 0) == math.inf


def test_a_number_of_releases_that_depends_on_the_data_is_an_infinite_loss() -> None:
    def often(data: int, seed: int) -> None:
        for _ in range(data):
            release([0], DiscreteLaplace(1.0), seed)

    assert replay(often, 1, 2, 0) == math.inf
    assert replay(often, 2, 1, 0) == math.inf


def test_an_adaptive_procedure_that_pays_too_little_is_caught() -> None:
    """The second answer costs as much as the first, and only the first is paid for."""

    def twice(data: list[int], seed: int) -> None:
        first = release(data, DiscreteLaplace(1.0), seed)
        release([data[0] + int(first[0] > 3)], DiscreteLaplace(1.0), seed)

    assert largest_loss(twice, [3], [4], range(4)) == pytest.approx(2.0, abs=1e-9)


def test_what_has_no_law_is_said() -> None:
    X, y = np.ones((3, 1)), np.array([0, 1, 1])
    with pytest.raises(TypeError, match="no law in closed form"), watched():
        tacit.LogisticRegression(1.0, random_state=0).fit(X, y)


def rows_of(data: Table) -> list[tuple[Any, ...]]:
    persons = range(len(data.y)) if data.persons is None else data.persons
    return sorted((str(x.tolist()), int(y), int(p)) for x, y, p in zip(data.X, data.y, persons, strict=True))


def test_pairs_are_one_unit_apart() -> None:
    for pair in table_pairs():
        assert len(pair.second.y) == len(pair.first.y) + 1
        assert str(pair.second.X[:-1].tolist()) == str(pair.first.X.tolist())
    for pair in person_pairs():
        old, new = set(pair.first.persons.tolist()), set(pair.second.persons.tolist())
        assert len(new - old) == 1
        assert (pair.second.persons[len(pair.first.y) :] == 9).all()
    for pair in scored_pairs():
        assert str(pair.second.scores[:-1].tolist()) == str(pair.first.scores.tolist())
    for pair in text_pairs():
        assert pair.second.texts[:-1] == pair.first.texts


def test_the_pairs_that_hurt_are_there() -> None:
    pairs = {pair.name: pair for pair in table_pairs(width=6, ones=3, threshold=4)}
    order = pairs["the order of two scores"]
    assert order.first.X.sum(axis=0)[:2].tolist() == [0, 1]
    assert order.second.X.sum(axis=0)[:2].tolist() == [1, 1]
    assert pairs["a row with as many ones as are allowed"].second.X[-1].sum() == 3
    assert pairs["rows at a threshold"].first.X.sum(axis=0)[:3].tolist() == [3, 3, 3]
    assert set(pairs["an empty class"].first.y.tolist()) == {0}
    once = pairs["a feature seen once"]
    assert (once.first.X[:, -1].sum(), once.second.X[:, -1].sum()) == (0, 1)
    assert str(pairs["floats at the edge"].second.X[-1].tolist()) == str([float(edge) for edge in EDGES])
    assert any("many rows" in pair.name for pair in person_pairs())


def test_many_texts_are_enough_for_a_regression() -> None:
    for data in (many_texts().first, many_texts().second):
        steps = tacit.TextClassifier(4.0, bits=4, random_state=0).fit(data.texts, data.y).receipt_["steps"]
        assert "regression" in [step["step"] for step in steps]


def test_a_search_finds_a_worse_pair() -> None:
    """The loss is the number of ones of the last row: a search must find the row of all ones."""
    start = next(pair for pair in table_pairs() if pair.name == "a feature seen once")

    def ones(pair: Pair) -> float:
        return float(pair.second.X[-1].sum())

    found, most = search(ones, start, tries=300)
    assert most == 6
    assert found.name.startswith("found by search")
    assert rows_of(found.first) == rows_of(Table(found.second.X[:-1], found.second.y[:-1]))
