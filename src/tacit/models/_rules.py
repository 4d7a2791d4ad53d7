"""From released sums of texts to a grid of rules. Public side: sees releases and public texts only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.desk.counts import GRID, Rules, Weighing
from tacit.desk.text import STYLES, TEXT_PARTS, style_levels
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
"""Mixtures of words and style, and of two ways to weigh words, that are tried."""

VOTES = 24
"""Words, the clearest ones, that may have a vote each however long the text: a few such words can tell more than all
the others together, whose sums are mostly noise."""

DOUBLING = 0.3
"""What twice as many words, digits or capitals add to a score of style, in deviations of the score of words."""

USUAL_DOUBLINGS = 4
"""Doublings that add nothing: about fifteen words."""

DIRECTIONS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 1, 0], [-1, 0, 1]])
"""Styles that are tried, in both directions: many words, digits or capitals, and digits or capitals for their words."""

THRESHOLDS = np.linspace(-2.0, 2.0, 21)

Power = Literal["none", "root", "full"]


@dataclass(frozen=True, slots=True)
class Weighed:
    """How texts turn into vectors of norm 1, and what was known when that was decided.

    Attributes
    ----------
    weighing : Weighing
    weights : how much each bucket weighs
    labels : released class sizes
    prior, found : what is publicly known of words and of topics
    """

    weighing: Weighing
    weights: Floats
    labels: Floats
    prior: Prior | None
    found: Found | None

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
    ) -> Weighed:
        """Decide from released class sizes and public frequencies; the shares of a text's parts add up to 1."""
        weights = np.ones(1 << bits) if prior is None else prior.weights(labels.sum(), epsilon)
        unit = (1 << 10) / weights.max()
        informed = prior is not None and prior.kind == "text"
        parts = LEARNT_PARTS if norm == "L1" and not informed else PART_WEIGHT
        whole = by_part(np.where(weights > 0, np.maximum(np.round(weights * unit), 4), 0), parts).astype(np.int64)
        typical = LEAST_WORDS if prior is None else LEAST_PART * prior.mass(weights, norm)
        # Classes are weighed down to the smallest: a word that is as common in all of them sums to about zero.
        scale = np.maximum(np.minimum(1.0, labels.min() / labels), 0.05)
        # For the norm L2 it is squares that add up to 1, of all style features as well.
        room = {part: share if norm == "L1" else math.sqrt(share) for part, share in shares.items()}
        weighing = Weighing(
            whole,
            floor=max(math.ceil(typical * (unit if norm == "L1" else unit**2)), 1),
            class_scale=tuple(int(GRID * part) for part in scale),
            words_share=int(GRID * room["words"]),
            totals_share=int(GRID * room["totals"]),
            others=STYLES,
            other_share=int(GRID * room["style"] / (STYLES if norm == "L1" else math.sqrt(STYLES))),
            signed=len(labels) == 2,
            norm=norm,
            copies=TEXT_PARTS,
            topics=None if found is None else found.topics,
            topics_share=int(GRID * room["topics"]),
        )
        return cls(weighing, weights, labels, prior, found)

    @property
    def rows(self) -> float:
        """How many rows are added up, each as its class counts."""
        return float((self.labels * np.array(self.weighing.class_scale) / GRID).sum())

    @property
    def binary(self) -> bool:
        """Whether there are two classes."""
        return len(self.labels) == 2

    def rules(self, words: Floats, topics: Floats, style: Floats, deviation: float) -> tuple[Rules, Floats]:
        """The public grid of rules, from released sums alone, and how clear each feature's sums are.

        Rules are mixtures of topics, words and style, with a threshold. A feature is as clear as its sums are far from
        what noise alone would give, in scales of the noise.
        """
        weighing = self.weighing
        levels = style_levels(USUAL_DOUBLINGS)
        width = weighing.words + len(levels) + topics.shape[1]
        clear = _clearness(words, style, deviation / math.sqrt(2), weighing.words // TEXT_PARTS, len(levels))
        blocks: list[tuple[Floats, int, Power]] = []
        if self.found is not None:
            share = weighing.topics_share / GRID
            by_topic = self.found.weights(self._ahead(topics), self.rows, share, deviation**2)
            by_word = clear[: weighing.words]
            known = self.found.clearness(by_topic[-1], self.rows, share, deviation**2)
            np.maximum(by_word, np.repeat(known, TEXT_PARTS), out=by_word)
            blocks.append((by_topic / max(self.found.deviation(by_topic), 1e-12), width - topics.shape[1], "none"))
        if weighing.cells:
            blocks += [(block, 0, "root") for block in self._by_word(words, deviation)]
        if self.binary and len(blocks) == 1 and weighing.cells:
            blocks.append((_votes(words[:1]), 0, "none"))
        ways = len(blocks)
        if not style.size:
            blocks += [(DOUBLING * kind[None, :], weighing.words, "none") for kind in levels.T]
            directions = np.vstack([DIRECTIONS, -DIRECTIONS])
        else:
            blocks.append((_style_odds(style, deviation / math.sqrt(2), self.binary) / 2, weighing.words, "none"))
            directions = np.ones((1, 1))
        rules = Rules(
            weights=np.ascontiguousarray(np.vstack([_placed(block, place, width) for block, place, _ in blocks]).T),
            mixtures=_mixtures(ways, directions),
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


def _mixtures(ways: int, directions: Floats) -> Floats:
    """Points on a quarter of a circle between words and each style, and between two ways to weigh words."""
    angle = np.linspace(0, math.pi / 2, MIXTURES)
    blend = np.linspace(0, math.pi / 2, BLENDS) if ways > 1 else np.zeros(1)
    words = np.column_stack([np.cos(blend), np.sin(blend)])[:, :ways]
    grid = [np.append(math.cos(a) * way, math.sin(a) * style) for way in words for a in angle for style in directions]
    points: Floats = np.unique(np.round(grid, 12), axis=0)
    return points


def _clearness(words: Floats, style: Floats, noise: float, buckets: int, marks: int) -> Floats:
    """The largest gap between classes of each feature's released sums, in scales of the noise; 0 where none are."""
    by_words, by_style = np.zeros(buckets), np.zeros(marks)
    if words.size:
        by_words = np.abs(words[0]) if len(style) == 2 else np.ptp(words, axis=0)
    if style.size:
        by_style = np.ptp(style, axis=0)
    clearness: Floats = np.concatenate([np.repeat(by_words, TEXT_PARTS), by_style]) / noise
    return clearness


def _style_odds(style: Floats, noise: float, binary: bool) -> Floats:
    """Log-odds of each style bin, shrunk by the noise: for two classes of the second, else of each against the rest."""
    total = np.maximum(style.sum(axis=0), 0)
    ahead = style[1:2] - style[0:1] if binary else 2 * style - style.sum(axis=0)
    ratio = np.clip(ahead / (total + 2 * noise), -0.95, 0.95)
    odds: Floats = np.clip(2 * np.arctanh(ratio), -STYLE_CAP, STYLE_CAP)
    return odds
