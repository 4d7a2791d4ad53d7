"""Public descriptions for whoever may not import the private side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data.features import encode
from tacit.data.schema import CategoryColumn, NumberColumn, Schema, SparseColumn, TextColumn
from tacit.data.sources import as_frame, check_columns
from tacit.errors import ParameterError, bad_parameter
from tacit.privacy.unit import Unit

__all__ = [
    "CategoryColumn",
    "NumberColumn",
    "Schema",
    "Table",
    "TextColumn",
    "declared_names",
    "matrix_schema",
    "score_table",
    "table_matrix",
    "table_schema",
]


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
        expected = "a tacit.Schema of columns, or the path of one"
        remedy = "See tacit.Schema.load and `tacit schema draft`; for a matrix use tacit.BernoulliNB."
        raise bad_parameter(owner, "schema", expected, type(schema).__name__, remedy)
    declared = schema if schema.classes == classes else replace(schema, classes=classes)
    has_text = any(isinstance(column, TextColumn) for column in schema.columns)
    return Table(declared, len(schema.columns), has_text)


def declared_names(schema: Schema) -> NDArray[np.object_]:
    """The names of the columns that a schema declares, labels and persons left out."""
    return np.array([column.name for column in schema.columns], dtype=object)


def score_table(data: Any, table: Table, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of each row's weights (classes × features), for prediction; labels and persons are not needed."""
    scores: NDArray[np.float64] = table_matrix(data, table.schema) @ weights.T
    return scores


def table_matrix(data: Any, schema: Schema) -> Any:
    """The rows of a table as a sparse binary matrix; labels and persons are not needed."""
    bare = replace(schema, label=None, unit=Unit.row())
    frame = as_frame(data, bare)
    check_columns(data, frame, bare)
    rows = encode(frame, bare, None, np.zeros(len(frame), dtype=np.int64))
    return sp.csr_array((np.ones(len(rows.indices)), rows.indices, rows.indptr), shape=(len(rows), bare.n_features))
