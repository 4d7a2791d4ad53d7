"""The command line: ``tacit``. A user's error ends with a message and exit code 2, never with a traceback."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from tacit.errors import TacitError

EXIT_USER_ERROR = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except TacitError as error:
        print(f"tacit: error: {error}", file=sys.stderr)
        return EXIT_USER_ERROR
    except KeyboardInterrupt as error:
        what = str(error) or "Interrupted. What was charged before stays charged: see 'tacit ledger show'."
        print(f"tacit: {what}", file=sys.stderr)
        return EXIT_USER_ERROR
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


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
