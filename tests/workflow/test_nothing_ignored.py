"""What a user passes is used or refused, never passed over: labels beside files, other classes, other accounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit

N = 400
TABLE = pl.DataFrame(
    {"colour": ["red", "blue"] * (N // 2), "who": [f"p{i}" for i in range(N)], "out": ["n", "y"] * (N // 2)}
)
SCHEMA = tacit.Schema.from_toml(
    'label = {column = "out", classes = ["n", "y"]}\n[columns.colour]\nkind = "category"\nvalues = ["red", "blue"]\n'
)
OTHER = ["y", "n"] * (N // 2)
X, Y = np.eye(4, dtype=int)[np.arange(N) % 4], np.arange(N) % 2


def new_account(unit: Any = "row") -> tacit.Account:
    return tacit.Ledger.open().account("data", budget=tacit.Budget(9.0), unit=unit)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    TABLE.write_csv(tmp_path / "table.csv")
    return tmp_path / "table.csv"


@pytest.mark.parametrize("name", ["y", "persons"])
def test_arrays_beside_files_are_refused(file: Path, name: str) -> None:
    """Once the file's own columns were taken instead, without a word."""
    account = new_account("row" if name == "y" else tacit.Unit.user("who", max_rows=2))
    beside: Any = {name: OTHER}
    for ask in (
        lambda: tacit.Workflow(1.0, schema=SCHEMA, account=account).run(file, **beside),
        lambda: tacit.Workflow(1.0, schema=SCHEMA, account=account).run([file], **beside),
        lambda: tacit.Workflow(1.0, classes=("n", "y"), text="colour", account=account).run(str(file), OTHER),
        lambda: tacit.TabularClassifier(1.0, schema=SCHEMA, account=account).fit(file, **beside),
    ):
        with pytest.raises(tacit.ParameterError, match="left out where the data are files"):
            ask()
    assert not account.entries()


def test_a_table_is_not_predicted_from_a_path(file: Path) -> None:
    model = tacit.TabularClassifier(1.0, schema=SCHEMA).fit(file)
    for path in (file, str(file)):
        with pytest.raises(tacit.ParameterError, match="read the file first"):
            model.predict(path)


@pytest.mark.parametrize("classes", [("a", "b"), ("n", "Y")])
def test_classes_that_the_schema_does_not_have_are_refused(file: Path, classes: tuple[str, str]) -> None:
    """Once they were paid for, though no row could have them."""
    account = new_account()
    for data in (TABLE, file):
        with pytest.raises(tacit.ParameterError, match=r"among the schema's \['n', 'y'\]"):
            tacit.Workflow(1.0, schema=SCHEMA, classes=classes, account=account).run(data)
        with pytest.raises(tacit.ParameterError, match=r"among the schema's \['n', 'y'\]"):
            tacit.TabularClassifier(1.0, schema=SCHEMA, classes=classes, account=account).fit(data)
    assert not account.entries()


def test_classes_of_another_column_than_the_schema_s_are_given() -> None:
    """Once those of the schema's column were taken, and a curve of no rows was paid for."""
    account, table = new_account(), TABLE.with_columns(other=pl.Series(["no", "yes"] * (N // 2)))
    with pytest.raises(
        tacit.ParameterError, match="'classes' parameter of Workflow must be given for the column 'other'"
    ):
        tacit.Workflow(1.0, schema=SCHEMA, label="other", account=account)
    result = tacit.Workflow(1.0, schema=SCHEMA, label="other", classes=("no", "yes"), account=account).run(table)
    assert result.model.classes_.tolist() == ["no", "yes"]
    assert not result.curve.unknown


def test_their_order_may_change_and_labels_beside_the_data_have_their_own_names() -> None:
    turned = tacit.Workflow(1.0, schema=SCHEMA, classes=("y", "n")).run(TABLE)
    assert turned.model.classes_.tolist() == ["y", "n"]
    named = ["no", "yes"] * (N // 2)
    result = tacit.Workflow(1.0, schema=SCHEMA, classes=("no", "yes")).run(TABLE, named)
    assert result.model.classes_.tolist() == ["no", "yes"]
    model = tacit.TabularClassifier(1.0, schema=SCHEMA, classes=("no", "yes")).fit(TABLE, named)
    assert model.classes_.tolist() == ["no", "yes"]


def test_an_account_that_would_not_be_charged_is_refused() -> None:
    """Once it stayed as it was, and a one-off account in memory paid."""
    mine, other = new_account(), new_account()
    paid, counts = tacit.BernoulliNB(account=mine), tacit.CountSelector(k=2, account=mine)
    chain = tacit.SelectingClassifier(paid, counts)
    for account in (None, other):
        for ask in (
            lambda account=account: tacit.Workflow(1.0, classifier=paid, account=account).run(X, Y),
            lambda account=account: tacit.Workflow(1.0, selector=counts, account=account).run(X, Y),
            lambda account=account: tacit.tune([paid], X, Y, epsilon=3.0, account=account),
            lambda account=account: tacit.tune([chain], X, Y, epsilon=3.0, account=account),
        ):
            with pytest.raises(tacit.ParameterError, match="which would not be charged otherwise"):
                ask()
    assert not mine.entries()
    assert not other.entries()
    tacit.Workflow(1.0, classifier=paid, selector=counts, account=mine).run(X, Y)
    tacit.tune([chain], X, Y, epsilon=3.0, account=mine.ledger.account("data"))  # the same one, opened again
    assert mine.spent == tacit.Budget(4.0)


@pytest.mark.parametrize("unpaid", ["selector", "classifier"])
def test_both_halves_are_paid_or_none(unpaid: str) -> None:
    account = new_account()
    halves: dict[str, Any] = {"classifier": tacit.BernoulliNB(), "selector": tacit.CountSelector(k=2)}
    for name, half in halves.items():
        half.set_params(account=None if name == unpaid else account)
    with pytest.raises(tacit.ParameterError, match=f"The '{unpaid}' parameter .* must be paid by an account"):
        tacit.SelectingClassifier(**halves).fit(X, Y)
    assert not account.entries()


def test_options_are_file_options(file: Path) -> None:
    with pytest.raises(tacit.ParameterError, match="FileOptions"):
        tacit.Workflow(1.0, schema=SCHEMA, options={"format": "csv"}).run(file)  # type: ignore[arg-type]


def test_an_account_that_is_named_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a ledger each run had a new one in memory: a data set of ε = 1 could be asked again and again."""
    monkeypatch.delenv("TACIT_LEDGER", raising=False)
    with pytest.raises(tacit.ParameterError, match="'ledger' parameter of Workflow must be given, or TACIT_LEDGER set"):
        tacit.Workflow(1.0, dataset="mail").run(X, Y)
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    monkeypatch.setenv("TACIT_LEDGER", url)
    first, again = (tacit.Workflow(1.0, dataset="mail").run(X, Y) for _ in range(2))
    assert first.curve.auc == again.curve.auc
    with tacit.Ledger.open(url) as ledger:
        assert ledger.account("mail").spent == tacit.Budget(1.0)
    with pytest.raises(tacit.BudgetError):
        tacit.Workflow(1.0, dataset="mail").run(X[1:], Y[1:])
