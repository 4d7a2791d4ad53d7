"""Receipts: whatever was fitted, run or tuned, they say the same things about it, in words, and link to proofs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.privacy.release import Receipt

from .support.proofs import leads_to_a_proof

FIELDS = {
    "mechanism",
    "epsilon",
    "delta",
    "unit",
    "neighbours",
    "dataset",
    "ledger",
    "at",
    "library",
    "proof",
    "status",
}
OF_ONE_STEP = FIELDS | {"query", "sensitivity", "noise", "partition", "plan"}

RNG = np.random.default_rng(3)
X = (RNG.random((300, 4)) < 0.4).astype(np.int64)
Y = X[:, 0]
TEXTS = [f"win cash {i}" if i % 2 else f"lunch on day {i}" for i in range(300)]
SCHEMA = tacit.Schema.from_dict(
    {"label": {"classes": [0, 1]}, "columns": {"a": {"kind": "category", "values": ["u", "v"]}}}
)
FRAME = pl.DataFrame({"a": ["u", "v"] * 150})
RUN = tacit.Workflow(classes=("0", "1"), language=None)

RECEIPTS: dict[str, Callable[[], Receipt]] = {
    "BernoulliNB": lambda: tacit.BernoulliNB().fit(X, Y).receipt_,
    "LogisticRegression": lambda: tacit.LogisticRegression().fit(X, Y).receipt_,
    "TextClassifier": lambda: tacit.TextClassifier().fit(TEXTS, Y).receipt_,
    "TabularClassifier": lambda: tacit.TabularClassifier(schema=SCHEMA).fit(FRAME, Y).receipt_,
    "TabularClassifier, counts": lambda: tacit.TabularClassifier(schema=SCHEMA, max_ones=1).fit(FRAME, Y).receipt_,
    "CountSelector": lambda: tacit.CountSelector(k=1).fit(X, Y).receipt_,
    "CountSelector, two rounds": lambda: tacit.CountSelector(k=1, rounds=2).fit(X, Y).receipt_,
    "ClusterSelector": lambda: tacit.ClusterSelector(3.0, 2).fit(X, Y).receipt_,
    "TopKSelector": lambda: tacit.TopKSelector(1).fit(X, Y).receipt_,
    "ThresholdSelector": lambda: tacit.ThresholdSelector(3.0).fit(X, Y).receipt_,
    "ThresholdSelector, no limit": lambda: tacit.ThresholdSelector(3.0, None).fit(X, Y).receipt_,
    "SelectingClassifier": lambda: (
        tacit.SelectingClassifier(tacit.BernoulliNB(), tacit.TopKSelector(1)).fit(X, Y).receipt_
    ),
    "roc_curve": lambda: tacit.roc_curve(Y, X[:, 0] / 2, epsilon=1.0).receipt,
    "tune": lambda: tacit.tune([tacit.BernoulliNB()], X, Y, epsilon=1.0).receipt,
    "BlackBoxClassifier": lambda: tacit.BlackBoxClassifier(tacit.BernoulliNB()).fit(X, Y).receipt_,
    "Workflow": lambda: RUN.run(TEXTS, [str(i % 2) for i in range(300)]).receipt,
}


def links(receipt: Receipt) -> list[str]:
    found: Any = receipt["proof"] or []
    return [found] if isinstance(found, str) else found


@pytest.mark.parametrize("name", RECEIPTS)
def test_every_receipt_has_the_same_fields_and_links_to_proofs(name: str) -> None:
    receipt = RECEIPTS[name]()
    assert set(receipt) >= (FIELDS if name == "Workflow" else OF_ONE_STEP)
    assert receipt["at"][:2] == "20"
    assert receipt["library"].startswith("tacit ")
    assert all(map(leads_to_a_proof, links(receipt)))
    assert links(receipt) or name == "BlackBoxClassifier", "tacit proves nothing about a foreign model"
    assert "purse" not in receipt["mechanism"]
    assert "None" not in receipt.get("query", "")


def test_what_a_text_classifier_draws_is_named_and_proven() -> None:
    receipt = RECEIPTS["TextClassifier"]()
    assert receipt["mechanism"] == "plan: discrete Laplace, discrete Laplace, selection, discrete Laplace"
    assert "docs/proofs/normalised-sums.md" in receipt["proof"]


def test_a_chain_names_the_proofs_of_both_halves() -> None:
    found = links(RECEIPTS["SelectingClassifier"]())
    assert {"docs/proofs/selection.md#top-k", "docs/proofs/bounding.md"} <= set(found)


def test_a_run_names_the_proofs_of_its_steps_and_of_their_sum() -> None:
    found = links(RECEIPTS["Workflow"]())
    assert {"docs/proofs/accounting.md#parallel-composition", "docs/proofs/roc.md"} <= set(found)
