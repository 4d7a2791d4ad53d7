"""What all private classifiers share: checking parameters, declared classes, prediction from scores.

Public side: passes a user's raw input on to the desk, and keeps nothing of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.errors import bad_parameter
from tacit.privacy.release import Receipt

Floats = NDArray[np.float64]


class PrivateClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of classifiers that are fitted from releases.

    A subclass sets ``classes_`` and ``receipt_`` in ``fit`` and implements ``_log_scores``: one column for each class,
    of which differences are log-odds.
    """

    classes_: NDArray[Any]
    receipt_: Receipt

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # a rule of the private side: NaN counts as absent, an error would tell
        tags.non_deterministic = getattr(self, "random_state", None) is None
        declared = getattr(self, "classes", None)
        tags.classifier_tags.multi_class = declared is None or np.size(declared) > 2
        tags.classifier_tags.poor_score = True  # noise, by design, and a few dozen rows are not enough
        return tags

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


def matrix_input(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check the public shape of a matrix; CSR stays sparse. Values are judged by rule on the private side."""
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
        ensure_min_samples=0 if reset else 1,
    )


def label_input(estimator: Any, X: Any, y: Any) -> Any:
    """Check that there is one label for each row, without looking at the labels."""
    owner = type(estimator).__name__
    if y is None:
        raise bad_parameter(owner, "y", "given: this estimator requires y to be passed, but the target y is None", None)
    labels = y if hasattr(y, "__len__") else np.asarray(y)
    if np.ndim(labels) == 2 and np.shape(labels)[1] == 1:
        import warnings

        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ).",
            DataConversionWarning,
            stacklevel=3,
        )
        labels = np.asarray(labels).ravel()
    if np.ndim(labels) != 1 or len(labels) != X.shape[0]:
        expected = "one-dimensional with one label for each row"
        raise bad_parameter(owner, "y", expected, f"{np.ndim(labels)} dimension(s), or another length")
    return labels


def binary_matrix(X: Any) -> Any:
    """A matrix of zeros and ones by the private side's rule: present where neither 0 nor NaN."""
    import scipy.sparse as sp

    if sp.issparse(X):
        data = X.data
        if data.dtype == np.float64 and (data == 1).all():
            return X
        present = (data != 0) & ~np.isnan(data) if data.dtype.kind == "f" else data != 0
        return sp.csr_array((present.astype(np.float64), X.indices, X.indptr), shape=X.shape)
    present = (X != 0) & ~np.isnan(X) if X.dtype.kind == "f" else X != 0
    return present.astype(np.float64)


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's error if the estimator has not been fitted."""
    check_is_fitted(estimator, "receipt_")
