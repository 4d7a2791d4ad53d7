"""From public word frequencies and released sums to weights of words. Public side: sees releases only."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.desk.counts import GRID, Weighing
from tacit.desk.text import TEXT_PARTS, public_rows, word_frequencies, word_tones
from tacit.errors import bad_parameter
from tacit.models._base import Floats

PART_WEIGHT = 20 / (20 + np.array([2.5, 10.5, 27.0, 66.0, 180.0]))
"""Weights of the parts of a text where it is read: about 20/(20 + p) for its p-th word. Early words tell most."""

LEARNT_PARTS = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
"""Weights of the parts where sums of words are learnt, by the norm L1: the first sixteen words. A text's norm is 1
however long it is, so that more words say nothing louder: with k of its words, each weighs 1/k, and is there with a
chance in proportion to k. Where early words tell more than late ones, that is a gain, and else no loss."""

LEAST_WORDS = 4
"""Texts of fewer words count as if they had this many."""

LEAST_PART = 0.3
"""The same where the usual sum of weights is public, as a part of it."""

LIST_LENGTH = 15.0
"""Words that a text is taken to have where only a list of words is public."""

WORTH_KNOWING = {"text": 15.0, "list": 5.0}
"""Words that are expected in at least this many rows, times 1/ε, keep their place: rarer ones are mostly noise. Public
texts of the same kind can be trusted more in this than a list of words."""

COMMON = 1 / 600
"""Words of a list that are in this part of all texts keep their place however small ε is: of few rows for their ε only
words that are far more common than the list says can stand out, and on these a list should decide little."""

UNLISTED = 0.65
"""Rarer words of a list weigh less, with the root of their frequency, but no less than this: it may lack those that
matter."""

RARE_WEIGHT = {"text": -0.4, "list": -0.3}
"""Weights fall with this power of a word's frequency, so that "the" does not use up a text's norm."""

DAMPING = 2.0
"""Noise scales that are added to a word's sum before its log-odds are estimated."""

SURE = 2.0
"""Noise scales by which a word's total is lowered, so that only what is surely common counts as common."""

MOST_RATIO = 0.95
"""How far ahead a class may be, as a part of a word's total."""

CLUSTERING = 30.0
"""How much more sums vary than those of independent words would: words come in company."""

SIGNAL = 1e-4
"""Prior variance of a standardised word's weight, where correlations are known from public texts."""

MOST_CORRELATED = 600
"""Words, the most frequent ones, whose correlations are taken into account."""


@dataclass(frozen=True, slots=True)
class Prior:
    """What is publicly known of words.

    Attributes
    ----------
    share : the chance that a text has a word of each bucket
    rows : public texts × buckets, each entry the weight of the part where the word stands; None for a list of words
    tone : how much praise or blame the words of each bucket mean; None where nobody has told
    """

    share: Floats
    rows: Any = None
    tone: Floats | None = None

    @classmethod
    def of_texts(cls, texts: Any, bits: int, owner: str, language: str | None = None) -> Prior:
        """Learn from public texts of the same kind, and the tone of their words from a list of the language."""
        found = public_rows(texts, bits, owner)
        cells = 1 << bits
        weights, buckets = PART_WEIGHT[found.indices % TEXT_PARTS], found.indices // TEXT_PARTS
        rows = sp.csr_array((weights, buckets, found.indptr), shape=(found.shape[0], cells))
        # Half a text more for every bucket: a word that the public texts lack is rare, not impossible.
        share = (np.bincount(rows.indices, minlength=cells) + 0.5) / (found.shape[0] + 1)
        tone = None if language is None else word_tones(language, bits, owner)
        if language is not None and tone is None:
            expected = "None or 'en' where public_text is given: of other languages only frequencies are known"
            raise bad_parameter(owner, "word_list", expected, language)
        return cls(share, rows, tone)

    @classmethod
    def of_list(cls, language: str, bits: int, owner: str) -> Prior:
        """Learn from public frequencies of a language's words, and from their tone."""
        return cls(word_frequencies(language, bits, LIST_LENGTH, owner), tone=word_tones(language, bits, owner))

    @property
    def kind(self) -> str:
        """Where it is from."""
        return "list" if self.rows is None else "text"

    @property
    def name(self) -> str:
        """A name for what is known."""
        state = hashlib.sha256(self.share.tobytes())
        for array in () if self.rows is None else (self.rows.data, self.rows.indices, self.rows.indptr):
            state.update(np.ascontiguousarray(array).tobytes())
        state.update(b"-" if self.tone is None else self.tone.tobytes())
        return f"{self.kind} {state.hexdigest()[:16]}"

    @property
    def tone_of_parts(self) -> Floats | None:
        """The tone of each cell of a text, as large in a usual one as the score of its words."""
        if self.tone is None:
            return None
        usual = math.sqrt(float((self.share * self.tone**2).sum() / self.share.sum()))
        return by_part(self.tone[None, :] / max(usual, 1e-12))

    def weights(self, rows: float, epsilon: float) -> Floats:
        """How much each bucket weighs in a text's vector."""
        expected = rows * self.share
        least = min(WORTH_KNOWING[self.kind] / epsilon, expected.max() if self.kind == "text" else COMMON * rows)
        known = np.minimum(expected / least, 1.0)
        weights: Floats = np.clip((np.maximum(expected, least) / 50 + 1e-3) ** RARE_WEIGHT[self.kind], 0.02, 4.0)
        if self.kind == "text":
            return np.where(known < 1, 0.0, weights)
        return np.asarray(weights * np.maximum(np.sqrt(known), UNLISTED))

    def mass(self, weights: Floats, norm: str) -> float:
        """The usual sum of a text's weights, or of their squares."""
        if self.rows is None:
            return float(self.share @ (weights if norm == "L1" else weights**2))
        return float(np.mean(_masses(self.rows, weights, norm)))

    def vectors(self, weights: Floats, norm: str, least: float) -> Any:
        """Public texts as a private one is turned into a vector."""
        mass = np.maximum(_masses(self.rows, weights, norm), least)
        scale = 1 / (mass if norm == "L1" else np.sqrt(mass))
        return sp.csr_array(sp.diags_array(scale) @ self.rows @ sp.diags_array(weights))

    def moments(self, weights: Floats, norm: str, least: float) -> tuple[Floats, Floats]:
        """Mean and mean square of each entry of a public text's vector."""
        vectors = self.vectors(weights, norm, least)
        squares = sp.csr_array((vectors.data**2, vectors.indices, vectors.indptr), shape=vectors.shape)
        return np.asarray(vectors.mean(axis=0)).ravel(), np.asarray(squares.mean(axis=0)).ravel()


def _masses(rows: Any, weights: Floats, norm: str) -> Floats:
    if norm == "L1":
        return np.asarray(rows @ weights)
    squares = sp.csr_array((rows.data**2, rows.indices, rows.indptr), shape=rows.shape)
    return np.asarray(squares @ weights**2)


def word_weights(
    ahead: Floats, rows: float, variance: float, weights: Floats, weighing: Weighing, prior: Prior | None
) -> list[Floats]:
    """Ways to weigh words (each classes × buckets) by how far each class is ahead in the released sums.

    ``rows`` is the number of rows that were added up, ``variance`` that of the noise. Without public texts a word's
    log-odds are estimated as if it occurred in one class alone, and damped. Public texts of the same kind give two
    estimates: of a linear regression on single words, and, where topics do not tell that already, of one on all
    frequent words, with the public covariance in place of the private one.
    """
    damped = np.abs(ahead) + DAMPING * math.sqrt(variance / 2)
    if prior is None or prior.rows is None:
        return [weights * ahead / damped]
    part = weighing.words_share / GRID
    unit = weighing.weights.max() / (weights.max() * PART_WEIGHT[0])
    least = weighing.floor / (unit if weighing.norm == "L1" else unit**2)
    mean, square = prior.moments(weights, weighing.norm, least)
    total = rows * mean * part
    spread = CLUSTERING * rows * square * part**2
    single = weights * ahead * total / np.maximum(total**2 + spread + variance, 1e-300)
    if weighing.topics is not None:
        return [single]
    return [single, _correlated(ahead, rows, variance, weights, weighing.norm, least, part, prior)]


def known_odds(ahead: Floats, totals: Floats, deviation: float, of_totals: float) -> Floats:
    """Halved log-odds of words whose totals were released as well, with noise of these deviations.

    A total counts as far as it stands out of its noise, and is never less than what one class is ahead.
    """
    seen = np.maximum(totals - SURE * of_totals / math.sqrt(2), np.abs(ahead))
    ratio = ahead / (seen + DAMPING * deviation / math.sqrt(2))
    return np.asarray(np.arctanh(np.clip(ratio, -MOST_RATIO, MOST_RATIO)))


def _correlated(
    ahead: Floats,
    rows: float,
    variance: float,
    weights: Floats,
    norm: str,
    least: float,
    part: float,
    prior: Prior,
) -> Floats:
    """The posterior mean of a rule w, where sums are rows·cov·w and noise, and standardised weights are small."""
    chosen = np.argsort(-prior.share, kind="stable")[:MOST_CORRELATED]
    chosen = chosen[weights[chosen] > 0]
    vectors = prior.vectors(weights, norm, least)[:, chosen] * part
    mean = np.asarray(vectors.mean(axis=0)).ravel()
    covariance = (vectors.T @ vectors).toarray() / vectors.shape[0] - np.outer(mean, mean)
    own = np.maximum(np.diag(covariance), 1e-12)
    sums = rows * covariance / np.sqrt(own)
    noisy = SIGNAL * sums @ sums.T
    noisy[np.diag_indices_from(noisy)] += rows * own + variance
    found = np.zeros_like(ahead)
    solved = np.linalg.solve(noisy, ahead[:, chosen].T)
    found[:, chosen] = weights[chosen] * (SIGNAL * (sums.T @ solved) / np.sqrt(own)[:, None]).T
    return found


def by_part(values: Floats, parts: Floats = PART_WEIGHT) -> Floats:
    """Repeat values of buckets (last axis) for each part of a text, with the part's weight."""
    whole: Floats = np.repeat(values, TEXT_PARTS, axis=-1) * np.tile(parts, values.shape[-1])
    return whole
