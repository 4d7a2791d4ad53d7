"""``tacit.roc_curve``: how good is a classifier, told from a private test set. Public side, in front of the desk."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.desk import roc_family
from tacit.desk.checks import check_state, check_version
from tacit.desk.scores import release_scores
from tacit.errors import ParameterError, asked_of, bad_parameter
from tacit.evaluation.curve import RocCurve
from tacit.evaluation.family import FamilyCurve
from tacit.ledger import Account
from tacit.privacy.budget import Budget, exact_delta, exact_epsilon
from tacit.privacy.hierarchy import FORMS

METHODS = ("auto", "balanced-medians", *roc_family.METHODS)
MOST_BINS, BRANCHING = 1 << 10, 4


def roc_curve(
    y_true: Any,
    y_score: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    pos_label: Any = 1,
    method: str = "auto",
    counts: str | None = None,
    bins: int | None = None,
    branching: int = BRANCHING,
    score_range: tuple[float, float] = (0.0, 1.0),
    persons: Any = None,
    sample_weight: Any = None,
    account: Account | None = None,
    version: str | None = None,
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
    pos_label : text or number, default 1
        The label of positive rows. It is never read from the data, which may have no such row.
    method : {"auto", "balanced-medians", "laplace", "fixed-space", "recursive-medians"}
        "auto" is "balanced-medians", our best. The last three are the paper's family in sound form, for comparison:
        thresholds at equal distances of the public grid, or of the scores, or at medians by smooth sensitivity.
    counts : {"cells", "cumulative", "tree", "privelet"}, optional
        For the paper's family, how scores are counted between thresholds: each bin; above each threshold; on a tree
        with consistency; by Haar wavelets. None means what the paper does: "cumulative" for "laplace", else "privelet".
    bins : int, optional
        For the paper's family, a public number of bins: a power of two from 2 to 1024. None takes it from a noisy
        number of rows, as the paper takes it from the exact one.
    branching : int, default 4
        For ``counts="tree"``: children of a node.
    score_range : (float, float), default (0, 1)
        Public bounds of the scores: for probabilities (0, 1), for log-odds (-10, 10). Do not look at the data to choose
        them. Scores that differ by less than 1/4000 of the range count as equal in its middle.
    persons : array of length n, optional
        Who each row belongs to, if the account protects persons; at most ``max_rows`` of each are kept.
    sample_weight : None
        Refused: the weight of a row would be its influence, and nothing bounds it.
    account : Account, optional
        Pays. None means a one-off account in memory of exactly this budget.
    version : str, optional
        A name for the rows and for what scored them: the very same curve is then returned from the account's ledger at
        no cost, and scores are not looked at to tell. Default: a fingerprint of the counts of scores, which tells
        whether two classifiers differ on any row of the test set. Give one where others choose the classifiers.
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
        raise bad_parameter("roc_curve", "method", f"one of {METHODS}", method, "Leave it out for our best.")
    span = _check_range(score_range)
    recipe = _recipe(method, counts, bins, branching)
    given: dict[str, Any] = {
        "budget": Budget(exact_epsilon(epsilon, "roc_curve"), exact_delta(delta, "roc_curve")),
        "pos_label": _check_label(pos_label),
        "score_range": span,
        "persons": persons,
        "account": account,
        "version": check_version(version, "roc_curve"),
        "random_state": check_state(random_state, "roc_curve"),
    }
    with asked_of("roc_curve", given["budget"].epsilon):
        if recipe is None:
            return RocCurve(release_scores(y_true, y_score, **given), span, pos_label)
        return FamilyCurve(roc_family.release_family(y_true, y_score, recipe=recipe, **given), span, pos_label)


def _recipe(method: str, counts: Any, bins: Any, branching: Any) -> roc_family.Recipe | None:
    """Which member of the paper's family is asked for, if one is."""
    found = next((known for known in roc_family.METHODS if known == method), None)
    if found is None:
        for name, value in (("counts", counts), ("bins", bins)):
            if value is not None:
                expected, remedy = f"None for method {method!r}", f"It belongs to one of {roc_family.METHODS}."
                raise bad_parameter("roc_curve", name, expected, value, remedy)
        if branching != BRANCHING:
            expected, remedy = (
                f"{BRANCHING}, as it is by default, for method {method!r}",
                "It belongs to counts='tree'.",
            )
            raise bad_parameter("roc_curve", "branching", expected, branching, remedy)
        return None
    usual = "cumulative" if found == "laplace" else "privelet"
    form = next((known for known in FORMS if known == (usual if counts is None else counts)), None)
    if form is None:
        raise bad_parameter("roc_curve", "counts", f"None or one of {FORMS}", counts, "None is what the paper does.")
    if bins is not None and not (_whole(bins) and 2 <= bins <= MOST_BINS and bins & (bins - 1) == 0):
        expected, remedy = f"None or a power of two from 2 to {MOST_BINS}", "None takes it from a noisy number of rows."
        raise bad_parameter("roc_curve", "bins", expected, bins, remedy)
    if not (_whole(branching) and 2 <= branching <= MOST_BINS):
        expected, remedy = f"a whole number from 2 to {MOST_BINS}", "It is how many children a node of a tree has."
        raise bad_parameter("roc_curve", "branching", expected, branching, remedy)
    return roc_family.Recipe(found, form, None if bins is None else int(bins), int(branching))


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _check_label(label: Any) -> Any:
    """A label that no row can have would make every row negative, at the full price."""
    plain = label.item() if isinstance(label, np.generic) else label
    if not isinstance(plain, str | int | float) or (isinstance(plain, float) and not math.isfinite(plain)):
        remedy = "Name it as it stands in y_true: it is never read from the data, which may have no such row."
        raise bad_parameter("roc_curve", "pos_label", "the positive label: a text or a finite number", label, remedy)
    return plain


def _check_range(span: Any) -> tuple[float, float]:
    expected = "a pair of finite numbers, the lower one first"
    remedy = "(0, 1) for probabilities, (-10, 10) for log-odds: public bounds, never the least and the largest score."
    try:
        low, high = (math.nan if isinstance(end, str | bytes) else float(end) for end in span)
    except (TypeError, ValueError):
        raise bad_parameter("roc_curve", "score_range", expected, span, remedy) from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
        raise bad_parameter("roc_curve", "score_range", expected, span, remedy)
    return low, high
