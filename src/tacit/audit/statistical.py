"""A lower bound on ε for anything that can be run: many runs on two neighbours, an event, and Clopper and Pearson.

Half of the runs teach which outputs tell the neighbours apart; the other half tests the few events that looked best. A
bound is corrected for all of them. What is not found is not proven: the audit says "no violation found", never more.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

from tacit.audit.laws import Law
from tacit.audit.learning import Score, learn
from tacit.audit.outputs import Encoded, Floats, encode
from tacit.errors import bad_parameter
from tacit.privacy.budget import Budget

Sampler = Callable[[Any, int], Sequence[Any]]
Bools = NDArray[np.bool_]

CONFIDENCE = 0.999
_LEAST_RUNS = 100
_BLOCKS = 16  # parts of the runs on each neighbour: between two of them the clock is read


Method = Literal["exact", "replay", "runs"]

ROUNDING = 1e-9
"""Exact losses are good to this much."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit can say.

    Attributes
    ----------
    epsilon : float
        With the stated confidence, no smaller ε holds at the claimed δ; 0 if nothing was found.
    claimed : Budget
    confidence : float
        1 minus the chance that ``epsilon`` is too large.
    runs : int
        On each of the two neighbours; for exact losses, the pairs or the outputs that were looked at.
    event : str
        What tells the neighbours apart.
    rates : (float, float), optional
        How often the event was seen on the first and on the second neighbour, in the half that tests.
    method : {"runs", "exact", "replay"}
        Many runs; the laws of the mechanism; or the laws of all draws of a procedure.
    """

    epsilon: float
    claimed: Budget
    confidence: float
    runs: int
    event: str
    rates: tuple[float, float] | None = None
    method: Method = "runs"
    outputs: tuple[Encoded, Encoded] | None = field(default=None, repr=False, compare=False)
    laws: tuple[Law, Law] | None = field(default=None, repr=False, compare=False)

    @property
    def violation(self) -> bool:
        """Whether the claim is refuted."""
        return self.epsilon > self.claimed.epsilon + (0.0 if self.method == "runs" else ROUNDING)

    def __str__(self) -> str:
        what = {"runs": "runs on each neighbour", "exact": "pairs, exactly", "replay": "outputs, exactly"}[self.method]
        sure = f"{self.runs:,} {what}" + (f", {100 * self.confidence:.6g} % confidence" if self.confidence < 1 else "")
        if self.violation:
            return f"violation: ε is at least {self.epsilon:.3g}, claimed {self.claimed} ({sure}; {self.event})"
        return f"no violation found: at least {self.epsilon:.3g} of the claimed {self.claimed} is used ({sure})"

    def to_json(self) -> dict[str, Any]:
        """Numbers and words, for machines."""
        return {
            "claimed_epsilon": self.claimed.epsilon,
            "claimed_delta": self.claimed.delta,
            "proven_epsilon": self.epsilon,
            "violation": self.violation,
            "method": self.method,
            "confidence": self.confidence,
            "runs": self.runs,
            "event": self.event,
        }


def audit(
    run: Callable[[Any], Any],
    pair: tuple[Any, Any],
    *,
    claimed: Budget,
    runs: int = 10_000,
    confidence: float = CONFIDENCE,
    seconds: float = 600.0,
    jobs: int = 1,
    progress: bool = False,
) -> Finding:
    """Attack a function with a pair of neighbouring data sets, and return the largest ε that can be proven.

    Parameters
    ----------
    run : callable
        Takes one data set and returns what would be published: numbers, arrays, texts, or lists and dicts of them.
        It must draw fresh noise in every call. An error that it raises is an output as well. So are the last bits of
        floats: textbook Laplace noise is caught by them, unless the sum is rounded to a public grid.
    pair : two data sets
        Neighbours: one unit more or less.
    claimed : Budget
        What the function claims to cost.
    runs : int, default 10,000
        Runs on each data set.
    confidence : float, default 0.999
        Of the bound.
    seconds : float, default 600
        Stop collecting runs after this time.
    jobs : int, default 1
        Processes.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    Finding

    Examples
    --------
    >>> import random
    >>> coin = random.Random(0)
    >>> def answer(truth):  # randomised response that tells the truth nine times of ten: ε = ln 9 = 2.2
    ...     return truth if coin.random() < 0.9 else 1 - truth
    >>> finding = audit(answer, (0, 1), claimed=Budget(1.0), runs=4000)
    >>> finding.violation, 1.8 < finding.epsilon < 2.2
    (True, True)
    """
    if not callable(run):
        raise bad_parameter("audit", "run", "a function of one data set", type(run).__name__)
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise bad_parameter("audit", "pair", "two data sets", type(pair).__name__)
    return attack(
        _OneByOne(run),
        (pair[0], pair[1]),
        claimed=claimed,
        runs=runs,
        confidence=confidence,
        seconds=seconds,
        jobs=jobs,
        progress=progress,
    )


@dataclass(frozen=True, slots=True)
class _OneByOne:
    run: Callable[[Any], Any]

    def __call__(self, data: Any, count: int) -> list[Any]:
        return [self._once(data) for _ in range(count)]

    def _once(self, data: Any) -> Any:
        try:
            return self.run(data)
        except Exception as error:
            return _Raised(error)


@dataclass(frozen=True, slots=True)
class _Raised:
    """An error: whoever sees it learns something, too."""

    error: Exception

    def __repr__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


def attack(
    sampler: Sampler,
    pair: tuple[Any, Any],
    *,
    claimed: Budget,
    runs: int,
    confidence: float = CONFIDENCE,
    seconds: float = 600.0,
    jobs: int = 1,
    progress: bool = False,
) -> Finding:
    """As :func:`audit`, for a sampler that makes several runs in one call."""
    if not isinstance(claimed, Budget):
        raise bad_parameter("audit", "claimed", "a tacit.Budget", type(claimed).__name__)
    if isinstance(runs, bool) or not hasattr(runs, "__index__") or runs < _LEAST_RUNS:
        raise bad_parameter("audit", "runs", f"a whole number of at least {_LEAST_RUNS}", runs)
    if not 0.5 <= confidence < 1:
        raise bad_parameter("audit", "confidence", "at least 0.5 and below 1", confidence)
    if not seconds > 0:
        raise bad_parameter("audit", "seconds", "above 0", seconds)
    first, second = collect(sampler, pair, int(runs), seconds=seconds, jobs=jobs, progress=progress)
    number = min(len(first), len(second))
    if all(isinstance(output, _Raised) for output in (*first, *second)):
        raise first[0].error
    seen = encode([*first[:number], *second[:number]])
    return judge(seen.take(slice(0, number)), seen.take(slice(number, None)), claimed, confidence)


def collect(
    sampler: Sampler, pair: tuple[Any, Any], runs: int, *, seconds: float, jobs: int, progress: bool
) -> tuple[list[Any], list[Any]]:
    """Run on both data sets in turn, in blocks, until all runs are made or the time is over."""
    sizes = [len(part) for part in np.array_split(np.arange(runs), min(_BLOCKS, runs // 4))]
    until = time.monotonic() + seconds
    needed = np.cumsum(sizes) - sizes < _LEAST_RUNS
    tasks = [
        (side, size, math.inf if now else until) for size, now in zip(sizes, needed, strict=True) for side in (0, 1)
    ]
    found: tuple[list[Any], list[Any]] = ([], [])
    with progress_bar(2 * runs, wanted=progress) as watch:
        for side, outputs in _blocks(sampler, pair, tasks, jobs):
            found[side].extend(outputs)
            watch(len(outputs), "runs")
    return found


def _block(sampler: Sampler, data: Any, side: int, size: int, until: float) -> tuple[int, list[Any]]:
    """One block of runs, or none where the time is over; the clock is the same in all processes."""
    return side, list(sampler(data, size)) if time.monotonic() < until else []


def _blocks(
    sampler: Sampler, pair: tuple[Any, Any], tasks: list[tuple[int, int, float]], jobs: int
) -> Iterator[tuple[int, list[Any]]]:
    if jobs == 1:
        yield from (_block(sampler, pair[side], side, size, until) for side, size, until in tasks)
        return
    pool = Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
    yield from pool(delayed(_block)(sampler, pair[side], side, size, until) for side, size, until in tasks)


@contextmanager
def progress_bar(total: int, *, wanted: bool) -> Iterator[Callable[[int, str], None]]:
    """A bar on the error stream, where it is wanted; takes steps and what is being done."""
    if not wanted:
        yield lambda _, __: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda number, what: bar.update(task, advance=number, description=what)


# -- from outputs to a bound ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Event:
    """Outputs whose score is at least (or at most) a level; ``sign`` +1 if they point to the second neighbour."""

    name: str
    score: Score
    level: float
    sign: int

    def shows(self, runs: Encoded) -> Bools:
        shown: Bools = self.sign * self.score(runs) >= self.level
        return shown

    def __str__(self) -> str:
        return f"an event on {self.name}, more often on the {'second' if self.sign > 0 else 'first'} neighbour"


def judge(first: Encoded, second: Encoded, claimed: Budget, confidence: float = CONFIDENCE) -> Finding:
    """Learn events on one half of the runs and test them on the other."""
    number = len(first.atoms)
    fit, choose, test = (slice(0, number * 3 // 10), slice(number * 3 // 10, number // 2), slice(number // 2, None))
    both = _join(first.take(fit), second.take(fit))
    labels = np.repeat([False, True], [len(first.atoms[fit]), len(second.atoms[fit])])
    events = [
        _best_event(name, score, first.take(choose), second.take(choose), claimed.delta)
        for name, score in learn(both, labels).items()
    ]
    share = (1 - confidence) / max(len(events), 1)
    best, words, rates = 0.0, "nothing that was learnt tells the neighbours apart", None
    for event in events:
        here, there = event.shows(first.take(test)), event.shows(second.take(test))
        more, less = (there, here) if event.sign > 0 else (here, there)
        bound = float(lower_bound(more.sum(), less.sum(), len(more), share, claimed.delta))
        if bound > best:
            best, words, rates = bound, str(event), (float(here.mean()), float(there.mean()))
    return Finding(best, claimed, confidence, number, words, rates, outputs=(first, second))


def _join(first: Encoded, second: Encoded) -> Encoded:
    atoms = np.concatenate([first.atoms, second.atoms])
    return Encoded(atoms, first.names, np.vstack([first.columns, second.columns]), first.titles)


def _best_event(name: str, score: Score, first: Encoded, second: Encoded, delta: float) -> _Event:
    """The level and the direction whose bound would be best on these runs."""
    here, there = score(first), score(second)
    found = _Event(name, score, math.inf, 1)
    most = -math.inf
    for sign in (1, -1):
        more, less = (there, here) if sign > 0 else (-here, -there)
        levels = np.unique(np.quantile(more, np.linspace(0, 1, 201)))
        hits = len(more) - np.searchsorted(np.sort(more), levels)
        misses = len(less) - np.searchsorted(np.sort(less), levels)
        bounds = lower_bound(hits, misses, len(more), 0.01, delta)
        place = int(np.argmax(bounds))
        if bounds[place] > most:
            most, found = float(bounds[place]), _Event(name, score, float(levels[place]), sign)
    return found


def lower_bound(hits: Any, misses: Any, runs: int, alpha: float, delta: float) -> Floats:
    """ln((p − δ)/q) for Clopper and Pearson's bounds p below and q above, each wrong with a chance of α/2 at most."""
    hits, misses = np.asarray(hits, dtype=np.float64), np.asarray(misses, dtype=np.float64)
    low = np.where(hits > 0, stats.beta.ppf(alpha / 2, np.maximum(hits, 1), runs - hits + 1), 0.0)
    high = np.where(misses < runs, stats.beta.isf(alpha / 2, misses + 1, np.maximum(runs - misses, 1)), 1.0)
    with np.errstate(divide="ignore"):
        bound = np.log(np.maximum(low - delta, 0.0)) - np.log(high)
    return np.asarray(np.maximum(bound, 0.0))
