"""What the entries of one account add up to: replayed, never stored."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tacit.ledger.chain import GENESIS, Row, check_links, tampered
from tacit.privacy.accounting import Accounting
from tacit.privacy.budget import Budget
from tacit.privacy.loss import Loss, compose, worst
from tacit.privacy.unit import Unit

WHOLE = ""
PURSE = "purse"
"""Mechanism of a charge whose steps are chosen one by one: which they were is told by its releases."""


@dataclass(frozen=True, slots=True)
class Charge:
    """One charge, as the ledger tells it.

    Attributes
    ----------
    entry : int
        Number of the entry in its account.
    at : str
        When, in UTC.
    budget : Budget
        The (ε, δ) that was asked for, also as ``epsilon`` and ``delta``.
    loss : Loss
        The certificates that are added up.
    mechanism, query, partition : str
    simulation : bool
        Whether the noise came from a seed, so that the release is not private.
    steps, released : int
        How many releases the charge pays for, and how many were stored. A charge with ``released < steps`` was
        interrupted before its release was stored, or is still being used; asking again completes it for free.
    """

    entry: int
    at: str
    budget: Budget
    loss: Loss
    mechanism: str
    query: str
    partition: str
    simulation: bool
    steps: int
    released: int
    hash: str

    @property
    def epsilon(self) -> float:
        """The ε that was asked for."""
        return self.budget.epsilon

    @property
    def delta(self) -> float:
        """The δ that was asked for."""
        return self.budget.delta

    def to_json(self) -> dict[str, Any]:
        """Describe the charge for machines."""
        return {
            "entry": self.entry,
            "at": self.at,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "mechanism": self.mechanism,
            "query": self.query,
            "partition": self.partition or None,
            "simulation": self.simulation,
            "steps": self.steps,
            "released": self.released,
            "hash": self.hash,
        }


def write_budget(budget: Budget) -> dict[str, str]:
    """Write a budget as exact text."""
    return {"epsilon": str(budget.exact_epsilon), "delta": str(budget.exact_delta)}


def read_budget(body: dict[str, str]) -> Budget:
    """Read back what ``write_budget`` wrote."""
    return Budget.amount(Fraction(body["epsilon"]), Fraction(body["delta"]))


@dataclass(slots=True)
class State:
    """An account up to its entry ``seq``."""

    name: str
    seq: int = 0
    hash: str = GENESIS
    opened: dict[str, Any] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget.amount(Fraction(0)))
    unit: Unit = field(default_factory=Unit.row)
    accounting: Accounting = Accounting.CONCENTRATED
    own: dict[str, Loss] = field(default_factory=dict)
    splits: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    charges: dict[int, Row] = field(default_factory=dict)
    by_key: dict[str, int] = field(default_factory=dict)
    releases: dict[tuple[int, int], Row] = field(default_factory=dict)

    def follow(self, rows: Iterable[Row], head: tuple[int, str]) -> None:
        """Take in the entries behind ``seq``; raise if they do not link up, or do not end at the head."""
        new = list(rows)
        reached = check_links(self.name, new, self.seq, self.hash)
        if reached != head:
            raise tampered(self.name, reached[0] + 1)
        for row in new:
            self.take(row)
        self.seq, self.hash = reached

    def take(self, row: Row) -> None:
        """Take in one entry."""
        body = row.fields
        if not self.knows(body.get("path", WHOLE)):
            raise tampered(self.name, row.seq)
        match row.kind:
            case "open":
                self.opened = body | {"at": row.at}
                self.budget = read_budget(body["budget"])
                self.unit = Unit.from_json(body["unit"])
                self.accounting = Accounting(body["accounting"])
            case "raise":
                self.budget = read_budget(body["budget"])
            case "split":
                self.splits.setdefault(body["path"], {})[body["name"]] = tuple(body["parts"])
            case "charge":
                path = body["path"]
                self.own[path] = compose([self.own.get(path, Loss.none()), Loss.from_json(body["loss"])])
                self.charges[row.seq] = row
                self.by_key[body["key"]] = row.seq
            case "release":
                self.releases[body["charge"], body["step"]] = row
            case _:
                raise tampered(self.name, row.seq)

    def knows(self, path: str) -> bool:
        """Whether the path is the whole, or a part of a registered split: a charge elsewhere would count for nobody."""
        if not path:
            return True
        parent, _, last = path.rpartition("/")
        split, _, part = last.partition(":")
        return self.knows(parent) and part in self.splits.get(parent, {}).get(split, ())

    def charged(self, path: str, loss: Loss) -> State:
        """The account as it would be with one more charge."""
        return replace(self, own=self.own | {path: compose([self.own.get(path, Loss.none()), loss])})

    def loss_through(self, path: str = WHOLE) -> Loss:
        """Return the loss of a unit that lies in the part at ``path``.

        It suffers what was charged on that part and within it, on every larger set around it, and, for each other
        split of those sets, the worst of that split's parts, since it lies in one of them.
        """
        losses = [self._within(path)]
        for parent, split in _ancestors(path):
            losses.append(self.own.get(parent, Loss.none()))
            others = (name for name in self.splits.get(parent, {}) if name != split)
            losses.extend(self._across(parent, name) for name in others)
        return compose(losses)

    def _within(self, path: str) -> Loss:
        across = [self._across(path, name) for name in self.splits.get(path, {})]
        return compose([self.own.get(path, Loss.none()), *across])

    def _across(self, path: str, split: str) -> Loss:
        return worst(self._within(child(path, split, part)) for part in self.splits[path][split])

    def charge(self, seq: int) -> Charge:
        """Show one charge."""
        row = self.charges[seq]
        body = row.fields
        mechanism = body["mechanism"]
        return Charge(
            entry=seq,
            at=row.at,
            budget=read_budget(body["asked"]),
            loss=Loss.from_json(body["loss"]),
            mechanism=in_order(self._drawn(seq)) if mechanism == PURSE else mechanism,
            query=body["query"],
            partition=body["path"],
            simulation=body["simulation"],
            steps=body["steps"],
            released=sum((seq, step) in self.releases for step in range(body["steps"])),
            hash=row.hash,
        )

    def covers(self, seq: int, step: int, loss: Loss | None) -> bool:
        """Whether a charge pays for one more draw: one of its steps, or of a purse the next one, within its sum.

        All draws stored for a purse are added up, whoever drew them. One that does not tell what it cost ends the sum.
        """
        body = self.charges[seq].fields
        if body["mechanism"] != PURSE:
            return 0 <= step < int(body["steps"])
        if step == 0:
            return True
        before = [self.releases.get((seq, place)) for place in range(1, step)]
        costs = [None if row is None else row.fields.get("loss") for row in before]
        if loss is None or (seq, 0) in self.releases or None in costs:
            return False
        whole, total = Loss.from_json(body["loss"]), compose([*(Loss.from_json(cost) for cost in costs if cost), loss])
        if whole.epsilon is None or total.epsilon is None:
            return False
        return total.epsilon <= whole.epsilon and total.delta <= whole.delta

    def _drawn(self, seq: int) -> Iterator[str]:
        """Mechanisms of the steps of a purse, in the order of their draws."""
        for step in itertools.count(1):
            row = self.releases.get((seq, step))
            if row is None:
                return
            yield str(row.fields.get("mechanism", "a step without a name"))


def in_order(mechanisms: Iterable[str]) -> str:
    """Name the steps of a plan; of more than two alike in a row, how many there are."""
    runs = [(name, len(list(run))) for name, run in itertools.groupby(mechanisms)]
    words = [f"{count} × {name}" if count > 2 else ", ".join([name] * count) for name, count in runs]
    return "plan: " + (", ".join(words) or "nothing drawn yet")


def child(path: str, split: str, part: str) -> str:
    """Name a part of a split of the set at ``path``."""
    return f"{path}/{split}:{part}" if path else f"{split}:{part}"


def _ancestors(path: str) -> Iterator[tuple[str, str]]:
    """Yield each set around ``path`` with the split through which the path leaves it."""
    while path:
        parent, _, last = path.rpartition("/")
        yield parent, last.partition(":")[0]
        path = parent
