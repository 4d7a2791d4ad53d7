"""Linear classification by objective perturbation. Public side: sees releases only."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from tacit.desk.counts import check_classes
from tacit.desk.objective import CURVATURE, Norm, minimise, perturbation, scaling
from tacit.errors import bad_parameter
from tacit.ledger import Account
from tacit.models._base import Floats, PrivateClassifier, check_fitted, names_epsilon, rows_to_score
from tacit.models._clearness import Noise, of_coefficients, ridge_of_step

INTERCEPT_SHARE = 0.2
"""Part of a row's norm for the constant feature."""

LEAST_ONES = 4
"""Rows of fewer ones are scaled as if they had this many."""


MOST_FEATURES = (1 << 20) - 1
"""Beside the constant; objective perturbation takes 2^20 coefficients."""


class LogisticRegression(PrivateClassifier):
    """Logistic regression, or a smooth support vector machine, by objective perturbation.

    The objective Σ loss + Λ/2·‖θ‖² + b·θ is minimised under noise b. Each row is a set of binary features, scaled to
    norm 1 with a constant feature; Λ follows from epsilon, and an inexact minimiser is paid for. So a one counts less
    in a row of more than four, and however large epsilon is, this is a regression on rows so scaled. Takes up to about
    a million rows.

    Parameters
    ----------
    epsilon, delta : float
        What one fit costs. With ``delta`` above 0 the noise is Gaussian and rows are scaled to L2 norm 1, where that
        is better for rows of a dozen ones: with 6 features or more at ε = 1 and δ = 1e-6. Else the noise is
        Laplace, rows have L1 norm 1 and the receipt says δ = 0.
    loss : {"logistic", "huber"}, default "logistic"
        Huber's hinge needs a larger Λ, since it bends more sharply.
    classes : sequence of two labels, default (0, 1)
    account, random_state :
        As for :class:`tacit.BernoulliNB`.

    Attributes
    ----------
    coef_ : array of shape (1, features), for rows scaled as in training
    intercept_ : array of shape (1,)
    norm_ : "L1" or "L2", the norm in which rows are scaled
    clearness_ : array, one number for each feature
        How far its coefficient is from what noise alone gives: noise passes t with a probability of at most exp(−t).
    receipt_ : Receipt

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 0], [0, 1]] * 500)
    >>> model = LogisticRegression(epsilon=1.0, random_state=0).fit(X, [0, 1] * 500)
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        loss: Literal["logistic", "huber"] = "logistic",
        classes: Any = (0, 1),
        account: Account | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.loss = loss
        self.classes = classes
        self.account = account
        self.random_state = random_state

    @names_epsilon
    def fit(self, X: Any, y: Any, *, persons: Any = None) -> LogisticRegression:
        """Minimise under noise.

        Parameters
        ----------
        X : array or sparse matrix of shape (rows, features)
            A feature is present where the entry is neither 0 nor NaN. CSR stays sparse.
        y : array of labels
        persons : array, optional
            Whose each row is, where the account protects persons.
        """
        owner = "LogisticRegression"
        if len(check_classes(owner, self.classes)) != 2:
            raise bad_parameter(owner, "classes", "two labels", self.classes, "For more use tacit.BernoulliNB.")
        if not isinstance(self.loss, str) or self.loss not in CURVATURE:
            raise bad_parameter(owner, "loss", "'logistic' or 'huber'", self.loss)
        visit = self._matrix_visit(X, y, persons)
        if visit.schema.n_features > MOST_FEATURES:
            remedy = "Select some of them first: tacit.SelectingClassifier."
            raise bad_parameter(owner, "X", f"of at most {MOST_FEATURES} features", visit.schema.n_features, remedy)
        mechanism, self.norm_ = perturbation(visit, self.loss, constant=INTERCEPT_SHARE, floor=LEAST_ONES)
        visit.start(f"{self.loss} loss, rows of {self.norm_} norm 1", {"minimiser": mechanism})
        weighing = scaling(visit.schema.n_features, self.norm_, constant=INTERCEPT_SHARE, floor=LEAST_ONES)
        theta = minimise(visit, "minimiser", self.loss, weighing)
        self.coef_, self.intercept_ = theta[None, :-1], theta[-1:] * INTERCEPT_SHARE
        self.classes_ = np.array(visit.schema.classes)
        self.receipt_ = visit.receipt()
        self.clearness_ = self._clearness(visit.unit.max_rows)
        return self

    def _clearness(self, unit: int) -> Floats:
        """Outside what the constant tells of labels alone: of it a feature of every row has so much."""
        largest = float(words_scale(self.norm_, np.array([LEAST_ONES], dtype=np.float64))[0])
        usual = float(self.intercept_[0]) / INTERCEPT_SHARE * largest / INTERCEPT_SHARE
        noise, ridge = Noise.of_step(self.receipt_, "minimiser"), ridge_of_step(self.receipt_, "minimiser")
        return of_coefficients(self.coef_[0], usual, noise, ridge, unit)

    def _log_scores(self, X: Any) -> Floats:
        check_fitted(self)
        ones = rows_to_score(self, X)
        lengths = np.maximum(np.asarray(ones.sum(axis=1)).ravel(), LEAST_ONES)
        margin = np.asarray(ones @ self.coef_[0]).ravel() * words_scale(self.norm_, lengths) + self.intercept_[0]
        half = margin / 2 if self.loss == "logistic" else margin
        return np.column_stack([-half, half])


def words_scale(norm: Norm, lengths: Floats) -> Floats:
    """What a one of a row with so many ones counts."""
    if norm == "L1":
        return (1 - INTERCEPT_SHARE) / lengths
    return np.sqrt((1 - INTERCEPT_SHARE**2) / lengths)
