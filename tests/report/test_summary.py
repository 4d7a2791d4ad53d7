"""A summary holds plain values, taken from releases, and lays out charges as they compose."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

import tacit
from tacit.desk.text import bucket_names
from tacit.models.weights import feature_weights
from tacit.report.cost import lay_out
from tacit.report.summary import Summary, summarise
from tests.report.stories import story


@pytest.fixture(scope="module")
def told() -> tuple[Summary, dict[str, Any]]:
    return story()


def test_a_summary_is_json_and_says_what_the_curve_says(told: tuple[Summary, dict[str, Any]]) -> None:
    summary, made = told
    again = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    curve = made["curve"]
    assert again["auc"]["value"] == curve.auc
    assert (again["auc"]["low"], again["auc"]["high"]) == curve.auc_interval(0.95)
    assert again["roc"]["tpr"] == curve.tpr.tolist()
    assert again["roc"]["thresholds"][0] is None
    (chosen,) = [decision for decision in again["decisions"] if decision["chosen"]]
    assert chosen["threshold"] == 0.5
    assert chosen["tp"]["value"] == curve.metrics.confusion_matrix(0.5)["tp"].value
    assert len(again["receipts"]) == 2
    assert summary.status == "private"


def test_weights_are_the_model_s(told: tuple[Summary, dict[str, Any]]) -> None:
    summary, made = told
    assert summary.features is not None
    expected = made["model"].weights_[1] - made["model"].weights_[0]
    found = {feature["name"]: feature["weight"] for feature in summary.features}
    weights = dict(zip(made["model"].feature_names_, expected.tolist(), strict=True))
    assert found == {name: weights[name] for name in found}
    assert {name for name in weights if "colour" in name and " = " in name} <= set(found)
    noise = [name for name in found if name.endswith((": other", ": missing"))]
    assert len(noise) <= 1, "no row has them, so that noise alone lists one, which it does now and then"
    sizes = [abs(feature["weight"]) for feature in summary.features]
    assert sizes == sorted(sizes, reverse=True)


def test_a_seed_and_a_black_box_are_told() -> None:
    assert story(simulation=True)[0].status == "simulation"
    X, y = np.array([[1, 0], [0, 1]] * 100), np.array([0, 1] * 100)
    box = tacit.BlackBoxClassifier(tacit.BernoulliNB(), epsilon=0.5).fit(X, y)
    summary = summarise(question={}, model=box, receipts=[box.receipt_])
    assert summary.status == "conditional"
    assert summary.features is None


def test_a_chosen_threshold_is_shown() -> None:
    summary, _ = story(threshold=0.3)
    assert [d["threshold"] for d in summary.decisions if d["chosen"]] == [0.3]


def test_an_unknown_curve_is_json_too() -> None:
    curve = tacit.roc_curve([0] * 50, [0.5] * 50, epsilon=0.1, random_state=1)
    assert curve.unknown
    summary = summarise(question={}, curve=curve, receipts=[curve.receipt])
    json.dumps(summary.to_dict(), allow_nan=False)
    assert summary.calibration is None
    assert summary.decisions[0]["tp"]["high"] is None


def test_scores_that_are_no_probabilities_have_no_calibration() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    curve = tacit.roc_curve(y, rng.normal(y), score_range=(-5, 5), epsilon=1.0, random_state=1)
    summary = summarise(question={}, curve=curve, receipts=[curve.receipt])
    assert summary.calibration is None
    assert [decision["chosen"] for decision in summary.decisions] == [True]


# -- weights ----------------------------------------------------------------------------------------------------------


def test_weights_of_a_pipeline_go_by_the_names_of_what_was_selected() -> None:
    X, y = np.array([[1, 0, 0], [0, 0, 1]] * 500), np.array([0, 1] * 500)
    chosen = tacit.CountSelector(k=2, epsilon=1.0, random_state=0)
    model = make_pipeline(chosen, tacit.LogisticRegression(1.0, random_state=0)).fit(X, y)
    weights = dict(feature_weights(model) or [])
    assert sorted(weights) == ["x0", "x2"]
    assert weights["x0"] < 0 < weights["x2"]


def test_words_are_named_by_public_texts_alone() -> None:
    texts, labels = ["win cash now", "see you at lunch"] * 500, [1, 0] * 500
    without = tacit.TextClassifier(1.0, random_state=0).fit(texts, labels)
    assert not [name for name, _ in feature_weights(without) or [] if "cash" in name]
    informed = tacit.TextClassifier(1.0, public_text=["win cash now", "see you at lunch"] * 50, random_state=0).fit(
        texts, labels
    )
    weights = dict(feature_weights(informed) or [])
    assert weights["“cash”"] > 0 > weights["“lunc…”"]
    assert len(weights) < 20, "what is noise alone is not listed"
    assert {"any number", "cash", "lunc…"} <= set(bucket_names(14, None, ["7 lunch cash 12"], "test").values())


def test_style_is_named() -> None:
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 1500)
    letters = ["".join(rng.choice(list("abcdefgh"), 5)) for _ in y]  # only their beginnings count
    texts = [f"{word}{rng.integers(10**7, 10**8)}" if label else word for word, label in zip(letters, y, strict=True)]
    weights = dict(feature_weights(tacit.TextClassifier(1.0, random_state=0).fit(texts, y)) or [])
    assert weights["twice as many digits"] > 0
    for seed in range(8):  # a rule that was chosen as the best of many on noise is no sign of style
        shuffled = tacit.TextClassifier(1.0, random_state=seed).fit(texts, rng.permutation(y))
        assert not any(name.startswith("twice") for name, _ in feature_weights(shuffled) or [])


def test_a_model_of_somebody_s_own_may_name_its_weights() -> None:
    class Mine:
        def feature_weights(self) -> list[tuple[str, float]]:
            return [("a", 1.0), ("b", -2.0)]

    summary = summarise(question={}, model=Mine(), receipts=[])
    assert summary.features == [{"name": "b", "weight": -2.0}, {"name": "a", "weight": 1.0}]


# -- how charges add up -----------------------------------------------------------------------------------------------


def _end(rows: list[dict[str, Any]]) -> float:
    return max((step["end"] for row in rows for step in row["steps"]), default=0.0)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "a:x", "a:y", "b:x", "b:y", "a:x/c:u", "a:x/c:v"]),
            st.integers(1, 9).map(lambda tenths: tenths / 10),
        ),
        max_size=8,
    )
)
def test_the_chart_ends_where_the_ledger_does(charges: list[tuple[str, float]]) -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1000.0))
    parts = {"": account}
    for split in ("a", "b"):
        parts |= {f"{split}:{name}": part for name, part in account.split(split, ["x", "y"]).items()}
    parts |= {f"a:x/c:{name}": part for name, part in parts["a:x"].split("c", ["u", "v"]).items()}
    for path, epsilon in charges:
        parts[path].spend(tacit.Budget(epsilon), mechanism="test", query="test")
    steps = [{"name": c.query, "part": c.partition, "epsilon": c.budget.epsilon} for c in account.entries()]
    assert _end(lay_out(steps)) == pytest.approx(account.spent.epsilon)


def test_plain_words_are_parts_of_one_split() -> None:
    steps = [
        {"name": n, "part": p, "epsilon": e} for n, p, e in (("a", None, 0.5), ("b", "train", 1), ("c", "test", 2))
    ]
    rows = lay_out(steps)
    assert [(row["part"], row["steps"][0]["start"]) for row in rows] == [(None, 0.0), ("train", 0.5), ("test", 0.5)]
    assert _end(rows) == 2.5
