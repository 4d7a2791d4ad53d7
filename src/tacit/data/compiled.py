"""Loops over the entries of large matrices, compiled when first used. Private in, private out.

Each equals array operations of this room (``bounding``, ``sparse``), which small data take and the tests compare with.
They read entries once and without temporary arrays, and they run on several threads. See
``docs/decisions/0003-compiled-loops.md``.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.hashing import Longs

ENTRIES = 1 << 20  # from so many entries on, compiled loops pay for being loaded

CUT_FACTOR = 2654435761  # odd, near 2^32 divided by the golden ratio


def is_plain(indptr: NDArray[Any], indices: NDArray[np.int32], data: NDArray[Any], n_features: int) -> bool:
    """Whether a matrix is in order: rows ascend without repetition, features exist, and every entry is 1.

    ``indptr`` must begin with 0 and end with at most the number of entries.
    """
    if (indptr[1:] < indptr[:-1]).any():
        return False
    threads = len(os.sched_getaffinity(0))
    edges = np.linspace(0, len(indptr) - 1, threads + 1).astype(int).tolist()
    words, check = indices.view(np.uint32), _loops()[0]
    with ThreadPoolExecutor(threads) as pool:
        parts = [
            pool.submit(check, indptr[low : high + 1], words, data, n_features)
            for low, high in itertools.pairwise(edges)
        ]
        return all(part.result() for part in parts)


def count_cut_rows(
    indptr: Longs, indices: NDArray[np.int32], labels: Longs, shape: tuple[int, int], max_ones: int, prefix: Longs
) -> NDArray[np.uint32]:
    """Count rows by label and feature, at most ``max_ones`` features of each: the cut of :mod:`tacit.data.bounding`.

    Parameters
    ----------
    indptr, indices : of rows in order, with fewer than 2³² entries
    labels : positions in the classes
    shape : classes, features
    max_ones : int
    prefix : array with one integer
        The chain of hashes so far: seed and purpose.

    Returns
    -------
    array of features × classes
    """
    classes, features = shape
    table = np.zeros((features, classes), dtype=np.uint32)
    words, seed = indices.view(np.uint32), prefix.view(np.uint64)[0]
    _loops()[1](indptr, words, labels, np.uint64(max_ones), seed, table.reshape(-1), np.uint64(classes))
    return table


@cache
def _loops() -> tuple[Callable[..., bool], Callable[..., None]]:
    """Compile, or load what was compiled before; where nothing can be written, compile for this process alone."""
    import numba

    try:
        return tuple(numba.njit(nogil=True, cache=True)(loop) for loop in (_check, _count))  # type: ignore[return-value]
    except RuntimeError:  # no place for a cache
        return tuple(numba.njit(nogil=True)(loop) for loop in (_check, _count))  # type: ignore[return-value]


def _check(indptr: Any, words: Any, data: Any, n_features: int) -> bool:
    """Entries other than 1, and falls from one entry to the next other than between rows, are counted."""
    begin, end = indptr[0], indptr[-1]
    odd, falls, highest = 0, 0, np.uint32(0)
    for value in data[begin:end]:
        odd += value != 1
    part = words[begin:end]
    for k in range(1, len(part)):
        falls += part[k] <= part[k - 1]
    for word in part:
        highest = max(highest, word)
    for i in range(1, len(indptr) - 1):
        first = indptr[i]
        if begin < first < indptr[i + 1]:
            falls -= words[first] <= words[first - 1]
    return bool(odd == 0 and falls == 0 and (highest < n_features or begin == end))


def _count(
    indptr: Any, words: Any, labels: Any, max_ones: np.uint64, seed: np.uint64, table: Any, classes: np.uint64
) -> None:
    """All arithmetic is of unsigned words; the hash of the cut's key is XXH64 of one integer."""
    for i in range(len(labels)):
        begin, end, label = np.uint64(indptr[i]), np.uint64(indptr[i + 1]), np.uint64(labels[i])
        kept, place = end - begin, begin
        if kept > max_ones:
            key = np.uint64(0)
            for word in words[begin:end]:
                key ^= np.uint64(word) * np.uint64(CUT_FACTOR)
            key = (key & np.uint64(0xFFFFFFFF)) + (kept << np.uint64(32))
            state = key * np.uint64(0xC2B2AE3D27D4EB4F)
            state = ((state << np.uint64(31)) | (state >> np.uint64(33))) * np.uint64(0x9E3779B185EBCA87)
            state ^= seed + np.uint64(0x27D4EB2F165667C5 + 8)
            state = ((state << np.uint64(27)) | (state >> np.uint64(37))) * np.uint64(0x9E3779B185EBCA87)
            state += np.uint64(0x85EBCA77C2B2AE63)
            state = (state ^ (state >> np.uint64(33))) * np.uint64(0xC2B2AE3D27D4EB4F)
            state = (state ^ (state >> np.uint64(29))) * np.uint64(0x165667B19E3779F9)
            place = begin + (((state >> np.uint64(32)) * kept) >> np.uint64(32))  # the last mixing leaves this half
            kept = max_ones
        for _ in range(kept):
            table[np.uint64(words[place]) * classes + label] += np.uint32(1)
            place += np.uint64(1)
            if place == end:
                place = begin
