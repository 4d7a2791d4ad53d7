"""Exact selections of a candidate by its utility, from integers and coins of exact probability. For the gate alone.

Proof: ``docs/proofs/selection.md``.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate

import numpy as np

from tacit.privacy._noise import (
    CHUNK,
    Entropy,
    Gaps,
    Ints,
    bernoulli,
    bernoulli_exp,
    exp_minus,
    uniform_below,
    whole_below,
)


def _gaps(utilities: Ints) -> Gaps:
    """Return how far each utility is below the best, as unsigned numbers, which hold any difference of two int64."""
    whole = utilities.astype(np.uint64)
    gaps: Gaps = whole[np.argmax(utilities)] - whole
    return gaps


def permute_and_flip(utilities: Ints, rate: Fraction, entropy: Entropy) -> int:
    """Select an index by permute-and-flip with probability ratio exp(rate · utility).

    Each candidate shows heads with probability exp(−rate·(best − utility)); the first heads in a random order is the
    same as a uniform choice among all heads, and the best always shows one.
    """
    heads = np.flatnonzero(bernoulli_exp(_gaps(utilities), rate, entropy))
    return int(heads[uniform_below(heads.size, 1, entropy)[0]])


def permute_and_flip_each(utilities: Ints, rate: Fraction, entropy: Entropy) -> Ints:
    """Select an index in each row, each independently by permute-and-flip: all coins of all rows at once."""
    whole = utilities.astype(np.uint64)
    best = np.take_along_axis(whole, np.argmax(utilities, axis=1)[:, None], axis=1)
    coins = bernoulli_exp((best - whole).ravel(), rate, entropy).reshape(utilities.shape)
    chosen = [heads[uniform_below(heads.size, 1, entropy)[0]] for heads in map(np.flatnonzero, coins)]
    return np.array(chosen, dtype=np.int64)


def exponential(utilities: Ints, rate: Fraction, weights: Ints | None, entropy: Entropy) -> int:
    """Select index j with probability ∝ weights[j] · exp(rate · utilities[j]), by rejection.

    Without weights the proposal is uniform, and many are tried at once.
    """
    gaps = _gaps(utilities)
    if weights is not None:
        return _weighted_exponential(gaps.tolist(), rate, weights.tolist(), entropy)
    while True:
        proposed = uniform_below(gaps.size, min(gaps.size, CHUNK), entropy)
        accepted = np.flatnonzero(bernoulli_exp(gaps[proposed], rate, entropy))
        if accepted.size:
            return int(proposed[accepted[0]])


def _weighted_exponential(gaps: list[int], rate: Fraction, weights: list[int], entropy: Entropy) -> int:
    """Select index j with probability ∝ weights[j] · exp(−rate · gaps[j]).

    A heavy candidate of low utility would be proposed in vain again and again, so the proposal looks at utility too:
    j is proposed with probability ∝ weights[j]·2^(−h), 2^(−h) just above exp(−rate·gap) since h·ln 2 ≤ rate·gap, and
    accepted with probability 2^h·exp(−rate·gap). Halving stops at 2^-128, by when nothing is left to waste.
    """
    most = 128
    per_gap = rate / Fraction(6932, 10_000)  # a little above ln 2 = 0.69314…
    halvings = [min(gap * per_gap.numerator // per_gap.denominator, most) for gap in gaps]
    cumulated = list(accumulate(weight << (most - h) for weight, h in zip(weights, halvings, strict=True)))
    while True:
        j = bisect_right(cumulated, whole_below(cumulated[-1], entropy))
        if gaps[j] == 0 or bernoulli(exp_minus(rate * gaps[j], halvings[j]), 1, entropy)[0]:
            return j
