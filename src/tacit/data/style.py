"""What can be seen of a text without reading it: where words stand, how many there are, and digits, and capitals.

Private in, private out.

A public rule cuts words to their beginning, tells in which part of a text each stands first, and counts what is between
blanks, digits and capitals; the bins of counts double in width, so that they suit texts of any length. Each row has one
bin of each of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.data.columns import StyledTextColumn, TextColumn
from tacit.data.hashing import Longs
from tacit.data.schema import Schema
from tacit.data.text import hash_tokens, prepare

EDGES = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1 << 62)

BORDERS = (6, 16, 40, 100)
"""Words of a text at which its parts begin, but for the first."""

LETTERS = 4
"""Words are told apart by so many of their first letters: "profit", "profits" and "profitable" tell the same, and a sum
over all of them is less noisy than three."""

NUMBER = (r"[0-9]+", "0")
"""Every number is read as 0: single numbers are rare, and a text full of them would spend its norm on them."""

_BLANK_SEPARATED = r"[^\s]+"


def style_schema(classes: tuple[str | int | float, ...], *, bits: int, name: str = "text") -> Schema:
    """The schema of a text's words and of its style."""
    return Schema((StyledTextColumn(name, bits, LETTERS, BORDERS, EDGES),), classes=classes)


def with_styled_text(schema: Schema) -> Schema:
    """A table's description with its hashed texts read as one, of as many buckets as the largest has, and first."""
    texts = [column for column in schema.columns if isinstance(column, TextColumn)]
    bits = max(column.bits or 0 for column in texts)
    names = [column.name for column in texts]
    styled = StyledTextColumn(names[0], bits, LETTERS, BORDERS, EDGES, more=tuple(names[1:]))
    return replace(schema, columns=(styled, *(column for column in schema.columns if column not in texts)))


def read_style(text: pl.Series, letters: int) -> tuple[NDArray[np.uint64], Longs, NDArray[np.int32]]:
    """The hashes of words' beginnings, row by row, where each row begins, and its words, digits and capitals.

    Words and tokens differ: here words are what blanks separate. Tokens are those of the text with numbers replaced.
    """
    buffer, offsets, foreign = prepare(text)
    blank = (buffer - np.uint8(9)) < 5
    blank |= buffer == 32
    digit = (buffer - np.uint8(0x30)) < 10
    capital = (buffer - np.uint8(0x41)) < 26
    begins = ~blank
    begins[1:] &= blank[:-1]
    style = np.column_stack([_by_row(marks, offsets) for marks in (begins, digit, capital)])
    if len(foreign):  # they may have blanks of other kinds
        style[foreign, 0] = text.gather(foreign).str.count_matches(_BLANK_SEPARATED).to_numpy()
    lower = buffer | (capital.view(np.uint8) << np.uint8(5))
    lower &= ~(digit.view(np.uint8) * np.uint8(0x0F))  # digits are 0x30 and their value
    repeated = np.flatnonzero(digit[1:] & digit[:-1]) + 1
    lower, offsets = np.delete(lower, repeated), offsets - np.searchsorted(repeated, offsets)
    return (*hash_tokens(lower, offsets, letters), style)


def _by_row(marks: NDArray[np.bool_], offsets: Longs) -> NDArray[np.int32]:
    """How many bytes of each row are marked; a row has at least one byte."""
    return np.add.reduceat(marks[: offsets[-1]].view(np.uint8), offsets[:-1], dtype=np.int32)
