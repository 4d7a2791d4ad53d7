"""How a sealed statistic is opened. Only the gate may import this module; the import contracts check it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.privacy.exact import Exact, ExactKeys
from tacit.privacy.objective import ExactObjective, Solver
from tacit.privacy.screening import ExactRows


def open_exact(statistic: Exact) -> NDArray[np.int64]:
    """Break the seal."""
    values: NDArray[np.int64] = statistic._Sealed__open()  # type: ignore[attr-defined]
    return values


def open_keys(statistic: ExactKeys) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Break the seal of keys and their counts."""
    keys, counts = statistic._Sealed__open()  # type: ignore[attr-defined]
    return keys, counts


def open_objective(statistic: ExactObjective) -> Solver:
    """Break the seal of a problem: what solves it under noise."""
    solve: Solver = statistic._Sealed__open()  # type: ignore[attr-defined]
    return solve


def open_rows(statistic: ExactRows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Break the seal of rows: where each begins, and their features."""
    indptr, indices = statistic._Sealed__open()  # type: ignore[attr-defined]
    return indptr, indices
