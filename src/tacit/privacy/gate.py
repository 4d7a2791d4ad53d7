"""The gate: the only door from exact statistics to the outside.

In this order: check the budget and write the charge, durably and as one act; draw the noise; store the release; return
it with its receipt. A crash in between leaves a charge without a release, never a release without a charge.
"""

from __future__ import annotations

import io
import json
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit._version import __version__
from tacit.errors import ParameterError, PrivacyError, bad_parameter
from tacit.ledger import Account, Charge, Request
from tacit.ledger.chain import canonical
from tacit.ledger.state import PURSE, in_order
from tacit.privacy import _noise
from tacit.privacy._drawing import draw
from tacit.privacy.accounting import compose_plan, noise_delta
from tacit.privacy.budget import Budget, Number, exact_delta
from tacit.privacy.exact import Exact, ExactKeys
from tacit.privacy.loss import Loss, compose
from tacit.privacy.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Mechanism,
    PartitionSelection,
    SelectEach,
    Selection,
    SparseVector,
    TopK,
)
from tacit.privacy.objective import ExactObjective, ObjectivePerturbation
from tacit.privacy.release import SIMULATION, Receipt, Release
from tacit.privacy.screening import ExactRows, Screening
from tacit.privacy.smooth import SmoothNoise
from tacit.privacy.unit import Neighbours, check_seed

Ints = NDArray[np.int64]
AnyExact = Exact | ExactKeys | ExactObjective | ExactRows


def release(
    account: Account,
    statistic: AnyExact,
    mechanism: Mechanism,
    *,
    fresh: bool = False,
    random_state: int | None = None,
) -> Release:
    """Charge the account and release a noisy statistic.

    Parameters
    ----------
    account : Account
        Pays. Its unit must be the statistic's.
    statistic : Exact or ExactKeys
        Sealed exact integers with their sensitivity.
    mechanism : DiscreteLaplace, DiscreteGaussian, Selection, SelectEach, TopK, …; PartitionSelection for keys
    fresh : bool, default False
        The very same release (same data version, same parameters) is returned from the ledger at no cost; True asks,
        and pays, for a new draw.
    random_state : int, optional
        A seed, for simulations: the receipt then says that the release is not private.
    """
    _check(account, statistic, mechanism)
    seed = check_seed(random_state, "release")
    request = Request(
        identity=_identity(statistic, mechanism, seed),
        budget=mechanism.budget,
        loss=mechanism.loss(),
        mechanism=mechanism.name,
        query=statistic.query,
        simulation=seed is not None,
    )
    charge = account.charge(request, fresh=fresh)
    return _finish(account, charge, 0, "", statistic, mechanism, _entropy(seed))


class Plan:
    """Several releases whose mechanisms and scales are fixed, and paid as a whole, before the first draw.

    The price may then use tighter composition than an account that is spent step by step. What is counted in a later
    step may depend on an earlier answer; how it is perturbed may not.

    Parameters
    ----------
    account : Account
    name : str
        Public name of the plan; part of what makes two plans the same.
    steps : mapping from step names to mechanisms, in order
    delta : float, default 0.0
        Composing with δ > 0 is cheaper in ε when there are many steps.
    version : str
        Version of the data that the plan is about.
    """

    def __init__(
        self,
        account: Account,
        name: str,
        steps: Mapping[str, Mechanism],
        *,
        version: str,
        delta: Number = 0.0,
        fresh: bool = False,
        random_state: int | None = None,
    ) -> None:
        if not steps:
            raise bad_parameter("Plan", "steps", "a mapping with at least one step", dict(steps))
        self._account = account
        self._steps = dict(steps)
        self._seed = check_seed(random_state, "release")
        self._entropy = _entropy(self._seed)
        asked_delta = exact_delta(delta, "Plan")
        losses = [mechanism.loss() for mechanism in self._steps.values()]
        loss = compose_plan(losses, asked_delta)
        if loss.epsilon is None:
            raise bad_parameter("Plan", "delta", "large enough to cover what its steps ask for", delta)
        request = Request(
            identity={
                "plan": name,
                "version": version,
                "seed": self._seed,
                "parts": [[step, m.name, m.loss().to_json()] for step, m in self._steps.items()],
            },
            budget=Budget.amount(loss.epsilon, asked_delta if loss.delta else loss.delta),
            loss=loss,
            mechanism="plan: " + ", ".join(m.name for m in self._steps.values()),
            query=name,
            simulation=self._seed is not None,
            steps=len(self._steps),
        )
        self._charge = account.charge(request, fresh=fresh)

    @property
    def charge(self) -> Charge:
        """The one charge that pays for all steps."""
        return self._charge

    @property
    def mechanism(self) -> str:
        """What is drawn, in words."""
        return self._charge.mechanism

    def release(self, step: str, statistic: AnyExact) -> Release:
        """Draw one step. Asking again returns the stored draw; each step is drawn once."""
        if step not in self._steps:
            raise bad_parameter("Plan.release", "step", f"one of {list(self._steps)}", step)
        mechanism = self._steps[step]
        _check(self._account, statistic, mechanism)
        identity = canonical(_identity(statistic, mechanism, self._seed) | {"query": statistic.query})
        label = self._account.ledger.fingerprint(identity)
        number = list(self._steps).index(step)
        return _finish(self._account, self._charge, number, label, statistic, mechanism, self._entropy)


class Purse:
    """Several releases paid as a whole before the first draw, each chosen, scale included, after seeing the last.

    A filter inside one charge: plain sums of ε and δ stay within the purse, which is valid however steps are chosen.
    What is left over at the end is forfeited.

    Parameters
    ----------
    account : Account
    name : str
        Public name of the procedure and all its parameters: with the answers so far it must determine the next step.
    budget : Budget
        The whole price.
    version : str
        Version of the data that the procedure is about.
    """

    def __init__(
        self,
        account: Account,
        name: str,
        budget: Budget,
        *,
        version: str,
        fresh: bool = False,
        random_state: int | None = None,
    ) -> None:
        self._account = account
        self._limit = Loss.approximate(budget.exact_epsilon, noise_delta(budget.exact_delta))
        self._spent = Loss.none()
        self._drawn: list[str] = []
        self._closed = False
        self._seed = check_seed(random_state, "release")
        self._entropy = _entropy(self._seed)
        request = Request(
            identity={"purse": name, "version": version, "seed": self._seed},
            budget=budget,
            loss=self._limit,
            mechanism=PURSE,
            query=name,
            simulation=self._seed is not None,
        )
        self._charge = account.charge(request, fresh=fresh)

    @property
    def charge(self) -> Charge:
        """The one charge that pays for all steps."""
        return self._charge

    @property
    def mechanism(self) -> str:
        """What was drawn so far, in words."""
        return in_order(self._drawn)

    def release(self, statistic: AnyExact, mechanism: Mechanism, *, last: bool = False) -> Release:
        """Draw the next step. A purse that is walked again, step by step, gives the stored draws.

        Draws are numbered, and each is stored with what it was and what it cost: a draw is shown to nobody unless all
        that is stored for the charge is within it, whoever drew it. The last one closes the purse; so does an error.
        """
        closed, self._closed = self._closed, True
        _check(self._account, statistic, mechanism)
        loss = mechanism.loss()
        total = compose([self._spent, loss])
        within = total.epsilon is not None and total.epsilon <= (self._limit.epsilon or 0)
        if closed or not within or total.delta > self._limit.delta:
            raise PrivacyError("This step is not covered by the purse, or the purse is closed. Nothing was drawn.")
        self._spent = total
        self._drawn.append(mechanism.name)
        body = {"query": statistic.query, "loss": loss.to_json(), "mechanism": mechanism.name, "last": last}
        identity = canonical(_identity(statistic, mechanism, self._seed) | body)
        label = self._account.ledger.fingerprint(identity)
        number, entropy = len(self._drawn), self._entropy
        found = _finish(self._account, self._charge, number, label, statistic, mechanism, entropy, loss)
        self._closed = last
        if last:  # until then the charge reads "charged, not yet released"
            self._account.store(self._charge, 0, "closed", _pack(np.zeros(0, dtype=np.int64)))
        return found


@np.errstate(all="ignore")  # a warning, or an error where they are errors, would tell of what is behind the seal
def _finish(
    account: Account,
    charge: Charge,
    step: int,
    label: str,
    statistic: AnyExact,
    mechanism: Mechanism,
    entropy: _noise.Entropy,
    loss: Loss | None = None,
) -> Release:
    """Return the stored release of a charge, or draw and store it first: one draw a charge, whoever asks."""
    found = account.stored(charge, step, label)
    if found is None:
        payload = _pack(*draw(statistic, mechanism, entropy))
        found = account.store(charge, step, label, payload, mechanism.name, loss)
    payload, row = found
    values, keys = _unpack(payload)
    return Release(values, _receipt(account, charge, step, row.at, statistic, mechanism), keys)


def _check(account: Account, statistic: AnyExact, mechanism: Mechanism) -> None:
    """Refuse what cannot be released before anything is charged."""
    if not isinstance(account, Account):
        raise bad_parameter("release", "account", "a tacit Account", type(account).__name__)
    if not isinstance(statistic, AnyExact):
        raise PrivacyError(
            "The gate takes exact statistics with their sensitivity, made by tacit.data; "
            f"it got {type(statistic).__name__}, whose sensitivity nobody has derived."
        )
    unit = account.unit
    if statistic.unit != unit:
        raise PrivacyError(
            f"The statistic was bounded for the unit '{statistic.unit}', but the account {account.name!r} protects "
            f"'{unit}'. Bound contributions for the account's unit."
        )
    known = DiscreteLaplace | DiscreteGaussian | Selection | SelectEach | TopK | SparseVector | PartitionSelection
    known |= ObjectivePerturbation | Screening | SmoothNoise
    if not isinstance(mechanism, known):
        raise bad_parameter("release", "mechanism", "one that the gate knows", type(mechanism).__name__)
    if isinstance(statistic, ExactKeys) or isinstance(mechanism, PartitionSelection):
        if not (isinstance(statistic, ExactKeys) and isinstance(mechanism, PartitionSelection)):
            raise PrivacyError(
                "Which keys occur is private: counts of private keys leave by PartitionSelection, and only they do. "
                f"Got {type(statistic).__name__} with {type(mechanism).__name__}."
            )
    elif isinstance(statistic, ExactObjective) or isinstance(mechanism, ObjectivePerturbation):
        _check_objective(statistic, mechanism)
    elif isinstance(statistic, ExactRows) or isinstance(mechanism, Screening):
        if not (isinstance(statistic, ExactRows) and isinstance(mechanism, Screening)):
            raise PrivacyError(
                "Whole rows are opened by Screening, which bounds what each of them does, and it takes nothing else. "
                f"Got {type(statistic).__name__} with {type(mechanism).__name__}."
            )
    elif isinstance(mechanism, SelectEach):
        if len(statistic.shape) != 2 or math.prod(statistic.shape) == 0:
            raise ParameterError(f"SelectEach needs a matrix of utilities. Got the shape {statistic.shape}.")
    elif isinstance(mechanism, SmoothNoise):
        width = mechanism.ladder(statistic.sensitivity).width
        if len(statistic.shape) != 2 or statistic.shape[0] == 0 or statistic.shape[1] != 1 + width:
            raise ParameterError(
                f"SmoothNoise needs a matrix of values with {width} entries of a profile each. "
                f"Got the shape {statistic.shape}."
            )
    elif isinstance(mechanism, Selection | TopK | SparseVector):
        _check_candidates(statistic, mechanism, math.prod(statistic.shape))
    mechanism.describe(statistic.sensitivity)  # raises if the noise scale is out of range


def _check_objective(statistic: AnyExact, mechanism: Mechanism) -> None:
    if not (isinstance(statistic, ExactObjective) and isinstance(mechanism, ObjectivePerturbation)):
        raise PrivacyError(
            "A problem on private data leaves by ObjectivePerturbation, and nothing else does. "
            f"Got {type(statistic).__name__} with {type(mechanism).__name__}."
        )
    if statistic.shape != (mechanism.size,) or statistic.curvature > mechanism.curvature:
        raise PrivacyError("The mechanism was made for another problem: its size or its curvature differs.")


def _check_candidates(statistic: Exact, mechanism: Selection | TopK | SparseVector, candidates: int) -> None:
    if len(statistic.shape) != 1 or candidates == 0:
        raise ParameterError(f"Selection needs a vector of utilities. Got the shape {statistic.shape}.")
    if isinstance(mechanism, TopK) and mechanism.k > candidates:
        raise bad_parameter("TopK", "k", f"at most the number of candidates ({candidates})", mechanism.k)
    if isinstance(mechanism, Selection) and mechanism.weights and len(mechanism.weights) != candidates:
        raise bad_parameter("Selection", "weights", f"one for each of {candidates} candidates", len(mechanism.weights))


def _entropy(seed: int | None) -> _noise.Entropy:
    return _noise.SystemEntropy() if seed is None else _noise.SeededEntropy(seed)


def _identity(statistic: AnyExact, mechanism: Mechanism, seed: int | None) -> dict[str, Any]:
    return {
        "version": statistic.version,
        "shape": list(statistic.shape) if isinstance(statistic, Exact) else None,
        "noise": mechanism.describe(statistic.sensitivity),
        "seed": seed,
    }


def _receipt(
    account: Account,
    charge: Charge,
    step: int,
    at: str,
    statistic: AnyExact,
    mechanism: Mechanism,
) -> Receipt:
    sensitivity = statistic.sensitivity
    paid = charge.budget
    return Receipt(
        {
            "mechanism": mechanism.name,
            "epsilon": paid.epsilon,
            "delta": paid.delta,
            "unit": str(statistic.unit),
            "neighbours": Neighbours.ADD_REMOVE.value,
            "query": statistic.query,
            "sensitivity": {
                "l1": sensitivity.l1,
                "l2": math.sqrt(sensitivity.l2_squared),
                "linf": sensitivity.linf,
                "why": sensitivity.why,
                "proof": sensitivity.proof,
            },
            "noise": mechanism.describe(sensitivity),
            "dataset": account.name,
            "partition": account.partition or None,
            "plan": None if charge.steps == 1 else f"step {step + 1} of {charge.steps} of {charge.query!r}, paid once",
            "ledger": {"url": account.ledger.url, "entry": charge.entry, "hash": charge.hash},
            "at": at,
            "library": f"tacit {__version__}",
            "proof": mechanism.proof,
            "status": SIMULATION if charge.simulation else "private",
        }
    )


def _pack(values: Ints, keys: tuple[str, ...] | None = None) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values.astype("<i8"), allow_pickle=False)
    if keys is not None:
        buffer.write(json.dumps(keys, ensure_ascii=True).encode())
    return zlib.compress(buffer.getvalue(), level=1)


def _unpack(payload: bytes) -> tuple[Ints, tuple[str, ...] | None]:
    buffer = io.BytesIO(zlib.decompress(payload))
    values: Ints = np.load(buffer, allow_pickle=False).astype(np.int64)
    values.flags.writeable = False
    rest = buffer.read()
    return values, tuple(json.loads(rest)) if rest else None
