"""Private tuning: exact losses of small cases, one charge, and a good choice where noise is small."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import tacit
from tacit.desk.tuning import exact_coin
from tacit.models import _base, tuning

RNG = np.random.default_rng(41)
Y = RNG.integers(0, 2, 800)
X = (RNG.random((800, 12)) < np.where(Y[:, None] == np.arange(12) % 2, 0.6, 0.3)).astype(float)


def best_of(masses: list[float], scores: list[int], gamma: float) -> list[float]:
    """The law of the best run by brute force: sum over numbers of runs of the chance that an output is returned."""
    law = [0.0] * len(masses)
    for k in range(1, 400):
        weight = gamma * (1 - gamma) ** (k - 1)
        for o, mass in enumerate(masses):
            below = sum(m for m, s in zip(masses, scores, strict=True) if s < scores[o])
            up_to = sum(m for m, s in zip(masses, scores, strict=True) if s <= scores[o])
            law[o] += weight * mass * sum(below ** (i - 1) * up_to ** (k - i) for i in range(1, k + 1))
    return law


@pytest.mark.parametrize("gamma", [0.1, 0.5])
def test_the_best_of_many_runs_costs_three(gamma: float) -> None:
    """All pairs of laws on four outputs, two of which tie, whose masses differ by e^±ε₀ before scaling."""
    scores, epsilon = [0, 1, 1, 2], 0.5
    base = [0.4, 0.3, 0.2, 0.1]
    worst = 0.0
    here = best_of(base, scores, gamma)
    assert sum(here) == pytest.approx(1, abs=1e-9)
    for signs in itertools.product((-1, 1), repeat=4):
        raw = [m * math.exp(s * epsilon / 2) for m, s in zip(base, signs, strict=True)]
        there = best_of([m / sum(raw) for m in raw], scores, gamma)
        worst = max(worst, *(abs(math.log(a / b)) for a, b in zip(here, there, strict=True)))
    assert 0.8 * epsilon < worst <= 3 * epsilon


def test_it_charges_once_and_finds_the_better_candidate() -> None:
    """With a seed under which both candidates are run; in one case of five only one is."""
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(300.0))
    candidates = [tacit.BernoulliNB(max_ones=12), tacit.BernoulliNB(max_ones=12, alpha=1e6)]
    best = tacit.tune(candidates, X, Y, epsilon=300.0, account=account, random_state=2)
    assert account.spent.epsilon == 300.0
    assert len(account.entries()) == 1
    assert best.model.score(X, Y) > 0.7
    assert best.receipt["mechanism"] == "private tuning"
    assert best.model.receipt_["epsilon"] == 300.0
    with pytest.raises(tacit.BudgetError):
        tacit.tune(candidates, X, Y, epsilon=0.1, account=account)


@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_are_no_error(rows: int) -> None:
    """An error on no rows at all would tell them from one row: found by the audit."""
    candidates = [tacit.BernoulliNB(max_ones=1), tacit.LogisticRegression()]
    best = tacit.tune(candidates, np.ones((rows, 2)), np.zeros(rows, dtype=int), epsilon=3.0)
    assert best.receipt["status"] == "private"


def test_simulations_repeat() -> None:
    first, second = (
        tacit.tune([tacit.BernoulliNB(), tacit.LogisticRegression()], X, Y, epsilon=3.0, random_state=5)
        for _ in range(2)
    )
    assert (first.candidate, first.score) == (second.candidate, second.score)
    assert first.receipt["status"].startswith("simulation")


@pytest.mark.parametrize(
    "candidates",
    [
        [],
        [object()],
        [tacit.BernoulliNB(delta=1e-6)],
        [tacit.SelectingClassifier(tacit.BernoulliNB(), tacit.CountSelector(k=2, delta=1e-6))],
        [tacit.SelectingClassifier(tacit.BernoulliNB(delta=1e-6), tacit.CountSelector(k=2))],
    ],
)
def test_what_cannot_be_tuned_is_refused(candidates: Any) -> None:
    with pytest.raises(tacit.ParameterError, match="'candidates' parameter of tune"):
        tacit.tune(candidates, X, Y, epsilon=1.0)


NOISE = (RNG.random((800, 30)) < 0.3).astype(float)
WIDE = np.hstack([X[:, :2], NOISE])
"""Two features that tell the label, thirty that tell nothing."""


def chain(selector: Any, classifier: Any = None) -> Any:
    return tacit.SelectingClassifier(classifier or tacit.BernoulliNB(), selector)


def test_selectors_and_their_parameters_are_tuned() -> None:
    """Both candidates are run under these seeds, of which the one that keeps the telling features is better."""
    right = chain(tacit.CountSelector(k=2, score="chi2"))
    wrong = chain(tacit.CountSelector(threshold=-1e6), tacit.BernoulliNB(alpha=1e6))
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(300.0))
    best = tacit.tune([wrong, right], WIDE, Y, epsilon=300.0, account=account, random_state=2)
    assert best.candidate == 1
    assert best.model.selector_.support_.tolist() == [True, True] + [False] * 30
    assert (account.spent.epsilon, len(account.entries())) == (300.0, 1)
    assert not hasattr(right, "selector_"), "copies are fitted"


@pytest.mark.parametrize(
    "selector",
    [
        tacit.CountSelector(k=3),
        tacit.CountSelector(k=3, rounds=2),
        tacit.TopKSelector(k=3, method="one-shot"),
        tacit.ThresholdSelector(200),
        tacit.ThresholdSelector(200, max_selected=None),
        tacit.ClusterSelector(200, n_clusters=3),
    ],
    ids=repr,
)
def test_a_fit_is_shared_as_in_a_workflow(selector: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of 4/15 of ε selects, three quarters classify; nothing else is released but the score."""
    paid: list[Any] = []
    whole = tacit.SelectingClassifier.fit

    def watched(self: Any, X: Any, y: Any) -> Any:
        fitted = whole(self, X, y)
        paid.append([step["epsilon"] for step in fitted.receipt_["steps"]])
        return fitted

    monkeypatch.setattr(tacit.SelectingClassifier, "fit", watched)
    best = tacit.tune([chain(selector)], WIDE, Y, epsilon=15.0)
    assert {tuple(costs) for costs in paid} == {(1.0, 3.0)}
    assert best.receipt["status"] == "private"
    assert {best.model.classifier_.account, best.model.selector_.account} == {None}


@pytest.mark.parametrize("selector", [None, tacit.CountSelector(k=3)])
def test_simulations_with_selectors_repeat(selector: Any) -> None:
    candidates = [chain(selector), tacit.BernoulliNB()]
    first, second = (tacit.tune(candidates, WIDE, Y, epsilon=3.0, random_state=7) for _ in range(2))
    assert (first.candidate, first.score) == (second.candidate, second.score)
    assert np.array_equal(first.model.predict_proba(WIDE), second.model.predict_proba(WIDE))


def test_halves_and_score_draw_from_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[Any] = []
    whole = tuning.noisy_correct

    def watched(guess: Any, y: Any, classes: Any, epsilon: Any, seed: Any) -> int:
        seeds.append(seed)
        return whole(guess, y, classes, epsilon, seed)

    monkeypatch.setattr(tuning, "noisy_correct", watched)
    best = tacit.tune([chain(tacit.CountSelector(k=3))], WIDE, Y, epsilon=3.0, random_state=1)
    halves = [best.model.selector_.random_state, best.model.classifier_.random_state]
    assert len({*halves, *seeds}) == 2 + len(seeds)


def test_a_selector_learns_from_the_classes_of_its_classifier() -> None:
    labels = np.array(["ham", "spam"])[Y]
    candidate = chain(tacit.TopKSelector(k=2, score="dc"), tacit.BernoulliNB(classes=("ham", "spam")))
    best = tacit.tune([candidate], WIDE, labels, epsilon=300.0, random_state=0)
    assert best.model.selector_.support_[:2].all()
    assert best.score > 450


def test_a_tuned_chain_carries_one_receipt_to_a_file(tmp_path: Any) -> None:
    best = tacit.tune([chain(tacit.CountSelector(k=3))], WIDE, Y, epsilon=3.0)
    best.model.save(tmp_path / "model.json")
    loaded = tacit.load(tmp_path / "model.json")
    for part in (loaded, loaded.selector_, loaded.classifier_):
        assert (part.receipt_["mechanism"], part.receipt_["epsilon"]) == ("private tuning", 3.0)
    assert np.array_equal(loaded.predict(WIDE), best.model.predict(WIDE))


class Box:
    """A black box that states its cost and cannot be told another, or (``epsilon=None``) states none."""

    def __init__(self, epsilon: float | None) -> None:
        if epsilon is not None:
            self.epsilon = epsilon

    def fit(self, X: Any, y: Any) -> None:
        self.classes_ = np.array([0, 1])

    def predict_proba(self, X: Any) -> Any:
        return np.full((X.shape[0], 2), 0.5)


@pytest.mark.parametrize("box", [tacit.BlackBoxClassifier(Box(5.0)), tacit.BlackBoxClassifier(Box(None), epsilon=5.0)])
def test_a_black_box_that_spends_more_than_its_share_is_refused(box: Any) -> None:
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(0.3))
    with pytest.raises(tacit.ParameterError, match=r"'candidates' parameter of tune .* at most ε = 0.08"):
        tacit.tune([tacit.BernoulliNB(), box], X, Y, epsilon=0.3, account=account)
    assert account.spent.epsilon == 0


def test_a_black_box_behind_a_selector_has_three_quarters() -> None:
    """Of ε = 3 a fit has 0.8, of which the classifier has 0.6."""
    selector = tacit.CountSelector(k=3)
    told = tacit.BlackBoxClassifier(tacit.BernoulliNB())
    best = tacit.tune([chain(selector, told)], WIDE, Y, epsilon=3.0)
    assert best.model.classifier_.estimator_.epsilon == 0.6
    assert best.receipt["status"] == "private, if the model keeps what it states"
    tacit.tune([chain(selector, tacit.BlackBoxClassifier(Box(0.6)))], WIDE, Y, epsilon=3.0)
    account = tacit.Ledger.open().account("data", budget=tacit.Budget(3.0))
    with pytest.raises(tacit.ParameterError, match=r"'candidates' parameter of tune .* at most ε = 0.6"):
        tacit.tune([chain(selector, tacit.BlackBoxClassifier(Box(0.7)))], WIDE, Y, epsilon=3.0, account=account)
    assert account.spent.epsilon == 0


@pytest.mark.parametrize("inner", [Box(0.08), Box(0.01), tacit.BernoulliNB(max_ones=12)])
def test_what_a_black_box_states_is_said_to_be_believed(inner: Any) -> None:
    best = tacit.tune([tacit.BlackBoxClassifier(inner)], X, Y, epsilon=0.3)
    assert "did not check" in best.receipt["guarantee"]
    assert best.receipt["status"] == "private, if the model keeps what it states"
    assert (best.receipt["mechanism"], best.receipt["proof"]) == ("private tuning", "docs/proofs/private-tuning.md")
    ours = tacit.tune([tacit.BernoulliNB(max_ones=12)], X, Y, epsilon=0.3).receipt
    assert (ours["guarantee"], ours["status"]) == (None, "private")


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, pd.DataFrame])
@pytest.mark.parametrize(
    "model",
    [tacit.BernoulliNB(max_ones=12), tacit.LogisticRegression(), chain(tacit.CountSelector(k=3))],
    ids=lambda m: type(m).__name__,
)
def test_a_prediction_depends_on_its_own_row_to_the_last_bit(kind: Any, model: Any, monkeypatch: Any) -> None:
    """Products of dense matrices by BLAS may not; all rows are scored sparse, whatever they come as."""
    seen: list[bool] = []
    whole = _base.binary_matrix
    monkeypatch.setattr(_base, "binary_matrix", lambda rows: seen.append(sp.issparse(rows)) or whole(rows))
    rows = kind(np.repeat(X, 3, axis=0))
    fitted = tacit.tune([model], rows, np.repeat(Y, 3), epsilon=3.0).model
    assert seen
    assert all(seen)
    alone = np.vstack([fitted.predict_proba(rows[i : i + 1]) for i in range(40)])
    assert np.array_equal(fitted.predict_proba(rows)[:40], alone)


def test_a_coin_is_exact() -> None:
    from fractions import Fraction

    shown = [exact_coin(Fraction(2, 5), lambda n, k=k: k % n) for k in range(5)]
    assert sum(shown) == 2


def test_what_a_run_costs_prints_as_a_number() -> None:
    """Before, it was Fraction(4, 5). A chain's shares are never more than the fraction, as they print."""
    assert repr(tacit.tune([tacit.BernoulliNB()], X, Y, epsilon=3.0).model) == "BernoulliNB(epsilon=0.8)"
    best = tacit.tune([chain(tacit.CountSelector(k=3))], WIDE, Y, epsilon=1.0).model
    shares = [Fraction(repr(half.epsilon)) for half in (best.selector, best.classifier)]
    assert 0 <= Fraction(4, 15) - sum(shares) < Fraction(1, 10**12)
