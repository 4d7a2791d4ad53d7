"""What can be seen of a text without reading it: how long, how many digits and capitals. Private in, private out.

A public rule adds a few columns of small whole numbers to a column of text; bins double in width, so that they suit
texts of any length. Each row has one bin of each column.
"""

from __future__ import annotations

import polars as pl

from tacit.data.columns import NumberColumn, TextColumn
from tacit.data.schema import Schema

EDGES = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1 << 62)

PATTERNS: dict[str, str] = {
    "words": r"[^\s]+",
    "digits": r"[0-9]",
    "capitals": r"[A-Z]",
}


def style_schema(classes: tuple[str | int | float, ...], *, bits: int | None, words: tuple[str, ...] | None) -> Schema:
    """The schema of one text column and its style columns."""
    style = tuple(NumberColumn(name, tuple(float(edge) for edge in EDGES)) for name in PATTERNS)
    return Schema((TextColumn("text", bits=bits, words=words), *style), classes=classes)


def with_style(text: pl.Series) -> pl.DataFrame:
    """A text column beside its style columns."""
    column = pl.col("text")
    frame = pl.LazyFrame({"text": text})
    return frame.with_columns(
        column.fill_null("").str.count_matches(pattern).cast(pl.Int64).alias(name) for name, pattern in PATTERNS.items()
    ).collect()
