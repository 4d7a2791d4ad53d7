"""What an item of the reproduction is made of: cells before the run, and a table, a figure and verdicts after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tacit.paper.cells import Cell, Results
from tacit.paper.recipe import LABELS, Recipe

HOLDS = "holds"
ONLY_UNSOUND = "holds only because it is not private"
FAILS = "does not hold"

EPSILONS = (1.0, 0.5, 0.25, 0.1)


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run: everything, or a quick look that takes a minute or two."""

    quick: bool = False

    def pick(self, full: Sequence[Any], quick: Sequence[Any]) -> tuple[Any, ...]:
        """Choose the full or the quick list."""
        return tuple(quick if self.quick else full)

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Total budgets."""
        return self.pick(EPSILONS, (1.0, 0.1))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of features from which the best is taken."""
        return self.pick((50, 100, 200, 400, 800, 1600, 3200), (50, 200, 800))

    @property
    def public_thresholds(self) -> tuple[int, ...]:
        """Thresholds from which the best is taken, for sound forms that need one."""
        return self.pick((10, 20, 50, 100, 200), (50,))

    def runs(self, recipe: Recipe) -> dict[str, int]:
        """Folds and repeats: noise as written is cheap to draw."""
        if self.quick:
            return {"folds": 3, "repeats": 1}
        return {"folds": 10, "repeats": 3 if recipe.form in ("exact", "as written") and recipe.model == "nb" else 1}


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper, our verdict, the figures that it rests on, and the rule that made it of them.

    In a rule, "clearly" means by more than two standard errors of the difference.
    """

    text: str
    verdict: str
    evidence: str
    rule: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What an item shows."""

    rows: list[dict[str, Any]]
    """All cells, for the CSV file."""
    summary: list[dict[str, Any]]
    """A short table, for the page."""
    figure: Any
    comment: str
    claims: list[Claim] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Item:
    """A figure, table or remark of the paper."""

    name: str
    title: str
    place: str
    cells: Callable[[Scale], list[Cell]]
    show: Callable[[Results, Scale], Shown]


@dataclass(frozen=True, slots=True)
class Measured:
    """A mean with its standard error."""

    mean: float
    error: float

    def beats(self, other: Measured, by: float = 0.0) -> bool:
        """Whether it is larger by more than ``by`` and by more than two standard errors of the difference."""
        return self.mean - other.mean > max(by, 2 * math.hypot(self.error, other.error))

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} %"


def measured(values: Iterable[float]) -> Measured:
    """Mean and standard error of some runs."""
    found = np.asarray(list(values), dtype=np.float64)
    return Measured(float(found.mean()), float(found.std() / math.sqrt(max(1, len(found) - 1))))


def judge(as_written: bool, sound: bool) -> str:
    """Verdict on a claim from whether it is true as written and whether it is true of the sound forms."""
    if not as_written:
        return FAILS
    return HOLDS if sound else ONLY_UNSOUND


def accuracy_cell(data: str, recipe: Recipe, scale: Scale) -> Cell:
    """Make the cell of a recipe on a data set."""
    return Cell.of("accuracy", data=data, **scale.runs(recipe), **asdict(recipe))


@dataclass(frozen=True, slots=True)
class Bar:
    """One method in a figure: several recipes that differ in their size, of which the best is shown."""

    label: str
    recipes: tuple[Recipe, ...]

    @property
    def form(self) -> str:
        """How private it is."""
        return self.recipes[0].form

    @property
    def name(self) -> str:
        """Its label with how private it is, for tables and legends."""
        return f"{self.label}, {LABELS[self.form]}"

    def best(self, results: Results, data: str, scale: Scale) -> tuple[Measured, Recipe]:
        """Return the best mean accuracy and its recipe."""
        tried = [(measured(results[accuracy_cell(data, recipe, scale)]["accuracy"]), recipe) for recipe in self.recipes]
        return max(tried, key=lambda pair: pair[0].mean)


def accuracy_rows(results: Results, data: str, bars: Iterable[Bar], scale: Scale) -> list[dict[str, Any]]:
    """Rows of the CSV file: one a cell."""
    rows = []
    for bar in bars:
        for recipe in bar.recipes:
            cell = accuracy_cell(data, recipe, scale)
            found = measured(results[cell]["accuracy"])
            rows.append(
                {
                    "data": data,
                    "method": bar.label,
                    "privacy": LABELS[recipe.form],
                    "model": recipe.model,
                    "score": recipe.score,
                    "epsilon": recipe.epsilon if recipe.form != "exact" else "",
                    "size or threshold": recipe.size or "",
                    "selection share": recipe.share if recipe.method != "none" else "",
                    "ones kept in a row": recipe.most or "all",
                    "accuracy": round(found.mean, 5),
                    "standard error": round(found.error, 5),
                    "runs": len(results[cell]["accuracy"]),
                    "seed": cell.seed,
                }
            )
    return rows


def accuracy_mean(results: Results, data: str, recipe: Recipe, scale: Scale) -> float:
    """Mean accuracy of one recipe."""
    found = results[accuracy_cell(data, recipe, scale)]["accuracy"]
    return sum(found) / len(found)
