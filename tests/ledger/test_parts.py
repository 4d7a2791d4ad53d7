"""Parts: what is full in two ways, parts that nobody registered, and steps that are in vain without another."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tacit import Budget, BudgetError, Ledger, LedgerError
from tacit.ledger import Account, Request
from tacit.ledger.chain import link
from tacit.privacy.accounting import noise_delta, rho_within
from tacit.privacy.loss import Loss


def request(epsilon: float, query: str) -> Request:
    budget = Budget(epsilon)
    return Request({"version": "1"}, budget, Loss.pure(budget.exact_epsilon), "test", query, False)


def gaussian(epsilon: float, delta: float, query: str) -> Request:
    budget = Budget(epsilon, delta)
    noise = noise_delta(budget.exact_delta)
    loss = Loss(budget.exact_epsilon, noise, rho_within(budget.exact_epsilon, noise))
    return Request({"version": "1"}, budget, loss, "test", query, False)


@pytest.fixture
def ledger(new_url: Callable[[], str | None]) -> Ledger:
    return Ledger.open(new_url())


def test_parts_that_are_full_in_two_ways_verify(ledger: Ledger) -> None:
    """One part is full by plain sums, the other by zCDP. Nobody is in both; verify took it for an edited ledger."""
    account = ledger.account("survey", budget=Budget(1.0, 1e-6))
    parts = account.split("holdout", ["train", "test"])
    parts["train"].charge(request(1.0, "all of it"))
    for number in range(60):
        parts["test"].charge(gaussian(0.1, 1e-6, str(number)))
    assert sum(charge.epsilon for charge in parts["test"].entries()) > 5
    (verdict,) = ledger.verify()
    assert verdict.ok, verdict.problem
    with pytest.raises(BudgetError):
        account.charge(request(0.01, "more"))


def test_verify_goes_by_the_budget_of_the_time(ledger: Ledger) -> None:
    """A charge beyond the budget is found, also where the budget was raised behind it."""
    account = ledger.account("survey", budget=Budget(1.0))
    body = {"key": "k", "path": "", "asked": {"epsilon": "2", "delta": "0"}, "loss": Loss.pure(Fraction(2)).to_json()}
    body |= {"mechanism": "m", "query": "q", "simulation": False, "steps": 0}
    with ledger.writing("survey") as (tx, state):
        tx.append(link("survey", state.seq, state.hash, "charge", body))
    account.raise_budget(Budget(3.0), reason="to hide it")
    (verdict,) = ledger.verify()
    assert not verdict.ok
    assert "exceed its budget at entry 2" in str(verdict.problem)


def test_a_part_that_nobody_registered_pays_nothing(tmp_path: Path) -> None:
    """A charge on it would count for nobody: three times the budget was spent, and the account showed nothing."""
    url = f"sqlite:///{tmp_path / 'l.db'}"
    account = Ledger.open(url).account("survey", budget=Budget(1.0))
    kept = pickle.dumps(account.split("holdout", ["train", "test"])["train"])
    assert pickle.loads(kept).spend(Budget(0.5), mechanism="m", query="q").entry == 3
    (tmp_path / "l.db").rename(tmp_path / "old.db")
    fresh = Ledger.open(url).account("survey", budget=Budget(1.0))
    for part in (pickle.loads(kept), Account(fresh.ledger, "survey", "mine:a"), Account(fresh.ledger, "survey", "x")):
        with pytest.raises(LedgerError, match="has no part"):
            part.spend(Budget(1.0), mechanism="m", query="q")
        with pytest.raises(LedgerError, match="has no part"):
            part.split("again", ["a", "b"])
    assert fresh.spent.epsilon == 0
    assert not fresh.entries()


def test_a_step_leaves_enough_for_the_one_behind_it(ledger: Ledger) -> None:
    account = ledger.account("survey", budget=Budget(1.0))
    whole = request(0.6, "behind")
    first = account.keeping(account, whole.budget, whole.loss)
    with pytest.raises(BudgetError, match="what comes behind it") as refusal:
        first.charge(request(0.5, "first"))
    assert (refusal.value.requested, refusal.value.lacking) == (Budget(1.1), Budget(0.1))
    assert account.spent.epsilon == 0
    first.charge(request(0.4, "first"))
    account.charge(whole)
    assert first.charge(request(0.4, "first")).entry == 2, "what is known is free"
    other = ledger.account("other", budget=Budget(1.0)).keeping(account, whole.budget, whole.loss)
    with pytest.raises(BudgetError, match="'survey' cannot pay for what comes behind"):
        other.charge(request(0.4, "first"))
    assert other.spent.epsilon == 0
    account.raise_budget(Budget(2.0), reason="room for one more")
    entry = other.charge(request(0.4, "first")).entry
    account.charge(request(0.7, "something else"))
    assert other.charge(request(0.4, "first")).entry == entry, "what is known is free"


def test_a_step_leaves_enough_on_another_part(ledger: Ledger) -> None:
    account = ledger.account("survey", budget=Budget(1.0))
    parts = account.split("holdout", ["train", "test"])
    curve = request(0.6, "curve")
    train = parts["train"].keeping(parts["test"], curve.budget, curve.loss)
    train.charge(request(0.5, "model"))
    parts["test"].charge(request(0.5, "another curve"))
    assert train.charge(request(0.5, "model")).entry == 3
    with pytest.raises(BudgetError, match=r"part holdout:test\) cannot pay .* what comes behind"):
        train.charge(request(0.1, "another model"))


def test_which_parts_are_disjoint(ledger: Ledger) -> None:
    account = ledger.account("survey", budget=Budget(1.0))
    parts, folds = account.split("holdout", ["train", "test"]), account.split("folds", ["1", "2"])
    inner = parts["train"].split("inner", ["x", "y"])
    assert parts["train"].is_disjoint(parts["test"])
    assert inner["x"].is_disjoint(parts["test"])
    assert inner["x"].is_disjoint(inner["y"])
    for one, two in [(account, parts["test"]), (inner["x"], parts["train"]), (folds["1"], parts["test"])]:
        assert not one.is_disjoint(two)
        assert not two.is_disjoint(one)
    other = ledger.account("other", budget=Budget(1.0)).split("holdout", ["train", "test"])
    assert not other["train"].is_disjoint(parts["test"])
