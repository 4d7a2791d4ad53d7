"""The sections of a report on privacy: what it cost, what that means for a person, and the receipts. Public side."""

from __future__ import annotations

import json
import math
from html import escape
from typing import Any

from tacit.privacy.budget import show_delta
from tacit.report.summary import Summary
from tacit.report.words import price, section, share, table, unit_of

Json = dict[str, Any]

BELIEFS = (0.01, 0.1, 0.5)
SHADES = 4
MOST_MEANT = 10.0  # ε: beyond, no promise is worth the name


def cost(summary: Summary) -> str:
    """The budget: spent and left, and by part and step."""
    spending = summary.cost
    if spending is None:
        return ""
    total = max((step["end"] for row in spending["rows"] for step in row["steps"]), default=0.0)
    scale = max(spending["budget"]["epsilon"], total, 1e-9)
    return section(
        "cost", "What it cost", _meter(spending, scale) + _lanes(spending["rows"], scale) + _sums(spending, total)
    )


def _meter(spending: Json, scale: float) -> str:
    spent, budget, left = (escape(price(spending[name])) for name in ("spent", "budget", "remaining"))
    width = 100 * min(spending["spent"]["epsilon"] / scale, 1.0)
    return (
        f"<div class='meter' role='img' aria-label='{spent} spent of {budget}'><i style='width:{width:.2f}%'></i></div>"
        f"<p class='ends'><span><b>{spent}</b> spent</span><span><b>{left}</b> left of {budget}</span></p>"
    )


def _lanes(rows: list[Json], scale: float) -> str:
    """One lane for each part of the data; steps lie where they begin and end to count."""
    if not rows:
        return ""
    lanes, shade = [], 0
    for row in rows:
        bars = []
        for step in row["steps"]:
            left, width = 100 * step["start"] / scale, 100 * step["epsilon"] / scale
            bars.append(
                f"<i class='s{shade % SHADES}' style='left:{left:.2f}%;width:{width:.2f}%' "
                f"title='{escape(step['name'])}: {price(step)}'>{escape(step['name'])}</i>"
            )
            shade += 1
        names = "; ".join(f"{step['name']}: {price(step)}" for step in row["steps"])
        lanes.append(
            f"<tr><th scope='row'>{escape(row['part'] or 'whole set')}</th>"
            f"<td class='lane'><div>{''.join(bars)}</div></td><td>{escape(names)}</td></tr>"
        )
    return (
        "<table class='lanes'><caption>By part of the data and by step, on the same scale</caption><thead><tr>"
        "<th scope='col'>Part</th><th scope='col'>From 0 to the budget</th><th scope='col'>Steps</th></tr></thead>"
        f"<tbody>{''.join(lanes)}</tbody></table>"
    )


def _sums(spending: Json, total: float) -> str:
    """How the lanes make the total."""
    spent = spending["spent"]["epsilon"]
    lines = []
    if sum(1 for row in spending["rows"] if row["part"]) > 1:
        lines.append(
            "Every unit is in one part alone, by a coin of its own. What is asked of one part costs the units of "
            "another nothing: parts lie beside each other, and the most expensive one counts."
        )
    if spending["budget"]["delta"] and total > spent * (1 + 1e-9):
        lines.append(
            f"Plain sums of the steps would give ε = {total:.4g}. The ledger adds up more closely where δ is above 0: "
            f"ε = {spent:.4g}."
        )
    return "".join(f"<p>{line}</p>" for line in lines)


def promise(summary: Summary) -> str:
    """What the price means for a person in the data, in plain words, and what is not promised."""
    title = "What this means for the people in the data"
    if summary.status == "simulation":
        text = "<p class='lead'>Nothing is promised: this is a simulation, and its noise can be taken away.</p>"
        return section("promise", title, text)
    body = f"<div class='beside even'><div>{_beliefs(summary)}</div><div>{_limits(summary)}</div></div>"
    return section("promise", title, _statement(summary) + body)


def _statement(summary: Summary) -> str:
    spent, unit = _price(summary), unit_of(summary)
    if spent["epsilon"] > MOST_MEANT:
        return (
            f"<p class='lead'>Next to nothing: at {escape(price(spent))} what was released may tell that one "
            f"{escape(unit)} is in these data, and what is in it.</p><p>The price is so large that only a formula is "
            f"left of the promise: odds change by a factor of at most e to the power of {spent['epsilon']:.4g}.</p>"
        )
    who = "If your row, or anybody else’s," if unit == "row" else "If you, or anybody else,"
    apart = f", apart from a chance of {show_delta(spent['delta'])}" if spent["delta"] else ""
    given = " if the model keeps its word" if summary.status == "conditional" else ""
    return (
        f"<p class='lead'>{who} had not been in these data, all that was released would have come out almost the same"
        f"{given}.</p><p>“Almost” is measured by ε. At {escape(price(spent))} nothing that anybody concludes from all "
        f"releases together becomes more than {_odds(spent):.3g} times as likely because of one {escape(unit)}{apart}. "
        "That holds against anybody, with any other knowledge and any computer.</p>"
    )


def _beliefs(summary: Summary) -> str:
    spent = _price(summary)
    odds = _odds(spent)
    rows = [(share(before), share(odds * before / (1 + (odds - 1) * before), 1)) for before in BELIEFS]
    apart = f" (apart from a chance of {show_delta(spent['delta'])})" if spent["delta"] else ""
    who = "your row is" if unit_of(summary) == "row" else "you are"
    caption = f"Somebody wonders whether {who} in the data, and sees all releases{apart}"
    return table(caption, ("How sure before", "How sure afterwards, at most"), rows)


def _limits(summary: Summary) -> str:
    limits = [
        "Whoever holds the data, or the machine, can read them.",
        "What is true of everybody may be told. It concerns you, whether you are in the data or not.",
        "If you are in several data sets, what they spent adds up.",
        "What was declared is public: names of columns and classes, bounds, ε and δ.",
        "How long a computation takes may depend on the data.",
    ]
    if unit_of(summary) == "row":
        limits.insert(2, "A person with several rows is protected row by row, not as a whole.")
    return "<h3>What is not promised</h3><ul>" + "".join(f"<li>{limit}</li>" for limit in limits) + "</ul>"


def _odds(spent: Json) -> float:
    return math.exp(min(spent["epsilon"], 500.0))


def _price(summary: Summary) -> Json:
    """The ε and δ that the promise is about: all that the account has spent; without an account, all receipts added."""
    if summary.cost is not None:
        spent: Json = summary.cost["spent"]
        return spent
    return {key: math.fsum(receipt.get(key) or 0.0 for receipt in summary.receipts) for key in ("epsilon", "delta")}


def receipts(summary: Summary) -> str:
    """The receipts, folded."""
    if not summary.receipts:
        return ""
    items = []
    for receipt in summary.receipts:
        paid = price({"epsilon": receipt.get("epsilon") or 0.0, "delta": receipt.get("delta") or 0.0})
        items.append(
            f"<details><summary><span>{escape(str(receipt.get('mechanism', 'release')))}</span> <b>{escape(paid)}</b> "
            f"<em>{escape(str(receipt.get('status', '')))}</em></summary>"
            f"<pre>{escape(json.dumps(receipt, indent=2, ensure_ascii=False))}</pre></details>"
        )
    intro = "<p>What was released, what it cost, and why that is enough. Open one to read it.</p>"
    return section("receipts", "Receipts", intro + "".join(items))
