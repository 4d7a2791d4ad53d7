"""Who pays: the user's account, or one in memory of exactly what is asked for."""

from __future__ import annotations

from tacit.errors import bad_parameter
from tacit.ledger import Account, Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.unit import Unit


def one_off(account: object, budget: Budget, owner: str, unit: Unit | None = None) -> Account:
    """The account that pays: the one that was given, or one in memory with exactly this budget, for this unit."""
    if account is None:
        return Ledger.open().account("one-off", budget=budget, unit=unit or Unit.row())
    if not isinstance(account, Account):
        expected = "None (a one-off account) or a tacit Account"
        raise bad_parameter(owner, "account", expected, type(account).__name__, "See tacit.Ledger.open().")
    return account
