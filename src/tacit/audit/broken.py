"""Positive controls: mechanisms that are not what they claim. An audit that misses one of them is worth nothing.

NOT PRIVATE, all of it. The algorithms of the paper come from :mod:`tacit.unsound`; the others are written here. Noisy
floats are rounded to a grid, so that each is caught for its own fault and not for that of floating point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit import unsound
from tacit.audit.entries import Entry, Target, by_runs
from tacit.audit.neighbours import Table, table_pairs
from tacit.ledger import Ledger
from tacit.privacy import gate
from tacit.privacy.budget import Budget
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import DiscreteLaplace
from tacit.privacy.unit import Bound, Sensitivity, Unit

Run = Callable[[Any, np.random.Generator], Any]


def _many(run: Run) -> Callable[[Any, int], list[Any]]:
    """Make many runs, with a generator that starts afresh from the operating system."""

    def sample(data: Any, count: int) -> list[Any]:
        rng = np.random.default_rng()
        return [run(data, rng) for _ in range(count)]

    return sample


def _on_grid(values: Any) -> NDArray[np.float64]:
    return np.round(np.asarray(values, dtype=np.float64) * 16) / 16


def _target(run: Callable[[float], Run], first: Any, second: Any) -> Callable[[float], Target]:
    return lambda epsilon: Target(_many(run(epsilon)), (first, second), Budget(epsilon))


def _total_counts(pair_name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The total counts of the features, on both sides of a pair of tables."""
    pair = next(pair for pair in table_pairs() if pair.name == pair_name)
    return pair.first.X.sum(axis=0)[:2], pair.second.X.sum(axis=0)[:2]


ORDER = _total_counts("the order of two scores")  # (0, 1) and (1, 1): parted on one side only


def _threshold_testing(epsilon: float) -> Run:
    return lambda scores, rng: unsound.private_threshold_testing(scores, 0, epsilon, rng)


def _threshold_testing_monotone(epsilon: float) -> Run:
    return lambda scores, rng: unsound.private_threshold_testing(scores, 0, epsilon, rng, monotone=True)


def _cluster_selection(epsilon: float) -> Run:
    """Two features with counts by label (0, 0) and (1, 0); one row more makes them alike, and they cannot be parted."""

    def run(points: Any, rng: np.random.Generator) -> Any:
        return unsound.cluster_selection(points, 0.5, epsilon, rng, rounds=1, centers=2, sensitivity=1.0, bound=1.0)

    return run


def _noisy_cut(epsilon: float) -> Run:
    """Sixty scores move and sixty do not; how many of each are positive says all, since within each they are alike."""

    def run(scores: Any, rng: np.random.Generator) -> Any:
        moved, still = unsound.noisy_cut(scores, 0, epsilon, rng).reshape(2, -1).sum(axis=1).tolist()
        return moved, still, moved - still

    return run


def _compared_noise(epsilon: float) -> Run:
    """Which score was positive first, and the noisy value that is released of it."""

    def run(scores: Any, rng: np.random.Generator) -> Any:
        values = unsound.svt_releasing_compared_noise(scores, 0, epsilon, rng, limit=1)
        places = np.flatnonzero(~np.isnan(values))
        return (int(places[0]), float(_on_grid(values[places[0]]))) if len(places) else (-1, 0.0)

    return run


def _threshold_noise_only(epsilon: float) -> Run:
    return lambda scores, rng: unsound.svt_threshold_noise_only(scores, 0, epsilon, rng, limit=2)


def _recursive_medians(epsilon: float) -> Run:
    """How far the medians are from the middle of their interval: exactly 0 where there was nothing to take one of."""

    def run(scores: Any, rng: np.random.Generator) -> Any:
        cuts = unsound.recursive_medians(scores, epsilon, 2, rng)
        inner = cuts[1:-1]
        middles = (cuts[:-2:2] + cuts[2::2]) / 2  # of the last level, between cuts of the level before
        return np.concatenate([[inner[1] != 0.5], inner[::2] != middles, np.round(inner, 2)]).astype(np.float64)

    return run


def _thresholds_from_n(epsilon: float) -> Run:
    def run(data: Any, rng: np.random.Generator) -> Any:
        scores, positive = data
        cuts = unsound.fixed_space(len(scores), 0.1)
        return _on_grid(np.concatenate(unsound.privelet_counts(scores, positive, cuts, epsilon, rng)))

    return run


def _uncut_rows(epsilon: float) -> Run:
    """Noise for rows of two ones, and a row of twelve."""
    return lambda ones, rng: _on_grid(unsound.uncut_counts(ones, epsilon, rng, max_ones=2))


def _vocabulary_of_data(epsilon: float) -> Run:
    """Noisy counts of every word that occurs: which words there are is not noisy at all."""

    def run(texts: Any, rng: np.random.Generator) -> Any:
        words = sorted({word for text in texts for word in text.split()})
        counts = np.array([sum(word in text.split() for text in texts) for word in words])
        return words, _on_grid(counts + rng.laplace(0, 3 / epsilon, len(words)))

    return run


def _half_the_scale(epsilon: float) -> Target:
    """The gate's own noise, for half the sensitivity."""
    sensitivity = Sensitivity.of_row_counts(Bound(rows=1, ones=1))

    def sample(count_of_rows: int, runs: int) -> list[int]:
        account = Ledger.open().account("half", budget=Budget(2 * epsilon))
        values = np.full(runs, count_of_rows)
        statistic = Exact(values, sensitivity=sensitivity, unit=Unit.row(), query="rows", version="1")
        drawn: list[int] = gate.release(account, statistic, DiscreteLaplace(2 * epsilon)).values.tolist()
        return drawn

    return Target(sample, (0, 1), Budget(epsilon))


def _split_by_permutation(epsilon: float) -> Run:
    """Four fifths of the rows, shuffled, and the rest: one row more moves others. Counts of each part for ε."""

    def run(data: Table, rng: np.random.Generator) -> Any:
        order = rng.permutation(len(data.y))
        train, test = np.split(data.y[order], [len(order) * 4 // 5])
        counts = [np.bincount(part, minlength=2) for part in (train, test)]
        noise = rng.geometric(-np.expm1(-epsilon), (2, 2, 2))  # a difference of two is discrete Laplace noise
        return np.array(counts) + noise[0] - noise[1]

    return run


def _textbook_laplace(epsilon: float) -> Run:
    """A count plus −sgn(u)·ln(1 − 2|u|)/ε in doubles: which doubles can come out depends on the count."""

    def run(value: float, rng: np.random.Generator) -> float:
        u = rng.random() - 0.5
        return float(value - np.sign(u) * np.log1p(-2 * np.abs(u)) / epsilon)

    return run


def _mixed(moved: int, still: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Scores of which the first ``moved`` grow by one and the others stay."""
    return np.zeros(moved + still, dtype=np.int64), np.repeat([1, 0], [moved, still])


def _controls() -> list[Entry]:
    upper = (np.array([0.2, 0.4]), np.array([0.2, 0.4, 0.9]))  # nothing, or one score, above the middle
    rows = [(np.linspace(0, 1, n), np.arange(n) % 2 == 0) for n in (99, 100)]
    labels = [Table(np.zeros((n, 1)), np.array([0] * 10 + [1] * (n - 10))) for n in (10, 11)]
    compared = (np.array([-1] * 8 + [1]), np.array([0] * 8 + [2]))
    texts = (["win cash", "see you"], ["win cash", "see you", "win gold"])
    controls: list[tuple[str, Callable[[float], Target], int, float]] = [
        ("Private Threshold Testing (PTT)", _target(_threshold_testing, *ORDER), 6_000, 0.5),
        ("PTT for monotone scores (its corollary)", _target(_threshold_testing_monotone, *ORDER), 6_000, 0.5),
        ("cluster selection as written", _target(_cluster_selection, [[0, 0], [1, 0]], [[1, 0], [1, 0]]), 6_000, 0.5),
        ("NoisyCut without a limit", _target(_noisy_cut, *_mixed(60, 60)), 12_000, 0.5),
        ("SVT that releases the compared noise", _target(_compared_noise, *compared), 60_000, 2.0),
        ("SVT with noise on the threshold only", _target(_threshold_noise_only, *ORDER), 6_000, 0.5),
        ("k-RecursiveMedians as written", _target(_recursive_medians, *upper), 12_000, 1.0),
        ("thresholds from the true n", _target(_thresholds_from_n, *rows), 2_000, 1.0),
        ("s not enforced", _target(_uncut_rows, np.zeros(12), np.ones(12)), 24_000, 1.0),
        ("a vocabulary read from the data", _target(_vocabulary_of_data, *texts), 2_000, 1.0),
        ("noise at half the scale", _half_the_scale, 100_000, 1.0),
        ("a split by permutation", _target(_split_by_permutation, *labels), 12_000, 1.0),
        ("textbook floating-point Laplace", _target(_textbook_laplace, 0.0, 1.0), 10_000, 1.0),
    ]
    return [
        by_runs(name, target, runs=runs, expected="violation", epsilons=(epsilon,))
        for name, target, runs, epsilon in controls
    ]


CONTROLS = _controls()
