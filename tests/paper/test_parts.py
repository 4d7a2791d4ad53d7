"""The parts of the reproduction are right: cuts, folds, counts, models, areas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import BernoulliNB

from tacit.data.datasets import Dataset
from tacit.data.schema import Schema
from tacit.paper import curves, selecting, written
from tacit.paper.corpus import Corpus, cut, folds, parts
from tacit.paper.recipe import Recipe
from tacit.paper.tables import FAILS, HOLDS, ONLY_UNSOUND, Measured, judge, measured


@pytest.fixture
def corpus() -> Corpus:
    rng = np.random.default_rng(0)
    labels = (rng.random(300) < 0.4).astype(np.int64)
    dense = rng.random((300, 40)) < np.where(labels[:, None] == 1, 0.5, 0.2) * np.linspace(0.1, 1, 40)
    rows = sp.csr_array(dense.astype(np.float64))
    source = Dataset("MADE UP", rows, labels.copy(), ("no", "yes"), "", Schema.matrix(40, (0, 1)))
    return Corpus(f"MADE UP {id(rows)}", rows, rows, labels, source)


def test_a_cut_keeps_some_of_each_row_and_no_more(corpus: Corpus) -> None:
    kept = cut(corpus.words, 5, np.random.default_rng(1))
    lengths, before = np.diff(kept.indptr), np.diff(corpus.words.indptr)
    assert (lengths == np.minimum(before, 5)).all()
    assert (kept.toarray() <= corpus.words.toarray()).all()
    # Which ones are kept is drawn evenly: the first of a long row is no likelier than the last.
    whole = sp.csr_array(np.ones((2000, 10)))
    counts = cut(whole, 3, np.random.default_rng(2)).sum(axis=0)
    assert np.abs(counts - 600).max() < 6 * np.sqrt(2000 * 0.3 * 0.7)


@pytest.mark.parametrize("most", [0, 4])
def test_folds_part_the_rows_and_count_the_others(corpus: Corpus, most: int) -> None:
    found = list(folds(corpus, 0, 10, most))
    assert sorted(np.concatenate([fold.test for fold in found])) == list(range(300))
    counted = cut(corpus.words, most, np.random.default_rng([0, most])) if most else corpus.words
    for fold in found[:3]:
        for label in (0, 1):
            train = fold.train[corpus.labels[fold.train] == label]
            assert (fold.ones[label] == counted[train].sum(axis=0)).all()
            assert fold.sizes[label] == len(train)
    assert [part.tolist() for part in parts(300, 0)] == [fold.test.tolist() for fold in found]


def test_naive_bayes_from_exact_counts_is_that_of_scikit_learn(corpus: Corpus) -> None:
    found = written.accuracy(corpus, Recipe("exact"), 1, 3, np.random.default_rng(0))
    for fold, ours in zip(folds(corpus, 0, 3, 0), found, strict=True):
        model = BernoulliNB().fit(corpus.words[fold.train], corpus.labels[fold.train])
        assert ours == pytest.approx(model.score(fold.test_rows, corpus.labels[fold.test]))


def test_exact_selections_are_the_largest_scores(corpus: Corpus) -> None:
    fold = next(folds(corpus, 0, 1, 0))
    rng = np.random.default_rng(0)
    for score in ("tc", "dc", "pi", "ig"):
        values = written.exact_scores(score, fold.ones, fold.sizes)
        top = written.select(Recipe("exact", method="top-k", score=score, size=7), fold.ones, fold.sizes, rng)
        assert top.sum() == 7
        assert values[top].min() >= values[~top].max()
        above = written.select(Recipe("exact", method="threshold", score=score, size=7), fold.ones, fold.sizes, rng)
        assert (above >= top).all()


def test_much_budget_makes_every_method_as_written_exact(corpus: Corpus) -> None:
    fold = next(folds(corpus, 0, 1, 0))
    for method in ("threshold", "top-k", "ptt", "noisy-cut", "noisy-cut-limit", "svt"):
        recipe = Recipe("as written", method=method, size=9, epsilon=1e9, share=1.0)
        mask = written.select(recipe, fold.ones, fold.sizes, np.random.default_rng(0), threshold=30.5)
        exact = fold.ones.sum(axis=0) >= 30.5
        if method == "top-k":
            exact = written.top(fold.ones.sum(axis=0), 9)
        if method in ("noisy-cut-limit", "svt"):
            exact = exact & (np.cumsum(exact) <= 9)
        assert (mask == exact).all(), method


def test_f1_and_areas() -> None:
    truth = np.array([True, True, False, False])
    assert selecting.f1(truth, truth) == 1
    assert selecting.f1(truth, np.array([True, False, True, False])) == 0.5
    assert selecting.f1(truth, ~truth) == 0
    diagonal = np.array([0.0, 1.0])
    corner = (np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0]))
    assert curves.area_between((diagonal, diagonal), corner) == pytest.approx(0.5, abs=1e-3)


def test_midpoints_are_counted_at_every_level() -> None:
    assert curves.midpoints(np.linspace(1, 0, 9)) == 1
    assert curves.midpoints(np.array([1, 0.75, 0.5, 0.3, 0])) == pytest.approx(2 / 3)


def test_bins_are_public_powers_of_two() -> None:
    found = [curves.public_bins("fixed-space", alpha, 558) for alpha in (1.0, 0.5, 0.25, 0.125)]
    assert found == [512, 256, 128, 64]
    assert [curves.public_bins("recursive-medians", k, 558) for k in (10, 7)] == [1024, 128]
    assert curves.public_bins("laplace", 10, 558) == 8


def test_verdicts() -> None:
    assert judge(True, True) == HOLDS
    assert judge(True, False) == ONLY_UNSOUND
    assert judge(False, True) == FAILS
    assert Measured(0.9, 0.01).beats(Measured(0.8, 0.01))
    assert not Measured(0.9, 0.05).beats(Measured(0.8, 0.05))
    assert not Measured(0.9, 0.0).beats(Measured(0.8, 0.0), by=0.2)
    assert measured([0.5, 0.7]) == Measured(0.6, pytest.approx(0.1))
