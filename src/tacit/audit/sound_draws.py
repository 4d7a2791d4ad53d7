"""Negative controls at the gate: what mechanisms draw, run many times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import tacit
from tacit.audit.entries import Entry, Target, by_runs
from tacit.data.scores import median_profiles
from tacit.privacy import gate
from tacit.privacy.budget import Budget
from tacit.privacy.exact import Exact, ExactKeys
from tacit.privacy.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Mechanism,
    PartitionSelection,
    SelectEach,
    Selection,
    SparseVector,
    TopK,
)
from tacit.privacy.smooth import SmoothNoise
from tacit.privacy.unit import Bound, Sensitivity, Unit

DELTA = 1e-5


def _gate(
    mechanism: Callable[[float], Mechanism],
    sensitivity: Sensitivity,
    first: Any,
    second: Any,
    delta: float = 0.0,
) -> Callable[[float], Target]:
    """A mechanism at the gate.

    Additive noise is independent by entry, or by row, as selection in each group is: copies in one release are as many
    runs.
    """

    def target(epsilon: float) -> Target:
        made = mechanism(epsilon)
        copies = isinstance(made, DiscreteLaplace | DiscreteGaussian | SelectEach | SmoothNoise)

        def release(values: Any, account: tacit.Account) -> Any:
            statistic = Exact(values, sensitivity=sensitivity, unit=Unit.row(), query="audit", version="1")
            return gate.release(account, statistic, made, fresh=True).values

        def sample(values: Any, runs: int) -> Sequence[Any]:
            account = tacit.Ledger.open().account("audit", budget=Budget(1e6, min(0.5, 1e3 * delta)))
            if copies:
                drawn: Sequence[Any] = release(np.tile(values, (runs, 1)), account).tolist()
                return drawn
            return [release(np.array(values), account) for _ in range(runs)]

        return Target(sample, (first, second), Budget(epsilon, delta))

    return target


def _smooth(epsilon: float) -> Target:
    """The median of no rows, and of one row at the other end."""
    reach, made = 64, SmoothNoise(epsilon)
    width = made.ladder(Sensitivity.of_median_profiles(Bound(1, 1), reach, 0)).width
    none, one = np.zeros(reach + 1, dtype=np.int64), np.repeat([0, 1], [reach, 1])
    first, second = (median_profiles(sums, np.array([0, reach]), width)[0] for sums in (none, one))
    return _gate(SmoothNoise, Sensitivity.of_median_profiles(Bound(1, 1), reach, width), first, second)(epsilon)


def _words(count: int) -> Callable[[float], Target]:
    """Words that occur ``count`` times and once more: each has noise of its own, so that many are as many runs."""
    sensitivity, unit, delta = Sensitivity.of_feature_counts(Bound(1, 1)), Unit.row(), 0.05

    def target(epsilon: float) -> Target:
        mechanism = PartitionSelection(epsilon, delta)

        def sample(count: int, runs: int) -> Sequence[Any]:
            keys = [f"{place:07d}" for place in range(runs if count else 0)]
            account = tacit.Ledger.open().account("audit", budget=Budget(1e6, 0.5))
            statistic = ExactKeys(
                keys, np.full(len(keys), count), sensitivity=sensitivity, unit=unit, query="audit", version="1"
            )
            release = gate.release(account, statistic, mechanism, fresh=True)
            found = dict(zip(release.keys or (), release.values.tolist(), strict=True))
            return [found.get(f"{place:07d}", -1) for place in range(runs)]

        return Target(sample, (count, count + 1), Budget(epsilon, delta))

    return target


def _draws() -> Iterator[Entry]:
    row, scores = Sensitivity.of_row_counts(Bound(1, 1)), Sensitivity.of_feature_scores(Bound(1, 1), 3, monotone=True)
    balances = Sensitivity.of_balances(Bound(1, 1), 1, 3)
    wide = (0.1, 1.0, 4.0)
    yield by_runs(
        "discrete Laplace noise, drawn",
        _gate(DiscreteLaplace, row, [0], [1]),
        runs=300_000,
        covers=("DiscreteLaplace",),
        epsilons=wide,
    )
    yield by_runs(
        "discrete Gaussian noise, drawn",
        _gate(lambda e: DiscreteGaussian(e, DELTA), row, [0], [1], DELTA),
        runs=100_000,
        covers=("DiscreteGaussian",),
        epsilons=wide,
    )
    yield by_runs(
        "SelectEach, drawn",
        _gate(SelectEach, balances, [-1, -1, -1], [-2, 0, -2]),
        runs=40_000,
        covers=("SelectEach",),
        epsilons=wide,
    )
    yield by_runs("SmoothNoise, drawn", _smooth, runs=20_000, covers=("SmoothNoise",), epsilons=wide)
    for called, count in (("a new word", 0), ("a word of five rows", 5)):
        name = f"PartitionSelection of {called}, drawn"
        yield by_runs(name, _words(count), runs=40_000, covers=("PartitionSelection",), epsilons=wide)
    choices: list[tuple[str, Callable[[float], Mechanism], Sensitivity, Any, Any]] = [
        ("Selection", Selection, scores, [0, 0], [1, 0]),
        ("TopK", lambda e: TopK(e, 2), scores, [0, 0, 0, 0], [1, 1, 0, 0]),
        ("SparseVector", lambda e: SparseVector(e, 0, 1), scores, [0, 0, 0], [0, 1, 1]),
    ]
    for name, make, sensitivity, first, second in choices:
        target = _gate(make, sensitivity, first, second)
        yield by_runs(f"{name}, drawn", target, runs=5_000, covers=(name,))


DRAWS = list(_draws())
