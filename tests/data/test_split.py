from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.data import coins
from tacit.data.bounding import Bounding, FeatureHasher
from tacit.data.coins import copy_numbers, given_keys, numbered, raw_keys, source_coins, source_keys
from tacit.data.errors import SourceError
from tacit.data.readers import FileOptions
from tacit.data.schema import Schema
from tacit.data.sources import Job, Source, open_source
from tacit.data.split import coin_limit, folds, split, split_source
from tacit.data.statistics import count
from tacit.errors import ParameterError, PrivacyError
from tacit.privacy._seal import open_exact
from tacit.privacy.unit import Unit
from tests.data import oracle

seeds = st.integers(-(2**63), 2**63 - 1)
rows = st.lists(st.tuples(st.text("abc ", max_size=4), st.integers(0, 1)), max_size=15)


def account(**options) -> tacit.ledger.Account:
    return tacit.Ledger.open().account("data", budget=tacit.Budget(1.0), **options)


@given(rows, st.tuples(st.text("abc ", max_size=4), st.integers(0, 1)), st.integers(0, 15), seeds)
def test_one_more_row_changes_one_part_by_that_row_alone(data, extra, place: int, seed: int) -> None:
    def parts(of) -> list[list]:
        train, test, y_train, y_test = split([t for t, _ in of], [y for _, y in of], 0.5, random_state=seed)
        return [list(zip(train, y_train, strict=True)), list(zip(test, y_test, strict=True))]

    before, after = parts(data), parts([*data[:place], extra, *data[place:]])
    grown = [a for b, a in zip(before, after, strict=True) if len(a) != len(b)]
    assert len(grown) == 1
    for b, a in zip(before, after, strict=True):
        left = list(a)
        for row in b:
            left.remove(row)
        assert left in ([], [extra])


def test_all_neighbours_of_a_small_domain() -> None:
    """Every data set of up to three rows of three kinds, every row more at every place: one part gains that row."""

    def parts(rows: tuple[str, ...]) -> list[Counter[str]]:
        return [Counter(part) for part in split(list(rows), test_size=0.5, random_state=11)]

    for size in range(4):
        for rows in itertools.product("abc", repeat=size):
            before = parts(rows)
            for extra, place in itertools.product("abc", range(size + 1)):
                after = parts((*rows[:place], extra, *rows[place:]))
                gained = [now - then for now, then in zip(after, before, strict=True)]
                assert sum(gained, Counter()) == Counter(extra)
                assert all(not then - now for now, then in zip(after, before, strict=True))


def forms_of(kinds: np.ndarray) -> list:
    """Rows of few kinds in every form that data in memory may have."""
    frame = pl.DataFrame({"a": kinds % 2 == 0, "b": kinds.astype(str)})
    matrix = np.eye(4)[kinds]
    return [
        frame["b"].to_list(),
        frame,
        frame.to_pandas(),
        frame.to_arrow(),
        matrix,
        sp.csr_array(matrix),
        matrix * 0.5,
    ]


def test_copies_have_coins_of_their_own_so_that_parts_are_fair_samples() -> None:
    """Of four kinds of rows each part has its share, with either label, whatever form the rows have."""
    rng = np.random.default_rng(0)
    kinds, y = rng.integers(0, 4, 8000), rng.integers(0, 2, 8000)
    source = open_source(pl.DataFrame({"text": kinds.astype(str), "y": y}), SCHEMA)
    for form in forms_of(kinds):
        _, test, _, of_test = split(form, y, 0.3, random_state=3)
        assert (test.shape[0] if hasattr(test, "shape") else len(test)) == len(of_test)
        for label in (0, 1):
            n = (y == label).sum()
            # Five standard deviations, a false alarm in 1.7 million; with one coin for all copies it failed as a rule.
            assert abs((of_test == label).sum() - 0.3 * n) < 5 * np.sqrt(n * 0.21)
    for parts, share in ((split_source(source, 0.3, seed=2)[1:], 0.3), (folds(source, 4, seed=2), 0.25)):
        for part in parts:
            for cell in open_exact(count(part, Bounding(2, seed=1)).features).ravel():
                assert not cell or abs(cell - 1000 * share) < 6 * np.sqrt(1000 * share)


def test_batches_do_not_matter_to_copies() -> None:
    frame = pl.DataFrame({"text": ["a b", "c", "a b", "d"] * 50, "y": [0, 1, 1, 0] * 50})
    sizes = []
    for batch_rows in (7, 1000):
        parts = split_source(open_source(frame, SCHEMA, batch_rows=batch_rows), 0.5, seed=4)
        sizes.append([open_exact(count(part, Bounding(2, seed=1)).features).tolist() for part in parts])
    assert sizes[0] == sizes[1]


def test_rows_whose_first_keys_meet_are_no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first key hashes texts so that anybody can make up two that meet: one more would move the other."""
    assert copy_numbers(*given_keys(["a", "b", "a"], None, 5)).tolist() == [0, 0, 1]
    monkeypatch.setattr(coins, "hash_strings", lambda texts: np.zeros(len(texts), dtype=np.int64))
    first, second = given_keys(["a", "b", "a"], None, 5)
    assert len(set(first.tolist())) == 1
    assert copy_numbers(first, second).tolist() == [0, 0, 1]


def test_texts_of_one_row_and_another_meet_under_no_key_but_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """BLAKE2b without a key could be searched for two texts that meet in it for all seeds."""
    keys: set[bytes] = set()
    plain = coins.hashlib.blake2b
    monkeypatch.setattr(coins.hashlib, "blake2b", lambda *a, key, **kw: keys.add(key) or plain(*a, key=key, **kw))
    for seed in (1, 2):
        given_keys(["a"], pl.Series(["x"]), seed)
    assert len(keys) == 2


def twice_in_a_cell(rows: list[list[float]]) -> sp.csr_array:
    """Each number of a row is stored for the first cell."""
    ends = np.cumsum([0, *map(len, rows)])
    return sp.csr_array((np.concatenate(rows), np.zeros(ends[-1], dtype=np.int32), ends), shape=(len(rows), 2))


def contents(part: Any) -> list[str]:
    if sp.issparse(part):
        return [str(numbers.tolist()) for numbers in np.split(part.data, part.indptr[1:-1])][: part.shape[0]]
    return [str(list(row)) for row in (part.to_numpy() if isinstance(part, pd.DataFrame) else part)]


@pytest.mark.parametrize(
    ("made", "one", "other"),
    [
        (twice_in_a_cell, [1.0, -1.0], []),
        (twice_in_a_cell, [1.0, 1.0], []),
        (lambda rows: np.array(rows, dtype=object), ["07", "x"], ["7", "x"]),
        (lambda rows: np.array(rows, dtype=object), [True, "x"], [1, "x"]),
        (lambda rows: np.array(rows, dtype=np.int64), [2**60, 1], [2**60 + 1, 1]),
        (lambda rows: pd.DataFrame(rows, columns=[1, "1"]), ["a", "a"], ["b", "b"]),
    ],
    ids=["opposites", "pairs", "codes", "truth", "long", "names"],
)
def test_rows_that_are_read_apart_are_no_copies(made: Any, one: list[Any], other: list[Any]) -> None:
    """Taken for copies, they would be numbered together, and one more of the first kind would move half of them."""
    for seed in range(10):
        before = split(made([other, one] * 8), test_size=0.5, random_state=seed)
        after = split(made([one, *[other, one] * 8]), test_size=0.5, random_state=seed)
        bags = [(Counter(contents(was)), Counter(contents(now))) for was, now in zip(before, after, strict=True)]
        changed = [now - was for was, now in bags]
        assert [was - now for was, now in bags] == [Counter(), Counter()]
        assert sorted(map(dict, changed), key=len) == [{}, {contents(made([one]))[0]: 1}]


def test_a_file_that_is_sorted_anew_between_two_parts_is_noticed(tmp_path: Path) -> None:
    """Sides are kept by place: a row that moves could be in both parts."""
    path = tmp_path / "rows.csv"
    FRAME.write_csv(path)
    train, test = split_source(open_source(path, SCHEMA, version="v"), 0.5, seed=1)
    assert sum(map(len, train.rows())) > 0
    FRAME.reverse().write_csv(path)
    with pytest.raises(SourceError, match=r"rows\.csv' changed after it was opened"):
        list(test.rows())


def test_data_that_change_between_readings_are_noticed() -> None:
    sizes = iter([200, 100])

    def jobs() -> Iterator[Job]:
        return open_source(FRAME.head(next(sizes)), SCHEMA).jobs()

    changing = Source(SCHEMA, jobs, lambda: "v")
    with pytest.raises(SourceError, match="changed while"):
        list(split_source(changing, 0.5, seed=1)[0].rows())


@given(st.lists(st.sampled_from("abcdef"), max_size=20), seeds)
def test_persons_stay_together(people: list[str], seed: int) -> None:
    train, test = split(list(range(len(people))), test_size=0.5, persons=people, random_state=seed)
    assert not {people[i] for i in train} & {people[i] for i in test}
    expected = [i for i, p in enumerate(people) if oracle.chain(seed, 5, oracle.string_hash(p)) < coin_limit(0.5)]
    assert test == expected


@pytest.mark.parametrize("nobody", [None, "", " ", float("nan")])
def test_rows_of_nobody_go_to_the_training_part_and_move_nobody_else(nobody: object) -> None:
    people = [f"p{i % 10}" for i in range(40)]
    before = split(list(range(40)), test_size=0.5, persons=people, random_state=3)
    after = split(list(range(42)), test_size=0.5, persons=[*people, nobody, nobody], random_state=3)
    assert (after[0], after[1]) == ([*before[0], 40, 41], before[1])
    paying = account(unit=Unit.user("who", 2))
    almost_all = split(["a", "b"], test_size=1 - 2**-53, persons=["p", nobody], account=paying)
    assert almost_all[0] == ["b"]
    assert split(["a"], persons=[nobody], account=paying)[0] == ["a"]


@pytest.mark.parametrize("test_size", [0.1, 0.5, 0.9])
def test_parts_have_about_the_declared_share(test_size: float) -> None:
    # Binomial(20,000, test_size): five standard deviations, a false alarm in 1.7 million; 2.5 points off are seen.
    n = 20_000
    _, test = split([str(i) for i in range(n)], test_size=test_size, random_state=1)
    assert abs(len(test) - n * test_size) < 5 * np.sqrt(n * test_size * (1 - test_size))


def test_containers_keep_their_type_and_agree() -> None:
    texts, y = [f"text {i}" for i in range(50)], np.arange(50) % 2
    wanted = split(texts, y, 0.3, random_state=4)
    for data in (np.array(texts), pl.Series(texts), pd.Series(texts), pa.array(texts), tuple(texts)):
        got = split(data, y, 0.3, random_state=4)
        assert [list(map(str, part)) for part in got[:2]] == [list(wanted[0]), list(wanted[1])]
        assert np.array_equal(got[3], wanted[3])
    assert isinstance(split(pd.DataFrame({"a": texts}), random_state=1)[0], pd.DataFrame)
    matrix = sp.csr_array(np.random.default_rng(2).random((40, 9)) * (np.random.default_rng(3).random((40, 9)) < 0.3))
    dense, sparse = (split(m, test_size=0.5, random_state=7) for m in (matrix.toarray(), matrix))
    assert sp.issparse(sparse[0])
    assert np.array_equal(dense[1], sparse[1].toarray())
    frames = {
        "a": [1, 2, 3, None, 5] * 4,
        "b": [f"x{i}" for i in range(20)],
    }
    reference = split(pl.DataFrame(frames), random_state=3)[1]
    as_float = split(pd.DataFrame(frames), random_state=3)[1]
    assert as_float["b"].tolist() == reference["b"].to_list()
    assert split(pa.table(frames), random_state=3)[1]["b"].to_pylist() == reference["b"].to_list()


def test_another_row_changes_no_coin_by_way_of_a_type() -> None:
    # One row with a fraction or a gap turns a whole column into floats; the others must not move.
    before = split(pd.DataFrame({"a": [1, 2, 3, 4, 5, 6]}), test_size=0.5, random_state=0)[1]["a"].tolist()
    for odd in (0.5, None):
        after = split(pd.DataFrame({"a": [1, 2, 3, 4, 5, 6, odd]}), test_size=0.5, random_state=0)[1]["a"].tolist()
        assert [value for value in after if value in (1, 2, 3, 4, 5, 6)] == before
    numbers, texts = [float("nan")] * 40 + [1.5, 0.0] * 5, list(range(50))
    before = split(pd.DataFrame({"a": numbers, "b": texts}), test_size=0.5, random_state=0)[1]["b"].tolist()
    for odd in ("?", None, 2**70, True):
        frame = pd.DataFrame({"a": [*numbers, odd], "b": [*texts, 50]})
        after = split(frame, test_size=0.5, random_state=0)[1]["b"].tolist()
        assert [value for value in after if value < 50] == before
    matrix = np.eye(6)
    before = split(matrix, test_size=0.5, random_state=0)[1]
    after = split(np.vstack([matrix, [0, 0, 7, 0.5, 0, 0]]), test_size=0.5, random_state=0)[1]
    assert after[: len(before)].tolist() == before.tolist()


@pytest.mark.parametrize("odd", ["?", None, 2**70, True, "nan", b"x", [1], 1.5])
def test_an_odd_cell_of_an_array_moves_no_other_row(odd: object) -> None:
    rows = [[i % 3, i / 4, float("nan") if i % 5 == 0 else i] for i in range(60)]
    more = np.empty((61, 3), dtype=object)
    more[:60] = rows
    more[60, 0], more[60, 1:] = odd, (1, 60)
    before, after = (raw_keys(X, 5).tolist() for X in (np.array(rows), more))
    assert after[:60] == before
    assert len(set(after)) == 61


def test_an_account_knows_its_parts() -> None:
    paying = account()
    texts, y = [str(i) for i in range(30)], [i % 2 for i in range(30)]
    first, again = split(texts, y, account=paying), split(texts, y, account=paying)
    assert first[0] == again[0]
    assert first.accounts is not None
    assert set(first.accounts) == {"train", "test"}
    assert len(paying.splits()) == 1
    assert split(texts, y).accounts is None


def test_parts_that_may_overlap_never_share_a_name() -> None:
    paying = account()
    texts, y = [str(i) for i in range(30)], [i % 2 for i in range(30)]
    split(texts, y, account=paying)
    split(texts, account=paying)
    split(texts, y, 0.3, account=paying)
    split(texts, y, account=paying, random_state=5)
    split([t + "!" for t in texts], y, account=paying)
    assert len(paying.splits()) == 5


def test_whatever_decides_on_coins_is_in_the_name_of_a_split() -> None:
    """A row's coin hashes the position of its label: another label column or order of the classes moves rows."""
    frame = FRAME.with_columns(other=FRAME["y"].reverse(), who=FRAME["text"].reverse())
    schemas = [
        SCHEMA,
        replace(SCHEMA, label="other"),
        replace(SCHEMA, classes=(1, 0)),
        replace(SCHEMA, missing=("", "0")),
        Schema.text((0, 1), bits=9, label="y"),
    ]
    paying = account()
    for _ in range(2):
        for schema in schemas:
            source = open_source(frame, schema, version="v")
            split_source(source, account=paying)
            folds(source, 2, account=paying)
    assert len(paying.splits()) == 2 * len(schemas)


def test_an_account_for_persons_needs_them() -> None:
    paying = account(unit=Unit.user("who", 2))
    with pytest.raises(PrivacyError, match="persons="):
        split(["a"], account=paying)
    assert split(["a"], persons=["p"], account=paying).accounts is not None


SCHEMA = Schema.text((0, 1), bits=8, label="y")
FRAME = pl.DataFrame({"text": [f"w{i} w{i // 2} common" for i in range(200)], "y": [i % 2 for i in range(200)]})


def test_sources_are_split_without_being_read_and_add_up() -> None:
    source = open_source(FRAME, SCHEMA)
    bounding = Bounding(2, seed=1)
    whole = open_exact(count(source, bounding).features)
    for parts in (split_source(source, 0.3, seed=8), folds(source, 3, seed=8)):
        tables = [open_exact(count(part, bounding).features) for part in parts]
        assert np.array_equal(sum(tables), whole)
        assert all(table.any() for table in tables)
        assert len({part.version for part in parts} | {source.version}) == len(parts) + 1


def test_coins_of_a_source_are_as_defined() -> None:
    rows, hasher = next(open_source(pl.concat([FRAME, FRAME]), SCHEMA).rows()), FeatureHasher(-3)
    found, keys = numbered(*source_keys(rows, hasher)), source_coins(rows, hasher)
    for place in (0, 7, 199, 200, 399):
        text, label = FRAME["text"][place % 200], FRAME["y"][place % 200]
        first = (-3, 4, oracle.key(oracle.buckets(text, 8), -3), label)
        assert keys[place] == oracle.chain(*first)
        assert found[place] == oracle.chain(*first, place // 200)


def test_persons_of_a_source_stay_together() -> None:
    schema = Schema(SCHEMA.columns, SCHEMA.classes, label="y", unit=Unit.user("who", 50))
    frame = FRAME.with_columns(who=pl.Series([f"p{i % 20}" for i in range(200)]))
    for parts in (split_source(open_source(frame, schema), 0.5, seed=2), folds(open_source(frame, schema), 3, seed=2)):
        people = [set().union(*(rows.persons.to_list() for rows in part.rows())) for part in parts]
        assert sum(map(len, people)) == len(set().union(*people)) == 20
    coins = source_coins(next(open_source(frame, schema).rows()), FeatureHasher(9))
    assert coins[3] == oracle.chain(9, 5, oracle.string_hash("p3"))


def test_sources_with_accounts() -> None:
    source, paying = open_source(FRAME, SCHEMA), account()
    assert set(split_source(source, account=paying).accounts or ()) == {"train", "test"}
    assert set(folds(source, 4, account=paying).accounts or ()) == {f"fold-{i}" for i in range(4)}
    with pytest.raises(PrivacyError, match="unit"):
        split_source(source, account=account(unit=Unit.user("who", 1)))


def test_the_seed_of_an_account_is_its_own() -> None:
    one, two = account(), account()
    assert one.seed_for("x") == one.seed_for("x") != one.seed_for("y")
    assert one.seed_for("x") != two.seed_for("x")


def test_bad_parameters() -> None:
    for size in (0, 1, -0.1, "half", True):
        with pytest.raises(ParameterError, match="test_size"):
            split(["a"], test_size=size)
    with pytest.raises(ParameterError, match="'y'"):
        split(["a"], [1, 2])
    with pytest.raises(ParameterError, match="persons"):
        split(["a", "b"], persons=["p"])
    with pytest.raises(ParameterError, match="n_folds"):
        folds(open_source(FRAME, SCHEMA), 1)
    with pytest.raises(ParameterError, match="seed"):
        split(["a"], random_state=2**70)


@pytest.mark.parametrize("kind", [">f8", ">i4", "f2", ">f2"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array])
def test_numbers_of_any_size_and_byte_order_fall_as_usual_ones_do(kind: str, form) -> None:
    plain = np.random.default_rng(0).integers(0, 4, (300, 5)).astype(float)
    odd = form(plain)
    if sp.issparse(odd):
        odd.data = odd.data.astype(kind)  # SciPy refuses to convert, and takes such an array all the same
    else:
        odd = odd.astype(kind)
    for part, usual in zip(split(odd, random_state=5), split(plain, random_state=5), strict=True):
        assert (part.toarray() if sp.issparse(part) else part).tolist() == usual.tolist()
    assert tacit.Workflow(1.0).run(odd, np.arange(300) % 2).receipt["epsilon"] == 1.0


def test_another_reading_of_a_file_is_another_split(tmp_path: Path) -> None:
    path, paying = tmp_path / "rows.csv", account()
    path.write_text("".join(f"a{i},{i % 2},b{i}\n" for i in range(50)))
    for header in (("text", "y", "other"), ("other", "y", "text")):
        source = open_source(path, SCHEMA, options=FileOptions(header=header))
        split_source(source, account=paying)
        folds(source, 2, account=paying)
    assert len(paying.splits()) == 4
