"""Naive Bayes for binary features, from private counts. Public side: sees releases only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.desk.counts import at_most, public_max_ones
from tacit.errors import bad_parameter
from tacit.ledger import Account
from tacit.models._base import Floats, PrivateClassifier, check_fitted, names_epsilon, rows_to_score
from tacit.privacy.budget import exact

LABEL_SHARE = 0.05
"""Part of the budget for the number of rows by label, which set the scale of everything else."""

NOISE_SMOOTHING = 5.0
"""Pseudo-counts, in standard deviations of the noise. A feature whose counts are noise alone then has log-odds of
about √2/5, too little to outvote a feature that is there. Between 3 and 10 little changes."""

SIGNIFICANT = 3.0
"""Deviations of the noise below which a feature's *absence* says nothing. There are thousands of absent features in
every row, and their noise would add up."""


class BernoulliNB(PrivateClassifier):
    """Naive Bayes from one release of private counts by label and feature.

    Parameters
    ----------
    epsilon, delta : float
        What one fit costs. With ``delta`` above 0 the noise is Gaussian, which helps when rows have many ones;
        for a few ``max_ones`` it is not, as Laplace noise is smaller then.
    max_ones : int, optional
        At most this many ones of a row are counted. Default: a public rule of the noisy number of rows, the number of
        features and epsilon.
    classes : sequence, default (0, 1)
        The declared labels; rows with any other are left out.
    alpha : float, default 1.0
        Additive smoothing, as without privacy; smoothing for the noise comes on top of it.
    account : Account, optional
        Who pays; None means a one-off account of exactly this budget.
    random_state : int, optional
        A seed, for simulations: the receipt then says "not private".

    Attributes
    ----------
    classes_ : array
    weights_ : array of shape (classes, features)
        What the presence of a feature adds to the log-probability of a class.
    intercept_ : array of shape (classes,)
    feature_count_, class_count_ : arrays
        The released counts.
    max_ones_ : int
    receipt_ : Receipt

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 0], [1, 0], [0, 1], [0, 1]] * 500)
    >>> y = np.array([0, 0, 1, 1] * 500)
    >>> model = BernoulliNB(epsilon=1.0, random_state=0).fit(X, y)
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    [0, 1]
    >>> model.receipt_["epsilon"]
    1.0
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        max_ones: int | None = None,
        classes: Any = (0, 1),
        alpha: float = 1.0,
        account: Account | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.max_ones = max_ones
        self.classes = classes
        self.alpha = alpha
        self.account = account
        self.random_state = random_state

    @names_epsilon
    def fit(self, X: Any, y: Any, *, persons: Any = None) -> BernoulliNB:
        """Count privately, then train on the release.

        Parameters
        ----------
        X : array or sparse matrix of shape (rows, features)
            A feature is present where the entry is neither 0 nor NaN. CSR stays sparse.
        y : array of labels
        persons : array, optional
            Whose each row is, where the account protects persons.
        """
        expected = "a number of at least 0 and below 2^60"
        if not 0 <= exact(self.alpha, "BernoulliNB", "alpha", expected) < 2**60:
            raise bad_parameter("BernoulliNB", "alpha", expected, self.alpha)
        visit = self._matrix_visit(X, y, persons)
        counts = visit.noise(1 - LABEL_SHARE, ones=self.max_ones)
        steps = {"labels": visit.noise(LABEL_SHARE, delta_share=0), "ones": counts}
        visit.start(at_most(self.max_ones), steps)
        labels = visit.labels("labels")
        r = self.max_ones
        if r is None:
            r = public_max_ones(float(np.maximum(labels, 1).sum()), visit.schema.n_features, visit.epsilon)
        ones = visit.counts("ones", r)
        self.classes_ = np.array(visit.schema.classes)
        self.max_ones_ = int(r)
        self.feature_count_, self.class_count_ = ones, labels
        self.weights_, self.intercept_ = train(ones, labels, visit.deviation("ones"), float(self.alpha))
        self.receipt_ = visit.receipt()
        return self

    def _log_scores(self, X: Any) -> Floats:
        check_fitted(self)
        ones = rows_to_score(self, X)
        scores: Floats = np.asarray(ones @ self.weights_.T)
        return scores + self.intercept_


def train(
    ones: NDArray[np.int64], labels: NDArray[np.int64], deviation: float, alpha: float = 1.0
) -> tuple[Floats, Floats]:
    """Turn released counts into the weights of a linear rule, one row for each class, and its intercepts.

    With p the smoothed share of rows that have a feature, its presence weighs log p − log(1 − p), and the intercept
    holds the class's log-share and all log(1 − p), as in ``sklearn.naive_bayes.BernoulliNB``; without noise they agree.
    Noise is met twice: by more smoothing, and by moving log(1 − p) of features whose classes differ by no more than
    noise towards the mean over classes.

    Parameters
    ----------
    deviation : float
        Standard deviation of the noise of one count.
    """
    sizes = np.maximum(labels.astype(np.float64), 1.0)
    table = np.clip(ones.astype(np.float64), 0.0, sizes[:, None])
    extra = NOISE_SMOOTHING * deviation * sizes / sizes.mean()
    share = (table + alpha + extra[:, None]) / (sizes + 2 * (alpha + extra))[:, None]
    middle = share.mean(axis=0)
    raw = (ones + alpha) / (sizes + 2 * alpha)[:, None]
    signal = ((raw - raw.mean(axis=0)) ** 2).sum(axis=0)
    spread = ((deviation / sizes) ** 2).sum()
    trust = np.ones_like(signal)
    if spread > 0:
        trust = np.maximum(0.0, 1 - SIGNIFICANT**2 * spread / np.maximum(signal, spread))
    present = np.log(np.clip(share, 1e-12, 1))
    absent = np.log1p(-np.clip(middle + trust * (share - middle), 0, 1 - 1e-12))
    return present - absent, np.log(sizes / sizes.sum()) + absent.sum(axis=1)
