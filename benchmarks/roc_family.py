"""The paper's family of private ROC curves in sound form, beside the default: median area to the true curve.

    TACIT_DATA=folder python benchmarks/roc_family.py [--quick] [--json] [--sets SMS,TWITTER] [--runs 100]

Test sets of the paper's sizes: SMS (481 + 77) and TWITTER (385 + 299), scored by Naive Bayes on words, trained on the
rest. Each method is counted in each layout, with the number of bins that it takes by itself. With ``--json`` the last
line is a flat object of ratios, error of the method ÷ error of the default: larger is better for the default.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

import tacit
from tacit.data import datasets

EPSILONS = (1.0, 0.5, 0.25, 0.1)
METHODS = ("laplace", "fixed-space", "recursive-medians")
COUNTS = ("cumulative", "cells", "tree", "privelet")
MIDDLES = (np.arange(4000) + 0.5) / 4000

TestSet = tuple[NDArray[np.int64], NDArray[np.float64]]


def test_set(data: Any, sizes: tuple[int, int]) -> TestSet:
    """Labels and scores of so many negatives and positives, drawn at random, by a model of all other rows."""
    rng, labels, texts = np.random.default_rng(0), np.asarray(data.labels), np.array(data.texts.to_list(), dtype=object)
    drawn = [rng.choice(np.flatnonzero(labels == label), size, replace=False) for label, size in enumerate(sizes)]
    test = np.concatenate(drawn)
    rest = np.setdiff1d(np.arange(len(labels)), test)
    model = make_pipeline(CountVectorizer(binary=True), BernoulliNB()).fit(texts[rest], labels[rest])
    return labels[test], model.predict_proba(texts[test])[:, 1]


def error(curve: Any, truth: NDArray[np.float64]) -> float:
    """Area between a curve and the true one, in units of 1e-4."""
    return float(np.abs(np.interp(MIDDLES, curve.fpr, curve.tpr) - truth).mean() * 1e4)


def measure(test: TestSet, epsilon: float, runs: int, **options: Any) -> float:
    """Median error over runs."""
    y, s = test
    fpr, tpr, _ = metrics.roc_curve(y, s, drop_intermediate=False)
    truth = np.interp(MIDDLES, fpr, tpr)
    curves = (tacit.roc_curve(y, s, epsilon=epsilon, random_state=seed, **options) for seed in range(runs))
    return float(np.median([error(curve, truth) for curve in curves]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two budgets, few runs, two layouts")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--runs", type=int, default=100, help="runs of each curve")
    parser.add_argument("--sets", default="SMS,TWITTER")
    options = parser.parse_args()
    runs, epsilons = (3, (1.0, 0.1)) if options.quick else (options.runs, EPSILONS)
    layouts = COUNTS[::3] if options.quick else COUNTS
    known = {
        "SMS": lambda: test_set(datasets.load_sms(), (481, 77)),
        "TWITTER": lambda: test_set(datasets.load_twitter("paper"), (299, 385)),
    }
    sets = {name: known[name]() for name in options.sets.split(",")}
    ratios: dict[str, float] = {}
    print(f"{'set':>8}  {'method':>18}  {'counts':>10}  " + "  ".join(f"ε = {epsilon:<5g}" for epsilon in epsilons))
    for name, test in sets.items():
        ours = [measure(test, epsilon, runs) for epsilon in epsilons]
        print(f"{name:>8}  {'default':>18}  {'':>10}  " + "  ".join(f"{found:9.0f}" for found in ours), flush=True)
        for method in METHODS:
            for counts in layouts:
                theirs = [measure(test, epsilon, runs, method=method, counts=counts) for epsilon in epsilons]
                row = "  ".join(f"{found:9.0f}" for found in theirs)
                print(f"{name:>8}  {method:>18}  {counts:>10}  {row}", flush=True)
                for epsilon, a, b in zip(epsilons, theirs, ours, strict=True):
                    ratios[f"area_{name}_{method}_{counts}_eps{epsilon:g}"] = round(a / b, 3)
    if options.json:
        print(json.dumps(ratios))


if __name__ == "__main__":
    main()
