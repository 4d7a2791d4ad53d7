"""What all selectors share: parameters, the visit at the desk, and scikit-learn's interface.

Public side: passes a user's raw input on to the desk, and keeps nothing of it.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin

from tacit.desk.counts import Visit
from tacit.desk.estimators import PrivateEstimator, check_fitted, known_frame
from tacit.errors import bad_parameter
from tacit.privacy.budget import exact
from tacit.privacy.unit import check_count


class PrivateSelector(SelectorMixin, PrivateEstimator):  # type: ignore[misc]
    """Base of selectors. A subclass sets ``support_`` (a mask) and ``receipt_`` in ``fit``."""

    support_: NDArray[np.bool_]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """The selected columns."""
        return super().transform(known_frame(X))

    def _keep(self, chosen: NDArray[np.int64], visit: Visit) -> None:
        mask = np.zeros(visit.schema.n_features, dtype=np.bool_)
        mask[chosen] = True
        self.support_ = mask
        self.receipt_ = visit.receipt()


def largest(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Indices of the k largest scores; ties go to the smaller index."""
    return np.argsort(-scores, kind="stable")[:k].astype(np.int64)


def check_score(owner: str, score: Any, known: Collection[str], remedy: str = "") -> str:
    """Check the name of a score."""
    if not isinstance(score, str) or score not in known:
        raise bad_parameter(owner, "score", f"one of {sorted(known)}", score, remedy)
    return score


def check_threshold(owner: str, value: Any) -> Fraction:
    """Check a threshold of scores: a number of moderate size."""
    threshold = exact(value, owner, "threshold", "a finite number")
    if abs(threshold) >= 2**60:
        raise bad_parameter(owner, "threshold", "a number between -2^60 and 2^60", value)
    return threshold


def check_whole(owner: str, name: str, value: Any, *, most: int | None = None) -> int:
    """Check a whole number of at least 1."""
    if most is not None and check_count(owner, name, value) > most:
        raise bad_parameter(owner, name, f"a whole number of at least 1 and at most {most}", value)
    return check_count(owner, name, value)
