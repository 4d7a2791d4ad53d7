"""Outputs of anything, as numbers that a learner can read: values, shapes, and the last bits of floats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST_COLUMNS = 4096


@dataclass(frozen=True, slots=True)
class Encoded:
    """Runs as rows.

    Attributes
    ----------
    atoms : array of integers
        The same number for outputs that are the same, -1 for one that was seen once.
    names : list of str
        What the atoms stand for.
    columns : array (runs, columns)
        Numbers of the output, NaN where an output has none; at the end the length, and the last bits of floats.
    titles : list of str
        What the columns are.
    """

    atoms: NDArray[np.int64]
    names: list[str]
    columns: Floats
    titles: list[str]

    def take(self, places: Any) -> Encoded:
        """Some of the runs."""
        return Encoded(self.atoms[places], self.names, self.columns[places], self.titles)


def encode(outputs: Sequence[Any]) -> Encoded:
    """Encode outputs of many runs together, so that the same output has the same code everywhere."""
    vectors, keys = zip(*(_flatten(output) for output in outputs), strict=True)
    atoms, names = _atoms(list(keys))
    lengths = np.array([len(vector) for vector in vectors])
    width = min(int(lengths.max(initial=0)), MOST_COLUMNS)
    table = np.full((len(vectors), width), np.nan)
    for row, vector in zip(table, vectors, strict=True):
        row[: min(len(vector), width)] = vector[:width]
    columns, titles = [table], [f"value {place}" for place in range(width)]
    if len(np.unique(lengths)) > 1:
        columns.append(lengths[:, None].astype(np.float64))
        titles.append("length")
    fractional = np.flatnonzero((np.nan_to_num(table) % 1 != 0).any(axis=0))
    if len(fractional):
        columns.append(last_bit(table[:, fractional]))
        titles += [f"last bit of value {place}" for place in fractional]
    return Encoded(atoms, names, np.hstack(columns), titles)


def last_bit(values: Floats) -> Floats:
    """The power of two of the last binary digit that is set: what floating-point noise forgets to hide."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    trailing = np.log2(np.where(whole == 0, 1, whole & -whole).astype(np.float64))
    return np.where(whole == 0, 1024.0, exponent - 53 + trailing)


def _atoms(keys: list[bytes | str]) -> tuple[NDArray[np.int64], list[str]]:
    numbers: dict[bytes | str, int] = {}
    codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    often = np.bincount(codes, minlength=len(numbers)) > 1
    renumbered = np.where(often, np.cumsum(often) - 1, -1)
    kept = [key for key, number in numbers.items() if often[number]]
    return renumbered[codes], [key if isinstance(key, str) else key.decode() for key in kept]


def _flatten(output: Any) -> tuple[Floats, str]:
    """Numbers of one output, and a text that is equal for equal outputs."""
    numbers: list[Floats] = []
    texts: list[str] = []
    _walk(output, numbers, texts)
    return (np.concatenate(numbers) if numbers else np.zeros(0)), " ".join(texts)


def _walk(part: Any, numbers: list[Floats], texts: list[str]) -> None:
    if isinstance(part, Mapping):
        for key in sorted(part, key=str):
            texts.append(f"{key}:")
            _walk(part[key], numbers, texts)
        return
    if isinstance(part, str | bytes):
        texts.append(repr(part))
        return
    array = np.asarray(part) if not isinstance(part, list | tuple) else None
    if array is not None and array.dtype.kind in "biuf":
        values = np.atleast_1d(array).ravel()
        numbers.append(values.astype(np.float64))
        texts.append(str(part) if array.ndim == 0 else f"[{' '.join(map(str, values.tolist()))}]")
    elif part is None or (array is not None and array.ndim == 0):
        texts.append(repr(part))
    else:
        texts.append("(")
        for inner in part:
            _walk(inner, numbers, texts)
        texts.append(")")
