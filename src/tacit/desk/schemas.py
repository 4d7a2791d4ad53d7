"""Public descriptions for whoever may not import the private side."""

from __future__ import annotations

from typing import Any

from tacit.data.schema import Schema
from tacit.errors import ParameterError


def matrix_schema(n_features: int, classes: tuple[Any, ...]) -> Schema:
    """The description of a binary matrix."""
    if n_features < 1:
        raise ParameterError(f"Found array with {n_features} feature(s) while a minimum of 1 is required.")
    return Schema.matrix(n_features, classes)
