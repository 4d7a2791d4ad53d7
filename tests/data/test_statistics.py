from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.data.bounding import Bounding
from tacit.data.features import encode
from tacit.data.schema import CategoryColumn, NumberColumn, Schema, TextColumn
from tacit.data.sources import open_source
from tacit.data.statistics import count
from tacit.errors import PrivacyError
from tacit.privacy._seal import open_exact
from tacit.privacy.gate import release
from tacit.privacy.mechanisms import DiscreteLaplace
from tacit.privacy.unit import Unit
from tests.data import oracle

feature_lists = st.lists(st.integers(0, 11), max_size=8)
table_rows = st.lists(st.tuples(feature_lists, st.integers(0, 2), st.sampled_from("abc")), max_size=8)


def tables(rows, unit: Unit, r: int, seed: int) -> tuple[np.ndarray, np.ndarray, object]:
    frame = pl.DataFrame(
        {
            "text": [" ".join(f"w{j}" for j in js) for js, _, _ in rows],
            "y": [y for _, y, _ in rows],
            "who": [person for _, _, person in rows],
        },
        schema={"text": pl.String, "y": pl.Int64, "who": pl.String},
    )
    schema = Schema((TextColumn("text", bits=5),), classes=(0, 1, 2), label="y", unit=unit)
    counts = count(open_source(frame, schema, version="v"), Bounding(r, unit, seed=seed), jobs=1)
    return open_exact(counts.features), open_exact(counts.labels), counts


@given(table_rows, st.tuples(feature_lists, st.integers(0, 2)), st.integers(1, 4), st.integers(0, 2**60))
def test_a_row_moves_the_counts_by_no_more_than_they_say(rows, extra, r: int, seed: int) -> None:
    before, before_labels, counts = tables(rows, Unit.row(), r, seed)
    after, after_labels, _ = tables([*rows, (*extra, "a")], Unit.row(), r, seed)
    check_moves(after - before, counts.features.sensitivity)
    check_moves(after_labels - before_labels, counts.labels.sensitivity)


@given(
    table_rows,
    st.lists(st.tuples(feature_lists, st.integers(0, 2)), max_size=4),
    st.integers(1, 4),
    st.integers(0, 2**60),
)
def test_a_person_moves_the_counts_by_no_more_than_they_say(rows, extra, r: int, seed: int) -> None:
    unit = Unit.user("who", 2)
    before, before_labels, counts = tables(rows, unit, r, seed)
    after, after_labels, _ = tables([*rows, *((js, y, "new") for js, y in extra)], unit, r, seed)
    check_moves(after - before, counts.features.sensitivity)
    check_moves(after_labels - before_labels, counts.labels.sensitivity)


def check_moves(change: np.ndarray, sensitivity) -> None:
    assert (change >= 0).all()
    assert change.sum() <= sensitivity.l1
    assert (change**2).sum() <= sensitivity.l2_squared
    assert change.max(initial=0) <= sensitivity.linf


@pytest.mark.parametrize("classes", [2, 6])
@pytest.mark.parametrize("r", [1, 3, 6, 9])
@pytest.mark.parametrize("preferred", [False, True])
def test_a_matrix_in_parts(monkeypatch: pytest.MonkeyPatch, classes: int, r: int, preferred: bool) -> None:
    monkeypatch.setattr("tacit.data.sources.MATRIX_ENTRIES", 150)
    random = np.random.default_rng(r)
    dense = random.random((300, 10)) < random.random((300, 1))
    dense[40:80] = False
    y = random.integers(0, classes, len(dense))
    bounding = Bounding(r, seed=4, preference=np.arange(10) % 3 if preferred else None)
    source = open_source(sp.csr_array(dense.astype(float)), Schema.matrix(10, tuple(range(classes))), y=y)
    assert len(list(source.jobs())) > 5
    rows = [(frozenset(np.flatnonzero(line).tolist()), int(label), None) for line, label in zip(dense, y, strict=True)]
    features, labels = oracle.count(oracle.bound(rows, bounding), classes, 10)
    for jobs in (1, 3):
        counts = count(source, bounding, jobs=jobs)
        assert np.array_equal(open_exact(counts.features), features)
        assert np.array_equal(open_exact(counts.labels), labels)


def test_the_sensitivity_knows_how_many_features_a_row_can_have() -> None:
    table = Schema((CategoryColumn("a", ("x",)), NumberColumn("b", (0, 1))), classes=(0, 1), label="y")
    frame = pl.DataFrame({"a": ["x"], "b": [1], "y": [0]})
    for r, expected in ((1, 1), (2, 2), (50, 2)):
        counts = count(open_source(frame, table), Bounding(r))
        assert (counts.features.sensitivity.l1, counts.labels.sensitivity.l1) == (expected, 1)
    people = Schema(table.columns, (0, 1), label="y", unit=Unit.user("who", 3))
    counts = count(open_source(frame.with_columns(who=pl.lit("p")), people), Bounding(50, people.unit))
    assert (counts.features.sensitivity.l1, counts.features.sensitivity.l2_squared, counts.labels.sensitivity.l1) == (
        6,
        18,
        3,
    )


def test_counts_go_through_the_gate_and_nowhere_else() -> None:
    _, _, counts = tables([([1, 2], 0, "a")], Unit.row(), 2, 5)
    with pytest.raises(PrivacyError):
        np.asarray(counts.features)
    with pytest.raises(PrivacyError):
        repr(counts)
    account = tacit.Ledger.open().account("d", budget=tacit.Budget(1.0))
    assert release(account, counts.features, DiscreteLaplace(0.5)).values.shape == (3, 32)


def test_versions_tell_seeds_and_bounds_apart() -> None:
    versions = {tables([([1], 0, "a")], Unit.row(), r, seed)[2].features.version for r in (1, 2) for seed in (1, 2)}
    assert len(versions) == 4


# -- on real data ---------------------------------------------------------------------------------------------------


def data_file(name: str) -> Path:
    places = [os.environ.get("TACIT_DATA"), Path(__file__).parents[3] / "shared" / "data"]
    for place in places:
        if place and (Path(place) / name).exists():
            return Path(place) / name
    pytest.skip(f"{name} is not there: set TACIT_DATA to a folder that holds it")


def test_patients_of_the_diabetes_set(tmp_path: Path) -> None:
    path = data_file("diabetic_data.csv.gz")
    columns = (
        CategoryColumn("gender", ("Female", "Male")),
        CategoryColumn("A1Cresult", (">7", ">8", "Norm", "None")),
        NumberColumn("num_medications", (0, 10, 20, 40, 80)),
    )
    m = 2
    unit = Unit.user("patient_nbr", m)
    schema = Schema(columns, classes=("<30", ">30", "NO"), label="readmitted", missing=("?",), unit=unit)
    counts = count(open_source(path, schema), Bounding(3, unit, seed=7))
    table, labels = open_exact(counts.features), open_exact(counts.labels)
    frame = pl.read_csv(path, infer_schema=False)
    stays = frame.group_by("patient_nbr").len()["len"].to_numpy()
    assert (len(frame), len(stays)) == (101_766, 71_518)
    assert labels.sum() == np.minimum(stays, m).sum()
    assert table.sum() == 3 * labels.sum()
    # The same by brute force, on some of the patients.
    some = frame.filter(pl.col("patient_nbr").str.ends_with("77"))
    rows = encode(some, schema, None)
    plain = [
        (frozenset(rows.indices[low:high].tolist()), int(y), person)
        for low, high, y, person in zip(rows.indptr, rows.indptr[1:], rows.labels, rows.persons, strict=False)
    ]
    wanted = oracle.count(oracle.bound(plain, Bounding(3, unit, seed=7)), 3, schema.n_features)
    got = count(open_source(some, schema, batch_rows=100), Bounding(3, unit, seed=7), passes=3)
    assert np.array_equal(open_exact(got.features), wanted[0])
    assert np.array_equal(open_exact(got.labels), wanted[1])


def test_a_matrix_that_was_changed_in_place_is_looked_at_anew() -> None:
    """A feature repeated in a row must not count twice, whatever scipy remembers of the matrix."""
    matrix = sp.csr_array(np.array([[1, 1, 1, 0], [0, 1, 0, 1]]))
    assert matrix.has_canonical_format
    matrix.indices[:3] = 2
    counts = count(open_source(matrix, Schema.matrix(4, (0, 1)), y=[0, 1]), Bounding(4, seed=1))
    assert open_exact(counts.features).tolist() == [[0, 0, 1, 0], [0, 1, 0, 1]]
