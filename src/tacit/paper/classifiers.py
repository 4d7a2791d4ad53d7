"""Items on logistic regression, total budget, tuning and Adult."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tacit.paper import naive
from tacit.paper.cells import Cell, Results
from tacit.paper.corpus import SETS
from tacit.paper.drawing import lines, new_figure, shared_legend
from tacit.paper.naive import MAJORITY, SAMPLED, UNSOUND_END, bar_cells, best_of, draw_bars, top_of
from tacit.paper.recipe import LABELS, Form, Recipe
from tacit.paper.tables import (
    FAILS,
    HOLDS,
    Bar,
    Claim,
    Item,
    Measured,
    Scale,
    Shown,
    accuracy_rows,
    judge,
)

ADULT_ONES = 14


def _with_model(bar: Bar, model: str, **changes: Any) -> Bar:
    return Bar(bar.label, tuple(replace(recipe, model=model, **changes) for recipe in bar.recipes))


# ---- logistic regression


def _logistic_chosen(scale: Scale) -> dict[str, list[Bar]]:
    without = [naive.ALL, *(naive.exact(score, scale) for score in naive.SCORES)]
    as_written = [naive.all_written(0), naive.all_written(SAMPLED)]
    pairs = [("threshold", "tc"), ("threshold", "dc"), ("threshold", "ig"), ("top-k", "tc"), ("cluster", "tc")]
    pairs += [("cluster", "dc"), *(("ptt", score) for score in naive.SCORES)]
    as_written += [naive.written_bar(method, score, scale, "SMS") for method, score in pairs]
    sound = [Bar("all features", (Recipe("sound"),)), *(naive.sound_bar("top-k", s, scale) for s in naive.SCORES)]
    sound += [naive.sound_bar("cluster", "tc", scale), naive.sound_bar("ptt", "tc", scale)]
    return {"SMS": [*(_with_model(bar, "lr") for bar in (*without, *as_written, *sound)), *naive.defaults()]}


def _logistic_cells(scale: Scale) -> list[Cell]:
    return bar_cells(_logistic_chosen(scale), scale) + bar_cells({"SMS": naive.figure_bars("SMS", scale)}, scale)


def _show_logistic(results: Results, scale: Scale) -> Shown:
    chosen = _logistic_chosen(scale)
    figure, summary = draw_bars(results, chosen, scale)
    rows = [row for data, group in chosen.items() for row in accuracy_rows(results, data, [*group, MAJORITY], scale)]
    found = best_of(results, chosen, scale)["SMS"]
    bayes = best_of(results, {"SMS": naive.figure_bars("SMS", scale)}, scale)["SMS"]
    name, top = top_of(found, starts=naive.SELECTING_AS_WRITTEN, ends=UNSOUND_END)
    none = top_of(found, starts=("All",), ends=UNSOUND_END)[1]
    sound_name, sound_top = top_of(found, starts=naive.SELECTING_SOUND, ends=", sound")
    sound_none = found["all features, sound"]
    bayes_top = top_of(bayes, starts=naive.SELECTING_AS_WRITTEN, ends=UNSOUND_END)[1]
    bayes_sound = top_of(bayes, ends=", sound")[1]
    sound_any = top_of(found, ends=", sound")[1]
    figures = (
        f"as written (NOT PRIVATE) {none} without selection and {top} with {name.split(',')[0]}; sound {sound_none} "
        f"without and {sound_top} with {sound_name.removesuffix(', sound')}"
    )
    claims = [
        Claim(
            "Selection helps private logistic regression as it helps Naive Bayes.",
            judge(top.beats(none), sound_top.beats(sound_none)),
            f"SMS: {figures}; majority {MAJORITY.best(results, 'SMS', scale)[0]}.",
            "The best selection clearly beats none.",
        ),
        Claim(
            "Private logistic regression is less accurate than private Naive Bayes.",
            judge(bayes_top.beats(top), bayes_sound.beats(sound_any)),
            f"SMS, best of each: {top} and {bayes_top} as written (NOT PRIVATE); {sound_any} and {bayes_sound} sound.",
            "The best Naive Bayes clearly beats the best logistic regression.",
        ),
    ]
    default = found[naive.DEFAULT]
    comment = (
        f"SMS at ε = 1: {figures}; tacit's default {default}; without privacy {found['all features, no privacy']}."
    )
    return Shown(rows, summary, figure, comment, claims)


# ---- total budget


def _budget_lines(data: str, epsilon: float, scale: Scale) -> dict[str, list[Bar]]:
    """Bars a line of the figure; the best of each is shown. Every other size of the figure on Naive Bayes is tried."""

    def written(*pairs: tuple[str, str]) -> list[Bar]:
        few = scale.sizes[::2]
        return [naive.written_bar(method, score, scale, data, epsilon=epsilon, sizes=few) for method, score in pairs]

    def sound(method: str) -> list[Bar]:
        few = (scale.sizes if method == "top-k" else scale.public_thresholds)[::2]
        return [naive.sound_bar(method, "tc", scale, epsilon=epsilon, sizes=few)]

    plain, listed = naive.defaults(epsilon)
    return {
        "All-sampling": [naive.all_written(SAMPLED, epsilon)],
        "score perturbation": written(("threshold", "tc"), ("top-k", "tc"), ("threshold", "dc")),
        "cluster": written(("cluster", "tc"), ("cluster", "dc")),
        "PTT": written(("ptt", "tc"), ("ptt", "dc")),
        "all features, cut to 10": [naive.all_sound(SAMPLED, epsilon)],
        "noisy counts, then top-k": sound("top-k"),
        "cluster of noisy counts": sound("cluster"),
        "corrected SVT": sound("ptt"),
        "TextClassifier": [plain],
        "TextClassifier, public word list": [listed],
    }


def _budget_cells(scale: Scale) -> list[Cell]:
    chosen = {
        data: [
            bar for epsilon in scale.epsilons for group in _budget_lines(data, epsilon, scale).values() for bar in group
        ]
        for data in SETS
    }
    return bar_cells(chosen, scale) + bar_cells({data: [naive.ALL] for data in SETS}, scale)


def _show_budget(results: Results, scale: Scale) -> Shown:
    figure, panels = new_figure(len(SETS))
    rows, summary = [], []
    reached: dict[str, dict[str, dict[float, float]]] = {}
    for panel, data in zip(panels, SETS, strict=True):
        series: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
        reached[data] = {}
        for epsilon in scale.epsilons:
            for label, group in _budget_lines(data, epsilon, scale).items():
                rows += accuracy_rows(results, data, group, scale)
                best = max((bar.best(results, data, scale)[0] for bar in group), key=lambda value: value.mean)
                places, values = series.setdefault((label, group[0].form), ([], []))
                places.append(epsilon)
                values.append(best.mean)
                reached[data].setdefault(label, {})[epsilon] = best.mean
        rows += accuracy_rows(results, data, [naive.ALL, MAJORITY], scale)
        for label, bar in {"all features": naive.ALL, "majority": MAJORITY}.items():
            mean = bar.best(results, data, scale)[0].mean
            series[(label, "exact")] = (list(scale.epsilons), [mean] * len(scale.epsilons))
            reached[data][label] = dict.fromkeys(scale.epsilons, mean)
        lines(panel, data, series, x="total ε", y="accuracy", log_x=True)
        forms = dict(series.keys())
        for label, values_at in reached[data].items():
            row: dict[str, Any] = {"data": data, "method": f"{label}, {LABELS[forms[label]]}"}
            summary.append(row | {f"ε = {epsilon:g}": f"{100 * value:.1f} %" for epsilon, value in values_at.items()})
    shared_legend(figure, panels[0])
    return Shown(rows, summary, figure, *_budget_words(reached, min(scale.epsilons)))


def _budget_words(reached: dict[str, dict[str, dict[float, float]]], least: float) -> tuple[str, list[Claim]]:
    methods = ("score perturbation", "cluster", "PTT")
    close, evidence = [], []
    for data in ("TWITTER", "REUTERS"):
        floor = reached[data]["majority"][least]
        tops = {method: reached[data][method][least] for method in methods}
        default = reached[data]["TextClassifier"][least]
        close.append(max(tops.values()) - floor < 0.05)
        shown = ", ".join(f"{method} {100 * value:.1f} %" for method, value in tops.items())
        evidence.append(f"{data}: {shown} (as written, NOT PRIVATE), majority {100 * floor:.1f} %, "
                        f"tacit's default {100 * default:.1f} %")  # fmt: skip
    text = f"On TWITTER and REUTERS accuracy approaches the majority classifier at ε = {least:g}."
    comment = f"At ε = {least:g}: " + "; ".join(evidence) + "."
    rule = "On both sets the best method as written is less than five points above the majority classifier."
    return comment, [Claim(text, HOLDS if all(close) else FAILS, comment, rule)]


# ---- tuning

Curves = dict[tuple[str, str, str], dict[float, Measured]]
"""What is tuned, data set and form → setting → best accuracy."""

SPLITS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
RATES = (1, 2, 5, 10, 15, 20)
TUNED = ("TWITTER", "SMS")
TUNING = {"split": "part of ε for selection", "rate": "ones kept in a row, r"}


def _tuning(kind: str, value: float, scale: Scale) -> dict[str, Bar]:
    """Bars at one setting of the budget split or of the sampling rate."""
    sizes = scale.pick((50, 200, 800), (200,))
    if kind == "split":
        shared = [Recipe("as written", method="top-k", size=size, share=value) for size in sizes]
        sound = [Recipe("sound", method="top-k", size=size, share=value, most=20) for size in sizes]
    else:
        shared = [Recipe("as written", method="top-k", size=size, most=int(value)) for size in sizes]
        sound = [Recipe("sound", method="top-k", size=size, most=int(value)) for size in sizes]
    return {"as written": Bar("score perturbation TC", tuple(shared)), "sound": Bar("noisy counts TC", tuple(sound))}


def _tuning_settings(scale: Scale) -> dict[str, tuple[float, ...]]:
    return {"split": scale.pick(SPLITS, (0.1, 0.5, 0.9)), "rate": scale.pick(RATES, (1, 10, 20))}


def _parted(scale: Scale) -> list[Bar]:
    """PTT and Naive Bayes on different rows, beside the same with a split of the budget."""
    sizes = scale.pick((50, 200, 800), (200,))
    bars_of = [
        Bar(f"PTT, {int(100 * share)} % of the rows for selection", tuple(
            Recipe("as written", method="ptt", size=size, share=share, parted=True) for size in sizes))
        for share in (0.2, 0.5)
    ]  # fmt: skip
    bars_of.append(
        Bar("PTT, 20 % of the budget", tuple(Recipe("as written", method="ptt", size=s, share=0.2) for s in sizes))
    )
    both = {"20 % of the rows": (0.2, True), "50 % of the rows": (0.5, True), "50 % of the budget": (0.5, False)}
    for label, (share, parted) in both.items():
        recipes = (Recipe("sound", method="top-k", size=s, share=share, most=SAMPLED, parted=parted) for s in sizes)
        bars_of.append(Bar(f"noisy counts, {label} for selection", tuple(recipes)))
    return bars_of


def _tuning_cells(scale: Scale) -> list[Cell]:
    chosen = [
        bar
        for kind, values in _tuning_settings(scale).items()
        for value in values
        for bar in _tuning(kind, value, scale).values()
    ]
    chosen += [*_parted(scale), naive.ALL, *naive.defaults()]
    return bar_cells(dict.fromkeys(TUNED, chosen), scale)


def _show_tuning(results: Results, scale: Scale) -> Shown:
    figure, panels = new_figure(2, rows=2)
    rows: list[dict[str, Any]] = []
    summary: list[dict[str, Any]] = []
    curves: Curves = {}
    for number, (kind, values) in enumerate(_tuning_settings(scale).items()):
        for panel, data in zip(panels[2 * number :], TUNED, strict=False):
            series = {}
            for form in ("as written", "sound"):
                tried = {value: _tuning(kind, value, scale)[form] for value in values}
                rows += [row for bar in tried.values() for row in accuracy_rows(results, data, [bar], scale)]
                found = {value: bar.best(results, data, scale)[0] for value, bar in tried.items()}
                curves[(kind, data, form)] = found
                label = tried[values[0]].label
                series[(label, form)] = (list(found), [accuracy.mean for accuracy in found.values()])
                shown = ", ".join(f"{value:g}: {accuracy}" for value, accuracy in found.items())
                summary.append(
                    {"data": data, "tuned": TUNING[kind], "method": tried[values[0]].name, "accuracy": shown}
                )
            for label, bar in {"TextClassifier": naive.defaults()[0], "all features": naive.ALL}.items():
                mean = bar.best(results, data, scale)[0].mean
                series[(label, bar.form)] = (list(values), [mean] * len(values))
            lines(panel, data, series, x=TUNING[kind], y="accuracy")
    shared_legend(figure, panels[0])
    parted = {data: {bar.name: bar.best(results, data, scale)[0] for bar in _parted(scale)} for data in TUNED}
    for data, both in parted.items():
        rows += accuracy_rows(results, data, [*_parted(scale), naive.ALL, MAJORITY, *naive.defaults()], scale)
        summary += [{"data": data, "tuned": "rows or budget", "method": n, "accuracy": str(v)} for n, v in both.items()]
    floors = {data: MAJORITY.best(results, data, scale)[0].mean for data in TUNED}
    claims = [_split_claim(curves), _rate_claim(curves), _parted_claim(parted, floors)]
    comment = " ".join(claim.evidence for claim in claims)
    return Shown(rows, summary, figure, comment, claims)


def _top(found: dict[float, Measured]) -> float:
    return max(found, key=lambda value: found[value].mean)


def _split_claim(curves: Curves) -> Claim:
    def fine(form: str) -> bool:
        found = [curves[("split", data, form)] for data in TUNED]
        return all(at[0.5].mean > at[_top(at)].mean - 0.01 for at in found)

    evidence = "; ".join(
        f"{data}: best {found[_top(found)]} at {_top(found):g}, {found[0.5]} at 0.5 ({LABELS[form]})"
        for (kind, data, form), found in curves.items()
        if kind == "split"
    )
    text = "For score perturbation with TC an even split of the budget is best (within a point)."
    rule = "On both sets an even split is less than a point below the best one."
    return Claim(text, judge(fine("as written"), fine("sound")), f"Split: {evidence}.", rule)


def _rate_claim(curves: Curves) -> Claim:
    """Judged as written alone: cutting rows is what bounds the loss there, and sound forms cut at another place."""

    def fine(found: dict[float, Measured]) -> bool:
        return found[_top(found)].beats(found[min(found)]) and found[_top(found)].beats(found[max(found)])

    evidence = "; ".join(
        f"{data}: best {found[_top(found)]} at r = {_top(found):g}, {found[min(found)]} at {min(found):g}, "
        f"{found[max(found)]} at {max(found):g} ({LABELS[form]})"
        for (kind, data, form), found in curves.items()
        if kind == "rate"
    )
    return Claim(
        "A moderate sampling rate is best: too low loses data, too high adds noise.",
        HOLDS if all(fine(curves[("rate", data, "as written")]) for data in TUNED) else FAILS,
        f"Sampling rate: {evidence}. The sound form cuts a row after the selection, so that less is lost: there one or "
        "two ones are enough.",
        "As written, on both sets, a rate between the lowest and the highest clearly beats both of them.",
    )


def _parted_claim(parted: dict[str, Any], floors: dict[str, float]) -> Claim:
    fine, evidence = [], []
    for data, found in parted.items():
        rows = top_of(found, starts=("PTT, 20 % of the rows", "PTT, 50 % of the rows"))[1]
        budget = top_of(found, starts=("PTT, 20 % of the budget",))[1]
        sound_rows = max(found[f"noisy counts, {part} % of the rows for selection, sound"].mean for part in (20, 50))
        sound_budget = found["noisy counts, 50 % of the budget for selection, sound"]
        fine.append(rows.mean - floors[data] < 0.02)
        evidence.append(
            f"{data}: PTT {rows} with different rows and {budget} with a split of the budget (NOT PRIVATE), majority "
            f"{100 * floors[data]:.1f} %; sound {100 * sound_rows:.1f} % and {sound_budget}"
        )
    text = "Selecting and training on different rows is no better than the majority classifier."
    rule = "On both sets PTT with different rows is less than two points above the majority classifier."
    return Claim(text, HOLDS if all(fine) else FAILS, "Different rows: " + "; ".join(evidence) + ".", rule)


# ---- Adult


def _adult_chosen(scale: Scale) -> dict[str, list[Bar]]:
    sizes = scale.pick((20, 40, 60, 80, 100), (40, 80))
    group = []
    for model in ("nb", "lr"):
        all_of = [Bar(f"{model.upper()}, all features", (Recipe(form, model=model, most=ADULT_ONES),))
                  for form in ("exact", "as written", "sound")]  # fmt: skip
        chosen: list[tuple[Form, str, float]] = [
            ("as written", "ptt", 0.2),
            ("as written", "top-k", 0.5),
            ("sound", "top-k", 0.5),
        ]
        names = {"ptt": "PTT TC", "top-k": "top-k TC"}
        group += all_of + [
            Bar(f"{model.upper()}, {names[method]}", tuple(
                Recipe(form, model=model, method=method, size=size, share=share, most=ADULT_ONES) for size in sizes))
            for form, method, share in chosen
        ]  # fmt: skip
    order = {"exact": 0, "as written": 1, "sound": 2}
    group.sort(key=lambda bar: order[bar.form])
    return {"ADULT": [*group, Bar("TabularClassifier", (Recipe("default", model="tabular"),))]}


def _show_adult(results: Results, scale: Scale) -> Shown:
    chosen = _adult_chosen(scale)
    figure, summary = draw_bars(results, chosen, scale)
    rows = [row for data, group in chosen.items() for row in accuracy_rows(results, data, [*group, MAJORITY], scale)]
    found = best_of(results, chosen, scale)["ADULT"]
    gains = {}
    for form in ("as written (NOT PRIVATE)", "sound"):
        for model in ("NB", "LR"):
            whole = found[f"{model}, all features, {form}"]
            part = top_of(found, starts=(f"{model}, PTT", f"{model}, top-k"), ends=form)[1]
            gains[f"{model} {form}"] = (whole, part)
    evidence = "; ".join(f"{name}: {whole} with all 123, {part} selected" for name, (whole, part) in gains.items())
    none = {name: part.mean - whole.mean < 0.01 for name, (whole, part) in gains.items()}
    verdict = judge(
        all(fine for name, fine in none.items() if "NOT" in name),
        all(f for name, f in none.items() if "NOT" not in name),
    )
    claim = Claim(
        "On Adult (123 features) selection brings no notable gain.",
        verdict,
        evidence + ".",
        "With either model the best selection is less than a point better than all features.",
    )
    default = found["TabularClassifier, tacit's default"]
    limits = f"{found['NB, all features, no privacy']} and {found['LR, all features, no privacy']}"
    comment = f"{evidence}; tacit's default {default}; without privacy {limits} (Naive Bayes and logistic regression)."
    return Shown(rows, summary, figure, comment, [claim])


ITEMS = [
    Item(
        "logistic",
        "Logistic regression on SMS, ε = 1",
        "Figure on logistic regression",
        _logistic_cells,
        _show_logistic,
    ),
    Item("budget", "Accuracy by total budget", "Figure on the total budget", _budget_cells, _show_budget),
    Item(
        "tuning",
        "Split of the budget, sampling rate, and a split of the rows instead",
        "Figure on tuning, Sec. 5.1.4",
        _tuning_cells,
        _show_tuning,
    ),
    Item(
        "adult",
        "Adult (a9a): a small number of features",
        "Remark on the Adult data set",
        lambda scale: bar_cells(_adult_chosen(scale), scale),
        _show_adult,
    ),
]
