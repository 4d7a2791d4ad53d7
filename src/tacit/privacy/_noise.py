"""Exact noise from integers and random bytes. Only the gate, and what draws for it, may import this module.

Everything rests on one primitive: decide whether a uniform number U is below a probability p, reading the binary
digits of U as random bytes and those of p from certified arithmetic, byte after byte until they differ. No digit is
ever rounded, so each decision, and with it each distribution below, is exact. Proof: ``docs/proofs/noise.md``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Gaps = NDArray[np.uint64]

CHUNK = 1 << 17  # draws made together: small enough to stay in the cache, large enough to hide Python


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


class _Pool:
    """Bytes of another source, drawn many at a time and handed out once each: for many small requests."""

    def __init__(self, source: Entropy) -> None:
        self._source, self._bytes = source, np.zeros(0, dtype=np.uint8)

    def draw(self, count: int) -> Bytes:
        """Return the next ``count`` bytes."""
        if count > self._bytes.size:
            self._bytes = self._source.draw(max(count, 4096))
        taken, self._bytes = self._bytes[:count], self._bytes[count:]
        return taken


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
        known = self._bytes  # read once: another thread may put fewer bytes in their place at any time
        if index >= len(known):
            length = max(16, 2 * index)
            self._bytes = known = self.prefix(8 * length).to_bytes(length, "big")
        return known[index]

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
def exp_minus(rate: Fraction, doublings: int = 0) -> Probability:
    """Return the probability 2^doublings · exp(−rate), rate > 0 and above doublings · ln 2.

    It is irrational, so its digits always decide in the end.
    """

    def bracket(digits: int) -> tuple[Decimal, Decimal]:
        low, high = _bracket_exp(rate, digits)
        down, up = Context(prec=digits, rounding=ROUND_FLOOR), Context(prec=digits, rounding=ROUND_CEILING)
        return down.multiply(low, Decimal(2**doublings)), up.multiply(high, Decimal(2**doublings))

    return Probability(bracket, lambda bits: rate > Fraction((bits + doublings) * 7, 10) + 1)


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


def bernoulli_exp(exponents: Gaps, rate: Fraction, entropy: Entropy) -> Bools:
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
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        part = _geometric(bits, again, size, entropy)
        part ^= -bernoulli(sign, size, entropy).astype(np.int64)
        result[start : start + size] = part
    return result


def geometric(scale: Fraction, count: int, entropy: Entropy) -> Ints:
    """Draw from P(x) ∝ exp(−x/scale) on 0, 1, 2, …"""
    _, bits, again = laplace_bits(scale)
    sizes = [min(CHUNK, count - start) for start in range(0, count, CHUNK)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *(_geometric(bits, again, size, entropy) for size in sizes)])


def _geometric(bits: Sequence[Probability], again: Probability, count: int, entropy: Entropy) -> Ints:
    part = _high_part(again, count, entropy)
    for probability in reversed(bits):
        part <<= 1
        part |= bernoulli(probability, count, entropy)
    return part


def _high_part(again: Probability, count: int, entropy: Entropy) -> Ints:
    """Count the successes before the first failure."""
    result = bernoulli(again, count, entropy).astype(np.int64)
    alive = np.flatnonzero(result)
    while alive.size:
        alive = alive[bernoulli(again, alive.size, entropy)]
        result[alive] += 1
    return result


@lru_cache(maxsize=1)
def _exp_tables() -> tuple[Ints, Ints]:
    """Return 2^24 · exp(−i/32) and 2^24 · exp(−i/2^16) for i below 2048, rounded down by less than 2."""

    def table(step: Fraction) -> Ints:
        ratio = exp_minus(step).prefix(96)
        powers = [2**96]
        while len(powers) < 2048:
            powers.append((powers[-1] * ratio) >> 96)
        return np.array([power >> 72 for power in powers], dtype=np.int64)

    return table(Fraction(1, 32)), table(Fraction(1, 2**16))


class _Acceptance:
    """Coins that show True with probability exp(−γ(y)), γ(y) = (|y| − σ²/t)²/(2σ²), for a whole vector.

    A fixed-point g ≤ 2^16·γ < g + 2 is computed in 64-bit integers, and from it, by two tables, a level l with
    l − 2 < 2^16·exp(−γ) < l + 2. So two random bytes settle the coin but four times in 65,536; then γ is taken as an
    exact fraction. Needs t ≥ 2σ/3, so that γ > 48 and l = 0 will do wherever |y| is above 8·√2·σ.
    """

    _LARGEST_VARIANCE = 2**49  # keeps |y| up to 8·√2·σ within 2^28
    _WORD = 58  # fixed-point digits of |y|/(√2 σ), which is at most 8 for the y that matter: 61 bits
    _SHIFT = 30
    _FRACTION = 16

    def __init__(self, variance: Fraction, t: int) -> None:
        if variance > self._LARGEST_VARIANCE or 4 * variance > 9 * t * t:
            raise ValueError(f"The variance {variance} is too large for exact arithmetic in 64 bits.")
        self._variance, self._t = variance, t
        self._largest = math.isqrt(math.floor(2**7 * variance))
        self._slope = math.isqrt(math.floor(2 ** (2 * self._WORD) / (2 * variance))) if self._largest else 0
        self._offset = math.isqrt(math.floor(2 ** (2 * self._WORD) * variance / (2 * t * t)))

    def exact(self, size: int) -> Fraction:
        """Return γ for a magnitude, as a fraction."""
        return (size - self._variance / self._t) ** 2 / (2 * self._variance)

    def fixed(self, sizes: Ints) -> Ints:
        """Return the fixed-point g for magnitudes up to 8·√2·σ."""
        distance = np.abs(sizes * self._slope - self._offset) - (sizes + 1)
        root = np.maximum(distance, 0) >> self._SHIFT
        fixed: Ints = (root * root) >> (2 * (self._WORD - self._SHIFT) - self._FRACTION)
        return fixed

    def level(self, sizes: Ints) -> Ints:
        """Return the level l for magnitudes."""
        coarse, fine = _exp_tables()
        fixed = self.fixed(np.minimum(sizes, self._largest))
        level: Ints = (coarse[fixed >> 11] * fine[fixed & 2047]) >> 32
        level[sizes > self._largest] = 0
        return level

    def coins(self, draws: Ints, entropy: Entropy) -> Bools:
        """Draw one coin for each proposal."""
        sizes = np.abs(draws)
        words = entropy.draw(2 * draws.size).view(np.uint16)
        ahead = self.level(sizes) - words
        result: Bools = ahead > 2
        for i in np.flatnonzero((ahead <= 2) & (ahead >= -1)):
            result[i] = _goes_on_below(int(words[i]), self.exact(int(sizes[i])), entropy)
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

    Canonne, Kamath and Steinke 2020: from a proposal of scale t, accept y with probability
    exp(−(|y| − σ²/t)²/(2σ²)). Any t > 0 is right; the whole number nearest to σ wastes little.
    """
    t = max(1, (math.isqrt(math.floor(4 * variance)) + 1) // 2)
    acceptance = _Acceptance(variance, t)
    result = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        wanted = min(CHUNK, (count - filled) * 11 // 8 + 64)
        draws = discrete_laplace(Fraction(t), wanted, entropy)
        kept = draws[acceptance.coins(draws, entropy)][: count - filled]
        result[filled : filled + kept.size] = kept
        filled += kept.size
    return result


def cauchy_acceptance(z: int, shell: int, scale: Fraction) -> tuple[int, int]:
    """Numerator and denominator of the probability with which a proposal z from a shell is kept."""
    square = scale.numerator**2
    whole = square + (scale.denominator * z) ** 2
    return (square, 2 * whole) if shell == 0 else (square << (2 * shell - 2), whole)


def discrete_cauchy(scales: Sequence[Fraction], entropy: Entropy) -> list[int]:
    """Draw for each scale one number from P(z) ∝ 1/(scale² + z²) on the integers: a proposal from shells, thinned.

    With T = ⌈scale⌉, shell 0 holds |z| < T and shell s ≥ 1 holds 2^(s−1)·T ≤ |z| < 2^s·T. Shell s is proposed with
    probability 2^(−s−1), by tosses of a fair coin, and its members alike, so that z is proposed with probability
    1/(4T) in shell 0 and 1/(2T·4^s) beyond; both times the acceptance are scale²/(scale² + z²)/(8T).
    """
    pool = _Pool(entropy)
    return [_one_cauchy(scale, pool) for scale in scales]


def _one_cauchy(scale: Fraction, entropy: Entropy) -> int:
    start = math.ceil(scale)
    while True:
        negative, shell = whole_below(2, entropy), 0
        while whole_below(2, entropy):
            shell += 1
        inner = 0 if shell == 0 else start << (shell - 1)
        size = inner + whole_below(inner or start, entropy)
        if negative and size == 0:
            continue  # zero has no sign: it would be proposed twice
        kept, whole = cauchy_acceptance(size, shell, scale)
        if whole_below(whole, entropy) < kept:
            return -size if negative else size


def whole_below(limit: int, entropy: Entropy) -> int:
    """Draw one whole number uniformly from 0 … limit − 1, however large, by rejection."""
    bits = (limit - 1).bit_length()
    size = (bits + 7) // 8
    while True:
        drawn = int.from_bytes(entropy.draw(size).tobytes(), "big") >> (8 * size - bits)
        if drawn < limit:
            return drawn
