"""A private vocabulary: which words are frequent, by partition selection. Needs δ > 0.

The words themselves are private, so they cannot be counted in a table of public shape. Each row gives at most r of its
words, each person at most m rows; every word that occurs gets noise on its count, and a word leaves only if its noisy
count reaches a threshold so high that words which a single person brought pass with probability at most δ. The proof is
in ``docs/proofs/bounding.md``, section "Partition selection".

``WordCounts`` is private; the mechanism of the gate that draws from it is described by :class:`PartitionSelection`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tacit.data.bounding import Bounding, FeatureHasher, PersonStore, add_bounded, keep_features
from tacit.data.columns import TextColumn
from tacit.data.features import as_text, label_codes, plain_text
from tacit.data.hashing import Longs
from tacit.data.rows import Rows, concatenate, offsets_of
from tacit.data.schema import Schema
from tacit.data.sources import Source
from tacit.data.statistics import bounding_version
from tacit.data.text import token_hashes, token_lists
from tacit.errors import bad_parameter
from tacit.privacy.budget import Budget, Number, exact_delta, exact_epsilon
from tacit.privacy.exact import Exact
from tacit.privacy.loss import Loss
from tacit.privacy.unit import Bound, Sensitivity


@dataclass(frozen=True, slots=True, init=False)
class PartitionSelection:
    """Adds discrete Laplace noise of scale L1/ε to the count of each key that occurs; releases those at the threshold.

    Parameters
    ----------
    epsilon, delta : the whole cost; δ must be above 0 and at most 1 − e^(−ε)

    Examples
    --------
    >>> one_word = Sensitivity.of_feature_counts(Bound(rows=1, ones=1))
    >>> PartitionSelection(1.0, 1e-6).threshold(one_word)
    15
    """

    name: ClassVar[str] = "partition selection"
    proof: ClassVar[str] = "docs/proofs/bounding.md#partition-selection"
    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon, "PartitionSelection"))
        object.__setattr__(self, "delta", exact_delta(delta, "PartitionSelection"))
        if self.delta == 0 or self.delta > -math.expm1(-float(self.epsilon)) * (1 - 1e-9):
            remedy = "Words that nobody declared cannot leave without a δ: use hashing or a public list for δ = 0."
            raise bad_parameter(
                "PartitionSelection", "delta", "above 0 and at most 1 − e^(−ε)", float(self.delta), remedy
            )

    @property
    def budget(self) -> Budget:
        """The (ε, δ) that was asked for."""
        return Budget.amount(self.epsilon, self.delta)

    def loss(self) -> Loss:
        """ε and δ as they stand."""
        return Loss(self.epsilon, self.delta, None)

    def scale(self, sensitivity: Sensitivity) -> Fraction:
        """Return L1/ε."""
        return sensitivity.l1 / self.epsilon

    def threshold(self, sensitivity: Sensitivity) -> int:
        """The smallest count at which a key may be released."""
        return smallest_threshold(self.epsilon, self.delta, sensitivity.l1, sensitivity.linf)

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how the noise is scaled and where the threshold is."""
        return {
            "noise_scale": str(self.scale(sensitivity)),
            "norm": "L1",
            "threshold": self.threshold(sensitivity),
        }


def smallest_threshold(epsilon: Fraction, delta: Fraction, l1: int, linf: int) -> int:
    """The smallest whole τ > L∞ with L1 · max_{1 ≤ c ≤ L∞} α^(τ−c) / ((1+α) c) ≤ δ, where α = e^(−ε/L1).

    A unit brings new keys with counts c₁, c₂, … of at most L∞ each and at most L1 in sum. One of count c passes with
    probability α^(τ−c)/(1+α), so the probability that any passes is at most L1 times the largest such value per unit
    of count. In floating point, rounded up by more than all roundings together could amount to.
    """
    rate = float(epsilon) / l1
    # max over c of exp(rate·c)/c: convex in c, so the largest value is at one of the ends.
    worst = max(rate, rate * linf - math.log(linf))
    passing = math.log(l1) + worst - math.log1p(math.exp(-rate)) - math.log(float(delta))
    return max(linf + 1, math.ceil(passing / rate * (1 + 1e-9) + 1e-9))


class WordCounts:
    """How many rows have each word, sealed. ``exact`` has a line (hash of the word, count) for each word that occurs.

    Only a mechanism that hides which lines there are may open it. ``words_of`` turns released hashes into words.
    """

    def __init__(self, exact: Exact, source: Source, column: str) -> None:
        self.exact = exact
        self._source = source
        self._column = column

    def __repr__(self) -> str:
        return "<private word counts>"

    def words_of(self, released: Longs) -> list[str]:
        """The words with the released hashes, in that order. Reads the data again."""
        wanted = set(np.asarray(released, dtype=np.int64).tolist())
        found: dict[int, str] = {}
        for frame in self._source.frames():
            text = as_text(frame[self._column], self._column)
            hashes, _ = token_hashes(text)
            places = np.flatnonzero(np.isin(hashes.view(np.int64), list(wanted - found.keys())))
            if len(places):
                tokens = token_lists(text).explode(empty_as_null=False).gather(places)
                found |= dict(zip(hashes.view(np.int64)[places].tolist(), tokens, strict=True))
        return [found[key] for key in np.asarray(released, dtype=np.int64).tolist()]


def word_counts(source: Source, column: str, bounding: Bounding) -> WordCounts:
    """Count the rows that have each word of a text column, at most r words of a row and m rows of a person."""
    schema = source.schema
    if not any(c.name == column and isinstance(c, TextColumn) for c in schema.columns):
        raise bad_parameter("word_counts", "column", "a text column of the schema", column)
    if bounding.unit != schema.unit:
        raise bad_parameter("word_counts", "bounding", f"for the schema's unit ({schema.unit})", str(bounding.unit))
    hasher = FeatureHasher(bounding.key)
    store = PersonStore(bounding.unit.max_rows)
    parts: list[Rows] = []
    for frame in source.frames():
        rows = _word_rows(frame, schema, column)
        if bounding.unit.column is None:
            parts.append(keep_features(rows, bounding, hasher))
        else:
            add_bounded(store, rows, bounding, hasher)
    kept = store.rows() if bounding.unit.column is not None else concatenate(parts) if parts else None
    hashes = np.empty(0, dtype=np.int64) if kept is None else kept.indices.astype(np.int64)
    words, counts = np.unique(hashes, return_counts=True)
    exact = Exact(
        np.stack([words, counts], axis=1),
        sensitivity=Sensitivity.of_feature_counts(Bound(rows=bounding.unit.max_rows, ones=bounding.max_ones)),
        unit=schema.unit,
        query=f"rows by word of {column!r}, at most {bounding.max_ones} word(s) of a row",
        version=f"{source.version}/{bounding_version(bounding, schema)}",
    )
    return WordCounts(exact, source, column)


def _word_rows(frame: pl.DataFrame, schema: Schema, column: str) -> Rows:
    """Rows whose features are the 64-bit hashes of their words; the same rows are dropped as when features are made."""
    text = as_text(frame[column], column)
    codes = (
        np.zeros(len(text), dtype=np.int64) if schema.label is None else label_codes(frame[schema.label], schema, None)
    )
    valid = codes >= 0
    persons = None
    if schema.unit.column is not None:
        persons = plain_text(frame[schema.unit.column], schema.missing)
        valid &= persons.is_not_null().to_numpy()
    hashes, starts = token_hashes(text)
    owner = np.repeat(np.arange(len(text)), np.diff(starts))
    order = np.lexsort((hashes.view(np.int64), owner))
    owner, words = owner[order], hashes.view(np.int64)[order]
    first = np.ones(len(words), dtype=np.bool_)
    first[1:] = (words[1:] != words[:-1]) | (owner[1:] != owner[:-1])
    counts = np.bincount(owner[first], minlength=len(text))
    rows = Rows(offsets_of(counts), words[first], codes, persons)  # type: ignore[arg-type]
    return rows.take(np.flatnonzero(valid))
