"""Scores at the desk: labels and scores go in, noisy counts between private thresholds come out.

The procedure is "balanced medians": noisy class totals; then thresholds that cut the test set into bins of about equal
weight, by selections on a public grid; then noisy counts. Proof: ``docs/proofs/roc.md``. Everything that is decided
here follows from public parameters and earlier releases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.scores import Scores
from tacit.desk.noise import additive_noise, noise_scale
from tacit.desk.payer import one_off
from tacit.ledger import Account
from tacit.privacy.budget import Budget
from tacit.privacy.gate import Purse
from tacit.privacy.grid import CELLS
from tacit.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, SelectEach
from tacit.privacy.release import Receipt, Release
from tacit.privacy.unit import Bound, Sensitivity, Unit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TOTALS = Fraction(3, 100)  # share of ε; thresholds get one between the next two, and the counts the rest
LEAST, MOST = Fraction(5, 100), Fraction(12, 100)
CANDIDATES, FEWEST, TOGETHER = 1024, 128, 16384  # of an interval: at most, at least; of a level: about
HEAVY = 64  # weight of a tuple of the smaller class
FEWEST_BINS, MOST_BINS = 4, 256
BINS_SCALE = 0.55
FEW = 500  # weighted rows times ε: with fewer, rows can hardly steer a cut


@dataclass(frozen=True, slots=True)
class Binned:
    """What the desk returns: public numbers only.

    Attributes
    ----------
    cuts : array of integers
        Ends of the bins as cells of the public grid, ascending, the two ends of the grid included.
    counts : two arrays of integers
        Noisy counts of negatives and of positives, from the lowest scores to the highest.
    totals : array of integers
        Noisy class totals: negatives, positives.
    noise_scale, totals_scale : float
        Scale of the noise on counts and on totals.
    gaussian : bool
        Whether the noise on the counts is Gaussian, not Laplace.
    weights : (int, int)
        Weights of a negative and of a positive in the balance.
    level_rate : float
        Log-probability of a cut per unit of imbalance.
    receipt : Receipt
    """

    cuts: Ints
    counts: tuple[Ints, Ints]
    totals: Ints
    noise_scale: float
    totals_scale: float
    gaussian: bool
    weights: tuple[int, int]
    level_rate: float
    receipt: Receipt


def release_scores(
    y_true: Any,
    y_score: Any,
    *,
    budget: Budget,
    pos_label: Any,
    score_range: tuple[float, float],
    persons: Any,
    account: Account | None,
    random_state: int | None,
    version: str | None = None,
) -> Binned:
    """Count scores privately by class, in bins that are chosen privately.

    ``version`` names the rows and what scored them, so that whether two requests are the same is not told from scores.
    """
    account = one_off(account, budget, "roc_curve")
    scores = Scores(
        y_true,
        y_score,
        pos_label=pos_label,
        score_range=score_range,
        unit=account.unit,
        persons=persons,
        seed=account.seed,
        version=version,
    )
    return release_counted(scores, budget, score_range, account, random_state)


def release_counted(
    scores: Scores, budget: Budget, score_range: tuple[float, float], account: Account, random_state: int | None
) -> Binned:
    """Release scores that were counted by class and cell."""
    unit = account.unit
    name = f"ROC curve by balanced medians, scores in [{score_range[0]:g}, {score_range[1]:g}]"
    epsilon, sensitivity = budget.exact_epsilon, Sensitivity.of_row_counts(Bound(rows=unit.max_rows, ones=1))
    counting = DiscreteLaplace(TOTALS * epsilon)
    counting.scale(sensitivity)  # an ε too small for any noise is refused before it is charged
    purse = Purse(account, name, budget, version=scores.version, random_state=random_state)
    first = purse.release(scores.totals(), counting)
    bins = number_of_bins(first.values, float(epsilon), unit)
    weights = class_weights(first.values, float(counting.scale(sensitivity)))
    depth = bins.bit_length() - 1
    cutting = cutting_share(steering(first.values, weights, epsilon / unit.max_rows), depth)
    level = SelectEach(cutting * epsilon / depth)
    cuts = np.array([0, CELLS])
    for _ in range(depth):
        cuts = _halve(purse, scores, cuts, weights, level, unit)
    mechanism = additive_noise((1 - TOTALS - cutting) * epsilon, budget.exact_delta, sensitivity)
    last = purse.release(scores.counts((cuts, cuts)), mechanism, last=True)
    gaussian = isinstance(mechanism, DiscreteGaussian)
    return Binned(
        cuts=cuts,
        counts=(last.values[:bins], last.values[bins:]),
        totals=first.values,
        noise_scale=noise_scale(mechanism, sensitivity),
        totals_scale=noise_scale(counting, sensitivity),
        gaussian=gaussian,
        weights=weights,
        level_rate=float(level.epsilon) / (2 * max(weights) * unit.max_rows),
        receipt=_receipt(last, budget, first, level, depth),
    )


def number_of_bins(totals: Ints, epsilon: float, unit: Unit) -> int:
    """How many bins: noise grows with their number, and what they cannot show shrinks.

    With m bins the error of a rate has a noise part ∝ √m/(ε·n) and a part ∝ 1/√(m·n): best for m ∝ ε·√n. Of the two
    classes the smaller one counts more, as it does in the harmonic mean.
    """
    negatives, positives = (max(int(total), 1) for total in totals)
    size = 2 / (1 / negatives + 1 / positives)
    wanted = min(BINS_SCALE * epsilon * math.sqrt(size) / unit.max_rows, MOST_BINS)
    depth: int = round(math.log2(max(wanted, 1.0)))
    return min(max(1 << depth, FEWEST_BINS), MOST_BINS)


def steering(totals: Ints, weights: tuple[int, int], epsilon: Fraction) -> Fraction:
    """How firmly rows can steer cuts: their weight in a balance, times ε."""
    rows = sum(weight * max(int(total), 0) for weight, total in zip(weights, totals, strict=True))
    return max(Fraction(rows, HEAVY), Fraction(1)) * epsilon


def cutting_share(strength: Fraction, depth: int) -> Fraction:
    """The share of ε for thresholds: enough to miss a cut by less than a third of a bin, and within bounds.

    Where rows can hardly steer a cut, cuts stay near their public places, and counts get more.
    """
    enough = Fraction(7 * depth * 2**depth) / strength
    return min(max(min(enough, strength / FEW), LEAST), MOST)


def class_weights(totals: Ints, noise: float) -> tuple[int, int]:
    """Weights of negatives and positives: a class weighs as the root of its size, so that bins suit both.

    Totals are no clearer than their noise: a part of it, added to both, keeps weights together where little is known.
    """
    small, large = sorted(max(int(total), 1) + noise / 3 for total in totals)
    light = max(round(HEAVY * math.sqrt(max(small / large, 0.02))), 1)
    return (HEAVY, light) if totals[0] <= totals[1] else (light, HEAVY)


def candidate_cuts(cuts: Ints) -> Ints:
    """For each interval between cuts, candidates at equal distances; repeated where the interval has fewer cells."""
    parts = min(CANDIDATES, max(FEWEST, TOGETHER // (len(cuts) - 1)))
    low, high = cuts[:-1, None], cuts[1:, None]
    steps = np.arange(1, parts)[None, :]
    return np.asarray(low + (steps * (high - low)) // parts)


def base_measure(rate: Fraction, number: int) -> Ints:
    """Public preference for the middle of an interval, half Beta(5, 5) and half uniform, in units of utility."""
    x = np.arange(1, number + 1) / (number + 1)
    weight = 0.5 + 0.5 * 630 * (x * (1 - x)) ** 4
    return np.rint(np.log(weight) / float(rate)).astype(np.int64)


def _halve(purse: Purse, scores: Scores, cuts: Ints, weights: tuple[int, int], level: SelectEach, unit: Unit) -> Ints:
    """Cut each interval into two."""
    candidates = candidate_cuts(cuts)
    bound = Bound(rows=unit.max_rows, ones=1)
    rate = level.rate(Sensitivity.of_balances(bound, max(weights), candidates.size))
    offsets = base_measure(rate, candidates.shape[1])
    chosen = purse.release(scores.balances(cuts, candidates, weights, offsets), level).values
    middles = np.take_along_axis(candidates, chosen[:, None], axis=1)[:, 0]
    return np.sort(np.concatenate([cuts, middles]))


def _receipt(last: Release, budget: Budget, first: Release, level: SelectEach, depth: int) -> Receipt:
    """One receipt for the whole procedure, with its steps."""
    steps = [
        {"what": "class totals", "mechanism": first.receipt["mechanism"], "noise": first.receipt["noise"]},
        {"what": f"thresholds, {depth} level(s)", "mechanism": level.name, "epsilon_a_level": float(level.epsilon)},
        {"what": "counts by class and bin", "mechanism": last.receipt["mechanism"], "noise": last.receipt["noise"]},
    ]
    return whole_receipt(last, budget, "ROC curve by balanced medians", steps, "docs/proofs/roc.md")


def whole_receipt(last: Release, budget: Budget, mechanism: str, steps: list[dict[str, Any]], proof: str) -> Receipt:
    """The receipt of the last step, made one of the whole procedure."""
    whole = {"mechanism": mechanism, "epsilon": budget.epsilon, "delta": budget.delta, "plan": None}
    return Receipt(last.receipt.to_dict() | whole | {"steps": steps, "proof": proof})
