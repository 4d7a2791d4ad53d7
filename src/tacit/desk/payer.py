"""Who pays: the user's account, or one in memory of exactly what is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from tacit.errors import BudgetError, bad_parameter
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


def check_one_payer(account: Account | None, estimators: Iterable[Any], owner: str) -> None:
    """Refuse an estimator with an account of its own, which would not be charged. Seeds tell accounts apart."""
    paying = account.seed if isinstance(account, Account) else None
    for estimator in estimators:
        own = getattr(estimator, "account", None)
        if isinstance(own, Account) and own.seed != paying:
            expected = f"the account that {type(estimator).__name__} has, which would not be charged otherwise"
            raise bad_parameter(owner, "account", expected, account, f"Pass it to {owner} alone.")


def check_funds(account: Account, asked: Budget, what: str) -> None:
    """Refuse several charges before the first, where that can be known: what was released before may be free."""
    left = account.remaining
    lacks = asked.exact_epsilon > left.exact_epsilon or asked.exact_delta > left.exact_delta
    if not lacks or account.entries():
        return
    lacking = Budget.amount(
        max(asked.exact_epsilon - left.exact_epsilon, Fraction(0)),
        max(asked.exact_delta - left.exact_delta, Fraction(0)),
    )
    raise BudgetError(
        f"The account {account.name!r} cannot pay for {what}. Requested: {asked}. Remaining: {left}. "
        f"Lacking: {lacking}. Ask for less, or have the data's custodian raise the budget with 'tacit ledger raise'. "
        "Nothing was charged.",
        requested=asked,
        remaining=left,
        lacking=lacking,
    )
