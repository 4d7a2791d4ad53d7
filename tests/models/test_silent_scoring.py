"""Scoring private rows is silent: a model from a file can have weights that overflow for one row alone."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.data.hashing import hash_strings
from tacit.models import tuning
from tacit.models.storage import _digest
from tacit.scoring import evaluate

LARGE = 1.7e308
X = np.eye(4, dtype=int)[np.arange(400) % 4]
Y = np.arange(400) % 2
BOTH = np.vstack([X, [[1, 1, 0, 0]]])  # the only row that has the first two features
BOTH_Y = np.append(Y, 1)
TEXTS = [f"win cash {i}" if i % 2 else f"lunch day {i}" for i in range(400)]
TABLE = pl.DataFrame({"a": ["x", "y"] * 200, "b": ["y", "x"] * 200})
SCHEMA = tacit.Schema.from_dict(
    {
        "label": {"classes": [0, 1]},
        "columns": {name: {"kind": "category", "values": ["x", "y"]} for name in "ab"},
    }
)


def bayes() -> Any:
    model = tacit.BernoulliNB(random_state=0).fit(X, Y)
    model.weights_ = np.array([[0.0] * 4, [LARGE, LARGE, 0.0, 0.0]])
    return model


def regression() -> Any:
    model = tacit.LogisticRegression(random_state=0).fit(X, Y)
    model.coef_ = np.array([[LARGE, LARGE, 0.0, 0.0]])
    return model


def table() -> Any:
    model = tacit.TabularClassifier(schema=SCHEMA, random_state=0).fit(TABLE, Y)
    model.weights_ = np.zeros_like(model.weights_)
    model.weights_[1, [0, 4 if model.weights_.shape[1] > 4 else 2]] = LARGE
    return model


def text() -> Any:
    model = tacit.TextClassifier(random_state=0).fit(TEXTS, Y)
    for bucket in (int(hash) & (2**14 - 1) for hash in hash_strings(["jane", "doe"])):
        model.rules_.weights[bucket * 5 : bucket * 5 + 5, 0] = LARGE
    return model


MORE_TABLE = pl.concat([TABLE, pl.DataFrame({"a": ["x"], "b": ["x"]})])
CASES: dict[str, tuple[Callable[[], Any], Any]] = {
    "naive Bayes": (bayes, BOTH),
    "regression": (regression, BOTH),
    "table": (table, MORE_TABLE),
    "text": (text, [*TEXTS, "jane doe is ill"]),
}


@contextmanager
def as_errors() -> Iterator[None]:
    """Whatever warns, raises."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("name", CASES)
def test_the_weights_overflow_for_the_row(name: str) -> None:
    """Or else what follows could not fail."""
    make, rows = CASES[name]
    with as_errors(), pytest.raises((FloatingPointError, RuntimeWarning)):
        make().predict_proba(rows[-1:])


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_told_while_rows_are_scored(name: str) -> None:
    """The warning came before any charge, if and only if the row was there."""
    make, rows = CASES[name]
    model, account = make(), tacit.Ledger.open().account("a", budget=tacit.Budget(1.0))
    with as_errors():
        evaluate(model, rows, BOTH_Y, epsilon=0.5, account=account)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        evaluate(model, rows, BOTH_Y, epsilon=0.5, account=account, version="another")
    assert len(account.entries()) == 2
    assert not seen


def test_nothing_is_told_while_a_workflow_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = tacit.BernoulliNB.fit

    def overflowing(self: Any, *given: Any, **named: Any) -> Any:
        fit(self, *given, **named)
        self.weights_ = np.array([[0.0] * 4, [LARGE, LARGE, 0.0, 0.0]])
        return self

    monkeypatch.setattr(tacit.BernoulliNB, "fit", overflowing)
    many = np.vstack([X, [[1, 1, 0, 0]] * 50])
    labels = np.append(Y, [1] * 50)
    with as_errors():
        tacit.Workflow(epsilon=1.0, random_state=0).run(many, labels)
        tacit.tune([tacit.BernoulliNB()], many, labels, epsilon=3.0, random_state=0)


def test_a_run_of_tuning_guesses_in_silence() -> None:
    with as_errors():
        assert len(tuning._guess(bayes(), BOTH)) == len(BOTH)


def test_a_fit_does_not_raise_where_numpy_is_told_to() -> None:
    """It came after the charge, by some rows and not by others."""
    with np.errstate(all="raise"):
        assert tacit.CountSelector(k=2, rounds=2, epsilon=50.0, random_state=0).fit(X, Y).receipt_["epsilon"] == 50.0


def test_funds_are_looked_at_before_rows_are(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[Any] = []
    model, account = bayes(), tacit.Ledger.open().account("a", budget=tacit.Budget(0.5))
    monkeypatch.setattr(type(model), "predict_proba", lambda self, rows: scored.append(rows))
    with pytest.raises(tacit.BudgetError, match=r"this curve.*Nothing was charged"):
        evaluate(model, X, Y, epsilon=1.0, account=account)
    assert not scored


@pytest.mark.parametrize("number", [LARGE, -1e100])
def test_a_file_with_weights_that_no_release_has_is_refused(number: float, tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    tacit.BernoulliNB(random_state=0).fit(X, Y).save(file)
    body = json.loads(file.read_text())
    body["model"]["arrays"]["weights_"][0][0] = number
    body["sha256"] = _digest(body["model"])
    file.write_text(json.dumps(body))
    with pytest.raises(tacit.errors.ModelError, match=r"'weights_' has numbers beyond"):
        tacit.load(file)
