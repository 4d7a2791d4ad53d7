"""The command line: ``tacit``. A user's error ends with a message and exit code 2, never with a traceback."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from tacit.errors import TacitError

EXIT_USER_ERROR = 2
OPTIONS = {name: f"--{name}" for name in ("format", "header", "delimiter", "quote")} | {"folder": "--data"}
"""Parameters of Python that remedies speak of, as options."""
OWNERS = ("Workflow", "split", "FileOptions", "TextClassifier", "score", "evaluate", "forecast")
"""Whose parameters are options of the same name."""
OTHERS = {"'max_rows' parameter of Unit": "--rows-per-unit", "'url' parameter of Ledger.open": "--ledger"}
OTHERS |= {f"'version' parameter of {owner}": "--data-version" for owner in ("Workflow", "evaluate")}
OTHERS |= {f"'{name}' parameter of Budget": f"--{name}" for name in ("epsilon", "delta")}


def program() -> NoReturn:
    """The program ``tacit``: runs the command line and ends."""
    try:
        code = _run(None)
    except KeyboardInterrupt as error:
        _tell(error)
        # Threads of libraries may still be at work, and some abort a process that tidies up.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(EXIT_USER_ERROR)
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        return _run(argv)
    except KeyboardInterrupt as error:
        _tell(error)
        return EXIT_USER_ERROR


def _run(argv: Sequence[str] | None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except TacitError as error:
        print(f"tacit: error: {_with_options(str(error))}", file=sys.stderr)
        return EXIT_USER_ERROR
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _with_options(message: str) -> str:
    """An error in the words of the command line: --test-size rather than test_size, --header rather than header=."""

    def option(found: re.Match[str]) -> str:
        name, value = OPTIONS[found[2]], found[3].replace("...", "")
        return f"{found[1]} {name} {value}".rstrip()

    for words, name in OTHERS.items():
        message = message.replace(f"The {words} must", f"The {name!r} option must")
    own = rf"^The '(\w+)' parameter of (?:{'|'.join(OWNERS)}) must"
    message = re.sub(own, lambda found: f"The '--{found[1].replace('_', '-')}' option must", message)
    return re.sub(rf"\b([Pp]ass) ({'|'.join(OPTIONS)})=('[^']*'|\.\.\.|)", option, message)


def _tell(interruption: KeyboardInterrupt) -> None:
    what = str(interruption) or "Interrupted. What was charged before stays charged: see 'tacit ledger show'."
    print(f"tacit: {what}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    from tacit._version import __version__
    from tacit.cli import audit, compare, demo, evaluate, ledger, paper, plan, run, schema, score

    parser = argparse.ArgumentParser(
        prog="tacit", description="Machine learning on data that nobody may look at, under one enforced budget."
    )
    parser.add_argument("--version", action="version", version=f"tacit {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (demo, run, score, evaluate, compare, plan, schema, ledger, audit, paper):
        command.add_to(commands)
    return parser
