"""What all private classifiers share: checking parameters, declared classes, prediction from scores.

Public side: passes a user's raw input on to the desk, and keeps nothing of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from tacit.desk.estimators import PrivateEstimator, check_fitted, label_input, matrix_input, names_epsilon

__all__ = [
    "Floats",
    "PrivateClassifier",
    "binary_matrix",
    "check_fitted",
    "label_input",
    "matrix_input",
    "names_epsilon",
    "rows_to_score",
]

Floats = NDArray[np.float64]


class PrivateClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """Base of classifiers that are fitted from releases.

    A subclass sets ``classes_`` and ``receipt_`` in ``fit`` and implements ``_log_scores``: one column for each class,
    of which differences are log-odds.
    """

    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_many_classes()
        tags.classifier_tags.poor_score = True  # noise, by design, and a few dozen rows are not enough
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return super()._more_tags() | {"binary_only": not self._takes_many_classes(), "poor_score": True}

    def _takes_many_classes(self) -> bool:
        declared = getattr(self, "classes", None)
        return declared is None or np.size(declared) > 2

    def _log_scores(self, X: Any) -> Floats:
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        scores = self._log_scores(X)
        labels: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each class, as well as the release allows."""
        scores = self._log_scores(X)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities: Floats = odds / odds.sum(axis=1, keepdims=True)
        return probabilities

    def predict_log_proba(self, X: Any) -> Floats:
        """Predict the logarithm of the probability of each class."""
        scores = self._log_scores(X)
        shifted = scores - scores.max(axis=1, keepdims=True)
        logs: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return logs

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of the second of two classes, or the scores of all classes."""
        scores = self._log_scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @property
    def can_be_saved(self) -> bool:
        """Whether the model can be written as data: a black box cannot."""
        return True

    def save(self, path: str | Path) -> None:
        """Write the fitted model as JSON that :func:`tacit.load` reads: data alone, no code."""
        from tacit.models.storage import save

        save(self, path)

    def to_sklearn(self) -> Any:
        """Convert to plain scikit-learn objects that predict the same; see :mod:`tacit.models.convert`."""
        from tacit.models.convert import to_sklearn

        return to_sklearn(self)

    def to_onnx(self) -> Any:
        """Convert to an ONNX model (``pip install "tacit[onnx]"``); see :mod:`tacit.models.onnx_export`."""
        from tacit.models.onnx_export import to_onnx

        return to_onnx(self)


def rows_to_score(estimator: Any, X: Any) -> Any:
    """Rows to predict, as a sparse matrix of zeros and ones, however they came.

    Its products depend on each row alone, to the last bit; those of a dense matrix, by BLAS, might not.
    """
    rows = matrix_input(estimator, X, reset=False)
    return binary_matrix(rows if sp.issparse(rows) else sp.csr_array(_present(rows)))


def binary_matrix(X: Any) -> Any:
    """A matrix of zeros and ones by the private side's rule: present where neither 0 nor NaN, also if stored twice."""
    if not sp.issparse(X):
        return _present(X).astype(np.float64)
    # A fresh view: scipy remembers that a matrix was in order, also after its arrays were changed in place.
    ones = sp.csr_array((_present(X.data).astype(np.float64), X.indices, X.indptr), shape=X.shape)
    if not ones.has_canonical_format:
        ones = ones.copy()
        ones.sum_duplicates()
        np.minimum(ones.data, 1.0, out=ones.data)
    return ones


def _present(values: NDArray[Any]) -> NDArray[np.bool_]:
    present: NDArray[np.bool_] = values != 0
    return present & ~np.isnan(values) if values.dtype.kind == "f" else present
