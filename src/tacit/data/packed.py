"""Bytes of files, packed by gzip or not. Private data comes out."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

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


class Repaired(io.RawIOBase):
    """A stream of which all is UTF-8: other bytes come as U+FFFD, also those of records that nobody reads."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file, self._ready, self._rest, self._ended = file, b"", b"", False

    def readable(self) -> bool:
        """It can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most so many; all where the number is negative."""
        while not self._ended and (size < 0 or len(self._ready) < size):
            self._fill()
        end = len(self._ready) if size < 0 else size
        given, self._ready = self._ready[:end], self._ready[end:]
        return given

    def _fill(self) -> None:
        block = self._file.read(BLOCK)
        self._ended, block = not block, self._rest + block
        try:
            _, whole = codecs.utf_8_decode(block, "strict", self._ended)
            self._ready += block[:whole]
        except UnicodeDecodeError:
            text, whole = codecs.utf_8_decode(block, "replace", self._ended)
            self._ready += text.encode()
        self._rest = block[whole:]


class Marked(io.RawIOBase):
    """A stream behind a mark of UTF-8, for a reader that takes one off: what the stream itself begins with stays."""

    def __init__(self, file: Any) -> None:
        super().__init__()
        self._file, self._mark = file, codecs.BOM_UTF8

    def readable(self) -> bool:
        """It can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most so many; all where the number is negative."""
        mark, self._mark = self._mark, b""
        given: bytes = self._file.read(size if size < 0 else max(size - len(mark), 0))
        return mark + given


class Closed(io.RawIOBase):
    """A stream of lines, each a record by itself: one that ends inside of quotes gives way to one that is dropped.

    ``odd`` is the line in its place, and whether the first line is a header, which stays.
    """

    def __init__(self, file: Any, is_open: Callable[[bytes], bool], odd: tuple[bytes, bool]) -> None:
        super().__init__()
        self._file, self._is_open = file, is_open
        self._odd, self._stays = odd
        self._ready, self._rest, self._ended = b"", b"", False

    def readable(self) -> bool:
        """It can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most so many; all where the number is negative."""
        while not self._ended and (size < 0 or len(self._ready) < size):
            block = self._file.read(BLOCK)
            self._ended = not block
            whole = len(block) if self._ended else max(block.rfind(b"\n"), block.rfind(b"\r")) + 1
            if whole or self._ended:
                self._ready += b"".join(map(self._closed, re.split(b"([\r\n]+)", self._rest + block[:whole])))
                self._rest = block[whole:]
            else:
                self._rest += block
        end = len(self._ready) if size < 0 else size
        given, self._ready = self._ready[:end], self._ready[end:]
        return given

    def _closed(self, line: bytes) -> bytes:
        stays, self._stays = self._stays, self._stays and not line.strip(b"\r\n")
        return self._odd if not stays and self._is_open(line) else line


@contextmanager
def repaired(path: Path) -> Iterator[Any]:
    """The bytes of a file, unzipped and repaired."""
    with unzipped(path) as file:
        yield Repaired(file)


def is_utf8(path: Path) -> bool:
    """Whether all bytes of a file, unzipped, are UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with unzipped(path) as file:
            while block := file.read(BLOCK):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
