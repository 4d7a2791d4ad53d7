"""Parts of a private data set at the desk: opened and split here, handed on unread, scored here.

The public side holds a :class:`Part` as one holds a sealed letter: it passes it to an estimator, whose visit opens it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import scipy.sparse as sp

from tacit.data.columns import CategoryColumn, Column, NumberColumn, SparseColumn, TextColumn
from tacit.data.errors import SchemaError
from tacit.data.features import as_text
from tacit.data.files import check_files, format_of, list_files, pieces
from tacit.data.readers import FileOptions
from tacit.data.schema import Schema
from tacit.data.series import check_collected, listed
from tacit.data.sources import BATCH_ROWS, Source, open_source
from tacit.data.sparse import native
from tacit.data.split import coin_limit
from tacit.data.tables import Batch, Table, split_table, table_of_matrix, table_of_source
from tacit.desk.blackbox import in_silence
from tacit.desk.checks import check_known_classes
from tacit.desk.scores import Binned, release_scores
from tacit.errors import PrivacyError, bad_parameter
from tacit.ledger import Account
from tacit.privacy.budget import Budget
from tacit.privacy.unit import Unit, check_persons

__all__ = [
    "FileOptions",
    "Named",
    "Part",
    "coin_limit",
    "describe",
    "is_path",
    "is_text_schema",
    "open_part",
    "read_columns",
    "release_curve",
    "row_widths",
    "rows_for_fit",
    "texts_of",
]

LABEL = "label"
"""Name of the label's column where labels come as an array."""

Kind = Literal["text", "table", "matrix"]

_MADE_UP = ("", "1")


class Part:
    """Private rows on their way from one desk to the next. It shows nothing but its public description.

    Attributes
    ----------
    kind : {"text", "table", "matrix"}
    """

    __slots__ = ("_table", "kind")

    def __init__(self, kind: Kind, table: Table) -> None:
        self.kind = kind
        self._table = table

    @property
    def schema(self) -> Schema:
        """The public description."""
        return self._table.schema

    @property
    def version(self) -> str:
        """A name for these rows. Not for showing."""
        return self._table.version

    def source(self, schema: Schema) -> Source:
        """The rows under a model's description of them; for a visit."""
        return self._table.rows(schema)

    def table(self) -> Table:
        """The rows; for the desk."""
        return self._table

    def without_rows(self) -> Part:
        """The same public description, and not one row: for rehearsals."""
        return Part(self.kind, Table(self.schema, lambda: iter(()), lambda: "no rows"))

    def made_up(self) -> list[Any]:
        """Two rows that nobody brought, each by itself, in any form in which a model may get those of this part."""
        if self.kind == "text":
            return [pl.Series("text", [text]) for text in _MADE_UP]
        if self.kind == "table":
            ends = [(column.name, *_ends(column)) for column in self.schema.columns]
            return [pl.DataFrame({name: [cells[i]] for name, *cells in ends}) for i in range(len(_MADE_UP))]
        rows = [np.full((1, self.schema.n_features), number) for number in (0.0, 1.0)]
        return [*rows, *map(sp.csr_array, rows)]  # in both forms: no row is looked at to tell which

    def split(
        self, test_size: float, account: Account, seed: int | None = None
    ) -> tuple[Part, Part, dict[str, Account]]:
        """Split by a coin for each row or person: train, test, and an account for each."""
        train, test, accounts = split_table(self._table, test_size, account, seed)
        return Part(self.kind, train), Part(self.kind, test), accounts

    def __repr__(self) -> str:
        return f"<private {self.kind}>"

    def __reduce__(self) -> Any:
        raise PrivacyError("A part of a private data set cannot be stored. Open the data again.")


@dataclass(frozen=True, slots=True, repr=False)
class Named:
    """Private rows in memory, and what tells a fit on them from another that is asked of the same account.

    Whether two requests are the same must not depend on rows: a column more or less, of which no row has anything, is
    another request.

    Attributes
    ----------
    rows : matrix, frame or texts
    version : str, or None
        A name for the rows; None means a fingerprint of them.
    view : str
        What was made of the data to get these rows, in public terms.
    """

    rows: Any
    version: str | None = None
    view: str = ""

    @classmethod
    def of(cls, X: Any) -> Named:
        """Rows with their name, or as they come."""
        return X if isinstance(X, cls) else cls(X)

    def seen(self, rows: Any, *view: Any) -> Named:
        """What was made of these rows; ``view`` is plain data that says how."""
        text = json.dumps([self.view, *view])
        return Named(rows, self.version, hashlib.sha256(text.encode()).hexdigest())


def is_path(data: Any) -> bool:
    """Whether data are files. A ``str`` is one, too: a single text is no data set."""
    return isinstance(data, str | Path)


def is_matrix(data: Any) -> bool:
    """Whether data are a matrix of numbers in memory."""
    return sp.issparse(data) or (isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "biuf")


def row_widths(rows: Sequence[Any]) -> set[int | None]:
    """How many cells the rows of a list have: None stands for those that are no rows of cells, such as texts."""
    return {len(row) if type(row) in (list, tuple) else _width(row) for row in rows}


def _width(row: Any) -> int | None:
    shape = getattr(row, "shape", None)
    if isinstance(shape, tuple):
        return int(shape[0]) if len(shape) == 1 else None
    return len(row) if isinstance(row, Sequence) and not isinstance(row, str | bytes | bytearray) else None


def is_text_schema(schema: Schema) -> bool:
    """Whether a description is of one column of text."""
    return len(schema.columns) == 1 and isinstance(schema.columns[0], TextColumn)


def read_columns(
    data: str | Path,
    columns: list[str],
    options: FileOptions | None = None,
    dropped: list[Path] | None = None,
    keep: tuple[str, ...] = (),
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Read some columns of files, batch by batch, in the order of the rows. The rows are the user's own.

    The columns to keep come beside the others, and those of JSON Lines as Python's objects: a number stays one.
    """
    settings = options or FileOptions()
    paths = list_files(data)
    for path in paths:
        if format_of(path, settings) == "libsvm":
            raise SchemaError(f"The file {str(path)!r} is libsvm, which has no names of columns.", file=str(path))
    names = list(dict.fromkeys([*columns, *keep]))
    check_files(paths, names, settings, by_content=True)
    how: dict[str, Any] = {"batch_rows": BATCH_ROWS, "strict": None, "dropped": dropped, "keep": keep}
    found = (piece for path in paths for piece in pieces(path, names, settings, **how))
    return ((piece.frame.select(columns), _kept(piece.frame.select(keep), piece.kept)) for piece in found)


def _kept(frame: pl.DataFrame, as_they_were: dict[str, list[Any]]) -> pl.DataFrame:
    return frame.with_columns(pl.Series(name, values, dtype=pl.Object) for name, values in as_they_were.items())


def open_part(
    data: Any,
    y: Any = None,
    *,
    classes: tuple[Any, ...],
    unit: Unit,
    label: str | None = None,
    text: str | None = None,
    schema: Schema | None = None,
    persons: Any = None,
    options: FileOptions | None = None,
    version: str | None = None,
    strict: bool = False,
) -> Part:
    """Open a user's data: texts, a table under a schema, or a matrix. Nothing of the rows is told.

    Parameters
    ----------
    data, y, persons
        As for :func:`tacit.data.sources.open_source`.
    classes : declared labels
    unit : what is protected
    label, text : names of columns, optional
    schema : Schema, optional
        For tables and libsvm files; its classes, label and unit give way to those above.
    options : FileOptions, optional
        How files are written.
    version : str, optional
        A name for this version of the data; default a fingerprint of it.
    strict : bool
        Read everything once, and raise an error that names all kinds of odd rows, if there are any.
    """
    check_persons(unit, persons)
    if schema is None and is_matrix(data):
        if y is None:
            raise bad_parameter("Workflow.run", "y", "given with a matrix", None)
        wide = replace(Schema.matrix(data.shape[1], classes), unit=unit)
        return Part("matrix", table_of_matrix(native(data), y, wide, persons, version=version, strict=strict))
    described = describe(data, y, classes=classes, unit=unit, label=label, text=text, schema=schema)
    source = open_source(data, described, y=y, persons=persons, options=options, strict=strict, version=version)
    if not strict:  # which has read everything
        source.checked()
    sparse = isinstance(described.columns[0], SparseColumn)
    kind: Kind = "matrix" if sparse else "text" if schema is None else "table"
    return Part(kind, table_of_source(source))


def _ends(column: Column) -> tuple[Any, Any]:
    """The first and the last cell that are declared for a column, or two texts."""
    if isinstance(column, CategoryColumn):
        return column.values[0], column.values[-1]
    return (column.edges[0], column.edges[-1]) if isinstance(column, NumberColumn) else _MADE_UP


def describe(
    data: Any,
    y: Any,
    *,
    classes: tuple[Any, ...],
    unit: Unit,
    label: str | None,
    text: str | None,
    schema: Schema | None,
) -> Schema:
    """The description of the columns that are read."""
    data = listed(data)
    if (
        isinstance(data, list | tuple)
        and data
        and all(issubclass(type(row), list | tuple | np.ndarray) for row in data)
    ):
        remedy = "For a matrix pass an array: np.asarray(X)."
        raise bad_parameter("Workflow.run", "X", "a list of texts, a table or a matrix", "a list of lists", remedy)
    check_collected("Workflow.run", data)
    has_columns = is_path(data) or hasattr(data, "columns") or hasattr(data, "column_names")
    if schema is not None:
        name = label or schema.label
        if y is None and name is not None and name == schema.label:
            check_known_classes("Workflow", classes, schema)
        if isinstance(schema.columns[0], SparseColumn):
            return replace(schema, classes=classes, label=None, unit=unit)
    elif text is None and has_columns:
        remedy = (
            "Name the column of texts, or describe the columns: see `tacit schema draft`. A frame of zeros and ones is "
            "passed as a matrix: X.to_numpy()."
        )
        raise bad_parameter("Workflow", "text", "given, or else schema, for data with columns", None, remedy)
    elif text is not None and text in (label, unit.column):
        raise bad_parameter("Workflow", "text", "another column than those of labels and persons", text)
    else:
        name = label
        schema = Schema.text(classes, name=text or "text")
    if name is None and y is None:
        raise bad_parameter("Workflow", "label", "the name of the label's column, or y given", None)
    taken = {column.name for column in schema.columns} | {unit.column}
    free = next(word for word in (LABEL, "y", "class", "label of the row") if word not in taken)
    return replace(schema, classes=classes, label=name or free, unit=unit)


def rows_for_fit(part: Part) -> tuple[Named, Any, Any]:
    """All rows in memory, for an estimator that cannot read them in batches: X, y, persons.

    X holds a Polars column of texts, a Polars frame, or a matrix, under the name of the part.
    """
    batches = list(part.table().batches())
    labels = np.concatenate([batch.labels for batch in batches]) if batches else np.zeros(0, dtype=np.int64)
    people = [batch.persons for batch in batches if batch.persons is not None]
    X = Named(_joined(batches, part), part.version)
    return X, np.array(part.schema.classes)[labels], pl.concat(people) if people else None


def _joined(batches: list[Batch], part: Part) -> Any:
    parts = [batch.data for batch in batches]
    if part.kind == "matrix":
        if not parts:
            return sp.csr_array((0, part.schema.n_features))
        if len(parts) == 1:
            return parts[0]
        return sp.csr_array(sp.vstack(parts)) if sp.issparse(parts[0]) else np.vstack(parts)
    names = [column.name for column in part.schema.columns]
    frame = pl.concat(parts) if parts else pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    return texts_of(frame) if part.kind == "text" else frame


def texts_of(frame: pl.DataFrame) -> pl.Series:
    """The first column as texts; a missing one is empty."""
    return as_text(frame.to_series(0), frame.columns[0]).fill_null("")


@in_silence()
def release_curve(
    part: Part,
    score: Callable[[Any], Any],
    *,
    name: str,
    budget: Budget,
    account: Account,
    random_state: int | None = None,
) -> Binned:
    """Score the rows batch by batch, and release the counts of a ROC curve; the last class is the positive one.

    Only labels, scores and persons are kept in memory. ``score`` must look at each row by itself. ``name`` is that of
    what scores them: another model is another request, also where no row is scored otherwise by it. All of it is done
    in silence: a model that comes from a file can have weights that overflow for one row alone.
    """
    labels: list[Any] = []
    scores: list[Any] = []
    people: list[pl.Series] = []
    for batch in part.table().batches():
        if not len(batch.labels):
            continue
        labels.append(batch.labels)
        scores.append(np.asarray(score(texts_of(batch.data) if part.kind == "text" else batch.data), dtype=np.float64))
        people += [] if batch.persons is None else [batch.persons]
    last = len(part.schema.classes) - 1
    return release_scores(
        np.concatenate(labels) if labels else np.zeros(0, dtype=np.int64),
        np.concatenate(scores) if scores else np.zeros(0),
        budget=budget,
        pos_label=last,
        score_range=(0.0, 1.0),
        persons=_people(people, account.unit),
        account=account,
        random_state=random_state,
        version=f"{part.version}/{name}",
    )


def _people(people: list[pl.Series], unit: Unit) -> pl.Series | None:
    if unit.column is None:
        return None
    return pl.concat(people) if people else pl.Series(unit.column, [], dtype=pl.String)
