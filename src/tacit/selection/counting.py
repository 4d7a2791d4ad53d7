"""Selection from released counts: every score is post-processing of one table. Public side: sees releases only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.desk.counts import Visit, at_most, public_max_ones
from tacit.desk.estimators import names_epsilon
from tacit.errors import bad_parameter
from tacit.ledger import Account
from tacit.selection._base import PrivateSelector, check_score, check_threshold, check_whole, largest
from tacit.selection.rounds import ROUNDS, two_rounds
from tacit.selection.scores import SCORES, score_features

LABEL_SHARE = 0.05


class CountSelector(PrivateSelector):
    """Select features by a score of privately released counts.

    Parameters
    ----------
    k : int, optional
        Keep the k features of largest score.
    threshold : float, optional
        Or keep the features whose score is at least this much. Exactly one of ``k`` and ``threshold`` is given.
    score : {"tc", "dc", "pi", "ig", "chi2"}, default "tc"
        Total count, difference count, purity index, information gain, χ².
    epsilon, delta : float
        What one fit costs.
    max_ones : int, optional
        At most this many ones of a row are counted. Default: a public rule. Two rounds cut no row.
    rounds : {1, 2}, default 1
        Two rounds, for ``score="tc"``: a first look rules most features out, and the second counts the rest alone,
        where rows are short and little is lost. With a threshold the selection is the one of largest expected F1.
    classes, account, random_state :
        As for :class:`tacit.BernoulliNB`.

    Attributes
    ----------
    scores_ : array of shape (features,)
        From released counts; may be published.
    support_ : mask of the selected features
    receipt_ : Receipt

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((2000, 4)); X[:, 2] = 1
    >>> selector = CountSelector(k=1, epsilon=1.0, random_state=0).fit(X, np.zeros(2000))
    >>> selector.get_support(indices=True).tolist()
    [2]
    """

    def __init__(
        self,
        k: int | None = None,
        threshold: float | None = None,
        score: str = "tc",
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        max_ones: int | None = None,
        rounds: int = 1,
        classes: Any = (0, 1),
        account: Account | None = None,
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.threshold = threshold
        self.score = score
        self.epsilon = epsilon
        self.delta = delta
        self.max_ones = max_ones
        self.rounds = rounds
        self.classes = classes
        self.account = account
        self.random_state = random_state

    @names_epsilon
    def fit(self, X: Any, y: Any = None, *, persons: Any = None) -> CountSelector:
        """Release counts, score them and select."""
        self._check()
        visit = self._matrix_visit(X, y, persons)
        if self.k is not None:
            check_whole("CountSelector", "k", self.k, most=visit.schema.n_features)
        chosen = self._two_rounds(visit) if self.rounds == 2 else self._one_round(visit)
        self._keep(chosen, visit)
        return self

    def _check(self) -> None:
        owner = "CountSelector"
        if (self.k is None) == (self.threshold is None):
            raise bad_parameter(owner, "k", "given, or else threshold, and not both", self.k)
        if self.threshold is not None:
            check_threshold(owner, self.threshold)
        check_score(owner, self.score, SCORES)
        if check_whole(owner, "rounds", self.rounds, most=2) == 2 and self.score != "tc":
            raise bad_parameter(owner, "rounds", "1, or for score='tc' 2", self.rounds)
        if self.rounds == 2 and self.max_ones is not None:
            raise bad_parameter(owner, "max_ones", "None with two rounds, which cut no row", self.max_ones)

    def _one_round(self, visit: Visit) -> NDArray[np.int64]:
        counts = visit.noise(1 - LABEL_SHARE, ones=self.max_ones)
        steps = {"labels": visit.noise(LABEL_SHARE, delta_share=0), "ones": counts}
        visit.start(at_most(self.max_ones), steps)
        labels = visit.labels("labels")
        r = self.max_ones
        if r is None:
            rows = float(np.maximum(labels, 1).sum())
            r = public_max_ones(rows, visit.schema.n_features, visit.epsilon)
        ones = visit.counts("ones", r)
        self.scores_ = score_features(self.score, ones, labels)
        return self._choose(self.scores_)

    def _choose(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        if self.k is not None:
            return largest(scores, self.k)
        assert self.threshold is not None
        return np.flatnonzero(scores >= float(self.threshold)).astype(np.int64)

    def _two_rounds(self, visit: Visit) -> NDArray[np.int64]:
        steps = {name: visit.noise(share, delta_share=0) for name, share in ROUNDS.items()}
        wanted = f"threshold {float(self.threshold or 0)}" if self.k is None else f"{self.k} features"
        visit.start(f"two rounds, {wanted}", steps)
        found = two_rounds(visit, self.k, None if self.threshold is None else float(self.threshold))
        self.scores_ = found.counts
        return largest(self.scores_, self.k) if self.k is not None else found.selected()
