"""``tacit evaluate``: a released model's private ROC curve on another private set."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from tacit.cli import common

TEXT = "release a model's ROC curve on another private set"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit evaluate`` to the command line."""
    parser = commands.add_parser("evaluate", help=TEXT, description=TEXT)
    parser.add_argument("model", metavar="MODEL", help="a model.json, or the folder that holds it")
    parser.add_argument("data", metavar="DATA", help="a file, a folder or a glob")
    parser.add_argument("--out", metavar="DIR", help="a folder that is new or empty, for roc.csv, roc.png and more")
    add_data(parser)
    parser.set_defaults(run=run)


def add_data(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Options on what is evaluated; ``required`` is whether ε must be given."""
    parser.add_argument("--label", metavar="COL", help="the column of labels (default: the model's)")
    parser.add_argument("--text", metavar="COL", help="the column of texts (default: the model's)")
    common.add_account(parser, required=required)
    common.add_files(parser)
    parser.add_argument("--strict", action="store_true", help="stop if there are odd rows, and tell which and where")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from tacit.models.storage import load
    from tacit.report.files import save_curve
    from tacit.scoring import model_unit

    model = load(arguments.model)
    with (
        common.interruptible(arguments.ledger, common.dataset_of(arguments)),
        common.output_folder(arguments.out, "tacit evaluate") as folder,
    ):
        (curve,) = curves_of([model], arguments, model_unit(model))
        files = [] if folder is None else save_curve(curve, curve.receipt, folder)
    facts = common.curve_facts(curve) | {
        "epsilon": curve.receipt["epsilon"],
        "delta": curve.receipt["delta"],
        "status": curve.receipt["status"],
        "files": [str(file) for file in files],
        "receipt": curve.receipt.to_dict(),
    }
    cost = f"Cost ε = {curve.receipt['epsilon']:g} on {curve.receipt['dataset']!r} in {curve.receipt['ledger']['url']}"
    cost += f"; protected: {curve.receipt['unit']}"
    return common.show(arguments, facts, f"{common.curve_line(curve)}\n{cost}")


def curves_of(models: list[Any], arguments: argparse.Namespace, unit: Any) -> list[Any]:
    """The private curves of models on the same rows, for equal shares of what was asked for: their costs add up.

    What is wrong with the data or the price is said before the account is made, and before the first curve is charged.
    ``unit`` is the person whom the models protect, if they do. A model that is there twice is paid for once.
    """
    from tacit.desk.payer import check_funds
    from tacit.errors import asked_of
    from tacit.models._naming import model_name
    from tacit.privacy.budget import Budget
    from tacit.scoring import part_for, private_curve, rehearse_curve

    whole = Budget(arguments.epsilon, arguments.delta)
    each = Budget(whole.exact_epsilon / len(models), whole.exact_delta / len(models))
    columns = {"label": arguments.label, "text": arguments.text}
    how = {"options": common.file_options(arguments), "version": arguments.data_version, "strict": arguments.strict}
    with common.paying(arguments, unit) as (unit, account), common.progress(1, quiet=arguments.json) as tell:
        tell("evaluate")
        parts = [part_for(model, arguments.data, None, unit, **how, **columns) for model in models]
        with asked_of("evaluate", whole.epsilon):
            loss = rehearse_curve(parts[0], each, unit, "evaluate")
        twice = len({(model_name(one), part.version) for one, part in zip(models, parts, strict=True)}) < len(models)
        payer = account(whole)
        check_funds(payer, each if twice else whole, "this evaluation")

        def curve(place: int, account: Any = payer) -> Any:
            classes = tuple(models[place].classes_.tolist())
            return private_curve(models[place], parts[place], each, account, classes=classes)

        if twice or len(models) == 1:
            return [curve(0)] * len(models)
        return _both(curve, payer.keeping(payer, each, loss))


def _both(curve: Callable[..., Any], keeping: Any) -> list[Any]:
    """Two curves, or neither: the first is paid where enough is left for the second.

    Where it is not, the second may have been paid before: then it is free, and else it is refused, too.
    """
    from tacit.errors import BudgetError

    try:
        first = curve(0, keeping)
    except BudgetError:
        second = curve(1, keeping)
        return [curve(0), second]
    return [first, curve(1)]
