"""The paper's algorithms are run as they were written: right shapes, right scales, and the known leaks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit import unsound

DRAWS = 4000


def test_threshold_testing_has_an_event_that_only_one_neighbour_can_cause() -> None:
    # Scores (0, 1) and, with one row more, (1, 1): the answer (0, 1) has probability (1 − 1/e)/2 and 0.
    rng = np.random.default_rng(0)
    answers = [unsound.private_threshold_testing([0, 1], 0, 1.0, rng, monotone=True).tolist() for _ in range(DRAWS)]
    share = answers.count([0, 1]) / DRAWS
    assert abs(share - (1 - math.exp(-1)) / 2) < 5 * math.sqrt(0.25 / DRAWS)  # false alarms: under 1 in 10⁶
    others = [unsound.private_threshold_testing([1, 1], 0, 1.0, rng, monotone=True).tolist() for _ in range(DRAWS)]
    assert [0, 1] not in others


def test_the_theorem_doubles_the_noise_of_the_corollary() -> None:
    scores = np.zeros(1)
    for monotone, scale in ((True, 3.0), (False, 6.0)):
        rng = np.random.default_rng(1)
        above = [
            unsound.private_threshold_testing(scores, 6, 1.0, rng, sensitivity=3, monotone=monotone)[0]
            for _ in range(DRAWS)
        ]
        assert abs(np.mean(above) - math.exp(-6 / scale) / 2) < 5 * math.sqrt(0.25 / DRAWS)


def test_a_limit_stops_the_tests() -> None:
    rng = np.random.default_rng(0)
    scores = [1000, 0, 1000, 0, 1000]
    assert unsound.noisy_cut(scores, 500, 1.0, rng, limit=2).tolist() == [1, 0, 1, -1, -1]
    assert unsound.noisy_cut(scores, 500, 1.0, rng).tolist() == [1, 0, 1, 0, 1]
    assert unsound.svt_threshold_noise_only(scores, 500, 1.0, rng, limit=1).tolist() == [1, -1, -1, -1, -1]
    released = unsound.svt_releasing_compared_noise(scores, 500, 1.0, rng, limit=2)
    assert np.isnan(released).tolist() == [False, True, False, True, True]


def test_scales_of_noisy_cut_are_those_of_lee_and_clifton() -> None:
    # Many scores on the threshold: they share one noise of scale 4/ε and have their own of scale 4/(3ε).
    rng = np.random.default_rng(2)
    shares = np.array([unsound.noisy_cut(np.zeros(400), 0, 1.0, rng).mean() for _ in range(1500)])
    own = rng.laplace(0, 4 / 3, 200_000)
    shared = rng.laplace(0, 4, 1500)
    expected = np.array([(own >= value).mean() for value in shared])
    assert np.abs(np.quantile(shares, [0.2, 0.4, 0.6, 0.8]) - np.quantile(expected, [0.2, 0.4, 0.6, 0.8])).max() < 0.08


def test_clusters_are_those_of_exact_counts() -> None:
    points = np.array([[0, 1]] * 40 + [[200, 300]] * 30)
    chosen = unsound.cluster_selection(points, 100, 100.0, np.random.default_rng(0), centers=5)
    assert chosen.tolist() == [False] * 40 + [True] * 30
    by_difference = unsound.cluster_selection(points, 200, 100.0, np.random.default_rng(0), centers=5, score="dc")
    assert not by_difference.any()


def test_smooth_sensitivity_equals_its_definition() -> None:
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 8):
        values = np.sort(rng.random(n))
        padded = {i: values[i] if 0 <= i < n else float(i >= n) for i in range(-3 * n - 5, 4 * n + 5)}
        middle = (n - 1) // 2
        for beta in (0.01, 0.3, 2.0):
            expected = max(
                math.exp(-beta * j) * max(padded[middle + i] - padded[middle + i - j - 1] for i in range(j + 2))
                for j in range(2 * n + 2)
            )
            assert unsound.roc.smooth_sensitivity_of_median(values, beta, 0.0, 1.0) == pytest.approx(expected)


def test_medians_form_a_full_tree_within_the_ends() -> None:
    thresholds = unsound.recursive_medians(np.random.default_rng(0).random(300), 1.0, 4, np.random.default_rng(1))
    assert len(thresholds) == 2**4 + 1
    assert thresholds[0] == 1
    assert thresholds[-1] == 0
    # With much more budget than anybody has, the medians are the exact quantiles.
    scores = np.random.default_rng(0).random(301)
    sharp = unsound.recursive_medians(scores, 1e6, 1, np.random.default_rng(1))
    assert sharp[1] == pytest.approx(np.median(scores), abs=1e-3)


def test_privelet_adds_the_noise_of_its_wavelets() -> None:
    # 8 bins, ε = 1 for each class: the last sum is the base coefficient alone, 8 times Laplace of scale 4/8.
    rng = np.random.default_rng(4)
    thresholds = np.linspace(1, 0, 9)
    scores, positive = np.array([0.3, 0.9]), np.array([False, True])
    draws = np.array([unsound.privelet_counts(scores, positive, thresholds, 2.0, rng) for _ in range(DRAWS)])
    assert np.abs(draws.mean(axis=0)[0] - [1, 1, 1, 1, 1, 1, 1, 1]).max() < 1
    assert draws[:, 0, -1].std() == pytest.approx(4 * math.sqrt(2), rel=0.1)
    # The first bin: base 1/8, and details of weights 8, 4 and 2.
    variance = 2 * 16 * (1 / 64 + 1 / 64 + 1 / 16 + 1 / 4)
    assert draws[:, 1, 0].var() == pytest.approx(variance, rel=0.2)


def test_rates_rise_from_nothing_to_all() -> None:
    scores = np.array([0.1, 0.2, 0.6, 0.9])
    labels = np.array([False, True, False, True])
    thresholds = unsound.data_thresholds(scores, 5)
    counts = unsound.laplace_counts(scores, labels, thresholds, 1e9, np.random.default_rng(0))
    fpr, tpr = unsound.rates(*counts)
    assert tpr[0] == fpr[0] == 0
    assert tpr[-1] == fpr[-1] == 1
    assert (np.diff(tpr) >= 0).all()
    assert tpr.tolist() == pytest.approx([0, 0.5, 0.5, 1, 1])
    assert len(unsound.fixed_space(100, 0.25)) == 26


def test_objective_perturbation_learns_without_noise_to_speak_of() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (500, 3)) / 2
    labels = np.where(rows[:, 0] > 0, 1, -1)
    weights = unsound.erm_logistic(rows, labels, 1e5, rng, regularisation=1e-3)
    assert weights[0] > 3 * np.abs(weights[1:]).max()
    loud = [unsound.erm_logistic(rows, labels, 0.1, np.random.default_rng(i)) for i in range(20)]
    assert np.std(loud, axis=0).min() > 0.1
