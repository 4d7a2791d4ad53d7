"""One odd cell, or one odd row, of a list decides neither on an error nor on how the others are read."""

from __future__ import annotations

import array
from collections import Counter, deque
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import tacit

HUGE = 10**5000
ODD = [[1, 2], [], (1,), {"a": 1}, 1j, HUGE, [HUGE], Fraction(HUGE, 3), np.array([1, 2]), b"\xff", object(), "\ud800"]


def nested() -> list[Any]:
    """Lists within lists, deeper than Python can write."""
    inner: list[Any] = []
    for _ in range(100_000):
        inner = [inner]
    return inner


def guess(X: Any, y: Any) -> Callable[[Any], Any]:
    """A black box that looks at nothing."""
    return lambda rows: np.full(len(rows), 0.5)


FITS: dict[str, Callable[[Any, Any], Any]] = {
    "fit": lambda X, y: tacit.BernoulliNB(random_state=0).fit(X, y),
    "black box": lambda X, y: tacit.BlackBoxClassifier(guess, epsilon=1.0).fit(X, y).predict(X),
    "tune": lambda X, y: tacit.tune([tacit.BernoulliNB()], X, y, epsilon=1.0, random_state=0),
    "split": lambda X, y: tacit.split(X, y, random_state=0),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("odd", [*ODD, nested()], ids=lambda odd: type(odd).__name__)
def test_an_odd_cell_is_no_error(odd: Any, name: str) -> None:
    rows: list[Any] = [[1, 0], [0, 1]] * 20 + [[1, odd]]
    FITS[name](rows, [0, 1] * 20 + [1])


@pytest.mark.parametrize("odd", [*ODD, nested(), None, 3.5], ids=lambda odd: type(odd).__name__)
def test_an_odd_text_is_no_error(odd: Any) -> None:
    texts, labels = ["win cash", "see you"] * 20 + [odd], [0, 1] * 20 + [1]
    tacit.BlackBoxClassifier(guess, epsilon=1.0).fit(texts, labels).predict(texts)
    tacit.TextClassifier(random_state=0).fit(texts, labels).predict(texts)
    tacit.split(texts, labels, random_state=0)


def test_one_long_text_does_not_make_all_cells_as_long() -> None:
    """numpy would ask for 6 TB."""
    rows: list[Any] = [[1, 0], [0, 1]] * 20_000 + [[1, "x" * 20_000_000]]
    assert tacit.BernoulliNB(random_state=0).fit(rows, [0, 1] * 20_000 + [1]).n_features_in_ == 2


@pytest.mark.parametrize("matrix", [np.array([[3 + 4j, 1]] * 4), sp.csr_array(np.array([[3 + 4j, 1]] * 4))])
def test_complex_matrices_are_refused_without_a_quote(matrix: Any) -> None:
    for model in (tacit.BernoulliNB(), tacit.BlackBoxClassifier(guess, epsilon=1.0)):
        with pytest.raises(tacit.ParameterError) as caught:
            model.fit(matrix, [0, 1, 0, 1])
        assert "3" not in str(caught.value)


def test_categories_are_texts_whatever_they_are() -> None:
    """With one text among them they were; of numbers alone they were refused."""
    texts = pd.Series([1, 2] * 20, dtype="category")
    assert tacit.TextClassifier(random_state=0).fit(texts, [0, 1] * 20).classes_.tolist() == [0, 1]


def _wide(row: Any) -> list[Any]:
    return [np.concatenate([np.zeros(2000, dtype=int), row, np.zeros(2000, dtype=int)])]


@pytest.mark.parametrize(
    "turned",
    [
        lambda row: row,
        pd.Series,
        lambda row: pa.array(row).to_numpy(),
        _wide,
        lambda row: {"cells": _wide(row)},
        lambda row: [HUGE, *row.tolist()],
        lambda row: (Fraction(HUGE + int(row @ 2 ** np.arange(8)), 7),),
    ],
    ids=["array", "series", "arrow", "long", "dict", "huge", "fraction"],
)
def test_a_row_more_moves_no_other_row_of_a_list(turned: Callable[[Any], Any]) -> None:
    """Rows that differ must not pass for copies: arrays once were missing, and numpy tells the ends of long ones."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (200, 8))
    labels = rng.integers(0, 2, 200).tolist()
    listed: list[Any] = [turned(row) for row in rows]
    names = {id(one): place for place, one in enumerate(listed)}

    def test_part(first: int) -> Counter[Any]:
        parts = tacit.split(listed[first:], labels[first:], 0.5, random_state=7)
        return Counter((rows[names[id(one)]].tobytes(), label) for one, label in zip(parts[1], parts[3], strict=True))

    one, other = test_part(0), test_part(1)
    assert ((one - other) + (other - one)).total() <= 1


@pytest.mark.parametrize("kind", [partial(array.array, "d"), np.array, pd.Series, pl.Series, tuple, deque, bytearray])
def test_rows_of_a_list_may_be_of_many_kinds(kind: Callable[[Any], Any]) -> None:
    rows = [kind([1, 0]), kind([0, 1])]
    if kind is bytearray:
        with pytest.raises(tacit.ParameterError, match="1 dimension"):
            tacit.BernoulliNB(random_state=0).fit(rows, [0, 1])
    else:
        assert tacit.BernoulliNB(random_state=0).fit(rows, [0, 1]).n_features_in_ == 2


@pytest.mark.parametrize("matrix", [np.array, lambda rows: sp.csr_array(np.array(rows))])
def test_what_is_too_small_for_coins_is_absent(matrix: Callable[[Any], Any]) -> None:
    """In 80 bits it was present, but had the coin of an absent one: rows that differ passed for copies."""
    tiny = np.array([[np.longdouble("1e-4000"), 1]] * 2000)
    if tiny[0, 0] == 0:
        pytest.skip("no longer floats than of 64 bits here")
    rows = matrix(tiny)
    model = tacit.BernoulliNB(epsilon=100.0, random_state=0, max_ones=2).fit(rows, [0, 1] * 1000)
    assert model.feature_count_[:, 0].max() < 100 < model.feature_count_[:, 1].min()
