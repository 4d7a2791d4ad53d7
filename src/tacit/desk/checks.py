"""What is checked at the door of the desk: seeds and declared classes. Sees parameters, no data."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.data.errors import SchemaError
from tacit.data.schema import Schema
from tacit.errors import bad_parameter
from tacit.privacy.unit import check_seed


def check_state(random_state: Any, owner: str) -> int | None:
    """Check a seed: None, a whole number of at least 0, or numpy's generator, from which one is drawn."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return check_seed(random_state, owner)


def check_version(version: Any, owner: str) -> str | None:
    """Check a version: a name, since requests of the same name are the same request."""
    if version is not None and (not isinstance(version, str) or not version.strip()):
        remedy = "Name the rows, and what scored them if something did, or leave it out."
        raise bad_parameter(owner, "version", "None or a text that is not blank", version, remedy)
    return version


def check_known_classes(owner: str, classes: tuple[Any, ...], schema: Any) -> None:
    """Refuse labels that a description does not know for its own column: no row would be left of them."""
    strange = [label for label in classes if label not in schema.classes]
    if strange:
        remedy = "Correct the spelling, or declare them in the schema."
        raise bad_parameter(owner, "classes", f"among the schema's {list(schema.classes)}", strange, remedy)


def check_classes(owner: str, classes: Any, *, least: int = 2) -> tuple[Any, ...]:
    """Check declared classes: they are public, and never read from the data."""
    try:
        return Schema.matrix(1, classes).classes
    except (TypeError, SchemaError):
        expected = f"at least {least} different labels in order, all texts or all numbers"
        remedy = "Declare them in a list or tuple: labels are never read from private data."
        raise bad_parameter(owner, "classes", expected, classes, remedy) from None
