"""BlackBoxClassifier: pays before it runs, passes the budget on, and says that nobody checked."""

from __future__ import annotations

import traceback
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import RandomizedSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

import tacit

X = np.array([[1, 0], [0, 1]] * 200)
Y = np.array([0, 1] * 200)


class Watching(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers what its account had spent when it first saw the data."""

    def __init__(self, account: Any = None, epsilon: float = 9.0) -> None:
        self.account = account
        self.epsilon = epsilon

    def fit(self, X: Any, y: Any) -> Watching:
        self.seen_ = self.account.spent.epsilon
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.classes_)), np.nan)


def test_it_pays_before_the_model_sees_the_data() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
    model = tacit.BlackBoxClassifier(Watching(account), epsilon=0.4, account=account).fit(X, Y)
    assert model.estimator_.seen_ == 0.4
    assert model.estimator_.epsilon == 0.4
    assert np.isfinite(model.predict_proba(X)).all()
    assert "did not check" in model.receipt_["guarantee"]
    model.fit(X, Y)
    assert account.spent.epsilon == 0.8
    with pytest.raises(tacit.BudgetError):
        model.fit(X, Y)


class Stubborn:
    """States its cost, and cannot be told another."""

    def __init__(self, epsilon: float = 5.0, delta: float = 0.0) -> None:
        self.epsilon, self.delta = epsilon, delta

    def fit(self, X: Any, y: Any) -> None:
        self.seen_ = len(y)

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize(("model", "stated"), [(Stubborn(5.0), "ε = 5"), (Stubborn(0.1, 1e-5), "δ = 1e-05")])
def test_a_model_that_spends_more_than_is_paid_is_refused(model: Any, stated: str) -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(9.0, 1e-3))
    with pytest.raises(tacit.ParameterError, match="'estimator' parameter of BlackBoxClassifier") as caught:
        tacit.BlackBoxClassifier(model, epsilon=0.1, account=account).fit(X, Y)
    assert stated in str(caught.value)
    assert "spends at most ε = 0.1" in str(caught.value)
    assert account.spent.epsilon == 0
    tacit.BlackBoxClassifier(model, epsilon=5.0, delta=1e-5, account=account).fit(X, Y)
    assert account.spent.epsilon == pytest.approx(5.0)


class Around:
    """Fits what it is given, and has a seed of its own."""

    def __init__(self, inner: Any, random_state: int | None = None) -> None:
        self.inner, self.random_state = inner, random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"inner": self.inner, "random_state": self.random_state}

    def set_params(self, **given: Any) -> Any:
        vars(self).update(given)
        return self

    def fit(self, X: Any, y: Any) -> Any:
        self.fitted_ = self.inner.fit(X, y)
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.fitted_.predict_proba(X)


@pytest.mark.parametrize("seed", [0, None])
def test_a_seed_inside_of_what_has_one_itself_is_told(seed: int | None) -> None:
    """The outer seed is replaced, the inner one was not looked for: the same noise each time, "private"."""
    inner = tacit.BernoulliNB(0.5, random_state=seed)
    for outer in (Around(inner, 3), RandomizedSearchCV(inner, {"alpha": [1.0]}, n_iter=1)):
        model = tacit.BlackBoxClassifier(outer, epsilon=9.0).fit(X, Y)
        assert model.receipt_["status"].startswith("simulation") == (seed is not None)


def test_ours_behind_it() -> None:
    model = tacit.BlackBoxClassifier(tacit.BernoulliNB(), epsilon=1.0, random_state=0).fit(X, Y)
    assert model.score(X, Y) == 1.0
    assert model.receipt_["status"].startswith("simulation")


def test_a_model_without_probabilities() -> None:
    model = tacit.BlackBoxClassifier(RidgeClassifier(), epsilon=1.0).fit(X, Y)
    assert (model.predict(X) == Y).all()


ODD_CELLS = [0.5, True, "Jane", None, 10**400, -(2**64), 1j, [1], b"x", np.float32(0.5), np.longdouble(3), object()]


@pytest.mark.parametrize("odd", ODD_CELLS, ids=lambda odd: type(odd).__name__)
def test_a_cell_of_a_list_is_read_by_itself(odd: Any) -> None:
    """One .5 merged whole numbers above 2^53, of which a box sees whether they are odd: all rows were others."""
    seen: list[Any] = []

    def box(X: Any, y: Any, epsilon: float) -> Any:
        seen.append(X)
        return lambda rows: np.full(len(rows), 0.5)

    rows: list[Any] = [[2**53 + 1 + 2 * place, place % 2 == 0] for place in range(20)]
    for more in (rows, [*rows, [odd, 1]], [tuple(row) for row in rows]):
        tacit.BlackBoxClassifier(box, epsilon=1.0).fit(more, [0, 1] * 10 + [0] * (len(more) - 20))
    assert [X.dtype for X in seen] == [np.float64] * 3
    assert all(np.array_equal(X[:20], seen[0]) for X in seen)
    assert seen[0].tolist() == [[float(number), float(even)] for number, even in rows]
    expected = {True: 1.0, 10**400: np.inf, -(2**64): -(2.0**64), 0.5: 0.5, 3: 3.0}
    known = expected.get(odd, np.nan) if isinstance(odd, bool | int | float | np.floating) else np.nan
    assert np.array_equal(seen[1][20, 0], known, equal_nan=True)


def test_undeclared_labels_are_left_out() -> None:
    labels = np.where(np.arange(400) < 4, 7, Y)
    model = tacit.BlackBoxClassifier(tacit.BernoulliNB(), random_state=0).fit(X, labels)
    assert model.classes_.tolist() == [0, 1]


def test_persons_are_refused() -> None:
    account = tacit.Ledger.open().account("p", budget=tacit.Budget(1.0), unit=tacit.Unit.user("who", 2))
    with pytest.raises(tacit.ParameterError, match="does not bound a person"):
        tacit.BlackBoxClassifier(tacit.BernoulliNB(), account=account).fit(X, Y)
    assert account.spent.epsilon == 0


class Failing(BaseEstimator):  # type: ignore[misc]
    epsilon = 0.5

    def fit(self, X: Any, y: Any) -> Failing:
        raise RuntimeError(f"a row of {len(X)} is odd: {X[0]}")

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))


@pytest.mark.parametrize(
    "run",
    [
        lambda account: tacit.BlackBoxClassifier(Failing(), account=account).fit(X, Y),
        lambda account: tacit.tune([tacit.BlackBoxClassifier(Failing())], X, Y, epsilon=9.0, account=account),
        lambda account: tacit.Workflow(9.0, classifier=Failing(), account=account).run(X, Y),
    ],
    ids=["alone", "tuned", "in a workflow"],
)
def test_a_model_that_fails_does_not_quote_rows(run: Any) -> None:
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(9.0))
    with pytest.raises(tacit.PrivacyError, match=r"Failing failed to learn .* stays charged") as caught:
        run(account)
    shown = "".join(traceback.format_exception(caught.value))
    assert "RuntimeError" in shown
    assert "is odd" not in shown
    assert account.spent.epsilon > 0


def test_a_model_that_failed_is_not_fitted() -> None:
    model = tacit.BlackBoxClassifier(Failing())
    with pytest.raises(tacit.PrivacyError):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_model_of_other_classes() -> None:
    other = sklearn.naive_bayes.BernoulliNB().fit(np.eye(3, 2), [0, 1, 2])
    model = tacit.BlackBoxClassifier(lambda rows, labels: other, epsilon=1.0).fit(X, Y)
    with pytest.raises(tacit.ParameterError, match=r"declared classes \[0, 1\] alone\. Got \[0, 1, 2\]"):
        model.predict(X)


def test_a_model_has_no_account_of_its_own() -> None:
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(9.0))
    with pytest.raises(tacit.ParameterError, match="without an account of its own"):
        tacit.BlackBoxClassifier(tacit.BernoulliNB(account=account), account=account).fit(X, Y)
    assert account.spent.epsilon == 0


def chain(**given: Any) -> Any:
    return tacit.SelectingClassifier(tacit.BernoulliNB(**given), tacit.TopKSelector(1, **given))


class Wrapping:
    """Holds a model, and says nothing of it."""

    def __init__(self, model: Any) -> None:
        self.models = {"one": [model]}

    def fit(self, X: Any, y: Any) -> None:
        self.models["one"][0].fit(X, y)

    def predict_proba(self, X: Any) -> Any:
        return self.models["one"][0].predict_proba(X)


WRAPPED: dict[str, Any] = {
    "chain": lambda inner: tacit.SelectingClassifier(inner),
    "pipeline": lambda inner: Pipeline([("scaled", MaxAbsScaler()), ("model", inner)]),
    "pipeline in a chain's place": lambda inner: Pipeline([("chain", tacit.SelectingClassifier(inner))]),
    "bag": lambda inner: BaggingClassifier(inner, n_estimators=2),
    "another's": Wrapping,
}


@pytest.mark.parametrize("name", WRAPPED)
def test_what_is_inside_of_a_model_counts(name: str) -> None:
    """The receipt said ε = .1 while a naive Bayes inside spent 50, as nobody looked at the parts of a chain."""
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(9.0, 1e-6))
    for inner in (tacit.BernoulliNB(50.0), tacit.BernoulliNB(0.01, delta=1e-6)):
        box = tacit.BlackBoxClassifier(WRAPPED[name](inner), epsilon=0.1, account=account)
        with pytest.raises(tacit.ParameterError, match="one that spends at most ε = 0"):
            box.fit(X, Y)
    own = WRAPPED[name](tacit.BernoulliNB(0.01, account=account))
    with pytest.raises(tacit.ParameterError, match="without an account of its own"):
        tacit.BlackBoxClassifier(own, epsilon=0.1, account=account).fit(X, Y)
    assert not account.entries()
    tacit.BlackBoxClassifier(WRAPPED[name](tacit.BernoulliNB(0.04)), epsilon=0.1, account=account).fit(X, Y)
    assert account.spent.epsilon == 0.1


def test_a_chain_inside_states_the_sum_of_its_halves() -> None:
    box = tacit.BlackBoxClassifier(chain(epsilon=0.2)).fit(X, Y)
    assert (box.receipt_["epsilon"], box.receipt_["status"]) == (0.4, "private, if the model keeps what it states")
    assert box.estimator_.receipt_["epsilon"] == 0.4
    with pytest.raises(tacit.ParameterError, match=r"at most ε = 0\.3. Got 'ε = 0\.4"):
        tacit.BlackBoxClassifier(chain(epsilon=0.2), epsilon=0.3).fit(X, Y)


def test_a_seed_inside_is_told() -> None:
    """Its noise can be subtracted, whatever the seed of the box."""
    seeded, account = chain(epsilon=0.01, random_state=3), tacit.Ledger.open().account("a", budget=tacit.Budget(9.0))
    box = tacit.BlackBoxClassifier(seeded, epsilon=0.1, account=account)
    tuned = tacit.tune([tacit.BlackBoxClassifier(seeded, epsilon=0.1)], X, Y, epsilon=1.0, account=account)
    for receipt in (box.fit(X, Y).receipt_, tuned.receipt):
        assert "not private" in receipt["status"]
    assert all(charge.simulation for charge in account.entries())
    told = tacit.BlackBoxClassifier(tacit.BernoulliNB(random_state=3), epsilon=0.1).fit(X, Y)
    assert "not private" not in told.receipt_["status"]
    assert told.estimator_.random_state is None


RUNS: dict[str, Any] = {
    "workflow": lambda box, account: tacit.Workflow(0.1, classifier=box, account=account).run(X, Y),
    "tuning": lambda box, account: tacit.tune([box], X, Y, epsilon=0.1, account=account),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_is_inside_counts_in(name: str) -> None:
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(9.0))
    box = tacit.BlackBoxClassifier(chain(epsilon=50.0), epsilon=0.01)
    with pytest.raises(tacit.ParameterError, match="one that spends at most"):
        RUNS[name](box, account)
    assert not account.entries()
    assert not account.splits()


@pytest.mark.parametrize(
    "classifier",
    [
        tacit.BlackBoxClassifier(sklearn.naive_bayes.BernoulliNB()),
        tacit.BlackBoxClassifier(tacit.BernoulliNB(), epsilon=-1),
        tacit.BlackBoxClassifier(None, epsilon=1.0),
        tacit.BlackBoxClassifier(lambda: None, epsilon=1.0),
        tacit.BlackBoxClassifier(tacit.BernoulliNB(), random_state="a"),  # type: ignore[arg-type]
        tacit.BlackBoxClassifier(tacit.BernoulliNB(), account="a"),  # type: ignore[arg-type]
    ],
    ids=["no price", "no ε", "nothing", "no function", "no seed", "no account"],
)
def test_a_wrong_black_box_is_refused_before_its_selector_is_paid(classifier: Any) -> None:
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(9.0))
    with pytest.raises(tacit.ParameterError):
        tacit.SelectingClassifier(classifier, tacit.TopKSelector(k=1, account=account)).fit(X, Y)
    assert account.spent.epsilon == 0


def test_both_halves_protect_the_same() -> None:
    ledger = tacit.Ledger.open()
    row = ledger.account("rows", budget=tacit.Budget(9.0))
    person = ledger.account("persons", budget=tacit.Budget(9.0), unit=tacit.Unit.user("p", 2))
    box = tacit.BlackBoxClassifier(tacit.BernoulliNB())
    for selector, classifier, words in (
        (row, tacit.BernoulliNB(account=person), r"unit \(user"),
        (person, tacit.BernoulliNB(account=row), r"unit \(row"),
        (person, tacit.BernoulliNB(), r"unit \(row"),
        (person, box.set_params(account=person), "does not bound a person"),
    ):
        chained = tacit.SelectingClassifier(classifier, tacit.TopKSelector(k=1, account=selector))
        with pytest.raises(tacit.ParameterError, match=words):
            chained.fit(X, Y, persons=np.arange(len(Y)))
    assert row.spent.epsilon == person.spent.epsilon == 0


def test_the_receipt_of_a_chain_adds_up_as_its_account_does() -> None:
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(1.0))
    selector = tacit.TopKSelector(k=1, epsilon=0.1, account=account)
    receipt = tacit.SelectingClassifier(tacit.BernoulliNB(0.2, account=account), selector).fit(X, Y).receipt_
    assert receipt["epsilon"] == account.spent.epsilon == 0.3
    assert receipt["plan"] == "2 fits, each paid by itself"
    assert [step["epsilon"] for step in receipt["steps"]] == [0.1, 0.2]


def test_two_accounts_have_enough_each_or_pay_nothing() -> None:
    ledger = tacit.Ledger.open()
    rich, poor = (ledger.account(name, budget=tacit.Budget(budget)) for name, budget in (("rich", 9.0), ("poor", 0.1)))
    chained = tacit.SelectingClassifier(tacit.BernoulliNB(account=poor), tacit.TopKSelector(k=1, account=rich))
    with pytest.raises(tacit.BudgetError, match=r"'poor' cannot pay .* Nothing was charged"):
        chained.fit(X, Y)
    assert rich.spent.epsilon == 0


def test_what_is_no_classifier_is_refused() -> None:
    with pytest.raises(tacit.ParameterError, match="'estimator' parameter of BlackBoxClassifier"):
        tacit.BlackBoxClassifier(None).fit(X, Y)


def counting(X: Any, y: Any, epsilon: float, delta: float = 0.0, *, random_state: Any = None) -> Any:
    """A function that trains privately, is told its ε, and returns a model."""
    return tacit.BernoulliNB(epsilon, delta, random_state=random_state).fit(X, y)


def last_class(X: Any, y: Any) -> Any:
    """A function that is told nothing; it returns the probability of the last class."""
    return lambda rows: np.asarray(rows[:, 1], dtype=float) * 0.8 + 0.1


def both_classes(X: Any, y: Any) -> Any:
    return lambda rows: np.column_stack([1 - rows[:, 1], rows[:, 1]])


class Trainer:
    """A callable object, and a method that trains."""

    def __call__(self, X: Any, y: Any) -> Any:
        return self.train(X, y)

    def train(self, X: Any, y: Any) -> Any:
        return both_classes(X, y)


FUNCTIONS = [counting, last_class, both_classes, Trainer(), Trainer().train, partial(counting, delta=0.0)]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_that_trains(function: Any) -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(50.0))
    model = tacit.BlackBoxClassifier(function, epsilon=40.0, account=account)
    assert clone(model).get_params()["epsilon"] == 40.0
    model = clone(model).set_params(account=account).fit(X, Y)
    assert (model.predict(X) == Y).all()
    assert model.predict_proba(X).shape == (400, 2)
    assert account.spent.epsilon == 40.0
    assert model.receipt_["status"] == "private, if the model keeps what it states"
    assert "did not check" in model.receipt_["guarantee"]
    assert not model.can_be_saved


def test_a_function_is_told_what_is_paid_after_it_was_paid() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0, 1e-5))
    told: dict[str, Any] = {}

    def watching(X: Any, y: Any, *, epsilon: float, delta: float, random_state: Any = 3, other: int = 5) -> Any:
        told.update(epsilon=epsilon, delta=delta, state=random_state, other=other, spent=account.spent.epsilon)
        return both_classes(X, y)

    model = tacit.BlackBoxClassifier(watching, epsilon=0.4, delta=1e-6, account=account).fit(X, Y)
    assert told == {"epsilon": 0.4, "delta": 1e-6, "state": None, "other": 5, "spent": 0.4}
    assert (model.receipt_["query"], model.receipt_["delta"]) == ("watching as a black box", 1e-6)
    assert type(told["epsilon"]) is float


def test_a_function_that_takes_no_price_is_charged_what_the_wrapper_says() -> None:
    model = tacit.BlackBoxClassifier(last_class, epsilon=0.3, delta=1e-7).fit(X, Y)
    assert (model.receipt_["epsilon"], model.receipt_["delta"]) == (0.3, 1e-7)


def test_a_function_sees_rows_of_declared_labels() -> None:
    seen: list[Any] = []

    def watching(X: Any, y: Any) -> Any:
        seen.append((X.shape, np.unique(y).tolist()))
        return both_classes(X, y)

    tacit.BlackBoxClassifier(watching, 1.0).fit(X, np.where(np.arange(400) < 4, 7, Y))
    tacit.BlackBoxClassifier(watching, 1.0).fit(sp.csr_array(X), Y)
    assert seen == [((396, 2), [0, 1]), ((400, 2), [0, 1])]


@pytest.mark.parametrize(
    "function",
    [
        lambda X: None,
        lambda X, epsilon: None,
        lambda X, y, more: None,
        lambda X, y, epsilon, /: None,
    ],
)
def test_a_function_that_cannot_be_called_is_refused_before_it_is_paid(function: Any) -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
    with pytest.raises(tacit.ParameterError, match="'estimator' parameter of BlackBoxClassifier must be a function"):
        tacit.BlackBoxClassifier(function, 1.0, account=account).fit(X, Y)
    assert account.spent.epsilon == 0


def test_a_function_that_states_more_than_is_paid_is_refused() -> None:
    def stubborn(X: Any, y: Any) -> Any:
        return both_classes(X, y)

    stubborn.epsilon = 5.0  # type: ignore[attr-defined]
    with pytest.raises(tacit.ParameterError, match="spends at most ε = 1"):
        tacit.BlackBoxClassifier(stubborn, 1.0).fit(X, Y)


def test_a_function_that_returns_no_model() -> None:
    with pytest.raises(tacit.ParameterError, match=r"a function that returns .* Got 'one that returns NoneType'"):
        tacit.BlackBoxClassifier(lambda X, y: None, 1.0).fit(X, Y)


@pytest.mark.parametrize(
    ("classes", "answer", "got"),
    [
        ((0, 1), lambda rows: np.zeros((len(rows), 3)), "rows × 3"),
        ((0, 1), lambda rows: np.zeros((len(rows), 2, 2)), "rows × 2 × 2"),
        ((0, 1), lambda rows: np.zeros((2, len(rows))), "another number of rows"),
        ((0, 1), lambda rows: np.zeros(len(rows) - 1), "another number of rows"),
        ((0, 1), lambda rows: 0.5, "another number of rows"),
        ((0, 1), lambda rows: None, "another number of rows"),
        ((0, 1), lambda rows: ["no", "yes"] * 200, "list"),
        ((0, 1, 2), lambda rows: np.zeros(len(rows)), "rows × 1"),
        ((0, 1, 2), lambda rows: np.zeros((len(rows), 2)), "rows × 2"),
    ],
)
def test_probabilities_of_another_shape(classes: Any, answer: Any, got: str) -> None:
    model = tacit.BlackBoxClassifier(lambda X, y: answer, 1.0, classes=classes).fit(X, Y)
    columns = f"rows × {len(classes)} classes"
    with pytest.raises(tacit.ParameterError, match=f"gives probabilities, {columns}.* Got '{got}'"):
        model.predict(X)


def test_labels_of_another_shape() -> None:
    class Wrong:
        def predict(self, X: Any) -> Any:
            return np.zeros((len(X), 2))

    with pytest.raises(tacit.ParameterError, match="a label for each row"):
        tacit.BlackBoxClassifier(lambda X, y: Wrong(), 1.0).fit(X, Y).predict(X)


def test_three_classes_from_a_function() -> None:
    model = tacit.BlackBoxClassifier(lambda X, y: lambda rows: np.eye(3)[rows[:, 1]], 1.0, classes=("a", "b", "c"))
    assert model.fit(X, np.array(["a", "b"])[Y]).predict(X).tolist() == ["a", "b"] * 200


def test_a_function_behind_a_selector() -> None:
    wide = np.hstack([X, np.zeros((400, 3), dtype=int)])
    selector = tacit.TopKSelector(k=2, epsilon=20.0)
    for function in (counting, both_classes):
        box = tacit.BlackBoxClassifier(function, epsilon=20.0)
        model = clone(tacit.SelectingClassifier(box, selector)).fit(wide, Y)
        assert (model.predict(wide) == Y).all()
        assert model.receipt_["epsilon"] == 40.0
        assert model.receipt_["status"] == "private, if the model keeps what it states"


def test_functions_are_tuned() -> None:
    """Of ε = 30 a fit has 8; what a function cannot be told, its wrapper must state."""
    told = tacit.BlackBoxClassifier(counting)
    best = tacit.tune([told], X, Y, epsilon=30.0)
    assert best.model.estimator_.epsilon == 8.0
    assert best.receipt["status"] == "private, if the model keeps what it states"
    tacit.tune([tacit.BlackBoxClassifier(last_class, epsilon=8.0)], X, Y, epsilon=30.0)
    with pytest.raises(tacit.ParameterError, match="spends at most ε = 8"):
        tacit.tune([told, tacit.BlackBoxClassifier(last_class, epsilon=9.0)], X, Y, epsilon=30.0)


def test_a_function_is_no_object_of_scikit_learn() -> None:
    assert isinstance(tacit.BlackBoxClassifier(counting).fit(X, Y).to_sklearn(), tacit.BernoulliNB)
    with pytest.raises(tacit.ParameterError, match="'model' parameter of to_sklearn"):
        tacit.BlackBoxClassifier(both_classes, 1.0).fit(X, Y).to_sklearn()


def test_a_model_that_states_no_cost_is_refused_unless_one_is_given() -> None:
    """What is not private knows no cost: nobody should get a receipt for it by default."""
    plain = LogisticRegression()
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(2.0))
    for refused in (
        lambda: tacit.BlackBoxClassifier(plain, account=account).fit(X, Y),
        lambda: tacit.BlackBoxClassifier(lambda X, y: plain, account=account).fit(X, Y),
        lambda: tacit.Workflow(1.0, classifier=tacit.BlackBoxClassifier(plain), account=account).run(X, Y),
        lambda: tacit.tune([tacit.BlackBoxClassifier(plain)], X, Y, epsilon=1.0, account=account),
    ):
        with pytest.raises(tacit.ParameterError, match=r"states? what"):
            refused()
    assert account.spent.epsilon == 0
    for tolerance in (SGDClassifier(), MLPClassifier()):  # which they call epsilon: .1, and 1e-8
        for refused in (
            lambda model=tolerance: tacit.BlackBoxClassifier(model, account=account).fit(X, Y),
            lambda model=tolerance: tacit.Workflow(1.0, classifier=model, account=account).run(X, Y),
        ):
            with pytest.raises(tacit.ParameterError, match=r"states? what"):
                refused()
        assert account.spent.epsilon == 0
    given = tacit.BlackBoxClassifier(SGDClassifier(), epsilon=0.5).fit(X, Y)
    assert (given.receipt_["epsilon"], given.estimator_.epsilon) == (0.5, 0.1)
    own = tacit.BlackBoxClassifier(tacit.BernoulliNB(epsilon=0.25), account=account).fit(X, Y)
    assert own.receipt_["epsilon"] == account.spent.epsilon == 0.25


@pytest.mark.parametrize(
    "classifier", [tacit.BernoulliNB(epsilon=0.8), tacit.BlackBoxClassifier(tacit.BernoulliNB(epsilon=0.8))]
)
def test_an_account_that_cannot_pay_for_both_halves_pays_for_none(classifier: Any) -> None:
    account = tacit.Ledger.open().account("a", budget=tacit.Budget(1.0))
    selector = tacit.CountSelector(k=1, epsilon=0.5, account=account)
    with pytest.raises(tacit.BudgetError, match=r"Lacking: ε = 0\.3.*Nothing was charged"):
        tacit.SelectingClassifier(classifier.set_params(account=account), selector).fit(X, Y)
    assert account.spent.epsilon == 0
    fitted = tacit.SelectingClassifier(classifier, selector.set_params(epsilon=0.2)).fit(X, Y)
    assert fitted.receipt_["epsilon"] == account.spent.epsilon == 1.0
