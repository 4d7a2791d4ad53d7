"""Errors of the private side. A message may name a file, a line and a column; it never holds a private value."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from tacit.errors import TacitError


class DataError(TacitError):
    """The data, or the public description of it, cannot be used as it stands.

    Attributes
    ----------
    file, column : str or None
    line : int or None
        Where the trouble is, as far as it is known. Lines count from 1, the header included.
    """

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, column: str | None = None
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), str(self), self.file, self.line, self.column)


def _rebuild(kind: type[DataError], message: str, file: str | None, line: int | None, column: str | None) -> DataError:
    return kind(message, file=file, line=line, column=column)


class SchemaError(DataError, ValueError):
    """The public description is wrong, or does not fit the data's columns."""


class SourceError(DataError):
    """A file as a whole cannot be read: missing, empty, truncated, of an unknown kind."""


class RowError(DataError):
    """A row breaks the description and ``strict=True`` asked to hear of it. Never raised otherwise."""


def name_absent(absent: Iterable[str], present: Iterable[str]) -> str:
    """Columns that are not there, each with the name that may be meant: 'Age' (is it 'age'?), 'sex'."""
    known = {_letters(name): name for name in present}
    told = []
    for name in absent:
        close = difflib.get_close_matches(_letters(name), filter(None, known), n=1, cutoff=0.75)
        told.append(f"{name!r} (is it {known[close[0]]!r}?)" if close else repr(name))
    return ", ".join(told)


def _letters(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())
