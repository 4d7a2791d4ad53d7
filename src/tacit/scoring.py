"""A released model at work: its ROC curve on another private set, and scores of rows. Public side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tacit.desk.blackbox import answers, in_silence
from tacit.desk.checks import check_version
from tacit.desk.cluster import SparkPart
from tacit.desk.parts import (
    FileOptions,
    Part,
    is_path,
    is_text_schema,
    open_part,
    read_columns,
    release_curve,
    texts_of,
)
from tacit.desk.payer import check_funds, one_off
from tacit.desk.schemas import Schema
from tacit.errors import asked_of, bad_parameter
from tacit.evaluation.curve import RocCurve
from tacit.ledger import Account
from tacit.models._naming import model_name
from tacit.models.blackbox import BlackBoxClassifier
from tacit.models.chain import black_box_of, check_answers
from tacit.models.tabular import TabularClassifier
from tacit.privacy.budget import Budget, exact_delta, exact_epsilon
from tacit.privacy.loss import Loss, compose
from tacit.privacy.unit import Unit, check_declared


@in_silence()
def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    epsilon: float,
    delta: float = 0.0,
    account: Account | None = None,
    unit: str | Unit | None = None,
    label: str | None = None,
    text: str | None = None,
    persons: Any = None,
    options: FileOptions | None = None,
    strict: bool = False,
    version: str | None = None,
    random_state: int | None = None,
) -> RocCurve:
    """Release the ROC curve of a released model on another private set.

    Parameters
    ----------
    model : classifier of tacit's, fitted or loaded
    X, y, persons, label, text, options, strict, version
        As for :class:`Workflow`; columns default to those that the model was made for.
    epsilon, delta : float
        What the curve costs.
    account : Account, optional
        Who pays; None means a one-off account of exactly this budget.
    unit : "row" or Unit, optional
        Whose presence is hidden; default the model's, which an account that is given must then protect, too.

    Examples
    --------
    >>> import tacit
    >>> model = tacit.BernoulliNB(epsilon=1.0, random_state=0).fit([[1, 0], [0, 1]] * 500, [0, 1] * 500)
    >>> curve = evaluate(model, np.array([[1, 0], [0, 1]] * 300), [0, 1] * 300, epsilon=1.0, random_state=0)
    >>> curve.auc > 0.95
    True
    """
    budget = Budget(exact_epsilon(epsilon, "evaluate"), exact_delta(delta, "evaluate"))
    declared = model_unit(model) if unit is None else Unit.of(unit)
    payer = one_off(account, budget, "evaluate", declared)
    remedy = "Open an account for that unit, or say by 'unit' that the account's is meant."
    check_declared(payer.unit, declared, "The model" if unit is None else "unit=", remedy)
    classes = tuple(np.asarray(model.classes_).tolist())
    how: dict[str, Any] = {"persons": persons, "options": options, "strict": strict, "version": version}
    part = part_for(model, X, y, payer.unit, label=label, text=text, **how)
    with asked_of("evaluate", budget.epsilon):
        return private_curve(model, part, budget, payer, classes=classes, random_state=random_state)


def model_unit(model: Any) -> Unit | None:
    """The person whom a released model protects, by its receipt; None where it protects rows."""
    unit = Unit.read(str(getattr(model, "receipt_", {}).get("unit", Unit.row())))
    return None if unit.column is None else unit


def part_for(
    model: Any,
    X: Any,
    y: Any,
    unit: Unit,
    *,
    label: str | None,
    text: str | None,
    persons: Any = None,
    options: FileOptions | None = None,
    strict: bool = False,
    version: str | None = None,
) -> Part:
    """Private rows, opened as a model needs them."""
    columns = getattr(model, "input_", {})
    classes = tuple(np.asarray(model.classes_).tolist())
    schema = _schema(model)
    if is_path(X) and is_of_matrices(model):
        schema = Schema.matrix(model.n_features_in_, classes)  # libsvm files, which have no names of columns
    described = schema is not None and not (is_text_schema(schema) and (text or columns.get("text")))
    if is_path(X) and not described and not (text or columns.get("text")):
        raise bad_parameter("evaluate", "text", "the name of the column of texts", None)
    return open_part(
        X,
        y,
        classes=classes,
        unit=unit,
        label=label or (columns.get("label") if y is None else None),
        text=None if described else text or columns.get("text"),
        schema=schema if described else None,
        persons=persons,
        options=options,
        version=check_version(version, "evaluate"),
        strict=strict,
    )


def is_of_matrices(model: Any) -> bool:
    """Whether a model reads matrices, which have no names of columns."""
    return _schema(model) is None and hasattr(model, "n_features_in_")


def _schema(model: Any) -> Any:
    return model.table_.schema if isinstance(model, TabularClassifier) else getattr(model, "schema", None)


def private_curve(
    model: Any,
    part: Part,
    budget: Budget,
    account: Account,
    *,
    classes: tuple[Any, ...],
    random_state: int | None = None,
) -> RocCurve:
    """Score private rows with a released model, and release the ROC curve of its probability of the last class."""
    known = list(model.classes_)
    if list(classes) != known:
        raise bad_parameter("evaluate", "classes", f"those of the model, {known}", list(classes))

    # Before a row is scored. A δ that counts with Laplace noise do not need is not charged.
    check_funds(account, Budget(budget.exact_epsilon), "this curve")
    name = model_name(model)
    if isinstance(part, SparkPart):
        weights, intercept = np.diff(model.weights_, axis=0)[0], float(np.diff(model.intercept_)[0])
        return RocCurve(part.curve(weights, intercept, name, budget, account, random_state), (0.0, 1.0), classes[-1])

    foreign = black_box_of(model) is not None
    if foreign:
        check_answers(model, part.made_up())

    def score(rows: Any) -> Any:
        # Sums over a sparse row depend on that row to the last bit; a dense product by BLAS might not.
        dense = isinstance(rows, np.ndarray) and not isinstance(model, BlackBoxClassifier)
        return model.predict_proba(sp.csr_array(rows) if dense else rows)[:, -1]

    def answered(rows: Any) -> Any:
        return answers(score, rows, 0.0)

    binned = release_curve(
        part, answered if foreign else score, name=name, budget=budget, account=account, random_state=random_state
    )
    return RocCurve(binned, (0.0, 1.0), classes[-1])


def rehearse_curve(part: Part, budget: Budget, unit: Unit, owner: str) -> Loss:
    """Release a curve of no rows, paid from an account of its own: a price that cannot be served is refused here.

    Tells what was charged.
    """
    payer = one_off(None, budget, owner, unit)
    with asked_of(owner, budget.epsilon):
        release_curve(part.without_rows(), np.asarray, name="rehearsal", budget=budget, account=payer, random_state=0)
    return compose(charge.loss for charge in payer.entries())


def score_batches(
    model: Any,
    data: str | Path,
    *,
    text: str | None = None,
    keep: tuple[str, ...] = (),
    options: FileOptions | None = None,
    dropped: list[Path] | None = None,
) -> Iterator[pl.DataFrame]:
    """Apply a model to the rows of files, batch by batch: kept columns, ``prediction`` and ``score``.

    The score is the probability of the last class. Columns kept of JSON Lines hold Python's objects. What comes out is
    as private as the rows; so is ``dropped``, which gets the file of each record that is left out.
    """
    schema, column = _needed(model, text)
    names = [column] if column else [one.name for one in schema.columns]
    taken = sorted({"prediction", "score"} & set(keep))
    if taken:
        raise bad_parameter("score", "keep", "other columns than 'prediction' and 'score'", taken)
    twice = sorted({name for name in keep if keep.count(name) > 1})
    if twice:
        raise bad_parameter("score", "keep", "columns that are named once each", twice)
    kind = {"U": pl.String, "O": pl.String, "f": pl.Float64, "b": pl.Boolean}.get(model.classes_.dtype.kind, pl.Int64)
    seen = False
    for frame, kept in read_columns(data, names, options, dropped, keep):
        rows = texts_of(frame) if column else frame
        chances = model.predict_proba(rows) if len(frame) else np.zeros((0, len(model.classes_)))
        labels = pl.Series("prediction", model.classes_[chances.argmax(axis=1)].tolist(), dtype=kind)
        yield pl.DataFrame([*kept.get_columns(), labels, pl.Series("score", chances[:, -1])])
        seen = True
    if not seen:
        yield pl.DataFrame(schema=dict.fromkeys(keep, pl.String) | {"prediction": kind, "score": pl.Float64})


def _needed(model: Any, text: str | None) -> tuple[Any, str | None]:
    """The description of the columns that a model reads, or the name of its one column of texts."""
    columns = getattr(model, "input_", {})
    schema = _schema(model)
    if schema is not None and not (is_text_schema(schema) and (text or columns.get("text"))):
        return schema, None
    if is_of_matrices(model):
        remedy = "A model of matrices has no names of columns: call its predict_proba in Python."
        raise bad_parameter("score", "model", "one of texts, or of a table with a schema", type(model).__name__, remedy)
    column = text or columns.get("text")
    if column is None:
        raise bad_parameter("score", "text", "the name of the column of texts", None)
    return schema, column
