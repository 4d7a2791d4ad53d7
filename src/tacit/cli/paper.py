"""``tacit paper``: run the paper's evaluation again on public data, as written (not private) and made sound."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from tacit.errors import bad_parameter

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit paper`` to the command line."""
    text = "reproduce the paper's figures and tables on public data: as written (NOT PRIVATE) beside sound"
    parser = commands.add_parser("paper", help=text, description=text)
    parser.add_argument("--out", metavar="DIR", default="paper-output", help="where the page goes (%(default)s)")
    parser.add_argument("--only", metavar="A,B,…", help="some items only, such as table1,f1")
    parser.add_argument("--quick", action="store_true", help="few folds and repetitions: a minute or two")
    parser.add_argument("--data", metavar="FOLDER", help="folder of the data sets (default: $TACIT_DATA)")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    for name in THREADS:
        os.environ.setdefault(name, "1")  # processes share the cores, not threads
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from tacit.paper.reproduction import choose, reproduce

    if arguments.jobs < 1:
        raise bad_parameter("tacit paper", "--jobs", "at least 1", arguments.jobs)
    only = None if arguments.only is None else [name.strip() for name in arguments.only.split(",")]
    choose(only)
    out = _folder(arguments.out)
    columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("cells", total=None)
        try:
            found = reproduce(
                out,
                only=only,
                quick=arguments.quick,
                data=arguments.data,
                jobs=arguments.jobs,
                tell=lambda done, total: progress.update(task, completed=done, total=total),
            )
        except KeyboardInterrupt:
            raise KeyboardInterrupt("Interrupted. What is done is kept: the same command goes on from there.") from None
    if arguments.json:
        print(json.dumps(found))
    else:
        _tell(found)
    return 0


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise bad_parameter("tacit paper", "--out", "a folder that can be written", name, str(error.strerror)) from None
    return folder


def _tell(found: dict[str, Any]) -> None:
    for claim in found["claims"]:
        print(f"{claim['verdict']:<38}{claim['text']} ({claim['item']})")
    print(f"\n{found['cells']} cells in {found['seconds']} s. The page: {found['page']}")
