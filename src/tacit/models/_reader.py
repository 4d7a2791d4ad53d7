"""Checked access to the fields of a model file. Public side.

A file is data from anywhere: every field is checked for its type, its shape and its place before it is used.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ModelError

Json = dict[str, Any]

LARGEST = 2.0**200
"""Of the numbers in an array. No weight that was ever released comes near it, and products and sums of a few such
numbers are still finite: a weight that overflows beside another tells by that whether a row has both."""


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def read_json(path: Path) -> Json:
    """The content of a file, which must be one JSON object."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except OSError as error:
        raise ModelError(f"The model file {str(path)!r} cannot be read: {error.strerror}. Check the path.") from None
    except (ValueError, RecursionError):
        raise ModelError(
            f"The model file {str(path)!r} cannot be used: it is not valid JSON. Is it a model.json, and complete?"
        ) from None
    if not isinstance(body, dict):
        raise ModelError(f"The model file {str(path)!r} cannot be used: it is no model of tacit's.")
    return body


class Reader:
    """Checked access to the fields of a model file."""

    def __init__(self, body: Mapping[str, Any], place: str) -> None:
        self.body = body
        self.place = place

    def error(self, why: str) -> ModelError:
        """The one sentence that every error about a file follows."""
        return ModelError(f"The model file {self.place!r} cannot be used: {why}.")

    def only(self, allowed: set[str]) -> None:
        """Refuse fields that nobody would read."""
        strange = sorted(set(self.body) - allowed)
        if strange:
            raise self.error(f"it has unknown fields {strange[:5]}")

    def mapping(self, name: str) -> Mapping[str, Any]:
        """A field that is an object."""
        value = self.body.get(name)
        if not isinstance(value, dict):
            raise self.error(f"its field {name!r} is missing or no object")
        return value

    def inner(self, name: str) -> Reader:
        """A reader of a field that is an object."""
        return Reader(self.mapping(name), self.place)

    def classes(self) -> tuple[Any, ...]:
        """The declared labels."""
        value = self.body.get("classes")
        texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
        numbers = isinstance(value, list) and all(_number(item) or isinstance(item, bool) for item in value)
        if not (texts or numbers) or len(value or ()) < 2 or len(set(value or ())) < len(value or ()):
            raise self.error("its classes must be two or more different texts or numbers")
        return tuple(value or ())

    def parameter(self, name: str) -> Any:
        """A number, a text or nothing."""
        value = self.body.get(name)
        if not (value is None or _number(value) or isinstance(value, str)):
            raise self.error(f"its parameter {name!r} must be a number, a text or null")
        return value

    def whole(self, name: str, least: int, most: int = 2**53) -> int:
        """A whole number between bounds."""
        value = self.body.get(name)
        if not is_whole(value) or not least <= value <= most:
            raise self.error(f"its field {name!r} must be a whole number from {least} to {most}")
        return int(value)

    def names(self, name: str, size: int) -> NDArray[Any]:
        """A list of texts."""
        value = self.body[name]
        if not isinstance(value, list) or len(value) != size or not all(isinstance(item, str) for item in value):
            raise self.error(f"{name!r} must be a list of {size} texts")
        return np.array(value, dtype=object)

    def array(self, name: str, dtype: str, shape: str, sizes: dict[str, int]) -> NDArray[Any]:
        """An array of finite numbers; dimensions named by a letter must be the same wherever they stand."""
        value = self.body.get(name)
        want_whole = dtype == "i8"
        if not isinstance(value, list) or not _numbers(value, len(shape), whole=want_whole):
            raise self.error(f"{name!r} must be an array of {'whole' if want_whole else 'finite'} numbers")
        try:
            found = np.array(value, dtype=dtype)
        except (ValueError, OverflowError):
            raise self.error(f"{name!r} has rows of different lengths, or numbers that are too large") from None
        if (np.abs(found.astype(np.float64)) > LARGEST).any():
            raise self.error(f"{name!r} has numbers beyond ±2^200, which no release has: get it anew from its maker")
        if found.ndim != len(shape) and not (found.size == 0 and found.ndim == 1):
            raise self.error(f"{name!r} must have {len(shape)} dimension(s)")
        for sign, size in zip(shape, found.shape, strict=False):
            expected = int(sign) if sign.isdigit() else sizes.setdefault(sign, size)
            if size != expected:
                raise self.error(f"{name!r} has {size} entries where {expected} belong")
        return found


def _numbers(value: Any, depth: int, *, whole: bool) -> bool:
    if depth > 1:
        return all(isinstance(row, list) and _numbers(row, depth - 1, whole=whole) for row in value)
    return all(map(is_whole, value)) if whole else all(map(_number, value))


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a value is a whole number, and not true or false."""
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)
