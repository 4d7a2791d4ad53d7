"""A visit at the desk: one user's data in, releases out, one charge for all of them.

Sees raw private input and hands it to the private side; returns :class:`tacit.privacy.release.Release` alone, so that
selection and models need to know neither sources nor exact statistics nor noise.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.data.bounding import Bounding, bound_rows, default_max_ones
from tacit.data.hashing import chain
from tacit.data.rows import Rows, concatenate
from tacit.data.schema import Schema
from tacit.data.sources import Job, Source, open_source
from tacit.data.statistics import count, in_parallel
from tacit.data.sums import GRID, Rules, Weighing, count_correct, count_margins, mix, mix_classes, normalised_sums
from tacit.data.totals import feature_scores, row_lengths, total_sums, whole_rows
from tacit.desk.checks import check_classes, check_state
from tacit.desk.noise import additive_noise, gaussian_in_range
from tacit.desk.parts import Part
from tacit.desk.payer import one_off
from tacit.errors import PrivacyError
from tacit.ledger import Account
from tacit.privacy.budget import Budget, Number, exact, exact_delta, exact_epsilon
from tacit.privacy.exact import Exact
from tacit.privacy.gate import Plan, Purse
from tacit.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, Mechanism
from tacit.privacy.objective import ExactObjective, GaussianObjectivePerturbation, ObjectivePerturbation
from tacit.privacy.release import Receipt, Release, proofs
from tacit.privacy.screening import ExactRows
from tacit.privacy.unit import Bound, Sensitivity, Unit, check_count, check_declared, check_persons

__all__ = ["GRID", "Rules", "Visit", "Weighing", "at_most", "check_classes", "mix", "mix_classes", "public_max_ones"]

_KEPT_ENTRIES = 1 << 28  # encoded entries kept in memory between two passes; larger data are read again
_THREADS = len(os.sched_getaffinity(0))
_MANY_ROWS = 2.0**62  # more than there are
_DERIVED = 11  # use of a simulation's seed for bounding

_REMEDY = "Open the account with the schema's unit, or take [person] out of the schema."
USUAL_WORDS = 32
"""Of a text, for choosing between two kinds of noise: at ε = 1 Gaussian noise is better for texts of more than ten
words where δ is 1e-6, and of nineteen where it is 1e-10. Whoever gives a δ has longer ones."""


class Visit:
    """One user's private data, under one plan.

    Parameters
    ----------
    data, y, persons : raw input, or a :class:`tacit.desk.parts.Part`
        As :func:`tacit.data.sources.open_source` takes it.
    schema : Schema
        If it names a person, that is the unit, which must be the account's, too; else the account's is taken.
    owner : str
        Whose fit this is, for messages.
    epsilon, delta : float
        What the whole visit may cost.
    account : Account, optional
        Who pays; None opens a one-off account in memory with exactly this budget, for the schema's unit.
    random_state : int, optional
        A seed: a simulation, which is not private.
    version, view : str, optional
        As those of :class:`tacit.desk.parts.Named` rows.
    """

    has_rows: ClassVar[bool] = True
    """Whether rows come to this process, so that a problem on them can be solved."""

    def __init__(
        self,
        data: Any,
        y: Any,
        schema: Schema,
        *,
        owner: str,
        epsilon: Number,
        delta: Number = 0.0,
        account: Account | None = None,
        random_state: int | None = None,
        persons: Any = None,
        version: str | None = None,
        view: str = "",
    ) -> None:
        self.owner = owner
        self.epsilon = exact_epsilon(epsilon, owner)
        self.delta = exact_delta(delta, owner)
        # The unit of a part was settled when it was opened.
        declared = schema.unit if schema.unit.column is not None and not isinstance(data, Part) else None
        self.account = one_off(account, Budget(self.epsilon, self.delta), owner, declared)
        self.random_state = check_state(random_state, owner)
        unit = self.account.unit
        check_declared(unit, declared, "The schema", _REMEDY)
        check_persons(unit, persons)
        in_memory = not isinstance(data, str | Path | Part)
        named = unit.column is None or persons is not None or unit.column in getattr(data, "columns", ())
        if in_memory and not named:
            raise PrivacyError(
                f"The account protects '{unit}', so {owner} must know whose each row is: pass persons= to fit."
            )
        schema = replace(schema, unit=unit)
        # A one-off account ends with the visit, so nobody asks it twice and the data need no name.
        version = "one-off" if account is None else version
        if isinstance(data, Part):
            self._source = data.source(schema)
        else:
            self._source = open_source(data, schema, y=y, persons=persons, version=version).checked()
        seed = self.random_state
        self._seed = self.account.seed if account is not None or seed is None else _derived(seed)
        self._view = view
        self._batches: list[Rows] | None = None
        self._plan: Plan | Purse | None = None
        self._steps: dict[str, Mechanism] = {}
        self._last: str | None = None
        self._releases: dict[str, Release] = {}

    @property
    def schema(self) -> Schema:
        """The public description of the data."""
        return self._source.schema

    @property
    def unit(self) -> Unit:
        """What is protected."""
        return self.schema.unit

    @property
    def version(self) -> str:
        """A name for the data and how they are bounded. Not for showing."""
        return f"{self._source.version}/{self._seed}/{self._view}"

    @property
    def seed(self) -> int:
        """The secret that bounds rows and flips their coins. Not for showing."""
        return self._seed

    # -- paying -------------------------------------------------------------------------------------------------------

    def noise(self, share: Number, *, delta_share: Number = 1, ones: int | None = None) -> Mechanism:
        """Additive noise for a share of the budget: Laplace, or where there is a δ Gaussian, if that is in its range.

        ``ones``: so many features of a row are counted, if that is known already; for few of them Laplace noise is the
        smaller one.
        """
        epsilon = self.epsilon * exact(share, self.owner, "share", "a number")
        delta = self.delta * exact(delta_share, self.owner, "delta_share", "a number")
        if ones is not None:
            most = min(check_count(self.owner, "max_ones", ones), self.schema.most_ones)
            bound = Bound(rows=self.unit.max_rows, ones=most)
            return additive_noise(epsilon, delta, Sensitivity.of_feature_counts(bound))
        most = min(public_max_ones(_MANY_ROWS, self.schema.n_features, self.epsilon), self.schema.most_ones)
        bound = Bound(rows=self.unit.max_rows, ones=most)
        return gaussian_in_range(epsilon, delta, Sensitivity.of_feature_counts(bound))

    def noise_of_sums(self, share: Number) -> Mechanism:
        """Additive noise for sums of texts: Gaussian for rows of L2 norm 1, or Laplace for rows of L1 norm 1."""
        epsilon = self.epsilon * exact(share, self.owner, "share", "a number")
        return additive_noise(epsilon, self.delta, self._of_sums("L1"), gain=USUAL_WORDS)

    def norm(self, step: str) -> Literal["L1", "L2"]:
        """The norm of rows that suits the noise of a step."""
        return "L2" if isinstance(self._steps[step], DiscreteGaussian) else "L1"

    def _of_sums(self, norm: Literal["L1", "L2"]) -> Sensitivity:
        bound = Bound(rows=self.unit.max_rows, ones=1)
        return Sensitivity.of_normalised_rows(bound, grid=GRID, norm=norm, entries=1)

    def start(self, name: str, steps: Mapping[str, Mechanism]) -> None:
        """Pay for all steps at once; ``name`` holds every public parameter that tells this fit from another."""
        self._refuse_early(steps)
        self._plan = Plan(
            self.account,
            self._name(name),
            steps,
            version=self._requested,
            delta=self.delta,
            random_state=self.random_state,
        )

    def start_freely(self, name: str, steps: Mapping[str, Mechanism]) -> None:
        """Pay for the whole visit at once, where earlier answers decide on the mechanisms of later steps: see ``then``.

        ``steps`` are those that come, or would come without such answers.
        """
        self._refuse_early(steps)
        self._plan = Purse(
            self.account,
            self._name(name),
            Budget(self.epsilon, self.delta),
            version=self._requested,
            random_state=self.random_state,
        )

    @property
    def _requested(self) -> str:
        """Which data are asked about: what tells two requests of one name apart."""
        return f"{self._source.version}/{self._source.reading}/{self._view}"

    def _name(self, name: str) -> str:
        """The same file holds several label columns, so the whole description is part of a fit's name."""
        return f"{self.owner}: {name}; schema {self.schema.digest[:16]}"

    def _refuse_early(self, steps: Mapping[str, Mechanism]) -> None:
        """Refuse an ε that is too small for the noise of a step, before it is charged.

        How many features of a row will be counted may not be known yet, so that Laplace noise is asked for what sums of
        normalised rows need; only an ε below a millionth notices.
        """
        bound = Bound(rows=self.unit.max_rows, ones=1)
        for step, mechanism in steps.items():
            need = Sensitivity.of_row_counts(bound)
            if isinstance(mechanism, ObjectivePerturbation):
                norm: Literal["L1", "L2"] = "L2" if isinstance(mechanism, GaussianObjectivePerturbation) else "L1"
                need = Sensitivity.of_row_gradients(bound, norm=norm, entries=mechanism.size)
            elif step == "sums" or (step != "labels" and isinstance(mechanism, DiscreteLaplace)):
                norm = "L2" if isinstance(mechanism, DiscreteGaussian) else "L1"
                need = self._of_sums(norm)
            mechanism.describe(need)

    def then(self, step: str, mechanism: Mechanism, *, last: bool = False) -> None:
        """Fix the mechanism of the next step of a visit that was started freely."""
        self._steps[step] = mechanism
        self._last = step if last else None

    def release(self, step: str, statistic: Exact | ExactObjective | ExactRows) -> Release:
        """Draw one step that was paid for."""
        if self._plan is None:
            raise PrivacyError("Nothing was paid for yet: call start() first.")
        if isinstance(self._plan, Purse):
            release = self._plan.release(statistic, self._steps[step], last=step == self._last)
        else:
            release = self._plan.release(step, statistic)
        self._releases[step] = release
        return release

    def receipt(self) -> Receipt:
        """One receipt for the whole visit, with a line for each step."""
        if self._plan is None or not self._releases:
            raise PrivacyError("Nothing was released yet.")
        parts = {name: release.receipt for name, release in self._releases.items()}
        last = parts[next(reversed(parts))].to_dict()
        fields = ("mechanism", "query", "sensitivity", "noise", "proof")
        steps = [{"step": name} | {field: receipt[field] for field in fields} for name, receipt in parts.items()]
        whole = {
            "mechanism": self._plan.mechanism,
            "query": self._plan.charge.query,
            "sensitivity": None,
            "noise": None,
            "plan": f"{len(steps)} step(s), paid once",
            "proof": proofs(parts.values()),
            "steps": steps,
        }
        return Receipt(last | whole)

    def deviation(self, step: str) -> float:
        """The standard deviation of the noise in a released step."""
        noise = self._releases[step].receipt["noise"]
        if "variance" in noise:
            return math.sqrt(Fraction(noise["variance"]))
        return math.sqrt(2) * float(Fraction(noise["noise_scale"]))

    # -- what can be released -----------------------------------------------------------------------------------------

    def labels(self, step: str) -> NDArray[np.int64]:
        """Rows by label."""
        classes = self.schema.classes
        total = np.zeros(len(classes), dtype=np.int64)
        for rows in self.rows():
            total += np.bincount(rows.labels, minlength=len(classes))
        bound = Bound(rows=self.unit.max_rows, ones=1)
        statistic = Exact(
            total,
            sensitivity=Sensitivity.of_row_counts(bound),
            unit=self.unit,
            query=f"rows by label ({len(classes)})",
            version=self.version,
        )
        return self.release(step, statistic).values

    def counts(self, step: str, max_ones: int) -> NDArray[np.int64]:
        """Rows by label and feature, at most ``max_ones`` features of a row."""
        statistic = count(self._kept(), Bounding(max_ones, self.unit, self._seed), jobs=_THREADS).features
        return self.release(step, statistic).values

    def sums(self, step: str, weighing: Weighing) -> tuple[NDArray[np.float64], ...]:
        """Sums of normalised rows, in units of one row.

        Words (word columns × cells), topics (columns × topics), other features (classes × others).
        """
        width, classes = self.schema.n_features, len(self.schema.classes)
        statistic = normalised_sums(self.rows(), weighing, width, unit=self.unit, version=self.version)
        values = self.release(step, statistic).values / GRID
        words, topics = weighing.word_columns * weighing.cells, weighing.columns * weighing.number
        parts = np.split(values, [words, words + topics])
        sizes = zip(parts, (weighing.word_columns, weighing.columns, classes), strict=True)
        return tuple(part.reshape(rows, len(part) // rows) for part, rows in sizes)

    def choose(self, step: str, rules: Rules) -> int:
        """The number of a rule that gets many rows right."""
        version = self.version
        classes = len(self.schema.classes)
        statistic = count_correct(self.rows(), rules, classes=classes, unit=self.unit, version=version)
        return int(self.release(step, statistic).values[0])

    def margins(self, step: str, rules: Rules, choice: int, edges: NDArray[np.float64]) -> NDArray[np.int64]:
        """Rows that a rule for two classes gets wrong, and those it gets right, by their distance to its threshold."""
        statistic = count_margins(self.rows(), rules, choice, edges, unit=self.unit, version=self.version)
        return self.release(step, statistic).values.reshape(2, -1)

    def select(self, step: str, score: str) -> NDArray[np.int64]:
        """Indices that the step's mechanism chooses by the exact scores of features; no row is cut for that."""
        version = self.version
        statistic = feature_scores(self.rows(), score, self.schema, unit=self.unit, version=version)
        return self.release(step, statistic).values

    def screen(self, step: str) -> NDArray[np.int64]:
        """For each feature whether enough rows have it, as the step's mechanism finds by tests: 1 or 0."""
        statistic = whole_rows(self.rows(), self.schema.n_features, unit=self.unit, version=self.version)
        return self.release(step, statistic).values

    def totals(self, step: str, chosen: NDArray[np.bool_], *, length: int) -> tuple[NDArray[np.float64], float]:
        """Sums of rows that are normalised over the chosen features, in units of one row, and the scale of their noise.

        Each of a row's n features counts 1/max(n, ``length``).
        """
        weighing = Weighing(chosen.astype(np.int64), length, (GRID,) * len(self.schema.classes), signed=False)
        statistic = total_sums(self.rows(), weighing, unit=self.unit, version=self.version)
        values: NDArray[np.float64] = self.release(step, statistic).values / GRID
        return values, self.deviation(step) / math.sqrt(2) / GRID

    def lengths(self, step: str, chosen: NDArray[np.bool_], longest: int) -> tuple[NDArray[np.int64], float]:
        """Rows by how many of the chosen features they have, and the deviation of the noise."""
        statistic = row_lengths(self.rows(), chosen, longest, unit=self.unit, version=self.version)
        return self.release(step, statistic).values, self.deviation(step)

    # -- how it works -------------------------------------------------------------------------------------------------

    def rows(self) -> Iterator[Rows]:
        """Encoded rows, bounded by person where the unit is one; kept for the next pass if they are few enough."""
        if self._batches is not None:
            yield from self._batches
            return
        batches = in_parallel(self._source.jobs(), _same, _THREADS)
        if self.unit.column is not None:
            whole = list(batches)
            bounding = Bounding(max(1, self.schema.n_features), self.unit, self._seed)
            self._batches = [bound_rows(concatenate(whole), bounding)] if whole else []
            yield from self._batches
            return
        kept: list[Rows] | None = []
        entries = 0
        for rows in batches:
            entries += len(rows.indices)
            kept = None if kept is None or entries > _KEPT_ENTRIES else [*kept, rows]
            yield rows
        self._batches = kept

    def _kept(self) -> Source:
        """The source, from memory where its rows are there and the unit is a row."""
        if self._batches is None or self.unit.column is not None:
            return self._source
        jobs: list[Job] = [_giving(rows) for rows in self._batches]
        return Source(self.schema, lambda: iter(jobs), lambda: self._source.version)


def _same(rows: Rows) -> Rows:
    return rows


def _giving(rows: Rows) -> Callable[[], Rows]:
    return lambda: rows


def _derived(random_state: int) -> int:
    return int(chain(random_state & (2**63 - 1), _DERIVED)[0])


def at_most(ones: int | None) -> str:
    """How many ones of a row are counted, for those who read what was asked."""
    return "ones by the public rule" if ones is None else f"at most {ones} ones"


def public_max_ones(n_rows: float, n_features: int, epsilon: Fraction) -> int:
    """The default for r, from public quantities."""
    return default_max_ones(max(1, int(n_rows)), n_features, float(epsilon))
