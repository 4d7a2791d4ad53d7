"""What a workflow is told: its unit, its shares of the budget, and what a black box says it costs. Sees no data."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tacit.errors import bad_parameter
from tacit.privacy.budget import Budget, exact, exact_delta, exact_epsilon
from tacit.privacy.unit import Unit

OWNER = "Workflow"

SHARES = {"select": Fraction(1, 4), "train": Fraction(3, 4), "evaluate": Fraction(1)}
"""Shares of ε and δ where a selector is used. Without one, training gets the whole of its part, too."""


def check_unit(unit: str | Unit | None, rows_per_unit: int | None) -> Unit | None:
    """The unit of a workflow; None where the account tells it."""
    if isinstance(unit, Unit) or unit is None or unit == "row":
        if rows_per_unit is not None:
            raise bad_parameter(OWNER, "rows_per_unit", "given together with a column as unit", rows_per_unit)
        return Unit.row() if unit == "row" else unit if isinstance(unit, Unit) else None
    if rows_per_unit is None:
        remedy = "At most so many rows of a person are used: choose it from what anybody may know."
        raise bad_parameter(OWNER, "rows_per_unit", "given together with a column as unit", None, remedy)
    return Unit.user(unit, rows_per_unit)


def declared_unit(*schemas: Any) -> Unit | None:
    """The person whom public descriptions name; None where they name nobody."""
    units = {schema.unit for schema in schemas if schema is not None and schema.unit.column is not None}
    if len(units) > 1:
        shown = ", ".join(sorted(map(str, units)))
        raise bad_parameter(OWNER, "schema", "of one unit with the classifier's", shown)
    return units.pop() if units else None


def declared_classes(given: Any, label: str | None, *declaring: Any) -> Any:
    """The labels: as given, or else as the first of the public descriptions that declares them, or else 0 and 1.

    Those that a description declares are the labels of its own column.
    """
    column = getattr(declaring[0], "label", None)
    if given is None and label is not None and column not in (None, label):
        expected = f"given for the column {label!r}, as the schema's are those of {column!r}"
        raise bad_parameter(OWNER, "classes", expected, None, "The last one is positive.")
    found = (getattr(source, "classes", None) for source in declaring)
    return given if given is not None else next((classes for classes in found if classes is not None), (0, 1))


def check_shares(given: Mapping[str, float] | None, selector: Any) -> dict[str, Fraction]:
    """Shares of ε and δ by step: public, and checked to stay within each part's whole."""
    expected = f"a mapping with the keys {list(SHARES)}"
    if given is not None and not isinstance(given, Mapping):
        raise bad_parameter(OWNER, "shares", expected, type(given).__name__)
    shares = dict(SHARES)
    if selector is None:
        shares |= {"select": Fraction(0), "train": Fraction(1)}
    for name, share in (given or {}).items():
        if name not in SHARES:
            raise bad_parameter(OWNER, "shares", expected, name)
        shares[name] = exact(share, OWNER, f"shares[{name!r}]", "a number from 0 to 1")
    used = [name for name in shares if name != "select" or selector is not None]
    if any(not 0 < shares[name] <= 1 for name in used) or shares["select"] + shares["train"] > 1:
        shown = {name: float(share) for name, share in shares.items()}
        raise bad_parameter(OWNER, "shares", "above 0, with select and train at most 1 together", shown)
    return shares


def settable(model: Any) -> set[str]:
    """Names of what a foreign model can be told: its parameters, or those of a function that trains one."""
    if hasattr(model, "get_params"):
        return set(model.get_params(deep=False)) - ({"epsilon", "delta"} if _is_plain(model) else set())
    if hasattr(model, "fit") or not callable(model):
        return set()
    try:
        found = inspect.signature(model).parameters.values()
    except (TypeError, ValueError):  # written in another language, and says nothing of itself
        return set()
    collecting = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {parameter.name for parameter in found if parameter.kind not in collecting}


def stated_epsilon(model: Any) -> Any:
    """The ε that a foreign model, or its wrapping, says that it spends; None if it says nothing."""
    return None if _is_plain(model) else getattr(model, "epsilon", None)


def _is_plain(model: Any) -> bool:
    """Whether a model is scikit-learn's own: none of these is private, and some call a tolerance epsilon."""
    return type(model).__module__.partition(".")[0] == "sklearn"


def stated_cost(model: Any, says: Any, most: Budget, *, owner: str = OWNER, name: str = "classifier") -> Budget:
    """What a black box costs: what it can be told to cost, or else what it (or its wrapping) says."""
    known = settable(model)
    epsilon = most.exact_epsilon if "epsilon" in known else stated_epsilon(says)
    delta = most.exact_delta if "delta" in known else getattr(says, "delta", 0.0)
    if epsilon is None:
        remedy = "Give it an attribute 'epsilon' (and 'delta'), or wrap it: tacit.BlackBoxClassifier(model, epsilon=…)."
        raise bad_parameter(owner, name, "one that states what it spends", type(model).__name__, remedy)
    stated = Budget(exact_epsilon(epsilon, owner), exact_delta(delta, owner))
    if stated.exact_epsilon > most.exact_epsilon or stated.exact_delta > most.exact_delta:
        remedy = "Make it spend less, or ask for a larger epsilon. Nothing was charged."
        raise bad_parameter(owner, name, f"one that spends at most {most}", str(stated), remedy)
    return stated
