"""``tacit demo``: the whole story on answers that few would give without privacy. Offline, in some seconds."""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import textwrap
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from tacit.cli import common
from tacit.errors import BudgetError

TEXT = "train, evaluate and report on a sensitive survey under a budget of ε = 1, offline"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit demo`` to the command line."""
    parser = commands.add_parser("demo", help=TEXT, description=TEXT)
    parser.add_argument(
        "--out",
        metavar="DIR",
        default="demo-output",
        help="a folder that is new, empty or an earlier demo's (%(default)s)",
    )
    text = "a folder with the SMS Spam Collection: its story is told as well (default: TACIT_DATA, if it has one)"
    parser.add_argument("--data", metavar="FOLDER", help=text)
    text = "tell no story, and print JSON for machines as 'tacit run' does; of the messages under \"messages\""
    parser.add_argument("--json", action="store_true", help=text)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    messages = _find_messages(arguments.data)
    folder, url = _folder(arguments.out)
    quiet: Any = redirect_stdout(io.StringIO()) if arguments.json else nullcontext()
    with quiet, common.progress(2 * len(common.STEPS), quiet=arguments.json) as tell:
        facts = _survey(folder, url, tell)
        if messages is not None:
            facts["messages"] = _messages(messages, folder, url, tell)
    program = _program()
    look = f"  {program} ledger show survey --ledger {url}\n  {program} ledger verify --ledger {url}"
    return common.show(arguments, facts, f"The ledger is kept in {url}. Look at it with:\n\n{look}")


def _folder(name: str) -> tuple[Path, str]:
    """A folder with its ledger: new, empty or an earlier demo's, whose ledger knows the survey."""
    from tacit.ledger.lookup import existing_account
    from tacit.report.files import fresh_folder

    folder = Path(name)
    url = f"sqlite:///{folder / 'ledger.db'}"
    with existing_account(url, "survey") as earlier:
        return folder if earlier is not None else fresh_folder(folder, "tacit demo", "--out"), url


def _survey(folder: Path, url: str, tell: Any) -> dict[str, Any]:
    from tacit.data.datasets import load_survey
    from tacit.workflow import Workflow

    survey = load_survey()
    _say(
        "Fair's survey: thousands of married women answered eight questions about their lives, and whether they had "
        "had an affair. Who would answer that without privacy? An account with a total budget of ε = 1 guards it."
    )
    labels = np.array(survey.class_names)[survey.labels]
    settings: dict[str, Any] = {"classes": survey.class_names, "schema": survey.schema, "label": "has had an affair"}
    settings |= {"ledger": url, "dataset": "survey"}
    result = Workflow(1.0, **settings).run(survey.frame, labels, progress=tell)
    _say("Each answer sheet falls into the training or the test set by a coin of its own. So both may use the whole ε:")
    print(f"  {result.receipt['composition']['sum']}\n")
    _show_answers(result)
    _tell_curve(result, "who had an affair")
    again = Workflow(1.0, **settings).run(survey.frame, labels)
    same = "the very same curve" if again.curve.auc == result.curve.auc else "another curve"
    _say(f"Asking again gives {same} and costs nothing: {_state(again)}.")
    try:
        Workflow(0.5, **settings).run(survey.frame, labels)
    except BudgetError as error:
        _say(f"Asking for anything else is refused: {error}")
    return _keep(result, folder)


def _find_messages(data: str | None) -> Any:
    """The messages, where a folder that has them is at hand; one that is named must have them."""
    from tacit.data.datasets import DatasetError, load_sms

    if data is None and not os.environ.get("TACIT_DATA"):
        return None
    try:
        return load_sms(folder=data)
    except DatasetError:
        if data is not None:
            raise
        return None


def _messages(messages: Any, folder: Path, url: str, tell: Any) -> dict[str, Any]:
    """The story of spam."""
    from tacit.workflow import Workflow

    _say("Text messages of many people, some of them spam. Words go in as they are; a model to be shared comes out.")
    labels = np.array(messages.class_names)[messages.labels]
    settings: dict[str, Any] = {"classes": messages.class_names, "ledger": url, "dataset": "messages"}
    result = Workflow(1.0, **settings).run(messages.texts, labels, progress=tell)
    _tell_curve(result, "what is spam")
    for text in ("You have WON a prize of 1000! Call 09061701461 now to claim", "Are we still on for lunch today?"):
        print(f"  {result.model.predict_proba([text])[0, 1]:>4.0%} spam  {text}")
    print()
    target = folder / "messages"
    target.mkdir(exist_ok=True)
    return _keep(result, target)


def _show_answers(result: Any, most: int = 6) -> None:
    if not result.features:
        _say("No single answer can be told from noise this time: the model adds up what many of them say.")
        return
    print(f"  {'answers told from noise':<28}{'log-odds of an affair':>22}")
    for name, weight in result.features[:most]:
        print(f"  {name:<28}{weight:>+22.2f}")
    print()


def _tell_curve(result: Any, what: str) -> None:
    from tacit.evaluation.display import shown_area

    curve = result.curve
    area, low, high = (shown_area(value) for value in (curve.auc, *curve.auc_interval()))
    recall = curve.metrics.recall(0.5)
    _say(
        f"How well does the model tell {what}, on a test set that nobody looked at? AUC {area}, and with 95 % "
        f"confidence between {low} and {high}; recall at a threshold of 0.5: {recall}."
    )


def _keep(result: Any, folder: Path) -> dict[str, Any]:
    """Write the files of a result; those of an earlier demo, which are the same, give way. Returns what was found."""
    from tacit.report.files import OUTPUTS

    for name in OUTPUTS:
        (folder / name).unlink(missing_ok=True)
    fresh = folder / ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    files = [file.replace(folder / file.name) for file in result.save(fresh)]
    fresh.rmdir()
    _say(f"Wrote {folder / 'report.html'}: open it. Beside it are the model, the receipt and the curve.")
    return common.run_facts(result, files)


def _state(result: Any) -> str:
    spent, left = (result.receipt["account"][name]["epsilon"] for name in ("spent", "remaining"))
    return f"spent ε = {spent:g}, remaining ε = {left:g}"


def _program() -> str:
    """How this program is called from here: it may be in a virtual environment that is not active."""
    if Path(sys.argv[0]).name == "__main__.py":
        return "python -m tacit"
    return "tacit" if shutil.which("tacit") or not sys.argv[0] else os.path.relpath(sys.argv[0])


def _say(text: str) -> None:
    print(textwrap.fill(text, width=100), end="\n\n")
