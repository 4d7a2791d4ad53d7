"""The page of the reproduction: one HTML file with contents, verdicts, figures and tables."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from typing import Any

from tacit.paper.cells import Result
from tacit.paper.corpus import PAPER_FEATURES
from tacit.paper.tables import FAILS, HOLDS, ONLY_UNSOUND, Item, Shown

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 78rem; margin: 2rem auto; padding: 0 1rem; color: #1c2833; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid #ccd1d1; padding-top: 1rem; }
table { border-collapse: collapse; font-size: 13px; margin: 1rem 0; }
th, td { border-bottom: 1px solid #e5e8e8; padding: .25rem .6rem; text-align: left; vertical-align: top; }
tr.unsound td { background: #fdf0ee; } img { max-width: 100%; }
.notice { border-left: 5px solid #c0392b; background: #fdf0ee; padding: .6rem 1rem; }
.verdict { font-weight: 600; } td.verdict { white-space: nowrap; } .holds { color: #1e8449; } .only { color: #b9770e; }
.fails { color: #c0392b; } details { margin: .5rem 0; } summary { cursor: pointer; } .place { color: #566573; }
"""
COLOURS = {HOLDS: "holds", ONLY_UNSOUND: "only", FAILS: "fails"}
UNSOUND_MARK = "NOT PRIVATE"
MEANING = (
    "A claim holds if its rule is true of the algorithms as written and of their sound forms. It holds only because it "
    "is not private if the rule is true as written and not of the sound forms; rules that ask about one "
    "of the two alone say so. Clearly means by more than two standard errors. Rules were written, and some of them "
    "changed, with results in view: judge by the figures."
)

CHOICES = {
    "Stop words": "scikit-learn's English list. Words: two or more letters or digits, in lower case.",
    "Features": "As written: every word of the data, so the columns themselves tell on the rows. Sound: 2^14 public "
    "buckets of a hash.",
    "Rows": "TWITTER: the first 7,304 of a random order. REUTERS: 3,453 articles of either class by a hash of their "
    "number. SMS: all.",
    "τ and k": "As written: the score of the feature of a certain rank, from a grid of ranks; sound: public numbers "
    "from a grid. The best of each grid is shown, tuned on the very test folds, which favours all of them; tacit's "
    "defaults have nothing tuned.",
    "Clusters": "10 centers, 5 rounds; first centers evenly on a logarithmic scale; a cluster without points keeps its "
    "center; half of a round's budget for sizes and half for sums.",
    "s and r": "s = 20 as the paper claims, and rows that have more are not cut in what is as written; r = 10 where it "
    "samples. REUTERS has no s: after PTT, training samples r = 10.",
    "Information gain": "n·IG in nats, with sensitivity ln n + 1; score perturbation under bounded privacy with 2s "
    "scores, as the paper runs it.",
    "Naive Bayes": "As written: noise of scale (s + 1)/ε, negative counts taken as 0, one added to each count. Sound: "
    "tacit.BernoulliNB.",
    "Logistic regression": "As written: 5,000 features by exact TC, a constant feature, rows scaled to norm 1, "
    "regularisation 50/n. Sound: tacit.LogisticRegression on hashed words.",
    "F1": "ε = .2, .5 and 1. Verdicts at the paper's shares of ε = 1: .5 for score perturbation and noisy counts, .2 "
    "for the others. Limits c on positive answers are told the true number.",
    "Test sets of the ROC part": "Drawn at random with the paper's class sizes; Naive Bayes without privacy on all "
    "other rows. On SMS label 1 is ham.",
    "ROC": "Noisy counts are made monotone, negative ones taken as 0, and divided by the last, or by 1 if that is "
    "smaller. Laplace: thresholds at quantiles of the data. Sound forms take a public power of two of bins: 8 for t = "
    "10, 9 and 8, 4 for t = 7, and the next below αn.",
    "Majority": "Of the training rows. Where both labels are as frequent, it is the other label that is a little more "
    "frequent in the test rows, so that it is right in less than half of the cases.",
}


def build(
    shown: Iterable[tuple[Item, Shown]],
    pictures: dict[str, bytes],
    facts: dict[str, Result],
    run: dict[str, Any],
) -> str:
    """Put the page together."""
    items = list(shown)
    contents = "".join(f'<li><a href="#{item.name}">{_text(item.title)}</a></li>' for item, _ in items)
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>The paper, run again</title><style>{STYLE}</style></head><body>",
        "<h1>Differentially Private Algorithms for Empirical Machine Learning, run again</h1>",
        "<p>Every figure and table of the evaluation by Stoddard, Chen and Machanavajjhala, on real data: the "
        "algorithms as written, their sound forms, tacit's defaults, and the limit without privacy.</p>",
        f"<p class='notice'><strong>Research on public data.</strong> What is marked {UNSOUND_MARK} is not "
        "differentially private for the ε that stands beside it, and must not be used on private data. All runs have "
        "fixed seeds, sound ones included, so their receipts say that they are simulations.</p>",
        f"<h2>Contents</h2><ol><li><a href='#verdicts'>Verdicts</a></li>{contents}"
        "<li><a href='#choices'>Where the paper is silent</a></li><li><a href='#run'>This run</a></li></ol>",
        _verdicts(items, quick=run["size"] == "quick"),
    ]
    parts += [_section(item, what, pictures[item.name]) for item, what in items]
    parts.append("<h2 id='choices'>Where the paper is silent</h2><table>")
    parts += [f"<tr><th>{_text(name)}</th><td>{_text(words)}</td></tr>" for name, words in CHOICES.items()]
    parts.append("</table><h2 id='run'>This run</h2>")
    parts.append(_table([_facts_row(name, found) for name, found in facts.items()]))
    parts.append(_table([{"what": key, "value": value} for key, value in run.items()]))
    parts.append(
        "<p>The seed of every cell is in the last column of the CSV files; the folds of a repeat are the same for all "
        "methods.</p></body></html>"
    )
    return "\n".join(parts)


def _facts_row(name: str, found: Result) -> dict[str, str]:
    return {
        "data": name,
        "rows": f"{found['rows'][0]:,.0f}",
        "features": f"{found['features'][0]:,.0f}",
        "features in the paper": f"{PAPER_FEATURES[name]:,}" if name in PAPER_FEATURES else "123",
        "rows of more than 20 ones": f"{found['longer'][0]:,.0f}",
        "longest row": f"{found['longest'][0]:,.0f}",
        "majority": f"{100 * found['majority'][0]:.1f} %",
    }


def _verdicts(items: list[tuple[Item, Shown]], *, quick: bool) -> str:
    rows = [
        f"<tr><td>{_text(claim.text)}<details><summary>figures and rule</summary>{_text(claim.evidence)} "
        f"<em>Rule: {_text(claim.rule)}</em></details></td>"
        f"<td class='verdict {COLOURS[claim.verdict]}'>{_text(claim.verdict)}</td>"
        f"<td><a href='#{item.name}'>{item.name}</a></td></tr>"
        for item, what in items
        for claim in what.claims
    ]
    head = "<tr><th>claim of the paper</th><th>verdict</th><th>item</th></tr>"
    few = (
        "<p>A quick run: few folds and repetitions, so that close verdicts may change in the full one.</p>"
        if quick
        else ""
    )
    return f"<h2 id='verdicts'>Verdicts</h2><p>{_text(MEANING)}</p>{few}<table>{head}{''.join(rows)}</table>"


def _section(item: Item, what: Shown, picture: bytes) -> str:
    name = f"{item.name}.not-private"
    links = ", ".join(f"<a href='{name}.{kind}'>{kind.upper()}</a>" for kind in ("csv", "png", "svg"))
    claims = "".join(
        f"<li>{_text(claim.text)} <span class='verdict {COLOURS[claim.verdict]}'>{_text(claim.verdict)}</span>. "
        f"{_text(claim.evidence)} <em>Rule: {_text(claim.rule)}</em></li>"
        for claim in what.claims
    )
    image = base64.b64encode(picture).decode()
    return (
        f"<h2 id='{item.name}'>{_text(item.title)}</h2><p class='place'>In the paper: {_text(item.place)}. Files, "
        f"which hold results that are {UNSOUND_MARK}: {links}.</p><p>{_text(what.comment)}</p><ul>{claims}</ul>"
        f"<img alt='{_text(item.title)}' src='data:image/png;base64,{image}'>"
        f"<details><summary>Table</summary>{_table(what.summary)}</details>"
    )


def _table(rows: list[dict[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{_text(name)}</th>" for name in columns)
    body = "".join(
        f"<tr{' class=unsound' if UNSOUND_MARK in str(list(row.values())) else ''}>"
        + "".join(f"<td>{_text(row.get(name, ''))}</td>" for name in columns)
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _text(value: Any) -> str:
    return html.escape(str(value))
