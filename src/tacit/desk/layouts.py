"""Public layouts of the first cuts of a ROC curve's test set, of which one is chosen. Public arithmetic.

Cuts that are chosen one after another have a part of ε on each level, and each but the first sees the rows of its own
interval alone. But the places that halve scores, and their halves, are no unrelated numbers: those of most classifiers
are nearly quantiles of a logistic law on the grid's log-odds, at some place, with a spread to either side, and at times
with a gap between two heaps. So all of them are chosen together, by all rows and with the whole ε of these levels.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

Floats = NDArray[np.float64]

LEVELS = 3  # halvings that a layout stands for
USUAL_SPREAD = 0.74  # of places on log-odds: where cuts are if no row is seen
PLACES, STEP, LEAST_STEP, MOST_STEP = 2.4, 0.12, 0.01, 0.1  # as far to either side; in spreads; at least, at most
SPREADS, SKEWS = np.linspace(-2.3, 1.2, 12), np.linspace(-0.9, 0.9, 7)  # logarithms, beside the usual ones
GAP, WITH_GAP = 1.2, 0.12  # between two heaps, to either side; and how common it is
# Deviations of places, spreads and skews: usual ones, and broad ones, which are so common.
USUAL, BROAD, UNUSUAL = (0.4, 0.35, 0.35), (1.0, 0.8, 0.5), 0.4


@lru_cache(maxsize=(1 << LEVELS) + 1)
def _around_the_first(parting: int) -> tuple[Floats, Floats]:
    """Log-odds of all cuts, beside those of the first one's usual place, and logarithms of how common each layout is.

    The cut of that number stands in the middle of gaps. Places are the closer the smaller the spread.
    """
    numbers = np.arange(1, 1 << LEVELS)
    quantile = logit(numbers / (1 << LEVELS))
    side, beside = np.sign(quantile), np.sign(numbers - parting)
    layouts, weights = [], []
    for spread in SPREADS:
        step = min(max(STEP * USUAL_SPREAD * np.exp(spread), LEAST_STEP), MOST_STEP)
        place = np.arange(-PLACES, PLACES + step / 2, step)[:, None]
        for skew in SKEWS:
            usual, broad = (
                step * np.exp(-((place[:, 0] / a) ** 2 + (spread / b) ** 2 + (skew / c) ** 2) / 2)
                for a, b, c in (USUAL, BROAD)
            )
            for gap, common in ((0.0, 1 - WITH_GAP), (GAP, WITH_GAP)):
                spreads = USUAL_SPREAD * np.exp(spread - side * skew)
                layouts.append(place + spreads * quantile + beside * gap)
                weights.append(np.stack([usual, broad]) * common)
    usual, broad = (part / part.sum() for part in np.concatenate(weights, axis=1))
    return np.concatenate(layouts), np.log((1 - UNUSUAL) * usual + UNUSUAL * broad)


def layouts(first: float, negatives: float) -> tuple[Floats, Floats]:
    """Places of cuts on a grid from 0 to 1, a row each, and logarithms of how common each row is before any is seen.

    ``first`` is where the first cut usually is. ``negatives``, the share of their weight, is where classes that are all
    but apart have a gap.
    """
    around, weights = _around_the_first(round(negatives * (1 << LEVELS)))
    return expit(logit(first) + around), weights
