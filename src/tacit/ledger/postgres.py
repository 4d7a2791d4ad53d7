"""The ledger in a PostgreSQL database, for a team."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tacit.errors import LedgerError, MissingExtraError, ParameterError
from tacit.ledger.store import Purpose, SqlStore

_SETUP_LOCK = 0x7AC17  # any fixed number: serialises the creation of the tables

_SIGN = "%[0-9a-fA-F]{2}"
_HOST = rf"(?:\[[0-9a-fA-F:.]+\]|(?:[^:@/?,%\[\]]|{_SIGN})*)(?::[0-9]{{1,5}})?"
_ADDRESS = re.compile(
    rf"postgres(?:ql)?://(?:(?:[^:@/%]|{_SIGN})*(?::(?:[^@/%]|{_SIGN})*)?@)?"
    rf"(?P<hosts>{_HOST}(?:,{_HOST})*)(?P<database>(?:/(?:[^?%]|{_SIGN})*)?)(?:\?(?:[^%]|{_SIGN})*)?"
)
"""An address as libpq reads it. It says aloud what it cannot read, which may be a piece of a password."""


class PostgresStore(SqlStore):
    """A ledger that several people share. A charge locks its account's row until it is flushed."""

    placeholder = "%s"
    blob = "BYTEA"

    def __init__(self, url: str) -> None:
        found = _ADDRESS.fullmatch(url)
        if found is None:
            raise ParameterError(
                "The 'url' parameter of Ledger.open must be postgresql://user:password@host:port/database. Got another "
                "address, which is not shown, as it may hold a password. In a name or a password write @ as %40, "
                "/ as %2F and % as %25; a port is a number."
            )
        super().__init__(f"postgresql://{found['hosts'] or 'localhost'}{found['database']}")
        self._dsn = url  # holds the password: never shown

    @property
    def address(self) -> str:
        """The URL as it was given."""
        return self._dsn

    def connect(self) -> Any:
        """Open a connection whose commits wait for the disk."""
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtraError(
                "A PostgreSQL ledger needs the psycopg package. Install it with: pip install 'tacit[postgres]'"
            ) from error
        connection = psycopg.connect(self._dsn, autocommit=True, connect_timeout=10)
        connection.execute("SET synchronous_commit = on")
        connection.execute("SET client_min_messages = warning")
        return connection

    def begin(self, purpose: Purpose) -> None:
        """Start; tables are created by one process at a time."""
        if purpose == "read":
            self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return
        self.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        if purpose == "create":
            self.execute("SELECT pg_advisory_xact_lock(?)", (_SETUP_LOCK,))

    def lock(self, account: str) -> None:
        """Hold the account's row."""
        self.execute("SELECT 1 FROM tacit_accounts WHERE name = ? FOR UPDATE", (account,))

    def has_tables(self) -> bool:
        """Look for the ledger's tables on the search path."""
        # A query of the catalogue sees what was committed just now; to_regclass may answer from a stale cache.
        found = self.execute(
            "SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'tacit_meta' AND pg_catalog.pg_table_is_visible(oid)"
        )
        return bool(found)

    def guards(self) -> Sequence[str]:
        """Refuse to change or remove what was written."""
        function = (
            "CREATE FUNCTION tacit_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"
        )
        triggers = [
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION tacit_append_only()"
            for table in ("tacit_entries", "tacit_releases")
        ]
        return [function, *triggers]

    def translate(self, error: Exception) -> LedgerError | None:
        """Name the server, the trouble and the remedy; never the password."""
        import psycopg

        if isinstance(error, UnicodeDecodeError):
            return LedgerError(f"The address of the PostgreSQL ledger at {self.url} is not UTF-8. Correct its % signs.")
        if not isinstance(error, psycopg.Error):
            return None
        state = error.sqlstate or ""
        what = (error.diag.message_primary or str(error)).strip().splitlines()[0]
        if "no password supplied" in str(error):
            return LedgerError(
                f"PostgreSQL asks for a password to {self.url}. Give it in PGPASSWORD, in ~/.pgpass, or in the URL; "
                "a pickle of a ledger, an account or an estimator holds none that another run of Python could read."
            )
        if isinstance(error, psycopg.OperationalError) and (not state or state.startswith(("08", "57P"))):
            self.forget()
            remedy = (
                "Check that the server runs and that host, port, user and database are right, then ask again: "
                "a charge whose answer was lost is found and not made twice."
            )
            return LedgerError(f"The PostgreSQL ledger at {self.url} cannot be reached: {what}. {remedy}")
        if state.startswith("28"):
            return LedgerError(
                f"PostgreSQL refused the login to {self.url}: {what}. Check user and password in the URL."
            )
        if state == "53100":
            return LedgerError(f"The disk of {self.url} is full: {what}. Free some space; this step was undone.")
        if state in ("42501", "25006"):
            return LedgerError(
                f"This user may not write to {self.url}: {what}. Grant INSERT and UPDATE. Nothing was charged."
            )
        return LedgerError(f"The PostgreSQL ledger at {self.url} cannot be used: {what}. Nothing was charged.")
