"""What else the same release tells: confusion matrices, precision, calibration, lift, each with an interval.

Public side; everything here is post-processing of a curve's posterior draws, at no further cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.integrate import trapezoid

from tacit.errors import bad_parameter
from tacit.evaluation.display import plot_band
from tacit.evaluation.evidence import Floats
from tacit.evaluation.intervals import OUTWARD, check_level, is_number, widened
from tacit.evaluation.places import along, fine_cells
from tacit.privacy.grid import CELLS, scores_at

if TYPE_CHECKING:
    from tacit.evaluation.curve import RocCurve

LEVEL = 0.95
MOST_DIGITS = 6
GROUPS = 8
TINY_COST = 1e-9  # costs that differ by less are equal


@dataclass(frozen=True, slots=True, repr=False)
class Estimate:
    """A number with its interval, shown with as many digits as the interval leaves room for.

    Examples
    --------
    >>> Estimate(0.9112, 0.8843, 0.9321)
    0.911 (0.884 to 0.932)
    >>> f"{Estimate(0.9112, 0.8843, 0.9321):.1%}"
    '91.1% (88.4% to 93.2%)'
    """

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __format__(self, form: str) -> str:
        value, low, high = (format(float(number), form or self._digits) for number in (self.value, self.low, self.high))
        return f"{value} ({low} to {high})"

    def __repr__(self) -> str:
        return format(self)

    __str__ = __repr__

    @property
    def _digits(self) -> str:
        width = self.high - self.low
        return f".{min(max(1 - math.floor(math.log10(width)), 0), MOST_DIGITS)}f" if 0 < width < math.inf else ".4g"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Band:
    """A curve with a pointwise interval: ``y`` at ``x``, from ``low`` to ``high``; and what ``x`` and ``y`` are."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    x_label: str
    y_label: str

    def __repr__(self) -> str:
        return f"<{self.y_label} by {self.x_label[0].lower()}{self.x_label[1:]}: {len(self.x)} points with intervals>"

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve and its interval; returns the matplotlib axes."""
        return plot_band(self, ax)


class Outcomes(NamedTuple):
    """True and false positives and negatives, one a draw."""

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats

    @classmethod
    def of(cls, rates: Floats, sizes: Floats) -> Outcomes:
        """What so much of each class above a threshold comes to."""
        (fp, tp), (tn, fn) = (rates * sizes).T, ((1 - rates) * sizes).T
        return cls(tp, fp, fn, tn)


Metric = Callable[[Outcomes], Floats]


@dataclass(frozen=True, slots=True)
class BestThreshold:
    """The threshold of least expected cost, in an interval from ``low`` to ``high``, and its ``cost`` a row.

    It unpacks as a pair: ``threshold, cost = curve.metrics.best_threshold()``. A threshold is infinite where it is best
    to call nothing positive.
    """

    threshold: float
    low: float
    high: float
    cost: Estimate

    @property
    def interval(self) -> tuple[float, float]:
        """Thresholds that may be the best for the population."""
        return self.low, self.high

    def __iter__(self) -> Iterator[Any]:
        return iter((self.threshold, self.cost))

    def __getitem__(self, place: int) -> Any:
        return (self.threshold, self.cost)[place]

    def __len__(self) -> int:
        return 2


class Metrics:
    """Metrics of a classifier from one private release. Get it as ``curve.metrics``.

    Intervals are about the population that the test set was drawn from, with its class balance. They count noise,
    sampling, and that no count tells where between two cuts rows stand.

    Parameters
    ----------
    curve : RocCurve
    """

    def __init__(self, curve: RocCurve) -> None:
        self._curve = curve
        self._cuts = curve.cuts[::-1].astype(np.float64)
        self._places = curve.posterior.places(self._cuts)

    def __repr__(self) -> str:
        return f"<metrics of {self._curve!r}>"

    # -- at one threshold ---------------------------------------------------------------------------------------------

    def confusion_matrix(self, threshold: float, level: float = LEVEL) -> dict[str, Estimate]:
        """Expected numbers of true and false positives and negatives in the test set at a threshold."""
        return self._at(threshold, {name: attrgetter(name) for name in Outcomes._fields}, level, np.inf)

    def accuracy(self, threshold: float, level: float = LEVEL) -> Estimate:
        """Share of right predictions."""
        return self._one(threshold, lambda o: _ratio(o.tp + o.tn, o.tp + o.fp + o.fn + o.tn), level)

    def precision(self, threshold: float, level: float = LEVEL) -> Estimate:
        """Share of positives among predicted positives."""
        return self._one(threshold, lambda o: _ratio(o.tp, o.tp + o.fp), level)

    def recall(self, threshold: float, level: float = LEVEL) -> Estimate:
        """Share of positives that are predicted."""
        return self._one(threshold, lambda o: _ratio(o.tp, o.tp + o.fn), level)

    def f1(self, threshold: float, level: float = LEVEL) -> Estimate:
        """Harmonic mean of precision and recall."""
        return self._one(threshold, lambda o: _ratio(2 * o.tp, 2 * o.tp + o.fp + o.fn), level)

    # -- curves -------------------------------------------------------------------------------------------------------

    def precision_recall(self, level: float = LEVEL) -> Band:
        """Precision at recalls from 0 to 1."""
        recalls = np.linspace(0.0, 1.0, 101)
        band = self._band(recalls, self._precision_at(recalls), level, "Recall", "Precision")
        return replace(band, high=np.ones_like(recalls)) if self._perhaps_perfect(level) else band

    def average_precision(self, level: float = LEVEL) -> Estimate:
        """Area under the precision–recall curve, as it is when ties are broken at random.

        Scikit-learn's ``average_precision_score`` takes rows of one score together, at the precision of the last one.
        So its value is lower where many rows share few scores.
        """
        recalls = np.linspace(0.0, 1.0, 401)
        found = self._estimate(np.asarray(trapezoid(self._precision_at(recalls), recalls, axis=1)), level)
        return Estimate(found.value, found.low, 1.0) if self._perhaps_perfect(level) else found

    def lift(self, level: float = LEVEL) -> Band:
        """How many times more positives than by chance are in the top share of the scores, at shares up to 1."""
        shares = np.linspace(0.01, 1.0, 100)
        paths = self._curve.posterior.paths
        taken = _mixed(paths.rates, paths.sizes)
        found = along(shares, taken, paths.rates[:, 1])
        return self._band(shares, found / shares, level, "Share of rows, highest scores first", "Lift", 1 / shares)

    def calibration(self, level: float = LEVEL) -> Band:
        """Share of positives in each eighth of the rows, by its mean score: for scores that are probabilities.

        Neither is known for sure. The interval holds what the share would be at the score that is shown: by how much
        shares and mean scores differ is read from draws in which both move.
        """
        means, shares = (part[:, ::-1] for part in self._groups())
        scores = np.maximum.accumulate(np.median(means, axis=0))
        return self._band(scores, np.clip(scores + shares - means, 0.0, 1.0), level, "Score", "Share of positives")

    def calibration_error(self, level: float = LEVEL) -> Estimate:
        """Expected calibration error: mean distance of scores and shares of positives, over eighths of the rows.

        Noise makes the error of a draw larger, never smaller. So the value is that of the middle of all draws, and the
        interval begins where it would be without what draws differ by.
        """
        means, shares = self._groups()
        gaps = shares - means
        middle = np.median(gaps, axis=0)
        value = float(np.abs(middle).mean())
        apart = self._curve.room() * np.quantile(np.abs(gaps - middle).mean(axis=1), check_level("metrics", level))
        low, high = self._curve.score_range
        found = self._estimate(np.abs(gaps).mean(axis=1), level, max(high, 1 - low))
        return Estimate(value, max(min(value - float(apart), found.low), 0.0), max(value, found.high))

    def best_threshold(
        self, false_positive: float = 1.0, false_negative: float = 1.0, level: float = LEVEL
    ) -> BestThreshold:
        """The threshold of least expected cost with that cost a row, and an interval for either."""
        for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
            if not (is_number(cost) and 0 <= cost < np.inf):
                raise bad_parameter("best_threshold", name, "a cost of at least 0", cost)
        (fpr, tpr), sizes = np.moveaxis(self._fine, 1, 0), self._places.sizes
        sums = false_positive * fpr * sizes[:, :1] + false_negative * (1 - tpr) * sizes[:, 1:]
        costs = _ratio(sums, sizes.sum(axis=1, keepdims=True))
        middle = np.median(costs, axis=0)
        least = middle <= middle.min() + TINY_COST * max(false_positive, false_negative)
        # Of those that are as good in the middle of the draws, the one that fewer draws make dear.
        best = int(np.argmin(np.where(least, costs.mean(axis=0), np.inf)))
        spent = self._estimate(costs[:, best], level, max(false_positive, false_negative))
        found = self._cells[np.argmin(costs, axis=1)]
        low, _, high = self._quantiles(found, level, float(CELLS))
        if not self._curve.unknown:
            low, high = max(low, found.min()), min(high, found.max())  # beyond, no draw has its best threshold
        cells = np.array([self._cells[best], min(low, self._cells[best]), max(high, self._cells[best])])
        threshold, first, last = (float(score) for score in self._scores(cells))
        return BestThreshold(threshold, first, last, spent)

    # -- how it works -------------------------------------------------------------------------------------------------

    def _at(self, threshold: float, metrics: dict[str, Metric], level: float, most: float = 1.0) -> dict[str, Estimate]:
        """Metrics of outcomes at a threshold: values are those of the middle outcome, so that they fit each other."""
        low, high = self._curve.score_range
        if not is_number(threshold):
            remedy = "A row with a score of at least that is called positive."
            raise bad_parameter("metrics", "threshold", "a number", threshold, remedy)
        cell = self._curve.cell_of((float(threshold) - low) / (high - low))
        rates, sizes = self._places.rates(np.array([cell]))[:, :, 0], self._places.sizes
        moved, middle = self._unseen(cell, rates), np.median(sizes, axis=0, keepdims=True)
        found = {}
        for name, metric in metrics.items():
            estimate = self._estimate(metric(Outcomes.of(rates, sizes)), level, most)
            others = np.clip(metric(Outcomes.of(moved, middle)), 0.0, most)
            ends = min(estimate.low, *others), max(estimate.high, *others)
            found[name] = Estimate(float(others[0]), float(ends[0]), float(ends[1]))
        return found

    def _one(self, threshold: float, metric: Metric, level: float) -> Estimate:
        return self._at(threshold, {"it": metric}, level)["it"]

    def _unseen(self, cell: float, rates: Floats) -> Floats:
        """The middle of the rates at a cell, and that with as many rows of one class moved over it as may go unseen.

        Nothing is beyond the ends of the range.
        """
        middle = np.median(rates, axis=0)
        if not 0 < cell < CELLS:
            return middle[None]
        rows = self._curve.unseen
        aside, up = rows / np.maximum(np.median(self._places.sizes, axis=0), 2 * rows)
        steps = np.array([[0.0, 0.0], [aside, 0.0], [-aside, 0.0], [0.0, up], [0.0, -up]])
        return np.asarray(np.clip(middle + steps, 0.0, 1.0))

    def _perhaps_perfect(self, level: float) -> bool:
        """Whether the curve's own interval holds a perfect curve, whose precision is 1 everywhere."""
        return self._curve.auc_interval(check_level("metrics", level))[1] >= 1

    def _precision_at(self, recalls: Floats) -> Floats:
        paths = self._curve.posterior.paths
        # As few false positives as do: at recall 1, which rounding keeps draws from, those of the lowest positive.
        reached = np.minimum(recalls, 1 - OUTWARD)
        false = along(reached, paths.rates[:, 1], paths.rates[:, 0], side="left") * paths.sizes[:, :1]
        true = recalls * paths.sizes[:, 1:]
        found = _ratio(true, true + false)
        found[:, 0] = found[:, 1]
        return found

    @cached_property
    def _cells(self) -> Floats:
        return fine_cells(self._cuts)

    @cached_property
    def _fine(self) -> Floats:
        return self._places.rates(self._cells)

    def _groups(self) -> tuple[Floats, Floats]:
        """Mean score and share of positives of eighths of the rows, the highest scores first, for each draw."""
        taken = _mixed(self._fine, self._places.sizes)
        scores = self._scores(np.minimum(self._cells, CELLS - 1))
        steps = np.diff(taken, axis=1) * (scores[:-1] + scores[1:]) / 2
        sums = np.pad(np.cumsum(steps, axis=1), ((0, 0), (1, 0)))
        ends = np.linspace(0.0, 1.0, GROUPS + 1)
        means = GROUPS * np.diff(along(ends, taken, sums), axis=1)
        positives = along(ends, taken, self._fine[:, 1])
        return means, GROUPS * np.diff(positives, axis=1) * self._prevalence[:, None]

    @property
    def _prevalence(self) -> Floats:
        return _ratio(self._places.sizes[:, 1], self._places.sizes.sum(axis=1))

    def _scores(self, cells: Floats) -> Floats:
        low, high = self._curve.score_range
        return np.asarray(low + (high - low) * scores_at(cells.astype(np.int64)))

    def _estimate(self, draws: Floats, level: float, most: float = 1.0) -> Estimate:
        low, middle, high = self._quantiles(draws, level, most)
        return Estimate(float(middle), float(low), float(high))

    def _band(
        self, x: Floats, draws: Floats, level: float, x_label: str, y_label: str, most: float | Floats = 1.0
    ) -> Band:
        low, middle, high = self._quantiles(draws, level, most)
        return Band(x, middle, low, high, x_label, y_label)

    def _quantiles(self, draws: Floats, level: float, most: float | Floats) -> tuple[Floats, Floats, Floats]:
        """Lower end, middle and upper end: wider than draws say by as much as intervals of the AUC are."""
        low, middle, high = widened(draws, check_level("metrics", level), self._curve.room())
        if self._curve.unknown:
            return np.zeros_like(middle), middle, np.broadcast_to(most, middle.shape)
        return np.maximum(low, 0.0), middle, np.minimum(high, most)


def _mixed(rates: Floats, sizes: Floats) -> Floats:
    """The share of all rows that is taken where so much of each class is."""
    weights = sizes / sizes.sum(axis=1, keepdims=True)
    return np.asarray((weights[:, :, None] * rates).sum(axis=1))


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part / np.maximum(whole, 1e-9))
