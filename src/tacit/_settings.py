"""What a workflow is told: its unit, its shares of the budget, and what a black box says it costs. Sees no data."""

from __future__ import annotations

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


def check_shares(given: Mapping[str, float] | None, selector: Any) -> dict[str, Fraction]:
    """Shares of ε and δ by step: public, and checked to stay within each part's whole."""
    shares = dict(SHARES)
    if selector is None:
        shares |= {"select": Fraction(0), "train": Fraction(1)}
    for name, share in (given or {}).items():
        if name not in SHARES:
            raise bad_parameter(OWNER, "shares", f"a mapping with the keys {list(SHARES)}", name)
        shares[name] = exact(share, OWNER, f"shares[{name!r}]", "a number from 0 to 1")
    used = [name for name in shares if name != "select" or selector is not None]
    if any(not 0 < shares[name] <= 1 for name in used) or shares["select"] + shares["train"] > 1:
        shown = {name: float(share) for name, share in shares.items()}
        raise bad_parameter(OWNER, "shares", "above 0, with select and train at most 1 together", shown)
    return shares


def stated_cost(model: Any, says: Any, most: Budget, *, owner: str = OWNER, name: str = "classifier") -> Budget:
    """What a black box costs: what it can be told to cost, or else what it (or its wrapping) says."""
    known = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    epsilon = most.exact_epsilon if "epsilon" in known else getattr(says, "epsilon", None)
    delta = most.exact_delta if "delta" in known else getattr(says, "delta", 0.0)
    if epsilon is None:
        remedy = "Give it an attribute 'epsilon' (and 'delta'), or wrap it in tacit.BlackBoxClassifier."
        raise bad_parameter(owner, name, "one that states what it spends", type(model).__name__, remedy)
    stated = Budget(exact_epsilon(epsilon, owner), exact_delta(delta, owner))
    if stated.exact_epsilon > most.exact_epsilon or stated.exact_delta > most.exact_delta:
        remedy = "Make it spend less, or ask for a larger epsilon. Nothing was charged."
        raise bad_parameter(owner, name, f"one that spends at most {most}", str(stated), remedy)
    return stated
