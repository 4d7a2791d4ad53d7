"""What scikit-learn checks of estimators of matrices, for those of texts and tables, for which it makes no data.

Runs with the oldest versions too: ``make test-oldest``.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import tacit

ROWS = 400
RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, ROWS)
WORDS = np.array([["lunch", "day", "see", "you"], ["win", "cash", "now", "prize"]])
TEXTS = [
    " ".join([*RNG.choice(WORDS[label], 3), *RNG.choice(WORDS.ravel(), 2), str(i % 7)]) for i, label in enumerate(Y)
]
TABLE = pl.DataFrame(
    {
        "colour": np.where(RNG.random(ROWS) < 0.2 + 0.6 * Y, "red", "blue"),
        "size": RNG.random(ROWS) + 0.5 * Y,
    }
)
SCHEMA = tacit.Schema.from_dict(
    {
        "label": {"classes": [0, 1]},
        "columns": {
            "colour": {"kind": "category", "values": ["red", "blue"]},
            "size": {"kind": "number", "low": 0, "high": 2, "bins": 4},
        },
    }
)
LOUD: dict[str, Any] = {"epsilon": 8.0, "random_state": 0}


def rows_of_texts(X: Any, rows: Any) -> Any:
    return [X[i] for i in rows]


def rows_of_table(X: Any, rows: Any) -> Any:
    return X[list(rows)]


CASES: dict[str, tuple[Any, Any, Callable[[Any, Any], Any]]] = {
    "texts": (tacit.TextClassifier(**LOUD), TEXTS, rows_of_texts),
    "texts, Gaussian noise": (tacit.TextClassifier(delta=1e-3, **LOUD), TEXTS, rows_of_texts),
    "texts, public ones": (tacit.TextClassifier(public_text=TEXTS[:50], **LOUD), TEXTS, rows_of_texts),
    "texts in three classes": (tacit.TextClassifier(classes=(0, 1, 2), **LOUD), TEXTS, rows_of_texts),
    "table": (tacit.TabularClassifier(schema=SCHEMA, **LOUD), TABLE, rows_of_table),
    "table, counts": (tacit.TabularClassifier(schema=SCHEMA, max_ones=2, **LOUD), TABLE, rows_of_table),
    "table, regression": (tacit.TabularClassifier(100.0, schema=SCHEMA, random_state=0), TABLE, rows_of_table),
}
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def outputs(model: Any, X: Any) -> list[Any]:
    return [getattr(model, method)(X) for method in METHODS]


def assert_same(first: list[Any], second: list[Any]) -> None:
    for method, one, other in zip(METHODS, first, second, strict=True):
        assert np.array_equal(one, other), method


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[Any, Any, Callable[[Any, Any], Any]]:
    """A fitted model, its rows, and a way to take some of them."""
    estimator, X, rows = CASES[request.param]
    return clone(estimator).fit(X, Y), X, rows


def test_the_cases_take_their_paths() -> None:
    models = {
        name: clone(CASES[name][0]).fit(CASES[name][1], Y) for name in ("texts, Gaussian noise", "table, regression")
    }
    assert "Gaussian" in models["texts, Gaussian noise"].receipt_["mechanism"]
    assert "objective perturbation" in models["table, regression"].receipt_["mechanism"]


def test_fit_returns_the_estimator_and_leaves_its_parameters(case: Any) -> None:
    model, X, _ = case
    fresh = clone(model)
    before = dict(fresh.get_params())
    values = {name: repr(value) for name, value in before.items()}
    assert fresh.fit(X, Y) is fresh
    after = fresh.get_params()
    assert all(after[name] is before[name] for name in before)
    assert {name: repr(value) for name, value in after.items()} == values
    assert all(name.endswith("_") or name in before for name in vars(fresh)), "what is learnt ends with _"


@pytest.mark.parametrize(
    "model",
    [
        tacit.TabularClassifier(schema=SCHEMA, **LOUD),
        tacit.SelectingClassifier(tacit.BernoulliNB(**LOUD), tacit.CountSelector(k=3, **LOUD), SCHEMA),
    ],
    ids=["table", "chain"],
)
def test_columns_of_tables_have_names_and_are_found_by_them(model: Any, tmp_path: Path) -> None:
    assert not hasattr(model, "feature_names_in_")
    fitted = clone(model).fit(TABLE, Y)
    fitted.save(tmp_path / "model.json")
    for known in (fitted, tacit.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(fitted))):
        assert known.feature_names_in_.tolist() == ["colour", "size"]
        assert known.n_features_in_ == 2
        assert_same(outputs(fitted, TABLE), outputs(known, TABLE.select("size", more=1, colour="colour")))
        for lacking in (TABLE.drop("size"), TABLE.rename({"size": "length"}), np.zeros((2, 3))):
            with pytest.raises(ValueError, match=r"columns|no column"):
                known.predict(lacking)


def test_fitting_again_with_a_seed_gives_the_same_model(case: Any) -> None:
    model, X, _ = case
    again = clone(model).fit(X, Y)
    assert_same(outputs(model, X), outputs(again, X))
    assert_same(outputs(model, X), outputs(again.fit(X, Y), X))


def test_a_pickled_model_predicts_the_same(case: Any) -> None:
    model, X, _ = case
    assert_same(outputs(model, X), outputs(pickle.loads(pickle.dumps(model)), X))


def test_predicting_changes_nothing_in_the_model(case: Any) -> None:
    model, X, _ = case
    before = pickle.dumps(vars(model))
    outputs(model, X)
    assert pickle.dumps(vars(model)) == before


def test_predictions_do_not_depend_on_order_or_company(case: Any) -> None:
    """To the last bit: a row's prediction is its own."""
    model, X, rows = case
    whole = outputs(model, X)
    order = np.random.default_rng(1).permutation(ROWS)
    assert_same([out[order] for out in whole], outputs(model, rows(X, order)))
    for some in ([0], [7, 3], range(100, 200)):
        assert_same([out[list(some)] for out in whole], outputs(model, rows(X, some)))


def test_probabilities_fit_the_predictions(case: Any) -> None:
    model, X, _ = case
    labels, chances, logs, _ = outputs(model, X)
    assert np.allclose(chances.sum(axis=1), 1)
    assert np.allclose(np.exp(logs), chances)
    assert np.array_equal(labels, model.classes_[chances.argmax(axis=1)])
    assert model.score(X, Y) > 0.6


@pytest.mark.parametrize("kind", ["array", "object array", "column", "pandas", "polars", "tuple"])
def test_texts_may_come_in_any_sequence(kind: str) -> None:
    model = clone(CASES["texts"][0]).fit(TEXTS, Y)
    forms: dict[str, Callable[[], Any]] = {
        "array": lambda: np.array(TEXTS),
        "object array": lambda: np.array(TEXTS, dtype=object),
        "column": lambda: np.array(TEXTS, dtype=object)[:, None],
        "pandas": lambda: pytest.importorskip("pandas").Series(TEXTS, index=range(5, 5 + ROWS)),
        "polars": lambda: pl.Series("words", TEXTS),
        "tuple": lambda: tuple(TEXTS),
    }
    X = forms[kind]()
    labels = pytest.importorskip("pandas").Series(Y) if kind == "pandas" else Y.tolist()
    again = clone(model).fit(X, labels)
    assert_same(outputs(model, TEXTS), outputs(again, X))


@pytest.mark.parametrize("kind", ["pandas", "arrow", "more columns, in another order"])
def test_tables_may_come_in_any_frame(kind: str) -> None:
    model = clone(CASES["table"][0]).fit(TABLE, Y)
    forms: dict[str, Callable[[], Any]] = {
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(TABLE.to_dict(as_series=False)),
        "arrow": lambda: pytest.importorskip("pyarrow").table(TABLE.to_dict(as_series=False)),
        "more columns, in another order": lambda: TABLE.select("size", pl.lit(1).alias("other"), "colour"),
    }
    X = forms[kind]()
    again = clone(model).fit(X, Y.tolist())
    assert_same(outputs(model, TABLE), outputs(again, X))
