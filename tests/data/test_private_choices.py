"""Bins by private quantiles, and private vocabularies."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.data import vocabulary
from tacit.data.bounding import Bounding
from tacit.data.quantiles import column_histogram, quantile_edges
from tacit.data.schema import NumberColumn, Schema, TextColumn
from tacit.data.sources import open_source
from tacit.data.text import token_hashes
from tacit.data.vocabulary import word_counts
from tacit.errors import ParameterError, PrivacyError
from tacit.privacy._seal import open_exact, open_keys
from tacit.privacy.gate import release
from tacit.privacy.mechanisms import DiscreteLaplace, PartitionSelection, smallest_threshold
from tacit.privacy.unit import Bound, Sensitivity, Unit
from tests.data import oracle

AGES = Schema((NumberColumn("age", (0.0, 100.0)),), classes=(0, 1), label="y")


def test_quantile_bins_through_the_gate() -> None:
    values = np.random.default_rng(1).gamma(2.0, 10.0, 20_000)
    frame = pl.DataFrame({"age": values, "y": [0, 1] * 10_000})
    exact = column_histogram(frame, AGES, "age", cells=200, seed=1)
    assert exact.shape == (201,)
    assert exact.sensitivity.l1 == 1
    account = tacit.Ledger.open().account("d", budget=tacit.Budget(1.0))
    released = release(account, exact, DiscreteLaplace(0.5), random_state=3)
    edges = quantile_edges(released.values, 0.0, 100.0, 5)
    shares = np.histogram(np.clip(values, 0, 100), edges)[0] / len(values)
    # Exact quantiles are off by at most half a cell (under 2 %); the noise's deviation is about 30 rows of 20,000.
    assert np.abs(shares - 0.2).max() < 0.03
    assert account.spent.epsilon == 0.5


def test_histograms_of_persons_and_missing_values() -> None:
    schema = Schema(AGES.columns, AGES.classes, label="y", unit=Unit.user("who", 2))
    frame = pl.DataFrame({"age": [1, 99, None, 1], "y": [0, 1, 1, 0], "who": ["a", "a", "b", "a"]})
    exact = column_histogram(frame, schema, "age", cells=2, seed=4)
    table = open_exact(exact)
    assert table.sum() == 3
    assert table[2] == 1
    assert exact.sensitivity.l1 == 2
    with pytest.raises(ParameterError, match="numeric column"):
        column_histogram(frame, schema, "who")


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=30), st.integers(1, 8))
def test_edges_are_always_usable(noisy: list[int], bins: int) -> None:
    edges = quantile_edges(noisy, -1.0, 3.0, bins)
    assert NumberColumn("x", edges).edges == edges
    assert (edges[0], edges[-1]) == (-1.0, 3.0)
    assert len(edges) <= bins + 1


def test_edges_without_noise_are_quantiles() -> None:
    assert quantile_edges([1] * 100 + [0], 0.0, 100.0, 4) == (0.0, 25.0, 50.0, 75.0, 100.0)
    assert quantile_edges([-3, -2, 0], 0.0, 1.0, 4) == (0.0, 1.0)
    with pytest.raises(ParameterError, match="bins"):
        quantile_edges([1, 1], 0.0, 1.0, 0)
    with pytest.raises(ParameterError, match="released"):
        quantile_edges([1], 0.0, 1.0, 2)


# -- partition selection ----------------------------------------------------------------------------------------------


def passing(tau: int, count: int, alpha: float) -> float:
    """P(count + Z ≥ τ) for discrete Laplace Z, from the probabilities themselves."""
    return sum((1 - alpha) / (1 + alpha) * alpha ** abs(z) for z in range(tau - count, tau - count + 4000))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize(("m", "r"), [(1, 1), (1, 7), (3, 2), (5, 1)])
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_new_words_pass_with_probability_at_most_delta(epsilon: float, m: int, r: int, delta: float) -> None:
    tau = smallest_threshold(Fraction(epsilon), Fraction(delta), m * r, m)
    alpha = math.exp(-epsilon / (m * r))
    chances = [passing(tau, c, alpha) for c in range(1, m + 1)]
    worst = 0.0
    for words in itertools.product(range(m * r + 1), repeat=m):  # how many new words of each count
        if sum(n * c for c, n in enumerate(words, 1)) <= m * r:
            missed = math.prod((1 - chances[c]) ** n for c, n in enumerate(words))
            worst = max(worst, 1 - missed)
    assert worst <= delta
    if tau > m + 1:  # and the next smaller threshold would not do, but for the union bound
        before = [passing(tau - 1, c, alpha) / c for c in range(1, m + 1)]
        assert m * r * max(before) > delta * (1 - 1e-6)


def outcomes(shared: int, new: int | None, tau: int, alpha: float) -> dict[tuple[int, int], float]:
    """The distribution of what is released: the noisy counts of a shared and a new word, 0 for not released."""

    def law(count: int | None) -> dict[int, float]:
        if count is None:
            return {0: 1.0}
        shown = {v: (1 - alpha) / (1 + alpha) * alpha ** abs(v - count) for v in range(tau, tau + 150)}
        return {0: 1 - passing(tau, count, alpha)} | shown

    return {(a, b): p * q for a, p in law(shared).items() for b, q in law(new).items()}


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("delta", [0.05, 1e-4])
@pytest.mark.parametrize("shared", [1, 4, 12])
def test_the_mechanism_is_private_both_ways(epsilon: float, delta: float, shared: int) -> None:
    # A unit of two words, one of them new: the hockey-stick divergence by enumeration.
    tau = smallest_threshold(Fraction(epsilon), Fraction(delta), 2, 1)
    alpha = math.exp(-epsilon / 2)
    without, with_unit = outcomes(shared, None, tau, alpha), outcomes(shared + 1, 1, tau, alpha)
    for p, q in ((with_unit, without), (without, with_unit)):
        divergence = sum(max(0.0, mass - math.exp(epsilon) * q.get(key, 0.0)) for key, mass in p.items())
        assert divergence <= delta * (1 + 1e-9)


def test_the_mechanism_states_its_price() -> None:
    mechanism = PartitionSelection(1.0, 1e-6)
    one_word = Sensitivity.of_feature_counts(Bound(rows=1, ones=1))
    assert mechanism.threshold(one_word) == 15
    assert mechanism.describe(one_word) == {"noise_scale": "1", "norm": "L1", "threshold": 15}
    assert (mechanism.loss().epsilon, mechanism.loss().delta) == (1, Fraction(9, 10**7))
    for delta in (0, 0.7):
        with pytest.raises(ParameterError, match="delta"):
            PartitionSelection(1.0, delta)


@pytest.mark.parametrize("unit", [Unit.row(), Unit.user("who", 2)], ids=["row", "person"])
def test_word_counts(unit: Unit) -> None:
    texts = ["the cat sat", "The CAT ran away, the cat!", None, "dropped row", "don’t ❤️ cat"]
    frame = pl.DataFrame({"t": texts, "y": [0, 1, 1, 7, 0], "who": ["a", "a", "a", "b", "c"]})
    schema = Schema((TextColumn("t", bits=4),), classes=(0, 1), label="y", unit=unit)
    bounding = Bounding(3, unit, seed=6)
    counts = word_counts(open_source(frame, schema, batch_rows=2), "t", bounding)
    plain = [
        (frozenset(oracle.string_hash(w) for w in oracle.tokens(text or "")), y, who)
        for text, y, who in frame.rows()
        if y in (0, 1)
    ]
    names = {oracle.string_hash(w): w for text in texts for w in oracle.tokens(text or "")}
    wanted: dict[str, int] = {}
    for features, _, _ in oracle.bound(plain, bounding):
        for word in features:
            wanted[names[word]] = wanted.get(names[word], 0) + 1
    keys, values = open_keys(counts)
    assert dict(zip(keys, values.tolist(), strict=True)) == wanted
    assert counts.sensitivity.l1 == 3 * unit.max_rows
    with pytest.raises(PrivacyError):
        repr(counts)
    with pytest.raises(ParameterError, match="text column"):
        word_counts(open_source(frame, schema), "who", bounding)


@pytest.mark.parametrize("unit", [Unit.row(), Unit.user("who", 2)], ids=["row", "person"])
def test_words_made_up_to_collide_do_not_bring_others_to_light(unit: Unit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rows have a word with the hash of one person's word: that person's word must not be shown in its place."""
    monkeypatch.setattr(vocabulary, "token_hashes", _colliding)
    texts = ["zebra zoo"] * 60 + ["aardvark"]
    frame = pl.DataFrame({"t": texts, "y": [0] * 61, "who": [str(i) for i in range(60)] + ["victim"]})
    schema = Schema((TextColumn("t", bits=4),), classes=(0, 1), label="y", unit=unit)
    counts = word_counts(open_source(frame, schema), "t", Bounding(2, unit, seed=6))
    account = tacit.Ledger.open().account("d", budget=tacit.Budget(8.0, 1e-3), unit=unit)
    released = release(account, counts, PartitionSelection(8.0, 1e-3), random_state=1)
    assert released.keys == ("zebra",)  # the first of the two in its row; never the victim's


def _colliding(text: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    hashes, starts = token_hashes(text)
    return np.zeros_like(hashes), starts


def test_a_vocabulary_through_the_gate() -> None:
    """Frequent words leave with noisy counts; rare ones, and how many there are, do not."""
    texts = [f"common often{i % 2} rare{i}" for i in range(400)]
    schema = Schema.text(classes=(0, 1), bits=4)
    source = open_source(texts, schema, y=[0, 1] * 200)
    counts = word_counts(source, "text", Bounding(3, seed=1))
    account = tacit.Ledger.open().account("d", budget=tacit.Budget(2.0, 1e-6))
    released = release(account, counts, PartitionSelection(1.0, 1e-6), random_state=5)
    assert released.keys == ("common", "often0", "often1")
    assert np.abs(released.values - [400, 200, 200]).max() < 60  # scale 3: beyond with probability below 1e-8
    assert released.receipt["noise"]["threshold"] > 40
    assert account.spent == tacit.Budget(1.0, 1e-6)
    again = release(account, counts, PartitionSelection(1.0, 1e-6), random_state=5)
    assert (again.keys, again.values.tolist()) == (released.keys, released.values.tolist())
    with pytest.raises(PrivacyError, match="PartitionSelection"):
        release(account, counts, DiscreteLaplace(0.5))
    with pytest.raises(PrivacyError, match="PartitionSelection"):
        release(
            account, column_histogram(pl.DataFrame({"age": [1], "y": [0]}), AGES, "age"), PartitionSelection(0.5, 1e-7)
        )
    assert account.spent == tacit.Budget(1.0, 1e-6)


def test_nothing_to_release() -> None:
    schema = Schema.text(classes=(0, 1), bits=4)
    counts = word_counts(open_source(["", ""], schema, y=[0, 1]), "text", Bounding(3, seed=1))
    account = tacit.Ledger.open().account("d", budget=tacit.Budget(2.0, 1e-6))
    assert release(account, counts, PartitionSelection(1.0, 1e-6)).keys == ()
