"""From data to a model, a ROC curve and a report under one account. Public side: sees releases, and parts unopened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from tacit._settings import OWNER, check_shares, check_unit, declared_classes, declared_unit, stated_cost, where_kept
from tacit.desk.checks import check_classes, check_state, check_version
from tacit.desk.cluster import SparkPart, open_on_spark
from tacit.desk.parts import (
    FileOptions,
    Part,
    coin_limit,
    is_path,
    open_part,
    rows_for_fit,
)
from tacit.desk.payer import check_funds, check_one_payer, one_off
from tacit.desk.schemas import Schema
from tacit.errors import TacitError, asked_of, bad_parameter
from tacit.evaluation.curve import RocCurve
from tacit.ledger import Account, Ledger
from tacit.ledger.lookup import existing_account
from tacit.models._base import PrivateClassifier
from tacit.models.blackbox import BlackBoxClassifier
from tacit.models.chain import SelectingClassifier, check_halves
from tacit.models.naive_bayes import BernoulliNB
from tacit.models.tabular import TabularClassifier
from tacit.models.text import TextClassifier, check_public_text
from tacit.models.weights import feature_weights
from tacit.privacy.accounting import noise_delta
from tacit.privacy.budget import Budget, exact_delta, exact_epsilon
from tacit.privacy.release import Receipt
from tacit.privacy.unit import Unit, check_declared
from tacit.report.html import page
from tacit.report.receipts import account_state, whole_receipt
from tacit.report.result import Result
from tacit.report.summary import summarise
from tacit.scoring import private_curve, rehearse_curve

ENGINES = {"local": "this machine", "spark": "Spark"}

Progress = Callable[[str], None]


class Workflow:
    """Split, select, train and evaluate privately: one account pays for all of it.

    Training and test set are disjoint: each row, or each person, falls into one of them by a coin of its own. So each
    of the two may use the whole ε. The training set's ε pays for the classifier; where there is a selector, a quarter
    of it pays for the selection. The test set's ε pays for the ROC curve with everything that is read off it. These
    shares are public and fixed before any row is seen; ``shares`` changes them.

    Parameters
    ----------
    epsilon, delta : float
        What a run costs a row (a person) in all.
    classes : sequence, optional
        The declared labels. The last one is positive. Default: those of the schema or of the classifier, or 0 and 1.
        Of the column that the schema names they must be among the schema's; of another they must be given.
    label : str, optional
        The column of labels, where they are not given as ``y``.
    text : str, optional
        The column of texts, of a file or a frame.
    schema : Schema, path of a TOML file, or mapping, optional
        The public description of a table. Without text and schema, ``X`` is a list of texts or a matrix.
    unit : "row", the name of a column, or Unit, optional
        Whose presence is hidden; a column names the person, and goes with ``rows_per_unit``. Default: the person that
        the schema names, which an account that is given must protect, too; without one the account's unit, or a row.
    rows_per_unit : int, optional
        At most this many rows of a person are used.
    classifier : optional
        Default :class:`TextClassifier` for texts, :class:`TabularClassifier` for tables, :class:`BernoulliNB` for
        matrices. Any classifier of tacit's; or a black box: an object with ``fit`` and ``predict_proba`` that states
        what it spends by ``epsilon``. Behind a schema it sees the binary features, before a text the texts.
    selector : optional
        A selector of tacit's, in front of the classifier.
    test_size : float, default 0.3
        The chance of a row (a person) to be in the test set.
    shares : mapping, optional
        ``select``, ``train`` and ``evaluate``: shares of ε and δ. The first two share the training set's.
    account : Account, optional
        Who pays; the classifier and the selector have no other. Or ``ledger`` (a URL or a Ledger) and ``dataset`` (the
        account's name): it is opened, or created with exactly this budget. Beside ``dataset`` alone, the ledger is the
        one that TACIT_LEDGER names. Without any of these, a one-off account in memory.
    options : FileOptions, optional
        How files are written, where their name does not tell.
    engine : {"local", "spark"}, default "local"
        On Spark, ``X`` is a Spark data frame or a path, and the classifier a :class:`TabularClassifier`, which is
        trained from counts; no row comes to this process.
    version : str, optional
        A name for this version of the data; other data, and other arrays of labels or persons, must get another one.
        Default: a fingerprint, which on Spark local files alone have.
    language : str, default "en"
        Names hashed words in the report, where public word frequencies are installed. Costs nothing.
    strict : bool, default False
        If there are odd rows, raise an error before anything is charged: it names each kind, how many there are and
        where the first one is. For whoever cleans the data: it tells of rows.
    random_state : int, optional
        A seed, for simulations: the receipt then says "not private".

    Examples
    --------
    >>> texts = [f"win cash {i}" if i % 2 else f"lunch on day {i}" for i in range(2000)]
    >>> labels = ["spam" if i % 2 else "ham" for i in range(2000)]
    >>> result = Workflow(epsilon=1.0, classes=("ham", "spam")).run(texts, labels)
    >>> result.receipt["composition"]["sum"]
    'ε: 0 on all rows + the largest of 1 (train) and 1 (test) = 1'
    >>> result.model.predict(["win cash 1", "lunch on day 2"]).tolist()
    ['spam', 'ham']
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        classes: Any = None,
        label: str | None = None,
        text: str | None = None,
        schema: Schema | str | Path | Mapping[str, Any] | None = None,
        unit: str | Unit | None = None,
        rows_per_unit: int | None = None,
        classifier: Any = None,
        selector: Any = None,
        test_size: float = 0.3,
        shares: Mapping[str, float] | None = None,
        account: Account | None = None,
        ledger: str | Ledger | None = None,
        dataset: str | None = None,
        options: FileOptions | None = None,
        engine: Literal["local", "spark"] = "local",
        version: str | None = None,
        language: str | None = "en",
        strict: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.budget = Budget(exact_epsilon(epsilon, OWNER), exact_delta(delta, OWNER))
        self.label, self.text = label, text
        self.schema = Schema.of(schema)
        if self.schema is not None and text is not None:
            raise bad_parameter(OWNER, "text", "None where a schema is given", text)
        if self.schema is not None and not isinstance(self.schema, Schema):
            raise bad_parameter(OWNER, "schema", "a tacit.Schema or a path", type(self.schema).__name__)
        ours = classifier if isinstance(classifier, PrivateClassifier) else None
        self._theirs = Schema.of(getattr(ours, "schema", None))
        self.classes = check_classes(OWNER, declared_classes(classes, label, self.schema, self._theirs, ours))
        self.unit = check_unit(unit, rows_per_unit)
        self.classifier, self.selector = classifier, selector
        self.test_size = test_size
        self.shares = check_shares(shares, selector)
        check_one_payer(account, (classifier, selector), OWNER)
        self.account, self.ledger, self.dataset = account, ledger, dataset
        if engine not in ("local", "spark"):
            raise bad_parameter(OWNER, "engine", "'local' or 'spark'", engine)
        if options is not None and not isinstance(options, FileOptions):
            raise bad_parameter(OWNER, "options", "None or tacit.data.files.FileOptions", type(options).__name__)
        self.options, self.version = options, check_version(version, OWNER)
        self.engine, self.language, self.strict = engine, language, strict
        self.random_state = check_state(random_state, OWNER)

    @np.errstate(all="ignore")  # a warning, or an error where they are errors, would tell of a row
    def run(self, X: Any, y: Any = None, *, persons: Any = None, progress: Progress | None = None) -> Result:
        """Run the whole story.

        The very same run on the same ledger returns the same releases and costs nothing.

        Parameters
        ----------
        X : list of texts, data frame (pandas, Polars), Arrow table, matrix (CSR, numpy), or a path
            A path is a file, a folder or a glob. Files are read in batches.
        y : array, optional
            Labels, where they are not a column. Files hold their own.
        persons : array, optional
            Whose each row is, where the unit is a person and no column says so. Files hold their own.
        progress : callable, optional
            Called with a word at the start of each step.
        """
        with ExitStack() as ledgers, asked_of(OWNER, self.budget.epsilon):
            return self._run(X, y, persons, progress or (lambda _: None), ledgers)

    def _run(self, X: Any, y: Any, persons: Any, tell: Progress, ledgers: ExitStack) -> Result:
        check_public_text(self.classifier, X, OWNER)  # before copies are made of it
        unit, found = self._payer(ledgers)
        tell("open")
        part = self._open(X, y, persons, unit)
        coin_limit(self.test_size, OWNER)
        candidate = self._candidate(part)  # a wrong one is refused before anything is registered
        curve_loss = rehearse_curve(part, self._budget("evaluate"), unit, OWNER)
        if found is None and where_kept(self.ledger, self.dataset) is not None:  # an account that is made stays
            self._rehearse_fit(candidate, part, unit)
        account = found or self._create_account(X, unit, ledgers)
        tell("split")
        train, test, accounts = part.split(float(self.test_size), account, self.random_state)
        self._check_funds(accounts)
        tell("train")
        # A model that is new has a curve that is new: it is trained where both can be paid.
        model = self._fit(
            candidate, train, accounts["train"].keeping(accounts["test"], self._budget("evaluate"), curve_loss)
        )
        columns = {"label": part.schema.label if y is None else None, "text": self.text}
        model.input_ = {name: column for name, column in columns.items() if column}
        tell("evaluate")
        curve = private_curve(
            model,
            test,
            self._budget("evaluate"),
            accounts["test"],
            classes=self.classes,
            random_state=self.random_state,
        )
        tell("report")
        return self._result(model, curve, account)

    def _open(self, X: Any, y: Any, persons: Any, unit: Unit) -> Part:
        described: dict[str, Any] = {"classes": self.classes, "unit": unit, "label": self.label, "text": self.text}
        described |= {"schema": self.schema, "options": self.options, "version": self.version}
        if self.engine == "local":
            return open_part(X, y, persons=persons, strict=self.strict, **described)
        for name, value in (("y", y), ("persons", persons), ("strict", self.strict or None)):
            if value is not None:
                raise bad_parameter(OWNER, name, "left out on Spark, where columns say it", type(value).__name__)
        return open_on_spark(X, **described)

    # -- paying -------------------------------------------------------------------------------------------------------

    def _payer(self, ledgers: ExitStack) -> tuple[Unit, Account | None]:
        """What is protected, and the account; one that does not exist is made when nothing is left to be refused."""
        found = self.account
        declared = None if self.unit else declared_unit(self.schema, self._theirs)
        if found is not None and (not isinstance(found, Account) or self.ledger is not None):
            raise bad_parameter(OWNER, "account", "a tacit Account, without a ledger beside it", found)
        if found is None and (ledger := where_kept(self.ledger, self.dataset)) is not None:
            if self.dataset is None:
                raise bad_parameter(OWNER, "dataset", "the name of the data set's account in the ledger", None)
            found = ledgers.enter_context(existing_account(ledger, self.dataset))
        if found is None:
            return self.unit or declared or Unit.row(), None
        if self.unit is not None and found.unit != self.unit:
            remedy = "Leave 'unit' out to take the account's."
            raise bad_parameter(OWNER, "unit", f"the account's ({found.unit})", str(self.unit), remedy)
        remedy = "Open an account for the schema's unit, or say by 'unit' that the account's is meant."
        return check_declared(found.unit, declared, "The schema", remedy), found

    def _create_account(self, X: Any, unit: Unit, ledgers: ExitStack) -> Account:
        name = self.dataset or (Path(str(X)).name if is_path(X) else None) or "data"
        ledger = where_kept(self.ledger, self.dataset)
        if not isinstance(ledger, Ledger):
            ledger = ledgers.enter_context(Ledger.open(ledger))
        return ledger.account(name, budget=self.budget, unit=unit)

    def _budget(self, step: str) -> Budget:
        share = self.shares[step]
        return Budget(self.budget.exact_epsilon * share, self.budget.exact_delta * share)

    def _check_funds(self, accounts: Mapping[str, Account]) -> None:
        """Refuse before anything is charged, where that can be known: parts that were used before may be free."""
        if any(account.entries() for account in accounts.values()):
            return
        needed = {"train": ("select", "train"), "test": ("evaluate",)}
        for part, account in accounts.items():
            share = sum(self.shares.get(step, Fraction(0)) for step in needed[part])
            asked = Budget.amount(self.budget.exact_epsilon * share, self.budget.exact_delta * share)
            check_funds(account, asked, "this run")

    # -- selecting and training ---------------------------------------------------------------------------------------

    def _candidate(self, part: Part) -> Any:
        """The classifier to be fitted, with its price, behind a schema or a selector where it needs them."""
        classifier = self._classifier(part)
        if isinstance(part, SparkPart) and (not isinstance(classifier, TabularClassifier) or len(self.classes) != 2):
            expected = "None or a TabularClassifier of two classes on Spark"
            raise bad_parameter(OWNER, "classifier", expected, type(classifier).__name__)
        black_box = isinstance(classifier, BlackBoxClassifier)
        budget = self._budget("train")
        delta = budget.exact_delta
        if black_box:
            delta = noise_delta(delta)  # all that an account grants to a mechanism that states (ε, δ) alone
        budget = Budget(budget.exact_epsilon, delta)
        if black_box:
            says = classifier if isinstance(self.classifier, BlackBoxClassifier) else classifier.estimator
            budget = stated_cost(classifier.estimator, says, budget)
        self._price(classifier, budget)
        check_halves(classifier, self.selector, OWNER)
        selector = None
        if self.selector is not None:
            selector = clone(self.selector)
            self._price(selector, self._budget("select"))
        whole = isinstance(classifier, TextClassifier | TabularClassifier)
        if selector is None and (whole or part.kind == "matrix" or (black_box and part.kind == "text")):
            return classifier
        if whole:
            expected = "None in front of a TextClassifier or a TabularClassifier, which weigh features themselves"
            raise bad_parameter(OWNER, "selector", expected, type(selector).__name__, "Pass classifier=BernoulliNB().")
        schema = None if part.kind == "matrix" else _features(part.schema)
        return SelectingClassifier(classifier, selector, schema)

    def _classifier(self, part: Part) -> Any:
        chosen = self.classifier
        if chosen is None:
            defaults = {"text": TextClassifier, "table": TabularClassifier, "matrix": BernoulliNB}
            chosen = BernoulliNB() if self.selector is not None else defaults[part.kind]()
        elif isinstance(chosen, SelectingClassifier):
            remedy = "Pass its two halves as selector= and classifier=, so that the account pays for both."
            raise bad_parameter(OWNER, "classifier", "a single one", type(chosen).__name__, remedy)
        elif isinstance(chosen, type):
            raise bad_parameter(OWNER, "classifier", "an object", f"the class {chosen.__name__}", "Call it: add ().")
        elif isinstance(chosen, TextClassifier) and part.kind != "text":
            remedy = "Name the column of texts by 'text', without a schema, or take another classifier."
            raise bad_parameter(OWNER, "classifier", f"one for a {part.kind}", type(chosen).__name__, remedy)
        elif isinstance(chosen, TabularClassifier) and part.kind == "matrix":
            remedy = "Take BernoulliNB() or LogisticRegression()."
            raise bad_parameter(OWNER, "classifier", "one for a matrix", type(chosen).__name__, remedy)
        elif not isinstance(chosen, PrivateClassifier):
            chosen = BlackBoxClassifier(chosen)
        chosen = clone(chosen)
        if isinstance(chosen, TabularClassifier) and chosen.schema is None:
            chosen.set_params(schema=_features(part.schema))
        return chosen

    def _price(self, estimator: Any, budget: Budget) -> None:
        wanted = {
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "classes": self.classes,
            "random_state": self.random_state,
        }
        known = estimator.get_params(deep=False)
        estimator.set_params(**{name: value for name, value in wanted.items() if name in known})

    def _fit(self, candidate: Any, train: Part, account: Account) -> Any:
        chain = isinstance(candidate, SelectingClassifier)
        for estimator in (candidate.classifier, candidate.selector) if chain else (candidate,):
            if estimator is not None:
                estimator.set_params(account=account)
        streams = isinstance(candidate, TextClassifier | TabularClassifier)
        X, y, people = (train, None, None) if streams else rows_for_fit(train)
        model = candidate.fit(X, y, persons=people)
        forget_account(model)
        return model

    def _rehearse_fit(self, candidate: Any, part: Part, unit: Unit) -> None:
        """Fit a copy without rows, paid from an account of its own. A black box is not asked to."""
        inner = candidate.classifier if isinstance(candidate, SelectingClassifier) else candidate
        if not isinstance(inner, BlackBoxClassifier):
            self._fit(clone(candidate), part.without_rows(), one_off(None, self.budget, OWNER, unit))

    # -- telling ------------------------------------------------------------------------------------------------------

    def _result(self, model: Any, curve: RocCurve, account: Account) -> Result:
        names = ["select", "train"] if getattr(model, "selector_", None) is not None else ["train"]
        steps = model.receipt_["steps"] if len(names) > 1 else [model.receipt_.to_dict()]
        receipts = [*map(Receipt, steps), curve.receipt]
        named = dict(zip([*names, "evaluate"], receipts, strict=True))
        receipt = whole_receipt(named, account)
        question: dict[str, Any] = {
            "dataset": account.name,
            "label": self.label or model.input_.get("label"),
            "classes": list(self.classes),
            "epsilon": self.budget.epsilon,
            "delta": self.budget.delta,
            "unit": str(account.unit),
            "engine": ENGINES[self.engine],
            "date": str(curve.receipt["at"])[:10],
            "language": self.language if hasattr(model, "rules_") else None,
        }
        try:
            weights = feature_weights(model, language=question["language"])
        except TacitError:  # words without a name are no reason to lose a release
            question["language"] = None
            weights = feature_weights(model)
        summary = summarise(
            question=question, model=model, curve=curve, receipts=receipts, account_state=account_state(account, named)
        )
        return Result(model, curve, receipt, page(summary), weights or [], summary)


def forget_account(model: Any) -> None:
    """A released model keeps no way to the ledger."""
    names = ("classifier", "selector", "classifier_", "selector_")
    for estimator in (model, *(getattr(model, name, None) for name in names)):
        if hasattr(estimator, "account"):
            estimator.account = None


def _features(schema: Schema) -> Schema:
    """The description of the features alone: a released model needs neither label nor person."""
    return Schema(schema.columns, schema.classes, missing=schema.missing)
