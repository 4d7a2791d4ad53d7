"""A report as one HTML page that asks for nothing outside itself and runs no script. Public side.

Every text that came from a user goes through :func:`escape`; the page is built from sections, one function each.
"""

from __future__ import annotations

import json
import math
from html import escape
from importlib.resources import files
from typing import Any

from tacit._version import __version__
from tacit.privacy.budget import show_delta
from tacit.report.draw import Square
from tacit.report.summary import Summary

Json = dict[str, Any]

ASKED = {
    "dataset": "Data set",
    "label": "What is predicted",
    "classes": "Classes",
    "epsilon": "ε",
    "delta": "δ",
    "unit": "What is protected",
    "engine": "Computed by",
    "date": "Date",
}
SPACE = "\u202f"  # narrow, and does not break


def page(summary: Summary) -> str:
    """Return the page.

    Examples
    --------
    >>> from tacit.report.summary import summarise
    >>> text = page(summarise(question={"dataset": "<b>"}, receipts=[]))
    >>> "&lt;b&gt;" in text, "<script" in text
    (True, False)
    """
    title = _title(summary)
    sections = [
        _asked(summary),
        _performance(summary),
        _decisions(summary),
        _calibration(summary),
        _features(summary),
        _cost(summary),
        _promise(summary),
        _receipts(summary),
    ]
    style = (files("tacit.report") / "style.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n"
        f'<link rel="icon" href="data:,">\n<style>\n{style}</style>\n</head>\n<body>\n'
        f"{_banner(summary)}<main>\n{_head(summary, title)}\n" + "\n".join(filter(None, sections)) + f"\n{_foot()}"
        "</main>\n</body>\n</html>\n"
    )


# -- words ------------------------------------------------------------------------------------------------------------


def _title(summary: Summary) -> str:
    label, dataset = (str(summary.question.get(key, "")) for key in ("label", "dataset"))
    if label and dataset:
        return f"Predicting {label} in {dataset}"
    return f"A private report on {dataset}" if dataset else "A private report"


def _sides(summary: Summary) -> tuple[str, str]:
    """What the negative and the positive class are called."""
    classes = [str(name) for name in summary.question.get("classes", ())]
    return (classes[-2], classes[-1]) if len(classes) > 1 else ("negative", "positive")


def _share(value: float | None, digits: int = 0) -> str:
    return "unknown" if value is None else f"{100 * value:.{digits}f}{SPACE}%"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f}".replace(",", SPACE)


def _budget(budget: Json) -> str:
    text = f"ε = {budget['epsilon']:.4g}"
    return f"{text}, δ = {show_delta(budget['delta'])}" if budget["delta"] else text


def _between(estimate: Json, show: Any) -> str:
    """An interval in words."""
    if estimate["low"] is None or estimate["high"] is None:
        return "unknown"
    return f"{show(estimate['low'])} to {show(estimate['high'])}"


def _section(name: str, title: str, body: str) -> str:
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(title)}</h2>\n{body}\n</section>'


# -- sections ---------------------------------------------------------------------------------------------------------


def _banner(summary: Summary) -> str:
    if summary.status == "simulation":
        return (
            '<div class="banner" role="alert"><strong>NOT PRIVATE: simulation.</strong> '
            "The noise came from a seed, so that anybody who knows it can take the noise away. "
            "Do not share this page if the data are private.</div>\n"
        )
    if summary.status == "conditional":
        return (
            '<div class="banner mild" role="note"><strong>Private, if the model keeps its word.</strong> '
            "A classifier that tacit cannot look into stated its own price. It was charged, not checked.</div>\n"
        )
    return ""


def _head(summary: Summary, title: str) -> str:
    facts = [str(summary.question[key]) for key in ("date", "engine") if key in summary.question]
    line = escape(" · ".join(facts))
    return (
        f'<header>\n<p class="mark">tacit <span>private report</span></p>\n<h1>{escape(title)}</h1>\n'
        f'<p class="when">{line}</p>\n{_short(summary)}</header>'
    )


def _short(summary: Summary) -> str:
    """The page in three numbers."""
    cards = []
    auc = summary.auc
    if auc is not None:
        value = "unknown" if auc["unknown"] else f"{auc['value']:.3f}"
        note = (
            "a class is too small"
            if auc["unknown"]
            else f"{auc['low']:.3f} to {auc['high']:.3f} with 95{SPACE}% confidence"
        )
        cards.append(("Area under the ROC curve", value, note))
    if summary.cost is not None:
        spent, budget = summary.cost["spent"], summary.cost["budget"]
        cards.append(("Spent so far", _budget(spent), f"of a budget of {_budget(budget)}"))
    elif "epsilon" in summary.question:
        asked = {"epsilon": summary.question["epsilon"], "delta": summary.question.get("delta", 0.0)}
        cards.append(("Price", _budget(asked), "for everything on this page"))
    if "unit" in summary.question:
        cards.append(
            ("Protected", f"each {summary.question['unit'].split(' (')[0]}", "whether it is in the data at all")
        )
    body = "".join(
        f"<div><dt>{escape(name)}</dt><dd><b>{escape(value)}</b><span>{escape(note)}</span></dd></div>"
        for name, value, note in cards
    )
    return f'<dl class="short">{body}</dl>\n' if body else ""


def _asked(summary: Summary) -> str:
    rows = []
    question = summary.question
    for key in [*(key for key in ASKED if key in question), *(key for key in question if key not in ASKED)]:
        value = question[key]
        if key == "delta":
            value = f"{show_delta(value)}{' (pure privacy)' if not value else ''}"
        elif key == "classes":
            value = ", ".join(map(str, value[:-1])) + f" and, as the positive one, {value[-1]}" if value else ""
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        name = ASKED.get(key, key.replace("_", " ").capitalize())
        rows.append(f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>")
    return _section("asked", "What was asked", f'<dl class="facts">{"".join(rows)}</dl>')


def _performance(summary: Summary) -> str:
    auc = summary.auc
    if auc is None:
        return ""
    negative, positive = _sides(summary)
    if auc["unknown"]:
        text = (
            "<p>A class is too small to be told from an empty one, so nothing can be said: the band is everything from "
            "0 to 1, and the line is a guess. It needs more rows, or a larger ε.</p>"
        )
    else:
        text = (
            f'<p class="lead">Of two rows picked at random, one <em>{escape(positive)}</em> and one '
            f"<em>{escape(negative)}</em>, the model gives the higher score to the <em>{escape(positive)}</em> one in "
            f"<b>{_share(auc['value'], 1)}</b> of cases. That is the area under the curve: <b>{auc['value']:.3f}</b>, and "
            f"with 95{SPACE}% confidence between {auc['low']:.3f} and {auc['high']:.3f}; a coin has 0.5.</p>"
            "<p>With the same confidence the shaded band holds the <em>whole</em> curve of the population that the "
            "test set was drawn from. It counts both chances: which rows happened to be tested, and the noise that "
            "protects them.</p>"
        )
    return _section(
        "performance",
        "How well it works",
        f'<div class="beside"><figure>{_roc(summary)}</figure><div>{text}{_points(summary)}</div></div>',
    )


def _roc(summary: Summary) -> str:
    roc = summary.roc
    assert roc is not None
    plot = Square(
        "roc",
        "ROC curve with its band",
        "True-positive rate against false-positive rate. The table beside it holds a few of its points.",
        "False-positive rate",
        "True-positive rate",
    )
    low, high = ([*zip(roc["fpr"], roc[side], strict=True)] for side in ("low", "high"))
    plot.area(low, high, "band")
    plot.line([(0, 0), (1, 1)], "chance")
    plot.label(0.7, 0.665, "a coin", angle=-45)
    plot.line([*zip(roc["fpr"], roc["tpr"], strict=True)], "curve")
    steps = 40
    for step in range(steps + 1):
        at = step / steps
        place = min(range(len(roc["fpr"])), key=lambda k: abs(roc["fpr"][k] - at))
        threshold = roc["thresholds"][place]
        text = (
            f"False positives {_share(at, 1)}\nTrue positives {_share(roc['tpr'][place], 1)}\n"
            f"Band {_share(roc['low'][place], 1)} to {_share(roc['high'][place], 1)}"
            + ("" if threshold is None else f"\nThreshold {threshold:.3g}")
        )
        plot.spot(at, roc["tpr"][place], text, width=1 / steps)
    return str(plot)


def _points(summary: Summary) -> str:
    rows = "".join(
        f"<tr><th scope='row'>{_share(point['fpr'])}</th><td>{_share(point['tpr'])}</td>"
        f"<td class='soft'>{_share(point['low'])} to {_share(point['high'])}</td></tr>"
        for point in summary.operating_points
    )
    return (
        "<table><caption>Points on the curve</caption><thead><tr><th scope='col'>False positives</th>"
        f"<th scope='col'>True positives</th><th scope='col'>Band</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _decisions(summary: Summary) -> str:
    if not summary.decisions:
        return ""
    negative, positive = _sides(summary)
    radios, panels = [], []
    for number, decision in enumerate(summary.decisions):
        checked = " checked" if decision["chosen"] else ""
        best = " <small>fewest errors</small>" if decision["best"] else ""
        radios.append(
            f'<input type="radio" name="threshold" id="t{number}"{checked}>'
            f'<label for="t{number}">{decision["threshold"]:.3g}{best}</label>'
        )
        panels.append(f'<div class="panel">{_matrix(decision, negative, positive)}{_rates(decision)}</div>')
    text = (
        f"<p>A row counts as <em>{escape(positive)}</em> if its score reaches the threshold. Expected numbers in a test "
        f"set of this size, each with its 95{SPACE}% interval. Choose a threshold:</p>"
    )
    body = f'{text}<div class="chooser" role="group" aria-label="Threshold">{"".join(radios)}{"".join(panels)}</div>'
    return _section("decisions", "What it gets right and wrong", body)


def _matrix(decision: Json, negative: str, positive: str) -> str:
    def cell(name: str, kind: str) -> str:
        estimate = decision[name]
        return f"<td class='{kind}'><b>{_number(estimate['value'])}</b><span>{_between(estimate, _number)}</span></td>"

    return (
        f"<table class='matrix'><caption>Confusion matrix at {decision['threshold']:.3g}</caption>"
        "<thead><tr><th scope='col'>is \\ predicted</th>"
        f"<th scope='col'>{escape(negative)}</th><th scope='col'>{escape(positive)}</th></tr></thead><tbody>"
        f"<tr><th scope='row'>{escape(negative)}</th>{cell('tn', 'right')}{cell('fp', 'wrong')}</tr>"
        f"<tr><th scope='row'>{escape(positive)}</th>{cell('fn', 'wrong')}{cell('tp', 'right')}</tr></tbody></table>"
    )


def _rates(decision: Json) -> str:
    names = {"accuracy": "Accuracy", "precision": "Precision", "recall": "Recall", "f1": "F1"}
    rows = "".join(
        f"<tr><th scope='row'>{name}</th><td>{_share(decision[key]['value'])}</td>"
        f"<td class='soft'>{_between(decision[key], _share)}</td></tr>"
        for key, name in names.items()
    )
    return (
        f"<table><caption>Rates at {decision['threshold']:.3g}</caption><thead><tr><th scope='col'>Rate</th>"
        f"<th scope='col'>Value</th><th scope='col'>Interval</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _calibration(summary: Summary) -> str:
    found = summary.calibration
    if found is None:
        return ""
    positive = _sides(summary)[1]
    plot = Square(
        "calibration-plot",
        "Calibration",
        f"The share of {positive} among rows of similar score, against the score.",
        "Score",
        f"Share that is {positive}"[:40],
    )
    plot.line([(0, 0), (1, 1)], "chance")
    plot.label(0.03, 0.075, "as promised", angle=-45)
    points = [*zip(found["x"], found["y"], found["low"], found["high"], strict=True)]
    plot.line([(x, y) for x, y, _, _ in points], "curve thin")
    for x, y, low, high in points:
        plot.whisker(x, low, high)
        text = f"Score {_share(x)}\n{positive} {_share(y)}\n95{SPACE}% interval {_share(low)} to {_share(high)}"
        plot.spot(x, y, text, width=0.04, shown=True)
    text = (
        f"<p>Can a score be read as a probability? Rows of similar score are taken together; each point shows the share of "
        f"<em>{escape(positive)}</em> among them, with its 95{SPACE}% interval. On the dotted line scores are "
        "probabilities. Below it the model is too sure of a high score, above it not sure enough.</p>"
        "<p>Ranking, and the ROC curve, do not depend on this.</p>"
    )
    rows = "".join(
        f"<tr><th scope='row'>{_share(x)}</th><td>{_share(y)}</td><td class='soft'>{_share(low)} to {_share(high)}</td></tr>"
        for x, y, low, high in points
    )
    table = (
        "<table><caption>The same in numbers</caption><thead><tr><th scope='col'>Score</th><th scope='col'>Share</th>"
        f"<th scope='col'>Interval</th></tr></thead><tbody>{rows}</tbody></table>"
    )
    body = f'<div class="beside"><figure>{plot}</figure><div>{text}{table}</div></div>'
    return _section("calibration", "Whether scores are probabilities", body)


def _features(summary: Summary) -> str:
    if summary.features is None:
        return ""
    negative, positive = _sides(summary)
    most = max((abs(feature["weight"]) for feature in summary.features), default=0.0) or 1.0
    rows = []
    for feature in summary.features:
        side = "up" if feature["weight"] > 0 else "down"
        width = 50 * abs(feature["weight"]) / most
        rows.append(
            f"<tr><th scope='row'>{escape(feature['name'])}</th><td class='bar' aria-hidden='true'>"
            f"<i class='{side}' style='width:{width:.1f}%'></i></td><td>{_signed(feature['weight'])}</td></tr>"
        )
    text = (
        f"<p>The {len(rows)} of {_number(summary.n_features)} features that weigh most. Bars to the right speak for "
        f"<em>{escape(positive)}</em>, to the left for <em>{escape(negative)}</em>; weights are log-odds. They come from "
        "noisy counts, so the small ones are partly chance.</p>"
    )
    table = (
        "<table class='weights'><caption>Features and their weights</caption><thead><tr><th scope='col'>Feature</th>"
        f"<th scope='col' class='ends'><span>← {escape(negative)}</span><span>{escape(positive)} →</span></th>"
        f"<th scope='col'>Weight</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )
    return _section("features", "What it looks at", text + table)


def _signed(weight: float) -> str:
    return f"{weight:+.2f}".replace("-", "−")


def _cost(summary: Summary) -> str:
    cost = summary.cost
    if cost is None:
        return ""
    total = max((step["end"] for row in cost["rows"] for step in row["steps"]), default=0.0)
    scale = max(cost["budget"]["epsilon"], total, 1e-9)
    rows = []
    shade = 0
    for row in cost["rows"]:
        bars = []
        for step in row["steps"]:
            text = f"{step['name']}: {_budget(step)}"
            left, width = 100 * step["start"] / scale, 100 * step["epsilon"] / scale
            bars.append(
                f"<i class='s{shade % 4}' style='left:{left:.2f}%;width:{width:.2f}%' title='{escape(text)}'>"
                f"<span>{escape(step['name'])}</span></i>"
            )
            shade += 1
        numbers = "; ".join(f"{step['name']}: {_budget(step)}" for step in row["steps"])
        rows.append(
            f"<tr><th scope='row'>{escape(row['part'] or 'whole set')}</th>"
            f"<td class='lane'><div>{''.join(bars)}</div></td><td>{escape(numbers)}</td></tr>"
        )
    return _section("cost", "What it cost", _meter(cost, scale) + _lanes(rows) + _arithmetic(cost, total))


def _meter(cost: Json, scale: float) -> str:
    spent, budget, left = cost["spent"], cost["budget"], cost["remaining"]
    share = 100 * min(spent["epsilon"] / scale, 1.0)
    return (
        f"<div class='meter' role='img' aria-label='{escape(_budget(spent))} spent of {escape(_budget(budget))}'>"
        f"<i style='width:{share:.2f}%'></i></div>"
        f"<p class='ends'><span><b>{escape(_budget(spent))}</b> spent</span>"
        f"<span><b>{escape(_budget(left))}</b> left of {escape(_budget(budget))}</span></p>"
    )


def _lanes(rows: list[str]) -> str:
    if not rows:
        return ""
    return (
        "<table class='lanes'><caption>By part and step, on the same scale</caption><thead><tr><th scope='col'>Part</th>"
        f"<th scope='col'>ε</th><th scope='col'>Steps</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _arithmetic(cost: Json, total: float) -> str:
    spent = cost["spent"]["epsilon"]
    parts = [row["part"] for row in cost["rows"] if row["part"]]
    lines = []
    if len(parts) > 1:
        lines.append(
            "Every unit is in one part alone, by a coin of its own. What is asked of one part costs the units of the other "
            "nothing, so parts lie beside each other, and only the most expensive one counts."
        )
    if total > spent * (1 + 1e-9) and spent:
        lines.append(
            f"The steps add up to ε = {total:.4g} by plain sums. With δ above 0 the ledger adds up more closely: "
            f"ε = {spent:.4g}."
        )
    return "".join(f"<p>{line}</p>" for line in lines)


def _promise(summary: Summary) -> str:
    spent = _price(summary)
    unit = str(summary.question.get("unit", "row"))
    if summary.status == "simulation":
        return _section(
            "promise",
            "What this means for the people in the data",
            "<p class='lead'>Nothing is promised: this page is a simulation with known noise.</p>",
        )
    who = (
        "If you, or anybody else, had not been in these data"
        if not unit.startswith("row")
        else ("If your row, or anybody else’s, had not been in these data")
    )
    odds = math.exp(min(spent["epsilon"], 50.0))
    beliefs = "".join(
        f"<tr><th scope='row'>{_share(before)}</th><td>{_share(odds * before / (1 + (odds - 1) * before), 1)}</td></tr>"
        for before in (0.01, 0.1, 0.5)
    )
    failing = f", apart from a chance of {show_delta(spent['delta'])}" if spent["delta"] else ""
    rows = (
        ""
        if not unit.startswith("row")
        else ("<li>Persons with several rows are protected row by row, not as a whole.</li>")
    )
    text = (
        f"<p class='lead'>{who}, all that was released would have come out almost the same.</p>"
        f"<p>“Almost” is ε. With {escape(_budget(spent))}, no conclusion that anybody draws from the releases becomes more "
        f"than {odds:.3g} times as likely through one {escape(unit.split(' (')[0])}{failing}. That holds against anybody, with any other "
        "knowledge and any computer.</p>"
    )
    table = (
        "<table><caption>Somebody wonders whether you are in the data</caption><thead><tr>"
        "<th scope='col'>Sure before</th><th scope='col'>Sure afterwards, at most</th></tr></thead>"
        f"<tbody>{beliefs}</tbody></table>"
    )
    limits = (
        "<h3>What is not promised</h3><ul>"
        "<li>Whoever holds the data, or the machine, can read them.</li>"
        "<li>What is true of everybody may be told, and concerns you whether you are in the data or not.</li>"
        f"{rows}<li>If you are in several data sets, their prices add up.</li>"
        "<li>Everything that was declared is public: names of columns and classes, bounds, ε and δ.</li>"
        "<li>How long a computation takes may depend on the data.</li></ul>"
    )
    body = f"{text}<div class='beside even'><div>{table}</div><div>{limits}</div></div>"
    return _section("promise", "What this means for the people in the data", body)


def _price(summary: Summary) -> Json:
    """The ε and δ that the promise is about: all that the account has spent, or what was asked for."""
    if summary.cost is not None:
        spent: Json = summary.cost["spent"]
        return spent
    asked = [{"epsilon": r.get("epsilon", 0.0), "delta": r.get("delta", 0.0)} for r in summary.receipts]
    # Without an account nothing is known of parts, so prices are added.
    added = {key: math.fsum(float(price[key]) for price in asked) for key in ("epsilon", "delta")}
    return {key: float(summary.question.get(key, added[key])) for key in added}


def _receipts(summary: Summary) -> str:
    if not summary.receipts:
        return ""
    items = []
    for receipt in summary.receipts:
        name = str(receipt.get("mechanism", "release"))
        price = _budget({"epsilon": receipt.get("epsilon", 0.0), "delta": receipt.get("delta", 0.0)})
        status = str(receipt.get("status", ""))
        text = json.dumps(receipt, indent=2, ensure_ascii=False)
        items.append(
            f"<details><summary><span>{escape(name)}</span> <b>{escape(price)}</b> <em>{escape(status)}</em></summary>"
            f"<pre>{escape(text)}</pre></details>"
        )
    intro = "<p>What was released, what it cost, and why that is enough. Open one to read it.</p>"
    return _section("receipts", "Receipts", intro + "".join(items))


def _foot() -> str:
    return (
        f"<footer><p>Made by tacit {escape(__version__)} from releases alone. This page asks for nothing outside itself and "
        "runs no script.</p></footer>\n"
    )
