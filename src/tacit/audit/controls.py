"""The registry: all entries of the audit, and how they are run together."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from joblib import Parallel, delayed

from tacit.audit import broken, foreign, sound_draws, sound_laws, sound_runs
from tacit.audit.entries import Effort, Entry, Skipped
from tacit.audit.statistical import Finding
from tacit.errors import bad_parameter

ENTRIES: tuple[Entry, ...] = (
    *broken.CONTROLS,
    *foreign.CONTROLS,
    *sound_laws.ENTRIES,
    *sound_runs.REPLAYS,
    *sound_draws.DRAWS,
    *sound_runs.RUNS,
)
"""Positive controls first, then the sound mechanisms: by their laws, by replay, by many runs."""

PROOFS = {
    "BernoulliNB": "bounding.md",
    "ClusterSelector": "selection.md#clusters-of-counts",
    "CountSelector": "normalised-sums.md",
    "LogisticRegression": "objective-perturbation.md",
    "SelectingClassifier": "accounting.md",
    "TabularClassifier": "objective-perturbation.md",
    "TextClassifier": "normalised-sums.md",
    "ThresholdSelector": "sparse-vector.md",
    "TopKSelector": "selection.md",
    "Workflow": "accounting.md",
    "roc_curve": "roc.md",
    "split": "bounding.md",
    "tune": "private-tuning.md",
}
"""The page of ``docs/proofs`` that holds the main step of each estimator and release; mechanisms name their own."""

FAMILY_ALARM = 0.001
"""The chance of any false alarm in one run of the whole audit."""

_LARGE = 1e6  # what JSON shows of an infinite loss


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one entry at one claimed ε: a finding, or the reason why it was skipped."""

    entry: Entry
    outcome: Finding | str
    seconds: float

    @property
    def skipped(self) -> bool:
        """Whether it could not be run here."""
        return isinstance(self.outcome, str)

    @property
    def finding(self) -> Finding:
        """What was found."""
        if isinstance(self.outcome, str):
            raise Skipped(self.outcome)
        return self.outcome

    @property
    def as_expected(self) -> bool:
        """Whether a positive control was caught, and a sound mechanism was not. What was skipped is no surprise."""
        return self.skipped or self.finding.violation == (self.entry.expected == "violation")

    def to_json(self) -> dict[str, Any]:
        """One line for machines."""
        if isinstance(self.outcome, str):
            return {"name": self.entry.name, "reason": self.outcome}
        found = self.finding.to_json() | {"proven_epsilon": min(self.finding.epsilon, _LARGE)}
        return {"name": self.entry.name, "expected": self.entry.expected} | found | {"seconds": round(self.seconds, 2)}


def find(name: str) -> list[Entry]:
    """Entries by name, by what they cover, or by a part of their name."""
    wanted = name.casefold()
    for matches in (
        lambda e: e.name.casefold() == wanted,
        lambda e: wanted in (covered.casefold() for covered in e.covers),
        lambda e: wanted in e.name.casefold(),
    ):
        found = [entry for entry in ENTRIES if matches(entry)]
        if found:
            return found
    known = sorted({word for entry in ENTRIES for word in (entry.name, *entry.covers)})
    near = ", ".join(map(repr, difflib.get_close_matches(name, known)))
    expected = "the name of an entry, or of a class or function that one covers"
    remedy = f"See 'tacit audit --list'. Near: {near}." if near else "See 'tacit audit --list'."
    raise bad_parameter("tacit audit", "--mechanism", expected, name, remedy)


def plan(entries: Sequence[Entry], epsilon: float | None = None) -> list[tuple[Entry, float]]:
    """Which entries at which claims."""
    return [(entry, claim) for entry in entries for claim in ((epsilon,) if epsilon is not None else entry.epsilons)]


def run_all(
    planned: Sequence[tuple[Entry, float]],
    effort: Effort,
    *,
    jobs: int = 1,
    watch: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Run entries, several at a time; the allowed chance of a false alarm is divided among those that need one."""
    statistical = sum(entry.method == "runs" for entry, _ in planned)
    fair = replace(effort, confidence=1 - FAMILY_ALARM / max(statistical, 1))
    found: dict[int, Result] = {}
    for place, result in _results(planned, fair, jobs):
        found[place] = result
        watch(result)
    return [found[place] for place in range(len(planned))]


def _results(planned: Sequence[tuple[Entry, float]], effort: Effort, jobs: int) -> Iterator[tuple[int, Result]]:
    tasks = [(number, ENTRIES.index(entry), claim) for number, (entry, claim) in enumerate(planned)]
    if jobs == 1 or len(tasks) == 1:
        found = (_run(*task, effort, keep=True) for task in tasks)
    else:
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
        found = pool(delayed(_run)(*task, effort, keep=False) for task in tasks)
    for number, outcome, seconds in found:
        yield number, Result(planned[number][0], outcome, seconds)


def _run(number: int, place: int, claim: float, effort: Effort, *, keep: bool) -> tuple[int, Finding | str, float]:
    """Run one entry, named by its place in the registry: entries hold functions, which do not travel."""
    start = time.monotonic()
    try:
        finding = ENTRIES[place].check(claim, effort)
    except Skipped as reason:
        return number, str(reason), 0.0
    if not keep:
        finding = replace(finding, outputs=None, laws=None)
    return number, finding, time.monotonic() - start
