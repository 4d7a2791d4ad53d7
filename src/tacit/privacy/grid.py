"""The public grid on which scores are counted: 65,536 cells that are fine where classifiers crowd, at 0 and at 1.

Pure arithmetic on public numbers. A score p in [0, 1] lies at v = p/2 + (½ + atan(logit(p)/4)/π)/2. No sorting and no
logarithm is needed for a million scores: a double's leading 21 bits are looked up in a table.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELLS = 1 << 16
_DROP = 42  # bits of a double that are ignored: 10 of the mantissa's 52 are kept
_HALF = int(np.float64(0.5).view(np.int64)) >> _DROP


@lru_cache(maxsize=1)
def table() -> NDArray[np.int32]:
    """The cell of each q in [0, ½], by the leading bits of q as a double; the cells of 1 − q are its mirror image."""
    keys = np.arange(_HALF + 1, dtype=np.int64)
    q = (keys << _DROP).view(np.float64)
    with np.errstate(divide="ignore"):
        logit = np.log(q) - np.log1p(-q)
    v = q / 2 + 0.25 + np.arctan(logit / 4) / (2 * np.pi)
    cells: NDArray[np.int32] = np.minimum(v * CELLS, CELLS // 2 - 1).astype(np.int32)
    return cells


def cells_of(scores: Floats) -> NDArray[np.int32]:
    """The cell of each score in [0, 1]; cells never fall as scores grow."""
    mirror = 1.0 - scores
    upper = scores >= 0.5
    small = np.where(upper, mirror, scores)
    found = np.take(table(), small.view(np.int64) >> _DROP)
    return np.where(upper, (CELLS - 1) - found, found)


def score_at(cut: int) -> float:
    """The smallest score whose cell is at least ``cut``; infinity if there is none."""
    if cut <= 0:
        return 0.0
    if cut >= CELLS:
        return np.inf
    if cut < CELLS // 2:
        key = int(np.searchsorted(table(), cut))
        return float(np.int64(key << _DROP).view(np.float64)) if key <= _HALF else 0.5
    # cell(1 − q) ≥ cut means cell(q) ≤ CELLS − 1 − cut, so q lies below the first key beyond that.
    key = int(np.searchsorted(table(), CELLS - 1 - cut, side="right"))
    if key > _HALF:
        return 0.5
    limit = float(np.int64(key << _DROP).view(np.float64))
    score = 1.0 - limit
    while 1.0 - score >= limit and score < 1.0:
        score = float(np.nextafter(score, 2.0))
    return score


def centres() -> Floats:
    """A score inside each cell: halfway on the axis v, by table where cells are wide and by the ends where not."""
    edges = np.array([score_at(cut) for cut in range(CELLS)] + [1.0])
    return (edges[:-1] + edges[1:]) / 2
