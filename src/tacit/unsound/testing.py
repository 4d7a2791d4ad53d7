"""NOT PRIVATE: tests of scores against a threshold, as the paper and its sources wrote them down.

Answers are 1 (above), 0 (not above) and −1 (not visited, because a limit was reached before).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Answers = NDArray[np.int8]


def private_threshold_testing(
    scores: ArrayLike,
    threshold: float,
    epsilon: float,
    rng: np.random.Generator,
    *,
    sensitivity: float = 1.0,
    monotone: bool = False,
) -> Answers:
    """NOT PRIVATE: Algorithm 2, Private Threshold Testing. Compare exact scores with one noisy threshold.

    The theorem claims 2σε for threshold noise of scale 1/ε, and its corollary σε for scores that all grow with an added
    row (``monotone``); so a claimed ``epsilon`` means scale 2σ/ε or σ/ε. Both are wrong: no finite ε holds, because the
    order of two exact scores shows through.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> private_threshold_testing([0, 40, 100], 20, 1.0, rng, monotone=True).tolist()
    [0, 1, 1]
    """
    scale = (1 if monotone else 2) * sensitivity / epsilon
    return (np.asarray(scores) >= threshold + rng.laplace(0, scale)).astype(np.int8)


def noisy_cut(
    scores: ArrayLike,
    threshold: float,
    epsilon: float,
    rng: np.random.Generator,
    *,
    limit: int | None = None,
    sensitivity: float = 1.0,
) -> Answers:
    """NOT PRIVATE: NoisyCut with the constants of Lee and Clifton, noise on the threshold and on every score.

    A quarter of ``epsilon`` is for the threshold and three quarters for the scores, however many of them are positive.
    With ``limit`` positives the true loss is (1 + 6·limit)/4 times the claimed one; without a limit, which is how the
    paper describes it, it grows with the number of features that a row moves.
    """
    values = np.asarray(scores, dtype=np.float64)
    noisy_threshold = threshold + rng.laplace(0, 4 * sensitivity / epsilon)
    noisy = values + rng.laplace(0, 4 * sensitivity / (3 * epsilon), values.shape)
    return _stop((noisy >= noisy_threshold).astype(np.int8), limit)


def svt_releasing_compared_noise(
    scores: ArrayLike,
    threshold: float,
    epsilon: float,
    rng: np.random.Generator,
    *,
    limit: int,
    sensitivity: float = 1.0,
) -> NDArray[np.float64]:
    """NOT PRIVATE: the sparse vector technique as the paper describes it, which releases what it has compared.

    Half of ``epsilon`` for the threshold, the rest divided by ``limit`` for each score; the noisy scores of the first
    ``limit`` positives are returned, NaN for all others. Each of them bounds the noisy threshold from above, and
    every negative score bounds it from below.
    """
    values = np.asarray(scores, dtype=np.float64)
    noisy_threshold = threshold + rng.laplace(0, 2 * sensitivity / epsilon)
    noisy = values + rng.laplace(0, 2 * limit * sensitivity / epsilon, values.shape)
    answers = _stop((noisy >= noisy_threshold).astype(np.int8), limit)
    return np.where(answers == 1, noisy, np.nan)


def svt_threshold_noise_only(
    scores: ArrayLike,
    threshold: float,
    epsilon: float,
    rng: np.random.Generator,
    *,
    limit: int,
    sensitivity: float = 1.0,
) -> Answers:
    """NOT PRIVATE: the sparse vector technique without noise on the scores. A limit on positives does not mend it."""
    noisy_threshold = threshold + rng.laplace(0, 2 * sensitivity / epsilon)
    return _stop((np.asarray(scores) >= noisy_threshold).astype(np.int8), limit)


def _stop(answers: Answers, limit: int | None) -> Answers:
    """Mark as not visited what comes after the last positive that the limit allows."""
    if limit is not None:
        positives = np.cumsum(answers)
        answers[positives - answers >= limit] = -1
    return answers
