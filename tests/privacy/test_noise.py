"""The noise is exactly what it claims to be: by enumeration where that is possible, by statistics beside it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from tacit.privacy import _noise, _selecting
from tests.privacy import noise_laws as laws

dp.enable_features("contrib")

F = Fraction
TINY = Decimal("1e-60")

rates = st.builds(F, st.integers(1, 400), st.integers(1, 60))
variances = st.builds(lambda n, d, e: F(n, d) * F(10) ** e, *[st.integers(1, 10**6)] * 2, st.integers(-6, 8))


# -- the digits of a probability ------------------------------------------------------------------------------------


@given(rates, st.integers(1, 300))
@example(F(1, 10**9), 200)
@example(F(45), 64)
@settings(max_examples=60, deadline=None)
def test_digits_of_exp_and_logistic_agree_with_rational_bounds(rate: Fraction, bits: int) -> None:
    def logistic(terms: int) -> tuple[Fraction, Fraction]:
        low, high = laws.exp_bounds(rate, terms)
        return low / (1 + low), high / (1 + high)

    assert _noise.exp_minus(rate).prefix(bits) == laws.floor_scaled(lambda n: laws.exp_bounds(rate, n), bits)
    assert _noise.logistic(rate).prefix(bits) == laws.floor_scaled(logistic, bits)


@given(rates, st.integers(1, 200))
@settings(max_examples=40, deadline=None)
def test_digits_of_a_doubled_exp_agree_with_rational_bounds(rate: Fraction, bits: int) -> None:
    doublings = math.floor(rate / F(7, 10))

    def doubled(terms: int) -> tuple[Fraction, Fraction]:
        low, high = laws.exp_bounds(rate, terms)
        return low * 2**doublings, high * 2**doublings

    expected = laws.floor_scaled(doubled, bits) if doublings else _noise.exp_minus(rate).prefix(bits)
    assert _noise.exp_minus(rate, doublings).prefix(bits) == expected


@pytest.mark.parametrize("p", [_noise.exp_minus(F(11, 3)), _noise.logistic(F(2, 7)), _noise.exp_minus(F(800))])
def test_bytes_are_the_same_in_whatever_order_they_are_asked_for(p: _noise.Probability) -> None:
    whole = p.prefix(8 * 150).to_bytes(150, "big")
    assert bytes(p.byte(i) for i in range(150)) == whole
    assert bytes(p.byte(i) for i in reversed(range(150))) == whole[::-1]


def test_another_thread_may_know_fewer_digits_at_any_time() -> None:
    """Probabilities are kept for all threads: one that puts in fewer bytes ended another's draw, after the charge."""

    class Contended(_noise.Probability):
        @property
        def _bytes(self) -> bytes:
            return self._held

        @_bytes.setter
        def _bytes(self, found: bytes) -> None:
            self._held = found[:16]  # another thread's come at once

    p = _noise.exp_minus(F(11, 3))
    contended = Contended(p._bracket)
    assert [contended.byte(i) for i in (40, 3, 90)] == [p.byte(i) for i in (40, 3, 90)]


# -- one coin -------------------------------------------------------------------------------------------------------

COINS = [
    _noise.exp_minus(F(1, 3)),
    _noise.exp_minus(F(7)),
    _noise.exp_minus(F(1, 10**9)),
    _noise.exp_minus(F(20)),
    _noise.logistic(F(1, 10)),
    _noise.logistic(F(1, 10**6)),
]


@pytest.mark.parametrize("p", COINS)
@pytest.mark.parametrize("last", [False, True])
def test_all_beginnings_of_two_bytes_decide_as_they_should(p: _noise.Probability, last: bool) -> None:
    """Of 65,536 beginnings, floor(p·65536) show True and one asks for more; what comes then decides it."""
    more = laws.bytes_along(p, 2, last)[2:]
    script = laws.Script([*(i >> 8 for i in range(65_536)), *range(256), *more])
    shown = _noise.bernoulli(p, 65_536, script)
    undecided = p.prefix(16)
    assert script.asked == [65_536, 256, *[1] * len(more)]
    assert script.over
    assert shown.sum() == undecided + last
    assert shown[:undecided].all()
    assert shown[undecided] == last


@pytest.mark.parametrize("p", COINS)
@pytest.mark.parametrize("length", [5, 6, 15, 16, 17, 40, 200])
@pytest.mark.parametrize("outcome", [False, True])
def test_a_coin_undecided_for_long_is_decided_by_the_first_other_byte(
    p: _noise.Probability, length: int, outcome: bool
) -> None:
    """Beginnings of 40 bits and more: the script follows the digits of p, and then leaves them up or down."""
    bytes_ = laws.bytes_along(p, length, outcome)
    script = laws.Script(bytes_)
    assert _noise.bernoulli(p, 1, script)[0] == outcome
    assert script.asked == [1] * len(bytes_)


def test_coins_decide_one_by_one_whatever_their_neighbours_do() -> None:
    """Several undecided coins at once, which drop out at different depths and in different directions."""
    p = _noise.exp_minus(F(2, 3))
    outcomes = [True, False, True, False, False, True]
    scripts = [laws.bytes_along(p, depth, o) for depth, o in zip([3, 1, 0, 2, 5, 1], outcomes, strict=True)]
    content = [b for column in itertools.zip_longest(*scripts) for b in column if b is not None]
    assert _noise.bernoulli(p, 6, laws.Script(content)).tolist() == outcomes


@given(st.integers(0, 15), st.integers(0, 15), rates)
@settings(max_examples=50, deadline=None)
def test_a_power_of_a_probability_takes_one_coin_for_each_set_bit(exponent: int, shown: int, rate: Fraction) -> None:
    """The coins multiply to the power; all must show True, the first that does not ends it."""
    bits = [b for b in reversed(range(4)) if exponent >> b & 1]
    coins = [_noise.exp_minus(rate * 2**b) for b in bits]
    with localcontext(laws.PRECISE):
        product = math.prod((laws.as_decimal(coin) for coin in coins), start=Decimal(1))
        assert abs(product - laws.exp_decimal(rate * exponent)) < TINY
    outcomes = [bool(shown >> b & 1) for b in bits]
    tossed = outcomes.index(False) + 1 if False in outcomes else len(outcomes)
    tosses = list(zip(coins, outcomes, strict=True))[:tossed]
    script = laws.Script(b for coin, outcome in tosses for b in laws.bytes_for(coin, outcome))
    assert _noise.bernoulli_exp(np.array([exponent], dtype=np.uint64), rate, script)[0] == all(outcomes)
    assert script.over


# -- uniform whole numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2, 5, 6, 7, 8])
def test_uniform_keeps_exactly_the_words_below_the_limit(limit: int) -> None:
    size = 1 << (limit - 1).bit_length()
    words = np.arange(20 * size, dtype=np.uint64) + np.uint64(size * 12_345)
    kept = [int(w) % size for w in words if int(w) % size < limit]
    count = 6
    drawn = _noise.uniform_below(limit, count, laws.Script(words[: 2 * count + 8].tobytes() + bytes(800)))
    assert drawn.tolist() == kept[:count]


def test_uniform_asks_again_when_too_few_words_were_kept() -> None:
    refused = np.full(10, 5, dtype=np.uint64)
    accepted = np.full(10, 3, dtype=np.uint64)
    assert _noise.uniform_below(5, 1, laws.Script(refused.tobytes() + accepted.tobytes())).tolist() == [3]


@pytest.mark.parametrize("limit", [1, 2, 3, 255, 256, 257, 300, 2**200 + 1])
def test_a_large_whole_number_is_uniform(limit: int) -> None:
    """Each number comes from the same number of beginnings: the shift keeps whole bits only."""
    bits = (limit - 1).bit_length()
    size = (bits + 7) // 8
    spare = 8 * size - bits
    for value in {0, 1 % limit, limit // 2, limit - 1}:
        for low in {0, 2**spare - 1}:
            script = laws.Script((value << spare | low).to_bytes(size, "big"))
            assert _noise.whole_below(limit, script) == value
            assert script.over
    if limit < 2**bits:
        script = laws.Script((limit << spare).to_bytes(size, "big") + bytes(size))
        assert _noise.whole_below(limit, script) == 0
        assert script.over


# -- discrete Laplace, exactly --------------------------------------------------------------------------------------

SCALES = [F(1, 40), F(1, 3), F(1), F(7, 3), F(10), F(123_457, 1_000), F(10_000), F(2**40)]


def laplace_coins(scale: Fraction, x: int) -> tuple[list[tuple[_noise.Probability, bool]], int]:
    """Return the coins that make up x and what they show, in the order of drawing, and the number of low bits."""
    sign, bits, again = _noise.laplace_bits(scale)
    magnitude = x if x >= 0 else -1 - x
    high, low = magnitude >> len(bits), magnitude & ((1 << len(bits)) - 1)
    shown = [(again, True)] * high + [(again, False)]
    shown += [(bits[i], bool(low >> i & 1)) for i in reversed(range(len(bits)))]
    return [*shown, (sign, x < 0)], len(bits)


@pytest.mark.parametrize("scale", SCALES)
def test_the_coins_of_a_laplace_draw_multiply_to_its_mass(scale: Fraction) -> None:
    """Relative error below 1e-60 at every x tried, among them masses below 2^-40."""
    width = int(scale) + 1
    points = {*range(-20, 21), *(sign * width * k + k for sign in (-1, 1) for k in range(1, 60, 3))}
    q = laws.exp_decimal(1 / scale)
    with localcontext(laws.PRECISE):
        for x in points:
            coins, _ = laplace_coins(scale, x)
            product = math.prod(laws.as_decimal(p) if shown else 1 - laws.as_decimal(p) for p, shown in coins)
            mass = (1 - q) / (1 + q) * laws.exp_decimal(abs(x) / scale)
            assert abs(product / mass - 1) < TINY


@pytest.mark.parametrize("scale", SCALES)
def test_the_laplace_sampler_puts_its_coins_together_as_claimed(scale: Fraction) -> None:
    """Scripted coins give back the x that they make up, far into the tail (beyond 2^-40) too."""
    unit = 1 << laplace_coins(scale, 0)[1]
    for x in (0, 1, -1, 2, -2, 5, unit - 1, unit, -unit, -unit - 1, 60 * unit + unit // 3, -75 * unit - 1):
        content = [b for p, outcome in laplace_coins(scale, x)[0] for b in laws.bytes_for(p, outcome)]
        script = laws.Script(content)
        assert _noise.discrete_laplace(scale, 1, script).tolist() == [x]
        assert script.over


# -- discrete Gaussian, exactly -------------------------------------------------------------------------------------

VARIANCES = [F(1, 10**12), F(1, 129), F(1, 128), F(9, 100), F(1), F(9, 4), F(50, 7), F(100), F(123_456, 1_000)]


def acceptance(variance: Fraction) -> _noise._Acceptance:
    """Return the coins that thin the proposal, with the library's own choice of t."""
    t = max(1, round(math.sqrt(variance)))
    return _noise._Acceptance(variance, t)


def check_brackets(coin: _noise._Acceptance, sizes: list[int]) -> None:
    inside = [size for size in sizes if size <= coin._largest]
    for size, g in zip(inside, coin.fixed(np.array(inside, dtype=np.int64)).tolist(), strict=True):
        assert g <= 2**16 * coin.exact(size) < g + 2
        assert 0 <= g < 2**22
    with localcontext(laws.PRECISE):
        for size, level in zip(sizes, coin.level(np.array(sizes, dtype=np.int64)).tolist(), strict=True):
            assert level - 2 < 65_536 * laws.exp_decimal(coin.exact(size)) < level + 2


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_brackets_hold_for_every_magnitude(variance: Fraction) -> None:
    coin = acceptance(variance)
    check_brackets(coin, list(range(coin._largest + 40)))


@given(variances, st.data())
@example(F(2**49), None)
@example(F(2**48) - F(1, 7), None)
@settings(max_examples=60, deadline=None)
def test_the_brackets_hold_for_any_variance(variance: Fraction, data: st.DataObject | None) -> None:
    coin = acceptance(variance)
    largest = coin._largest
    edges = {0, 1, 2, largest - 1, largest, largest + 1, 2 * largest + 1, coin._t, math.isqrt(int(variance)) + 1}
    drawn = data.draw(st.sets(st.integers(0, largest + 2), max_size=20)) if data else set()
    check_brackets(coin, sorted(size for size in edges | drawn if size >= 0))


def test_the_tables_of_exp_are_at_most_two_too_low() -> None:
    coarse, fine = _noise._exp_tables()
    for table, step in ((coarse, F(1, 32)), (fine, F(1, 65_536))):
        assert table.size == 2048
        for i in {*range(0, 2048, 61), 1, 2047}:
            assert 0 <= 2**24 * laws.exp_decimal(step * i) - int(table[i]) < 2


@pytest.mark.parametrize(
    ("variance", "sizes"),
    [(F(1), (0, 1, 2, 5)), (F(100), (0, 10, 7, 23, 60, 200)), (F(50, 7), (3, 4)), (F(9, 100), (0, 1, 2, 9))],
)
def test_all_words_of_an_acceptance_coin_decide_as_they_should(variance: Fraction, sizes: tuple[int, ...]) -> None:
    """Of 65,536 words, floor(2^16·exp(−γ)) accept, and the next one asks for more."""
    coin = acceptance(variance)
    words = np.arange(65_536, dtype=np.uint16).tobytes()
    for size in sizes:
        draws = np.full(65_536, size * (-1) ** size, dtype=np.int64)
        if coin.exact(size) == 0:
            assert coin.coins(draws, laws.Script(words)).all()
            continue
        p = _noise.exp_minus(coin.exact(size))
        for outcome in (False, True):
            more = laws.bytes_along(p, 2, outcome)[2:]
            script = laws.Script([*words, *more])
            accepted = coin.coins(draws, script)
            assert script.over
            assert accepted.sum() == p.prefix(16) + outcome
            assert accepted[: p.prefix(16)].all()
            assert accepted[p.prefix(16)] == outcome


class Ending:
    """An entropy source that begins with given words and goes on with one and the same byte for ever."""

    def __init__(self, words: NDArray[np.uint16], byte: int) -> None:
        self._words: NDArray[np.uint16] | None = words
        self._byte = byte

    def draw(self, count: int) -> NDArray[np.uint8]:
        if self._words is not None:
            words, self._words = self._words, None
            assert count == 2 * words.size
            return words.view(np.uint8)
        return np.full(count, self._byte, dtype=np.uint8)


#: Magnitudes at variance 10^8 whose 2^16·exp(−γ) lies above l + 1: found by search, one in 5,000.
HIGH = [42_194, 43_483, 45_826, 46_399, 47_736]


@pytest.mark.parametrize(
    ("variance", "sizes"), [*((v, range(40)) for v in VARIANCES), (F(10**8), [*range(0, 45_000, 500), *HIGH])]
)
def test_words_at_the_border_are_never_settled_too_early(variance: Fraction, sizes: Sequence[int]) -> None:
    """Nine words around each level. U is w/2^16 if zeros follow, and next to (w + 1)/2^16 if ones do."""
    coin = acceptance(variance)
    near = [y for y in sizes if coin.exact(y) < 500]  # farther out, exp(−γ) has more zeros than a test can wait for
    around = zip(near, coin.level(np.array(near, dtype=np.int64)).tolist(), strict=True)
    pairs = [(y, w) for y, level in around for w in range(level - 4, level + 5) if 0 <= w < 65_536]
    draws, words = np.array([y for y, _ in pairs]), np.array([w for _, w in pairs], dtype=np.uint16)
    # floor(2^16·exp(−γ)); all words accept where γ is 0
    floors = {y: _noise.exp_minus(coin.exact(y)).prefix(16) if coin.exact(y) else 65_536 for y in near}
    assert coin.coins(draws, Ending(words, 0)).tolist() == [w <= floors[y] for y, w in pairs]
    assert coin.coins(draws, Ending(words, 255)).tolist() == [w < floors[y] for y, w in pairs]


def test_the_fixed_point_never_exceeds_gamma_by_its_own_rounding() -> None:
    """Magnitudes, found by search, at which g would be one too large if the error of √2·σ were not taken off."""
    coin = acceptance(F(2**48) + F(1, 7))
    sizes = [13_069_940, 13_996_759, 14_923_578, 15_850_397]
    for size, g in zip(sizes, coin.fixed(np.array(sizes)).tolist(), strict=True):
        assert g <= 2**16 * coin.exact(size) < g + 2


@pytest.mark.parametrize("rate", [F(1, 9), F(3), F(40), F(500)])
@pytest.mark.parametrize("length", [2, 3, 6, 20, 60, 150])
@pytest.mark.parametrize("outcome", [False, True])
def test_a_word_goes_on_below_as_long_as_it_agrees(rate: Fraction, length: int, outcome: bool) -> None:
    p = _noise.exp_minus(rate)
    first, second, *more = laws.bytes_along(p, length, outcome)
    script = laws.Script(more)
    assert _noise._goes_on_below(first << 8 | second, rate, script) is outcome
    assert script.over


@pytest.mark.parametrize("size", [12, 25, 60])
@pytest.mark.parametrize("outcome", [False, True])
def test_far_tails_of_the_gaussian_are_decided_exactly(size: int, outcome: bool) -> None:
    """γ is above 48 here, so that a coin shows True with a probability far below 2^-40, and yet it can."""
    coin = acceptance(F(1))
    p = _noise.exp_minus(coin.exact(size))
    assert p.prefix(69) == 0
    zeros = next(i for i in itertools.count() if p.byte(i))
    script = laws.Script(laws.bytes_along(p, zeros, outcome))
    assert coin.coins(np.array([-size]), script).tolist() == [outcome]
    assert script.over


def test_a_proposal_out_of_all_reach_is_refused_by_the_first_byte_that_is_not_zero() -> None:
    script = laws.Script([0] * 40 + [1])
    assert acceptance(F(1)).coins(np.array([10**6]), script).tolist() == [False]
    assert script.over


@pytest.mark.parametrize("variance", [*VARIANCES[1:], F(10**8), F(2**49)])
def test_proposal_and_thinning_multiply_to_the_gaussian(variance: Fraction) -> None:
    """Laplace mass times acceptance over Gaussian weight is one and the same number, to 60 digits."""
    coin = acceptance(variance)
    step = max(1, coin._largest // 30)
    with localcontext(laws.PRECISE):
        ratios = {
            laws.exp_decimal(F(y, coin._t)) * laws.exp_decimal(coin.exact(y)) / laws.exp_decimal(y * y / (2 * variance))
            for y in range(0, 12 * step, step)
        }
    assert max(ratios) / min(ratios) - 1 < TINY


def test_a_variance_beyond_64_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        _noise.discrete_gaussian(F(2**49) + 1, 1, _noise.SeededEntropy(0))


# -- shapes and sources ---------------------------------------------------------------------------------------------

SAMPLERS: dict[str, Callable[[Fraction, int, _noise.Entropy], NDArray[np.int64]]] = {
    "laplace": _noise.discrete_laplace,
    "gaussian": lambda scale, count, entropy: _noise.discrete_gaussian(scale * scale, count, entropy),
}
LAWS = {"laplace": laws.laplace_masses, "gaussian": laws.gaussian_masses}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65, 200])
def test_any_number_of_draws_is_made(name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_noise, "CHUNK", 64)
    drawn = SAMPLERS[name](F(10**6), count, _noise.SeededEntropy(5))
    assert drawn.shape == (count,)
    assert drawn.dtype == np.int64
    assert np.abs(drawn).max(initial=0) < 60 * 10**6  # memory that was never filled would hardly obey
    assert np.unique(drawn).size >= 0.9 * count


def test_the_system_s_bytes_are_new_each_time_and_a_seed_s_are_not() -> None:
    assert _noise.SystemEntropy().draw(64).tobytes() != _noise.SystemEntropy().draw(64).tobytes()
    one, again, other = (_noise.SeededEntropy(seed).draw(64).tobytes() for seed in (3, 3, 4))
    assert one == again != other


# -- statistics -----------------------------------------------------------------------------------------------------

ALARM = 1e-6
#: scale, draws, least mass of a cell. The power against a scale 5 % off is above 1 − 1e-6, which the tests check.
SETTINGS = [(0.3, 400_000, 2e-4), (1, 150_000, 0.01), (10, 150_000, 0.025), (10_000, 150_000, 0.025)]


def reach_of(scale: float) -> int:
    return math.ceil(45 * scale) + 5


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize(("scale", "count", "least"), SETTINGS)
def test_draws_fit_their_scale_and_no_scale_5_percent_off(name: str, scale: float, count: int, least: float) -> None:
    """χ² over up to 40 cells: false alarm 1e-6 (and a fixed seed), power against ±5 % above 1 − 1e-6."""
    law, reach = LAWS[name], reach_of(scale)
    ends = laws.cells(law(scale), reach, least)
    right = laws.cell_masses(law(scale), ends, reach)
    counts = laws.tally(SAMPLERS[name](F(str(scale)), count, _noise.SeededEntropy(2024)), ends)
    assert laws.p_value(counts, right) > ALARM
    for wrong_scale in (0.95 * scale, 1.05 * scale):
        wrong = laws.cell_masses(law(wrong_scale), ends, reach)
        assert laws.power(right, wrong, count, ALARM) > 1 - 1e-6
        assert laws.p_value(counts, wrong) < ALARM


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("scale", [10, 10_000])
def test_the_whole_distribution_function_fits(name: str, scale: int) -> None:
    """Kolmogorov–Smirnov on 400,000 draws: false alarm 1e-6, power against ±5 % above 1 − 1e-6.

    The power follows from the distance between the laws: it is more than twice the critical one, which what is seen
    keeps from its own law but once in a million times.
    """
    count, reach = 400_000, reach_of(scale)
    x = np.arange(-reach, reach + 1)
    drawn = np.sort(SAMPLERS[name](F(scale), count, _noise.SeededEntropy(7)))
    seen = np.searchsorted(drawn, x, side="right") / count
    critical = float(stats.kstwo.isf(ALARM, count))
    right, *wrong = (np.cumsum(LAWS[name](scale * factor)(x)) for factor in (1.0, 0.95, 1.05))
    assert np.abs(seen - right).max() < critical
    for law in wrong:
        assert np.abs(law - right).max() > 2 * critical
        assert np.abs(seen - law).max() > critical


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_lowest_bits_are_right_at_a_large_scale(name: str) -> None:
    """χ² on the last four bits at scale 10,000, negative numbers complemented: false alarm 1e-6.

    A bit that shows 1 with a probability 1 % off (0.505) is caught with a power above 0.999.
    """
    count, reach = 1_000_000, reach_of(10_000)
    x = np.arange(-reach, reach + 1)

    def low(values: NDArray[np.int64]) -> NDArray[np.int64]:
        return (values ^ (values >> 63)) & 15

    right = np.bincount(low(x), weights=LAWS[name](10_000)(x))
    off = right * np.where(np.arange(16) & 4, 1.01, 0.99)
    drawn = SAMPLERS[name](F(10_000), count, _noise.SeededEntropy(11))
    assert laws.power(off, right, count, ALARM) > 0.999
    assert laws.p_value(np.bincount(low(drawn), minlength=16), right) > ALARM


@pytest.mark.parametrize("name", SAMPLERS)
def test_neighbouring_draws_are_independent(name: str) -> None:
    """χ² on a table of 5 × 5 for pairs of successive draws at scale 1: false alarm 1e-6.

    If one draw in twenty repeated the one before, it would be found with a power above 1 − 1e-6.
    """
    count = 200_000
    drawn = np.clip(SAMPLERS[name](F(1), 2 * count, _noise.SeededEntropy(13)), -2, 2) + 2
    ends = np.arange(-1, 3)
    single = laws.cell_masses(LAWS[name](1), ends, 50)
    independent = np.outer(single, single)
    repeating = 0.95 * independent + 0.05 * np.diag(single)
    pairs = np.bincount(5 * drawn[:-1:2] + drawn[1::2], minlength=25)
    assert laws.power(repeating.ravel(), independent.ravel(), count, ALARM) > 1 - 1e-6
    assert laws.p_value(pairs, independent.ravel()) > ALARM


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize(("scale", "count", "least"), SETTINGS)
def test_draws_from_the_system_s_entropy_fit(name: str, scale: float, count: int, least: float) -> None:
    """χ² without a seed: false alarm 1e-9 each, so that a failure is news; power against ±5 % above 1 − 1e-4."""
    law, reach = LAWS[name], reach_of(scale)
    ends = laws.cells(law(scale), reach, least)
    right = laws.cell_masses(law(scale), ends, reach)
    for wrong_scale in (0.95 * scale, 1.05 * scale):
        assert laws.power(right, laws.cell_masses(law(wrong_scale), ends, reach), count, 1e-9) > 1 - 1e-4
    drawn = SAMPLERS[name](F(str(scale)), count, _noise.SystemEntropy())
    assert laws.p_value(laws.tally(drawn, ends), right) > 1e-9


def opendp_draws(name: str, scale: float, count: int) -> NDArray[np.int64]:
    """Draw the same noise with OpenDP."""
    space = dp.vector_domain(dp.atom_domain(T="i64"))
    if name == "laplace":
        made = dp.m.make_laplace(space, dp.l1_distance(T="i64"), scale=scale)
    else:
        made = dp.m.make_gaussian(space, dp.l2_distance(T="i64"), scale=scale)
    return np.array(made([0] * count), dtype=np.int64)


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("scale", [1.0, 25.0])
def test_draws_are_like_opendp_s(name: str, scale: float) -> None:
    """Two-sample χ²: false alarm 1e-9, as OpenDP takes no seed; power against a scale 10 % off above 1 − 1e-9."""
    ours, theirs, least = 1_000_000, 30_000, 0.04
    law, reach = LAWS[name], reach_of(scale)
    ends = laws.cells(law(scale), reach, least)
    right, wrong = (laws.cell_masses(law(s), ends, reach) for s in (scale, 1.1 * scale))
    assert laws.power(right, wrong, ours * theirs / (ours + theirs), 1e-9) > 1 - 1e-9
    counts = laws.tally(SAMPLERS[name](F(str(scale)), ours, _noise.SeededEntropy(17)), ends)
    assert laws.two_sample_p_value(counts, laws.tally(opendp_draws(name, scale, theirs), ends)) > 1e-9
    assert laws.two_sample_p_value(counts, laws.tally(opendp_draws(name, 1.1 * scale, theirs), ends)) < 1e-9


# -- selection ------------------------------------------------------------------------------------------------------


@given(st.lists(st.fractions(0, 1, max_denominator=50), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_the_first_heads_in_random_order_is_a_uniform_choice_among_all_heads(others: list[Fraction]) -> None:
    """Permute-and-flip as its authors write it, and as it is drawn here: the same probabilities, as fractions."""
    heads = [F(1), *others]
    n = len(heads)
    ordered = [F(0)] * n
    for order in itertools.permutations(range(n)):
        left = F(1, math.factorial(n))
        for j in order:
            ordered[j] += left * heads[j]
            left *= 1 - heads[j]
    assert laws.permute_and_flip_masses(heads) == ordered


@pytest.mark.parametrize("pattern", list(itertools.product([False, True], repeat=3)))
@pytest.mark.parametrize("place", range(4))
def test_permute_and_flip_chooses_among_the_heads(pattern: tuple[bool, ...], place: int) -> None:
    """Gaps of 1, 2 and 4: one coin each, the largest first; then a word that says which of the heads."""
    utilities, rate = np.array([5, 6, 7, 3]), F(2, 5)
    tails_last = [bytes_ for gap, o in zip((4, 2, 1), pattern, strict=True) for bytes_ in _coin_bytes(rate * gap, o)]
    heads = sorted([2, *(index for index, o in zip((3, 0, 1), pattern, strict=True) if o)])
    if place >= len(heads):
        return
    words = np.full(10, place, dtype=np.uint64).tobytes()
    assert _selecting.permute_and_flip(utilities, rate, laws.Script([*tails_last, *words])) == heads[place]


def _coin_bytes(rate: Fraction, outcome: bool) -> list[int]:
    return laws.bytes_for(_noise.exp_minus(rate), outcome)


UTILITIES = np.array([0, 3, 1, 3, -2, 2])
SELECTIONS = 8_000


def selected(select: Callable[[_noise.Entropy], int], size: int, seed: int) -> NDArray[np.int64]:
    entropy = _noise.SeededEntropy(seed)
    return np.bincount([select(entropy) for _ in range(SELECTIONS)], minlength=size)


def test_selections_follow_their_formulas() -> None:
    """χ² on 8,000 selections at rate 1/2: false alarm 1e-6; a rate 20 % off is caught with power above 0.999."""
    rate, best = F(1, 2), int(UTILITIES.max())

    def flips(r: float) -> NDArray[np.float64]:
        return np.array(laws.permute_and_flip_masses([math.exp(-r * (best - u)) for u in UTILITIES.tolist()]))

    def softmax(r: float) -> NDArray[np.float64]:
        weights = np.exp(r * (UTILITIES - best))
        return weights / weights.sum()

    for masses, select in (
        (flips, lambda entropy: _selecting.permute_and_flip(UTILITIES, rate, entropy)),
        (softmax, lambda entropy: _selecting.exponential(UTILITIES, rate, None, entropy)),
    ):
        counts = selected(select, UTILITIES.size, 19)
        assert laws.p_value(counts, masses(0.5)) > ALARM
        for wrong in (0.4, 0.6):
            assert laws.power(masses(0.5), masses(wrong), SELECTIONS, ALARM) > 0.999
            assert laws.p_value(counts, masses(wrong)) < ALARM


@pytest.mark.parametrize(
    ("weights", "gaps"), [([1, 2, 3, 4], [0, 1, 5, 7]), ([1, 40, 10**6, 10**18], [0, 12, 43, 126])]
)
def test_weighted_selections_follow_their_formula_however_uneven_the_weights(
    weights: list[int], gaps: list[int]
) -> None:
    """χ² on 8,000 selections at rate 1/3: false alarm 1e-6; a rate 20 % off is caught with power above 1 − 1e-4.

    In the second case a proposal by weight alone would be accepted once in 10^18 times.
    """

    def masses(rate: float) -> NDArray[np.float64]:
        logs = np.log(np.array(weights, dtype=float)) - rate * np.array(gaps)
        return np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()

    utilities, base = 50 - np.array(gaps), np.array(weights)
    counts = selected(lambda entropy: _selecting.exponential(utilities, F(1, 3), base, entropy), 4, 23)
    assert laws.p_value(counts, masses(1 / 3)) > ALARM
    for wrong in (0.8 / 3, 1.2 / 3):
        assert laws.power(masses(1 / 3), np.maximum(masses(wrong), 1e-3), SELECTIONS, ALARM) > 1 - 1e-4
        assert laws.p_value(counts, np.maximum(masses(wrong), 1e-3)) < ALARM


def test_gaps_between_extreme_utilities_do_not_overflow() -> None:
    extremes = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max, 0])
    assert _selecting._gaps(extremes).tolist() == [2**64 - 1, 0, 2**63 - 1]
    for select in (_selecting.permute_and_flip, lambda u, r, e: _selecting.exponential(u, r, None, e)):
        assert select(extremes, F(1), _noise.SeededEntropy(1)) == 1
