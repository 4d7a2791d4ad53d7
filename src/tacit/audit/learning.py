"""Scores that tell the outputs of two neighbours apart, learnt from some of the runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from tacit.audit.outputs import Encoded, Floats

Score = Callable[[Encoded], Floats]
_BINS = 24
_MOST_COLUMNS = 128  # for the learners: the columns that differ most
_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class _Bins:
    """Log-ratios of one column, bin by bin; values that are missing are a bin of their own."""

    column: int
    ends: Floats
    logs: Floats

    def __call__(self, columns: Floats) -> Floats:
        return self.logs[_places(columns[:, self.column], self.ends)]


def learn(runs: Encoded, second: NDArray[np.bool_]) -> dict[str, Score]:
    """Learn scores that are high on the second neighbour: by single outputs, by columns apart, by columns together."""
    scores: dict[str, Score] = {}
    if (runs.atoms >= 0).mean() > 0.2:
        scores["single outputs"] = _by_atoms(runs, second)
    if runs.columns.shape[1]:
        bins = [_bins(runs.columns, column, second) for column in range(runs.columns.shape[1])]
        strength = [_strength(part, runs.columns, second) for part in bins]
        kept = [bins[place] for place in np.argsort(strength)[::-1][:_MOST_COLUMNS]]
        scores["columns one by one"] = lambda seen: np.sum([part(seen.columns) for part in kept], axis=0)
        if runs.columns.shape[1] > 1:
            name, score = _by_tree(runs, second, [part.column for part in kept])
            scores[name] = score
    return scores


def _by_atoms(runs: Encoded, second: NDArray[np.bool_]) -> Score:
    known = runs.atoms >= 0
    size = len(runs.names)
    logs = _log_ratios(runs.atoms[known], second[known], size)
    return lambda seen: np.where(seen.atoms >= 0, logs[seen.atoms], 0.0)


def _log_ratios(codes: NDArray[np.int64], second: NDArray[np.bool_], size: int) -> Floats:
    """ln of how much more often each code comes from the second neighbour; shrunk where it was seen seldom."""
    there = np.bincount(codes[second], minlength=size) + 1.0
    here = np.bincount(codes[~second], minlength=size) + 1.0
    return np.asarray(np.log(there) - np.log(here) - np.log((second.sum() + 1) / ((~second).sum() + 1)))


def _places(values: Floats, ends: Floats) -> NDArray[np.int64]:
    return np.where(np.isnan(values), 0, 1 + np.searchsorted(ends, values, side="right"))


def _bins(columns: Floats, column: int, second: NDArray[np.bool_]) -> _Bins:
    values = columns[:, column]
    present = values[~np.isnan(values)]
    quantiles = np.quantile(present, np.linspace(0, 1, _BINS + 1)[1:-1]) if len(present) else np.zeros(0)
    ends = np.unique(quantiles)
    if len(ends) < _BINS // 2:  # few different values: each is a bin
        ends = np.unique(present)[:_BINS]
    return _Bins(column, ends, _log_ratios(_places(values, ends), second, len(ends) + 2))


def _strength(part: _Bins, columns: Floats, second: NDArray[np.bool_]) -> float:
    """How much the column tells: the difference of its mean log-ratio between the neighbours."""
    logs = part(columns)
    return float(logs[second].mean() - logs[~second].mean()) if second.any() and not second.all() else 0.0


def _by_tree(runs: Encoded, second: NDArray[np.bool_], kept: list[int]) -> tuple[str, Score]:
    """Log-ratios of the leaves of a small tree: events on several columns at once, named by those that tell most."""

    def clean(seen: Encoded) -> Floats:
        return np.nan_to_num(np.clip(seen.columns[:, kept], -1e30, 1e30), nan=1e31)  # a tree reads 32-bit numbers

    least = max(20, len(second) // 200)
    tree = DecisionTreeClassifier(max_depth=8, min_samples_leaf=least, random_state=0).fit(clean(runs), second)
    leaves = tree.apply(clean(runs))
    logs = _log_ratios(leaves, second, int(tree.tree_.node_count))
    weights = tree.feature_importances_
    telling = [runs.titles[kept[place]] for place in np.argsort(weights)[::-1][:_MOST_NAMES] if weights[place] > 0]
    return ", ".join(["columns together", *telling]), lambda seen: logs[tree.apply(clean(seen))]
