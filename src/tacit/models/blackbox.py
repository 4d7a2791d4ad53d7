"""Any classifier that states its cost, under the same budget and receipt as our own. Public side."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from tacit._settings import all_inside, settable, stated_cost, stated_epsilon
from tacit.desk.blackbox import check_payer, class_codes, declared_rows, foreign, in_silence, pay_for_black_box
from tacit.desk.checks import check_classes, check_state
from tacit.desk.estimators import PrivateEstimator, as_array, flat
from tacit.desk.parts import Named
from tacit.errors import PrivacyError, TacitError, bad_parameter
from tacit.ledger import Account
from tacit.models._base import Floats, PrivateClassifier, check_fitted, label_input, matrix_input
from tacit.privacy.budget import Budget
from tacit.privacy.unit import Unit, check_persons

OWNER = "BlackBoxClassifier"

Train = Callable[[Any, Any], Any]
"""From rows and labels to a fitted model."""


class BlackBoxClassifier(PrivateClassifier):
    """Charge an account for a classifier that is private by its own account, such as one of diffprivlib's.

    The account pays first; only then does the model see the data. tacit cannot check what the model promises: the
    receipt says so. A parameter named ``epsilon`` (and ``delta``) of the model is set to what is paid. A model
    without such a parameter that states a larger cost, by an attribute of that name, is refused; so is one made of
    models that state more, such as a chain or a pipeline, which is told nothing. What these state is added up.

    A private row that the fitted model fails on has the lowest score in a curve, and counts as a wrong one in tuning.

    Parameters
    ----------
    estimator : classifier with ``fit`` and ``predict_proba`` (or ``predict``), or a function
        Its neighbours must be those of tacit: adding or removing a row, and each prediction must depend on its own row
        alone. A classifier is copied before it is fitted. A function is called as ``function(X, y)``, with ``epsilon``,
        ``delta`` and ``random_state`` if it has parameters of these names. It returns what it trained: an object with
        ``predict_proba`` or ``predict``, or a callable that gives probabilities of rows, a column for each of
        ``classes`` in their order, or for two classes those of the last one alone.
    epsilon, delta : float
        What one fit costs. By default ``epsilon`` is the model's own, or 1 where it can be told one. For a model that
        neither states its cost nor can be told one, as for any that is not private, it must be given.
    classes : sequence, default (0, 1)
        The declared labels.
    account : Account, optional
        Who pays; None means a one-off account of exactly this budget.
    random_state : int, optional
        Passed on if the model has such a parameter; the receipt then says "not private".

    Attributes
    ----------
    estimator_ : the fitted model, or what the function returned
    receipt_ : Receipt

    Examples
    --------
    >>> import numpy as np
    >>> from tacit import BernoulliNB
    >>> X, y = np.array([[1, 0], [0, 1]] * 500), np.array([0, 1] * 500)
    >>> model = BlackBoxClassifier(BernoulliNB(), epsilon=0.5, random_state=0).fit(X, y)
    >>> model.receipt_["mechanism"], model.receipt_["epsilon"]
    ('black box', 0.5)

    >>> def guess(X, y, epsilon):  # looks at nothing, which is private for any epsilon
    ...     return lambda rows: np.full(len(rows), 0.5)
    >>> BlackBoxClassifier(guess, epsilon=0.5).fit(X, y).receipt_["query"]
    'guess as a black box'
    """

    def __init__(
        self,
        estimator: Any = None,
        epsilon: float | None = None,
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

    def fit(self, X: Any, y: Any, *, persons: Any = None) -> BlackBoxClassifier:
        """Pay, then fit the model. An account that protects persons is refused."""
        check_persons(getattr(self.account, "unit", Unit.row()), persons)
        classes, X, y, train = self.prepare(X, y)
        what = f"{_name(self.estimator)} as a black box"
        receipt = pay_for_black_box(OWNER, what, self.cost(), self.delta, self.account, simulation=self.is_seeded)
        self.estimator_ = self._trained(train, *declared_rows(X, y, classes))
        if not any(hasattr(self.estimator_, name) for name in ("predict_proba", "predict", "__call__")):
            expected = "a function that returns a model with predict_proba or predict, or a callable"
            raise bad_parameter(OWNER, "estimator", expected, f"one that returns {type(self.estimator_).__name__}")
        self.classes_, self.receipt_ = np.array(classes), receipt
        return self

    def _trained(self, train: Train, X: Any, y: Any) -> Any:
        """What the model learnt. Its own errors may quote rows, so that no more than their type is told.

        Nothing is told of its warnings, nor of how many there are.
        """
        try:
            with in_silence():
                return train(X, y)
        except (TacitError, KeyboardInterrupt):
            raise
        except BaseException as error:
            failure = type(error).__name__
        raise PrivacyError(
            f"{_name(self.estimator)} failed to learn from the private rows, and what it was paid stays charged. Its "
            f"message ({failure}) is not shown, as it may quote them: find out on made-up rows, also of one class "
            "alone and of none, what it cannot learn from."
        )

    def prepare(self, X: Any, y: Any) -> tuple[tuple[Any, ...], Any, Any, Train]:
        """Check all that can be checked before anything is paid: the classes, X, y, and what is to be called then."""
        classes = check_classes(OWNER, self.classes)
        check_state(self.random_state, OWNER)
        check_payer(self.account, OWNER)
        if isinstance(self.estimator, type) or not (hasattr(self.estimator, "fit") or callable(self.estimator)):
            expected = "a classifier with fit and predict_proba, or a function of X and y"
            raise bad_parameter(OWNER, "estimator", expected, _name(self.estimator))
        for part in all_inside(self.estimator):
            if isinstance(part, PrivateEstimator) and getattr(part, "account", None) is not None:
                remedy = "Pass the account to BlackBoxClassifier alone: both would be charged."
                raise bad_parameter(OWNER, "estimator", "without an account of its own", _name(part), remedy)
        X = foreign_input(self, Named.of(X).rows, reset=True)
        return classes, X, label_input(self, X, y), self._trainer()

    @property
    def can_be_saved(self) -> bool:
        """No: a foreign model is written by the library that it is from."""
        return False

    @property
    def is_seeded(self) -> bool:
        """Whether noise can be foretold: by the seed that is passed on, or one inside that nobody can be told of."""
        replaced = "random_state" in settable(self.estimator)  # of the outermost one, not of those inside
        inside = (part for part in all_inside(self.estimator) if not (replaced and part is self.estimator))
        parts = (part for part in inside if isinstance(part, PrivateEstimator))
        return any(getattr(part, "random_state", None) is not None for part in (self, *parts))

    def _trainer(self) -> Train:
        """The model, or function, told what is paid for it; one that cannot be told must not state more."""
        paid = Budget(self.cost(), self.delta)  # foreign models are told floats
        self.check_price(paid, OWNER, "estimator")
        wanted = {"epsilon": paid.epsilon, "delta": paid.delta, "random_state": self.random_state}
        known = settable(self.estimator)
        told = {name: value for name, value in wanted.items() if name in known}
        if not hasattr(self.estimator, "fit"):
            _check_call(self.estimator, told)
            return partial(self.estimator, **told)
        model = clone(self.estimator) if hasattr(self.estimator, "get_params") else copy.deepcopy(self.estimator)
        if told:
            model.set_params(**told)
        return partial(_fitted, model)

    def cost(self) -> Any:
        """What one fit costs: as stated here, by the model, or as it will be told."""
        stated = stated_epsilon(self.estimator) if self.epsilon is None else self.epsilon
        if stated is None and "epsilon" not in settable(self.estimator):
            remedy = "A model that is not private has no such cost: take one that is."
            expected = f"given, as {_name(self.estimator)} does not state what a fit costs and cannot be told"
            raise bad_parameter(OWNER, "epsilon", expected, None, remedy)
        return 1.0 if stated is None else stated

    def check_price(self, most: Budget, owner: str, name: str) -> None:
        """Refuse a model that costs more and cannot be told to cost less: by its own word, or else by this wrapping."""
        says = self if stated_epsilon(self.estimator) is None else self.estimator
        stated_cost(self.estimator, says, most, owner=owner, name=name)

    def check_answers(self, made_up: list[Any]) -> None:
        """Refuse a model that answers for none of some made-up rows: where it fails on private ones nothing is said."""
        errors: list[BaseException] = []
        for rows in [foreign_input(self, rows, reset=False) for rows in made_up]:
            try:
                with in_silence():
                    self._log_scores(rows)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                errors.append(error)
        if len(errors) < len(made_up):
            return
        ours = next((error for error in errors if isinstance(error, TacitError)), None)
        raise ours or PrivacyError(
            f"{_name(self.estimator)} fails on rows that nobody brought ({type(errors[0]).__name__}): zeros and ones, "
            "the first and the last values that columns declare, or the texts '' and '1'. A private row that it fails "
            "on gets the lowest score, so that its curve would be of no use; it was not charged. Let it take any row: "
            "an encoder by handle_unknown='ignore', say."
        )

    def _log_scores(self, X: Any) -> Floats:
        check_fitted(self)
        X = foreign_input(self, X, reset=False)
        scores = np.full((len(X) if not hasattr(X, "shape") else X.shape[0], len(self.classes_)), 1e-12)
        model: Any = self.estimator_
        if hasattr(model, "predict_proba") or not hasattr(model, "predict"):
            answer = model.predict_proba(X) if hasattr(model, "predict_proba") else model(X)
            places = self._places(getattr(model, "classes_", self.classes_))
            scores[:, places] = np.maximum(_probabilities(answer, len(scores), len(places)), 1e-12)
        else:
            answer = model.predict(X)
            labels = flat(answer) if isinstance(answer, list | tuple) else answer
            labels = labels if len(getattr(labels, "shape", "1")) == 1 else []
            codes = class_codes("predict", labels, tuple(self.classes_.tolist()))
            if codes.shape != (len(scores),):
                raise bad_parameter(OWNER, "estimator", "one whose predict gives a label for each row", "another shape")
            scores[codes[:, None] == np.arange(len(self.classes_))] = 1.0
        return np.log(scores)

    def _places(self, labels: Any) -> list[int]:
        """Where the classes that a model knows stand among the declared ones."""
        declared = self.classes_.tolist()
        if not set(known := np.asarray(labels).tolist()) <= set(declared):
            raise bad_parameter(OWNER, "estimator", f"one of the declared classes {declared} alone", known)
        return [declared.index(label) for label in known]


def _name(model: Any) -> str:
    """What a foreign model is called: by its type, and a function by its own name."""
    own = None if hasattr(model, "fit") else getattr(model, "__name__", None)
    return str(own or type(model).__name__)


def _fitted(model: Any, X: Any, y: Any) -> Any:
    model.fit(X, y)
    return model


def _check_call(function: Any, told: dict[str, Any]) -> None:
    """Refuse a function that cannot be called with rows, labels and what it is told, before it is paid."""
    try:
        inspect.signature(function).bind(None, None, **told)
    except ValueError:  # it says nothing of itself
        return
    except TypeError as error:
        expected = "a function of X and y, and of epsilon, delta or random_state if it likes"
        raise bad_parameter(OWNER, "estimator", expected, _name(function), f"Calling it: {error}.") from None


def _probabilities(answer: Any, rows: int, columns: int) -> Floats:
    """Probabilities as a foreign model gives them, rows × classes; what is no number counts as 0."""
    expected = f"one that gives probabilities, rows × {columns} classes" + " or of the last class" * (columns == 2)
    try:
        table = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise bad_parameter(OWNER, "estimator", expected, type(answer).__name__) from None
    if columns == 2 and table.shape in ((rows,), (rows, 1)):
        last = table.reshape(rows)
        table = np.column_stack([1 - last, last])
    if table.shape != (rows, columns):
        same = table.ndim > 0 and len(table) == rows
        got = f"rows × {' × '.join(map(str, table.shape[1:])) or '1'}" if same else "another number of rows"
        raise bad_parameter(OWNER, "estimator", expected, got)
    return np.nan_to_num(table)


def foreign_input(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check the shape of what a foreign model gets: frames and texts go on as they are, for models that know them."""
    X = foreign(X)
    if hasattr(X, "columns") or sp.issparse(X):
        return matrix_input(estimator, X, reset=reset, dtype=None, as_it_is=hasattr(X, "columns"))
    array = as_array(X, OWNER)
    is_text = array.ndim == 1 and array.dtype.kind in "OUT"
    return array if is_text else matrix_input(estimator, array, reset=reset, dtype=None)
