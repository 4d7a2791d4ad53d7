"""The desk: releases only, one charge, and nothing private in sight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacit
from tacit.desk.counts import GRID, Visit, Weighing
from tacit.desk.schemas import CategoryColumn, matrix_schema
from tacit.privacy.mechanisms import DiscreteLaplace

X = (np.random.default_rng(1).random((50, 6)) < 0.4).astype(float)
Y = np.arange(50) % 2


def visit(account: tacit.Account | None = None, random_state: int | None = None, epsilon: float = 1.0) -> Visit:
    return Visit(
        X, Y, matrix_schema(6, (0, 1)), owner="Test", epsilon=epsilon, account=account, random_state=random_state
    )


def test_nothing_is_released_before_it_is_paid() -> None:
    with pytest.raises(tacit.PrivacyError, match="paid"):
        visit().labels("labels")
    with pytest.raises(tacit.PrivacyError, match="released"):
        visit().receipt()


def test_one_charge_pays_for_all_steps() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
    here = visit(account)
    here.start("test", {"labels": here.noise(0.25), "ones": here.noise(0.75)})
    assert account.spent.epsilon == 1.0
    here.labels("labels")
    here.counts("ones", 3)
    assert len(account.entries()) == 1
    receipt = here.receipt()
    assert receipt["epsilon"] == 1.0
    assert [step["step"] for step in receipt["steps"]] == ["labels", "ones"]
    assert receipt["status"] == "private"


def test_a_plan_beyond_the_budget_is_refused_before_anything_is_drawn() -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(0.5))
    with pytest.raises(tacit.BudgetError):
        visit(account).start("test", {"labels": DiscreteLaplace(1.0)})
    assert account.spent.epsilon == 0


def test_simulations_repeat_and_say_so() -> None:
    counts = []
    for _ in range(2):
        here = visit(random_state=3)
        here.start("test", {"ones": here.noise(1)})
        counts.append(here.counts("ones", 2))
        assert here.receipt()["status"].startswith("simulation")
    assert (counts[0] == counts[1]).all()


def test_two_passes_see_the_same_rows() -> None:
    here = visit(random_state=0, epsilon=1e9)
    here.start("test", {"labels": here.noise(0.3), "ones": here.noise(0.3), "sums": here.noise(0.4)})
    assert here.labels("labels").tolist() == [25, 25]
    assert (here.counts("ones", 6) == [X[k == Y].sum(axis=0) for k in (0, 1)]).all()
    weighing = Weighing(np.ones(6, dtype=np.int64), 6, (GRID, GRID))
    words, _, others = here.sums("sums", weighing)
    expected = (X * np.where(Y, 1, -1)[:, None]).sum(axis=0) / 6
    assert np.allclose(words[0], expected, atol=1e-2)
    assert others.shape == (2, 0)


def test_a_visit_shows_no_data() -> None:
    assert "0." not in repr(visit())


def test_another_label_column_of_the_same_file_is_another_release(tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    rows = [(("air", "ash")[i % 2], ("no", "yes")[i % 2], ("yes", "no")[i % 2]) for i in range(400)]
    path.write_text("place,smoker,diabetes\n" + "".join(",".join(row) + "\n" for row in rows))
    account = tacit.Ledger.open().account("survey", budget=tacit.Budget(300.0))
    column = CategoryColumn("place", ("air", "ash"))

    def predicts(label: str, classes: tuple[str, str] = ("no", "yes")) -> str:
        schema = tacit.Schema((column,), classes, label=label)
        model = tacit.TabularClassifier(schema=schema, classes=classes, epsilon=100.0, max_ones=1, account=account)
        return str(model.fit(path, None).predict(pl.DataFrame({"place": ["ash"]}))[0])

    assert [predicts("smoker"), predicts("diabetes"), predicts("smoker", ("yes", "no"))] == ["yes", "no", "yes"]
    assert account.spent.epsilon == 300.0
    predicts("diabetes")
    assert account.spent.epsilon == 300.0, "the very same fit is free"
