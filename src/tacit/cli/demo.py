"""``tacit demo``: what the gate does, on answers that few would give without privacy. Offline, in a few seconds."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import textwrap
from pathlib import Path

import numpy as np

from tacit.errors import BudgetError
from tacit.ledger import Account, Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.release import Release


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit demo`` to the command line."""
    text = "count a sensitive survey under a budget of ε = 1, offline"
    parser = commands.add_parser("demo", help=text, description=text)
    parser.add_argument("--out", metavar="DIR", default="demo-output", help="where the ledger is kept (%(default)s)")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from tacit.data.bounding import Bounding
    from tacit.data.datasets import load_survey
    from tacit.data.schema import Schema
    from tacit.data.sources import open_source
    from tacit.data.statistics import count
    from tacit.privacy import gate
    from tacit.privacy.mechanisms import DiscreteLaplace

    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{folder / 'ledger.db'}"
    survey = load_survey("binary")
    _say(
        "Fair's survey: thousands of married women answered eight questions about their lives, and whether they had "
        "had an affair. Who would answer that without privacy? An account with a total budget of ε = 1 guards it."
    )
    with Ledger.open(url) as ledger:
        account = ledger.account("survey", budget=Budget(1.0), unit="row")
        schema = Schema.matrix(46, survey.classes, names=survey.feature_names)
        source = open_source(survey.matrix, schema, y=survey.labels)
        counts = count(source, Bounding(8, seed=account.seed))
        release = gate.release(account, counts.features, DiscreteLaplace(0.5))
        _say("The answers, counted by label and released with exact noise for ε = 0.5. Those that tell most:")
        _show_answers(release, survey.feature_names)
        _say("What was released, what it cost, and why that is enough:")
        print(textwrap.indent(repr(release.receipt), "  "), end="\n\n")
        gate.release(account, counts.features, DiscreteLaplace(0.5))
        _say(f"Asking again for the very same release costs nothing: {_state(account)}.")
        try:
            gate.release(account, counts.labels, DiscreteLaplace(0.75))
        except BudgetError as error:
            _say(f"Asking for more than is left is refused: {error}")
        _say(f"The ledger is kept in {url}. Look at it with:")
        program = _program()
        print(f"  {program} ledger show survey --ledger {url}\n  {program} ledger verify --ledger {url}")
    return 0


def _show_answers(release: Release, names: tuple[str, ...], most: int = 8) -> None:
    """Print the answers whose share of affairs differs most from the overall share, for what noise and chance allow."""
    without, affair = np.maximum(release.values, 1).astype(float)
    total = without + affair
    overall = affair.sum() / total.sum()
    share = affair / total
    noise = 4 * float(release.receipt["noise"]["noise_scale"]) ** 2  # variance of a sum of two noisy counts
    strength = np.abs(share - overall) * total / np.sqrt(total + noise)
    print(f"  {'answer':<22}{'women, about':>14}{'affair, about':>15}")
    for j in np.argsort(-strength)[:most]:
        print(f"  {names[j]:<22}{total[j]:>14,.0f}{share[j]:>15.0%}")
    print(f"  {'all answers':<22}{'':>14}{overall:>15.0%}\n")


def _state(account: Account) -> str:
    return f"spent {account.spent}, remaining {account.remaining}"


def _program() -> str:
    """How this program is called from here: it may be in a virtual environment that is not active."""
    return "tacit" if shutil.which("tacit") or not sys.argv[0] else os.path.relpath(sys.argv[0])


def _say(text: str) -> None:
    print(textwrap.fill(text, width=100), end="\n\n")
