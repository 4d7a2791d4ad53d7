"""Any classifier that states its cost, under the same budget and receipt as our own. Public side."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from tacit._settings import stated_cost
from tacit.desk.blackbox import declared_rows, foreign, pay_for_black_box
from tacit.desk.counts import check_classes
from tacit.errors import bad_parameter
from tacit.ledger import Account
from tacit.models._base import Floats, PrivateClassifier, check_fitted, label_input, matrix_input
from tacit.privacy.budget import Budget


class BlackBoxClassifier(PrivateClassifier):
    """Charge an account for a classifier that is private by its own account, such as one of diffprivlib's.

    The account pays first; only then does the model see the data. tacit cannot check what the model promises: the
    receipt says so. A parameter named ``epsilon`` (and ``delta``) of the model is set to what is paid. A model
    without such a parameter that states a larger cost, by an attribute of that name, is refused.

    Parameters
    ----------
    estimator : classifier with ``fit`` and ``predict_proba`` (or ``predict``)
        Its neighbours must be those of tacit: adding or removing a row, and each prediction must depend on its own row
        alone. It is copied before it is fitted.
    epsilon, delta : float
        What it states that one fit costs.
    classes : sequence, default (0, 1)
        The declared labels.
    account : Account, optional
        Who pays; None means a one-off account of exactly this budget.
    random_state : int, optional
        Passed on if the model has such a parameter; the receipt then says "not private".

    Attributes
    ----------
    estimator_ : the fitted model
    receipt_ : Receipt

    Examples
    --------
    >>> import numpy as np
    >>> from tacit import BernoulliNB
    >>> X, y = np.array([[1, 0], [0, 1]] * 500), np.array([0, 1] * 500)
    >>> model = BlackBoxClassifier(BernoulliNB(), epsilon=0.5, random_state=0).fit(X, y)
    >>> model.receipt_["mechanism"], model.receipt_["epsilon"]
    ('black box', 0.5)
    """

    def __init__(
        self,
        estimator: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        classes: Any = (0, 1),
        account: Account | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.account = account
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, persons: Any = None) -> BlackBoxClassifier:  # noqa: ARG002 - refused with the account
        """Pay, then fit the model. An account that protects persons is refused."""
        owner = "BlackBoxClassifier"
        classes = check_classes(owner, self.classes)
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            expected = "a classifier with fit and predict_proba"
            raise bad_parameter(owner, "estimator", expected, type(self.estimator).__name__)
        X = foreign_input(self, X, reset=True)
        y = label_input(self, X, y)
        model = self._copy()
        what = f"{type(model).__name__} as a black box"
        simulation = self.random_state is not None
        self.receipt_ = pay_for_black_box(owner, what, self.epsilon, self.delta, self.account, simulation=simulation)
        self.estimator_ = model
        model.fit(*declared_rows(X, y, classes))
        self.classes_ = np.array(classes)
        return self

    @property
    def can_be_saved(self) -> bool:
        """No: a foreign model is written by the library that it is from."""
        return False

    def _copy(self) -> Any:
        """The model, told what is paid for it; one that cannot be told must not state more."""
        if getattr(self.estimator, "epsilon", None) is not None:
            self.check_price(Budget(self.epsilon, self.delta), type(self).__name__, "estimator")
        if not hasattr(self.estimator, "get_params"):
            return copy.deepcopy(self.estimator)
        model = clone(self.estimator)
        known = model.get_params(deep=False)
        wanted = {"epsilon": self.epsilon, "delta": self.delta, "random_state": self.random_state}
        model.set_params(**{name: value for name, value in wanted.items() if name in known})
        return model

    def check_price(self, most: Budget, owner: str, name: str) -> None:
        """Refuse a model that costs more and cannot be told to cost less: by its own word, or else by this wrapping."""
        says = self if getattr(self.estimator, "epsilon", None) is None else self.estimator
        stated_cost(self.estimator, says, most, owner=owner, name=name)

    def _log_scores(self, X: Any) -> Floats:
        check_fitted(self)
        X = foreign_input(self, X, reset=False)
        scores = np.full((len(X) if not hasattr(X, "shape") else X.shape[0], len(self.classes_)), 1e-12)
        if hasattr(self.estimator_, "predict_proba"):
            places = [list(self.classes_).index(label) for label in getattr(self.estimator_, "classes_", self.classes_)]
            scores[:, places] = np.maximum(np.nan_to_num(self.estimator_.predict_proba(X)), 1e-12)
        else:
            scores[np.asarray(self.estimator_.predict(X))[:, None] == self.classes_] = 1.0
        return np.log(scores)


def foreign_input(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check the shape of what a foreign model gets: frames and texts go on as they are, for models that know them."""
    X = foreign(X)
    if hasattr(X, "columns") or sp.issparse(X):
        return matrix_input(estimator, X, reset=reset, dtype=None, as_it_is=hasattr(X, "columns"))
    array = np.asarray(X)
    is_text = array.ndim == 1 and array.dtype.kind in "OUT"
    return array if is_text else matrix_input(estimator, array, reset=reset, dtype=None)
