"""diffprivlib's models as black boxes, where it can be imported: version 0.6.6 needs scikit-learn 1.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit

try:
    from diffprivlib.accountant import BudgetAccountant
    from diffprivlib.models import GaussianNB, LogisticRegression
except ImportError as error:
    pytest.skip(f"diffprivlib cannot be imported here: {error}", allow_module_level=True)

RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, 2000)
X = (RNG.random((2000, 10)) < np.where(Y[:, None] == np.arange(10) % 2, 0.6, 0.2)).astype(float)


@pytest.mark.parametrize(
    "model", [GaussianNB(bounds=(0, 1)), LogisticRegression(data_norm=3.2)], ids=["bayes", "linear"]
)
@pytest.mark.filterwarnings("ignore")
def test_it_is_told_the_budget_and_the_account_pays(model: Any) -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(3.0))
    box = tacit.BlackBoxClassifier(model.set_params(accountant=BudgetAccountant()), epsilon=2.0, account=account)
    box.fit(X, Y)
    assert box.estimator_.epsilon == 2.0
    assert box.estimator_.accountant.total()[0] == pytest.approx(2.0)  # by its own books, in its own copy
    assert account.spent.epsilon == 2.0
    assert box.score(X, Y) > 0.7
    assert "did not check" in box.receipt_["guarantee"]
    with pytest.raises(tacit.BudgetError):
        box.fit(X, Y)


@pytest.mark.filterwarnings("ignore")
def test_behind_a_selector_in_a_pipeline() -> None:
    from sklearn.pipeline import make_pipeline

    account = tacit.Ledger.open().account("data", budget=tacit.Budget(3.0))
    box = tacit.BlackBoxClassifier(GaussianNB(bounds=(0, 1)), epsilon=2.0, account=account)
    pipeline = make_pipeline(tacit.TopKSelector(4, epsilon=1.0, account=account), box).fit(X, Y)
    assert pipeline.predict_proba(X).shape == (2000, 2)
    assert account.spent.epsilon == 3.0


@pytest.mark.filterwarnings("ignore")
def test_in_a_workflow() -> None:
    result = tacit.Workflow(2.0, classifier=GaussianNB(bounds=(0, 1), accountant=BudgetAccountant())).run(X, Y)
    assert result.model.estimator_.epsilon == 2.0
    assert result.curve.auc > 0.7
    assert result.receipt["status"] == "private, if the model keeps what it states"
