"""One contract, three stores: memory, SQLite, PostgreSQL."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed

from tacit import (
    BernoulliNB,
    Budget,
    BudgetError,
    Ledger,
    LedgerError,
    ParameterError,
    TamperedLedgerError,
    Unit,
    UnknownAccountError,
)
from tacit.ledger import Request
from tacit.ledger.postgres import PostgresStore
from tacit.ledger.sending import seal, unseal, without_password
from tacit.privacy.loss import Loss
from tests.support import postgres

NewUrl = Callable[[], "str | None"]


def request(epsilon: float | Fraction, query: str = "q", loss: Loss | None = None, delta: float = 0.0) -> Request:
    budget = Budget(epsilon, delta)
    return Request({"version": "1"}, budget, loss or Loss.pure(budget.exact_epsilon), "test", query, False)


@pytest.fixture
def ledger(new_url: NewUrl) -> Ledger:
    return Ledger.open(new_url())


class TestAccounts:
    def test_a_new_account_has_spent_nothing(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0, 1e-6), unit="row")
        assert account.spent == Budget.amount(Fraction(0))
        assert account.remaining == account.budget == Budget(1.0, 1e-6)
        assert account.unit == Unit.row()
        assert account.entries() == []

    def test_reopening_checks_budget_unit_and_accounting(self, ledger: Ledger) -> None:
        unit = Unit.user("patient", max_rows=3)
        ledger.account("survey", budget=Budget(1.0), unit=unit)
        assert ledger.account("survey").unit == unit
        assert ledger.account("survey", budget=Budget(1.0), unit=unit).budget == Budget(1.0)
        with pytest.raises(LedgerError, match=r"another budget: it has ε = 1, this asks for ε = 2"):
            ledger.account("survey", budget=Budget(2.0))
        with pytest.raises(LedgerError, match="another unit"):
            ledger.account("survey", unit="row")
        with pytest.raises(LedgerError, match="another accounting"):
            ledger.account("survey", accounting="basic")

    def test_unknown_account_names_the_known_ones(self, ledger: Ledger) -> None:
        ledger.account("survey", budget=Budget(1.0))
        with pytest.raises(UnknownAccountError, match=r"no account 'surveys'.*Known accounts: 'survey'.*create"):
            ledger.account("surveys")

    @pytest.mark.parametrize("name", ["", " ", "two\nlines", "x" * 201, None, 7, "nul\x00"])
    def test_bad_names_are_refused(self, ledger: Ledger, name: object) -> None:
        with pytest.raises(ParameterError, match="'name' parameter"):
            ledger.account(name, budget=Budget(1.0))  # type: ignore[arg-type]

    def test_bad_budget_unit_and_accounting_are_refused(self, ledger: Ledger) -> None:
        with pytest.raises(ParameterError, match=r"tacit\.Budget.*Got 1\.0.*Budget\(1\.0\)"):
            ledger.account("survey", budget=1.0)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match=r"'unit'.*Got 'person'.*Unit\.user"):
            ledger.account("survey", budget=Budget(1.0), unit="person")
        with pytest.raises(ParameterError, match="'accounting'"):
            ledger.account("survey", budget=Budget(1.0), accounting="renyi")
        assert ledger.accounts() == []

    def test_odd_names_come_back_as_they_went_in(self, ledger: Ledger) -> None:
        for name in ["Ärzte", "'; DROP TABLE tacit_entries; --", "50 % <b>", "名簿", "?"]:
            ledger.account(name, budget=Budget(1.0)).charge(request(0.25))
            assert ledger.account(name).spent == Budget(0.25)
        assert len(ledger.accounts()) == 5
        assert all(verdict.ok for verdict in ledger.verify())


class TestCharges:
    def test_ten_tenths_fill_one_exactly(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        for number in range(10):
            account.charge(request(0.1, f"q{number}"))
        assert account.spent == Budget(1.0)
        assert account.remaining.exact_epsilon == 0
        with pytest.raises(BudgetError):
            account.charge(request(Fraction(1, 10**12), "one more"))

    def test_a_refusal_shows_requested_remaining_and_lacking_and_charges_nothing(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        account.charge(request(0.75, "first"))
        with pytest.raises(BudgetError) as caught:
            account.charge(request(0.5, "second"))
        error = caught.value
        assert (error.requested, error.remaining, error.lacking) == (Budget(0.5), Budget(0.25), Budget(0.25))
        for words in ("Requested: ε = 0.5", "Remaining: ε = 0.25", "Lacking: ε = 0.25", "raise", "Nothing was charged"):
            assert words in str(error)
        assert account.spent == Budget(0.75)
        assert pickle.loads(pickle.dumps(error)).lacking == Budget(0.25)

    def test_the_same_request_is_charged_once_and_a_fresh_one_again(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        first = account.charge(request(0.25))
        assert account.charge(request(0.25)) == first
        assert account.spent == Budget(0.25)
        assert account.charge(request(0.25), fresh=True).entry > first.entry
        assert account.spent == Budget(0.5)

    def test_what_is_released_elsewhere_is_charged_each_time(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        for _ in range(2):
            account.spend(Budget(0.5), mechanism="a colleague's histogram", query="ages")
        assert account.remaining.exact_epsilon == 0
        assert [(c.mechanism, c.steps, c.released) for c in account.entries()] == [
            ("a colleague's histogram", 0, 0)
        ] * 2
        with pytest.raises(BudgetError):
            account.spend(Budget(0.5), mechanism="a colleague's histogram", query="ages")
        with pytest.raises(ParameterError, match=r"Got 0\.1.*Budget\(0\.1\)"):
            account.spend(0.1, mechanism="m", query="q")  # type: ignore[arg-type]

    def test_entries_are_in_order_and_carry_the_request(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        for epsilon in (0.25, 0.5):
            account.charge(request(epsilon, f"query {epsilon}"))
        first, second = account.entries()
        assert (first.epsilon, first.delta) == (first.budget.epsilon, first.budget.delta)
        assert (first.budget, second.budget) == (Budget(0.25), Budget(0.5))
        assert (first.query, first.mechanism, first.released, first.steps) == ("query 0.25", "test", 0, 1)
        assert first.entry < second.entry
        assert first.at <= second.at

    def test_the_first_stored_release_wins(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        charge = account.charge(request(0.25))
        assert account.stored(charge, 0, "") is None
        assert account.store(charge, 0, "", b"first")[0] == b"first"
        assert account.store(charge, 0, "", b"second")[0] == b"first"
        assert account.stored(charge, 0, "")[0] == b"first"  # type: ignore[index]
        with pytest.raises(LedgerError, match="already used for another release"):
            account.stored(charge, 0, "other")

    def test_threads_share_a_ledger(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        granted = []

        def spend(worker: int) -> None:
            for number in range(30):
                try:
                    granted.append(account.charge(request(Fraction(1, 50), f"{worker}-{number}")).entry)
                except BudgetError:
                    return

        threads = [threading.Thread(target=spend, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(granted) == len(set(granted)) == 50
        assert account.spent == Budget(1.0)


class TestDelta:
    def test_many_gaussian_charges_cost_less_than_their_sum(self, ledger: Ledger) -> None:
        from tacit.privacy.mechanisms import DiscreteGaussian

        account = ledger.account("survey", budget=Budget(1.0, 1e-6))
        mechanism = DiscreteGaussian(0.1, 1e-7)
        for number in range(20):
            account.charge(request(0.1, f"q{number}", mechanism.loss(), 1e-7))
        assert account.spent.epsilon < 1.0
        assert account.spent <= account.budget

    def test_plain_sums_always_fit(self, ledger: Ledger) -> None:
        from tacit.privacy.mechanisms import DiscreteGaussian

        account = ledger.account("survey", budget=Budget(1.0, 1e-6))
        account.charge(request(0.9, "pure"))
        account.charge(request(0.1, "gauss", DiscreteGaussian(0.1, 1e-6).loss(), 1e-6))
        assert account.spent == Budget(1.0, 1e-6)
        assert account.remaining.exact_epsilon == 0

    def test_a_foreign_mechanism_may_use_all_of_a_basic_account(self, ledger: Ledger) -> None:
        loss = Loss.approximate(Fraction(1), Fraction(1, 10**6))
        basic = ledger.account("basic", budget=Budget(1.0, 1e-6), accounting="basic")
        basic.charge(request(1.0, "foreign", loss, 1e-6))
        assert basic.remaining.exact_epsilon == 0
        account = ledger.account("concentrated", budget=Budget(1.0, 1e-6))
        with pytest.raises(BudgetError, match="accounting='basic'"):
            account.charge(request(1.0, "foreign", loss, 1e-6))

    def test_delta_is_refused_on_a_pure_account(self, ledger: Ledger) -> None:
        from tacit.privacy.mechanisms import DiscreteGaussian

        account = ledger.account("survey", budget=Budget(1.0))
        with pytest.raises(BudgetError, match=r"Requested: ε = 0.1, δ = 1e-09"):
            account.charge(request(0.1, "gauss", DiscreteGaussian(0.1, 1e-9).loss(), 1e-9))


class TestSplits:
    def test_parts_compose_in_parallel(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        parts = account.split("holdout", ["train", "test"])
        account.charge(request(0.25, "whole"))
        parts["train"].charge(request(0.75, "train"))
        parts["test"].charge(request(0.5, "test"))
        assert account.spent == Budget(1.0)
        assert parts["train"].remaining.exact_epsilon == 0
        assert parts["test"].remaining == Budget(0.25)
        assert account.remaining.exact_epsilon == 0
        with pytest.raises(BudgetError, match="part holdout:train"):
            parts["train"].charge(request(0.01, "more"))
        with pytest.raises(BudgetError):
            account.charge(request(0.01, "more"))
        parts["test"].charge(request(0.25, "more"))
        assert [charge.query for charge in parts["test"].entries()] == ["test", "more"]
        assert len(account.entries()) == 4

    def test_a_unit_lies_in_one_part_of_each_of_two_splits(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        halves = account.split("halves", ["a", "b"])
        folds = account.split("folds", ["1", "2", "3"])
        halves["a"].charge(request(0.5, "a"))
        folds["2"].charge(request(0.25, "2"))
        assert account.spent == Budget(0.75)
        assert halves["b"].spent == Budget(0.25)
        assert folds["1"].remaining == Budget(0.5)

    def test_parts_split_again(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        train = account.split("holdout", ["train", "test"])["train"]
        inner = train.split("inner", ["x", "y"])
        inner["x"].charge(request(0.5, "x"))
        inner["y"].charge(request(0.75, "y"))
        train.charge(request(0.25, "train"))
        assert train.spent == account.spent == Budget(1.0)
        assert inner["x"].remaining == Budget(0.25)
        assert len(train.entries()) == 3

    def test_registering_again_is_free_and_checked(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        account.split("holdout", ["train", "test"])
        account.split("holdout", ["train", "test"])
        assert account.splits() == {"holdout": ("train", "test")}
        with pytest.raises(ParameterError, match="as registered before"):
            account.split("holdout", ["train", "rest"])
        for name, parts in [("h", ["a"]), ("h", ["a", "a"]), ("h/x", ["a", "b"]), ("h", ["a:", "b"]), ("", ["a", "b"])]:
            with pytest.raises(ParameterError, match="plain words"):
                account.split(name, parts)


class TestRaising:
    def test_a_budget_is_raised_by_a_recorded_act(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        account.charge(request(1.0))
        account.raise_budget(Budget(1.5), reason="the board agreed")
        assert account.budget == Budget(1.5)
        assert account.remaining == Budget(0.5)
        assert all(verdict.ok for verdict in ledger.verify())

    @pytest.mark.parametrize("budget", [Budget(1.0), Budget(0.5), Budget(2.0, 0.0)])
    def test_it_is_never_lowered(self, ledger: Ledger, budget: Budget) -> None:
        account = ledger.account("survey", budget=Budget(1.0, 1e-6))
        with pytest.raises(ParameterError, match="never lowered"):
            account.raise_budget(budget, reason="a mistake")

    def test_it_needs_a_reason(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        with pytest.raises(ParameterError, match="'reason'"):
            account.raise_budget(Budget(2.0), reason=" ")
        assert account.budget == Budget(1.0)


class TestCopies:
    def test_copies_spend_from_the_same_account(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        copy.deepcopy({"account": account})["account"].charge(request(0.25))
        assert account.spent == Budget(0.25)

    def test_another_process_reopens_a_durable_ledger_only(self, ledger: Ledger) -> None:
        account = ledger.account("survey", budget=Budget(1.0))
        if ledger.url == "memory":
            with pytest.raises(LedgerError, match=r"would spend the same budget again.*sqlite"):
                pickle.dumps(account)
        else:
            pickle.loads(pickle.dumps(account)).charge(request(0.25))
            assert account.spent == Budget(0.25)

    def test_a_pickle_holds_no_password(self, server: postgres.Server, tmp_path: Path) -> None:
        bare = server.create("pickled")
        secret = bare.replace("tacit@", "tacit:s3cr3t-pw@") + "?sslpassword=s3cr3t-too&application_name=a"
        account = Ledger.open(secret).account("survey", budget=Budget(1.0))
        model = BernoulliNB(epsilon=0.25, account=account).fit([[1, 0], [0, 1]] * 50, [0, 1] * 50)
        pickled = pickle.dumps(model)
        assert b"s3cr3t" not in pickled
        assert b"pickled?application_name=a" in pickled
        assert address(pickled) == secret, "the process itself knows it"
        assert Parallel(2)(delayed(address)(pickled) for _ in range(2)) == [secret] * 2, "and its workers do"
        (tmp_path / "model").write_bytes(pickled)
        (tmp_path / "another.py").write_text(
            "import pickle, sys; model = pickle.load(open(sys.argv[1], 'rb'));"
            "print(model.account.ledger._store.address, model.account.spent.epsilon)"
        )
        told = subprocess.check_output([sys.executable, tmp_path / "another.py", tmp_path / "model"], text=True)
        assert told.split() == [f"{bare}?application_name=a", "0.25"]


def address(pickled: bytes) -> str:
    found: str = pickle.loads(pickled).account.ledger._store.address
    return found


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("postgresql://ana:p%40ss@db.example:5433/ledger", "postgresql://ana@db.example:5433/ledger"),
        ("postgresql://ana:a@b@db/l?password=x&sslmode=require", "postgresql://ana@db/l?sslmode=require"),
        ("postgres://db/l?user=ana&PASSWORD=x", "postgres://db/l?user=ana"),
        ("postgresql://ana:x@[::1]:5432/l?password=y", "postgresql://ana@[::1]:5432/l"),
        ("postgresql://db/l?user=ana&pass%77ord=x", "postgresql://db/l?user=ana"),
        ("postgresql://db/l?%50ASSWORD=x&ssl%70assword=y", "postgresql://db/l"),
        ("postgresql://ana:a?b@db/l", "postgresql://ana@db/l"),
        ("postgresql://db?password=x@y/z", "postgresql://db"),
        ("postgresql:///l?host=/run", "postgresql:///l?host=/run"),
        ("sqlite:////home/a:b@c/ledger.db", "sqlite:////home/a:b@c/ledger.db"),
    ],
)
def test_an_address_without_its_password(url: str, bare: str) -> None:
    assert without_password(url) == bare


def test_what_is_sealed_opens_in_this_family_of_processes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sealed, again = seal("postgresql://ana:s3cr3t@db/l"), seal("postgresql://ana:s3cr3t@db/l")
    assert sealed != again
    assert unseal(sealed) == unseal(again) == "postgresql://ana:s3cr3t@db/l"
    assert unseal(sealed[:-1] + bytes([sealed[-1] ^ 1])) is None
    monkeypatch.setattr(multiprocessing.current_process(), "authkey", b"another run of Python")
    assert unseal(sealed) is None


def test_a_missing_password_is_named_with_its_remedy() -> None:
    psycopg = pytest.importorskip("psycopg")
    error = psycopg.OperationalError("connection failed: fe_sendauth: no password supplied")
    assert "~/.pgpass" in str(PostgresStore("postgresql://ana@db/l").translate(error))


class TestDurability:
    def test_everything_is_there_after_reopening(self, new_durable_url: Callable[[], str]) -> None:
        url = new_durable_url()
        with Ledger.open(url) as first:
            account = first.account("survey", budget=Budget(1.0, 1e-6), unit=Unit.user("patient", 2))
            part = account.split("holdout", ["train", "test"])["train"]
            charge = part.charge(request(0.25))
            part.store(charge, 0, "", np.arange(10).tobytes())
        with Ledger.open(url, create=False) as second:
            account = second.account("survey")
            assert account.unit == Unit.user("patient", 2)
            assert account.spent == Budget(0.25)
            again = account.split("holdout", ["train", "test"])["train"]
            assert again.charge(request(0.25)).entry == charge.entry
            assert again.stored(charge, 0, "")[0] == np.arange(10).tobytes()  # type: ignore[index]

    def test_two_ledgers_see_each_other_at_once(self, new_durable_url: Callable[[], str]) -> None:
        url = new_durable_url()
        one, two = Ledger.open(url), Ledger.open(url)
        mine = one.account("survey", budget=Budget(1.0))
        yours = two.account("survey")
        for number in range(4):
            (mine, yours)[number % 2].charge(request(0.25, f"q{number}"))
            assert mine.spent == yours.spent == Budget(Fraction(number + 1, 4))
        with pytest.raises(BudgetError):
            yours.charge(request(0.25, "fifth"))

    def test_a_missing_ledger_is_not_made_unasked(self, new_durable_url: Callable[[], str]) -> None:
        with pytest.raises(LedgerError, match="no ledger at"):
            Ledger.open(new_durable_url(), create=False)


EDITS = {
    "edited": "UPDATE tacit_entries SET body = replace(body, '1/4', '1/8') WHERE seq = 2",
    "later": "UPDATE tacit_entries SET at = '2020-01-01' WHERE seq = 3",
    "removed": "DELETE FROM tacit_entries WHERE seq = 4",
    "cut off": "DELETE FROM tacit_entries WHERE seq = 5",
    "release": "UPDATE tacit_releases SET payload = 'forged'",
    "head": "UPDATE tacit_accounts SET head_seq = 4",
}


class TestTampering:
    @pytest.fixture
    def charged(self, new_url: NewUrl) -> Ledger:
        ledger = Ledger.open(new_url())
        account = ledger.account("survey", budget=Budget(1.0))
        charge = account.charge(request(0.25, "a"))
        account.store(charge, 0, "", b"true")
        account.charge(request(0.25, "b"))
        account.charge(request(0.25, "c"))
        assert all(verdict.ok for verdict in ledger.verify())
        return ledger

    @pytest.mark.parametrize("edit", [name for name in EDITS if name != "head"])
    def test_the_database_itself_refuses_edits(self, charged: Ledger, edit: str) -> None:
        with pytest.raises(Exception, match="append-only"):
            charged._store.execute(EDITS[edit])
        assert all(verdict.ok for verdict in charged.verify())

    @pytest.mark.parametrize("edit", EDITS)
    def test_an_edit_is_noticed(self, charged: Ledger, edit: str) -> None:
        drop_guards(charged)
        charged._store.execute(EDITS[edit].replace("'forged'", "'\\x00'" if "post" in charged.url else "x'00'"))
        (verdict,) = charged.verify()
        assert not verdict.ok
        assert "chain breaks" in str(verdict.problem)

    @pytest.mark.parametrize("edit", ["edited", "later", "removed", "cut off"])
    def test_a_tampered_account_takes_no_charge(self, charged: Ledger, edit: str) -> None:
        drop_guards(charged)
        charged._store.execute(EDITS[edit])
        charged._states.clear()  # as another process would see it
        with pytest.raises(TamperedLedgerError, match="restore the ledger from a backup"):
            charged.account("survey").charge(request(0.125, "d"))

    def test_a_noted_head_shows_a_rewritten_chain(self, charged: Ledger, new_url: NewUrl) -> None:
        noted = charged.verify()[0].head
        assert charged.verify(heads={"survey": noted})[0].ok
        rewritten = Ledger.open(new_url())
        rewritten.account("survey", budget=Budget(1.0)).charge(request(0.25, "a"))
        assert rewritten.verify()[0].ok
        assert not rewritten.verify(heads={"survey": noted})[0].ok
        assert not charged.verify(heads={"gone": noted})[0].ok


def drop_guards(ledger: Ledger) -> None:
    store = ledger._store
    if "post" in ledger.url:
        for table in ("tacit_entries", "tacit_releases"):
            store.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        store.execute("ALTER TABLE tacit_releases DROP CONSTRAINT tacit_releases_account_seq_fkey")
        return
    store.execute("PRAGMA foreign_keys = OFF")
    for name in [row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]:
        store.execute(f"DROP TRIGGER {name}")
