"""Bytes of files, packed by gzip or not. Private data comes out."""

from __future__ import annotations

import codecs
import functools
import gzip
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa  # type: ignore[import-untyped]

BLOCK = 1 << 22


def unpack(path: Path) -> None:
    """Read gzip to its end, where it says whether it is whole."""
    if gzipped(path):
        with unzipped(path) as file:
            while file.read(BLOCK):
                pass


def gzipped(path: Path) -> bool:
    """Whether a file is gzip, by its first bytes."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


@contextmanager
def unzipped(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, of its content if it is gzip (which its first bytes tell, not its name)."""
    with gzip.open(path, "rb") if gzipped(path) else path.open("rb") as file:
        yield file  # type: ignore[misc]


@contextmanager
def seekable(path: Path) -> Iterator[Any]:
    """A file that can be read from any place: gzip is unpacked into a nameless temporary file."""
    if not gzipped(path):
        yield path
        return
    with unzipped(path) as packed, tempfile.TemporaryFile() as plain:
        shutil.copyfileobj(packed, plain, BLOCK)
        plain.seek(0)
        yield plain


def is_utf8(path: Path) -> bool:
    """Whether all bytes of a file, unzipped, are UTF-8."""
    found = path.stat()
    return _is_utf8(path, found.st_ino, found.st_size, found.st_mtime_ns)


@functools.lru_cache(maxsize=1 << 12)
def _is_utf8(path: Path, *_state: int) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with arrow_stream(path) as file:
            while block := file.read(BLOCK):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def arrow_stream(path: Path) -> Any:
    """The bytes of a file, unzipped, for Arrow."""
    return pa.input_stream(str(path), compression="gzip" if gzipped(path) else None)


@contextmanager
def utf8_stream(path: Path) -> Iterator[Any]:
    """As :func:`arrow_stream`, with U+FFFD in place of bytes that are not UTF-8: then from a copy without a name.

    Signs of ASCII, and so delimiters, quotes and ends of lines, are never part of a broken sequence: fields are the
    same as if each were repaired by itself.
    """
    if is_utf8(path):
        with arrow_stream(path) as file:
            yield file
        return
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with arrow_stream(path) as broken, tempfile.NamedTemporaryFile(delete=False) as copy:
        try:
            while block := broken.read(BLOCK):
                copy.write(decoder.decode(block).encode())
            copy.write(decoder.decode(b"", final=True).encode())
            copy.flush()
            repaired = pa.input_stream(copy.name, compression=None)
        finally:
            Path(copy.name).unlink()
    with repaired:
        yield repaired
