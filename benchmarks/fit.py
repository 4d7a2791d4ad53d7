"""Time and memory of fitting, beside scikit-learn without privacy.

    TACIT_DATA=folder python benchmarks/fit.py [--quick] [--json]

Raw tweets to a model: ours beside ``make_pipeline(HashingVectorizer(binary=True), BernoulliNB())``; a CSR matrix of
10⁶ rows with 10⁷ ones: ours beside ``BernoulliNB``; and logistic regression on 5,000 rows of 5,000 features. Best of
three runs on the same cores; ``--quick`` runs texts once and the others twice, on as many rows, since with fewer the
noise, whose cost does not depend on them, would be most of the time. With ``--json`` the last line is a flat object of
ratios, scikit-learn's time over ours.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

import tacit
from tacit.data import datasets


def best(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest time of several runs."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def ones_matrix(rows: int, features: int, ones: int) -> sp.csr_array:
    """Return a matrix with ``ones`` ones in each row, drawn with frequencies that fall like Zipf's."""
    rng = np.random.default_rng(0)
    places = (features ** rng.random((rows, ones)) - 1).astype(np.int32)
    matrix = sp.csr_array((np.ones(rows * ones), places.ravel(), np.arange(rows + 1) * ones), shape=(rows, features))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def report(name: str, ours: float, theirs: float, ratios: dict[str, float]) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ratios[name] = round(theirs / ours, 3)
    times = f"ours {ours:7.2f} s   scikit-learn {theirs:7.2f} s   ratio {theirs / ours:5.2f}"
    print(f"{name:<16} {times}   peak {peak:,.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory of fitting, beside scikit-learn.")
    parser.add_argument("--quick", action="store_true", help="one run on texts, two on matrices")
    parser.add_argument("--json", action="store_true", help="last line: ratios as JSON")
    options = parser.parse_args()
    for_texts, repeats = (1, 2) if options.quick else (3, 3)
    ratios: dict[str, float] = {}

    tweets = datasets.load_twitter(400_000)
    texts, labels = tweets.texts, np.asarray(tweets.labels)
    listed = texts.to_list()
    pipeline = make_pipeline(HashingVectorizer(binary=True, norm=None, alternate_sign=False), BernoulliNB())
    ours = best(lambda: tacit.TextClassifier(1.0).fit(listed, labels), for_texts)
    report("text_fit", ours, best(lambda: pipeline.fit(listed, labels), for_texts), ratios)

    matrix = ones_matrix(1_000_000, 30_000, 10)
    classes = np.random.default_rng(1).integers(0, 2, matrix.shape[0])
    ours = best(lambda: tacit.BernoulliNB(1.0).fit(matrix, classes), repeats)
    report("csr_fit", ours, best(lambda: BernoulliNB().fit(matrix, classes), repeats), ratios)

    small = ones_matrix(5_000, 5_000, 20)
    classes = (np.asarray(small[:, :50].sum(axis=1)).ravel() > 7).astype(int)
    ours = best(lambda: tacit.LogisticRegression(1.0).fit(small, classes), repeats)
    theirs = best(lambda: LogisticRegression(max_iter=1000).fit(small, classes), repeats)
    report("logistic_fit", ours, theirs, ratios)
    if options.json:
        print(json.dumps(ratios))


if __name__ == "__main__":
    main()
