"""Readers of one file each, piece by piece: the formats that :mod:`tacit.data.files` offers. Private data comes out."""

from __future__ import annotations

import codecs
import csv
import functools
import io
import json
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Literal

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv  # type: ignore[import-untyped]

from tacit.data.errors import SourceError
from tacit.data.faults import Faults, Where
from tacit.data.features import repair_utf8
from tacit.data.packed import BLOCK, Closed, Marked, is_utf8, repaired, unzipped
from tacit.data.typed import Batches, typed_names
from tacit.errors import bad_parameter

Format = Literal["csv", "tsv", "parquet", "arrow", "jsonl", "libsvm"]
FORMATS: tuple[Format, ...] = ("csv", "tsv", "parquet", "arrow", "jsonl", "libsvm")
TYPED = ("parquet", "arrow")
LINE = "line"  # the one column of a libsvm frame
_LARGEST_BLOCK = 1 << 30

Stream = Callable[[Path], AbstractContextManager[Any]]


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How files are written, where their name does not tell.

    Parameters
    ----------
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "libsvm"}, optional
        By default from the file's suffix, ``.gz`` aside.
    header : list of str, optional
        Names of the columns of a CSV or TSV file that has no header line.
    delimiter : str, optional
        Default a comma (CSV) or a tab (TSV).
    quote : str, optional
        Default ``"`` for CSV and none for TSV, as text corpora are written; an empty text means none.
    by_line : bool, default False
        Whether a record ends with its line, also between quotes. So it does wherever quotes are read otherwise than the
        file's own name says (.csv: commas and ``"``), as a quote that is never closed then tells of a row.
    """

    format: Format | None = None
    header: tuple[str, ...] | None = None
    delimiter: str | None = None
    quote: str | None = None
    by_line: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise bad_parameter("FileOptions", "format", f"one of {list(FORMATS)}", self.format)
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise bad_parameter("FileOptions", "delimiter", "one character", self.delimiter)
        if self.quote is not None and len(self.quote) > 1:
            raise bad_parameter("FileOptions", "quote", "one character, or empty for none", self.quote)

    def settled(self, format: Format, named: Format | None) -> FileOptions:
        """Fill in what the format implies; ``named`` is the one that the file's name says."""
        usual = ("\t", "") if format == "tsv" else (",", '"')
        delimiter = self.delimiter or usual[0]
        quote = self.quote if self.quote is not None else usual[1]
        by_line = self.by_line or (bool(quote) and (format != named or (delimiter, quote) != usual))
        return replace(self, format=format, delimiter=delimiter, quote=quote, by_line=by_line)


@dataclass(frozen=True, slots=True, repr=False)
class Piece:
    """Some consecutive records of a file, and where they are from; ``kept`` are values of JSON as they were."""

    frame: pl.DataFrame
    where: Where
    kept: dict[str, list[Any]] = field(default_factory=dict)


def column_names(path: Path, options: FileOptions) -> list[str]:
    """The names of a file's columns: its header, its own description, or the keys of its first line of JSON."""
    if options.format in TYPED:
        return typed_names(path, options.format)
    if options.format == "jsonl":
        first = next((line for lines in _lines(path) for line in lines if line.strip()), b"{}")
        record = parse_json(first)
        if record is None:
            message = f"The first line of {str(path)!r} is not a JSON object. Is it JSON Lines?"
            raise SourceError(message, file=str(path))
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
    path: Path, columns: list[str], options: FileOptions, batch_rows: int, strict: Faults | None, dropped: list[Path]
) -> Iterator[Piece]:
    """Read CSV or TSV; ``dropped`` gets an entry for each record that is.

    The library calls back for a record of the wrong width only if that is UTF-8, and else ends with an error, which
    would tell of the record. So it gets repaired bytes; for ``strict``, which names broken ones, then all as they are.
    """
    odd = yield from _delimited(path, columns, options, batch_rows, repaired, strict, dropped)
    if strict is None or is_utf8(path):
        return
    as_it_is = _delimited(path, columns, options, batch_rows, unzipped, strict, [])
    for _ in line_frames(path, batch_rows, strict) if odd else as_it_is:
        pass


def _delimited(
    path: Path,
    columns: list[str],
    options: FileOptions,
    batch_rows: int,
    opened: Stream,
    strict: Faults | None,
    dropped: list[Path],
) -> Generator[Piece, None, bool]:
    """Yield the records, and tell at the end whether some have the wrong width."""
    bad: list[int | None] = []
    left_out = ""

    def drop(row: Any) -> str:
        nonlocal left_out
        left_out = row.text
        dropped.append(path)
        return _wrong_width(row, options, bad)

    def begin_again() -> None:
        bad.clear()
        del dropped[known:]

    known, last = len(dropped), column_names(path, options)[-1]
    wanted = columns if last in columns or not options.quote else [*columns, last]
    seen, final = 0, b""
    parsed = functools.partial(_parsed, path, opened, wanted, options, strict is not None, drop)
    line_of = functools.partial(_line_of, path, options, bad)
    for whole in _records_in_blocks(parsed, begin_again):
        _refuse_open_quote(path, bad)
        if options.quote and len(whole):
            final = whole[last][-1]
        for frame in whole.select(columns).iter_slices(batch_rows):
            where = Where(str(path), lambda place, seen=seen: line_of(seen + place), strict or Faults())  # type: ignore[misc]
            yield Piece(_decoded(frame, options, None if strict is None else where), where)
            seen += len(frame)
    if b"\n" in final and _is_swallowed(path, final, left_out.encode(), options):
        bad.append(None)
    _refuse_open_quote(path, bad)
    if strict is not None and bad:
        first = functools.partial(_line_of, path, options, [], bad[0] or 0)
        what, remedy = (
            "the record has the wrong number of fields",
            "Add or remove fields; without strict it is dropped.",
        )
        strict.note(what, file=str(path), line=first, column=None, remedy=remedy, count=len(bad))
    return bool(bad)


def _records_in_blocks(
    parsed: Callable[[int], Iterator[pl.DataFrame]], begin_again: Callable[[], None]
) -> Iterator[pl.DataFrame]:
    """The records of a delimited file, a block at a time.

    A record must fit into two blocks. Where one does not, all is read again in larger blocks, and what was given
    before is left out: an error would tell of that record.
    """
    given, block = 0, BLOCK
    while True:
        seen = 0
        try:
            for batch in parsed(block):
                seen, begin = seen + len(batch), max(given - seen, 0)
                if seen > given:
                    given = seen
                    yield batch[begin:]
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):
                return  # a header without a line feed, or nothing where a header is declared: no rows
            if "straddl" not in str(error) or block >= _LARGEST_BLOCK:
                raise
        else:
            return
        block *= 4
        begin_again()


def _parsed(
    path: Path,
    opened: Stream,
    columns: list[str],
    options: FileOptions,
    strict: bool,
    drop: Callable[[Any], str],
    block: int,
) -> Iterator[pl.DataFrame]:
    with opened(path) as file:
        if options.by_line:
            file = Closed(file, functools.partial(_ends_open, options=options), _too_wide(path, options))
        reader = pyarrow.csv.open_csv(
            file if options.header is None else Marked(file),
            read_options=pyarrow.csv.ReadOptions(
                column_names=options.header, block_size=block, use_threads=not strict, encoding="utf8"
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=options.delimiter,
                quote_char=options.quote or False,
                newlines_in_values=bool(options.quote) and not options.by_line,
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
        bad.append(row.number - (1 if options.header is not None else 2))
    return "skip"


def _is_open(record: str, options: FileOptions) -> bool:
    """Whether a record ends inside quotes: a quote within a bare field opens nothing. A field may have any length."""
    quote, delimiter = re.escape(options.quote or '"'), re.escape(options.delimiter or ",")
    quoted = f"{quote}[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+{quote}"
    field = f"(?:{quoted}|(?!{quote}))[^{delimiter}]*+"
    return re.fullmatch(f"{field}(?:{delimiter}{field})*+", record) is None


def _ends_open(line: bytes, *, options: FileOptions) -> bool:
    return (options.quote or "").encode() in line and _is_open(line.decode("utf-8", "surrogateescape"), options)


def _too_wide(path: Path, options: FileOptions) -> tuple[bytes, bool]:
    """A record of the wrong width, in whose place another is dropped, and whether the first line is a header."""
    return (options.delimiter or ",").encode() * len(column_names(path, options)), options.header is None


def _is_swallowed(path: Path, field: bytes, left_out: bytes, options: FileOptions) -> bool:
    """Whether the last field goes to the end of its file because a quote is left open: then they end with one line.

    A record of the wrong width that was left out may stand behind that field, and end with the same line.
    """
    quote, end = (options.quote or "").encode(), b""
    line = field.replace(quote, quote + quote).rstrip(b"\r\n").rpartition(b"\n")[2]
    enough = BLOCK + len(line) + len(left_out)
    with repaired(path) as file:
        while block := file.read(BLOCK):
            end = (end + block)[-enough:]
    end = end.rstrip(b"\r\n")
    return end.endswith(b"\n" + line) and not (left_out and end.endswith(left_out.rstrip(b"\r\n")))


def _refuse_open_quote(path: Path, bad: list[int | None]) -> None:
    if None in bad:
        raise SourceError(
            f"The file {str(path)!r} has a quote character that is never closed, so its rows cannot be told apart. "
            "Close it, or pass quote='' if quotes are ordinary characters.",
            file=str(path),
        )


def _decoded(frame: pl.DataFrame, options: FileOptions, strict: Where | None) -> pl.DataFrame:
    """Texts. Without a header no record keeps a mark of UTF-8 at its front: which is the first depends on others."""
    texts = pl.DataFrame([repair_utf8(series, strict, series.name) for series in frame])
    marked = [name for name in (options.header or ())[:1] if name in texts.columns]
    return texts.with_columns(pl.col(name).str.strip_prefix("\ufeff") for name in marked)


def _records(text: IO[str], options: FileOptions) -> Any:
    if options.quote:
        return csv.reader(text, delimiter=options.delimiter or ",", quotechar=options.quote)
    return csv.reader(text, delimiter=options.delimiter or ",", quoting=csv.QUOTE_NONE)


def _line_of(path: Path, options: FileOptions, left_out: list[int | None], record: int) -> int:
    """The line on which a data record begins: found by reading the file again, since only an error asks for it.

    ``left_out`` are places of records, in order, that are not counted.
    """
    for place in left_out:
        record += place is not None and place <= record
    wanted = record + (0 if options.header is not None else 1)
    with unzipped(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
        reader = _records(text, replace(options, quote="") if options.by_line else options)
        begin = 1
        for fields in reader:
            if fields:
                if wanted == 0:
                    return begin
                wanted -= 1
            begin = int(reader.line_num) + 1
    return begin


# -- Parquet and Arrow ----------------------------------------------------------------------------------------------


def typed(
    frames: Callable[[Path, list[str], int], Batches], path: Path, columns: list[str], size: int
) -> Iterator[Piece]:
    """Read a file of typed columns, whose rows are counted from 1."""
    seen = 0
    for frame in frames(path, columns, size):
        yield Piece(frame, Where(str(path), lambda place, seen=seen: seen + place + 1))  # type: ignore[misc]
        seen += len(frame)


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


def numbered(path: Path, batch_rows: int) -> Iterator[tuple[int, list[bytes]]]:
    """Batches of lines, each with the number of the line before it."""
    number = 0
    for lines in _lines(path):
        for begin in range(0, len(lines), batch_rows):
            batch = lines[begin : begin + batch_rows]
            yield number, batch
            number += len(batch)


def line_frames(path: Path, batch_rows: int, strict: Faults | None) -> Iterator[Piece]:
    """Read plain lines."""
    for before, lines in numbered(path, batch_rows):
        series = pl.Series(LINE, lines, dtype=pl.Binary)
        where = Where(str(path), lambda place, before=before: before + place + 1, strict or Faults())  # type: ignore[misc]
        yield Piece(pl.DataFrame([repair_utf8(series, None if strict is None else where, "")]), where)


def parse_json(line: bytes, *, strict: bool = False) -> dict[str, Any] | None:
    """A line as a JSON object, or None. Bytes that are not UTF-8 are replaced, unless ``strict``."""
    try:
        record = json.loads(line.decode("utf-8-sig", "strict" if strict else "replace"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
