"""Cluster selection, made sound: private counts first, then clustering as post-processing. Public side."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from tacit.desk.counts import at_most, public_max_ones
from tacit.desk.estimators import names_epsilon
from tacit.ledger import Account
from tacit.selection._base import PrivateSelector, check_score, check_threshold, check_whole
from tacit.selection.scores import SCORES, score_features

LABEL_SHARE = 0.05


class ClusterSelector(PrivateSelector):
    """Select clusters of features with similar counts, by the score of their centre.

    The paper clusters exact counts, and which features lie together then tells about single rows. Here the counts are
    released first; clustering them costs nothing more, and averaging over a cluster takes off noise.

    Parameters
    ----------
    threshold : float
        Clusters whose centre's score is at least this much are selected.
    n_clusters : int, default 10
    score : {"tc", "dc", "pi", "ig", "chi2"}, default "tc"
    epsilon, delta : float
        What one fit costs.
    max_ones : int, optional
        At most this many ones of a row are counted. Default: a public rule.
    classes, account, random_state :
        As for :class:`tacit.BernoulliNB`.

    Attributes
    ----------
    labels_ : array, the cluster of each feature
    scores_ : array, the score of each cluster's centre
    support_ : mask of the selected features
    receipt_ : Receipt

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((2000, 6)); X[:, :2] = 1
    >>> selector = ClusterSelector(threshold=1000, n_clusters=2, random_state=0).fit(X, np.zeros(2000))
    >>> selector.get_support(indices=True).tolist()
    [0, 1]
    """

    def __init__(
        self,
        threshold: float,
        n_clusters: int = 10,
        score: str = "tc",
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        max_ones: int | None = None,
        classes: Any = (0, 1),
        account: Account | None = None,
        random_state: int | None = None,
    ) -> None:
        self.threshold = threshold
        self.n_clusters = n_clusters
        self.score = score
        self.epsilon = epsilon
        self.delta = delta
        self.max_ones = max_ones
        self.classes = classes
        self.account = account
        self.random_state = random_state

    @names_epsilon
    def fit(self, X: Any, y: Any = None, *, persons: Any = None) -> ClusterSelector:
        """Release counts, cluster them, and select clusters."""
        owner = "ClusterSelector"
        check_score(owner, self.score, SCORES)
        threshold = float(check_threshold(owner, self.threshold))
        wanted = check_whole(owner, "n_clusters", self.n_clusters)
        visit = self._matrix_visit(X, y, persons)
        counts = visit.noise(1 - LABEL_SHARE, ones=self.max_ones)
        steps = {"labels": visit.noise(LABEL_SHARE, delta_share=0), "ones": counts}
        visit.start(at_most(self.max_ones), steps)
        labels = visit.labels("labels")
        r = self.max_ones
        if r is None:
            rows = float(np.maximum(labels, 1).sum())
            r = public_max_ones(rows, visit.schema.n_features, visit.epsilon)
        ones = visit.counts("ones", r).astype(np.float64)
        distinct = len(np.unique(ones, axis=1).T)
        # Clustering sees the release alone; its own randomness is fixed.
        clusters = KMeans(min(wanted, distinct), n_init=3, random_state=0).fit(ones.T)
        self.labels_ = clusters.labels_
        self.scores_ = score_features(self.score, clusters.cluster_centers_.T, labels)
        self._keep(np.flatnonzero(self.scores_[self.labels_] >= threshold), visit)
        return self
