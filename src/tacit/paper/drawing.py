"""Plots of the reproduction. What is not private is red and hatched, and says so in the legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.paper.recipe import LABELS

COLOURS = {"exact": "0.35", "as written": "#c0392b", "sound": "#2f6db5", "default": "#1e8449"}
HATCHES = {"exact": "", "as written": "///", "sound": "", "default": ""}
STYLES = {"exact": ":", "as written": "--", "sound": "-", "default": "-"}
LEVELS = (":", "-.", (0, (1, 4)))
"""Limits that do not depend on what is on the axis have no markers, and are told apart by their dots."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")


WIDTH, NARROW = 13.0, 9.0
"""Inches: as wide as the page shows a figure without shrinking its letters, and the width of a single panel."""


def new_figure(columns: int, *, rows: int = 1, height: float = 3.8) -> tuple[Any, list[Any]]:
    """Make a figure with panels; it belongs to no window."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH if columns > 1 else NARROW, height * rows), layout="constrained")
    panels = np.atleast_1d(figure.subplots(rows, columns)).ravel().tolist()
    return figure, panels


def name_axes(panel: Any, title: str, *, x: str, y: str = "") -> None:
    """Write the title and the names of the axes."""
    panel.set_title(title, fontsize=10)
    panel.set_xlabel(x, fontsize=9)
    panel.set_ylabel(y, fontsize=9)
    panel.tick_params(labelsize=8)


def bars(panel: Any, title: str, values: Mapping[str, tuple[str, float, float]], names: Sequence[str], floor: float,
         *, named: bool) -> None:  # fmt: skip
    """Draw accuracies as horizontal bars: name → form, mean and standard error; ``names`` are all rows.

    Only the first of several panels is ``named``.
    """
    from matplotlib.ticker import MaxNLocator

    for name, (form, mean, error) in values.items():
        panel.barh(
            -names.index(name),
            100 * mean,
            xerr=200 * error,
            color=COLOURS[form],
            hatch=HATCHES[form],
            edgecolor="white",
            linewidth=0.3,
        )
    panel.axvline(100 * floor, color="black", linestyle=":", linewidth=1)
    name_axes(panel, title, x="accuracy, %")
    panel.set_yticks([-place for place in range(len(names))], names if named else [""] * len(names))
    panel.set_ylim(0.6 - len(names), 0.6)
    means = [mean for _, mean, _ in values.values()]
    panel.set_xlim(max(0.0, 100 * min(*means, floor) - 3), 100 * max(means) + 2)
    panel.xaxis.set_major_locator(MaxNLocator(5))


def legend_of_forms(figure: Any) -> None:
    """Say which colour means what."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(facecolor=COLOURS[form], hatch=HATCHES[form], edgecolor="white") for form in COLOURS]
    handles.append(Line2D([], [], color="black", linestyle=":"))
    names = [*(LABELS[form] for form in COLOURS), "majority classifier"]
    figure.legend(
        handles, names, loc="outside lower center", ncols=5 if figure.get_figwidth() == WIDTH else 3, fontsize=9
    )


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
    """Draw lines: (label, form) → x and y. Lines of one form have one colour, lighter from one to the next."""
    from matplotlib.ticker import NullLocator

    forms = [form for _, form in series]
    marked: list[str] = []
    for number, ((label, form), (places, values)) in enumerate(series.items()):
        place = forms[:number].count(form)
        level = form in ("exact", "default") and len(set(values)) == 1
        panel.plot(
            places,
            values,
            linestyle=LEVELS[place % len(LEVELS)] if level and form == "exact" else STYLES[form],
            color=_shade(COLOURS[form], place / forms.count(form)),
            marker="" if level else MARKERS[marked.count(form) % len(MARKERS)],
            markersize=5,
            linewidth=2 if form == "default" else 1.2,
            label=f"{label}, {LABELS[form]}",
        )
        if not level:
            marked.append(form)
    if log_x:
        panel.set_xscale("log")
    if log_y:
        panel.set_yscale("log")
    ticks = sorted({place for places, _ in series.values() for place in places})
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.xaxis.set_minor_locator(NullLocator())
    name_axes(panel, title, x=x, y=y)


def _shade(colour: str, lighter: float) -> tuple[float, ...]:
    from matplotlib.colors import to_rgb

    return tuple(channel + (1 - channel) * 0.6 * lighter for channel in to_rgb(colour))


def shared_legend(figure: Any, panel: Any) -> None:
    """One legend under all panels, in as many columns as fit."""
    columns = max(1, int(figure.get_figwidth() // 3.9))
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8)
