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
    np.minimum(mirror, scores, out=mirror)
    np.abs(mirror, out=mirror)  # a score may be −0.0, whose sign is a bit of its key
    keys = mirror.view(np.int64)
    keys >>= _DROP
    found = table()[keys]
    found ^= upper.astype(np.int32) * np.int32(CELLS - 1)  # CELLS is a power of two: the mirror image of a cell
    return found


def scores_at(cuts: Ints) -> Floats:
    """The smallest score whose cell is at least each cut: 0 for the first cell, infinity beyond the last one."""
    cuts = np.asarray(cuts, dtype=np.int64)
    lower = np.minimum(np.searchsorted(table(), cuts), _HALF)
    # cell(1 − q) ≥ cut means cell(q) ≤ CELLS − 1 − cut, so q lies below the first key beyond that.
    beyond = np.minimum(np.searchsorted(table(), CELLS - 1 - cuts, side="right"), _HALF)
    limit = (beyond << _DROP).view(np.float64)
    upper = 1.0 - limit
    for _ in range(2):  # 1 − limit may round down, and a score must bring 1 − score below the limit
        upper = np.where(1.0 - upper >= limit, np.nextafter(upper, 2.0), upper)
    found = np.where(cuts < CELLS // 2, (lower << _DROP).view(np.float64), np.where(cuts == CELLS // 2, 0.5, upper))
    return np.where(cuts >= CELLS, np.inf, np.where(cuts <= 0, 0.0, np.minimum(found, 1.0)))
