"""F1 of selecting the words of many messages by a threshold on their total count, nothing public.

    TACIT_DATA=folder python benchmarks/selection.py [--quick] [--json] [--runs 50]

Words of the SMS set (two letters or more), threshold 100; and TWITTER. Beside the screening of ``ThresholdSelector``:
``CountSelector`` in two rounds and in one, the exponential mechanism's top k and the sparse vector technique (which are
told the true number of words), and clusters of private counts. With ``--json`` the last line is a flat object of
ratios, screening over the goal and over the best of the others, larger is better. ``--wide`` compares screening and two
rounds at other thresholds, budgets and texts instead.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

import tacit
from tacit.data import datasets

THRESHOLD = 100
WIDE = {
    "SMS": [(50, 0.2), (50, 0.5), (200, 0.2), (200, 0.5), (100, 1.0)],
    "TWITTER": [(50, 0.5), (200, 0.2), (100, 1.0)],
    "30,000 tweets": [(300, 0.2), (1000, 0.2)],
    "120,000 tweets": [(300, 0.1), (300, 0.2), (1000, 0.1)],
    "REUTERS": [(100, 0.5), (300, 0.5), (1000, 0.2)],
}
SETS = {
    "SMS": datasets.load_sms,
    "TWITTER": lambda: datasets.load_twitter("paper"),
    "30,000 tweets": lambda: datasets.load_twitter(30_000),
    "120,000 tweets": lambda: datasets.load_twitter(120_000),
    "REUTERS": datasets.load_reuters,
}
GOALS = {0.2: 0.60, 0.5: 0.85}


def f1(chosen: Any, true: Any) -> float:
    return 2 * int((chosen & true).sum()) / max(1, int(chosen.sum()) + int(true.sum()))


def measure(make: Callable[[int], Any], matrix: Any, true: Any, runs: int) -> tuple[float, float]:
    """Return the mean F1 and its standard error."""
    labels = np.zeros(matrix.shape[0], dtype=int)
    found = [f1(make(seed).fit(matrix, labels).get_support(), true) for seed in range(runs)]
    return float(np.mean(found)), float(np.std(found) / np.sqrt(runs))


def adaptive(threshold: float, epsilon: float) -> dict[str, Callable[[int], Any]]:
    return {
        "screening": lambda s: tacit.ThresholdSelector(threshold, None, epsilon=epsilon, random_state=s),
        "two rounds": lambda s: tacit.CountSelector(threshold=threshold, rounds=2, epsilon=epsilon, random_state=s),
    }


def ways(epsilon: float, size: int) -> dict[str, Callable[[int], Any]]:
    common: dict[str, Any] = {"epsilon": epsilon}
    return adaptive(THRESHOLD, epsilon) | {
        "one round": lambda s: tacit.CountSelector(threshold=THRESHOLD, random_state=s, **common),
        "top k": lambda s: tacit.TopKSelector(size, method="one-shot", random_state=s, **common),
        "sparse vector": lambda s: tacit.ThresholdSelector(THRESHOLD, size, random_state=s, **common),
        "clusters": lambda s: tacit.ClusterSelector(THRESHOLD, random_state=s, **common),
    }


def words(name: str) -> tuple[Any, Any]:
    """Return which texts have which words, and in how many texts each word is."""
    matrix = CountVectorizer(binary=True).fit_transform(SETS[name]().texts.to_list())
    return matrix, np.asarray(matrix.sum(axis=0)).ravel()


def compare_widely(runs: int) -> None:
    for name, cases in WIDE.items():
        matrix, counts = words(name)
        for threshold, epsilon in cases:
            for label, make in adaptive(threshold, epsilon).items():
                mean, error = measure(make, matrix, counts >= threshold, runs)
                print(f"{name}, τ = {threshold}, ε = {epsilon}: {label:<10} F1 {mean:.3f} ± {error:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="F1 of selection by a threshold on the total count.")
    parser.add_argument("--quick", action="store_true", help="SMS alone, five runs")
    parser.add_argument("--json", action="store_true", help="last line: ratios as JSON")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--wide", action="store_true", help="other thresholds, budgets and texts")
    options = parser.parse_args()
    runs = 5 if options.quick else options.runs
    if options.wide:
        compare_widely(runs)
        return
    ratios: dict[str, float] = {}
    for name in ("SMS",) if options.quick else ("SMS", "TWITTER"):
        matrix, counts = words(name)
        true = counts >= THRESHOLD
        print(f"{name}: {matrix.shape[0]:,} rows, {true.sum()} of {matrix.shape[1]:,} words reach {THRESHOLD}")
        for epsilon, goal in GOALS.items():
            found = {}
            for label, make in ways(epsilon, int(true.sum())).items():
                slow = label in ("clusters", "one round")
                mean, error = measure(make, matrix, true, max(5, runs // 10) if slow else runs)
                found[label] = mean
                print(f"  ε = {epsilon}: {label:<14} F1 {mean:.3f} ± {error:.3f}", flush=True)
            ours = found.pop("screening")
            ratios[f"{name.lower()}_goal_{epsilon}"] = round(ours / goal, 3)
            ratios[f"{name.lower()}_others_{epsilon}"] = round(ours / max(1e-3, *found.values()), 3)
    if options.json:
        print(json.dumps(ratios))


if __name__ == "__main__":
    main()
