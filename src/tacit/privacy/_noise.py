"""Exact noise from integers and random bytes. Only the gate may import this module.

Everything rests on one primitive: decide whether a uniform number U is below a probability p, reading the binary
digits of U as random bytes and those of p from certified arithmetic, byte after byte until they differ. No digit is
ever rounded, so each decision, and with it each distribution below, is exact. Proof: ``docs/proofs/noise.md``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

MAX_SCALE = 2**40
_CHUNK = 1 << 18  # draws made together: small enough to stay in the cache, large enough to hide Python


class Entropy(Protocol):
    """A source of random bytes."""

    def draw(self, count: int) -> Bytes:
        """Return ``count`` independent uniform bytes."""
        ...


class SystemEntropy:
    """The operating system's generator: the only source that makes a release private."""

    def draw(self, count: int) -> Bytes:
        """Return ``count`` bytes from the operating system."""
        return np.frombuffer(os.urandom(count), dtype=np.uint8)


class SeededEntropy:
    """A reproducible source, for simulations only: who knows the seed can take the noise off again."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def draw(self, count: int) -> Bytes:
        """Return ``count`` bytes that the seed determines."""
        return np.frombuffer(self._generator.bytes(count), dtype=np.uint8)


class Probability:
    """A number in [0, 1) whose binary digits can be had to any length.

    Parameters
    ----------
    bracket : callable
        Given a number of decimal digits, returns a lower and an upper bound that meet as the digits grow.
    below : callable
        Given a number of bits, tells for free whether the probability is certainly below 2^-bits.
    """

    def __init__(
        self,
        bracket: Callable[[int], tuple[Decimal, Decimal]],
        below: Callable[[int], bool] = lambda _: False,
    ) -> None:
        self._bracket = bracket
        self._below = below
        self._bytes = b""

    def byte(self, index: int) -> int:
        """Return the byte of the binary expansion at ``index``, counted from the point."""
        if index >= len(self._bytes):
            length = max(16, 2 * index)
            self._bytes = self.prefix(8 * length).to_bytes(length, "big")
        return self._bytes[index]

    def prefix(self, bits: int) -> int:
        """Return floor(p · 2^bits), certified."""
        if self._below(bits):
            return 0
        digits = bits // 3 + 20
        while True:
            low, high = self._bracket(digits)
            scaled = Context(prec=digits + bits + 10, rounding=ROUND_FLOOR)
            floor_low = int(scaled.multiply(low, Decimal(2**bits)).to_integral_value(ROUND_FLOOR))
            floor_high = int(scaled.multiply(high, Decimal(2**bits)).to_integral_value(ROUND_FLOOR))
            if floor_low == floor_high:
                return floor_low
            digits *= 2


@lru_cache(maxsize=4096)
def exp_minus(rate: Fraction) -> Probability:
    """Return the probability exp(−rate), rate > 0: irrational, so its digits always decide in the end."""
    return Probability(lambda digits: _bracket_exp(rate, digits), lambda bits: rate > Fraction(bits * 7, 10) + 1)


@lru_cache(maxsize=4096)
def logistic(rate: Fraction) -> Probability:
    """Return the probability 1/(1 + exp(rate)), rate > 0."""

    def bracket(digits: int) -> tuple[Decimal, Decimal]:
        low, high = _bracket_exp(rate, digits)
        down, up = Context(prec=digits, rounding=ROUND_FLOOR), Context(prec=digits, rounding=ROUND_CEILING)
        return down.divide(low, up.add(Decimal(1), low)), up.divide(high, down.add(Decimal(1), high))

    return Probability(bracket, lambda bits: rate > Fraction(bits * 7, 10) + 1)


def _bracket_exp(rate: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """Bracket exp(−rate): outward rounding around Decimal.exp, which is correctly rounded."""
    down, up = Context(prec=digits, rounding=ROUND_FLOOR), Context(prec=digits, rounding=ROUND_CEILING)
    numerator, denominator = Decimal(-rate.numerator), Decimal(rate.denominator)
    low = down.exp(down.divide(numerator, denominator))
    high = up.exp(up.divide(numerator, denominator))
    return down.next_minus(low), up.next_plus(high)


def bernoulli(p: Probability, count: int, entropy: Entropy) -> Bools:
    """Draw ``count`` coins that show True with probability exactly p."""
    digits = entropy.draw(count)
    first = p.byte(0)
    result = digits < first
    undecided = np.flatnonzero(digits == first)
    depth = 1
    while undecided.size:
        digits = entropy.draw(undecided.size)
        target = p.byte(depth)
        result[undecided[digits < target]] = True
        undecided = undecided[digits == target]
        depth += 1
    return result


def bernoulli_exp(exponents: Ints, rate: Fraction, entropy: Entropy) -> Bools:
    """Draw a coin for each exponent k ≥ 0 that shows True with probability exactly exp(−k·rate).

    exp(−k·rate) is the product over the set bits b of k of exp(−2^b·rate): one coin a set bit, highest bits first,
    because they settle most.
    """
    result = np.ones(exponents.size, dtype=bool)
    alive = np.flatnonzero(exponents)
    values = exponents[alive]
    for bit in reversed(range(int(values.max()).bit_length() if values.size else 0)):
        tested = (values >> bit) & 1 == 1
        if not tested.any():
            continue
        survives = np.ones(values.size, dtype=bool)
        survives[tested] = bernoulli(exp_minus(rate * 2**bit), int(np.count_nonzero(tested)), entropy)
        result[alive[~survives]] = False
        alive, values = alive[survives], values[survives]
    return result


def uniform_below(limit: int, count: int, entropy: Entropy) -> Ints:
    """Draw ``count`` whole numbers uniformly from 0 … limit − 1, by rejection."""
    mask = np.uint64((1 << (limit - 1).bit_length()) - 1)
    result = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        words = entropy.draw(8 * (2 * (count - filled) + 8)).view(np.uint64) & mask
        good = words[words < np.uint64(limit)][: count - filled]
        result[filled : filled + good.size] = good.astype(np.int64)
        filled += good.size
    return result


def laplace_bits(scale: Fraction) -> tuple[Probability, list[Probability], Probability]:
    """Return the coins that make up a discrete Laplace variable: sign, low bits, and one more round of the high part.

    With q = exp(−1/scale), a geometric variable G with P(G ≥ g) = q^g has independent bits, bit i set with probability
    1/(1 + q^(−2^i)); G // 2^I is geometric with ratio q^(2^I), so it counts the successes of that coin.
    """
    width = max(0, math.ceil(3 * scale).bit_length() - 1)
    rate = 1 / scale
    return logistic(rate), [logistic(rate * 2**i) for i in range(width)], exp_minus(rate * 2**width)


def discrete_laplace(scale: Fraction, count: int, entropy: Entropy) -> Ints:
    """Draw from P(x) ∝ exp(−|x|/scale) on the integers.

    The sign is one more independent bit: x = G where it is 0, and x = −1 − G, the bitwise complement, where it is 1.
    """
    sign, bits, again = laplace_bits(scale)
    result = np.empty(count, dtype=np.int64)
    for start in range(0, count, _CHUNK):
        size = min(_CHUNK, count - start)
        part = _high_part(again, size, entropy)
        for probability in reversed(bits):
            part <<= 1
            part |= bernoulli(probability, size, entropy)
        part ^= -bernoulli(sign, size, entropy).astype(np.int64)
        result[start : start + size] = part
    return result


def _high_part(again: Probability, count: int, entropy: Entropy) -> Ints:
    """Count the successes before the first failure."""
    result = bernoulli(again, count, entropy).astype(np.int64)
    alive = np.flatnonzero(result)
    while alive.size:
        alive = alive[bernoulli(again, alive.size, entropy)]
        result[alive] += 1
    return result


class _Acceptance:
    """Coins that show True with probability exp(−γ(y)), γ(y) = (|y| − σ²/t)²/(2σ²), for a whole vector.

    A fixed-point g ≤ 2^16·γ < g + 2 is computed in 64-bit integers. exp(−γ) is the product of the bits of g and of a
    last factor above 1 − 2^-14, which two random bytes settle but once in 16,384 draws; then, and for very large y,
    γ is taken as an exact fraction.
    """

    _FRACTION = 16
    _WORD = 58  # fixed-point digits of |y|/(√2 σ), which is below 8 on the fast path: 61 bits
    _SHIFT = 30
    _SURE = 65_532  # words below this are accepted: 1 − 4/65536 = 1 − 2^-14

    def __init__(self, variance: Fraction, t: int) -> None:
        self._variance, self._t = variance, t
        self._slope = math.isqrt(math.floor(2 ** (2 * self._WORD) / (2 * variance)))
        self._offset = math.isqrt(math.floor(2 ** (2 * self._WORD) * variance / (2 * t * t)))
        self._largest = min(math.isqrt(math.floor(2**7 * variance)), 2**28)

    def exact(self, size: int) -> Fraction:
        """Return γ for a magnitude, as a fraction."""
        return (size - self._variance / self._t) ** 2 / (2 * self._variance)

    def fixed(self, sizes: Ints) -> Ints:
        """Return the fixed-point g for magnitudes on the fast path."""
        distance = np.abs(sizes * self._slope - self._offset) - (sizes + 1)
        root = np.maximum(distance, 0) >> self._SHIFT
        return (root * root) >> (2 * (self._WORD - self._SHIFT) - self._FRACTION)

    def coins(self, draws: Ints, entropy: Entropy) -> Bools:
        """Draw one coin for each proposal."""
        sizes = np.abs(draws)
        fast = sizes <= self._largest
        fixed = self.fixed(np.where(fast, sizes, 0))
        result = bernoulli_exp(fixed, Fraction(1, 2**self._FRACTION), entropy)
        words = entropy.draw(2 * draws.size).view(np.uint16)
        for i in np.flatnonzero(result & fast & (words >= self._SURE)):
            rest = self.exact(int(sizes[i])) - Fraction(int(fixed[i]), 2**self._FRACTION)
            result[i] = _goes_on_below(int(words[i]), rest, entropy)
        for i in np.flatnonzero(~fast):
            result[i] = bernoulli(exp_minus(self.exact(int(sizes[i]))), 1, entropy)[0]
        return result


def _goes_on_below(word: int, rate: Fraction, entropy: Entropy) -> bool:
    """Decide U < exp(−rate) for a U whose first 16 digits are ``word``."""
    if rate == 0:
        return True
    p = exp_minus(rate)
    digits, depth = word, 2
    while digits == p.prefix(8 * depth):
        digits = digits << 8 | int(entropy.draw(1)[0])
        depth += 1
    return digits < p.prefix(8 * depth)


def discrete_gaussian(variance: Fraction, count: int, entropy: Entropy) -> Ints:
    """Draw from P(x) ∝ exp(−x²/(2·variance)) on the integers: a discrete Laplace proposal, thinned.

    Canonne, Kamath and Steinke 2020: with t = ⌊σ⌋ + 1, accept y with probability exp(−(|y| − σ²/t)²/(2σ²)).
    """
    t = math.isqrt(math.floor(variance)) + 1
    acceptance = _Acceptance(variance, t)
    result = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        wanted = min(_CHUNK, (count - filled) * 3 // 2 + 8)
        draws = discrete_laplace(Fraction(t), wanted, entropy)
        kept = draws[acceptance.coins(draws, entropy)][: count - filled]
        result[filled : filled + kept.size] = kept
        filled += kept.size
    return result


def permute_and_flip(utilities: Ints, rate: Fraction, entropy: Entropy) -> int:
    """Select an index by permute-and-flip with probability ratio exp(rate · utility).

    Each candidate shows heads with probability exp(−rate·(best − utility)); the first heads in a random order is the
    same as a uniform choice among all heads, and the best always shows one.
    """
    heads = np.flatnonzero(bernoulli_exp(utilities.max() - utilities, rate, entropy))
    return int(heads[uniform_below(heads.size, 1, entropy)[0]])


def exponential(utilities: Ints, rate: Fraction, weights: Ints | None, entropy: Entropy) -> int:
    """Select index j with probability ∝ weights[j] · exp(rate · utilities[j]), by rejection from the weights."""
    gaps = utilities.max() - utilities
    cumulated = None if weights is None else np.cumsum(weights)
    batch = min(utilities.size, _CHUNK)
    while True:
        if cumulated is None:
            proposed = uniform_below(utilities.size, batch, entropy)
        else:
            drawn = uniform_below(int(cumulated[-1]), batch, entropy)
            proposed = np.searchsorted(cumulated, drawn, side="right").astype(np.int64)
        accepted = np.flatnonzero(bernoulli_exp(gaps[proposed], rate, entropy))
        if accepted.size:
            return int(proposed[accepted[0]])
