"""Tables with text: the words are learnt as those of texts are, and the columns beside them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.models._naming import model_name
from tacit.models.convert import to_sklearn
from tacit.models.weights import feature_weights

SCHEMA = {
    "label": {"classes": ["stay", "leave"]},
    "columns": {
        "ward": {"kind": "category", "values": ["a", "b", "c"]},
        "note": {"kind": "text", "bits": 10},
        "age": {"kind": "number", "low": 0, "high": 100, "bins": 4},
        "remark": {"kind": "text", "bits": 9},
        "bed": {"kind": "category", "values": [0, 1, 2, 3]},
    },
}
FILLER = ("pulse", "sleep", "family", "lunch", "monday", "walk", "quiet", "visit")


def drawn(rows: int, seed: int = 0, *, word: float = 0.85, column: float = 0.85) -> tuple[pl.DataFrame, np.ndarray]:
    """Rows whose label shows this often in a word of the remark, and in the ward as well as in the age."""
    rng = np.random.default_rng(seed)
    leave = rng.random(rows) < 0.5
    fever, second, old = (np.where(rng.random(rows) < how, leave, ~leave) for how in (word, column, column))
    fill = rng.choice(FILLER, size=(rows, 4))
    table = pl.DataFrame(
        {
            "ward": np.where(second, "b", rng.choice(["a", "c"], rows)),
            "note": [" ".join(words) for words in fill],
            "age": rng.integers(0, 50, rows) + 50 * old,
            "remark": [f"patient {'feverish' if one else 'calm'}" for one in fever],
            "bed": rng.integers(0, 4, rows),
        }
    )
    return table, np.where(leave, "leave", "stay")


def fitted(rows: int = 4000, **settings: Any) -> tacit.TabularClassifier:
    table, label = drawn(rows)
    return tacit.TabularClassifier(**{"schema": SCHEMA, "random_state": 0} | settings).fit(table, label)


@pytest.mark.parametrize(("epsilon", "steps"), [(1.0, "rule"), (4.0, "regression")])
def test_words_and_columns_are_both_learnt(epsilon: float, steps: str) -> None:
    model = fitted(epsilon=epsilon)
    assert steps in [step["step"] for step in model.receipt_["steps"]]
    test, label = drawn(2000, 1)
    right = (model.predict(test) == label).mean()
    assert right > 0.9  # each of the three alone gets .85 right, and all together .94
    only_words, label = drawn(2000, 2, word=1.0, column=0.5)
    only_columns, other = drawn(2000, 3, word=0.5, column=1.0)
    scores = model.predict_proba(only_words)[:, 1], model.predict_proba(only_columns)[:, 1]
    assert scores[0][label == "leave"].mean() > scores[0][label == "stay"].mean() + 0.1
    assert scores[1][other == "leave"].mean() > scores[1][other == "stay"].mean() + 0.1


def test_many_columns_are_regressed_on_with_a_score_of_the_text() -> None:
    more = {f"x{i}": {"kind": "category", "values": [0, 1]} for i in range(14)}
    table, label = drawn(6000)
    rng = np.random.default_rng(5)
    table = table.with_columns(pl.Series(name, rng.integers(0, 2, len(table))) for name in more)
    schema = SCHEMA | {"columns": SCHEMA["columns"] | more}  # type: ignore[operator]
    model = tacit.TabularClassifier(epsilon=2.0, schema=schema, random_state=0).fit(table, label)
    step = next(step for step in model.receipt_["steps"] if step["step"] == "regression")
    assert "logistic loss" in step["query"]
    assert (model.predict(table) == label).mean() > 0.85


def test_what_is_made_of_a_model_says_the_same(tmp_path: Path) -> None:
    model, (table, _) = fitted(), drawn(200, 4)
    expected = model.predict_proba(table)
    model.save(tmp_path / "model.json")
    loaded = tacit.load(tmp_path / "model.json")
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        assert (other.predict_proba(table) == expected).all()
        assert model_name(other) == model_name(model)
        assert feature_weights(other) == feature_weights(model)
    assert np.allclose(to_sklearn(model).predict_proba(table), expected)


def test_rows_come_as_frames_of_any_order_or_as_arrays() -> None:
    table, label = drawn(1000)
    model = tacit.TabularClassifier(schema=SCHEMA, random_state=0)
    expected = model.fit(table, label).predict_proba(table)
    turned = table.select(reversed(table.columns))
    array = table.to_numpy()
    for train, test in ((turned, turned), (table.to_pandas(), table.to_arrow()), (array, array)):
        assert (model.fit(train, label).predict_proba(test) == expected).all()


def test_a_missing_text_is_as_none_and_the_others_are_read() -> None:
    model, (table, _) = fitted(), drawn(50, 6)
    without = table.with_columns(note=pl.lit(None, dtype=pl.String))
    empty = table.with_columns(note=pl.lit(""))
    assert (model.predict_proba(without) == model.predict_proba(empty)).all()
    assert (model.predict_proba(without)[:, 1] != model.predict_proba(without)[0, 1]).any()


def test_features_that_are_told_from_noise_are_listed_by_name() -> None:
    listed = dict(feature_weights(fitted(8000, epsilon=1.0)) or [])
    assert listed["ward = b"] > 0
    assert any(name.startswith("bucket") for name in listed)
    assert not any(name.startswith("bed") for name in listed)


def test_shuffled_labels_list_next_to_nothing() -> None:
    table, label = drawn(2000)
    found = []
    for seed in range(10):
        shuffled = np.random.default_rng(seed).permutation(label)
        model = tacit.TabularClassifier(schema=SCHEMA, random_state=seed).fit(table, shuffled)
        found += [name for name, _ in feature_weights(model) or [] if name.startswith(("ward", "age", "bed"))]
    assert len(found) <= 4  # a fifth of the fits is expected at most


def test_a_second_fit_forgets_the_first() -> None:
    table, label = drawn(500)
    model = tacit.TabularClassifier(schema=SCHEMA, random_state=0).fit(table, label)
    assert not hasattr(model, "weights_")
    model.set_params(max_ones=4).fit(table, label)
    assert not hasattr(model, "rules_")
    assert np.isfinite(model.predict_proba(table)).all()


def test_more_classes_and_lists_of_words_are_counted() -> None:
    table, label = drawn(500)
    three = {"label": {"classes": ["stay", "leave", "die"]}, "columns": SCHEMA["columns"]}
    listed = {"label": SCHEMA["label"], "columns": {"remark": {"kind": "text", "words": ["calm", "feverish"]}}}
    for schema in (three, listed):
        model = tacit.TabularClassifier(schema=schema, random_state=0).fit(table, label)
        assert [step["step"] for step in model.receipt_["steps"]] == ["labels", "ones"]


@pytest.mark.parametrize("rows", [0, 1, 2, 9])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e4])
def test_few_rows_give_a_valid_model(rows: int, epsilon: float) -> None:
    table, label = drawn(rows)
    model = tacit.TabularClassifier(epsilon, schema=SCHEMA, random_state=0).fit(table, label)
    found = model.predict_proba(drawn(20, 7)[0])
    assert np.isfinite(found).all()
    assert np.allclose(found.sum(axis=1), 1)


def test_persons_are_protected() -> None:
    table, label = drawn(400)
    account = tacit.Ledger.open().account("x", budget=tacit.Budget(1.0), unit=tacit.Unit.user("who", max_rows=3))
    model = tacit.TabularClassifier(1.0, schema=SCHEMA, account=account, random_state=0)
    model.fit(table, label, persons=np.arange(400) // 5)
    steps = {step["step"]: step for step in model.receipt_["steps"]}
    assert steps["labels"]["sensitivity"]["l1"] == 3
    assert account.spent.epsilon == 1.0


def test_more_features_than_a_regression_takes_are_learnt_by_a_rule() -> None:
    """A column of a million bins was refused by the last step, when all was paid."""
    wide = {"note": {"kind": "text", "bits": 4}, "age": {"kind": "number", "low": 0, "high": 1, "bins": 1 << 20}}
    schema = tacit.Schema.from_dict({"label": {"classes": [0, 1]}, "columns": wide})
    table = pl.DataFrame({"note": ["calm", "feverish"] * 6_000, "age": [0.2, 0.7] * 6_000})
    model = tacit.TabularClassifier(epsilon=1.0, schema=schema, random_state=0).fit(table, [0, 1] * 6_000)
    assert [step["step"] for step in model.receipt_["steps"]] == ["labels", "sums", "rule", "margins"]
