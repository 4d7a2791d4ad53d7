"""Kinds of feature columns: what a public description can say of a column. Sees no data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.errors import SchemaError
from tacit.data.hashing import hash_strings
from tacit.data.rows import Ids
from tacit.data.text import MAX_BITS, tokens, valid_text

Value = str | int | float
MAX_FEATURES = 2**31 - 1
DATES = (
    "Numbers are written as 1234.5, or with decimal = ',' as 1234,5; in the place of a date store one: its year, or "
    "days since another date."
)
BLANKS = " \t\r\n"
"""Outer white space that is removed from values before they are compared."""
EXACT = 2**53
"""Whole numbers below this are told apart by 64-bit floats."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of text: its words are hashed into 2^bits buckets, or looked up in a public list of words."""

    name: str
    bits: int | None = None
    words: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", _plain(self.bits))
        if (self.bits is None) == (self.words is None):
            raise bad_entry(self.name, "bits", f"given (1 to {MAX_BITS}), or else words", self.bits)
        if self.bits is not None and (not _whole(self.bits) or not 1 <= self.bits <= MAX_BITS):
            raise bad_entry(self.name, "bits", f"a whole number from 1 to {MAX_BITS}", self.bits)
        for word in self.words or ():
            if not isinstance(word, str) or tokens(word) != [word]:
                remedy = "Pass a public list through tacit.data.text.tokens first; it gives lower-case single words."
                raise bad_entry(self.name, "words", "single words as the tokeniser writes them", word, remedy)
        if self.words is not None and (not self.words or len(set(self.words)) < len(self.words)):
            raise bad_entry(self.name, "words", "at least one word, each once", f"{len(self.words)} words")

    @property
    def width(self) -> int:
        """How many features the column has."""
        return len(self.words) if self.words is not None else 1 << (self.bits or 0)

    def label_of(self, local: int) -> str:
        """Name one of its features."""
        return f"{self.name}: {self.words[local]}" if self.words is not None else f"{self.name}: bucket {local}"


@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """A column of declared values; then come "other" and "missing"."""

    name: str
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", check_values(self.name, "values", self.values, least=1))

    @property
    def width(self) -> int:
        """The declared values, other, missing."""
        return len(self.values) + 2

    def label_of(self, local: int) -> str:
        """Name one of its features."""
        if local >= len(self.values):
            return f"{self.name}: {('other', 'missing')[local - len(self.values)]}"
        return f"{self.name} = {self.values[local]}"


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A column of numbers in declared bins: [e₀, e₁), …, the last one closed; then comes "missing"."""

    name: str
    edges: tuple[float, ...]
    decimal: str = "."
    """With "," a number that comes as text may have a comma for its point."""

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise bad_entry(self.name, "decimal", "'.' or ','", self.decimal)
        object.__setattr__(self, "edges", tuple(map(_plain, self.edges)))
        finite = all(isinstance(e, int | float) and not isinstance(e, bool) and math.isfinite(e) for e in self.edges)
        if len(self.edges) < 2 or not finite or any(a >= b for a, b in zip(self.edges, self.edges[1:], strict=False)):
            raise bad_entry(self.name, "edges", "at least two finite numbers in ascending order", list(self.edges))
        object.__setattr__(self, "edges", tuple(float(edge) for edge in self.edges))

    @classmethod
    def equal_bins(cls, name: str, low: float, high: float, bins: int, decimal: str = ".") -> NumberColumn:
        """Bins of equal width between two public bounds."""
        low, high, bins = map(_plain, (low, high, bins))
        if not _whole(bins) or bins < 1:
            raise bad_entry(name, "bins", "a whole number of at least 1", bins)
        if not all(isinstance(v, int | float) and math.isfinite(v) for v in (low, high)) or low >= high:
            bounds: tuple[Any, Any] = (low, high)
            got = tuple(str(v) if isinstance(v, date) else v for v in bounds)
            remedy = DATES if any(isinstance(v, date | str) for v in bounds) else ""
            raise bad_entry(name, "low, high", "two finite numbers in ascending order", got, remedy)
        return cls(name, (*(float(low + (high - low) * i / bins) for i in range(bins)), float(high)), decimal)

    @property
    def width(self) -> int:
        """The bins, and missing."""
        return len(self.edges)

    def label_of(self, local: int) -> str:
        """Name one of its features."""
        if local == len(self.edges) - 1:
            return f"{self.name}: missing"
        low, high = self.edges[local], self.edges[local + 1]
        bracket = "]" if local == len(self.edges) - 2 else ")"
        return f"{self.name} in [{low:g}, {high:g}{bracket}"


STYLE = ("words", "digits", "capitals")
"""What is counted of a text."""


@dataclass(frozen=True, slots=True)
class StyledTextColumn:
    """A column of text where it matters which words come early, and how many there are; numbers are all the same.

    The n-th word of a text (from 0) is in the part that ``borders`` give, and a word counts once, where it stands
    first. Its first ``letters`` code points are hashed into 2^bits buckets. The feature of a bucket in a part is
    bucket·parts + part. Then come the bins, by ``edges``, of the numbers of blank-separated words, of digits and of
    capitals. The texts of ``more`` columns follow that of the first, as one text.
    """

    name: str
    bits: int
    letters: int
    borders: tuple[int, ...]
    edges: tuple[float, ...]
    more: tuple[str, ...] = ()

    @property
    def parts(self) -> int:
        """How many parts a text has."""
        return len(self.borders) + 1

    @property
    def cells(self) -> int:
        """How many of its features are of words."""
        return self.parts << self.bits

    @property
    def width(self) -> int:
        """How many features the column has."""
        return self.cells + len(STYLE) * len(self.edges)

    def label_of(self, local: int) -> str:
        """Name one of its features."""
        if local < self.cells:
            return f"{self.name}: bucket {local // self.parts} in part {local % self.parts}"
        what, place = divmod(local - self.cells, len(self.edges))
        return NumberColumn(STYLE[what], self.edges).label_of(place)


@dataclass(frozen=True, slots=True)
class SparseColumn:
    """The columns of a binary matrix or of a libsvm file: a feature is present where the entry is not 0."""

    name: str
    features: int
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", _plain(self.features))
        if not _whole(self.features) or not 1 <= self.features <= MAX_FEATURES:
            raise bad_entry(self.name, "features", f"a whole number from 1 to {MAX_FEATURES}", self.features)
        if self.names is not None and len(self.names) != self.features:
            raise bad_entry(
                self.name, "names", f"{self.features} names, one for each feature", f"{len(self.names)} names"
            )

    @property
    def width(self) -> int:
        """How many features the matrix has."""
        return self.features

    def label_of(self, local: int) -> str:
        """Name one of its features."""
        return self.names[local] if self.names is not None else f"{self.name}[{local}]"


Column = TextColumn | StyledTextColumn | CategoryColumn | NumberColumn | SparseColumn


def names_read(column: Column) -> tuple[str, ...]:
    """The columns of the data that a described one is made of."""
    return (column.name, *column.more) if isinstance(column, StyledTextColumn) else (column.name,)


def word_table(column: TextColumn) -> tuple[NDArray[np.uint64], Ids]:
    """The hashes of a column's public words in ascending order, and the feature number of each."""
    hashes = hash_strings(valid_text(column.words or ())).view(np.uint64)
    order = np.argsort(hashes)
    return hashes[order], order.astype(np.int32)


def column_dict(column: Column) -> dict[str, Any]:
    """Describe a column as plain data."""
    match column:
        case TextColumn(bits=None):
            return {"kind": "text", "words": list(column.words or ())}
        case TextColumn():
            return {"kind": "text", "bits": column.bits}
        case StyledTextColumn():
            shape = {"letters": column.letters, "borders": [*column.borders], "edges": [*column.edges]}
            more = {"more": [*column.more]} if column.more else {}
            return {"kind": "styled text", "bits": column.bits} | shape | more
        case CategoryColumn():
            return {"kind": "category", "values": list(column.values)}
        case NumberColumn():
            how = {} if column.decimal == "." else {"decimal": column.decimal}
            return {"kind": "number", "edges": list(column.edges)} | how
        case SparseColumn():
            names = {} if column.names is None else {"names": list(column.names)}
            return {"kind": "sparse", "features": column.features} | names


def read_column(name: str, entry: Any) -> Column:
    """Read a column's description from plain data."""
    if not isinstance(entry, Mapping):
        raise bad_entry(name, "kind", "given in a table of its own", entry)
    kinds: dict[object, set[str]] = {
        "text": {"bits", "words"},
        "category": {"values"},
        "number": {"low", "high", "bins", "edges", "decimal"},
        "sparse": {"features", "names"},
    }
    kind = entry.get("kind")
    if kind not in kinds:
        raise bad_entry(name, "kind", "one of " + ", ".join(map(repr, kinds)), kind)
    check_entries(entry, name, {"kind"} | kinds[kind])
    if kind == "text":
        words = as_tuple(name, "words", entry["words"]) if "words" in entry else None
        return TextColumn(name, bits=entry.get("bits"), words=words)
    if kind == "category":
        return CategoryColumn(name, as_tuple(name, "values", entry.get("values")))
    if kind == "sparse":
        names = as_tuple(name, "names", entry["names"]) if "names" in entry else None
        return SparseColumn(name, entry.get("features", 0), names)
    if "edges" in entry:
        check_entries(entry, name, {"kind", "edges", "decimal"})
        return NumberColumn(name, as_tuple(name, "edges", entry["edges"]), entry.get("decimal", "."))
    if "low" not in entry or "high" not in entry:
        raise bad_entry(name, "low, high", "given, or else edges", None, "Choose bounds from what anybody may know.")
    bins, decimal = entry.get("bins", 10), entry.get("decimal", ".")
    return NumberColumn.equal_bins(name, entry["low"], entry["high"], bins, decimal)


def as_tuple(owner: str, name: str, value: Any) -> tuple[Any, ...]:
    """Check that an entry is a list."""
    if not isinstance(value, list | tuple):
        raise bad_entry(owner, name, "a list", value)
    return tuple(value)


def check_entries(body: Mapping[str, Any], owner: str, allowed: set[str]) -> None:
    """Refuse entries that nobody would read: a misspelt one must not pass in silence."""
    strange = sorted(set(body) - allowed)
    if strange:
        raise SchemaError(f"{owner!r} of the schema has unknown entries {strange}. Known: {sorted(allowed)}.")


def check_values(owner: str, name: str, values: Iterable[Value], *, least: int) -> tuple[Value, ...]:
    """Check declared values: in a fixed order, all texts or all numbers, no two the same."""
    if isinstance(values, str | bytes | set | frozenset | Mapping):
        raise bad_entry(owner, name, "a list or tuple of values", type(values).__name__, "Their order has a meaning.")
    plain = tuple(map(_plain, values))
    texts = all(isinstance(value, str) for value in plain)
    numbers = all(isinstance(value, int | float) and math.isfinite(value) for value in plain)
    if len(plain) < least or not (texts or numbers):
        raise bad_entry(owner, name, f"at least {least} value(s), all texts or all finite numbers", list(plain))
    if numbers and any(isinstance(value, int) and abs(value) >= EXACT for value in plain):
        raise bad_entry(owner, name, "whole numbers below 2^53", list(plain), "Declare longer ones as texts.")
    told_apart = {value.strip(BLANKS) if isinstance(value, str) else float(value) for value in plain}
    if len(told_apart) < len(plain):
        raise bad_entry(owner, name, "values that differ from each other (outer white space aside)", list(plain))
    return plain


def spellings(values: Iterable[Value]) -> dict[str, int]:
    """The texts that stand for declared ones, and the place of each: themselves, and truth values in every spelling.

    Readers differ on how they write truth values, so a declared "True" is met by true and TRUE as well, as long as it
    is the only one of its kind. This depends on what is declared alone.
    """
    table = {str(value).strip(BLANKS): place for place, value in enumerate(values)}
    for word in ("true", "false"):
        meant = [place for text, place in table.items() if text.lower() == word]
        if len(meant) == 1:
            table = dict.fromkeys((word, word.capitalize(), word.upper()), meant[0]) | table
    return table


def _plain(value: Any) -> Any:
    """Python's own number or text in place of numpy's."""
    return value.item() if isinstance(value, np.generic) else value


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def bad_entry(owner: str, name: str, expected: str, got: object, remedy: str = "") -> SchemaError:
    """Build the one sentence that every error in a description follows."""
    return SchemaError(f"{name!r} of {owner!r} in the schema must be {expected}. Got {got!r}. {remedy}".rstrip())
