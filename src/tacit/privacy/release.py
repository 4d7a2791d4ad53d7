"""Releases and receipts: what leaves the gate. Public, serialisable, and meant to be shown."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIMULATION = "simulation: not private"


def html_table(rows: Iterable[tuple[str, str]]) -> str:
    """Names and texts as a small table for notebooks; both are escaped."""
    body = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
        for name, text in rows
    )
    return f"<table>{body}</table>"


class Receipt(Mapping[str, Any]):
    """What a release was, what it cost, and why that is enough: a read-only mapping that turns into JSON.

    Examples
    --------
    >>> Receipt({"mechanism": "discrete Laplace", "epsilon": 1.0})["epsilon"]
    1.0
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = json.loads(json.dumps(dict(fields), allow_nan=False))

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def to_dict(self) -> dict[str, Any]:
        """Return a fresh plain dictionary."""
        copy: dict[str, Any] = json.loads(json.dumps(self._fields))
        return copy

    def to_json(self, indent: int | None = None) -> str:
        """Return the receipt as JSON text."""
        return json.dumps(self._fields, indent=indent, ensure_ascii=False)

    def __repr__(self) -> str:
        return "\n".join(f"{label:>14}  {text}" for label, text in self._rows())

    def _repr_html_(self) -> str:
        return html_table(self._rows())

    def _rows(self) -> Iterator[tuple[str, str]]:
        for key, value in self._fields.items():
            if value is None:
                continue
            if isinstance(value, dict):
                value = ", ".join(f"{name} {entry}" for name, entry in value.items() if entry is not None)
            yield key.replace("_", " "), str(value)


def proofs(receipts: Iterable[Mapping[str, Any]]) -> list[str]:
    """The pages that cover some releases: on their mechanisms, and on sensitivities that have a page of their own."""
    found: set[str] = set()
    for receipt in receipts:
        pages = receipt.get("proof") or []
        found.update([pages] if isinstance(pages, str) else pages)
        found.update(page for page in [(receipt.get("sensitivity") or {}).get("proof")] if page)
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Release:
    """Noisy integers that may be published, with their receipt.

    Attributes
    ----------
    values : array of int64, read-only
    receipt : Receipt
    keys : tuple of str, or None
        What the values count, where the keys were private and partition selection released them.
    """

    values: NDArray[np.int64]
    receipt: Receipt
    keys: tuple[str, ...] | None = None

    def _repr_html_(self) -> str:
        return self.receipt._repr_html_()
