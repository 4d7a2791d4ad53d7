"""A public description, a private selector and a private classifier, one behind the other. Public side."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from tacit.desk.checks import check_classes
from tacit.desk.estimators import PrivateEstimator, column_names
from tacit.desk.parts import Named
from tacit.desk.payer import one_off
from tacit.desk.schemas import Schema, declared_names, table_matrix
from tacit.errors import bad_parameter
from tacit.ledger import Account
from tacit.models._base import Floats, PrivateClassifier, check_fitted, label_input, matrix_input
from tacit.models._clearness import last_against_others
from tacit.models.blackbox import BlackBoxClassifier
from tacit.models.naive_bayes import BernoulliNB
from tacit.models.tabular import TabularClassifier
from tacit.models.text import TextClassifier
from tacit.models.weights import clear_features
from tacit.privacy.budget import Budget, exact, exact_delta, exact_epsilon
from tacit.privacy.loss import Loss, compose, worst
from tacit.privacy.release import Receipt, proofs
from tacit.privacy.unit import Unit, check_declared

NO_ROWS = np.empty((0, 1))


class ChosenFeatures(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A selection that was made before, as a loaded model has it: it cannot be made again."""

    support_: NDArray[np.bool_]
    receipt_: Receipt

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_


class SelectingClassifier(PrivateClassifier):
    """Turn rows into binary features by a public schema, select some of them, and classify by those.

    Selector and classifier pay for themselves: what one fit costs is the sum of both. Where nothing was selected, all
    features are kept.

    Parameters
    ----------
    classifier : tacit classifier of matrices, such as ``BernoulliNB``
    selector : tacit selector, optional
    schema : Schema, optional
        For tables and texts; a matrix needs none.

    Attributes
    ----------
    classifier_, selector_ : the fitted ones
    classes_ : array
    receipt_ : Receipt

    Examples
    --------
    >>> import numpy as np, tacit
    >>> X, y = np.array([[1, 0, 0], [0, 1, 0]] * 500), [0, 1] * 500
    >>> selector = tacit.TopKSelector(k=2, score="dc", epsilon=0.5, random_state=0)
    >>> model = SelectingClassifier(tacit.BernoulliNB(epsilon=0.5, random_state=0), selector).fit(X, y)
    >>> model.predict([[1, 0, 0], [0, 1, 0]]).tolist(), model.receipt_["epsilon"]
    ([0, 1], 1.0)
    """

    selector_: Any

    def __init__(self, classifier: Any = None, selector: Any = None, schema: Any = None) -> None:
        self.classifier = classifier
        self.selector = selector
        self.schema = schema

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = self.schema is None
        return tags

    def _takes_many_classes(self) -> bool:
        return bool(self.classifier is None or self.classifier._takes_many_classes())

    def _draws_anew(self) -> bool:
        return any(part is not None and part._draws_anew() for part in (self.classifier, self.selector))

    @np.errstate(all="ignore")  # a warning, or an error where they are errors, would tell of a row
    def fit(self, X: Any, y: Any, *, persons: Any = None) -> SelectingClassifier:
        """Select, then train on what was selected."""
        owner = "SelectingClassifier"
        check_halves(self.classifier, self.selector, owner)
        if isinstance(self.classifier, TextClassifier | TabularClassifier):
            raise bad_parameter(owner, "classifier", "one of matrices", type(self.classifier).__name__)
        self._check_unit()
        self._check_classes(owner)
        named = Named.of(X)
        matrix = self._matrix(named.rows, reset=True)
        described = self.schema is not None
        named = named.seen(matrix, self.schema.digest if described else None, None if described else column_names(self))
        if self.schema is None:
            y = label_input(self, matrix, y)
        self.selector_ = None
        receipts = []
        if self.selector is not None:
            self.selector_ = self._paid_with_classifier(matrix.shape[1]).fit(named, y, persons=persons)
            self.selector_.set_params(account=self.selector.account)
            if not self.selector_.support_.any():
                self.selector_.support_[:] = True
            receipts.append(self.selector_.receipt_)
            chosen = np.flatnonzero(self.selector_.support_).tolist()
            named = named.seen(self._selected(matrix), chosen)
        self.classifier_ = clone(self.classifier).fit(named, y, persons=persons)
        self.classes_ = self.classifier_.classes_
        self.receipt_ = in_sequence([*receipts, self.classifier_.receipt_])
        return self

    def _check_unit(self) -> None:
        """Whoever pays must protect the same: a person whom the schema names, if it names one."""
        halves = [half for half in (self.selector, self.classifier) if half is not None]
        units = [getattr(half.account, "unit", Unit.row()) for half in halves]
        unit = getattr(self.schema, "unit", Unit.row())
        if unit.column is not None:
            remedy = "Pass both halves an account with the schema's unit, and persons= to fit."
            for paid in units:
                check_declared(paid, unit, "The schema", remedy)
        if units[0] != units[-1]:
            expected = f"paid by an account of the classifier's unit ({units[-1]})"
            raise bad_parameter("SelectingClassifier", "selector", expected, str(units[0]), "Pass both one account.")
        unpaid = [half for half in halves if half.account is None]
        if 0 < len(unpaid) < len(halves):
            name = "selector" if unpaid[0] is self.selector else "classifier"
            expected = "paid by an account, as the other half is"
            raise bad_parameter("SelectingClassifier", name, expected, None, "Pass both one account.")
        paying = [half.account for half in halves if isinstance(half.account, Account)]
        if len(paying) == 2 and paying[0].is_disjoint(paying[1]):
            expected = "paid by the account that pays for the classifier, as both see the same rows"
            got = f"one of the part {paying[0].partition}"
            raise bad_parameter("SelectingClassifier", "selector", expected, got, "Pass both one account.")

    def _paid_with_classifier(self, width: int) -> Any:
        """A selector that pays only where enough is left for the classifier, too; what was selected before is free.

        The classifier is rehearsed first. With a δ the number of features may decide on the kind of its noise.
        """
        selector = clone(self.selector)
        losses = [self._rehearse(features) for features in ({1, width} if self.classifier.delta else {1})]
        if isinstance(selector.account, Account):
            behind = self.classifier.account
            selector.set_params(account=selector.account.keeping(behind, self._price(), worst(losses)))
        return selector

    def _price(self) -> Budget:
        """What the classifier asks for."""
        classifier, owner = self.classifier, type(self.classifier).__name__
        cost = classifier.cost() if isinstance(classifier, BlackBoxClassifier) else classifier.epsilon
        return Budget(exact_epsilon(cost, owner), exact_delta(classifier.delta, owner))

    def _rehearse(self, width: int) -> Loss:
        """Fit a copy of the classifier without rows, paid from an account of its own, and tell what was charged."""
        copy, budget, unit = clone(self.classifier), self._price(), Unit.row()
        if not isinstance(copy, BlackBoxClassifier):
            owner = type(copy).__name__
            unit = one_off(copy.account, budget, owner).unit
            copy.set_params(account=one_off(None, budget, owner, unit))
        rehearse(copy, np.empty((0, width)), persons=None if unit.column is None else [])
        if isinstance(copy, BlackBoxClassifier):
            return Loss.approximate(budget.exact_epsilon, budget.exact_delta)
        return compose(charge.loss for charge in copy.account.entries())

    def _check_classes(self, owner: str) -> None:
        """Rows of a class that one half does not declare would be lost on it without a word."""
        if self.schema is not None and not isinstance(self.schema, Schema):
            remedy = "See tacit.Schema.load."
            raise bad_parameter(owner, "schema", "None or a tacit.Schema", type(self.schema).__name__, remedy)
        classes = check_classes(owner, self.classifier.classes)
        for name, part in (("selector", self.selector), ("schema", self.schema)):
            if part is not None and not set(classes) <= set(part.classes):
                remedy = "Declare the same classes everywhere."
                raise bad_parameter(owner, name, f"of the classifier's classes {classes}", tuple(part.classes), remedy)

    @property
    def can_be_saved(self) -> bool:
        """Whether its classifier can be written as data."""
        return bool(self.classifier_.can_be_saved)

    def feature_weights(self) -> list[tuple[str, float]] | None:
        """Names and weights of the selected features, those told from noise, for the last class against the others."""
        check_fitted(self)
        table = getattr(self.classifier_, "weights_", getattr(self.classifier_, "coef_", None))
        if table is None:
            return None
        weights = last_against_others(table)
        chosen = np.arange(len(weights)) if self.selector_ is None else np.flatnonzero(self.selector_.support_)
        shown = clear_features(self.classifier_, len(weights))
        return [(self._name(int(chosen[place])), float(weights[place])) for place in shown]

    def _name(self, feature: int) -> str:
        if self.schema is not None:
            return str(self.schema.feature_name(feature))
        names = getattr(self, "feature_names_in_", None)
        return f"x{feature}" if names is None else str(names[feature])

    def _matrix(self, X: Any, *, reset: bool) -> Any:
        if self.schema is None:
            return matrix_input(self, X, reset=reset)
        if reset:
            self._name_columns()
        return table_matrix(X, self.schema)

    def _name_columns(self) -> None:
        """The columns that are read are those that the schema declares; they are found by name."""
        self.feature_names_in_ = declared_names(self.schema)
        self.n_features_in_ = len(self.feature_names_in_)

    def _selected(self, matrix: Any) -> Any:
        return matrix[:, np.flatnonzero(self.selector_.support_)]

    def _as_classified(self, X: Any) -> Any:
        """Rows as its classifier gets them: their selected features."""
        matrix = self._matrix(X, reset=False)
        return matrix if self.selector_ is None else self._selected(matrix)

    def _log_scores(self, X: Any) -> Floats:
        check_fitted(self)
        scores: Floats = self.classifier_._log_scores(self._as_classified(X))
        return scores


def check_halves(classifier: Any, selector: Any, owner: str) -> None:
    """Both must pay for what they learn: anything else would look at private rows for nothing."""
    if not isinstance(classifier, PrivateClassifier) or isinstance(classifier, SelectingClassifier):
        raise bad_parameter(owner, "classifier", "a tacit classifier of matrices", type(classifier).__name__)
    if selector is not None and not (isinstance(selector, PrivateEstimator) and isinstance(selector, SelectorMixin)):
        raise bad_parameter(owner, "selector", "None or a selector of tacit's", type(selector).__name__)


def rehearse(model: Any, X: Any, **others: Any) -> None:
    """Fit a model without rows: what is wrong with it shows before anything is charged.

    ``X`` has the public shape of the data, so that neither a private value nor chance decides on an error. A black box
    does not run: what it is told is checked.
    """
    box = model.classifier if isinstance(model, SelectingClassifier) else model
    if isinstance(box, BlackBoxClassifier):
        box.prepare(X if box is model else NO_ROWS, [])
        if box is model:
            return
        # Which features are selected is not known: another classifier stands for it behind the selector.
        model = clone(model).set_params(classifier=BernoulliNB(classes=box.classes, random_state=0))
    model.fit(X, np.zeros(0, dtype=np.int64), **others)


def black_box_of(model: Any) -> BlackBoxClassifier | None:
    """The black box that a fitted model is, or has behind its selector."""
    inner = getattr(model, "classifier_", None) if isinstance(model, SelectingClassifier) else model
    return inner if isinstance(inner, BlackBoxClassifier) else None


def check_answers(model: Any, made_up: list[Any]) -> None:
    """Refuse a black box that answers for no made-up row, before its answers for private ones are paid for."""
    box = black_box_of(model)
    if box is not None:
        box.check_answers(made_up if box is model else [model._as_classified(rows) for rows in made_up])


def in_sequence(receipts: list[Receipt]) -> Receipt:
    """One receipt for steps on the same rows: their costs add up."""
    if len(receipts) == 1:
        return receipts[0]
    statuses = [str(receipt["status"]) for receipt in receipts]
    whole = Budget.amount(_total(receipts, "epsilon"), _total(receipts, "delta"))
    return Receipt(
        receipts[-1].to_dict()
        | {
            "mechanism": "in sequence: " + "; ".join(str(receipt["mechanism"]) for receipt in receipts),
            "epsilon": whole.epsilon,
            "delta": whole.delta,
            "plan": f"{len(receipts)} fits, each paid by itself",
            "query": "; ".join(str(receipt["query"]) for receipt in receipts),
            "proof": proofs(receipts),
            "steps": [receipt.to_dict() for receipt in receipts],
            "status": next((status for status in statuses if status != "private"), "private"),
        }
    )


def _total(receipts: list[Receipt], name: str) -> Fraction:
    """The sum as accounts add it up: .1 and .2 are .3."""
    return sum((exact(receipt[name], "receipt", name, "a number") for receipt in receipts), Fraction(0))
