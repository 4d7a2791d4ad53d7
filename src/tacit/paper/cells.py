"""Cells: the smallest things that are computed, each kept in a small file, so that an interrupted run goes on.

A cell is a kind and its parameters. Its key is a digest of both and of the code that computes it, and its seed is part
of the key, so that a cell gives the same figures on every run and in any order.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from tacit.paper import curves, selecting, sound, written
from tacit.paper.corpus import CLAIMED_ONES, load
from tacit.paper.recipe import Recipe

Result = dict[str, list[float]]
Results = Mapping["Cell", Result]

AS_WRITTEN = ("exact", "as written")
COMPUTING = ("corpus.py", "recipe.py", "written.py", "selecting.py", "curves.py", "sound.py")


@dataclass(frozen=True, slots=True)
class Cell:
    """One computation: ``kind`` names the function, ``parameters`` its arguments in the order of their names."""

    kind: str
    parameters: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, kind: str, **parameters: Any) -> Cell:
        """Make a cell."""
        return cls(kind, tuple(sorted(parameters.items())))

    def __getitem__(self, name: str) -> Any:
        return dict(self.parameters)[name]

    @property
    def key(self) -> str:
        """Name of its file: what is computed, by which code."""
        content = json.dumps([self.kind, self.parameters, code_digest(self["form"] in AS_WRITTEN)])
        return hashlib.sha256(content.encode()).hexdigest()[:32]

    @property
    def seed(self) -> int:
        """Seed of its noise; it does not depend on the code."""
        content = json.dumps([self.kind, self.parameters])
        return int(hashlib.sha256(content.encode()).hexdigest()[:12], 16)

    def place(self, folder: Path) -> Path:
        """Its file. What is not private says so in its name."""
        return folder / f"{self.key}{'.not-private' if self['form'] in AS_WRITTEN else ''}.json"

    def compute(self, folder: str | None) -> Result:
        """Compute it."""
        rng = np.random.default_rng(self.seed)
        return KINDS[self.kind](dict(self.parameters), rng, folder)


def _accuracy(given: dict[str, Any], rng: np.random.Generator, folder: str | None) -> Result:
    corpus = load(given.pop("data"), folder)
    repeats, number = given.pop("repeats"), given.pop("folds")
    recipe = Recipe(**given)
    room = written if recipe.form in AS_WRITTEN else sound
    return {"accuracy": room.accuracy(corpus, recipe, repeats, number, rng)}


def _f1(given: dict[str, Any], rng: np.random.Generator, folder: str | None) -> Result:
    corpus = load(given.pop("data"), folder)
    repeats = given.pop("repeats")
    return {"f1": selecting.f1_scores(corpus, Recipe(**given), repeats, rng)}


def _area(given: dict[str, Any], rng: np.random.Generator, folder: str | None) -> Result:
    return curves.areas(given.pop("data"), rng=rng, folder=folder, **given)


def _features_above(given: dict[str, Any], rng: np.random.Generator, folder: str | None) -> Result:
    del rng  # nothing is drawn
    corpus = load(given["data"], folder)
    masks = {
        name: selecting.true_features(corpus, given["size"], hashed=name == "buckets") for name in ("words", "buckets")
    }
    return {name: [float(mask.sum())] for name, mask in masks.items()}


def _facts(given: dict[str, Any], rng: np.random.Generator, folder: str | None) -> Result:
    del rng  # nothing is drawn
    corpus = load(given["data"], folder)
    ones = np.diff(corpus.words.indptr)
    return {
        "rows": [float(corpus.rows)],
        "features": [float(corpus.words.shape[1])],
        "longer": [float((ones > CLAIMED_ONES).sum())],
        "longest": [float(ones.max())],
        "majority": [corpus.majority],
    }


KINDS: dict[str, Callable[[dict[str, Any], np.random.Generator, str | None], Result]] = {
    "accuracy": _accuracy,
    "f1": _f1,
    "area": _area,
    "features above": _features_above,
    "facts": _facts,
}


@cache
def code_digest(as_written: bool) -> str:
    """Digest of the code behind a cell: a cell that other code computed is not used again."""
    root = Path(str(tacit.__file__)).parent
    files = [root / "paper" / name for name in COMPUTING] + sorted((root / "unsound").glob("*.py"))
    if not as_written:
        rooms = ("data", "desk", "evaluation", "models", "privacy", "selection")
        files += [file for room in rooms for file in sorted((root / room).glob("*.py"))]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _computed(cell: Cell, cache_folder: str, data_folder: str | None) -> Result:
    """Compute a cell in a worker and keep it: written aside and then renamed, so that no file is ever half a cell."""
    result = cell.compute(data_folder)
    place = cell.place(Path(cache_folder))
    content = {"kind": cell.kind, "parameters": dict(cell.parameters), "seed": cell.seed, "result": result}
    aside = place.with_suffix(f".{os.getpid()}")
    aside.write_text(json.dumps(content))
    aside.replace(place)
    return result


def _end_with_parent() -> None:
    """End a worker when the process that started it is gone, however that ended."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run(
    cells: Iterable[Cell],
    cache_folder: Path,
    data_folder: str | None,
    *,
    jobs: int = 1,
    tell: Callable[[int, int], None] = lambda *_: None,
) -> dict[Cell, Result]:
    """Return the results of all cells: those that are kept are read, the others computed in so many processes."""
    cache_folder.mkdir(parents=True, exist_ok=True)
    wanted = list(dict.fromkeys(cells))
    results: dict[Cell, Result] = {}
    for cell in wanted:
        place = cell.place(cache_folder)
        if place.exists():
            results[cell] = json.loads(place.read_text())["result"]
    left = [cell for cell in wanted if cell not in results]
    tell(len(results), len(wanted))
    if jobs == 1 or len(left) < 2:
        for cell in left:
            results[cell] = _computed(cell, str(cache_folder), data_folder)
            tell(len(results), len(wanted))
        return results
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_with_parent) as pool:
        waiting = {pool.submit(_computed, cell, str(cache_folder), data_folder): cell for cell in left}
        try:
            for future in as_completed(waiting):
                results[waiting[future]] = future.result()
                tell(len(results), len(wanted))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results
