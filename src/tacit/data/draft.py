"""A first public description, as TOML with comments, from a file that is declared public or from names alone.

Values are looked at only where the caller says that the file is public. Otherwise nothing but the names of the columns
is read, and the draft says what to fill in.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tacit.data.columns import DATES
from tacit.data.errors import SourceError
from tacit.data.features import as_numbers, plain_text
from tacit.data.files import FileOptions, column_names, list_files, other_delimiter, pieces, reading, settle
from tacit.data.text import token_hashes

_LABELS = ("label", "labels", "class", "target", "y", "outcome", "category", "sentiment", "income", "readmitted")
_PERSONS = ("patient", "person", "user", "customer", "subject", "member", "household")
_NUMBERED = re.compile(r"[ _-]?(id|nr|no|nbr|num|number|key|code)$")
_DATE = r"^(\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](\d{4}|\d{2}))(\D.*)?$"
_COMMAS = r"^[-+]?\d[\d.,]*$"
_MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
_SAMPLE_ROWS = 100_000
_MAX_CATEGORIES = 60
_MAX_CLASSES = 20
_WHICH = "  # TODO: which column is to be predicted?"

_HEADER = """\
# A public description of the data, for tacit. Whatever is written here is taken to be known to everybody:
# write what the code book says, not what you see in private rows.
"""


def draft(source: str | Path | Sequence[str], *, public: bool, options: FileOptions | None = None) -> str:
    """Write a first schema.

    Parameters
    ----------
    source : path, or list of column names
        A file, folder or glob; a list of ``str`` is a list of names.
    public : bool
        Whether the file may be looked into: True only for data that anybody may see. False reads column names alone.
    options : FileOptions, optional
        How the file is written.

    Returns
    -------
    str
        TOML with comments. With ``public=True`` it is complete where the rows tell enough; otherwise it has places to
        fill in, marked TODO, and until they are, no schema is made of it.

    Examples
    --------
    >>> print(draft(["label", "text"], public=False).splitlines()[5])
    [label]
    """
    if not isinstance(source, str | Path):
        return _from_names([str(name) for name in source])
    path = list_files(source)[0]
    settings = options or FileOptions()
    settled = settle(path, settings)
    if settled.format == "libsvm":
        return _HEADER + '\nmissing = [""]\n\n[label]\nclasses = [-1, 1]  # TODO: the labels\n\n' + _sparse()
    with reading(path):
        names = column_names(path, settled)
    if not names:
        raise SourceError(f"The file {str(path)!r} names no columns. Pass header=.", file=str(path))
    if settled.format in ("csv", "tsv") and (hint := other_delimiter(names)):
        raise SourceError(f"The header of {str(path)!r} is a single name. Check the file{hint}.", file=str(path))
    if not public:
        return _from_names(names)
    found = pieces(path, names, settings, batch_rows=1 << 14, strict=None)
    frames = [piece.frame for piece in itertools.islice(found, -(-_SAMPLE_ROWS // (1 << 14)))]
    return _from_frame(pl.concat(frames) if frames else pl.DataFrame({name: [] for name in names}))


def _sparse() -> str:
    return '[columns.x]\nkind = "sparse"\nfeatures = 1  # TODO: how many features the description promises\n'


def _guess(names: Sequence[str], known: Sequence[str]) -> str | None:
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[word] for word in known if word in lower), None)


def _person_of(names: Sequence[str]) -> str | None:
    """The column that tells persons apart; of two columns none does, or nothing would be left beside the label."""
    plain = {_NUMBERED.sub("", name.lower()): name for name in reversed(names)}
    return next((plain[word] for word in _PERSONS if word in plain), None) if len(names) > 2 else None


def _from_names(names: Sequence[str]) -> str:
    label, person = _guess(names, _LABELS), _person_of(names)
    predicted = label or next(name for name in names if name != person)
    lines = [
        f"{_HEADER}# {DATES}",
        'missing = [""]  # texts that stand for a missing value, such as "?" or "NA"',
        "",
        "[label]",
        f"column = {_toml(predicted)}" + ("" if label else _WHICH),
        'classes = []  # TODO: all labels that may occur, such as ["no", "yes"]; rows with others are dropped',
        "",
        *_person(person),
    ]
    for name in names:
        if name in (predicted, person):
            continue
        kind = (
            "text" if name.lower() in ("text", "message", "body", "review", "comment", "title", "tweet") else "category"
        )
        lines.append(f"[columns.{_toml(name)}]")
        if kind == "text":
            lines += ['kind = "text"', "bits = 14  # words are hashed into 2^14 buckets"]
        else:
            lines += [
                'kind = "category"  # TODO: "category", "number", "text"; or remove the column',
                'values = []  # TODO: the declared values, such as ["a", "b"]; all others count as "other"',
                '# kind = "number": low = 0, high = 100, bins = 10 (from the code book, not from the rows)',
                '# kind = "text": bits = 14',
            ]
        lines.append("")
    return "\n".join(lines)


def _person(name: str | None) -> list[str]:
    if name is None:
        return [
            "# If a person may have several rows, name the column that tells persons apart:",
            "# [person]",
            '# column = "…"',
            "# max_rows = 1",
            "",
        ]
    return [
        "[person]  # privacy for persons, not rows; remove it if every row is a person of its own",
        f"column = {_toml(name)}",
        "max_rows = 1  # at most so many rows of a person are used",
        "",
    ]


def _from_frame(frame: pl.DataFrame) -> str:
    names = frame.columns
    texts = {name: plain_text(frame[name], ()) for name in names}
    missing = [mark for mark in _MISSING if mark == "" or any((text == mark).any() for text in texts.values())]
    guess, person = _guess(names, _LABELS), _person_of(names)
    found = {name: _values(texts[name], missing) for name in names if name != person}
    # What is predicted mostly has two values, and stands at the end: a guess, so that its classes are to be filled in.
    label = guess or min(reversed(found), key=lambda name: (len(found[name]) != 2, len(found[name]) > _MAX_CLASSES))
    classes = found[label]
    few = 2 <= len(classes) <= _MAX_CLASSES
    suggested = f"  # TODO: {f'if it is this one, {_toml(classes)}' if few else 'the labels'}"
    lines = [
        _HEADER + "# Drafted from a file that was declared public: check every list and every bound.",
        f"missing = {_toml(missing)}",
        "",
        "[label]",
        f"column = {_toml(label)}" + ("" if guess else _WHICH),
        f"classes = {_toml(classes)}" if guess and few else f"classes = []{suggested}",
        "",
        *_person(person),
    ]
    for name in names:
        if name not in (label, person):
            lines += _draft_column(name, frame[name], texts[name], missing)
    return "\n".join(lines)


def _draft_column(name: str, series: pl.Series, text: pl.Series, missing: list[str]) -> list[str]:
    head = [f"[columns.{_toml(name)}]"]
    values = _values(text, missing)
    numbers, absent = as_numbers(series, tuple(missing))
    numeric = bool((~absent).any()) and not np.isnan(numbers[~absent]).any()
    if len(values) <= (12 if numeric else _MAX_CATEGORIES) and values:
        return [*head, 'kind = "category"', f"values = {_toml(values)}", ""]
    if numeric:
        low, high = float(np.min(numbers[~absent])), float(np.max(numbers[~absent]))
        bounds = [f"low = {_toml(low)}  # TODO: bounds that the code book gives", f"high = {_toml(high)}"]
        return [*head, 'kind = "number"', *bounds, "bins = 10", ""]
    if values and (odd := _odd_numbers(pl.Series(values))):
        return [f"# {name!r} holds {odd}: to use it, change the file or declare it. {DATES}", ""]
    _, starts = token_hashes(text)
    if len(text) and starts[-1] / len(text) >= 3:
        return [*head, 'kind = "text"', "bits = 14", ""]
    note = f"# {name!r} has many different values and few words: an identifier? To use it, hash it as text."
    return [note, *(f"# {line}" for line in [*head, 'kind = "text"', "bits = 12"]), ""]


def _odd_numbers(values: pl.Series) -> str | None:
    """What values are that would count as missing in a column of numbers, if they all look like it."""
    kinds = {"dates": _DATE, "numbers with commas": _COMMAS}
    return next((kind for kind, pattern in kinds.items() if values.str.contains(pattern).all()), None)


def _values(text: pl.Series, missing: list[str]) -> list[str]:
    found = text.drop_nulls().unique().sort()
    return [value for value in found if value not in missing]


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
