"""NOT PRIVATE: Algorithm 1, Cluster Selection, as the paper wrote it down."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def cluster_selection(
    points: ArrayLike,
    threshold: float,
    epsilon: float,
    rng: np.random.Generator,
    *,
    score: Literal["tc", "dc"] = "tc",
    rounds: int = 5,
    centers: int = 10,
    sensitivity: float = 20.0,
    bound: float | None = None,
) -> NDArray[np.bool_]:
    """NOT PRIVATE: cluster features by exact counts, and select the clusters whose noisy center has a large score.

    Each round of k-means adds noise to the sizes of the clusters (claimed sensitivity 1) and to the sums of their
    points (claimed sensitivity ``sensitivity``, the paper's s or r), each with ε/(2·rounds). But the points are
    features and not rows: a row moves many points at once, a point that changes cluster takes its whole norm along,
    and which features lie together is read from exact counts.

    Parameters
    ----------
    points : array of shape (features, 2)
        Rows with the feature, by label.
    bound : float, optional
        The first centers are spread evenly on a logarithmic scale from 1 to this many rows, and in random shares of
        the two labels. Default: the largest total among the points. The paper says "e.g. randomly".

    Returns
    -------
    array of bool, which features are selected

    Examples
    --------
    >>> points = [[1, 1]] * 50 + [[400, 500]] * 50
    >>> chosen = cluster_selection(points, 100, 50.0, np.random.default_rng(0), centers=4)
    >>> int(chosen[:50].sum()), int(chosen[50:].sum())
    (0, 50)
    """
    values = np.asarray(points, dtype=np.float64)
    middle = _first_centers(float(values.sum(axis=1).max()) if bound is None else bound, centers, rng)
    scale = 2 * rounds / epsilon
    for _ in range(rounds):
        labels = _nearest(values, middle)
        sizes = np.bincount(labels, minlength=centers) + rng.laplace(0, scale, centers)
        exact = np.stack([np.bincount(labels, column, minlength=centers) for column in values.T], axis=1)
        sums = exact + rng.laplace(0, sensitivity * scale, exact.shape)
        kept = sizes >= 1  # the paper does not say what becomes of a cluster without points: its center stays
        middle[kept] = sums[kept] / sizes[kept, None]
    total = middle.sum(axis=1) if score == "tc" else np.abs(middle[:, 1] - middle[:, 0])
    return np.asarray(total[_nearest(values, middle)] >= threshold)


def _first_centers(bound: float, centers: int, rng: np.random.Generator) -> Floats:
    totals = np.geomspace(1.0, max(bound, 2.0), centers)
    share = rng.random(centers)
    return np.stack([totals * share, totals * (1 - share)], axis=1)


def _nearest(values: Floats, middle: Floats) -> NDArray[np.int64]:
    distances = ((values[:, None, :] - middle[None, :, :]) ** 2).sum(axis=2)
    return np.asarray(distances.argmin(axis=1), dtype=np.int64)
