"""``tacit audit`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.cli import main


def test_entries_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--list"]) == 0
    out = capsys.readouterr().out
    assert "Private Threshold Testing (PTT)" in out
    assert "roc_curve" in out
    assert main(["audit", "--list", "--json", "--mechanism", "SparseVector"]) == 0
    assert {e["expected"] for e in json.loads(capsys.readouterr().out)["entries"]} == {"none"}


def test_json_is_as_promised(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--json", "--mechanism", "Private Threshold Testing (PTT)", "--jobs", "1"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["name"], result["expected"]) == ("Private Threshold Testing (PTT)", "violation")
    assert result["violation"] is True
    assert result["proven_epsilon"] > result["claimed_epsilon"] == 0.5


def test_a_table_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    arguments = ["--mechanism", "DiscreteLaplace", "--epsilon", "0.7", "--runs", "2000", "--quick", "--jobs", "1"]
    assert main(["audit", *arguments, "--out", str(page)]) == 0
    out = capsys.readouterr().out
    assert "no violation found" in out
    assert "0.7" in out
    text = page.read_text()
    assert text.count("<svg") >= 2
    assert "first neighbour" in text
    assert "<script" not in text
    assert "http" not in text


def test_a_page_has_a_name_of_its_own_and_the_last_line_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["--mechanism", "Private Threshold Testing (PTT)", "--jobs", "1"]
    assert main(["audit", *arguments, "--json"]) == 0
    assert not list(tmp_path.iterdir()), "machines ask for a page, or get none"
    capsys.readouterr()
    assert main(["audit", *arguments]) == 0
    name = "audit-private-threshold-testing-ptt.html"
    assert capsys.readouterr().out.splitlines()[-1] == f"Wrote {name}."
    assert "<svg" in Path(name).read_text()


def test_what_comes_out_otherwise_than_expected_is_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broken mechanism that has too few runs to be caught."""
    monkeypatch.chdir(tmp_path)
    arguments = ["--mechanism", "s not enforced", "--runs", "200", "--jobs", "1"]
    assert main(["audit", *arguments]) == 1
    assert "not as expected" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--mechanism", "nonsense"], "Got 'nonsense'. See 'tacit audit --list'."),
        (["--mechanism", "DiscretLaplace"], "Near: 'DiscreteLaplace'"),
        (["--out", "page.html"], "with --mechanism"),
        (["--mechanism", "PTT)", "--epsilon", "-1"], "epsilon"),
        (["--mechanism", "PTT)", "--runs", "3"], "runs"),
        (["--mechanism", "PTT)", "--seconds", "0"], "seconds"),
        (["--jobs", "0"], "--jobs"),
        (["--mechanism", "PTT)", "--runs", "200", "--out", "no/such/place.html"], "writable"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(["audit", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
