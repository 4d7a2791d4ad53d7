"""Which rows of a Spark data frame are copies of each other: those that nobody who gets them can tell apart.

Spark's own equality will not do. By it 0.0 and −0.0 are equal, and so are texts of a collation that passes over case;
maps have none. Copies are numbered, and have coins by their number: one row more would renumber rows that it is no
copy of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def content(frame: DataFrame) -> list[Column]:
    """All columns, as values that are equal if and only if those of the frame cannot be told apart."""
    return [_exact(F.col(f"`{field.name.replace('`', '``')}`"), field.dataType) for field in frame.schema.fields]


def _exact(column: Column, kind: T.DataType) -> Column:
    if isinstance(kind, T.StringType):
        return column.cast("binary")
    if isinstance(kind, T.FloatType | T.DoubleType):
        return column.cast("string")  # tells −0.0 from 0.0
    if isinstance(kind, T.ArrayType):
        inner = kind.elementType
        return F.transform(column, lambda element: _exact(element, inner))
    if isinstance(kind, T.StructType):
        parts = [_exact(column.getField(field.name), field.dataType).alias(str(i)) for i, field in enumerate(kind)]
        return F.when(column.isNotNull(), F.struct(*parts)) if parts else column
    if isinstance(kind, T.MapType):
        entries = T.StructType([T.StructField("key", kind.keyType), T.StructField("value", kind.valueType)])
        return _exact(F.map_entries(column), T.ArrayType(entries))
    return column
