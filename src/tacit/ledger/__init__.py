"""The ledger: a durable, append-only, hash-chained journal of everything that was spent."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import LedgerError, TamperedLedgerError, UnknownAccountError, bad_parameter
from tacit.ledger.account import Account, Request
from tacit.ledger.chain import Row, link, tampered
from tacit.ledger.sending import seal, unseal, without_password
from tacit.ledger.sqlite import SqliteStore
from tacit.ledger.state import PURSE, Charge, State, write_budget
from tacit.ledger.store import SqlStore, Transaction
from tacit.privacy.accounting import Accounting, admits
from tacit.privacy.budget import Budget
from tacit.privacy.loss import Loss
from tacit.privacy.unit import Unit

__all__ = ["Account", "Charge", "Ledger", "Request", "Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What :meth:`Ledger.verify` found out about one account."""

    account: str
    ok: bool
    entries: int
    head: str
    problem: str | None = None


class Ledger:
    """A journal of accounts. Open it with :meth:`open`.

    Examples
    --------
    >>> ledger = Ledger.open()
    >>> ledger.account("survey", budget=Budget(1.0), unit="row").remaining
    Budget(epsilon=1.0, delta=0)
    """

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._states = store.states
        self._secret = store.secret()

    @classmethod
    def open(cls, url: str | None = None, *, create: bool = True) -> Ledger:
        """Open a ledger, and create it if it is not there.

        Parameters
        ----------
        url : str or None
            None keeps the ledger in memory, for a script; ``"sqlite:///file.db"`` in a file; and
            ``"postgresql://user@host/database"`` in a database that a team shares.
        create : bool, default True
            If False, a ledger that does not exist is an error.
        """
        store = _store(url)
        store.open(create=create)
        return cls(store)

    @property
    def url(self) -> str:
        """Where the ledger is, without a password."""
        return self._store.url

    def account(
        self,
        name: str,
        budget: Budget | None = None,
        unit: str | Unit | None = None,
        *,
        accounting: str | Accounting | None = None,
    ) -> Account:
        """Create an account, or reopen it and check that it is the one described.

        Parameters
        ----------
        name : str
            The data set.
        budget : Budget, optional
            The total. Needed to create an account; when reopening, it must be the account's.
        unit : "row" or Unit, optional
            What is protected; "row" when an account is created without it.
        accounting : "concentrated" or "basic", optional
            How charges with δ > 0 add up; see the proofs on accounting. "concentrated" by default.
        """
        _check_name(name)
        if budget is not None and not isinstance(budget, Budget):
            raise bad_parameter("Ledger.account", "budget", "a tacit.Budget", budget, "Write Budget(1.0), for example.")
        if name not in self._store.names():
            if budget is None:
                raise self._unknown(name)
            self._create(name, budget, Unit.of(unit or "row"), _accounting(accounting or "concentrated"))
        account = Account(self, name)
        with self.reading(name) as (_, state):
            _check_same(name, "budget", budget, state.budget, "Raise it with 'tacit ledger raise'.")
            _check_same(name, "unit", None if unit is None else Unit.of(unit), state.unit)
            _check_same(name, "accounting", None if accounting is None else _accounting(accounting), state.accounting)
        return account

    def accounts(self) -> list[Account]:
        """Return all accounts, sorted by name."""
        return [Account(self, name) for name in self._store.names()]

    def verify(self, *, heads: dict[str, str] | None = None) -> list[Verdict]:
        """Follow every chain from its start, and check every stored release and every total.

        Parameters
        ----------
        heads : dict, optional
            Heads noted down earlier, by account: each must still be part of its chain, which also shows a chain that
            was rewritten or cut off as a whole.
        """
        names = sorted({*self._store.names(), *self._store.names_of_entries(), *(heads or {})})
        return [self._verify(name, (heads or {}).get(name)) for name in names]

    def close(self) -> None:
        """Close the connection to the database."""
        self._store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self.url!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if not self._store.survives_fork:
            raise LedgerError(
                "An in-memory ledger cannot be sent to another process, which would spend the same budget again. "
                "Use a file, for example Ledger.open('sqlite:///ledger.db')."
            )
        return _reopen, (without_password(self._store.address), seal(self._store.address))

    # -- for accounts ------------------------------------------------------------------------------------------------

    def fingerprint(self, text: str) -> str:
        """Hash a text under the ledger's own secret."""
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    @contextmanager
    def reading(self, name: str) -> Iterator[tuple[Transaction, State]]:
        """See an account in one consistent state."""
        with self._store.reading(name) as tx:
            yield tx, self._current(name, tx)

    @contextmanager
    def writing(self, name: str) -> Iterator[tuple[Transaction, State]]:
        """Hold an account for a change."""
        with self._store.writing(name) as tx:
            yield tx, self._current(name, tx)

    def _current(self, name: str, tx: Transaction) -> State:
        head = tx.head()
        if head[0] == 0:
            raise tampered(name, 1) if name in self._store.names() else self._unknown(name)
        state = self._states.get(name) or State(name)
        if state.seq > head[0]:
            state = State(name)
        try:
            state.follow(tx.rows(after=state.seq), head)
        except BaseException:  # an interrupt, too, may have come between two entries
            self._states.pop(name, None)
            raise
        self._states[name] = state
        return state

    def _create(self, name: str, budget: Budget, unit: Unit, accounting: Accounting) -> None:
        with self._store.writing(name, create=True) as tx:
            seq, last = tx.head()
            if seq == 0:
                body = {
                    "budget": write_budget(budget),
                    "unit": unit.to_json(),
                    "accounting": accounting.value,
                }
                tx.append(link(name, seq, last, "open", body))

    def _unknown(self, name: str) -> UnknownAccountError:
        known = ", ".join(repr(n) for n in self._store.names()) or "none"
        return UnknownAccountError(
            f"There is no account {name!r} in {self.url}. Known accounts: {known}. "
            "Create it with 'tacit ledger create', or by passing budget=Budget(...)."
        )

    def _verify(self, name: str, noted: str | None) -> Verdict:
        state = State(name)
        try:
            with self._store.reading(name) as tx:
                head = tx.head()
                rows = tx.rows()
                state.follow(rows, head)
                _check_releases(tx, state)
                _check_charges(name, rows)
                if noted is not None and noted not in {row.hash for row in rows}:
                    raise TamperedLedgerError(f"The head noted earlier is not in the chain of account {name!r}.")
        except LedgerError as error:
            return Verdict(name, False, state.seq, state.hash, str(error))
        return Verdict(name, True, state.seq, state.hash)


def _check_releases(tx: Transaction, state: State) -> None:
    for row in state.releases.values():
        if hashlib.sha256(tx.payload(row.seq)).hexdigest() != row.fields["sha256"]:
            raise tampered(state.name, row.seq)


def _check_charges(name: str, rows: list[Row]) -> None:
    """Go through the charges as they were made: each was within the budget of that time, for those whom it concerns.

    Parts may be full in two ways, one by plain sums and one by zCDP: of what is worst in both ways nobody suffers.
    What was drawn under a charge is added up in the same order.
    """
    state = State(name)
    for row in rows:
        if row.kind == "release":
            _check_draw(state, row)
        state.take(row)
        if row.kind != "charge":
            continue
        path = row.fields["path"]
        if not admits(state.budget, state.accounting, state.loss_through(path)):
            part = f" (part {path})" if path else ""
            raise TamperedLedgerError(f"The charges on account {name!r}{part} exceed its budget at entry {row.seq}.")


def _check_draw(state: State, row: Row) -> None:
    """A charge pays for what is drawn under it, with all that was drawn before."""
    body = row.fields
    entry, step, cost = body["charge"], body["step"], body.get("loss")
    if entry not in state.charges or (entry, step) in state.releases:
        raise tampered(state.name, row.seq)
    if cost is None and step and state.charges[entry].fields["mechanism"] == PURSE:
        return  # stored before draws told what they cost: there is nothing to add up, and nothing more is drawn
    if not state.covers(entry, step, None if cost is None else Loss.from_json(cost)):
        raise TamperedLedgerError(
            f"What was drawn under entry {entry} of account {state.name!r} exceeds what it paid for at entry {row.seq}."
        )


def _reopen(address: str, sealed: bytes) -> Ledger:
    """Open a ledger that came as a pickle: with its password where this process may know it."""
    return Ledger.open(unseal(sealed) or address)


def _store(url: str | None) -> SqlStore:
    if isinstance(url, str) and ("\x00" in url or not _is_utf8(url)):
        raise bad_parameter("Ledger.open", "url", "a line of text in UTF-8", "other signs")
    if url is None or url in ("memory", ":memory:", "sqlite://", "sqlite:///:memory:"):
        return SqliteStore(None)
    if isinstance(url, str) and url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        return SqliteStore(Path(url.removeprefix("sqlite:///")))
    if isinstance(url, str) and url.startswith(("postgresql://", "postgres://")):
        from tacit.ledger.postgres import PostgresStore

        return PostgresStore(url)
    expected = "None (in memory), 'sqlite:///file.db' or 'postgresql://user@host/database'"
    raise bad_parameter("Ledger.open", "url", expected, url)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _accounting(value: str | Accounting) -> Accounting:
    try:
        return Accounting(value)
    except ValueError:
        raise bad_parameter("Ledger.account", "accounting", "'concentrated' or 'basic'", value) from None


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip() or "\n" in name or "\x00" in name or len(name) > 200:
        raise bad_parameter("Ledger.account", "name", "a line of text of at most 200 characters", name)


def _check_same(name: str, what: str, given: object, kept: object, remedy: str = "") -> None:
    if given is not None and given != kept:
        raise LedgerError(
            f"The account {name!r} was opened with another {what}: it has {kept}, this asks for {given}. "
            f"Leave {what!r} out to take the account as it is. {remedy}".rstrip()
        )
