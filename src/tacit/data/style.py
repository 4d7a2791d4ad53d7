"""What can be seen of a text without reading it: where words stand, how many there are, and digits, and capitals.

Private in, private out.

A public rule cuts a column of text into its opening, its middle and its rest, and adds a few columns of small whole
numbers; their bins double in width, so that they suit texts of any length. Each row has one bin of each of them.
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


ZONES: dict[str, tuple[int, int | None]] = {"opening": (0, 120), "middle": (120, 240), "rest": (360, None)}
"""Where each part of a text begins and how many characters it has: some twenty words, forty more, and all others. A
word that is cut at a border counts as two words."""

NUMBER = (r"[0-9]+", "0")
"""Every number is read as 0: single numbers are rare, and a text full of them would spend its norm on them."""


def style_schema(classes: tuple[str | int | float, ...], *, bits: int) -> Schema:
    """The schema of a text's parts, all hashed into the same buckets, and of its style columns."""
    style = tuple(NumberColumn(name, tuple(float(edge) for edge in EDGES)) for name in PATTERNS)
    return Schema((*(TextColumn(name, bits=bits) for name in ZONES), *style), classes=classes)


def with_style(text: pl.Series) -> pl.DataFrame:
    """The parts of a text column beside its style columns."""
    column = pl.col("text").fill_null("")
    style = [column.str.count_matches(pattern).cast(pl.Int64).alias(name) for name, pattern in PATTERNS.items()]
    plain = column.str.replace_all(*NUMBER)
    parts = [plain.str.slice(begin, length).alias(name) for name, (begin, length) in ZONES.items()]
    return pl.LazyFrame({"text": text}).select(*parts, *style).collect()
