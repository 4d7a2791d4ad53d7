"""Exact counts of bounded rows, sealed with the sensitivity that the bound implies. The last room before the gate.

Sees a private source, returns :class:`tacit.privacy.exact.Exact` alone.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.data import compiled
from tacit.data.bounding import (
    Bounding,
    FeatureHasher,
    PersonStore,
    add_bounded,
    cut_prefix,
    keep_features,
)
from tacit.data.hashing import Longs, hash_strings
from tacit.data.rows import Rows
from tacit.data.schema import Schema
from tacit.data.sources import Source
from tacit.errors import bad_parameter
from tacit.privacy.exact import Exact
from tacit.privacy.unit import Bound, Sensitivity

B = TypeVar("B")
T = TypeVar("T")

_FLUSH = 1 << 22  # entries collected before they are counted


@dataclass(frozen=True, slots=True)
class Counts:
    """The statistics that all counting methods need, from one pass over the data.

    Attributes
    ----------
    features : Exact of shape (classes, features)
        How many rows of each label have each feature.
    labels : Exact of shape (classes,)
        How many rows have each label.
    """

    features: Exact
    labels: Exact


def count(source: Source, bounding: Bounding, *, passes: int = 1, jobs: int | None = None) -> Counts:
    """Bound the rows of a source and count them, by label and feature, and by label.

    Parameters
    ----------
    source : Source
    bounding : Bounding
        Its unit must be the schema's.
    passes : int, default 1
        For persons in a stream, memory grows with the number of persons; reading the data ``passes`` times, each time
        for another share of the persons, divides it by that number. The counts are the same.
    jobs : int, optional
        Threads; default one for each core. The counts are the same.
    """
    with ThreadPoolExecutor(1) as pool:
        version = pool.submit(lambda: source.version)  # a fingerprint takes a pass over the data of its own
        features, labels = tally(source, bounding, passes=passes, jobs=jobs)
        return seal(features, labels, source.schema, bounding, version.result())


def tally(source: Source, bounding: Bounding, *, passes: int = 1, jobs: int | None = None) -> tuple[Longs, Longs]:
    """The bare counts of :func:`count`. For this room alone: whoever calls it must seal what it makes of them."""
    schema = source.schema
    if bounding.unit != schema.unit:
        raise bad_parameter("count", "bounding", f"for the schema's unit ({schema.unit})", str(bounding.unit))
    if bounding.preference is not None and len(bounding.preference) != schema.n_features:
        expected = f"a rank for each of {schema.n_features} features"
        raise bad_parameter("Bounding", "preference", expected, f"{len(bounding.preference)} ranks")
    table = _Table(len(schema.classes), schema.n_features)
    threads = _threads(jobs)
    if bounding.unit.column is None:
        for part in in_parallel(source.jobs(), lambda rows: _count_rows(rows, bounding, table.shape), threads):
            table.add(*part)
    else:
        hasher = FeatureHasher(bounding.key)
        for share in range(_whole("passes", passes)):
            table.add_rows(_bounded_persons(source, bounding, hasher, share, passes, threads))
    return table.features(), table.labels


def seal(features: Longs, labels: Longs, schema: Schema, bounding: Bounding, version: str) -> Counts:
    """Seal count tables that were made under ``bounding``, by this engine or another."""
    bound, unit = bounding.bound, bounding.unit
    full = f"{version}/{bounding_version(bounding, schema)}"
    c, d = len(schema.classes), schema.n_features
    query = f"rows by label and feature ({c} × {d}), at most {bound.ones} feature(s) of a row"
    people = "" if unit.column is None else f", at most {unit.max_rows} row(s) of a person"
    return Counts(
        Exact(
            features.reshape(c, d),
            sensitivity=Sensitivity.of_feature_counts(Bound(rows=bound.rows, ones=min(bound.ones, schema.most_ones))),
            unit=unit,
            query=query + people,
            version=full,
        ),
        Exact(
            labels.reshape(c),
            sensitivity=Sensitivity.of_row_counts(bound),
            unit=unit,
            query=f"rows by label ({c}){people}",
            version=full,
        ),
    )


def bounding_version(bounding: Bounding, schema: Schema) -> str:
    """A name for how rows were turned into features and bounded: equal names, data and queries give equal counts."""
    ranks = b"" if bounding.preference is None else bounding.preference.tobytes()
    body = f"{bounding.max_ones}|{bounding.unit}|{bounding.key}|{schema.digest}|".encode()
    return hashlib.sha256(body + ranks).hexdigest()


class _Table:
    """Running counts. Entries are collected and counted in large lots, since a lot costs as much as the table."""

    def __init__(self, classes: int, features: int) -> None:
        self.shape = (classes, features)
        self.labels = np.zeros(classes, dtype=np.int64)
        self._features = np.zeros(classes * features, dtype=np.int64)
        self._tables: NDArray[Any] | None = None
        self._waiting: list[Longs] = []
        self._size = 0

    def add(self, entries: NDArray[Any], labels: Longs) -> None:
        """Add cells (label · d + feature), or a table of d × classes where that is shorter, and counts of labels."""
        self.labels += labels
        if entries.ndim == 2:
            self._tables = entries if self._tables is None else np.add(self._tables, entries, out=self._tables)
            return
        self._waiting.append(entries)
        self._size += len(entries)
        if self._size > max(_FLUSH, len(self._features)):
            self._flush()

    def add_rows(self, rows: Rows | None) -> None:
        """Add rows that are already bounded."""
        if rows is not None:
            self.add(cells(rows, self.shape[1]), np.bincount(rows.labels, minlength=self.shape[0]))

    def _flush(self) -> None:
        if self._waiting:
            self._features += np.bincount(np.concatenate(self._waiting), minlength=len(self._features))
        self._waiting, self._size = [], 0

    def features(self) -> Longs:
        """All counts so far."""
        self._flush()
        if self._tables is not None:
            self._features += self._tables.T.reshape(-1)
            self._tables = None
        return self._features


def cells(rows: Rows, n_features: int) -> Longs:
    """The cell (label · d + feature) of every entry."""
    flat = np.repeat(rows.labels * n_features, np.diff(rows.indptr))
    flat += rows.indices
    return flat


def _count_rows(rows: Rows, bounding: Bounding, shape: tuple[int, int]) -> tuple[NDArray[Any], Longs]:
    """Count a batch, without touching the running table: this runs on any thread."""
    classes, n_features = shape
    labels = np.bincount(rows.labels, minlength=classes)
    few = len(rows.indices) < max(compiled.ENTRIES, classes * n_features)
    if few or bounding.preference is not None:
        return cells(keep_features(rows, bounding), n_features), labels
    prefix = cut_prefix(bounding.key)
    table = compiled.count_cut_rows(rows.indptr, rows.indices, rows.labels, shape, bounding.max_ones, prefix)
    return table.astype(np.int64), labels


def _bounded_persons(
    source: Source, bounding: Bounding, hasher: FeatureHasher, share: int, passes: int, threads: int
) -> Rows | None:
    store = PersonStore(bounding.unit.max_rows)
    for rows in in_parallel(source.jobs(), lambda rows: _share(rows, share, passes), threads):
        add_bounded(store, rows, bounding, hasher)
    return store.rows()


def _share(rows: Rows, share: int, passes: int) -> Rows:
    if passes == 1 or rows.persons is None:
        return rows
    return rows.take(np.flatnonzero(hash_strings(rows.persons) % passes == share))


def in_parallel(jobs: Iterator[Callable[[], B]], work: Callable[[B], T], threads: int) -> Iterator[T]:
    """Make and work on batches on several threads; results come in order, and only a few batches exist at a time."""
    if threads == 1:
        yield from (work(job()) for job in jobs)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[T]] = deque()
        for job in jobs:
            waiting.append(pool.submit(lambda job=job: work(job())))  # type: ignore[misc]
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _threads(jobs: int | None) -> int:
    return _whole("jobs", jobs) if jobs is not None else len(os.sched_getaffinity(0))


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise bad_parameter("count", name, "a whole number of at least 1", value)
    return value
