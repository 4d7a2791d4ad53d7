"""Items on Naive Bayes: exact selection, score perturbation, and the figure that compares all methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.paper.cells import Cell, Results
from tacit.paper.corpus import SETS
from tacit.paper.drawing import bars, legend_of_forms, new_figure
from tacit.paper.recipe import Recipe
from tacit.paper.tables import (
    Bar,
    Claim,
    Item,
    Measured,
    Scale,
    Shown,
    accuracy_cell,
    accuracy_rows,
    judge,
)

SCORES = ("tc", "dc", "pi", "ig")
MAJORITY = Bar("majority", (Recipe("exact", model="majority"),))
ALL = Bar("all features", (Recipe("exact"),))
DEFAULT = "TextClassifier, tacit's default"
UNSOUND_END = "(NOT PRIVATE)"
SAMPLED = 10
PERTURBING_SHARE, TESTING_SHARE = 0.5, 0.2

Best = dict[str, dict[str, Measured]]
"""Data set → name of a bar → its best accuracy."""


def exact(score: str, scale: Scale, method: str = "top-k") -> Bar:
    """Selection without privacy."""
    recipes = tuple(Recipe("exact", method=method, score=score, size=size) for size in scale.sizes)
    return Bar(f"{score.upper()} {method}", recipes)


def written_bar(
    method: str,
    score: str,
    scale: Scale,
    data: str,
    *,
    epsilon: float = 1.0,
    most: int = SAMPLED,
    sizes: Sequence[int] | None = None,
) -> Bar:
    """NOT PRIVATE: a method of the paper with its split of the budget; ``sizes`` are those of the scale unless given.

    Threshold testing does not cut rows; but articles have no bound on their words, so that there training cuts them.
    """
    perturbing = method in ("threshold", "top-k")
    testing = method == "ptt"
    recipes = tuple(
        Recipe(
            "as written",
            method=method,
            score=score,
            size=size,
            epsilon=epsilon,
            share=PERTURBING_SHARE if perturbing else TESTING_SHARE,
            most=0 if testing else most,
            train_most=SAMPLED if testing and data == "REUTERS" else 0,
        )
        for size in sizes or scale.sizes
    )
    return Bar(f"{WRITTEN_NAMES[method]} {score.upper()}", recipes)


WRITTEN_NAMES = {
    "threshold": "score perturbation τ",
    "top-k": "score perturbation top-k",
    "cluster": "cluster",
    "ptt": "PTT",
}


def sound_bar(
    method: str, score: str, scale: Scale, *, epsilon: float = 1.0, sizes: Sequence[int] | None = None
) -> Bar:
    """The sound counterpart of a method of the paper; ``sizes`` are those of the scale unless given."""
    counting = method == "top-k"
    recipes = tuple(
        Recipe(
            "sound",
            method=method,
            score=score,
            size=size,
            epsilon=epsilon,
            share=PERTURBING_SHARE if counting else TESTING_SHARE,
            most=0 if method == "ptt" else SAMPLED,
            train_most=SAMPLED,
        )
        for size in sizes or (scale.sizes if counting else scale.public_thresholds)
    )
    return Bar(f"{SOUND_NAMES[method]} {score.upper()}", recipes)


SOUND_NAMES = {"top-k": "noisy counts, then top-k", "cluster": "cluster of noisy counts", "ptt": "corrected SVT"}


def all_written(most: int, epsilon: float = 1.0) -> Bar:
    """NOT PRIVATE: no selection, with or without sampling."""
    label = f"All-sampling, r = {most}" if most else "All"
    return Bar(label, (Recipe("as written", epsilon=epsilon, most=most),))


def all_sound(most: int, epsilon: float = 1.0) -> Bar:
    """BernoulliNB on all features."""
    return Bar(f"all features, cut to {most}", (Recipe("sound", epsilon=epsilon, most=most),))


def defaults(epsilon: float = 1.0) -> list[Bar]:
    """What tacit recommends for texts."""
    models = {"TextClassifier": "text", "TextClassifier with a public word list": "text with word list"}
    return [Bar(label, (Recipe("default", model=model, epsilon=epsilon),)) for label, model in models.items()]


def figure_bars(data: str, scale: Scale) -> list[Bar]:
    """All bars of the figure on a data set, the limit without privacy on top."""
    without = [ALL, *(exact(score, scale) for score in SCORES)]
    as_written = [] if data == "REUTERS" else [all_written(0)]
    as_written.append(all_written(SAMPLED))
    chosen = [("top-k", "tc"), ("threshold", "tc"), ("threshold", "dc"), ("threshold", "ig")]
    chosen += [("cluster", "tc"), ("cluster", "dc"), *(("ptt", score) for score in SCORES)]
    as_written += [written_bar(method, score, scale, data) for method, score in chosen]
    sound = [all_sound(20), all_sound(SAMPLED), *(sound_bar("top-k", score, scale) for score in SCORES)]
    sound += [sound_bar("cluster", score, scale) for score in ("tc", "dc")]
    sound += [sound_bar("ptt", score, scale) for score in ("tc", "dc", "pi")]
    return [*without, *as_written, *sound, *defaults()]


def best_of(results: Results, chosen: dict[str, list[Bar]], scale: Scale) -> Best:
    """Best accuracy of each bar on each data set."""
    return {data: {bar.name: bar.best(results, data, scale)[0] for bar in group} for data, group in chosen.items()}


def bar_cells(chosen: dict[str, list[Bar]], scale: Scale) -> list[Cell]:
    """All cells of some bars, with the majority classifier."""
    return [
        accuracy_cell(data, recipe, scale)
        for data, group in chosen.items()
        for bar in (*group, MAJORITY)
        for recipe in bar.recipes
    ]


def draw_bars(results: Results, chosen: dict[str, list[Bar]], scale: Scale) -> tuple[Any, list[dict[str, Any]]]:
    """Draw a panel of bars a data set, and return the figure with the short table."""
    names = list(dict.fromkeys(bar.name for group in chosen.values() for bar in group))
    figure, panels = new_figure(len(chosen), height=1.2 + 0.2 * len(names))
    summary = []
    for panel, (data, group) in zip(panels, chosen.items(), strict=True):
        floor = MAJORITY.best(results, data, scale)[0].mean
        values = {}
        for bar in group:
            found, recipe = bar.best(results, data, scale)
            values[bar.name] = (bar.form, found.mean, found.error)
            setting = f"size or threshold {recipe.size}" if recipe.size else ""
            summary.append({"data": data, "method": bar.name, "accuracy": str(found), "best at": setting})
        bars(panel, data, values, names, floor, named=panel is panels[0])
    legend_of_forms(figure)
    return figure, summary


def top_of(found: dict[str, Measured], *, starts: Sequence[str] = ("",), ends: str = "") -> tuple[str, Measured]:
    """Return the best among the bars whose name starts and ends so."""
    fitting = {name: value for name, value in found.items() if name.startswith(tuple(starts)) and name.endswith(ends)}
    return max(fitting.items(), key=lambda pair: pair[1].mean)


# ---- the figure on Naive Bayes


def _naive_chosen(scale: Scale) -> dict[str, list[Bar]]:
    return {data: figure_bars(data, scale) for data in SETS}


def _show_naive(results: Results, scale: Scale) -> Shown:
    chosen = _naive_chosen(scale)
    figure, summary = draw_bars(results, chosen, scale)
    best = best_of(results, chosen, scale)
    rows = [row for data, group in chosen.items() for row in accuracy_rows(results, data, [*group, MAJORITY], scale)]
    default = {data: found[DEFAULT] for data, found in best.items()}
    unsound = {data: top_of(found, ends="(NOT PRIVATE)") for data, found in best.items()}
    sound = {data: top_of(found, ends=", sound") for data, found in best.items()}
    comment = "At ε = 1 the best of what is as written and not private reaches " + _each(
        {data: f"{value} ({name.split(',')[0]})" for data, (name, value) in unsound.items()}
    )
    comment += "; the best sound counterpart reaches " + _each(
        {data: f"{value} ({name.removesuffix(', sound')})" for data, (name, value) in sound.items()}
    )
    comment += "; tacit's default, with nothing tuned and nothing public, " + _each(default)
    comment += (
        "; no privacy " + _each({data: top_of(found, ends="no privacy")[1] for data, found in best.items()}) + "."
    )
    return Shown(rows, summary, figure, comment, _naive_claims(best))


def _each(values: dict[str, Any]) -> str:
    return ", ".join(f"{value} on {data}" for data, value in values.items())


def _naive_claims(best: Best) -> list[Claim]:
    return [
        _selection_helps(best),
        _testing_wins(best),
        _order(best),
        _simple_scores(best),
        _sampling(best),
        _limit(best),
    ]


SELECTING_AS_WRITTEN = ("score perturbation", "cluster", "PTT")
SELECTING_SOUND = ("noisy counts", "cluster of", "corrected")


def _selection_helps(best: Best) -> Claim:
    evidence, as_written, sound = [], [], []
    for data, found in best.items():
        none = top_of(found, starts=("All",), ends=UNSOUND_END)[1]
        name, chosen = top_of(found, starts=SELECTING_AS_WRITTEN, ends=UNSOUND_END)
        perturbing = top_of(found, starts=("score",), ends=UNSOUND_END)[1]
        sound_none = top_of(found, starts=("all features, cut",), ends=", sound")[1]
        sound_name, sound_chosen = top_of(found, starts=SELECTING_SOUND, ends=", sound")
        as_written.append(chosen.beats(none))
        sound.append(sound_chosen.beats(sound_none))
        evidence.append(
            f"{data}: as written (NOT PRIVATE) {none} without selection, {perturbing} with score perturbation, "
            f"{chosen} with {name.split(',')[0]}; sound {sound_none} without, {sound_chosen} with "
            f"{sound_name.removesuffix(', sound')}"
        )
    reason = (
        ". A sound Naive Bayes smooths in proportion to its noise, and then a selection brings little, or costs."
        if not all(sound)
        else "."
    )
    verdict = judge(all(as_written), all(sound))
    text = "Spending a part of the budget on feature selection makes a private classifier clearly more accurate."
    return Claim(text, verdict, "; ".join(evidence) + reason, "On every set the best selection clearly beats none.")


def _testing_wins(best: Best) -> Claim:
    as_written, sound, evidence = [], [], []
    for data, found in best.items():
        test = top_of(found, starts=("PTT",))[1]
        others = top_of(found, starts=("score", "cluster TC", "cluster DC"), ends=UNSOUND_END)[1]
        corrected = top_of(found, starts=("corrected",))[1]
        sound_others = top_of(found, starts=("noisy", "cluster of"))[1]
        as_written.append(not others.beats(test))
        sound.append(not sound_others.beats(corrected))
        evidence.append(f"{data}: PTT {test} beside {others}; its sound form {corrected} beside {sound_others}")
    text = "Feature selection by Private Threshold Testing gives the most accurate classifiers of all selections."
    rule = "On no set does a cluster or perturbed scores clearly beat the best threshold test."
    return Claim(text, judge(all(as_written), all(sound)), "; ".join(evidence) + ".", rule)


def _order(best: Best) -> Claim:
    fine, evidence = [], []
    for data, found in best.items():
        test, cluster = found[f"PTT TC, as written {UNSOUND_END}"], found[f"cluster TC, as written {UNSOUND_END}"]
        score = top_of(found, starts=("score perturbation τ TC", "score perturbation top-k TC"))[1]
        fine.append(not cluster.beats(test) and not score.beats(cluster))
        evidence.append(f"{data}: {test}, {cluster}, {score}")
    sound = [
        not found["cluster of noisy counts TC, sound"].beats(found["corrected SVT TC, sound"])
        and not found["noisy counts, then top-k TC, sound"].beats(found["cluster of noisy counts TC, sound"])
        for found in best.values()
    ]
    text = "With TC: PTT is more accurate than clusters, and clusters than score perturbation."
    shown = "; ".join(evidence) + " (all three as written, NOT PRIVATE)."
    rule = "On no set does a method clearly beat the one that is said to be better."
    return Claim(text, judge(all(fine), all(sound)), shown, rule)


def _simple_scores(best: Best) -> Claim:
    as_written, sound, evidence = [], [], []
    for data, found in best.items():
        tc, ig = found[f"PTT TC, as written {UNSOUND_END}"], found[f"PTT IG, as written {UNSOUND_END}"]
        tc_score = found[f"score perturbation τ TC, as written {UNSOUND_END}"]
        ig_score = found[f"score perturbation τ IG, as written {UNSOUND_END}"]
        sound_tc, sound_ig = (found[f"noisy counts, then top-k {score}, sound"] for score in ("TC", "IG"))
        as_written.append(not ig.beats(tc) and not ig_score.beats(tc_score))
        sound.append(not sound_ig.beats(sound_tc))
        evidence.append(
            f"{data}: PTT {tc} with TC and {ig} with IG, score perturbation {tc_score} and {ig_score} (as written, NOT "
            f"PRIVATE); from noisy counts, where a score costs nothing, {sound_tc} and {sound_ig}"
        )
    text = "Under privacy the simple total count is as good as information gain, or better."
    rule = "On no set does IG clearly beat TC: with PTT, with score perturbation, and from noisy counts."
    return Claim(text, judge(all(as_written), all(sound)), "; ".join(evidence) + ".", rule)


def _sampling(best: Best) -> Claim:
    as_written, sound, evidence = [], [], []
    for data in ("TWITTER", "SMS"):
        found = best[data]
        whole, part = found[f"All, as written {UNSOUND_END}"], found[f"All-sampling, r = 10, as written {UNSOUND_END}"]
        sound_whole, sound_part = found["all features, cut to 20, sound"], found["all features, cut to 10, sound"]
        as_written.append((part, whole))
        sound.append((sound_part, sound_whole))
        evidence.append(f"{data}: {whole} → {part} as written (NOT PRIVATE), {sound_whole} → {sound_part} sound")

    def helps(pairs: list[tuple[Measured, Measured]]) -> bool:
        return any(part.beats(whole) for part, whole in pairs) and not any(whole.beats(part) for part, whole in pairs)

    text = "Sampling 10 ones of each row (All-sampling) is better than taking all of them (All), and never worse."
    rule = "It is clearly better on one set at least, and clearly worse on none."
    return Claim(text, judge(helps(as_written), helps(sound)), "; ".join(evidence) + ".", rule)


def _limit(best: Best) -> Claim:
    close, evidence = [], []
    for data, found in best.items():
        name, value = top_of(found, starts=SELECTING_AS_WRITTEN, ends=UNSOUND_END)
        _, limit = top_of(found, ends=", no privacy")
        default = found[DEFAULT]
        close.append((value.mean > limit.mean - 0.01, default.mean > limit.mean - 0.01))
        evidence.append(
            f"{data}: {value} with {name.split(',')[0]} (NOT PRIVATE), {default} by tacit's default, {limit} by the "
            "best Naive Bayes without privacy"
        )
    text = "In certain cases private classifiers reach the accuracy of those without privacy (within a point)."
    verdict = judge(any(first for first, _ in close), any(second for _, second in close))
    rule = (
        "On one set at least the best selection as written, and on one at least tacit's default, is less than a point "
        "below the best Naive Bayes without privacy."
    )
    return Claim(text, verdict, "; ".join(evidence) + ".", rule)


ITEMS = [
    Item(
        "naive-bayes",
        "Naive Bayes after every selection, ε = 1",
        "Figure on Naive Bayes; Algorithms 1 and 2",
        lambda scale: bar_cells(_naive_chosen(scale), scale),
        _show_naive,
    ),
]
