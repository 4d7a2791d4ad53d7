"""What to expect before any budget is spent: formulae, and the real mechanism on made-up data. Sees nothing private."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri

from tacit.desk.counts import public_max_ones
from tacit.errors import bad_parameter
from tacit.evaluation.display import axes
from tacit.evaluation.roc import roc_curve
from tacit.ledger import Ledger
from tacit.models.naive_bayes import LABEL_SHARE
from tacit.privacy.budget import Budget, exact
from tacit.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace
from tacit.privacy.unit import Bound, Sensitivity, Unit, check_count

Floats = NDArray[np.float64]

OWNER = "forecast"
USUAL_ONES = 12
BY_CHANCE = 0.05
"""Chance that noise alone makes any of the features stand out."""

LARGEST = 1_000_000
"""Test rows of a class that are simulated at most: with more, nothing gets wider."""

LEAST_EPSILON, MOST_EPSILON = 0.01, 20.0
"""Where an ε for a wanted precision is looked for."""

STEADY = 5
"""Runs, at least, behind each width on the way there: they jump where the number of bins does."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What one ε buys.

    Attributes
    ----------
    epsilon, delta : float
    auc_width : float
        Width of the 95 % interval of the area under the ROC curve, sampling and noise together.
    band_width : float
        Mean height of the 95 % band of the whole curve.
    features_told : int
        How many features stand out of the noise in counts of the training set, if frequencies follow Zipf's law.
    rows_needed : int
        In how many training rows a feature must be for that.
    fpr, low, high : arrays
        The mean band.
    """

    epsilon: float
    delta: float
    auc_width: float
    band_width: float
    features_told: int
    rows_needed: int
    fpr: Floats
    low: Floats
    high: Floats

    def to_dict(self) -> dict[str, Any]:
        """The numbers alone."""
        names = ("epsilon", "delta", "auc_width", "band_width", "features_told", "rows_needed")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect for several ε; prints as a table. Made by :func:`tacit.forecast`.

    Attributes
    ----------
    expected : tuple of Expected
        One for each ε.
    assumed : dict
        What was taken for granted.
    wanted : dict, or None
        For a wanted width of the AUC's interval: ``auc_width``, the ``epsilon`` that reaches it or None, and how many
        ``rows`` it takes where no ε does.
    """

    expected: tuple[Expected, ...]
    assumed: dict[str, Any]
    wanted: dict[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"assumed": self.assumed, "expected": [e.to_dict() for e in self.expected], "wanted": self.wanted}

    def plot(self, ax: Any = None) -> Any:
        """Draw the band of the ROC curve for each ε; returns the matplotlib axes."""
        ax = axes(ax)
        for expected in sorted(self.expected, key=lambda e: e.epsilon):
            label = f"ε = {expected.epsilon:g}: AUC ± {expected.auc_width / 2:.3f}"
            ax.fill_between(expected.fpr, expected.low, expected.high, alpha=0.25, linewidth=0, label=label)
        fpr = self.expected[0].fpr
        ax.plot(fpr, ndtr(ndtri(fpr) + _separation(self.assumed["auc"])), color="black", linewidth=1)
        ax.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle=":")
        ax.set(xlabel="False-positive rate", ylabel="True-positive rate", xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
        ax.set_title(f"What to expect of {self.assumed['test_rows']:,} test rows", fontsize="medium")
        ax.legend(loc="lower right", fontsize="small")
        return ax

    def __str__(self) -> str:
        a = self.assumed
        lines = [
            f"{a['train_rows']:,} rows to train on, {a['test_rows']:,} to test on ({a['test_positives']:,} positive), "
            f"{a['features']:,} features; a classifier with an AUC of {a['auc']:g}.",
            "",
            f"{'ε':>8}  {'AUC, 95 %':>10}  {'ROC band':>9}  {'counts above noise':>18}  {'rows needed':>11}",
        ]
        for e in self.expected:
            area, band = f"± {e.auc_width / 2:.4f}", f"± {e.band_width / 2:.3f}"
            lines.append(f"{e.epsilon:>8g}  {area:>10}  {band:>9}  {e.features_told:>18,}  {e.rows_needed:>11,}")
        if self.wanted is not None:
            lines += ["", _sentence(self.wanted)]
        return "\n".join(lines)

    __repr__ = __str__  # notebooks show it


def forecast(
    *,
    rows: int,
    positives: int,
    features: int,
    epsilon: float | Iterable[float],
    delta: float = 0.0,
    auc: float = 0.8,
    ones: int | None = None,
    test_size: float = 0.3,
    rows_per_unit: int = 1,
    auc_width: float | None = None,
    repeats: int = 3,
) -> Forecast:
    """Tell what to expect of a data set of this size, before any of its budget is spent. Uses no private data.

    Widths come from the real mechanism on made-up scores (median of ``repeats`` runs); the number of features from a
    formula. Training and test set are disjoint, so each may use the whole ε.

    Parameters
    ----------
    rows, positives, features : int
        About how many there are. They are published by asking: use what is publicly known.
    epsilon : float, or several
    delta : float, default 0.0
    auc : float, default 0.8
        How good the classifier is taken to be.
    ones : int, optional
        How many features a row has, about. Default: 12, or all of them if there are fewer.
    test_size : float, default 0.3
    rows_per_unit : int, default 1
        Rows of a person, where persons are protected.
    auc_width : float, optional
        Look for the ε that makes the AUC's 95 % interval this wide.
    repeats : int, default 3

    Returns
    -------
    Forecast

    Examples
    --------
    >>> few, many = forecast(rows=10_000, positives=1_000, features=500, epsilon=[0.1, 1.0], repeats=1).expected
    >>> bool(many.auc_width < few.auc_width and many.features_told > few.features_told)
    True
    """
    case = _Case(*map(_plain, (rows, positives, features, auc, ones, test_size, rows_per_unit, repeats)))
    several = list(epsilon) if np.iterable(epsilon) else [epsilon]
    budgets = [Budget(value, delta) for value in several]
    if not budgets:
        raise bad_parameter(OWNER, "epsilon", "at least one number above 0", several)
    auc_width = _plain(auc_width)
    if auc_width is not None:
        _check_between("auc_width", auc_width, 0, 1)
    expected = tuple(case.expect(budget) for budget in budgets)
    wanted = None if auc_width is None else case.look_for(float(auc_width), delta)
    return Forecast(expected, case.assumed(), wanted)


@dataclass(frozen=True, slots=True)
class _Case:
    """A data set as it is publicly known, and a classifier as it is hoped for."""

    rows: int
    positives: int
    features: int
    auc: float
    ones: int | None
    test_size: float
    rows_per_unit: int
    repeats: int

    def __post_init__(self) -> None:
        for name in ("rows", "positives", "features", "rows_per_unit", "repeats"):
            check_count(OWNER, name, getattr(self, name))
        if self.positives >= self.rows:
            raise bad_parameter(OWNER, "positives", "fewer than rows", self.positives)
        if self.ones is not None and check_count(OWNER, "ones", self.ones) > self.features:
            raise bad_parameter(OWNER, "ones", "at most the number of features", self.ones)
        _check_between("auc", self.auc, 0.5, 1)
        _check_between("test_size", self.test_size, 0, 1)

    @property
    def length(self) -> int:
        """How many features a row has."""
        return min(USUAL_ONES, self.features) if self.ones is None else self.ones

    def assumed(self) -> dict[str, Any]:
        """What the forecast takes for granted."""
        negatives, positives = self._test()
        return {
            "rows": self.rows,
            "positives": self.positives,
            "features": self.features,
            "ones": self.length,
            "auc": self.auc,
            "test_size": self.test_size,
            "rows_per_unit": self.rows_per_unit,
            "train_rows": self.rows - negatives - positives,
            "test_rows": negatives + positives,
            "test_positives": positives,
        }

    def _test(self) -> tuple[int, int]:
        """Negatives and positives of the test set."""
        share = self.test_size
        return max(1, round(share * (self.rows - self.positives))), max(1, round(share * self.positives))

    # -- the curve ----------------------------------------------------------------------------------------------------

    def expect(self, budget: Budget) -> Expected:
        """Simulate curves at one ε, and work out what can be counted."""
        curves = [self._curve(budget, seed) for seed in range(self.repeats)]
        fpr = np.unique(np.concatenate([curve.fpr for curve in curves]))  # ties make knees, each in its own place
        bands = [[np.interp(fpr, curve.fpr, side) for side in curve.band()] for curve in curves]
        low, high = np.mean(bands, axis=0)
        heights = [np.sum(np.diff(fpr) * (above - below)[1:]) for below, above in bands]
        told, needed = self._features(budget)
        return Expected(
            epsilon=budget.epsilon,
            delta=budget.delta,
            auc_width=_width(curves),
            band_width=float(np.median(heights)),
            features_told=told,
            rows_needed=needed,
            fpr=fpr,
            low=low,
            high=high,
        )

    def _curve(self, budget: Budget, seed: int) -> Any:
        """The real mechanism, on scores of two normal classes whose distance makes the AUC."""
        negatives, positives = (min(number, LARGEST) for number in self._test())
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [negatives, positives])
        distance = _separation(self.auc)
        latent = rng.standard_normal(len(y)) + distance * y
        scores = expit(distance * latent - distance**2 / 2 + math.log(positives / negatives))
        unit = Unit.row() if self.rows_per_unit == 1 else Unit.user("person", max_rows=self.rows_per_unit)
        persons = None if self.rows_per_unit == 1 else np.arange(len(y)) // self.rows_per_unit
        account = Ledger.open().account("made up", budget=budget, unit=unit)
        return roc_curve(
            y,
            scores,
            epsilon=budget.epsilon,
            delta=budget.delta,
            persons=persons,
            account=account,
            random_state=seed,
        )

    def look_for(self, auc_width: float, delta: float) -> dict[str, Any]:
        """Find the ε at which the AUC's interval is as narrow as wanted, by halving."""

        def width(epsilon: float) -> float:
            budget = Budget(round(epsilon, 6), delta)
            return _width([self._curve(budget, seed) for seed in range(max(self.repeats, STEADY))])

        best = width(MOST_EPSILON)
        if best > auc_width:
            rows = math.ceil(self.rows * (best / auc_width) ** 2)
            return {"auc_width": auc_width, "epsilon": None, "rows": int(float(f"{rows:.2g}"))}
        low, high = math.log(LEAST_EPSILON), math.log(MOST_EPSILON)
        while high - low > 0.05:
            middle = (low + high) / 2
            low, high = (low, middle) if width(math.exp(middle)) <= auc_width else (middle, high)
        return {"auc_width": auc_width, "epsilon": float(f"{math.exp(high):.2g}"), "rows": None}

    # -- the features -------------------------------------------------------------------------------------------------

    def _features(self, budget: Budget) -> tuple[int, int]:
        """How many features stand out in counts by label and feature, and in how many rows one must be for that.

        The j-th feature is in a share min(1, c/j) of the rows, with c so that a row has ``ones`` of them. Of a row at
        most r are counted, by the public rule. A feature stands out if its count passes what the largest of all noises
        reaches with probability 5 %.
        """
        negatives, positives = self._test()
        train = self.rows - negatives - positives
        r = public_max_ones(train, self.features, budget.exact_epsilon)
        counted = min(1.0, r / self.length)
        needed = self._noise_reach(budget, r) / counted
        frequent = _zipf(self.features, self.length)
        told = min(self.features, int(train * frequent / needed)) if train >= needed else 0
        return told, math.ceil(needed)

    def _noise_reach(self, budget: Budget, r: int) -> float:
        """What the largest noise on a feature's total over two labels passes with probability ``BY_CHANCE``."""
        sensitivity = Sensitivity.of_feature_counts(Bound(rows=self.rows_per_unit, ones=r))
        epsilon = budget.exact_epsilon * exact(1 - LABEL_SHARE, OWNER, "share", "a number")
        if budget.exact_delta:
            deviation = math.sqrt(2 * DiscreteGaussian(epsilon, budget.exact_delta).variance(sensitivity))
            return -deviation * float(ndtri(BY_CHANCE / self.features))
        scale = float(DiscreteLaplace(epsilon).scale(sensitivity))
        reach = 1.0
        for _ in range(50):  # P(sum of two Laplace > t scales) = (1/2 + t/4)·exp(−t)
            reach = math.log(self.features * (0.5 + reach / 4) / BY_CHANCE)
        return scale * reach


def _plain(value: Any) -> Any:
    """Python's own number in place of numpy's."""
    return value.item() if isinstance(value, np.generic) else value


def _check_between(name: str, value: Any, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
        raise bad_parameter(OWNER, name, f"a number between {low} and {high}", value)


def _width(curves: list[Any]) -> float:
    return float(np.median([high - low for low, high in (curve.auc_interval() for curve in curves)]))


def _separation(auc: float) -> float:
    return math.sqrt(2) * float(ndtri(auc))


def _zipf(features: int, ones: int) -> float:
    """The c for which the shares min(1, c/j) of ``features`` features add up to ``ones``."""
    low, high = 0.0, float(features)
    for _ in range(60):
        c = (low + high) / 2
        total = c + c * math.log(features / c) if c >= 1 else c * (math.log(features) + 0.5772)
        low, high = (low, c) if total >= ones else (c, high)
    return high


def _sentence(wanted: dict[str, Any]) -> str:
    half = wanted["auc_width"] / 2
    if wanted["epsilon"] is None:
        return (
            f"An AUC to within ± {half:g} cannot be had from so few rows, whatever ε is: it takes about "
            f"{wanted['rows']:,} rows."
        )
    return f"An AUC to within ± {half:g} takes about ε = {wanted['epsilon']:g}."
