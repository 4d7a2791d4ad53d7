"""Brute force, straight from the written definitions: one row and one hash at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import xxhash

from tacit.data.bounding import Bounding
from tacit.data.text import tokens

Row = tuple[frozenset[int], int, str | None]  # features, label, person


def signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def chain(*parts: int) -> int:
    state = 42
    for part in parts:
        state = xxhash.xxh64_intdigest(int(part).to_bytes(8, "little", signed=True), seed=state)
    return signed(state)


def string_hash(text: str) -> int:
    return signed(xxhash.xxh64_intdigest(text.encode(), seed=42))


def buckets(text: str, bits: int) -> frozenset[int]:
    return frozenset(string_hash(token) & ((1 << bits) - 1) for token in tokens(text))


def key(features: Iterable[int], seed: int) -> int:
    found = 0
    for feature in features:
        found ^= chain(seed, 1, feature)
    return found


def keep_features(features: frozenset[int], bounding: Bounding) -> frozenset[int]:
    size = len(features)
    if size <= bounding.max_ones:
        return features
    c = 0
    for j in features:
        c ^= 2654435761 * j % 2**32
    upper = chain(bounding.key, 2, c + 2**32 * size) % 2**64 // 2**32
    first = upper * size // 2**32
    ordered = sorted(features)
    circle = ordered[first:] + ordered[:first]
    ranks = bounding.preference
    if ranks is not None:
        circle.sort(key=lambda j: int(ranks[j]))  # stable
    return frozenset(circle[: bounding.max_ones])


def bound(rows: Sequence[Row], bounding: Bounding) -> list[Row]:
    if bounding.unit.column is None:
        return [(keep_features(f, bounding), y, None) for f, y, _ in rows]
    people: dict[str, list[tuple[int, int, Row]]] = defaultdict(list)
    for place, (features, y, person) in enumerate(rows):
        if person is None:
            continue
        order = chain(bounding.key, 3, string_hash(person), key(features, bounding.key), y)
        people[person].append((order, place, (keep_features(features, bounding), y, person)))
    return [row for mine in people.values() for _, _, row in sorted(mine)[: bounding.unit.max_rows]]


def count(rows: Sequence[Row], classes: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    table = np.zeros((classes, n_features), dtype=np.int64)
    labels = np.zeros(classes, dtype=np.int64)
    for features, y, _ in rows:
        labels[y] += 1
        for feature in features:
            table[y, feature] += 1
    return table, labels
