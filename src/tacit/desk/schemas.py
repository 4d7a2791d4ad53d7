"""Public descriptions for whoever may not import the private side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data.features import encode
from tacit.data.schema import Schema, SparseColumn, TextColumn
from tacit.data.sources import as_frame
from tacit.errors import ParameterError, bad_parameter
from tacit.privacy.unit import Unit


def matrix_schema(n_features: int, classes: tuple[Any, ...]) -> Schema:
    """The description of a binary matrix."""
    if n_features < 1:
        raise ParameterError(f"Found array with {n_features} feature(s) while a minimum of 1 is required.")
    return Schema.matrix(n_features, classes)


@dataclass(frozen=True, slots=True)
class Table:
    """A schema of a table, and what follows from it."""

    schema: Schema
    columns: int
    has_text: bool


def table_schema(schema: Any, classes: tuple[Any, ...], owner: str) -> Table:
    """Check a table's schema, and declare the classes in it."""
    if not isinstance(schema, Schema) or any(isinstance(column, SparseColumn) for column in schema.columns):
        expected = "a tacit.Schema of columns"
        remedy = "See tacit.Schema.load and `tacit schema draft`; for a matrix use tacit.BernoulliNB."
        raise bad_parameter(owner, "schema", expected, type(schema).__name__, remedy)
    declared = schema if schema.classes == classes else replace(schema, classes=classes)
    has_text = any(isinstance(column, TextColumn) for column in schema.columns)
    return Table(declared, len(schema.columns), has_text)


def score_table(data: Any, table: Table, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of each row's weights (classes × features), for prediction; labels and persons are not needed."""
    schema = replace(table.schema, label=None, unit=Unit.row())
    frame = as_frame(data, schema)
    rows = encode(frame, schema, None, np.zeros(len(frame), dtype=np.int64))
    ones = np.ones(len(rows.indices))
    matrix = sp.csr_array((ones, rows.indices, rows.indptr), shape=(len(rows), schema.n_features))
    scores: NDArray[np.float64] = matrix @ weights.T
    return scores
