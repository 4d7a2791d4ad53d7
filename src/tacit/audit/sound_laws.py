"""Negative controls, exactly: every mechanism of the house on all neighbouring pairs of a tiny domain, from its law."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from tacit.audit import screened
from tacit.audit.entries import ALL, Effort, Entry
from tacit.audit.exact import Apart, Worst, by_entry, by_law, worst_pair
from tacit.audit.laws import Law, choice_law, key_law, laplace_log, noise_law
from tacit.audit.replay import look
from tacit.audit.statistical import Finding
from tacit.data.bounding import Bounding
from tacit.data.objective import CURVATURE
from tacit.data.schema import Schema
from tacit.data.sources import open_source
from tacit.data.statistics import count
from tacit.models.tuning import SCORE_SHARE
from tacit.privacy.budget import Budget
from tacit.privacy.mechanisms import (
    Choice,
    DiscreteGaussian,
    DiscreteLaplace,
    Mechanism,
    PartitionSelection,
    SelectEach,
    Selection,
    SparseVector,
    TopK,
    TopKMethod,
)
from tacit.privacy.objective import GaussianObjectivePerturbation, ObjectivePerturbation
from tacit.privacy.unit import Bound, Sensitivity, Unit

Vector = tuple[int, ...]
DELTA = 1e-6
BOUNDS = (Bound(rows=1, ones=1), Bound(rows=1, ones=2), Bound(rows=2, ones=1))
LABELS, FEATURES = 2, 3


# -- a tiny domain: rows with a label and some of three features ------------------------------------------------------


def kinds_of_rows(ones: int, features: int = FEATURES) -> list[tuple[int, Vector]]:
    """All rows of at most so many ones."""
    sets = [f for size in range(ones + 1) for f in itertools.combinations(range(features), size)]
    return list(itertools.product(range(LABELS), sets))


def feature_counts(data: Iterable[tuple[int, Vector]]) -> Vector:
    """Rows by label and feature."""
    cells = np.zeros((LABELS, FEATURES), dtype=np.int64)
    for label, features in data:
        cells[label, list(features)] += 1
    return tuple(cells.ravel().tolist())


def changes(bound: Bound) -> set[Vector]:
    """What one unit can add to the counts; removing it takes the same away."""
    units = itertools.chain.from_iterable(
        itertools.combinations_with_replacement(kinds_of_rows(bound.ones), size) for size in range(bound.rows + 1)
    )
    return {feature_counts(unit) for unit in units}


def _worst(found: Iterable[Worst]) -> Worst:
    """The worst over several cases."""
    cases = list(found)
    top = max(cases, key=lambda worst: worst.epsilon)
    return Worst(top.epsilon, max(w.delta for w in cases), top.pair, sum(w.pairs for w in cases))


def _finding(worst: Worst, claimed: Budget, laws: tuple[Law, Law] | None = None) -> Finding:
    pair = f"worst of all pairs: {worst.pair[0]} and {worst.pair[1]}" if worst.pair else "all pairs"
    return Finding(worst.epsilon, claimed, 1.0, worst.pairs, pair, method="exact", laws=laws)


# -- noise ------------------------------------------------------------------------------------------------------------


def _noise(make: Callable[[float], Any], delta: float = 0.0) -> Callable[[float, Effort], Finding]:
    """Entries are perturbed independently, so entries that do not change say nothing and their order does not count."""

    def check(epsilon: float, _: Effort) -> Finding:
        mechanism = make(epsilon)
        cases = []
        for bound in BOUNDS:
            sensitivity = Sensitivity.of_feature_counts(bound)
            apart = by_entry(partial(_entry_law, mechanism, sensitivity, 2))
            touched = {tuple(sorted(c for c in change if c)) for change in changes(bound)}
            pairs = [((0,) * len(change), change) for change in sorted(touched)]
            cases.append(worst_pair(apart, pairs, epsilon=epsilon, delta=delta))
        one = Sensitivity.of_feature_counts(BOUNDS[0])
        laws = (noise_law(mechanism, one, 0, 6), noise_law(mechanism, one, 1, 6))
        return _finding(_worst(cases), Budget(epsilon, delta), laws)

    return check


def _entry_law(mechanism: Any, sensitivity: Sensitivity, most: int, value: int) -> Law:
    return noise_law(mechanism, sensitivity, value, most)


def _key_law(mechanism: PartitionSelection, sensitivity: Sensitivity, most: int, count_of_key: int) -> Law:
    return key_law(mechanism, sensitivity, count_of_key, most)


def _keys(epsilon: float, _: Effort) -> Finding:
    mechanism = PartitionSelection(epsilon, DELTA)
    cases = []
    for bound in BOUNDS:
        sensitivity = Sensitivity.of_feature_counts(bound)
        threshold = mechanism.threshold(sensitivity)
        counts = (0, 1, 2, threshold - 1, threshold, threshold + 1, threshold + 2)
        pairs = [
            (a, b)
            for a, b in itertools.product(itertools.product(counts, repeat=2), repeat=2)
            if sum(abs(x - y) for x, y in zip(a, b, strict=True)) <= sensitivity.l1
            and all(abs(x - y) <= sensitivity.linf for x, y in zip(a, b, strict=True))
        ]
        apart = by_entry(partial(_key_law, mechanism, sensitivity, threshold + 3))
        cases.append(worst_pair(apart, pairs, epsilon=epsilon, delta=DELTA))
    return _finding(_worst(cases), Budget(epsilon, DELTA))


# -- choices ----------------------------------------------------------------------------------------------------------


def _scores(monotone: bool, linf: int = 1) -> Sensitivity:
    return Sensitivity.of_feature_scores(Bound(rows=linf, ones=1), FEATURES, monotone=monotone)


def _choice(
    make: Callable[[float], list[Mechanism]], step: float = 30.0, wide: tuple[Vector, Vector] | None = None
) -> Callable[[float, Effort], Finding]:
    """All vectors of three equal or very different utilities, and every way in which one unit moves them.

    ``wide`` adds one pair of more utilities, in steps, and how they move: the worst case of some mechanisms has more.
    """

    def check(epsilon: float, _: Effort) -> Finding:
        far = math.ceil(step / epsilon)
        cases, laws = [], None
        for mechanism, monotone in itertools.product(make(epsilon), (True, False)):
            sensitivity = _scores(monotone)
            law = cache(lambda u, m=mechanism, s=sensitivity: choice_law(m, s, u))
            moves = list(itertools.product((0, 1) if monotone else (-1, 0, 1), repeat=FEATURES))
            pairs: Iterable[tuple[Vector, Vector]] = (
                (base, tuple(b + m for b, m in zip(base, move, strict=True)))
                for base in itertools.product((-far, 0, far), repeat=FEATURES)
                for move in moves
            )
            if wide is not None:
                base = tuple(far * place for place in wide[0])
                pairs = itertools.chain(pairs, [(base, tuple(b + m for b, m in zip(base, wide[1], strict=True)))])
            cases.append(worst_pair(by_law(law), pairs, epsilon=epsilon))
            if laws is None and cases[0].pair is not None:
                laws = (law(cases[0].pair[0]), law(cases[0].pair[1]))
        return _finding(_worst(cases), Budget(epsilon), laws)

    return check


def _balances(data: Iterable[tuple[int, int]]) -> tuple[Vector, Vector]:
    """Four cells in two groups, each cut before, between or after its cells; tuples weigh 3 or 1."""
    mass = np.zeros(4, dtype=np.int64)
    for cell, weight in data:
        mass[cell] += weight
    rows = [tuple(-abs(int(mass[g[0] : c].sum() - mass[c : g[-1]].sum())) for c in g) for g in ((0, 1, 2), (2, 3, 4))]
    return rows[0], rows[1]


def _layouts(data: Iterable[tuple[int, int]]) -> tuple[Vector]:
    """Five cells cut on two levels, in one of three ways."""
    mass = np.zeros(6, dtype=np.int64)
    for cell, weight in data:
        mass[cell + 1] += weight
    below = np.cumsum(mass)
    a, b, c, d, e = below[[[0, 0, 0], [1, 1, 0], [2, 3, 1], [3, 4, 3], [5, 5, 5]]]
    return (tuple((-np.abs(2 * c - a - e) - np.abs(2 * b - a - c) - np.abs(2 * d - c - e)).tolist()),)


def _each_group(epsilon: float, _: Effort, *, together: bool = False) -> Finding:
    mechanism, utilities = SelectEach(epsilon), _layouts if together else _balances
    kinds = list(itertools.product(range(5 if together else 4), (3, 1)))
    cases = []
    for rows in (1, 2):
        bound = Bound(rows=rows, ones=1)
        sensitivity = Sensitivity.of_balances(bound, 3, 3, 2) if together else Sensitivity.of_balances(bound, 3, 6)
        law = cache(lambda u, s=sensitivity: choice_law(mechanism, s, np.array(u)))
        bases = [b for size in (0, 1, 2) for b in itertools.combinations_with_replacement(kinds, size)]
        many = math.ceil(40 * rows / epsilon)
        if together:
            # The first way is even on both levels, and one tuple more makes it worse and the second one better.
            bases += [(((0, 3), (1, 3), (2, 3)) * 4 + ((3, 3),) * 3 + ((4, 3),)) * many]
        else:
            # Many tuples on both sides make one cut all but certain, which is where the loss is largest.
            bases += [
                ((0, 3), (1, 3)) * many + ((0, 3),),
                ((0, 3), (1, 3), (2, 3), (3, 3)) * many + ((0, 3), (2, 3)) * 2,
            ]
        units = list(itertools.combinations_with_replacement(kinds, rows))
        pairs = ((utilities(base), utilities(base + unit)) for base in bases for unit in units)
        cases.append(worst_pair(by_law(law), pairs, epsilon=epsilon))
    return _finding(_worst(cases), Budget(epsilon))


# -- counts of bounded rows, by the code that counts -------------------------------------------------------------------


def _counts(unit: Unit, ones: int) -> Callable[[float, Effort], Finding]:
    """All data sets of at most two units: rows of up to three ones, or persons of up to three rows.

    More than the bound keeps, so the cut has work to do. For each seed of the cut, the losses of the noisy counts.
    """
    by_person = unit.column is not None
    kinds = kinds_of_rows(2, 2) if by_person else kinds_of_rows(3)
    sizes = (1, 3) if by_person else (1,)
    units = [rows for size in sizes for rows in itertools.combinations_with_replacement(kinds, size)]
    schema = replace(Schema.matrix(FEATURES, tuple(range(LABELS))), unit=unit)

    @cache
    def exact_counts(data: tuple[Any, ...], seed: int) -> Vector:
        rows = [row for one in data for row in one]
        X = np.zeros((len(rows), FEATURES))
        for x, (_, features) in zip(X, rows, strict=True):
            x[list(features)] = 1
        persons = [str(i) for i, one in enumerate(data) for _ in one] if by_person else None
        source = open_source(X, schema, y=np.array([label for label, _ in rows], dtype=np.int64), persons=persons)
        return tuple(look(count(source, Bounding(ones, unit, seed), jobs=1).features).ravel().tolist())

    def check(epsilon: float, effort: Effort) -> Finding:
        mechanism = DiscreteLaplace(epsilon)
        sensitivity = Sensitivity.of_feature_counts(Bound(rows=unit.max_rows, ones=ones))
        most = 2 * unit.max_rows + 1
        apart = by_entry(partial(_entry_law, mechanism, sensitivity, most))
        bases: list[Any] = [(), (units[-1],), (units[len(units) // 2],)]
        pairs = (
            (exact_counts(base, seed), exact_counts((*base, one), seed))
            for seed in range(effort.some(2))
            for base in bases
            for one in units
        )
        return _finding(worst_pair(apart, pairs, epsilon=epsilon), Budget(epsilon))

    return check


# -- tuning, and objective perturbation -------------------------------------------------------------------------------


def _tuning(epsilon: float, _: Effort) -> Finding:
    """The best of a geometric number of runs: a run releases a noisy count, and a noisy score that grows with it.

    All moves by one unit of count and score, of two candidates that are drawn alike.
    """
    run, share = epsilon / 3, float(SCORE_SHARE)
    fit, score, stop = 1 / (run * (1 - share)), 1 / (run * share), 1 / 4
    far = math.ceil(30 / run)
    counts, scores = np.arange(-1, 3), np.arange(-far, far + 1)

    def law(data: tuple[Vector, Vector]) -> Law:
        mass = np.array(
            [
                np.exp(laplace_log(counts - c, fit))[:, None] * np.exp(laplace_log(scores - s, score))[None, :]
                for c, s in zip(*data, strict=True)
            ]
        )
        mass /= mass.sum()
        up_to = np.cumsum(mass.sum(axis=(0, 1)))
        below = np.concatenate([[0.0], up_to[:-1]])
        best = stop * mass / ((1 - (1 - stop) * below) * (1 - (1 - stop) * up_to))
        return dict(enumerate(best.ravel().tolist()))

    moves = list(itertools.product((0, 1), repeat=4))
    bases = [((0, 0), (0, 0)), ((0, 1), (0, far // 2)), ((0, 0), (far // 2, 0))]
    pairs = [
        (base, ((base[0][0] + a, base[0][1] + b), (base[1][0] + c, base[1][1] + d)))
        for base in bases
        for a, b, c, d in moves
    ]
    return _finding(worst_pair(by_law(law), pairs, epsilon=epsilon), Budget(epsilon))


LOSSES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "logistic": (lambda m: -1 / (1 + np.exp(m)), lambda m: 1 / (2 + np.exp(m) + np.exp(-m))),
    "huber": (lambda m: np.clip(m - 1.5, -1, 0), lambda m: ((m > 0.5) & (m < 1.5)).astype(float)),
}


def _density(name: str, mechanism: ObjectivePerturbation, sensitivity: Sensitivity) -> Callable[[Any], Any]:
    """The masses of the exact minimiser of one coefficient on a fine grid, by the change of variables.

    Its density is that of the noise at −(∇L + Λθ), times the slope of that map; the output noise comes on top.
    """
    theta = np.linspace(-30, 30, 8001)
    slope, bend = LOSSES[name]
    regularisation, deviation = float(mechanism.regularisation(sensitivity)), mechanism.deviation(sensitivity)

    def density(data: tuple[float, ...]) -> Any:
        noise = -sum((slope(x * theta) * x for x in data), regularisation * theta)
        jacobian = sum((bend(x * theta) * x * x for x in data), np.full_like(theta, regularisation))
        if isinstance(mechanism, GaussianObjectivePerturbation):
            law = np.exp(-((noise / deviation) ** 2) / 2) / (math.sqrt(2 * math.pi) * deviation)
        else:
            law = np.exp(-math.sqrt(2) * np.abs(noise) / deviation) / (math.sqrt(2) * deviation)
        return law * jacobian * (theta[1] - theta[0])

    return density


def _objective(delta: float) -> Callable[[float, Effort], Finding]:
    """All data sets of up to two rows of one feature, and all units of one or two rows."""
    values = (-1.0, -0.3, 0.0, 0.5, 1.0)

    def check(epsilon: float, _: Effort) -> Finding:
        cases = []
        for name, rows in itertools.product(LOSSES, (1, 2)):
            sensitivity = Sensitivity.of_row_gradients(Bound(rows=rows, ones=1), norm="L1", entries=1)
            curvature = CURVATURE[name]
            made = ObjectivePerturbation(epsilon, curvature, 1)
            if delta:
                made = GaussianObjectivePerturbation(epsilon, delta, curvature, 1)
            density = cache(_density(name, made, sensitivity))
            pairs = [
                (density(base), density(base + unit))
                for size in range(3)
                for base in itertools.combinations_with_replacement(values, size)
                for unit in itertools.combinations_with_replacement(values, rows)
            ]
            cases.append(replace(worst_pair(Apart, pairs, epsilon=epsilon, delta=delta), pair=None))
        return _finding(_worst(cases), Budget(epsilon, delta))

    return check


def _screening(epsilon: float, _: Effort) -> Finding:
    """Rows of two features, and persons of two rows."""
    cases = [screened.largest_loss(2, 2, Fraction(epsilon), 2), screened.largest_loss(2, 1, Fraction(epsilon), 1, 2)]
    worst, pairs = max(loss for loss, _ in cases), sum(number for _, number in cases)
    return Finding(worst, Budget(epsilon), 1.0, pairs, "all pairs", method="exact")


def _selections(epsilon: float) -> list[Mechanism]:
    return [
        Selection(epsilon),
        Selection(epsilon, Choice.EXPONENTIAL),
        Selection(epsilon, Choice.EXPONENTIAL, weights=(1, 5, 2)),
    ]


def _peelings(epsilon: float) -> list[Mechanism]:
    return [TopK(epsilon, 2), TopK(epsilon, 2, choice=Choice.EXPONENTIAL)]


WIDE = ((-1, -1, 1, 1, 1), (0, 0, 1, 1, 1))
"""Two win that should not, against three others that all grow: both must be lucky, whoever else is unlucky."""


def _entries() -> Iterator[Entry]:
    persons = Unit.user("person", max_rows=2)
    checks: list[tuple[str, tuple[str, ...], Callable[[float, Effort], Finding]]] = [
        ("discrete Laplace noise", ("DiscreteLaplace",), _noise(DiscreteLaplace)),
        ("discrete Gaussian noise", ("DiscreteGaussian",), _noise(lambda e: DiscreteGaussian(e, DELTA), DELTA)),
        ("selection", ("Selection",), _choice(_selections)),
        ("selection in each group", ("SelectEach",), _each_group),
        ("selection of a layout of cuts", ("SelectEach",), partial(_each_group, together=True)),
        ("top-k by peeling", ("TopK",), _choice(_peelings, 60.0)),
        ("top-k in one shot", ("TopK",), _choice(lambda e: [TopK(e, 2, TopKMethod.ONE_SHOT)], 60.0, WIDE)),
        ("sparse vector, one answer", ("SparseVector",), _choice(lambda e: [SparseVector(e, 0, 1)], 60.0)),
        ("sparse vector, two answers", ("SparseVector",), _choice(lambda e: [SparseVector(e, 0, 2)], 90.0, WIDE)),
        ("partition selection", ("PartitionSelection",), _keys),
        ("screening", ("Screening", "ThresholdSelector"), _screening),
        ("counts of bounded rows", ("DiscreteLaplace",), _counts(Unit.row(), 2)),
        ("counts of bounded persons", ("DiscreteLaplace",), _counts(persons, 1)),
        ("tuning, the best of many runs", ("tune",), _tuning),
        ("objective perturbation", ("ObjectivePerturbation", "LogisticRegression"), _objective(0.0)),
        ("Gaussian objective perturbation", ("GaussianObjectivePerturbation",), _objective(DELTA)),
    ]
    for name, covers, check in checks:
        yield Entry(name, "none", "exact", covers, ALL, check)


ENTRIES = list(_entries())
