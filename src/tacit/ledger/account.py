"""Accounts: one data set, its unit, its total budget, and everything charged to it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from tacit.errors import BudgetError, LedgerError, bad_parameter
from tacit.ledger.chain import Row, canonical, link, tampered
from tacit.ledger.state import WHOLE, Charge, State, child, write_budget
from tacit.ledger.store import Transaction
from tacit.privacy import accounting
from tacit.privacy.accounting import Accounting
from tacit.privacy.budget import Budget
from tacit.privacy.loss import Loss
from tacit.privacy.unit import Unit

if TYPE_CHECKING:
    from tacit.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Request:
    """What a charge pays for. ``identity`` holds everything that makes two requests the same."""

    identity: dict[str, Any]
    budget: Budget
    loss: Loss
    mechanism: str
    query: str
    simulation: bool
    steps: int = 1


@dataclass(frozen=True, slots=True)
class Kept:
    """What a charge must leave for one that comes behind it, in the account that will pay for that."""

    account: Account
    budget: Budget
    loss: Loss


class Account:
    """A budget for one data set, or for one part of it. Made by :meth:`tacit.Ledger.account`, not by hand.

    Examples
    --------
    >>> import tacit
    >>> account = tacit.Ledger.open().account("survey", budget=tacit.Budget(1.0))
    >>> account.spent.epsilon, account.remaining.epsilon
    (0.0, 1.0)
    """

    def __init__(self, ledger: Ledger, name: str, path: str = WHOLE, kept: tuple[Kept, ...] = ()) -> None:
        self.ledger = ledger
        self.name = name
        self.partition = path
        self._kept = kept

    # -- what anybody may look at -----------------------------------------------------------------------------------

    @property
    def budget(self) -> Budget:
        """The total budget of the data set."""
        with self._reading() as (_, state):
            return state.budget

    @property
    def unit(self) -> Unit:
        """What is protected."""
        with self._reading() as (_, state):
            return state.unit

    @property
    def accounting(self) -> Accounting:
        """How charges add up."""
        with self._reading() as (_, state):
            return state.accounting

    @property
    def spent(self) -> Budget:
        """What has been spent, as seen by a unit of this data set (or of this part)."""
        with self._reading() as (_, state):
            return accounting.spent(state.budget, state.accounting, state.loss_through(self.partition))

    @property
    def remaining(self) -> Budget:
        """A budget that the very next request may have as a whole."""
        with self._reading() as (_, state):
            return accounting.remaining(state.budget, state.accounting, state.loss_through(self.partition))

    @property
    def seed(self) -> int:
        """The seed for bounding the rows of this data set: see :meth:`seed_for`."""
        return self.seed_for("bounding")

    def seed_for(self, purpose: str) -> int:
        """Return a secret 64-bit seed of this data set (or part) for one purpose, the same each time.

        It comes from a secret that was drawn with the ledger, before any data were seen, and is never shown; so a
        script that runs again keeps the same rows and features, and asks for the very same releases.
        """
        digest = self.ledger.fingerprint(f"seed|{self.name}|{self.partition}|{purpose}")
        return int.from_bytes(bytes.fromhex(digest)[:8], "little", signed=True)

    def entries(self) -> list[Charge]:
        """Return the charges on this data set (or on this part and within it), oldest first."""
        with self._reading() as (_, state):
            charges = [state.charge(seq) for seq in sorted(state.charges)]
        here = self.partition
        return [c for c in charges if not here or c.partition == here or c.partition.startswith(f"{here}/")]

    def splits(self) -> dict[str, tuple[str, ...]]:
        """Return the registered splits of this data set and their parts."""
        with self._reading() as (_, state):
            return dict(state.splits.get(self.partition, {}))

    # -- what changes the account -----------------------------------------------------------------------------------

    def split(self, name: str, parts: Sequence[str]) -> dict[str, Account]:
        """Register a split into disjoint parts, and return an account for each; again is free.

        Parallel composition holds because each unit goes to one part by a coin of its own, so a unit that is added or
        removed changes one part alone. A split by counting or permuting rows does not have this property. A name stands
        for one rule, one seed and one version of the data: :func:`tacit.split` sees to that. The ledger sees no rows:
        that the account of a part pays for the rows of that part alone is up to whoever uses them.
        """
        several = isinstance(parts, list | tuple) and len(parts) > 1
        if not several or not all(map(_is_plain, [name, *parts])) or len(set(parts)) < len(parts):
            expected = "a name and a list of at least two different parts, all plain words without '/' and ':'"
            raise bad_parameter("Account.split", "name, parts", expected, (name, parts))
        with self._writing() as (tx, state):
            self._check_known(state)
            known = state.splits.get(self.partition, {}).get(name)
            if known is None:
                body = {"path": self.partition, "name": name, "parts": list(parts)}
                tx.append(link(self.name, state.seq, state.hash, "split", body))
            elif known != tuple(parts):
                raise bad_parameter("Account.split", "parts", f"{list(known)}, as registered before", list(parts))
        return {part: Account(self.ledger, self.name, child(self.partition, name, part)) for part in parts}

    def raise_budget(self, budget: Budget, *, reason: str) -> None:
        """Raise the total budget: an explicit act, recorded with its reason."""
        if not isinstance(reason, str) or not reason.strip():
            raise bad_parameter("raise_budget", "reason", "a sentence for the record", reason)
        if not isinstance(budget, Budget):
            raise bad_parameter("raise_budget", "budget", "a tacit.Budget", budget, "Write Budget(2.0), for example.")
        with self._writing() as (tx, state):
            if not state.budget < budget:
                expected = f"above the present one ({state.budget})"
                raise bad_parameter("raise_budget", "budget", expected, budget, "Budgets are never lowered.")
            body = {"budget": write_budget(budget), "reason": reason}
            tx.append(link(self.name, state.seq, state.hash, "raise", body))

    def spend(self, budget: Budget, *, mechanism: str, query: str) -> Charge:
        """Charge the account for something that is released outside the gate, by a mechanism that states its cost.

        Call it *before* that mechanism runs. Whether the statement is true is the caller's responsibility.

        Parameters
        ----------
        budget : Budget
            What the mechanism costs.
        mechanism, query : str
            What it is and what it is for, in public words, for the record.

        Examples
        --------
        >>> import tacit
        >>> account = tacit.Ledger.open().account("survey", budget=tacit.Budget(1.0))
        >>> account.spend(tacit.Budget(0.25), mechanism="a colleague's histogram", query="ages").entry
        2
        """
        if not isinstance(budget, Budget):
            raise bad_parameter("Account.spend", "budget", "a tacit.Budget", budget, "Write Budget(0.1), for example.")
        for name, text in (("mechanism", mechanism), ("query", query)):
            if not isinstance(text, str):
                raise bad_parameter("Account.spend", name, "a text for the record", text)
        loss = Loss.approximate(budget.exact_epsilon, budget.exact_delta)
        return self.charge(Request({}, budget, loss, mechanism, query, simulation=False, steps=0), fresh=True)

    def charge(self, request: Request, *, fresh: bool = False) -> Charge:
        """Check the budget and write the charge, as one durable act. For the gate.

        A request whose very like was charged before costs nothing and returns that charge, unless ``fresh``.
        """
        self._ask_others(request, fresh=fresh)
        with self._writing() as (tx, state):
            key = self._key(request)
            known = state.by_key.get(key)
            if known is not None and not fresh:
                return state.charge(known)
            self._check_known(state)
            self._check_funds(state, request)
            body = {
                "key": key,
                "path": self.partition,
                "asked": write_budget(request.budget),
                "loss": request.loss.to_json(),
                "mechanism": request.mechanism,
                "query": request.query,
                "simulation": request.simulation,
                "steps": request.steps,
            }
            row = link(self.name, state.seq, state.hash, "charge", body)
            tx.append(row)
        with self._reading() as (_, state):
            return state.charge(row.seq)

    def keeping(self, behind: Account, budget: Budget, loss: Loss) -> Account:
        """This account for a step that is in vain without another, which costs ``loss``, and which ``behind`` pays for.

        What is charged by it leaves enough for that: all are paid for, or nothing is. What is known already stays free.
        """
        return Account(self.ledger, self.name, self.partition, (*self._kept, Kept(behind, budget, loss)))

    def is_same_data(self, other: Account) -> bool:
        """Whether both are of one data set: the whole of it or parts."""
        return self.name == other.name and self.ledger.fingerprint("") == other.ledger.fingerprint("")

    def is_disjoint(self, other: Account) -> bool:
        """Whether both are of one data set, of parts that have no unit in common."""
        steps = zip(self.partition.split("/"), other.partition.split("/"), strict=False)
        fork = next(((one, two) for one, two in steps if one != two), None)
        if fork is None or not self.is_same_data(other):
            return False
        return fork[0].partition(":")[0] == fork[1].partition(":")[0]

    def store(
        self,
        charge: Charge,
        step: int,
        label: str,
        payload: bytes,
        mechanism: str | None = None,
        loss: Loss | None = None,
    ) -> tuple[bytes, Row]:
        """Keep the release of a charge; the first one stored is the one that everybody gets. For the gate.

        ``mechanism`` names what was drawn and ``loss`` is what it cost, where the charge does not tell. What the charge
        does not pay for beside all that is stored for it already is refused, and is then not to be shown to anybody.
        """
        with self._writing() as (tx, state):
            row = state.releases.get((charge.entry, step))
            if row is not None:
                return _checked(tx, row, label), row
            if not state.covers(charge.entry, step, loss):
                raise LedgerError(
                    f"Step {step} of entry {charge.entry} of account {self.name!r} is not paid for by that entry "
                    "beside what is stored for it. Nothing was released. Ask again from the first step, or for a "
                    "new charge: pass fresh=True, or another version."
                )
            digest = hashlib.sha256(payload).hexdigest()
            body: dict[str, Any] = {"charge": charge.entry, "step": step, "label": label, "sha256": digest}
            if mechanism is not None:
                body["mechanism"] = mechanism
            if loss is not None:
                body["loss"] = loss.to_json()
            row = link(self.name, state.seq, state.hash, "release", body)
            tx.append(row, payload)
        return payload, row

    def stored(self, charge: Charge, step: int, label: str) -> tuple[bytes, Row] | None:
        """Return the stored release of a charge, if there is one. For the gate."""
        with self._reading() as (tx, state):
            row = state.releases.get((charge.entry, step))
            return None if row is None else (_checked(tx, row, label), row)

    # -- how it works ------------------------------------------------------------------------------------------------

    def _reading(self) -> AbstractContextManager[tuple[Transaction, State]]:
        return self.ledger.reading(self.name)

    def _writing(self) -> AbstractContextManager[tuple[Transaction, State]]:
        return self.ledger.writing(self.name)

    def _check_known(self, state: State) -> None:
        if not state.knows(self.partition):
            raise LedgerError(
                f"The account {self.name!r} has no part {self.partition!r} in {self.ledger.url}: no split of that name "
                "is registered there. Split the data anew. Nothing was charged."
            )

    def _ask_others(self, request: Request, *, fresh: bool) -> None:
        """Whether accounts of other data, which have locks of their own, could pay for what comes behind."""
        others = [one for one in self._kept if not self.is_same_data(one.account)]
        if not others:
            return
        with self._reading() as (_, state):
            if self._key(request) in state.by_key and not fresh:
                return
        for one in others:
            with one.account._reading() as (_, state):
                _check_funds(state, [one], "what comes behind this release")

    def _check_funds(self, state: State, request: Request) -> None:
        """Refuse what the budget does not cover, or what it covers without what must come behind."""
        wanted = Kept(self, request.budget, request.loss)
        _check_funds(state, [wanted], "this release")
        behind = [one for one in self._kept if self.is_same_data(one.account)]
        if behind:
            _check_funds(state, [wanted, *behind], "this release and for what comes behind it")

    def _key(self, request: Request) -> str:
        """Fingerprint a request, so that asking again is recognised and the entry tells nothing about the data."""
        identity = request.identity | {
            "path": self.partition,
            "mechanism": request.mechanism,
            "loss": request.loss.to_json(),
            "query": request.query,
            "steps": request.steps,
        }
        return self.ledger.fingerprint(canonical({"account": self.name, **identity}))

    def __repr__(self) -> str:
        part = f", part {self.partition}" if self.partition else ""
        return f"Account({self.name!r}{part}, unit: {self.unit}, spent {self.spent} of {self.budget})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Account:
        return self  # copies of an estimator spend from the same account

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.ledger, self.name, self.partition)


def _reopen(ledger: Ledger, name: str, path: str) -> Account:
    return Account(ledger, name, path)


def _checked(tx: Transaction, row: Row, label: str) -> bytes:
    payload = tx.payload(row.seq)
    body = row.fields
    if hashlib.sha256(payload).hexdigest() != body["sha256"]:
        raise tampered(row.account, row.seq)
    if body["label"] != label:
        raise LedgerError(
            f"Step {body['step']} of entry {body['charge']} of account {row.account!r} was already used for another "
            f"release ({body['label']!r}). Each step of a plan is drawn once: pass fresh=True to pay for a new plan."
        )
    return payload


def _is_plain(name: object) -> bool:
    return isinstance(name, str) and bool(name) and not set(name) & set("/:\n")


def _check_funds(state: State, wanted: Sequence[Kept], what: str) -> None:
    """Refuse charges on one data set unless its filter accepts all of them, for everybody whom they concern."""
    then = state
    for one in wanted:
        then = then.charged(one.account.partition, one.loss)
    for path in dict.fromkeys(one.account.partition for one in wanted):
        if not accounting.admits(state.budget, state.accounting, then.loss_through(path)):
            _refuse(state, path, [one for one in wanted if one.account.partition == path], what)


def _refuse(state: State, path: str, wanted: Sequence[Kept], what: str) -> NoReturn:
    remaining = accounting.remaining(state.budget, state.accounting, state.loss_through(path))
    asked = Budget.amount(*(sum(parts, Fraction(0)) for parts in zip(*map(_exact, wanted), strict=True)))
    lacking = Budget.amount(asked.exact_epsilon - remaining.exact_epsilon, asked.exact_delta - remaining.exact_delta)
    where = f" (part {path})" if path else ""
    remedy = "Ask for less, or have the data's custodian raise the budget with 'tacit ledger raise'."
    if any(one.loss.rho is None for one in wanted) and state.accounting is Accounting.CONCENTRATED:
        remedy += (
            " A mechanism that states (ε, δ) alone can use nine tenths of the account's δ; "
            "an account opened with accounting='basic' gives it all."
        )
    raise BudgetError(
        f"The account {state.name!r}{where} cannot pay for {what}. "
        f"Requested: {asked}. Remaining: {remaining}. Lacking: {lacking}. {remedy} Nothing was charged.",
        requested=asked,
        remaining=remaining,
        lacking=lacking,
    )


def _exact(kept: Kept) -> tuple[Fraction, Fraction]:
    return kept.budget.exact_epsilon, kept.budget.exact_delta
