"""Looking for an account without creating anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tacit.ledger import Account, Ledger


@contextmanager
def existing_account(ledger: str | Ledger, name: str) -> Iterator[Account | None]:
    """The account of that name, if the ledger is there and has it; nothing is created, and what is opened is closed."""
    if isinstance(ledger, Ledger):
        yield next((account for account in ledger.accounts() if account.name == name), None)
        return
    if ledger.startswith("sqlite:///") and not Path(ledger.removeprefix("sqlite:///")).exists():
        yield None
        return
    with Ledger.open(ledger, create=False) as opened:
        yield next((account for account in opened.accounts() if account.name == name), None)
