"""A report as one HTML page that asks for nothing outside itself and runs no script. Public side."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from tacit._version import __version__
from tacit.evaluation.display import shown_area
from tacit.privacy.budget import show_delta
from tacit.report import promise, results
from tacit.report.summary import Summary
from tacit.report.words import CONFIDENCE, price, section, unit_of

ASKED = {
    "dataset": "Data set",
    "label": "What is predicted",
    "classes": "Classes",
    "epsilon": "ε at most",
    "delta": "δ at most",
    "unit": "What is protected",
    "engine": "Computed by",
    "date": "Date",
}
BANNERS = {
    "simulation": (
        '<div class="banner" role="alert"><strong>NOT PRIVATE: simulation</strong> The noise came from a seed, so that '
        "anybody who knows the seed can take the noise away. Do not share this page if the data are private.</div>\n"
    ),
    "conditional": (
        '<div class="banner mild" role="note"><strong>Private, if the model keeps its word</strong> A classifier that '
        "tacit cannot look into stated its own price. It was charged for, not checked.</div>\n"
    ),
}


def page(summary: Summary) -> str:
    """Write the page.

    Parameters
    ----------
    summary : Summary
        From :func:`tacit.report.summary.summarise`.

    Returns
    -------
    str
        HTML to be stored as UTF-8.

    Examples
    --------
    >>> from tacit.report.summary import summarise
    >>> text = page(summarise(question={"dataset": "<b>"}, receipts=[]))
    >>> "&lt;b&gt;" in text, "<script" in text
    (True, False)
    """
    title = _title(summary)
    style = (files("tacit.report") / "style.css").read_text(encoding="utf-8")
    sections = (
        _asked(summary),
        results.performance(summary),
        results.decisions(summary),
        results.calibration(summary),
        results.features(summary),
        promise.cost(summary),
        promise.promise(summary),
        promise.receipts(summary),
    )
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">\n<style>\n{style}</style>\n</head>\n<body>\n'
        f"{BANNERS.get(summary.status, '')}<main>\n{_head(summary, title)}\n"
        + "\n".join(filter(None, sections))
        + f"\n<footer><p>Made by tacit {escape(__version__)} from releases alone. This page asks for nothing outside "
        "itself and runs no script.</p></footer>\n</main>\n</body>\n</html>\n"
    )
    return text.encode("utf-8", "replace").decode()  # a lone surrogate in a name could not be stored


def _title(summary: Summary) -> str:
    label, dataset = (str(summary.question.get(key, "")) for key in ("label", "dataset"))
    if label and dataset:
        return f"Predicting {label} in {dataset}"
    return f"A private report on {dataset}" if dataset else "A private report"


def _head(summary: Summary, title: str) -> str:
    kind = "simulated report" if summary.status == "simulation" else "private report"
    facts = [str(summary.question[key]) for key in ("date", "engine") if key in summary.question]
    cards = "".join(
        f"<div><dt>{escape(name)}</dt><dd><b>{escape(value)}</b><span>{escape(note)}</span></dd></div>"
        for name, value, note in _cards(summary)
    )
    return (
        f'<header>\n<p class="mark">tacit <span>{kind}</span></p>\n<h1>{escape(title)}</h1>\n'
        f'<p class="when">{escape(" · ".join(facts))}</p>\n'
        + (f'<dl class="short">{cards}</dl>\n' if cards else "")
        + "</header>"
    )


def _cards(summary: Summary) -> list[tuple[str, str, str]]:
    """The page in three numbers: name, value, note."""
    cards = []
    auc = summary.auc
    if auc is not None:
        note = f"{shown_area(auc['low'])} to {shown_area(auc['high'])} with {CONFIDENCE} confidence"
        known = ("unknown", "a class is too small") if auc["unknown"] else (shown_area(auc["value"]), note)
        cards.append(("Area under the ROC curve", *known))
    if summary.cost is not None:
        spent, budget = price(summary.cost["spent"]), price(summary.cost["budget"])
        cards.append(("Spent of the budget", spent, f"of {budget}, all requests included"))
    if "unit" in summary.question:
        value = "nothing" if summary.status == "simulation" else f"each {unit_of(summary)}"
        note = "this is a simulation" if summary.status == "simulation" else "even whether it is in the data at all"
        cards.append(("Protected", value, note))
    return cards


def _asked(summary: Summary) -> str:
    question, rows = summary.question, []
    for key in [*(key for key in ASKED if key in question), *(key for key in question if key not in ASKED)]:
        value = question[key]
        if key == "delta":
            value = show_delta(value) if value else "0 (pure privacy)"
        elif key == "classes" and len(value) > 1:
            value = f"{', '.join(map(str, value[:-1]))} and, as the positive one, {value[-1]}"
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        name = ASKED.get(key, key.replace("_", " ").capitalize())
        rows.append(f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>")
    return section("asked", "What was asked", f'<dl class="facts">{"".join(rows)}</dl>')
