"""Matrices and libsvm lines as rows of binary features: never densified. Private in, private out.

A feature is present where the entry is neither 0 nor NaN. Entries stored twice are one feature.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data import compiled
from tacit.data.columns import BLANKS, SparseColumn
from tacit.data.errors import SchemaError
from tacit.data.faults import Where
from tacit.data.features import NUMBER_PATTERN, label_codes, plain_text
from tacit.data.hashing import Longs
from tacit.data.readers import LINE
from tacit.data.rows import Rows, offsets_of
from tacit.data.schema import Schema
from tacit.data.series import as_doubles, as_series

_PAIR = r"^([0-9]{1,18}):(.*)$"


def check_matrix(matrix: Any, schema: Schema) -> SparseColumn:
    """Check that a matrix has the declared number of features."""
    column = schema.columns[0]
    if not isinstance(column, SparseColumn):
        raise SchemaError("A matrix needs a schema with one column of kind 'sparse': see Schema.matrix(n_features, …).")
    if matrix.ndim != 2 or matrix.shape[1] != column.features:
        raise SchemaError(f"The schema declares {column.features} features. Got a matrix of shape {matrix.shape[1:]}.")
    return column


def native(matrix: Any) -> Any:
    """A matrix of numbers in this machine's byte order, of 32 bits where they have 16, and of 64 where they have more.

    SciPy takes no others; and what coins do not tell apart must not be read apart.
    """
    kind = matrix.dtype.newbyteorder("=")
    if kind == np.longdouble:
        return as_doubles(matrix)
    kind = np.dtype(np.float32) if kind == np.float16 else kind
    return matrix if matrix.dtype == kind else matrix.astype(kind)


def matrix_rows(matrix: Any, labels: Longs, persons: pl.Series | None) -> Rows:
    """A scipy sparse or numpy matrix as rows; the caller's matrix is not changed."""
    csr = matrix if sp.issparse(matrix) and matrix.format == "csr" else _as_csr(matrix)
    # A fresh view: scipy remembers that a matrix was in order, also after its arrays were changed in place.
    csr = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
    if _is_plain(csr):
        return Rows(csr.indptr.astype(np.int64, copy=False), csr.indices.astype(np.int32, copy=False), labels, persons)
    _check_structure(csr)
    if not csr.has_canonical_format:
        csr = sp.csr_array((_present(csr.data).astype(np.int64), csr.indices, csr.indptr), shape=csr.shape, copy=True)
        csr.sum_duplicates()  # of presences, not of values: 1 and −1 stored for one entry must not cancel
    indptr, indices = csr.indptr.astype(np.int64, copy=False), csr.indices.astype(np.int32, copy=False)
    present = _present(csr.data)
    before = np.zeros(len(present) + 1, dtype=np.int64)
    np.cumsum(present, out=before[1:])
    return Rows(before[indptr], indices[present], labels, persons)


def _is_plain(csr: Any) -> bool:
    """Whether all entries are 1 and in order, so that the arrays can be taken as they are."""
    if csr.nnz >= compiled.ENTRIES and csr.indices.dtype == np.int32:
        return compiled.is_plain(csr.indptr, csr.indices, csr.data, csr.shape[1])
    return bool(_in_range(csr) and csr.has_canonical_format and (csr.data == 1).all())


def _in_range(csr: Any) -> bool:
    return not csr.nnz or (csr.indices.min() >= 0 and csr.indices.max() < csr.shape[1])


def _check_structure(csr: Any) -> None:
    if (csr.indptr[1:] < csr.indptr[:-1]).any() or not _in_range(csr):
        raise SchemaError(
            "The sparse matrix is broken: its 'indptr' falls or an index is outside its columns. Make it anew."
        )


def _present(data: NDArray[Any]) -> NDArray[np.bool_]:
    present: NDArray[np.bool_] = data != 0
    return present & ~np.isnan(data) if data.dtype.kind == "f" else present


def _as_csr(matrix: Any) -> Any:
    if sp.issparse(matrix):
        return sp.csr_array(matrix)
    if matrix.dtype.kind not in "biuf":
        raise SchemaError(
            f"A matrix must hold numbers. Got dtype {matrix.dtype}. For tables of mixed columns pass a data frame."
        )
    return sp.csr_array(_present(matrix))


def libsvm_rows(frame: pl.DataFrame, schema: Schema, strict: Where | None) -> Rows:
    """Lines of ``label index:value …`` as rows; indices count from 1."""
    column = schema.columns[0]
    if not isinstance(column, SparseColumn):
        raise SchemaError("A libsvm file needs a schema with one column of kind 'sparse'.")
    lines = frame[LINE].str.replace("#.*$", "").str.strip_chars(BLANKS)
    filled = (lines != "").arg_true().to_numpy()
    fields = lines.gather(filled).str.extract_all(r"[^ \t]+")
    if strict is not None:
        line_of = strict.line_of
        strict = replace(strict, line_of=lambda place: line_of(int(filled[place])))
    codes = label_codes(fields.list.first(), schema, strict, "label")
    pairs = pl.DataFrame({"row": np.arange(len(fields)), "pair": fields.list.slice(1)}).explode("pair").drop_nulls()
    pairs = pairs.filter(~pl.col("pair").str.starts_with("qid:"))
    split = pairs.select(
        "row",
        pl.col("pair").str.extract(_PAIR, 1).cast(pl.Int64).alias("index"),
        pl.col("pair").str.extract(_PAIR, 2).alias("value"),
    )
    value = split["value"].set(~split["value"].str.contains(NUMBER_PATTERN).fill_null(False), None)
    value = value.cast(pl.Float64, strict=False)
    broken = np.zeros(len(fields), dtype=np.bool_)
    broken[split["row"].to_numpy()[(value.is_null() | split["index"].is_null()).to_numpy()]] = True
    index = split["index"].fill_null(0).to_numpy() - 1
    row = split["row"].to_numpy()
    inside = (index >= 0) & (index < column.features)
    if strict is not None:
        remedy = "Write 'label index:value …'; without strict the line is dropped."
        strict.refuse(broken, "the line is not in libsvm's format", column.name, remedy)
        outside = np.zeros(len(fields), dtype=np.bool_)
        outside[row[~inside]] = True
        remedy = "Correct it, or declare more features; without strict the entry is ignored."
        strict.refuse(outside, "an index is outside the declared features", column.name, remedy)
    kept = inside & (value.fill_null(0.0).to_numpy() != 0) & ~broken[row] & (codes >= 0)[row]
    keys = np.unique((row[kept].astype(np.int64) << 31) | index[kept])
    counts = np.bincount(keys >> 31, minlength=len(fields))
    rows = Rows(offsets_of(counts), (keys & (2**31 - 1)).astype(np.int32), codes)
    return rows.take(np.flatnonzero((codes >= 0) & ~broken))


def matrix_persons(persons: Any, schema: Schema, n_rows: int, strict: Where | None) -> pl.Series | None:
    """Persons given beside a matrix, where the unit asks for them."""
    if schema.unit.column is None:
        return None
    if persons is None:
        raise SchemaError(f"The unit is {schema.unit}: pass who each row belongs to as persons=.")
    series = plain_text(as_series(schema.unit.column, persons), schema.missing)
    if len(series) != n_rows:
        raise SchemaError("'persons' must have one entry for each row.")
    if strict is not None:
        strict.refuse(series.is_null(), "no person is named", series.name, "Fill in who the row belongs to.")
    return series
