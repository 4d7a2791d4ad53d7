"""The public description of a data set: which columns, which values, which classes. Sees no data.

Everything a count table's shape, names or bins depend on is declared here, so that nothing of it can leak. A schema is
written as TOML::

    missing = ["", "?"]                   # what stands for a missing value

    [label]
    column = "income"
    classes = ["<=50K", ">50K"]

    [person]                              # optional: privacy for persons rather than rows
    column = "patient"
    max_rows = 2

    [columns.review]
    kind = "text"
    bits = 14                             # words are hashed into 2^14 buckets; or: words = ["good", "bad"]

    [columns.workclass]
    kind = "category"
    values = ["Private", "State-gov"]     # any other value becomes "other"

    [columns.age]
    kind = "number"
    low = 0
    high = 100
    bins = 10                             # or: edges = [0, 18, 65, 100]
    decimal = "."                         # or: "," where numbers are written as 3,14

    [columns.x]
    kind = "sparse"                       # a matrix, or a libsvm file
    features = 123

Values declared as numbers are compared as numbers, values declared as text as text, after outer white space is removed.
Truth values are numbers (1 and 0) and texts; as a text, True is also written true or TRUE.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.data.columns import (
    MAX_FEATURES,
    CategoryColumn,
    Column,
    NumberColumn,
    SparseColumn,
    TextColumn,
    Value,
    as_tuple,
    bad_entry,
    check_entries,
    check_values,
    column_dict,
    names_read,
    read_column,
)
from tacit.data.errors import SchemaError
from tacit.data.hashing import hash_strings
from tacit.data.text import tokens, valid_text
from tacit.privacy.unit import Unit

__all__ = ["CategoryColumn", "NumberColumn", "Schema", "SparseColumn", "TextColumn"]

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Schema:
    """The public description of a data set.

    Parameters
    ----------
    columns : the feature columns, in the order of their feature numbers
    classes : the declared labels, at least two
    label : name of the label column; None where labels come as an array of their own
    unit : a row, or a person named by a column
    missing : texts that stand for a missing value

    Examples
    --------
    >>> schema = Schema((NumberColumn.equal_bins("age", 0, 100, 2),), classes=("no", "yes"))
    >>> schema.n_features, schema.feature_names()
    (3, ['age in [0, 50)', 'age in [50, 100]', 'age: missing'])
    """

    columns: tuple[Column, ...]
    classes: tuple[Value, ...]
    label: str | None = None
    unit: Unit = Unit()  # noqa: RUF009 - frozen, so one default serves all
    missing: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", check_values("label", "classes", self.classes, least=2))
        names = [name for column in self.columns for name in names_read(column)]
        taken = [*names, *(n for n in (self.label, self.unit.column) if n is not None)]
        if not names or any(not isinstance(n, str) or not n for n in taken) or len(set(taken)) < len(taken):
            expected = "at least one, with names that differ from each other, from the label's and from the person's"
            raise bad_entry("schema", "columns", expected, taken)
        if not all(isinstance(m, str) for m in self.missing):
            raise bad_entry("schema", "missing", "a list of texts", list(self.missing))
        if any(isinstance(c, SparseColumn) for c in self.columns) and len(names) > 1:
            raise bad_entry("schema", "columns", "a single one where it is of kind 'sparse'", names)
        if self.n_features > MAX_FEATURES:
            raise bad_entry("schema", "columns", f"at most {MAX_FEATURES} features in all", self.n_features)

    @classmethod
    def text(cls, classes: Sequence[Value], *, bits: int = 14, label: str | None = None, name: str = "text") -> Schema:
        """One text column, hashed."""
        return cls((TextColumn(name, bits=bits),), classes=classes, label=label)  # type: ignore[arg-type]

    @classmethod
    def matrix(cls, n_features: int, classes: Sequence[Value], *, names: Sequence[str] | None = None) -> Schema:
        """A binary matrix whose labels come as an array."""
        column = SparseColumn("x", n_features, None if names is None else tuple(names))
        return cls((column,), classes=classes)  # type: ignore[arg-type]

    @property
    def n_features(self) -> int:
        """The size d of the feature space."""
        return sum(column.width for column in self.columns)

    @property
    def most_ones(self) -> int:
        """The most features that a row can have: one of each column of values or numbers, all of a text's."""
        single = (CategoryColumn, NumberColumn)
        return sum(1 if isinstance(column, single) else column.width for column in self.columns)

    @property
    def offsets(self) -> dict[str, int]:
        """The number of each column's first feature."""
        ends = np.cumsum([0, *(column.width for column in self.columns)])
        return {column.name: int(end) for column, end in zip(self.columns, ends, strict=False)}

    @property
    def names_needed(self) -> list[str]:
        """The columns that are read; all others are ignored."""
        extra = [name for name in (self.label, self.unit.column) if name is not None]
        return [name for column in self.columns for name in names_read(column)] + extra

    def feature_name(self, feature: int) -> str:
        """A printable name of one feature, from the description alone."""
        if not 0 <= feature < self.n_features:
            raise bad_entry("schema", "feature", f"from 0 to {self.n_features - 1}", feature)
        for column in self.columns:
            if feature < column.width:
                return _printable(column.label_of(int(feature)))
            feature -= column.width
        raise AssertionError("unreachable: the widths add up to n_features")

    def feature_names(self, public_words: Iterable[str] = ()) -> list[str]:
        """Names of all features; buckets are followed by the public words that fall into them, if any are given."""
        names = [_printable(column.label_of(i)) for column in self.columns for i in range(column.width)]
        listed: dict[str, None] = {token: None for word in public_words for token in tokens(word)}
        hashes = hash_strings(valid_text(listed))
        for column in self.columns:
            if isinstance(column, TextColumn) and column.bits is not None:
                start = self.offsets[column.name]
                members: dict[int, list[str]] = {}
                for word, bucket in zip(listed, (hashes & ((1 << column.bits) - 1)).tolist(), strict=True):
                    members.setdefault(start + bucket, []).append(word)
                for place, words in members.items():
                    shown = ", ".join(words[:3]) + (", …" if len(words) > 3 else "")
                    names[place] += f" ({shown})"
        return names

    def to_dict(self) -> dict[str, Any]:
        """The description as plain data, as in TOML."""
        body: dict[str, Any] = {"missing": list(self.missing), "label": {"classes": list(self.classes)}}
        if self.label is not None:
            body["label"]["column"] = self.label
        if self.unit.column is not None:
            body["person"] = {"column": self.unit.column, "max_rows": self.unit.max_rows}
        body["columns"] = {column.name: column_dict(column) for column in self.columns}
        return body

    @property
    def fingerprint(self) -> str:
        """A short name of the feature space: equal for equal columns, whatever the unit."""
        columns = [[column.name, column_dict(column)] for column in self.columns]
        body = json.dumps([columns, list(self.missing)], ensure_ascii=False)
        return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def digest(self) -> str:
        """A name of the whole description: of columns as well as label, classes in their order, unit and missing."""
        return hashlib.sha256(json.dumps(self.to_dict()).encode()).hexdigest()

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Schema:
        """Read plain data, as parsed from TOML or JSON."""
        check_entries(body, "schema", {"missing", "label", "person", "columns"})
        label = _table(body, "label")
        check_entries(label, "label", {"column", "classes"})
        person = _table(body, "person") if "person" in body else {}
        check_entries(person, "person", {"column", "max_rows"})
        if "person" in body and not isinstance(person.get("column"), str):
            raise bad_entry("person", "column", "the name of the column that tells persons apart", person.get("column"))
        unit = Unit.user(person["column"], person.get("max_rows", 1)) if person else Unit.row()
        columns = tuple(read_column(name, entry) for name, entry in _table(body, "columns").items())
        return cls(
            columns,
            classes=as_tuple("label", "classes", label.get("classes")),
            label=label.get("column"),
            unit=unit,
            missing=as_tuple("schema", "missing", body.get("missing", [""])),
        )

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read a TOML description."""
        try:
            body = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"The schema is not valid TOML: {error}. See `tacit schema draft`.") from error
        return cls.from_dict(body)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a TOML file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not written in UTF-8"
            remedy = "Text is read by Schema.from_toml." if "\n" in str(path) else "Check the path."
            raise SchemaError(
                f"The schema file {str(path)!r} cannot be read: {why}. {remedy}", file=str(path)
            ) from error
        return cls.from_toml(text)

    @classmethod
    def of(cls, described: Any) -> Any:
        """Read a path or plain data; anything else is handed back, for whoever asked to judge."""
        if isinstance(described, str | Path):
            return cls.load(described)
        return cls.from_dict(described) if isinstance(described, Mapping) else described

    def to_toml(self) -> str:
        """Write the description as TOML."""
        lines = [f"missing = {_toml(list(self.missing))}", ""]
        body = self.to_dict()
        tables = {"label": body["label"]} | ({"person": body["person"]} if "person" in body else {})
        tables |= {f"columns.{_toml(name)}": entry for name, entry in body["columns"].items()}
        for name, entries in tables.items():
            lines += [f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in entries.items()), ""]
        return "\n".join(lines)


def _table(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if not isinstance(body.get(name), Mapping):
        raise SchemaError(f"The schema needs a table [{name}]. See `tacit schema draft`.")
    table: Mapping[str, Any] = body[name]
    return table


def _printable(name: str) -> str:
    """Names come from the description and may hold anything: make them safe for one line of any terminal."""
    text = name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return _UNPRINTABLE.sub("\ufffd", text)


def _toml(value: Any) -> str:
    """Write a value; JSON's texts and lists are TOML's too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
