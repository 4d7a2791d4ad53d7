"""How numbers, tables and sections are written on a page; whatever a user named is escaped. Public side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from tacit.privacy.budget import show_delta
from tacit.report.summary import Summary

Json = dict[str, Any]

SPACE = "\u202f"  # narrow, and does not break
CONFIDENCE = f"95{SPACE}%"


def share(value: float | None, digits: int = 0) -> str:
    """A share in per cent."""
    return "unknown" if value is None else f"{100 * value:.{digits}f}{SPACE}%"


def number(value: float | None) -> str:
    """A whole number."""
    return "unknown" if value is None else f"{value:,.0f}".replace(",", SPACE)


def signed(weight: float) -> str:
    """A number with its sign."""
    return f"{weight:+.2f}".replace("-", "−")


def price(budget: Json) -> str:
    """An ε, and a δ where there is one."""
    text = f"ε = {budget['epsilon']:.4g}"
    return f"{text}, δ = {show_delta(budget['delta'])}" if budget["delta"] else text


def interval(estimate: Json, show: Callable[[float], str]) -> str:
    """The ends of an interval."""
    if estimate["low"] is None or estimate["high"] is None:
        return "unknown"
    return f"{show(estimate['low'])} to {show(estimate['high'])}"


def unit_of(summary: Summary) -> str:
    """What is protected, in a word or two."""
    unit = str(summary.question.get("unit", "row")).split(" (")[0]
    return "person" if unit == "user" else unit


def sides(summary: Summary) -> tuple[str, str]:
    """What the negative and the positive side are called: of more than two classes, all but the last are negative."""
    classes = [str(name) for name in summary.question.get("classes", ())]
    if len(classes) > 2:
        return f"not {classes[-1]}", classes[-1]
    return (classes[0], classes[1]) if len(classes) == 2 else ("negative", "positive")


def section(name: str, title: str, body: str) -> str:
    """A part of the page under its heading."""
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(title)}</h2>\n{body}\n</section>'


def table(caption: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of texts whose first column names the rows."""
    columns = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    body = "".join(_row(*row) for row in rows)
    return (
        f"<table class='plain'><caption>{escape(caption)}</caption><thead><tr>{columns}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _row(name: str, *cells: str) -> str:
    return f"<tr><th scope='row'>{escape(name)}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
