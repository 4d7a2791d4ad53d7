"""What the commands on private data share: options, the account that pays, progress, and what an interruption says."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.ledger import add_ledger
from tacit.errors import LedgerError, TacitError, bad_parameter

if TYPE_CHECKING:
    from tacit.data.readers import FileOptions
    from tacit.ledger import Account
    from tacit.privacy.budget import Budget
    from tacit.privacy.unit import Unit

STEPS = {
    "open": "Opening the data",
    "split": "Splitting by coins",
    "train": "Training",
    "evaluate": "Evaluating",
    "report": "Writing the report",
}


def add_files(parser: argparse.ArgumentParser) -> None:
    """Options on how files are written."""
    group = parser.add_argument_group("files")
    group.add_argument(
        "--format", choices=["csv", "tsv", "parquet", "arrow", "jsonl", "libsvm"], help="default: by the suffix"
    )
    group.add_argument("--header", metavar="A,B,…", help="names of the columns of a CSV or TSV without a header line")
    group.add_argument("--delimiter", metavar="C", help="default: a comma (CSV) or a tab (TSV)")
    group.add_argument("--quote", metavar="C", help='default: " for CSV, none for TSV; empty means none')


def add_account(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Options on who pays."""
    group = parser.add_argument_group("who pays")
    text = "what it may cost; smaller is more private"
    group.add_argument("--epsilon", type=float, required=required, metavar="E", help=text)
    group.add_argument("--delta", type=float, default=0.0, metavar="D", help="default 0: pure privacy")
    text = "the column that names the person, or 'row' (default: as the schema, the model or the account says, or row)"
    group.add_argument("--unit", metavar="COL", help=text)
    group.add_argument("--rows-per-unit", type=int, metavar="M", help="rows used of each person, with --unit")
    add_ledger(group)
    text = "the account; it is created with this ε and δ if it is not there (default: the file's name)"
    group.add_argument("--dataset", metavar="NAME", help=text)
    text = "a name for this version of the data (default: a fingerprint; on Spark for local files alone)"
    group.add_argument("--data-version", metavar="NAME", help=text)


def file_options(arguments: argparse.Namespace) -> FileOptions:
    """How files are written."""
    from tacit.data.readers import FileOptions

    header = None if arguments.header is None else tuple(words(arguments.header))
    return FileOptions(arguments.format, header, arguments.delimiter, arguments.quote)


def words(text: str) -> list[str]:
    """Read A,B,C as a line of CSV, so that a name may hold a comma in quotes."""
    return [word.strip() for word in next(csv.reader([text], skipinitialspace=True), [])]


def unit_of(arguments: argparse.Namespace) -> Unit | None:
    """What is protected; None leaves it to the schema, the model or the account."""
    from tacit.privacy.unit import Unit

    if arguments.unit == "row" and arguments.rows_per_unit is None:
        return Unit.row()
    if (arguments.unit is None) != (arguments.rows_per_unit is None):
        given, missing = "--unit", "--rows-per-unit"
        if arguments.unit is None:
            given, missing = missing, given
        raise bad_parameter("tacit", missing, f"given, too, where {given} is", None, "The two belong together.")
    return None if arguments.unit is None else Unit.user(arguments.unit, arguments.rows_per_unit)


def dataset_of(arguments: argparse.Namespace) -> str:
    """The name of the account: as given, or the file's."""
    return arguments.dataset or Path(arguments.data).resolve().name or "data"


@contextmanager
def paying(
    arguments: argparse.Namespace, declared: Unit | None = None
) -> Iterator[tuple[Unit, Callable[[Budget], Account]]]:
    """What is protected, and a way to the account: one that is not there is made with the whole budget.

    ``declared`` is the person whom a model protects; only ``--unit`` may say otherwise.
    """
    from tacit.ledger import Ledger
    from tacit.ledger.lookup import existing_account
    from tacit.privacy.unit import Unit, check_declared

    asked, name = unit_of(arguments), dataset_of(arguments)
    with ExitStack() as ledgers:
        found = ledgers.enter_context(existing_account(arguments.ledger, name))
        if found is not None and asked not in (None, found.unit):
            remedy = "Leave it out to take that."
            raise bad_parameter("tacit", "--unit", f"the account's ({found.unit})", str(asked), remedy)
        unit = asked or declared or Unit.row() if found is None else found.unit
        remedy = "Name an account for that unit by --dataset, or say by --unit that the account's is meant."
        check_declared(unit, None if asked else declared, "The model", remedy)

        def account(budget: Budget) -> Account:
            if found is not None:
                return found
            return ledgers.enter_context(Ledger.open(arguments.ledger)).account(name, budget=budget, unit=unit)

        yield unit, account


def new_file(name: str, owner: str, endings: tuple[str, ...]) -> Path:
    """A file to draw into: whether it can be written is found out before anything is computed or charged."""
    path = Path(name)
    if path.suffix.lower() not in endings:
        raise bad_parameter(owner, "--out", f"a file that ends with {' or '.join(endings)}", name)
    try:
        path.touch(exist_ok=False)
        path.unlink()
    except OSError as error:
        expected = f"a new file that can be written ({error.strerror})"
        raise bad_parameter(owner, "--out", expected, name) from None
    return path


@contextmanager
def output_folder(folder: str | None, owner: str) -> Iterator[Path | None]:
    """A folder that is new or empty; if nothing comes of it, it goes again with what was written so far."""
    from tacit.report.files import OUTPUTS, fresh_folder

    path = None if folder is None else Path(folder)
    written: tuple[str, ...] = ()
    try:  # Ctrl-C may come as soon as the folder is there
        made = None if path is None else fresh_folder(path, owner, "--out")
        written = OUTPUTS
        yield made
    except BaseException:
        if path is not None and path.is_dir():
            for name in written:  # and nothing else: the ledger may be kept there
                (path / name).unlink(missing_ok=True)
            if not any(path.iterdir()):
                path.rmdir()
        raise


@contextmanager
def interruptible(url: str, name: str) -> Iterator[None]:
    """On Ctrl-C or an error, say what was charged meanwhile: it stays so, and the same command goes on from there."""
    before = {charge.entry for charge in _entries(url, name)}
    try:
        yield
    except KeyboardInterrupt:
        told = _charged(url, name, before, "the interruption") or f"Nothing was charged to {name!r}."
        raise Interrupted(f"Interrupted, and nothing was written. {told}") from None
    except LedgerError:  # the ledger has nothing more to say
        raise
    except TacitError as error:
        told = _charged(url, name, before, "this error")
        if not told:
            raise
        raise TacitError(f"{error} {told}") from None


def _charged(url: str, name: str, before: set[Any], event: str) -> str:
    """What was charged since; empty where nothing was."""
    new = [charge for charge in _entries(url, name) if charge.entry not in before]
    if not new:
        return ""
    cost = "; ".join(f"{charge.budget} for {charge.query!r}" for charge in new)
    again = "The same command again goes on from there, and does not pay for it twice."
    return f"Charged to {name!r} before {event}: {cost}. {again}"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with a word on what was charged."""


def _entries(url: str, name: str) -> list[Any]:
    from tacit.ledger.lookup import existing_account

    with existing_account(url, name) as account:
        return [] if account is None else account.entries()


@contextmanager
def progress(total: int, *, quiet: bool) -> Iterator[Any]:
    """A bar on a terminal, and nothing elsewhere; yields a function that is told each step."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Starting", total=total)
        yield lambda step: bar.update(task, advance=1, description=STEPS.get(step, step))


def show(arguments: argparse.Namespace, result: Any, text: str) -> int:
    """Print a result for people, or as JSON for machines."""
    print(json.dumps(result, ensure_ascii=False) if arguments.json else text)
    return 0


def curve_facts(curve: Any) -> dict[str, Any]:
    """The numbers of a curve that are worth a line."""
    low, high = curve.auc_interval()
    return {"auc": curve.auc, "auc_interval": [low, high], "unknown": curve.unknown, "notes": curve.notes}


def run_facts(result: Any, files: Iterable[Path]) -> dict[str, Any]:
    """What machines are told of a run."""
    receipt = result.receipt
    return curve_facts(result.curve) | {
        "epsilon": receipt["epsilon"],
        "delta": receipt["delta"],
        "status": receipt["status"],
        "files": [str(file) for file in files],
        "receipt": receipt.to_dict(),
    }


def curve_line(curve: Any) -> str:
    """A curve in one line, and one for each note on it."""
    if curve.unknown:
        return (
            "A class is too small to be told from an empty one, so the curve is unknown. Are the classes spelt as in "
            "the data, and in JSON Lines the column of labels ('--strict' tells where they are not)? "
            "Or are rows or ε too few?"
        )
    from tacit.evaluation.display import shown_area

    low, high = curve.auc_interval()
    which = f"{curve.pos_label!r} against all others"
    area, low, high = (shown_area(value) for value in (curve.auc, low, high))
    line = f"AUC {area}, 95 % interval {low} to {high}, for {which}"
    return "\n".join([line, *(f"Note: {note}." for note in curve.notes)])
