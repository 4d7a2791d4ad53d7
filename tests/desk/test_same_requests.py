"""Whether two requests are the same, and the second costs nothing, must not depend on private rows."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.desk.text import text_matrix
from tacit.models._naming import model_name
from tacit.models.chain import SelectingClassifier
from tacit.scoring import evaluate

TEXTS, LABELS = ["win cash now", "see you at lunch"] * 200, [1, 0] * 200


def account(epsilon: float = 1.0) -> tacit.Account:
    return tacit.Ledger.open().account("data", budget=tacit.Budget(epsilon))


@pytest.fixture(scope="module")
def model() -> tacit.TextClassifier:
    return tacit.TextClassifier(epsilon=1.0, random_state=0).fit(TEXTS, LABELS)


def with_a_word(model: tacit.TextClassifier, word: str) -> tacit.TextClassifier:
    """The same model, but for what it says of one word."""
    other = copy.deepcopy(model)
    weights = other.rules_.weights.copy()
    weights[text_matrix([word], model.bits, "test").indices[0]] += 3.0
    other.rules_ = replace(other.rules_, weights=weights)
    return other


@pytest.mark.parametrize("last", ["see you, Zelda", "see you there"])
def test_another_model_is_another_request_whether_or_not_a_row_tells_them_apart(
    model: tacit.TextClassifier, last: str
) -> None:
    payer, rows, labels = account(), [*TEXTS, last], [*LABELS, 0]
    evaluate(model, rows, labels, epsilon=0.25, account=payer)
    evaluate(with_a_word(model, "zelda"), rows, labels, epsilon=0.25, account=payer)
    assert payer.spent.epsilon == 0.5
    again = evaluate(model, rows, labels, epsilon=0.25, account=payer)
    assert payer.spent.epsilon == 0.5
    assert again.receipt["ledger"]["entry"] == 2


def test_a_name_does_not_hang_on_last_bits_nor_on_where_a_model_is_kept(
    model: tacit.TextClassifier, tmp_path: object
) -> None:
    nearly = copy.deepcopy(model)
    nearly.rules_ = replace(nearly.rules_, weights=nearly.rules_.weights * (1 + 2.0**-52))
    model.save(f"{tmp_path}/model.json")
    names = {model_name(m) for m in (model, nearly, tacit.load(f"{tmp_path}/model.json"))}
    assert len(names) == 1
    assert model_name(with_a_word(model, "zelda")) not in names


@pytest.mark.parametrize("secret", [0, 1])
def test_other_columns_are_another_request_whether_or_not_rows_tell_them_apart(secret: int) -> None:
    X, y = np.zeros((300, 8)), [0, 1] * 150
    X[7, 5] = secret
    payer, entries = account(20.0), {}
    for seed in range(12):
        selector = tacit.TopKSelector(k=2, epsilon=0.01, account=account(), random_state=seed)
        found = SelectingClassifier(tacit.BernoulliNB(epsilon=0.5, account=payer), selector).fit(X, y)
        chosen = tuple(np.flatnonzero(found.selector_.support_).tolist())
        entries.setdefault(chosen, set()).add(found.classifier_.receipt_["ledger"]["entry"])
    assert len(entries) > 4
    assert all(len(found) == 1 for found in entries.values())
    assert len(set.union(*entries.values())) == len(entries)


def test_columns_of_other_names_are_another_request() -> None:
    pandas = pytest.importorskip("pandas")
    frame, y = pandas.DataFrame({"a": [1, 0] * 100, "b": 0, "c": 0}), [0, 1] * 100
    payer = account()
    for names in (["a", "b"], ["a", "c"], ["a", "b"]):
        tacit.BernoulliNB(epsilon=0.5, account=payer).fit(frame[names], y)
    assert payer.spent.epsilon == 1.0


@pytest.mark.parametrize("classifier", [tacit.BernoulliNB(), tacit.LogisticRegression()])
def test_with_a_declared_version_rows_are_not_looked_at_to_recognise_a_run(classifier: object) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((400, 5)) < 0.5).astype(float)
    y, payer = X[:, 0].astype(int), account()
    other = X.copy()
    other[:20] = 1 - other[:20]
    runs = [
        tacit.Workflow(1.0, classifier=classifier, account=payer, version="May").run(rows, y) for rows in (X, other)
    ]
    assert payer.spent.epsilon == 1.0
    assert runs[0].curve.auc == runs[1].curve.auc


@pytest.mark.parametrize("method", ["auto", "laplace"])
def test_a_curve_of_a_declared_version_is_known_by_it_alone(method: str) -> None:
    payer, y = account(), np.array([0, 1] * 200)
    for scores in (y * 0.5, y * 0.5, y * 0.7):
        tacit.roc_curve(y, scores, epsilon=0.25, method=method, account=payer, version="model A on May")
    assert payer.spent.epsilon == 0.25
    tacit.roc_curve(y, y * 0.5, epsilon=0.25, method=method, account=payer, version="model B on May")
    assert payer.spent.epsilon == 0.5


def test_numbers_without_end_have_names_of_their_own() -> None:
    fitted = tacit.BernoulliNB(random_state=0).fit([[1, 0], [0, 1]] * 50, [1, 0] * 50)
    names = set()
    for odd in (np.inf, -np.inf, np.nan, 0.0, 1.0, 2.0):
        fitted.intercept_ = np.array([odd, 1.0])
        names.add(model_name(fitted))
    assert len(names) == 6


def test_numbers_that_mean_the_same_are_the_same_request() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(9.0))
    rows, labels = np.eye(4)[np.arange(100) % 4], [1, 0] * 50
    for threshold in (5, 5.0, 4.5, np.float64(5)):
        tacit.ThresholdSelector(threshold, account=account).fit(rows, labels)
    for threshold in (5, 5.0, np.int64(5)):
        tacit.CountSelector(threshold=threshold, rounds=2, account=account).fit(rows, labels)
    for positive in (1, np.int64(1)):
        tacit.roc_curve(labels, rows[:, 0], epsilon=1.0, pos_label=positive, account=account)
    assert account.spent == tacit.Budget(3.0)


def test_another_method_of_selection_is_another_request() -> None:
    """It was taken for the same plan, whose one step was drawn: it could not be had at any price."""
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(9.0))
    rows, labels = np.eye(4)[np.arange(100) % 4], [1, 0] * 50
    for method in ("peeling", "one-shot", "peeling"):
        tacit.TopKSelector(k=2, method=method, account=account).fit(rows, labels)
    assert account.spent == tacit.Budget(2.0)
