"""The page of an audit: what was found, and the output distributions of the two neighbours. One file, no scripts."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.audit.controls import Result
from tacit.audit.laws import Law
from tacit.audit.outputs import Encoded
from tacit.errors import bad_parameter

Floats = NDArray[np.float64]
_BARS, _PICTURES = 40, 6
_WIDTH, _HEIGHT, _FOOT = 640, 180, 24
_COLOURS = ("#2b6cb0", "#dd6b20")

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1a202c; }
table { border-collapse: collapse; } td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }
.bad { color: #c53030; font-weight: 600; } figure { margin: 1.5rem 0; } svg { width: 100%; height: auto; }
figcaption { color: #4a5568; font-size: .9rem; } .first { color: #2b6cb0; } .second { color: #dd6b20; }
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """Two distributions over the same cells."""

    title: str
    cells: list[str]
    first: Floats
    second: Floats


def pictures(result: Result) -> list[Picture]:
    """The distributions that are worth seeing: exact laws, or shares of the runs."""
    if result.finding.laws is not None:
        return [_of_laws(*result.finding.laws)]
    if result.finding.outputs is None:
        return []
    first, second = result.finding.outputs
    found = [_of_atoms(first, second)] if (first.atoms >= 0).mean() > 0.5 else []
    return found + [_of_column(first, second, column) for column in _telling(first, second)]


def _of_laws(first: Law, second: Law) -> Picture:
    outputs = sorted(
        first.keys() | second.keys(), key=lambda o: (not isinstance(o, int), o if isinstance(o, int) else str(o))
    )
    if len(outputs) > _BARS:
        mass = [first.get(o, 0.0) + second.get(o, 0.0) for o in outputs]
        kept = set(np.argsort(mass)[::-1][:_BARS].tolist())
        outputs = [o for place, o in enumerate(outputs) if place in kept]
    shares = (np.array([law.get(o, 0.0) for o in outputs]) for law in (first, second))
    return Picture("exact probability of each output, worst pair", [str(o) for o in outputs], *shares)


def _of_atoms(first: Encoded, second: Encoded) -> Picture:
    size = len(first.names)
    shares = [np.bincount(side.atoms[side.atoms >= 0], minlength=size) / len(side.atoms) for side in (first, second)]
    order = np.argsort(-(shares[0] + shares[1]), kind="stable")[:_BARS]
    return Picture("share of each output", [first.names[i] for i in order], shares[0][order], shares[1][order])


def _telling(first: Encoded, second: Encoded) -> list[int]:
    """The columns that differ most between the neighbours."""
    if first.columns.shape[1] == 0:
        return []
    distance = [np.abs(a - b).sum() for a, b in (_shares(first, second, c)[1:] for c in range(first.columns.shape[1]))]
    return [int(column) for column in np.argsort(distance)[::-1][:_PICTURES]]


def _shares(first: Encoded, second: Encoded, column: int) -> tuple[list[str], Floats, Floats]:
    both = [side.columns[:, column] for side in (first, second)]
    joined = np.concatenate(both)
    joined = joined[np.isfinite(joined)]
    values = np.unique(joined)
    if len(values) <= _BARS:
        shares = [np.array([(side == value).mean() for value in values]) for side in both]
        return [f"{value:g}" for value in values], shares[0], shares[1]
    low, high = np.quantile(joined, [0.005, 0.995])
    ends = np.linspace(low, high, _BARS + 1)
    shares = [np.histogram(np.clip(side[np.isfinite(side)], low, high), ends)[0] / len(side) for side in both]
    return [f"{a:.3g} to {b:.3g}" for a, b in pairwise(ends)], shares[0], shares[1]


def _of_column(first: Encoded, second: Encoded, column: int) -> Picture:
    cells, here, there = _shares(first, second, column)
    return Picture(f"{first.titles[column]}, share of the runs", cells, here, there)


def _svg(picture: Picture) -> str:
    number = max(len(picture.cells), 1)
    step = _WIDTH / number
    top = max(float(picture.first.max(initial=0)), float(picture.second.max(initial=0)), 1e-12)
    bars = []
    for place, cell in enumerate(picture.cells):
        for side, share in enumerate((picture.first[place], picture.second[place])):
            height = _HEIGHT * float(share) / top
            x, width = step * (place + 0.1 + 0.4 * side), step * 0.38
            title = f"{html.escape(cell)}: {float(share):.4g}"
            bars.append(
                f'<rect x="{x:.1f}" y="{_HEIGHT - height:.1f}" width="{width:.1f}" height="{height:.1f}" '
                f'fill="{_COLOURS[side]}"><title>{title}</title></rect>'
            )
    every = max(1, -(-number // 10))
    labels = [
        f'<text x="{step * (place + 0.5):.1f}" y="{_HEIGHT + 16}" font-size="11" text-anchor="middle">'
        f"{html.escape(cell if len(cell) < 14 else cell[:12] + '…')}</text>"
        for place, cell in enumerate(picture.cells)
        if place % every == 0
    ]
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT + _FOOT}" role="img">{"".join(bars)}{"".join(labels)}</svg>'
        f'<figcaption>{html.escape(picture.title)}: <span class="first">first neighbour</span>, '
        f'<span class="second">second neighbour</span></figcaption></figure>'
    )


def _section(result: Result) -> str:
    if isinstance(result.outcome, str):
        return f"<h2>{html.escape(result.entry.name)}</h2><p>Skipped: {html.escape(result.outcome)}.</p>"
    finding = result.finding
    word = '<span class="bad">violation</span>' if finding.violation else "no violation found"
    rows = {
        "result": word,
        "claimed": html.escape(str(finding.claimed)),
        "proven": f"ε ≥ {finding.epsilon:.4g}",
        "how": html.escape(str(finding)),
        "what tells": html.escape(finding.event),
    }
    if finding.rates is not None:
        rows["seen in"] = f"{finding.rates[0]:.4%} and {finding.rates[1]:.4%} of the runs"
    table = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in rows.items())
    shown = "".join(map(_svg, pictures(result)))
    return f"<h2>{html.escape(result.entry.name)}</h2><table>{table}</table>{shown}"


def write_page(path: str | Path, results: Sequence[Result]) -> Path:
    """Write one page for some results."""
    body = "".join(map(_section, results))
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>tacit audit</title>'
        f"<style>{_STYLE}</style></head><body><h1>Audit</h1>"
        "<p>The largest ε that an attack could prove. That none was found says nothing about attacks not tried.</p>"
        f"{body}</body></html>"
    )
    target = Path(path)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise bad_parameter("tacit audit", "--out", f"writable ({error.strerror})", str(path)) from None
    return target
