"""Bins by private quantiles: a histogram over a public grid goes through the gate, the bins are read off its release.

``column_histogram`` is private and sealed; ``quantile_edges`` sees a release alone. One histogram gives all quantiles
at once: its noise adds up to about √(cells · 2)/ε rows at the middle of the grid, where k choices by the exponential
mechanism, each with ε/k, would be off by about 2 k ln(cells)/ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.bounding import Bounding
from tacit.data.columns import NumberColumn
from tacit.data.files import FileOptions
from tacit.data.schema import Schema
from tacit.data.sources import open_source
from tacit.data.statistics import bounding_version, tally
from tacit.errors import bad_parameter
from tacit.privacy.exact import Exact
from tacit.privacy.unit import Sensitivity


def column_histogram(
    data: Any,
    schema: Schema,
    column: str,
    *,
    cells: int = 256,
    seed: int | None = None,
    y: Any = None,
    persons: Any = None,
    options: FileOptions | None = None,
    version: str | None = None,
) -> Exact:
    """Count the values of a numeric column in equal cells between its declared bounds.

    Parameters
    ----------
    data, y, persons, options, version
        As for :func:`tacit.data.sources.open_source`.
    schema : Schema
        Its column of that name gives the public bounds; its bins are not used.
    column : str
    cells : int, default 256
        Fineness of the public grid.

    Returns
    -------
    Exact of shape (cells + 1,)
        The last entry counts missing values. A row is in one cell.
    """
    declared = _declared(schema, column)
    grid = NumberColumn.equal_bins(column, declared.edges[0], declared.edges[-1], cells, declared.decimal)
    alone = replace(schema, columns=(grid,))
    source = open_source(data, alone, y=y, persons=persons, options=options, version=version)
    bounding = Bounding(1, schema.unit, seed)
    table, _ = tally(source, bounding)
    return Exact(
        table.reshape(len(schema.classes), -1).sum(axis=0),
        sensitivity=Sensitivity.of_row_counts(bounding.bound),
        unit=schema.unit,
        query=f"rows by value of {column!r} ({cells} cells and missing)",
        version=f"{source.version}/{bounding_version(bounding, alone)}",
    )


def _declared(schema: Schema, column: str) -> NumberColumn:
    for candidate in schema.columns:
        if candidate.name == column and isinstance(candidate, NumberColumn):
            return candidate
    raise bad_parameter("column_histogram", "column", "a numeric column of the schema", column)


def quantile_edges(released: Sequence[int] | NDArray[Any], low: float, high: float, bins: int) -> tuple[float, ...]:
    """Read bins of about equal weight off a released histogram.

    Parameters
    ----------
    released : array
        The values of the release of :func:`column_histogram`.
    low, high : float
        The declared bounds.
    bins : int
        At most so many; heavy cells make fewer.

    Examples
    --------
    >>> quantile_edges([50, 30, 10, 10, 0], 0.0, 4.0, 2)
    (0.0, 1.0, 4.0)
    """
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise bad_parameter("quantile_edges", "bins", "a whole number of at least 1", bins)
    counts = np.asarray(released, dtype=np.float64)[:-1]
    if counts.ndim != 1 or not len(counts):
        raise bad_parameter(
            "quantile_edges", "released", "a histogram with a last entry for missing values", counts.shape
        )
    grid = np.array(NumberColumn.equal_bins("grid", low, high, len(counts)).edges)
    # Noisy sums may fall: the running maximum is the nearest that does not, up to where the total is.
    below = np.maximum.accumulate(np.maximum(np.cumsum(counts), 0.0))
    if below[-1] <= 0:
        return float(low), float(high)
    places = np.searchsorted(below, below[-1] * np.arange(1, bins) / bins) + 1
    inner = np.unique(places[places < len(counts)])
    return (float(low), *(float(edge) for edge in grid[inner]), float(high))
