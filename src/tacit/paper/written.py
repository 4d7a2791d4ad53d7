"""NOT PRIVATE: the paper's selection and training as written, from the exact counts of a fold.

Where the paper is silent: τ is the score of the feature whose rank is ``size``, read off the data, which the paper's
corollary allows; information gain is n·IG in nats with the sensitivity ln n + 1 of bounded privacy; Naive Bayes adds
one to every count and takes negative counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from tacit import unsound
from tacit.paper.corpus import Corpus, Floats, Fold, cut, folds
from tacit.paper.recipe import Recipe
from tacit.selection.scores import score_features

Mask = NDArray[np.bool_]

CLUSTERS = 10
ROUNDS = 5
ERM_FEATURES = 5000
RIDGE = 50.0
"""Regularisation of logistic regression times the number of rows: 0.01 on SMS. The paper does not give its own."""


def exact_scores(score: str, ones: Floats, sizes: Floats) -> Floats:
    """Score all features; information gain times the number of rows, so that one row moves it by about ln n."""
    values = score_features(score, ones, sizes)
    return values * sizes.sum() if score == "ig" else values


def rank_threshold(values: Floats, size: int) -> float:
    """Return the score that ``size`` features reach."""
    size = min(size, len(values))
    return float(np.partition(values, -size)[-size])


def top(values: Floats, size: int) -> Mask:
    """Mark the ``size`` largest values."""
    mask = np.zeros(len(values), dtype=np.bool_)
    mask[np.argsort(-values, kind="stable")[:size]] = True
    return mask


def select(
    recipe: Recipe, ones: Floats, sizes: Floats, rng: np.random.Generator, threshold: float | None = None
) -> Mask:
    """NOT PRIVATE: select features as written. The threshold is the score of rank ``size`` unless one is given."""
    method, size, epsilon = recipe.method, recipe.size, recipe.selection_epsilon
    if method == "none":
        return np.ones(ones.shape[1], dtype=np.bool_)
    values = exact_scores(recipe.score, ones, sizes)
    tau = rank_threshold(values, size) if threshold is None else threshold
    if recipe.form == "exact":
        return values >= tau if method == "threshold" else top(values, size)
    sensitivity = math.log(sizes.sum()) + 1 if recipe.score == "ig" else 1.0
    if method in ("threshold", "top-k"):
        # One row moves the purity of every feature; for information gain the paper takes 2s, under bounded privacy.
        affected = {"pi": len(values), "ig": 2 * recipe.reach}.get(recipe.score, recipe.reach)
        noisy = unsound.perturbed_scores(values, epsilon, rng, sensitivity=sensitivity, affected=affected)
        return noisy >= tau if method == "threshold" else top(noisy, size)
    if method == "cluster":
        return unsound.cluster_selection(
            ones.T,
            tau,
            epsilon,
            rng,
            score="dc" if recipe.score == "dc" else "tc",
            rounds=ROUNDS,
            centers=CLUSTERS,
            sensitivity=recipe.reach,
            bound=float(sizes.sum()),
        )
    if method == "svt":
        released = unsound.svt_releasing_compared_noise(values, tau, epsilon, rng, limit=size, sensitivity=sensitivity)
        return ~np.isnan(released)
    if method == "ptt":
        monotone = recipe.score == "tc"
        answers = unsound.private_threshold_testing(
            values, tau, epsilon, rng, sensitivity=sensitivity, monotone=monotone
        )
    else:
        limit = {"noisy-cut": None, "noisy-cut-limit": size}[method]
        answers = unsound.noisy_cut(values, tau, epsilon, rng, limit=limit, sensitivity=sensitivity)
    return np.asarray(answers == 1)


def naive_bayes(ones: Floats, sizes: Floats, mask: Mask) -> tuple[Floats, float]:
    """Weights and intercept of Naive Bayes on the selected features, from exact or noisy counts."""
    whole = np.maximum(sizes, 1.0)
    share = (np.clip(ones, 0, whole[:, None]) + 1) / (whole + 2)[:, None]
    present, absent = np.log(share), np.log1p(-share)
    weights = np.where(mask, (present - absent)[1] - (present - absent)[0], 0.0)
    intercept = math.log(whole[1] / whole[0]) + float((absent[1] - absent[0])[mask].sum())
    return weights, intercept


def accuracy(corpus: Corpus, recipe: Recipe, repeats: int, number: int, rng: np.random.Generator) -> list[float]:
    """NOT PRIVATE: accuracy on the first ``number`` folds of each repeat."""
    learn = {"nb": _learn_nb, "lr": _learn_lr, "majority": _learn_majority}[recipe.model]
    found = []
    for repeat in range(repeats):
        for fold, learning in _two_views(corpus, recipe, repeat, number, rng):
            guess = learn(corpus, recipe, fold, learning, repeat, rng)
            found.append(float((guess == (corpus.labels[fold.test] == 1)).mean()))
    return found


def _two_views(
    corpus: Corpus, recipe: Recipe, repeat: int, number: int, rng: np.random.Generator
) -> Iterator[tuple[Fold, Fold]]:
    """Yield the counts that selection sees and the counts that training sees."""
    selecting = folds(corpus, repeat, number, recipe.most)
    if not recipe.parted:
        yield from zip(selecting, folds(corpus, repeat, number, recipe.train_most or recipe.most), strict=True)
        return
    by_label = np.stack([corpus.labels == 0, corpus.labels == 1]).astype(np.float64)
    for fold in selecting:
        first = rng.random(len(fold.train)) < recipe.share
        views = []
        for rows in (fold.train[first], fold.train[~first]):
            counts = by_label[:, rows] @ corpus.words[rows]
            views.append(Fold(counts, by_label[:, rows].sum(axis=1), rows, fold.test, fold.test_rows))
        yield views[0], views[1]


def _learn_nb(
    corpus: Corpus, recipe: Recipe, fold: Fold, learning: Fold, repeat: int, rng: np.random.Generator
) -> Mask:
    del corpus, repeat  # counts are all that it needs
    mask = select(recipe, fold.ones, fold.sizes, rng)
    ones, sizes = learning.ones, learning.sizes
    if recipe.form != "exact":
        epsilon, reach = recipe.training_epsilon, recipe.training_reach
        ones = unsound.uncut_counts(ones, epsilon, rng, max_ones=reach)
        sizes = unsound.uncut_counts(sizes, epsilon, rng, max_ones=reach)
    weights, intercept = naive_bayes(ones, sizes, mask)
    return np.asarray(fold.test_rows @ weights + intercept > 0)


def _learn_majority(
    corpus: Corpus, recipe: Recipe, fold: Fold, learning: Fold, repeat: int, rng: np.random.Generator
) -> Mask:
    del corpus, recipe, repeat, rng
    return np.full(len(fold.test), learning.sizes[1] > learning.sizes[0])


def _learn_lr(
    corpus: Corpus, recipe: Recipe, fold: Fold, learning: Fold, repeat: int, rng: np.random.Generator
) -> Mask:
    """Logistic regression on 5,000 features by exact TC, with a constant feature and rows of norm 1."""
    mask = top(fold.ones.sum(axis=0), ERM_FEATURES)
    mask[mask] = select(recipe, fold.ones[:, mask], fold.sizes, rng)
    columns = np.flatnonzero(mask)
    most = recipe.train_most or recipe.most
    rows = corpus.words[learning.train]
    train = _unit_rows((cut(rows, most, np.random.default_rng([repeat, most])) if most else rows)[:, columns])
    test = _unit_rows(fold.test_rows[:, columns])
    signs = 2 * corpus.labels[learning.train] - 1
    if recipe.form == "exact":
        return np.asarray(LogisticRegression(C=10.0, max_iter=300).fit(train, signs).predict(test) > 0)
    ridge = RIDGE / len(signs)
    weights = unsound.erm_logistic(train, signs, recipe.training_epsilon, rng, regularisation=ridge)
    return np.asarray(test @ weights > 0)


def _unit_rows(rows: sp.csr_array) -> sp.csr_array:
    joined = sp.csr_array(sp.hstack([rows, np.ones((rows.shape[0], 1))]))
    norms = np.sqrt(np.asarray(joined.power(2).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1 / norms) @ joined)
