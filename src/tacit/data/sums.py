"""Sums of rows that are normalised to norm 1 on a grid of whole numbers, and counts of what a rule gets right.

Sees private rows, returns :class:`tacit.privacy.exact.Exact` alone. Nothing is cut off a long row: each row adds a
vector of norm at most ``GRID``, whatever its length, because every division rounds towards zero. Proof:
``docs/proofs/normalised-sums.md``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data.hashing import Longs
from tacit.data.rows import Rows
from tacit.data.statistics import in_parallel
from tacit.data.topics import Topics
from tacit.errors import bad_parameter
from tacit.privacy.exact import Exact
from tacit.privacy.unit import Bound, Sensitivity, Unit

GRID = 1 << 16
MAX_WEIGHT = {"L1": 1 << 20, "L2": 1 << 10}
"""With at most 2^31 features, sums of weights (L1) and of their squares (L2) stay exact in double precision."""

Floats = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Weighing:
    """How a row turns into a vector of norm at most ``GRID``: a public rule.

    The first ``words`` features share ``words_share`` of the grid in proportion to their weights, and ``totals_share``
    for a column of all classes; their topics have ``topics_share``; each of the other features, of which a row has at
    most ``others``, adds ``other_share``, but for the first ``silent`` ones. What has no share has no cells.

    Parameters
    ----------
    weights : array of ``words`` whole numbers from 0 to 2^20 (for the norm L2, to 2^10)
    floor : int
        The least sum of weights (for the norm L2, of squares) that a row is divided by, so that very short rows do
        not shout.
    class_scale : for each class, a whole number up to ``GRID``
        ``GRID`` is full weight; a class that is much larger than another can be weighed down.
    words_share, others, other_share, topics_share, totals_share : int
        Together at most ``GRID`` in the chosen norm.
    silent : int
        So many features that follow the words add nothing.
    signed : bool
        For two classes: words of the first class are subtracted, those of the second added, in one column.
    copies : int
        So many words in a row share a cell, such as those of the parts of a text.
    topics : Topics, optional
    """

    weights: Longs = field(compare=False)
    floor: int
    class_scale: tuple[int, ...]
    words_share: int = GRID
    others: int = 0
    other_share: int = 0
    signed: bool = True
    norm: Literal["L1", "L2"] = "L1"
    copies: int = 1
    topics: Topics | None = field(default=None, repr=False)
    topics_share: int = 0
    totals_share: int = 0
    silent: int = 0

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights)
        fits = weights.ndim == 1 and weights.dtype.kind in "iu" and len(weights)
        if not fits or weights.min() < 0 or weights.max() > MAX_WEIGHT[self.norm]:
            expected = "whole numbers from 0 to 2^20 (L2: to 2^10)"
            raise bad_parameter("Weighing", "weights", expected, f"dtype {weights.dtype}")
        object.__setattr__(self, "weights", weights.astype(np.int64))
        if any(not 0 <= scale <= GRID for scale in self.class_scale):
            raise bad_parameter("Weighing", "class_scale", f"whole numbers from 0 to {GRID}", self.class_scale)
        if self.signed and len(self.class_scale) != 2:
            raise bad_parameter("Weighing", "signed", "False unless there are two classes", self.signed)
        if self.copies < 1 or len(weights) % self.copies or len(weights) * self.copies > 1 << 31:
            raise bad_parameter("Weighing", "copies", "a small divisor of the number of words", self.copies)
        shares = (self.words_share, self.others, self.other_share, self.topics_share, self.totals_share, self.floor - 1)
        if min(*shares, self.silent) < 0 or not 0 < _norm_bound(self) <= GRID**2:
            expected = "above 0 together, and within the grid"
            raise bad_parameter("Weighing", "words_share, others, other_share", expected, shares)
        if self.topics is None if self.topics_share else self.topics is not None:
            raise bad_parameter("Weighing", "topics", "given where they have a share", self.topics_share)
        if self.topics is not None and (self.topics.norm, self.topics.words) != (self.norm, len(weights)):
            raise bad_parameter("Weighing", "topics", "of the same norm and words", self.topics.norm)

    @property
    def words(self) -> int:
        """How many features are normalised together."""
        return len(self.weights)

    @property
    def cells(self) -> int:
        """How many sums of words there are in each column."""
        return len(self.weights) // self.copies if self.words_share or self.totals_share else 0

    @property
    def number(self) -> int:
        """How many topics there are."""
        return 0 if self.topics is None else self.topics.number

    @property
    def columns(self) -> int:
        """How many columns words and topics have: one if signed, else one for each class."""
        return 1 if self.signed else len(self.class_scale)

    @property
    def word_columns(self) -> int:
        """How many columns the words have, with that of all classes."""
        return self.columns + (self.totals_share > 0)


def _norm_bound(weighing: Weighing) -> int:
    """The square of the largest norm that a row can have."""
    k, u = weighing.others, weighing.other_share
    parts = (weighing.words_share, weighing.totals_share, weighing.topics_share)
    return (sum(parts) + k * u) ** 2 if weighing.norm == "L1" else sum(part**2 for part in parts) + k * u * u


def normalised_sums(batches: Iterable[Rows], weighing: Weighing, n_features: int, *, unit: Unit, version: str) -> Exact:
    """Add up the rows' vectors.

    The rows must be bounded to ``unit.max_rows`` for each person already.

    Returns
    -------
    Exact of shape (word columns · cells + columns · topics + classes · (n_features − words − silent),)
        First the cells of words, column by column, then the topics, likewise, then the other features, class by class.
    """
    heard = max(n_features - weighing.words - weighing.silent, 0)
    classes, others = len(weighing.class_scale), heard if weighing.other_share else 0
    sizes = (weighing.word_columns * weighing.cells, weighing.columns * weighing.number, classes * others)

    def added(rows: Rows) -> Longs:
        parts = (_words(rows, weighing), _topics(rows, weighing), _others(rows, weighing, others))
        # Sums of fewer than 2^53 are exact in double precision; a batch of 2^36 rows would be needed to exceed it.
        whole = [
            np.bincount(cells, weights=values, minlength=size)
            for (cells, values), size in zip(parts, sizes, strict=True)
        ]
        return np.concatenate(whole).astype(np.int64)

    total = np.zeros(sum(sizes), dtype=np.int64)
    for part in each_batch(batches, added):
        total += part
    bound = Bound(rows=unit.max_rows, ones=1)
    topics = "" if weighing.topics is None else weighing.topics.digest()
    name = hashlib.sha256(weighing.weights.tobytes() + repr((weighing, topics)).encode()).hexdigest()
    what = f"{weighing.cells * weighing.copies} word(s)" + (f", {weighing.number} topic(s)" if topics else "")
    what += " and their totals" if weighing.totals_share else ""
    query = (
        f"sums of rows with {weighing.norm} norm at most {GRID} over {what} "
        f"({'signed' if weighing.signed else 'by label'}) and {others} other feature(s)"
    )
    sensitivity = Sensitivity.of_normalised_rows(bound, grid=GRID, norm=weighing.norm, entries=len(total))
    return Exact(total, sensitivity=sensitivity, unit=unit, query=query, version=f"{version}/{name}")


def each_batch(batches: Iterable[Rows], work: Callable[[Rows], T]) -> Iterator[T]:
    """Work on batches on several threads; results come in order."""
    return in_parallel((partial(_itself, rows) for rows in batches), work, len(os.sched_getaffinity(0)))


def _itself(rows: Rows) -> Rows:
    return rows


def row_vectors(rows: Rows, weighing: Weighing) -> tuple[Longs, Longs, Longs]:
    """The cells of words that rows have, the whole numbers that they add there, and whose each is."""
    cells, owner, parts = _row_parts(rows, weighing, (weighing.words_share,))
    return cells, parts[0], owner


def _row_parts(rows: Rows, weighing: Weighing, shares: tuple[int, ...]) -> tuple[Longs, Longs, list[Longs]]:
    """The cells of words that rows have, whose each is, and what they add there for each share of the grid."""
    entries = rows.indices[rows.indptr[0] : rows.indptr[-1]]
    owner = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    if weighing.others or (len(entries) and int(entries.max()) >= weighing.words):
        is_word = entries < weighing.words
        entries, owner = entries[is_word], owner[is_word]
    weight = weighing.weights[entries]
    cells = entries.astype(np.int64) // weighing.copies
    if weighing.norm == "L2" and weighing.copies > 1:
        cells, weight, owner = _together(cells, weight, owner, weighing.cells)
    mass = np.bincount(owner, weights=weight if weighing.norm == "L1" else weight * weight, minlength=len(rows))
    divisor = np.maximum(mass.astype(np.int64), weighing.floor)
    if weighing.norm == "L2":
        divisor = np.floor(np.sqrt(divisor)).astype(np.int64) + 1  # above the root, which is below 2^52
    scale, divisor = np.array(weighing.class_scale, dtype=np.int64)[rows.labels], divisor[owner]
    return cells, owner, [weight * (share * scale // GRID)[owner] // divisor for share in shares]


def _together(cells: Longs, weight: Longs, owner: Longs, width: int) -> tuple[Longs, Longs, Longs]:
    """Add up what a row has in the same cell: the L2 norm is one of cells."""
    keys, place = np.unique(owner * width + cells, return_inverse=True)
    whole = np.bincount(place.ravel(), weights=weight, minlength=len(keys)).astype(np.int64)
    return keys % width, whole, keys // width


def _words(rows: Rows, weighing: Weighing) -> tuple[Longs, Longs]:
    """The cells of words that rows touch, and the whole numbers that they add there."""
    if not weighing.cells:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    shares = (weighing.words_share, weighing.totals_share)[: 2 if weighing.totals_share else 1]
    cells, owner, parts = _row_parts(rows, weighing, shares)
    places = [cells if weighing.signed else cells + rows.labels[owner] * weighing.cells]
    if weighing.signed:
        parts[0] *= (2 * rows.labels - 1)[owner]
    if weighing.totals_share:
        places.append(cells + weighing.columns * weighing.cells)
    return np.concatenate(places), np.concatenate(parts)


def _topics(rows: Rows, weighing: Weighing) -> tuple[Longs, Longs]:
    """The same for topics: every row touches all of its column."""
    if weighing.topics is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    entries = rows.indices[rows.indptr[0] : rows.indptr[-1]]
    sums, divisors = weighing.topics.sums(rows.indptr - rows.indptr[0], entries)
    scale = np.array(weighing.class_scale, dtype=np.int64)[rows.labels]
    values = np.abs(sums) * (weighing.topics_share * scale // GRID)[:, None] // divisors[:, None] * np.sign(sums)
    cells = np.broadcast_to(np.arange(weighing.number), values.shape)
    if weighing.signed:
        values *= (2 * rows.labels - 1)[:, None]
    else:
        cells = cells + (rows.labels * weighing.number)[:, None]
    return cells.ravel(), values.ravel()


def _others(rows: Rows, weighing: Weighing, others: int) -> tuple[Longs, Longs]:
    """The same for the other features, class by class."""
    if not others:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    entries = rows.indices[rows.indptr[0] : rows.indptr[-1]]
    rest = entries >= weighing.words + weighing.silent
    ids = entries[rest].astype(np.int64) - weighing.words - weighing.silent
    owner = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))[rest]
    first = np.searchsorted(owner, owner)  # where each row's other features begin
    kept = np.arange(len(owner)) - first < weighing.others  # no row has more, but the sensitivity must not rest on it
    ids, owner = ids[kept], owner[kept]
    scale = np.array(weighing.class_scale, dtype=np.int64)[rows.labels[owner]]
    return rows.labels[owner] * others + ids, weighing.other_share * scale // GRID


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """Linear rules to choose from: public numbers, made from releases.

    A row's ``scores`` are (weights·x)/max(length, least)^p, one for each column of weights, where the length is the
    number of its first ``words`` features and p is 0, ½ or 1 as ``power`` says. Rule (i, j) predicts the second of
    two classes if ``mixtures[i]``·scores ≥ ``thresholds[j]``. Where there are topics, the last rows of weights are
    theirs, and their part is not divided by the length. With more classes than two, columns come in blocks, one
    for each part of a mixture, and the class of the largest mixed score, ``thresholds[j]``·``offsets`` added, is
    predicted. ``preference`` is a public number of rows that each rule is given beside those that it gets right.
    """

    weights: Floats  # features × columns
    mixtures: Floats  # rules × parts
    thresholds: Floats
    words: int
    power: tuple[Literal["none", "root", "full"], ...]  # one for each column
    least: int = 1
    offsets: Floats | None = None
    topics: Topics | None = None
    preference: Longs | None = None  # rules × thresholds

    @property
    def others(self) -> int:
        """How many features are neither words nor topics."""
        return len(self.weights) - self.words - (0 if self.topics is None else self.topics.number)

    @property
    def candidates(self) -> int:
        """How many rules there are."""
        return len(self.mixtures) * len(self.thresholds)

    def digest(self) -> str:
        """A name for these rules."""
        state = hashlib.sha256(repr((self.words, self.power, self.least)).encode())
        for array in (self.weights, self.mixtures, self.thresholds, self.offsets, self.preference):
            state.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        state.update(b"-" if self.topics is None else self.topics.digest().encode())
        return state.hexdigest()


def row_scores(indptr: Longs, indices: NDArray[np.int32], rules: Rules) -> Floats:
    """Scores of rows under each column of weights.

    A row's scores must depend on that row alone, to the last bit: otherwise one row more could change what is counted
    for others. So there are only sums over a row's own entries in their order, and single operations that IEEE 754
    rounds correctly; no matrix product of a library that cuts the rows into blocks.
    """
    ones = np.ones(len(indices))
    matrix = sp.csr_array((ones, indices, indptr), shape=(len(indptr) - 1, len(rules.weights)))
    before = np.zeros(len(indices) + 1, dtype=np.int64)
    np.cumsum(indices < rules.words, out=before[1:])
    lengths = np.maximum(before[indptr[1:]] - before[indptr[:-1]], rules.least).astype(np.float64)
    divisors = {"root": np.sqrt(lengths), "full": lengths}
    scores: Floats = matrix @ rules.weights  # scipy: row by row, entry by entry
    for column, power in enumerate(rules.power):
        if power != "none":
            scores[:, column] /= divisors[power]
    if rules.topics is not None:
        scores += rules.topics.scores(indptr, indices, rules.weights[rules.words + rules.others :])
    return scores


def mix(scores: Floats, mixture: Floats) -> Floats:
    """Σ mixture[k]·scores[:, k], column after column."""
    total: Floats = scores[:, 0] * mixture[0]
    for column in range(1, len(mixture)):
        total += scores[:, column] * mixture[column]
    return total


def count_correct(batches: Iterable[Rows], rules: Rules, *, classes: int, unit: Unit, version: str) -> Exact:
    """Count how many rows each rule gets right, and add its preference: the utilities of a private choice."""
    correct = np.zeros((len(rules.mixtures), len(rules.thresholds)), dtype=np.int64)
    correct += 0 if rules.preference is None else rules.preference

    def counted(rows: Rows) -> Longs:
        scores = row_scores(rows.indptr, rows.indices, rules)
        if classes == 2:
            return np.stack([_binary_hits(mix(scores, m), rows.labels, rules.thresholds) for m in rules.mixtures])
        return np.stack([_class_hits(scores, m, rows.labels, rules, classes) for m in rules.mixtures])

    for part in each_batch(batches, counted):
        correct += part
    return Exact(
        correct.ravel(),
        sensitivity=Sensitivity.of_correct_counts(Bound(rows=unit.max_rows, ones=1), rules.candidates),
        unit=unit,
        query=f"rows that each of {rules.candidates} public rule(s) classifies correctly",
        version=f"{version}/{rules.digest()}",
    )


def count_margins(
    batches: Iterable[Rows], rules: Rules, choice: int, edges: Floats, *, unit: Unit, version: str
) -> Exact:
    """Count rows by how far they are from a rule's threshold, and whether it gets them right: for two classes.

    Returns
    -------
    Exact of shape (2, len(edges) + 1)
        Rows that are wrong, and rows that are right, by the distance among the ascending ``edges``.
    """
    table = np.zeros((2, len(edges) + 1), dtype=np.int64)
    mixture = rules.mixtures[choice // len(rules.thresholds)]
    threshold = rules.thresholds[choice % len(rules.thresholds)]

    def counted(rows: Rows) -> Longs:
        margins = mix(row_scores(rows.indptr, rows.indices, rules), mixture) - threshold
        right = (margins >= 0) == (rows.labels == 1)
        places = right * table.shape[1] + np.searchsorted(edges, np.abs(margins), side="right")
        return np.bincount(places, minlength=table.size).reshape(table.shape)

    for part in each_batch(batches, counted):
        table += part
    return Exact(
        table,
        sensitivity=Sensitivity.of_row_counts(Bound(rows=unit.max_rows, ones=1)),
        unit=unit,
        query=f"rows that a public rule gets right or wrong, by margin ({table.size})",
        version=f"{version}/{rules.digest()}/{choice}/{edges.tolist()}",
    )


def _binary_hits(mixed: Floats, labels: Longs, thresholds: Floats) -> Longs:
    """For ascending thresholds: rows of the second class at or above each, and of the first below."""
    below = np.searchsorted(thresholds, mixed, side="right")  # the row is at or above this many thresholds
    ups = np.bincount(below[labels == 1], minlength=len(thresholds) + 1)
    downs = np.bincount(below[labels == 0], minlength=len(thresholds) + 1)
    hits: Longs = ups[::-1].cumsum()[::-1][1:] + downs.cumsum()[:-1]
    return hits


def _class_hits(scores: Floats, mixture: Floats, labels: Longs, rules: Rules, classes: int) -> Longs:
    mixed = mix_classes(scores, mixture, classes)
    offsets = np.zeros(classes) if rules.offsets is None else rules.offsets
    hits = [int(((mixed + shift * offsets).argmax(axis=1) == labels).sum()) for shift in rules.thresholds]
    return np.array(hits, dtype=np.int64)


def mix_classes(scores: Floats, mixture: Floats, classes: int) -> Floats:
    """Mix blocks of columns, one block for each part of the mixture."""
    return np.column_stack([mix(scores[:, label::classes], mixture) for label in range(classes)])
