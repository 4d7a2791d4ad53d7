"""TabularClassifier: learns from categories, numbers and text, without noise equals Naive Bayes, odd tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB as Reference

import tacit

SCHEMA = tacit.Schema.from_toml(
    """
    [label]
    classes = ["no", "yes"]

    [columns.colour]
    kind = "category"
    values = ["red", "green", "blue"]

    [columns.age]
    kind = "number"
    low = 0
    high = 100
    bins = 5
    """
)
RNG = np.random.default_rng(31)
N = 3000
Y = RNG.integers(0, 2, N)
TABLE = pl.DataFrame(
    {
        "colour": np.where(RNG.random(N) < 0.7, np.array(["red", "blue"])[Y], "green"),
        "age": np.clip(RNG.normal(40 + 20 * Y, 15), 0, 100),
        "ignored": np.arange(N),
    }
)
LABELS = np.array(["no", "yes"])[Y]


def one_hot(table: pl.DataFrame) -> Any:
    colours = [table["colour"] == value for value in ("red", "green", "blue")]
    bins = np.minimum(table["age"].to_numpy() // 20, 4)
    rest = [np.zeros(len(table))] * 2
    return np.column_stack([*colours, *rest, *(bins == b for b in range(5)), np.zeros(len(table))]).astype(float)


def test_without_noise_it_is_naive_bayes_on_the_encoded_table() -> None:
    model = tacit.TabularClassifier(epsilon=1e9, schema=SCHEMA, random_state=0).fit(TABLE, LABELS)
    reference = Reference().fit(one_hot(TABLE), LABELS)
    assert np.allclose(model.predict_proba(TABLE), reference.predict_proba(one_hot(TABLE)), atol=1e-6)
    assert model.feature_names_[:2] == ["colour = red", "colour = green"]


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_it_learns_at_epsilon_one(delta: float, kind: str) -> None:
    table = TABLE if kind == "polars" else pytest.importorskip("pandas").DataFrame(TABLE.to_dict(as_series=False))
    model = tacit.TabularClassifier(1.0, delta, schema=SCHEMA, random_state=0).fit(table, LABELS)
    assert model.score(table, LABELS) > 0.8
    assert model.receipt_["epsilon"] <= 1.0


def test_a_label_column_and_text() -> None:
    schema = tacit.Schema.from_toml(
        """
        [label]
        column = "y"
        classes = [0, 1]

        [columns.note]
        kind = "text"
        bits = 8
        """
    )
    table = pl.DataFrame({"note": ["good day", "bad luck"] * 500, "y": [1, 0] * 500})
    model = tacit.TabularClassifier(schema=schema, random_state=0).fit(table)
    assert model.predict(pl.DataFrame({"note": ["bad", "good"]})).tolist() == [0, 1]


def test_persons_come_from_a_column() -> None:
    unit = tacit.Unit.user("who", max_rows=1)
    account = tacit.Ledger.open().account("visits", budget=tacit.Budget(1e9), unit=unit)
    table = TABLE.with_columns(who=pl.Series(["p"] * N))
    model = tacit.TabularClassifier(epsilon=1e9, schema=SCHEMA, account=account).fit(table, LABELS)
    assert np.isfinite(model.predict_proba(TABLE)).all()
    assert model.receipt_["unit"].startswith("user")


def test_an_account_pays_once_for_the_same_fit() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
    first = tacit.TabularClassifier(epsilon=0.6, schema=SCHEMA, account=account).fit(TABLE, LABELS)
    second = clone(first).fit(TABLE, LABELS)
    assert account.spent.epsilon == pytest.approx(0.6)
    assert (first.weights_ == second.weights_).all()


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_small_tables_give_a_valid_model(rows: int) -> None:
    model = tacit.TabularClassifier(schema=SCHEMA, random_state=0).fit(TABLE[:rows], LABELS[:rows])
    assert np.isfinite(model.predict_proba(TABLE[:5])).all()


def test_a_schema_is_needed() -> None:
    for schema in (None, tacit.Schema.matrix(3, (0, 1))):
        with pytest.raises(tacit.ParameterError, match="'schema' parameter of TabularClassifier"):
            tacit.TabularClassifier(schema=schema).fit(TABLE, LABELS)
