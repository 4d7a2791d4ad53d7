"""Objective perturbation: densities of exact minimisers over neighbours, scales, and the gate's refusals."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import ParameterError, PrivacyError
from tacit.privacy import _drawing, _noise, gate
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import DiscreteLaplace
from tacit.privacy.objective import (
    LEAST_REGULARISATION,
    NOISE_GRID,
    OUTPUT_GRID,
    OUTPUT_SHARE,
    ExactObjective,
    GaussianObjectivePerturbation,
    ObjectivePerturbation,
)
from tacit.privacy.unit import Bound, Sensitivity, Unit


def of_rows(rows: int, norm: Any = "L1", entries: int = 1) -> Sensitivity:
    return Sensitivity.of_row_gradients(Bound(rows=rows, ones=1), norm=norm, entries=entries)


ROW = of_rows(1)
LOSSES: dict[str, tuple[Fraction, Any, Any]] = {
    "logistic": (
        Fraction(1, 4),
        lambda m: -1 / (1 + np.exp(m)),
        lambda m: 1 / (2 + np.exp(m) + np.exp(-m)),
    ),
    "huber": (Fraction(1), lambda m: np.clip(m - 1.5, -1, 0), lambda m: ((m > 0.5) & (m < 1.5)).astype(float)),
}


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("rows", [1, 2])
def test_densities_of_exact_minimisers_differ_by_no_more_than_is_claimed(loss: str, epsilon: float, rows: int) -> None:
    """One coefficient, all data sets of up to two rows and all units of up to ``rows`` rows, on a grid of θ.

    The density of θ is that of the noise at −(∇L + Λθ), times the slope of that map. Λ comes from the mechanism; the
    noise has its scale, here without the grid.
    """
    curvature, slope, bend = LOSSES[loss]
    mechanism = ObjectivePerturbation(epsilon, curvature, 1)
    sensitivity = of_rows(rows)
    lam = float(mechanism.regularisation(sensitivity))
    scale = float(mechanism.noise_scale(sensitivity)) / NOISE_GRID
    theta = np.linspace(-12, 12, 4001)
    values = (-1.0, -0.3, 0.0, 0.5, 1.0)

    def log_density(data: tuple[float, ...]) -> Any:
        noise = -(sum((slope(x * theta) * x for x in data), lam * theta))
        jacobian = sum((bend(x * theta) * x * x for x in data), np.full_like(theta, lam))
        return -np.abs(noise) / scale + np.log(jacobian)

    worst = 0.0
    for size in range(3):
        for data in itertools.combinations_with_replacement(values, size):
            for unit in itertools.combinations_with_replacement(values, rows):
                worst = max(worst, float(np.abs(log_density(data + unit) - log_density(data)).max()))
    assert worst <= epsilon * float(1 - OUTPUT_SHARE) + 1e-9
    assert worst >= 0.4 * epsilon


def test_the_scales_are_those_of_the_proof() -> None:
    mechanism = ObjectivePerturbation(2.0, Fraction(1, 4), 100)
    noise, curvature = mechanism.split(ROW)
    assert noise + curvature == 2 * (1 - OUTPUT_SHARE)
    assert mechanism.noise_scale(ROW) == Fraction(NOISE_GRID + 100) / noise
    assert math.log(1 + 0.25 / float(mechanism.regularisation(ROW))) <= float(curvature)
    moved = 10 * OUTPUT_GRID * Fraction(1, 1 << 20) + 100
    assert mechanism.output_scale() == 2 * moved / (2 * OUTPUT_SHARE)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("curvature", [Fraction(1, 4), Fraction(1)])
def test_the_regularisation_hides_the_curvature_and_suits_the_noise(epsilon: float, curvature: Fraction) -> None:
    for mechanism in (
        ObjectivePerturbation(epsilon, curvature, 10),
        GaussianObjectivePerturbation(epsilon, 1e-6, curvature, 10),
    ):
        for sensitivity in (of_rows(1, "L2", 10), of_rows(3, "L2", 10)):
            lam = float(mechanism.regularisation(sensitivity))
            spent = sensitivity.linf * math.log1p(float(curvature) / lam)
            assert spent <= float(mechanism.split(sensitivity)[1]) * (1 + 1e-12)
            assert lam >= mechanism.deviation(sensitivity) * (1 - 1e-5)


def problem(size: int = 2, curvature: Fraction = Fraction(1, 4)) -> ExactObjective:
    def solve(noise: Any, regularisation: Fraction, allowed: Fraction) -> Any:
        assert len(noise) == size
        return np.zeros(size, dtype=np.int64)

    return ExactObjective(solve, size, curvature=curvature, sensitivity=ROW, unit=Unit.row(), query="q", version="v")


def test_the_gate_adds_output_noise() -> None:
    """Of the right size: the mean absolute value of 2,000 discrete Laplace draws is within 15 % of the scale."""
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(1.0))
    size = 2000
    mechanism = ObjectivePerturbation(1.0, Fraction(1, 4), size)
    values = gate.release(account, problem(size), mechanism, random_state=1).values
    assert np.abs(values).mean() == pytest.approx(float(mechanism.output_scale()), rel=0.15)


def test_a_problem_leaves_by_its_own_mechanism_alone() -> None:
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(10.0))
    counts = Exact(np.zeros(2, dtype=np.int64), sensitivity=ROW, unit=Unit.row(), query="q", version="v")
    mechanism = ObjectivePerturbation(1.0, Fraction(1, 4), 2)
    with pytest.raises(PrivacyError, match="ObjectivePerturbation"):
        gate.release(account, problem(), DiscreteLaplace(1.0))
    with pytest.raises(PrivacyError, match="ObjectivePerturbation"):
        gate.release(account, counts, mechanism)
    with pytest.raises(PrivacyError, match="another problem"):
        gate.release(account, problem(curvature=Fraction(1)), mechanism)
    with pytest.raises(PrivacyError, match="another problem"):
        gate.release(account, problem(3), mechanism)
    assert account.spent.epsilon == 0
    with pytest.raises(PrivacyError):
        repr(problem())


@pytest.mark.parametrize(("curvature", "size"), [(Fraction(0), 1), (Fraction(1), 0), (Fraction(1), 2**21)])
def test_impossible_problems_are_refused(curvature: Fraction, size: int) -> None:
    with pytest.raises(ParameterError, match="curvature, size"):
        ObjectivePerturbation(1.0, curvature, size)


def test_noise_that_would_drown_everything_is_refused() -> None:
    with pytest.raises(ParameterError, match="noise scale"):
        ObjectivePerturbation(1e-5, Fraction(1), 2).describe(ROW)


def test_the_noise_handed_to_the_problem_has_its_scale() -> None:
    seen = []

    def solve(noise: Any, regularisation: Fraction, allowed: Fraction) -> Any:
        seen.append(noise)
        return np.zeros(3000, dtype=np.int64)

    statistic = ExactObjective(
        solve, 3000, curvature=Fraction(1, 4), sensitivity=ROW, unit=Unit.row(), query="q", version="v"
    )
    mechanism = ObjectivePerturbation(1.0, Fraction(1, 4), 3000)
    _drawing.draw(statistic, mechanism, _noise.SeededEntropy(2))
    assert np.abs(seen[0]).mean() == pytest.approx(float(mechanism.noise_scale(ROW)), rel=0.12)


def test_a_floor_of_the_regularisation_and_a_huge_epsilon() -> None:
    """A larger Λ is as private; an ε whose exponential is beyond all numbers is no error."""
    share = Fraction(1, 10)
    for made in (ObjectivePerturbation, partial(GaussianObjectivePerturbation, delta=1e-6)):
        low, high = (made(epsilon=10, curvature=Fraction(1, 8), size=3, share=share, least=Fraction(k)) for k in (0, 5))
        assert low.regularisation(ROW) == LEAST_REGULARISATION
        assert high.regularisation(ROW) == 5
        assert high.allowed_gradient(ROW) > low.allowed_gradient(ROW)
    assert ObjectivePerturbation(1e9, Fraction(1, 8), 3, share=share).regularisation(ROW) == LEAST_REGULARISATION


@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize(("epsilon", "rows"), [(1e-7, 1), (3e-4, 1), (1e-3, 7)])
def test_the_remedy_for_a_small_epsilon_does(epsilon: float, rows: int, norm: str) -> None:
    need = of_rows(rows, norm, 50)

    def form(size: float) -> ObjectivePerturbation:
        if norm == "L1":
            return ObjectivePerturbation(size, Fraction(1, 4), 50)
        return GaussianObjectivePerturbation(size, 1e-6, Fraction(1, 4), 50)

    with pytest.raises(ParameterError) as refusal:
        form(epsilon).describe(need)
    times = re.search(r"An epsilon about ([0-9.]+) times as large would do", str(refusal.value))
    assert times is not None
    form(epsilon * float(times[1])).describe(need)
