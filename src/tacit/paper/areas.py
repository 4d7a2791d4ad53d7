"""Item on the area between true and private ROC curves: three methods, four numbers of thresholds, four ε."""

from __future__ import annotations

import numpy as np

from tacit.paper.cells import Results
from tacit.paper.drawing import lines, new_figure, shared_legend
from tacit.paper.recipe import LABELS
from tacit.paper.rocs import (
    FORMS,
    NAMES,
    SETS,
    SYMBOLS,
    all_cells,
    area_rows,
    cell,
    default_cell,
    limit_cell,
    median,
    places_of,
    setting_of,
)
from tacit.paper.tables import FAILS, HOLDS, Claim, Item, Measured, Scale, Shown, judge

Found = dict[tuple[str, str, str, int, float], Measured]
"""Data set, form, method, place of its parameter, and ε → median area."""
SMALLEST_DRAWN = 2e-4


def _show_errors(results: Results, scale: Scale) -> Shown:
    places = len(places_of("laplace", scale))
    figure, panels = new_figure(places, rows=2, height=3.6)
    panel_of = iter(panels)
    found: Found = {}
    for data in SETS:
        for place in range(places):
            series: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
            for form in FORMS:
                for method, name in NAMES.items():
                    parameter = places_of(method, scale)[place]
                    for epsilon in scale.epsilons:
                        areas = results[cell(data, form, method, parameter, epsilon, scale)]["area"]
                        found[(data, form, method, place, epsilon)] = median(areas)
                    values = [found[(data, form, method, place, epsilon)].mean for epsilon in scale.epsilons]
                    series[(name, form)] = (list(scale.epsilons), values)
            defaults = [median(results[default_cell(data, e, scale)]["area"]).mean for e in scale.epsilons]
            series[("tacit.roc_curve", "default")] = (list(scale.epsilons), defaults)
            for method, name in NAMES.items():
                limit = results[limit_cell(data, method, places_of(method, scale)[place], scale)]["area"][0]
                series[(f"{name} without noise", "exact")] = (
                    list(scale.epsilons),
                    [max(limit, SMALLEST_DRAWN)] * len(scale.epsilons),
                )
            title = f"{data}: " + ", ".join(f"{SYMBOLS[m]} = {places_of(m, scale)[place]:g}" for m in NAMES)
            lines(next(panel_of), title, series, x="ε", y="median area to the true curve", log_x=True, log_y=True)
    shared_legend(figure, panels[0])
    rows = area_rows(results, all_cells(scale))
    claims = [_family_wins(found), _medians_win(found), _medians_listen(results, scale)]
    summary = [
        {
            "data": data,
            "method": f"{NAMES[method]}, {LABELS[form]}",
            "setting": setting_of(cell(data, form, method, places_of(method, scale)[place], epsilon, scale)),
        }
        | {f"ε = {e:g}": f"{found[(data, form, method, place, e)].mean:.4f}" for e in scale.epsilons}
        for data, form, method, place, epsilon in found
        if epsilon == scale.epsilons[0]
    ]
    summary += [
        {"data": data, "method": "tacit.roc_curve, tacit's default", "setting": ""}
        | {f"ε = {e:g}": f"{median(results[default_cell(data, e, scale)]['area']).mean:.4f}" for e in scale.epsilons}
        for data in SETS
    ]
    comment = _default_comment(results, found, scale)
    return Shown(rows, summary, figure, comment, claims)


def _default_comment(results: Results, found: Found, scale: Scale) -> str:
    parts = []
    for data in SETS:
        for epsilon in (scale.epsilons[0], scale.epsilons[-1]):
            ours = median(results[default_cell(data, epsilon, scale)]["area"]).mean
            best = min(value.mean for key, value in found.items() if key[0] == data and key[4] == epsilon)
            parts.append(f"{data} at ε = {epsilon:g}: {ours:.4f}, the best of all others {best:.4f}")
    return (
        "Median area between tacit's default and the true curve: "
        + "; ".join(parts)
        + ". Limits without noise that are "
        f"below {SMALLEST_DRAWN:g} are drawn there. On SMS noise can beat FixedSpace without noise: 8 of the 77 "
        "negatives share the first bin with nearly all positives, and where noise takes their count to 0 the curve is "
        "nearly perfect, as the true one is."
    )


def _counted(found: Found, data: str, form: str, better: str, worse: str) -> tuple[int, int, int]:
    """How often the first method is clearly better on a set, clearly worse, and how many settings there are."""
    pairs = [
        (found[key], found[(data, form, worse, key[3], key[4])]) for key in found if key[:3] == (data, form, better)
    ]
    return sum(b.beats(a) for a, b in pairs), sum(a.beats(b) for a, b in pairs), len(pairs)


def _family_wins(found: Found) -> Claim:
    parts, fine = [], {}
    for form in FORMS:
        counts = {
            (method, data): _counted(found, data, form, method, "laplace")
            for method in ("fixed-space", "recursive-medians")
            for data in SETS
        }
        fine[form] = all(worse == 0 and better > total / 2 for better, worse, total in counts.values())
        parts += [
            f"{NAMES[method]} on {data}: better than Laplace in {better} of {total}, worse in {worse} ({LABELS[form]})"
            for (method, data), (better, worse, total) in counts.items()
        ]
    return Claim(
        "PriROC (FixedSpace, RecursiveMedians) has a clearly smaller error than the Laplace mechanism in all settings.",
        judge(fine["as written"], fine["sound"]),
        "Settings of ε and the number of thresholds with a clear difference. " + "; ".join(parts) + ".",
        "On either set both methods are clearly better than Laplace in more than half of the settings, and in none "
        "clearly worse.",
    )


def _medians_win(found: Found) -> Claim:
    parts, fine = [], {}
    for form in FORMS:
        counts = {data: _counted(found, data, form, "recursive-medians", "fixed-space") for data in SETS}
        fine[form] = all(worse <= total / 10 and better > total / 2 for better, worse, total in counts.values())
        parts += [
            f"{data}: clearly better in {better} of {total} settings, clearly worse in {worse} ({LABELS[form]})"
            for data, (better, worse, total) in counts.items()
        ]
    return Claim(
        "RecursiveMedians gives better curves than FixedSpace under nearly all settings.",
        judge(fine["as written"], fine["sound"]),
        "RecursiveMedians against FixedSpace. " + "; ".join(parts) + ".",
        "On either set it is clearly better in more than half of the settings, and clearly worse in a tenth at most.",
    )


def _medians_listen(results: Results, scale: Scale) -> Claim:
    shares = {
        (data, epsilon): float(
            np.mean(results[cell(data, "as written", "recursive-medians", 10, epsilon, scale)]["fallen"])
        )
        for data in SETS
        for epsilon in scale.epsilons
    }
    text = "Computing noisy quantiles helps to choose the right thresholds."
    shown = ", ".join(f"{100 * share:.1f} % on {data} at ε = {epsilon:g}" for (data, epsilon), share in shares.items())
    evidence = (
        f"At k = 10 so many medians as written (NOT PRIVATE) fall back to the middle of their interval, for noise or "
        f"because no row is in it: {shown}. The thresholds are a fixed grid of halves."
    )
    rule = "It does not, if nine of ten medians fall back at every ε on both sets: the data were not heard then."
    return Claim(text, FAILS if min(shares.values()) > 0.9 else HOLDS, evidence, rule)


ITEMS = [
    Item(
        "roc-errors",
        "Area between true and private curves",
        "Figure on the comparison of errors",
        all_cells,
        _show_errors,
    ),
]
