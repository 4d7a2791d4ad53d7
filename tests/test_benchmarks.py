"""Every script in benchmarks/ can be asked for a short run and for ratios; what they share lies in a folder below."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))


def test_scripts_are_found() -> None:
    assert {"counts", "fit", "noise", "roc_accuracy"} <= {script.stem for script in SCRIPTS}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_takes_quick_and_json(script: Path) -> None:
    run = [sys.executable, str(script), "--help"]
    done = subprocess.run(run, capture_output=True, text=True, env=os.environ | {"COLUMNS": "120"}, check=False)
    assert done.returncode == 0, done.stderr
    assert "--quick" in done.stdout
    assert "--json" in done.stdout
