"""The gate: check and charge, then draw, then store, then return; receipts that tell the truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit import Account, Budget, BudgetError, Ledger, LedgerError, ParameterError, PrivacyError, Unit, __version__
from tacit.ledger import Request
from tacit.ledger.state import State
from tacit.privacy import gate
from tacit.privacy.exact import Exact
from tacit.privacy.loss import Loss
from tacit.privacy.mechanisms import (
    Choice,
    DiscreteGaussian,
    DiscreteLaplace,
    Mechanism,
    SelectEach,
    Selection,
    TopK,
    TopKMethod,
)
from tacit.privacy.unit import Bound, Sensitivity

COUNTS = np.array([[5, 0, 12], [3, 7, 1]])


def counts(
    values: Any = COUNTS, *, version: str = "1", unit: Unit | None = None, bound: Bound | None = None, query: str = "q"
) -> Exact:
    sensitivity = Sensitivity.of_feature_counts(bound or Bound(rows=1, ones=2))
    return Exact(np.asarray(values), sensitivity=sensitivity, unit=unit or Unit.row(), query=query, version=version)


def utilities(values: Any = (9, 1, 5)) -> Exact:
    return counts(values, bound=Bound(rows=1, ones=1))


def balances() -> Exact:
    sensitivity = Sensitivity.of_balances(Bound(rows=1, ones=1), weight=1, candidates=6)
    return Exact(COUNTS, sensitivity=sensitivity, unit=Unit.row(), query="q", version="1")


@pytest.fixture
def account() -> Account:
    return Ledger.open().account("survey", budget=Budget(1.0, 1e-6))


MECHANISMS: list[tuple[Mechanism, Callable[[], Exact], tuple[int, ...]]] = [
    (DiscreteLaplace(0.5), counts, (2, 3)),
    (DiscreteGaussian(0.5, 1e-6), counts, (2, 3)),
    (Selection(0.5), utilities, (1,)),
    (Selection(0.5, Choice.EXPONENTIAL), utilities, (1,)),
    (Selection(0.5, Choice.EXPONENTIAL, weights=[1, 2, 3]), utilities, (1,)),
    (SelectEach(0.5), lambda: balances(), (2,)),
    (TopK(0.5, 2), utilities, (2,)),
    (TopK(0.5, 2, choice=Choice.EXPONENTIAL), utilities, (2,)),
    (TopK(0.5, 2, TopKMethod.ONE_SHOT), utilities, (2,)),
]


class TestRelease:
    @pytest.mark.parametrize(("mechanism", "statistic", "shape"), MECHANISMS)
    def test_every_mechanism_is_charged_and_released(
        self, account: Account, mechanism: Mechanism, statistic: Callable[[], Exact], shape: tuple[int, ...]
    ) -> None:
        release = gate.release(account, statistic(), mechanism)
        assert release.values.shape == shape
        assert release.values.dtype == np.int64
        assert account.spent == mechanism.budget
        (charge,) = account.entries()
        assert (charge.released, charge.steps, charge.simulation) == (1, 1, False)

    @pytest.mark.parametrize(("mechanism", "statistic", "shape"), MECHANISMS)
    def test_asking_again_is_free_and_a_fresh_draw_is_not(
        self, account: Account, mechanism: Mechanism, statistic: Callable[[], Exact], shape: tuple[int, ...]
    ) -> None:
        first = gate.release(account, statistic(), mechanism)
        again = gate.release(account, statistic(), mechanism)
        assert np.array_equal(first.values, again.values)
        assert first.receipt == again.receipt
        assert len(account.entries()) == 1
        gate.release(account, statistic(), mechanism, fresh=True)
        assert len(account.entries()) == 2

    @pytest.mark.parametrize(
        "other",
        [
            counts(version="2"),
            counts(query="another"),
            counts(bound=Bound(rows=1, ones=3)),
            counts(np.zeros((3, 2), dtype=int)),
        ],
    )
    def test_any_difference_makes_another_release(self, account: Account, other: Exact) -> None:
        gate.release(account, counts(), DiscreteLaplace(0.25))
        gate.release(account, other, DiscreteLaplace(0.25))
        assert account.spent == Budget(0.5)

    def test_parts_of_a_split_do_not_share_releases(self, account: Account) -> None:
        parts = account.split("holdout", ["train", "test"])
        for part in parts.values():
            gate.release(part, counts(), DiscreteLaplace(1.0))
        assert account.spent == Budget(1.0)
        assert len(account.entries()) == 2

    def test_large_epsilon_gives_the_exact_values(self) -> None:
        account = Ledger.open().account("survey", budget=Budget(1e6, 1e-6))
        assert np.array_equal(gate.release(account, counts(), DiscreteLaplace(10_000)).values, COUNTS)
        assert gate.release(account, utilities(), Selection(10_000)).values.tolist() == [0]
        assert gate.release(account, utilities(), TopK(10_000, 2)).values.tolist() == [0, 2]
        one_shot = TopK(10_000, 3, TopKMethod.ONE_SHOT)
        assert gate.release(account, utilities(), one_shot).values.tolist() == [0, 2, 1]

    def test_an_empty_statistic_is_released_empty(self, account: Account) -> None:
        assert gate.release(account, counts(np.zeros(0, dtype=int)), DiscreteLaplace(0.5)).values.shape == (0,)

    def test_released_values_cannot_be_changed(self, account: Account) -> None:
        release = gate.release(account, counts(), DiscreteLaplace(0.5))
        with pytest.raises(ValueError, match="read-only"):
            release.values[0, 0] = 0


class TestOrder:
    def test_the_charge_is_durable_before_the_noise_is_drawn(
        self, account: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = []

        def spy(*arguments: Any) -> Any:
            seen.append((account.spent, account.entries()[0].released))
            return original(*arguments)

        original = gate._noise.discrete_laplace
        monkeypatch.setattr(gate._noise, "discrete_laplace", spy)
        gate.release(account, counts(), DiscreteLaplace(0.5))
        assert seen == [(Budget(0.5), 0)]

    def test_no_noise_is_drawn_for_a_refused_charge(self, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gate, "draw", lambda *_: pytest.fail("drawn although refused"))
        with pytest.raises(BudgetError):
            gate.release(account, counts(), DiscreteLaplace(2.0))
        assert account.entries() == []

    def test_two_draws_of_one_charge_give_one_release(self, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
        """Somebody else completes the charge while we draw: theirs was stored first, so we return theirs."""
        original = gate.draw
        inner: list[Any] = []

        def slow(*arguments: Any) -> Any:
            if not inner:
                inner.append(None)
                inner[0] = gate.release(account, counts(), DiscreteLaplace(0.01))
            return original(*arguments)

        monkeypatch.setattr(gate, "draw", slow)
        outer = gate.release(account, counts(), DiscreteLaplace(0.01))
        assert np.array_equal(outer.values, inner[0].values)
        assert len(account.entries()) == 1


class TestReceipt:
    def test_it_states_everything(self, account: Account) -> None:
        receipt = gate.release(account, counts(), DiscreteLaplace(0.5)).receipt
        assert receipt["mechanism"] == "discrete Laplace"
        assert (receipt["epsilon"], receipt["delta"]) == (0.5, 0.0)
        assert receipt["unit"] == "row"
        assert receipt["neighbours"] == "add or remove one unit"
        assert receipt["sensitivity"]["l1"] == 2
        assert "2 feature(s)" in receipt["sensitivity"]["why"]
        assert receipt["noise"]["noise_scale"] == "4"
        assert receipt["dataset"] == "survey"
        assert receipt["ledger"]["entry"] == account.entries()[0].entry
        assert receipt["library"] == f"tacit {__version__}"
        assert receipt["proof"].startswith("docs/proofs/")
        assert receipt["status"] == "private"
        assert json.loads(receipt.to_json()) == dict(receipt)
        assert json.loads(json.dumps(receipt.to_dict())) == dict(receipt)

    def test_it_is_a_small_table_in_a_notebook_with_names_escaped(self, account: Account) -> None:
        release = gate.release(account, counts(query="<script>alert(1)</script>"), DiscreteLaplace(0.5))
        page = release._repr_html_()
        assert page.startswith("<table>")
        assert "&lt;script&gt;" in page
        assert "<script>" not in page
        assert "mechanism" in repr(release.receipt)

    def test_it_cannot_be_changed(self, account: Account) -> None:
        receipt = gate.release(account, counts(), DiscreteLaplace(0.5)).receipt
        with pytest.raises(TypeError):
            receipt["epsilon"] = 0.0  # type: ignore[index]
        receipt.to_dict()["epsilon"] = 0.0
        assert receipt["epsilon"] == 0.5

    def test_a_gaussian_receipt_states_delta_and_rho(self, account: Account) -> None:
        receipt = gate.release(account, counts(), DiscreteGaussian(0.5, 1e-6)).receipt
        assert receipt["delta"] == 1e-6
        assert Fraction(receipt["noise"]["variance"]) >= 2 / (2 * Fraction(receipt["noise"]["rho"])) * Fraction(
            999, 1000
        )

    def test_a_seed_makes_a_simulation_and_the_receipt_says_so(self, account: Account) -> None:
        first = gate.release(account, counts(), DiscreteLaplace(0.25), random_state=3)
        second = gate.release(account, counts(), DiscreteLaplace(0.25), random_state=3, fresh=True)
        private = gate.release(account, counts(), DiscreteLaplace(0.25))
        assert np.array_equal(first.values, second.values)
        assert first.receipt["status"] == "simulation: not private"
        assert account.entries()[0].simulation
        assert private.receipt["status"] == "private"
        assert account.spent == Budget(0.75)


class TestBadInput:
    def test_only_sealed_statistics_pass(self, account: Account) -> None:
        with pytest.raises(PrivacyError, match="it got ndarray, whose sensitivity nobody has derived"):
            gate.release(account, COUNTS, DiscreteLaplace(0.5))  # type: ignore[arg-type]

    def test_the_unit_must_be_the_accounts(self, account: Account) -> None:
        persons = counts(unit=Unit.user("patient", 2))
        with pytest.raises(PrivacyError, match=r"unit 'user \(column 'patient'.*protects 'row'"):
            gate.release(account, persons, DiscreteLaplace(0.5))

    @pytest.mark.parametrize("seed", [-1, 1.5, True, "1", np.random.default_rng(0)])
    def test_odd_seeds_are_refused(self, account: Account, seed: Any) -> None:
        with pytest.raises(ParameterError, match="'random_state'"):
            gate.release(account, counts(), DiscreteLaplace(0.5), random_state=seed)
        assert account.entries() == []

    def test_selection_needs_a_vector_and_enough_candidates(self, account: Account) -> None:
        with pytest.raises(ParameterError, match="vector of utilities"):
            gate.release(account, counts(), Selection(0.5))
        with pytest.raises(ParameterError, match=r"at most the number of candidates \(3\)"):
            gate.release(account, utilities(), TopK(0.5, 4))
        with pytest.raises(ParameterError, match="one for each of 3 candidates"):
            gate.release(account, utilities(), Selection(0.5, Choice.EXPONENTIAL, weights=[1, 1]))
        with pytest.raises(ParameterError, match="vector of utilities"):
            gate.release(account, counts(np.zeros(0, dtype=int)), Selection(0.5))
        assert account.entries() == []

    @pytest.mark.parametrize("mechanism", [DiscreteLaplace(1e-15), DiscreteGaussian(1e-9, 1e-12)])
    def test_noise_too_large_to_be_of_use_is_refused(self, account: Account, mechanism: Mechanism) -> None:
        with pytest.raises(ParameterError, match="larger epsilon"):
            gate.release(account, counts(), mechanism)
        assert account.entries() == []

    def test_a_foreign_mechanism_is_refused(self, account: Account) -> None:
        with pytest.raises(ParameterError, match="one that the gate knows"):
            gate.release(account, counts(), object())  # type: ignore[arg-type]

    @pytest.mark.parametrize("weights", [[0, 1], [-1, 2], [1.5, 1], [2**61, 2**61]])
    def test_bad_weights_are_refused(self, weights: list[Any]) -> None:
        with pytest.raises(ParameterError, match="weights"):
            Selection(0.5, Choice.EXPONENTIAL, weights=weights)

    def test_weights_belong_to_the_exponential_mechanism(self) -> None:
        with pytest.raises(ParameterError, match="except for the exponential mechanism"):
            Selection(0.5, weights=[1, 2])


STEPS = {f"step {i}": DiscreteLaplace(0.02) for i in range(40)}


class TestPlan:
    def test_a_fixed_plan_is_paid_once_and_costs_less_than_its_sum(self, account: Account) -> None:
        plan = gate.Plan(account, "forty counts", STEPS, version="1", delta=1e-6)
        assert account.spent.epsilon < 0.8
        assert account.spent == plan.charge.budget
        receipts = [plan.release(step, counts()).receipt for step in STEPS]
        assert len(account.entries()) == 1
        assert account.entries()[0].released == 40
        assert receipts[1]["plan"] == "step 2 of 40 of 'forty counts', paid once"
        assert receipts[1]["epsilon"] == account.spent.epsilon

    def test_each_step_is_drawn_once(self, account: Account) -> None:
        plan = gate.Plan(account, "two", {"a": DiscreteLaplace(0.1), "b": DiscreteLaplace(0.2)}, version="1")
        assert account.spent == Budget(0.3)
        first = plan.release("a", counts())
        assert np.array_equal(plan.release("a", counts()).values, first.values)
        with pytest.raises(Exception, match="already used for another release"):
            plan.release("a", counts(version="2"))
        again = gate.Plan(account, "two", {"a": DiscreteLaplace(0.1), "b": DiscreteLaplace(0.2)}, version="1")
        assert np.array_equal(again.release("a", counts()).values, first.values)
        assert account.spent == Budget(0.3)

    def test_a_gaussian_plan(self, account: Account) -> None:
        steps = {f"g{i}": DiscreteGaussian(0.1, 1e-7) for i in range(9)}
        gate.Plan(account, "gaussians", steps, version="1", delta=1e-6)
        assert account.spent.epsilon < 0.9
        assert account.spent.delta <= 1e-6

    def test_bad_plans(self, account: Account) -> None:
        with pytest.raises(ParameterError, match="at least one step"):
            gate.Plan(account, "none", {}, version="1")
        with pytest.raises(ParameterError, match=r"'delta'.*cover what its steps ask for"):
            gate.Plan(account, "gauss", {"a": DiscreteGaussian(0.1, 1e-7)}, version="1")
        plan = gate.Plan(account, "one", {"a": DiscreteLaplace(0.1)}, version="1")
        with pytest.raises(ParameterError, match=r"one of \['a'\]"):
            plan.release("b", counts())


class TestPurse:
    def test_a_purse_is_paid_at_once_and_never_overdrawn(self, account: Account) -> None:
        purse = gate.Purse(account, "steps", Budget(0.5), version="1")
        assert account.spent == Budget(0.5)
        purse.release(counts(), DiscreteLaplace(0.3))
        for much in (DiscreteLaplace(0.3), DiscreteGaussian(0.1, 1e-9)):
            again = gate.Purse(account, "steps", Budget(0.5), version="1")
            again.release(counts(), DiscreteLaplace(0.3))
            with pytest.raises(PrivacyError, match="not covered"):
                again.release(counts(), much)
        assert account.entries()[0].released == 0
        purse.release(counts(), DiscreteLaplace(0.2), last=True)
        (charge,) = account.entries()
        assert (charge.released, charge.steps, charge.budget) == (1, 1, Budget(0.5))
        with pytest.raises(PrivacyError, match="closed"):
            purse.release(counts(), DiscreteLaplace(0.01))
        assert all(verdict.ok for verdict in account.ledger.verify())

    def test_walking_again_gives_the_stored_draws(self, account: Account) -> None:
        def walk() -> list[list[int]]:
            purse = gate.Purse(account, "steps", Budget(0.5, 1e-6), version="1")
            first = purse.release(utilities(), DiscreteLaplace(0.2))
            second = purse.release(counts(), DiscreteGaussian(0.3, 1e-6), last=True)
            return [first.values.tolist(), second.values.ravel().tolist()]

        assert walk() == walk()
        assert len(account.entries()) == 1
        with pytest.raises(Exception, match="already used for another release"):
            gate.Purse(account, "steps", Budget(0.5, 1e-6), version="1").release(utilities(), DiscreteLaplace(0.1))

    def test_an_error_closes_a_purse_for_good(self, account: Account) -> None:
        """A step that raised was passed over at its tiny price, and the next one was a draw more."""
        drawn = []
        for walk in range(3):
            purse = gate.Purse(account, "steps", Budget(1.0), version="1")
            for _ in range(walk):
                with pytest.raises((PrivacyError, LedgerError)):
                    purse.release(counts(query=f"skipped {walk}"), DiscreteLaplace(1e-6))
            with suppress(PrivacyError, LedgerError):
                drawn.append(purse.release(counts(query=f"walk {walk}"), DiscreteLaplace(0.99)))
        assert len(drawn) == 1
        assert all(verdict.ok for verdict in account.ledger.verify())

    def test_a_purse_that_failed_is_walked_again(self, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: Any) -> Any:
            raise KeyboardInterrupt

        purse = gate.Purse(account, "steps", Budget(1.0), version="1")
        first = purse.release(counts(), DiscreteLaplace(0.5))
        with monkeypatch.context() as patch:
            patch.setattr(gate, "draw", broken)
            with pytest.raises(KeyboardInterrupt):
                purse.release(counts(), DiscreteLaplace(0.5), last=True)
        with pytest.raises(PrivacyError, match="closed"):
            purse.release(counts(), DiscreteLaplace(0.5), last=True)
        again = gate.Purse(account, "steps", Budget(1.0), version="1")
        assert np.array_equal(again.release(counts(), DiscreteLaplace(0.5)).values, first.values)
        again.release(counts(), DiscreteLaplace(0.5), last=True)
        assert [charge.released for charge in account.entries()] == [1]
        assert all(verdict.ok for verdict in account.ledger.verify())

    def test_all_draws_under_a_charge_are_added_up(self, account: Account) -> None:
        """Whoever made them: what is stored decides under the lock, not what a walk remembers."""
        purse, other = (gate.Purse(account, "steps", Budget(1.0), version="1") for _ in range(2))
        purse.release(counts(), DiscreteLaplace(0.9))
        other._drawn.append("passed over")
        with pytest.raises(LedgerError, match="not paid for by that entry"):
            other.release(counts(), DiscreteLaplace(0.2))
        ahead = gate.Purse(account, "steps", Budget(1.0), version="1")
        ahead._drawn += ["passed over"] * 2
        with pytest.raises(LedgerError, match="not paid for by that entry"):
            ahead.release(counts(), DiscreteLaplace(0.01))
        purse.release(counts(), DiscreteLaplace(0.01), last=True)
        late = gate.Purse(account, "steps", Budget(1.0), version="1")
        late._drawn += ["passed over"] * 2
        with pytest.raises(LedgerError, match="not paid for by that entry"):
            late.release(counts(), DiscreteLaplace(0.01))

    def test_a_charge_pays_for_its_own_steps_alone(self, account: Account) -> None:
        charge = account.charge(Request({}, Budget(0.5), Loss.pure(Fraction(1, 2)), "one draw", "q", simulation=False))
        for step in (-1, 1):
            with pytest.raises(LedgerError, match="not paid for"):
                account.store(charge, step, "", b"")
        account.store(charge, 0, "", b"")

    def test_verify_adds_up_what_was_drawn_under_a_purse(
        self, account: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(State, "covers", lambda *_: True)
            for walk in range(2):
                purse = gate.Purse(account, "steps", Budget(1.0), version="1")
                purse._drawn += ["passed over"] * walk
                purse.release(counts(query=f"walk {walk}"), DiscreteLaplace(0.6))
        (verdict,) = account.ledger.verify()
        assert not verdict.ok
        assert "exceeds what it paid for at entry 4" in str(verdict.problem)

    def test_a_purse_names_what_was_drawn(self, account: Account) -> None:
        purse = gate.Purse(account, "steps", Budget(0.5, 1e-6), version="1")
        assert account.entries()[0].mechanism == purse.mechanism == "plan: nothing drawn yet"
        for _ in range(2):
            purse.release(counts(), DiscreteLaplace(0.1))
        assert purse.mechanism == "plan: discrete Laplace, discrete Laplace"
        purse.release(counts(), DiscreteLaplace(0.1))
        purse.release(counts(), DiscreteGaussian(0.1, 1e-6), last=True)
        assert account.entries()[0].mechanism == purse.mechanism == "plan: 3 × discrete Laplace, discrete Gaussian"

    def test_a_purse_that_cannot_be_paid_draws_nothing(self, account: Account) -> None:
        with pytest.raises(BudgetError):
            gate.Purse(account, "steps", Budget(1.5), version="1")
        assert account.entries() == []
