"""Which of two classifiers is better, told from two private curves. Public side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from tacit.errors import bad_parameter
from tacit.evaluation.curve import RocCurve
from tacit.evaluation.evidence import Floats
from tacit.evaluation.intervals import check_level

LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """How likely it is that the first classifier beats the second, on new data of the same kind.

    Attributes
    ----------
    probability : float
        That the population's AUC of the first is larger, noise and sampling both counted. 0.5 where ``unknown``.
    difference : float
        Median of the difference in AUC.
    unknown : bool
        Whether one of the curves is unknown, so that its AUC may be anything from 0 to 1.
    labels : (label, label) or None
        The positive labels of the two curves, where they differ: then they may answer different questions.
    """

    probability: float
    difference: float
    _draws: Floats
    _unknown: tuple[RocCurve, RocCurve] | None = None
    labels: tuple[Any, Any] | None = None

    @property
    def unknown(self) -> bool:
        """Whether the AUC of one of the two may be anything."""
        return self._unknown is not None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval for the difference in AUC."""
        tail = (1 - check_level("interval", level)) / 2
        if self._unknown is not None:
            (low, high), (least, most) = (curve.auc_interval(level) for curve in self._unknown)
            return low - most, high - least
        low, high = np.quantile(self._draws, [tail, 1 - tail])
        return float(low), float(high)

    def __repr__(self) -> str:
        low, high = self.interval()
        if self.unknown:
            return "<which is better is unknown, because a class of a curve is too small to be told from an empty one>"
        other = "" if self.note is None else f"; {self.note}"
        return (
            f"<the first is better with probability {self.probability:.2f}; "
            f"difference in AUC {self.difference:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}{other}>"
        )

    @property
    def note(self) -> str | None:
        """What to look into, if there is anything."""
        if self.labels is None:
            return None
        first, second = self.labels
        return f"their positive labels differ, {first!r} and {second!r}: do both curves answer the same question?"


def compare(curve_a: RocCurve, curve_b: RocCurve) -> Comparison:
    """Compare two private ROC curves by the area under them.

    Sampling errors of the two are taken as independent. For two classifiers tested on the same rows they go together,
    mostly in the same direction, so the comparison is then on the careful side.

    Parameters
    ----------
    curve_a, curve_b : RocCurve

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> from tacit import roc_curve
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 4000)
    >>> good, poor = (1 / (1 + np.exp(-rng.normal(d * y))) for d in (2.0, 0.5))
    >>> a, b = (roc_curve(y, s, epsilon=1.0, random_state=0) for s in (good, poor))
    >>> compare(a, b).probability > 0.99
    True
    """
    for name, curve in (("curve_a", curve_a), ("curve_b", curve_b)):
        if not isinstance(curve, RocCurve):
            raise bad_parameter("compare", name, "a curve made by tacit.roc_curve", type(curve).__name__)
    gaps = np.subtract.outer(_areas(curve_a), _areas(curve_b)).ravel()  # each with each: they are independent
    labels = None if curve_a.pos_label == curve_b.pos_label else (curve_a.pos_label, curve_b.pos_label)
    if curve_a.unknown or curve_b.unknown:
        return Comparison(0.5, float(np.median(gaps)), gaps, (curve_a, curve_b), labels)
    ties = float(np.mean(gaps == 0))
    return Comparison(float(np.mean(gaps > 0)) + ties / 2, float(np.median(gaps)), gaps, None, labels)


def _areas(curve: RocCurve) -> Floats:
    """Draws of the area whose quantiles reach the ends of the curve's own interval, at its usual level.

    Those ends hold what draws do not: rows that go unseen. The further a draw is from the middle, as a normal deviate
    of its rank, the more it is moved.
    """
    draws = np.sort(curve.auc_draws())
    deviates = ndtri((np.arange(len(draws)) + 0.5) / len(draws))
    tail = (1 - LEVEL) / 2
    beyond = np.abs(np.quantile(draws, [tail, 1 - tail]) - curve.auc_interval(LEVEL)) / -ndtri(tail)
    return np.asarray(np.clip(draws + np.where(deviates < 0, beyond[0], beyond[1]) * deviates, 0.0, 1.0))
