"""How well selections find the features above a threshold: precision, recall and F1 on the whole of SMS."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.paper import sound, written
from tacit.paper.corpus import Corpus, Floats, cut
from tacit.paper.recipe import Recipe


def true_features(corpus: Corpus, tau: int, *, hashed: bool) -> written.Mask:
    """Features whose total count is greater than τ."""
    rows = corpus.hashed if hashed else corpus.words
    return np.asarray(rows.sum(axis=0) > tau)


def f1(truth: written.Mask, found: written.Mask) -> float:
    """Harmonic mean of precision and recall."""
    return 2 * float((truth & found).sum()) / max(1, int(truth.sum() + found.sum()))


def f1_scores(corpus: Corpus, recipe: Recipe, repeats: int, rng: np.random.Generator) -> list[float]:
    """F1 of a selection by total count; ``size`` is τ. Limits on positive answers are told the true number."""
    tau = recipe.size
    if recipe.form in ("sound", "default"):
        truth = true_features(corpus, tau, hashed=True)
        masks = (
            sound.selector(recipe, int(rng.integers(2**31)), limit=max(1, int(truth.sum())))
            .fit(corpus.hashed, corpus.labels)
            .get_support()
            for _ in range(repeats)
        )
        return [f1(truth, mask) for mask in masks]
    truth = true_features(corpus, tau, hashed=False)
    found = []
    by_label = np.stack([corpus.labels == 0, corpus.labels == 1]).astype(np.float64)
    sizes: Floats = by_label.sum(axis=1)
    told = replace(recipe, size=int(truth.sum()), share=1.0)
    for _ in range(repeats):
        rows = cut(corpus.words, recipe.most, rng) if recipe.most else corpus.words
        found.append(f1(truth, written.select(told, by_label @ rows, sizes, rng, threshold=tau)))
    return found
