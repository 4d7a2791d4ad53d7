"""A regression of texts on scores, on chosen words and on style: rows of norm 1 for objective perturbation.

Sees private rows, returns :class:`tacit.privacy.objective.ExactObjective` alone. Proof: the part "Rows of texts" of
``docs/proofs/objective-perturbation.md``.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data.bounding import FeatureHasher
from tacit.data.coins import source_coins
from tacit.data.hashing import Longs, chain
from tacit.data.objective import CURVATURE, LossName, Problem, sealed_problem
from tacit.data.rows import Ids, Rows, concatenate
from tacit.data.sums import GRID, Rules, each_batch, mix, row_scores
from tacit.errors import bad_parameter
from tacit.privacy.objective import ExactObjective
from tacit.privacy.unit import Unit

UNIT = 1 << 10
"""A word of full weight, in whole numbers."""

PARTS = ("words", "style", "score", "constant")

_THINNING = 12  # use of the seed: which rows of very large data are learnt from


@dataclass(frozen=True, slots=True, eq=False)
class Regressors:
    """How a row turns into a vector of L1 norm at most ``GRID``: a public rule.

    The entries are: the chosen words, the other features, the scores, and a constant. A chosen word counts
    1/max(number of chosen words, crowd·√words) of the words' share.

    Parameters
    ----------
    score : Rules
        Each mixture is a score, which is clipped to ±``reach``.
    chosen : array of whole numbers, one for each cell of words
        The entry of the cell, counted from 0; −1 where it is not chosen.
    copies : int
        So many words in a row share a cell.
    others : int
        Other features that a row has at most.
    shares : dict
        Of words, of style (all others together), of all scores and of the constant: whole parts of ``GRID``.
    crowd, least : int
        A text of n words, at least ``least``, usually has fewer than crowd·√n chosen ones.
    """

    score: Rules
    reach: float
    chosen: Longs
    copies: int
    others: int
    shares: dict[str, int]
    crowd: int
    least: int

    def __post_init__(self) -> None:
        if tuple(self.shares) != PARTS or min(self.shares.values()) < 0 or sum(self.shares.values()) > GRID:
            raise bad_parameter("Regressors", "shares", f"of {PARTS}, together at most {GRID}", self.shares)
        if min(self.crowd, self.least, self.others, self.scores) < 1 or not self.reach > 0:
            raise bad_parameter("Regressors", "crowd, least, others, reach", "above 0", (self.crowd, self.least))

    @property
    def scores(self) -> int:
        """How many scores there are."""
        return len(self.score.mixtures)

    @property
    def words(self) -> int:
        """How many features are words."""
        return len(self.chosen) * self.copies

    @property
    def size(self) -> int:
        """How many entries a vector has."""
        return int(self.chosen.max(initial=-1)) + 1 + self.score.others + self.scores + 1

    @property
    def square(self) -> Fraction:
        """Bound of the squared L2 norm of a row, in units of ``GRID``².

        Σv² is at most the largest v times Σv, and a word's v at most UNIT·share/(crowd·√least·UNIT).
        """
        words, style, score, constant = (Fraction(self.shares[part], GRID) for part in PARTS)
        largest = Fraction(UNIT, isqrt((UNIT * self.crowd) ** 2 * self.least))
        return words**2 * min(largest, Fraction(1)) + style**2 / self.others + score**2 / self.scores + constant**2

    def digest(self) -> str:
        """A name for these regressors."""
        numbers = (self.reach, self.copies, self.others, self.shares, self.crowd, self.least, self.score.digest())
        return hashlib.sha256(repr(numbers).encode() + self.chosen.tobytes()).hexdigest()

    def matrix(self, rows: Rows) -> sp.csr_array:
        """Rows times labels (±1), in units of ``GRID``."""
        n = len(rows)
        owner = np.repeat(np.arange(n), np.diff(rows.indptr))
        entries = rows.indices[rows.indptr[0] : rows.indptr[-1]]
        of_words, cells, words = self._words(entries, owner, n)
        of_others, others = self._others(entries, owner)
        scores = self._scores(rows.indptr - rows.indptr[0], entries)
        share = np.full(len(others), self.shares["style"] // self.others)
        values = np.concatenate([words, share, *scores, np.full(n, self.shares["constant"])])
        last = self.size - 1
        columns = np.concatenate([cells, others, np.repeat(np.arange(last - self.scores, last + 1), n)])
        places = np.concatenate([of_words, of_others, np.tile(np.arange(n), self.scores + 1)])
        signs = 2 * rows.labels - 1
        return sp.csr_array((values * signs[places] / GRID, (places, columns)), shape=(n, self.size))

    def _scores(self, indptr: Longs, entries: Ids) -> list[NDArray[np.float64]]:
        """What each score of the rows adds."""
        parts = row_scores(indptr, entries, self.score)
        clipped = [np.clip(mix(parts, mixture) / self.reach, -1, 1) for mixture in self.score.mixtures]
        return [np.trunc(score * (self.shares["score"] // self.scores)) for score in clipped]

    def _words(self, entries: Ids, owner: Longs, n: int) -> tuple[Longs, Longs, Longs]:
        """Whose each chosen word is, its place in the vector, and what it adds."""
        is_word = entries < self.words
        of_words, cells = owner[is_word], self.chosen[entries[is_word] // self.copies]
        lengths = np.maximum(np.bincount(of_words, minlength=n), self.least)
        chosen = (cells >= 0) & _differs(of_words, cells)
        of_words, cells = of_words[chosen], cells[chosen]
        # The root is correctly rounded and the unit a power of two: no less than the floor of the true product.
        crowded = np.floor(np.sqrt(lengths * float(self.crowd**2)) * UNIT).astype(np.int64)
        divisor = np.maximum(np.bincount(of_words, minlength=n) * UNIT, crowded)
        return of_words, cells, (UNIT * self.shares["words"] // divisor)[of_words]

    def _others(self, entries: Ids, owner: Longs) -> tuple[Longs, Longs]:
        """Whose each other feature is, and its place; no row has more than ``others``, but nothing rests on it."""
        other = (entries >= self.words) & _differs(owner, entries)
        of_others, ids = owner[other], entries[other].astype(np.int64) - self.words
        kept = np.arange(len(ids)) - np.searchsorted(of_others, of_others) < self.others
        return of_others[kept], ids[kept] + int(self.chosen.max(initial=-1)) + 1


def _differs(owner: Longs, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which entries differ from the one before in the same row: entries of rows ascend."""
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = (values[1:] != values[:-1]) | (owner[1:] != owner[:-1])
    return new


def thin(read: Callable[[], Iterable[Rows]], rate: Fraction, seed: int) -> list[Rows]:
    """Keep each row, or all rows of a person, with this probability, by a keyed coin.

    The first, second … copy of a row each have a coin, so that about this part of many copies is kept. A row more is
    one copy more, and moves no other row. The batches are read twice; rows that have copies are held in memory.
    """
    if rate >= 1:
        return list(read())
    hasher = FeatureHasher(seed)
    coins = list(each_batch(read(), lambda rows: source_coins(rows, hasher)))
    alike = _repeated(np.concatenate([np.zeros(0, dtype=np.int64), *coins]))  # equal rows have equal coins
    kept, copies, of_copies = [], [], []
    for rows, own in zip(read(), coins, strict=True):
        single = ~alike[own & (len(alike) - 1)]
        single |= rows.persons is not None
        kept.append(rows.take(np.flatnonzero(single & _heads(own, 0, rate, seed))))
        copies.append(rows.take(np.flatnonzero(~single)))
        of_copies.append(own[~single])
    if copies:
        held = concatenate(copies)
        heads = _heads(np.concatenate(of_copies), _copy_numbers(held), rate, seed)
        kept.append(held.take(np.flatnonzero(heads)))
    return kept


def _heads(coins: Longs, numbers: Longs | int, rate: Fraction, seed: int) -> NDArray[np.bool_]:
    return chain(seed, _THINNING, coins, numbers).view(np.uint64) < np.uint64(int(rate * 2**64))


def _repeated(values: Longs) -> NDArray[np.bool_]:
    """By the low bits of a number whether it may be there more than once."""
    ordered = np.sort(values)
    marks = np.zeros(1 << 20, dtype=np.bool_)
    marks[ordered[1:][ordered[1:] == ordered[:-1]] & (len(marks) - 1)] = True
    return marks


def _copy_numbers(rows: Rows) -> Longs:
    """How many equal rows of the same label stand before each: by content itself, not by a hash of it."""
    data = memoryview(np.ascontiguousarray(rows.indices[rows.indptr[0] : rows.indptr[-1]]).tobytes())
    bounds = ((rows.indptr - rows.indptr[0]) * rows.indices.itemsize).tolist()
    contents = [bytes(data[begin:end]) for begin, end in itertools.pairwise(bounds)]
    frame = pl.DataFrame({"row": pl.Series(contents, dtype=pl.Binary), "label": rows.labels})
    return frame.select(pl.int_range(pl.len()).over("row", "label")).to_series().to_numpy()


def text_regression(
    read: Callable[[], Iterable[Rows]],
    regressors: Regressors,
    loss: LossName,
    *,
    rate: Fraction,
    seed: int,
    unit: Unit,
    version: str,
) -> ExactObjective:
    """Make the sealed problem of a loss on these regressors, for two classes."""
    parts = thin(read, rate, seed)

    def layout() -> Problem:
        rows = concatenate(parts) if parts else None
        matrix = sp.csr_array((0, regressors.size)) if rows is None else regressors.matrix(rows)
        return Problem.of(matrix, loss)

    return sealed_problem(
        layout,
        regressors.size,
        norm="L1",
        curvature=CURVATURE[loss] * regressors.square,
        query=f"minimiser of the {loss} loss over {regressors.size} regressor(s) of texts, rows of L1 norm at most 1",
        unit=unit,
        version=f"{version}/{rate}/{regressors.digest()}",
    )
