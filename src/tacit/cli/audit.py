"""``tacit audit``: attack every mechanism, the broken ones on purpose, and say what could be proven."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.errors import bad_parameter

if TYPE_CHECKING:
    from tacit.audit.controls import Result

EXIT_UNEXPECTED = 1


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit audit`` to the command line."""
    text = "attack the mechanisms and report the largest ε that can be proven"
    parser = commands.add_parser("audit", help=text, description=text)
    parser.add_argument("--mechanism", metavar="NAME", help="only this entry, class or function (see --list)")
    parser.add_argument("--epsilon", type=float, metavar="E", help="the claim (default: those of the entries)")
    parser.add_argument("--runs", type=int, metavar="N", help="runs on each neighbour (default: those of the entries)")
    text = "where the page with the output distributions goes (default: audit-NAME.html; with --json none)"
    parser.add_argument("--out", metavar="PAGE", help=text)
    parser.add_argument("--list", action="store_true", help="list the entries")
    parser.add_argument("--quick", action="store_true", help="a short audit: fewer runs and fewer outputs")
    parser.add_argument("--seconds", type=float, default=120.0, metavar="S", help="at most, for an entry (%(default)g)")
    parser.add_argument("--jobs", type=int, metavar="J", help="processes (default: one for each core)")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from tacit.audit.controls import ENTRIES, find, plan, run_all
    from tacit.audit.entries import Effort
    from tacit.audit.page import write_page
    from tacit.audit.statistical import progress_bar
    from tacit.privacy.budget import Budget

    entries = list(ENTRIES) if arguments.mechanism is None else find(arguments.mechanism)
    if arguments.list:
        _list(entries, as_json=arguments.json)
        return 0
    if arguments.out is not None and arguments.mechanism is None:
        raise bad_parameter("tacit audit", "--out", "given with --mechanism", arguments.out)
    if arguments.jobs is not None and arguments.jobs < 1:
        raise bad_parameter("tacit audit", "--jobs", "at least 1", arguments.jobs)
    if not arguments.seconds > 0:
        raise bad_parameter("tacit audit", "--seconds", "above 0", arguments.seconds)
    if arguments.epsilon is not None:
        Budget(arguments.epsilon)  # refuses what is no ε
    jobs = arguments.jobs or len(os.sched_getaffinity(0))
    together = arguments.mechanism is None
    shown = sys.stderr.isatty() and not arguments.json
    effort = Effort(
        runs=arguments.runs,
        share=0.1 if arguments.quick else 1.0,
        seconds=arguments.seconds,
        jobs=1 if together else jobs,
        progress=shown and not together,
    )
    planned = plan(entries, arguments.epsilon)
    with progress_bar(len(planned), wanted=together and shown) as watch:
        results = run_all(planned, effort, jobs=jobs if together else 1, watch=lambda r: watch(1, r.entry.name))
    page = _page(arguments)
    if page is not None:
        write_page(page, results)
    if arguments.json:
        lines = {"results": [result.to_json() for result in results if not result.skipped]}
        lines["skipped"] = [result.to_json() for result in results if result.skipped]
        print(json.dumps(lines, ensure_ascii=False))
    else:
        _print(results, page)
    return 0 if all(result.as_expected for result in results) else EXIT_UNEXPECTED


def _page(arguments: argparse.Namespace) -> str | None:
    """Where the page goes: the whole audit has none, and for machines it must be asked for."""
    if arguments.out is not None or arguments.mechanism is None or arguments.json:
        return None if arguments.out is None else str(arguments.out)
    return f"audit-{re.sub('[^a-z0-9]+', '-', arguments.mechanism.lower()).strip('-')}.html"


def _list(entries: Sequence[Any], *, as_json: bool) -> None:
    if as_json:
        rows = [{"name": e.name, "expected": e.expected, "method": e.method, "covers": list(e.covers)} for e in entries]
        print(json.dumps({"entries": rows}, ensure_ascii=False))
        return
    for entry in entries:
        print(f"{entry.name:<49}{entry.method:<8}{'must be caught' if entry.expected == 'violation' else '':<15}")


def _print(results: Sequence[Result], page: str | None) -> None:
    print(f"{'':<49}{'how':<8}{'claimed':>9}{'proven':>9}{'share':>7}  result")
    for result in results:
        if isinstance(result.outcome, str):
            print(f"{result.entry.name:<49}skipped: {result.outcome}")
            continue
        found = result.outcome
        word = "violation" if found.violation else "no violation found"
        surprise = "" if result.as_expected else "   ← not as expected"
        share = min(found.epsilon / found.claimed.epsilon, 999.0)
        print(
            f"{result.entry.name:<49}{found.method:<8}{found.claimed.epsilon:>9g}{found.epsilon:>9.3g}"
            f"{share:>7.2f}  {word}{surprise}"
        )
    caught = [r for r in results if r.entry.expected == "violation" and not r.skipped]
    sound = [r for r in results if r.entry.expected == "none"]
    if caught:
        print(f"\n{sum(r.as_expected for r in caught)} of {len(caught)} broken mechanisms were caught.")
    if sound:
        alarms = sum(not r.as_expected for r in sound)
        print(f"\n{alarms} violation(s) found in {len(sound)} attacks on sound mechanisms.")
    if page is not None:
        print(f"\nWrote {page}.")
