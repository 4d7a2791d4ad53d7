"""The sound forms of the paper's methods, and tacit's own defaults, on public hashed words.

Everything is asked of tacit's public names with a seed, so that the receipts say "simulation": this is research on
public data. Thresholds and numbers of features are public numbers, fixed beforehand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tacit
from tacit.paper.corpus import Corpus, Whole, parts
from tacit.paper.recipe import Recipe

LIMIT = 20
"""Positive answers of the corrected sparse vector technique."""


def selector(recipe: Recipe, seed: int, limit: int = LIMIT) -> Any:
    """The sound counterpart of a method of the paper.

    Score perturbation becomes perturbed counts from which any score is computed, clusters are made of released counts,
    and threshold testing is the corrected sparse vector technique, or a screening, which has no limit on positives.
    """
    common: dict[str, Any] = {"score": recipe.score, "epsilon": recipe.selection_epsilon, "random_state": seed}
    most = recipe.most or None
    if recipe.method == "top-k":
        return tacit.CountSelector(k=recipe.size, max_ones=most, **common)
    if recipe.method == "threshold":
        return tacit.CountSelector(threshold=recipe.size, max_ones=most, **common)
    if recipe.method == "two rounds":
        return tacit.CountSelector(threshold=recipe.size, rounds=2, **common)
    if recipe.method == "cluster":
        return tacit.ClusterSelector(threshold=recipe.size, max_ones=most, **common)
    most_selected = None if recipe.method == "screening" else limit
    return tacit.ThresholdSelector(threshold=recipe.size, max_selected=most_selected, **common)


def accuracy(corpus: Corpus, recipe: Recipe, repeats: int, number: int, rng: np.random.Generator) -> list[float]:
    """Accuracy on the first ``number`` folds of each repeat."""
    found = []
    for repeat in range(repeats):
        for test in parts(corpus.rows, repeat)[:number]:
            train = np.setdiff1d(np.arange(corpus.rows), test, assume_unique=True)
            guess = _learn(corpus, recipe, train, test, rng)
            found.append(float((guess == corpus.labels[test]).mean()))
    return found


def _learn(corpus: Corpus, recipe: Recipe, train: Whole, test: Whole, rng: np.random.Generator) -> Whole:
    labels = corpus.labels
    first, second = (int(seed) for seed in rng.integers(2**31, size=2))
    if recipe.form == "default":
        model, rows = _default(corpus, recipe, first)
        return np.asarray(model.fit(rows[train], labels[train]).predict(rows[test]))
    columns = np.arange(corpus.hashed.shape[1])
    select_on = learn_on = train
    if recipe.parted:
        coin = rng.random(len(train)) < recipe.share
        select_on, learn_on = train[coin], train[~coin]
    if recipe.method != "none":
        chosen = selector(recipe, first).fit(corpus.hashed[select_on], labels[select_on])
        columns = chosen.get_support(indices=True)
        if not len(columns):
            columns = np.array([0])  # any public column: the model then rests on the noisy class sizes
    model = _model(recipe, second)
    model.fit(corpus.hashed[learn_on][:, columns], labels[learn_on])
    return np.asarray(model.predict(corpus.hashed[test][:, columns]))


def _default(corpus: Corpus, recipe: Recipe, seed: int) -> tuple[Any, Any]:
    """What tacit recommends for the data, and the rows that it takes."""
    if recipe.model == "tabular":
        schema = corpus.source.schema
        return tacit.TabularClassifier(recipe.epsilon, schema=schema, random_state=seed), corpus.source.frame
    word_list = "en" if recipe.model == "text with word list" else None
    return tacit.TextClassifier(recipe.epsilon, word_list=word_list, random_state=seed), corpus.source.texts


def _model(recipe: Recipe, seed: int) -> Any:
    if recipe.model == "lr":
        return tacit.LogisticRegression(recipe.training_epsilon, random_state=seed)
    most = recipe.train_most or recipe.most or None
    return tacit.BernoulliNB(recipe.training_epsilon, max_ones=most, random_state=seed)
