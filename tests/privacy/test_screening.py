"""Screening, exactly: the real procedure on every data set of a tiny domain, along every path of answers."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.audit.screened import Row, Told, answer_logs, columns, largest_loss
from tacit.errors import ParameterError, PrivacyError
from tacit.ledger import Ledger
from tacit.privacy import gate, screening
from tacit.privacy._drawing import _Chance
from tacit.privacy._noise import SeededEntropy, geometric
from tacit.privacy.budget import Budget
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import DiscreteLaplace
from tacit.privacy.screening import ACCOUNT, ExactRows, Round, Screen, Screening, rounds
from tacit.privacy.unit import Bound, Sensitivity, Unit


@pytest.mark.parametrize(
    ("width", "threshold", "epsilon", "most", "unit", "turns"),
    [(2, 1, 2, 2, 1, 64), (2, 3, 8, 2, 1, 64), (3, 2, 1, 1, 1, 2), (2, 2, 3, 1, 2, 1)],
    ids=["likely", "sure", "two turns", "persons, one turn"],
)
def test_no_row_more_changes_an_output_by_more_than_epsilon(
    width: int, threshold: int, epsilon: int, most: int, unit: int, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screening, "BLOCKS", turns)
    worst, pairs = largest_loss(width, threshold, Fraction(epsilon), most, unit)
    assert pairs > 20
    assert worst <= epsilon + 1e-9
    assert worst >= 0.8 * epsilon


def test_rows_that_do_not_pay_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Screen, "_pay", lambda *_: None)
    assert largest_loss(2, 1, Fraction(2), 1)[0] > 2.2


def test_the_probabilities_of_all_outputs_add_up_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the law above is the whole law. Whatever is chosen, the masses of the choices are those of all candidates."""
    monkeypatch.setattr(screening, "LONGER", screening.LONGER[:30:8])
    monkeypatch.setattr(screening, "SIZES", np.array([1, 4]))
    total = 0.0
    for fates in itertools.product(range(4), repeat=2):
        for size, first in itertools.product(range(2), range(len(screening.LONGER))):
            second, known = 0, 1
            while second < known:
                told = Told(fates, (size, first, second))
                Screen(*columns([(0,), (0, 1), (1,)]), 2, 2, Fraction(3, 2), told).run()
                total += math.exp(told.log_probability)
                second, known = second + 1, told.candidates
    assert total == pytest.approx(1, abs=1e-9)


def test_noise_has_the_law_of_the_proof() -> None:
    up, down, count = Fraction(7), Fraction(19, 3), 200_000
    entropy = SeededEntropy(4)
    noise = geometric(up, count, entropy) - geometric(down, count, entropy)
    for gap in (-25, -9, -1, 0, 1, 2, 12, 30):
        p = math.exp(answer_logs(gap, float(up), float(down))[0])
        assert abs((noise >= gap).mean() - p) < 6 * math.sqrt(p * (1 - p) / count)


@given(
    data=st.lists(st.sets(st.integers(0, 5)).map(lambda s: tuple(sorted(s))), max_size=12),
    threshold=st.integers(1, 9),
    epsilon=st.fractions(Fraction(1, 100), 10**4),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=60, deadline=None)
def test_no_account_is_overdrawn(data: list[Row], threshold: int, epsilon: Fraction, seed: int) -> None:
    screen = Screen(*columns(data), 6, threshold, epsilon, _Chance(SeededEntropy(seed)))
    answers = screen.run()
    assert set(answers.tolist()) <= {0, 1}
    for account in (screen._yes, screen._no):
        assert (account >= 0).all()
        assert (account <= ACCOUNT - 2 * screening.LOOK - screening.SIZE).all()


@given(
    data=st.lists(st.sets(st.integers(0, 5)).map(lambda s: tuple(sorted(s))), min_size=1, max_size=30),
    threshold=st.integers(1, 12),
)
@settings(max_examples=60, deadline=None)
def test_without_noise_it_is_exact(data: list[Row], threshold: int) -> None:
    indptr, indices = columns(data)
    answers = Screen(indptr, indices, 6, threshold, Fraction(10**9), _Chance(SeededEntropy(1))).run()
    assert (answers == (np.bincount(indices, minlength=6) >= threshold)).all()


@given(st.floats(1e-6, 1e12), st.integers(1, 10**7), st.floats(1, 1e15))
def test_the_rounds_are_valid_whatever_is_known(signal: float, width: int, crowd: float) -> None:
    first, second, third = rounds(signal, width, crowd)
    assert all(isinstance(plan, Round) and min(plan.yes, plan.no) >= 1 for plan in (first, second, third))
    assert first.threshold >= 1.5
    assert 0.8 <= third.threshold <= 1


def rows_of(data: list[Row], width: int = 3, unit: Unit | None = None) -> ExactRows:
    chosen = unit or Unit.row()
    sensitivity = Sensitivity.of_whole_rows(Bound(rows=chosen.max_rows, ones=1))
    return ExactRows(*columns(data), width, sensitivity=sensitivity, unit=chosen, query="q", version="1")


def test_the_gate_charges_and_tells_how() -> None:
    account = Ledger.open().account("texts", budget=Budget(1.0))
    release = gate.release(account, rows_of([(0, 1), (1,)] * 200), Screening(1.0, 150))
    assert account.spent.epsilon == 1.0
    assert release.values.shape == (3,)
    assert release.receipt["mechanism"] == "screening"
    assert release.receipt["noise"]["threshold"] == 150


def test_rows_leave_by_screening_alone() -> None:
    account = Ledger.open().account("texts", budget=Budget(1.0))
    with pytest.raises(PrivacyError, match="opened by Screening"):
        gate.release(account, rows_of([(0,)]), DiscreteLaplace(1.0))
    counts = Exact(
        np.zeros(3, dtype=int),
        sensitivity=Sensitivity.of_row_counts(Bound(1, 1)),
        unit=Unit.row(),
        query="q",
        version="1",
    )
    with pytest.raises(PrivacyError, match="takes nothing else"):
        gate.release(account, counts, Screening(1.0, 5))
    assert account.spent.epsilon == 0


@pytest.mark.parametrize(
    ("epsilon", "threshold", "name"), [(1.0, 0, "threshold"), (1.0, 2**40, "threshold"), (0, 5, "epsilon")]
)
def test_bad_parameters_are_named(epsilon: float, threshold: int, name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        Screening(epsilon, threshold)


def test_an_epsilon_too_small_for_the_noise_is_refused_before_it_is_charged() -> None:
    account = Ledger.open().account("texts", budget=Budget(1.0))
    with pytest.raises(ParameterError, match="noise scale"):
        gate.release(account, rows_of([(0,)]), Screening(1e-6, 5))
    assert account.spent.epsilon == 0
