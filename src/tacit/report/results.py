"""The sections of a report on how good the model is, and what it looks at. Public side."""

from __future__ import annotations

from html import escape
from typing import Any

from tacit.evaluation.display import MOST_DIGITS, area_digits, shown_area
from tacit.report.draw import Square
from tacit.report.summary import Summary
from tacit.report.words import CONFIDENCE, interval, number, section, share, sides, signed, table

Json = dict[str, Any]

STRIPS = 40
"""How many places of the ROC curve tell their numbers."""


def performance(summary: Summary) -> str:
    """The ROC curve beside the area under it."""
    auc = summary.auc
    if auc is None:
        return ""
    rows = [(share(p["fpr"]), share(p["tpr"]), interval(p, share)) for p in summary.operating_points]
    points = table("Points on the curve", ("False positives", "True positives", "Band"), rows)
    text = _nothing_known() if auc["unknown"] else _ranking(auc, *sides(summary)) + points
    body = f'<div class="beside"><figure>{_roc(summary, auc["unknown"])}</figure><div>{text}</div></div>'
    return section("performance", "How well it works", body)


def _nothing_known() -> str:
    return (
        '<p class="lead">A class is too small to be told from an empty one, so nothing can be said: the band is '
        "everything from 0 to 1, and the line is a guess. If the classes are spelt as in the data, it takes more rows, "
        "or a larger ε.</p>"
    )


def _ranking(auc: Json, negative: str, positive: str) -> str:
    good, bad = f"<em>{escape(positive)}</em>", f"<em>{escape(negative)}</em>"
    area, low, high = (shown_area(auc[name]) for name in ("value", "low", "high"))
    return (
        f'<p class="lead">Of two rows picked at random, one {good} and one {bad}, the model gives the higher score to '
        f"the {good} one in <b>{share(_short_of_all(auc['value']), area_digits(auc['value']) - 2)}</b> of cases.</p>"
        f"<p>That is the area under the curve: <b>{area}</b>, with {CONFIDENCE} confidence between "
        f"{low} and {high}. A coin has 0.5. With the same confidence the shaded band holds the "
        "<em>whole</em> curve of the population that the test set was drawn from. It counts both chances: which rows "
        "happened to be tested, and the noise that protects them.</p>"
        + "".join(f"<p>Note: {escape(note)}.</p>" for note in auc["notes"])
    )


def _short_of_all(area: float) -> float:
    """An area below 1 is not shown as all cases."""
    return min(area, 1 - 10**-MOST_DIGITS) if area < 1 else area


def _roc(summary: Summary, unknown: bool) -> Square:
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
    plot.label(0.74, 0.7, "a coin", angle=-45)
    plot.line([*zip(roc["fpr"], roc["tpr"], strict=True)], "chance" if unknown else "curve")
    if unknown:
        return plot
    for step in range(STRIPS + 1):
        at = step / STRIPS
        place = min(range(len(roc["fpr"])), key=lambda k: abs(roc["fpr"][k] - at))
        text = (
            f"False positives {share(at, 1)}\nTrue positives {share(roc['tpr'][place], 1)}\n"
            f"Band {share(roc['low'][place], 1)} to {share(roc['high'][place], 1)}"
        )
        threshold = roc["thresholds"][place]
        plot.spot(
            at, roc["tpr"][place], text if threshold is None else f"{text}\nThreshold {threshold:.3g}", 1 / STRIPS
        )
    return plot


def decisions(summary: Summary) -> str:
    """Confusion matrices; the reader chooses the threshold, without a script."""
    if not summary.decisions or (summary.auc is not None and summary.auc["unknown"]):
        return ""
    negative, positive = sides(summary)
    choices, panels = [], []
    for place, decision in enumerate(summary.decisions):
        checked = " checked" if decision["chosen"] else ""
        best = " <small>fewest errors</small>" if decision["best"] else ""
        choices.append(
            f'<input type="radio" name="threshold" id="t{place}"{checked}>'
            f'<label for="t{place}">{decision["threshold"]:.3g}{best}</label>'
        )
        panels.append(f'<div class="panel">{_matrix(decision, negative, positive)}{_rates(decision)}</div>')
    body = (
        f"<p>A row counts as <em>{escape(positive)}</em> if its score reaches the threshold. These are the numbers to "
        f"expect in a test set of this size, each with its {CONFIDENCE} interval.</p>"
        f'<div class="chooser" role="radiogroup" aria-label="Threshold"><span>Threshold</span>{"".join(choices)}'
        f"{''.join(panels)}</div>"
    )
    return section("decisions", "What it gets right and wrong", body)


def _matrix(decision: Json, negative: str, positive: str) -> str:
    def cell(name: str, kind: str) -> str:
        estimate = decision[name]
        return f"<td class='{kind}'><b>{number(estimate['value'])}</b><span>{interval(estimate, number)}</span></td>"

    bad, good = escape(negative), escape(positive)
    return (
        f"<table class='matrix'><caption>Confusion matrix at threshold {decision['threshold']:.3g}</caption>"
        f"<thead><tr><td></td><th scope='col'>taken for {bad}</th><th scope='col'>taken for {good}</th></tr></thead>"
        f"<tbody><tr><th scope='row'>is {bad}</th>{cell('tn', 'right')}{cell('fp', 'wrong')}</tr>"
        f"<tr><th scope='row'>is {good}</th>{cell('fn', 'wrong')}{cell('tp', 'right')}</tr></tbody></table>"
    )


def _rates(decision: Json) -> str:
    names = {"accuracy": "Accuracy", "precision": "Precision", "recall": "Recall", "f1": "F1"}
    rows = [(name, share(decision[key]["value"]), interval(decision[key], share)) for key, name in names.items()]
    return table(f"Rates at threshold {decision['threshold']:.3g}", ("Rate", "Value", "Interval"), rows)


def calibration(summary: Summary) -> str:
    """Whether scores can be read as probabilities."""
    found = summary.calibration
    if found is None:
        return ""
    positive = sides(summary)[1]
    plot = Square(
        "calibration-plot",
        "Calibration",
        "The share of positives among rows of similar score, against the score. The table beside it has the numbers.",
        "Score",
        "Share of positives",
    )
    plot.line([(0, 0), (1, 1)], "chance")
    points = [*zip(found["x"], found["y"], found["low"], found["high"], strict=True)]
    plot.line([(x, y) for x, y, _, _ in points], "curve thin")
    for x, y, low, high in points:
        plot.whisker(x, low, high)
        text = f"Score {share(x)}\n{positive} {share(y)}\n{CONFIDENCE} interval {share(low)} to {share(high)}"
        plot.spot(x, y, text, 0.04, shown=True)
    text = (
        "<p>Rows of similar score are taken together; each point shows the share of "
        f"<em>{escape(positive)}</em> among them, with its {CONFIDENCE} interval. On the dotted line a score is the "
        "probability that it looks like. Where points lie below the line scores are too high, above it too low. "
        "Ranking, and so the ROC curve, does not depend on this.</p>"
    )
    rows = [(share(x), share(y), f"{share(low)} to {share(high)}") for x, y, low, high in points]
    numbers = table("The same in numbers", ("Score", "Share", "Interval"), rows)
    body = f'<div class="beside"><figure>{plot}</figure><div>{text}{numbers}</div></div>'
    return section("calibration", "Whether scores are probabilities", body)


def features(summary: Summary) -> str:
    """The features that weigh most, as bars to both sides."""
    if summary.features is None:
        return ""
    if not summary.features:
        text = (
            "No single feature can be told from noise. The model may still tell rows apart, as it adds up many of them"
        )
        if summary.auc is not None and not summary.auc["unknown"]:
            text += ": the curve shows how well that works"
        return section("features", "What it looks at", f"<p>{text}.</p>")
    bad, good = (escape(name) for name in sides(summary))
    most = max(abs(feature["weight"]) for feature in summary.features) or 1.0
    rows = "".join(_bar(feature, 50 / most) for feature in summary.features)
    which, note = _which(summary), _note(summary)
    body = (
        f"<p>{which}{note}. Bars to the right speak for <em>{good}</em>, to the left for <em>{bad}</em>.</p>"
        "<table class='weights'><caption>Features and their weights</caption><thead><tr><th scope='col'>Feature</th>"
        f"<th scope='col' class='ends'><span>← {bad}</span><span>{good} →</span></th>"
        f"<th scope='col'>Weight</th></tr></thead><tbody>{rows}</tbody></table>"
    )
    return section("features", "What it looks at", body)


def _which(summary: Summary) -> str:
    shown = len(summary.features or ())
    if shown < summary.n_features:
        return f"The heaviest {shown} of {number(summary.n_features)} features"
    return "The one feature" if shown == 1 else f"All {shown} features"


def _note(summary: Summary) -> str:
    """What to make of the list: which features are on it, and what their weights are."""
    if summary.hashed:
        return (
            " that can be told from noise. Words are hashed into buckets, and a bucket is called by the most frequent "
            "public word in it; it may hold others"
        )
    if summary.told:
        return (
            " that can be told from noise. A weight carries noise all the same, most of all where features say nearly "
            "the same and share what they weigh"
        )
    return ". All weights carry the noise of what was released: small ones may be chance"


def _bar(feature: Json, scale: float) -> str:
    side = "up" if feature["weight"] > 0 else "down"
    return (
        f"<tr><th scope='row'>{escape(feature['name'])}</th><td class='bar' aria-hidden='true'>"
        f"<i class='{side}' style='width:{scale * abs(feature['weight']):.1f}%'></i></td>"
        f"<td>{signed(feature['weight'])}</td></tr>"
    )
