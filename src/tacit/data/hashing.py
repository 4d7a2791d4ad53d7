"""XXH64 on whole arrays: the one hash behind tokens, buckets, bounding and splitting.

Sees numbers and bytes, returns numbers; holds no state and no secret.

Two functions, both equal to Apache Spark's built-in ``xxhash64``, so that any engine that has XXH64 can repeat them:

- ``hash_strings``: XXH64 of the UTF-8 bytes with seed 42, read as a signed 64-bit integer.
- ``chain(a, b, c, …)``: h₀ = 42, hᵢ = XXH64(the i-th integer as 8 little-endian bytes, seed hᵢ₋₁); the last h, signed.
  For fixed leading integers it is a bijection of the last one, so distinct last integers never tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import xxhash
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Words = NDArray[np.uint64]

SEED = 42

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_MASK = (1 << 64) - 1
_PAD = 8
_SHORT = 32  # XXH64 treats 32 bytes and more in another way


def chain(*parts: int | Longs) -> Longs:
    """Hash integers one after another, each seeded with the hash so far; arrays broadcast.

    Examples
    --------
    >>> chain(7, np.array([1, 2]))
    array([3110148328363424865, 4598994807287660699])
    """
    state = np.array([SEED], dtype=np.uint64)
    for part in parts:
        state = _hash_word(spread(np.atleast_1d(np.asarray(part, dtype=np.int64))), state)
    return state.view(np.int64)


def chain_last(prefix: Longs, spread_last: Words) -> Longs:
    """``chain(…, j)`` where ``prefix`` is the chain so far and ``spread_last`` is ``spread(j)``, made once for many."""
    return _hash_word(spread_last, prefix.view(np.uint64)).view(np.int64)


def spread(values: NDArray[np.signedinteger[Any]]) -> Words:
    """The part of the hash of an integer that does not depend on the seed."""
    word = values.astype(np.int64, copy=False).view(np.uint64) * _P2
    _rotate(word, 31)
    word *= _P1
    return word


def _hash_word(spread_value: Words, seed: Words) -> Words:
    state = (seed + (_P5 + np.uint64(8))) ^ spread_value
    _rotate(state, 27)
    state *= _P1
    state += _P4
    return _avalanche(state)


def _rotate(state: Words, bits: int) -> None:
    low = state >> np.uint64(64 - bits)
    state <<= np.uint64(bits)
    state |= low


def _avalanche(state: Words) -> Words:
    """Mix in place: the caller owns ``state``."""
    state ^= state >> np.uint64(33)
    state *= _P2
    state ^= state >> np.uint64(29)
    state *= _P3
    state ^= state >> np.uint64(32)
    return state


def hash_strings(strings: pl.Series | Sequence[str]) -> Longs:
    """XXH64 (seed 42) of each string's UTF-8 bytes.

    Examples
    --------
    >>> hash_strings(["", "tacit"])
    array([-7444071767201028348,  8579740143910953033])
    """
    series = strings if isinstance(strings, pl.Series) else pl.Series(strings, dtype=pl.String)
    buffer, offsets = string_buffer(series)
    return hash_slices(buffer, offsets[:-1], np.diff(offsets)).view(np.int64)


def string_buffer(series: pl.Series) -> tuple[NDArray[np.uint8], Longs]:
    """The UTF-8 bytes of all strings, one after the other with some padding at the end, and where each begins."""
    arrow = series.rechunk().to_arrow()
    _, offset_bytes, data = arrow.buffers()
    offsets = np.frombuffer(offset_bytes, dtype=np.int64)[arrow.offset : arrow.offset + len(arrow) + 1]
    size = int(offsets[-1]) if len(offsets) else 0
    buffer = np.zeros(size + _PAD, dtype=np.uint8)
    if size:
        buffer[:size] = np.frombuffer(data, dtype=np.uint8)[:size]
    return buffer, offsets


def hash_slices(buffer: NDArray[np.uint8], starts: Longs, lengths: Longs) -> Words:
    """XXH64 (seed 42) of many slices of a buffer that ends with 8 bytes of padding.

    Slices are grouped by length, so that each group runs through the same few array operations.
    """
    out = np.empty(len(starts), dtype=np.uint64)
    if not len(starts):
        return out
    short = np.minimum(lengths, _SHORT).astype(np.uint8)
    order = np.argsort(short, kind="stable")  # a radix sort for bytes
    edges = np.searchsorted(short[order], np.arange(_SHORT + 1, dtype=np.uint8))
    # Unaligned reads of 8 and of 4 bytes at any place of the buffer.
    eights = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))
    fours = np.ndarray((len(buffer) - 3,), dtype="<u4", buffer=buffer, strides=(1,))
    for length in range(_SHORT):
        group = order[edges[length] : edges[length + 1]]
        if len(group):
            out[group] = _hash_equal_lengths(buffer, eights, fours, starts[group], length)
    for index in order[edges[_SHORT] :]:
        begin = int(starts[index])
        out[index] = xxhash.xxh64_intdigest(buffer[begin : begin + int(lengths[index])].tobytes(), seed=SEED)
    return out


def _hash_equal_lengths(
    buffer: NDArray[np.uint8], eights: NDArray[np.uint64], fours: NDArray[np.uint32], starts: Longs, length: int
) -> Words:
    start = np.uint64((SEED + int(_P5) + length) & _MASK)
    state = np.full(len(starts), start, dtype=np.uint64)
    place = 0
    while length - place >= 8:
        lane = eights[starts + place] * _P2
        _rotate(lane, 31)
        lane *= _P1
        state ^= lane
        _rotate(state, 27)
        state *= _P1
        state += _P4
        place += 8
    if length - place >= 4:
        half = fours[starts + place].astype(np.uint64)
        half *= _P1
        state ^= half
        _rotate(state, 23)
        state *= _P2
        state += _P3
        place += 4
    while place < length:
        byte = buffer[starts + place].astype(np.uint64)
        byte *= _P5
        state ^= byte
        _rotate(state, 11)
        state *= _P1
        place += 1
    return _avalanche(state)
