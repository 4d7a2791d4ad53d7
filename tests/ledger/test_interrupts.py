"""Ctrl-C at a bad moment: nothing is lost, nothing is counted twice, and nobody is locked out."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit import Budget, Ledger, LedgerError
from tacit.ledger.chain import Row
from tacit.ledger.sqlite import SqliteStore
from tacit.ledger.state import State

TENTH = {"budget": Budget(0.1), "mechanism": "m", "query": "q"}


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """Interrupts are heeded, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_while_waiting_for_another_process(tmp_path: Path) -> None:
    """SQLite tells of the interrupt when it has the lock: the transaction stayed open, and locked everybody out."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'l.db'}")
    account = ledger.account("survey", budget=Budget(1.0))
    other = sqlite3.connect(tmp_path / "l.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")

    def interrupt() -> None:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
        other.execute("ROLLBACK")

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        account.spend(**TENTH)
    thread.join()
    assert account.spent.epsilon == 0
    account.spend(**TENTH)
    other.execute("BEGIN IMMEDIATE")  # nobody holds the file
    other.execute("ROLLBACK")
    assert account.spent == Budget(0.1)


@pytest.mark.parametrize("statement", ["BEGIN", "BEGIN IMMEDIATE", "COMMIT"])
@pytest.mark.parametrize("before", [True, False])
def test_a_ledger_in_memory_outlives_it(monkeypatch: pytest.MonkeyPatch, statement: str, before: bool) -> None:
    """With nothing to undo, the connection was taken for broken, and closed: the accounts were gone."""
    account = Ledger.open().account("survey", budget=Budget(1.0))
    account.spend(**TENTH)
    execute = SqliteStore.execute
    armed = [True]

    def interrupted(self: SqliteStore, text: str, values: Any = ()) -> Any:
        hit = text == statement and armed and armed.pop()
        if hit and before:
            raise KeyboardInterrupt
        found = execute(self, text, values)
        if hit:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(SqliteStore, "execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        account.spend(**TENTH)
    monkeypatch.undo()
    spent = account.spent.exact_epsilon * 10
    assert spent == len(account.entries())
    assert spent in (1, 2)
    account.spend(**TENTH)


def test_between_two_entries_of_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was taken in before the interrupt was taken in again, and a tenth counted as two."""
    url = f"sqlite:///{tmp_path / 'l.db'}"
    account = Ledger.open(url).account("survey", budget=Budget(1.0))
    others = Ledger.open(url).account("survey")
    others.spend(**TENTH)
    others.spend(**TENTH)
    take = State.take
    seen: list[int] = []

    def interrupted(self: State, row: Row) -> None:
        seen.append(row.seq)
        if len(seen) == 2:
            raise KeyboardInterrupt
        take(self, row)

    monkeypatch.setattr(State, "take", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _ = account.spent
    monkeypatch.undo()
    assert account.spent == Budget(0.2)


def test_a_transaction_is_not_entered_twice() -> None:
    """A handler of a signal that looks at an account while it is charged must not end that transaction."""
    ledger = Ledger.open()
    account = ledger.account("survey", budget=Budget(1.0))
    with ledger.writing("survey"), pytest.raises(LedgerError, match="further up"):
        _ = account.spent
    account.spend(**TENTH)
    assert account.spent == Budget(0.1)
