"""Mechanisms: frozen descriptions of what is drawn and what it costs. Drawing itself is the gate's business.

Each mechanism states its loss, its noise scale for a given sensitivity, and its proof.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from tacit.errors import bad_parameter, small_epsilon
from tacit.privacy.accounting import noise_delta, rho_within
from tacit.privacy.budget import Budget, Number, as_float, exact_delta, exact_epsilon
from tacit.privacy.loss import Loss
from tacit.privacy.unit import Sensitivity, check_count

MAX_LAPLACE_SCALE = 2**40
MAX_GAUSSIAN_SCALE = 2**24


class Mechanism(Protocol):
    """What the gate needs to know of a mechanism."""

    name: ClassVar[str]
    proof: ClassVar[str]

    @property
    def budget(self) -> Budget:
        """The (ε, δ) that was asked for."""
        ...

    def loss(self) -> Loss:
        """The certified cost of one release."""
        ...

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """The parameters that fix the distribution of a release, for the receipt and for telling requests apart."""
        ...


@dataclass(frozen=True, slots=True, init=False)
class PureMechanism:
    """Base of mechanisms that are ε-DP, without δ."""

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon, type(self).__name__))

    @property
    def budget(self) -> Budget:
        """The ε that was asked for."""
        return Budget.amount(self.epsilon)

    def loss(self) -> Loss:
        """ε, without δ."""
        return Loss.pure(self.epsilon)


@dataclass(frozen=True, slots=True, init=False)
class DiscreteLaplace(PureMechanism):
    """Adds discrete Laplace noise of scale L1/ε to each entry: ε-DP.

    Examples
    --------
    >>> from tacit.privacy.unit import Bound
    >>> DiscreteLaplace(0.5).scale(Sensitivity.of_row_counts(Bound(rows=1, ones=1)))
    Fraction(2, 1)
    """

    name: ClassVar[str] = "discrete Laplace"
    proof: ClassVar[str] = "docs/proofs/noise.md#discrete-laplace"

    def scale(self, sensitivity: Sensitivity) -> Fraction:
        """Return L1/ε."""
        scale = sensitivity.l1 / self.epsilon
        check_scale("DiscreteLaplace", self.epsilon, scale, MAX_LAPLACE_SCALE)
        return scale

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how the noise is scaled."""
        return {"noise_scale": str(self.scale(sensitivity)), "norm": "L1"}


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussian:
    """Adds discrete Gaussian noise of variance L2²/(2ρ) to each entry: ρ-zCDP, and so (ε, δ)-DP.

    ρ is the largest that implies (ε, 0.9 δ)-DP; the last tenth of δ lets an account switch between its two ways of
    adding up.
    """

    name: ClassVar[str] = "discrete Gaussian"
    proof: ClassVar[str] = "docs/proofs/noise.md#discrete-gaussian"
    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon, "DiscreteGaussian"))
        object.__setattr__(self, "delta", exact_delta(delta, "DiscreteGaussian"))
        if self.delta == 0:
            remedy = "Gaussian noise never gives pure privacy: use DiscreteLaplace for delta = 0."
            raise bad_parameter("DiscreteGaussian", "delta", "above 0", delta, remedy)

    @property
    def budget(self) -> Budget:
        """The (ε, δ) that was asked for."""
        return Budget.amount(self.epsilon, self.delta)

    def loss(self) -> Loss:
        """Both certificates: (ε, 0.9 δ), and the ρ behind it."""
        return Loss(self.epsilon, noise_delta(self.delta), rho_within(self.epsilon, noise_delta(self.delta)))

    def variance(self, sensitivity: Sensitivity) -> Fraction:
        """Return L2²/(2ρ), rounded up to 12 digits."""
        rho = rho_within(self.epsilon, noise_delta(self.delta))
        if rho == 0:
            expected, remedy = "large enough to be told from 0", "Ask for a larger epsilon."
            raise small_epsilon("DiscreteGaussian", expected, as_float(self.epsilon), remedy)
        exact = sensitivity.l2_squared / (2 * rho)
        check_scale("DiscreteGaussian", self.epsilon, Fraction(math.isqrt(math.ceil(exact))), MAX_GAUSSIAN_SCALE)
        up = Context(prec=12, rounding=ROUND_CEILING)
        return Fraction(up.divide(Decimal(exact.numerator), Decimal(exact.denominator)))

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how the noise is scaled."""
        variance = self.variance(sensitivity)
        rho = rho_within(self.epsilon, noise_delta(self.delta))
        return {
            "noise_scale": f"{math.sqrt(variance):.9g}",
            "variance": str(variance),
            "norm": "L2",
            "rho": f"{float(rho):.9g}",
        }


class Choice(Enum):
    """How one candidate is selected."""

    EXPONENTIAL = "exponential mechanism"
    PERMUTE_AND_FLIP = "permute-and-flip"


@dataclass(frozen=True, slots=True, init=False)
class Selection(PureMechanism):
    """Selects one candidate of high utility: the exponential mechanism, or permute-and-flip, which is never worse.

    Releases the index alone. The rate is ε/(2·L∞), or ε/L∞ where adding a unit moves all utilities the same way.
    ``weights`` is a public base measure in whole numbers, for the exponential mechanism.
    """

    name: ClassVar[str] = "selection"
    proof: ClassVar[str] = "docs/proofs/selection.md"
    choice: Choice
    weights: tuple[int, ...] | None

    def __init__(
        self, epsilon: Number, choice: Choice = Choice.PERMUTE_AND_FLIP, weights: Sequence[int] | None = None
    ) -> None:
        PureMechanism.__init__(self, epsilon)
        object.__setattr__(self, "choice", Choice(choice))
        whole = None if weights is None else tuple(check_count("Selection", "weights", w) for w in weights)
        object.__setattr__(self, "weights", whole)
        if whole is not None and (self.choice is not Choice.EXPONENTIAL or sum(whole) >= 2**62):
            expected = "left out except for the exponential mechanism, and below 2^62 in sum"
            raise bad_parameter("Selection", "weights", expected, f"{len(whole)} weights")

    def rate(self, sensitivity: Sensitivity) -> Fraction:
        """Return the factor between utilities and log-probabilities."""
        return selection_rate(self.epsilon, sensitivity)

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how utilities turn into probabilities."""
        weighted = None if self.weights is None else hashlib.sha256(repr(self.weights).encode()).hexdigest()
        return {
            "choice": self.choice.value,
            "rate": str(self.rate(sensitivity)),
            "monotone": sensitivity.monotone,
            "weights": weighted,
        }


@dataclass(frozen=True, slots=True, init=False)
class SelectEach(PureMechanism):
    """Selects one candidate in each row of a matrix of utilities, all together for ε.

    Rows are groups of tuples that do not overlap, so that what one unit moves, summed over the rows, is bounded: by S.
    Each row is a permute-and-flip selection of rate ε/(2S), or ε/S for monotone utilities.
    """

    name: ClassVar[str] = "selection in each group"
    proof: ClassVar[str] = "docs/proofs/selection.md#one-selection-in-each-group"

    def rate(self, sensitivity: Sensitivity) -> Fraction:
        """Return the factor between utilities and log-probabilities."""
        if sensitivity.rows is None:
            remedy = "Derive how far one unit moves the rows together, as Sensitivity.of_balances does."
            raise bad_parameter("SelectEach", "sensitivity", "one that is known over rows", sensitivity.why, remedy)
        return self.epsilon / (sensitivity.rows * (1 if sensitivity.monotone else 2))

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how utilities turn into probabilities."""
        return {
            "choice": Choice.PERMUTE_AND_FLIP.value,
            "rate": str(self.rate(sensitivity)),
            "monotone": sensitivity.monotone,
            "over_rows": sensitivity.rows,
        }


class TopKMethod(Enum):
    """How k candidates are selected."""

    PEELING = "peeling"
    ONE_SHOT = "one-shot"


@dataclass(frozen=True, slots=True, init=False)
class TopK(PureMechanism):
    """Selects k candidates of high utility and releases their indices.

    ``PEELING`` makes k selections of ε/k each, without replacement. ``ONE_SHOT`` adds discrete Laplace noise once, of
    scale 2k·L∞/ε (k·L∞/ε where utilities are monotone), and takes the k largest: one pass, for many candidates.
    """

    name: ClassVar[str] = "top-k selection"
    proof: ClassVar[str] = "docs/proofs/selection.md#top-k"
    k: int
    method: TopKMethod
    choice: Choice

    def __init__(
        self,
        epsilon: Number,
        k: int,
        method: TopKMethod = TopKMethod.PEELING,
        choice: Choice = Choice.PERMUTE_AND_FLIP,
    ) -> None:
        PureMechanism.__init__(self, epsilon)
        object.__setattr__(self, "k", check_count("TopK", "k", k))
        object.__setattr__(self, "method", TopKMethod(method))
        object.__setattr__(self, "choice", Choice(choice))

    def rate(self, sensitivity: Sensitivity) -> Fraction:
        """Return the rate of each selection, or the inverse scale of the noise."""
        return selection_rate(self.epsilon / self.k, sensitivity)

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how the candidates are selected."""
        rate = self.rate(sensitivity)
        if self.method is TopKMethod.ONE_SHOT:
            check_scale("TopK", self.epsilon, 1 / rate, MAX_LAPLACE_SCALE)
        how = self.choice.value if self.method is TopKMethod.PEELING else "discrete Laplace"
        return {
            "k": self.k,
            "method": self.method.value,
            "choice": how,
            "rate": str(rate),
            "monotone": sensitivity.monotone,
        }


@dataclass(frozen=True, slots=True, init=False)
class PartitionSelection:
    """Adds discrete Laplace noise of scale L1/ε to the count of each key that occurs; releases those at a threshold.

    The threshold is so high that keys which one unit alone brought pass with probability at most 0.9 δ.

    Parameters
    ----------
    epsilon, delta : float
        The whole cost; δ must be above 0 and at most 1 − e^(−ε).

    Examples
    --------
    >>> from tacit.privacy.unit import Bound
    >>> PartitionSelection(1.0, 1e-6).threshold(Sensitivity.of_feature_counts(Bound(rows=1, ones=1)))
    15
    """

    name: ClassVar[str] = "partition selection"
    proof: ClassVar[str] = "docs/proofs/bounding.md#partition-selection"
    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon, "PartitionSelection"))
        object.__setattr__(self, "delta", exact_delta(delta, "PartitionSelection"))
        if self.delta == 0 or self.delta > -math.expm1(-float(self.epsilon)) * (1 - 1e-9):
            remedy = "Words that nobody declared cannot leave without a δ: use hashing or a public list for δ = 0."
            expected = "above 0 and at most 1 − e^(−ε)"
            raise bad_parameter("PartitionSelection", "delta", expected, as_float(self.delta), remedy)

    @property
    def budget(self) -> Budget:
        """The (ε, δ) that was asked for."""
        return Budget.amount(self.epsilon, self.delta)

    def loss(self) -> Loss:
        """(ε, 0.9 δ), and no more."""
        return Loss(self.epsilon, noise_delta(self.delta), None)

    def scale(self, sensitivity: Sensitivity) -> Fraction:
        """Return L1/ε."""
        scale = sensitivity.l1 / self.epsilon
        check_scale("PartitionSelection", self.epsilon, scale, MAX_LAPLACE_SCALE)
        return scale

    def threshold(self, sensitivity: Sensitivity) -> int:
        """Return the smallest noisy count at which a key is released."""
        return smallest_threshold(self.epsilon, noise_delta(self.delta), sensitivity.l1, sensitivity.linf)

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how the noise is scaled and where the threshold is."""
        return {
            "noise_scale": str(self.scale(sensitivity)),
            "norm": "L1",
            "threshold": self.threshold(sensitivity),
        }


def smallest_threshold(epsilon: Fraction, delta: Fraction, l1: int, linf: int) -> int:
    """The smallest whole τ > L∞ with L1 · max_{1 ≤ c ≤ L∞} α^(τ−c) / ((1+α) c) ≤ δ, where α = e^(−ε/L1).

    A unit brings new keys with counts c₁, c₂, … of at most L∞ each and at most L1 in sum. One of count c passes with
    probability α^(τ−c)/(1+α), so the probability that any passes is at most L1 times the largest such value per unit
    of count. In floating point, rounded up by more than all roundings together could amount to.
    """
    rate = float(epsilon) / l1
    # max over c of exp(rate·c)/c: convex in c, so the largest value is at one of the ends.
    worst = max(rate, rate * linf - math.log(linf))
    passing = math.log(l1) + worst - math.log1p(math.exp(-rate)) - math.log(float(delta))
    return max(linf + 1, math.ceil(passing / rate * (1 + 1e-9) + 1e-9))


@dataclass(frozen=True, slots=True, init=False)
class SparseVector(PureMechanism):
    """Tells which entries reach a threshold, and stops after ``limit`` of them (the corrected sparse vector technique).

    Noise of scale L∞/ε₁ on the threshold, drawn once, and of scale 2·limit·L∞/ε₂ (limit·L∞/ε₂ for monotone entries) on
    each entry, ε₁ + ε₂ = ε in the proportion 1 : (2·limit)^(2/3) (1 : limit^(2/3)), which is best for comparisons (Lyu,
    Su and Li 2017, Algorithm 7). Entries are visited in a random order. Releases for each entry 1 (reached), 0 (not) or
    −1 (not visited); no value that was compared is ever released.
    """

    name: ClassVar[str] = "sparse vector technique"
    proof: ClassVar[str] = "docs/proofs/sparse-vector.md"
    threshold: int
    limit: int

    def __init__(self, epsilon: Number, threshold: int, limit: int) -> None:
        PureMechanism.__init__(self, epsilon)
        if isinstance(threshold, bool) or not hasattr(threshold, "__index__") or abs(int(threshold)) >= 2**60:
            raise bad_parameter("SparseVector", "threshold", "a whole number below 2^60", threshold)
        object.__setattr__(self, "threshold", int(threshold))
        object.__setattr__(self, "limit", check_count("SparseVector", "limit", limit))

    def scales(self, sensitivity: Sensitivity) -> tuple[Fraction, Fraction]:
        """Return the noise scales of the threshold and of an entry."""
        steps = self.limit * (1 if sensitivity.monotone else 2)
        share = Fraction(max(1, round(1000 / (1 + steps ** (2 / 3)))), 1000)
        threshold = sensitivity.linf / (self.epsilon * share)
        entry = steps * sensitivity.linf / (self.epsilon * (1 - share))
        check_scale("SparseVector", self.epsilon, max(threshold, entry), MAX_LAPLACE_SCALE)
        return threshold, entry

    def describe(self, sensitivity: Sensitivity) -> dict[str, Any]:
        """Say how threshold and entries are perturbed."""
        threshold, entry = self.scales(sensitivity)
        return {
            "threshold": self.threshold,
            "limit": self.limit,
            "threshold_scale": str(threshold),
            "entry_scale": str(entry),
            "monotone": sensitivity.monotone,
        }


def selection_rate(epsilon: Fraction, sensitivity: Sensitivity) -> Fraction:
    """Return ε/(2·L∞), or ε/L∞ for monotone utilities."""
    return epsilon / (sensitivity.linf * (1 if sensitivity.monotone else 2))


def check_scale(owner: str, epsilon: Fraction, scale: Fraction, largest: int) -> None:
    """Refuse noise of a size that the exact samplers are not made for."""
    if scale > largest:
        expected = f"large enough for a noise scale of at most {largest:.3g}"
        remedy = "Noise of that size would drown any count: ask for a larger epsilon or bound contributions."
        raise small_epsilon(owner, expected, as_float(epsilon), remedy)
