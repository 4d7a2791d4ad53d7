"""How the receipts of a run add up: one receipt for all of it, and the state of the account. Public side."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tacit.ledger import Account
from tacit.privacy.budget import Budget, as_float
from tacit.privacy.release import Receipt, proofs

WHOLE = "all rows"
PARALLEL = "docs/proofs/accounting.md#parallel-composition"


def whole_receipt(steps: Mapping[str, Receipt], account: Account) -> Receipt:
    """One receipt for all steps of a run, with how their costs add up over disjoint parts."""
    lines = [
        {
            "step": name,
            "part": part_name(receipt["partition"]),
            "epsilon": receipt["epsilon"],
            "delta": receipt["delta"],
        }
        for name, receipt in steps.items()
    ]
    parts = {name: _sum(line for line in lines if line["part"] == name) for name in (WHOLE, "train", "test")}
    whole = parts.pop(WHOLE)
    total = {key: as_float(whole[key] + max(part[key] for part in parts.values())) for key in ("epsilon", "delta")}
    shown = {name: {key: as_float(value) for key, value in part.items()} for name, part in parts.items()}
    statuses = [str(receipt["status"]) for receipt in steps.values()]
    some = next(iter(steps.values()))
    return Receipt(
        {
            "mechanism": "workflow: " + ", ".join(steps),
            "epsilon": total["epsilon"],
            "delta": total["delta"],
            "unit": some["unit"],
            "neighbours": some["neighbours"],
            "dataset": account.name,
            "composition": {
                "rule": "parallel: training and test set are disjoint, so a unit pays for one of them alone",
                WHOLE: {key: as_float(value) for key, value in whole.items()},
                "parts": shown,
                "sum": _arithmetic("epsilon", "ε", whole, shown, total)
                + ("; " + _arithmetic("delta", "δ", whole, shown, total) if total["delta"] else ""),
            },
            "account": {
                "budget": _plain(account.budget),
                "spent": _plain(account.spent),
                "remaining": _plain(account.remaining),
            },
            "ledger": account.ledger.url,
            "at": max(str(receipt["at"]) for receipt in steps.values()),
            "library": some["library"],
            "proof": sorted({PARALLEL, *proofs(steps.values())}),
            "status": next((status for status in statuses if status != "private"), "private"),
            "steps": [
                line | {"receipt": receipt.to_dict()} for line, receipt in zip(lines, steps.values(), strict=True)
            ],
        }
    )


def account_state(account: Account, steps: Mapping[str, Receipt]) -> dict[str, Any]:
    """What an account has spent, step by step, for a report."""
    names = {(receipt.get("ledger") or {}).get("entry"): name for name, receipt in steps.items()}
    charges = [
        {
            "name": names.get(charge.entry, charge.query),
            "part": charge.partition or None,
            "epsilon": charge.budget.epsilon,
            "delta": charge.budget.delta,
        }
        for charge in account.entries()
    ]
    budgets = {"budget": account.budget, "spent": account.spent, "remaining": account.remaining}
    return {name: _plain(budget) for name, budget in budgets.items()} | {"steps": charges}


def part_name(partition: str | None) -> str:
    """The part that a partition of the ledger stands for, in a word."""
    return WHOLE if not partition else partition.rpartition(":")[2]


def _sum(lines: Any) -> dict[str, Fraction]:
    chosen = list(lines)
    return {key: sum((Fraction(repr(line[key])) for line in chosen), Fraction(0)) for key in ("epsilon", "delta")}


def _arithmetic(key: str, sign: str, whole: Any, parts: Any, total: Any) -> str:
    largest = " and ".join(f"{part[key]:g} ({name})" for name, part in parts.items())
    return f"{sign}: {float(whole[key]):g} on all rows + the largest of {largest} = {total[key]:g}"


def _plain(budget: Budget) -> dict[str, float]:
    return {"epsilon": budget.epsilon, "delta": budget.delta}
