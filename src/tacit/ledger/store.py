"""The storage contract of the ledger, written once for every SQL database.

A store keeps three tables: accounts with the head of their chain, entries, and the stored releases. Every change runs
in one transaction that first locks the account; it is durable when the transaction returns.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import LedgerError, LedgerVersionError, TacitError
from tacit.ledger import forking
from tacit.ledger.chain import GENESIS, Row, tampered

if TYPE_CHECKING:
    from tacit.ledger.state import State

FORMAT = 1

_ANOTHER = -1
"""Instead of the number of the process that owns a connection: not this one. Numbers of processes come again."""

Purpose = Literal["read", "write", "create"]

_TABLES = (
    "CREATE TABLE tacit_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE tacit_accounts (name TEXT PRIMARY KEY, head_seq BIGINT NOT NULL, head_hash TEXT NOT NULL)",
    "CREATE TABLE tacit_entries (account TEXT NOT NULL REFERENCES tacit_accounts (name), seq BIGINT NOT NULL, "
    "at TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, "
    "PRIMARY KEY (account, seq))",
    "CREATE TABLE tacit_releases (account TEXT NOT NULL, seq BIGINT NOT NULL, payload {blob} NOT NULL, "
    "PRIMARY KEY (account, seq), FOREIGN KEY (account, seq) REFERENCES tacit_entries (account, seq))",
)


class Transaction:
    """A locked account inside an open transaction."""

    def __init__(self, store: SqlStore, account: str) -> None:
        self._store = store
        self._account = account

    def head(self) -> tuple[int, str]:
        """Return number and hash of the last entry; (0, genesis) for an account without one."""
        rows = self._store.execute("SELECT head_seq, head_hash FROM tacit_accounts WHERE name = ?", (self._account,))
        if not rows:
            return 0, GENESIS
        seq, digest = rows[0]
        if not isinstance(seq, int):
            raise tampered(self._account, 1)
        return seq, str(digest)

    def rows(self, after: int = 0) -> list[Row]:
        """Return the entries behind ``after``, in order."""
        found = self._store.execute(
            "SELECT account, seq, at, kind, body, prev, hash FROM tacit_entries "
            "WHERE account = ? AND seq > ? ORDER BY seq",
            (self._account, after),
        )
        return [Row(str(r[0]), r[1], str(r[2]), str(r[3]), str(r[4]), str(r[5]), str(r[6])) for r in found]

    def append(self, row: Row, payload: bytes | None = None) -> None:
        """Write the next entry, the payload that belongs to it, and the new head."""
        self._store.execute(
            "INSERT INTO tacit_entries (account, seq, at, kind, body, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (row.account, row.seq, row.at, row.kind, row.body, row.prev, row.hash),
        )
        if payload is not None:
            self._store.execute(
                "INSERT INTO tacit_releases (account, seq, payload) VALUES (?, ?, ?)",
                (row.account, row.seq, payload),
            )
        self._store.execute(
            "UPDATE tacit_accounts SET head_seq = ?, head_hash = ? WHERE name = ?",
            (row.seq, row.hash, row.account),
        )

    def payload(self, seq: int) -> bytes:
        """Return the payload stored with an entry."""
        found = self._store.execute(
            "SELECT payload FROM tacit_releases WHERE account = ? AND seq = ?", (self._account, seq)
        )
        if not found or not isinstance(found[0][0], bytes):
            raise tampered(self._account, seq)
        return found[0][0]


class SqlStore(ABC):
    """What SQLite and PostgreSQL share. A subclass connects, locks, and translates errors."""

    placeholder = "?"
    blob = "BLOB"
    survives_fork = True

    def __init__(self, url: str) -> None:
        self.url = url
        self.turn = threading.RLock()
        self.states: dict[str, State] = {}
        """What was taken in of each account, in this process."""
        self._connection: Any = None
        self._owner = 0
        self._inside = False  # a transaction
        forking.watch(self)

    # -- what differs ---------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def address(self) -> str:
        """The URL that opens this store from anywhere, password included: it leaves this process sealed."""

    @abstractmethod
    def connect(self) -> Any:
        """Open a connection in autocommit mode."""

    @abstractmethod
    def begin(self, purpose: Purpose) -> None:
        """Start a transaction; one that creates tables waits for any other that does."""

    @abstractmethod
    def lock(self, account: str) -> None:
        """Hold the account against other writers until the transaction ends."""

    @abstractmethod
    def has_tables(self) -> bool:
        """Tell whether the ledger's tables exist."""

    @abstractmethod
    def guards(self) -> Sequence[str]:
        """Return the statements that make entries append-only inside the database."""

    @abstractmethod
    def translate(self, error: Exception) -> LedgerError | None:
        """Turn a database error into one with a remedy, or None if it is not the database's."""

    # -- what is shared -------------------------------------------------------------------------------------------

    def open(self, *, create: bool) -> None:
        """Connect, create the tables if asked to, and check the format."""
        with self._errors():
            if not self.has_tables():
                if not create:
                    raise LedgerError(f"There is no ledger at {self.url}. Create one with 'tacit ledger create'.")
                self._create()
            self._check_format()

    def _create(self) -> None:
        with self._transaction("create"):
            if self.has_tables():
                return
            for statement in (*_TABLES, *self.guards()):
                self.execute(statement.format(blob=self.blob) if "{blob}" in statement else statement)
            for name, value in (("format", str(FORMAT)), ("secret", secrets.token_hex(32))):
                self.execute("INSERT INTO tacit_meta (name, value) VALUES (?, ?)", (name, value))

    def _check_format(self) -> None:
        found = int(self._meta("format", "[0-9]{1,9}"))
        if found > FORMAT:
            raise LedgerVersionError(
                f"The ledger at {self.url} has format {found}, written by a newer tacit; this one knows format "
                f"{FORMAT}. Upgrade tacit ('pip install --upgrade tacit'). Nothing was changed."
            )

    def _meta(self, name: str, form: str) -> str:
        rows = self.execute("SELECT value FROM tacit_meta WHERE name = ?", (name,))
        value = str(rows[0][0]) if rows else ""
        if not re.fullmatch(form, value):
            raise LedgerError(f"The ledger at {self.url} is damaged: it lacks its {name!r}. Restore it from a backup.")
        return value

    def secret(self) -> bytes:
        """Return the key under which requests are fingerprinted; it never leaves the ledger."""
        with self._errors():
            return bytes.fromhex(self._meta("secret", "[0-9a-f]{64}"))

    def names(self) -> list[str]:
        """Return the names of all accounts, sorted."""
        with self._errors():
            return sorted(str(row[0]) for row in self.execute("SELECT name FROM tacit_accounts"))

    def names_of_entries(self) -> list[str]:
        """Return the accounts that entries speak of: without damage, those of :meth:`names`."""
        with self._errors():
            return [str(row[0]) for row in self.execute("SELECT DISTINCT account FROM tacit_entries")]

    @contextmanager
    def writing(self, account: str, *, create: bool = False) -> Iterator[Transaction]:
        """Lock an account for a change that is durable on return, and undone if anything is raised."""
        with self._errors(), self._transaction("write"):
            if create:
                self.execute(
                    "INSERT INTO tacit_accounts (name, head_seq, head_hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    (account, 0, GENESIS),
                )
            self.lock(account)
            yield Transaction(self, account)

    @contextmanager
    def reading(self, account: str) -> Iterator[Transaction]:
        """See one consistent state of an account."""
        with self._errors(), self._transaction("read"):
            yield Transaction(self, account)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one statement and return its rows."""
        cursor = self._connected().execute(statement.replace("?", self.placeholder), tuple(values))
        return list(cursor.fetchall()) if cursor.description else []

    def close(self) -> None:
        """Close the connection, if this process owns one."""
        with self.turn:
            connection, self._connection = self._connection, None
            if connection is not None and self._owner == os.getpid():
                connection.close()
            elif connection is not None:
                forking.leak(connection)

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def forget(self) -> None:
        """Drop a connection that is of no more use; the next call opens another."""
        with suppress(Exception):
            self.close()
        self._connection = None

    def inherit(self, *, torn: bool) -> None:
        """Begin anew in a process that was forked.

        What another thread was in the middle of has no end here. What the thread that forked was in the middle of ends
        in the parent alone: here its next statement is refused.
        """
        if torn:
            self._inside = False
        if self._owner:
            self._owner = _ANOTHER

    def _connected(self) -> Any:
        if self._owner not in (0, os.getpid()):
            self._take_over()
        if self._connection is None:
            if self._owner and not self.survives_fork:
                raise LedgerError(
                    "This in-memory ledger was closed, and its accounts ended with it. Nothing was charged. "
                    "Use a file, for example Ledger.open('sqlite:///ledger.db')."
                )
            self._connection = self.connect()
            self._owner = os.getpid()
        return self._connection

    def _take_over(self) -> None:
        """Leave the connection, and what was taken in by it, to the process that opened it."""
        if not self.survives_fork:
            raise LedgerError(
                "An in-memory ledger belongs to the process that opened it: another process would spend the same "
                "budget again. Use a file, for example Ledger.open('sqlite:///ledger.db')."
            )
        if self._inside:
            raise LedgerError("The process was forked in the middle of a charge, which is made by its parent alone.")
        self.close()
        self.states.clear()
        self._owner = 0

    @contextmanager
    def _transaction(self, purpose: Purpose) -> Iterator[None]:
        if self._inside:
            raise LedgerError("The ledger is being used further up, by what this was called from. Nothing was charged.")
        self._connected()
        try:  # an interrupt may come while this waits for a lock, and be told when the transaction has begun
            self._inside = True
            self.begin(purpose)
            yield
            self.execute("COMMIT")
        except BaseException:
            self._undo()
            raise
        finally:
            self._inside = False

    def is_open(self) -> bool:
        """Whether a transaction may have begun that has not ended."""
        return True

    def _undo(self) -> None:
        try:
            if self.is_open():
                self.execute("ROLLBACK")
        except Exception:  # the connection is gone, and the open transaction with it
            self.forget()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        with self.turn:
            try:
                yield
            except TacitError:
                raise
            except UnicodeEncodeError:
                raise LedgerError(
                    "A name, a reason or a description for the ledger is no valid text: it cannot be written in UTF-8. "
                    "Nothing was charged."
                ) from None
            except Exception as error:
                translated = self.translate(error)
                if translated is None:
                    raise
                raise translated from error
