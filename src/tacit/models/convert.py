"""Released models as plain scikit-learn objects that predict the same, up to rounding. Public side.

============================  ======================================================================================
:class:`BernoulliNB`          ``sklearn.naive_bayes.BernoulliNB``; entries above 0 count as present
:class:`LogisticRegression`   a pipeline of a ``FunctionTransformer`` that scales rows, and ``LogisticRegression``
:class:`TextClassifier`       a pipeline of :class:`TextFeatures` and ``LogisticRegression``
:class:`TabularClassifier`    a pipeline of :class:`SchemaFeatures` and ``BernoulliNB``; with text, of
                              :class:`TableTextFeatures` and ``LogisticRegression``
:class:`SelectingClassifier`  the same, with a ``FunctionTransformer`` that takes the selected columns
a black box                   the fitted model itself
============================  ======================================================================================

Three small transformers are tacit's own, because nothing plain hashes words as tacit does, or has a place for values
that are missing or not declared: such a pipeline needs tacit where it runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression as LinearRule
from sklearn.naive_bayes import BernoulliNB as CountingRule
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from tacit.desk.counts import Rules
from tacit.desk.schemas import table_matrix, table_schema
from tacit.desk.text import TEXT_PARTS, text_matrix
from tacit.errors import bad_parameter
from tacit.models._base import Floats, binary_matrix, check_fitted
from tacit.models._learner import SLOPE
from tacit.models.blackbox import BlackBoxClassifier
from tacit.models.chain import SelectingClassifier
from tacit.models.logistic import LEAST_ONES, LogisticRegression, words_scale
from tacit.models.naive_bayes import BernoulliNB
from tacit.models.tabular import TabularClassifier
from tacit.models.text import TextClassifier


class _Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of transformers that follow a public rule and learn nothing."""

    def fit(self, X: Any = None, y: Any = None) -> Any:  # noqa: ARG002 - scikit-learn's interface
        """Do nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class SchemaFeatures(_Encoder):
    """Rows of a table as the binary features of a public schema, in a sparse matrix.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> columns = {"x": {"kind": "category", "values": ["a", "b"]}}
    >>> schema = tacit.Schema.from_dict({"label": {"classes": [0, 1]}, "columns": columns})
    >>> SchemaFeatures(schema).transform(pl.DataFrame({"x": ["b", "c"]})).toarray().tolist()
    [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    """

    def __init__(self, schema: Any) -> None:
        self.schema = schema

    def transform(self, X: Any) -> Any:
        """Encode rows."""
        return table_matrix(X, self.schema)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002 - scikit-learn's interface
        """Name the features."""
        return np.array(self.schema.feature_names(), dtype=object)


class TextFeatures(_Encoder):
    """Texts as ``TextClassifier`` sees them: hashed words by part, over the root of their number, style and topics.

    Words that have a vote, however long the text, stand once more at the end, as they are.
    """

    def __init__(self, bits: int = 14, least: int = 4, topics: Any = None, votes: Any = ()) -> None:
        self.bits = bits
        self.least = least
        self.topics = topics
        self.votes = votes

    @classmethod
    def of(cls, model: TextClassifier) -> TextFeatures:
        """The features of a fitted classifier."""
        rules = model.rules_
        return cls(int(model.bits), rules.least, rules.topics, _voting(rules))

    def transform(self, X: Any) -> Any:
        """Encode texts."""
        matrix = text_matrix(X, self.bits, "TextFeatures")
        return _by_root(matrix, TEXT_PARTS << self.bits, self.least, self.topics, self.votes)


class TableTextFeatures(_Encoder):
    """Rows of a table with text as ``TabularClassifier`` sees them: those of the text as in :class:`TextFeatures`."""

    def __init__(self, schema: Any, least: int = 4, votes: Any = ()) -> None:
        self.schema = schema
        self.least = least
        self.votes = votes

    def transform(self, X: Any) -> Any:
        """Encode rows."""
        table = table_schema(self.schema, self.schema.classes, "TableTextFeatures")
        matrix = table_matrix(X, self.schema, table.styled)
        return _by_root(matrix, TEXT_PARTS << table.bits, self.least, None, self.votes)


def _by_root(matrix: Any, words: int, least: int, topics: Any, votes: Any) -> Any:
    """Words over the root of their number; then topics, and words that have a vote."""
    is_word = matrix.indices < words
    owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    lengths = np.maximum(np.bincount(owner[is_word], minlength=matrix.shape[0]), least)
    blocks = [matrix]
    if topics is not None:
        sums, divisors = topics.sums(matrix.indptr.astype(np.int64), matrix.indices)
        blocks.append(sp.csr_array(sums / divisors[:, None]))
    if len(votes):
        blocks.append(sp.csr_array(matrix[:, votes]))
    matrix.data[is_word] /= np.sqrt(lengths.astype(np.float64))[owner[is_word]]
    return matrix if len(blocks) == 1 else sp.csr_array(sp.hstack(blocks))


def scale_rows(X: Any, norm: Any = "L1") -> Any:
    """Binary rows as objective perturbation sees them: scaled to norm 1, short rows as if they were longer."""
    ones = binary_matrix(sp.csr_array(X) if sp.issparse(X) else np.asarray(X))
    factors = words_scale(norm, np.maximum(np.asarray(ones.sum(axis=1)).ravel(), LEAST_ONES))
    if not sp.issparse(ones):
        return ones * factors[:, None]
    data = ones.data * np.repeat(factors, np.diff(ones.indptr))
    return sp.csr_array((data, ones.indices, ones.indptr), shape=ones.shape)


def take_columns(X: Any, columns: Any) -> Any:
    """The selected columns of a matrix."""
    return sp.csr_array(X)[:, columns] if sp.issparse(X) else np.asarray(X)[:, columns]


def to_sklearn(model: Any) -> Any:
    """Convert a fitted model; see the table above.

    Examples
    --------
    >>> import tacit
    >>> model = tacit.BernoulliNB(epsilon=1.0, random_state=0).fit([[1, 0], [0, 1]] * 500, [0, 1] * 500)
    >>> to_sklearn(model).predict([[1, 0], [0, 1]]).tolist()
    [0, 1]
    """
    check_fitted(model)
    if isinstance(model, BlackBoxClassifier):
        if not hasattr(model.estimator_, "predict"):
            raise bad_parameter("to_sklearn", "model", "one with predict", "a black box that is a function")
        return model.estimator_
    steps = _steps(model)
    return steps[0][1] if len(steps) == 1 else Pipeline(steps)


def _steps(model: Any) -> list[tuple[str, Any]]:
    if isinstance(model, BernoulliNB):
        return [("classify", _counting(model))]
    if isinstance(model, TabularClassifier) and not hasattr(model, "rules_"):
        return [("encode", SchemaFeatures(model.table_.schema)), ("classify", _counting(model))]
    if isinstance(model, LogisticRegression):
        factor = 1.0 if model.loss == "logistic" else 2.0
        rule = linear_rule(model.coef_ * factor, model.intercept_ * factor, model.classes_)
        return [
            ("scale", FunctionTransformer(scale_rows, accept_sparse=True, kw_args={"norm": model.norm_})),
            ("classify", rule),
        ]
    if hasattr(model, "rules_"):
        coef, intercept = text_coefficients(model)
        encoder = TextFeatures.of(model) if isinstance(model, TextClassifier) else _table_features(model)
        return [("encode", encoder), ("classify", linear_rule(coef, intercept, model.classes_))]
    if isinstance(model, SelectingClassifier):
        encode = [] if model.schema is None else [("encode", SchemaFeatures(model.schema))]
        select = []
        if model.selector_ is not None:
            columns = {"columns": np.flatnonzero(model.selector_.support_)}
            select = [("select", FunctionTransformer(take_columns, accept_sparse=True, kw_args=columns))]
        inner = to_sklearn(model.classifier_)
        return [*encode, *select, *(inner.steps if isinstance(inner, Pipeline) else [("classify", inner)])]
    raise bad_parameter("to_sklearn", "model", "a classifier of tacit's", type(model).__name__)


def _table_features(model: TabularClassifier) -> TableTextFeatures:
    return TableTextFeatures(model.table_.schema, model.rules_.least, _voting(model.rules_))


def _counting(model: Any) -> CountingRule:
    """Weights as log-odds: a feature's share p has log p − log(1 − p) = weight, and the prior takes up the rest."""
    rule = CountingRule()
    weights = model.weights_
    rule.feature_log_prob_ = -np.logaddexp(0.0, -weights)
    absent = np.log(1 - np.exp(rule.feature_log_prob_))  # as scikit-learn computes it, so that it cancels
    rule.class_log_prior_ = model.intercept_ - absent.sum(axis=1)
    rule.classes_ = model.classes_.copy()
    rule.n_features_in_ = weights.shape[1]
    rule.class_count_ = np.exp(rule.class_log_prior_ - rule.class_log_prior_.max())
    rule.feature_count_ = np.exp(rule.feature_log_prob_) * rule.class_count_[:, None]
    if isinstance(model, BernoulliNB) and hasattr(model, "feature_names_in_"):
        rule.feature_names_in_ = np.array(model.feature_names_in_, dtype=object)
    return rule


def linear_rule(coef: Floats, intercept: Floats, classes: Any) -> LinearRule:
    """A linear rule: one row of coefficients for two classes, else one for each."""
    rule = LinearRule()
    rule.coef_, rule.intercept_, rule.classes_ = coef, intercept, classes.copy()
    rule.n_features_in_, rule.n_iter_ = coef.shape[1], np.zeros(1, dtype=np.int32)
    return rule


def _voting(rules: Rules) -> NDArray[np.int64]:
    """Words that count however long the text is."""
    return np.flatnonzero(rules.weights[: rules.words, np.array(rules.power) == "none"].any(axis=1))


def text_coefficients(model: Any) -> tuple[Floats, Floats]:
    """The chosen rule over the features of the model's encoder, and its intercepts."""
    rules, classes = model.rules_, len(model.classes_)
    power = np.array(rules.power)
    mixture = rules.mixtures[model.choice_ // len(rules.thresholds)]
    threshold = rules.thresholds[model.choice_ % len(rules.thresholds)]
    as_expected = set(rules.power) <= {"root", "none"} and not rules.weights[rules.words :, power == "root"].any()
    if not as_expected:
        raise bad_parameter("to_sklearn", "model", "a rule that divides words, and words alone, by a root", "another")
    if classes == 2:
        divided, plain = (rules.weights @ (mixture * (power == kind)) for kind in ("root", "none"))
        once = np.append(divided[: rules.words], plain[rules.words :])
        return np.append(once, plain[_voting(rules)])[None, :], np.array([-threshold])
    blocks = rules.weights.reshape(len(rules.weights), len(mixture), classes)
    offsets = np.zeros(classes) if rules.offsets is None else rules.offsets
    return SLOPE * np.einsum("dpc,p->cd", blocks, mixture), SLOPE * threshold * offsets
