"""What a report says, as plain values: computed from releases and public descriptions alone. Public side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tacit.evaluation.curve import RocCurve
from tacit.evaluation.metrics import Estimate
from tacit.models.weights import feature_weights, lists_clear_ones
from tacit.privacy.budget import Budget
from tacit.privacy.release import SIMULATION, Receipt
from tacit.report.cost import lay_out

LEVEL = 0.95
MOST_FEATURES = 20
THRESHOLDS = (0.1, 0.25, 0.5, 0.75, 0.9)
FALSE_POSITIVES = (0.01, 0.05, 0.1, 0.2)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in numbers that may be published: everything in it turns into JSON.

    Attributes
    ----------
    question : dict
        What was asked, as given.
    status : {"private", "conditional", "simulation"}
        Whether the releases are private; only if a black box keeps its word; or not at all.
    auc : dict, or None without a curve
        ``value``, ``low``, ``high``, ``level``, and ``unknown``.
    roc : dict, or None
        Lists ``fpr``, ``tpr``, ``low``, ``high``, ``thresholds``; the first threshold is infinite and stands as None.
    operating_points : list of dict
        True-positive rates with their band at a few false-positive rates.
    decisions : list of dict
        For each threshold the confusion matrix, accuracy, precision, recall and F1, with intervals. One is ``chosen``.
    calibration : dict, or None
        Lists ``x``, ``y``, ``low``, ``high``; for scores that are probabilities.
    features : list of dict, or None
        ``name`` and ``weight`` of the features that weigh most, heaviest first; None if the model has no weights.
    n_features : int
        How many features have a weight that can be shown.
    hashed : bool
        Whether features are hashed words, so that a name stands for a bucket.
    told : bool
        Whether features that cannot be told from noise are left out.
    cost : dict, or None
        ``budget``, ``spent``, ``remaining`` and ``rows`` of the account, as laid out by :mod:`tacit.report.cost`.
    receipts : list of dict
    """

    question: Json
    status: str
    auc: Json | None
    roc: Json | None
    operating_points: list[Json]
    decisions: list[Json]
    calibration: Json | None
    features: list[Json] | None
    n_features: int
    hashed: bool
    told: bool
    cost: Json | None
    receipts: list[Json]

    def to_dict(self) -> Json:
        """Return a plain dictionary, ready for JSON."""
        return asdict(self)


def summarise(
    *,
    question: Mapping[str, Any],
    model: Any = None,
    curve: RocCurve | None = None,
    receipts: Sequence[Receipt],
    account_state: Mapping[str, Any] | None = None,
) -> Summary:
    """Gather what a report says.

    Parameters
    ----------
    question : mapping
        What was asked, in public words: ``dataset``, ``label``, ``classes`` (the last one is positive), ``epsilon``,
        ``delta``, ``unit``, ``engine``, ``date``; ``threshold`` chooses the confusion matrix, ``language`` names hashed
        words; other keys are shown too.
    model : fitted classifier, optional
        Asked for weights, where it has any.
    curve : RocCurve, optional
    receipts : sequence of Receipt
    account_state : mapping, optional
        ``budget``, ``spent``, ``remaining`` (a Budget, or a mapping with ``epsilon`` and ``delta``) and ``steps``, a
        list of mappings with ``name``, ``part`` (a partition of the ledger, a plain word, or None for the whole set),
        ``epsilon`` and ``delta``.

    Returns
    -------
    Summary

    Examples
    --------
    >>> receipt = Receipt({"mechanism": "discrete Laplace", "epsilon": 1.0, "delta": 0.0, "status": "private"})
    >>> summarise(question={"dataset": "survey"}, receipts=[receipt]).status
    'private'
    """
    weights = None if model is None else feature_weights(model, language=question.get("language"))
    return Summary(
        question={str(key): _plain(value) for key, value in question.items() if value is not None},
        status=_status(receipts),
        auc=None if curve is None else _auc(curve),
        roc=None if curve is None else _roc(curve),
        operating_points=[] if curve is None else _operating_points(curve),
        decisions=[] if curve is None else _decisions(curve, question.get("threshold")),
        calibration=None if curve is None else _calibration(curve),
        features=None if weights is None else [{"name": n, "weight": w} for n, w in weights[:MOST_FEATURES]],
        n_features=0 if weights is None else len(weights),
        hashed=hasattr(model, "rules_"),
        told=lists_clear_ones(model),
        cost=None if account_state is None else _cost(account_state),
        receipts=[receipt.to_dict() for receipt in receipts],
    )


def _status(receipts: Sequence[Receipt]) -> str:
    states = {str(receipt.get("status", "private")) for receipt in receipts}
    if any(state == SIMULATION or "not private" in state for state in states):
        return "simulation"
    return "private" if states <= {"private"} else "conditional"


def _auc(curve: RocCurve) -> Json:
    low, high = curve.auc_interval(LEVEL)
    return {
        "value": curve.auc,
        "low": low,
        "high": high,
        "level": LEVEL,
        "unknown": curve.unknown,
        "notes": curve.notes,
    }


def _roc(curve: RocCurve) -> Json:
    low, high = curve.band(LEVEL)
    lists = {"fpr": curve.fpr, "tpr": curve.tpr, "low": low, "high": high, "thresholds": curve.thresholds}
    return {name: [_finite(value) for value in values] for name, values in lists.items()}


def _operating_points(curve: RocCurve) -> list[Json]:
    low, high = curve.band(LEVEL)
    return [
        {
            "fpr": at,
            **{n: float(np.interp(at, curve.fpr, y)) for n, y in (("tpr", curve.tpr), ("low", low), ("high", high))},
        }
        for at in FALSE_POSITIVES
    ]


def _decisions(curve: RocCurve, chosen: float | None) -> list[Json]:
    """What each of a few thresholds leads to: the chosen one, the one of fewest errors, and some round ones."""
    low, high = curve.score_range
    best, _ = curve.metrics.best_threshold()  # infinite where it is best to call nothing positive
    probabilities = (low, high) == (0.0, 1.0)
    if chosen is None:
        chosen = best if not probabilities and math.isfinite(best) else (low + high) / 2
    shown = {float(chosen), best, *(THRESHOLDS if probabilities else ())}
    return [
        _decision(curve, threshold) | {"chosen": threshold == chosen, "best": threshold == best}
        for threshold in sorted(filter(math.isfinite, shown))
    ]


def _decision(curve: RocCurve, threshold: float) -> Json:
    metrics = curve.metrics
    matrix = metrics.confusion_matrix(threshold, LEVEL)
    shares = {
        "accuracy": metrics.accuracy(threshold, LEVEL),
        "precision": metrics.precision(threshold, LEVEL),
        "recall": metrics.recall(threshold, LEVEL),
        "f1": metrics.f1(threshold, LEVEL),
    }
    return {"threshold": threshold} | {name: _estimate(value) for name, value in (matrix | shares).items()}


def _calibration(curve: RocCurve) -> Json | None:
    if curve.score_range != (0.0, 1.0) or curve.unknown:
        return None
    band = curve.metrics.calibration(LEVEL)
    lists = {"x": band.x, "y": band.y, "low": band.low, "high": band.high}
    return {name: [_finite(value) for value in values] for name, values in lists.items()}


def _cost(state: Mapping[str, Any]) -> Json:
    totals = {name: _budget(state[name]) for name in ("budget", "spent", "remaining")}
    return totals | {"rows": lay_out(state.get("steps", ()))}


def _budget(value: Any) -> Json:
    if isinstance(value, Budget):
        return {"epsilon": value.epsilon, "delta": value.delta}
    if isinstance(value, Mapping):
        return {"epsilon": float(value["epsilon"]), "delta": float(value.get("delta") or 0.0)}
    return {"epsilon": float(value), "delta": 0.0}


def _estimate(estimate: Estimate) -> Json:
    return {"value": _finite(estimate.value), "low": _finite(estimate.low), "high": _finite(estimate.high)}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    """Public values of a question as JSON has them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, str | int | float | bool) else str(value)
