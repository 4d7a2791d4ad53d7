"""Plots of the reproduction. What is not private is red and hatched, and says so in the legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.paper.recipe import LABELS

COLOURS = {"exact": "0.35", "as written": "#c0392b", "sound": "#2f6db5", "default": "#1e8449"}
HATCHES = {"exact": "", "as written": "///", "sound": "", "default": ""}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")


def new_figure(columns: int, *, rows: int = 1, width: float = 5.5, height: float = 4.2) -> tuple[Any, list[Any]]:
    """Make a figure with panels; it belongs to no window."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    panels = np.atleast_1d(figure.subplots(rows, columns)).ravel().tolist()
    return figure, panels


def bars(panel: Any, title: str, values: Sequence[tuple[str, str, float, float]], floor: float | None = None) -> None:
    """Draw horizontal bars: label, form, mean and standard error of each, the first on top."""
    for place, (_, form, mean, error) in enumerate(values):
        panel.barh(
            -place, mean, xerr=2 * error, color=COLOURS[form], hatch=HATCHES[form], edgecolor="white", linewidth=0.3
        )
    panel.set_yticks([-place for place in range(len(values))], [label for label, *_ in values], fontsize=7)
    if floor is not None:
        panel.axvline(floor, color="black", linestyle=":", linewidth=1)
        panel.annotate("majority", (floor, 0.6), fontsize=6, annotation_clip=False, ha="center")
    lowest = min([mean for _, _, mean, _ in values] + ([floor] if floor is not None else []))
    panel.set_xlim(max(0.0, lowest - 0.03), max(mean for _, _, mean, _ in values) + 0.02)
    panel.set_title(title, fontsize=9)
    panel.tick_params(axis="x", labelsize=7)


def legend_of_forms(figure: Any) -> None:
    """Say which colour means what."""
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=COLOURS[form], hatch=HATCHES[form], edgecolor="white") for form in COLOURS]
    figure.legend(patches, [LABELS[form] for form in COLOURS], loc="outside lower center", ncols=4, fontsize=8)


def lines(
    panel: Any,
    title: str,
    series: Mapping[tuple[str, str], tuple[Sequence[float], Sequence[float]]],
    *,
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
) -> None:
    """Draw lines: (label, form) → x and y. Lines of one form have the same colour, lighter from one to the next."""
    forms = [form for _, form in series]
    for number, ((label, form), (places, values)) in enumerate(series.items()):
        style = {"exact": ":", "as written": "--", "sound": "-", "default": "-"}[form]
        panel.plot(
            places,
            values,
            style,
            color=_shade(COLOURS[form], forms[:number].count(form) / forms.count(form)),
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            linewidth=2 if form == "default" else 1.1,
            label=f"{label}, {LABELS[form]}",
        )
    if log_x:
        panel.set_xscale("log")
        ticks = sorted({place for places, _ in series.values() for place in places})
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=7)
        panel.minorticks_off()
    if log_y:
        panel.set_yscale("log")
    panel.set_title(title, fontsize=9)
    panel.set_xlabel(x, fontsize=8)
    panel.set_ylabel(y, fontsize=8)
    panel.tick_params(labelsize=7)


def _shade(colour: str, lighter: float) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(channel + (1 - channel) * 0.6 * lighter for channel in to_rgb(colour))


def shared_legend(figure: Any, panel: Any) -> None:
    """One legend under all panels, in as many columns as fit."""
    columns = max(1, int(figure.get_figwidth() // 3.2))
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=7)
