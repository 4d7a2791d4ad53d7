"""Item on finding the features above a threshold: F1 on SMS with TC."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tacit.paper.cells import Cell, Results
from tacit.paper.drawing import lines, new_figure, shared_legend
from tacit.paper.recipe import LABELS, Form, Recipe
from tacit.paper.tables import Claim, Item, Measured, Scale, Shown, judge, measured

METHODS: dict[str, tuple[Form, str, int]] = {
    "PTT": ("as written", "ptt", 0),
    "NoisyCut": ("as written", "noisy-cut", 0),
    "NoisyCut, limit c": ("as written", "noisy-cut-limit", 0),
    "SVT, as the paper describes it": ("as written", "svt", 0),
    "score perturbation, s = 20": ("as written", "threshold", 0),
    "score perturbation, r = 10": ("as written", "threshold", 10),
    "cluster": ("as written", "cluster", 0),
    "corrected SVT, limit c": ("sound", "ptt", 0),
    "screening": ("sound", "screening", 0),
    "noisy counts, r = 10": ("sound", "threshold", 10),
    "cluster of noisy counts": ("sound", "cluster", 10),
    "CountSelector in two rounds": ("default", "two rounds", 0),
}


PERTURBED = ("score perturbation, s = 20", "score perturbation, r = 10", "noisy counts, r = 10")
COLUMNS = {"as written": "words", "sound": "buckets", "default": "buckets"}


def _thresholds(scale: Scale) -> tuple[int, ...]:
    return scale.pick((10, 20, 50, 100, 200), (20, 100, 200))


def _budgets(scale: Scale) -> tuple[float, ...]:
    return scale.pick((0.2, 0.5, 1.0), (0.2, 0.5))


def _cell(label: str, tau: int, epsilon: float, scale: Scale) -> Cell:
    form, method, most = METHODS[label]
    recipe = Recipe(form, method=method, size=tau, epsilon=epsilon, share=1.0, most=most)
    repeats = 5 if scale.quick else 30 if form == "as written" else 10
    return Cell.of("f1", data="SMS", repeats=repeats, **asdict(recipe))


def _size_cell(tau: int) -> Cell:
    """How many features are above τ."""
    return Cell.of("features above", data="SMS", form="exact", size=tau)


def _cells(scale: Scale) -> list[Cell]:
    cells = [_size_cell(tau) for tau in _thresholds(scale)]
    for label in METHODS:
        cells += [_cell(label, tau, epsilon, scale) for tau in _thresholds(scale) for epsilon in _budgets(scale)]
    return cells


def _show(results: Results, scale: Scale) -> Shown:
    budgets, thresholds = _budgets(scale), _thresholds(scale)
    above = {tau: int(results[_size_cell(tau)]["words"][0]) for tau in thresholds}
    figure, panels = new_figure(len(budgets), height=4.6)
    rows: list[dict[str, Any]] = []
    found: dict[tuple[str, int, float], Measured] = {}
    for panel, epsilon in zip(panels, budgets, strict=True):
        series: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
        for label, (form, _, _) in METHODS.items():
            for tau in thresholds:
                cell = _cell(label, tau, epsilon, scale)
                value = found[(label, tau, epsilon)] = measured(results[cell]["f1"])
                rows.append(
                    {
                        "data": "SMS",
                        "method": label,
                        "privacy": LABELS[form],
                        "epsilon": epsilon,
                        "threshold": tau,
                        "features above": int(results[_size_cell(tau)][COLUMNS[form]][0]),
                        "F1": round(value.mean, 4),
                        "standard error": round(value.error, 4),
                        "runs": len(results[cell]["f1"]),
                        "seed": cell.seed,
                    }
                )
            series[(label, form)] = (list(thresholds), [found[(label, tau, epsilon)].mean for tau in thresholds])
        series[("exact", "exact")] = (list(thresholds), [1.0] * len(thresholds))
        lines(panel, f"SMS, TC, ε = {epsilon:g}", series, x="threshold τ", y="F1", log_x=True)
        upper = panel.secondary_xaxis("top")
        upper.set_xticks(list(thresholds), [str(above[tau]) for tau in thresholds], fontsize=8)
        upper.minorticks_off()
        upper.set_xlabel("features above τ", fontsize=8)
    limit = {"data": "SMS", "method": "exact", "privacy": LABELS["exact"], "F1": 1.0}
    rows += [limit | {"threshold": tau, "features above": above[tau]} for tau in thresholds]
    shared_legend(figure, panels[0])
    summary = [
        {"method": f"{label}, {LABELS[form]}", "ε": f"{epsilon:g}"}
        | {f"τ = {tau}": f"{found[(label, tau, epsilon)].mean:.2f}" for tau in thresholds}
        for label, (form, _, _) in METHODS.items()
        for epsilon in budgets
    ]
    return Shown(rows, summary, figure, *_words(found, thresholds))


TESTING, PERTURBING = 0.2, 0.5
"""ε of the claims: what the paper spends on threshold tests and clusters, and on score perturbation."""


def _words(found: dict[tuple[str, int, float], Measured], thresholds: tuple[int, ...]) -> tuple[str, list[Claim]]:
    def at(label: str, tau: int) -> Measured:
        return found[(label, tau, PERTURBING if label in PERTURBED else TESTING)]

    def listed(*labels: str) -> str:
        return "; ".join(
            f"{label} " + ", ".join(f"{at(label, tau).mean:.2f}" for tau in thresholds) for label in labels
        )

    low, high = thresholds[0], thresholds[-1]

    def rises(label: str) -> bool:
        return at(label, high).beats(at(label, low))

    def falls(label: str) -> bool:
        return at(label, low).beats(at(label, high))

    where = f"F1 at τ = {', '.join(map(str, thresholds))}: "
    written, sound = " (as written, NOT PRIVATE)", " (private)"
    testing = "corrected SVT, limit c"
    others = ("noisy counts, r = 10", "CountSelector in two rounds", "screening")
    rivals = ("NoisyCut", "cluster", "score perturbation, r = 10")
    wins = all(not at(rival, tau).beats(at("PTT", tau)) for tau in thresholds for rival in rivals)
    sound_wins = all(not at(rival, tau).beats(at(testing, tau)) for tau in thresholds for rival in others)
    claims = [
        Claim(
            "PTT finds the features above a threshold better than all other methods, at every threshold.",
            judge(wins, sound_wins),
            where + listed("PTT", *rivals) + written + "; " + listed(testing, *others) + sound + ".",
            "At no threshold does another method clearly beat the threshold test.",
        ),
        Claim(
            "PTT is far better than NoisyCut where many features must be chosen.",
            judge(at("PTT", low).beats(at("NoisyCut", low), by=0.05), False),
            where + listed("PTT", "NoisyCut", "NoisyCut, limit c", "SVT, as the paper describes it") + written + "; "
            + listed(testing) + sound + ".",
            f"At τ = {low} PTT is clearly better, and by more than .05. Neither of the two is private, so there is no "
            "sound form to ask.",
        ),
        Claim(
            "Score perturbation and NoisyCut get worse as the threshold falls.",
            judge(rises("NoisyCut") and rises("score perturbation, r = 10"), rises("noisy counts, r = 10")),
            where + listed("NoisyCut", "score perturbation, r = 10") + written + "; " + listed(others[0]) + sound + ".",
            f"F1 at τ = {high} is clearly higher than at τ = {low}.",
        ),
        Claim(
            "Clusters show the reverse trend: better at low thresholds.",
            judge(falls("cluster"), falls("cluster of noisy counts")),
            where + listed("cluster") + written + "; " + listed("cluster of noisy counts") + sound + ".",
            f"F1 at τ = {low} is clearly higher than at τ = {high}.",
        ),
    ]  # fmt: skip
    comment = (
        f"ε = {TESTING:g}, and {PERTURBING:g} for score perturbation and noisy counts, as the paper splits it. "
        f"{where}{listed('PTT', 'NoisyCut')}{written}; {listed(testing, *others)}{sound}. What makes the first "
        "two so good is that they do not pay for all the features that a row changes. In a screening each row pays "
        "for the answers about its own features."
    )
    return comment, claims


ITEMS = [
    Item("f1", "Which features are above a threshold: F1 on SMS", "Figure on ScoreBasedFS", _cells, _show),
]
