"""What an entry of the audit is, and how it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from tacit.audit.neighbours import Pair, search
from tacit.audit.replay import Procedure, largest_loss
from tacit.audit.statistical import CONFIDENCE, Finding, Method, Sampler, attack
from tacit.privacy.budget import Budget

ALL = (0.1, 0.5, 1.0, 2.0, 4.0)


class Skipped(Exception):
    """An entry cannot be run here; says why."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to try.

    Attributes
    ----------
    runs : int, optional
        Runs on each neighbour; None leaves it to the entry.
    share : float
        Part of an entry's usual runs, outputs and tries.
    confidence : float
        Of each bound.
    """

    runs: int | None = None
    share: float = 1.0
    confidence: float = CONFIDENCE
    seconds: float = 120.0
    jobs: int = 1
    progress: bool = False

    def some(self, usual: int, least: int = 1) -> int:
        """The part of a usual number."""
        return max(least, round(usual * self.share))


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the audit.

    Attributes
    ----------
    name : str
    expected : {"violation", "none"}
        A positive control must be caught; a sound mechanism must not.
    method : {"exact", "replay", "runs"}
    covers : tuple of str
        Names of mechanisms, estimators and functions that this entry attacks.
    epsilons : tuple of float
        Claims at which the whole audit attacks it.
    check : callable
        From a claimed ε and an effort to a finding.
    """

    name: str
    expected: Literal["violation", "none"]
    method: Method
    covers: tuple[str, ...]
    epsilons: tuple[float, ...]
    check: Callable[[float, Effort], Finding]


@dataclass(frozen=True, slots=True)
class Target:
    """Something to run: a sampler, a pair of neighbours, and what is claimed."""

    sampler: Sampler
    pair: tuple[Any, Any]
    claimed: Budget


def by_runs(
    name: str,
    target: Callable[[float], Target],
    *,
    runs: int,
    expected: Literal["violation", "none"] = "none",
    covers: tuple[str, ...] = (),
    epsilons: tuple[float, ...] = (1.0,),
) -> Entry:
    """An entry that is attacked by many runs."""

    def check(epsilon: float, effort: Effort) -> Finding:
        found = target(epsilon)
        return attack(
            found.sampler,
            found.pair,
            claimed=found.claimed,
            # A positive control is never cut short: it shows that the audit can see.
            runs=effort.runs or (runs if expected == "violation" else effort.some(runs, 100)),
            confidence=effort.confidence,
            seconds=effort.seconds if expected == "none" else max(effort.seconds, 300.0),
            jobs=effort.jobs,
            progress=effort.progress,
        )

    return Entry(name, expected, "runs", covers, epsilons, check)


def by_replay(
    name: str,
    procedure: Callable[[float], Procedure],
    pairs: Callable[[], list[Pair]],
    *,
    covers: tuple[str, ...],
    outputs: int = 3,
    tries: int = 0,
    epsilons: tuple[float, ...] = ALL,
) -> Entry:
    """An entry whose outputs are replayed on the neighbour: on the pairs that hurt, and on worse ones by search."""

    def check(epsilon: float, effort: Effort) -> Finding:
        run = procedure(epsilon)
        seeds = range(effort.some(outputs, 2))

        def measure(pair: Pair) -> float:
            return largest_loss(run, pair.first, pair.second, seeds)

        given = pairs()
        losses = {pair.name: measure(pair) for pair in given}
        worst = max(given, key=lambda pair: losses[pair.name])
        loss, number, mutants = losses[worst.name], 2 * len(seeds) * len(given), effort.some(tries, 0)
        if mutants:
            worst, loss = search(measure, worst, tries=mutants)
            number += 2 * len(seeds) * mutants
        return Finding(max(loss, 0.0), Budget(epsilon), 1.0, number, f"worst pair: {worst.name}", method="replay")

    return Entry(name, "none", "replay", covers, epsilons, check)
