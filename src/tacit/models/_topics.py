"""Topics from public texts, and what released sums say of them. Public side: sees releases and public texts only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.special import log_ndtr

from tacit.desk.text import Topics
from tacit.models._base import Floats
from tacit.models._words import PART_WEIGHT, Prior

MOST_WORDS = 1_200
"""Words, the most frequent ones, that topics are made of."""

LEAST_TEXTS = 20
"""Public texts that it takes for each topic: with fewer, a topic is an accident."""

NUMBER = {"L1": 3.2, "L2": 6.4}
"""Topics, over the cube root of rows times ε: each adds what the others cannot tell, and its noise."""

RARE_WEIGHT = -0.5
"""Weights fall with this power of a word's frequency, so that topics are not made of "the" and "of"."""

LEAST_SPREAD = 1e-9
"""Variance of public texts, of norm 1, along their main topic: below it they are all alike."""

SHORT = 0.1
"""Part of the public texts that are short: their topics are divided as if they were longer."""

SIGNAL = 0.1
"""Prior variance of the score of topics, for labels of -1 and 1."""

LARGEST = 1 << 15
"""The largest loading, as a whole number."""


@dataclass(frozen=True, slots=True)
class Found:
    """Topics with the covariance of public texts' topics, as its principal directions.

    Attributes
    ----------
    topics : Topics
    spread, directions : variances, ascending, and directions of topics × directions
    """

    topics: Topics
    spread: Floats
    directions: Floats

    def weights(self, sums: Floats, rows: float, share: float, variance: float) -> Floats:
        """The expected weight of each topic in a linear rule (last axis), given released sums.

        A sum is ``share``·(rows·covariance·weights + chance) + noise of that variance; chance has rows·covariance.
        """
        return np.asarray((sums @ self.directions) * self._gain(rows, share, variance) @ self.directions.T)

    def clearness(self, weights: Floats, rows: float, share: float, variance: float) -> Floats:
        """How far each word's loading on this rule is from what noise alone would give, as scales of Laplace noise.

        Of a word that is t deviations off, the chance of as much is 2Φ(−t); it is turned into exp(−clearness).
        """
        loadings = self.topics.loadings / LARGEST
        noise = self._gain(rows, share, variance) * np.sqrt(variance + share**2 * rows * self.spread)
        usual = np.sqrt((((loadings @ self.directions) * noise) ** 2).sum(axis=1))
        off = np.abs(loadings @ weights) / np.maximum(usual, 1e-300)
        found = np.zeros(len(self.topics.places))
        known = self.topics.places >= 0
        found[known] = (-log_ndtr(-off) - math.log(2))[self.topics.places[known]]
        return np.maximum(found, 0.0)

    def _gain(self, rows: float, share: float, variance: float) -> Floats:
        prior = SIGNAL / np.sqrt(self.spread) / np.sqrt(self.spread).sum()
        signal = share * rows * self.spread
        return np.asarray(prior * signal / (prior * signal**2 + share * signal + variance))

    def deviation(self, weights: Floats) -> float:
        """The deviation of the score of public texts, for each row of weights in the mean."""
        return float(np.sqrt(((weights @ self.directions) ** 2 * self.spread).sum(axis=1)).mean())


def find_topics(prior: Prior | None, norm: Literal["L1", "L2"], strength: float) -> Found | None:
    """Topics for so many rows times ε; None where there are no public texts, too few, or all alike."""
    if prior is None or prior.rows is None:
        return None
    frequency = np.bincount(prior.rows.indices, minlength=prior.rows.shape[1])
    known = np.sort(np.argsort(-frequency, kind="stable")[:MOST_WORDS])
    known = known[frequency[known] > 1]
    number = int(NUMBER[norm] * max(strength, 1.0) ** (1 / 3))
    number = min(number, prior.rows.shape[0] // LEAST_TEXTS, len(known) - 1)
    if number < 2:
        return None
    texts = sp.csr_array(prior.rows[:, known])
    loadings = _centred(_loadings(texts, prior.share[known], number), texts)
    whole = np.rint(loadings * (LARGEST / max(np.abs(loadings).max(), 1e-300))).astype(np.int64)
    places = np.full(prior.rows.shape[1], -1, dtype=np.int64)
    places[known] = np.arange(len(known))
    vectors = texts @ whole.astype(np.float64)
    norms = np.abs(vectors).sum(axis=1) if norm == "L1" else np.sqrt((vectors**2).sum(axis=1))
    floor = max(float(np.quantile(norms, SHORT)), 1.0)
    vectors /= np.maximum(norms, floor)[:, None]
    spread, directions = np.linalg.eigh(np.cov(vectors.T))
    if spread[-1] < LEAST_SPREAD:
        return None
    parts = np.rint(PART_WEIGHT * (1 << 10)).astype(np.int64)
    topics = Topics(places, whole, parts, math.ceil(floor * (1 << 10)), norm)
    return Found(topics, np.maximum(spread, spread[-1] * 1e-9), directions)


def _loadings(texts: sp.csr_array, share: Floats, number: int) -> Floats:
    """Words × topics: the principal directions of weighted words in texts of norm 1."""
    weights = share**RARE_WEIGHT
    weighted = sp.csr_array(texts @ sp.diags_array(weights))
    norms = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    vectors = sp.diags_array(1 / np.maximum(norms, 1e-12)) @ weighted
    products = (vectors.T @ vectors).toarray()
    last = len(products) - 1
    _, directions = scipy.linalg.eigh(products, subset_by_index=[last - number + 1, last])
    return np.asarray(weights[:, None] * directions)


def _centred(loadings: Floats, texts: sp.csr_array) -> Floats:
    """Loadings of which a text of usual words has none in the sum."""
    usual = np.asarray(texts.mean(axis=0)).ravel()
    return np.asarray(loadings - usual @ loadings / usual.sum())
