"""tacit: machine learning on data that nobody may look at.

The map of public names. Each is imported when first used, so that the command line starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit._version import __version__
    from tacit.errors import (
        BudgetError,
        LedgerError,
        LedgerVersionError,
        MissingExtraError,
        ParameterError,
        PrivacyError,
        TacitError,
        TamperedLedgerError,
        UnknownAccountError,
    )
    from tacit.evaluation.compare import compare
    from tacit.evaluation.roc import roc_curve
    from tacit.ledger import Account, Ledger
    from tacit.privacy.budget import Budget
    from tacit.privacy.release import Receipt, Release
    from tacit.privacy.unit import Neighbours, Unit

_HOMES = {
    "__version__": "tacit._version",
    "Account": "tacit.ledger",
    "Budget": "tacit.privacy.budget",
    "BudgetError": "tacit.errors",
    "Ledger": "tacit.ledger",
    "LedgerError": "tacit.errors",
    "LedgerVersionError": "tacit.errors",
    "MissingExtraError": "tacit.errors",
    "Neighbours": "tacit.privacy.unit",
    "ParameterError": "tacit.errors",
    "PrivacyError": "tacit.errors",
    "Receipt": "tacit.privacy.release",
    "Release": "tacit.privacy.release",
    "TacitError": "tacit.errors",
    "TamperedLedgerError": "tacit.errors",
    "Unit": "tacit.privacy.unit",
    "UnknownAccountError": "tacit.errors",
    "compare": "tacit.evaluation.compare",
    "roc_curve": "tacit.evaluation.roc",
}

__all__ = [
    "Account",
    "Budget",
    "BudgetError",
    "Ledger",
    "LedgerError",
    "LedgerVersionError",
    "MissingExtraError",
    "Neighbours",
    "ParameterError",
    "PrivacyError",
    "Receipt",
    "Release",
    "TacitError",
    "TamperedLedgerError",
    "Unit",
    "UnknownAccountError",
    "__version__",
    "compare",
    "roc_curve",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
