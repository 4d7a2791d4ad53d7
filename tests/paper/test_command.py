"""``tacit paper`` writes a page that labels what is not private wherever it appears; bad input ends with a message."""

from __future__ import annotations

import csv
import html
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.cli import main
from tacit.paper import cells, reproduction
from tacit.paper.reproduction import ITEMS
from tacit.paper.tables import FAILS, HOLDS, ONLY_UNSOUND, Scale

pytestmark = pytest.mark.xdist_group("paper")


def test_every_row_of_the_plan_is_an_item() -> None:
    names = [item.name for item in ITEMS]
    assert len(set(names)) == len(names) == 12
    for quick in (True, False):
        for item in ITEMS:
            cells = item.cells(Scale(quick))
            assert cells
            assert {"data", "form"} <= {name for name, _ in cells[0].parameters}


def test_roc_cells_are_repeated_a_hundred_times() -> None:
    cells = [cell for item in ITEMS for cell in item.cells(Scale()) if cell.kind == "area"]
    assert {cell["repeats"] for cell in cells if cell["form"] != "exact"} == {100}
    assert {cell["epsilon"] for cell in cells if cell["form"] != "exact"} == {1.0, 0.5, 0.25, 0.1}


def test_every_item_is_shown_with_labels_and_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole page, from made-up figures: what is shown must not rest on how the figures turn out."""

    def made_up(given: dict[str, Any], rng: np.random.Generator, folder: str | None) -> dict[str, list[float]]:
        names = ("accuracy", "f1", "area", "auc", "fallen", "words", "buckets")
        names += ("rows", "features", "longer", "longest", "majority")
        return {name: rng.uniform(0.1, 0.9, 5).tolist() for name in names} | {
            "median curve": np.sort(rng.random(201)).tolist()
        }

    for kind in cells.KINDS:
        monkeypatch.setitem(cells.KINDS, kind, made_up)
    monkeypatch.setattr(reproduction, "check_files", lambda names, folder: None)
    found = reproduction.reproduce(tmp_path, quick=True)
    shown = {claim["item"] for claim in found["claims"]}
    assert shown == {item.name for item in ITEMS}
    assert {claim["verdict"] for claim in found["claims"]} <= {HOLDS, ONLY_UNSOUND, FAILS}
    page = (tmp_path / "index.html").read_text()
    for claim in found["claims"]:
        assert page.count(html.escape(claim["rule"])) >= 2, "with the verdict and in the section of its item"
    for item in ITEMS:
        assert f"id='{item.name}'" in page
        with (tmp_path / f"{item.name}.not-private.csv").open() as file:
            rows = list(csv.DictReader(file))
        labels = {row["privacy"] for row in rows}
        assert {"no privacy", "as written (NOT PRIVATE)", "sound", "tacit's default"} <= labels
        assert "NOT PRIVATE" in (tmp_path / f"{item.name}.not-private.svg").read_text()


def test_the_page_says_what_is_not_private(tmp_path: Path, folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    command = ["paper", "--quick", "--only", "f1", "--jobs", "1", "--json", "--data", folder, "--out", str(tmp_path)]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert {claim["verdict"] for claim in found["claims"]} <= {HOLDS, ONLY_UNSOUND, FAILS}
    verdicts = {claim["text"]: claim["verdict"] for claim in found["claims"]}
    (testing,) = (verdict for text, verdict in verdicts.items() if text.startswith("PTT finds"))
    assert testing == ONLY_UNSOUND
    with (tmp_path / "f1.not-private.csv").open() as file:
        rows = list(csv.DictReader(file))
    unsound = {"PTT", "NoisyCut", "cluster", "score perturbation, r = 10", "SVT, as the paper describes it"}
    assert unsound <= {row["method"] for row in rows if "NOT PRIVATE" in row["privacy"]}
    assert not any("NOT PRIVATE" in row["privacy"] for row in rows if "CountSelector" in row["method"])
    assert all(row["seed"] for row in rows if row["privacy"] != "no privacy")
    page = (tmp_path / "index.html").read_text()
    for words in ("NOT PRIVATE", "Contents", "Where the paper is silent", "Verdicts", "5,574"):
        assert words in page
    picture = (tmp_path / "f1.not-private.svg").read_text()
    assert picture.count("NOT PRIVATE") >= 7, "every line as written is labelled in the legend"
    assert (tmp_path / "f1.not-private.png").read_bytes().startswith(b"\x89PNG")
    before = sorted((tmp_path / "cache").iterdir())
    assert main(command) == 0
    assert sorted((tmp_path / "cache").iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "table1,nonsense"], "nonsense"),
        (["--jobs", "0"], "--jobs"),
        (["--only", "f1", "--data", "/nowhere"], "SMSSpamCollection"),
        (["--out", "/dev/null/here"], "--out"),
    ],
)
def test_bad_input_ends_with_a_message(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["paper", "--quick", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
