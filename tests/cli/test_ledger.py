"""``tacit ledger`` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tacit import Budget, Ledger
from tacit.cli import main
from tests.ledger.test_contract import request

URL = "sqlite:///ledger.db"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TACIT_LEDGER", URL)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["ledger", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_story(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "create", "survey", "--epsilon", "1", "--delta", "1e-6")
    assert code == 0
    assert "spent ε = 0 of ε = 1, δ = 1e-06" in out
    with Ledger.open(URL) as ledger:
        ledger.account("survey").charge(request(0.25, "label counts"))
    code, out, _ = run(capsys, "list")
    assert code == 0
    assert "survey" in out
    assert "ε = 0.75, δ = 1e-06" in out
    code, out, _ = run(capsys, "show", "survey")
    assert code == 0
    assert "label counts" in out
    assert "charged, not yet released" in out
    code, out, _ = run(capsys, "raise", "survey", "--epsilon", "2", "--reason", "the board agreed")
    assert code == 0
    assert "from ε = 1, δ = 1e-06 to ε = 2, δ = 1e-06" in out
    code, out, _ = run(capsys, "verify")
    assert code == 0
    assert "survey: in order, 3 entries, head " in out


def test_json_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "create", "stays", "--epsilon", "1", "--unit", "patient", "--rows-per-unit", "3", "--json"
    )
    assert code == 0
    assert json.loads(out)["unit"] == "user (column 'patient', at most 3 rows)"
    with Ledger.open(URL) as ledger:
        ledger.account("stays").charge(request(0.25, "a"))
    listed = json.loads(run(capsys, "list", "--json")[1])
    assert listed["accounts"][0]["remaining"] == {"epsilon": 0.75, "delta": 0.0}
    shown = json.loads(run(capsys, "show", "stays", "--json")[1])
    assert [entry["epsilon"] for entry in shown["entries"]] == [0.25]
    verified = json.loads(run(capsys, "verify", "--json")[1])
    assert verified["ok"] is True
    head = verified["accounts"][0]["head"]
    assert run(capsys, "verify", "--head", f"stays={head}")[0] == 0
    code, out, _ = run(capsys, "verify", "--head", f"stays={'0' * 64}")
    assert code == 2
    assert "NOT IN ORDER" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["create", "x", "--epsilon", "nan"], ["'--epsilon' option", "nan", "above 0"]),
        (["create", "x", "--epsilon", "inf"], ["'--epsilon' option", "inf"]),
        (["create", "x", "--epsilon", "0"], ["'--epsilon' option", "Got 0.0"]),
        (["create", "x", "--epsilon", "-1"], ["'--epsilon' option", "Got -1.0"]),
        (["create", "x", "--epsilon", "1", "--delta", "1"], ["'--delta' option", "[0, 1)", "1e-06"]),
        (["create", "x", "--epsilon", "1", "--delta=-1e-9"], ["'--delta' option"]),
        (["create", "x", "--epsilon", "1", "--unit", "patient"], ["--rows-per-unit"]),
        (["create", "x", "--epsilon", "1", "--rows-per-unit", "2"], ["'--unit'", "--rows-per-unit was given"]),
        (["create", "x", "--epsilon", "1", "--unit", "p", "--rows-per-unit", "0"], ["'--rows-per-unit'", "at least 1"]),
        (["show", "x"], ["no ledger at sqlite:///ledger.db", "tacit ledger create"]),
        (["list", "--ledger", "nonsense"], ["'--ledger'", "nonsense", "sqlite:///file.db"]),
        (["verify", "--head", "x"], ["--head", "NAME=HASH"]),
    ],
)
def test_bad_input_is_a_message_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("tacit: error: ")
    assert all(word in err for word in words), err
    assert not Path("ledger.db").exists(), "a refused command left a file behind"


def test_an_account_is_created_once_and_unknown_ones_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "create", "survey", "--epsilon", "1")[0] == 0
    code, _, err = run(capsys, "create", "survey", "--epsilon", "1")
    assert (code, "exists already" in err) == (2, True)
    code, _, err = run(capsys, "show", "surveys")
    assert (code, "Known accounts: 'survey'" in err) == (2, True)
    code, _, err = run(capsys, "raise", "survey", "--epsilon", "0.5", "--reason", "r")
    assert (code, "never lowered" in err) == (2, True)
    assert Ledger.open(URL).account("survey").budget == Budget(1.0)


def test_no_traceback_from_the_installed_command(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_text("not a database, but long enough to be taken for one" * 20)
    command = [sys.executable, "-m", "tacit", "ledger", "list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("tacit: error: The ledger sqlite:///ledger.db cannot be used: file is not a database")
    assert "Traceback" not in done.stderr
