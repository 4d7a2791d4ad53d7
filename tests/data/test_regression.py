"""Rows of a regression of texts: what the proof says of them, by hand and for one row more."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit.data import regression
from tacit.data.objective import CURVATURE, LossName
from tacit.data.regression import PARTS, Regressors, text_regression, thin
from tacit.data.rows import Rows, offsets_of
from tacit.data.sums import GRID, Rules
from tacit.errors import ParameterError
from tacit.privacy.unit import Unit

CELLS, COPIES, OTHERS = 4, 3, 5
WORDS = CELLS * COPIES
WIDTH = WORDS + OTHERS
Row = tuple[frozenset[int], int]

row_of = st.tuples(st.frozensets(st.integers(0, WIDTH - 1)), st.integers(0, 1))
rows_of = st.lists(row_of, min_size=1, max_size=6)
shares_of = st.lists(st.integers(0, GRID // 4), min_size=4, max_size=4).map(
    lambda parts: dict(zip(PARTS, parts, strict=True))
)
regressors_of = st.builds(
    lambda weights, scores, reach, chosen, shares, crowd, least: Regressors(
        Rules(np.array(weights)[:, None], np.array(scores), np.zeros(1), words=WORDS, power=("root",), least=least),
        reach=reach,
        chosen=np.array(chosen),
        copies=COPIES,
        others=2,
        shares=shares,
        crowd=crowd,
        least=least,
    ),
    st.lists(st.floats(-9, 9), min_size=WIDTH, max_size=WIDTH),
    st.sampled_from([[[1.0]], [[1.0], [-0.5]], [[1.0], [2.0], [0.0]]]),
    st.floats(0.1, 5),
    st.sampled_from([(0, 1, 2, 3), (-1, 0, -1, 1), (-1, -1, -1, -1)]),
    shares_of,
    st.integers(1, 3),
    st.integers(1, 5),
)


def as_rows(rows: list[Row]) -> Rows:
    flat = [j for features, _ in rows for j in sorted(features)]
    lengths = np.array([len(features) for features, _ in rows], dtype=np.int64)
    return Rows(offsets_of(lengths), np.array(flat, dtype=np.int32), np.array([y for _, y in rows], dtype=np.int64))


def by_hand(row: Row, made: Regressors) -> NDArray[np.float64]:
    """One row's vector, as the proof writes it."""
    features, label = row
    out = np.zeros(made.size)
    words = [j for j in sorted(features) if j < WORDS]
    cells = sorted({int(made.chosen[j // COPIES]) for j in words} - {-1})
    n = max(len(words), made.least)
    divisor = max(1024 * len(cells), math.floor(1024 * math.sqrt(made.crowd**2 * n)))
    for cell in cells:
        out[cell] = 1024 * made.shares["words"] // divisor
    first = made.size - 1 - made.scores - OTHERS
    for j in [j for j in sorted(features) if j >= WORDS][: made.others]:
        out[first + j - WORDS] = made.shares["style"] // made.others
    score = sum(made.score.weights[j, 0] for j in sorted(features)) / math.sqrt(n)
    for k, (times,) in enumerate(made.score.mixtures):
        clipped = min(max(score * times / made.reach, -1), 1)
        out[made.size - 1 - made.scores + k] = math.trunc(clipped * (made.shares["score"] // made.scores))
    out[-1] = made.shares["constant"]
    return out * (2 * label - 1) / GRID


@given(rows_of, regressors_of)
def test_rows_are_those_of_the_definition(rows: list[Row], made: Regressors) -> None:
    expected = np.array([by_hand(row, made) for row in rows])
    assert np.allclose(made.matrix(as_rows(rows)).toarray(), expected, atol=1.5 / GRID)


@given(rows_of, row_of, regressors_of, st.sampled_from(["huber", "logistic"]))
def test_norms_are_within_their_bounds_and_a_row_does_not_change_others(
    rows: list[Row], row: Row, made: Regressors, loss: LossName
) -> None:
    matrix = made.matrix(as_rows([*rows, row])).toarray()
    whole = matrix * GRID
    assert (whole == np.rint(whole)).all()
    assert np.abs(whole).sum(axis=1).max() <= GRID
    squares = [sum(Fraction(int(v)) ** 2 for v in line) for line in whole]
    assert max(squares) <= made.square * GRID**2
    assert (matrix[:-1] == made.matrix(as_rows(rows)).toarray()).all()
    statistic = text_regression(
        lambda: [as_rows(rows)], made, loss, rate=Fraction(1), seed=1, unit=Unit.row(), version="v"
    )
    assert statistic.shape == (made.size,)
    assert statistic.curvature == CURVATURE[loss] * made.square


def test_a_repeated_feature_counts_once() -> None:
    """Counted twice it would be two shares of a third, above what the bound of the L2 norm allows."""
    made = some_regressors()
    twice = Rows(np.array([0, 5]), np.array([0, 0, 1, WORDS, WORDS], dtype=np.int32), np.array([1]))
    found = made.matrix(twice).toarray()[0] * GRID
    assert found[0] == 1024 * made.shares["words"] // math.floor(1024 * math.sqrt(3))
    assert found[CELLS] == made.shares["style"] // made.others


def some_regressors() -> Regressors:
    rules = Rules(np.ones((WIDTH, 1)), np.ones((1, 1)), np.zeros(1), words=WORDS, power=("root",), least=1)
    shares = {"words": GRID // 2, "style": GRID // 8, "score": GRID // 8, "constant": GRID // 8}
    return Regressors(rules, 1.0, np.arange(CELLS), COPIES, 2, shares, 1, 1)


def thinned(parts: list[Rows], rate: Fraction = Fraction(1, 4)) -> Counter[tuple[tuple[int, ...], int]]:
    return Counter(row for part in thin(lambda: parts, rate, seed=3) for row in as_tuples(part))


def test_rows_are_thinned_by_coins_of_their_own() -> None:
    rng = np.random.default_rng(0)
    rows = [(frozenset(rng.choice(WIDTH, 6, replace=False).tolist()), int(rng.integers(2))) for _ in range(4000)]
    kept = thinned([as_rows(rows)])
    assert 0.2 < kept.total() / len(rows) < 0.3
    assert kept == thinned([as_rows(rows[:700]), as_rows(rows[700:])]) == thinned([as_rows(rows[::-1])])
    assert (kept - thinned([as_rows(rows[1:])])).total() == len(thin(lambda: [as_rows(rows[:1])], Fraction(1, 4), 3)[0])
    assert thinned([as_rows(rows)], Fraction(1)).total() == len(rows)


def test_all_rows_of_a_person_share_a_coin() -> None:
    people = pl.Series([f"p{place % 300}" for place in range(3000)])
    rows = replace(as_rows([(frozenset({place % 7}), 0) for place in range(3000)]), persons=people)
    kept = Counter(person for part in thin(lambda: [rows], Fraction(1, 4), seed=3) for person in part.persons)
    assert set(kept.values()) == {10}
    assert 45 < len(kept) < 105


def as_tuples(rows: Rows) -> list[tuple[tuple[int, ...], int]]:
    edges = rows.indptr.tolist()
    return [
        (tuple(rows.indices[a:b].tolist()), label)
        for a, b, label in zip(edges[:-1], edges[1:], rows.labels.tolist(), strict=True)
    ]


@pytest.mark.parametrize("bad", [{"shares": dict.fromkeys(PARTS, GRID)}, {"crowd": 0}, {"reach": 0.0}])
def test_impossible_regressors_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        replace(some_regressors(), **bad)


@given(st.lists(st.tuples(st.frozensets(st.integers(0, 2)), st.integers(0, 1)), max_size=40), st.data())
def test_copies_have_coins_of_their_own_and_a_row_more_moves_no_other(rows: list[Row], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(rows)))
    extra = data.draw(st.tuples(st.frozensets(st.integers(0, 2)), st.integers(0, 1)))

    def kept(some: list[Row], cut: int) -> Counter[tuple[tuple[int, ...], int]]:
        return thinned([as_rows(some[:cut]), as_rows(some[cut:])], Fraction(1, 2))

    before = kept(rows, data.draw(st.integers(0, len(rows))))
    more = kept([*rows[:place], extra, *rows[place:]], place) - before
    assert not before - kept([*rows[:place], extra, *rows[place:]], 0)
    assert more.total() <= 1
    assert set(more) <= {(tuple(sorted(extra[0])), extra[1])}


def test_of_many_copies_the_share_is_kept() -> None:
    copies = as_rows([(frozenset({1}), 0)] * 4000)
    assert 900 < thinned([copies]).total() < 1100
    assert thin(list, Fraction(1, 4), seed=3) == []


def test_rows_of_equal_coins_are_told_apart_by_their_content(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coin is a hash, and hashes can meet: then a row more would move other rows if copies were counted by them."""
    monkeypatch.setattr(regression, "source_coins", lambda rows, _: np.zeros(len(rows), dtype=np.int64))
    rows = [(frozenset({place % 5}), 0) for place in range(100)]
    before, after = thinned([as_rows(rows)], Fraction(1, 2)), thinned([as_rows([rows[0], *rows])], Fraction(1, 2))
    assert not before - after
    assert set(after - before) <= {((0,), 0)}
