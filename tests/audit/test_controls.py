"""The controls: every sound mechanism by its laws in full, replays and runs in short; broken ones are caught."""

from __future__ import annotations

import pytest

from tacit.audit.controls import ENTRIES, FAMILY_ALARM, find, plan, run_all
from tacit.audit.entries import Effort, Entry, Skipped
from tacit.errors import ParameterError
from tacit.privacy import _noise
from tacit.privacy.mechanisms import PartitionSelection

EXACT = [(entry, claim) for entry in ENTRIES for claim in entry.epsilons if entry.method == "exact"]
REPLAYS = [entry for entry in ENTRIES if entry.method == "replay"]
BROKEN = [entry for entry in ENTRIES if entry.expected == "violation"]
SLOW = ("tune, many runs", "roc_curve, many runs")  # left to `make audit`; their laws and replays are here
SOUND_RUNS = [e for e in ENTRIES if e.method == "runs" and e.expected == "none" and e.name not in SLOW]

TIGHT = {"discrete", "selection", "top-k", "counts", "sparse", "partition", "objective"}
SHORT = Effort(share=0.05, confidence=1 - FAMILY_ALARM / 100)


@pytest.mark.parametrize(("entry", "claim"), EXACT, ids=lambda value: getattr(value, "name", str(value)))
def test_laws_keep_what_is_claimed_and_waste_little(entry: Entry, claim: float) -> None:
    """Over all neighbours of a small domain; noise, counts and choices use at least nine tenths of ε somewhere."""
    finding = entry.check(claim, Effort())
    assert not finding.violation, str(finding)
    if entry.name.split()[0] in TIGHT:
        assert finding.epsilon >= 0.9 * claim
    else:
        assert finding.epsilon >= 0.35 * claim


@pytest.mark.parametrize("entry", REPLAYS, ids=lambda entry: entry.name)
def test_procedures_keep_what_they_claim(entry: Entry) -> None:
    finding = entry.check(1.0, SHORT)
    assert not finding.violation, str(finding)
    assert finding.epsilon > 0.2


@pytest.mark.parametrize("entry", SOUND_RUNS, ids=lambda entry: entry.name)
def test_runs_find_no_violation(entry: Entry) -> None:
    assert not entry.check(1.0, SHORT).violation


@pytest.mark.parametrize("entry", BROKEN, ids=lambda entry: entry.name)
def test_broken_mechanisms_are_caught(entry: Entry) -> None:
    try:
        finding = entry.check(entry.epsilons[0], Effort(confidence=1 - FAMILY_ALARM / 100))
    except Skipped as reason:
        pytest.skip(str(reason))
    assert finding.violation, str(finding)


def test_all_that_is_known_to_be_broken_is_there() -> None:
    words = (
        "PTT, corollary, cluster, NoisyCut, compared noise, threshold only, Medians, true n, s not enforced, "
        "vocabulary, half the scale, permutation, floating-point, diffprivlib"
    )
    names = " ".join(entry.name for entry in BROKEN)
    assert [word for word in words.split(", ") if word not in names] == []


def test_entries_are_found_by_name_by_class_and_in_part() -> None:
    assert [entry.name for entry in find("discrete laplace noise")] == ["discrete Laplace noise"]
    assert {entry.method for entry in find("BernoulliNB")} == {"replay", "runs"}
    assert [entry.name for entry in find("PTT)")] == ["Private Threshold Testing (PTT)"]
    with pytest.raises(ParameterError, match="--mechanism"):
        find("nonsense")


def test_entries_run_together_and_in_order() -> None:
    """Two processes; the allowed chance of a false alarm is divided among the runs, and exact entries need none."""
    planned = plan(find("discrete Laplace"))
    assert len(planned) == 8
    results = run_all(planned, Effort(share=0.001), jobs=2)
    assert [result.entry.name for result in results] == [entry.name for entry, _ in planned]
    assert all(result.as_expected for result in results)
    assert {result.finding.confidence for result in results} == {1.0, 1 - FAMILY_ALARM / 3}
    assert {"name", "expected", "claimed_epsilon", "proven_epsilon", "violation"} <= set(results[0].to_json())


def test_what_cannot_be_run_is_said_and_no_surprise(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.audit import foreign

    monkeypatch.setenv(foreign.PYTHON, "/no/such/python")
    foreign._python.cache_clear()
    (result,) = run_all(plan(find("diffprivlib")), Effort())
    foreign._python.cache_clear()
    assert result.skipped
    assert result.as_expected
    assert "/no/such/python cannot import diffprivlib" in result.to_json()["reason"]


def test_names_are_unique() -> None:
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("PartitionSelection of a word of five rows, drawn", "half the noise"),
        ("PartitionSelection of a new word, drawn", "a low threshold"),
        ("SmoothNoise, drawn", "an eighth of the noise"),
    ],
)
def test_a_fault_in_what_is_drawn_is_caught(monkeypatch: pytest.MonkeyPatch, name: str, fault: str) -> None:
    """Laws and replays take scales and thresholds from the description of a mechanism: only draws see the sampler."""
    laplace, cauchy, threshold = _noise.discrete_laplace, _noise.discrete_cauchy, PartitionSelection.threshold
    [entry] = find(name)
    [sound] = run_all([(entry, 1.0)], Effort(share=0.5))
    assert not sound.finding.violation
    if fault == "half the noise":
        monkeypatch.setattr(_noise, "discrete_laplace", lambda scale, size, source: laplace(scale / 2, size, source))
    elif fault == "a low threshold":
        monkeypatch.setattr(PartitionSelection, "threshold", lambda self, known: threshold(self, known) - 1)
    else:
        monkeypatch.setattr(_noise, "discrete_cauchy", lambda scales, source: cauchy([t / 8 for t in scales], source))
    [found] = run_all([(entry, 1.0)], Effort(share=0.5))
    assert found.finding.violation
