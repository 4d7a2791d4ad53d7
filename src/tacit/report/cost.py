"""How charges add up, as rows of a chart: one part beside another where they are disjoint. Public side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]


def lay_out(steps: Iterable[Mapping[str, Any]]) -> list[Json]:
    """Place each charge from where those before it end: rows with a ``part``, and ``steps`` with ``start`` and ``end``.

    A unit is in one part of each split, so parts of a split begin at the same place, and what follows a split begins
    where its most expensive part ends. Plain sums of ε: with δ > 0 the ledger may count less.

    Examples
    --------
    >>> model = {"name": "a model", "part": "s:train", "epsilon": 1.0}
    >>> curve = {"name": "a curve", "part": "s:test", "epsilon": 0.5}
    >>> rows = lay_out([model, curve])
    >>> [(row["part"], row["steps"][0]["start"], row["steps"][0]["end"]) for row in rows]
    [('train', 0.0, 1.0), ('test', 0.0, 0.5)]
    """
    charges = [
        {
            "name": str(step["name"]),
            "epsilon": float(step["epsilon"]),
            "delta": float(step.get("delta") or 0.0),
            "path": _path(step.get("part")),
        }
        for step in steps
    ]
    rows: list[Json] = []
    _place((), charges, 0.0, rows)
    return rows


def _path(part: str | None) -> tuple[tuple[str, str], ...]:
    """The splits and parts that lead to a partition, from the whole set inwards."""
    if not part:
        return ()
    pairs = (step.rpartition(":") for step in part.split("/"))
    return tuple((split, name) for split, _, name in pairs)


def _place(path: tuple[tuple[str, str], ...], charges: list[Json], start: float, rows: list[Json]) -> float:
    """Add the row of the set at ``path`` and the rows of its parts; returns where they end."""
    end, placed = start, []
    for charge in charges:
        if charge["path"] == path:
            placed.append({key: charge[key] for key in ("name", "epsilon", "delta")} | {"start": end})
            end += charge["epsilon"]
            placed[-1]["end"] = end
    if placed:
        rows.append({"part": " / ".join(name for _, name in path) or None, "steps": placed})
    depth = len(path)
    inside = [
        charge["path"][depth] for charge in charges if charge["path"][:depth] == path and len(charge["path"]) > depth
    ]
    for split in dict.fromkeys(split for split, _ in inside):
        parts = dict.fromkeys(part for part in inside if part[0] == split)
        end = max(_place((*path, part), charges, end, rows) for part in parts)
    return end
