"""The grid is monotone and can be inverted; exact sums of scores are what a slow count says."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tacit import ParameterError, PrivacyError, Unit
from tacit.data.errors import SchemaError
from tacit.data.scores import Scores
from tacit.privacy._seal import open_exact
from tacit.privacy.grid import CELLS, cells_of, scores_at

UNIT = st.floats(0, 1)


def scores(y: Any, s: Any, *, unit: Unit | None = None, **options: Any) -> Scores:
    options = {"pos_label": 1, "score_range": (0.0, 1.0), "seed": 5} | options
    return Scores(np.asarray(y), np.asarray(s), unit=unit or Unit.row(), **options)


@given(UNIT, UNIT)
def test_cells_never_fall(a: float, b: float) -> None:
    first, second = cells_of(np.sort([a, b]))
    assert 0 <= first <= second < CELLS


@given(st.integers(1, CELLS - 1))
def test_a_cut_is_the_smallest_score_of_its_cell_or_of_a_later_one(cut: int) -> None:
    (score,) = scores_at(np.array([cut]))
    before = max(float(np.nextafter(score, -1.0)), 0.0)
    at, below = cells_of(np.array([score, before]))
    assert at >= cut
    assert below < cut


def test_the_ends_of_the_grid() -> None:
    assert scores_at(np.array([0, CELLS])).tolist() == [0.0, np.inf]
    assert cells_of(np.array([0.0, 1e-320, 1.0])).tolist() == [0, 0, CELLS - 1]
    tiny = cells_of(np.array([1e-300, 1e-100, 1e-30, 1e-10]))
    assert (np.diff(tiny) > 0).all(), "scores crowded at 0 are told apart"


@example([(0, -0.0), (1, None), (1, 0.0)])
@given(st.lists(st.tuples(st.integers(0, 2), st.one_of(st.none(), st.floats(-1, 2))), max_size=30))
def test_sums_are_what_a_slow_count_says(rows: list[tuple[int, float | None]]) -> None:
    y = [label for label, _ in rows]
    s = [np.nan if score is None else score for _, score in rows]
    data = scores(np.array(y, dtype=int), np.array(s, dtype=float))
    cuts = np.array([0, 20_000, 32_768, CELLS])
    values = scores_at(cuts[1:-1])
    clipped = [min(max(score, 0.0), 1.0) if score == score else 0.0 for score in s]

    def bin_of(score: float) -> int:
        return sum(score >= v for v in values)

    table = np.zeros((2, 3), dtype=int)
    for label, score in zip(y, clipped, strict=True):
        table[int(label == 1), bin_of(score)] += 1
    assert open_exact(data.totals()).tolist() == table.sum(axis=1).tolist()
    assert open_exact(data.counts((cuts, cuts[[0, 2, 3]]))).tolist() == [
        *table[0].tolist(),
        int(table[1, :2].sum()),
        int(table[1, 2]),
    ]
    candidates = np.array([[20_000, 32_768]])
    offsets = np.array([3, -1])
    found = open_exact(data.balances((np.array([0]), np.array([CELLS])), candidates, (2, 7), offsets))
    mass = 2 * table[0] + 7 * table[1]
    assert found.tolist() == [[3 - abs(mass[0] - mass[1] - mass[2]), -1 - abs(mass[0] + mass[1] - mass[2])]]


LAYOUTS = np.array([[0, 20_000, 32_768, 50_000, CELLS], [0, 0, 1, 2, CELLS], [9, 9, 40_000, 65_000, 65_535]])


def test_layouts_are_as_even_as_all_of_their_halves() -> None:
    """Against a slow sum; one row more moves no layout by more than the sensitivity, and some by all of it."""
    spots = (0.0, 0.2, 0.4, 0.6, 1.0)
    places = cells_of(np.array(spots)).tolist()

    def slow(rows: list[tuple[int, float]], offsets: list[int]) -> list[int]:
        def weight(low: int, high: int) -> int:
            return sum((2, 7)[y] for y, s in rows if low <= places[spots.index(s)] < high)

        def uneven(cuts: list[int]) -> int:
            if len(cuts) < 3:
                return 0
            half = len(cuts) // 2
            here = abs(weight(cuts[0], cuts[half]) - weight(cuts[half], cuts[-1]))
            return here + uneven(cuts[: half + 1]) + uneven(cuts[half:])

        return [offset - uneven(layout) for offset, layout in zip(offsets, LAYOUTS.tolist(), strict=True)]

    kinds, most = list(itertools.product((0, 1), spots)), 0
    for rows in itertools.chain.from_iterable(itertools.combinations_with_replacement(kinds, n) for n in range(4)):
        y, s = [y for y, _ in rows], [s for _, s in rows]
        found = scores(y, s).laid_out(LAYOUTS, (2, 7), np.array([3, -1, 0]))
        assert open_exact(found).tolist() == [slow(list(rows), [3, -1, 0])]
        more = scores([*y, 1], [*s, 0.4]).laid_out(LAYOUTS, (2, 7), np.array([3, -1, 0]))
        most = max(most, int(np.abs(open_exact(more) - open_exact(found)).max()))
        assert found.sensitivity.linf == found.sensitivity.rows == 14
    assert most == 14


@pytest.mark.parametrize("cuts", [[0, 5, 3, 9, CELLS], [0, 5, 6, CELLS]])
def test_layouts_that_do_not_halve_are_refused(cuts: list[int]) -> None:
    """A row that is beside several cuts of a level would move a layout by more than it pays for."""
    with pytest.raises(PrivacyError, match="halve"):
        scores([1], [0.5]).laid_out(np.array([cuts]), (1, 1), np.zeros(1, dtype=int))


@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.7, 1.0]), max_size=20),
    st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    st.integers(1, 4),
    st.booleans(),
)
def test_one_row_more_is_one_tie_more_or_none(s: list[float], new: float, most: int, ends: bool) -> None:
    """Rows beyond the first few of each score, as a slow count has them: so the sensitivity is that of a row. Those at
    the ends of the range may be left out."""

    def crowded(values: list[float]) -> int:
        found = scores(np.zeros(len(values)), values).crowded(most, ends=ends)
        assert found.sensitivity.l1 == found.sensitivity.linf == 1
        assert found.sensitivity.monotone
        (count,) = open_exact(found)
        asked = set(values) if ends else set(values) - {0.0, 1.0}
        assert count == sum(max(values.count(value) - most, 0) for value in asked)
        return int(count)

    assert 0 <= crowded([*s, new]) - crowded(s) <= 1


def test_a_person_makes_as_many_ties_as_rows() -> None:
    data = scores([1] * 6, [0.5] * 6, unit=Unit.user("who", max_rows=3), persons=["a"] * 6)
    assert open_exact(data.crowded(1, ends=True)).tolist() == [2]
    assert data.crowded(1, ends=True).sensitivity.l1 == 3


def test_ranges_labels_and_containers() -> None:
    base = open_exact(scores([1, 0, 1], [0.1, 0.2, 0.9]).counts((np.array([0, 30_000, CELLS]),) * 2))
    logits = scores(["yes", "no", "yes"], [-8.0, -6.0, 8.0], pos_label="yes", score_range=(-10.0, 10.0))
    assert open_exact(logits.counts((np.array([0, 30_000, CELLS]),) * 2)).tolist() == base.tolist()
    series = Scores(
        pl.Series([True, False, True]),
        pl.Series([0.1, 0.2, 0.9]),
        pos_label=True,
        score_range=(0.0, 1.0),
        unit=Unit.row(),
    )
    assert open_exact(series.totals()).tolist() == [1, 2]
    assert open_exact(scores([None, 1, 0], [1, 0, 1]).totals()).tolist() == [2, 1]


def test_persons_are_bounded() -> None:
    unit = Unit.user("who", max_rows=2)
    data = scores([1] * 6, np.linspace(0, 1, 6), unit=unit, persons=["a"] * 4 + ["b", None])
    assert open_exact(data.totals()).tolist() == [0, 3]
    assert data.totals().sensitivity.l1 == 2
    with pytest.raises(SchemaError, match="persons="):
        scores([1], [0.5], unit=unit)
    with pytest.raises(SchemaError, match="one entry"):
        scores([1], [0.5], unit=unit, persons=["a", "b"])


def test_wrong_shapes_and_types() -> None:
    with pytest.raises(SchemaError, match="same length"):
        scores([1, 0], [0.5])
    with pytest.raises(ParameterError, match="one-dimensional"):
        scores(np.array([[1, 0]]), [0.5])
    with pytest.raises(ParameterError, match="real numbers"):
        scores([1], np.array(["2020-01-01"], dtype="M8[D]"))


def test_scores_do_not_show_themselves() -> None:
    data = scores([1], [0.123])
    assert repr(data) == "<private scores>"
    with pytest.raises(PrivacyError):
        data.__reduce__()
    assert not any("123" in str(value) for value in vars(data).values() if isinstance(value, str))


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (np.array([0.1, 0.2], dtype=np.float32), 0.1),
        (np.array([2.0**53, 0.0]), 2**53 + 1),
        (np.array([2**53 + 1, 0]), 2**53 + 1),
        (np.array([1, 0], dtype=np.int8), 1.0),
    ],
)
def test_a_text_more_makes_no_other_label_positive_or_negative(labels: Any, positive: Any) -> None:
    """A float of 32 bits was 0.1, and 2^53 was 2^53 + 1, in an array of numbers, but not beside a text."""
    several = np.tile(labels, 20)
    scores = np.full(41, 0.5)
    few, more = (
        open_exact(
            Scores(given, scores[: len(given)], pos_label=positive, score_range=(0.0, 1.0), unit=Unit.row()).totals()
        )
        for given in (several, [*several, "?"])
    )
    assert [few[0] + 1, few[1]] == more.tolist()
