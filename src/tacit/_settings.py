"""What a workflow is told: its unit, its shares of the budget, and what a black box says it costs. Sees no data."""

from __future__ import annotations

import inspect
import os
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
    """The ε that a foreign model, or its wrapping, says that it spends; None if it says nothing.

    A chain of tacit's says nothing itself: it spends what its halves say.
    """
    own = _own_epsilon(model)
    if own is not None or _library(model) != "tacit":
        return own
    parts = [part for part in map(stated_epsilon, _inside(model)) if part is not None]
    return sum((exact_epsilon(part, OWNER) for part in parts), Fraction(0)) if parts else None


def _own_epsilon(model: Any) -> Any:
    return None if _is_plain(model) else getattr(model, "epsilon", None)


def _is_plain(model: Any) -> bool:
    """Whether a model is scikit-learn's own: none of these is private, and some call a tolerance epsilon."""
    return _library(model) == "sklearn"


def _library(model: Any) -> str:
    return type(model).__module__.partition(".")[0]


def _inside(model: Any) -> list[Any]:
    """The models that a model is made of, as it tells: by its parameters, or else by its attributes."""
    told = model.get_params(deep=False) if hasattr(model, "get_params") else getattr(model, "__dict__", {})
    found, open_ = [], list(told.values())
    while open_:
        value = open_.pop()
        if type(value) in (list, tuple):
            open_ += value
        elif isinstance(value, dict):
            open_ += value.values()
        elif hasattr(value, "fit") and not isinstance(value, type):
            found.append(value)
    return found


def all_inside(model: Any, *, silent: bool = False) -> list[Any]:
    """A model and all that it is made of: the steps of a pipeline, the halves of a chain, and what these are made of.

    With ``silent`` it goes no further where a model states an ε itself, which stands for what is inside.
    """
    found: list[Any] = []
    seen, open_ = set(), [model]
    while open_:
        part = open_.pop()
        if id(part) not in seen:
            seen.add(id(part))
            found.append(part)
            open_ += [] if silent and _own_epsilon(part) is not None else _inside(part)
    return found


def least_cost(model: Any) -> Budget:
    """What a model spends if each of its parts spends what it says, and once: it may be more, and is never less."""
    stating = [part for part in all_inside(model, silent=True) if _own_epsilon(part) is not None]
    epsilons = [exact_epsilon(part.epsilon, OWNER) for part in stating]
    deltas = [exact_delta(getattr(part, "delta", 0.0), OWNER) for part in stating]
    return Budget.amount(sum(epsilons, Fraction(0)), sum(deltas, Fraction(0)))


def stated_cost(model: Any, says: Any, most: Budget, *, owner: str = OWNER, name: str = "classifier") -> Budget:
    """What a black box costs: what it can be told to cost, or else what it (or its wrapping) says."""
    known = settable(model)
    epsilon = most.exact_epsilon if "epsilon" in known else stated_epsilon(says)
    delta = most.exact_delta if "delta" in known else getattr(says, "delta", 0.0)
    if epsilon is None:
        remedy = "Give it an attribute 'epsilon' (and 'delta'), or wrap it: tacit.BlackBoxClassifier(model, epsilon=…)."
        raise bad_parameter(owner, name, "one that states what it spends", type(model).__name__, remedy)
    stated = Budget(exact_epsilon(epsilon, owner), exact_delta(delta, owner))
    _check_within(stated, most, owner, name)
    if "epsilon" not in known:
        _check_within(least_cost(model), stated, owner, name)
    return stated


def _check_within(spent: Budget, most: Budget, owner: str, name: str) -> None:
    if spent.exact_epsilon > most.exact_epsilon or spent.exact_delta > most.exact_delta:
        remedy = "Make it spend less, or ask for a larger epsilon. Nothing was charged."
        raise bad_parameter(owner, name, f"one that spends at most {most}", str(spent), remedy)


def where_kept(ledger: Any, dataset: str | None) -> Any:
    """The ledger; for an account that is named alone, as the environment says. None for a one-off account in memory."""
    if ledger is not None or dataset is None:
        return ledger
    if named := os.environ.get("TACIT_LEDGER"):
        return named
    expected = "given, or TACIT_LEDGER set, where 'dataset' names the account: in memory nothing would be kept of it"
    remedy = "Pass ledger='sqlite:///ledger.db', say, or leave 'dataset' out for a one-off account."
    raise bad_parameter(OWNER, "ledger", expected, None, remedy)
