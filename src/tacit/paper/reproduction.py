"""Run the reproduction: collect the cells of all items, compute what is missing, write files and the page."""

from __future__ import annotations

import csv
import io
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import tacit
from tacit.errors import bad_parameter
from tacit.paper import areas, classifiers, finding, naive, page, rocs, scoring
from tacit.paper.cells import Cell, run
from tacit.paper.corpus import check_files
from tacit.paper.tables import Item, Scale, Shown

ITEMS: tuple[Item, ...] = (*scoring.ITEMS, *naive.ITEMS, *classifiers.ITEMS, *finding.ITEMS, *rocs.ITEMS, *areas.ITEMS)


def choose(only: Sequence[str] | None) -> list[Item]:
    """Return the items of these names, in the order of the paper; None means all of them."""
    names = [item.name for item in ITEMS]
    for name in only or ():
        if name not in names:
            raise bad_parameter("tacit paper", "--only", f"some of {', '.join(names)}", name)
    return [item for item in ITEMS if only is None or item.name in only]


def reproduce(
    out: Path,
    *,
    only: Sequence[str] | None = None,
    quick: bool = False,
    data: str | None = None,
    jobs: int = 1,
    tell: Callable[[int, int], None] = lambda *_: None,
) -> dict[str, Any]:
    """Reproduce the chosen items into a folder, and return claims with verdicts.

    Parameters
    ----------
    out : path
        Gets ``index.html``, a CSV file and two plots an item, and ``cache`` with one file a cell.
    only : sequence of str, optional
        Names of items.
    quick : bool
        Few folds, settings and repetitions.
    data : str, optional
        Folder of the data sets; default the environment variable ``TACIT_DATA``.
    jobs : int
        Processes.
    tell : callable
        Called with the number of cells that are done and the number of all.
    """
    started = time.monotonic()
    scale = Scale(quick)
    items = choose(only)
    cells = {item.name: item.cells(scale) for item in items}
    wanted = [cell for group in cells.values() for cell in group]
    sets = list(dict.fromkeys(cell["data"] for cell in wanted))
    check_files(sets, data)
    facts = {name: Cell.of("facts", data=name, form="exact") for name in sets}
    plan = [*facts.values(), *wanted]
    kept = sum(cell.place(out / "cache").exists() for cell in set(plan))
    results = run(plan, out / "cache", data, jobs=jobs, tell=tell)
    shown = [(item, item.show(results, scale)) for item in items]
    pictures = {item.name: _write(out, item, what) for item, what in shown}
    summary = {
        "tacit": tacit.__version__,
        "size": "quick" if quick else "full",
        "cells": len(results),
        "cached": kept,
        "seconds": round(time.monotonic() - started),
        "processes": jobs,
    }
    software = {"Python": platform.python_version(), "NumPy": np.__version__, "scikit-learn": sklearn.__version__}
    text = page.build(shown, pictures, {name: results[cell] for name, cell in facts.items()}, summary | software)
    (out / "index.html").write_text(text, encoding="utf-8")
    claims = [{"item": item.name, **asdict(claim)} for item, what in shown for claim in what.claims]
    return {"page": str(out / "index.html"), **summary, "claims": claims}


def _write(out: Path, item: Item, what: Shown) -> bytes:
    """Write the files of an item. Each holds results that are not private, and its name says so."""
    place = out / f"{item.name}.not-private.csv"
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in what.rows for name in row)))
        writer.writeheader()
        writer.writerows(what.rows)
    what.figure.savefig(place.with_suffix(".svg"), metadata={"Date": None})
    picture = io.BytesIO()
    what.figure.savefig(picture, format="png", dpi=110)
    place.with_suffix(".png").write_bytes(picture.getvalue())
    return picture.getvalue()
