"""What ``strict`` tells of odd rows: every kind with how many there are and where the first one is. Private."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.data.errors import RowError


@dataclass(slots=True)
class _Kind:
    what: str
    column: str | None
    remedy: str
    file: str | None
    line: int
    count: int

    def __str__(self) -> str:
        column = f"column {self.column!r}" if self.column else ""
        places = [f"file {self.file!r}" if self.file else "", f"line {self.line}", column]
        many = f" ({self.count} times, here first)" if self.count > 1 else ""
        return f"{', '.join(filter(None, places))}: {self.what}{many}. {self.remedy}"


class Faults:
    """Kinds of odd rows, for whoever may look at the rows."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str | None], _Kind] = {}

    def note(
        self, what: str, *, file: str | None, line: Callable[[], int], column: str | None, remedy: str, count: int = 1
    ) -> None:
        """Take down some faults of one kind. The first place is asked for once: to find it may take a while."""
        known = self._kinds.get((what, column))
        if known is None:
            self._kinds[what, column] = _Kind(what, column, remedy, file, line(), count)
        else:
            known.count += count

    def refuse(self) -> None:
        """Raise one error for all faults, if there are any."""
        kinds = sorted(self._kinds.values(), key=lambda kind: (kind.file or "", kind.line))
        if kinds:
            lines = [str(kind) for kind in kinds]
            text = lines[0] if len(lines) == 1 else "\n- ".join([f"{len(lines)} kinds of faults:", *lines])
            raise RowError(text, file=kinds[0].file, line=kinds[0].line, column=kinds[0].column)


@dataclass(frozen=True, slots=True)
class Where:
    """Where a frame comes from: a file, and the line of each row of the frame. And where its faults are noted."""

    file: str | None = None
    line_of: Callable[[int], int] = lambda place: place + 1
    faults: Faults = field(default_factory=Faults)

    def refuse(self, bad: pl.Series | NDArray[np.bool_], what: str, column: str, remedy: str) -> None:
        """Note the bad rows, if there are any."""
        places = np.flatnonzero(np.asarray(bad))
        if len(places):
            first = int(places[0])
            line, count = lambda: self.line_of(first), len(places)
            self.faults.note(what, file=self.file, line=line, column=column, remedy=remedy, count=count)
