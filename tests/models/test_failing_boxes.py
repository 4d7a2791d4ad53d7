"""A black box that fails on a private row tells of none: the row has the lowest score, whatever stands beside it."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import tacit
from tacit.data.columns import CategoryColumn
from tacit.data.schema import Schema
from tacit.desk import parts
from tacit.desk import tuning as desk_tuning
from tacit.desk.blackbox import answers
from tacit.models import tuning
from tacit.privacy.exact import Exact
from tacit.scoring import evaluate

X = np.random.default_rng(0).integers(0, 5, (200, 2)).astype(float)
Y = np.arange(200) % 2
ODD, ODD_Y = np.vstack([X[:77], [[4321.0, 77.0]], X[77:]]), np.insert(Y, 77, 1)


class Careful:
    """Knows the numbers 0 to 4 alone, as an encoder of declared categories does, and warns of what is rare."""

    epsilon = 0.5

    def fit(self, X: Any, y: Any) -> None:
        self.seen = X.shape

    def predict_proba(self, X: Any) -> Any:
        rows = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
        bad = rows[~np.isin(rows, range(5)).all(axis=1)]
        if len(bad):
            raise ValueError(f"Found unknown categories {bad.tolist()}")
        if (rows == 4).any():
            warnings.warn(f"a rare row: {rows[0]}", stacklevel=1)
        chance = (rows[:, 0] + 0.5) / 5.5
        return np.column_stack([1 - chance, chance])


class Leaving(Careful):
    """Leaves the program at a row that it does not know, which is no Exception."""

    def predict_proba(self, X: Any) -> Any:
        try:
            return super().predict_proba(X)
        except ValueError as error:
            raise SystemExit(str(error)) from None


class Abstaining:
    """Gives labels in a list, and "unknown" for a row that it does not know: of which numpy would make texts."""

    epsilon = 0.5

    def fit(self, X: Any, y: Any) -> None:
        self.seen = X.shape

    def predict(self, X: Any) -> list[Any]:
        rows = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
        return [int(row[0] > 2) if set(row) <= set(range(5)) else "unknown" for row in rows]


class Dropping(Careful):
    """Leaves out the rows that it does not know, without a word."""

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X[np.isin(X, range(5)).all(axis=1)])


def encoding() -> Any:
    return make_pipeline(OneHotEncoder(categories=[list(range(5))] * 2), BernoulliNB())


def boxed(box: Any) -> Any:
    return tacit.BlackBoxClassifier(box, epsilon=0.5)


def rich() -> tacit.ledger.Account:
    return tacit.Ledger.open().account("a", budget=tacit.Budget(99.0))


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The scores of which curves are released."""
    seen: list[Any] = []
    whole = parts.release_scores
    monkeypatch.setattr(parts, "release_scores", lambda y, s, **given: seen.append(s) or whole(y, s, **given))
    return seen


BOXES = {"careful": Careful(), "leaving": Leaving(), "dropping": Dropping(), "encoding": encoding()}


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
def test_a_row_that_a_box_fails_on_has_the_lowest_score(
    box: Any, released: list[Any], recwarn: pytest.WarningsRecorder
) -> None:
    """Its error quoted the row, and came before the charge, so that it could be had for nothing."""
    model, account = boxed(box).fit(X, Y), rich()
    for rows, labels in ((X, Y), (ODD, ODD_Y)):
        evaluate(model, rows, labels, epsilon=0.1, account=account)
    assert len(account.entries()) == 2
    assert np.array_equal(np.delete(released[1], 77), released[0])
    assert released[1][77] == 0.0
    assert not recwarn.list


def test_a_box_fails_on_a_row_of_a_workflow(released: list[Any], recwarn: pytest.WarningsRecorder) -> None:
    sides: list[Any] = []
    for rows, labels in ((X, Y), (ODD, ODD_Y)):
        run = tacit.Workflow(1.0, classifier=boxed(Careful()), account=rich(), test_size=0.9, random_state=4)
        assert run.run(sp.csr_array(rows), labels).receipt["epsilon"] == 1.0
        sides.append(released.pop())
    assert len(sides[1]) == len(sides[0]) + 1, "the odd row is in the test part, for this seed"
    assert sorted(sides[1]) == [0.0, *sorted(sides[0])]
    assert not recwarn.list


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array, np.ndarray.tolist, pd.DataFrame])
def test_a_row_that_a_box_fails_on_is_no_hit_in_tuning(
    made: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    guesses: list[Any] = []
    whole = tuning.noisy_correct
    monkeypatch.setattr(tuning, "noisy_correct", lambda g, *others: guesses.append(g) or whole(g, *others))
    known = boxed(Careful()).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        usual = known.predict(X).tolist()
    tacit.tune([boxed(Careful())], made(ODD), ODD_Y, epsilon=3.0)
    assert list(np.delete(guesses[-1], 77)) == usual
    assert guesses[-1][77] is None
    assert not recwarn.list


def test_a_row_that_a_box_does_not_label_changes_no_other(released: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """One text in the list of labels made texts of all of them, which are none of the classes."""
    model = boxed(Abstaining()).fit(X, Y)
    for rows, labels in ((X, Y), (ODD, ODD_Y)):
        evaluate(model, rows, labels, epsilon=0.1, account=rich())
    assert np.array_equal(np.delete(released[1], 77), released[0])
    assert (len(set(released[0])), released[1][77]) == (2, 0.5)
    right: list[Any] = []
    monkeypatch.setattr(desk_tuning, "Exact", lambda values, **known: right.append(values) or Exact(values, **known))
    for rows, labels in ((X, Y), (ODD, ODD_Y)):
        desk_tuning.noisy_correct(model.estimator_.predict(rows), labels, (0, 1), Fraction(1), 1)
        desk_tuning.noisy_correct(answers(model.estimator_.predict, rows, None), labels, (0, 1), Fraction(1), 1)
    assert len({int(one[0]) for one in right}) == 1
    assert right[0] > 50


def test_labels_may_stand_in_lists_of_their_own() -> None:
    class Nested(Abstaining):
        def predict(self, X: Any) -> list[Any]:
            return [[label] for label in super().predict(X)]

    flat, nested = (boxed(box).fit(X, Y).predict_proba(ODD) for box in (Abstaining(), Nested()))
    assert np.array_equal(flat, nested)
    assert len(np.unique(flat)) == 3


def wary(X: Any, y: Any, epsilon: float) -> Any:
    """Looks at the rows for nothing but its warnings."""
    np.log(np.asarray(X, dtype=float)[:, 0] - 4321.0)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for row in np.asarray(X):
            if row[0] == 4321.0:
                warnings.warn(f"an odd row: {row}", stacklevel=1)
    return lambda rows: np.full(rows.shape[0], 0.5)


LEARN: dict[str, Callable[[Any, Any], Any]] = {
    "fit": lambda rows, labels: tacit.BlackBoxClassifier(wary, epsilon=0.5).fit(rows, labels),
    "tune": lambda rows, labels: tacit.tune([tacit.BlackBoxClassifier(wary, epsilon=0.01)], rows, labels, epsilon=1.0),
    "workflow": lambda rows, labels: tacit.Workflow(
        classifier=tacit.BlackBoxClassifier(wary, epsilon=0.5), test_size=0.1, random_state=1
    ).run(rows, labels),
}


@pytest.mark.parametrize("kind", [ValueError, SystemExit, GeneratorExit])
def test_what_a_box_fails_of_while_it_learns_is_told_by_its_type_alone(kind: type[BaseException]) -> None:
    def failing(X: Any, y: Any, epsilon: float) -> Any:
        raise kind("Zoe has HIV")

    with pytest.raises(tacit.PrivacyError, match=kind.__name__) as told:
        tacit.BlackBoxClassifier(failing, epsilon=0.5).fit(X, Y)
    assert "Zoe" not in "".join(traceback.format_exception(told.value))


def test_ctrl_c_ends_a_box() -> None:
    def ask(rows: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answers(ask, X, 0.0)


@pytest.mark.parametrize("name", LEARN)
def test_nothing_is_told_of_what_a_box_warns_of_while_it_learns(name: str, recwarn: pytest.WarningsRecorder) -> None:
    """numpy warned, after the charge, if and only if the odd row was there."""
    LEARN[name](np.repeat(ODD, 3, axis=0), np.repeat(ODD_Y, 3))
    assert not recwarn.list
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        LEARN[name](np.repeat(ODD, 3, axis=0), np.repeat(ODD_Y, 3))


def test_a_box_behind_a_selector(released: list[Any]) -> None:
    class Lonely(Careful):
        def predict_proba(self, X: Any) -> Any:
            if (X.sum(axis=1) == 2).any():
                raise ValueError("HIV positive")
            return super().predict_proba(X)

    rows = np.vstack([np.eye(2)[Y], [[1, 1]]])
    chained = tacit.SelectingClassifier(boxed(Lonely()), tacit.CountSelector(k=2))
    model = chained.fit(sp.csr_array(rows), [*Y, 1])
    evaluate(model, sp.csr_array(rows), [*Y, 1], epsilon=0.1)
    assert (released[0][-1], (released[0][:-1] > 0).all()) == (0.0, True)


def test_a_box_behind_a_description_is_asked_for_made_up_rows_of_it() -> None:
    frame = pd.DataFrame({"x": ["a", "b"] * 50, "y": [0, 1] * 50})
    schema = Schema((CategoryColumn("x", ("a", "b")),), classes=(0, 1), label="y")
    for box, account in ((Careful(), rich()), (Broken(), rich())):
        model = tacit.SelectingClassifier(boxed(box), None, schema).fit(frame, frame["y"])
        if type(box) is Careful:
            evaluate(model, frame, epsilon=0.1, account=account, label="y")
            continue
        with pytest.raises(tacit.PrivacyError, match="Broken fails on rows that nobody brought"):
            evaluate(model, frame, epsilon=0.1, account=account, label="y")
        assert not account.entries()


class Broken(Careful):
    def predict_proba(self, X: Any) -> Any:
        raise RuntimeError(f"a row of {X.shape} is odd: {X!r}")


class Wide(Careful):
    def predict_proba(self, X: Any) -> Any:
        return np.zeros((X.shape[0], 3))


@pytest.mark.parametrize(
    ("box", "error", "words"),
    [
        (Broken(), tacit.PrivacyError, r"Broken fails on rows that nobody brought \(RuntimeError\).*not charged"),
        (Wide(), tacit.ParameterError, "one that gives probabilities, rows × 2 classes"),
    ],
)
@pytest.mark.parametrize("data", [X, sp.csr_array(X), ["win cash", "lunch"] * 100], ids=["dense", "sparse", "texts"])
def test_a_box_that_fails_on_any_row_is_refused_before_its_curve_is_charged(
    box: Any, error: type[Exception], words: str, data: Any
) -> None:
    """With private rows and without: they do not decide."""
    model, account = boxed(box).fit(data, Y), rich()
    for rows, labels in ((data, Y), (data[:0], Y[:0])):
        with pytest.raises(error, match=words) as refused:
            evaluate(model, rows, labels, epsilon=0.1, account=account)
        assert "is odd" not in "".join(traceback.format_exception(refused.value))
    assert not account.entries()


def test_another_number_of_columns_is_refused() -> None:
    """All rows would have the lowest score else, and that would be paid for."""
    model, account = boxed(Careful()).fit(X, Y), rich()
    with pytest.raises(ValueError, match="3 features"):
        evaluate(model, np.zeros((9, 3)), np.zeros(9, dtype=int), epsilon=0.1, account=account)
    assert not account.entries()


@pytest.mark.parametrize("odd", [0, 1, 8, [0, 1, 2], [3, 8], range(9)])
def test_answers_are_those_of_rows_by_themselves(odd: Any) -> None:
    failing = np.isin(np.arange(9), odd)

    def ask(rows: Any) -> Any:
        if any(failing[row] for row in rows):
            raise KeyError(rows)
        return [row * 10 for row in rows]

    for rows in (list(range(9)), np.arange(9), pd.Series(range(9))):
        expected = [None if bad else 10 * row for row, bad in enumerate(failing)]
        assert list(answers(ask, rows, None)) == expected
    assert len(answers(ask, [], None)) == 0
