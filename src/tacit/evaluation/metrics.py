"""What else the same release tells: confusion matrices, precision, calibration, lift, each with an interval.

Public side; everything here is post-processing of a curve's posterior draws, at no further cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import trapezoid

from tacit.errors import bad_parameter
from tacit.evaluation.display import plot_band
from tacit.evaluation.model import Floats
from tacit.evaluation.posterior import rates_of
from tacit.privacy.grid import scores_at

if TYPE_CHECKING:
    from tacit.evaluation.curve import RocCurve

LEVEL = 0.95
GROUPS = 8


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval.

    Examples
    --------
    >>> print(Estimate(0.91, 0.88, 0.93))
    0.91 (0.88 to 0.93)
    """

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


@dataclass(frozen=True, slots=True)
class Band:
    """A curve with a pointwise interval: ``y`` at ``x``, from ``low`` to ``high``; and what ``x`` and ``y`` are."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    x_label: str
    y_label: str

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve and its interval; returns the matplotlib axes."""
        return plot_band(self, ax)


class Metrics:
    """Metrics of a classifier from one private release. Get it as ``curve.metrics``.

    Intervals are about the population that the test set was drawn from, with its class balance.

    Parameters
    ----------
    curve : RocCurve
    """

    def __init__(self, curve: RocCurve) -> None:
        self._curve = curve
        draws = curve.posterior
        self._counts = draws.population  # (draws, class, bin from the highest scores down)
        self._rates = rates_of(self._counts)
        self._sizes = self._counts.sum(axis=2)
        self._cuts = curve.cuts[::-1].astype(np.float64)

    # -- at one threshold ---------------------------------------------------------------------------------------------

    def confusion_matrix(self, threshold: float, level: float = LEVEL) -> dict[str, Estimate]:
        """Expected numbers of true and false positives and negatives in the test set at a threshold."""
        true, false = self._predicted(threshold)
        parts = {"tp": true, "fp": false, "fn": self._sizes[:, 1] - true, "tn": self._sizes[:, 0] - false}
        return {name: self._estimate(values, level, 0.0, np.inf) for name, values in parts.items()}

    def accuracy(self, threshold: float, level: float = LEVEL) -> Estimate:
        """Share of right predictions."""
        true, false = self._predicted(threshold)
        right = true + self._sizes[:, 0] - false
        return self._estimate(right / self._sizes.sum(axis=1), level)

    def precision(self, threshold: float, level: float = LEVEL) -> Estimate:
        """Share of positives among predicted positives."""
        true, false = self._predicted(threshold)
        return self._estimate(_ratio(true, true + false), level)

    def recall(self, threshold: float, level: float = LEVEL) -> Estimate:
        """Share of positives that are predicted."""
        return self._estimate(self._predicted(threshold)[0] / self._sizes[:, 1], level)

    def f1(self, threshold: float, level: float = LEVEL) -> Estimate:
        """Harmonic mean of precision and recall."""
        true, false = self._predicted(threshold)
        return self._estimate(2 * true / (true + false + self._sizes[:, 1]), level)

    # -- curves -------------------------------------------------------------------------------------------------------

    def precision_recall(self, level: float = LEVEL) -> Band:
        """Precision at recalls from 0 to 1."""
        recalls = np.linspace(0.0, 1.0, 101)
        return self._band(recalls, self._precision_at(recalls), level, "Recall", "Precision")

    def average_precision(self, level: float = LEVEL) -> Estimate:
        """Area under the precision–recall curve."""
        recalls = np.linspace(0.0, 1.0, 401)
        return self._estimate(np.asarray(trapezoid(self._precision_at(recalls), recalls, axis=1)), level)

    def lift(self, level: float = LEVEL) -> Band:
        """How many times more positives than by chance are in the top share of the scores, at shares up to 1."""
        shares = np.linspace(0.01, 1.0, 100)
        weights = self._sizes / self._sizes.sum(axis=1, keepdims=True)
        taken = weights[:, :1] * self._rates[:, 0] + weights[:, 1:] * self._rates[:, 1]
        found = np.stack([np.interp(shares, t, r) for t, r in zip(taken, self._rates[:, 1], strict=True)])
        return self._band(shares, found / shares, level, "Share of rows, highest scores first", "Lift")

    def calibration(self, level: float = LEVEL) -> Band:
        """Share of positives among neighbouring scores, in eight groups: for scores that are probabilities."""
        middles, positives, both = self._groups()
        order = np.argsort(np.median(middles, axis=0))
        shares = _ratio(positives, both)[:, order]
        return self._band(np.median(middles, axis=0)[order], shares, level, "Score", "Share of positives")

    def calibration_error(self, level: float = LEVEL) -> Estimate:
        """Expected calibration error over the same eight groups. Noise makes it larger, never smaller."""
        middles, positives, both = self._groups()
        gaps = np.abs(_ratio(positives, both) - middles)
        return self._estimate((gaps * both).sum(axis=1) / both.sum(axis=1), level)

    def best_threshold(self, false_positive: float = 1.0, false_negative: float = 1.0) -> tuple[float, Estimate]:
        """The threshold of least expected cost, and that cost a row."""
        for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
            if not 0 <= cost < np.inf:
                raise bad_parameter("best_threshold", name, "a cost of at least 0", cost)
        costs = (
            false_positive * self._rates[:, 0] * self._sizes[:, :1]
            + false_negative * (1 - self._rates[:, 1]) * self._sizes[:, 1:]
        ) / self._sizes.sum(axis=1, keepdims=True)
        best = int(np.argmin(np.median(costs, axis=0)))
        (threshold,) = self._scores(self._cuts[[best]])
        return float(threshold), self._estimate(costs[:, best], LEVEL, 0.0, np.inf)

    # -- how it works -------------------------------------------------------------------------------------------------

    def _predicted(self, threshold: float) -> tuple[Floats, Floats]:
        """True and false positives at a threshold; bins are taken as even along the grid."""
        low, high = self._curve.score_range
        if not isinstance(threshold, int | float) or threshold != threshold:
            raise bad_parameter("metrics", "threshold", "a number", threshold)
        cell = self._curve.cell_of((threshold - low) / (high - low))
        place = np.interp(-cell, -self._cuts, np.arange(len(self._cuts)))
        index, share = int(min(place, len(self._cuts) - 2)), place - int(min(place, len(self._cuts) - 2))
        rates = self._rates[:, :, index] * (1 - share) + self._rates[:, :, index + 1] * share
        return rates[:, 1] * self._sizes[:, 1], rates[:, 0] * self._sizes[:, 0]

    def _precision_at(self, recalls: Floats) -> Floats:
        rows = []
        for (fpr, tpr), (negatives, positives) in zip(self._rates, self._sizes, strict=True):
            false = np.interp(recalls, tpr, fpr) * negatives
            rows.append(_ratio(recalls * positives, recalls * positives + false))
        found = np.stack(rows)
        found[:, 0] = found[:, 1]
        return found

    def _groups(self) -> tuple[Floats, Floats, Floats]:
        """Mean score, positives and all rows of up to eight runs of bins, for each draw."""
        both = self._counts.sum(axis=1)
        shape = (len(both), min(GROUPS, both.shape[1]), -1)
        middles = self._scores((self._cuts[:-1] + self._cuts[1:]) / 2)
        sums = both.reshape(shape).sum(axis=2)
        means = _ratio((both * middles).reshape(shape).sum(axis=2), sums)
        return means, self._counts[:, 1].reshape(shape).sum(axis=2), sums

    def _scores(self, cells: Floats) -> Floats:
        low, high = self._curve.score_range
        return np.asarray(low + (high - low) * scores_at(cells.astype(np.int64)))

    def _estimate(self, draws: Floats, level: float, least: float = 0.0, most: float = 1.0) -> Estimate:
        low, middle, high = _quantiles(draws, level)
        if self._curve.unknown:
            return Estimate(float(middle), least, most)
        return Estimate(float(middle), float(low), float(high))

    def _band(self, x: Floats, draws: Floats, level: float, x_label: str, y_label: str) -> Band:
        low, middle, high = _quantiles(draws, level)
        return Band(x, middle, low, high, x_label, y_label)


def _quantiles(draws: Floats, level: float) -> Floats:
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 <= level < 1:
        raise bad_parameter("metrics", "level", "a number from 0.5 to below 1", level)
    tail = (1 - level) / 2
    return np.asarray(np.quantile(draws, [tail, 0.5, 1 - tail], axis=0))


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part / np.maximum(whole, 1e-9))
