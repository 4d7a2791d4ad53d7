"""An ε that is too small for any step of a fit is refused before it is charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit

X, Y = np.eye(4)[np.arange(100) % 4], [1, 0] * 50
TEXTS = ["win cash now", "see you at lunch"] * 50
TABLE = pl.DataFrame({"colour": ["red", "blue"] * 50})
SCHEMA = 'label = {classes = [0, 1]}\n[columns.colour]\nkind = "category"\nvalues = ["red", "blue"]\n'

Fit = Callable[[float, Any], Any]
FITS: dict[str, Fit] = {
    "texts": lambda e, a: tacit.TextClassifier(e, account=a).fit(TEXTS, Y),
    "texts with δ": lambda e, a: tacit.TextClassifier(e, 1e-6, account=a).fit(TEXTS, Y),
    "table": lambda e, a: tacit.TabularClassifier(e, schema=tacit.Schema.from_toml(SCHEMA), account=a).fit(TABLE, Y),
    "naive Bayes": lambda e, a: tacit.BernoulliNB(e, account=a).fit(X, Y),
    "regression": lambda e, a: tacit.LogisticRegression(e, account=a).fit(X, Y),
    "counts": lambda e, a: tacit.CountSelector(k=2, epsilon=e, account=a).fit(X, Y),
    "two rounds": lambda e, a: tacit.CountSelector(k=2, rounds=2, epsilon=e, account=a).fit(X, Y),
    "clusters": lambda e, a: tacit.ClusterSelector(threshold=4, n_clusters=2, epsilon=e, account=a).fit(X, Y),
    "sparse vector": lambda e, a: tacit.ThresholdSelector(5, epsilon=e, account=a).fit(X, Y),
    "screening": lambda e, a: tacit.ThresholdSelector(5, max_selected=None, epsilon=e, account=a).fit(X, Y),
}


@pytest.mark.parametrize("name", FITS)
def test_nothing_is_lost(name: str) -> None:
    refused = []
    for epsilon in 10.0 ** np.arange(-13, 0):
        account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0, 1e-6))
        try:
            FITS[name](float(epsilon), account)
        except tacit.ParameterError as error:
            refused.append((str(error), account.spent.epsilon))
    assert 0 < len(refused) < 13
    assert all("'epsilon' parameter" in text and not spent for text, spent in refused)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "many", True])
def test_an_odd_bound_of_ones_is_refused_before_it_is_charged(bad: Any) -> None:
    for kind, settings in ((tacit.BernoulliNB, {}), (tacit.CountSelector, {"k": 2})):
        account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
        with pytest.raises(tacit.ParameterError, match=f"'max_ones' parameter of {kind.__name__}"):
            kind(epsilon=0.5, max_ones=bad, account=account, **settings).fit(X, Y)
        assert account.spent.epsilon == 0


def _norms(model: Any) -> list[str]:
    return [step["noise"]["norm"] for step in model.receipt_["steps"] if step["step"] in ("sums", "ones")]


@pytest.mark.parametrize(("epsilon", "delta", "norm"), [(1.0, 1e-6, "L2"), (0.01, 1e-6, "L1"), (1.0, 1e-30, "L1")])
def test_sums_of_texts_have_laplace_noise_where_gaussian_noise_is_refused_or_worse(
    epsilon: float, delta: float, norm: str
) -> None:
    model = tacit.TextClassifier(epsilon, delta, random_state=0).fit(TEXTS, Y)
    assert _norms(model) == [norm]
    (sums,) = (step for step in model.receipt_["steps"] if step["step"] == "sums")
    assert f"{norm} norm at most" in sums["query"]  # rows are scaled to the norm that the noise is for


@pytest.mark.parametrize(("ones", "norm"), [(2, "L1"), (100, "L2")])
def test_counts_have_the_smaller_noise(ones: int, norm: str) -> None:
    wide = np.ones((50, 200))
    model = tacit.BernoulliNB(1.0, 1e-6, max_ones=ones, random_state=0).fit(wide, [0, 1] * 25)
    assert _norms(model) == [norm]
    narrow = tacit.BernoulliNB(1.0, 1e-6, max_ones=100, random_state=0).fit(X, Y)
    assert _norms(narrow) == ["L1"]  # a row has at most four features, whatever is allowed
