"""Every error that tacit raises, under one roof.

A message names the parameter, what was expected, what came, and what to do about it. It never holds a private value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tacit.privacy.budget import Budget

Answer = TypeVar("Answer")
Otherwise = TypeVar("Otherwise")


class TacitError(Exception):
    """Base of all errors raised on purpose by tacit."""


class ParameterError(TacitError, ValueError):
    """A parameter has a value that cannot be used."""


class SmallEpsilonError(ParameterError):
    """An epsilon is so small that its noise would be larger than the exact samplers are made for.

    Attributes
    ----------
    expected, remedy : str
        What it should be, and what to do about it.
    """

    def __init__(self, message: str, expected: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.expected = expected
        self.remedy = remedy


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


def unless_it_fails(ask: Callable[[], Answer], otherwise: Otherwise) -> Answer | Otherwise:
    """What foreign code answers, or ``otherwise`` where it fails: an error would tell of the row that it was asked of.

    It may fail in any way: by leaving the program, or by a panic of Rust, which is no ``Exception``. Ctrl-C ends it.
    """
    try:
        return ask()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return otherwise


def bad_parameter(owner: str, name: str, expected: str, got: object, remedy: str = "") -> ParameterError:
    """Build the one sentence that every parameter error follows."""
    return ParameterError(_sentence(owner, name, expected, got, remedy))


def small_epsilon(owner: str, expected: str, got: float, remedy: str) -> SmallEpsilonError:
    """Say that an epsilon is too small for noise that can be drawn."""
    return SmallEpsilonError(_sentence(owner, "epsilon", expected, got, remedy), expected, remedy)


@contextmanager
def asked_of(owner: str, epsilon: float) -> Iterator[None]:
    """Where an inner step's share of an epsilon is too small, name the epsilon that was asked for, and of whom."""
    try:
        yield
    except SmallEpsilonError as error:
        raise small_epsilon(owner, error.expected, epsilon, error.remedy) from None


def _sentence(owner: str, name: str, expected: str, got: object, remedy: str) -> str:
    return f"The {name!r} parameter of {owner} must be {expected}. Got {got!r}. {remedy}".rstrip()
