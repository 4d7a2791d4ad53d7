"""Run in a process of its own: charge a ledger from many children, and kill them, for real.

``kill URL...``: for each URL, children release in a loop and are killed with SIGKILL at a random moment.
``race URL``: sixteen children charge at once until the budget is spent.
The last line printed is a JSON summary.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from fractions import Fraction

import numpy as np

from tacit import Budget, BudgetError, Ledger
from tacit.privacy import gate
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import DiscreteLaplace
from tacit.privacy.unit import Bound, Sensitivity, Unit

ACCOUNT = "patients"
STEP = Fraction(1, 1000)


def counts() -> Exact:
    sensitivity = Sensitivity.of_row_counts(Bound(rows=1, ones=1))
    return Exact(np.arange(4), sensitivity=sensitivity, unit=Unit.row(), query="four counts", version="1")


def release_forever(url: str, budget: Budget, pipe: int) -> None:
    """Release again and again; tell the parent of each release only when it has been returned."""
    with Ledger.open(url) as ledger:
        account = ledger.account(ACCOUNT, budget=budget)
        while True:
            release = gate.release(account, counts(), DiscreteLaplace(STEP), fresh=True)
            told = {"entry": release.receipt["ledger"]["entry"], "values": release.values.tolist()}
            os.write(pipe, (json.dumps(told) + "\n").encode())


def start(url: str, budget: Budget) -> tuple[int, int]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            release_forever(url, budget, writer)
        except BudgetError:
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    os.close(writer)
    return child, reader


def drain(reader: int) -> list[dict[str, object]]:
    with os.fdopen(reader) as lines:
        return [json.loads(line) for line in lines if line.endswith("\n")]


def time_of_releases(url: str, wanted: int) -> float:
    """Measure how long a child takes for some releases here, so that kills fall among them on any machine."""
    began = time.monotonic()
    child, reader = start(url, Budget(1000))
    with os.fdopen(reader) as lines:
        for _ in range(wanted):
            lines.readline()
        elapsed = time.monotonic() - began
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return elapsed


def kill(urls: list[str], times: int, seed: int) -> dict[str, object]:
    """Kill two children at a time, each at its own random moment from the fork on."""
    moments = random.Random(seed)
    window = time_of_releases(urls[0], 12)
    killed, told = 0, {url: [] for url in urls[1:]}
    for number in range(times // 2):
        url = urls[1 + number * (len(urls) - 1) // (times // 2)]
        pair = [start(url, Budget(1000)) for _ in range(2)]
        for child, _ in pair:
            time.sleep(moments.random() * window)
            os.kill(child, signal.SIGKILL)
        for child, reader in pair:
            status = os.waitpid(child, 0)[1]
            killed += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            told[url] += drain(reader)
    return {"killed": killed, "told": told}


def race(url: str, processes: int) -> dict[str, object]:
    """Let all children loose at once on a budget of 150 releases, and wait until each is refused."""
    Ledger.open(url).account(ACCOUNT, budget=Budget(Fraction(15, 100)))
    children = [start(url, Budget(Fraction(15, 100))) for _ in range(processes)]
    told = [release for _, reader in children for release in drain(reader)]
    codes = [os.waitpid(child, 0)[1] for child, _ in children]
    return {"told": told, "codes": codes}


if __name__ == "__main__":
    if sys.argv[1] == "kill":
        result = kill(sys.argv[4:], int(sys.argv[2]), int(sys.argv[3]))
    else:
        result = race(sys.argv[3], int(sys.argv[2]))
    print(json.dumps(result))
