"""JSON Lines, whose values come as text by the rules for typed columns."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from tacit.data.faults import Faults, Where
from tacit.data.readers import Piece, numbered, parse_json


def json_lines(
    path: Path,
    columns: list[str],
    batch_rows: int,
    strict: Faults | None,
    dropped: list[Path],
    keep: tuple[str, ...] = (),
) -> Iterator[Piece]:
    """Read JSON Lines; all values come as text. ``dropped`` gets an entry for each line that is."""
    for before, lines in numbered(path, batch_rows):
        values: dict[str, list[str | None]] = {name: [] for name in columns}
        kept: dict[str, list[Any]] = {name: [] for name in keep}
        numbers: list[int] = []
        for place, line in enumerate(lines):
            if not line.strip():
                continue
            number = before + place + 1
            record = parse_json(line, strict=strict is not None)
            if strict is not None:
                line_of = functools.partial(int, number)
                _note_json(record, columns, functools.partial(strict.note, file=str(path), line=line_of))
            if record is None:
                dropped.append(path)
                continue
            for name in columns:
                values[name].append(_json_text(record.get(name)))
            for name in keep:
                kept[name].append(record.get(name))
            numbers.append(number)
        frame = pl.DataFrame(values, schema=dict.fromkeys(columns, pl.String))
        yield Piece(frame, Where(str(path), numbers.__getitem__), kept)


def _note_json(record: dict[str, Any] | None, columns: list[str], note: Callable[..., None]) -> None:
    if record is None:
        remedy = "Correct it; without strict it is dropped."
        note("the line is not a JSON object in UTF-8", column=None, remedy=remedy)
        return
    for name in columns:
        if name not in record:
            remedy = "Add it, or correct the schema's names; without strict it counts as missing."
            note("the record lacks a declared column", column=name, remedy=remedy)
        elif isinstance(record[name], list | dict):
            remedy = "Flatten it; without strict it counts as missing."
            note("the value is a list or an object", column=name, remedy=remedy)


def _json_text(value: Any) -> str | None:
    """A JSON value as text, by the rules for typed columns."""
    if value is None or isinstance(value, str):
        return None if value is None else value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)
    return None
