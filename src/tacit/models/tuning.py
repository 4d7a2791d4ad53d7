"""Choosing among candidates privately, with a true price. Public side: sees releases only."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.desk.blackbox import answers, in_silence, pay_for_black_box
from tacit.desk.checks import check_state
from tacit.desk.tuning import OWNER, exact_coin, labels_to_tune, no_rows, noisy_correct
from tacit.errors import asked_of
from tacit.ledger import Account
from tacit.models._candidates import (
    at_price,
    black_boxes,
    check_candidates,
    check_stated_costs,
    seeded_inside,
)
from tacit.models.chain import black_box_of, rehearse
from tacit.models.text import check_public_text
from tacit.privacy.budget import exact_epsilon
from tacit.privacy.release import Receipt

SCORE_SHARE = Fraction(1, 5)
"""Part of a run's budget for its score."""

PROOF = "docs/proofs/private-tuning.md"
REHEARSAL_SEED = 0


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best run: its fitted model, which candidate it was, its noisy number of correct rows, and the receipt."""

    model: Any
    candidate: int
    score: int
    receipt: Receipt


@np.errstate(all="ignore")  # a warning, or an error where they are errors, would tell of a row
def tune(
    candidates: Sequence[Any],
    X: Any,
    y: Any,
    *,
    epsilon: float,
    account: Account | None = None,
    random_state: int | None = None,
) -> Tuned:
    """Fit candidates privately, score them privately, and return the best run: ε-DP in all.

    A run takes a candidate at random, fits it and scores it for epsilon/3. How many runs there are is random and does
    not look at the data (geometric, two for each candidate on average); so the best of them costs three runs, however
    many there were (Liu and Talwar 2019; Papernot and Steinke 2022). Proof: ``docs/proofs/private-tuning.md``. Before
    anything is charged, each candidate is fitted without rows, so that a wrong one is refused.

    Parameters
    ----------
    candidates : sequence of tacit classifiers
        Their own ``epsilon`` and ``random_state`` are replaced, and an account of theirs must be the one that pays
        here; pure ε only. Of a
        :class:`SelectingClassifier` the selector gets a quarter of a fit's ε and the classifier the rest, as in a
        workflow, so that selectors and their parameters can be candidates, too. A black box that cannot be told its ε
        must state at most what a fit costs here, 4/15 of ``epsilon`` (behind a selector 1/5); the receipt says that it
        is believed.
    X, y : data in memory, as for the candidates
    epsilon : float
        What tuning and the final model cost together.
    account : Account, optional
        Who pays; its unit must be a row. None means a one-off account.
    random_state : int, optional
        A seed, for simulations: the receipt then says "not private".

    Examples
    --------
    >>> import numpy as np
    >>> from tacit import BernoulliNB
    >>> X, y = np.array([[1, 0], [0, 1]] * 500), np.array([0, 1] * 500)
    >>> best = tune([BernoulliNB(max_ones=1), BernoulliNB(max_ones=2)], X, y, epsilon=3.0, random_state=0)
    >>> best.model.predict([[0, 1]]).tolist(), best.receipt["epsilon"]
    ([1], 3.0)
    """
    state = check_state(random_state, OWNER)
    models = check_candidates(candidates, account)
    for model in models:
        check_public_text(model, X, OWNER)
    run = exact_epsilon(epsilon, OWNER) / 3
    fit_epsilon, score_epsilon = run * (1 - SCORE_SHARE), run * SCORE_SHARE
    y = labels_to_tune(X, y)
    check_stated_costs(models, fit_epsilon)
    with asked_of(OWNER, epsilon):
        _rehearse(models, X, fit_epsilon, score_epsilon)
    receipt = _pay(models, epsilon, account, simulation=state is not None or seeded_inside(models))
    below = secrets.randbelow if state is None else random.Random(state).randrange

    def draw_seed() -> int | None:
        return None if state is None else below(2**31)

    best: Tuned | None = None
    stop = Fraction(1, 2 * len(models))
    while True:
        place = below(len(models))
        model = at_price(models[place], fit_epsilon, draw_seed).fit(X, y)
        # A data set without rows must not show itself by an error: it has no row that could be right.
        guess = _guess(model, X) if len(y) else np.zeros(0)
        score = noisy_correct(guess, y, tuple(model.classes_.tolist()), score_epsilon, draw_seed())
        if best is None or score > best.score:
            best = Tuned(model, place, score, receipt)
        if exact_coin(stop, below):
            _write_receipt(best.model, receipt)
            return best


def _guess(model: Any, X: Any) -> Any:
    """What a model takes rows for; a row that a black box fails on is taken for none of the classes."""
    if black_box_of(model) is not None:
        return answers(model.predict, X, None)
    with in_silence():
        return model.predict(X)


def _rehearse(models: list[Any], X: Any, fit_epsilon: Fraction, score_epsilon: Fraction) -> None:
    """Fit and score without a private row, so that whatever is refused is refused before it is charged."""
    for model in models:
        rehearse(at_price(model, fit_epsilon, lambda: REHEARSAL_SEED), no_rows(X))
    noisy_correct(np.zeros(0), np.zeros(0), (0, 1), score_epsilon, REHEARSAL_SEED)


def _pay(models: list[Any], epsilon: float, account: Account | None, *, simulation: bool) -> Receipt:
    """Charge for all runs; where a black box is among the candidates, the proof rests on what it states."""
    receipt = pay_for_black_box(
        OWNER,
        f"best of {len(models)} candidate(s)",
        epsilon,
        0.0,
        account,
        simulation=simulation,
        mechanism="private tuning",
        proof=None if black_boxes(models) else PROOF,
    )
    return Receipt(receipt.to_dict() | {"proof": PROOF})


def _write_receipt(model: Any, receipt: Receipt) -> None:
    """A run costs nothing by itself: the receipt of all runs stands for the model and for its halves."""
    for part in (model, getattr(model, "selector_", None), getattr(model, "classifier_", None)):
        if part is not None:
            part.receipt_ = receipt
