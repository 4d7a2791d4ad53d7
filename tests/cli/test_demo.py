"""``tacit demo`` tells its story offline, and can be run again for free."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tacit import Budget, Ledger
from tacit.cli import main


def test_the_demo_runs_twice_and_is_charged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("statsmodels", reason="the survey comes with statsmodels: pip install 'tacit[demo]'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_DATA", raising=False)
    assert main(["demo", "--out", "here"]) == 0
    first = capsys.readouterr().out
    assert main(["demo", "--out", "here"]) == 0
    assert capsys.readouterr().out == first, "asking again gives the very same release"
    for words in (
        "told from noise",
        "Lacking: ε = 0.5",
        "the very same curve",
        "ledger verify",
        "1 (train) and 1 (test)",
    ):
        assert words in " ".join(first.split())
    assert "<html" in Path("here/report.html").read_text()
    assert main(["demo", "--out", "here", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {"auc", "auc_interval", "epsilon", "delta", "status", "files", "receipt"} <= set(facts)
    assert (facts["epsilon"], facts["receipt"]["dataset"]) == (1.0, "survey")
    assert all(Path(file).is_file() for file in facts["files"])
    account = Ledger.open("sqlite:///here/ledger.db").account("survey")
    assert account.spent == Budget(1.0)
    assert len(account.entries()) == 2


def test_the_story_of_spam_where_data_are_at_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("statsmodels", reason="the survey comes with statsmodels: pip install 'tacit[demo]'")
    folder = os.environ.get("TACIT_DATA")
    if folder is None:
        pytest.skip("TACIT_DATA names no folder of published data sets")
    assert main(["demo", "--out", str(tmp_path), "--data", folder]) == 0
    assert "spam" in capsys.readouterr().out
    assert "<html" in (tmp_path / "messages" / "report.html").read_text()
    assert main(["demo", "--out", str(tmp_path), "--data", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["messages"]["receipt"]["dataset"] == "messages"


def test_a_folder_without_data_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("statsmodels", reason="the survey comes with statsmodels: pip install 'tacit[demo]'")
    assert main(["demo", "--out", str(tmp_path / "new"), "--data", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert "tacit: error: " in err
    assert out == ""  # nothing is told or made before
    assert not (tmp_path / "new").exists()


def test_files_of_somebody_else_are_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "model.json"
    mine.write_text("mine")
    for place in (tmp_path, mine):
        assert main(["demo", "--out", str(place)]) == 2
        out, err = capsys.readouterr()
        assert (out, "'--out'" in err) == ("", True)
    assert mine.read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]
