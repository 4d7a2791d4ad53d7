"""Public descriptions for whoever may not import the private side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data.features import encode
from tacit.data.rows import Rows
from tacit.data.schema import CategoryColumn, NumberColumn, Schema, SparseColumn, TextColumn
from tacit.data.sources import as_frame, check_columns
from tacit.data.style import with_styled_text
from tacit.data.sums import Rules, row_scores
from tacit.desk.parts import Named
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
    "score_by_rules",
    "score_table",
    "table_matrix",
    "table_schema",
    "with_column_names",
]

MOST_BITS = 20
"""Buckets of words, as a power of two, up to which the words of a table are told apart by where they stand."""


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

    @property
    def bits(self) -> int:
        """Texts together have 2^bits buckets; 0 where there is none, or one that is not hashed, or into too many."""
        texts = [column for column in self.schema.columns if isinstance(column, TextColumn)]
        bits = [0 if column.bits is None or column.bits > MOST_BITS else column.bits for column in texts]
        return max(bits) if bits and all(bits) else 0

    @property
    def styled(self) -> Schema | None:
        """The description with all texts as one, which comes first; None where they have no buckets."""
        return with_styled_text(self.schema) if self.bits else None


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


def score_by_rules(data: Any, table: Table, rules: Rules) -> NDArray[np.float64]:
    """Scores of rows with text under each column of a rule's weights, for prediction."""
    rows = _encoded(data, table.schema, table.styled or table.schema)
    return row_scores(rows.indptr, rows.indices, rules)


def table_matrix(data: Any, schema: Schema, styled: Schema | None = None) -> Any:
    """The rows of a table as a sparse binary matrix; labels and persons are not needed."""
    rows, width = _encoded(data, schema, styled or schema), (styled or schema).n_features
    return sp.csr_array((np.ones(len(rows.indices)), rows.indices, rows.indptr), shape=(len(rows), width))


def with_column_names(data: Any, schema: Schema) -> Any:
    """Rows of an array, or texts in a list, with the names of their columns; what has names stays as it is."""
    named = Named.of(data)
    return replace(named, rows=as_frame(named.rows, schema)) if isinstance(named.rows, np.ndarray | list) else data


def _encoded(data: Any, schema: Schema, described: Schema) -> Rows:
    """Rows that come under one description, as sets of features of another."""
    bare = replace(schema, label=None, unit=Unit.row())
    frame = as_frame(data, bare)
    check_columns(data, frame, bare)
    return encode(frame, replace(described, label=None, unit=Unit.row()), None, np.zeros(len(frame), dtype=np.int64))
