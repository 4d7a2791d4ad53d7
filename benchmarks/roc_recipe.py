"""Private ROC curves beside those of the simpler recipe that our goals were measured with, on the very same test sets.

    TACIT_DATA=folder python benchmarks/roc_recipe.py [--quick] [--json] [--runs 225] [--sets SHAPES,SMS]

The recipe, written anew from its description: 5 % of ε for class totals, 15 % for recursive medians on a warped axis,
80 % for counts by class and bin; a smooth curve is fitted by least squares, and what is left is shrunk on a dyadic
tree. It is simulated with noise from numpy, not released: nothing of it is part of the library. Figures are median
areas to the test set's curve, in 1e-4, and the goal is moved by what the recipe has here and had where goals were set:
so goals can be held against other shapes. ``--json``: the last line is a flat object of ratios, recipe ÷ ours, larger
is better.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares
from scipy.special import logit, ndtr, ndtri

sys.path.insert(0, str(Path(__file__).parent))
from roc_accuracy import EPSILONS, MIDDLES, SETS, TestSet, Truth, exact_curve, populations, private_curve
from support.roc_sets import Floats

# What the recipe had where the goals were set: the same test sets, but other shapes.
THEN = {
    "SHAPES 299+385": (97, 147, 250, 416),
    "SHAPES 481+77": (221, 317, 453, 833),
    "TWITTER 385+299": (100, 151, 264, 432),
    "TWITTER 5000+5000": (13, 16, 25, 43),
    "TWITTER 46500+46500": (3, 4, 6, 9),
    "SMS 481+77 of AUC 0.996": (26, 37, 37, 55),
}
TOTALS, CUTS, COUNTS = 0.05, 0.15, 0.80
AXIS = 4096  # places for cuts
WAVES = 5
STARTS = (1.1, 3.2)


def depth_of(totals: Floats, epsilon: float) -> int:
    """How often all intervals are cut in two."""
    if totals.sum() * epsilon < 100:
        return 2
    strength = 4 * totals.prod() * epsilon / totals.sum()
    return 3 + int(np.searchsorted([1_200, 5_000, 25_000], strength, side="right"))


def places(scores: Floats, rng: np.random.Generator) -> Floats:
    """Scores on an axis where those that crowd at 0 and 1 are spread out."""
    with np.errstate(divide="ignore"):
        inner = 0.04 + 0.92 * (scores / 2 + (0.5 + np.arctan(logit(scores) / 4) / np.pi) / 2)
    jitter = 0.04 * rng.random(len(scores))
    return np.where(scores <= 0, jitter, np.where(scores >= 1, 0.96 + jitter, inner))


def chosen_cuts(cells: list[Floats], totals: Floats, depth: int, epsilon: float, rng: np.random.Generator) -> Floats:
    """Recursive medians by the exponential mechanism, ends of the axis included."""
    small = np.sqrt(max(totals.min() / totals.max(), 0.02))
    weights = np.where(totals == totals.min(), 1.0, small)
    running = np.cumsum(weights @ np.stack(cells))
    cuts = np.array([0, AXIS])
    for _ in range(depth):
        new = []
        for low, high in itertools.pairwise(cuts):
            if high - low < 2:
                new.append(low)
                continue
            inner = np.arange(low + 1, high)
            x = (inner - low) / (high - low)
            before = running[low - 1] if low else 0.0
            gap = np.abs(2 * running[inner - 1] - before - running[high - 1])
            logs = np.log(0.5 * 630 * (x * (1 - x)) ** 4 + 0.5) - epsilon / depth * gap / 2
            new.append(int(inner[np.argmax(logs + rng.gumbel(size=len(inner)))]))
        cuts = np.sort(np.concatenate([cuts, new]))
    return cuts


def noise(epsilon: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Discrete Laplace noise."""
    p = 1 - np.exp(-epsilon)
    return (rng.geometric(p, shape) - rng.geometric(p, shape)).astype(float)


@dataclass(frozen=True, slots=True)
class Fit:
    """The smooth curve: rates at cuts that ascend on a latent axis."""

    separation: float
    spread: float
    waves: Floats
    cuts: Floats

    @classmethod
    def of(cls, parameters: Floats) -> Fit:
        d, log_spread, waves = parameters[0], parameters[1], parameters[2 : 2 + WAVES]
        middle, gaps = parameters[2 + WAVES], np.exp(np.clip(parameters[3 + WAVES :], -8, 4))
        gaps = gaps * max(d + 3, 0.5) / (len(gaps) + 2)
        cuts = np.concatenate([[0.0], np.cumsum(gaps)])
        return cls(d, float(np.exp(log_spread)), waves, middle + cuts - cuts.mean())

    def shares(self) -> Floats:
        """Shares of negatives and positives in the bins, from the lowest scores up."""
        c, k = self.cuts, np.arange(1, WAVES + 1)
        u = np.clip((c + 3) / (self.separation + 3 + 3 * self.spread), 0, 1)
        line = (self.separation - c) / self.spread + np.cos(np.pi * np.outer(u, k)) @ self.waves
        above = np.stack([ndtr(-c), ndtr(line)])
        return np.maximum(-np.diff(above, axis=1, prepend=1.0, append=0.0), 1e-9)


def fitted(counts: Floats, totals: Floats, epsilon: float) -> Fit:
    """Levenberg–Marquardt from two separations, reweighted once."""
    bins, variance = counts.shape[1], np.full(counts.shape, 2 / epsilon**2) + np.maximum(counts, 1.0)

    def residuals(parameters: Floats) -> Floats:
        fit = Fit.of(parameters)
        expected = fit.shares() * totals[:, None]
        priors = [(fit.separation - 2) / 1.5, parameters[1] / 0.3, (parameters[2 + WAVES] - fit.separation / 2) / 2]
        waves = fit.waves * np.arange(1, WAVES + 1) / 0.2
        off = (counts - expected) / np.sqrt(variance)
        return np.concatenate([off.ravel(), priors, waves, parameters[3 + WAVES :]])

    found = []
    for d in STARTS:
        start = np.zeros(1 + WAVES + bins)
        start[0], start[2 + WAVES] = d, d / 2
        found.append(least_squares(residuals, start, max_nfev=40, x_scale=1.0))
    best = min(found, key=lambda one: one.cost).x
    variance = 2 / epsilon**2 + Fit.of(best).shares() * totals[:, None]
    return Fit.of(least_squares(residuals, best, max_nfev=40).x)


def shrunk(rest: Floats, expected: Floats, epsilon: float) -> Floats:
    """What counts of one class have beyond the fit, shrunk on a dyadic tree: children add up to their parent."""
    levels = [(rest, expected)]
    while len(levels[-1][0]) > 1:
        levels.append(tuple(part[::2] + part[1::2] for part in levels[-1]))  # type: ignore[arg-type]
    parent: Floats | None = None
    for step, (off, mean) in enumerate(reversed(levels)):
        prior = mean + (0.15 * mean) ** 2
        sound = 2 / epsilon**2 * len(rest) / 2**step
        found = prior / (prior + sound) * off
        if parent is not None:
            left = prior * sound / (prior + sound)
            both = np.repeat(left[::2] + left[1::2], 2)
            found += left / both * np.repeat(parent - found[::2] - found[1::2], 2)
        parent = found
    assert parent is not None
    return np.maximum(expected + parent, 0.1 * expected)


def curve_of(fit: Fit, counts: Floats) -> Floats:
    """Rates at the middles: straight on probit paper between knots, and with the fit's slope beyond them."""
    rates = np.cumsum(counts[:, ::-1], axis=1) / counts.sum(axis=1, keepdims=True)
    rates = np.clip(rates[:, :-1], 1e-9, 1 - 1e-9)
    (x, y), z = ndtri(rates), ndtri(MIDDLES)
    x = np.maximum.accumulate(x + 1e-9 * np.arange(len(x)))
    inner = np.interp(z, x, y)
    inner = np.where(z < x[0], y[0] + (z - x[0]) / fit.spread, inner)
    inner = np.where(z > x[-1], y[-1] + (z - x[-1]) / fit.spread, inner)
    return np.maximum.accumulate(ndtr(inner))


def recipe_curve(drawn: list[Floats], epsilon: float, rng: np.random.Generator) -> Floats:
    """True-positive rates at the middles by the whole recipe."""
    cells = [np.bincount((places(part, rng) * AXIS).astype(int).clip(0, AXIS - 1), minlength=AXIS) for part in drawn]
    sizes = np.array([len(part) for part in drawn])
    totals = np.maximum(sizes + noise(TOTALS * epsilon, (2,), rng), 1.0)
    depth, rate = depth_of(totals, epsilon), COUNTS * epsilon
    cuts = chosen_cuts(cells, totals, depth, CUTS * epsilon, rng)
    counts = np.stack([np.add.reduceat(np.append(part, 0), cuts[:-1]) for part in cells]).astype(float)
    counts[:, np.diff(cuts) == 0] = 0.0
    counts += noise(rate, counts.shape, rng)
    own, bins = counts.sum(axis=1), counts.shape[1]
    trust = (1 / TOTALS**2) / (1 / TOTALS**2 + bins / COUNTS**2)  # in the counts' own sums, by inverse variance
    merged = np.maximum(trust * own + (1 - trust) * totals, 1.0)
    counts += ((merged - own) / bins)[:, None]
    fit = fitted(counts, merged, rate)
    expected = fit.shares() * merged[:, None]
    best = np.stack([shrunk(a - b, b, rate) for a, b in zip(counts, expected, strict=True)])
    return curve_of(fit, best)


def one_run(test: TestSet, truth: Truth, epsilon: float, rng: np.random.Generator) -> list[float]:
    """Errors of the recipe and of the default."""
    drawn = test.drawn(truth.scores, rng, replace=False)
    curve, exact = private_curve(drawn, epsilon, rng), np.interp(MIDDLES, *exact_curve(*drawn))
    both = recipe_curve(drawn, epsilon, rng), np.interp(MIDDLES, curve.fpr, curve.tpr)
    return [1e4 * float(np.abs(rates - exact).mean()) for rates in both]


def table(sets: list[TestSet], epsilons: tuple[float, ...], runs: int) -> Iterator[tuple[str, float]]:
    """Print the table; yield names and ratios."""
    print(
        f"{'test set':>26}  {'ε':>5}  {'recipe':>15} {'ours':>15}  {'goal':>5} {'goal moved':>10}   (standard errors)"
    )
    known = {source: populations(source) for source in dict.fromkeys(test.source for test in sets)}
    for test in sets:
        truths = known[test.source]
        for epsilon in epsilons if truths else ():
            rng, each = np.random.default_rng([5, test.negatives, round(1000 * epsilon)]), -(-runs // len(truths))
            found = np.array([[one_run(test, truth, epsilon, rng) for _ in range(each)] for truth in truths])
            theirs, ours = np.median(found, axis=1).mean(axis=0)
            again = [np.median(found[:, rng.integers(0, each, each)], axis=1).mean(axis=0) for _ in range(100)]
            error, goal = np.std(again, axis=0), test.goals[EPSILONS.index(epsilon)]
            moved = goal * theirs / THEN[test.name][EPSILONS.index(epsilon)]
            row = f"{test.name:>26}  {epsilon:5g}  {theirs:7.1f} ({error[0]:5.1f}) {ours:7.1f} ({error[1]:5.1f})"
            print(f"{row}  {goal:5g} {moved:10.1f}", flush=True)
            yield f"recipe_{test.name.replace(' ', '_')}_eps{epsilon:g}", float(theirs / ours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one test set, one ε and few runs")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--runs", type=int, default=225, help="runs of each cell, spread over the shapes")
    parser.add_argument(
        "--sets", default="SHAPES,TWITTER,SMS", help="names of populations; default: SHAPES,TWITTER,SMS"
    )
    options = parser.parse_args()
    sets = [test for test in SETS if test.source in options.sets.split(",") and test.goals]
    found = table(sets[:1], EPSILONS[:1], 27) if options.quick else table(sets, EPSILONS, options.runs)
    ratios = dict(found)
    if options.json:
        print(json.dumps({name: round(ratio, 3) for name, ratio in ratios.items()}))


if __name__ == "__main__":
    main()
