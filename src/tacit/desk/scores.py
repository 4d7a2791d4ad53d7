"""Scores at the desk: labels and scores go in, noisy counts between private thresholds come out.

The procedure is "balanced medians": noisy class totals, and a noisy number of tied rows; then thresholds that cut the
test set into bins of about equal weight, by selections on a public grid: the first seven as one of many public
layouts, unless rows are too few to steer that, all others one by one; then noisy counts. Where there are many bins, a
look at both classes on the way tells which intervals need no more cuts. Proof:
``docs/proofs/roc.md``. Everything that is decided here follows from public parameters and earlier releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.scores import Scores
from tacit.desk.cutting import (
    LOOK,
    LOOK_AFTER,
    MOST,
    TIES,
    Cutting,
    a_crowd,
    candidate_cuts,
    ends_apart,
    one_sided,
    ties_share,
)
from tacit.desk.layouts import layouts
from tacit.desk.noise import additive_noise, noise_scale
from tacit.desk.payer import one_off
from tacit.ledger import Account
from tacit.privacy.budget import Budget
from tacit.privacy.gate import Purse
from tacit.privacy.grid import CELLS
from tacit.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, SelectEach
from tacit.privacy.release import Receipt, Release
from tacit.privacy.unit import Bound, Sensitivity

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NAME = "ROC curve by balanced medians, ties, ends, layouts and a look"
TOTALS = Fraction(3, 100)  # share of ε; ties, thresholds and the look get those of their plan, the counts the rest
LEAST_FOR_COUNTS = 1 - TOTALS - max(TIES) - MOST - max(LOOK)


@dataclass(frozen=True, slots=True)
class Binned:
    """What the desk returns: public numbers only.

    Attributes
    ----------
    cuts : array of integers
        Ends of the bins as cells of the public grid, ascending, the two ends of the grid included.
    depths : array of integers
        How often the grid was halved until each bin was left, those at the very ends of the range not among them.
    counts : two arrays of integers
        Noisy counts of negatives and of positives, from the lowest scores to the highest.
    totals : array of integers
        Noisy class totals: negatives, positives.
    tied, crowd : int
        Noisy number of rows beyond the first ``crowd`` of their cell: of ties.
    noise_scale, totals_scale, tied_scale : float
        Scale of the noise on counts, on totals and on the number of ties.
    gaussian : bool
        Whether the noise on the counts is Gaussian, not Laplace.
    weights : (int, int)
        Weights of a negative and of a positive in the balance.
    level_rate : float
        Log-probability of a cut per unit of imbalance.
    receipt : Receipt
    """

    cuts: Ints
    depths: Ints
    counts: tuple[Ints, Ints]
    totals: Ints
    tied: int
    crowd: int
    noise_scale: float
    totals_scale: float
    tied_scale: float
    gaussian: bool
    weights: tuple[int, int]
    level_rate: float
    receipt: Receipt

    @property
    def apart(self) -> bool:
        """Whether scores at the very ends of the range, one cell each, have bins of their own beside the others."""
        return len(self.cuts) - 1 > len(self.depths)


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
    name = f"{NAME}, scores in [{score_range[0]:g}, {score_range[1]:g}]"
    epsilon, sensitivity = budget.exact_epsilon, Sensitivity.of_row_counts(Bound(rows=unit.max_rows, ones=1))
    counting = DiscreteLaplace(TOTALS * epsilon)
    # An ε too small for any noise is refused before it is charged: the least share is that of ties.
    DiscreteLaplace(min(TOTALS, *TIES) * epsilon).scale(sensitivity)
    if isinstance(additive_noise(LEAST_FOR_COUNTS * epsilon, budget.exact_delta, sensitivity), DiscreteLaplace):
        budget = Budget(epsilon)  # no share of ε is so small that Gaussian noise is better: δ is not needed
    purse = Purse(account, name, budget, version=scores.version, random_state=random_state)
    first = purse.release(scores.totals(), counting)
    crowd, apart = a_crowd(first.values, epsilon, unit), ends_apart(first.values, epsilon, unit)
    looking = DiscreteLaplace(ties_share(first.values, epsilon, unit) * epsilon)
    second = purse.release(scores.crowded(crowd, ends=not apart), looking)
    tied, tied_scale = int(second.values[0]), noise_scale(looking, sensitivity)
    plan = Cutting.of(first.values, float(counting.scale(sensitivity)), (tied, tied_scale), epsilon, unit)
    level = SelectEach(plan.share * epsilon / plan.depth)
    cuts = np.array([1, CELLS - 1] if apart else [0, CELLS])
    if plan.together:
        cuts = _lay_out(purse, scores, cuts, plan, level)
    steps, halved = [first, second], np.ones(len(cuts) - 1, dtype=bool)
    depths = np.full(len(halved), plan.together)
    for depth in range(plan.together, plan.depth):
        if plan.look and depth == LOOK_AFTER:
            glance = DiscreteLaplace(plan.look * epsilon)
            steps.append(purse.release(scores.counts((cuts, cuts)), glance))
            halved = ~one_sided(steps[-1].values.reshape(2, -1), noise_scale(glance, sensitivity))
        if halved.any():
            cuts = _halve(purse, scores, cuts, halved, plan, level)
            depths, halved = (np.repeat(each, 1 + halved) for each in (depths + halved, halved))
    left = (1 - TOTALS - plan.share - plan.look) * epsilon - looking.epsilon
    mechanism = additive_noise(left, budget.exact_delta, sensitivity)
    cuts = np.concatenate([[0], cuts, [CELLS]]) if apart else cuts
    last = purse.release(scores.counts((cuts, cuts)), mechanism, last=True)
    gaussian = isinstance(mechanism, DiscreteGaussian)
    return Binned(
        cuts=cuts,
        depths=depths,
        counts=(last.values[: len(cuts) - 1], last.values[len(cuts) - 1 :]),
        totals=first.values,
        tied=tied,
        crowd=crowd,
        noise_scale=noise_scale(mechanism, sensitivity),
        totals_scale=noise_scale(counting, sensitivity),
        tied_scale=tied_scale,
        gaussian=gaussian,
        weights=plan.weights,
        level_rate=float(level.epsilon) / (2 * max(plan.weights) * unit.max_rows),
        receipt=_receipt(last, budget, steps, level, plan),
    )


def _lay_out(purse: Purse, scores: Scores, cuts: Ints, plan: Cutting, level: SelectEach) -> Ints:
    """Choose the first cuts together, as one of the public layouts, with the ε of their levels."""
    low, high = cuts
    places, preference = layouts(plan.first_place, plan.negatives)
    inner = np.rint(low + places * (high - low)).astype(np.int64)
    laid = np.pad(inner, ((0, 0), (1, 1)), constant_values=((0, 0), (low, high)))
    mechanism = SelectEach(plan.together * level.epsilon)
    bound = Bound(rows=scores.unit.max_rows, ones=1)
    rate = mechanism.rate(Sensitivity.of_balances(bound, max(plan.weights), len(laid), plan.together))
    offsets = np.rint(preference / float(rate)).astype(np.int64)
    chosen = purse.release(scores.laid_out(laid, plan.weights, offsets), mechanism).values
    return np.asarray(laid[chosen[0]])


def _halve(
    purse: Purse, scores: Scores, cuts: Ints, halved: NDArray[np.bool_], plan: Cutting, level: SelectEach
) -> Ints:
    """Cut each interval that is to be ``halved`` into two."""
    low, high = cuts[:-1][halved], cuts[1:][halved]
    candidates = candidate_cuts(low, high)
    bound = Bound(rows=scores.unit.max_rows, ones=1)
    rate = level.rate(Sensitivity.of_balances(bound, max(plan.weights), candidates.size))
    preference = plan.preference(len(halved), candidates.shape[1])[halved]
    offsets = np.rint(preference / float(rate)).astype(np.int64)
    chosen = purse.release(scores.balances((low, high), candidates, plan.weights, offsets), level).values
    middles = np.take_along_axis(candidates, chosen[:, None], axis=1)[:, 0]
    return np.sort(np.concatenate([cuts, middles]))


def _receipt(last: Release, budget: Budget, counted: list[Release], level: SelectEach, plan: Cutting) -> Receipt:
    """One receipt for the whole procedure, with its steps."""
    names = ("class totals", "tied rows", "classes in the first intervals")
    *before, count = (
        {"what": what, "mechanism": one.receipt["mechanism"], "noise": one.receipt["noise"]}
        for what, one in zip((*names[: len(counted)], "counts by class and bin"), (*counted, last), strict=True)
    )
    what = f"thresholds, {plan.depth} level(s)" + (f", the first {plan.together} together" if plan.together else "")
    cuts = {"what": what, "mechanism": level.name, "epsilon_a_level": float(level.epsilon)}
    steps = [*before, cuts, count]
    return whole_receipt(last, budget, NAME, steps, "docs/proofs/roc.md")


def whole_receipt(last: Release, budget: Budget, mechanism: str, steps: list[dict[str, Any]], proof: str) -> Receipt:
    """The receipt of the last step, made one of the whole procedure."""
    whole = {"mechanism": mechanism, "epsilon": budget.epsilon, "delta": budget.delta, "plan": None}
    return Receipt(last.receipt.to_dict() | whole | {"steps": steps, "proof": proof})
