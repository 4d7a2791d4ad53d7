"""The map of public names is true, and the house's documents exist."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import tacit

from .audit.test_registry import mechanisms
from .support.proofs import leads_to_a_proof

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(tacit.__path__, "tacit.") if "__main__" not in module.name
)


def test_every_exported_name_can_be_had() -> None:
    assert sorted(tacit.__all__) == sorted(tacit._HOMES)
    for name in tacit.__all__:
        assert getattr(tacit, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'") as caught:
        tacit.Nonsense  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("Nonsense", tacit), "Python then says what may be meant"


def test_every_error_is_a_tacit_error() -> None:
    errors = [getattr(tacit, name) for name in tacit.__all__ if name.endswith("Error")]
    assert len(errors) > 5
    assert all(issubclass(error, tacit.TacitError) for error in errors)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"an optional part is not installed: {error}")
    assert module.__doc__, "a module opens with its room"
    results = doctest.testmod(module)
    assert results.failed == 0


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda mechanism: mechanism.__name__)
def test_receipts_link_to_proofs_that_exist(mechanism: Any) -> None:
    assert leads_to_a_proof(mechanism.proof)
    assert not leads_to_a_proof(f"{mechanism.proof}-and-more")


def test_every_public_name_is_in_the_reference() -> None:
    text = "".join(page.read_text() for page in sorted((ROOT / "docs/reference").glob("*.rst")))
    whole = set(re.findall(r"automodule:: (\S+)\n   :members:\n", text))
    missing = [n for n in tacit.__all__ if tacit._HOMES[n] not in whole and not re.search(rf"[ .,]{n}\b", text)]
    assert missing == []


def test_the_oldest_versions_that_are_tested_are_those_declared() -> None:
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    minimum = dict(
        requirement.split(">=") for requirement in declared if ">=" in requirement and "[" not in requirement
    )
    tested = re.findall(
        r"^([a-z-]+)==([0-9.]+)\.\*$", (root / "tests/support/oldest.txt").read_text(), flags=re.MULTILINE
    )
    assert {name: minimum[name] for name, _ in tested} == dict(tested)
    assert {name for name, _ in tested} >= {requirement.split(">=")[0] for requirement in project["dependencies"]}
