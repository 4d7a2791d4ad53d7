"""What can be seen of a text without reading it: where words stand, how many there are, and digits, and capitals.

Private in, private out.

A public rule cuts words to their beginning, tells in which part of a text each stands first, and adds a few columns of
small whole numbers; their bins double in width, so that they suit texts of any length. Each row has one bin of each of
them.
"""

from __future__ import annotations

import polars as pl

from tacit.data.columns import NumberColumn, PlacedTextColumn
from tacit.data.schema import Schema

EDGES = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1 << 62)

PATTERNS: dict[str, str] = {
    "words": r"[^\s]+",
    "digits": r"[0-9]",
    "capitals": r"[A-Z]",
}

BORDERS = (6, 16, 40, 100)
"""Words of a text at which its parts begin, but for the first."""

LETTERS = 4
"""Words are told apart by so many of their first letters: "profit", "profits" and "profitable" tell the same, and a sum
over all of them is less noisy than three."""

NUMBER = (r"[0-9]+", "0")
"""Every number is read as 0: single numbers are rare, and a text full of them would spend its norm on them."""


def style_schema(classes: tuple[str | int | float, ...], *, bits: int) -> Schema:
    """The schema of a text's words and of its style columns."""
    style = tuple(NumberColumn(name, tuple(float(edge) for edge in EDGES)) for name in PATTERNS)
    return Schema((PlacedTextColumn("text", bits, LETTERS, BORDERS), *style), classes=classes)


def with_style(text: pl.Series) -> pl.DataFrame:
    """A text column without its numbers beside its style columns."""
    column = pl.col("text").fill_null("")
    style = [column.str.count_matches(pattern).cast(pl.Int64).alias(name) for name, pattern in PATTERNS.items()]
    return pl.LazyFrame({"text": text}).select(column.str.replace_all(*NUMBER), *style).collect()
