"""Noise scaled to smooth sensitivity, in whole numbers: a mechanism for values such as medians. Proof: docs/proofs/.

The scale follows the data, so it may give them away itself. It is taken from a public ladder on which neighbours are at
most one rung apart, and the tails of the noise, 1/(1 + z²), are so heavy that one rung changes little anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import bad_parameter
from tacit.privacy.mechanisms import PureMechanism
from tacit.privacy.unit import Sensitivity

Ints = NDArray[np.int64]

FINENESS = 1 << 16
"""Scales are whole multiples of 1/FINENESS."""

LEAST_SCALE = 2
"""From here on the sum of the weights t²/(t² + z²) over the integers is the integral π·t, but for a factor 1 ± 1e-5."""

STEP = Fraction(999, 1000)
"""A rung is higher than the one below by 1 + STEP·(half of ε), which also pays for that factor."""

RUNGS = 4096


@dataclass(frozen=True, slots=True)
class Ladder:
    """Public scales in steps of 1/FINENESS, ascending, and the largest local sensitivity that each of them hides."""

    scales: tuple[int, ...]
    limits: Ints

    @property
    def width(self) -> int:
        """How many entries of a profile can matter: what comes later is as many rungs lower."""
        return len(self.scales) - 1

    def rungs(self, profiles: Ints) -> Ints:
        """The rung of each profile: high enough for its entry k on the rung k below, for every k."""
        needed = np.searchsorted(self.limits, profiles, side="left") - np.arange(profiles.shape[1])
        return np.asarray(needed.max(axis=1, initial=0))


@lru_cache(maxsize=64)
def ladder(share: Fraction, reach: int) -> Ladder:
    """The ladder for values in a range of ``reach`` where shift and change of scale may each cost ``share``."""
    least = LEAST_SCALE * FINENESS
    top, bottom = (max(least, -(-size * FINENESS * share.denominator // share.numerator)) for size in (reach, 1))
    ratio = 1 + STEP * share
    scales = [top]
    while scales[-1] > bottom and len(scales) <= RUNGS:
        scales.append(max(bottom, -(-scales[-1] * ratio.denominator // ratio.numerator)))
    scales.reverse()
    limits = [scale * share.numerator // (FINENESS * share.denominator) for scale in scales]
    return Ladder(tuple(scales), np.array([min(limit, 2**62) for limit in limits], dtype=np.int64))


@dataclass(frozen=True, slots=True, init=False)
class SmoothNoise(PureMechanism):
    """Adds to the value of each group noise with P(z) ∝ 1/(t² + z²), t from the group's profile: ε-DP.

    Takes a matrix, a row for each group of tuples: the value, then its profile b₀, b₁, … One tuple moves the value by
    at most b₀, and each b_k is at most the b_{k+1} of a neighbour, as for ``Sensitivity.of_median_profiles``.

    Examples
    --------
    >>> from tacit.privacy.unit import Bound
    >>> sensitivity = Sensitivity.of_median_profiles(Bound(rows=1, ones=1), reach=100, width=0)
    >>> SmoothNoise(1.0).ladder(sensitivity).width
    12
    """

    name: ClassVar[str] = "smooth sensitivity"
    proof: ClassVar[str] = "docs/proofs/roc-family.md#noise-scaled-to-smooth-sensitivity"

    def ladder(self, sensitivity: Sensitivity) -> Ladder:
        """The public ladder of scales: ε is divided among a unit's tuples, and then in halves, for shift and scale."""
        if sensitivity.smooth is None:
            remedy = "Derive how profiles of neighbours are related, as Sensitivity.of_median_profiles does."
            raise bad_parameter("SmoothNoise", "sensitivity", "one of profiles", sensitivity.why, remedy)
        return ladder(self.epsilon / (2 * sensitivity.smooth), sensitivity.linf)

    def scales(self, profiles: Ints, sensitivity: Sensitivity) -> list[Fraction]:
        """The scale of each group's noise. Private, as the profiles are."""
        steps = self.ladder(sensitivity)
        return [Fraction(steps.scales[rung], FINENESS) for rung in steps.rungs(profiles)]

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say what the noise is, and which scales it may have; which one it had is private."""
        steps = self.ladder(sensitivity)
        return {
            "law": "1/(t² + z²) on the integers",
            "scales": f"{len(steps.scales)} from {steps.scales[0] / FINENESS:.6g} to {steps.scales[-1] / FINENESS:.6g}",
            "rung": str(1 + STEP * self.epsilon / (2 * (sensitivity.smooth or 1))),
        }
