"""How far private ROC curves are from the true ones, how often their bands hold the population, and how wide they are.

    TACIT_DATA=folder python benchmarks/roc_accuracy.py [--quick] [--json] [--runs 225] [--sets REUTERS,ADULT]

Test sets are drawn from populations whose curve is known: nine made-up shapes, and scores of plain classifiers on
published sets (left out, and said so, where their files are not there); with ``--sets ODD`` thirteen shapes that are
hard for the model. Figures:

- error: median area between the private curve and that of a test set of different rows, in 1e-4; "guess" is that of
  one fixed curve of AUC 0.85 drawn without looking; "goal" is what we set out to reach. Where a name ends in "of
  AUC …", only test sets with such an area are taken: the goal was set on one;
- AUC, curve: of test sets drawn with replacement, how often the 95 % interval holds the population's AUC, and the 95 %
  band its whole curve between false positive rates of 0.001 and 0.999; and how wide they are on average.

Constants were fixed on made-up shapes and TWITTER (docs/measured/roc.md tells the exceptions). The full form has
17,100 runs, of about 0.15 s of processor time each. ``--json``: the last line is a flat object of ratios, guess ÷ ours,
larger is better.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import trapezoid
from scipy.special import ndtr, ndtri

import tacit
from tacit.data.datasets import DatasetError
from tacit.evaluation.curve import RocCurve

sys.path.insert(0, str(Path(__file__).parent))
from support.roc_sets import PUBLISHED, Floats, Population, odd_shapes, shapes

EPSILONS = (1.0, 0.5, 0.25, 0.1)
MADE_UP = {"SHAPES": shapes, "ODD": odd_shapes}
MIDDLES = (np.arange(4000) + 0.5) / 4000
INNER = slice(4, -4)
GUESS = ndtr(ndtri(MIDDLES) + 1.47)


@dataclass(frozen=True, slots=True)
class TestSet:
    """A population (or the nine shapes), how many negatives and positives are drawn, the goals, and of which area."""

    source: str
    negatives: int
    positives: int
    goals: tuple[float, ...] = ()
    areas: tuple[float, float] = (0.0, 1.0)

    @property
    def name(self) -> str:
        some = f" of AUC {sum(self.areas) / 2:.3f}" if self.areas != (0.0, 1.0) else ""
        return f"{self.source} {self.negatives}+{self.positives}{some}"

    def drawn(self, scores: Population, rng: np.random.Generator, *, replace: bool) -> list[Floats]:
        """Scores of negatives and of positives."""
        sizes = self.negatives, self.positives
        while True:
            found = [rng.choice(part, n, replace=replace) for part, n in zip(scores, sizes, strict=True)]
            if replace or self.areas[0] <= area_of(found) <= self.areas[1]:
                return found


SETS = (
    TestSet("SHAPES", 299, 385, (90, 120, 200, 370)),
    TestSet("SHAPES", 481, 77, (180, 250, 380, 650)),
    TestSet("SHAPES", 5000, 100),
    TestSet("SHAPES", 5000, 5000),
    TestSet("SHAPES", 40, 1960),
    TestSet("TWITTER", 385, 299, (90, 120, 170, 270)),
    TestSet("TWITTER", 5000, 5000, (11, 14, 22, 40)),
    TestSet("TWITTER", 46500, 46500, (2.5, 3.5, 5, 8)),
    TestSet("SMS", 481, 77, (26, 37, 37, 55), areas=(0.9954, 0.997)),
    TestSet("SMS", 481, 77),
    TestSet("SMS", 4800, 740),
    TestSet("REUTERS", 100, 100),
    TestSet("REUTERS", 20, 980),
    TestSet("REUTERS", 3000, 3000),
    TestSet("ADULT", 760, 240),
    TestSet("ADULT", 9800, 200),
    TestSet("ADULT", 12000, 3800),
    TestSet("DIABETES", 1776, 224),
    TestSet("DIABETES", 88840, 11160),
    TestSet("ODD", 1776, 224),
    TestSet("ODD", 5000, 5000),
)


@dataclass(frozen=True, slots=True)
class Truth:
    """A population, with its curve at the middles and its AUC."""

    scores: Population
    curve: Floats
    area: float


def exact_curve(negatives: Floats, positives: Floats) -> tuple[Floats, Floats]:
    """The ROC curve of scores, all ties as straight pieces."""
    values, places = np.unique(np.concatenate([negatives, positives]), return_inverse=True)
    parts = places[: len(negatives)], places[len(negatives) :]
    rates = [np.bincount(part, minlength=len(values))[::-1].cumsum() / len(part) for part in parts]
    return np.concatenate([[0.0], rates[0]]), np.concatenate([[0.0], rates[1]])


def area_of(scores: list[Floats] | Population) -> float:
    fpr, tpr = exact_curve(*scores)
    return float(trapezoid(tpr, fpr))


def truth_of(scores: Population) -> Truth:
    return Truth(scores, np.interp(MIDDLES, *exact_curve(*scores)), area_of(scores))


def populations(source: str) -> list[Truth]:
    """The population of that name: several for made-up ones, none where a file is missing."""
    if source in MADE_UP:
        return [truth_of(scores) for scores in MADE_UP[source](np.random.default_rng(2)).values()]
    try:
        return [truth_of(PUBLISHED[source]())]
    except DatasetError as error:
        print(f"{source} is left out: {error}")
        return []


def private_curve(drawn: list[Floats], epsilon: float, rng: np.random.Generator) -> RocCurve:
    y = np.repeat([0, 1], [len(part) for part in drawn])
    return tacit.roc_curve(y, np.concatenate(drawn), epsilon=epsilon, random_state=int(rng.integers(2**40)))


def errors(test: TestSet, truth: Truth, epsilon: float, rng: np.random.Generator) -> list[float]:
    """Area between the private curve and the test set's, and between the guess and the test set's.

    No row is drawn twice: rows that are would be ties, which no test set has so many of, and steps of the curve.
    """
    drawn = test.drawn(truth.scores, rng, replace=False)
    curve = private_curve(drawn, epsilon, rng)
    exact = np.interp(MIDDLES, *exact_curve(*drawn))
    found = np.interp(MIDDLES, curve.fpr, curve.tpr), GUESS
    return [1e4 * float(np.abs(rates - exact).mean()) for rates in found]


def coverage(test: TestSet, truth: Truth, epsilon: float, rng: np.random.Generator) -> list[float]:
    """Whether interval and band hold the population, and their widths."""
    curve = private_curve(test.drawn(truth.scores, rng, replace=True), epsilon, rng)
    low, high = (np.interp(MIDDLES, curve.fpr, side) for side in curve.band())
    first, last = curve.auc_interval()
    held = ((low <= truth.curve) & (truth.curve <= high))[INNER].all()
    return [float(first <= truth.area <= last), float(held), last - first, float((high - low).mean())]


def one_run(test: TestSet, truth: Truth, epsilon: float, rng: np.random.Generator) -> list[float]:
    """Error, error of the guess, whether interval and band hold, and their widths."""
    return [*errors(test, truth, epsilon, rng), *coverage(test, truth, epsilon, rng)]


def measure(test: TestSet, truths: list[Truth], epsilon: float, runs: int) -> NDArray[np.float64]:
    """Mean over the populations of median errors, and of shares and widths; then the lowest share of one of them."""
    rng = np.random.default_rng([test.negatives, test.positives, round(1000 * epsilon)])
    each = -(-runs // len(truths))
    found = np.array([[one_run(test, t, epsilon, rng) for _ in range(each)] for t in truths])
    errors = np.median(found[:, :, :2], axis=1).mean(axis=0)
    shares = found[:, :, 2:].mean(axis=1)
    return np.concatenate([errors, shares.mean(axis=0), shares[:, :2].min(axis=0)])


def table(sets: list[TestSet], epsilons: tuple[float, ...], runs: int) -> Iterator[tuple[str, float]]:
    """Print the table; yield names and ratios."""
    print(f"{'test set':>26}  {'ε':>5}  {'error':>6} {'goal':>5} {'guess':>6}  {'AUC':>5} {'width':>6}  ", end="")
    print(f"{'curve':>5} {'width':>6}  {'worst shape: AUC':>16} {'curve':>6}")
    kept: dict[str, list[Truth]] = {}
    for test in sets:
        truths = (
            kept.setdefault(test.source, populations(test.source)) if test.source not in kept else kept[test.source]
        )
        for i, epsilon in enumerate(epsilons if truths else ()):
            error, guess, auc, curve, auc_width, width, *worst = measure(test, truths, epsilon, runs)
            goal = f"{test.goals[EPSILONS.index(epsilon)]:g}" if test.goals else ""
            row = f"{test.name if i == 0 else '':>26}  {epsilon:5g}  {error:6.1f} {goal:>5} {guess:6.0f}  {auc:5.3f} "
            row += f"{auc_width:6.4f}  {curve:5.3f} {width:6.4f}"
            print(row + (f"  {worst[0]:16.2f} {worst[1]:6.2f}" if len(truths) > 1 else ""), flush=True)
            yield f"area_{test.name.replace(' ', '_')}_eps{epsilon:g}", guess / error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two sizes of the shapes, two budgets and one run of each")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--runs", type=int, default=225, help="runs of each cell, spread over the shapes")
    parser.add_argument("--sets", help="names of populations, such as SHAPES,REUTERS; default: all")
    options = parser.parse_args()
    wanted = options.sets.split(",") if options.sets else ["SHAPES", *PUBLISHED]
    sets = [test for test in SETS if test.source in wanted]
    epsilons = EPSILONS
    if options.quick:
        sets, epsilons, options.runs = sets[:2], (1.0, 0.1), 27
    ratios = dict(table(sets, epsilons, options.runs))
    if options.json:
        print(json.dumps({name: round(ratio, 3) for name, ratio in ratios.items()}))


if __name__ == "__main__":
    main()
