"""What all selectors share: parameters, the visit at the desk, and scikit-learn's interface.

Public side: passes a user's raw input on to the desk, and keeps nothing of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin

from tacit.desk.counts import Visit
from tacit.desk.estimators import PrivateEstimator, check_fitted
from tacit.errors import bad_parameter


class PrivateSelector(SelectorMixin, PrivateEstimator):  # type: ignore[misc]
    """Base of selectors. A subclass sets ``support_`` (a mask) and ``receipt_`` in ``fit``."""

    support_: NDArray[np.bool_]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_fitted(self)
        return self.support_

    def _keep(self, chosen: NDArray[np.int64], visit: Visit) -> None:
        mask = np.zeros(visit.schema.n_features, dtype=np.bool_)
        mask[chosen] = True
        self.support_ = mask
        self.receipt_ = visit.receipt()


def largest(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Indices of the k largest scores; ties go to the smaller index."""
    return np.argsort(-scores, kind="stable")[:k].astype(np.int64)


def check_whole(owner: str, name: str, value: Any, *, most: int | None = None) -> int:
    """Check a whole number of at least 1."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < 1 or (most and int(value) > most):
        limit = "" if most is None else f" and at most {most}"
        raise bad_parameter(owner, name, f"a whole number of at least 1{limit}", value)
    return int(value)
