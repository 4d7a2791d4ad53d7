"""From released sums of texts to a grid of rules. Public side: sees releases and public texts only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from tacit.desk.counts import GRID, Rules, Weighing
from tacit.desk.text import STYLE_MARKS, STYLES, TEXT_PARTS, style_levels
from tacit.models._base import Floats
from tacit.models._topics import Found
from tacit.models._words import (
    LEARNT_PARTS,
    LEAST_PART,
    LEAST_WORDS,
    PART_WEIGHT,
    Prior,
    by_part,
    known_odds,
    word_weights,
)

STYLE_CAP = 2.0
MIXTURES = 5
BLENDS = 4
COLUMN_MIXTURES = 4
"""Mixtures of words and style, of two ways to weigh words, and of words and columns of a table, that are tried."""

VOTES = 24
"""Words, the clearest ones, that may have a vote each however long the text: a few such words can tell more than all
the others together, whose sums are mostly noise."""

MOST_PREFERENCE = 2.0**40
"""Rows of a preference, at most, where ε is next to nothing."""

DOUBLING = 0.3
"""What twice as many words, digits or capitals add to a score of style, in deviations of the score of words."""

USUAL_DOUBLINGS = 4
"""Doublings that add nothing: about fifteen words."""

DIRECTIONS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 1, 0], [-1, 0, 1]])
"""Styles that are tried, in both directions: many words, digits or capitals, and digits or capitals for their words."""

THRESHOLDS = np.linspace(-2.0, 2.0, 21)

STRANGE_STYLE, STRANGE_THRESHOLD = 2.0, 6.0
"""What style, and the largest threshold, take from the logarithm of a rule's chance before any row is seen: where many
rules are as good, and style or a threshold tells nothing, one without them is likely."""

Power = Literal["none", "root", "full"]


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of a table beside a text: how many, and how many features they have; a row has one of each column."""

    number: int = 0
    features: int = 0


@dataclass(frozen=True, slots=True)
class Weighed:
    """How texts turn into vectors of norm 1, and what was known when that was decided.

    Attributes
    ----------
    weighing : Weighing
    weights : how much each bucket weighs
    labels : released class sizes
    prior, found : what is publicly known of words and of topics
    columns : Columns
    """

    weighing: Weighing
    weights: Floats
    labels: Floats
    prior: Prior | None
    found: Found | None
    columns: Columns

    @classmethod
    def of(
        cls,
        labels: Floats,
        prior: Prior | None,
        found: Found | None,
        *,
        bits: int,
        epsilon: float,
        norm: Literal["L1", "L2"],
        shares: dict[str, float],
        columns: Columns,
        style_is_chosen: bool,
    ) -> Weighed:
        """Decide from released class sizes and public frequencies; the shares of a row's parts add up to 1.

        ``style_is_chosen``: it is found out by the choice of a rule, and has no sums.
        """
        weights = np.ones(1 << bits) if prior is None else prior.weights(labels.sum(), epsilon)
        unit = (1 << 10) / weights.max()
        informed = prior is not None and prior.kind == "text"
        parts = LEARNT_PARTS if norm == "L1" and not informed else PART_WEIGHT
        whole = by_part(np.where(weights > 0, np.maximum(np.round(weights * unit), 4), 0), parts).astype(np.int64)
        typical = LEAST_WORDS if prior is None else LEAST_PART * prior.mass(weights, norm)
        # Classes are weighed down to the smallest: a word that is as common in all of them sums to about zero.
        scale = np.maximum(np.minimum(1.0, labels.min() / labels), 0.05)
        # For the norm L2 it is squares that add up to 1, of all others as well.
        room = {part: share if norm == "L1" else math.sqrt(share) for part, share in shares.items()}
        others = columns.number + (0 if style_is_chosen else STYLES)
        weighing = Weighing(
            whole,
            floor=max(math.ceil(typical * (unit if norm == "L1" else unit**2)), 1),
            class_scale=tuple(int(GRID * part) for part in scale),
            words_share=int(GRID * room["words"]),
            totals_share=int(GRID * room["totals"]),
            others=others,
            other_share=int(GRID * room["others"] / (max(others, 1) if norm == "L1" else math.sqrt(max(others, 1)))),
            silent=STYLE_MARKS if style_is_chosen else 0,
            signed=len(labels) == 2,
            norm=norm,
            copies=TEXT_PARTS,
            topics=None if found is None else found.topics,
            topics_share=int(GRID * room["topics"]),
        )
        return cls(weighing, weights, labels, prior, found, columns)

    @property
    def rows(self) -> float:
        """How many rows are added up, each as its class counts."""
        return float((self.labels * np.array(self.weighing.class_scale) / GRID).sum())

    @property
    def row_of_others(self) -> Floats:
        """What a row of each class adds to the sum of its feature of a column."""
        return self.weighing.other_share * np.array(self.weighing.class_scale) // GRID / GRID

    @property
    def binary(self) -> bool:
        """Whether there are two classes."""
        return len(self.labels) == 2

    @property
    def tone(self) -> Floats | None:
        """The public tone of words, where the choice of a rule finds out whether it tells classes apart."""
        return self.prior.tone_of_parts if self.prior is not None and self.weighing.silent else None

    @property
    def ways_of_style(self) -> Floats:
        """What rules mix with words, in both directions: styles, and the tone as the last."""
        if not self.weighing.silent:
            return np.zeros((0, 0))
        known = DIRECTIONS if self.tone is None else block_diag(DIRECTIONS, 1)
        return np.vstack([known, -known])

    def rules(self, words: Floats, topics: Floats, others: Floats, deviation: float) -> tuple[Rules, Floats]:
        """The public grid of rules, from released sums alone, and how clear each feature's sums are.

        Rules are mixtures of topics, words, columns and style, with a threshold. A feature is as clear as its sums are
        far from what noise alone would give, in scales of the noise.
        """
        weighing = self.weighing
        known = STYLE_MARKS + self.columns.features
        width = weighing.words + known + topics.shape[1]
        clear = _clearness(words, others, deviation / math.sqrt(2), weighing.words // TEXT_PARTS, known)
        blocks: list[tuple[Floats, int, Power]] = []
        if self.found is not None:
            share = weighing.topics_share / GRID
            by_topic = self.found.weights(self._ahead(topics), self.rows, share, deviation**2)
            by_word = clear[: weighing.words]
            by_topics = self.found.clearness(by_topic[-1], self.rows, share, deviation**2)
            np.maximum(by_word, np.repeat(by_topics, TEXT_PARTS), out=by_word)
            blocks.append((by_topic / max(self.found.deviation(by_topic), 1e-12), width - topics.shape[1], "none"))
        if weighing.cells:
            blocks += [(block, 0, "root") for block in self._by_word(words, deviation)]
        if self.binary and len(blocks) == 1 and weighing.cells:
            blocks.append((_votes(words[:1]), 0, "none"))
        ways = len(blocks)
        if others.size:
            by_other = _odds(others, deviation / math.sqrt(2), self.binary) / 2
            blocks.append((by_other, weighing.words + weighing.silent, "none"))
        if weighing.silent:
            levels = style_levels(USUAL_DOUBLINGS)
            blocks += [(DOUBLING * kind[None, :], weighing.words, "none") for kind in levels.T]
        if self.tone is not None:
            blocks.append((self.tone, 0, "root"))
        rules = Rules(
            weights=np.ascontiguousarray(np.vstack([_placed(block, place, width) for block, place, _ in blocks]).T),
            mixtures=_mixtures(ways, columns=others.size > 0, styles=self.ways_of_style),
            thresholds=THRESHOLDS,
            words=weighing.words,
            power=tuple(power for block, _, power in blocks for _ in block),
            least=LEAST_WORDS,
            offsets=None if self.binary else np.log(self.labels / self.labels.sum()) / len(self.labels),
            topics=weighing.topics,
        )
        return rules, clear

    def _ahead(self, sums: Floats) -> Floats:
        """How far each class is ahead; for two of them, the second."""
        return sums if self.binary else sums - sums.mean(axis=0)

    def _by_word(self, words: Floats, deviation: float) -> list[Floats]:
        """Ways to weigh words, each as large in a usual text."""
        ahead, weighing = self._ahead(words[: self.weighing.columns]), self.weighing
        usual = self.prior.share if self.prior is not None else np.abs(ahead).sum(axis=0)
        if weighing.totals_share:
            known = weighing.words_share / weighing.totals_share
            ways = [known_odds(ahead, words[-1] * known, deviation, deviation * known)]
        else:
            ways = word_weights(ahead, self.rows, deviation**2, self.weights, weighing, self.prior)
        spreads = [np.sqrt((usual * found**2).sum(axis=1) / max(usual.sum(), 1e-300)).mean() for found in ways]
        return [by_part(found / max(spread, 1e-12)) for found, spread in zip(ways, spreads, strict=True)]


def _votes(ahead: Floats) -> Floats:
    """Votes of the clearest words for the class that is ahead, in proportion to the squares of their sums."""
    clearest = np.argsort(-np.abs(ahead[0]), kind="stable")[:VOTES]
    squares = ahead[0, clearest] * np.abs(ahead[0, clearest])
    votes = np.zeros_like(ahead)
    votes[0, clearest] = squares / max(float(np.linalg.norm(squares)), 1e-300)
    return np.repeat(votes, TEXT_PARTS, axis=1)


def _placed(block: Floats, place: int, width: int) -> Floats:
    """A block of columns among zeros."""
    whole: Floats = np.zeros((len(block), width))
    whole[:, place : place + block.shape[1]] = block
    return whole


def preference(rules: Rules, styles: int, epsilon: float) -> NDArray[np.int64]:
    """Rows by which rules of two classes are behind, before any is counted: e^(ε·preference) is like their chance.

    ``styles`` is how many parts of a mixture, the last ones, are of style or tone.
    """
    styled = np.any(rules.mixtures[:, rules.mixtures.shape[1] - styles :], axis=1)
    strange = STRANGE_STYLE * styled[:, None] + STRANGE_THRESHOLD * (rules.thresholds / THRESHOLDS[-1]) ** 2
    rows: NDArray[np.int64] = np.round(np.minimum(strange / epsilon, MOST_PREFERENCE)).astype(np.int64)
    return -rows


def _mixtures(ways: int, *, columns: bool, styles: Floats) -> Floats:
    """Points on a quarter of a circle between two ways to weigh words, words and columns, and these and each style.

    Where style has sums, it is one of the columns.
    """
    blend = np.linspace(0, math.pi / 2, BLENDS) if ways > 1 else np.zeros(1)
    points: Floats = np.column_stack([np.cos(blend), np.sin(blend)])[:, :ways]
    if columns:
        points = _between(points, np.ones((1, 1)), COLUMN_MIXTURES if len(styles) else MIXTURES)
    if len(styles):
        points = _between(points, styles, MIXTURES)
    return points


def _between(points: Floats, directions: Floats, steps: int) -> Floats:
    """Points on quarters of circles between each point and each direction."""
    angles = np.linspace(0, math.pi / 2, steps)
    grid = [np.append(math.cos(a) * point, math.sin(a) * way) for point in points for a in angles for way in directions]
    distinct: Floats = np.unique(np.round(grid, 12), axis=0)
    return distinct


def _clearness(words: Floats, others: Floats, noise: float, buckets: int, known: int) -> Floats:
    """The largest gap between classes of each feature's released sums, in scales of the noise; 0 where none are."""
    by_words, by_others = np.zeros(buckets), np.zeros(known)
    if words.size:
        by_words = np.abs(words[0]) if len(others) == 2 else np.ptp(words, axis=0)
    if others.size:
        by_others[known - others.shape[1] :] = np.ptp(others, axis=0)
    clearness: Floats = np.concatenate([np.repeat(by_words, TEXT_PARTS), by_others]) / noise
    return clearness


def _odds(others: Floats, noise: float, binary: bool) -> Floats:
    """Log-odds of each feature, shrunk by the noise: for two classes of the second, else of each against the rest."""
    total = np.maximum(others.sum(axis=0), 0)
    ahead = others[1:2] - others[0:1] if binary else 2 * others - others.sum(axis=0)
    ratio = np.clip(ahead / (total + 2 * noise), -0.95, 0.95)
    odds: Floats = np.clip(2 * np.arctanh(ratio), -STYLE_CAP, STYLE_CAP)
    return odds
