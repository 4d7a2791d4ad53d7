from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.data.bounding import (
    Bounding,
    FeatureHasher,
    bound_rows,
    cut_prefix,
    default_max_ones,
    keep_features,
    row_keys,
)
from tacit.data.compiled import CUT_FACTOR, count_cut_rows
from tacit.data.rows import Rows, offsets_of
from tacit.errors import ParameterError
from tacit.privacy.unit import Unit
from tests.data import oracle
from tests.data.oracle import Row

D, CLASSES = 40, 3
USER = Unit.user("person", max_rows=2)
seeds = st.integers(-(2**63), 2**63 - 1)
feature_sets = st.frozensets(st.integers(0, D - 1), max_size=20)
people = st.sampled_from(["ann", "bob", "çiğdem", ""])
rows_of = st.lists(st.tuples(feature_sets, st.integers(0, CLASSES - 1), people), max_size=12)


def pack(rows: list[Row]) -> Rows:
    indices = [j for features, _, _ in rows for j in sorted(features)]
    return Rows(
        offsets_of(np.array([len(features) for features, _, _ in rows], dtype=np.int64)),
        np.array(indices, dtype=np.int32),
        np.array([y for _, y, _ in rows], dtype=np.int64),
        pl.Series("person", [person for _, _, person in rows], dtype=pl.String),
    )


def unpack(rows: Rows) -> Counter[Row]:
    assert rows.persons is not None
    return Counter(
        (frozenset(rows.indices[low:high].tolist()), int(y), person)
        for low, high, y, person in zip(rows.indptr, rows.indptr[1:], rows.labels, rows.persons, strict=False)
    )


def bounded(rows: list[Row], bounding: Bounding) -> Counter[Row]:
    return unpack(bound_rows(pack(rows), bounding))


def ranked(seed: int) -> np.ndarray:
    return np.random.default_rng(seed % 2**32).integers(0, 5, D)


@given(rows_of, st.integers(1, 10), seeds, st.booleans())
def test_rows_are_cut_as_defined(rows: list[Row], r: int, seed: int, preferred: bool) -> None:
    bounding = Bounding(r, seed=seed, preference=ranked(seed) if preferred else None)
    expected = [
        (features, y, person) for (features, y, _), (*_, person) in zip(oracle.bound(rows, bounding), rows, strict=True)
    ]
    assert bounded(rows, bounding) == Counter(expected)


@given(rows_of, st.integers(1, 10), seeds)
def test_persons_are_cut_as_defined(rows: list[Row], r: int, seed: int) -> None:
    bounding = Bounding(r, USER, seed=seed)
    assert bounded(rows, bounding) == Counter(oracle.bound(rows, bounding))


@given(
    rows_of, st.tuples(feature_sets, st.integers(0, CLASSES - 1), people), st.integers(0, 12), st.integers(1, 10), seeds
)
def test_one_more_row_changes_the_bounded_data_by_that_row_alone(
    rows: list[Row], extra: Row, place: int, r: int, seed: int
) -> None:
    bounding = Bounding(r, seed=seed)
    before = bounded(rows, bounding)
    after = bounded([*rows[:place], extra, *rows[place:]], bounding)
    assert sum((after - before).values()) == 1
    assert not before - after
    ((features, _, _),) = (after - before).keys()
    assert len(features) <= r
    assert features <= extra[0]


@given(
    rows_of,
    st.lists(st.tuples(feature_sets, st.integers(0, CLASSES - 1)), max_size=5),
    st.randoms(),
    st.integers(1, 6),
    seeds,
)
def test_one_more_person_changes_the_bounded_data_by_that_person_alone(
    rows: list[Row], extra: list[tuple[frozenset[int], int]], shuffle, r: int, seed: int
) -> None:
    bounding = Bounding(r, USER, seed=seed)
    mixed = [*rows, *((features, y, "new") for features, y in extra)]
    shuffle.shuffle(mixed)
    before, after = bounded(rows, bounding), bounded(mixed, bounding)
    assert not before - after
    added = after - before
    assert sum(added.values()) == min(len(extra), USER.max_rows)
    assert all(person == "new" and len(features) <= r for features, _, person in added)


@given(rows_of, st.randoms(), st.integers(1, 6), seeds)
def test_order_does_not_matter(rows: list[Row], shuffle, r: int, seed: int) -> None:
    shuffled = list(rows)
    shuffle.shuffle(shuffled)
    for unit in (Unit.row(), USER):
        bounding = Bounding(r, unit, seed=seed)
        assert bounded(rows, bounding) == bounded(shuffled, bounding)


@pytest.mark.parametrize("longest", [3, 17, 70, 300, 5000])
def test_rows_of_all_lengths(longest: int) -> None:
    random = np.random.default_rng(longest)
    wide = 1 << 20
    rows = [
        (frozenset(random.choice(wide, size, replace=False).tolist()), 0, "p")
        for size in random.integers(0, longest + 1, 30).tolist()
    ]
    bounding = Bounding(9, seed=5)
    expected = [(oracle.keep_features(features, bounding), y, person) for features, y, person in rows]
    assert bounded(rows, bounding) == Counter(expected)


def test_many_blocks_of_rows() -> None:
    random = np.random.default_rng(0)
    lengths = random.integers(0, 160, 3_000)
    lengths[1000] = 100_000  # longer than a block
    indices = [np.sort(random.choice(200_000, k, replace=False)) for k in lengths]
    labels = random.integers(0, 3, len(lengths))
    rows = Rows(offsets_of(lengths), np.concatenate(indices).astype(np.int32), labels)
    bounding = Bounding(7, seed=3)
    kept = keep_features(rows, bounding)
    assert np.array_equal(np.diff(kept.indptr), np.minimum(lengths, 7))
    for place in (0, 999, 1000, 1001, 2999):
        expected = sorted(oracle.keep_features(frozenset(indices[place].tolist()), bounding))
        assert kept.indices[kept.indptr[place] : kept.indptr[place + 1]].tolist() == expected


@given(rows_of, st.integers(1, 18), seeds)
def test_the_compiled_loop_counts_what_is_kept(rows: list[Row], r: int, seed: int) -> None:
    packed, bounding, shape = pack(rows), Bounding(r, seed=seed), (CLASSES, D)
    counted = count_cut_rows(packed.indptr, packed.indices, packed.labels, shape, r, cut_prefix(bounding.key))
    expected = Counter((y, j) for features, y, _ in rows for j in oracle.keep_features(features, bounding))
    assert Counter({(int(y), int(j)): int(counted[j, y]) for j, y in np.argwhere(counted)}) == expected


def test_features_are_kept_uniformly() -> None:
    # 20,000 rows of the features 0 … 9 and one of their own keep 3 of 11. The number of times that feature j is kept is
    # binomial(20,000, 3/11): standard deviation 63. Five deviations: a false alarm in one of 170,000 runs over ten
    # features; a rate that is off by 2 percentage points (400) is always seen.
    n, r, width = 20_000, 3, 11
    indices = np.tile(np.arange(width, dtype=np.int32), (n, 1))
    indices[:, -1] = 100 + np.arange(n)
    rows = Rows(np.arange(n + 1, dtype=np.int64) * width, indices.ravel(), np.zeros(n, dtype=np.int64))
    kept = keep_features(rows, Bounding(r, seed=11))
    counts = np.bincount(kept.indices, minlength=width)[: width - 1]
    expected, deviation = n * r / width, np.sqrt(n * r / width * (1 - r / width))
    assert (np.abs(counts - expected) < 5 * deviation).all()


def test_rows_of_a_table_are_cut_at_places_of_their_own() -> None:
    # All 2^16 rows of a table of 16 columns with two values each, numbered in sequence: what a plain sum of feature
    # numbers would tell apart into 17 kinds alone. Half of the features of each are kept: binomial(2^15, 1/2) times a
    # feature, standard deviation 91. Five deviations: a false alarm in one of 50,000 runs over 32 features.
    columns = 16
    bits = (np.arange(1 << columns)[:, None] >> np.arange(columns)) & 1
    indices = (2 * np.arange(columns) + bits).astype(np.int32)
    n = len(indices)
    rows = Rows(np.arange(n + 1, dtype=np.int64) * columns, indices.ravel(), np.zeros(n, dtype=np.int64))
    assert len(np.unique(np.bitwise_xor.reduce(indices.astype(np.uint32) * np.uint32(CUT_FACTOR), axis=1))) == n
    counts = np.bincount(keep_features(rows, Bounding(columns // 2, seed=5)).indices)
    assert (np.abs(counts - n / 4) < 5 * np.sqrt(n / 8)).all()


@given(st.lists(feature_sets, max_size=10), seeds)
def test_row_keys(sets: list[frozenset[int]], seed: int) -> None:
    rows = pack([(features, 0, "p") for features in sets])
    assert row_keys(rows, FeatureHasher(seed)).tolist() == [oracle.key(features, seed) for features in sets]


def test_a_preference_comes_first() -> None:
    preference = np.full(D, 9)
    preference[[3, 7]] = 0
    row = (frozenset(range(20)), 0, "p")
    ((kept, _, _),) = bounded([row], Bounding(3, seed=1, preference=preference))
    assert {3, 7} < kept


@settings(max_examples=30)
@given(st.integers(1, 10**12), st.integers(1, 10**7), st.floats(1e-6, 1e6))
def test_the_default_is_a_usable_number(n: int, d: int, epsilon: float) -> None:
    assert 1 <= default_max_ones(n, d, epsilon) <= min(d, max(8, epsilon / 16))


def test_the_default_grows_with_rows_and_epsilon_and_knows_tables() -> None:
    assert default_max_ones(5_000, 10_000, 1.0) == 4
    assert default_max_ones(10**6, 10_000, 1.0) == 8
    assert default_max_ones(10**6, 10_000, 0.05) == 4
    assert default_max_ones(10**6, 3, 1.0) == 3
    assert default_max_ones(100, 10_000, 80.0) == 5
    assert default_max_ones(100, 30, 1e6) == 30
    assert default_max_ones(10**6, 10_000, 0.5, columns=14) == 14


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError, match="max_ones"):
        Bounding(0)
    with pytest.raises(ParameterError, match="seed"):
        Bounding(1, seed=2**63)
    with pytest.raises(ParameterError, match="preference"):
        Bounding(1, preference=np.array([0.5]))
    with pytest.raises(ParameterError, match="epsilon"):
        default_max_ones(1, 1, 0)
    with pytest.raises(ParameterError, match="unit"):
        bound_rows(Rows(np.zeros(1, dtype=np.int64), np.empty(0, np.int32), np.empty(0, np.int64)), Bounding(1, USER))


def test_seeds_are_fresh_and_hidden() -> None:
    assert Bounding(1).seed != Bounding(1).seed
    assert str(Bounding(1, seed=123456789)).find("123456789") < 0
    assert repr(pack([(frozenset([1]), 0, "secret")])) == "<private rows>"
