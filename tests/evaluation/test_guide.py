"""The guide's code runs, and its pictures can be drawn."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def test_the_guide_s_code_runs() -> None:
    text = (ROOT / "docs/guide/roc.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec("\n".join(blocks), names)
    assert names["account"].spent.epsilon == 0.5  # type: ignore[attr-defined]


def test_the_guide_s_pictures_are_made(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("roc_pictures", ROOT / "examples/roc_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    made = script.main(tmp_path)
    shown = re.findall(r"pictures/([\w-]+\.svg)", (ROOT / "docs/guide/roc.md").read_text())
    assert sorted(path.name for path in made) == sorted(shown)
    assert all((ROOT / "docs/guide/pictures" / name).exists() for name in shown)
    assert all(path.stat().st_size > 10_000 for path in made)


@pytest.mark.parametrize("script", ["roc.py", "roc_accuracy.py", "roc_classifiers.py", "roc_limit.py"])
def test_benchmarks_end_with_ratios(script: str) -> None:
    run = [sys.executable, str(ROOT / "benchmarks" / script), "--quick", "--json"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    ratios = json.loads(done.stdout.splitlines()[-1])
    assert all(isinstance(ratio, float) and ratio > 0 for ratio in ratios.values())
    if script == "roc_accuracy.py":
        assert all(ratio > 1 for name, ratio in ratios.items() if name.endswith("eps1"))


def test_the_family_s_benchmark_ends_with_ratios() -> None:
    folder = os.environ.get("TACIT_DATA") or str(ROOT.parent / "shared" / "data")
    if not Path(folder, "SMSSpamCollection").exists():
        pytest.skip("no published data: set TACIT_DATA to their folder")
    run = [sys.executable, str(ROOT / "benchmarks" / "roc_family.py"), "--quick", "--json"]
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=os.environ | {"TACIT_DATA": folder})
    ratios = json.loads(done.stdout.splitlines()[-1])
    assert len(ratios) == 24
    assert all(ratio > 0 for ratio in ratios.values())
