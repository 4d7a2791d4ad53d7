"""Normalised sums, correct counts and feature scores against brute force, and the norms that one row can reach."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit.data.rows import Rows, offsets_of
from tacit.data.schema import Schema
from tacit.data.sums import GRID, Rules, Weighing, count_correct, count_margins, mix, normalised_sums, row_scores
from tacit.data.topics import Topics
from tacit.data.totals import feature_scores, total_sums
from tacit.errors import ParameterError, PrivacyError
from tacit.privacy._seal import open_exact
from tacit.privacy.exact import Exact
from tacit.privacy.unit import Unit
from tacit.selection.scores import score_features

WORDS, OTHERS = 8, 4
WIDTH = WORDS + OTHERS
Row = tuple[frozenset[int], int]

rows_of = st.lists(st.tuples(st.frozensets(st.integers(0, WIDTH - 1)), st.integers(0, 1)), min_size=0, max_size=8)


@st.composite
def weighings(draw: st.DrawFn) -> Weighing:
    """Weighings of words, and of topics where they have a share."""
    norm: Literal["L1", "L2"] = draw(st.sampled_from(["L1", "L2"]))
    copies = draw(st.sampled_from([1, 2, 4]))
    words, totals, topics = draw(
        st.sampled_from([(1, 0, 0), (0.7, 0, 0.3), (0, 0, 1), (0, 0, 0), (0.6, 0.1, 0.3), (0, 1, 0)])
    )
    share = draw(st.floats(0, 1))
    return Weighing(
        np.array(draw(st.lists(st.integers(0, 1024), min_size=WORDS, max_size=WORDS)), dtype=np.int64),
        draw(st.integers(1, 3000)),
        draw(st.tuples(st.integers(0, GRID), st.integers(0, GRID))),
        words_share=int(GRID * share * words),
        others=2,
        other_share=int(GRID * (1 - share) / 2) or int(words + totals + topics == 0),
        signed=draw(st.booleans()),
        norm=norm,
        copies=copies,
        topics=draw(topics_of(norm, copies)) if int(GRID * share * topics) else None,
        topics_share=int(GRID * share * topics),
        totals_share=int(GRID * share * totals),
        silent=draw(st.integers(0, 2)),
    )


@st.composite
def topics_of(draw: st.DrawFn, norm: Literal["L1", "L2"], copies: int) -> Topics:
    """Two or three topics of a few words, some of the cells in none."""
    known, number = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    places = draw(st.lists(st.integers(-1, known - 1), min_size=WORDS // copies, max_size=WORDS // copies))
    loadings = draw(st.lists(st.integers(-(2**15), 2**15), min_size=known * number, max_size=known * number))
    parts = draw(st.lists(st.integers(0, 2**10), min_size=copies, max_size=copies))
    return Topics(
        np.array(places, dtype=np.int64),
        np.array(loadings, dtype=np.int64).reshape(known, number),
        np.array(parts, dtype=np.int64),
        draw(st.integers(1, 2**20)),
        norm,
    )


def as_rows(rows: Sequence[Row]) -> Rows:
    lengths = np.array([len(features) for features, _ in rows], dtype=np.int64)
    flat = [j for features, _ in rows for j in sorted(features)]
    return Rows(offsets_of(lengths), np.array(flat, dtype=np.int32), np.array([y for _, y in rows], dtype=np.int64))


def opened(statistic: Exact) -> NDArray[np.int64]:
    return open_exact(statistic)


def sums(rows: Sequence[Row], weighing: Weighing) -> NDArray[np.int64]:
    return opened(normalised_sums([as_rows(rows)], weighing, WIDTH, unit=Unit.row(), version="v"))


def vector_by_hand(row: Row, weighing: Weighing) -> NDArray[np.int64]:
    """One row's vector in exact fractions, as the proof writes it."""
    features, label = row
    words = [j for j in sorted(features) if j < WORDS]
    silent, heard = WORDS + weighing.silent, OTHERS - weighing.silent
    others = [j - silent for j in sorted(features) if j >= silent][: weighing.others]
    a = weighing.weights.tolist()
    columns = weighing.columns
    cells = WORDS // weighing.copies if weighing.words_share or weighing.totals_share else 0
    topics = (columns + (weighing.totals_share > 0)) * cells
    before = topics + columns * weighing.number
    out = np.zeros(before + 2 * heard * (weighing.other_share > 0), dtype=np.int64)
    by_cell = [(j // weighing.copies, a[j]) for j in words]
    if weighing.norm == "L2":
        by_cell = [(cell, sum(w for other, w in by_cell if other == cell)) for cell in {cell for cell, _ in by_cell}]
    mass = max(sum(w if weighing.norm == "L1" else w**2 for _, w in by_cell), weighing.floor)
    divisor = mass if weighing.norm == "L1" else int(np.floor(np.sqrt(mass))) + 1
    share = weighing.words_share * weighing.class_scale[label] // GRID
    for cell, w in by_cell if cells else ():
        value = int(Fraction(w * share, divisor))
        if weighing.signed:
            out[cell] += value if label else -value
        else:
            out[label * cells + cell] += value
        if weighing.totals_share:
            whole = weighing.totals_share * weighing.class_scale[label] // GRID
            out[columns * cells + cell] += int(Fraction(w * whole, divisor))
    for topic, value in enumerate(topics_by_hand(words, label, weighing)):
        sign = 2 * label - 1 if weighing.signed else 1
        out[topics + (0 if weighing.signed else label * weighing.number) + topic] += sign * value
    for j in others if weighing.other_share else ():
        out[before + label * heard + j] += weighing.other_share * weighing.class_scale[label] // GRID
    return out


def topics_by_hand(words: list[int], label: int, weighing: Weighing) -> list[int]:
    """One row's topics, likewise."""
    topics = weighing.topics
    if topics is None:
        return []
    known = [(int(topics.places[j // weighing.copies]), int(topics.parts[j % weighing.copies])) for j in words]
    raw = [sum(part * int(topics.loadings[i, k]) for i, part in known if i >= 0) for k in range(topics.number)]
    norm = sum(map(abs, raw))
    if weighing.norm == "L2":
        norm = math.isqrt(sum(value**2 for value in raw) * (2**40 + 1) ** 2 // 2**80) + 1
    share = weighing.topics_share * weighing.class_scale[label] // GRID
    return [int(Fraction(value * share, max(norm, topics.floor))) for value in raw]


@given(rows_of, weighings())
def test_sums_are_those_of_the_definition(rows: list[Row], weighing: Weighing) -> None:
    expected = sum((vector_by_hand(row, weighing) for row in rows), np.zeros(1, dtype=np.int64))
    assert (sums(rows, weighing) == expected).all()


@given(rows_of, st.tuples(st.frozensets(st.integers(0, WIDTH - 1)), st.integers(0, 1)), weighings())
def test_one_row_more_moves_the_sums_within_their_sensitivity(rows: list[Row], row: Row, weighing: Weighing) -> None:
    statistic = normalised_sums([as_rows([*rows, row])], weighing, WIDTH, unit=Unit.row(), version="v")
    change = opened(statistic) - sums(rows, weighing)
    sensitivity = statistic.sensitivity
    assert np.abs(change).sum() <= sensitivity.l1
    assert (change**2).sum() <= sensitivity.l2_squared == GRID**2
    assert np.abs(change).max() <= sensitivity.linf
    if weighing.norm == "L1":
        assert sensitivity.l1 == GRID


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_a_row_of_equal_words_nearly_fills_the_norm(norm: Literal["L1", "L2"]) -> None:
    """The sensitivity is not loose: floors and rounding aside, a row reaches it."""
    weighing = Weighing(np.ones(WORDS, dtype=np.int64), 1, (GRID, GRID), norm=norm)
    change = sums([(frozenset(range(4)), 1)], weighing).astype(float)
    reached = np.abs(change).sum() if norm == "L1" else np.sqrt((change**2).sum())
    assert reached >= (0.99 if norm == "L1" else 0.6) * GRID


@given(rows_of, weighings(), st.integers(1, 3))
def test_batches_do_not_matter(rows: list[Row], weighing: Weighing, size: int) -> None:
    parts = [as_rows(rows[i : i + size]) for i in range(0, len(rows), size)]
    whole = opened(normalised_sums(parts, weighing, WIDTH, unit=Unit.row(), version="v"))
    assert (whole == sums(rows, weighing)).all()


@pytest.mark.parametrize(
    "change",
    [
        {"weights": np.array([-1, 2])},
        {"weights": np.array([1.5])},
        {"weights": np.array([2**20 + 1])},
        {"weights": np.array([2**11]), "norm": "L2"},
        {"class_scale": (GRID + 1, 0)},
        {"class_scale": (1, 1, 1)},
        {"words_share": GRID, "others": 1, "other_share": 1},
        {"words_share": 0},
        {"floor": 0},
        {"copies": 2},
        {"copies": 0},
    ],
)
def test_a_weighing_that_could_exceed_the_grid_is_refused(change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"weights": np.ones(3, dtype=np.int64), "floor": 1, "class_scale": (GRID, GRID)}
    with pytest.raises(ParameterError, match="of Weighing"):
        Weighing(**(good | change))


# -- correct counts ---------------------------------------------------------------------------------------------------

RULES = Rules(
    weights=np.random.default_rng(5).normal(size=(WIDTH, 2)),
    mixtures=np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]),
    thresholds=np.array([-1.0, -0.1, 0.2, 1.5]),
    words=WORDS,
    power=("root", "none"),
    least=2,
)


def correct_by_hand(row: Row) -> NDArray[np.int64]:
    features, label = row
    words = max(sum(j < WORDS for j in features), RULES.least)
    z = [0.0, 0.0]
    for j in sorted(features):
        z = [z[k] + RULES.weights[j, k] for k in range(2)]
    z[0] /= np.sqrt(words)
    hits = [[((m[0] * z[0] + m[1] * z[1]) >= t) == (label == 1) for t in RULES.thresholds] for m in RULES.mixtures]
    return np.array(hits, dtype=np.int64).ravel()


@given(rows_of)
def test_correct_counts_are_sums_over_rows(rows: list[Row]) -> None:
    counted = count_correct([as_rows(rows)], RULES, classes=2, unit=Unit.row(), version="v")
    expected = sum((correct_by_hand(row) for row in rows), np.zeros(RULES.candidates, dtype=np.int64))
    assert (opened(counted) == expected).all()
    assert counted.sensitivity.linf == 1
    assert counted.sensitivity.monotone


def with_topics(rules: Rules, norm: Literal["L1", "L2"], rng: np.random.Generator) -> Rules:
    """The same rules with weights for seven topics of all words."""
    loadings = rng.integers(-(2**15), 2**15, (WORDS, 7))
    topics = Topics(np.arange(WORDS), loadings, np.array([1000]), 2**20, norm)
    return replace(
        rules, weights=np.vstack([rules.weights, rng.normal(size=(7, rules.weights.shape[1]))]), topics=topics
    )


@given(rows_of)
def test_a_preference_is_added_whatever_the_rows(rows: list[Row]) -> None:
    preference = -np.arange(RULES.candidates, dtype=np.int64).reshape(len(RULES.mixtures), -1)
    plain, preferred = (
        opened(count_correct([as_rows(rows)], rules, classes=2, unit=Unit.row(), version="v"))
        for rules in (RULES, replace(RULES, preference=preference))
    )
    assert (preferred - plain == preference.ravel()).all()
    assert RULES.digest() != replace(RULES, preference=preference).digest()


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_topics_are_scored_as_they_are_summed(norm: Literal["L1", "L2"]) -> None:
    rules = with_topics(RULES, norm, np.random.default_rng(4))
    assert rules.topics is not None
    row = (frozenset({0, 3, 5, WORDS}), 1)
    weighing = Weighing(
        np.ones(WORDS, dtype=np.int64), 1, (GRID, GRID), 0, norm=norm, topics=rules.topics, topics_share=GRID
    )
    by_topic = np.array(topics_by_hand([0, 3, 5], 1, weighing)) / GRID
    rows = as_rows([row])
    plain = row_scores(rows.indptr, rows.indices, RULES)
    found = row_scores(rows.indptr, rows.indices, rules) - plain
    assert found[0] == pytest.approx(by_topic @ rules.weights[WIDTH:], abs=1e-3)
    assert np.abs(found).max() > 0.01


@pytest.mark.parametrize(
    "change",
    [
        {"loadings": np.full((2, 2), 2**45)},
        {"loadings": np.zeros((2, 0), dtype=np.int64)},
        {"loadings": np.ones((2, 2))},
        {"places": np.array([0, 2])},
        {"places": np.array([-2, 0])},
        {"floor": 0},
    ],
)
def test_topics_that_could_overflow_or_do_not_fit_are_refused(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {
        "places": np.array([0, 1]),
        "loadings": np.ones((2, 2), dtype=np.int64),
        "parts": np.array([1]),
        "floor": 1,
    }
    Topics(**given)
    with pytest.raises(ParameterError, match="Topics"):
        Topics(**(given | change))


@pytest.mark.parametrize("norm", [None, "L1", "L2"])
def test_a_row_s_score_does_not_depend_on_its_neighbours(norm: Literal["L1", "L2"] | None) -> None:
    """To the last bit: the sensitivity of correct counts rests on it."""
    rng = np.random.default_rng(3)
    rules = RULES if norm is None else with_topics(RULES, norm, rng)
    rows = [(frozenset(rng.choice(WIDTH, rng.integers(0, WIDTH), replace=False).tolist()), 0) for _ in range(257)]
    whole = as_rows(rows)
    scores = row_scores(whole.indptr, whole.indices, rules)
    mixed = mix(scores, rules.mixtures[1])
    for i in range(0, 257, 5):
        part = as_rows(rows[i : i + 3])
        alone = row_scores(part.indptr, part.indices, rules)
        assert (alone == scores[i : i + 3]).all()
        assert (mix(alone, rules.mixtures[1]) == mixed[i : i + 3]).all()


@given(st.lists(st.tuples(st.frozensets(st.integers(0, WIDTH - 1)), st.integers(0, 2)), max_size=6))
def test_correct_counts_of_three_classes(rows: list[Row]) -> None:
    weights = np.random.default_rng(6).normal(size=(WIDTH, 6))
    rules = Rules(
        weights,
        np.array([[1.0, 0.0], [0.5, 0.5]]),
        np.array([0.0, 1.0]),
        WORDS,
        ("none",) * 6,
        offsets=np.array([0.3, -0.2, 0.1]),
    )
    counted = opened(count_correct([as_rows(rows)], rules, classes=3, unit=Unit.row(), version="v"))
    expected = np.zeros((2, 2), dtype=np.int64)
    for features, label in rows:
        z = sum((weights[j] for j in sorted(features)), np.zeros(6)).reshape(2, 3)
        for i, mixture in enumerate(rules.mixtures):
            for j, shift in enumerate(rules.thresholds):
                assert rules.offsets is not None
                expected[i, j] += int((mixture @ z + shift * rules.offsets).argmax() == label)
    assert (counted == expected.ravel()).all()


# -- scores of features -----------------------------------------------------------------------------------------------

SCHEMA = Schema.matrix(WIDTH, (0, 1))


def exact_scores(rows: Sequence[Row], score: str) -> NDArray[np.int64]:
    return opened(feature_scores([as_rows(rows)], score, SCHEMA, unit=Unit.row(), version="v"))


@pytest.mark.parametrize("score", ["tc", "dc", "pi"])
@given(rows=rows_of, row=st.tuples(st.frozensets(st.integers(0, WIDTH - 1)), st.integers(0, 1)))
def test_one_row_moves_each_score_by_at_most_one(score: str, rows: list[Row], row: Row) -> None:
    change = exact_scores([*rows, row], score) - exact_scores(rows, score)
    assert np.abs(change).max() <= 1
    if score == "tc":
        assert change.min() >= 0


@given(rows_of)
def test_scores_are_those_of_the_paper(rows: list[Row]) -> None:
    n = {
        (j, f, y): sum((j in row) == f and label == y for row, label in rows)
        for j in range(WIDTH)
        for f in (0, 1)
        for y in (0, 1)
    }
    for j in range(WIDTH):
        dc = abs(n[j, 1, 1] - n[j, 1, 0])
        assert exact_scores(rows, "tc")[j] == n[j, 1, 0] + n[j, 1, 1]
        assert exact_scores(rows, "dc")[j] == dc
        assert exact_scores(rows, "pi")[j] == max(dc, abs(n[j, 0, 1] - n[j, 0, 0]))


@pytest.mark.parametrize("score", ["dc", "pi"])
@pytest.mark.parametrize("classes", [3, 4])
def test_one_row_of_any_label_moves_each_score_by_at_most_one(score: str, classes: int) -> None:
    """All small data sets of one feature, and all rows that are added: they are counts by label and presence."""
    schema = Schema.matrix(1, tuple(range(classes)))
    kinds: list[Row] = [(frozenset(range(f)), label) for f in (0, 1) for label in range(classes)]

    def scores(rows: Sequence[Row]) -> int:
        found = feature_scores([as_rows(rows)], score, schema, unit=Unit.row(), version="v")
        counts = np.array([rows.count(kind) for kind in kinds]).reshape(2, classes)
        exact = score_features(score, counts[1][:, None], counts.sum(axis=0))[0]
        assert opened(found)[0] == exact
        return int(exact)

    for size in range(4):
        for rows in itertools.combinations_with_replacement(kinds, size):
            before = scores(rows)
            assert all(abs(scores([*rows, row]) - before) <= 1 for row in kinds)


def test_scores_that_are_no_whole_numbers_are_refused() -> None:
    with pytest.raises(ParameterError, match="use CountSelector"):
        exact_scores([], "ig")


@given(rows_of, weighings().filter(lambda weighing: weighing.copies == 1 and weighing.words_share > 0))
def test_totals_are_the_words_over_all_labels(rows: list[Row], weighing: Weighing) -> None:
    totals = opened(total_sums([as_rows(rows)], weighing, unit=Unit.row(), version="v"))
    expected = np.zeros(WORDS, dtype=np.int64)
    for row in rows:
        vector = np.abs(vector_by_hand(row, weighing)[: weighing.columns * WORDS])
        expected += vector.reshape(weighing.columns, WORDS).sum(axis=0)
    assert (totals == expected).all()


def test_new_statistics_are_sealed() -> None:
    statistic = normalised_sums(
        [as_rows([])], Weighing(np.ones(3, dtype=np.int64), 1, (1, 1)), 3, unit=Unit.row(), version="v"
    )
    with pytest.raises(PrivacyError):
        repr(statistic)


@given(rows_of, st.tuples(st.frozensets(st.integers(0, WIDTH - 1)), st.integers(0, 1)))
def test_margins_are_counted_once_for_each_row(rows: list[Row], row: Row) -> None:
    rng = np.random.default_rng(5)
    rules = Rules(rng.normal(size=(WIDTH, 1)), np.ones((1, 1)), np.array([0.2]), words=WORDS, power=("root",), least=2)
    edges = np.array([0.25, 1.0])

    def counted(data: list[Row]) -> NDArray[np.int64]:
        return opened(count_margins([as_rows(data)], rules, 0, edges, unit=Unit.row(), version="v"))

    more, fewer = counted([*rows, row]), counted(rows)
    assert fewer.sum() == len(rows)
    assert np.abs(more - fewer).sum() == 1
    margin = row_scores(as_rows([row]).indptr, as_rows([row]).indices, rules)[0, 0] - 0.2
    place = (int((margin >= 0) == (row[1] == 1)), sum(abs(margin) >= edge for edge in edges))
    assert (more - fewer)[place] == 1
