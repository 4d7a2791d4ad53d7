"""TopKSelector, ThresholdSelector and ClusterSelector: oracles without noise, receipts, bad parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tacit
from tacit.selection.scores import score_features

RNG = np.random.default_rng(11)
X = sp.csr_array((RNG.random((400, 20)) < np.linspace(0.02, 0.9, 20)).astype(float))
Y = (RNG.random(400) < 0.3 + 0.5 * (X[:, [9]].toarray().ravel() > 0)).astype(int)
DENSE = X.toarray()
ONES = np.array([DENSE[label == Y].sum(axis=0) for label in (0, 1)])
LABELS = np.bincount(Y)
MUCH = 1e6


@pytest.mark.parametrize("score", ["tc", "dc", "pi"])
@pytest.mark.parametrize("method", ["peeling", "one-shot"])
def test_without_noise_the_top_k_are_exact(score: str, method: Any) -> None:
    selector = tacit.TopKSelector(4, score, epsilon=MUCH, method=method, random_state=0).fit(X, Y)
    exact = score_features(score, ONES, LABELS)
    assert sorted(exact[selector.ranking_]) == sorted(np.sort(exact)[-4:])
    assert selector.get_support().sum() == 4


@pytest.mark.parametrize("score", ["tc", "dc", "pi"])
def test_without_noise_a_threshold_is_exact(score: str) -> None:
    exact = score_features(score, ONES, LABELS)
    threshold = float(np.median(exact)) - 0.5
    selector = tacit.ThresholdSelector(threshold, 20, score, epsilon=MUCH, random_state=0).fit(X, Y)
    assert (selector.get_support() == (exact >= threshold)).all()


@pytest.mark.parametrize("score", ["dc", "pi"])
def test_scores_of_more_than_two_classes(score: str) -> None:
    classes = (0, 1, 2)
    labels = RNG.integers(0, 3, 400)
    ones = np.array([DENSE[label == labels].sum(axis=0) for label in classes])
    exact = score_features(score, ones, np.bincount(labels))
    top = tacit.TopKSelector(4, score, epsilon=MUCH, classes=classes, random_state=0).fit(X, labels)
    assert sorted(exact[top.ranking_]) == sorted(np.sort(exact)[-4:])
    threshold = float(np.median(exact))
    reached = tacit.ThresholdSelector(threshold, 20, score, epsilon=MUCH, classes=classes, random_state=0)
    assert (reached.fit(X, labels).get_support() == (exact >= threshold)).all()


def test_a_threshold_stops_after_the_limit() -> None:
    selector = tacit.ThresholdSelector(1, 3, epsilon=MUCH, random_state=0).fit(X, Y)
    assert selector.get_support().sum() == 3
    assert (selector.answers_ == -1).any()


@pytest.mark.parametrize("threshold", [1, 60, 150.5, 399])
def test_without_noise_a_screening_is_exact(threshold: float) -> None:
    selector = tacit.ThresholdSelector(threshold, None, epsilon=MUCH, random_state=0).fit(X, Y)
    assert (selector.get_support() == (DENSE.sum(axis=0) >= threshold)).all()
    assert set(selector.answers_.tolist()) <= {0, 1}


def test_a_screening_finds_the_frequent_among_many() -> None:
    """Where counts of 400 in rows of a dozen of 3,000 features are a few times the noise."""
    rng = np.random.default_rng(3)
    share = np.r_[np.full(30, 0.1), np.full(2970, 0.003)]
    matrix = sp.csr_array((rng.random((6000, 3000), dtype=np.float32) < share).astype(float))
    selector = tacit.ThresholdSelector(400, None, epsilon=0.5, random_state=1).fit(matrix, np.zeros(6000))
    right = selector.get_support()[:30].sum()
    assert 2 * right / (30 + selector.get_support().sum()) > 0.9


def test_a_screening_bounds_what_persons_bring() -> None:
    unit = tacit.Unit.user("person", max_rows=2)
    account = tacit.Ledger.open().account("persons", budget=tacit.Budget(1.0), unit=unit)
    persons = np.arange(400) // 4
    selector = tacit.ThresholdSelector(5, None, account=account).fit(X, Y, persons=persons)
    step = selector.receipt_["steps"][0]
    assert step["sensitivity"]["l1"] == 2
    assert step["noise"]["account"] == "1/2"


def test_a_screening_is_of_total_counts_above_0() -> None:
    with pytest.raises(tacit.ParameterError, match="'max_selected' parameter of ThresholdSelector"):
        tacit.ThresholdSelector(5, None, "dc").fit(X, Y)
    with pytest.raises(tacit.ParameterError, match="'threshold' parameter of ThresholdSelector"):
        tacit.ThresholdSelector(0, None).fit(X, Y)


def test_without_noise_clusters_are_those_of_exact_counts() -> None:
    """As many clusters as features: each stands for itself."""
    selector = tacit.ClusterSelector(100, 20, epsilon=MUCH, max_ones=20, random_state=0).fit(X, Y)
    assert (selector.get_support() == (DENSE.sum(axis=0) >= 100)).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda **o: tacit.TopKSelector(2, **o),
        lambda **o: tacit.ThresholdSelector(10, 2, **o),
        lambda **o: tacit.ThresholdSelector(10, None, **o),
        lambda **o: tacit.ClusterSelector(10, 3, **o),
    ],
    ids=["TopKSelector", "ThresholdSelector", "ThresholdSelector without a limit", "ClusterSelector"],
)
@pytest.mark.filterwarnings("ignore")
class TestEverySelector:
    def test_the_account_pays_once(self, make: Any) -> None:
        account = tacit.Ledger.open().account("data", budget=tacit.Budget(1.0))
        first = make(epsilon=0.3, account=account).fit(X, Y)
        second = make(epsilon=0.3, account=account).fit(X, Y)
        assert account.spent.epsilon == pytest.approx(0.3)
        assert (first.get_support() == second.get_support()).all()
        assert first.receipt_["status"] == "private"

    @pytest.mark.parametrize("rows", [np.zeros((0, 4)), np.ones((3, 4)), np.zeros((9, 4))])
    def test_degenerate_data(self, make: Any, rows: Any) -> None:
        selector = make(random_state=0).fit(rows, np.zeros(len(rows)))
        assert selector.get_support().shape == (4,)

    @pytest.mark.parametrize(
        ("change", "name"),
        [
            ({"score": "nonsense"}, "score"),
            ({"score": np.array(["tc"])}, "score"),
            ({"epsilon": 0.0}, "epsilon"),
            ({"classes": 3}, "classes"),
        ],
    )
    def test_bad_parameters_are_named(self, make: Any, change: dict[str, Any], name: str) -> None:
        with pytest.raises(tacit.ParameterError, match=f"'{name}' parameter of"):
            make(**change).fit(X, Y)


@pytest.mark.parametrize("name", ["PrivateThresholdTesting", "PTT", "NoisyCut", "NoisyCutSelector"])
def test_the_paper_s_unsound_selectors_explain_themselves(name: str) -> None:
    with pytest.raises(AttributeError, match="ThresholdSelector"):
        getattr(tacit, name)
    assert not hasattr(tacit, name)
    for text in (f"from tacit import {name}", f"from tacit import Ledger, {name} as wanted"):
        with pytest.raises(ImportError, match=rf"tacit has no '{name}': .*Use tacit.ThresholdSelector"):
            exec(text, {})
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        exec("from tacit import Nothing", {})


def test_information_gain_is_left_to_counts() -> None:
    with pytest.raises(tacit.ParameterError, match="use CountSelector"):
        tacit.TopKSelector(2, "ig").fit(X, Y)
