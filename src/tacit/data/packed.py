"""Bytes of files, packed by gzip or not. Private data comes out."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from collections.abc import Iterator
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
