"""The ledger in an SQLite file, or in memory."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tacit.errors import LedgerError
from tacit.ledger.store import Purpose, SqlStore

_WAIT_SECONDS = 120.0

_torn = False
"""Whether this process was forked in the middle of a transaction: SQLite then counts locks as its own that are not."""


class SqliteStore(SqlStore):
    """A ledger in one file. Each commit is flushed to the disk, the folder's entry included."""

    def __init__(self, path: Path | None) -> None:
        super().__init__("memory" if path is None else f"sqlite:///{path}")
        self._path = None if path is None else path.absolute()
        self.survives_fork = path is not None

    @property
    def address(self) -> str:
        """The URL with the absolute path."""
        return f"sqlite:///{self._path}"

    def connect(self) -> Any:
        """Open the file, with full durability and patience for other writers."""
        if _torn and self._path is not None:
            raise LedgerError(
                f"The ledger {self.url} cannot be used here: this process was forked while its parent was in the "
                "middle of using a ledger, which SQLite does not allow. Fork when no thread is charging, or start "
                "processes with multiprocessing.set_start_method('spawn'). Nothing was charged."
            )
        if self._path is not None and not self._path.parent.is_dir():
            raise LedgerError(f"The folder of the ledger {self._path} does not exist. Create it first.")
        if self._path is not None:
            _make_private(self._path)
        target = ":memory:" if self._path is None else str(self._path)
        connection = sqlite3.connect(target, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = EXTRA")
        return connection

    def inherit(self, *, torn: bool) -> None:
        """Begin anew in a process that was forked, or refuse files for good."""
        global _torn
        _torn |= self._path is not None and (torn or self._inside)
        super().inherit(torn=torn)

    def begin(self, purpose: Purpose) -> None:
        """Take the file's write lock at once, so that a check and the charge behind it are one act."""
        self.execute("BEGIN" if purpose == "read" else "BEGIN IMMEDIATE")

    def is_open(self) -> bool:
        """SQLite knows; a ledger in memory must not be given up because there is nothing to undo."""
        return self._connection is not None and bool(self._connection.in_transaction)

    def lock(self, account: str) -> None:
        """The file is locked already."""

    def has_tables(self) -> bool:
        """Look for the ledger's tables; refuse a database that is something else."""
        if self._path is not None and not self._path.exists():
            return False
        names = {str(row[0]) for row in self.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if names and "tacit_meta" not in names:
            raise LedgerError(
                f"{self._path} is an SQLite database, but not a tacit ledger. Choose another file for the ledger."
            )
        return bool(names)

    def guards(self) -> Sequence[str]:
        """Refuse to change or remove what was written."""
        return [
            f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            for table in ("tacit_entries", "tacit_releases")
            for verb in ("UPDATE", "DELETE")
        ]

    def translate(self, error: Exception) -> LedgerError | None:
        """Name the file, the trouble and the remedy."""
        if not isinstance(error, sqlite3.Error | UnicodeDecodeError):
            return None
        what = "malformed text" if isinstance(error, UnicodeDecodeError) else str(error)
        return LedgerError(f"The ledger {self.url} cannot be used: {what}. {_remedy(what)}")


def _make_private(path: Path) -> None:
    """A new file, and with it its journal, is for its owner alone: it holds releases and a secret.

    A file that is there is not opened: closing it would end the locks that this process has on it.
    """
    with suppress(OSError):  # SQLite tells what is wrong
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _remedy(what: str) -> str:
    if "readonly" in what:
        return "The file or its folder is read-only: give this user the right to write. Nothing was charged."
    if "full" in what or "disk I/O" in what:
        return "Free some space on the disk, then ask again. This step was undone; a charge made before it stands."
    if "not a database" in what or "malformed" in what:
        return "The file is damaged or is no ledger: restore it from a backup. Nothing was charged."
    if "locked" in what:
        return "Another process has held the ledger for two minutes: wait for it or stop it. Nothing was charged."
    if "unable to open" in what:
        return "Check that the path exists and that this user may read and write it. Nothing was charged."
    return "Nothing was charged."
