"""Which additive noise suits a release: a public choice, from the budget and the sensitivity alone."""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.errors import ParameterError
from tacit.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from tacit.privacy.unit import Sensitivity


def additive_noise(
    epsilon: Fraction, delta: Fraction, sensitivity: Sensitivity, *, gain: int = 1
) -> DiscreteLaplace | DiscreteGaussian:
    """Laplace noise, or Gaussian noise where δ is so large that its variance is smaller.

    ``gain`` is for rows that are scaled to suit the noise, to L1 norm 1 or to L2 norm 1: how much larger the square of
    a usual entry is in the second case.
    """
    laplace = DiscreteLaplace(epsilon)
    if delta == 0:
        return laplace
    gaussian = DiscreteGaussian(epsilon, delta)
    try:
        better = gaussian.variance(sensitivity) < 2 * gain * laplace.scale(sensitivity) ** 2
    except ParameterError:  # Gaussian noise has the smaller range of scales
        return laplace
    return gaussian if better else laplace


def gaussian_in_range(epsilon: Fraction, delta: Fraction, most: Sensitivity) -> DiscreteLaplace | DiscreteGaussian:
    """Gaussian noise where there is a δ, unless it could be out of its range: for the largest sensitivity that may be.

    What is out of range must show before it is paid for.
    """
    if delta == 0:
        return DiscreteLaplace(epsilon)
    gaussian = DiscreteGaussian(epsilon, delta)
    try:
        gaussian.variance(most)
    except ParameterError:
        return DiscreteLaplace(epsilon)
    return gaussian


def noise_scale(mechanism: DiscreteLaplace | DiscreteGaussian, sensitivity: Sensitivity) -> float:
    """The scale of the noise, as a number for post-processing."""
    if isinstance(mechanism, DiscreteLaplace):
        return float(mechanism.scale(sensitivity))
    return math.sqrt(mechanism.variance(sensitivity))
