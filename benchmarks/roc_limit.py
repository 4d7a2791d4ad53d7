"""How near to each other a private ROC curve and the true one can be: a limit for releases of noisy counts in bins.

    TACIT_DATA=folder python benchmarks/roc_limit.py [--quick] [--json] [--sets SHAPES,TWITTER]

Everything is made as easy as can be: thresholds cost nothing and stand at the best places, all of ε is for the counts,
and the reader knows the law of the curve up to a shift and a slope on probit paper. Then rows scatter around that law,
counts are rows plus noise, and the best guess of the test set's curve is a linear one, whose mean error is computed,
not simulated. The number of bins is the best one. Where noise is large beside a class (ε·n below about 30) a linear
guess is not the best one, and the figure is no limit: it is put in brackets. ``roc_accuracy.py`` measures what the
default reaches. ``--json``: the last line is a flat object of ratios, goal ÷ limit; below 1 no such release gets there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import ndtri

sys.path.insert(0, str(Path(__file__).parent))
from roc_accuracy import EPSILONS, SETS, TestSet, populations
from support.roc_sets import Floats, Population

FINE = 512  # cells in which rows are told apart
BINS = (2, 4, 8, 16, 32, 64, 128)
SHIFT, SLOPE, SIZE = 1.5, 0.3, 3.0  # how little is known of a curve's place and slope, and of class sizes (logarithm)
FEWEST = 30.0  # rows of the smaller class times ε


def fine_rates(scores: Population, test: TestSet) -> tuple[Floats, Floats]:
    """Both rates at cells of equal weight, a class weighing as the root of its size: as thresholds are balanced."""
    sizes = np.array([test.negatives, test.positives])
    weights = np.sqrt(sizes.min() / sizes) * sizes / [len(part) for part in scores]
    every = np.concatenate(scores)
    order = np.argsort(-every, kind="stable")
    weight = np.repeat(weights, [len(part) for part in scores])[order]
    positive = np.repeat([False, True], [len(part) for part in scores])[order]
    ends = np.searchsorted(np.cumsum(weight), np.arange(1, FINE) / FINE * weight.sum())
    rates = [np.cumsum(one)[ends] / one.sum() for one in (~positive, positive)]
    fpr, tpr = (np.concatenate([[0.0], rate, [1.0]]) for rate in rates)
    return fpr, tpr


def limit(fpr: Floats, tpr: Floats, test: TestSet, epsilon: float, bins: int) -> float:
    """The mean area between the best guess and the test set's curve, in 1e-4."""
    sizes, fine = np.array([test.negatives, test.positives], float), len(fpr) - 1
    shares = np.diff(np.stack([fpr, tpr]), axis=1)
    rows = (sizes[:, None] * shares).ravel()
    z, probit = (ndtri(np.clip(rate[1:-1], 1e-6, 1 - 1e-6)) for rate in (fpr, tpr))
    density = np.exp(-(probit**2) / 2) / np.sqrt(2 * np.pi)
    unknown = [_moved(change, sizes[1]) for change in (SHIFT * density, SLOPE * density * (z - z.mean()))]
    unknown += list(SIZE * np.kron(np.eye(2), np.ones(fine)) * rows)
    unknown += [_crossing(rows.reshape(2, fine), cut * fine // bins, bins) for cut in range(1, bins)]
    prior = np.diag(rows) + np.transpose(unknown) @ np.array(unknown)
    seen = np.kron(np.eye(2 * bins), np.ones(fine // bins))
    gain = np.linalg.solve(seen @ prior @ seen.T + 2 / epsilon**2 * np.eye(2 * bins), seen @ prior)
    left = prior - prior @ seen.T @ gain
    slopes = np.gradient(tpr[1:-1]) / np.maximum(np.gradient(fpr[1:-1]), 1e-9)
    running = np.tril(np.ones((fine, fine)))[:-1]
    false, true = ((running - rate[1:-1, None]) / size for rate, size in zip((fpr, tpr), sizes, strict=True))
    aside = np.concatenate([-slopes[:, None] * false, true], axis=1)
    spread = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", aside, left, aside, optimize=True), 0))
    return float(1e4 * np.sqrt(2 / np.pi) * (spread * np.gradient(fpr[1:-1])).sum())


def _moved(change: Floats, positives: float) -> Floats:
    """Positives in each cell where true-positive rates change by so much; negatives stay."""
    return np.concatenate([np.zeros(len(change) + 1), positives * np.diff(change, prepend=0.0, append=0.0)])


def _crossing(rows: Floats, cut: int, bins: int) -> Floats:
    """Rows of both classes that cross a cut together: where on the curve it stands is not known."""
    change = np.zeros_like(rows)
    change[:, cut - 1], change[:, cut] = rows[:, cut], -rows[:, cut]
    return np.asarray(rows.shape[1] / bins / 2 * change.ravel())


def table(sets: list[TestSet], epsilons: tuple[float, ...]) -> Iterator[tuple[str, float]]:
    """Print limits beside goals; yield names and ratios."""
    print(f"{'test set':>26}  {'ε':>5}  {'limit':>7} {'bins':>5}  {'goal':>5}")
    known = {source: populations(source) for source in dict.fromkeys(test.source for test in sets)}
    for test in sets:
        curves = [fine_rates(truth.scores, test) for truth in known[test.source]]
        for epsilon, goal in zip(epsilons if curves else (), test.goals, strict=False):
            found = [min((limit(*curve, test, epsilon, bins), bins) for bins in BINS) for curve in curves]
            error, bins = np.mean(found, axis=0)
            sure = epsilon * min(test.negatives, test.positives) >= FEWEST
            shown = f"{error:.1f}" if sure else f"({error:.0f})"
            print(f"{test.name:>26}  {epsilon:5g}  {shown:>7} {bins:5.0f}  {goal:5g}", flush=True)
            yield f"goal_{test.name.replace(' ', '_')}_eps{epsilon:g}", float(goal / error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one test set and one ε")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--sets", default="SHAPES,TWITTER", help="names of populations; default: SHAPES,TWITTER")
    options = parser.parse_args()
    sets = [test for test in SETS if test.source in options.sets.split(",") and test.goals]
    ratios = dict(table(sets[:1], EPSILONS[:1]) if options.quick else table(sets, EPSILONS))
    if options.json:
        print(json.dumps({name: round(ratio, 3) for name, ratio in ratios.items()}))


if __name__ == "__main__":
    main()
