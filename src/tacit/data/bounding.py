"""Bounding: at most r features of a row, at most m rows of a person. Sees private rows, returns private rows.

Every row (every person) is mapped by a fixed function of that row (person) alone, so neighbours stay neighbours: the
proof is in ``docs/proofs/bounding.md``. All randomness is a keyed hash of content, never of position, so the result does
not depend on order, batches, partitions or engine. The definition, for whoever repeats it elsewhere:

Let X(a, b, …) be :func:`tacit.data.hashing.chain`, which is Spark's ``xxhash64(a, b, …)`` on 64-bit integers (``long``),
and let ``seed`` be one 64-bit signed integer. All comparisons are of signed 64-bit integers.

- *feature*: its number j = 0 … d − 1 in the schema's feature space, as a long. A row is the *set* F of its features
  (before any cut), its label y = 0 … c − 1 as a position in the declared classes, and maybe a person.
- *row key*: k = XOR over j in F of X(seed, 1, j); 0 for the empty set.
- *feature order*: p(j) = X(seed, 2, k, j). A row keeps its r features of smallest p. For one row p is a bijection of j,
  so there are no ties. With a public preference, which gives each feature a rank, it keeps the r of smallest
  (rank, p); rank by default is the same for all.
- *person*: P = ``xxhash64(person id as a string)``, that is XXH64 of its UTF-8 bytes with seed 42. Rows are grouped by
  the id itself, never by P.
- *row order*: q = X(seed, 3, P, k, y). A person keeps the m rows of smallest q. Rows of one person with equal q are
  copies of each other (but for collisions of 64-bit hashes), so that any choice among them gives the same counts.
- *coin* of :mod:`tacit.data.split`: X(seed, 4, k, y) for a row, X(seed, 5, P) for a person.

Features are cut before rows are dropped; as k is that of the uncut row, the two steps commute.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.data.hashing import Longs, Words, chain, chain_last, hash_strings, spread
from tacit.data.rows import Ids, Rows, concatenate, offsets_of
from tacit.errors import bad_parameter
from tacit.privacy.unit import Bound, Unit, check_count

KEY, FEATURE_ORDER, ROW_ORDER, ROW_COIN, PERSON_COIN = 1, 2, 3, 4, 5

_TABLE_SIZE = 1 << 20  # feature spaces up to this size get their hashes from a table
_BLOCK = 1 << 16  # entries handled at a time: small enough for the processor's cache
_LAST = np.iinfo(np.int64).max


def fresh_seed() -> int:
    """A new secret seed from the operating system."""
    return int.from_bytes(os.urandom(8), "little", signed=True)


def check_seed(seed: int | None, owner: str = "Bounding") -> int:
    """A 64-bit signed seed; None draws a fresh secret one."""
    if seed is None:
        return fresh_seed()
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not -(2**63) <= int(seed) < 2**63:
        raise bad_parameter(owner, "seed", "None (a fresh secret seed) or a whole number of 64 bits", seed)
    return int(seed)
