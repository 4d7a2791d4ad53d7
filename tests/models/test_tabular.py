"""TabularClassifier: two forms and the rule between them, oracles without noise, odd tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Logistic
from sklearn.metrics import log_loss
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


def form_of(model: Any) -> str:
    """What the last step was."""
    last: str = model.receipt_["steps"][-1]["step"]
    return last


def test_without_noise_the_regression_is_scikit_learn_s() -> None:
    """The floor of Λ is ¼, for weights that a row of two columns halves: a ridge of 1."""
    model = tacit.TabularClassifier(epsilon=1e9, schema=SCHEMA, random_state=0).fit(TABLE, LABELS)
    assert form_of(model) == "regression"
    reference = Logistic(C=1.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(one_hot(TABLE), LABELS)
    rows = one_hot(TABLE).sum(axis=0)
    for column in (slice(0, 5), slice(5, 11)):  # weights are told against the mean of their column
        expected = reference.coef_[0, column] - np.average(reference.coef_[0, column], weights=rows[column])
        assert np.allclose((model.weights_[1] - model.weights_[0])[column], expected, atol=1e-4)
    assert np.allclose(model.predict_proba(TABLE), reference.predict_proba(one_hot(TABLE)), atol=1e-4)


def test_without_noise_counts_give_naive_bayes_on_the_encoded_table() -> None:
    model = tacit.TabularClassifier(epsilon=1e9, schema=SCHEMA, max_ones=2, random_state=0).fit(TABLE, LABELS)
    assert form_of(model) == "ones"
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


@pytest.mark.parametrize(("rows", "epsilon", "form"), [(60, 1.0, "ones"), (600, 1.0, "regression"), (600, 0.1, "ones")])
def test_the_form_follows_from_rows_and_epsilon(rows: int, epsilon: float, form: str) -> None:
    """15 rows, times ε, for each of 11 features, on what is left of ε."""
    model = tacit.TabularClassifier(epsilon, schema=SCHEMA, random_state=0).fit(TABLE[:rows], LABELS[:rows])
    assert form_of(model) == form
    assert [step["step"] for step in model.receipt_["steps"]] == ["labels", form]
    assert model.receipt_["epsilon"] == epsilon


def test_more_than_two_classes_are_counted() -> None:
    schema = tacit.Schema.from_dict(
        {"label": {"classes": [0, 1, 2]}, "columns": {"x": {"kind": "category", "values": ["a", "b", "c"]}}}
    )
    table = pl.DataFrame({"x": ["a", "b", "c"] * 1000})
    model = tacit.TabularClassifier(schema=schema, random_state=0).fit(table, [0, 1, 2] * 1000)
    assert form_of(model) == "ones"
    assert model.predict(table[:3]).tolist() == [0, 1, 2]


def test_columns_that_say_the_same_are_not_counted_twice() -> None:
    """Probabilities of the regression fit the labels; those of Naive Bayes are far too sure."""
    names = [f"c{k}" for k in range(6)]
    columns = {name: {"kind": "category", "values": ["a", "b"]} for name in names}
    schema = tacit.Schema.from_dict({"label": {"classes": [0, 1]}, "columns": columns})
    y = np.random.default_rng(5).integers(0, 2, 8000)
    seen = np.where(np.random.default_rng(6).random(8000) < 0.8, y, 1 - y)
    table = pl.DataFrame(dict.fromkeys(names, np.array(["a", "b"])[seen]))
    best = log_loss(y, np.where(seen, 0.8, 0.2))
    learnt = tacit.TabularClassifier(schema=schema, random_state=0).fit(table, y)
    counted = tacit.TabularClassifier(schema=schema, max_ones=6, random_state=0).fit(table, y)
    assert log_loss(y, learnt.predict_proba(table)[:, 1]) < best + 0.01
    assert log_loss(y, counted.predict_proba(table)[:, 1]) > best + 0.3


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_form_of_the_noise_is_the_quieter_one(delta: float) -> None:
    """For forty columns Gaussian noise is, for two Laplace noise."""
    names = [f"c{k}" for k in range(40)]
    columns = {name: {"kind": "category", "values": ["a", "b"]} for name in names}
    schema = tacit.Schema.from_dict({"label": {"classes": [0, 1]}, "columns": columns})
    y = np.arange(8000) % 2
    table = pl.DataFrame(dict.fromkeys(names, np.array(["a", "b"])[y]))
    wide = tacit.TabularClassifier(1.0, delta, schema=schema, random_state=0).fit(table, y)
    narrow = tacit.TabularClassifier(1.0, delta, schema=SCHEMA, random_state=0).fit(TABLE, LABELS)
    expected = "Gaussian objective perturbation" if delta else "objective perturbation"
    assert wide.receipt_["steps"][-1]["mechanism"] == expected
    assert narrow.receipt_["steps"][-1]["mechanism"] == "objective perturbation"
    assert wide.score(table, y) == 1.0


def test_of_very_many_rows_a_part_is_learnt_from(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tacit.TabularClassifier(4.0, schema=SCHEMA, random_state=0).fit(TABLE, LABELS)
    monkeypatch.setattr("tacit.desk.objective.MOST_OF_TABLE", 1000)
    part = tacit.TabularClassifier(4.0, schema=SCHEMA, random_state=0).fit(TABLE, LABELS)
    assert form_of(part) == "regression"
    assert part.score(TABLE, LABELS) > 0.8
    # The same noise on a third of the slopes: weights shrink.
    assert np.abs(part.weights_).sum() < np.abs(whole.weights_).sum()


def test_an_epsilon_that_is_too_small_for_a_regression_is_met_by_counts() -> None:
    columns = {"x": {"kind": "category", "values": ["a"]}}
    schema = tacit.Schema.from_dict({"label": {"classes": [0, 1]}, "columns": columns})
    many = pl.DataFrame({"x": ["a"] * 200_000})
    model = tacit.TabularClassifier(4e-4, schema=schema, random_state=0).fit(many, [0, 1] * 100_000)
    assert form_of(model) == "ones"


def test_persons_of_several_rows_move_the_gradient_by_as_many() -> None:
    unit = tacit.Unit.user("who", max_rows=3)
    account = tacit.Ledger.open().account("visits", budget=tacit.Budget(3.0), unit=unit)
    table = TABLE.with_columns(who=pl.Series(np.arange(N) // 3).cast(pl.String))
    model = tacit.TabularClassifier(3.0, schema=SCHEMA, account=account, random_state=0).fit(table, LABELS)
    assert form_of(model) == "regression"
    assert model.receipt_["steps"][-1]["sensitivity"]["l1"] == 3
    assert model.score(TABLE, LABELS) > 0.8


def test_one_class_alone_gives_a_valid_model() -> None:
    for label in ("no", "yes"):
        model = tacit.TabularClassifier(schema=SCHEMA, random_state=0).fit(TABLE, np.full(N, label))
        assert form_of(model) == "regression"
        assert np.isfinite(model.predict_proba(TABLE)).all()
        assert (model.predict(TABLE) == label).mean() > 0.95


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
    assert model.predict(pl.DataFrame({"note": ["bad luck", "good day"]})).tolist() == [0, 1]


def test_a_schema_may_be_a_file_or_plain_data(tmp_path: Path) -> None:
    file = tmp_path / "schema.toml"
    file.write_text(SCHEMA.to_toml())
    settings: dict[str, Any] = {"epsilon": 1.0, "random_state": 0}
    fits = [
        tacit.TabularClassifier(schema=schema, **settings).fit(TABLE, LABELS).weights_
        for schema in (SCHEMA, file, str(file), SCHEMA.to_dict())
    ]
    assert all(np.array_equal(fits[0], other) for other in fits[1:])
    inside = tacit.Workflow(schema=SCHEMA, classifier=tacit.TabularClassifier(schema=file), random_state=0)
    assert not inside.run(TABLE, LABELS).curve.unknown


def test_labels_that_are_given_win_over_their_column() -> None:
    with_column = TABLE.with_columns(answer=pl.Series(LABELS))
    schema = tacit.Schema(SCHEMA.columns, SCHEMA.classes, label="answer")
    settings: dict[str, Any] = {"epsilon": 1.0, "schema": schema, "random_state": 0}
    named = tacit.TabularClassifier(**settings).fit(with_column)
    given = tacit.TabularClassifier(**settings).fit(with_column, with_column["answer"])
    turned = tacit.TabularClassifier(**settings).fit(with_column, LABELS[::-1])
    assert np.array_equal(named.weights_, given.weights_)
    assert not np.array_equal(named.weights_, turned.weights_)


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
