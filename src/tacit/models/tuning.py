"""Choosing among candidates privately, with a true price. Public side: sees releases only."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import clone

from tacit.desk.blackbox import pay_for_black_box
from tacit.desk.tuning import exact_coin, noisy_correct
from tacit.errors import bad_parameter
from tacit.ledger import Account
from tacit.models._base import PrivateClassifier
from tacit.models.blackbox import BlackBoxClassifier
from tacit.privacy.budget import Budget, exact_epsilon
from tacit.privacy.release import Receipt

SCORE_SHARE = Fraction(1, 5)
"""Part of a run's budget for its score."""

PROOF = "docs/proofs/private-tuning.md"


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best run: its fitted model, which candidate it was, its noisy number of correct rows, and the receipt."""

    model: Any
    candidate: int
    score: int
    receipt: Receipt


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
    many there were (Liu and Talwar 2019; Papernot and Steinke 2022). Proof: ``docs/proofs/private-tuning.md``.

    Parameters
    ----------
    candidates : sequence of tacit classifiers
        Their own ``epsilon``, ``account`` and ``random_state`` are replaced; pure ε only. A black box that cannot be
        told its ε must state at most what a fit costs here, 4/15 of ``epsilon``; the receipt says that it is believed.
    X, y : data as for the candidates
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
    models = list(candidates)
    if not models or not all(isinstance(model, PrivateClassifier) and hasattr(model, "epsilon") for model in models):
        expected = "a list of tacit classifiers"
        raise bad_parameter("tune", "candidates", expected, [type(model).__name__ for model in models])
    if any(getattr(model, "delta", 0.0) for model in models):
        raise bad_parameter("tune", "candidates", "of pure ε (delta = 0)", "a candidate with delta above 0")
    run = exact_epsilon(epsilon, "tune") / 3
    fit_epsilon = run * (1 - SCORE_SHARE)
    boxes = [model for model in models if isinstance(model, BlackBoxClassifier)]
    for box in boxes:
        box.check_price(Budget(fit_epsilon), "tune", "candidates")
    receipt = _pay(len(models), epsilon, account, simulation=random_state is not None, as_stated=bool(boxes))
    below = secrets.randbelow if random_state is None else random.Random(random_state).randrange
    best: Tuned | None = None
    stop = Fraction(1, 2 * len(models))
    while True:
        place = below(len(models))
        seed = None if random_state is None else below(2**31)
        model = clone(models[place])
        model.set_params(epsilon=fit_epsilon, account=None, random_state=seed).fit(X, y)
        # A data set without rows must not show itself by an error: it has no row that could be right.
        guess = model.predict(X) if len(y) else np.zeros(0)
        score = noisy_correct(guess, y, tuple(model.classes), run * SCORE_SHARE, seed)
        if best is None or score > best.score:
            best = Tuned(model, place, score, receipt)
        if exact_coin(stop, below):
            best.model.receipt_ = receipt
            return best


def _pay(candidates: int, epsilon: float, account: Account | None, *, simulation: bool, as_stated: bool) -> Receipt:
    """Charge for all runs; where a black box is among the candidates, the proof rests on what it states."""
    receipt = pay_for_black_box(
        "tune",
        f"best of {candidates} candidate(s)",
        epsilon,
        0.0,
        account,
        simulation=simulation,
        mechanism="private tuning",
        proof=None if as_stated else PROOF,
    )
    return Receipt(receipt.to_dict() | {"proof": PROOF})
