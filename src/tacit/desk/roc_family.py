"""The paper's ways to count scores, made sound: labels and scores go in, noisy numbers at public places come out.

Thresholds are public, or medians by smooth sensitivity; between them scores are counted in one of several layouts.
Proof: ``docs/proofs/roc-family.md``. All that is decided here follows from public parameters and earlier releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from tacit.data.scores import Scores
from tacit.desk.noise import additive_noise, noise_scale
from tacit.desk.payer import one_off
from tacit.desk.scores import TOTALS, Ints, whole_receipt
from tacit.ledger import Account
from tacit.privacy.budget import Budget
from tacit.privacy.gate import Purse
from tacit.privacy.grid import CELLS, cells_of
from tacit.privacy.hierarchy import Form, Layout
from tacit.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from tacit.privacy.release import Receipt, Release
from tacit.privacy.smooth import SmoothNoise
from tacit.privacy.unit import Bound, Sensitivity

Method = Literal["laplace", "fixed-space", "recursive-medians"]
METHODS: tuple[Method, ...] = ("laplace", "fixed-space", "recursive-medians")

MEDIANS = Fraction(1, 5)  # share of ε for medians: the paper's
FEWEST_LEVELS, MOST_LEVELS = 2, 10


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which member of the family: all of it public.

    Attributes
    ----------
    method : {"laplace", "fixed-space", "recursive-medians"}
    form : {"cells", "cumulative", "tree", "privelet"}
    bins : int, or None
        A power of two; None means that it follows from noisy class totals.
    branching : int
        Children of a node of the tree.
    """

    method: Method
    form: Form
    bins: int | None
    branching: int

    def __str__(self) -> str:
        number = "a noisy number of" if self.bins is None else str(self.bins)
        return f"ROC curve by {self.method}, {number} bins, {Layout(self.form, 2, self.branching)}"


@dataclass(frozen=True, slots=True)
class Counted:
    """What the desk returns: public numbers only.

    Attributes
    ----------
    cuts : array of integers
        Ends of the bins as cells of the public grid, ascending, the two ends of the grid included.
    layout : Layout
        How bins were counted.
    released : array of integers of shape (2, …)
        Noisy numbers of negatives and of positives in that layout.
    noise_scale : float
        Scale of the noise on each of them.
    gaussian : bool
        Whether that noise is Gaussian, not Laplace.
    totals : array of integers, or None
        Noisy class totals, if the number of bins came from them.
    totals_scale : float
        Scale of the noise on totals.
    receipt : Receipt
    """

    cuts: Ints
    layout: Layout
    released: Ints
    noise_scale: float
    gaussian: bool
    totals: Ints | None
    totals_scale: float
    receipt: Receipt


def release_family(
    y_true: Any,
    y_score: Any,
    *,
    recipe: Recipe,
    budget: Budget,
    pos_label: Any,
    score_range: tuple[float, float],
    persons: Any,
    account: Account | None,
    random_state: int | None,
    version: str | None = None,
) -> Counted:
    """Count scores privately by class between public thresholds or private medians."""
    account = one_off(account, budget, "roc_curve")
    unit, left = account.unit, budget.exact_epsilon
    scores = Scores(
        y_true,
        y_score,
        pos_label=pos_label,
        score_range=score_range,
        unit=unit,
        persons=persons,
        seed=account.seed,
        version=version,
    )
    name = f"{recipe}, scores in [{score_range[0]:g}, {score_range[1]:g}]"
    bound = Bound(rows=unit.max_rows, ones=1)
    _check_noise(recipe, budget, bound)
    purse = Purse(account, name, budget, version=scores.version, random_state=random_state)
    steps: list[dict[str, Any]] = []
    totals, bins, counting = None, recipe.bins, DiscreteLaplace(TOTALS * budget.exact_epsilon)
    if bins is None:
        first = purse.release(scores.totals(), counting)
        steps.append(_step("class totals", first))
        totals, left = first.values, left - counting.epsilon
        bins = number_of_bins(recipe.method, totals)
    if recipe.method == "recursive-medians":
        share, levels = MEDIANS * budget.exact_epsilon, bins.bit_length() - 1
        cuts, last_median = _medians(purse, scores, SmoothNoise(share / levels), levels)
        steps.append(_step(f"thresholds, {levels} level(s)", last_median) | {"epsilon_a_level": float(share / levels)})
        left -= share
    else:
        cuts = public_cuts(recipe.method, bins)
    layout = Layout(recipe.form, bins, recipe.branching)
    sensitivity = layout.sensitivity(bound)
    mechanism = additive_noise(left, budget.exact_delta, sensitivity)
    last = purse.release(scores.layout(cuts, layout), mechanism, last=True)
    steps.append(_step(f"counts by class and bin ({layout})", last))
    return Counted(
        cuts=cuts,
        layout=layout,
        released=last.values.reshape(2, -1),
        noise_scale=noise_scale(mechanism, sensitivity),
        gaussian=isinstance(mechanism, DiscreteGaussian),
        totals=totals,
        totals_scale=noise_scale(counting, Sensitivity.of_row_counts(bound)),
        receipt=whole_receipt(last, budget, str(recipe), steps, "docs/proofs/roc-family.md"),
    )


def _check_noise(recipe: Recipe, budget: Budget, bound: Bound) -> None:
    """Refuse an ε that is too small for any noise before it is charged: with as many bins as there may be."""
    layout = Layout(recipe.form, recipe.bins or 1 << MOST_LEVELS, recipe.branching)
    rest = DiscreteLaplace((1 - TOTALS - MEDIANS) * budget.exact_epsilon)
    rest.scale(layout.sensitivity(bound))
    DiscreteLaplace(TOTALS * budget.exact_epsilon).scale(Sensitivity.of_row_counts(bound))


def number_of_bins(method: Method, totals: Ints) -> int:
    """As many bins as rows, about, by noisy totals; where each threshold costs noise, as the logarithm of that."""
    rows = max(int(totals.sum()), 1)
    levels = min(max((rows - 1).bit_length(), FEWEST_LEVELS), MOST_LEVELS)
    return 1 << ((levels - 1).bit_length() if method == "laplace" else levels)


def public_cuts(method: Method, bins: int) -> Ints:
    """Thresholds at equal distances: of the scores for "fixed-space", of the public grid for "laplace"."""
    if method == "laplace":
        return np.arange(bins + 1) * (CELLS // bins)
    inner = cells_of(np.arange(1, bins) / bins).astype(np.int64)
    return np.concatenate([[0], inner, [CELLS]])


def _medians(purse: Purse, scores: Scores, level: SmoothNoise, levels: int) -> tuple[Ints, Release]:
    """Cut each interval at its noisy median, level after level; in the middle where that falls outside."""
    cuts = np.array([0, CELLS])
    width = level.ladder(scores.median_sensitivity()).width
    for _ in range(levels):
        release = purse.release(scores.medians(cuts, width), level)
        low, high = cuts[:-1], cuts[1:]
        inside = (release.values > low) & (release.values < high)
        cuts = np.sort(np.concatenate([cuts, np.where(inside, release.values, (low + high) // 2)]))
    return cuts, release


def _step(what: str, release: Release) -> dict[str, Any]:
    return {"what": what, "mechanism": release.receipt["mechanism"], "noise": release.receipt["noise"]}
