"""The statistics of :mod:`tacit.data.statistics` on Apache Spark. The same rows and seed give the same counts.

Sees a Spark data frame or files that Spark can reach, returns sealed :class:`tacit.privacy.exact.Exact` statistics.
Words, features, bounding and counting run on the executors, in Spark's own functions; only the table of counts comes
to the driver. Needs ``pip install "tacit[spark]"`` and Java 17.

Two limits that the embedded engine does not have: a column that is declared as text, category of texts or person must
not be a float, a decimal or a time (engines print them differently), and files are CSV, TSV or Parquet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.bounding import Bounding, check_seed
from tacit.data.readers import FileOptions
from tacit.data.schema import Schema
from tacit.data.scores import Scores
from tacit.data.spark_files import check_installed, open_frame, reading_of, running
from tacit.data.split import Split, coin_limit, split_name, split_rule
from tacit.data.statistics import Counts, seal
from tacit.errors import bad_parameter
from tacit.privacy.exact import Exact
from tacit.privacy.grid import CELLS
from tacit.privacy.unit import Sensitivity

if TYPE_CHECKING:
    from types import ModuleType

    from pyspark.sql import Column, DataFrame, SparkSession

    from tacit.ledger import Account


__all__ = ["count", "open_frame", "score", "score_histogram", "scores", "split"]

MAX_LITERAL = 1 << 22
"""Weights and preferences travel inside the query plan: at most this many of them."""


def count(
    data: DataFrame | str | Path,
    schema: Schema,
    bounding: Bounding,
    *,
    options: FileOptions | None = None,
    session: SparkSession | None = None,
    version: str | None = None,
) -> Counts:
    """Bound the rows of a data frame and count them, by label and feature, and by label; in one pass.

    Parameters
    ----------
    data : Spark data frame, or path
        A path is whatever Spark can read: a file, a folder or a glob, on any of its file systems.
    schema : Schema
        Must name the label's column. A column of kind "sparse" is an array of feature numbers from 0.
    bounding : Bounding
        Its unit must be the schema's.
    options : FileOptions, optional
        How files are written; a folder needs ``format``.
    session : SparkSession, optional
        To read a path with; default the active one.
    version : str, optional
        A name for this version of the data; default a fingerprint of the counts.
    """
    sql = _sql()
    if bounding.unit != schema.unit:
        raise bad_parameter("count", "bounding", f"for the schema's unit ({schema.unit})", str(bounding.unit))
    if bounding.preference is not None:
        _check_length("Bounding", "preference", bounding.preference, schema)
    with running(data):
        rows = sql.bound(sql.encode(_frame(data, options, session), schema), bounding)
        table = sql.cell_counts(rows).toArrow()
    labels, features, counts = (table.column(place).to_numpy() for place in range(3))
    by_label = np.zeros(len(schema.classes), dtype=np.int64)
    by_feature = np.zeros((len(schema.classes), schema.n_features), dtype=np.int64)
    rows_alone = features == sql.WHOLE_ROW
    by_label[labels[rows_alone]] = counts[rows_alone]
    by_feature[labels[~rows_alone], features[~rows_alone]] = counts[~rows_alone]
    return seal(by_feature, by_label, schema, bounding, version or _fingerprint(by_label, by_feature))


def score(
    data: DataFrame | str | Path,
    schema: Schema,
    weights: Sequence[float] | NDArray[np.float64],
    *,
    intercept: float = 0.0,
    name: str = "score",
    options: FileOptions | None = None,
    session: SparkSession | None = None,
) -> DataFrame:
    """Add the score of a released linear model to each row: the sum of its features' weights, plus the intercept.

    Weights are added in ascending order of features, so that every engine rounds alike. The result is as private as
    the data; neither label nor person is looked at.

    Parameters
    ----------
    data, schema, options, session
        As for :func:`count`.
    weights : array of d finite numbers
        At most 2^22 of them.
    intercept : float, default 0.0
    name : str, default "score"
        The new column.
    """
    sql = _sql()
    frame = _frame(data, options, session)
    if name in frame.columns:
        raise bad_parameter("score", "name", "of a column that the data do not have", name)
    expression: Column = sql.linear_score(sql.feature_set(frame, schema), _weights(weights, schema), float(intercept))
    return frame.withColumn(name, expression)


def score_histogram(
    data: DataFrame | str | Path,
    schema: Schema,
    weights: Sequence[float] | NDArray[np.float64],
    thresholds: Sequence[float] | NDArray[np.float64],
    *,
    intercept: float = 0.0,
    seed: int | None = None,
    options: FileOptions | None = None,
    session: SparkSession | None = None,
    version: str | None = None,
) -> Exact:
    """Score each row with a released linear model and count the scores between public thresholds, by label.

    Scores are made of features that the schema declares, so that each of them is a number.

    Parameters
    ----------
    data, schema, weights, intercept, options, session, version
        As for :func:`count` and :func:`score`. The schema's unit says whether rows or persons are protected.
    thresholds : array of k numbers in ascending order
        Public. The bins are (−∞, t₁), [t₁, t₂), …, [t_k, ∞).
    seed : int, optional
        Chooses which rows of a person are kept; default a fresh secret one.

    Returns
    -------
    Exact of shape (classes, k + 1)
    """
    sql = _sql()
    grid = np.asarray(thresholds, dtype=np.float64)
    if grid.ndim != 1 or not len(grid) or not np.isfinite(grid).all() or (np.diff(grid) <= 0).any():
        raise bad_parameter("score_histogram", "thresholds", "finite numbers in ascending order", f"shape {grid.shape}")
    bounding = Bounding(1, schema.unit, seed)
    vector = _weights(weights, schema)
    with running(data):
        rows = sql.encode(_frame(data, options, session), schema)
        table = sql.score_counts(rows, vector, float(intercept), grid, bounding).toArrow()
    labels, bins, counts = (table.column(place).to_numpy() for place in range(3))
    cells = np.zeros((len(schema.classes), len(grid) + 1), dtype=np.int64)
    cells[labels, bins] = counts
    people = "" if schema.unit.column is None else f", at most {schema.unit.max_rows} row(s) of a person"
    named = f"{version}/{reading_of(data, options)}" if version else _fingerprint(cells)
    return Exact(
        cells,
        sensitivity=Sensitivity.of_row_counts(bounding.bound),
        unit=schema.unit,
        query=f"scores by label and bin ({cells.shape[0]} × {cells.shape[1]}){people}",
        version=f"{named}/{_model(vector, intercept, schema, bounding)}/{hashlib.sha256(grid.tobytes()).hexdigest()}",
    )


def scores(
    data: DataFrame | str | Path,
    schema: Schema,
    weights: Sequence[float] | NDArray[np.float64],
    *,
    intercept: float = 0.0,
    seed: int | None = None,
    options: FileOptions | None = None,
    session: SparkSession | None = None,
    version: str | None = None,
) -> Scores:
    """Score each row by the probability whose log-odds a released linear model gives, and count by class and cell.

    For a private ROC curve of two classes, the second of which is positive. No row comes to the driver.

    Parameters
    ----------
    data, schema, weights, intercept, seed, options, session
        As for :func:`score_histogram`.
    version : str, optional
        A name for the rows; default a fingerprint of the counts. The model is told by its weights in any case: whether
        two requests are the same must not depend on whether a row has a word that their models weigh differently.
    """
    sql = _sql()
    if len(schema.classes) != 2:
        raise bad_parameter("scores", "schema", "of two classes", schema.classes)
    bounding = Bounding(1, schema.unit, seed)
    vector = _weights(weights, schema)
    with running(data):
        rows = sql.encode(_frame(data, options, session), schema)
        table = sql.cell_scores(rows, vector, float(intercept), CELLS, bounding).toArrow()
    labels, cells, counts = (table.column(place).to_numpy() for place in range(3))
    counted = np.zeros((2, CELLS), dtype=np.int64)
    counted[labels, cells] = counts
    return Scores.of_cells(counted, schema.unit, f"spark|{_model(vector, intercept, schema, bounding)}", version)


def split(
    data: DataFrame | str | Path,
    schema: Schema,
    test_size: float = 0.2,
    *,
    account: Account | None = None,
    version: str | None = None,
    seed: int | None = None,
    options: FileOptions | None = None,
    session: SparkSession | None = None,
) -> Split:
    """Split data into train and test by the coins of :mod:`tacit.data.coins`: two Spark data frames.

    Coins are those of :func:`tacit.data.split.split_source`, but copies are rows that are equal in all columns. Rows
    that differ in columns without features alone share a coin: leave out a column that numbers the rows.

    Parameters
    ----------
    data, schema, options, session
        As for :func:`count`.
    test_size : float, default 0.2
        The chance of a row (a person) to be in the test part.
    account : Account, optional
        Registers the split; ``.accounts["train"]`` and ``.accounts["test"]`` then pay for the parts.
    version : str, optional
        A name for this version of the data; needed with an account, which must tell splits of different data apart.
    seed : int, optional
        Default one of the account's own, or else a fresh one.
    """
    sql = _sql()
    limit = coin_limit(test_size)
    if account is not None and (version is None or account.unit != schema.unit):
        expected = "given with an account" if version is None else f"for the account's unit ({account.unit})"
        raise bad_parameter("split", "version" if version is None else "schema", expected, version or str(schema.unit))
    purpose = split_rule("spark", Fraction(test_size), schema)
    key = account.seed_for(purpose) if account is not None and seed is None else check_seed(seed, "split")
    frame = sql.with_coins(_frame(data, options, session), schema, key)
    in_test = f"`{sql.COIN}` < {limit}L"
    parts = Split([frame.where(f"not {in_test}").drop(sql.COIN), frame.where(in_test).drop(sql.COIN)])
    if account is not None:
        # Copies are equal in all columns, so that other columns make another split.
        columns = hashlib.sha256(parts[0].schema.json().encode()).hexdigest()
        name = split_name(account, purpose, key, f"{version}/{reading_of(data, options)}/{columns}")
        parts.accounts = account.split(name, ["train", "test"])
    return parts


def _frame(data: Any, options: FileOptions | None, session: SparkSession | None) -> DataFrame:
    from pyspark.sql import DataFrame

    if isinstance(data, str | Path):
        return open_frame(data, options, session)
    if isinstance(data, DataFrame):
        return data
    raise bad_parameter("count", "data", "a Spark data frame or a path", type(data).__name__)


def _sql() -> ModuleType:
    check_installed()
    from tacit.data import spark_sql

    return spark_sql


def _weights(weights: Any, schema: Schema) -> NDArray[np.float64]:
    vector = np.asarray(weights, dtype=np.float64)
    _check_length("score", "weights", vector, schema)
    if not np.isfinite(vector).all():
        raise bad_parameter("score", "weights", "finite numbers", "infinity or NaN among them")
    return vector


def _model(weights: NDArray[np.float64], intercept: float, schema: Schema, bounding: Bounding) -> str:
    """What scores a row, and which rows of a person are kept, in a word."""
    digest = hashlib.sha256(np.append(weights, float(intercept)).tobytes()).hexdigest()
    return f"{digest}/{schema.digest}" + ("" if schema.unit.column is None else f"/{bounding.key}")


def _check_length(owner: str, name: str, vector: NDArray[Any], schema: Schema) -> None:
    if vector.shape != (schema.n_features,):
        raise bad_parameter(owner, name, f"one for each of {schema.n_features} features", f"shape {vector.shape}")
    if len(vector) > MAX_LITERAL:
        remedy = "Hash into fewer buckets."
        raise bad_parameter(owner, name, f"of at most {MAX_LITERAL} numbers on Spark", len(vector), remedy)


def _fingerprint(*tables: NDArray[np.int64]) -> str:
    """Equal counts, equal name: that is all that a version must say."""
    state = hashlib.sha256()
    for table in tables:
        state.update(np.ascontiguousarray(table, dtype="<i8").tobytes())
    return state.hexdigest()
