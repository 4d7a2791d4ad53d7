"""Files on disk, read in pieces: CSV, TSV, Parquet, Arrow, JSON Lines, libsvm, gzip of each. Private data comes out.

Whatever concerns a file as a whole (missing, truncated, of an unknown kind, without a header or a declared column) is a
:class:`~tacit.data.errors.SourceError` with its remedy. What concerns a row follows a rule:

- a CSV or TSV record of the wrong width is dropped; so is a line of JSON Lines that is not an object;
- a column that a record of JSON Lines does not have is missing there;
- bytes that are not UTF-8 become U+FFFD, which separates words;
- a value of JSON Lines that is a list or an object is missing;
- a libsvm line that is not ``label index:value …`` is dropped; an index outside 1 … d is ignored.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]

from tacit.data import readers
from tacit.data.errors import SourceError, name_absent
from tacit.data.faults import Faults
from tacit.data.features import check_kinds
from tacit.data.json_lines import json_lines
from tacit.data.packed import unpack
from tacit.data.readers import FORMATS, TYPED, FileOptions, Format, Piece, column_names
from tacit.data.typed import arrow_frames, parquet_frames, typed_head

__all__ = [
    "FORMATS",
    "FileOptions",
    "Format",
    "Piece",
    "check_files",
    "check_whole",
    "column_names",
    "list_files",
    "pieces",
]

_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
}


def list_files(path: str | Path) -> list[Path]:
    """The files that a path stands for: itself, those in a folder, or those that match a glob; in order of name."""
    text = str(path)
    root = Path(text)
    if root.is_dir():
        found = sorted(p for p in root.rglob("*") if p.is_file() and not _hidden(p.relative_to(root)))
        if not found:
            raise SourceError(f"The folder {text!r} holds no files. Check the path.", file=text)
        return found
    if root.exists():
        return [root]
    found = sorted(p for p in _matches(root) if p.is_file())
    if not found:
        raise SourceError(f"There is no file, folder or match for {text!r}. Check the path.", file=text)
    return found


def _matches(pattern: Path) -> Iterator[Path]:
    """What a glob pattern matches; its fixed part is where the search begins."""
    parts = pattern.parts
    fixed = next((i for i, part in enumerate(parts) if any(sign in part for sign in "*?[")), len(parts))
    if fixed == len(parts):
        return iter(())
    return Path(*parts[:fixed]).glob("/".join(parts[fixed:]))


def _hidden(path: Path) -> bool:
    """Whether a name is a side file, such as Spark's ``_SUCCESS``."""
    return any(part.startswith((".", "_")) for part in path.parts)


def format_of(path: Path, options: FileOptions) -> Format:
    """The declared format, or the one that the suffix says."""
    if options.format is not None:
        return options.format
    format = _named_format(path)
    if format is not None:
        return format
    raise SourceError(
        f"The format of {str(path)!r} cannot be told from its name. Rename it, remove it from the folder, "
        f"or pass format= (one of {', '.join(FORMATS)}). Save tables of other programs as CSV or Parquet first.",
        file=str(path),
    )


def _named_format(path: Path) -> Format | None:
    name = path.name.lower().removesuffix(".gz")
    return next((format for suffix, format in _SUFFIXES.items() if name.endswith(suffix)), None)


def settle(path: Path, options: FileOptions) -> FileOptions:
    """How a file is read: as its name says, but for what was chosen otherwise."""
    return options.settled(format_of(path, options), _named_format(path))


def reading_of(data: Any, options: FileOptions | None = None) -> str:
    """A name for how data are read: of settled options, file by file, where they are files, and empty in memory.

    The same bytes are other rows under another header, delimiter, quote or format, which a file's suffix may say.
    """
    settings = options or FileOptions()
    places = data if isinstance(data, list | tuple) else [data]
    if not places or not (isinstance(data, str | Path) or all(isinstance(place, Path) for place in places)):
        return ""
    paths = [path for place in places for path in list_files(place)]
    settled = [_in_words(settle(path, settings)) for path in paths]
    return hashlib.sha256(json.dumps(settled).encode()).hexdigest()


def _in_words(settled: FileOptions) -> list[Any]:
    *words, by_line = astuple(settled)
    return [*words, "by line"] if by_line else words


def check_files(paths: list[Path], columns: list[str], options: FileOptions, *, by_content: bool = False) -> None:
    """Look at every file's head before any is counted: all must be there, readable and hold the declared columns.

    Files without a head (JSON Lines, libsvm, delimited ones with ``header=``) hold rows alone, and what a row has or
    lacks is private: a key that a record of JSON Lines lacks is missing, and a file without rows is no error.
    ``by_content`` looks at the first record all the same, for rows that are public or the caller's own.
    """
    for path in paths:
        format = format_of(path, options)
        headless = format in ("jsonl", "libsvm") or (format in ("csv", "tsv") and options.header is not None)
        with reading(path):
            if path.stat().st_size == 0 and (by_content or not headless):
                raise SourceError(
                    f"The file {str(path)!r} is empty (0 bytes). Remove it or write it anew.", file=str(path)
                )
            if format == "libsvm" or (format == "jsonl" and not by_content):
                path.open("rb").close()  # it must be readable
                continue
            present = column_names(path, settle(path, options))
            absent = [name for name in columns if name not in present]
            if absent:
                raise _absent(path, absent, present, delimited=format in ("csv", "tsv"))
            twice = [name for name in columns if present.count(name) > 1]
            if twice:
                remedy = "Rename or drop one of them."
                raise SourceError(f"The file {str(path)!r} has two columns {twice[0]!r}. {remedy}", file=str(path))
            if format in TYPED:
                typed_head(path, columns, format)  # a type that nobody can read is refused


def _absent(path: Path, absent: list[str], present: list[str], *, delimited: bool) -> SourceError:
    """What is missing, and the remedy. The first line of a delimited file may be a row: none of it is quoted."""
    names = name_absent(absent, [] if delimited else present)
    remedy = "All files must hold every column that is declared: correct the names"
    if delimited:
        remedy += f", or pass header= for a file that has no header line{other_delimiter(present)}"
    return SourceError(f"The file {str(path)!r} has no column {names}. {remedy}.", file=str(path), column=absent[0])


def other_delimiter(names: list[str]) -> str:
    """A hint where a header came out as one name: the usual delimiter that it has in it."""
    found = [sign for sign in ";\t|," if len(names) == 1 and sign in names[0]]
    return f", or pass delimiter={found[0]!r}, which stands in its first line" if found else ""


def check_whole(paths: list[Path], columns: list[str], options: FileOptions) -> None:
    """Look for what a file's head does not tell: it was cut off, a quote is left open, a type has no text."""
    for path in paths:
        if format_of(path, options) in ("jsonl", "libsvm"):  # each line by itself: nothing but gzip can be broken
            with reading(path):
                unpack(path)
            continue
        if format_of(path, options) in TYPED:
            with reading(path):
                check_kinds(typed_head(path, columns, format_of(path, options)))
        for _ in pieces(path, columns, options, batch_rows=1 << 16, strict=None):
            pass


def unchanged(paths: list[Path]) -> Callable[[Path], None]:
    """A check that files are still as they are now: splits and fingerprints hold for one state of them.

    Data are read several times. If files were sorted anew in between, a row could be in both parts of a split.
    """
    state = {path: _state(path) for path in paths}

    def check(path: Path) -> None:
        if _state(path) != state[path]:
            remedy = "Run it again when nobody writes to it."
            raise SourceError(f"The file {str(path)!r} changed after it was opened. {remedy}", file=str(path))

    return check


def _state(path: Path) -> tuple[int, int, int]:
    with reading(path):
        found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def pieces(
    path: Path,
    columns: list[str],
    options: FileOptions,
    *,
    batch_rows: int,
    strict: Faults | None,
    dropped: list[Path] | None = None,
    keep: tuple[str, ...] = (),
) -> Iterator[Piece]:
    """Read a file in pieces of about ``batch_rows`` rows; memory does not grow with the file.

    ``dropped`` gets an entry for each record that is left out: how many there are is as private as the rows. Of JSON
    Lines, columns in ``keep`` come as they are as well.
    """
    settled = settle(path, options)
    odd = [] if dropped is None else dropped
    by_format: dict[str, Callable[[], Iterator[Piece]]] = {
        "csv": lambda: readers.delimited(path, columns, settled, batch_rows, strict, odd),
        "tsv": lambda: readers.delimited(path, columns, settled, batch_rows, strict, odd),
        "parquet": lambda: readers.typed(parquet_frames, path, columns, batch_rows),
        "arrow": lambda: readers.typed(arrow_frames, path, columns, batch_rows),
        "jsonl": lambda: json_lines(path, columns, batch_rows, strict, odd, keep),
        "libsvm": lambda: readers.line_frames(path, batch_rows, strict),
    }
    with reading(path):
        yield from by_format[str(settled.format)]()


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn a library's complaint about a file into one of ours, which never quotes the file's content."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, zlib.error, gzip.BadGzipFile, pl.exceptions.PolarsError) as error:
        reason = _reason(error)
        raise SourceError(f"The file {str(path)!r} cannot be read: {reason}", file=str(path)) from None


def _reason(error: Exception) -> str:
    text = str(error).lower()
    if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
        return f"{error.strerror}. Check the path and the permissions."
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile) or "zlib" in text or "compress" in text:
        return "it is not complete gzip. Copy or write it anew."
    if "parquet" in text or "footer" in text or "magic" in text or "thrift" in text:
        return "it is not complete Parquet. Copy or write it anew."
    if "straddl" in text:
        return "a record is longer than 1 GB; is a quote character left open? Close it, or pass quote=''."
    if "arrow file" in text:
        return "it is not a complete Arrow file, as Feather version 2 is (streams are not read). Write it anew."
    return f"{type(error).__name__}. Is it of the declared format, complete and uncorrupted?"
