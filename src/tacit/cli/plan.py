"""``tacit plan``: what to expect before any budget is spent."""

from __future__ import annotations

import argparse
import json

from tacit.cli import common

DRAWN = (".png", ".svg", ".pdf")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit plan`` to the command line."""
    text = "tell what to expect of a data set of this size, before any budget is spent; reads no data"
    parser = commands.add_parser("plan", help=text, description=text)
    parser.add_argument("--rows", type=int, required=True, metavar="N", help="rows, about")
    parser.add_argument("--positives", type=int, required=True, metavar="P", help="positive rows, about")
    parser.add_argument("--features", type=int, required=True, metavar="D", help="features")
    parser.add_argument(
        "--epsilon", type=float, nargs="+", action="extend", required=True, metavar="E", help="one ε or several"
    )
    parser.add_argument("--delta", type=float, default=0.0, help="δ (default: 0, pure privacy)")
    parser.add_argument("--auc", type=float, default=0.8, help="how good the classifier may be (%(default)s)")
    parser.add_argument("--auc-width", type=float, metavar="W", help="find the ε for a 95 %% interval of this width")
    parser.add_argument("--ones", type=int, metavar="K", help="features of a usual row (default: 12)")
    parser.add_argument("--test-size", type=float, default=0.3, metavar="T", help="share to test on (%(default)s)")
    parser.add_argument("--rows-per-unit", type=int, default=1, metavar="M", help="rows of a person (%(default)s)")
    parser.add_argument("--out", metavar="FILE", help="draw the ROC bands into a PNG, SVG or PDF file")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from tacit.plan import forecast

    target = None if arguments.out is None else common.new_file(arguments.out, "tacit plan", DRAWN)
    found = forecast(
        rows=arguments.rows,
        positives=arguments.positives,
        features=arguments.features,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        auc=arguments.auc,
        ones=arguments.ones,
        test_size=arguments.test_size,
        rows_per_unit=arguments.rows_per_unit,
        auc_width=arguments.auc_width,
    )
    if target is not None:
        figure = found.plot().figure
        figure.savefig(target, bbox_inches="tight", dpi=160)
    print(json.dumps(found.to_dict(), ensure_ascii=False) if arguments.json else found)
    return 0
