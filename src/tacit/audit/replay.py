"""Exact losses of whole procedures: run one on a data set, then again on its neighbour, told to draw the same answers.

Everything that leaves the house is drawn in one place. Here that place is watched: each draw is recorded with the exact
values behind it; on the neighbour the recorded answers take the place of new ones, and the probability of each is
worked out from its law. So the log-ratio of an output is exact, whatever the procedure did with earlier answers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from tacit.audit.laws import log_mass
from tacit.ledger import Account, Ledger
from tacit.privacy import gate
from tacit.privacy.budget import Budget
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import DiscreteLaplace, Mechanism

Ints = NDArray[np.int64]
Procedure = Callable[[Any, int], Any]

_LOOK = Fraction(10**4)  # noise of this ε for each unit of sensitivity is 0 but for a chance of e^(−10,000)


@dataclass(frozen=True, slots=True)
class Step:
    """One draw: what was known when it was made, what came out, and the logarithm of its probability."""

    mechanism: str
    noise: dict[str, Any]
    answer: Ints
    log_mass: float


def look(statistic: Exact) -> Ints:
    """The exact values of a statistic, bought at the gate for an absurd price. For audits of public or made-up data."""
    price = _LOOK * statistic.sensitivity.l1
    account = Ledger.open().account("look", budget=Budget(price), unit=statistic.unit)
    return gate.release(account, statistic, DiscreteLaplace(price)).values


@contextmanager
def watched(told: list[Ints] | None = None, *, still: bool = False) -> Iterator[list[Step]]:
    """Record every draw at the gate.

    With ``told``, the answers to give instead. ``still``: additive noise is 0, which is as possible as any other, and
    the output that tells most.
    """
    steps: list[Step] = []
    original = vars(gate)["draw"]

    def draw(statistic: Any, mechanism: Mechanism, entropy: Any) -> tuple[Ints, None]:
        if not isinstance(statistic, Exact):
            raise TypeError(f"A {type(statistic).__name__} has no law in closed form.")
        values = original(statistic, DiscreteLaplace(_LOOK * statistic.sensitivity.l1), entropy)[0]
        if told is None and still and isinstance(mechanism, DiscreteLaplace):
            answer = values
        elif told is None:
            answer = original(statistic, mechanism, entropy)[0]
        elif len(steps) < len(told):
            answer = told[len(steps)]
        else:
            raise _Impossible
        sensitivity = statistic.sensitivity
        try:
            mass = log_mass(mechanism, sensitivity, values, answer)
        except (ValueError, IndexError):  # the answer has a shape that cannot come from these values
            raise _Impossible from None
        steps.append(Step(mechanism.name, mechanism.describe(sensitivity), answer, mass))
        return answer, None

    with mock.patch.object(gate, "draw", draw):
        yield steps


class _Impossible(Exception):
    """The neighbour cannot give these answers."""


def replay(procedure: Procedure, first: Any, second: Any, seed: int, *, still: bool = False) -> float:
    """The log-ratio of one output: drawn on ``first``, and its probability on ``second`` worked out.

    ``seed`` fixes what is not drawn at the gate, such as which ones of a long row are kept: an account's secret.
    """
    with mock.patch.object(Account, "seed_for", lambda _, purpose: _secret(seed, purpose)):
        with watched(still=still) as here:
            procedure(first, seed)
        try:
            with watched([step.answer for step in here]) as there:
                procedure(second, seed)
        except _Impossible:
            return math.inf
    alike = [(a.mechanism, a.noise) for a in here] == [(b.mechanism, b.noise) for b in there]
    if not alike:  # how answers are drawn depends on the data, and not on earlier answers alone
        return math.inf
    return sum(step.log_mass for step in here) - sum(step.log_mass for step in there)


def _secret(seed: int, purpose: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}|{purpose}".encode()).digest()[:7], "big")


def largest_loss(procedure: Procedure, first: Any, second: Any, seeds: Iterable[int]) -> float:
    """The largest log-ratio over outputs of either side, every other one without additive noise."""
    pairs = ((first, second), (second, first))
    return max(replay(procedure, a, b, seed, still=seed % 2 == 0) for a, b in pairs for seed in seeds)
