"""The statistical audit: it sees what is there, at its stated confidence, and says no more than that."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import Budget, ParameterError
from tacit.audit import audit
from tacit.audit.outputs import encode, last_bit
from tacit.audit.statistical import collect, lower_bound


class Response:
    """Randomised response that tells the truth with a chance p: ε = ln(p/(1−p))."""

    def __init__(self, p: float, seed: int) -> None:
        self.p, self.coin = p, random.Random(seed)

    def __call__(self, truth: int) -> int:
        return truth if self.coin.random() < self.p else 1 - truth


def test_it_proves_almost_all_of_what_is_there() -> None:
    """ln 3 = 1.0986 at 20,000 runs: within 10 %, and never above it at this confidence."""
    finding = tacit.audit.audit(Response(0.75, 1), (0, 1), claimed=Budget(0.5), runs=20_000)
    assert 0.98 < finding.epsilon < math.log(3)
    assert finding.violation
    assert "violation: ε is at least" in str(finding)
    assert finding.to_json()["proven_epsilon"] == finding.epsilon


def test_floating_point_noise_is_caught_and_the_finding_says_by_what() -> None:
    """3 + x has fewer digits behind the point than 2 + x where both are below 1: the digits tell, not the noise."""
    noise = np.random.default_rng(0)
    finding = audit(lambda rows: sum(rows) + noise.laplace(), ([1, 1, 1], [1, 1]), claimed=Budget(1.0), runs=10_000)
    assert finding.violation
    assert "last bit of value 0" in finding.event
    rounded = audit(lambda rows: round(sum(rows) + noise.laplace(), 3), ([1, 1, 1], [1, 1]), claimed=Budget(1.0))
    assert not rounded.violation


def test_it_never_calls_anything_private() -> None:
    finding = audit(Response(0.75, 2), (0, 1), claimed=Budget(1.2), runs=4000)
    assert not finding.violation
    assert str(finding).startswith("no violation found")
    assert "private" not in str(finding)


def test_false_alarms_are_as_rare_as_stated() -> None:
    """A mechanism that is exactly as bad as it says: at 90 % confidence at most one audit in ten may say more."""
    alarms = sum(
        audit(Response(0.75, seed), (0, 1), claimed=Budget(math.log(3)), runs=400, confidence=0.9).violation
        for seed in range(150)
    )
    assert alarms <= 26  # 150 audits at 10 %: more has a chance of 1 % at most


def test_the_bound_is_clopper_and_pearson_s() -> None:
    assert lower_bound(0, 0, 100, 0.05, 0.0) == 0
    assert lower_bound(100, 0, 100, 0.05, 0.0) == pytest.approx(math.log(0.025 ** (1 / 100) / (1 - 0.025 ** (1 / 100))))
    assert lower_bound(60, 20, 100, 0.05, 0.3) < lower_bound(60, 20, 100, 0.05, 0.0)


def test_a_delta_excuses_what_is_rarer() -> None:
    coin = random.Random(3)

    def leaky(data: int) -> str:
        return f"secret {data}" if coin.random() < 0.2 else "nothing"

    assert audit(leaky, (0, 1), claimed=Budget(1.0, 0.25), runs=4000).epsilon == 0
    assert audit(leaky, (0, 1), claimed=Budget(1.0, 0.01), runs=4000).violation


def leaking_length(data: int) -> list[float]:
    return [random.random() for _ in range(2 + (data and random.random() < 0.5))]


def raising(data: int) -> float:
    if data and random.random() < 0.3:
        raise ValueError("too many rows")
    return 0.0


def constant(data: int) -> dict[str, Any]:
    return {"answer": None, "rows": np.zeros(3)}


@pytest.mark.parametrize("run", [leaking_length, raising])
def test_lengths_and_errors_are_outputs(run: Any) -> None:
    assert audit(run, (0, 1), claimed=Budget(1.0), runs=2000).violation


def test_what_does_not_depend_on_data_shows_nothing() -> None:
    assert audit(constant, (0, 1), claimed=Budget(0.1), runs=500).epsilon == 0


def test_an_error_of_every_run_is_the_user_s() -> None:
    with pytest.raises(ZeroDivisionError):
        audit(lambda data: 1 / 0, (0, 1), claimed=Budget(1.0), runs=200)


def test_several_processes_make_the_same_number_of_runs() -> None:
    first, second = collect(_times, (1, 2), 300, seconds=60, jobs=2, progress=False)
    assert (set(first), set(second), len(first), len(second)) == ({1}, {2}, 300, 300)


def _times(data: int, count: int) -> list[int]:
    return [data] * count


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that leaps a minute at each reading, it stops as soon as there are enough runs to say anything."""
    from tacit.audit import statistical

    clock = iter(range(0, 10**6, 60))
    monkeypatch.setattr(statistical.time, "monotonic", lambda: next(clock))
    finding = audit(Response(0.9, 4), (0, 1), claimed=Budget(1.0), runs=50_000, seconds=30)
    assert 100 <= finding.runs < 5_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"run": 3}, "'run'"),
        ({"pair": (1, 2, 3)}, "'pair'"),
        ({"claimed": 1.0}, "'claimed'"),
        ({"runs": 10}, "'runs'"),
        ({"runs": True}, "'runs'"),
        ({"confidence": 1.0}, "'confidence'"),
        ({"seconds": 0.0}, "'seconds'"),
    ],
)
def test_bad_input(arguments: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"run": constant, "pair": (0, 1), "claimed": Budget(1.0), "runs": 200} | arguments
    run, pair = given.pop("run"), given.pop("pair")
    with pytest.raises(ParameterError, match=words):
        audit(run, pair, **given)


def test_outputs_become_numbers() -> None:
    seen = encode([{"b": [1, 2.5], "a": "x"}, {"b": [1, 2.5], "a": "x"}, {"b": [1], "a": "y"}, None])
    assert seen.atoms.tolist() == [0, 0, -1, -1]
    assert seen.columns[:2, :2].tolist() == [[1, 2.5], [1, 2.5]]
    assert seen.titles == ["value 0", "value 1", "length", "last bit of value 1"]
    assert last_bit(np.array([1.0, 6.0, 2.5, 0.1, 0.0])).tolist() == [0, 1, -1, -55, 1024]
