"""Tuning refuses what is wrong before it charges, and looks at nothing private for that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import tacit

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, 60)
X = (RNG.random((60, 4)) < 0.5).astype(float)
TEXTS = ["win cash now" if label else "see you at lunch" for label in Y]
SCHEMA = tacit.Schema.from_toml(
    'label = {classes = [0, 1]}\n[columns.colour]\nkind = "category"\nvalues = ["a", "b"]\n'
)
BY_PERSON = tacit.Schema.from_toml(
    'label = {classes = [0, 1]}\nperson = {column = "who", max_rows = 2}\n'
    '[columns.colour]\nkind = "category"\nvalues = ["a", "b"]\n'
)


class Box:
    """A black box that must not be run before it is paid."""

    epsilon = 0.01

    def fit(self, X: Any, y: Any) -> None:
        raise AssertionError("was run")


def chain(**settings: Any) -> Any:
    return tacit.SelectingClassifier(tacit.BernoulliNB(), tacit.CountSelector(**settings))


def refused(candidates: Any = None, rows: Any = X, labels: Any = Y, **settings: Any) -> str:
    """What tune says to something wrong; nothing may be charged."""
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(3.0))
    settings = {"epsilon": 3.0, "account": account} | settings
    with pytest.raises(tacit.TacitError) as caught:
        tacit.tune([tacit.BernoulliNB()] if candidates is None else candidates, rows, labels, **settings)
    assert account.spent.epsilon == 0
    assert not account.entries()
    return str(caught.value)


@pytest.mark.parametrize("labels", [Y[:-1], None, np.column_stack([Y, Y]), 3])
def test_labels_of_another_shape(labels: Any) -> None:
    assert "'y' parameter of tune" in refused(labels=labels)


@pytest.mark.parametrize("rows", ["data.csv", b"data", np.float64(3), (row for row in X), pl.LazyFrame({"a": [1]})])
def test_rows_that_are_not_in_memory(rows: Any) -> None:
    assert "'X' parameter of tune" in refused(rows=rows)


@pytest.mark.parametrize("rows", [X[:, 0], list(X[:, 0]), X[:, 0].tolist(), X[:, :, None], [[1, 0], [1]] * 30])
@pytest.mark.parametrize("model", [tacit.BernoulliNB(), tacit.LogisticRegression(), chain(k=2)])
def test_rows_that_are_no_matrix(rows: Any, model: Any) -> None:
    assert "'X' parameter of" in refused([model], rows)


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (tacit.BernoulliNB(max_ones=0), "max_ones"),
        (tacit.BernoulliNB(classes=(1, 1)), "classes"),
        (tacit.BernoulliNB(alpha=-1), "alpha"),
        (tacit.LogisticRegression(loss="hinge"), "loss"),
        (tacit.LogisticRegression(classes=(0, 1, 2)), "classes"),
        (tacit.TextClassifier(bits=1), "bits"),
        (tacit.TabularClassifier(), "schema"),
        (chain(k=9), "'k' parameter of CountSelector"),
        (chain(k=2, score="none"), "score"),
        (tacit.SelectingClassifier(tacit.BernoulliNB(max_ones=0), tacit.CountSelector(k=2)), "max_ones"),
        (tacit.SelectingClassifier(None, tacit.CountSelector(k=2)), "'classifier' parameter of SelectingClassifier"),
        (tacit.SelectingClassifier(tacit.BernoulliNB(), object()), "'selector' parameter of SelectingClassifier"),
        (tacit.BlackBoxClassifier(None, epsilon=0.1), "estimator"),
        (tacit.BlackBoxClassifier(Box(), classes=(1, 1)), "classes"),
        (tacit.SelectingClassifier(tacit.BlackBoxClassifier(Box(), classes=()), tacit.CountSelector(k=2)), "classes"),
        (tacit.SelectingClassifier(tacit.BlackBoxClassifier(Box()), tacit.CountSelector(k=9)), "'k' parameter"),
    ],
)
def test_candidates_with_a_wrong_parameter(model: Any, word: str) -> None:
    """Also as one of several, of which chance might run the others alone."""
    assert word in refused([model])
    assert word in refused([tacit.BernoulliNB(), model, tacit.BernoulliNB()])


@pytest.mark.parametrize("state", ["a", 1.5, -1, True])
def test_odd_seeds(state: Any) -> None:
    assert "'random_state' parameter of tune" in refused(random_state=state)
    box = tacit.BlackBoxClassifier(tacit.BernoulliNB(), random_state=state)
    with pytest.raises(tacit.ParameterError, match="'random_state' parameter of BlackBoxClassifier"):
        box.fit(X, Y)


@pytest.mark.parametrize("state", [np.int64(1), np.uint8(1), 1])
def test_numpy_seeds_are_seeds(state: Any) -> None:
    first, second = (
        tacit.tune([tacit.BernoulliNB(), chain(k=2)], X, Y, epsilon=3.0, random_state=seed) for seed in (state, 1)
    )
    assert (first.candidate, first.score) == (second.candidate, second.score)


@pytest.mark.parametrize("model", [tacit.BernoulliNB(), tacit.LogisticRegression(), chain(k=2), chain(k=2, rounds=2)])
@pytest.mark.parametrize("epsilon", [1e-13, 1e-11])
def test_an_epsilon_that_is_too_small(model: Any, epsilon: float) -> None:
    assert "'epsilon' parameter" in refused([model], epsilon=epsilon)


def test_persons() -> None:
    account = tacit.Ledger.open().account("p", budget=tacit.Budget(3.0), unit=tacit.Unit.user("who", 2))
    with pytest.raises(tacit.ParameterError, match="'account' parameter of tune"):
        tacit.tune([tacit.BernoulliNB()], X, Y, epsilon=3.0, account=account)
    assert account.spent.epsilon == 0
    table = pl.DataFrame({"colour": ["a", "b"] * 30, "who": list(range(30)) * 2})
    for model in (
        tacit.TabularClassifier(schema=BY_PERSON),
        tacit.SelectingClassifier(tacit.BernoulliNB(), None, BY_PERSON),
    ):
        assert "protects rows alone" in refused([model], table)


@pytest.mark.parametrize("candidates", [None, 3, tacit.BernoulliNB(), "BernoulliNB"])
def test_what_is_no_list_of_candidates(candidates: Any) -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(3.0))
    with pytest.raises(tacit.ParameterError, match="'candidates' parameter of tune"):
        tacit.tune(candidates, X, Y, epsilon=3.0, account=account)
    assert account.spent.epsilon == 0


KINDS = {
    "array": X,
    "lists": X.tolist(),
    "rows": list(X),
    "sparse": sp.coo_array(X),
    "pandas": pd.DataFrame(X, columns=list("abcd")),
    "polars": pl.DataFrame(X, schema=list("abcd")),
    "odd cells": [[*row[:3], "x"] for row in X.tolist()],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", [tacit.BernoulliNB(), chain(k=2)], ids=["alone", "behind a selector"])
def test_matrices_of_every_kind_can_be_tuned(kind: str, model: Any) -> None:
    assert tacit.tune([model], KINDS[kind], Y, epsilon=3.0).receipt["epsilon"] == 3.0


@pytest.mark.parametrize(
    "texts", [TEXTS, np.array(TEXTS), pd.Series(TEXTS), pl.Series(TEXTS), [*TEXTS[:-3], 1, None, ["x"]], [1] * 60]
)
def test_texts_of_every_kind_can_be_tuned(texts: Any) -> None:
    """What stands among the texts must not decide on an error."""
    assert tacit.tune([tacit.TextClassifier(bits=4)], texts, Y, epsilon=3.0).receipt["epsilon"] == 3.0


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_tables_of_every_kind_can_be_tuned(kind: Any) -> None:
    candidates = [tacit.TabularClassifier(schema=SCHEMA), tacit.SelectingClassifier(tacit.BernoulliNB(), None, SCHEMA)]
    best = tacit.tune(candidates, kind({"colour": ["a", "b"] * 30}), Y, epsilon=3.0)
    assert best.model.classes_.tolist() == [0, 1]


def test_a_rehearsal_sees_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first fit, before the charge, is on no rows, whatever the data are; the others are on all of them."""
    seen: list[tuple[int, int]] = []
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(3.0))
    whole = tacit.BernoulliNB.fit

    def watched(self: Any, X: Any, y: Any, **others: Any) -> Any:
        seen.append((X.shape[0], len(account.entries())))
        return whole(self, X, y, **others)

    monkeypatch.setattr(tacit.BernoulliNB, "fit", watched)
    tacit.tune([tacit.BernoulliNB()], X, Y, epsilon=3.0, account=account)
    assert seen[0] == (0, 0)
    assert set(seen[1:]) == {(60, 1)}
