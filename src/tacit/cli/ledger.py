"""``tacit ledger``: create, list, show, verify and raise accounts."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from tacit.cli import EXIT_USER_ERROR
from tacit.errors import LedgerError, bad_parameter
from tacit.ledger import Account, Ledger, Verdict
from tacit.ledger.sending import without_password
from tacit.privacy.budget import Budget
from tacit.privacy.unit import Unit

DEFAULT_LEDGER = "sqlite:///tacit-ledger.db"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit ledger`` to the command line."""
    parser = commands.add_parser("ledger", help="look after budgets and what was spent")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    create = _verb(verbs, "create", "open an account: a data set with its unit and its total budget", _create)
    create.add_argument("name", help="name of the data set")
    create.add_argument("--epsilon", type=float, required=True, help="total ε")
    create.add_argument("--delta", type=float, default=0.0, help="total δ (default: 0, pure privacy)")
    create.add_argument("--unit", metavar="COLUMN", help="column that names the person, or 'row' (default: row)")
    create.add_argument("--rows-per-unit", type=int, metavar="M", help="rows kept of each person, with --unit")
    create.add_argument("--accounting", choices=["concentrated", "basic"], help="how charges with δ add up")

    _verb(verbs, "list", "list all accounts", _list)

    show = _verb(verbs, "show", "show an account and its charges", _show)
    show.add_argument("name", help="name of the data set")

    verify = _verb(verbs, "verify", "check every chain, stored release and total", _verify)
    verify.add_argument(
        "--head",
        action="append",
        default=[],
        metavar="NAME=HASH",
        help="a head noted earlier must still be in its chain",
    )

    more = _verb(verbs, "raise", "raise a budget: an explicit act, recorded with its reason", _raise)
    more.add_argument("name", help="name of the data set")
    more.add_argument("--epsilon", type=float, help="new total ε (default: as before)")
    more.add_argument("--delta", type=float, help="new total δ (default: as before)")
    more.add_argument("--reason", required=True, help="why, for the record")


def add_ledger(parser: Any) -> None:
    """The option that names the ledger; help shows its default without a password."""
    default = os.environ.get("TACIT_LEDGER", DEFAULT_LEDGER)
    shown = without_password(default).replace("%", "%%")
    text = f"where the budget is kept: sqlite:///file or postgresql://… (default: as TACIT_LEDGER says, now {shown})"
    parser.add_argument("--ledger", metavar="URL", default=default, help=text)


def _verb(verbs: Any, name: str, text: str, run: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=text)
    add_ledger(parser)
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.set_defaults(run=run)
    return parser


def _create(arguments: argparse.Namespace) -> int:
    unit = _unit(arguments.unit, arguments.rows_per_unit)
    budget = Budget(arguments.epsilon, arguments.delta)
    with Ledger.open(arguments.ledger) as ledger:
        if arguments.name in [account.name for account in ledger.accounts()]:
            raise LedgerError(
                f"The account {arguments.name!r} exists already in {ledger.url}. "
                "See it with 'tacit ledger show', or raise its budget with 'tacit ledger raise'."
            )
        account = ledger.account(arguments.name, budget=budget, unit=unit, accounting=arguments.accounting)
        return _print(arguments, _summary(account), f"Created {account!r} in {ledger.url}")


def _list(arguments: argparse.Namespace) -> int:
    with Ledger.open(arguments.ledger, create=False) as ledger:
        accounts = [_summary(account) for account in ledger.accounts()]
        columns = ("name", "unit", "budget", "spent", "remaining", "charges")
        rows = [[_cell(account[column]) for column in columns] for account in accounts]
        text = _table(columns, rows) if rows else f"No accounts in {ledger.url}."
        return _print(arguments, {"ledger": ledger.url, "accounts": accounts}, text)


def _show(arguments: argparse.Namespace) -> int:
    with Ledger.open(arguments.ledger, create=False) as ledger:
        account = ledger.account(arguments.name)
        charges = [charge.to_json() for charge in account.entries()]
        result = _summary(account) | {"entries": charges}
        facts = "\n".join(f"{key:>10}  {_cell(value)}" for key, value in _summary(account).items())
        columns = ("entry", "at", "epsilon", "delta", "mechanism", "query", "partition", "state")
        rows = [[_cell(charge.get(c)) for c in columns[:-1]] + [_state(charge)] for charge in charges]
        return _print(arguments, result, facts + ("\n\n" + _table(columns, rows) if rows else "\n\nNo charges yet."))


def _verify(arguments: argparse.Namespace) -> int:
    heads = dict(_head(text) for text in arguments.head)
    with Ledger.open(arguments.ledger, create=False) as ledger:
        verdicts = ledger.verify(heads=heads)
        good = all(verdict.ok for verdict in verdicts)
        result = {"ledger": ledger.url, "ok": good, "accounts": [_verdict(verdict) for verdict in verdicts]}
        lines = [
            f"{v.account}: in order, {v.entries} entries, head {v.head}"
            if v.ok
            else f"{v.account}: NOT IN ORDER. {v.problem}"
            for v in verdicts
        ]
        _print(arguments, result, "\n".join(lines) or f"No accounts in {ledger.url}.")
    return 0 if good else EXIT_USER_ERROR


def _raise(arguments: argparse.Namespace) -> int:
    with Ledger.open(arguments.ledger, create=False) as ledger:
        account = ledger.account(arguments.name)
        old = account.budget
        epsilon = old.exact_epsilon if arguments.epsilon is None else arguments.epsilon
        delta = old.exact_delta if arguments.delta is None else arguments.delta
        new = Budget(epsilon, delta)
        if not old < new:
            remedy = f"It has {old} already, and budgets are never lowered."
            raise bad_parameter("tacit ledger raise", "--epsilon", "more than the account has", str(new), remedy)
        account.raise_budget(new, reason=arguments.reason)
        return _print(arguments, _summary(account), f"Raised {account.name!r} from {old} to {account.budget}.")


def _unit(column: str | None, rows: int | None) -> Unit:
    if column is None or (column == "row" and rows is None):
        if rows is not None:
            remedy = "--rows-per-unit was given, which says how many rows of each person are kept."
            raise bad_parameter("tacit ledger create", "--unit", "the column that names the person", column, remedy)
        return Unit.row()
    if rows is None:
        raise bad_parameter("tacit ledger create", "--rows-per-unit", "given together with --unit", rows)
    return Unit.user(column, rows)


def _summary(account: Account) -> dict[str, Any]:
    return {
        "name": account.name,
        "unit": str(account.unit),
        "budget": _budget(account.budget),
        "spent": _budget(account.spent),
        "remaining": _budget(account.remaining),
        "accounting": account.accounting.value,
        "splits": {name: list(parts) for name, parts in account.splits().items()},
        "charges": len(account.entries()),
    }


def _budget(budget: Budget) -> dict[str, float]:
    return {"epsilon": budget.epsilon, "delta": budget.delta}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "account": verdict.account,
        "ok": verdict.ok,
        "entries": verdict.entries,
        "head": verdict.head,
        "problem": verdict.problem,
    }


def _head(text: str) -> tuple[str, str]:
    name, separator, digest = text.rpartition("=")
    if not separator or not name or len(digest) != 64:
        raise bad_parameter("tacit ledger verify", "--head", "NAME=HASH with a hash of 64 digits", text)
    return name, digest


def _state(charge: dict[str, Any]) -> str:
    state = "released" if charge["released"] == charge["steps"] else "charged, not yet released"
    return f"{state} (simulation: not private)" if charge["simulation"] else state


def _cell(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"epsilon", "delta"}:
        epsilon = f"ε = {value['epsilon']:.6g}"
        return f"{epsilon}, δ = {value['delta']:.3g}" if value["delta"] else epsilon
    if isinstance(value, dict):
        return "; ".join(f"{name}: {', '.join(parts)}" for name, parts in value.items()) or "none"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)


def _table(columns: tuple[str, ...], rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in [list(columns), *rows]) for i in range(len(columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [columns, *rows]]
    return "\n".join(line.rstrip() for line in lines)


def _print(arguments: argparse.Namespace, result: Any, text: str) -> int:
    print(json.dumps(result, ensure_ascii=False) if arguments.json else text)
    return 0
