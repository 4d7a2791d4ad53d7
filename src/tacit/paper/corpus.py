"""The paper's data sets as binary matrices, with folds, cut rows and exact counts: all in the open, for research.

Two matrices a set. ``words`` has a column for every word that occurs in the data, as the paper does it: the columns
themselves tell which words there are, so what is computed on it is not private. ``hashed`` has 2^14 public buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from tacit.data import datasets, published
from tacit.errors import bad_parameter

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

BUCKETS = 2**14
STOP_WORDS = "english"  # scikit-learn's list; the paper does not name its own
FOLDS = 10
CLAIMED_ONES = 20
"""The paper's s: "each tweet contained at most 20 non-stop words". Rows with more are not cut in what is as written."""

SETS = ("TWITTER", "SMS", "REUTERS")
PAPER_FEATURES = {"TWITTER": 32_935, "SMS": 8_021, "REUTERS": 33_389}


@dataclass(frozen=True, eq=False)
class Corpus:
    """A data set with its two matrices."""

    name: str
    words: sp.csr_array
    hashed: sp.csr_array
    labels: Whole
    source: datasets.Dataset
    """The data set with its texts or columns, for tacit's own classifiers."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @property
    def majority(self) -> float:
        """Accuracy of the classifier that always says the more frequent label."""
        share = float(self.labels.mean())
        return max(share, 1 - share)


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold: exact counts of its training rows, and its test rows, which are never cut."""

    ones: Floats
    """Training rows by label that have each feature; from cut rows if these were asked for."""
    sizes: Floats
    train: Whole
    test: Whole
    test_rows: sp.csr_array


FILES = {
    "TWITTER": (published.TWEETS,),
    "SMS": (published.SMS,),
    "ADULT": (published.ADULT["train"], published.A9A["train"]),
}


def check_files(names: Iterable[str], folder: str | None) -> None:
    """Raise the error that names a missing or wrong file, before anything is computed."""
    for name in names:
        if name == "REUTERS":
            published.read_articles(folder)  # an archive, checked by its members
        for file in FILES.get(name, ()):
            published.read(file, folder)


@lru_cache(maxsize=4)
def load(name: str, folder: str | None = None) -> Corpus:
    """Load a data set of the paper and make its matrices."""
    if name == "ADULT":
        matrix = sp.csr_array(datasets.load_adult("train", "binary", folder=folder).matrix.astype(np.float64))
        source = datasets.load_adult("train", "raw", folder=folder)
        return Corpus(name, matrix, matrix, np.asarray(source.labels), source)
    loaders: dict[str, Any] = {
        "TWITTER": lambda: datasets.load_twitter("paper", folder=folder),
        "SMS": lambda: datasets.load_sms(folder=folder),
        "REUTERS": lambda: datasets.load_reuters("paper", folder=folder),
    }
    if name not in loaders:
        raise bad_parameter("tacit.paper", "data set", f"one of {(*loaders, 'ADULT')}", name)
    data = loaders[name]()
    texts = data.texts.to_list()
    words = CountVectorizer(stop_words=STOP_WORDS, binary=True, dtype=np.float64)
    buckets = HashingVectorizer(
        n_features=BUCKETS, stop_words=STOP_WORDS, binary=True, norm=None, alternate_sign=False, dtype=np.float64
    )
    return Corpus(
        name,
        sp.csr_array(words.fit_transform(texts)),
        sp.csr_array(buckets.transform(texts)),
        np.asarray(data.labels),
        data,
    )


def cut(rows: sp.csr_array, most: int, rng: np.random.Generator) -> sp.csr_array:
    """Keep at most so many ones of each row, drawn at random: the paper's sampling."""
    lengths = np.diff(rows.indptr)
    owner = np.repeat(np.arange(rows.shape[0]), lengths)
    order = np.lexsort((rng.random(rows.nnz), owner))
    place = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], lengths)
    kept = order[place < most]
    return sp.csr_array((rows.data[kept], (owner[kept], rows.indices[kept])), shape=rows.shape)


def parts(n: int, repeat: int) -> list[Whole]:
    """Test rows of the ten folds."""
    order = np.random.default_rng(repeat).permutation(n)
    return [np.sort(part) for part in np.array_split(order, FOLDS)]


def folds(corpus: Corpus, repeat: int, number: int, most: int) -> Iterator[Fold]:
    """Yield the first folds of a repeat, from rows cut to ``most`` ones; 0: not cut."""
    yield from _tables(corpus.name, repeat, most, corpus)[:number]


_KEPT: dict[tuple[str, int, int], list[Fold]] = {}
MOST_KEPT = 12


def _tables(name: str, repeat: int, most: int, corpus: Corpus) -> list[Fold]:
    """Count each fold once for all methods and draws of noise; the last few are kept."""
    key = (name, repeat, most)
    if key not in _KEPT:
        while len(_KEPT) >= MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT)))
        rows = corpus.words
        counted = cut(rows, most, np.random.default_rng([repeat, most])) if most else rows
        by_label = np.stack([corpus.labels == 0, corpus.labels == 1]).astype(np.float64)
        total, sizes = by_label @ counted, by_label.sum(axis=1)
        kept = []
        for test in parts(corpus.rows, repeat):
            train = np.setdiff1d(np.arange(corpus.rows), test, assume_unique=True)
            ones = total - by_label[:, test] @ counted[test]
            kept.append(Fold(ones, sizes - by_label[:, test].sum(axis=1), train, test, rows[test]))
        _KEPT[key] = kept
    return _KEPT[key]
