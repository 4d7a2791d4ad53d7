"""Every error that tacit raises, under one roof.

A message names the parameter, what was expected, what came, and what to do about it. It never holds a private value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.privacy.budget import Budget


class TacitError(Exception):
    """Base of all errors raised on purpose by tacit."""


class ParameterError(TacitError, ValueError):
    """A parameter has a value that cannot be used."""


class PrivacyError(TacitError):
    """Somebody tried to take a private value around the gate."""


class LedgerError(TacitError):
    """The ledger cannot be opened, read or written."""


class UnknownAccountError(LedgerError, KeyError):
    """No account of that name is in the ledger."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else "unknown account"


class TamperedLedgerError(LedgerError):
    """The chain of entries does not fit together: something was edited, removed or inserted."""


class LedgerVersionError(LedgerError):
    """The ledger was written by a newer tacit."""


class ModelError(TacitError):
    """A file of a released model cannot be used: foreign, damaged or of a newer version."""


class MissingExtraError(TacitError, ImportError):
    """An optional part of tacit is not installed."""


class BudgetError(TacitError):
    """A release was asked for that the account cannot pay.

    Attributes
    ----------
    requested, remaining, lacking : Budget
    """

    def __init__(self, message: str, *, requested: Budget, remaining: Budget, lacking: Budget) -> None:
        super().__init__(message)
        self.requested = requested
        self.remaining = remaining
        self.lacking = lacking

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_budget_error, (str(self), self.requested, self.remaining, self.lacking)


def _rebuild_budget_error(message: str, requested: Budget, remaining: Budget, lacking: Budget) -> BudgetError:
    return BudgetError(message, requested=requested, remaining=remaining, lacking=lacking)


def bad_parameter(owner: str, name: str, expected: str, got: object, remedy: str = "") -> ParameterError:
    """Build the one sentence that every parameter error follows."""
    sentence = f"The {name!r} parameter of {owner} must be {expected}. Got {got!r}."
    return ParameterError(f"{sentence} {remedy}".rstrip())
