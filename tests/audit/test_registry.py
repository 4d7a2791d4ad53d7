"""Nothing is released without an attack on it and a proof: mechanisms, estimators and releases, by name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import tacit
from tacit import privacy
from tacit.audit.controls import ENTRIES, PROOFS

from ..support.proofs import leads_to_a_proof

COVERED = {name for entry in ENTRIES for name in entry.covers if entry.expected == "none"}

WITHOUT_DATA = {
    "BlackBoxClassifier": "charges for what a foreign model states, and guarantees nothing itself",
    "compare": "reads two released curves",
    "forecast": "sees no data",
    "load": "reads a released model",
    "load_curve": "reads a released curve",
}
"""Public names that release nothing of their own, and why."""


def mechanisms() -> list[type]:
    """Every class in the room of privacy that states a loss and a proof, as the gate's mechanisms do."""
    found = []
    for module in pkgutil.iter_modules(privacy.__path__, "tacit.privacy."):
        home = importlib.import_module(module.name)
        for _, member in inspect.getmembers(home, inspect.isclass):
            own = member.__module__ == module.name and isinstance(getattr(member, "proof", None), str)
            found += [member] if own and hasattr(member, "loss") else []
    return found


def releases() -> list[str]:
    """Public functions, and public classes that fit or run."""
    found = []
    for name in tacit.__all__:
        member = getattr(tacit, name)
        fits = inspect.isclass(member) and (hasattr(member, "fit") or hasattr(member, "run"))
        if (fits or inspect.isfunction(member)) and name not in WITHOUT_DATA:
            found.append(name)
    return found


def test_all_mechanisms_are_seen() -> None:
    names = {mechanism.__name__ for mechanism in mechanisms()}
    assert {"DiscreteLaplace", "SparseVector", "ObjectivePerturbation", "SmoothNoise"} <= names


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda mechanism: mechanism.__name__)
def test_every_mechanism_is_audited_and_proven(mechanism: type) -> None:
    assert mechanism.__name__ in COVERED, f"{mechanism.__name__} has no entry in the audit"
    assert leads_to_a_proof(vars(mechanism)["proof"]), f"{mechanism.__name__} has no proof"


@pytest.mark.parametrize("name", releases())
def test_every_release_is_audited_and_proven(name: str) -> None:
    assert name in COVERED, f"{name} has no entry in the audit"
    assert name in PROOFS, f"{name} names no page of docs/proofs"
    assert leads_to_a_proof(f"docs/proofs/{PROOFS[name]}"), f"{name} has no proof"


def test_the_registry_names_nothing_that_is_gone() -> None:
    known = {mechanism.__name__ for mechanism in mechanisms()} | set(releases())
    assert sorted(COVERED - known) == []
    assert sorted(set(PROOFS) - known) == []
    assert all(hasattr(tacit, name) for name in WITHOUT_DATA)
