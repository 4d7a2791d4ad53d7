"""From a table with a public schema to a private classifier. Public side: sees releases only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.desk.checks import check_known_classes
from tacit.desk.cluster import comes_here
from tacit.desk.counts import Visit, at_most, check_classes, public_max_ones
from tacit.desk.objective import TableProblem, table_problem
from tacit.desk.parts import Part
from tacit.desk.schemas import (
    Schema,
    Table,
    declared_names,
    score_by_rules,
    score_table,
    table_schema,
    with_column_names,
)
from tacit.desk.text import text_width
from tacit.ledger import Account
from tacit.models._base import Floats, PrivateClassifier, check_fitted, names_epsilon
from tacit.models._clearness import Noise, last_against_others, of_coefficients, of_counts, ridge_of_step
from tacit.models._learner import Learner, log_scores
from tacit.models._rules import Columns
from tacit.models.naive_bayes import LABEL_SHARE, train


class TabularClassifier(PrivateClassifier):
    """The recommended way from a table to a private classifier: categories, numbers in bins and text, under a schema.

    Every row has one feature of each category or number column, so that nothing needs to be cut. For two classes and
    enough rows for their ε (a public rule of the released class sizes) the model is a logistic regression by objective
    perturbation; with many rows a part of ε, 15 % at most, counts which features matter. Else it is Naive Bayes on one
    release of counts.

    Two classes and text are learnt as by :class:`TextClassifier`, which the columns join: several columns of text are
    read as one. For more classes, on Spark and for text with a list of ``words``, it is Naive Bayes, and text is cut to
    a public number of words.

    Parameters
    ----------
    epsilon, delta : float
        What one fit costs. With ``delta`` above 0 the noise is Gaussian where that is smaller: for many columns.
    schema : Schema, path of a TOML file, or mapping
        The public description of the columns.
    classes : sequence, optional
        The declared labels; default those of the schema.
    max_ones : int, optional
        At most this many features of a row are counted; if given, the model is made from counts. Default: the number
        of columns, for tables without text.
    account : Account, optional
        Who pays; None means a one-off account of exactly this budget.
    random_state : int, optional
        A seed, for simulations: the receipt then says "not private".

    Attributes
    ----------
    classes_ : array
    weights_ : array of shape (classes, features); ``intercept_`` : array of shape (classes,)
        Of tables without text, and of Naive Bayes.
    rules_ : the linear rule of a table with text, as a :class:`TextClassifier` has it
    feature_names_ : list of str
    feature_names_in_ : array of the names of the schema's columns; ``n_features_in_`` : their number
        Columns are found by name, in any order and among others; those of an array are taken in the schema's order.
    clearness_ : array, one number for each feature
        How far it is from what noise and chance alone give: they pass t with a probability of at most exp(−t).
    receipt_ : Receipt

    Examples
    --------
    >>> import polars as pl, tacit
    >>> schema = tacit.Schema.from_toml(\'\'\'
    ... label = {classes = [0, 1]}
    ... [columns.colour]
    ... kind = "category"
    ... values = ["red", "blue"]
    ... \'\'\')
    >>> table = pl.DataFrame({"colour": ["red", "blue"] * 500})
    >>> model = TabularClassifier(epsilon=1.0, schema=schema, random_state=0).fit(table, [0, 1] * 500)
    >>> model.predict(pl.DataFrame({"colour": ["blue", "red"]})).tolist()
    [1, 0]
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        schema: Any = None,
        classes: Any = None,
        max_ones: int | None = None,
        account: Account | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.classes = classes
        self.max_ones = max_ones
        self.account = account
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.two_d_array = False  # a data frame with the schema's columns
        tags.target_tags.required = False  # labels may be a column
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return super()._more_tags() | {"X_types": ["dataframe"], "requires_y": False}

    @property
    def n_features_in_(self) -> int:
        """How many columns are read."""
        return len(self.feature_names_in_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns that are read, as the schema declares them."""
        return declared_names(self.table_.schema)

    def _declared(self, schema: Any) -> tuple[Any, ...]:
        if self.classes is None:
            return tuple(getattr(schema, "classes", (0, 1)))
        return check_classes("TabularClassifier", self.classes)

    @names_epsilon
    def fit(self, X: Any, y: Any = None, *, persons: Any = None) -> TabularClassifier:
        """Learn from a private table.

        Parameters
        ----------
        X : data frame (pandas, Polars), Arrow table, or a path to files
            With the schema's columns.
        y : array of labels, optional
            Where it is left out, the schema names their column.
        persons : array, optional
            Whose each row is, where the account protects persons and no column says so.
        """
        schema = Schema.of(self.schema)
        classes = self._declared(schema)
        table = table_schema(schema, classes, "TabularClassifier")
        if y is None and not isinstance(X, Part):
            check_known_classes("TabularClassifier", classes, schema)
        learns = len(classes) == 2 and self.max_ones is None and comes_here(X)
        styled = table.styled if learns else None
        described = table.schema if styled is None else styled
        visit = self._visit(X if styled is None else with_column_names(X, table.schema), y, described, persons)
        for name in ("weights_", "intercept_", "rules_", "choice_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if styled is not None:
            self._learn_with_text(visit, table.bits, styled)
        elif learns and not table.has_text:
            self._learn_or_count(visit, table)
        else:
            self._count(visit, table)
        self.table_: Table = table
        self.feature_names_ = described.feature_names()
        self.classes_ = np.array(classes)
        self.receipt_ = visit.receipt()
        return self

    def _learn_with_text(self, visit: Visit, bits: int, styled: Schema) -> None:
        beside = Columns(len(styled.columns) - 1, styled.n_features - text_width(bits))
        learner = Learner(visit, bits, columns=beside)
        learner.learn()
        self.rules_, self.choice_, self.clearness_ = learner.rules, learner.choice, learner.clearness

    def _count(self, visit: Visit, table: Table) -> None:
        """Naive Bayes from one release of counts."""
        r = table.columns if self.max_ones is None and not table.has_text else self.max_ones
        labels, ones = visit.noise(LABEL_SHARE, delta_share=0), visit.noise(1 - LABEL_SHARE, ones=r)
        visit.start(at_most(r), {"labels": labels, "ones": ones})
        sizes = visit.labels("labels")
        if r is None:
            r = public_max_ones(float(np.maximum(sizes, 1).sum()), table.schema.n_features, visit.epsilon)
        self._weigh(visit, sizes, r)

    def _weigh(self, visit: Visit, sizes: NDArray[np.int64], max_ones: int) -> None:
        counts = visit.counts("ones", max_ones)
        self.weights_, self.intercept_ = train(counts, sizes, visit.deviation("ones"))
        self._tell(visit, sizes, counts, "ones")

    def _learn_or_count(self, visit: Visit, table: Table) -> None:
        """A regression where the released class sizes tell of enough rows, else the same counts."""
        first, second = visit.noise(LABEL_SHARE, delta_share=0), visit.noise(1 - LABEL_SHARE, ones=table.columns)
        visit.start_freely(f"{table.columns} columns", {"labels": first, "ones": second})
        visit.then("labels", first)
        sizes = visit.labels("labels")
        rest = visit.epsilon - first.budget.exact_epsilon
        problem = table_problem(visit, table.columns, sizes, rest, visit.delta)
        if problem is None:
            visit.then("ones", second, last=True)
            self._weigh(visit, sizes, table.columns)
            return
        counts = problem.count(visit, table.columns)
        self._learn(visit, problem, sizes)
        if counts is not None:
            self._centre(table, counts)
            self._tell(visit, sizes, counts, "counts")

    def _learn(self, visit: Visit, problem: TableProblem, sizes: NDArray[np.int64]) -> None:
        # A row has a feature of each column, so that no constant is needed: the weights of a column can hold it.
        weights = problem.minimise(visit, "regression")
        self.weights_, self.intercept_ = np.vstack([-weights, weights]) / 2, np.zeros(2)
        receipt, usual = visit.receipt(), np.diff(np.log(np.maximum(sizes, 1)))[0]
        law, ridge = Noise.of_step(receipt, "regression"), ridge_of_step(receipt, "regression")
        scaled = weights / problem.entry
        self.clearness_ = of_coefficients(scaled, usual / problem.entry, law, ridge, visit.unit.max_rows)

    def _centre(self, table: Table, counts: NDArray[np.int64]) -> None:
        """Weigh features against the mean of their column, which moves to the intercept: predictions stay the same."""
        rows = np.maximum(counts.sum(axis=0), 0.0)
        for start, column in zip(table.schema.offsets.values(), table.schema.columns, strict=True):
            features = slice(start, start + column.width)
            usual = rows[features] if rows[features].any() else np.ones_like(rows[features])
            means = self.weights_[:, features] @ (usual / usual.sum())
            self.weights_[:, features] -= means[:, None]
            self.intercept_ += means

    def _tell(self, visit: Visit, sizes: NDArray[np.int64], counts: NDArray[np.int64], step: str) -> None:
        """How clearly a feature goes with the last class; 0 where its weight says the opposite."""
        receipt = visit.receipt()
        noise, labels = Noise.of_step(receipt, step), Noise.of_step(receipt, "labels")
        signed = of_counts(counts, sizes, noise, labels, visit.unit.max_rows)
        self.clearness_ = np.maximum(signed * np.sign(last_against_others(self.weights_)), 0.0)

    def _log_scores(self, X: Any) -> Floats:
        check_fitted(self)
        if hasattr(self, "rules_"):
            scores = score_by_rules(X, self.table_, self.rules_)
            return log_scores(scores, self.rules_, self.choice_, len(self.classes_))
        return score_table(X, self.table_, self.weights_) + self.intercept_
