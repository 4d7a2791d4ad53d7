"""``tacit.roc_curve``: how good is a classifier, told from a private test set. Public side, in front of the desk."""

from __future__ import annotations

import math
from typing import Any

from tacit.desk.scores import release_scores
from tacit.errors import ParameterError, bad_parameter
from tacit.evaluation.curve import RocCurve
from tacit.ledger import Account
from tacit.privacy.budget import Budget

METHODS = ("auto", "balanced-medians")


def roc_curve(
    y_true: Any,
    y_score: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    pos_label: Any = 1,
    method: str = "auto",
    score_range: tuple[float, float] = (0.0, 1.0),
    persons: Any = None,
    sample_weight: Any = None,
    account: Account | None = None,
    random_state: int | None = None,
) -> RocCurve:
    """Release the ROC curve of a classifier on a private test set.

    Parameters
    ----------
    y_true : array of length n
        Private labels. Those equal to ``pos_label`` are positive, all others negative, missing ones included.
    y_score : array of length n
        Private scores of any classifier, higher for positives. One that is not a number counts as the lowest; one
        outside the range is moved to its end.
    epsilon, delta : float
        The price of the whole curve with everything that is derived from it.
    pos_label : default 1
    method : {"auto", "balanced-medians"}
    score_range : (float, float), default (0, 1)
        Public bounds of the scores: for probabilities (0, 1). Do not look at the data to choose them.
    persons : array of length n, optional
        Who each row belongs to, if the account protects persons; at most ``max_rows`` of each are kept.
    sample_weight : None
        Refused: the weight of a row would be its influence, and nothing bounds it.
    account : Account, optional
        Pays. None means a one-off account in memory of exactly this budget.
    random_state : int, optional
        A seed, for simulations: the receipt then says that the release is not private.

    Returns
    -------
    RocCurve

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 4000)
    >>> curve = roc_curve(y, 1 / (1 + np.exp(-rng.normal(2 * y - 1))), epsilon=1.0, random_state=0)
    >>> bool(0.9 < curve.auc < 0.95)
    True
    """
    if sample_weight is not None:
        raise ParameterError(
            "The 'sample_weight' parameter of roc_curve must be None. A weight multiplies what one row may change, so "
            "privacy would need a public bound on it. Repeat or drop rows before the test set is fixed instead."
        )
    if method not in METHODS:
        raise bad_parameter("roc_curve", "method", f"one of {METHODS}", method)
    span = _check_range(score_range)
    budget = Budget(epsilon, delta)
    binned = release_scores(
        y_true,
        y_score,
        budget=budget,
        pos_label=pos_label,
        score_range=span,
        persons=persons,
        account=account,
        random_state=random_state,
    )
    return RocCurve(binned, span, pos_label)


def _check_range(span: Any) -> tuple[float, float]:
    expected = "a pair of finite numbers, the lower one first"
    try:
        low, high = (float(end) for end in span)
    except (TypeError, ValueError):
        raise bad_parameter("roc_curve", "score_range", expected, span) from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
        raise bad_parameter("roc_curve", "score_range", expected, span)
    return low, high
