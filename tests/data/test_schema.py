from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tacit.data.draft import draft
from tacit.data.errors import SchemaError, SourceError
from tacit.data.files import FileOptions
from tacit.data.schema import CategoryColumn, NumberColumn, Schema, SparseColumn, TextColumn
from tacit.data.text import bucket
from tacit.desk.checks import check_classes
from tacit.errors import ParameterError
from tacit.privacy.unit import Unit
from tacit.workflow import Workflow

plain = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
columns = st.one_of(
    st.builds(lambda n, b: TextColumn(n, bits=b), plain, st.integers(1, 8)),
    st.builds(
        lambda n, w: TextColumn(n, words=tuple(w)),
        plain,
        st.lists(st.sampled_from(["a", "it's", "中"]), min_size=1, unique=True),
    ),
    st.builds(lambda n, v: CategoryColumn(n, tuple(v)), plain, st.lists(st.integers(-5, 5), min_size=1, unique=True)),
    st.builds(
        lambda n, v: CategoryColumn(n, tuple(v)),
        plain,
        st.lists(plain, min_size=1, max_size=4, unique_by=lambda v: v.strip(" \t\r\n")),
    ),
    st.builds(
        lambda n, e: NumberColumn(n, tuple(sorted(e))), plain, st.sets(st.floats(-1e9, 1e9), min_size=2, max_size=5)
    ),
)


@given(
    st.lists(columns, min_size=1, max_size=4, unique_by=lambda c: c.name),
    st.sampled_from([(0, 1), ("no", "yes"), (-1.5, 2)]),
)
def test_toml_round_trip(parts, classes) -> None:
    schema = Schema(tuple(parts), classes=classes, unit=Unit.row(), missing=("", "?"))
    again = Schema.from_toml(schema.to_toml())
    assert again == schema
    assert again.fingerprint == schema.fingerprint
    assert len(schema.feature_names()) == schema.n_features
    assert schema.feature_names() == [schema.feature_name(j) for j in range(schema.n_features)]


def test_a_whole_description() -> None:
    schema = Schema.from_toml(
        """
        missing = ["", "?"]
        [label]
        column = "y"
        classes = ["no", "yes"]
        [person]
        column = "who"
        max_rows = 2
        [columns.review]
        kind = "text"
        bits = 3
        [columns.job]
        kind = "category"
        values = ["a", "b"]
        [columns.age]
        kind = "number"
        low = 0
        high = 100
        bins = 2
        """
    )
    assert schema.unit == Unit.user("who", 2)
    assert schema.n_features == 8 + 4 + 3
    assert schema.most_ones == 8 + 1 + 1
    assert schema.offsets == {"review": 0, "job": 8, "age": 12}
    assert schema.names_needed == ["review", "job", "age", "y", "who"]
    assert schema.feature_names()[8:] == [
        "job = a",
        "job = b",
        "job: other",
        "job: missing",
        "age in [0, 50)",
        "age in [50, 100]",
        "age: missing",
    ]


def test_buckets_are_named_by_public_words() -> None:
    schema = Schema.text((0, 1), bits=10)
    shown = schema.feature_names(["Good", "bad"])
    assert shown[bucket("good", 10)] == f"text: bucket {bucket('good', 10)} (good)"
    crowded = Schema.text((0, 1), bits=1).feature_names(list("abcdefghij"))
    assert any(name.endswith(", …)") for name in crowded)


def test_matrix_names() -> None:
    assert Schema.matrix(2, (0, 1)).feature_names() == ["x[0]", "x[1]"]
    assert Schema.matrix(2, (0, 1), names=["a\nb", "<i>"]).feature_names() == ["a\ufffdb", "<i>"]


LABEL = '[label]\ncolumn = "y"\nclasses = [0, 1]\n'


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("x = [", "not valid TOML"),
        ("", r"needs a table \[label\]"),
        (LABEL, r"needs a table \[columns\]"),
        (LABEL + "[columns]", "at least one"),
        (LABEL + "surprise = 1\n[columns.a]\nkind = 'text'\nbits = 3", "unknown entries"),
        (LABEL + "[columns.a]\nkind = 'txt'", "'kind'"),
        (LABEL + "[columns.a]\nkind = 'text'", "'bits'"),
        (LABEL + "[columns.a]\nkind = 'text'\nbits = 99", "'bits'"),
        (LABEL + "[columns.a]\nkind = 'text'\nwords = ['Two words']", "'words'"),
        (LABEL + "[columns.a]\nkind = 'text'\nwords = ['a', 'a']", "each once"),
        (LABEL + "[columns.a]\nkind = 'category'\nvalues = 'a'", "a list"),
        (LABEL + "[columns.a]\nkind = 'category'\nvalues = ['a', 1]", "all texts or all"),
        (LABEL + "[columns.a]\nkind = 'category'\nvalues = ['a', ' a']", "differ"),
        (LABEL + "[columns.a]\nkind = 'category'\nvalues = ['a']\nbits = 3", "unknown entries"),
        (LABEL + "[columns.a]\nkind = 'number'\nlow = 0", "'low, high'"),
        (LABEL + "[columns.a]\nkind = 'number'\nlow = 1\nhigh = 0", "ascending"),
        (LABEL + "[columns.a]\nkind = 'number'\nlow = 0\nhigh = 1\nbins = 0", "'bins'"),
        (LABEL + "[columns.a]\nkind = 'number'\nedges = [0, inf]", "'edges'"),
        (LABEL + "[columns.a]\nkind = 'sparse'", "'features'"),
        (LABEL + "[columns.a]\nkind = 'sparse'\nfeatures = 3\nnames = ['a']", "3 names"),
        (LABEL + "[columns.a]\nkind = 'sparse'\nfeatures = 3\n[columns.b]\nkind = 'text'\nbits = 1", "single one"),
        (LABEL + "[columns.y]\nkind = 'text'\nbits = 3", "differ from each other"),
        (LABEL + "[person]\nmax_rows = 1\n[columns.a]\nkind = 'text'\nbits = 3", "tells persons apart"),
        ("[label]\nclasses = [0]\n[columns.a]\nkind = 'text'\nbits = 3", "at least 2"),
        ("[label]\nclasses = [1, 1.0]\n[columns.a]\nkind = 'text'\nbits = 3", "differ"),
        (LABEL + "columns = 3", "unknown entries"),
    ],
)
def test_bad_descriptions(toml: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(toml)


def test_missing_schema_file(tmp_path) -> None:
    with pytest.raises(SchemaError, match="cannot be read"):
        Schema.load(tmp_path / "none.toml")
    path = tmp_path / "s.toml"
    path.write_text(Schema.text((0, 1)).to_toml(), encoding="utf-8")
    assert Schema.load(path) == Schema.text((0, 1))


def test_feature_numbers_are_checked() -> None:
    with pytest.raises(SchemaError, match="'feature'"):
        Schema.matrix(2, (0, 1)).feature_name(2)
    with pytest.raises(SchemaError, match="at most"):
        Schema((TextColumn("a", bits=26), *(TextColumn(f"t{i}", bits=26) for i in range(40))), (0, 1))
    with pytest.raises(SchemaError):
        SparseColumn("x", True)


# -- drafts ---------------------------------------------------------------------------------------------------------

CSV = "id,label,text,job,age\n" + "".join(
    f"{i:05d}x,{'ham' if i % 2 else 'spam'},some words number {i} here,{'ab?'[i % 3]},{i * 1.5}\n" for i in range(90)
)


def filled(text: str) -> str:
    return text.replace("= []  # TODO", '= ["no", "yes"]  #')


def test_a_draft_of_a_public_file_is_complete(tmp_path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(CSV)
    schema = Schema.from_toml(draft(path, public=True))
    assert schema.classes == ("ham", "spam")
    assert schema.label == "label"
    assert schema.columns == (
        TextColumn("text", bits=14),
        CategoryColumn("job", ("a", "b")),
        NumberColumn.equal_bins("age", 0.0, 133.5, 10),
    )
    assert schema.missing == ("", "?")


def test_a_draft_of_a_private_file_reads_names_alone(tmp_path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(CSV)
    private = draft(path, public=False)
    assert private == draft(["id", "label", "text", "job", "age"], public=False)
    assert "ham" not in private
    assert "TODO" in private
    with pytest.raises(SchemaError, match="'values' of 'id' in the schema must be at least 1"):
        Schema.from_toml(private)
    with pytest.raises(SchemaError, match=r"'classes' of .* must be at least 2"):
        Schema.from_toml(private.replace("values = []", 'values = ["a"]'))
    assert Schema.from_toml(filled(private)).label == "label"


@given(st.lists(plain, min_size=2, max_size=5, unique=True))
@example(["user", "a"])
@example(["a", "user"])
@example(["user", "a", "b"])
def test_drafts_from_any_names_are_valid_once_they_are_filled_in(given_names: list[str]) -> None:
    schema = Schema.from_toml(filled(draft(given_names, public=False)))
    assert schema.label in given_names
    assert schema.label != schema.unit.column


@pytest.mark.parametrize("name", ["patient", "patient_id", "PatientID", "Patient Nr", "user-id", "patient_nbr"])
def test_a_draft_finds_who_a_row_belongs_to(name: str) -> None:
    """Before, patient_id was drafted as a feature, and rows would have been protected instead of patients."""
    assert Schema.from_toml(filled(draft(["age", name, "outcome"], public=False))).unit.column == name


@pytest.mark.parametrize("other", ["patient_age", "identity", "smoker", "no"])
def test_other_names_are_no_persons(other: str) -> None:
    assert Schema.from_toml(filled(draft(["age", other, "outcome"], public=False))).unit.column is None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("dates", lambda i: f"20{i:02d}-01-{1 + i % 28:02d}"),
        ("dates", lambda i: f"{1 + i % 28}.1.20{i:02d} 13:00"),
        ("numbers with commas", lambda i: f'"{i},5"'),
        ("numbers with commas", lambda i: f'"{i + 1},234.5"'),
    ],
)
def test_a_draft_says_what_would_count_as_missing(tmp_path, kind: str, value: Any) -> None:
    """Before, dates were drafted as texts, and numbers with commas taken for identifiers."""
    path = tmp_path / "d.csv"
    path.write_text("label,age,when\n" + "".join(f"{'ab'[i % 2]},{i},{value(i)}\n" for i in range(90)))
    text = draft(path, public=True)
    assert f"# 'when' holds {kind}" in text
    assert [column.name for column in Schema.from_toml(text).columns] == ["age"]


@pytest.mark.parametrize("low", ["2020-01-01", '"2020-01-01"'])
def test_bounds_that_are_dates_are_refused_with_a_remedy(low: str) -> None:
    text = f'[label]\nclasses = [0, 1]\n[columns.when]\nkind = "number"\nlow = {low}\nhigh = 2024-01-01\n'
    with pytest.raises(SchemaError, match=r"'low, high' of 'when' .* Got \('2020-01-01', '2024-01-01'\)\. .* days"):
        Schema.from_toml(text)


def test_drafts_of_other_kinds(tmp_path) -> None:
    path = tmp_path / "a.libsvm"
    path.write_text("1 1:1\n")
    assert isinstance(Schema.from_toml(draft(path, public=True)).columns[0], SparseColumn)
    path = tmp_path / "a.dat"
    path.write_text("ham\thello there friend\n")
    options = FileOptions(format="tsv", header=("label", "text"))
    assert 'kind = "text"' in draft(path, public=False, options=options)
    with pytest.raises(SourceError, match="format"):
        draft(path, public=True)


ODD_CLASSES = ["yes", b"no", {"no", "yes"}, frozenset({0, 1}), {"no": 0, "yes": 1}]


@pytest.mark.parametrize("odd", ODD_CLASSES, ids=lambda odd: type(odd).__name__)
def test_values_without_an_order_of_their_own_are_refused(odd: Any) -> None:
    for declare in (Schema.text, lambda values: Schema.matrix(2, values), lambda values: CategoryColumn("x", values)):
        with pytest.raises(SchemaError, match="a list or tuple"):
            declare(odd)
    with pytest.raises(ParameterError, match="in a list or tuple"):
        check_classes("BernoulliNB", odd)
    with pytest.raises(ParameterError, match="'classes' parameter of Workflow"):
        Workflow(classes=odd)


def test_classes_come_in_anything_that_has_an_order() -> None:
    for declared in (["a", "b"], np.array(["a", "b"]), pl.Series(["a", "b"]), dict.fromkeys("ab").keys()):
        assert check_classes("BernoulliNB", declared) == ("a", "b")


def test_numbers_of_numpy_are_numbers() -> None:
    assert Schema.matrix(np.int64(3), (0, 1)) == Schema.matrix(3, (0, 1))
    assert TextColumn("x", bits=np.int32(4)) == TextColumn("x", bits=4)
    assert NumberColumn("x", tuple(np.array([0, 1, 2]))) == NumberColumn("x", (0.0, 1.0, 2.0))
    made = NumberColumn.equal_bins("x", np.int64(0), np.float32(8), np.int8(2))
    assert made == NumberColumn.equal_bins("x", 0, 8, 2)
    assert type(made.edges[0]) is float
