"""What is protected: the privacy unit, the neighbour relation, and the bound on what one unit contributes."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, replace
from enum import Enum
from numbers import Integral
from typing import Any, Literal

from tacit.errors import ParameterError, PrivacyError, bad_parameter


class Neighbours(Enum):
    """Which two data sets must be hard to tell apart."""

    ADD_REMOVE = "add or remove one unit"


@dataclass(frozen=True, slots=True)
class Unit:
    """Whose presence is hidden: a row, or a person with a bounded number of rows.

    Examples
    --------
    >>> print(Unit.row())
    row
    >>> print(Unit.user("patient", max_rows=3))
    user (column 'patient', at most 3 rows)
    """

    column: str | None = None
    max_rows: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_rows", check_count("Unit", "max_rows", self.max_rows))
        if self.column is None and self.max_rows != 1:
            raise bad_parameter(
                "Unit",
                "column",
                "given when a unit has several rows",
                None,
                "Use Unit.user(column, max_rows).",
            )
        if self.column is not None and (not isinstance(self.column, str) or not self.column):
            raise bad_parameter("Unit", "column", "the name of the column that identifies the person", self.column)

    @classmethod
    def row(cls) -> Unit:
        """Each row is its own unit."""
        return cls()

    @classmethod
    def user(cls, column: str, max_rows: int) -> Unit:
        """A person, named by ``column``, of whom at most ``max_rows`` rows are kept."""
        if column is None:
            raise bad_parameter("Unit.user", "column", "the name of the column that identifies the person", column)
        return cls(column, max_rows)

    @classmethod
    def of(cls, unit: str | Unit) -> Unit:
        """Read a unit as users write it: ``"row"`` or a ``Unit``."""
        if isinstance(unit, Unit):
            return unit
        if unit == "row":
            return cls.row()
        remedy = "For privacy of persons use tacit.Unit.user(column, max_rows=m)."
        raise bad_parameter("account", "unit", "'row' or a tacit.Unit", unit, remedy)

    @classmethod
    def read(cls, text: str) -> Unit:
        """Read a unit as receipts write it."""
        found = re.fullmatch(r"user \(column (.+), at most ([0-9]+) rows?\)", text, re.DOTALL)
        try:
            return cls.user(ast.literal_eval(found[1]), int(found[2])) if found else cls.of(text)
        except (SyntaxError, ValueError):
            raise bad_parameter("Unit.read", "text", "a unit as receipts write it", text) from None

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Unit:
        """Read back what ``to_json`` wrote."""
        return cls(body["column"], int(body["max_rows"]))

    def to_json(self) -> dict[str, Any]:
        """Describe the unit for the ledger and for receipts."""
        return {"column": self.column, "max_rows": self.max_rows}

    def __str__(self) -> str:
        if self.column is None:
            return "row"
        rows = "row" if self.max_rows == 1 else "rows"
        return f"user (column {self.column!r}, at most {self.max_rows} {rows})"


def check_persons(unit: Unit, persons: object) -> None:
    """Refuse persons that a privacy of rows would not look at."""
    if persons is not None and unit.column is None:
        raise PrivacyError(
            "persons= was given, but the account protects rows: open it with unit=Unit.user(column, max_rows), where "
            "any name will do for the column, or leave persons out. Nothing was charged."
        )


def check_declared(unit: Unit, declared: Unit | None, whose: str, remedy: str) -> Unit:
    """The account's unit, which must be the one that was declared: a weaker one is never taken in silence."""
    if declared is not None and declared != unit:
        raise PrivacyError(
            f"{whose} protects '{declared}', but the account protects '{unit}'. {remedy} Nothing was charged."
        )
    return unit


def check_count(owner: str, name: str, value: object) -> int:
    """Check a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise bad_parameter(owner, name, "a whole number of at least 1", value)
    return int(value)


def check_seed(random_state: object, owner: str) -> int | None:
    """Check a seed, and make it Python's own number, which the ledger can write."""
    if random_state is None:
        return None
    if isinstance(random_state, bool) or not isinstance(random_state, Integral) or random_state < 0:
        expected = "None (the operating system's entropy) or a whole number (a simulation, which is not private)"
        raise bad_parameter(owner, "random_state", expected, random_state)
    return int(random_state)


@dataclass(frozen=True, slots=True)
class Bound:
    """What one unit may contribute after bounding: ``rows`` rows with at most ``ones`` features each."""

    rows: int
    ones: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", check_count("Bound", "rows", self.rows))
        object.__setattr__(self, "ones", check_count("Bound", "ones", self.ones))


BOUNDED = "docs/proofs/bounding.md"
NORMALISED = "docs/proofs/normalised-sums.md"


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far one unit moves an integer vector, in three norms, and why.

    Build it with one of the constructors, which derive the norms from a :class:`Bound`.

    Attributes
    ----------
    l1, l2_squared, linf : int
        Largest change in the L1 norm, in the square of the L2 norm, and of one entry.
    monotone : bool
        Whether adding a unit moves all entries the same way, as it does for counts.
    why : str
        The derivation, in words, for the receipt.
    rows : int, optional
        For a matrix: the largest change of a row's largest entry, summed over the rows. None if nobody derived it.
    smooth : int, optional
        For values with profiles (see ``of_median_profiles``): how many tuples a unit has. None for anything else.
    proof : str, optional
        Where the derivation is written down, if not where the mechanism's proof is.
    """

    l1: int
    l2_squared: int
    linf: int
    monotone: bool
    why: str
    rows: int | None = None
    smooth: int | None = None
    proof: str | None = None

    @classmethod
    def of_feature_counts(cls, bound: Bound) -> Sensitivity:
        """Counts per label and feature: a row adds 1 to at most ``ones`` cells of its label."""
        m, r = bound.rows, bound.ones
        why = f"{m} row(s) a unit × at most {r} feature(s) a row, each adding 1 to one cell"
        return cls(l1=m * r, l2_squared=m * m * r, linf=m, monotone=True, why=why, proof=BOUNDED)

    @classmethod
    def of_row_counts(cls, bound: Bound) -> Sensitivity:
        """Counts over disjoint cells of rows (labels, bins of a histogram): a row adds 1 to one cell."""
        m = bound.rows
        why = f"{m} row(s) a unit, each adding 1 to one cell"
        return cls(l1=m, l2_squared=m * m, linf=m, monotone=True, why=why)

    @classmethod
    def of_crowded_rows(cls, bound: Bound, most: int) -> Sensitivity:
        """Rows beyond the first ``most`` of each of many disjoint cells: a row is in one cell, and adds 0 or 1."""
        why = f"{bound.rows} row(s) a unit, each adding 1 or, among the first {most} of its cell, nothing"
        return replace(cls.of_row_counts(bound), why=why, proof="docs/proofs/roc.md")

    @classmethod
    def of_whole_rows(cls, bound: Bound) -> Sensitivity:
        """Rows that a mechanism opens whole and limits one by one: a unit is so many rows."""
        why = f"{bound.rows} row(s) a unit, each of which pays for the answers about it from its own accounts"
        return replace(cls.of_row_counts(bound), why=why)

    @classmethod
    def of_normalised_rows(cls, bound: Bound, *, grid: int, norm: Literal["L1", "L2"], entries: int) -> Sensitivity:
        """Sums of whole vectors, one a row, whose L1 norm (or L2 norm) is at most ``grid`` by construction.

        ``entries`` is the length of the vectors: ‖v‖₁ ≤ √entries·‖v‖₂ bounds the other norm.
        """
        m, g = bound.rows, check_count("Sensitivity", "grid", grid)
        longest = g if norm == "L1" else g * (math.isqrt(check_count("Sensitivity", "entries", entries) - 1) + 1)
        why = f"{m} row(s) a unit, each adding a whole vector of {norm} norm at most {g}"
        return cls(l1=m * longest, l2_squared=(m * g) ** 2, linf=m * g, monotone=False, why=why, proof=NORMALISED)

    @classmethod
    def of_correct_counts(cls, bound: Bound, candidates: int) -> Sensitivity:
        """How many rows each of several fixed rules gets right: a row adds 0 or 1 to every count."""
        m, k = bound.rows, check_count("Sensitivity", "candidates", candidates)
        why = f"{m} row(s) a unit, each adding 0 or 1 to the count of each of {k} candidate(s)"
        return cls(l1=m * k, l2_squared=m * m * k, linf=m, monotone=True, why=why, proof=NORMALISED)

    @classmethod
    def of_feature_scores(cls, bound: Bound, features: int, *, monotone: bool) -> Sensitivity:
        """Integer scores of features that one row moves by at most 1 each, whatever the row holds."""
        m, d = bound.rows, check_count("Sensitivity", "features", features)
        why = f"{m} row(s) a unit, each moving the score of every feature by at most 1"
        return cls(l1=m * d, l2_squared=m * m * d, linf=m, monotone=monotone, why=why, proof=NORMALISED)

    @classmethod
    def of_row_gradients(cls, bound: Bound, *, norm: Literal["L1", "L2"], entries: int) -> Sensitivity:
        """The gradient of a sum of losses with slope at most 1, over rows of norm at most 1, in units of that norm."""
        unit = cls.of_normalised_rows(bound, grid=1, norm=norm, entries=entries)
        why = f"{bound.rows} row(s) a unit, each with a gradient of {norm} norm at most 1"
        return replace(unit, why=why, proof=None)

    @classmethod
    def of_balances(cls, bound: Bound, weight: int, candidates: int, levels: int = 1) -> Sensitivity:
        """Minus the difference in weight between the two sides of each candidate cut, a row for each group of tuples.

        A tuple of at most ``weight`` lies in one group, and on one side of each of its ``candidates`` cuts. If
        candidates are cuts on several ``levels``, it lies beside one of them on each.
        """
        m, w, k = bound.rows, check_count("Sensitivity", "weight", weight), check_count("Sensitivity", "levels", levels)
        step, number = m * w * k, check_count("Sensitivity", "candidates", candidates)
        on = f" on each of {k} levels" if k > 1 else ""
        why = f"{m} row(s) a unit, each moving the balances of one group by at most its weight {w}{on}"
        return cls(l1=number * step, l2_squared=number * step**2, linf=step, monotone=False, why=why, rows=step)

    @classmethod
    def of_level_counts(cls, bound: Bound, levels: int, *, signed: bool = False) -> Sensitivity:
        """Counts over several partitions of the rows, such as levels of a tree: a row is in one count of each.

        ``signed``: on some levels a row may be subtracted, as in differences of halves.
        """
        m, k = bound.rows, check_count("Sensitivity", "levels", levels)
        how = "adding 1 to or taking 1 from" if signed else "adding 1 to"
        why = f"{m} row(s) a unit, each {how} at most one number on each of {k} level(s)"
        return cls(l1=m * k, l2_squared=m * m * k, linf=m, monotone=not signed, why=why)

    @classmethod
    def of_median_profiles(cls, bound: Bound, reach: int, width: int) -> Sensitivity:
        """A median of each group of tuples in a range of ``reach``, with ``width`` gaps around it that grow.

        A tuple is in one group. It moves the median by at most the first gap, and a gap is at most the next one of a
        neighbour. The usual norms know of this nothing but the range.
        """
        m, r = bound.rows, check_count("Sensitivity", "reach", reach)
        entries = m * check_count("Sensitivity", "width", width + 1)
        why = f"{m} row(s) a unit, each in one group, whose median it moves by at most the first gap around it"
        return cls(l1=entries * r, l2_squared=entries * r * r, linf=r, monotone=False, why=why, smooth=m)

    def __post_init__(self) -> None:
        for name in ("l1", "l2_squared", "linf"):
            check_count("Sensitivity", name, getattr(self, name))
        if self.rows is not None and not self.linf <= check_count("Sensitivity", "rows", self.rows) <= self.l1:
            raise ParameterError(f"A sensitivity of {self.rows} over rows must lie between L∞ and L1.")
        consistent = self.linf <= self.l1 and self.linf**2 <= self.l2_squared <= self.l1 * self.linf
        if not consistent:
            raise ParameterError(
                f"A sensitivity with L1 {self.l1}, squared L2 {self.l2_squared} and L∞ {self.linf} is impossible: "
                "L∞ ≤ L1 and L∞² ≤ L2² ≤ L1·L∞ always hold. Derive it from a Bound."
            )
