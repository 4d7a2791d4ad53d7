"""``tacit demo``."""

from __future__ import annotations

import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit demo`` to the command line."""
    commands.add_parser("demo", help="run the whole story offline").set_defaults(run=lambda _: 0)
