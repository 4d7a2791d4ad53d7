"""Runs to report on: real releases on made-up data, with the names that people give to things."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import tacit
from tacit.report.summary import Summary, summarise

NASTY = (
    "<img src=x onerror=\"document.title='taken'\">",
    "\"quoted\" & 'quoted'",
    "</td></table><script>document.title='taken'</script>",
    "two\nlines",
)


def data(rows: int = 4000) -> tuple[pl.DataFrame, np.ndarray, tacit.Schema]:
    rng = np.random.default_rng(7)
    colours = rng.integers(0, len(NASTY), rows)
    y = (rng.random(rows) < np.array([0.1, 0.2, 0.7, 0.9])[colours]).astype(int)
    values = [*NASTY[:3], "plain"]
    columns = {
        "<b>colour</b>": {"kind": "category", "values": values},
        "size": {"kind": "number", "low": 0, "high": 1, "bins": 2},  # equal rows would fall into the same part
    }
    schema = tacit.Schema.from_dict({"label": {"classes": [0, 1]}, "columns": columns})
    frame = pl.DataFrame({"<b>colour</b>": [values[c] for c in colours], "size": rng.random(rows)})
    return frame, y, schema


def story(*, simulation: bool = False, **asked: Any) -> tuple[Summary, dict[str, Any]]:
    """A whole run: split, train, evaluate; the summary, and what it was made of."""
    frame, y, schema = data()
    account = tacit.Ledger.open().account("survey", budget=tacit.Budget(1.5))
    parts = tacit.split(frame, y, test_size=0.4, account=account)
    train, test, y_train, y_test = parts
    seed = 0 if simulation else None
    model = tacit.TabularClassifier(1.0, schema=schema, account=parts.accounts["train"], random_state=seed)
    model.fit(train, y_train)
    scores = model.predict_proba(test)[:, 1]
    curve = tacit.roc_curve(y_test, scores, epsilon=0.5, account=parts.accounts["test"], random_state=seed)
    state = {
        "budget": account.budget,
        "spent": account.spent,
        "remaining": account.remaining,
        "steps": [
            {"name": c.query, "part": c.partition, "epsilon": c.budget.epsilon, "delta": c.budget.delta}
            for c in account.entries()
        ],
    }
    question = {
        "dataset": "Who <i>answers</i>?",
        "label": 'said "yes"',
        "classes": ("no & never", "yes <3"),
        "epsilon": 1.0,
        "delta": 0.0,
        "unit": str(account.unit),
        "date": "2026-01-02",
        "a_note": NASTY[3],
        **asked,
    }
    receipts = [model.receipt_, curve.receipt]
    summary = summarise(question=question, model=model, curve=curve, receipts=receipts, account_state=state)
    return summary, {"model": model, "curve": curve, "account": account, "receipts": receipts}
