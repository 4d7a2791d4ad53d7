"""Items on ROC curves: the curves, the number of thresholds, and Table 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.paper.cells import Cell, Results
from tacit.paper.curves import GRID, TEST_SETS, public_bins
from tacit.paper.drawing import COLOURS, lines, name_axes, new_figure, shared_legend
from tacit.paper.recipe import LABELS
from tacit.paper.tables import Claim, Item, Measured, Scale, Shown, judge

SETS = ("SMS", "TWITTER")
FORMS = ("as written", "sound")
NAMES = {"laplace": "Laplace", "fixed-space": "FixedSpace", "recursive-medians": "RecursiveMedians"}
PARAMETERS: dict[str, tuple[float, ...]] = {
    "laplace": (10, 9, 8, 7),
    "fixed-space": (1.0, 0.5, 0.25, 0.125),
    "recursive-medians": (10, 9, 8, 7),
}
SYMBOLS = {"laplace": "t", "fixed-space": "α", "recursive-medians": "k"}

TABLE1 = {
    ("laplace", "SMS"): (0.218, 0.343, 0.372, 0.442),
    ("laplace", "TWITTER"): (0.073, 0.108, 0.211, 0.340),
    ("fixed-space", "SMS"): (0.034, 0.042, 0.079, 0.146),
    ("fixed-space", "TWITTER"): (0.065, 0.094, 0.151, 0.229),
    ("recursive-medians", "SMS"): (0.023, 0.029, 0.054, 0.092),
    ("recursive-medians", "TWITTER"): (0.055, 0.063, 0.102, 0.203),
}
"""The paper's medians of ten runs at ε = 1, .5, .25 and .1."""
TABLE1_EPSILONS = (1.0, 0.5, 0.25, 0.1)


def cell(data: str, form: str, method: str, parameter: float, epsilon: float, scale: Scale) -> Cell:
    """Make the cell of one method at one ε."""
    repeats = 1 if form == "exact" else 15 if scale.quick else 100
    return Cell.of("area", data=data, form=form, method=method, parameter=parameter, epsilon=epsilon, repeats=repeats)


def default_cell(data: str, epsilon: float, scale: Scale) -> Cell:
    """Make the cell of tacit's own curve."""
    return cell(data, "default", "auto", 0, epsilon, scale)


def limit_cell(data: str, method: str, parameter: float, scale: Scale) -> Cell:
    """Make the cell of the method's thresholds without noise: what discretisation alone costs."""
    return cell(data, "exact", method, parameter, 0.0, scale)


def median(values: list[float]) -> Measured:
    """Median with a standard error by the bootstrap."""
    found = np.asarray(values)
    draws = np.random.default_rng(0).choice(found, (200, len(found)))
    return Measured(float(np.median(found)), float(np.median(draws, axis=1).std()))


def places_of(method: str, scale: Scale) -> list[float]:
    """The parameters of a method that are run: all four, or the first and the last."""
    return list(scale.pick(PARAMETERS[method], (PARAMETERS[method][0], PARAMETERS[method][-1])))


def all_cells(scale: Scale) -> list[Cell]:
    """Every method and parameter at every ε, with the limits without noise."""
    cells = [default_cell(data, epsilon, scale) for data in SETS for epsilon in scale.epsilons]
    for data in SETS:
        for method in NAMES:
            for parameter in places_of(method, scale):
                cells.append(limit_cell(data, method, parameter, scale))
                cells += [
                    cell(data, form, method, parameter, epsilon, scale) for form in FORMS for epsilon in scale.epsilons
                ]
    return cells


def _table_cells(scale: Scale) -> list[Cell]:
    """The cells of Table 1: the largest number of thresholds of each method."""
    largest = {method: parameters[0] for method, parameters in PARAMETERS.items()}
    return [one for one in all_cells(scale) if one["method"] == "auto" or (one["parameter"] == largest[one["method"]])]


def area_rows(results: Results, cells: list[Cell]) -> list[dict[str, Any]]:
    """Rows of the CSV file: one a cell."""
    rows = []
    for one in cells:
        found = results[one]
        rows.append(
            {
                "data": one["data"],
                "method": NAMES.get(one["method"], "tacit.roc_curve"),
                "privacy": LABELS[one["form"]],
                "parameter": setting_of(one) if one["method"] in SYMBOLS else "",
                "epsilon": one["epsilon"] or "",
                "median area": round(float(np.median(found["area"])), 5),
                "mean area": round(float(np.mean(found["area"])), 5),
                "standard error of the median": round(median(found["area"]).error, 5),
                "median AUC": round(float(np.median(found["auc"])), 5),
                "medians that were midpoints": _share(found["fallen"]),
                "runs": len(found["area"]),
                "seed": one.seed,
            }
        )
    return rows


def setting_of(one: Cell) -> str:
    """The paper's parameter; sound forms take the nearest power of two below as their public number of bins."""
    setting = f"{SYMBOLS[one['method']]} = {one['parameter']:g}"
    if one["form"] != "sound":
        return setting
    return f"{setting}: {public_bins(one['method'], one['parameter'], sum(TEST_SETS[one['data']]))} bins"


def _share(values: list[float]) -> float | str:
    return "" if np.isnan(values).all() else round(float(np.mean(values)), 4)


# ---- curves


def _show_curves(results: Results, scale: Scale) -> Shown:
    figure, panels = new_figure(len(scale.epsilons), rows=2, height=3.2)
    summary, near = [], []
    panel_of = iter(panels)
    for data in SETS:
        truth = results[limit_cell(data, "recursive-medians", 10, scale)]
        exact_auc = truth["auc"][0]
        for epsilon in scale.epsilons:
            panel = next(panel_of)
            panel.plot(GRID, truth["median curve"], color="black", linewidth=1.5, label="exact, no privacy")
            row: dict[str, Any] = {"data": data, "ε": f"{epsilon:g}", "true AUC": f"{exact_auc:.3f}"}
            for form in (*FORMS, "default"):
                label = f"RecursiveMedians, {LABELS[form]}" if form != "default" else "tacit.roc_curve, tacit's default"
                one = (
                    default_cell(data, epsilon, scale)
                    if form == "default"
                    else cell(data, form, "recursive-medians", 10, epsilon, scale)
                )
                panel.plot(GRID, results[one]["median curve"], "--" if form == "as written" else "-",
                           color=COLOURS[form], linewidth=1.2, label=label)  # fmt: skip
                off = float(np.median(np.abs(np.array(results[one]["auc"]) - exact_auc)))
                row[f"|AUC error|, {label}"] = f"{off:.3f}"
                if epsilon == 1.0:
                    near.append((data, form, off))
            name_axes(panel, f"{data}, ε = {epsilon:g}", x="false positive rate", y="true positive rate")
            summary.append(row)
    shared_legend(figure, panels[0])
    shown = "; ".join(f"{data} {off:.3f} ({LABELS[form]})" for data, form, off in near)
    fine = {form: all(off <= 0.05 for _, kind, off in near if kind == form) for form in FORMS}
    claim = Claim(
        "At ε = 1 the AUC of private curves is close to the true one (median error of at most .05).",
        judge(fine["as written"], fine["sound"]),
        f"Median |AUC error| of RecursiveMedians and of tacit's curve at ε = 1: {shown}.",
        "On both sets the median error of RecursiveMedians is at most .05.",
    )
    comment = "Each curve is the one of median area among its runs. " + claim.evidence
    return Shown(area_rows(results, _table_cells(scale)), summary, figure, comment, [claim])


# ---- number of thresholds


def _show_thresholds(results: Results, scale: Scale) -> Shown:
    figure, panels = new_figure(2)
    summary, spread = [], {}
    for panel, data in zip(panels, SETS, strict=True):
        series = {}
        for form in FORMS:
            for epsilon in scale.epsilons:
                values = {
                    k: median(results[cell(data, form, "recursive-medians", k, epsilon, scale)]["area"]).mean
                    for k in places_of("recursive-medians", scale)
                }
                series[(f"RecursiveMedians, ε = {epsilon:g}", form)] = (list(values), list(values.values()))
                spread[(data, form, epsilon)] = max(values.values()) / min(values.values())
                summary.append(
                    {"data": data, "method": f"RecursiveMedians, {LABELS[form]}", "ε": f"{epsilon:g}"}
                    | {f"k = {k:g}": f"{value:.4f}" for k, value in values.items()}
                )
        places = places_of("recursive-medians", scale)
        limits = {k: results[limit_cell(data, "recursive-medians", k, scale)]["area"][0] for k in places}
        summary.append(
            {"data": data, "method": f"exact quantiles, {LABELS['exact']}"}
            | {f"k = {k:g}": f"{value:.4f}" for k, value in limits.items()}
        )
        for epsilon in scale.epsilons:
            ours = median(results[default_cell(data, epsilon, scale)]["area"]).mean
            series[(f"tacit.roc_curve, ε = {epsilon:g}", "default")] = (places, [ours] * len(places))
            summary.append({"data": data, "method": f"tacit.roc_curve, {LABELS['default']}", "ε": f"{epsilon:g}",
                            "any k": f"{ours:.4f}"})  # fmt: skip
        lines(panel, data, series, x="k", y="median area to the true curve", log_y=True)
    shared_legend(figure, panels[0])
    worst = {
        (form, data): max(ratio for key, ratio in spread.items() if key[:2] == (data, form))
        for form in FORMS
        for data in SETS
    }
    fine = {form: all(worst[form, data] <= 2 for data in SETS) for form in FORMS}
    claim = Claim(
        "The number of thresholds does not matter much for the error (by a factor of two at most).",
        judge(fine["as written"], fine["sound"]),
        "Largest ratio between the errors at different k, over all ε: "
        + ", ".join(f"{ratio:.1f} on {data} {LABELS[form]}" for (form, data), ratio in worst.items())
        + ". tacit's default takes far fewer bins, by a rule on noisy class sizes.",
        "On both sets and at every ε the largest median error over k is at most twice the smallest.",
    )
    cells = [one for one in all_cells(scale) if one["method"] in ("recursive-medians", "auto")]
    return Shown(area_rows(results, cells), summary, figure, claim.evidence, [claim])


# ---- Table 1


def _show_table(results: Results, scale: Scale) -> Shown:
    summary, notes = [], []
    figure, panels = new_figure(2)
    for panel, data in zip(panels, SETS, strict=True):
        series: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
        for method, name in NAMES.items():
            paper = dict(zip(TABLE1_EPSILONS, TABLE1[(method, data)], strict=True))
            parameter = PARAMETERS[method][0]
            limit = results[limit_cell(data, method, parameter, scale)]["area"][0]
            summary.append(_line(data, f"{name}, no noise (its limit)", dict.fromkeys(scale.epsilons, limit)))
            summary.append(_line(data, f"{name}, the paper's own numbers (NOT PRIVATE)", paper))
            for form in FORMS:
                ours = {
                    e: median(results[cell(data, form, method, parameter, e, scale)]["area"]).mean
                    for e in scale.epsilons
                }
                summary.append(_line(data, f"{name}, {LABELS[form]}", ours))
                series[(name, form)] = (list(ours), list(ours.values()))
                if form == "as written":
                    ratios = [ours[e] / paper[e] for e in ours]
                    notes.append(f"{name} on {data} {min(ratios):.1f} to {max(ratios):.1f}")
        default = {e: median(results[default_cell(data, e, scale)]["area"]).mean for e in scale.epsilons}
        perfect = dict.fromkeys(scale.epsilons, _perfect(results, data, scale))
        summary.append(_line(data, "a perfect curve, drawn without any data", perfect))
        summary.append(_line(data, "tacit.roc_curve, tacit's default", default))
        series[("tacit.roc_curve", "default")] = (list(default), list(default.values()))
        lines(
            panel,
            f"{data}: t = k = 10, α = 1",
            series,
            x="ε",
            y="median area to the true curve",
            log_x=True,
            log_y=True,
        )
        for (method, name), marker in zip(NAMES.items(), ("x", "+", "1"), strict=True):
            panel.plot(TABLE1_EPSILONS, TABLE1[(method, data)], "k:", linewidth=0.8, marker=marker, markersize=7,
                       label=f"{name}, the paper's numbers (NOT PRIVATE)")  # fmt: skip
    shared_legend(figure, panels[0])
    guesses = [f"{_perfect(results, data, scale):.4f} on {data}" for data in SETS]
    comment = (
        f"Our errors as written over the paper's: {'; '.join(notes)}. The paper gives neither rows nor classifier, so "
        "levels need not agree. On SMS the area rewards guessing: a perfect curve, drawn without any data, has the "
        f"error {' and '.join(guesses)}."
    )
    return Shown(area_rows(results, _table_cells(scale)), summary, figure, comment, [_ten_times(results, scale)])


def _perfect(results: Results, data: str, scale: Scale) -> float:
    """Area between the true curve and that of a classifier that is always right."""
    return 1 - results[limit_cell(data, "recursive-medians", 10, scale)]["auc"][0]


def _line(data: str, method: str, values: dict[float, float]) -> dict[str, Any]:
    return {"data": data, "method": method} | {f"ε = {epsilon:g}": f"{value:.4f}" for epsilon, value in values.items()}


def _ten_times(results: Results, scale: Scale) -> Claim:
    ratios = {}
    for form in FORMS:
        first, second = (
            median(results[cell("SMS", form, method, 10, 1.0, scale)]["area"]).mean
            for method in ("laplace", "recursive-medians")
        )
        ratios[form] = first / second
    ours = median(results[default_cell("SMS", 1.0, scale)]["area"]).mean
    laplace = median(results[cell("SMS", "as written", "laplace", 10, 1.0, scale)]["area"]).mean
    shown = ", ".join(f"{value:.1f} ({LABELS[form]})" for form, value in ratios.items())
    return Claim(
        "On SMS at ε = 1 the error of RecursiveMedians is ten times lower than that of the Laplace mechanism.",
        judge(ratios["as written"] >= 9, ratios["sound"] >= 9),
        f"Laplace over RecursiveMedians: {shown}; the paper's numbers 9.5; Laplace as written over tacit's default "
        f"{laplace / ours:.0f}.",
        "The median error of Laplace is at least 9 times that of RecursiveMedians; the paper's own ratio is 9.5.",
    )


ITEMS = [
    Item("roc", "True and private ROC curves", "Figure on ROC curves; Algorithms 3 and 4", _table_cells, _show_curves),
    Item("roc-thresholds", "How many thresholds", "Figure on the number of thresholds", all_cells, _show_thresholds),
    Item("table1", "Table 1, with the paper's numbers beside ours", "Table 1", _table_cells, _show_table),
]
