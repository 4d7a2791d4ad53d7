"""Real processes, really killed: no charge is lost, no budget overspent, no release without a charge."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tacit import Budget, Ledger, LedgerError
from tacit.privacy import gate
from tacit.privacy.mechanisms import DiscreteLaplace
from tests.ledger.charging import ACCOUNT, STEP, counts
from tests.support import postgres

KILLS = 200


def charging(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.ledger.charging", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout.splitlines()[-1])


def check_told(url: str, told: list[dict[str, Any]]) -> int:
    """Every release that a process returned is in the ledger, charged first, and stored as it was returned."""
    with Ledger.open(url) as ledger:
        if not ledger.accounts():  # killed before the account was there: nothing can have been returned
            assert told == []
            return 0
        assert [verdict.problem for verdict in ledger.verify()] == [None]
        account = ledger.account(ACCOUNT)
        charges = {charge.entry: charge for charge in account.entries()}
        assert len({release["entry"] for release in told}) == len(told), "one charge paid for two releases"
        for release in told:
            charge = charges[release["entry"]]
            found = account.stored(charge, 0, "")
            assert found is not None
            assert gate._unpack(found[0])[0].tolist() == release["values"]
        assert account.spent.exact_epsilon == STEP * len(charges) <= account.budget.exact_epsilon
        return len(charges) - len(told)


def test_two_hundred_kills_lose_no_charge(new_durable_url: Callable[[], str]) -> None:
    urls = [new_durable_url() for _ in range(6)]  # one for timing; then a new one now and then, to hit its creation
    result = charging("kill", str(KILLS), "7", *urls)
    assert result["killed"] == KILLS
    told = sum(len(releases) for releases in result["told"].values())
    assert told >= KILLS / 2, "the children were killed before they could do anything"
    for url, releases in result["told"].items():
        check_told(url, releases)


def test_sixteen_processes_never_overspend_by_a_single_unit(new_durable_url: Callable[[], str]) -> None:
    url = new_durable_url()
    result = charging("race", "16", url)
    assert result["codes"] == [0] * 16
    assert len(result["told"]) == 150  # a budget of .15 in steps of .001: all of it, and not one more
    assert check_told(url, result["told"]) == 0
    assert Ledger.open(url).account(ACCOUNT).remaining.exact_epsilon == 0


def test_killed_postgresql_server_loses_no_charge(server: postgres.Server) -> None:
    url = server.create("killed_server")
    told: list[dict[str, Any]] = []
    stop = threading.Event()

    def client() -> None:
        ledger = Ledger.open(url)
        account = ledger.account(ACCOUNT)
        while not stop.is_set():
            try:
                release = gate.release(account, counts(), DiscreteLaplace(STEP), fresh=True)
            except LedgerError:
                time.sleep(0.05)  # the server is down: ask again
            else:
                told.append({"entry": release.receipt["ledger"]["entry"], "values": release.values.tolist()})
        ledger.close()

    Ledger.open(url).account(ACCOUNT, budget=Budget(1000))
    worker = threading.Thread(target=client)
    worker.start()
    rounds = 4
    for _ in range(rounds):
        before = len(told)
        deadline = time.monotonic() + 30
        while len(told) < before + 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        server.kill()
        server.start()
    stop.set()
    worker.join(timeout=60)
    assert len(told) >= 5 * rounds
    check_told(url, told)


def test_an_interrupted_charge_is_completed_for_free(new_durable_url: Callable[[], str], monkeypatch: Any) -> None:
    """What a kill between charge and release leaves behind is said, and asking again finishes it."""
    account = Ledger.open(new_durable_url()).account(ACCOUNT, budget=Budget(1))

    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(gate._noise, "discrete_laplace", die)
        with contextlib.suppress(Killed):
            gate.release(account, counts(), DiscreteLaplace(1))
    (charge,) = account.entries()
    assert (charge.released, charge.steps) == (0, 1)
    assert account.remaining.exact_epsilon == 0
    release = gate.release(account, counts(), DiscreteLaplace(1))
    assert release.values.shape == (4,)
    assert len(account.entries()) == 1
    assert account.spent.exact_epsilon == Fraction(1)
    assert account.entries()[0].released == 1
    assert np.array_equal(gate.release(account, counts(), DiscreteLaplace(1)).values, release.values)
