"""NOT PRIVATE: noise on scores, counts and objectives for a sensitivity that is claimed and not enforced."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit

Floats = NDArray[np.float64]


def perturbed_scores(
    scores: ArrayLike, epsilon: float, rng: np.random.Generator, *, sensitivity: float = 1.0, affected: float = 20.0
) -> Floats:
    """NOT PRIVATE: score perturbation, noise of scale S(Q)·Δ(Q)/ε on every score.

    It is private only if no row changes more than ``affected`` scores, each by at most ``sensitivity``. The paper takes
    Δ = s = 20 without cutting longer rows, and Δ ≤ 2s "for any score" under bounded privacy: false for information
    gain and purity, where one changed label moves the score of every feature, those that the row lacks included.
    """
    values = np.asarray(scores, dtype=np.float64)
    return np.asarray(values + rng.laplace(0, sensitivity * affected / epsilon, values.shape))


def uncut_counts(ones: ArrayLike, epsilon: float, rng: np.random.Generator, *, max_ones: float = 20.0) -> Floats:
    """NOT PRIVATE: the table of Naive Bayes, rows by label and feature, with noise for s ones in a row.

    Scale (s + 1)/ε: one unit more is for the number of rows by label, which are released with the same noise. The paper
    assumes that no row has more than s ones, and cuts none.
    """
    values = np.asarray(ones, dtype=np.float64)
    return np.asarray(values + rng.laplace(0, (max_ones + 1) / epsilon, values.shape))


def erm_logistic(
    rows: object,
    labels: ArrayLike,
    epsilon: float,
    rng: np.random.Generator,
    *,
    regularisation: float = 1e-2,
    iterations: int = 200,
) -> Floats:
    """NOT PRIVATE as run: logistic regression by objective perturbation, as Chaudhuri et al. wrote it down.

    Their proof holds for exact minimisers, rows of norm at most 1 and a public number of rows. Here the minimiser is
    inexact, nothing pays for that, and the number of rows is read off the data.

    Parameters
    ----------
    rows : array or sparse matrix of shape (rows, features)
        Each row of Euclidean norm at most 1.
    labels : array of −1 and 1

    Returns
    -------
    array, one weight a feature
    """
    X, y = rows, np.asarray(labels, dtype=np.float64)
    n, d = X.shape  # type: ignore[attr-defined]
    curvature = 0.25
    slack = epsilon - np.log1p(2 * curvature / (n * regularisation) + (curvature / (n * regularisation)) ** 2)
    more = 0.0
    if slack <= 0:
        more = curvature / (n * np.expm1(epsilon / 4)) - regularisation
        slack = epsilon / 2
    direction = rng.normal(size=d)
    noise = direction / np.linalg.norm(direction) * rng.gamma(d, 2 / slack)
    ridge = regularisation + more

    def objective(weights: Floats) -> tuple[float, Floats]:
        margin = y * (X @ weights)  # type: ignore[operator]
        value = np.logaddexp(0, -margin).mean() + ridge / 2 * (weights @ weights) + noise @ weights / n
        gradient = -(X.T @ (y * expit(-margin))) / n + ridge * weights + noise / n  # type: ignore[attr-defined]
        return float(value), gradient

    found = minimize(objective, np.zeros(d), jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    return np.asarray(found.x, dtype=np.float64)
