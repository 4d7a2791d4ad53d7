"""The mechanisms are as private as they say: output distributions over all neighbours of a tiny domain.

Each distribution is computed from its formula, without the sampler; that the gate draws from these very formulas is
checked beside it, by simulation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import ParameterError, Unit
from tacit.privacy import _drawing, _noise
from tacit.privacy.accounting import noise_delta, rho_within
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import (
    Choice,
    DiscreteGaussian,
    DiscreteLaplace,
    Mechanism,
    SelectEach,
    Selection,
    TopK,
    TopKMethod,
)
from tacit.privacy.unit import Bound, Sensitivity
from tests.privacy import noise_laws as laws

F = Fraction
Vector = tuple[int, ...]
Masses = dict[Any, float]

ALARM = 1e-6
ROUNDING = 1e-9


# -- a tiny domain: rows with a label and some of three features ------------------------------------------------------

LABELS, FEATURES = 2, 3


def rows(ones: int) -> list[tuple[int, Vector]]:
    kinds = [f for size in range(ones + 1) for f in itertools.combinations(range(FEATURES), size)]
    return list(itertools.product(range(LABELS), kinds))


def feature_counts(data: Iterable[tuple[int, Vector]]) -> Vector:
    cells = np.zeros((LABELS, FEATURES), dtype=np.int64)
    for label, features in data:
        cells[label, list(features)] += 1
    return tuple(cells.ravel().tolist())


def row_counts(data: Iterable[tuple[int, Vector]]) -> Vector:
    return tuple(np.bincount([label for label, _ in data], minlength=LABELS).tolist())


def changes(count: Callable[[Iterable[tuple[int, Vector]]], Vector], bound: Bound) -> set[Vector]:
    """Return what one unit of up to ``bound.rows`` rows can add to the counts; removing it takes the same away."""
    units = (
        unit
        for size in range(bound.rows + 1)
        for unit in itertools.combinations_with_replacement(rows(bound.ones), size)
    )
    added = {count(unit) for unit in units}
    return added | {tuple(-c for c in change) for change in added}


BOUNDS = [Bound(rows=1, ones=1), Bound(rows=1, ones=2), Bound(rows=2, ones=1), Bound(rows=2, ones=3)]
COUNTS = [
    (feature_counts, Sensitivity.of_feature_counts),
    (row_counts, Sensitivity.of_row_counts),
]


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(("count", "derive"), COUNTS)
def test_sensitivities_are_what_one_unit_can_do(
    count: Callable[..., Vector], derive: Callable[[Bound], Sensitivity], bound: Bound
) -> None:
    """Neither more nor less, over every unit there is."""
    sensitivity = derive(bound)
    moved = changes(count, bound)
    assert max(sum(map(abs, change)) for change in moved) == sensitivity.l1
    assert max(sum(c * c for c in change) for change in moved) == sensitivity.l2_squared
    assert max(max(map(abs, change)) for change in moved) == sensitivity.linf
    assert sensitivity.monotone
    assert all(min(change) >= 0 or max(change) <= 0 for change in moved)


# -- additive noise ---------------------------------------------------------------------------------------------------


def statistic(values: Iterable[int] | NDArray[np.int64], sensitivity: Sensitivity) -> Exact:
    array = np.array(values, dtype=np.int64)
    return Exact(array, sensitivity=sensitivity, unit=Unit.row(), query="test", version="1")


def draw(mechanism: Mechanism, values: Any, sensitivity: Sensitivity, entropy: _noise.Entropy) -> NDArray[np.int64]:
    """Draw as the gate does, without an account."""
    array = np.array(values, dtype=np.int64)
    return _drawing.draw(statistic(array, sensitivity), mechanism, entropy)[0]


def log_masses(masses: laws.Masses, shift: int, reach: int) -> NDArray[np.float64]:
    return np.log(masses(np.arange(-reach, reach + 1) - shift))


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(("count", "derive"), COUNTS)
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0])
def test_laplace_is_as_private_as_it_says_and_not_more(
    count: Callable[..., Vector], derive: Callable[[Bound], Sensitivity], bound: Bound, epsilon: float
) -> None:
    """Entries are independent, so the largest log-ratio of the whole is the sum of the entries' largest ones."""
    scale = DiscreteLaplace(epsilon).scale(derive(bound))
    law = laws.laplace_masses(float(scale))
    at_zero = log_masses(law, 0, 60)
    ratios = {c: np.abs(log_masses(law, c, 60) - at_zero).max() for c in range(-bound.rows, bound.rows + 1)}
    losses = [sum(ratios[c] for c in change) for change in changes(count, bound)]
    assert max(losses) <= epsilon + ROUNDING
    assert max(losses) >= 0.999 * epsilon
    assert DiscreteLaplace(epsilon).loss().epsilon == F(str(epsilon))


def renyi(order: float, p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Return the Rényi divergence of two log-mass vectors."""
    terms = order * p + (1 - order) * q
    top = terms.max()
    return float((top + np.log(np.exp(terms - top).sum())) / (order - 1))


GAUSSIAN = [(0.5, 1e-6), (1.0, 1e-3), (4.0, 1e-9)]


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(("epsilon", "delta"), GAUSSIAN)
def test_gaussian_is_as_concentrated_as_it_says(bound: Bound, epsilon: float, delta: float) -> None:
    """Rényi divergences add over independent entries; they stay within α·ρ at every order, and reach 90 % of it."""
    mechanism = DiscreteGaussian(epsilon, delta)
    rho = mechanism.loss().rho
    assert rho is not None
    sigma = math.sqrt(mechanism.variance(Sensitivity.of_feature_counts(bound)))
    x = np.arange(-math.ceil(20 * sigma) - 40, math.ceil(20 * sigma) + 41)
    total = np.log(laws.gaussian_masses(sigma)(np.array([0])))
    shifted = {c: total - ((x - c) / sigma) ** 2 / 2 for c in range(-bound.rows, bound.rows + 1)}
    for order in (1.05, 1.5, 2.0, 4.0, 8.0):
        parts = {c: renyi(order, shifted[0], shifted[c]) for c in shifted}
        divergences = [sum(parts[c] for c in change) for change in changes(feature_counts, bound)]
        assert max(divergences) <= order * float(rho) * (1 + 1e-9)
        assert max(divergences) >= 0.9 * order * float(rho)


def hockey_stick(epsilon: float, p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Return Σ max(0, p − e^ε·q): the least δ for this ε."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize(("epsilon", "delta"), GAUSSIAN)
@pytest.mark.parametrize("bound", BOUNDS[:3])
def test_gaussian_is_epsilon_delta_private(epsilon: float, delta: float, bound: Bound) -> None:
    """Exact sums over a plane of outputs, for every unit: within 0.9 δ, which half the variance would exceed."""
    mechanism = DiscreteGaussian(epsilon, delta)
    sigma = math.sqrt(mechanism.variance(Sensitivity.of_feature_counts(bound)))
    touched = {tuple(c for c in change if c) for change in changes(feature_counts, bound)}
    assert max(map(len, touched)) <= 2

    def worst(spread: float) -> float:
        law, reach = laws.gaussian_masses(spread), math.ceil(10 * spread)
        at = {c: law(np.arange(-reach, reach + 1) - c) for c in range(-bound.rows, bound.rows + 1)}
        deltas = []
        for change in touched:
            first, second = (*change, 0, 0)[:2]
            p, q = np.outer(at[0], at[0]), np.outer(at[first], at[second])
            deltas.append(hockey_stick(epsilon, p, q))
        return max(deltas)

    assert worst(sigma) <= 0.9 * delta
    assert worst(sigma / math.sqrt(2)) > delta


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_gaussian_s_variance_is_rounded_up(bound: Bound) -> None:
    for epsilon, delta in GAUSSIAN:
        sensitivity = Sensitivity.of_feature_counts(bound)
        rho = rho_within(F(str(epsilon)), noise_delta(F(str(delta))))
        exact = F(sensitivity.l2_squared) / (2 * rho)
        assert exact <= DiscreteGaussian(epsilon, delta).variance(sensitivity) <= exact * (1 + F(1, 10**11))


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [
        (DiscreteLaplace(0.5), lambda: laws.laplace_masses(2 * 6)),
        (
            DiscreteGaussian(1.0, 1e-3),
            lambda: laws.gaussian_masses(math.sqrt(12 / (2 * rho_within(F(1), F(9, 10_000))))),
        ),
    ],
)
def test_the_gate_adds_the_noise_that_the_formula_says(mechanism: Mechanism, law: Callable[[], laws.Masses]) -> None:
    """χ² on 100,000 draws: false alarm 1e-6, power against a scale 5 % off above 1 − 1e-4.

    Two rows of three features: L1 is 6, and L2² is 12.
    """
    count, reach = 100_000, 800
    values = np.arange(count).reshape(50, -1)
    released = draw(mechanism, values, Sensitivity.of_feature_counts(Bound(2, 3)), _noise.SeededEntropy(29))
    assert released.shape == values.shape
    ends = laws.cells(law(), reach, 0.04)
    right = laws.cell_masses(law(), ends, reach)
    assert laws.p_value(laws.tally((released - values).ravel(), ends), right) > ALARM
    stretched = laws.cell_masses(lambda x: law()(x / 1.05) / 1.05, ends, reach)
    assert laws.power(stretched, right, count, ALARM) > 1 - 1e-4


# -- selection --------------------------------------------------------------------------------------------------------


def moves(size: int, sensitivity: Sensitivity) -> list[Vector]:
    """Return how one unit can change utilities by its coming; its going does the reverse."""
    least = 0 if sensitivity.monotone else -sensitivity.linf
    return list(itertools.product(range(least, sensitivity.linf + 1), repeat=size))


def largest_loss(masses: Callable[[Vector], Masses], top: int, size: int, sensitivity: Sensitivity) -> float:
    """Return the largest log-ratio, either way, over all outputs and all neighbours of utilities in 0 … top."""

    @cache
    def logs(utilities: Vector) -> NDArray[np.float64]:
        found = masses(utilities)
        assert abs(sum(found.values()) - 1) < 1e-12
        return np.log([found[output] for output in sorted(found)])

    return max(
        float(np.abs(logs(utilities) - logs(tuple(map(sum, zip(utilities, move, strict=True))))).max())
        for utilities in itertools.product(range(top + 1), repeat=size)
        for move in moves(size, sensitivity)
    )


def of_counts(linf: int, *, monotone: bool) -> Sensitivity:
    return Sensitivity(l1=3 * linf, l2_squared=3 * linf**2, linf=linf, monotone=monotone, why="made up for this test")


def select_masses(choice: Choice, rate: float, weights: Vector | None, utilities: Vector) -> list[float]:
    """Return the probability of each candidate."""
    best = max(utilities)
    heads = [math.exp(-rate * (best - u)) for u in utilities]
    if choice is Choice.PERMUTE_AND_FLIP:
        return laws.permute_and_flip_masses(heads)
    shares = [h * w for h, w in zip(heads, weights or (1,) * len(heads), strict=True)]
    return [share / sum(shares) for share in shares]


SELECTIONS = [
    (Choice.PERMUTE_AND_FLIP, None),
    (Choice.EXPONENTIAL, None),
    (Choice.EXPONENTIAL, (1, 5, 2)),
]
SENSITIVITIES = [
    of_counts(1, monotone=True),
    of_counts(1, monotone=False),
    of_counts(2, monotone=True),
    of_counts(2, monotone=False),
]


@pytest.mark.parametrize(("choice", "weights"), SELECTIONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_a_selection_is_as_private_as_it_says_and_not_more(
    choice: Choice, weights: Vector | None, sensitivity: Sensitivity
) -> None:
    epsilon, top = 3.0, 5 * sensitivity.linf
    mechanism = Selection(epsilon, choice, weights)
    rate = float(mechanism.rate(sensitivity))

    def masses(utilities: Vector) -> Masses:
        return dict(enumerate(select_masses(choice, rate, weights, utilities)))

    worst = largest_loss(masses, top, 3, sensitivity)
    assert worst <= epsilon + ROUNDING
    assert worst >= 0.9 * epsilon
    assert mechanism.loss().epsilon == 3


@pytest.mark.parametrize(("choice", "weights"), SELECTIONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES[1:3])
def test_the_gate_selects_as_the_formula_says(choice: Choice, weights: Vector | None, sensitivity: Sensitivity) -> None:
    """χ² on 3,000 selections: false alarm 1e-6; half or twice the rate is told apart with power above 1 − 1e-6."""
    count, utilities = 3_000, (4, 7, 5)
    rate = 1.0 / sensitivity.linf / (1 if sensitivity.monotone else 2)
    entropy = _noise.SeededEntropy(31)
    mechanism = Selection(1.0, choice, weights)
    drawn = [int(draw(mechanism, utilities, sensitivity, entropy)[0]) for _ in range(count)]
    right = np.array(select_masses(choice, rate, weights, utilities))
    assert laws.p_value(np.bincount(drawn, minlength=3), right) > ALARM
    for factor in (0.5, 2.0):
        wrong = np.array(select_masses(choice, factor * rate, weights, utilities))
        assert laws.power(right, wrong, count, ALARM) > 1 - 1e-6


# -- one selection in each group ---------------------------------------------------------------------------------------

LINE, WEIGHTS = 4, (3, 1)  # four cells in two groups of two, cut before or after their middle; tuples weigh 3 or 1
CUTS = ((0, 1, 2), (2, 3, 4))
Tuple = tuple[int, int]  # a cell and a kind


def balances(data: Iterable[Tuple]) -> tuple[Vector, Vector]:
    mass = np.zeros(LINE, dtype=np.int64)
    for cell, kind in data:
        mass[cell] += WEIGHTS[kind]
    rows = [tuple(-abs(int(mass[g[0] : c].sum() - mass[c : g[-1]].sum())) for c in g) for g in CUTS]
    return rows[0], rows[1]


@pytest.mark.parametrize("rows", [1, 2])
def test_a_selection_in_each_group_is_as_private_as_it_says(rows: int) -> None:
    """Over all data sets of up to four tuples, and every unit of up to ``rows`` tuples that can be added to them."""
    epsilon = 2.0
    kinds = list(itertools.product(range(LINE), range(2)))
    sensitivity = Sensitivity.of_balances(Bound(rows, 1), weight=3, candidates=6)
    rate = float(SelectEach(epsilon).rate(sensitivity))
    changed, worst = 0, 0.0

    @cache
    def log_masses_of(row: Vector) -> NDArray[np.float64]:
        return np.log(select_masses(Choice.PERMUTE_AND_FLIP, rate, None, row))

    for size in range(5):
        for data in itertools.combinations_with_replacement(kinds, size):
            here = balances(data)
            for unit in itertools.combinations_with_replacement(kinds, rows):
                there = balances((*data, *unit))
                moved = [max(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in zip(here, there, strict=True)]
                changed = max(changed, sum(moved))
                ratios = [log_masses_of(a) - log_masses_of(b) for a, b in zip(here, there, strict=True)]
                worst = max(worst, sum(float(r.max()) for r in ratios), -sum(float(r.min()) for r in ratios))
    assert changed == sensitivity.rows
    assert 0.5 * epsilon <= worst <= epsilon + ROUNDING


def test_the_gate_selects_in_each_group_as_the_formula_says() -> None:
    """χ² on 4,000 selections in two groups; false alarm 1e-6; half or twice the rate is told apart."""
    count, utilities = 4_000, ((4, 7, 5), (-3, 0, -9))
    sensitivity = Sensitivity.of_balances(Bound(1, 1), weight=2, candidates=6)
    entropy = _noise.SeededEntropy(41)
    drawn = np.array([draw(SelectEach(1.0), utilities, sensitivity, entropy) for _ in range(count)])
    rights = [select_masses(Choice.PERMUTE_AND_FLIP, 0.25, None, row) for row in utilities]
    right = np.outer(*rights).ravel()
    assert laws.p_value(np.bincount(drawn[:, 0] * 3 + drawn[:, 1], minlength=9), right) > ALARM
    for factor in (0.5, 2.0):
        wrong = np.outer(*[select_masses(Choice.PERMUTE_AND_FLIP, 0.25 * factor, None, row) for row in utilities])
        assert laws.power(right, wrong.ravel(), count, ALARM) > 1 - 1e-6


def test_a_selection_in_each_group_needs_a_sensitivity_over_rows() -> None:
    with pytest.raises(ParameterError, match="known over rows"):
        SelectEach(1.0).rate(of_counts(1, monotone=True))
    with pytest.raises(ParameterError, match="between L∞ and L1"):
        Sensitivity(l1=2, l2_squared=2, linf=1, monotone=False, why="wrong", rows=3)


# -- top-k ------------------------------------------------------------------------------------------------------------


def peeling_masses(choice: Choice, rate: float, k: int, utilities: Vector) -> Masses:
    """Multiply the selections, each among those that are left."""
    masses: Masses = {}
    for chosen in itertools.permutations(range(len(utilities)), k):
        left, chance = list(range(len(utilities))), 1.0
        for j in chosen:
            chance *= select_masses(choice, rate, None, tuple(utilities[i] for i in left))[left.index(j)]
            left.remove(j)
        masses[chosen] = chance
    return masses


def one_shot_masses(rate: float, k: int, utilities: Vector) -> Masses:
    """Sum over the noisy values of the chosen, from the last to the first; ties go to the smaller index.

    Values run to 45 scales beyond the utilities: what is cut off is below 1e-18.
    """
    reach = math.ceil(45 / rate)
    grid = np.arange(min(utilities) - reach, max(utilities) + reach + 1)
    mass = [laws.laplace_masses(1 / rate)(grid - u) for u in utilities]

    def beaten(weights: NDArray[np.float64], *, ties: bool) -> NDArray[np.float64]:
        sums = np.cumsum(weights)
        return sums if ties else np.r_[0.0, sums[:-1]]

    masses: Masses = {}
    for chosen in itertools.permutations(range(len(utilities)), k):
        last = chosen[-1]
        others = [beaten(mass[i], ties=last < i) for i in range(len(utilities)) if i not in chosen]
        weights = mass[last] * np.prod(others, axis=0)
        for above, below in zip(reversed(chosen[:-1]), reversed(chosen), strict=False):
            weights = mass[above] * beaten(weights, ties=above < below)
        masses[chosen] = float(weights.sum())
    return masses


def top_k_masses(mechanism: TopK, rate: float, utilities: Vector) -> Masses:
    if mechanism.method is TopKMethod.ONE_SHOT:
        return one_shot_masses(rate, mechanism.k, utilities)
    return peeling_masses(mechanism.choice, rate, mechanism.k, utilities)


def label(mechanism: TopK) -> str:
    how = mechanism.choice.value if mechanism.method is TopKMethod.PEELING else "one-shot"
    return f"{how}, k={mechanism.k}"


def top_ks(epsilon: float) -> Iterator[TopK]:
    for k in (1, 2):
        yield TopK(epsilon, k, TopKMethod.PEELING, Choice.PERMUTE_AND_FLIP)
        yield TopK(epsilon, k, TopKMethod.PEELING, Choice.EXPONENTIAL)
        yield TopK(epsilon, k, TopKMethod.ONE_SHOT)


@pytest.mark.parametrize("mechanism", list(top_ks(4.0)), ids=label)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES[:2])
def test_top_k_is_as_private_as_it_says_and_not_more(mechanism: TopK, sensitivity: Sensitivity) -> None:
    """The indices are released in order, so the order is part of the output."""
    rate = float(mechanism.rate(sensitivity))
    worst = largest_loss(lambda utilities: top_k_masses(mechanism, rate, utilities), 3, 4, sensitivity)
    assert worst <= 4.0 + ROUNDING
    assert worst >= 0.9 * 4.0
    assert mechanism.loss().epsilon == 4


@pytest.mark.parametrize("mechanism", list(top_ks(3.0))[3:6], ids=label)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES[1:3])
def test_the_gate_takes_the_top_k_as_the_formula_says(mechanism: TopK, sensitivity: Sensitivity) -> None:
    """χ² on 2,000 draws: false alarm 1e-6; half or twice the rate is told apart with power above 1 − 1e-6."""
    count, utilities = 2_000, (4, 7, 5)
    rate = 3.0 / mechanism.k / sensitivity.linf / (1 if sensitivity.monotone else 2)
    entropy = _noise.SeededEntropy(37)
    drawn = [tuple(draw(mechanism, utilities, sensitivity, entropy).tolist()) for _ in range(count)]
    right = top_k_masses(mechanism, rate, utilities)
    assert set(drawn) == set(right)
    counts = np.array([drawn.count(output) for output in right])
    expected = np.array(list(right.values()))
    assert laws.p_value(counts, expected) > ALARM
    for factor in (0.5, 2.0):
        wrong = np.array(list(top_k_masses(mechanism, factor * rate, utilities).values()))
        assert laws.power(expected, wrong, count, ALARM) > 1 - 1e-6


# -- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [DiscreteLaplace, lambda e: DiscreteGaussian(e, 1e-6), Selection, SelectEach, lambda e: TopK(e, 1)],
    ids=["DiscreteLaplace", "DiscreteGaussian", "Selection", "SelectEach", "TopK"],
)
@pytest.mark.parametrize("epsilon", [math.nan, math.inf, -math.inf, 0, 0.0, -1.0, True, "1", None])
def test_a_bad_epsilon_is_named_with_its_value_and_a_remedy(make: Callable[[Any], Mechanism], epsilon: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        make(epsilon)
    message = str(caught.value)
    assert "'epsilon'" in message
    assert repr(epsilon) in message
    assert "smaller is more private" in message


@pytest.mark.parametrize("delta", [math.nan, math.inf, -1e-9, 1, 1.5, True, "0", None])
def test_a_bad_delta_is_named_with_its_value_and_a_remedy(delta: Any) -> None:
    with pytest.raises(ParameterError, match="'delta' parameter of DiscreteGaussian") as caught:
        DiscreteGaussian(1.0, delta)
    assert repr(delta) in str(caught.value)
    assert "1e-06" in str(caught.value)


def test_gaussian_noise_needs_a_delta() -> None:
    with pytest.raises(ParameterError, match="use DiscreteLaplace"):
        DiscreteGaussian(1.0, 0)


@pytest.mark.parametrize(
    "mechanism", [DiscreteLaplace(1e-13), DiscreteGaussian(1e-12, 1e-12), TopK(1e-13, 1, TopKMethod.ONE_SHOT)]
)
def test_noise_that_would_drown_everything_is_refused(mechanism: Mechanism) -> None:
    with pytest.raises(ParameterError, match="ask for a larger epsilon"):
        mechanism.describe(of_counts(1, monotone=True))


def test_an_epsilon_that_rounds_to_no_rho_is_refused() -> None:
    with pytest.raises(ParameterError, match="larger epsilon"):
        DiscreteGaussian(1e-60, 1e-60).variance(of_counts(1, monotone=True))


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2"])
def test_k_must_be_a_whole_number(k: Any) -> None:
    with pytest.raises(ParameterError, match="'k' parameter of TopK"):
        TopK(1.0, k)


@pytest.mark.parametrize("weights", [(0, 1), (1, -1), (1.5,), (2**61, 2**61)])
def test_weights_must_be_whole_and_not_too_heavy(weights: Any) -> None:
    with pytest.raises(ParameterError, match="'weights' parameter of Selection"):
        Selection(1.0, Choice.EXPONENTIAL, weights)


def test_weights_are_for_the_exponential_mechanism_alone() -> None:
    with pytest.raises(ParameterError, match="'weights' parameter of Selection"):
        Selection(1.0, Choice.PERMUTE_AND_FLIP, (1, 2))


def test_mechanisms_are_values() -> None:
    assert DiscreteLaplace(0.1) == DiscreteLaplace(F(1, 10))
    assert hash(TopK(1.0, 2)) == hash(TopK(1, 2))
    with pytest.raises(AttributeError):
        DiscreteLaplace(0.1).epsilon = F(9)  # type: ignore[misc]
