"""tacit: machine learning on data that nobody may look at.

The map of public names. Each is imported when first used, so that the command line starts quickly.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit import audit
    from tacit._version import __version__
    from tacit.data import datasets
    from tacit.data.errors import DataError, RowError, SchemaError, SourceError
    from tacit.data.schema import Schema
    from tacit.data.split import split
    from tacit.errors import (
        BudgetError,
        LedgerError,
        LedgerVersionError,
        MissingExtraError,
        ModelError,
        ParameterError,
        PrivacyError,
        TacitError,
        TamperedLedgerError,
        UnknownAccountError,
    )
    from tacit.evaluation.compare import compare
    from tacit.evaluation.curve import RocCurve
    from tacit.evaluation.roc import roc_curve
    from tacit.evaluation.storage import load_curve
    from tacit.ledger import Account, Ledger
    from tacit.models.blackbox import BlackBoxClassifier
    from tacit.models.chain import SelectingClassifier
    from tacit.models.logistic import LogisticRegression
    from tacit.models.naive_bayes import BernoulliNB
    from tacit.models.storage import load
    from tacit.models.tabular import TabularClassifier
    from tacit.models.text import TextClassifier
    from tacit.models.tuning import tune
    from tacit.plan import forecast
    from tacit.privacy.budget import Budget
    from tacit.privacy.release import Receipt, Release
    from tacit.privacy.unit import Neighbours, Unit
    from tacit.report.result import Result
    from tacit.selection.choosing import ThresholdSelector, TopKSelector
    from tacit.selection.cluster import ClusterSelector
    from tacit.selection.counting import CountSelector
    from tacit.workflow import Workflow

_HOMES = {
    "__version__": "tacit._version",
    "audit": "tacit.audit",
    "Account": "tacit.ledger",
    "BernoulliNB": "tacit.models.naive_bayes",
    "BlackBoxClassifier": "tacit.models.blackbox",
    "Budget": "tacit.privacy.budget",
    "BudgetError": "tacit.errors",
    "ClusterSelector": "tacit.selection.cluster",
    "CountSelector": "tacit.selection.counting",
    "DataError": "tacit.data.errors",
    "Ledger": "tacit.ledger",
    "LedgerError": "tacit.errors",
    "LedgerVersionError": "tacit.errors",
    "LogisticRegression": "tacit.models.logistic",
    "MissingExtraError": "tacit.errors",
    "ModelError": "tacit.errors",
    "Neighbours": "tacit.privacy.unit",
    "ParameterError": "tacit.errors",
    "PrivacyError": "tacit.errors",
    "Receipt": "tacit.privacy.release",
    "Release": "tacit.privacy.release",
    "Result": "tacit.report.result",
    "RocCurve": "tacit.evaluation.curve",
    "RowError": "tacit.data.errors",
    "Schema": "tacit.data.schema",
    "SchemaError": "tacit.data.errors",
    "SelectingClassifier": "tacit.models.chain",
    "SourceError": "tacit.data.errors",
    "TabularClassifier": "tacit.models.tabular",
    "TacitError": "tacit.errors",
    "TamperedLedgerError": "tacit.errors",
    "TextClassifier": "tacit.models.text",
    "ThresholdSelector": "tacit.selection.choosing",
    "TopKSelector": "tacit.selection.choosing",
    "Unit": "tacit.privacy.unit",
    "UnknownAccountError": "tacit.errors",
    "Workflow": "tacit.workflow",
    "compare": "tacit.evaluation.compare",
    "datasets": "tacit.data.datasets",
    "forecast": "tacit.plan",
    "load": "tacit.models.storage",
    "load_curve": "tacit.evaluation.storage",
    "roc_curve": "tacit.evaluation.roc",
    "split": "tacit.data.split",
    "tune": "tacit.models.tuning",
}

__all__ = [
    "Account",
    "BernoulliNB",
    "BlackBoxClassifier",
    "Budget",
    "BudgetError",
    "ClusterSelector",
    "CountSelector",
    "DataError",
    "Ledger",
    "LedgerError",
    "LedgerVersionError",
    "LogisticRegression",
    "MissingExtraError",
    "ModelError",
    "Neighbours",
    "ParameterError",
    "PrivacyError",
    "Receipt",
    "Release",
    "Result",
    "RocCurve",
    "RowError",
    "Schema",
    "SchemaError",
    "SelectingClassifier",
    "SourceError",
    "TabularClassifier",
    "TacitError",
    "TamperedLedgerError",
    "TextClassifier",
    "ThresholdSelector",
    "TopKSelector",
    "Unit",
    "UnknownAccountError",
    "Workflow",
    "__version__",
    "audit",
    "compare",
    "datasets",
    "forecast",
    "load",
    "load_curve",
    "roc_curve",
    "split",
    "tune",
]


_UNSOUND = {
    "PrivateThresholdTesting": "Private Threshold Testing adds noise to the threshold alone and is not differentially "
    "private for any finite epsilon (see docs/proofs/sparse-vector.md)",
    "NoisyCut": "NoisyCut does not limit its positive answers, so that its epsilon grows with their number "
    "(see docs/proofs/sparse-vector.md)",
}
_UNSOUND["PTT"] = _UNSOUND["PTTSelector"] = _UNSOUND["PrivateThresholdTesting"]
_UNSOUND["NoisyCutSelector"] = _UNSOUND["NoisyCut"]


def __getattr__(name: str) -> Any:
    if name in _UNSOUND:
        text = f"tacit has no {name!r}: {_UNSOUND[name]}. Use tacit.ThresholdSelector or CountSelector."
        if sys._getframe(1).f_code.co_name == "_handle_fromlist":  # "from tacit import", which drops another's text
            raise ImportError(text, name=__name__, path=__file__)
        raise AttributeError(text)
    if name in _HOMES:
        home = import_module(_HOMES[name])
        if _HOMES[name] == f"tacit.{name}" or (_HOMES[name].endswith(f".{name}") and not hasattr(home, name)):
            return home
        return getattr(home, name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return __all__
