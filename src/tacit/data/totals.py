"""Exact scores of features for private selection, and counts of features over all labels.

Sees private rows, returns :class:`tacit.privacy.exact.Exact` alone. A selection looks at differences of single scores,
so rows need not be cut: one row moves each score by at most 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tacit.data.hashing import Longs
from tacit.data.rows import Rows, concatenate
from tacit.data.schema import Schema
from tacit.data.statistics import cells
from tacit.data.sums import GRID, Weighing, row_vectors
from tacit.errors import bad_parameter
from tacit.privacy.exact import Exact
from tacit.privacy.screening import ExactRows
from tacit.privacy.unit import Bound, Sensitivity, Unit

MONOTONE = {"tc": True, "dc": False, "pi": False}
"""Scores in whole numbers that one row moves by at most 1, and whether all move the same way."""


def feature_scores(batches: Iterable[Rows], score: str, schema: Schema, *, unit: Unit, version: str) -> Exact:
    """Score every feature exactly: TC, DC and PI, as :mod:`tacit.selection.scores` defines them.

    Sensitivity: a row of label l changes n(F=1, l) by 1 if it has F and n(F=0, l) by 1 if not, and nothing else. TC
    grows by 0 or 1. 2·max − Σ of counts by label changes by 1, up or down, if one of them grows by 1, and so at most
    by 1 where it is cut at 0. A maximum of two such scores, of which one changes by at most 1, changes by at most 1.
    """
    classes, width = len(schema.classes), schema.n_features
    if score not in MONOTONE:
        remedy = "Other scores are no whole numbers: use CountSelector, which computes any score from released counts."
        raise bad_parameter("selection", "score", f"one of {tuple(MONOTONE)}", score, remedy)
    ones = np.zeros((classes, width), dtype=np.int64)
    labels = np.zeros(classes, dtype=np.int64)
    for rows in batches:
        ones += np.bincount(cells(rows, width), minlength=classes * width).reshape(classes, width)
        labels += np.bincount(rows.labels, minlength=classes)
    sensitivity = Sensitivity.of_feature_scores(Bound(rows=unit.max_rows, ones=1), width, monotone=MONOTONE[score])
    query = f"score {score} of {width} feature(s)"
    return Exact(_score(ones, labels, score), sensitivity=sensitivity, unit=unit, query=query, version=version)


def _score(ones: Longs, labels: Longs, score: str) -> Longs:
    if score == "tc":
        total: Longs = ones.sum(axis=0)
        return total
    present = _ahead(ones)
    return present if score == "dc" else np.maximum(present, _ahead(labels[:, None] - ones))


def _ahead(counts: Longs) -> Longs:
    """How far the most frequent label is ahead of all others together, or 0; for two labels their difference."""
    ahead: Longs = np.maximum(2 * counts.max(axis=0) - counts.sum(axis=0), 0)
    return ahead


def total_sums(batches: Iterable[Rows], weighing: Weighing, *, unit: Unit, version: str) -> Exact:
    """Add up rows' vectors over all labels: the words of :func:`tacit.data.sums.normalised_sums` in one column."""
    total = np.zeros(weighing.words, dtype=np.int64)
    for rows in batches:
        ids, values, _ = row_vectors(rows, weighing)
        total += np.bincount(ids, weights=values, minlength=len(total)).astype(np.int64)
    bound = Bound(rows=unit.max_rows, ones=1)
    name = hashlib.sha256(weighing.weights.tobytes() + repr(weighing).encode()).hexdigest()
    return Exact(
        total,
        sensitivity=Sensitivity.of_normalised_rows(bound, grid=GRID, norm=weighing.norm, entries=len(total)),
        unit=unit,
        query=f"rows with each of {int((weighing.weights > 0).sum())} feature(s), long rows in part",
        version=f"{version}/{name}",
    )


def whole_rows(batches: Iterable[Rows], width: int, *, unit: Unit, version: str) -> ExactRows:
    """All rows as sets of features, for a mechanism that limits what each of them does."""
    rows = concatenate([Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64)), *batches])
    sensitivity = Sensitivity.of_whole_rows(Bound(rows=unit.max_rows, ones=1))
    query = f"which of {width} feature(s) are in many rows"
    return ExactRows(rows.indptr, rows.indices, width, sensitivity=sensitivity, unit=unit, query=query, version=version)


def row_lengths(batches: Iterable[Rows], chosen: NDArray[np.bool_], longest: int, *, unit: Unit, version: str) -> Exact:
    """Count rows by how many of the chosen features they have: 0, 1, …, and ``longest`` or more."""
    total = np.zeros(longest + 1, dtype=np.int64)
    for rows in batches:
        owner = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
        entries = rows.indices[rows.indptr[0] : rows.indptr[-1]]
        lengths = np.bincount(owner[chosen[entries]], minlength=len(rows))
        total += np.bincount(np.minimum(lengths, longest), minlength=longest + 1)
    name = hashlib.sha256(np.packbits(chosen).tobytes()).hexdigest()
    return Exact(
        total,
        sensitivity=Sensitivity.of_row_counts(Bound(rows=unit.max_rows, ones=1)),
        unit=unit,
        query=f"rows by their number of {int(chosen.sum())} feature(s), up to {longest}",
        version=f"{version}/{name}",
    )
