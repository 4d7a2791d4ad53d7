"""``tacit demo`` tells its story offline, and can be run again for free."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit import Budget, Ledger
from tacit.cli import main


def test_the_demo_runs_twice_and_is_charged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("statsmodels", reason="the survey comes with statsmodels: pip install 'tacit[demo]'")
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--out", "here"]) == 0
    first = capsys.readouterr().out
    assert main(["demo", "--out", "here"]) == 0
    assert capsys.readouterr().out == first, "asking again gives the very same release"
    for words in ("rate_marriage", "Lacking: ε = 0.25", "private", "ledger verify"):
        assert words in first
    account = Ledger.open("sqlite:///here/ledger.db").account("survey")
    assert account.spent == Budget(0.5)
    assert len(account.entries()) == 1
