"""Noise scaled to smooth sensitivity: profiles of neighbours, the ladder, the exact law, and all of it together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit import Budget, Ledger, ParameterError, Unit
from tacit.data.scores import median_profiles
from tacit.privacy import _noise, gate
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import DiscreteLaplace
from tacit.privacy.smooth import FINENESS, LEAST_SCALE, RUNGS, STEP, SmoothNoise, ladder
from tacit.privacy.unit import Bound, Sensitivity
from tests.privacy import noise_laws as laws

F = Fraction
Rows = tuple[int, ...]
REACH = 6


def log_mass(z: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """The law in closed form: Σ t²/(t² + z²) over the integers is π·t·coth(π·t)."""
    return -np.log1p((z / scale) ** 2) - math.log(math.pi * scale / math.tanh(math.pi * scale))


def profile(rows: Rows, width: int, reach: int = REACH) -> NDArray[np.int64]:
    cells = np.bincount(np.array(rows, dtype=int), minlength=reach)
    return median_profiles(np.concatenate([[0], np.cumsum(cells)]), np.array([0, reach]), width)


def neighbours(most: int) -> Iterator[tuple[Rows, Rows]]:
    for size in range(most):
        for rows in itertools.combinations_with_replacement(range(REACH), size):
            for added in range(REACH):
                yield rows, tuple(sorted((*rows, added)))


def test_profiles_are_what_a_slow_definition_says() -> None:
    for rows, _ in neighbours(5):
        x = dict(enumerate(rows, 1))
        j = -(-len(rows) // 2)

        def at(i: int, x: dict[int, int] = x, n: int = len(rows)) -> int:
            return 0 if i < 1 else REACH if i > n else x[i]

        wanted = [at(j), *(at(j + k) - at(j - k) for k in range(1, 5))]
        assert profile(rows, 4).tolist() == [wanted]


def test_profiles_of_neighbours_are_related_as_the_proof_needs() -> None:
    for rows, more in neighbours(6):
        (first, *gaps), (second, *others) = profile(rows, 9)[0], profile(more, 9)[0]
        assert abs(first - second) <= min(gaps[0], others[0])
        assert all(a <= b for a, b in zip(gaps, others[1:], strict=False))
        assert all(b <= a for a, b in zip(gaps[1:], others, strict=False))


@settings(max_examples=25, deadline=None)
@given(st.fractions(F(1, 10**6), 50), st.integers(1, 10**6))
def test_a_ladder_hides_every_gap_and_climbs_slowly(share: Fraction, reach: int) -> None:
    steps = ladder(share, reach)
    scales = [F(scale, FINENESS) for scale in steps.scales]
    assert scales[0] >= LEAST_SCALE
    assert scales[-1] >= reach / share
    assert len(scales) <= RUNGS + 1
    assert all(a < b <= a * (1 + STEP * share) for a, b in itertools.pairwise(scales))
    assert all(limit <= scale * share for limit, scale in zip(steps.limits.tolist(), scales, strict=True))
    slope = 4 * math.pi / math.sinh(4 * math.pi)  # what the sum over the integers adds to the integral, at scale 2
    assert (1 + slope) * float(STEP) <= 1


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("epsilon", [0.3, 2.0, 20.0])
def test_medians_are_as_private_as_they_say(epsilon: float, rows: int) -> None:
    """Every multiset of up to five tuples in six cells, every unit added, every output; tails are monotone beyond."""
    sensitivity = Sensitivity.of_median_profiles(Bound(rows=rows, ones=1), REACH, 0)
    mechanism = SmoothNoise(epsilon)
    width = mechanism.ladder(sensitivity).width
    outputs = np.concatenate([np.arange(-3000, 3001), [-(10**9), 10**9]]).astype(float)

    def log_probabilities(data: Rows) -> NDArray[np.float64]:
        values = profile(data, width)
        (scale,) = mechanism.scales(values[:, 1:], sensitivity)
        return log_mass(outputs - values[0, 0], float(scale))

    found: dict[Rows, NDArray[np.float64]] = {(): log_probabilities(())}
    for _, more in neighbours(5):
        found.setdefault(more, log_probabilities(more))
    worst = 0.0
    for data, logs in found.items():
        for size in range(1, rows + 1):
            for added in itertools.combinations_with_replacement(range(REACH), size):
                bigger = found.get(tuple(sorted((*data, *added))))
                if bigger is not None:
                    worst = max(worst, float(np.abs(logs - bigger).max()))
    assert worst <= epsilon + 1e-9
    assert worst >= epsilon / 4 or epsilon > 10, "noise is not much larger than it must be"


@pytest.mark.parametrize("scale", [F(2), F(7, 2), F(150_001, FINENESS), F(40)])
def test_proposals_and_acceptance_make_the_law_exactly(scale: Fraction) -> None:
    """Rational arithmetic: proposal × acceptance is one constant times scale²/(scale² + z²) for each z."""
    start = math.ceil(scale)
    for z in [*range(5 * start), 10**6, 10**12]:
        shell = 0 if z < start else (z // start).bit_length()
        proposal = F(1, 4 * start) if shell == 0 else F(1, 2 * start * 4**shell)
        keep = F(*_noise.cauchy_acceptance(z, shell, scale))
        assert 0 < keep <= 1
        assert proposal * keep == scale**2 / (scale**2 + z * z) / (8 * start)


def test_what_is_far_out_is_moved_after_the_noise_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise alone was: the whole tail of one median was at a place where the next median had no chance to be."""
    sensitivity = Sensitivity.of_median_profiles(Bound(rows=1, ones=1), REACH, 0)
    width = SmoothNoise(1.0).ladder(sensitivity).width
    sensitivity = Sensitivity.of_median_profiles(Bound(rows=1, ones=1), REACH, width)

    def released(rows: Rows, noise: int) -> int:
        monkeypatch.setattr(_noise, "discrete_cauchy", lambda scales, source: [noise] * len(scales))
        median = Exact(profile(rows, width), sensitivity=sensitivity, unit=Unit.row(), query="median", version="1")
        account = Ledger.open().account("far", budget=Budget(1.0))
        return int(gate.release(account, median, SmoothNoise(1.0)).values[0])

    assert profile((1,), width)[0, 0] != profile((1, 5, 5), width)[0, 0]
    for noise in (2**61 - 1, 2**61, 2**80, -(2**61) - 9, -(2**80)):
        found = {rows: released(rows, noise) for rows in ((1,), (1, 5, 5))}
        assert set(found.values()) <= {2**61, -(2**61)}, noise


@pytest.mark.parametrize("scale", [F(2), F(23, 3)])
def test_draws_follow_the_law(scale: Fraction) -> None:
    """8,000 draws: a scale that is wrong by 20 % would be noticed with a chance above 99 %."""
    draws = np.array(_noise.discrete_cauchy([scale] * 8000, _noise.SeededEntropy(4)))
    reach = 40_000

    def masses(t: float) -> laws.Masses:
        return lambda x: np.exp(log_mass(x.astype(float), t))

    ends = laws.cells(masses(float(scale)), reach, 0.02)
    claimed = laws.cell_masses(masses(float(scale)), ends, reach)
    for wrong in (0.8, 1.2):
        other = laws.cell_masses(masses(float(scale) * wrong), ends, reach)
        assert laws.power(other, claimed, len(draws), 1e-6) > 0.99
    assert laws.p_value(laws.tally(np.clip(draws, -reach, reach), ends), claimed) > 1e-6


class TestGate:
    def exact(self, width: int, sensitivity: Sensitivity | None = None) -> Exact:
        known = sensitivity or Sensitivity.of_median_profiles(Bound(rows=1, ones=1), REACH, width)
        return Exact(profile((2, 3), width), sensitivity=known, unit=Unit.row(), query="median", version="1")

    def test_a_release(self) -> None:
        account = Ledger.open().account("tiny", budget=Budget(1.0))
        mechanism = SmoothNoise(1.0)
        width = mechanism.ladder(self.exact(0).sensitivity).width
        found = gate.release(account, self.exact(width), mechanism)
        assert found.values.shape == (1,)
        assert found.receipt["mechanism"] == "smooth sensitivity"
        assert account.remaining.epsilon == 0

    def test_what_is_refused_costs_nothing(self) -> None:
        account = Ledger.open().account("tiny", budget=Budget(1.0))
        with pytest.raises(ParameterError, match="entries of a profile"):
            gate.release(account, self.exact(1), SmoothNoise(1.0))
        counts = Sensitivity.of_row_counts(Bound(rows=1, ones=1))
        with pytest.raises(ParameterError, match="of_median_profiles"):
            gate.release(account, self.exact(3, counts), SmoothNoise(1.0))
        assert account.spent.epsilon == 0

    def test_other_mechanisms_see_the_whole_range(self) -> None:
        """The norms are true as well: with Laplace noise a profile costs what its range does."""
        assert DiscreteLaplace(1.0).scale(self.exact(3).sensitivity) == 4 * REACH
