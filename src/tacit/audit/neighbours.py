"""Neighbours that hurt: pairs of data sets, one unit apart, on which mechanisms have failed; and a search for worse.

A pair is written as a base and what one unit adds to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

EDGES = (math.nan, math.inf, -0.0, 5e-324, 1.7e308, -math.inf)
"""Floats at the edge: missing, infinite, zero with a sign, the smallest and almost the largest."""


class Table(NamedTuple):
    """Rows of features with labels, and persons where they are the unit."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    persons: NDArray[np.int64] | None = None


class Scored(NamedTuple):
    """Labels and scores of a classifier."""

    y: NDArray[np.int64]
    scores: NDArray[np.float64]


class Texts(NamedTuple):
    """Texts with labels."""

    texts: list[str]
    y: list[int]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two data sets that differ in one unit."""

    name: str
    first: Any = field(repr=False)
    second: Any = field(repr=False)


def table_pair(name: str, base: Table, extra: Table) -> Pair:
    """Add the rows of one unit to a table."""
    whole = Table(np.concatenate([base.X, extra.X]), np.concatenate([base.y, extra.y]))
    if base.persons is not None and extra.persons is not None:
        whole = whole._replace(persons=np.concatenate([base.persons, extra.persons]))
    return Pair(name, base, whole)


def _rows_of(table: Table, places: Any) -> Table:
    """Some of the rows, copied."""
    return Table(table.X[places], table.y[places], None if table.persons is None else table.persons[places])


def _rows(features: list[list[int]], labels: list[int], width: int) -> Table:
    X = np.zeros((len(features), width))
    for row, present in zip(X, features, strict=True):
        row[present] = 1
    return Table(X, np.array(labels, dtype=np.int64))


def table_pairs(width: int = 6, ones: int = 3, threshold: int = 4) -> list[Pair]:
    """Pairs of tables for mechanisms on binary features, for a public bound on ones and a public threshold."""
    usual = _rows([[0], [1], [0, 1], [2]], [0, 1, 1, 0], width)
    some = list(range(ones))
    at_threshold = _rows([some, some[::-1]] * ((threshold - 1) // 2) + [some] * ((threshold - 1) % 2), [], width).X
    edge = Table(np.array([(EDGES * width)[:width]]), np.array([1]))
    return [
        # Scores (0, 1) and (1, 1): an exact comparison with one noisy threshold parts the features on one side only.
        table_pair("the order of two scores", _rows([[1]], [0], width), _rows([[0]], [0], width)),
        table_pair("a row with all ones", usual, _rows([list(range(width))], [1], width)),
        table_pair("a row with as many ones as are allowed", usual, _rows([some], [0], width)),
        table_pair(
            "rows at a threshold",
            Table(at_threshold, np.zeros(len(at_threshold), dtype=np.int64)),
            _rows([some], [0], width),
        ),
        table_pair("an empty class", _rows([[0], [1]], [0, 0], width), _rows([[0, 1]], [1], width)),
        table_pair("a feature seen once", usual, _rows([[width - 1]], [1], width)),
        table_pair("no rows at all", _rows([], [], width), _rows([[0]], [1], width)),
        table_pair("floats at the edge", usual, edge),
    ]


def person_pairs(width: int = 6, max_rows: int = 2) -> list[Pair]:
    """Pairs that differ in one person, with more rows than are kept, alike or all different."""
    usual = replace_persons(_rows([[0], [1], [0, 1], [2]], [0, 1, 1, 0], width), [1, 1, 2, 3])
    many = 3 * max_rows
    alike = _rows([list(range(width))] * many, [1] * many, width)
    different = _rows([[i % width, (i + 1) % width] for i in range(many)], [i % 2 for i in range(many)], width)
    return [
        table_pair("a person with many rows, all alike", usual, replace_persons(alike, [9] * many)),
        table_pair("a person with many rows, all different", usual, replace_persons(different, [9] * many)),
        table_pair("a person alone", _no_rows(width), replace_persons(alike, [9] * many)),
    ]


def _no_rows(width: int) -> Table:
    return Table(np.zeros((0, width)), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def replace_persons(table: Table, persons: list[int]) -> Table:
    """Say whose rows they are."""
    return table._replace(persons=np.array(persons, dtype=np.int64))


def scored_pairs() -> list[Pair]:
    """Pairs for the evaluation of a classifier."""
    empty = Scored(np.zeros(0, dtype=np.int64), np.zeros(0))
    tied = Scored(np.array([0, 1] * 20), np.full(40, 0.5))
    negatives = Scored(np.zeros(30, dtype=np.int64), np.linspace(0, 1, 30))

    def plus(base: Scored, label: int, score: float) -> Scored:
        return Scored(np.append(base.y, label), np.append(base.scores, score))

    return [
        Pair("no rows at all", empty, plus(empty, 1, 0.3)),
        Pair("scores that are tied", tied, plus(tied, 1, 0.5)),
        Pair("one score apart from all others", tied, plus(tied, 0, 1.0)),
        Pair("an empty class", negatives, plus(negatives, 1, 0.7)),
        *(Pair(f"a score of {edge!r}", negatives, plus(negatives, 0, edge)) for edge in (*EDGES, 1.0)),
    ]


def text_pairs() -> list[Pair]:
    """Pairs for classifiers of raw text."""
    usual = Texts(["win cash now", "see you at lunch", "call me", "free prize"] * 3, [1, 0, 0, 1] * 3)
    none = Texts([], [])

    def plus(base: Texts, text: str, label: int) -> Texts:
        return Texts([*base.texts, text], [*base.y, label])

    return [
        Pair("no texts at all", none, plus(none, "hello", 1)),
        Pair("a very long text", usual, plus(usual, " ".join(map("".join, product("abcdefgh", repeat=3))), 1)),
        Pair("a word seen once", usual, plus(usual, "supercalifragilistic", 0)),
        Pair("one word, many times", usual, plus(usual, "cash " * 300, 1)),
        Pair("a text without words", usual, plus(usual, "", 0)),
        Pair("an empty class", Texts(["a b", "c"], [0, 0]), Texts(["a b", "c", "a"], [0, 0, 1])),
    ]


def many_texts() -> Pair:
    """A pair that is large enough for a regression at ε = 4."""
    usual = Texts(["win cash now", "see you at lunch", "call me", "free prize"] * 1_000, [1, 0, 0, 1] * 1_000)
    return Pair("one of many texts", usual, Texts([*usual.texts, "supercalifragilistic"], [*usual.y, 1]))


def many_rows(width: int = 2, times: int = 40) -> Pair:
    """A pair that is large enough for a regression of two columns at ε = 4; of 400 rows they are counted as well."""
    usual = _rows([[], [1]] * times, [0, 1] * times, width)
    return table_pair("one of many rows", usual, _rows([[0]], [1], width))


def search(measure: Callable[[Pair], float], start: Pair, *, tries: int = 200, seed: int = 0) -> tuple[Pair, float]:
    """Look for a worse pair of tables: change an entry, a label or the number of rows, and keep what is no better.

    Parameters
    ----------
    measure : callable
        The loss on a pair: exact, or an estimate.
    start : Pair of tables
        The second has the rows of the first and, after them, those of one unit.
    """
    rng = np.random.default_rng(seed)
    best, most = start, measure(start)
    for _ in range(tries):
        candidate = _mutated(best, rng)
        loss = measure(candidate)
        if loss >= most:
            best, most = candidate, loss
    return replace(best, name=f"found by search from: {start.name}"), most


def _mutated(pair: Pair, rng: np.random.Generator) -> Pair:
    size = len(pair.first.y)
    base = _rows_of(pair.first, np.arange(size))
    extra = _rows_of(pair.second, np.arange(size, len(pair.second.y)))
    side = extra if size == 0 or rng.random() < 0.4 else base
    kind = rng.integers(4)
    place = int(rng.integers(len(side.y)))
    if kind == 0:
        side.y[place] = 1 - side.y[place]
    elif kind == 1 and side is base and size < 40:
        base = _rows_of(base, np.append(np.arange(size), place))
    elif kind == 2 and side is base and size > 1:
        base = _rows_of(base, np.delete(np.arange(size), place))
    else:
        column = int(rng.integers(side.X.shape[1]))
        side.X[place, column] = 1.0 if side.X[place, column] == 0 else 0.0
    return table_pair(pair.name, base, extra)
