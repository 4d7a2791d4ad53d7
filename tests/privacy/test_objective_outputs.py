"""Objective perturbation as a whole: what is released is compared over neighbouring data sets, output by output.

With small grids every draw of the noise can be enumerated and handed to the solver that the library uses, so that the
probabilities of all outputs are known. Gaussian noise has tails that small grids do not hold: there the densities are
integrated, and the noise that is drawn is compared with a Gaussian.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import ndtr

from tacit.data import objective as solver
from tacit.privacy import objective
from tacit.privacy.accounting import noise_delta
from tacit.privacy.objective import GaussianObjectivePerturbation, ObjectivePerturbation
from tacit.privacy.unit import Bound, Sensitivity

from .test_objective import LOSSES, of_rows

SMALL = {"NOISE_GRID": 64, "OUTPUT_GRID": 32, "INEXACTNESS": Fraction(1, 16)}
SHARES = {"CURVATURE_SHARES": (Fraction(3, 10),), "OUTPUT_SHARE": Fraction(2, 10)}
TAIL = 14.0  # draws beyond so many scales are left out: they have probability below 1e-6


def laplace(scale: Fraction, reach: int) -> Any:
    weights = np.exp(-np.abs(np.arange(-reach, reach + 1)) / float(scale))
    return weights * math.tanh(1 / (2 * float(scale)))


def outputs(rows: tuple[float, ...], loss: Any, mechanism: ObjectivePerturbation, noise_scale: Fraction) -> Any:
    """Probabilities of the released number, from −1,000 to 1,000 steps; noise beyond its tail is left out."""
    matrix = sp.csr_array(np.array(rows, dtype=float).reshape(-1, 1))
    problem = solver.Problem.of(matrix, loss, "L1")
    lam, allowed = mechanism.regularisation(of_rows(1)), mechanism.allowed_gradient(of_rows(1))
    reach = math.ceil(TAIL * noise_scale)
    found = [solver._certified(problem, np.array([k]), lam, allowed)[0] for k in range(-reach, reach + 1)]
    steps = np.bincount(np.array(found) + 1000, weights=laplace(noise_scale, reach), minlength=2001)
    return np.convolve(steps, laplace(mechanism.output_scale(), 1000), mode="same")


def hockey_stick(p: Any, q: Any, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize(("loss", "norm"), [*((loss, 1.0) for loss in sorted(LOSSES)), ("huber", 0.5)])
def test_all_outputs_on_small_grids(loss: str, norm: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """One coefficient, all data sets of up to one row and all with one more; and a third of the noise is caught.

    Rows of a smaller norm have less curvature to hide, with a share of ε that is given.
    """
    for name, value in (SMALL | SHARES).items():
        monkeypatch.setattr(objective, name, value)
        if hasattr(solver, name):
            monkeypatch.setattr(solver, name, value)
    epsilon = 4.0
    share = None if norm == 1 else SHARES["CURVATURE_SHARES"][0]
    mechanism = ObjectivePerturbation(epsilon, LOSSES[loss][0] * Fraction(norm) ** 2, 1, share=share)
    assert mechanism.allowed_gradient(of_rows(1)) > 0
    scale = mechanism.noise_scale(of_rows(1))
    values = (-norm, 0.7 * norm)
    sets = [data for size in range(3) for data in itertools.combinations_with_replacement(values, size)]
    exact = {data: outputs(data, loss, mechanism, scale) for data in sets}
    pairs = [
        pair
        for data in sets
        if len(data) < 2
        for value in values
        for pair in itertools.permutations((data, tuple(sorted((*data, value)))))
    ]
    assert min(p.sum() for p in exact.values()) > 1 - 4e-6
    assert max(hockey_stick(exact[a], exact[b], epsilon) for a, b in pairs) <= 4e-6
    assert max(hockey_stick(exact[a], exact[b], norm**2 * epsilon / 4) for a, b in pairs) > 0.01
    little = {data: outputs(data, loss, mechanism, scale * Fraction(norm) / 3) for data in ((), values[:1], values[1:])}
    assert max(hockey_stick(little[a], little[b], epsilon) for a, b in itertools.permutations(little, 2)) > 1e-3


def gaussian_divergence(
    data: Any, unit: Any, loss: str, lam: float, sigma: float, epsilon: float, axes: list[Any]
) -> float:
    """The larger of both ∫(f − e^ε·f')₊ over θ on a grid, for exact minimisers under Gaussian noise."""
    _, slope, bend = LOSSES[loss]
    theta = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    d = len(axes)

    def density(rows: Any) -> Any:
        noise, hessian = -lam * theta, np.broadcast_to(lam * np.eye(d), (*theta.shape, d)).copy()
        for x in rows:
            margin = theta @ x
            noise = noise - slope(margin)[..., None] * x
            hessian += bend(margin)[..., None, None] * np.outer(x, x)
        log = -(noise**2).sum(axis=-1) / (2 * sigma**2) - d * math.log(sigma * math.sqrt(2 * math.pi))
        return np.exp(log) * np.linalg.det(hessian)

    cell = math.prod(axis[1] - axis[0] for axis in axes)
    without, with_unit = density(data), density([*data, *unit])
    assert without.sum() * cell == pytest.approx(1, abs=5e-5)
    assert with_unit.sum() * cell == pytest.approx(1, abs=5e-5)
    forth, back = hockey_stick(without, with_unit, epsilon), hockey_stick(with_unit, without, epsilon)
    return max(forth, back) * cell


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_gaussian_noise_within_delta_in_one_dimension(loss: str) -> None:
    """All data sets of up to two rows and one more, integrated; and noise that is too small is caught."""
    epsilon, delta = 1.0, 1e-3
    mechanism = GaussianObjectivePerturbation(epsilon, delta, LOSSES[loss][0], 1)
    row = of_rows(1, "L2")
    lam, sigma = float(mechanism.regularisation(row)), mechanism.deviation(row)
    within = epsilon * float(1 - objective.OUTPUT_SHARE)
    rows = [np.array([v]) for v in (-1.0, 0.4, 1.0)]
    axes = [np.linspace(-1, 1, 100_001) * (8 * sigma + 3) / lam]
    sets = [list(c) for size in range(3) for c in itertools.combinations_with_replacement(rows, size)]
    worst = {
        factor: max(
            gaussian_divergence(data, [one], loss, lam, factor * sigma, within, axes) for data in sets for one in rows
        )
        for factor in (1.0, 0.6)
    }
    assert worst[1.0] <= float(noise_delta(Fraction(delta)))
    assert worst[0.6] > delta


def test_gaussian_noise_within_delta_for_two_rows_a_unit() -> None:
    """Two coefficients, rows that point in different directions, units of two rows."""
    epsilon, delta = 2.0, 1e-2
    mechanism = GaussianObjectivePerturbation(epsilon, delta, Fraction(1, 4), 2)
    pair = of_rows(2, "L2", 2)
    lam, sigma = float(mechanism.regularisation(pair)), mechanism.deviation(pair)
    within = epsilon * float(1 - objective.OUTPUT_SHARE)
    right, up, askew = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([-0.6, 0.8])
    axes = [np.linspace(-1, 1, 401) * (8 * sigma + 3) / lam] * 2
    for data, unit in [([], [right, up]), ([up], [askew, right]), ([askew], [up, up]), ([], [askew, askew])]:
        found = gaussian_divergence(data, unit, "logistic", lam, sigma, within, axes)
        assert found <= float(noise_delta(Fraction(delta)))


def test_two_discrete_gaussians_make_one_continuous() -> None:
    """The law of the noise that is drawn, plus the part of the proof, beside a Gaussian: relative error of rounding."""
    fine, left = 4.0, 2.0  # deviations in coarse and in fine steps
    whole = np.arange(-400, 401)

    def smoothed(x: Any, deviation: float, by: float) -> Any:
        weights = np.exp(-(whole**2) / (2 * deviation**2))
        kernel = np.exp(-((x[:, None] - whole) ** 2) / (2 * by**2)) / (by * math.sqrt(2 * math.pi))
        return kernel @ (weights / weights.sum())

    def gaussian(x: Any, deviation: float) -> Any:
        return np.exp(-(x**2) / (2 * deviation**2)) / (deviation * math.sqrt(2 * math.pi))

    x = np.linspace(-60, 60, 977)
    for deviation, by in ((30.0, fine), (16.0, left)):
        law = smoothed(x, deviation, by)
        assert np.allclose(law, gaussian(x, math.hypot(deviation, by)), rtol=1e-11, atol=0)
    assert not np.allclose(smoothed(x, 30.0, 0.3), gaussian(x, math.hypot(30.0, 0.3)), rtol=1e-3, atol=0)


def test_the_scales_of_gaussian_noise_are_those_of_the_proof() -> None:
    mechanism = GaussianObjectivePerturbation(1.0, 1e-6, Fraction(1, 4), 100)
    sensitivity = Sensitivity.of_row_gradients(Bound(rows=1, ones=1), norm="L2", entries=100)
    mu = 1 / mechanism.deviation(sensitivity)
    first = float(mechanism.split(sensitivity)[0])
    spent = ndtr(mu / 2 - first / mu) - math.exp(first) * ndtr(-mu / 2 - first / mu)
    assert 0.1e-6 < spent < 0.9e-6
    assert mechanism.loss().delta == noise_delta(Fraction(1, 10**6))
    several = GaussianObjectivePerturbation(1.0, 1e-6, Fraction(1, 4), 100)
    assert several.deviation(of_rows(3, "L2", 100)) > 3 * mechanism.deviation(sensitivity)
