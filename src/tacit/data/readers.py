"""Readers of one file each, piece by piece: the formats that :mod:`tacit.data.files` offers. Private data comes out."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Literal

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from tacit.data.errors import SourceError, row_error
from tacit.data.features import Where, repair_utf8
from tacit.data.packed import BLOCK, gzipped, seekable, unzipped
from tacit.errors import bad_parameter

Format = Literal["csv", "tsv", "parquet", "jsonl", "libsvm"]
FORMATS: tuple[Format, ...] = ("csv", "tsv", "parquet", "jsonl", "libsvm")
LINE = "line"  # the one column of a libsvm frame
_LARGEST_BLOCK = 1 << 30


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How files are written, where their name does not tell.

    Parameters
    ----------
    format : {"csv", "tsv", "parquet", "jsonl", "libsvm"}, optional
        By default from the file's suffix, ``.gz`` aside.
    header : list of str, optional
        Names of the columns of a CSV or TSV file that has no header line.
    delimiter : str, optional
        Default a comma (CSV) or a tab (TSV).
    quote : str, optional
        Default ``"`` for CSV and none for TSV, as text corpora are written; an empty text means none.
    """

    format: Format | None = None
    header: tuple[str, ...] | None = None
    delimiter: str | None = None
    quote: str | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise bad_parameter("FileOptions", "format", f"one of {list(FORMATS)}", self.format)
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise bad_parameter("FileOptions", "delimiter", "one character", self.delimiter)
        if self.quote is not None and len(self.quote) > 1:
            raise bad_parameter("FileOptions", "quote", "one character, or empty for none", self.quote)

    def settled(self, format: Format) -> FileOptions:
        """Fill in what the format implies."""
        tsv = format == "tsv"
        delimiter = self.delimiter or ("\t" if tsv else ",")
        quote = self.quote if self.quote is not None else ("" if tsv else '"')
        return replace(self, format=format, delimiter=delimiter, quote=quote)


@dataclass(frozen=True, slots=True, repr=False)
class Piece:
    """Some consecutive records of a file, and where they are from; ``kept`` are values of JSON as they were."""

    frame: pl.DataFrame
    where: Where
    kept: dict[str, list[Any]] = field(default_factory=dict)


def column_names(path: Path, options: FileOptions) -> list[str]:
    """The names of a file's columns: its header, its Parquet schema, or the keys of its first line of JSON."""
    if options.format == "parquet":
        with seekable(path) as file:
            return list(pq.read_schema(file).names)
    if options.format == "jsonl":
        first = next((line for lines in _lines(path) for line in lines if line.strip()), b"{}")
        record = _parse_json(first)
        if record is None:
            raise SourceError(
                f"The first line of {str(path)!r} is not a JSON object. Is it JSON Lines?", file=str(path)
            )
        return list(record)
    with unzipped(path) as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise SourceError(f"The file {str(path)!r} is written in UTF-16. Write it in UTF-8.", file=str(path))
        if options.header is not None:
            return list(options.header)
        file.seek(0)
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
        names: list[str] = next(_records(text, options), [])
    if len(set(names)) < len(names):
        raise SourceError(f"The header of {str(path)!r} names a column twice. Rename one of them.", file=str(path))
    return names


# -- CSV and TSV ----------------------------------------------------------------------------------------------------


def delimited(
    path: Path, columns: list[str], options: FileOptions, batch_rows: int, strict: bool, dropped: list[Path]
) -> Iterator[Piece]:
    """Read CSV or TSV; ``dropped`` gets an entry for each record that is."""
    if options.header is not None and _is_blank(path):
        return  # no rows, which the library would take for no file
    bad: list[int | None] = []

    def drop(row: Any) -> str:
        dropped.append(path)
        return _wrong_width(row, options, bad)

    def begin_again() -> None:
        bad.clear()
        del dropped[known:]

    known, last = len(dropped), column_names(path, options)[-1]
    wanted = columns if last in columns or not options.quote else [*columns, last]
    seen, final = 0, b""
    for whole in _records_in_blocks(path, wanted, options, strict, drop, begin_again):
        _refuse_width(path, options, bad, strict)
        if options.quote and len(whole):
            final = whole[last][-1]
        for frame in whole.select(columns).iter_slices(batch_rows):
            where = Where(str(path), lambda place, seen=seen: _line_of(path, options, seen + place))  # type: ignore[misc]
            yield Piece(_decoded(frame, where if strict else None), where)
            seen += len(frame)
    if b"\n" in final and not _ends_with(path, (options.quote or "").encode()):
        bad.append(None)
    _refuse_width(path, options, bad, strict)


def _records_in_blocks(
    path: Path,
    columns: list[str],
    options: FileOptions,
    strict: bool,
    drop: Callable[[Any], str],
    begin_again: Callable[[], None],
) -> Iterator[pl.DataFrame]:
    """The records of a delimited file, a block at a time.

    A record must fit into two blocks. Where one does not, all is read again in larger blocks, and what was given
    before is left out: an error would tell of that record.
    """
    given, block = 0, BLOCK
    while True:
        seen = 0
        try:
            for batch in _parsed(path, columns, options, strict, drop, block):
                seen, begin = seen + len(batch), max(given - seen, 0)
                if seen > given:
                    given = seen
                    yield batch[begin:]
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error) or block >= _LARGEST_BLOCK:
                raise
        else:
            return
        block *= 4
        begin_again()


def _parsed(
    path: Path, columns: list[str], options: FileOptions, strict: bool, drop: Callable[[Any], str], block: int
) -> Iterator[pl.DataFrame]:
    with pa.input_stream(str(path), compression="gzip" if gzipped(path) else None) as file:
        reader = pyarrow.csv.open_csv(
            file,
            read_options=pyarrow.csv.ReadOptions(
                column_names=options.header, block_size=block, use_threads=not strict, encoding="utf8"
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=options.delimiter,
                quote_char=options.quote or False,
                newlines_in_values=bool(options.quote),
                invalid_row_handler=drop,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={name: pa.binary() for name in columns},
                include_columns=columns,
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
        for batch in reader:
            yield pl.DataFrame(pl.from_arrow(batch))


def _wrong_width(row: Any, options: FileOptions, bad: list[int | None]) -> str:
    if options.quote and _is_open(row.text, options):
        bad.append(None)  # the rest of the file was swallowed: no rule for rows covers that
    elif row.number is not None:
        bad.append(row.number)
    return "skip"


def _is_open(record: str, options: FileOptions) -> bool:
    """Whether a record ends inside quotes: a quote within a bare field opens nothing. A field may have any length."""
    quote, delimiter = re.escape(options.quote or '"'), re.escape(options.delimiter or ",")
    quoted = f"{quote}[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+{quote}"
    field = f"(?:{quoted}|(?!{quote}))[^{delimiter}]*+"
    return re.fullmatch(f"{field}(?:{delimiter}{field})*+", record) is None


def _is_blank(path: Path) -> bool:
    """Whether a file has empty lines alone."""
    with unzipped(path) as file:
        while block := file.read(BLOCK):
            if block.strip(b"\r\n"):
                return False
    return True


def _ends_with(path: Path, quote: bytes) -> bool:
    """Whether a file ends with a quote, as it must where its last field has a line break in it."""
    end = b""
    with unzipped(path) as file:
        while block := file.read(BLOCK):
            end = (end + block)[-BLOCK:]
    return end.rstrip(b"\r\n").endswith(quote)


def _refuse_width(path: Path, options: FileOptions, bad: list[int | None], strict: bool) -> None:
    if None in bad:
        raise SourceError(
            f"The file {str(path)!r} has a quote character that is never closed, so its rows cannot be told apart. "
            "Close it, or pass quote='' if quotes are ordinary characters.",
            file=str(path),
        )
    if strict and bad and bad[0] is not None:
        line = _line_of(path, options, bad[0] - (1 if options.header is not None else 2))
        remedy = "Add or remove fields; without strict the record is dropped."
        raise row_error(
            "the record has the wrong number of fields", file=str(path), line=line, column=None, remedy=remedy
        )


def _decoded(frame: pl.DataFrame, strict: Where | None) -> pl.DataFrame:
    return pl.DataFrame([repair_utf8(series, strict, series.name) for series in frame])


def _records(text: IO[str], options: FileOptions) -> Any:
    if options.quote:
        return csv.reader(text, delimiter=options.delimiter or ",", quotechar=options.quote)
    return csv.reader(text, delimiter=options.delimiter or ",", quoting=csv.QUOTE_NONE)


def _line_of(path: Path, options: FileOptions, record: int) -> int:
    """The line on which a data record begins: found by reading the file again, since only an error asks for it."""
    wanted = record + (0 if options.header is not None else 1)
    with unzipped(path) as file:
        reader = _records(io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline=""), options)
        begin = 1
        for fields in reader:
            if fields:
                if wanted == 0:
                    return begin
                wanted -= 1
            begin = int(reader.line_num) + 1
    return begin


# -- Parquet --------------------------------------------------------------------------------------------------------


def parquet(path: Path, columns: list[str], batch_rows: int) -> Iterator[Piece]:
    """Read Parquet."""
    seen = 0
    with seekable(path) as source, pq.ParquetFile(source, pre_buffer=False) as file:
        for batch in file.iter_batches(batch_size=batch_rows, columns=columns, use_threads=False):
            frame = pl.DataFrame(pl.from_arrow(batch))
            yield Piece(frame, Where(str(path), lambda place, seen=seen: seen + place + 1))  # type: ignore[misc]
            seen += len(frame)


def parquet_head(path: Path, columns: list[str]) -> pl.DataFrame:
    """The columns of a Parquet file without their rows."""
    with seekable(path) as source:
        return pl.DataFrame(pl.from_arrow(pq.read_schema(source).empty_table().select(columns)))


# -- lines ----------------------------------------------------------------------------------------------------------


def _lines(path: Path) -> Iterator[list[bytes]]:
    """The lines of a file, some at a time. Only a line feed ends a line, with a carriage return before it or not."""
    with unzipped(path) as file:
        rest = b""
        while block := file.read(BLOCK):
            *whole, rest = (rest + block).split(b"\n")
            yield [line.removesuffix(b"\r") for line in whole]
        if rest:
            yield [rest.removesuffix(b"\r")]


def _numbered(path: Path, batch_rows: int) -> Iterator[tuple[int, list[bytes]]]:
    """Batches of lines, each with the number of the line before it."""
    number = 0
    for lines in _lines(path):
        for begin in range(0, len(lines), batch_rows):
            batch = lines[begin : begin + batch_rows]
            yield number, batch
            number += len(batch)


def line_frames(path: Path, batch_rows: int) -> Iterator[Piece]:
    """Read plain lines."""
    for before, lines in _numbered(path, batch_rows):
        series = pl.Series(LINE, lines, dtype=pl.Binary)
        where = Where(str(path), lambda place, before=before: before + place + 1)  # type: ignore[misc]
        yield Piece(pl.DataFrame([repair_utf8(series, None, LINE)]), where)


def json_lines(
    path: Path, columns: list[str], batch_rows: int, strict: bool, dropped: list[Path], keep: tuple[str, ...] = ()
) -> Iterator[Piece]:
    """Read JSON Lines; all values come as text. ``dropped`` gets an entry for each line that is."""
    for before, lines in _numbered(path, batch_rows):
        values: dict[str, list[str | None]] = {name: [] for name in columns}
        kept: dict[str, list[Any]] = {name: [] for name in keep}
        numbers: list[int] = []
        for place, line in enumerate(lines):
            if not line.strip():
                continue
            number = before + place + 1
            record = _parse_json(line, strict=strict)
            if record is None:
                if strict:
                    remedy = "Correct it; without strict it is dropped."
                    raise row_error(
                        "the line is not a JSON object in UTF-8",
                        file=str(path),
                        line=number,
                        column=None,
                        remedy=remedy,
                    )
                dropped.append(path)
                continue
            if strict:
                _refuse_absent(record, columns, number, path)
            for name in columns:
                values[name].append(_json_text(record.get(name), name, number, path, strict))
            for name in keep:
                kept[name].append(record.get(name))
            numbers.append(number)
        frame = pl.DataFrame(values, schema=dict.fromkeys(columns, pl.String))
        yield Piece(frame, Where(str(path), numbers.__getitem__), kept)


def _refuse_absent(record: dict[str, Any], columns: list[str], line: int, path: Path) -> None:
    for name in columns:
        if name not in record:
            remedy = "Add it, or correct the schema's names; without strict it counts as missing."
            raise row_error("the record lacks a declared column", file=str(path), line=line, column=name, remedy=remedy)


def _parse_json(line: bytes, *, strict: bool = False) -> dict[str, Any] | None:
    try:
        record = json.loads(line.decode("utf-8-sig", "strict" if strict else "replace"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _json_text(value: Any, name: str, line: int, path: Path, strict: bool) -> str | None:
    """A JSON value as text, by the rules for typed columns."""
    if value is None or isinstance(value, str):
        return None if value is None else value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)
    if strict:
        remedy = "Flatten it; without strict it counts as missing."
        raise row_error("the value is a list or an object", file=str(path), line=line, column=name, remedy=remedy)
    return None
