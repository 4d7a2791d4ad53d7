"""Drawing: what each mechanism does with the values behind the seal. The gate's back room; only the gate imports it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tacit.errors import bad_parameter
from tacit.privacy import _noise, _selecting
from tacit.privacy._seal import open_exact, open_keys, open_objective, open_rows
from tacit.privacy.exact import Exact, ExactKeys
from tacit.privacy.mechanisms import (
    Choice,
    DiscreteGaussian,
    DiscreteLaplace,
    Mechanism,
    PartitionSelection,
    SelectEach,
    Selection,
    SparseVector,
    TopK,
    TopKMethod,
)
from tacit.privacy.objective import (
    COARSE,
    FINE_DEVIATION,
    ExactObjective,
    GaussianObjectivePerturbation,
    ObjectivePerturbation,
)
from tacit.privacy.screening import ExactRows, Screen, Screening
from tacit.privacy.smooth import SmoothNoise
from tacit.privacy.unit import Sensitivity

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def draw(
    statistic: Exact | ExactKeys | ExactObjective | ExactRows, mechanism: Mechanism, entropy: _noise.Entropy
) -> tuple[Ints, tuple[str, ...] | None]:
    """Open a statistic and draw its release: values, and keys where those were private."""
    if isinstance(statistic, ExactKeys):
        return _draw_keys(statistic, mechanism, entropy)
    if isinstance(statistic, ExactObjective):
        return _minimise(statistic, mechanism, entropy), None
    if isinstance(statistic, ExactRows):
        return _screen(statistic, mechanism, entropy), None
    return _noisy(statistic, mechanism, entropy), None


def _noisy(statistic: Exact, mechanism: Mechanism, entropy: _noise.Entropy) -> Ints:
    values, sensitivity = open_exact(statistic), statistic.sensitivity
    match mechanism:
        case DiscreteLaplace():
            noise = _noise.discrete_laplace(mechanism.scale(sensitivity), values.size, entropy)
            return values + noise.reshape(values.shape)
        case DiscreteGaussian():
            noise = _noise.discrete_gaussian(mechanism.variance(sensitivity), values.size, entropy)
            return values + noise.reshape(values.shape)
        case Selection(choice=Choice.PERMUTE_AND_FLIP):
            return np.array([_selecting.permute_and_flip(values, mechanism.rate(sensitivity), entropy)])
        case Selection():
            weights = None if mechanism.weights is None else np.array(mechanism.weights, dtype=np.int64)
            return np.array([_selecting.exponential(values, mechanism.rate(sensitivity), weights, entropy)])
        case SelectEach():
            return _selecting.permute_and_flip_each(values, mechanism.rate(sensitivity), entropy)
        case SmoothNoise():
            return _smooth(values, mechanism, statistic, entropy)
        case TopK():
            return _top_k(values, mechanism, statistic, entropy)
        case SparseVector():
            return _sparse_vector(values, mechanism, statistic, entropy)
    raise bad_parameter("release", "mechanism", "one that the gate knows", type(mechanism).__name__)


def _draw_keys(statistic: ExactKeys, mechanism: Mechanism, entropy: _noise.Entropy) -> tuple[Ints, tuple[str, ...]]:
    """Keep the keys whose noisy count reaches the threshold, in the order of the keys, which tells nothing."""
    assert isinstance(mechanism, PartitionSelection)
    keys, counts = open_keys(statistic)
    noisy = counts + _noise.discrete_laplace(mechanism.scale(statistic.sensitivity), counts.size, entropy)
    passed = np.flatnonzero(noisy >= mechanism.threshold(statistic.sensitivity))
    order = sorted(passed.tolist(), key=lambda i: keys[i])
    return noisy[order], tuple(keys[i] for i in order)


def _minimise(statistic: ExactObjective, mechanism: Mechanism, entropy: _noise.Entropy) -> Ints:
    """Draw the noise of the objective, have it minimised, and cover the minimiser's inexactness."""
    assert isinstance(mechanism, ObjectivePerturbation)
    sensitivity = statistic.sensitivity
    noise = _objective_noise(mechanism, sensitivity, entropy)
    regularisation, allowed = mechanism.regularisation(sensitivity), mechanism.allowed_gradient(sensitivity)
    solution = open_objective(statistic)(noise, regularisation, allowed)
    return solution + _noise.discrete_laplace(mechanism.output_scale(), mechanism.size, entropy)


def _objective_noise(mechanism: ObjectivePerturbation, sensitivity: Sensitivity, entropy: _noise.Entropy) -> Ints:
    if not isinstance(mechanism, GaussianObjectivePerturbation):
        return _noise.discrete_laplace(mechanism.noise_scale(sensitivity), mechanism.size, entropy)
    coarse = _noise.discrete_gaussian(mechanism.coarse_variance(sensitivity), mechanism.size, entropy)
    return coarse * COARSE + _noise.discrete_gaussian(Fraction(FINE_DEVIATION**2), mechanism.size, entropy)


class _Chance:
    """What a screening draws, exactly."""

    def __init__(self, entropy: _noise.Entropy) -> None:
        self._entropy = entropy

    def order(self, count: int) -> Ints:
        return np.argsort(self._entropy.draw(8 * count).copy().view(np.uint64), kind="stable")

    def test(self, count: int, threshold: int, up: Fraction, down: Fraction) -> Callable[[Ints, int], Bools]:
        noise = _noise.geometric(up, count, self._entropy) - _noise.geometric(down, count, self._entropy)
        return lambda sums, begin: sums + noise[begin : begin + sums.size] >= threshold

    def choose(self, utilities: Ints, rate: Fraction) -> int:
        return _selecting.permute_and_flip(utilities, rate, self._entropy)


def _screen(statistic: ExactRows, mechanism: Mechanism, entropy: _noise.Entropy) -> Ints:
    assert isinstance(mechanism, Screening)
    rate, width = mechanism.rate(statistic.sensitivity), statistic.shape[0]
    return Screen(*open_rows(statistic), width, mechanism.threshold, rate, _Chance(entropy)).run()


def _top_k(values: Ints, mechanism: TopK, statistic: Exact, entropy: _noise.Entropy) -> Ints:
    rate = mechanism.rate(statistic.sensitivity)
    if mechanism.method is TopKMethod.ONE_SHOT:
        noisy = values + _noise.discrete_laplace(1 / rate, values.size, entropy)
        return np.argsort(-noisy, kind="stable")[: mechanism.k].astype(np.int64)
    left = np.arange(values.size)
    chosen = []
    for _ in range(mechanism.k):
        if mechanism.choice is Choice.PERMUTE_AND_FLIP:
            place = _selecting.permute_and_flip(values[left], rate, entropy)
        else:
            place = _selecting.exponential(values[left], rate, None, entropy)
        chosen.append(left[place])
        left = np.delete(left, place)
    return np.array(chosen, dtype=np.int64)


def _smooth(values: Ints, mechanism: SmoothNoise, statistic: Exact, entropy: _noise.Entropy) -> Ints:
    """Noise for each group; a sum far outside the range of an integer is moved to where it is far outside still."""
    far = 2**61
    scales = mechanism.scales(values[:, 1:], statistic.sensitivity)
    noisy = zip(values[:, 0].tolist(), _noise.discrete_cauchy(scales, entropy), strict=True)
    return np.array([min(max(value + z, -far), far) for value, z in noisy], dtype=np.int64)


def _sparse_vector(values: Ints, mechanism: SparseVector, statistic: Exact, entropy: _noise.Entropy) -> Ints:
    for_threshold, for_entries = mechanism.scales(statistic.sensitivity)
    threshold = mechanism.threshold + int(_noise.discrete_laplace(for_threshold, 1, entropy)[0])
    order = _Chance(entropy).order(values.size)  # any order that does not look at the values will do
    reached = values[order] + _noise.discrete_laplace(for_entries, values.size, entropy) >= threshold
    hits = np.flatnonzero(reached)
    visited = values.size if len(hits) < mechanism.limit else int(hits[mechanism.limit - 1]) + 1
    answers = np.full(values.size, -1, dtype=np.int64)
    answers[order[:visited]] = reached[:visited]
    return answers
