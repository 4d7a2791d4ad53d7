"""BlackBoxClassifier: pays before it runs, passes the budget on, and says that nobody checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import RidgeClassifier

import tacit

X = np.array([[1, 0], [0, 1]] * 200)
Y = np.array([0, 1] * 200)


class Watching(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers what its account had spent when it first saw the data."""

    def __init__(self, account: Any = None, epsilon: float = 9.0) -> None:
        self.account = account
        self.epsilon = epsilon

    def fit(self, X: Any, y: Any) -> Watching:
        self.seen_ = self.account.spent.epsilon
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.classes_)), np.nan)


def test_it_pays_before_the_model_sees_the_data() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
    model = tacit.BlackBoxClassifier(Watching(account), epsilon=0.4, account=account).fit(X, Y)
    assert model.estimator_.seen_ == 0.4
    assert model.estimator_.epsilon == 0.4
    assert np.isfinite(model.predict_proba(X)).all()
    assert "did not check" in model.receipt_["guarantee"]
    model.fit(X, Y)
    assert account.spent.epsilon == 0.8
    with pytest.raises(tacit.BudgetError):
        model.fit(X, Y)


class Stubborn:
    """States its cost, and cannot be told another."""

    def __init__(self, epsilon: float = 5.0, delta: float = 0.0) -> None:
        self.epsilon, self.delta = epsilon, delta

    def fit(self, X: Any, y: Any) -> None:
        self.seen_ = len(y)

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize(("model", "stated"), [(Stubborn(5.0), "ε = 5"), (Stubborn(0.1, 1e-5), "δ = 1e-05")])
def test_a_model_that_spends_more_than_is_paid_is_refused(model: Any, stated: str) -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(9.0, 1e-3))
    with pytest.raises(tacit.ParameterError, match="'estimator' parameter of BlackBoxClassifier") as caught:
        tacit.BlackBoxClassifier(model, epsilon=0.1, account=account).fit(X, Y)
    assert stated in str(caught.value)
    assert "spends at most ε = 0.1" in str(caught.value)
    assert account.spent.epsilon == 0
    tacit.BlackBoxClassifier(model, epsilon=5.0, delta=1e-5, account=account).fit(X, Y)
    assert account.spent.epsilon == pytest.approx(5.0)


def test_ours_behind_it() -> None:
    model = tacit.BlackBoxClassifier(tacit.BernoulliNB(), epsilon=1.0, random_state=0).fit(X, Y)
    assert model.score(X, Y) == 1.0
    assert model.receipt_["status"].startswith("simulation")


def test_a_model_without_probabilities() -> None:
    model = tacit.BlackBoxClassifier(RidgeClassifier(), epsilon=1.0).fit(X, Y)
    assert (model.predict(X) == Y).all()


def test_undeclared_labels_are_left_out() -> None:
    labels = np.where(np.arange(400) < 4, 7, Y)
    model = tacit.BlackBoxClassifier(tacit.BernoulliNB(), random_state=0).fit(X, labels)
    assert model.classes_.tolist() == [0, 1]


def test_persons_are_refused() -> None:
    account = tacit.Ledger.open().account("p", budget=tacit.Budget(1.0), unit=tacit.Unit.user("who", 2))
    with pytest.raises(tacit.ParameterError, match="does not bound a person"):
        tacit.BlackBoxClassifier(tacit.BernoulliNB(), account=account).fit(X, Y)
    assert account.spent.epsilon == 0


def test_what_is_no_classifier_is_refused() -> None:
    with pytest.raises(tacit.ParameterError, match="'estimator' parameter of BlackBoxClassifier"):
        tacit.BlackBoxClassifier(None).fit(X, Y)
