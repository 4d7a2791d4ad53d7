"""A process that forks while its threads charge: the child works or is refused, and never hangs or spends twice."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tacit import Budget, Ledger
from tests.support import postgres

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

START = """
import os, signal, sys, threading, time
from tacit import Budget, Ledger, LedgerError
from tacit.ledger import forking, state

TENTH = {"budget": Budget(0.1), "mechanism": "m", "query": "q"}

def forked(act):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that hangs is killed
        try:
            print(act(), flush=True)
        except LedgerError as error:
            print(error, flush=True)
        except BaseException as error:
            print("unexpected", repr(error), flush=True)
        if sys.argv[1] == "exit":
            sys.exit(0)
        os._exit(0)
    return os.waitpid(child, 0)[1]
"""

WHILE_CHARGING = """
account = Ledger.open(sys.argv[2] or None).account("survey", budget=Budget(1000))
stop = threading.Event()

def charge():
    while not stop.is_set():
        account.spend(**TENTH)
        time.sleep(0.001 if sys.argv[2] else 0)

thread = threading.Thread(target=charge)
thread.start()
for _ in range(6):
    time.sleep(0.03)
    print("status", forked(lambda: account.spend(**TENTH).query), flush=True)
stop.set()
thread.join()
assert account.spent.exact_epsilon * 10 == len(account.entries())
assert account.ledger.verify()[0].ok
"""


def run(script: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-W", "ignore", "-c", START + script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("end", ["exit", "_exit"])
def test_a_child_of_a_process_that_charges_a_file(end: str, tmp_path: Path) -> None:
    """The lock was held in the child by a thread that is not there."""
    lines = run(WHILE_CHARGING, end, f"sqlite:///{tmp_path / 'l.db'}")
    assert lines == ["q", "status 0"] * 6


@pytest.mark.parametrize("end", ["exit", "_exit"])
def test_a_child_of_a_process_that_charges_a_server(end: str, server: postgres.Server) -> None:
    lines = run(WHILE_CHARGING, end, server.create(f"forks{end}"))
    assert lines == ["q", "status 0"] * 6


def test_a_child_of_a_process_that_charges_in_memory() -> None:
    lines = run(WHILE_CHARGING, "exit", "")
    assert lines[1::2] == ["status 0"] * 6
    assert all("belongs to the process that opened it" in line for line in lines[::2])


def test_a_child_takes_over_nothing_that_was_read_by_halves(tmp_path: Path) -> None:
    """An entry that counts as read, but was not added up yet, would be spent once more by the child."""
    script = """
url = sys.argv[2]
account = Ledger.open(url).account("survey", budget=Budget(1))
Ledger.open(url).account("survey").spend(**TENTH)
survey = account.ledger._states["survey"]
survey.seq, survey.hash = 2, account.ledger.verify()[0].head  # as in the middle of following
print("status", forked(lambda: account.spent), flush=True)
"""
    assert run(script, "_exit", f"sqlite:///{tmp_path / 'l.db'}") == ["ε = 0.1", "status 0"]


def test_a_fork_in_the_middle_of_a_transaction(tmp_path: Path) -> None:
    """SQLite would count the parent's locks as the child's: the child is refused, and the parent's charge stands."""
    script = """
forking.PATIENCE_SECONDS = 0.1
url = sys.argv[2]
account = Ledger.open(url).account("survey", budget=Budget(1))
inside, go_on = threading.Event(), threading.Event()
follow = state.State.follow

def waits(self, rows, head):
    follow(self, rows, head)
    if threading.current_thread() is thread and not inside.is_set():
        inside.set()
        go_on.wait(60)

state.State.follow = waits
thread = threading.Thread(target=lambda: account.spend(**TENTH))
thread.start()
inside.wait(60)
print("status", forked(lambda: account.spend(**TENTH)), flush=True)
print("status", forked(lambda: Ledger.open(url).account("survey").spent), flush=True)
print("status", forked(lambda: Ledger.open().account("own", budget=Budget(1)).spend(**TENTH).query), flush=True)
go_on.set()
thread.join()
print(account.spent, account.ledger.verify()[0].ok, flush=True)
"""
    lines = run(script, "exit", f"sqlite:///{tmp_path / 'l.db'}")
    assert [lines[1], lines[3], lines[5]] == ["status 0"] * 3
    assert all("was forked while" in line and "set_start_method('spawn')" in line for line in (lines[0], lines[2]))
    assert lines[4] == "q", "a ledger in memory of its own is no trouble"
    assert lines[6] == "ε = 0.1 True"


def test_a_fork_by_the_thread_that_charges(tmp_path: Path) -> None:
    """What a handler of a signal might do. The child does not make the parent's charge a second time."""
    script = """
account = Ledger.open(sys.argv[2]).account("survey", budget=Budget(1))
with account.ledger.writing("survey") as (tx, _):
    print("status", forked(tx.head), flush=True)
print(account.spend(**TENTH).query, account.spent, account.ledger.verify()[0].ok)
"""
    lines = run(script, "_exit", f"sqlite:///{tmp_path / 'l.db'}")
    assert "made by its parent alone" in lines[0]
    assert lines[1:] == ["status 0", "q ε = 0.1 True"]


def test_workers_of_multiprocessing(tmp_path: Path) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'l.db'}")
    account = ledger.account("survey", budget=Budget(1))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        budget = Budget(0.1)
        charges = [pool.apply_async(account.spend, (budget,), {"mechanism": "m", "query": "q"}) for _ in range(4)]
        assert sorted(charge.get(60).entry for charge in charges) == [2, 3, 4, 5]
    assert account.spent == Budget(0.4)
