"""How far private ROC curves are from the true ones: median area between them, and how often bands hold.

Nine made-up shapes at several sizes. The peer is a fair curve
drawn without looking at the data: one fixed binormal curve of AUC 0.85. ``--json``: the last line is a flat object of
ratios, peer ÷ ours, larger is better.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri
from sklearn import metrics

import tacit

EPSILONS = (1.0, 0.5, 0.25, 0.1)
SIZES = {"299 + 385": (299, 385), "481 + 77": (481, 77), "5000 + 5000": (5000, 5000), "5000 + 100": (5000, 100)}
MIDDLES = (np.arange(4000) + 0.5) / 4000

Case = tuple[str, NDArray[np.int64], NDArray[np.float64]]


def shapes(rng: np.random.Generator, n0: int, n1: int) -> Iterator[Case]:
    """Nine ways in which scores of two classes can lie: AUC from 0.5 to 0.98."""
    y = np.repeat([0, 1], [n0, n1])

    def made(name: str, negatives: NDArray[np.float64], positives: NDArray[np.float64]) -> Case:
        return name, y, np.concatenate([negatives, positives])

    def normal(n: int) -> NDArray[np.float64]:
        return rng.standard_normal(n)

    yield made("chance", expit(normal(n0)), expit(normal(n1)))
    yield made("weak", expit(normal(n0)), expit(normal(n1) + 0.7))
    yield made("middling", expit(2 * normal(n0) - 1), expit(2 * normal(n1) + 1.4))
    yield made("good", expit(3 * normal(n0) - 3), expit(3 * normal(n1) + 3))
    yield made("strong", expit(4 * normal(n0) - 4), expit(4 * normal(n1) + 7.6))
    yield made("wide", expit(normal(n0)), expit(1.8 * normal(n1) + 1.5))
    yield made("narrow", expit(normal(n0)), expit(0.5 * normal(n1) + 0.8))
    yield made("mixed", expit(normal(n0)), expit(normal(n1) + 3 * (rng.random(n1) < 0.5)))
    hard = rng.random(n0) < 0.3
    yield made("hard", rng.beta(np.where(hard, 5, 1), np.where(hard, 2, 6)), rng.beta(5, 2, n1))


def error(fpr: NDArray[np.float64], tpr: NDArray[np.float64], y: NDArray[np.int64], s: NDArray[np.float64]) -> float:
    """Area between a curve and the true one, in units of 1e-4."""
    true_f, true_t, _ = metrics.roc_curve(y, s, drop_intermediate=False)
    return float(np.abs(np.interp(MIDDLES, fpr, tpr) - np.interp(MIDDLES, true_f, true_t)).mean() * 1e4)


def measure(size: tuple[int, int], epsilon: float, runs: int) -> dict[str, float]:
    """Mean over the shapes of the median error, and coverage of the population."""
    rng = np.random.default_rng(1)
    truths = {}
    for name, y, s in shapes(np.random.default_rng(2), 200_000, 200_000):
        fpr, tpr, _ = metrics.roc_curve(y, s)
        truths[name] = np.interp(MIDDLES, fpr, tpr), metrics.auc(fpr, tpr)
    found: dict[str, list[list[float]]] = {}
    guess = ndtr(ndtri(MIDDLES) + 1.47)
    for _ in range(runs):
        for name, y, s in shapes(rng, *size):
            curve = tacit.roc_curve(y, s, epsilon=epsilon, random_state=int(rng.integers(2**40)))
            low, high = (np.interp(MIDDLES, curve.fpr, side) for side in curve.band())
            truth, area = truths[name]
            first, last = curve.auc_interval()
            row = [
                error(curve.fpr, curve.tpr, y, s),
                error(MIDDLES, guess, y, s),
                float(((low <= truth) & (truth <= high))[4:-4].all()),
                float(first <= area <= last),
                float((high - low).mean()),
            ]
            found.setdefault(name, []).append(row)
    medians = np.mean([np.median(rows, axis=0) for rows in found.values()], axis=0)
    means = np.mean([np.mean(rows, axis=0) for rows in found.values()], axis=0)
    names = ("error", "guess", "band", "interval", "width")
    return dict(zip(names, [*medians[:2].tolist(), *means[2:].tolist()], strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two sizes and few runs")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--runs", type=int, default=25, help="runs of each of the nine shapes")
    options = parser.parse_args()
    sizes = dict(list(SIZES.items())[:2]) if options.quick else SIZES
    epsilons = (1.0, 0.1) if options.quick else EPSILONS
    ratios = {}
    print(f"{'sizes':>12}  {'ε':>5}  {'error':>7}  {'guess':>7}  {'band holds':>10}  {'AUC held':>8}  {'width':>6}")
    for name, size in sizes.items():
        for epsilon in epsilons:
            row = measure(size, epsilon, 3 if options.quick else options.runs)
            ratios[f"area_{name.replace(' ', '')}_eps{epsilon:g}"] = row["guess"] / row["error"]
            print(
                f"{name:>12}  {epsilon:5g}  {row['error']:7.0f}  {row['guess']:7.0f}  {row['band']:10.3f}  "
                f"{row['interval']:8.3f}  {row['width']:6.3f}",
                flush=True,
            )
    if options.json:
        print(json.dumps({name: round(ratio, 3) for name, ratio in ratios.items()}))


if __name__ == "__main__":
    main()
