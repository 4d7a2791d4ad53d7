"""How a sealed statistic is opened. Only the gate may import this module; the import contracts check it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.privacy.exact import Exact


def open_exact(statistic: Exact) -> NDArray[np.int64]:
    """Break the seal."""
    values: NDArray[np.int64] = statistic._Exact__open()  # type: ignore[attr-defined]
    return values
