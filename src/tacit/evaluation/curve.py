"""A private ROC curve: what the desk released, read as a curve with its uncertainty. Public side.

The curve is the pointwise median of its posterior, which is the best guess under the area between curves, with more
weight on curves as most classifiers have them; bands and intervals are about the population that the test set was
drawn from, so they hold both noise and sampling, and give no curve more weight than another.
"""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import trapezoid

from tacit.desk.cutting import FEWEST_BINS
from tacit.desk.roc_family import Counted
from tacit.desk.scores import Binned
from tacit.evaluation.display import curve_notes, plot_roc, roc_html, shown_area
from tacit.evaluation.draws import MODEL_BINS, NUMBER, Draws
from tacit.evaluation.evidence import Evidence, Floats
from tacit.evaluation.intervals import ROWS, check_level, widened
from tacit.evaluation.metrics import Metrics
from tacit.privacy.grid import CELLS, cells_of, scores_at
from tacit.privacy.release import Receipt

# Intervals are wider than the posterior says, for curves unlike those of the model: by this factor, and by more where
# the release cannot correct the model, because the noise of a class total is large beside the class, or because the
# smaller class has few rows: over their number, up to a limit.
ROOM, MORE_ROOM, LARGE_NOISE, FEW_ROWS, MOST_FOR_FEW = 1.05, 0.06, 0.1, 5.0, 0.3
# A band holds whole curves, and needs somewhat less of that; but the more rows, the narrower it is, and the more it is
# the model that is off: more for each tenfold of so many rows of each class, up to a limit.
BAND_LESS, BAND_MORE, MANY_ROWS, MOST_TENFOLD = 0.08, 0.12, 1000, 2.0
# And more where bins are full of one class while the other, of which there are many rows elsewhere, cannot be told from
# none: how many of it there are, only the model says, and where they are counts for more than how many. In standard
# deviations of noise: where a bin begins to be full and where it is, the same for many rows of a class, and where a bin
# is no longer empty.
BLIND, BAND_BLIND, FULL, MANY, EMPTY = 0.5, 0.85, (20.0, 60.0), (60.0, 180.0), 2.5
BAND_WHOLE = 0.08  # and where some bins were left whole: how the curve runs inside of them, only the model says
PLACES = 2.0  # rows that may go unseen beyond three, for each e-fold of bins beyond the fewest
CERTAIN = 1.75  # standard deviations of its noise must a class total be above 0: noise alone is in 1 of 25 cases
TAIL = 0.025  # of the pointwise intervals that a simultaneous band multiplies
NEXT_TO = 0.0125  # so near to 0 or 1, and within three rows of it, an area must be for its curve to be perhaps perfect
CORNER = 0.001  # of an area, or of false positives: what is hidden in a corner of a curve that is nearly perfect


class RocCurve:
    """A private ROC curve, made by :func:`tacit.roc_curve`.

    Attributes
    ----------
    fpr, tpr : arrays
        From (0, 0) to (1, 1), both ascending.
    thresholds : array
        Scores from infinity down; ``score >= threshold`` is a positive prediction.
    auc : float
        Area under the curve.
    unknown : bool
        Whether a class is too small to be told from an empty one: then the band is everything from 0 to 1.
    receipt : Receipt
    """

    def __init__(self, binned: Binned, score_range: tuple[float, float], pos_label: Any) -> None:
        self._binned = binned
        self._evidence = Evidence.of(binned)
        self.score_range = score_range
        self.pos_label = pos_label
        noise = math.sqrt(self._evidence.counts.shape[1] * self._evidence.noise.variance)
        self.unknown = bool(self._evidence.counts.sum(axis=1).min() < max(CERTAIN * noise, 1.0))
        self.fpr = self.posterior.grid
        self.tpr = np.clip(np.maximum.accumulate(self.posterior.best_guess()), 0.0, 1.0)
        self.tpr[0], self.tpr[-1] = 0.0, 1.0
        self.auc = float(trapezoid(self.tpr, self.fpr))
        for array in (self.fpr, self.tpr):
            array.flags.writeable = False

    @cached_property
    def thresholds(self) -> Floats:
        """The score at each point, from infinity down, as metrics place scores inside of bins."""
        cells = self.posterior.cells(self.cuts[::-1].astype(np.float64), (self.fpr + self.tpr) / 2)
        low, high = self.score_range
        found = low + (high - low) * scores_at(np.minimum(np.ceil(cells), CELLS - 1).astype(np.int64))
        scores: Floats = np.minimum.accumulate(np.minimum(found, high))
        scores[0], scores[-1] = np.inf, low
        scores.flags.writeable = False
        return scores

    @property
    def receipt(self) -> Receipt:
        """What was released, what it cost, and why that is enough."""
        return self._binned.receipt

    @property
    def notes(self) -> list[str]:
        """What whoever reads the curve should look into, in words; told by the release."""
        return curve_notes(self)

    @property
    def share_at_ends(self) -> float:
        """The share of rows that surely score at the very ends of the range; 0 where these were not counted."""
        return self._evidence.share_at_ends

    @property
    def release(self) -> Binned | Counted:
        """The public numbers that the curve is read from."""
        return self._binned

    def auc_interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval for the area under the population's curve, noise and sampling included.

        It holds ``auc``, and what that would be had three rows of one class (with many bins, up to seven) stood where
        they do most, since three in n may go unseen. It ends at 0 or 1 where that is next to its end, and the band
        holds such a curve. Then the other end alone can be wrong, and that as often as otherwise both.
        """
        check_level("auc_interval", level)
        if self.unknown:
            return 0.0, 1.0
        below, above = (np.interp([CORNER, 1 - CORNER], self.fpr, side) for side in self.band(level))
        first, last = self._area_ends(level)
        worst, best = first < CORNER and below[1] <= 0, last > 1 - CORNER and above[0] >= 1
        first, last = self._area_ends(2 * level - 1 if worst != best else level)
        return 0.0 if worst else first, 1.0 if best else last

    def _area_ends(self, level: float) -> tuple[float, float]:
        """Ends of the interval, as far as draws and rows that may go unseen tell them."""
        low, _, high = widened(self.auc_draws(), level, self.room())
        least, most = _unseen_areas(self.posterior.coarse, self.posterior.middle, self._unseen_share)
        return max(min(float(low), least, self.auc), 0.0), min(max(float(high), most, self.auc), 1.0)

    def auc_draws(self) -> Floats:
        """Areas under curves of populations that fit the release: draws from the posterior."""
        return np.asarray(trapezoid(self.posterior.population_curves, self.posterior.coarse, axis=1))

    def band(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper true-positive rates at ``fpr`` that hold the population's whole curve together.

        Neither ever falls: no curve does, so that what does could not be reached.
        """
        check_level("band", level)
        if self.unknown:
            return np.where(self.fpr < 1, 0.0, 1.0), np.ones_like(self.fpr)
        curves, along = self.posterior.population_curves, self.posterior.coarse
        sides = _together(along, curves, level, self._row, self._unseen_share, self._band_room())
        low, high = (np.interp(self.fpr, along, side) for side in sides)
        low, high = np.minimum(low, self.tpr), np.maximum(high, self.tpr)
        worst, best = self._perhaps_perfect(level)
        low, high = np.where(worst, 0.0, low), np.where(best, 1.0, high)
        low[0] = 0.0
        low[-1] = 1.0
        low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def _perhaps_perfect(self, level: float) -> tuple[bool, bool]:
        """Whether all positives may score below all negatives, and above: an area next to 0 or 1, and no more rows on
        the wrong sides than noise explains."""
        low, high = np.quantile(self.auc_draws(), [(1 - level) / 2, (1 + level) / 2])
        noise = self._evidence.misplaced_by_noise(level)
        next_to = min(ROWS * self._row.max(), NEXT_TO)
        below = low < next_to and self._evidence.turned().misplaced < noise
        return bool(below), bool(high > 1 - next_to and self._evidence.misplaced < noise)

    @property
    def unseen(self) -> float:
        """How many rows a count may miss: three by chance, and one standard deviation of its noise."""
        return ROWS + math.sqrt(self._evidence.noise.variance)

    @property
    def _row(self) -> Floats:
        """The share of its class that one row is, for negatives and positives."""
        return np.asarray(np.minimum(1.0 / np.maximum(self._evidence.counts.sum(axis=1), 2.0), 0.5))

    @property
    def _unseen_share(self) -> Floats:
        """The share of its class that may go unseen by chance: three rows at one place, and more where bins are many.

        At which of them rows go unseen is not known, and a band must hold at all of them.
        """
        places = max(min(self._evidence.bins, MODEL_BINS) / FEWEST_BINS, 1.0)
        return np.asarray((ROWS + PLACES * math.log(places)) * self._row)

    def room(self) -> float:
        """How much wider than the posterior's intervals are: a public rule of the sizes, the bins and the noise."""
        return self._usual_room() + BLIND * self._blind

    def _usual_room(self) -> float:
        """The same where all bins can tell."""
        smaller = max(float(self._evidence.counts.sum(axis=1).min()), 1.0)
        noise = min(self._evidence.doubt / LARGE_NOISE, 1.0)
        return ROOM + MORE_ROOM * noise + min(FEW_ROWS / smaller, MOST_FOR_FEW)

    @property
    def _blind(self) -> float:
        """The share of bins that are full of one class while the other, of many rows, cannot be told from none.

        A bin that was left whole counts as those that it would have been cut into.
        """
        merged = self._evidence.merged(MODEL_BINS)
        counts = merged.counts / math.sqrt(merged.noise.variance)
        fewer, more = np.sort(counts, axis=0)
        full = np.interp(more, FULL, (0.0, 1.0)) * (fewer < EMPTY)
        ends = tuple(map(int, merged.ends))
        weights = np.pad(merged.usual, ends, constant_values=merged.usual.min())
        return float(np.average(full, weights=weights) * np.interp(counts.sum(axis=1).min(), MANY, (0.0, 1.0)))

    def _band_room(self) -> float:
        """The same for the band. Of two classes the smaller one counts more, as it does in the harmonic mean."""
        size = 2 / self._row.sum()
        many = min(max(math.log10(size / MANY_ROWS), 0.0), MOST_TENFOLD)
        whole = BAND_WHOLE * bool(np.ptp(self._evidence.depths))
        return self._usual_room() - BAND_LESS + BAND_MORE * many + BAND_BLIND * self._blind + whole

    @cached_property
    def metrics(self) -> Metrics:
        """Everything else that the same release tells, at no further cost."""
        return Metrics(self)

    @property
    def cuts(self) -> NDArray[np.int64]:
        """Ends of the bins, as cells of the public grid in ascending order."""
        return self._evidence.cuts(self._binned.cuts)

    @staticmethod
    def cell_of(share: float) -> float:
        """The cell of a score, given as a share of the range."""
        if share > 1:
            return float(CELLS)
        return float(cells_of(np.array([max(share, 0.0)]))[0]) if share > 0 else 0.0

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Draw the curve and its band; returns the matplotlib axes."""
        return plot_roc(self, ax, level=level)

    def to_display(self) -> Any:
        """Convert to scikit-learn's ``RocCurveDisplay``; without an area where the curve is unknown."""
        from sklearn.metrics import RocCurveDisplay

        area = None if self.unknown else self.auc
        return RocCurveDisplay(fpr=self.fpr, tpr=self.tpr, roc_auc=area, pos_label=self.pos_label)

    def save(self, path: str | Path) -> None:
        """Write the release that the curve is read from as JSON; :func:`tacit.load_curve` reads it back."""
        from tacit.evaluation.storage import save_curve

        save_curve(self, path)

    @cached_property
    def posterior(self) -> Draws:
        """Draws of counts and curves behind the curve and all intervals."""
        return Draws(self._evidence, NUMBER)

    def _repr_html_(self) -> str:
        return roc_html(self)

    def __repr__(self) -> str:
        low, high = self.auc_interval()
        if self.unknown:
            why = f"a class is too small to be told from an empty one; the positive label is {self.pos_label!r}"
            return f"<private ROC curve: unknown, because {why}>"
        area, first, last = (shown_area(value) for value in (self.auc, low, high))
        return "; ".join([f"<private ROC curve: AUC {area}, 95 % interval {first} to {last}", *self.notes]) + ">"


def _together(
    along: Floats, curves: Floats, level: float, row: Floats, unseen: Floats, room: float
) -> tuple[Floats, Floats]:
    """A band that holds whole curves: the median, and so many times the pointwise interval to either side.

    It also holds the median moved by the share of either class that may go unseen.
    """
    low, middle, high = np.quantile(curves, [TAIL, 0.5, 1 - TAIL], axis=0)
    least = row[1] + (np.interp(along + row[0], along, middle) - np.interp(along - row[0], along, middle)) / 2
    below, above = np.maximum(middle - low, least), np.maximum(high - middle, least)
    away = np.maximum((middle - curves) / below, (curves - middle) / above)
    reach = room * np.quantile(away[:, 1:-1].max(axis=1), level)
    least, most = _moved(along, middle, *unseen)
    return np.minimum(middle - reach * below, least), np.maximum(middle + reach * above, most)


def _moved(along: Floats, middle: Floats, aside: float, up: float) -> tuple[Floats, Floats]:
    """The median curve moved down and up, so far along false and true positives."""
    low, high = np.interp(along - aside, along, middle) - up, np.interp(along + aside, along, middle) + up
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def _unseen_areas(along: Floats, middle: Floats, unseen: Floats) -> tuple[float, float]:
    """Least and most area under the median curve moved by that share of one class, whichever makes more of it."""
    aside, up = unseen
    moved = _moved(along, middle, aside, 0.0), _moved(along, middle, 0.0, up)
    areas = np.array([[trapezoid(side, along) for side in pair] for pair in moved])
    return float(areas[:, 0].min()), float(areas[:, 1].max())
