"""``tacit score``: apply a released model to the rows of files."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from tacit.cli import common
from tacit.errors import bad_parameter

if TYPE_CHECKING:
    import polars as pl

TEXT = (
    "apply a released model to rows: CSV, Parquet or JSON Lines out. The scores of private rows are private data "
    "again: keep them as you keep the rows"
)
NAMES = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit score`` to the command line."""
    parser = commands.add_parser("score", help="apply a released model to rows", description=TEXT)
    parser.add_argument("model", metavar="MODEL", help="a model.json, or the folder that holds it")
    parser.add_argument("data", metavar="DATA", help="a file, a folder or a glob")
    parser.add_argument("--out", metavar="FILE", required=True, help="a new file: .csv, .parquet or .jsonl")
    parser.add_argument("--text", metavar="COL", help="the column of texts (default: the model's)")
    parser.add_argument("--keep", metavar="A,B", default="", help="columns to copy beside the scores, such as an id")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    common.add_files(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from tacit.models.storage import load
    from tacit.scoring import score_batches

    target = Path(arguments.out)
    kind = NAMES.get(target.suffix.lower())
    if kind is None:
        raise bad_parameter("tacit score", "--out", f"a name that ends with one of {sorted(NAMES)}", arguments.out)
    if target.exists():
        remedy = "Choose another name, or remove it first."
        raise bad_parameter("tacit score", "--out", "a file that does not exist yet", arguments.out, remedy)
    model = load(arguments.model)
    dropped: list[Path] = []
    batches = score_batches(
        model,
        arguments.data,
        text=arguments.text,
        keep=tuple(common.words(arguments.keep)),
        options=common.file_options(arguments),
        dropped=dropped,
    )
    with common.progress(1, quiet=arguments.json) as tell:
        tell("Scoring")
        with _writing(target, kind) as write:
            for batch in batches:
                write(batch)
    facts = {"file": str(target), "columns": ["prediction", "score"], "positive": model.classes_.tolist()[-1]}
    facts["left_out"] = len(dropped)
    text = (
        f"Wrote {target}: 'prediction', and 'score', the probability of {facts['positive']!r}. Scores of private rows "
        "are private data again: keep them as you keep the rows."
    )
    if dropped:
        text += f"\n{_left_out(dropped)}"
    return common.show(arguments, facts, text)


def _left_out(dropped: list[Path]) -> str:
    places = ", ".join(f"{number:,} of {str(path)!r}" for path, number in Counter(dropped).items())
    return (
        f"Records that cannot be read have no score: {places}. They have too few or too many fields, or are no JSON "
        "object. So rows no longer line up with the file: tell them apart by a column in --keep."
    )


@contextmanager
def _writing(target: Path, kind: str) -> Iterator[Callable[[Any], None]]:
    """Write batches beside the target, and put the file in its place when all of it is there."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as file:
            writer = _writer(file, kind)
            yield writer.write
            writer.close()
        part.rename(target)
    except OSError as error:
        raise bad_parameter("tacit score", "--out", f"writable ({error.strerror})", str(target)) from None
    finally:
        with suppress(OSError):
            part.unlink()


class _Lines:
    """CSV or JSON Lines."""

    def __init__(self, file: Any, kind: str) -> None:
        self._file, self._kind, self._first = file, kind, True

    def write(self, batch: Any) -> None:
        if self._kind == "csv":
            plain = _typed(batch)
            _refuse_nested(plain)
            plain.write_csv(self._file, include_header=self._first)
        elif any(_is_json(series) for series in batch):
            self._file.write(_json_lines(batch))
        else:
            batch.write_ndjson(self._file)
        self._first = False

    def close(self) -> None:
        """Nothing is left to write."""


def _json_lines(batch: pl.DataFrame) -> bytes:
    """Records of which some values are JSON's: each comes out as it went in."""
    records = zip(*(series.to_list() for series in batch), strict=True)
    lines = [json.dumps(dict(zip(batch.columns, record, strict=True)), ensure_ascii=False) for record in records]
    # Half of a surrogate pair has no UTF-8: it is written as JSON escapes it.
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def _typed(batch: pl.DataFrame) -> pl.DataFrame:
    """Values of JSON in columns of a type: truth values or numbers where all are, texts otherwise."""
    return batch.with_columns(_typed_series(series) for series in batch if _is_json(series))


def _is_json(series: pl.Series) -> bool:
    return str(series.dtype) == "Object"


def _typed_series(series: pl.Series) -> pl.Series:
    import polars as pl

    values = series.to_list()
    kinds = {type(value) for value in values} - {NoneType}
    if kinds & {list, dict}:
        expected = "columns without lists and objects"
        raise bad_parameter("tacit score", "--keep", expected, series.name, "Write .jsonl instead.")
    if kinds == {bool}:
        return pl.Series(series.name, values, dtype=pl.Boolean)
    if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):
        return pl.Series(series.name, values, dtype=pl.Int64)
    if float in kinds and kinds <= {int, float} and all(abs(value) < 2**53 for value in values if type(value) is int):
        return pl.Series(series.name, values, dtype=pl.Float64, strict=False)
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    whole = [text and text.encode("utf-8", "replace").decode() for text in texts]
    return pl.Series(series.name, whole, dtype=pl.String)


def _refuse_nested(batch: Any) -> None:
    nested = [series.name for series in batch if series.dtype.is_nested()]
    if nested:
        expected = "columns that a CSV file can hold"
        raise bad_parameter("tacit score", "--keep", expected, nested, "Write .parquet or .jsonl instead.")


class _Parquet:
    """Parquet, a row group for each batch."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, batch: Any) -> None:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        table = _typed(batch).to_arrow()
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
        try:
            self._writer.write_table(table.cast(self._writer.schema))
        except (pa.ArrowException, ValueError):
            remedy = "Write .csv or .jsonl instead."
            raise bad_parameter("tacit score", "--keep", "of the same type in all files", "another", remedy) from None

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _writer(file: Any, kind: str) -> Any:
    return _Parquet(file) if kind == "parquet" else _Lines(file, kind)
