"""What becomes of a value depends on that value alone, whatever stands beside it and whatever type its column has."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

import tacit
from tacit.data.features import as_numbers, as_text, encode, match_values, plain_text
from tacit.data.schema import NumberColumn, Schema
from tacit.data.scores import Scores
from tacit.data.series import as_series
from tacit.desk.blackbox import declared_rows
from tacit.desk.tuning import noisy_correct
from tacit.privacy._seal import open_exact

ZONE = dt.timezone(dt.timedelta(hours=5, minutes=30))
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.floats(width=32).map(np.float32),
    st.text(),
    st.binary(),
    st.decimals(allow_nan=True),
    st.fractions(),
    st.dates(),
    st.times(),
    st.datetimes(),
    st.datetimes(timezones=st.just(ZONE)),
    st.timedeltas(),
    st.just([1]),
    st.just(np.array([1, 2])),
    st.sampled_from([np.timedelta64(5, unit) for unit in ("D", "s", "ms", "ns")]),
    st.sampled_from([np.datetime64(10**9, "Y"), np.datetime64(2**62, "ms"), np.datetime64(3, "ns")]),
)


def texts(values: Any) -> list[str | None]:
    return as_text(as_series("x", values), "x").to_list()


@given(st.lists(VALUES, min_size=1, max_size=6), VALUES)
@example([2**60, 2**60 + 1], 0.5)
@example([2**60, 2**60 + 1], None)
@example([10**400], "x")
@example([Decimal("1E+999999999")], "x")
@example([dt.datetime(1, 1, 1, tzinfo=ZONE)], 1)
def test_one_more_value_changes_no_other(values: list[Any], other: Any) -> None:
    assert texts([*values, other])[:-1] == texts(values) == [texts([value])[0] for value in values]
    numbers = as_numbers(as_series("x", [*values, other]), ())[0][:-1]
    assert np.array_equal(numbers, as_numbers(as_series("x", values), ())[0], equal_nan=True)


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
@pytest.mark.parametrize("kind", ["m", "M"])
@pytest.mark.parametrize("number", [0, 5, 2**62, -(2**63)])
def test_times_of_numpy_are_the_same_in_an_array_of_objects(unit: str, kind: str, number: int) -> None:
    """A duration of nanoseconds was a whole number there, and a date that no calendar knows was the text None."""
    array = np.array([number], dtype=np.int64).view(f"{kind}8[{unit}]")
    assert texts(array) == texts(list(array)) == texts([*array, "?"])[:1]


@given(st.lists(st.one_of(st.integers(-3, 3), st.floats(), st.booleans()), min_size=1, max_size=6), VALUES)
@example([1, -1, -1], "?")
@example([-1.5, 0.5], "?")
@example([True, False], 2)
def test_one_more_value_makes_no_other_a_missing_one(values: list[Any], other: Any) -> None:
    missing = ("", "-1", "-1.5", "1.0", "inf", "false", "True")
    (codes, absent), (more, gone) = (
        match_values(as_series("x", column), (1, 2), missing) for column in (values, [*values, other])
    )
    assert (codes.tolist(), absent.tolist()) == (more[:-1].tolist(), gone[:-1].tolist())
    schema = Schema((NumberColumn("x", (-2, -1, 0, 1, 2)),), classes=(0, 1), missing=missing)
    bins, others = (
        encode(as_series("x", column).to_frame(), schema, None, np.zeros(len(column), dtype=np.int64)).indices
        for column in (values, [*values, other])
    )
    assert bins.tolist() == others[:-1].tolist()


def test_a_number_that_stands_for_a_missing_value_is_missing_in_any_column() -> None:
    schema = Schema((NumberColumn("x", (0, 1, 2)),), classes=(0, 1), missing=("", "-9"))
    for column in ([-9, 1, 0], [-9.0, 1.5, 0], ["-9", "1", "x"]):
        rows = encode(as_series("x", column).to_frame(), schema, None, np.zeros(3, dtype=np.int64))
        assert schema.feature_name(int(rows.indices[0])) == "x: missing"
        assert schema.feature_name(int(rows.indices[1])) == "x in [1, 2]"


FAR: list[tuple[Any, Any, int]] = [
    *((pl.Int64, pl.Datetime(unit, zone), 2**63 - 1) for unit in ("ms", "us") for zone in (None, "Asia/Kolkata")),
    *((pl.Int64, pl.Datetime(unit), -(2**63) + 1) for unit in ("ms", "us")),
    (pl.Int32, pl.Date(), 2**31 - 1),
    (pl.Int32, pl.Date(), -(2**31) + 1),
]


@pytest.mark.parametrize(("whole", "kind", "far"), FAR)
def test_a_moment_that_no_calendar_knows_is_missing(whole: Any, kind: Any, far: int) -> None:
    column = pl.Series("x", [0, far, None], dtype=whole).cast(kind)
    assert texts(column)[1:] == [None, None]
    assert texts(column)[:1] == texts(column[:1])
    assert np.isnan(as_numbers(column, ())[0]).all()


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_moments_far_away_that_a_calendar_knows_are_told(unit: str) -> None:
    steps = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    ends = pl.Series("x", [min(8_200_000_000_000 * steps, 2**63 - 1)] * 2) * pl.Series([1, -1])
    assert None not in texts(ends.cast(pl.Datetime(unit)))


COLUMNS: list[tuple[Any, Any]] = [
    (pl.Series([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 1, 2, 3, 120_000)], dtype=pl.Datetime("ms")), None),
    (pl.Series([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 1, 2, 3, 120_000)], dtype=pl.Datetime("ns")), None),
    (pl.Series([dt.datetime(2020, 1, 1)]).dt.replace_time_zone("Asia/Kolkata"), dt.datetime(2020, 1, 1, tzinfo=ZONE)),
    (pl.Series([Decimal("1.5"), Decimal("1.25"), Decimal("100")]), None),
    (pl.Series([dt.time(1, 2, 3, 5000)]), None),
    (pl.Series([dt.timedelta(days=-1, milliseconds=3)]), None),
    (np.array(["2020-01-01T00:00:00"], dtype="M8[s]"), dt.datetime(2020, 1, 1)),
    (np.array([0.1], dtype=np.float32), None),
    (np.array([2**63], dtype=np.uint64), 2**63),
]


@pytest.mark.parametrize(("column", "same"), COLUMNS)
def test_a_typed_column_reads_as_its_values_among_texts(column: Any, same: Any) -> None:
    values = [same] if same is not None else list(column)
    assert texts(column) == texts([*values, "a text"])[:-1]


@pytest.mark.parametrize("kind", ["Int64", "UInt64", "int64[pyarrow]"])
def test_a_gap_among_long_whole_numbers_of_pandas(kind: str) -> None:
    pd = pytest.importorskip("pandas")
    ids = [2**60 + i for i in range(50)]
    assert texts(pd.Series([*ids, pd.NA], dtype=kind)) == [*map(str, ids), None]
    frame, longer = pd.DataFrame({"id": pd.array(ids, dtype=kind)}), pd.DataFrame({"id": pd.array([*ids, pd.NA], kind)})
    train, train_of_more = (set(tacit.split(X, None, 0.5, random_state=3)[0].index) for X in (frame, longer))
    assert train_of_more - {50} == train


@pytest.mark.parametrize(
    "values", [[1, 2, 3], [0.5, 1.5, 2.5], ["a", "b", "c"], np.array([1, 2, 3], dtype="M8[ns]"), [True, False, True]]
)
def test_what_is_masked_is_missing_and_changes_no_other(values: Any) -> None:
    whole = texts(np.array(values))
    assert texts(np.ma.array(values, mask=[False, True, False])) == [whole[0], None, whole[2]]
    assert texts(np.ma.array(values)) == whole


def test_dates_of_pandas() -> None:
    pd = pytest.importorskip("pandas")
    moments = [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01 00:00:00.5")]
    assert (
        texts(pd.Series(moments))
        == texts([*moments, "unknown"])[:-1]
        == ["2020-01-01 00:00:00", "2020-01-01 00:00:00.5"]
    )
    fine = pd.Timestamp("2020-01-01 00:00:00.123456789")
    assert texts(pd.Series([fine, *moments]))[1:] == texts(pd.Series(moments))
    assert texts(pd.Series([pd.NaT])) == [None]


ODD = ["?", None, 2**70, [1, 2], float("nan"), b"1x", np.array([1, 2])]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_an_odd_label_leaves_the_others_what_they_are(odd: Any) -> None:
    labels = [0, 1, 1, 1]
    data = Scores(
        [*labels, odd], [0.5, 0.5, None, "high", 0.5], pos_label=1, score_range=(0, 1), unit=tacit.Unit.row(), seed=1
    )
    assert open_exact(data.totals()).tolist() == [2, 3]
    X, y = declared_rows(np.arange(5)[:, None], [*labels, odd], (0, 1))
    assert X.ravel().tolist() == [0, 1, 2, 3]
    assert y.dtype.kind == "i"
    assert y.tolist() == labels
    assert noisy_correct(np.array([0, 1, 1, 0, 0]), [*labels, odd], (0, 1), 10**6, 0) == 3


def test_labels_of_ten_digits_and_more() -> None:
    long = 2**60
    data = Scores([long, long + 1, "?"], [0.5] * 3, pos_label=long, score_range=(0, 1), unit=tacit.Unit.row(), seed=1)
    assert open_exact(data.totals()).tolist() == [2, 1]
    with pytest.raises(tacit.ParameterError, match="classes"):
        tacit.BernoulliNB(classes=(0, long)).fit([[1], [0]], [0, long])


def test_odd_cells_are_absent_and_never_told() -> None:
    pd = pytest.importorskip("pandas")
    y = [0, 1] * 20
    plain = [[1, 0], [0, 1]] * 20
    whole = tacit.BernoulliNB(epsilon=100, max_ones=2, random_state=0).fit([*plain[:-1], [0, 1]], y)
    for cell in ("HIV positive", None, 10**400, [1], (1, 2), np.array([1, 2]), {}, b"x"):
        odd = [*plain[:-1], [cell, 1]]
        array = np.empty((len(odd), 2), dtype=object)
        array[:-1], array[-1, 0], array[-1, 1] = odd[:-1], cell, 1
        for X in (odd, array, pd.DataFrame(odd, columns=["a", "b"])):
            found = tacit.BernoulliNB(epsilon=100, max_ones=2, random_state=0).fit(X, y)
            assert np.array_equal(found.weights_, whole.weights_) or cell == 10**400


class Foreign(dt.tzinfo):
    """A value of a foreign type, and a zone: both fail wherever they are asked."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("HIV positive")

    def utcoffset(self, moment: dt.datetime | None) -> dt.timedelta:
        raise RuntimeError("HIV positive")


@pytest.mark.parametrize("odd", [Foreign(), dt.datetime(2020, 1, 1, tzinfo=Foreign())])
def test_a_foreign_value_that_fails_is_never_told(odd: Any) -> None:
    assert as_text(as_series("x", ["a", odd, "b"]), "x").to_list()[::2] == ["a", "b"]


def test_a_complex_cell_leaves_the_others_real() -> None:
    pd = pytest.importorskip("pandas")
    assert texts(pd.Series([1.5, 2, float("nan"), 1j]))[:3] == texts([1.5, 2.0, None])
    y, rows = [0, 1] * 20, [[1, 0], [0, 1]] * 19 + [[1, 0]]
    whole = tacit.BernoulliNB(epsilon=100, max_ones=2, random_state=0).fit([*rows, [0, 1]], y)
    for X in ([*rows, [1j, 1]], pd.DataFrame([*rows, [1j, 1]])):
        found = tacit.BernoulliNB(epsilon=100, max_ones=2, random_state=0).fit(X, y)
        assert np.array_equal(found.weights_, whole.weights_)


@pytest.mark.parametrize("X", [np.array([3.25, 1]), np.array([[3.25j], [1]]), [[3.25, 1], [1]]])
def test_a_wrong_matrix_is_refused_without_its_values(X: Any) -> None:
    with pytest.raises(tacit.ParameterError, match="'X' parameter of BernoulliNB") as refused:
        tacit.BernoulliNB().fit(X, [0, 1])
    assert "3.25" not in str(refused.value)


def test_whatever_stands_among_texts_is_one() -> None:
    usual = ["win cash", "lunch"] * 30
    y = [0, 1] * 30
    for odd in (12345678, float("nan"), b"secret", None, ["a"]):
        tacit.TextClassifier(bits=8, random_state=0).fit([*usual, odd], [*y, 1])


def test_persons_beside_a_matrix_may_be_anything() -> None:
    unit = tacit.Unit.user("patient", 1)
    for odd in (7, float("nan"), None, 2.5):
        account = tacit.Ledger.open().account("a", budget=tacit.Budget(1.0), unit=unit)
        tacit.BernoulliNB(max_ones=1, account=account).fit([[1]] * 3, [0, 1, 1], persons=["a", "b", odd])


def test_a_huge_score_is_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    tacit.roc_curve([0, 1], [0.1, 1.7e308], epsilon=1, score_range=(0.0, 0.5))
    assert not recwarn.list


TRUTHS: dict[str, Any] = {
    "python": [True, False, True, None],
    "among texts": [True, False, True, "?"],
    "among numbers": [True, False, True, 7.5],
    "numpy": np.array([True, False, True, None], dtype=object),
    "polars": pl.Series([True, False, True, None]),
    "CSV of Python": ["True", "False", "True", ""],
    "CSV of R": ["TRUE", "FALSE", "TRUE", "NA"],
    "CSV of Polars": ["true", "false", " true", None],
}


@pytest.mark.parametrize("column", TRUTHS)
@pytest.mark.parametrize("classes", [("False", "True"), ("false", "true"), ("FALSE ", "TRUE"), (0, 1), (False, True)])
def test_truth_values_are_met_however_they_are_written(column: str, classes: tuple[Any, ...]) -> None:
    codes, _ = match_values(as_series("y", TRUTHS[column]), classes, ("",))
    assert codes.tolist() == [1, 0, 1, -1]


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (("True", "true"), [1, 0, -1, -1, -1]),  # two of a kind: each stands for itself alone
        (("yes", "True"), [1, 1, 1, -1, -1]),
        (("t", "tRue"), [1, 1, 1, -1, 0]),
        (("falsehood", "t"), [-1, -1, -1, -1, 1]),
    ],
)
def test_other_texts_are_compared_as_they_are(classes: tuple[str, str], expected: list[int]) -> None:
    codes, _ = match_values(pl.Series(["true", "True", "TRUE", "trUE", "t"]), classes, ())
    assert codes.tolist() == expected


def test_a_label_of_truth_may_be_declared_as_text() -> None:
    y = np.array([True, False] * 100)
    model = tacit.BernoulliNB(epsilon=1e6, classes=("False", "True")).fit(y[:, None], y)
    assert model.class_count_.tolist() == [100, 100]
    curve = tacit.roc_curve(y, y * 1.0, epsilon=1e6, pos_label="True")
    assert curve.auc > 0.9


@pytest.mark.parametrize("odd", ["text", 1j, None, 2**70])
@pytest.mark.parametrize("kind", [np.complex64, np.complex128, np.longdouble])
def test_numbers_of_rare_types_stay_themselves_beside_anything(kind: Any, odd: Any) -> None:
    """One complex number makes a column complex, and one text in it a column of objects: neither changes the others."""
    values = [kind(1), kind(0.5), kind(-3)]
    alone = plain_text(as_series("x", np.array(values)), ()).to_list()
    assert alone == ["1", "0.5", "-3"]
    for mixed in ([*values, odd], np.array([*values, odd], dtype=object)):
        assert plain_text(as_series("x", mixed), ()).to_list()[:3] == alone


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(np.float64).max, reason="no longer numbers here")
def test_a_number_beyond_64_bits_is_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    """A warning tells that it is there, and where warnings are errors, ends the program."""
    long = np.array(["1", "1e4000"], dtype=np.longdouble)
    X, y = np.stack([long, long], axis=1), [0, 1]
    assert as_series("x", long).to_list() == [1.0, np.inf]
    for matrix in (X, X.tolist(), sp.csr_array(X)):
        tacit.BernoulliNB(random_state=0).fit(matrix, y)
        tacit.split(matrix, y, random_state=0)
    tacit.roc_curve(y, long, epsilon=1.0, random_state=0)
    tacit.roc_curve(long, y, epsilon=1.0, random_state=0)
    assert not recwarn.list
