"""Every code block in the README and the documents runs, every link leads somewhere, and the site builds.

A page's blocks run in their order, in a folder and a process of its own: ``python`` in one namespace, ``sh`` in a
shell. What a comment ``<!-- before: … -->`` holds runs first, and makes the files that a page speaks of. Blocks called
``text``, ``toml`` or ``console`` show something and are not run; no other kind is allowed. What stands below
``<!-- printed -->`` is what the blocks print, to the letter. A page that says
``<!-- needs: … -->`` is skipped, with the reason, where that is not there.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)]*)?\)")
NEEDS = re.compile(r"<!-- needs: (.*?) -->")
BEFORE = re.compile(r"<!-- before:\n(.*?)-->", re.DOTALL)
PRINTED = re.compile(r"<!-- printed -->\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUN, SHOWN = {"python", "sh"}, {"text", "toml", "console"}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[tuple[str, str]]:
    """The page's blocks in their order, without those that only tell Sphinx what to do."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(kind, code) for kind, code in found if not kind.startswith("{")]


def lacking(need: str) -> str | None:
    """Why a page cannot run here, or None."""
    if need == "sms":
        from tacit.data.datasets import DatasetError, load_sms

        try:
            load_sms()
        except DatasetError as error:
            return str(error)
        return None
    if need == "java":
        return None if shutil.which("java") else "no Java here"
    return None if importlib.util.find_spec(need) else f"{need} is not installed"


@pytest.fixture
def data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    beside = ROOT.parent / "shared" / "data"
    if "TACIT_DATA" not in os.environ and beside.is_dir():
        monkeypatch.setenv("TACIT_DATA", str(beside))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_are_run_or_shown(page: Path) -> None:
    assert {kind for kind, _ in blocks(page)} <= RUN | SHOWN


@pytest.mark.parametrize("page", [p for p in PAGES if {kind for kind, _ in blocks(p)} & RUN], ids=name)
@pytest.mark.usefixtures("data_folder")
def test_code_blocks_run(page: Path, tmp_path: Path) -> None:
    for need in NEEDS.findall(page.read_text(encoding="utf-8")):
        for part in need.split(", "):
            if (reason := lacking(part)) is not None:
                pytest.skip(reason)
    script = BEFORE.findall(page.read_text(encoding="utf-8"))
    for kind, code in blocks(page):
        shell = f"import subprocess; subprocess.run(['sh', '-eu', '-c', {code!r}], check=True)"
        script.append({"python": code, "sh": shell}.get(kind, ""))
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = os.environ | {"PATH": here, "MPLBACKEND": "Agg"}
    run = [sys.executable, "-c", "\n".join(script)]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path, env=surroundings)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    for text in PRINTED.findall(page.read_text(encoding="utf-8")):
        assert text in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, _ in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{name(page)} links to {target}"


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("furo", reason="the site needs its tools: pip install 'tacit[docs]'")
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", str(tmp_path / "trees")]
    done = subprocess.run(
        [*build, "docs", str(tmp_path / "site")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outside = r"<(?:script|link|img|iframe)[^>]*(?:src|href)=.?https?://"
    for page in (tmp_path / "site").rglob("*.html"):
        fetched = re.findall(outside, page.read_text(encoding="utf-8"))
        assert not fetched, f"{page.name} is read without a network"
    assert "roc_curve" in (tmp_path / "site" / "reference" / "evaluation.html").read_text(encoding="utf-8")
