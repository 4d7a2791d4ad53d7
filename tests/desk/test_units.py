"""Whose presence is hidden: what a schema or a caller says is never weakened in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.cli import main
from tacit.privacy.unit import Unit
from tacit.scoring import evaluate

N = 600
PERSONS = np.arange(N) // 3
X = np.eye(4)[np.arange(N) % 4]
Y = (np.arange(N) % 2).astype(np.int64)
PERSON = Unit.user("patient", 3)
SCHEMA = tacit.Schema.from_toml("""
label = {column = "out", classes = ["no", "yes"]}
person = {column = "patient", max_rows = 3}
[columns.ward]
kind = "category"
values = ["A", "B"]
""")
ROWS = replace(SCHEMA, unit=Unit.row())
TABLE = pl.DataFrame(
    {"ward": ["A", "B"] * (N // 2), "out": ["no", "yes"] * (N // 2), "patient": [f"p{p}" for p in PERSONS]}
)


def _account(unit: Unit = Unit(), epsilon: float = 9.0) -> Any:  # noqa: B008 - frozen
    return tacit.Ledger.open().account("data", budget=tacit.Budget(epsilon), unit=unit)


def _workflow(**settings: Any) -> Any:
    settings = {"classes": SCHEMA.classes, "schema": SCHEMA} | settings
    return tacit.Workflow(1.0, **settings).run(TABLE).receipt


def test_a_one_off_account_has_the_unit_of_the_schema() -> None:
    assert _workflow()["unit"] == str(PERSON)
    assert tacit.TabularClassifier(schema=SCHEMA).fit(TABLE).receipt_["unit"] == str(PERSON)
    assert _workflow(schema=ROWS, classifier=tacit.TabularClassifier(schema=SCHEMA))["unit"] == str(PERSON)
    ledger = tacit.Ledger.open()
    _workflow(ledger=ledger, dataset="stays")
    assert ledger.account("stays").unit == PERSON


def test_what_was_said_aloud_holds() -> None:
    assert _workflow(unit="row")["unit"] == "row"
    assert _workflow(unit=Unit.user("patient", 2))["unit"] == str(Unit.user("patient", 2))
    assert _workflow(unit="row", account=_account())["unit"] == "row"
    assert _workflow(schema=ROWS, account=_account(PERSON))["unit"] == str(PERSON)


FITS: dict[str, Callable[[Any], Any]] = {
    "workflow": lambda account: _workflow(account=account),
    "table": lambda account: tacit.TabularClassifier(schema=SCHEMA, account=account).fit(TABLE),
    "selecting": lambda account: tacit.SelectingClassifier(
        tacit.BernoulliNB(classes=SCHEMA.classes, account=account),
        tacit.TopKSelector(1, classes=SCHEMA.classes, account=account),
        SCHEMA,
    ).fit(TABLE, TABLE["out"], persons=TABLE["patient"]),
}


@pytest.mark.parametrize("unit", [Unit.row(), Unit.user("patient", 2)], ids=str)
@pytest.mark.parametrize("name", FITS)
def test_an_account_of_another_unit_than_the_schema_is_refused(name: str, unit: Unit) -> None:
    account = _account(unit)
    with pytest.raises(tacit.PrivacyError, match=r"The schema protects 'user .*, but the account protects"):
        FITS[name](account)
    assert account.spent.epsilon == 0
    FITS[name](_account(PERSON))


def test_a_selecting_classifier_needs_an_account_for_persons() -> None:
    with pytest.raises(tacit.PrivacyError, match="Pass both halves an account"):
        FITS["selecting"](None)


GIVEN: dict[str, Callable[[Any], Any]] = {
    "curve": lambda account: tacit.roc_curve(Y, X[:, 0], epsilon=1.0, persons=PERSONS, account=account),
    "paper's curve": lambda account: tacit.roc_curve(
        Y, X[:, 0], epsilon=1.0, persons=PERSONS, account=account, method="laplace"
    ),
    "naive Bayes": lambda account: tacit.BernoulliNB(account=account).fit(X, Y, persons=PERSONS),
    "selector": lambda account: tacit.CountSelector(k=1, account=account).fit(X, Y, persons=PERSONS),
    "texts": lambda account: tacit.TextClassifier(account=account).fit(["a b"] * N, Y, persons=PERSONS),
    "table": lambda account: tacit.TabularClassifier(schema=ROWS, account=account).fit(TABLE, persons=PERSONS),
    "black box": lambda account: tacit.BlackBoxClassifier(tacit.BernoulliNB(), account=account).fit(
        X, Y, persons=PERSONS
    ),
    "workflow": lambda account: tacit.Workflow(account=account).run(X, Y, persons=PERSONS),
    "evaluate": lambda account: evaluate(
        tacit.BernoulliNB().fit(X, Y), X, Y, epsilon=1.0, persons=PERSONS, account=account
    ),
}


@pytest.mark.parametrize("paying", ["row account", "one-off"])
@pytest.mark.parametrize("name", GIVEN)
def test_persons_that_nobody_would_look_at_are_refused(name: str, paying: str) -> None:
    account = _account() if paying == "row account" else None
    with pytest.raises(tacit.PrivacyError, match="persons= was given, but the account protects rows"):
        GIVEN[name](account)
    assert account is None or account.spent.epsilon == 0


def test_a_model_is_evaluated_for_the_persons_whom_it_protects() -> None:
    model = tacit.BernoulliNB(account=_account(PERSON)).fit(X, Y, persons=PERSONS)
    assert evaluate(model, X, Y, epsilon=1.0, persons=PERSONS).receipt["unit"] == str(PERSON)
    assert evaluate(model, X, Y, epsilon=1.0, unit="row").receipt["unit"] == "row"
    with pytest.raises(tacit.PrivacyError, match="The model protects 'user"):
        evaluate(model, X, Y, epsilon=1.0, account=_account())
    assert evaluate(model, X, Y, epsilon=1.0, account=_account(), unit="row").receipt["unit"] == "row"


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main([*arguments, "--epsilon", "1"])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_the_command_line_keeps_to_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("schema.toml").write_text(SCHEMA.to_toml())
    TABLE.write_csv("stays.csv")
    code, out, _ = _run(capsys, "run", "stays.csv", "--schema", "schema.toml", "--out", "out", "--json")
    assert (code, json.loads(out)["receipt"]["unit"]) == (0, str(PERSON))
    assert _run(capsys, "run", "stays.csv", "--schema", "schema.toml", "--out", "o", "--unit", "row")[0] == 2
    code, out, _ = _run(capsys, "evaluate", "out/model.json", "stays.csv", "--dataset", "new")
    assert (code, f"protected: {PERSON}" in out) == (0, True)
    code, out, _ = _run(capsys, "evaluate", "out/model.json", "stays.csv", "--dataset", "rows", "--unit", "row")
    assert (code, "protected: row" in out) == (0, True)
    main(["ledger", "create", "plain", "--epsilon", "9"])
    code, _, err = _run(capsys, "evaluate", "out/model.json", "stays.csv", "--dataset", "plain")
    assert (code, "The model protects 'user" in err, "--unit" in err) == (2, True, True)
    code, _, err = _run(capsys, "compare", "out/model.json", "out/model.json", "stays.csv", "--dataset", "plain")
    assert (code, "The model protects 'user" in err) == (2, True)
    code, _, err = _run(capsys, "run", "stays.csv", "--schema", "schema.toml", "--out", "o", "--dataset", "plain")
    assert (code, "The schema protects 'user" in err, "'unit'" in err) == (2, True, True)


@given(st.text(min_size=1), st.integers(1, 10**6))
def test_a_unit_reads_back_from_its_receipt(column: str, rows: int) -> None:
    for unit in (Unit.row(), Unit.user(column, rows)):
        assert Unit.read(str(unit)) == unit


@pytest.mark.parametrize("text", ["", "user", "user (column x, at most 1 row)", "user (column 'x', at most 0 rows)"])
def test_another_unit_is_refused(text: str) -> None:
    with pytest.raises(tacit.ParameterError):
        Unit.read(text)
