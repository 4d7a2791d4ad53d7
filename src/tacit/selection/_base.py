"""What all selectors share: parameters, the visit at the desk, and scikit-learn's interface.

Public side: passes a user's raw input on to the desk, and keeps nothing of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.desk.counts import Visit, check_classes
from tacit.desk.schemas import matrix_schema
from tacit.errors import bad_parameter
from tacit.privacy.release import Receipt


class PrivateSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Base of selectors. A subclass sets ``support_`` (a mask) and ``receipt_`` in ``fit``."""

    support_: NDArray[np.bool_]
    receipt_: Receipt

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # a rule of the private side: NaN counts as absent, an error would tell
        tags.target_tags.required = True
        tags.non_deterministic = getattr(self, "random_state", None) is None
        return tags

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def _visit(self, X: Any, y: Any, persons: Any) -> Visit:
        """Take the input to the desk."""
        owner = type(self).__name__
        classes = check_classes(owner, self.classes)
        if y is None:
            raise bad_parameter(owner, "y", "given: it requires y to be passed, but the target y is None", None)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False, ensure_min_samples=0)
        labels = np.asarray(y) if not hasattr(y, "__len__") else y
        if np.ndim(labels) == 2 and np.shape(labels)[1] == 1:
            labels = np.asarray(labels).ravel()
        if np.ndim(labels) != 1 or len(labels) != X.shape[0]:
            expected = "one-dimensional with one label for each row"
            raise bad_parameter(owner, "y", expected, f"{np.ndim(labels)} dimension(s), or another length")
        return Visit(
            X,
            labels,
            matrix_schema(X.shape[1], classes),
            owner=owner,
            epsilon=self.epsilon,
            delta=self.delta,
            account=self.account,
            random_state=self.random_state,
            persons=persons,
        )

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
