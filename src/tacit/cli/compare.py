"""``tacit compare``: two private ROC curves side by side, and whether they can be told apart."""

from __future__ import annotations

import argparse
from typing import Any

from tacit.cli import common, evaluate
from tacit.errors import bad_parameter

TEXT = (
    "compare two private ROC curves. Without DATA: two folders (or curve.json) that 'tacit run' or 'tacit evaluate' "
    "wrote, at no cost. With DATA: two models on that private set, for half of --epsilon each"
)


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit compare`` to the command line."""
    parser = commands.add_parser("compare", help="compare two models by their private ROC curves", description=TEXT)
    parser.add_argument("first", metavar="A", help="a folder, a curve.json, or with DATA a model.json")
    parser.add_argument("second", metavar="B", help="the same")
    parser.add_argument("data", metavar="DATA", nargs="?", help="a private set to evaluate both models on")
    parser.add_argument("--out", metavar="PNG", help="draw both curves into this new file")
    evaluate.add_data(parser, required=False)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from tacit.evaluation.compare import compare

    target = None if arguments.out is None else common.new_file(arguments.out, "tacit compare", (".png",))
    first, second = _stored(arguments) if arguments.data is None else _evaluated(arguments)
    verdict = compare(first, second)
    low, high = verdict.interval()
    apart = (low > 0 or high < 0) and not verdict.unknown
    better = None if not apart else "A" if verdict.probability > 0.5 else "B"
    facts = {
        "A": {"name": arguments.first} | common.curve_facts(first),
        "B": {"name": arguments.second} | common.curve_facts(second),
        "probability_that_A_is_better": verdict.probability,
        "difference": verdict.difference,
        "interval": [low, high],
        "unknown": verdict.unknown,
        "told_apart": apart,
        "better": better,
        "note": verdict.note,
    }
    if arguments.data is not None:
        share = 2 if first is second else 1
        facts |= {"epsilon": arguments.epsilon / share, "delta": arguments.delta / share}
    if target is not None:
        from tacit.report.files import draw

        draw(target, [("A", first), ("B", second)])
    return common.show(arguments, facts, _text(arguments, facts, first, second))


def _stored(arguments: argparse.Namespace) -> tuple[Any, Any]:
    from tacit.evaluation.storage import load_curve

    for name in ("epsilon", "delta", "label", "text", "unit", "rows_per_unit", "dataset", "data_version"):
        if value := getattr(arguments, name):
            remedy = "Two stored curves cost nothing. To compare two models on a private set, add its files as DATA."
            option = f"--{name.replace('_', '-')}"
            raise bad_parameter("tacit compare", option, "given together with DATA", value, remedy)
    return load_curve(arguments.first), load_curve(arguments.second)


def _evaluated(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """Both on the same rows: their costs add up to what was asked for."""
    from tacit.models.storage import load

    if arguments.epsilon is None:
        remedy = "DATA was given, so --epsilon is needed. To compare two stored curves, leave DATA out."
        raise bad_parameter("tacit compare", "--epsilon", "the price of both curves, a positive number", None, remedy)
    models = [load(name) for name in _names(arguments)]
    unit = _unit(models, arguments)
    with common.interruptible(arguments.ledger, common.dataset_of(arguments)):
        first, second = evaluate.curves_of(models, arguments, unit)
    return first, second


def _unit(models: list[Any], arguments: argparse.Namespace) -> Any:
    """The person whom the models protect, one of them or both."""
    from tacit.scoring import model_unit

    units = {unit for unit in map(model_unit, models) if unit is not None}
    if len(units) > 1 and arguments.unit is None:
        shown = "; ".join(sorted(map(str, units)))
        raise bad_parameter("tacit compare", "--unit", "given where the models protect different persons", shown)
    return next(iter(units), None)


def _names(arguments: argparse.Namespace) -> tuple[str, str]:
    return arguments.first, arguments.second


def _text(arguments: argparse.Namespace, facts: dict[str, Any], first: Any, second: Any) -> str:
    low, high = facts["interval"]
    lines = [f"A  {arguments.first}: {common.curve_line(first)}", f"B  {arguments.second}: {common.curve_line(second)}"]
    a, b = (f"{curve.receipt['epsilon']:g}" for curve in (first, second))
    spent = a if a == b else f"{a} (A) and {b} (B)"
    if facts["unknown"]:
        lines.append("Where a curve is unknown, so is the difference.")
    else:
        difference = f"Difference in AUC (A − B) {facts['difference']:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}"
        lines.append(f"{difference}; A is better with probability {facts['probability_that_A_is_better']:.2f}.")
    if facts["note"]:
        lines.append(f"Note: {facts['note']}")
    if facts["told_apart"]:
        lines.append(f"They can be told apart: {facts['better']} is better.")
    else:
        lines.append(f"They cannot be told apart at ε = {spent}: more rows or a larger ε would be needed.")
    if arguments.data is not None:
        receipt = first.receipt
        where = f"on {receipt['dataset']!r} in {receipt['ledger']['url']}"
        each = "for one curve, since both are the same" if first is second else "half of it for each curve"
        lines.append(f"Cost ε = {facts['epsilon']:g}, {each}, {where}; protected: {receipt['unit']}")
    return "\n".join(lines)
