"""What each mechanism should draw: the logarithm of the probability of any output, from the formula alone.

Nothing here touches the sampler, so that the two can be held against each other. All masses are sums of positive
terms: relative errors stay near 1e-13.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from tacit.privacy.smooth import SmoothNoise
from tacit.privacy.unit import Sensitivity

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Law = dict[Any, float]

_REACH = 60  # scales of noise beyond which nothing is summed: e^(−60) of the mass


def laplace_log(x: Any, scale: float) -> Floats:
    """P(x) = tanh(1/(2·scale)) · exp(−|x|/scale)."""
    return np.asarray(math.log(math.tanh(1 / (2 * scale))) - np.abs(x) / scale)


def laplace_at_least(k: Any, scale: float) -> Floats:
    """P(X ≥ k), accurate on both sides."""
    k = np.asarray(k, dtype=np.float64)
    q = math.exp(-1 / scale)
    above = np.exp(-np.maximum(k, 0) / scale) / (1 + q)
    return np.asarray(np.where(k > 0, above, 1 - np.exp(-np.maximum(1 - k, 1) / scale) / (1 + q)))


@lru_cache(maxsize=64)
def _gaussian_total(variance: float) -> float:
    reach = math.ceil(40 * math.sqrt(variance)) + 1
    return math.log(float(np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * variance)).sum()))


def gaussian_log(x: Any, variance: float) -> Floats:
    """P(x) ∝ exp(−x²/(2·variance)) on the integers."""
    return np.asarray(-(np.asarray(x, dtype=np.float64) ** 2) / (2 * variance) - _gaussian_total(variance))


@lru_cache(maxsize=64)
def _gauss(size: int) -> tuple[Floats, Floats]:
    nodes, shares = np.polynomial.legendre.leggauss(size)
    return (nodes + 1) / 2, shares / 2


def cauchy_log(x: Any, scale: float) -> Floats:
    """P(x) ∝ 1/(scale² + x²) on the integers, whose sum is π·coth(π·scale)/scale."""
    log_total = math.log(math.pi / (scale * math.tanh(math.pi * scale)))
    return np.asarray(-np.log(scale**2 + np.asarray(x, dtype=np.float64) ** 2) - log_total)


def selection_log(
    utilities: Any, rate: float, choice: Choice, weights: Any = None, wanted: Any = slice(None)
) -> Floats:
    """Log-probability of each wanted candidate, by the exponential mechanism or by permute-and-flip.

    Permute-and-flip chooses uniformly among the heads, so P(j) = h_j·E[1/(1 + heads among the others)] =
    h_j·∫ Π_{i≠j} (1 − h_i + h_i·t) dt over [0, 1]: a polynomial, which Gauss's rule integrates exactly.
    """
    logs = rate * (np.asarray(utilities, dtype=np.float64) - np.max(utilities))
    if choice is Choice.EXPONENTIAL:
        logs = logs if weights is None else logs + np.log(np.asarray(weights, dtype=np.float64))
        shifted = logs - logs.max()
        return np.asarray((shifted - math.log(float(np.exp(shifted).sum())))[wanted])
    nodes, shares = _gauss(len(logs) // 2 + 1)
    factors = np.log1p(-np.exp(logs)[None, :] * (1 - nodes)[:, None])
    others = factors.sum(axis=1, keepdims=True) - factors[:, wanted]
    top = others.max(axis=0)
    return np.asarray(logs[wanted] + top + np.log((shares[:, None] * np.exp(others - top)).sum(axis=0)))


def _top_k_log(values: Ints, mechanism: TopK, sensitivity: Sensitivity, chosen: Ints) -> float:
    rate = float(mechanism.rate(sensitivity))
    if mechanism.method is TopKMethod.ONE_SHOT:
        return _one_shot_log(values, 1 / rate, chosen)
    left, total = list(range(len(values))), 0.0
    for index in chosen.tolist():
        place = left.index(index)
        total += float(selection_log(values[left], rate, mechanism.choice, wanted=[place])[0])
        left.remove(index)
    return total


def _one_shot_log(values: Ints, scale: float, chosen: Ints) -> float:
    """Sum over the noisy value of each winner, from the last to the first; ties go to the smaller index."""
    reach = math.ceil(_REACH * scale)
    v = np.arange(int(values.min()) - reach, int(values.max()) + reach + 1)
    winners = chosen.tolist()
    below = np.ones(len(v))
    for other in set(range(len(values))) - set(winners):  # the last winner beats all others: at v, or below v
        reached = v + (1 if other > winners[-1] else 0)
        below = below * (laplace_at_least(1 - (reached - values[other]), scale))
    for place in reversed(range(len(winners))):
        mass = np.exp(laplace_log(v - values[winners[place]], scale)) * below
        level = np.cumsum(mass)
        if place and winners[place - 1] > winners[place]:  # a winner of larger index must be strictly ahead
            level = np.concatenate([[0.0], level[:-1]])
        below = level
    return math.log(float(mass.sum()))


def _around(scale: float) -> Ints:
    reach = math.ceil(_REACH * scale) + 1
    return np.arange(-reach, reach + 1)


@lru_cache(maxsize=256)
def _answer_log(gap: int, answer: int, for_threshold: float, for_entries: float) -> Floats:
    """Log-probability of one answer, for each value of the threshold's noise."""
    k = gap + _around(for_threshold)
    return np.asarray(np.log(laplace_at_least(k if answer else 1 - k, for_entries)))


def _sparse_vector_log(values: Ints, mechanism: SparseVector, sensitivity: Sensitivity, answers: Ints) -> float:
    """Sum over the threshold's noise; given that, answers are independent, and the order of visits is a public coin."""
    for_threshold, for_entries = (float(scale) for scale in mechanism.scales(sensitivity))
    z = _around(for_threshold)
    logs = laplace_log(z, for_threshold)
    for value, answer in zip(values.tolist(), answers.tolist(), strict=True):
        if answer >= 0:
            logs = logs + _answer_log(mechanism.threshold - value, answer, for_threshold, for_entries)
    visited, hits, size = int((answers >= 0).sum()), int((answers == 1).sum()), len(answers)
    orders = 0.0
    if hits == mechanism.limit:  # those visited come first, and the last of them is one of the hits
        orders = math.log(hits) + math.lgamma(visited) + math.lgamma(size - visited + 1) - math.lgamma(size + 1)
    elif hits > mechanism.limit or visited < size:
        return -math.inf
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum())) + orders


def log_mass(mechanism: Mechanism, sensitivity: Sensitivity, values: Any, answer: Any) -> float:
    """Return the logarithm of P(answer) for a mechanism on exact values."""
    values, answer = np.asarray(values, dtype=np.int64), np.asarray(answer, dtype=np.int64)
    match mechanism:
        case DiscreteLaplace():
            return float(laplace_log(answer - values, float(mechanism.scale(sensitivity))).sum())
        case DiscreteGaussian():
            return float(gaussian_log(answer - values, float(mechanism.variance(sensitivity))).sum())
        case Selection():
            rate = float(mechanism.rate(sensitivity))
            return float(selection_log(values, rate, mechanism.choice, mechanism.weights, [answer.item()])[0])
        case SelectEach():
            rate = float(mechanism.rate(sensitivity))
            rows = zip(values, answer, strict=True)
            return sum(float(selection_log(row, rate, Choice.PERMUTE_AND_FLIP, wanted=[j])[0]) for row, j in rows)
        case SmoothNoise():
            scales = map(float, mechanism.scales(values[:, 1:], sensitivity))
            groups = zip(answer - values[:, 0], scales, strict=True)
            return sum(float(cauchy_log(distance, scale)) for distance, scale in groups)
        case TopK():
            return _top_k_log(values, mechanism, sensitivity, answer)
        case SparseVector():
            return _sparse_vector_log(values, mechanism, sensitivity, answer)
    raise TypeError(f"{type(mechanism).__name__} has no law in closed form.")


def outputs(mechanism: Mechanism, shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Go through all outputs of a mechanism that chooses."""
    match mechanism:
        case Selection():
            yield from ((j,) for j in range(shape[0]))
        case SelectEach():
            yield from itertools.product(range(shape[1]), repeat=shape[0])
        case TopK():
            yield from itertools.permutations(range(shape[0]), mechanism.k)
        case SparseVector():
            for answers in itertools.product((-1, 0, 1), repeat=shape[0]):
                if answers.count(1) == mechanism.limit or (answers.count(1) < mechanism.limit and -1 not in answers):
                    yield answers
        case _:
            raise TypeError(f"The outputs of {type(mechanism).__name__} cannot be listed.")


def choice_law(mechanism: Mechanism, sensitivity: Sensitivity, values: Any) -> Law:
    """All outputs of a mechanism that chooses, with their probabilities."""
    values = np.asarray(values, dtype=np.int64)
    return {o: math.exp(log_mass(mechanism, sensitivity, values, o)) for o in outputs(mechanism, values.shape)}


def noise_law(mechanism: DiscreteLaplace | DiscreteGaussian, sensitivity: Sensitivity, value: int, most: int) -> Law:
    """One entry under additive noise. ``most`` bounds all values that are compared.

    Laplace: all outputs beyond the values have the same ratio of probabilities, so each end is one cell and nothing is
    lost. Gaussian: every output to 14 deviations, beyond which there is less than 1e-40.
    """
    if isinstance(mechanism, DiscreteLaplace):
        scale = float(mechanism.scale(sensitivity))
        law = {x: math.exp(laplace_log(x - value, scale)) for x in range(-most, most + 1)}
        law[most + 1] = float(laplace_at_least(most + 1 - value, scale))
        law[-most - 1] = float(laplace_at_least(most + 1 + value, scale))
        return law
    variance = float(mechanism.variance(sensitivity))
    reach = most + math.ceil(14 * math.sqrt(variance))
    x = np.arange(-reach, reach + 1)
    return dict(zip(x.tolist(), np.exp(gaussian_log(x - value, variance)).tolist(), strict=True))


def key_law(mechanism: PartitionSelection, sensitivity: Sensitivity, count: int, most: int) -> Law:
    """One key under partition selection: absent (None), or released with a noisy count; a count of 0 never occurs."""
    if count == 0:
        return {None: 1.0}
    scale, threshold = float(mechanism.scale(sensitivity)), mechanism.threshold(sensitivity)
    top = max(most, threshold)
    law: Law = {None: float(laplace_at_least(count + 1 - threshold, scale))}
    law |= {x: math.exp(laplace_log(x - count, scale)) for x in range(threshold, top)}
    law[top] = float(laplace_at_least(top - count, scale))
    return law
