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
