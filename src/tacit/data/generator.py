"""Text-like data of any size, made up from a seed: public, so nothing here is private.

Words follow Zipf's law, some of them lean towards one class. Rows come in batches, and memory holds one batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.errors import bad_parameter
from tacit.privacy.unit import check_count

ROWS_PER_BATCH = 50_000
_ONSETS = ["b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z"]
_VOWELS = ["a", "e", "i", "o", "u"]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows of generated text: ``texts`` and, for each, a label of 0 or 1."""

    texts: pl.Series
    labels: NDArray[np.int64]


def generate_text(
    n: int,
    *,
    seed: int = 0,
    vocabulary: int = 50_000,
    mean_words: float = 13.0,
    exponent: float = 1.05,
    lean: float = 0.5,
    positive: float = 0.5,
) -> Iterator[Batch]:
    """Generate n rows of text, in batches of 50,000.

    The first rows are the same for every n, so that a larger set continues a smaller one.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int, default 0
    vocabulary : int, default 50_000
        Number of distinct words; word k has probability proportional to k^-exponent.
    mean_words : float, default 13.0
        Mean length: one word, and a geometric number on top.
    exponent : float, default 1.05
    lean : float, default 0.5
        How much words tell of the class: every third word leans to one class, by a factor exp(±lean).
    positive : float, default 0.5
        Share of label 1.

    Examples
    --------
    >>> [len(batch.texts) for batch in generate_text(120_000)]
    [50000, 50000, 20000]
    """
    check_count("generate_text", "n", n)
    check_count("generate_text", "vocabulary", vocabulary)
    if not mean_words >= 1:
        raise bad_parameter("generate_text", "mean_words", "at least 1", mean_words)
    if not 0 < positive < 1:
        raise bad_parameter("generate_text", "positive", "between 0 and 1", positive)
    return _batches(n, seed, _Words.build(vocabulary, exponent, lean), mean_words, positive)


@dataclass(frozen=True, slots=True, eq=False)
class _Words:
    """The spelled words, and for each class the cumulated probabilities."""

    spelled: pl.Series
    cumulated: tuple[NDArray[np.float64], NDArray[np.float64]]

    @classmethod
    def build(cls, vocabulary: int, exponent: float, lean: float) -> _Words:
        """Word k leans to class 1 if k mod 6 = 2, to class 0 if k mod 6 = 5."""
        rank = np.arange(1, vocabulary + 1, dtype=np.float64)
        base = rank**-exponent
        direction = np.select([rank % 6 == 2, rank % 6 == 5], [1.0, -1.0], 0.0)
        tilted = [np.cumsum(base * np.exp(sign * lean * direction)) for sign in (-1.0, 1.0)]
        words = pl.Series("word", [_spell(number) for number in range(vocabulary)], dtype=pl.String)
        return cls(words, (tilted[0] / tilted[0][-1], tilted[1] / tilted[1][-1]))


def _batches(n: int, seed: int, words: _Words, mean_words: float, positive: float) -> Iterator[Batch]:
    for number, start in enumerate(range(0, n, ROWS_PER_BATCH)):
        rng = np.random.default_rng([seed, number])
        labels = (rng.random(ROWS_PER_BATCH) < positive).astype(np.int64)
        # A geometric length by inversion: the only draws used are uniform ones, which numpy keeps stable.
        stop = 1.0 - 1.0 / mean_words
        drawn = np.log1p(-rng.random(ROWS_PER_BATCH))
        lengths = 1 + (np.floor(drawn / np.log(stop)).astype(np.int64) if stop > 0 else np.zeros_like(labels))
        rows = np.repeat(np.arange(ROWS_PER_BATCH), lengths)
        uniform = rng.random(len(rows))
        ids = np.empty(len(rows), dtype=np.int64)
        for label, cumulated in enumerate(words.cumulated):
            mine = labels[rows] == label
            ids[mine] = np.searchsorted(cumulated, uniform[mine], side="right")
        table = pl.DataFrame({"row": rows, "word": words.spelled.gather(pl.Series(ids))})
        texts = table.group_by("row", maintain_order=True).agg(pl.col("word").str.join(" "))["word"].rename("text")
        size = min(ROWS_PER_BATCH, n - start)
        yield Batch(texts.head(size), labels[:size])


def _spell(number: int) -> str:
    """Spell a number in syllables: distinct for distinct numbers, short for frequent words."""
    base = len(_ONSETS) * len(_VOWELS)
    syllables = []
    number += 1
    while number:
        number, digit = divmod(number - 1, base)
        syllables.append(_ONSETS[digit % len(_ONSETS)] + _VOWELS[digit // len(_ONSETS)])
    return "".join(reversed(syllables))
