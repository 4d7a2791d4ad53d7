"""Numbers of numpy's are numbers: they mean the same as Python's, and nothing is lost by them."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV

import tacit
from tacit.privacy.unit import Bound, Unit

X, Y = np.eye(4)[np.arange(400) % 4], (np.arange(400) % 2).astype(np.int64)
TABLE = pl.DataFrame({"colour": ["red", "blue"] * 200})
SCHEMA = tacit.Schema.from_toml(
    'label = {classes = [0, 1]}\n[columns.colour]\nkind = "category"\nvalues = ["red", "blue"]\n'
)

Run = Callable[[Any, Callable[[int], Any]], Any]
RUNS: dict[str, Run] = {
    "naive Bayes": lambda account, whole: (
        tacit.BernoulliNB(max_ones=whole(3), account=account, random_state=whole(1)).fit(X, Y).receipt_
    ),
    "table": lambda account, whole: (
        tacit.TabularClassifier(schema=SCHEMA, max_ones=whole(1), account=account, random_state=whole(1))
        .fit(TABLE, Y)
        .receipt_
    ),
    "counts": lambda account, whole: (
        tacit.CountSelector(k=whole(2), max_ones=whole(3), account=account, random_state=whole(1)).fit(X, Y).receipt_
    ),
    "two rounds": lambda account, whole: (
        tacit.CountSelector(k=whole(2), rounds=whole(2), account=account, random_state=whole(1)).fit(X, Y).receipt_
    ),
    "top k": lambda account, whole: (
        tacit.TopKSelector(k=whole(2), account=account, random_state=whole(1)).fit(X, Y).receipt_
    ),
    "threshold": lambda account, whole: (
        tacit.ThresholdSelector(whole(9), whole(2), account=account, random_state=whole(1)).fit(X, Y).receipt_
    ),
    "clusters": lambda account, whole: (
        tacit.ClusterSelector(whole(9), whole(2), max_ones=whole(3), account=account, random_state=whole(1))
        .fit(X, Y)
        .receipt_
    ),
    "texts": lambda account, whole: (
        tacit.TextClassifier(bits=whole(8), account=account, random_state=whole(1)).fit(["a b"] * 400, Y).receipt_
    ),
    "workflow": lambda account, whole: tacit.Workflow(account=account, random_state=whole(3)).run(X, Y).receipt,
    "curve": lambda account, whole: (
        tacit.roc_curve(Y, X[:, 0], epsilon=1.0, account=account, random_state=whole(1)).receipt
    ),
    "paper's curve": lambda account, whole: (
        tacit.roc_curve(
            Y, X[:, 0], epsilon=1.0, account=account, random_state=whole(1), method="fixed-space", bins=8
        ).receipt
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_whole_numbers_of_numpy_are_the_same_request(name: str) -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
    first = RUNS[name](account, int)
    for kind in (np.int64, np.uint8):
        assert RUNS[name](account, kind).to_dict() == first.to_dict(), "found again in the ledger, at no cost"


def test_a_unit_of_a_number_of_numpy_can_be_written() -> None:
    unit = Unit.user("p", np.int64(2))  # type: ignore[arg-type]
    assert json.dumps(unit.to_json()) == json.dumps(Unit.user("p", 2).to_json())
    assert type(Bound(np.int64(2), np.int64(3)).ones) is int  # type: ignore[arg-type]
    tacit.Ledger.open().account("q", budget=tacit.Budget(1.0), unit=unit)


def test_a_grid_of_numpy_can_be_searched() -> None:
    search = GridSearchCV(tacit.BernoulliNB(random_state=0), {"max_ones": np.arange(1, 3)}, cv=2, error_score="raise")
    assert search.fit(X, Y).best_params_["max_ones"] in (1, 2)


def test_a_float_of_numpy_is_the_decimal_number_that_it_prints_as() -> None:
    for kind in (np.float16, np.float32, np.float64):
        budget = tacit.Budget(kind(0.1), kind(1e-3))
        assert (budget.exact_epsilon, budget.exact_delta) == (Fraction(1, 10), Fraction(1, 1000))
    assert len(tacit.split(X, Y, np.float32(0.5), random_state=np.int64(1))) == 4
    half = tacit.Workflow(np.float32(0.5), test_size=np.float32(0.5), random_state=1).run(X, Y)  # type: ignore[arg-type]
    assert half.receipt["epsilon"] == 0.5
    found = tacit.ThresholdSelector(np.float32(50.5), epsilon=np.float32(9)).fit(X, Y)  # type: ignore[arg-type]
    assert found.support_.all()
