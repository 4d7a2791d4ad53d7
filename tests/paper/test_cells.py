"""Cells are computed once, kept whole, and do not depend on the order or the process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.paper import cells
from tacit.paper.cells import Cell, run


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A kind of cell that only draws, and a list of those that were computed."""
    computed: list[dict[str, Any]] = []

    def draw(given: dict[str, Any], rng: np.random.Generator, folder: str | None) -> dict[str, list[float]]:
        computed.append(given)
        if given["number"] == 13:
            raise KeyboardInterrupt
        return {"value": rng.random(3).tolist()}

    monkeypatch.setitem(cells.KINDS, "drawn", draw)
    return computed


def made(*numbers: int) -> list[Cell]:
    return [Cell.of("drawn", form="exact", number=number) for number in numbers]


def test_an_interrupted_run_goes_on(tmp_path: Path, drawn: list[dict[str, Any]]) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(made(1, 2, 13, 3), tmp_path, None)
    assert [given["number"] for given in drawn] == [1, 2, 13]
    drawn.clear()
    told: list[tuple[int, int]] = []
    results = run(made(1, 2, 3, 3), tmp_path, None, tell=lambda *now: told.append(now))
    assert [given["number"] for given in drawn] == [3]
    assert told == [(2, 3), (3, 3)]
    assert set(results) == set(made(1, 2, 3))


def test_a_cell_gives_the_same_in_any_order(tmp_path: Path, drawn: list[dict[str, Any]]) -> None:
    first = run(made(1, 2, 3), tmp_path / "a", None)
    second = run(made(3, 1, 2), tmp_path / "b", None)
    assert first == second
    assert len({tuple(result["value"]) for result in first.values()}) == 3


def test_seeds_are_recorded(tmp_path: Path, drawn: list[dict[str, Any]]) -> None:
    (cell,) = made(5)
    run([cell], tmp_path, None)
    (file,) = tmp_path.glob("*.json")
    kept = json.loads(file.read_text())
    assert kept["seed"] == cell.seed
    assert kept["parameters"]["number"] == 5
    assert kept["result"]["value"] == np.random.default_rng(cell.seed).random(3).tolist()


def test_other_code_means_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    (cell,) = made(5)
    before, seed = cell.key, cell.seed
    monkeypatch.setattr(cells, "code_digest", lambda as_written: "other")
    assert cell.key != before
    assert cell.seed == seed


def test_processes_compute_what_one_computes(tmp_path: Path, folder: str) -> None:
    wanted = [Cell.of("features above", data="SMS", form="exact", size=tau) for tau in (50, 100)]
    assert run(wanted, tmp_path / "one", folder) == run(wanted, tmp_path / "two", folder, jobs=2)


def test_the_file_of_what_is_not_private_says_so(tmp_path: Path) -> None:
    names = {form: Cell.of("drawn", form=form, number=1).place(tmp_path).name for form in ("as written", "sound")}
    assert names["as written"].endswith(".not-private.json")
    assert "not-private" not in names["sound"]
