"""Selection by private choices on exact scores: no row is cut, and only the choice is released. Public side."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from tacit.desk.estimators import names_epsilon
from tacit.errors import bad_parameter
from tacit.ledger import Account
from tacit.privacy.mechanisms import SparseVector, TopK, TopKMethod
from tacit.privacy.screening import Screening
from tacit.selection._base import PrivateSelector, check_score, check_threshold, check_whole

WHOLE_SCORES = ("tc", "dc", "pi")
_REMEDY = "For other scores use CountSelector, which computes them from released counts."


class TopKSelector(PrivateSelector):
    """Select k features of large score by the exponential mechanism's exact relatives.

    Best for a handful of features: each choice gets epsilon/k. No count is released.

    Parameters
    ----------
    k : int
    score : {"tc", "dc", "pi"}, default "tc"
        Total count, difference count or purity index. For the total count choices are twice as sharp, since one row
        moves all counts the same way.
    epsilon : float
        What one fit costs; ``delta`` is accepted for symmetry and not used.
    method : {"peeling", "one-shot"}, default "peeling"
        k choices by permute-and-flip one after another, or noise once and the k largest, for very many features.
    classes, account, random_state :
        As for :class:`tacit.BernoulliNB`.

    Attributes
    ----------
    ranking_ : array of k indices, in the order of their choice
    support_ : mask of the selected features
    receipt_ : Receipt

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((500, 4)); X[:, 2] = 1
    >>> TopKSelector(k=1, random_state=0).fit(X, np.zeros(500)).ranking_.tolist()
    [2]
    """

    def __init__(
        self,
        k: int,
        score: str = "tc",
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        method: Literal["peeling", "one-shot"] = "peeling",
        classes: Any = (0, 1),
        account: Account | None = None,
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.score = score
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.classes = classes
        self.account = account
        self.random_state = random_state

    @names_epsilon
    def fit(self, X: Any, y: Any = None, *, persons: Any = None) -> TopKSelector:
        """Choose features privately."""
        owner = "TopKSelector"
        check_score(owner, self.score, WHOLE_SCORES, _REMEDY)
        if self.method not in ("peeling", "one-shot"):
            raise bad_parameter(owner, "method", "'peeling' or 'one-shot'", self.method)
        check_whole(owner, "k", self.k)
        visit = self._matrix_visit(X, y, persons)
        k = check_whole(owner, "k", self.k, most=visit.schema.n_features)
        mechanism = TopK(visit.epsilon, k, TopKMethod(self.method))
        visit.start(f"{k} features by {self.score}, {mechanism.method.value}", {"choice": mechanism})
        self.ranking_ = visit.select("choice", self.score)
        self._keep(self.ranking_, visit)
        return self


class ThresholdSelector(PrivateSelector):
    """Select features whose score reaches a threshold, by yes or no alone: no count is released.

    The paper's Private Threshold Testing and NoisyCut are not differentially private; this is what is. With
    ``max_selected`` it is the corrected sparse vector technique, of which each yes costs: good for a few features.
    Without, for the total count, it is a screening, in which each row pays for the answers about its own features:
    best for many features of which a row has few, such as words. It holds the features of all rows in memory.

    Parameters
    ----------
    threshold : float
    max_selected : int or None, default 10
        Stop after this many; features are visited in a random order. None, for ``score="tc"``: as many as there are.
    score : {"tc", "dc", "pi"}, default "tc"
    epsilon : float
        What one fit costs; ``delta`` is accepted for symmetry and not used.
    classes, account, random_state :
        As for :class:`tacit.BernoulliNB`.

    Attributes
    ----------
    answers_ : array of shape (features,)
        1 reached, 0 not reached, −1 not visited (with ``max_selected`` alone).
    support_ : mask of the selected features
    receipt_ : Receipt

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((500, 4)); X[:, 2] = 1
    >>> selector = ThresholdSelector(threshold=250, max_selected=1, random_state=0).fit(X, np.zeros(500))
    >>> selector.get_support(indices=True).tolist()
    [2]
    >>> ThresholdSelector(threshold=250, max_selected=None, random_state=0).fit(X, np.zeros(500)).answers_.tolist()
    [0, 0, 1, 0]
    """

    def __init__(
        self,
        threshold: float,
        max_selected: int | None = 10,
        score: str = "tc",
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        classes: Any = (0, 1),
        account: Account | None = None,
        random_state: int | None = None,
    ) -> None:
        self.threshold = threshold
        self.max_selected = max_selected
        self.score = score
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.account = account
        self.random_state = random_state

    @names_epsilon
    def fit(self, X: Any, y: Any = None, *, persons: Any = None) -> ThresholdSelector:
        """Ask feature after feature whether it reaches the threshold."""
        owner = "ThresholdSelector"
        check_score(owner, self.score, WHOLE_SCORES, _REMEDY)
        limit = None if self.max_selected is None else check_whole(owner, "max_selected", self.max_selected)
        # Scores are whole, so reaching the threshold means reaching the next whole number.
        threshold = math.ceil(check_threshold(owner, self.threshold))
        if limit is None:
            self._check_screening(threshold)
        visit = self._matrix_visit(X, y, persons)
        screening = None if limit is not None else Screening(visit.epsilon, threshold)
        mechanism = screening or SparseVector(visit.epsilon, threshold, limit or 1)
        most = "" if limit is None else f", at most {limit} features"
        visit.start(f"{self.score} of at least {threshold}{most}", {"answers": mechanism})
        self.answers_ = visit.screen("answers") if screening else visit.select("answers", self.score)
        self._keep(np.flatnonzero(self.answers_ == 1), visit)
        return self

    def _check_screening(self, threshold: int) -> None:
        owner = "ThresholdSelector"
        if self.score != "tc":
            raise bad_parameter(owner, "max_selected", "a number, unless score='tc'", None)
        if not 1 <= threshold < 1 << 40:
            remedy = "Any feature has a total count of 0."
            raise bad_parameter(
                owner, "threshold", "above 0 and below 2^40 where max_selected is None", threshold, remedy
            )
