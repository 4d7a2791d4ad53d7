"""A parameter of the wrong type is refused by name, in the one sentence of all errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tacit

X, Y = np.eye(4)[np.arange(100) % 4], [1, 0] * 50
TEXTS = ["win cash now", "see you at lunch"] * 50

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "alpha": (lambda: tacit.BernoulliNB(alpha="1").fit(X, Y), "'alpha' parameter of BernoulliNB"),  # type: ignore[arg-type]
    "NaN": (lambda: tacit.BernoulliNB(alpha=float("nan")).fit(X, Y), "'alpha' parameter of BernoulliNB"),
    "counts": (
        lambda: tacit.CountSelector(threshold="9").fit(X, Y),  # type: ignore[arg-type]
        "'threshold' parameter of CountSelector",
    ),
    "threshold": (
        lambda: tacit.ThresholdSelector("9").fit(X, Y),  # type: ignore[arg-type]
        "'threshold' parameter of ThresholdSelector",
    ),
    "clusters": (
        lambda: tacit.ClusterSelector(threshold=None).fit(X, Y),  # type: ignore[arg-type]
        "'threshold' parameter of ClusterSelector",
    ),
    "words": (
        lambda: tacit.TextClassifier(word_list=["en"]).fit(TEXTS, Y),  # type: ignore[arg-type]
        "'word_list' parameter of TextClassifier",
    ),
    "public text": (
        lambda: tacit.TextClassifier(public_text="abc").fit(TEXTS, Y),
        "'public_text' parameter of TextClassifier",
    ),
    "account": (lambda: tacit.split(X, Y, account="x"), "'account' parameter of split"),  # type: ignore[arg-type]
    "seed": (lambda: tacit.split(X, Y, random_state="a"), "'random_state' parameter of split"),  # type: ignore[arg-type]
    "shares": (lambda: tacit.Workflow(shares=[0.5]), "'shares' parameter of Workflow"),  # type: ignore[arg-type]
    "workflow's seed": (lambda: tacit.Workflow(random_state="a"), "'random_state' parameter of Workflow"),  # type: ignore[arg-type]
    "class": (
        lambda: tacit.Workflow(classifier=tacit.BernoulliNB).run(X, Y),
        "'classifier' parameter of Workflow",
    ),
    "ε": (lambda: tacit.roc_curve(Y, X[:, 0], epsilon=0), "'epsilon' parameter of roc_curve"),
    "δ": (lambda: tacit.roc_curve(Y, X[:, 0], epsilon=1, delta=2), "'delta' parameter of roc_curve"),
    "list of lists": (lambda: tacit.Workflow().run(X.tolist(), Y), "'X' parameter of Workflow.run"),
    "list of arrays": (lambda: tacit.Workflow().run(list(X), Y), "np.asarray"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_type_is_refused_by_name(name: str) -> None:
    run, words = WRONG[name]
    with pytest.raises(tacit.ParameterError, match=words):
        run()


def test_a_list_among_texts_is_one_more_text() -> None:
    odd: list[Any] = [*TEXTS, ["no", "text"]]
    result = tacit.Workflow(random_state=0).run(odd, [*Y, 1])
    assert isinstance(result.model, tacit.TextClassifier)
