"""Paying for a mechanism that tacit did not make: it states its cost, and the account pays before it runs.

And asking what it made: what it says of private rows is counted and released by the gate, but its errors are not.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit._version import __version__
from tacit.data.features import match_values
from tacit.data.series import as_series, check_collected, listed
from tacit.data.split import rows_at, rows_of
from tacit.desk.payer import one_off
from tacit.errors import bad_parameter, unless_it_fails
from tacit.ledger import Account, Ledger, Request
from tacit.privacy.budget import Budget, Number
from tacit.privacy.loss import Loss
from tacit.privacy.release import SIMULATION, Receipt
from tacit.privacy.unit import Neighbours


def check_payer(account: object, owner: str) -> None:
    """Refuse whoever cannot pay for a black box: how it bounds persons is not known."""
    if account is not None and (unit := one_off(account, Budget(1), owner).unit).column is not None:
        expected = "an account whose unit is a row"
        raise bad_parameter(owner, "account", expected, str(unit), "A black box does not bound a person's rows.")


def pay_for_black_box(
    owner: str,
    what: str,
    epsilon: Number,
    delta: Number,
    account: Account | None,
    *,
    simulation: bool,
    mechanism: str = "black box",
    proof: str | None = None,
) -> Receipt:
    """Charge the account with what a black box says it costs, and return the receipt; then the box may see the data.

    Nothing is stored, so running it again costs again. Row-level privacy only.
    """
    check_payer(account, owner)
    budget = Budget(epsilon, delta)
    if account is None:  # what states (ε, δ) alone gets the whole δ under plain sums
        account = Ledger.open().account("one-off", budget=budget, accounting="basic")
    payer = one_off(account, budget, owner)
    request = Request(
        identity={"black box": what, "run": uuid.uuid4().hex},
        budget=budget,
        loss=Loss.approximate(budget.exact_epsilon, budget.exact_delta),
        mechanism=mechanism,
        query=what,
        simulation=simulation,
        steps=0,
    )
    charge = payer.charge(request, fresh=True)
    return Receipt(
        {
            "mechanism": mechanism,
            "epsilon": charge.budget.epsilon,
            "delta": charge.budget.delta,
            "unit": str(payer.unit),
            "neighbours": Neighbours.ADD_REMOVE.value,
            "query": what,
            "sensitivity": None,
            "noise": None,
            "dataset": payer.name,
            "partition": payer.partition or None,
            "plan": None,
            "ledger": {"url": payer.ledger.url, "entry": charge.entry, "hash": charge.hash},
            "at": charge.at,
            "library": f"tacit {__version__}",
            "proof": proof,
            "guarantee": None if proof else "as stated by the model itself: tacit charged for it and did not check it",
            "status": SIMULATION
            if simulation
            else "private"
            if proof
            else "private, if the model keeps what it states",
        }
    )


def class_codes(name: str, labels: Any, classes: tuple[Any, ...]) -> NDArray[np.int64]:
    """Where each label stands among the declared classes, −1 for none of them; each is looked up by itself."""
    return match_values(as_series(name, labels), classes, ())[0]


def declared_rows(X: Any, y: Any, classes: tuple[Any, ...]) -> tuple[Any, Any]:
    """The rows that have a declared label, written as it was declared; the others are left out, as everywhere."""
    codes = class_codes("y", y, classes)
    kept = codes >= 0
    return rows_of(X, kept), np.array(classes)[codes[kept]]


@contextmanager
def in_silence() -> Iterator[None]:
    """Without warnings, and without the errors that a caller made of them: those of a model may tell of a row."""
    # Recorded and forgotten: a model may set filters of its own.
    with warnings.catch_warnings(record=True), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def answers(ask: Callable[[Any], Any], rows: Any, otherwise: Any) -> Any:
    """What a foreign model answers for each of some private rows, and ``otherwise`` for a row that it fails on.

    An error would tell that such a row is there, and may quote it. Where the model fails on several rows together, or
    answers for another number of them, it is asked for each half by itself: what it says of a row must depend on that
    row alone, and so must what becomes of the row.
    """
    count = int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)
    with in_silence():
        whole = _answer(ask, rows, count) if count else None
        if whole is not None:
            return whole
        found = np.full(count, otherwise, dtype=object)
        parts = _halves(0, count)
        while parts:
            begin, end = parts.pop()
            part = _answer(ask, rows_at(rows, np.arange(begin, end)), end - begin)
            if part is None:
                parts += _halves(begin, end)
            else:
                found[begin:end] = part
    return found


def _answer(ask: Callable[[Any], Any], rows: Any, count: int) -> Any:
    """What a foreign model answers for each row; None where it fails."""
    found = unless_it_fails(lambda: _one_each(ask(rows)), None)
    return found if found is not None and found.shape == (count,) else None


def _one_each(answer: Any) -> Any:
    """An array of a foreign model's answers. Those of a list stay as they are: one text would make texts of numbers."""
    if not isinstance(answer := listed(answer), list | tuple):
        return np.asarray(answer)
    return np.fromiter(answer, dtype=object, count=len(answer))


def _halves(begin: int, end: int) -> list[tuple[int, int]]:
    middle = (begin + end) // 2
    return [(begin, middle), (middle, end)] if begin < middle else []


def foreign(X: Any) -> Any:
    """Data as a foreign model knows them: a column of texts becomes an array of them."""
    check_collected("fit", X)
    return X.to_numpy() if isinstance(X, pl.Series) else X
