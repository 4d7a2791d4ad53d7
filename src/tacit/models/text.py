"""From raw texts to a private classifier. Public side: sees releases only.

One charge pays for three steps: how many rows each class has; one vector of sums, to which every text adds a vector of
norm 1 made of its words and its style; and the choice of a rule from a public grid by how many texts it gets right.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from tacit.desk.counts import GRID, Rules, Visit, Weighing, check_classes, mix, mix_classes
from tacit.desk.text import STYLES, score_texts, text_frequencies, text_visit, word_frequencies
from tacit.errors import bad_parameter
from tacit.ledger import Account
from tacit.models._base import Floats, PrivateClassifier, check_fitted
from tacit.privacy.mechanisms import Mechanism, Selection

SHARES = {"labels": Fraction(2, 100), "sums": Fraction(83, 100), "rule": Fraction(15, 100)}
"""Parts of ε: the class sizes only set scales, and choosing a rule costs about ln(candidates)/ε of the rows."""

STYLE_SHARE = 0.2
"""Part of a text's vector that tells its style rather than its words."""

LEAST_WORDS = 4
"""Texts of fewer words count as if they had this many."""

LIST_LENGTH = 15.0
"""Words that a text is taken to have where only a list of words is public."""

WORTH_KNOWING = {"text": 30.0, "list": 3.0}
"""Words that are expected in at least this many rows, times 1/ε, keep their place: rarer ones are mostly noise. Public
texts of the same kind can be trusted more in this than a list of words."""

UNLISTED = {"text": 0.0, "list": 0.3}
"""Weight of the other words."""

RARE_WEIGHT = {"text": -0.4, "list": -0.2}
"""Weights fall with this power of a word's frequency, so that "the" does not use up a text's norm."""

DAMPING = 10.0
"""Noise scales that are added to a word's sum before its log-odds are estimated."""

STYLE_CAP = 2.0
MIXTURES = 9
THRESHOLDS = np.linspace(-2.0, 2.0, 41)
SLOPE = 2.0
"""From the distance to the threshold, in deviations of the score, to log-odds."""


@dataclass(frozen=True, slots=True)
class _Prior:
    """What is publicly known of words: how often each bucket appears in a text, and how long a text is."""

    share: Floats
    length: float
    kind: str  # "text": texts of the same kind; "list": a list of words

    def weights(self, rows: float, epsilon: float) -> Floats:
        """How much each bucket weighs in a text's vector."""
        expected = rows * self.share
        weights: Floats = np.clip((expected / 50 + 1e-3) ** RARE_WEIGHT[self.kind], 0.02, 4.0)
        known = expected * epsilon >= WORTH_KNOWING[self.kind]
        if not known.any():
            known[np.argmax(expected)] = True
        return np.where(known, weights, UNLISTED[self.kind])


class TextClassifier(PrivateClassifier):
    """The recommended way from raw texts to a private classifier.

    Parameters
    ----------
    epsilon, delta : float
        What one fit costs. ``delta`` above 0 allows Gaussian noise, which helps for texts of more than some ten words.
    classes : sequence, default (0, 1)
        The declared labels; texts with any other are left out.
    public_text : sequence of str, optional
        Public texts of the same kind, without labels: the best help there is, because they tell which words are common.
    word_list : str, optional
        A language such as ``"en"``: public frequencies of its words (``pip install "tacit[words]"``).
    bits : int, default 14
        Words are hashed into 2^bits buckets.
    account : Account, optional
        Who pays; None means a one-off account of exactly this budget.
    random_state : int, optional
        A seed, for simulations: the receipt then says "not private".

    Attributes
    ----------
    classes_ : array
    rules_ : the public grid of rules; ``choice_`` is the number of the one that was chosen
    clearness_ : array, one number for each bucket and bin of style
        How far its released sums are from what noise alone would give, in scales of the noise.
    receipt_ : Receipt

    Examples
    --------
    >>> texts = ["win cash now", "see you at lunch"] * 500
    >>> model = TextClassifier(epsilon=1.0, random_state=0).fit(texts, [1, 0] * 500)
    >>> model.predict(["cash now", "lunch with you"]).tolist()
    [1, 0]
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        classes: Any = (0, 1),
        public_text: Any = None,
        word_list: str | None = None,
        bits: int = 14,
        account: Account | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.public_text = public_text
        self.word_list = word_list
        self.bits = bits
        self.account = account
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return super()._more_tags() | {"X_types": ["string"]}

    def fit(self, X: Any, y: Any, *, persons: Any = None) -> TextClassifier:
        """Learn from private texts.

        Parameters
        ----------
        X : sequence of str
            A missing text has no words.
        y : sequence of labels
        persons : sequence, optional
            Whose each text is, where the account protects persons.
        """
        owner = "TextClassifier"
        classes = check_classes(owner, self.classes)
        if isinstance(self.bits, bool) or not isinstance(self.bits, int) or not 4 <= self.bits <= 22:
            raise bad_parameter(owner, "bits", "a whole number from 4 to 22", self.bits)
        prior = self._prior(owner)
        visit = text_visit(
            X,
            y,
            bits=self.bits,
            classes=classes,
            owner=owner,
            epsilon=self.epsilon,
            delta=self.delta,
            account=self.account,
            random_state=self.random_state,
            persons=persons,
        )
        steps: dict[str, Mechanism] = {
            "labels": visit.noise(SHARES["labels"], delta_share=0),
            "sums": visit.noise(SHARES["sums"]),
            "rule": Selection(visit.epsilon * SHARES["rule"]),
        }
        visit.start(f"{2**self.bits} buckets; public: {_name(prior)}", steps)
        labels = np.maximum(visit.labels("labels").astype(np.float64), 1.0)
        weighing, weights = _weigh(labels, prior, 1 << self.bits, visit)
        words, style = visit.sums("sums", weighing)
        noise = visit.deviation("sums") / GRID / math.sqrt(2)
        self.rules_ = _rules(words, style, labels, noise, weighing, weights, prior)
        self.clearness_ = _clearness(words, style, noise)
        self.choice_ = visit.choose("rule", self.rules_)
        self.classes_ = np.array(classes)
        self.receipt_ = visit.receipt()
        return self

    def _prior(self, owner: str) -> _Prior | None:
        if self.public_text is not None and self.word_list is not None:
            raise bad_parameter(owner, "word_list", "None where public_text is given", self.word_list)
        if self.public_text is not None:
            share, length = text_frequencies(self.public_text, self.bits, owner)
            return _Prior(share, length, "text")
        if self.word_list is not None:
            share = word_frequencies(self.word_list, self.bits, LIST_LENGTH, owner)
            return _Prior(share, float(share.sum()), "list")
        return None

    def _log_scores(self, X: Any) -> Floats:
        check_fitted(self)
        rules = self.rules_
        scores = score_texts(X, self.bits, rules, "TextClassifier")
        mixture = rules.mixtures[self.choice_ // len(rules.thresholds)]
        threshold = rules.thresholds[self.choice_ % len(rules.thresholds)]
        if len(self.classes_) == 2:
            half: Floats = SLOPE / 2 * (mix(scores, mixture) - threshold)
            return np.column_stack([-half, half])
        offsets = np.zeros(len(self.classes_)) if rules.offsets is None else rules.offsets
        spread: Floats = SLOPE * (mix_classes(scores, mixture, len(self.classes_)) + threshold * offsets)
        return spread


def _name(prior: _Prior | None) -> str:
    if prior is None:
        return "nothing"
    return f"{prior.kind} {hashlib.sha256(prior.share.tobytes()).hexdigest()[:16]}"


def _weigh(labels: Floats, prior: _Prior | None, buckets: int, visit: Visit) -> tuple[Weighing, Floats]:
    """How texts turn into vectors of norm 1, from released class sizes and public frequencies; and the weights."""
    gaussian = visit.delta > 0
    weights = np.ones(buckets) if prior is None else prior.weights(labels.sum(), float(visit.epsilon))
    unit = (1 << 10) / weights.max()
    whole = np.where(weights > 0, np.maximum(np.round(weights * unit), 1), 0).astype(np.int64)
    typical = LEAST_WORDS * unit if prior is None else max(0.3 * float((prior.share * whole).sum()), 1.0)
    if gaussian:
        typical = LEAST_WORDS * unit**2 if prior is None else max(0.3 * float((prior.share * whole**2).sum()), 1.0)
    # Classes are weighed down to the smallest, so that a word that is as common in all of them sums to about zero.
    scale = np.maximum(np.minimum(1.0, labels.min() / labels), 0.05)
    style = math.sqrt(STYLE_SHARE / STYLES) if gaussian else STYLE_SHARE / STYLES
    words = math.sqrt(1 - STYLE_SHARE) if gaussian else 1 - STYLE_SHARE
    weighing = Weighing(
        whole,
        floor=math.ceil(typical),
        class_scale=tuple(int(GRID * part) for part in scale),
        words_share=int(GRID * words),
        others=STYLES,
        other_share=int(GRID * style),
        signed=len(labels) == 2,
        norm="L2" if gaussian else "L1",
    )
    return weighing, whole / unit


def _rules(
    words: Floats,
    style: Floats,
    labels: Floats,
    noise: float,
    weighing: Weighing,
    weights: Floats,
    prior: _Prior | None,
) -> Rules:
    """The public grid of rules, from released sums alone: mixtures of words and style, and thresholds."""
    classes, binary = len(labels), len(labels) == 2
    ahead = words if binary else words - words.mean(axis=0)
    total = np.zeros(weighing.words)
    if prior is not None:
        rows = float((labels * np.array(weighing.class_scale) / GRID).sum())
        mass = prior.share * weights
        if weighing.norm == "L1":
            total = rows * mass / mass.sum() * weighing.words_share / GRID
        else:
            total = rows * mass / math.sqrt(float((mass * weights).sum())) * weighing.words_share / GRID
    log_odds = weights * ahead / (total + np.abs(ahead) + DAMPING * noise)
    usual = prior.share if prior is not None else np.abs(ahead).sum(axis=0)
    spread = np.sqrt((usual * log_odds**2).sum(axis=1, keepdims=True) / max(usual.sum(), 1e-300))
    log_odds = log_odds / np.maximum(spread if binary else spread.mean(), 1e-12)
    columns = _style_odds(style, noise, binary) / 2
    blank = np.zeros((len(log_odds), columns.shape[1]))
    by_words = np.hstack([log_odds, blank])
    by_style = np.hstack([np.zeros((len(columns), weighing.words)), columns])
    angle = np.linspace(0, math.pi / 2, MIXTURES)
    by_root: list[Literal["none", "root", "full"]] = ["root"]
    as_is: list[Literal["none", "root", "full"]] = ["none"]
    return Rules(
        weights=np.ascontiguousarray(np.vstack([by_words, by_style]).T),
        mixtures=np.column_stack([np.cos(angle), np.sin(angle)]),
        thresholds=THRESHOLDS,
        words=weighing.words,
        power=(*by_root * len(log_odds), *as_is * len(columns)),
        least=LEAST_WORDS,
        offsets=None if binary else np.log(labels / labels.sum()) / classes,
    )


def _clearness(words: Floats, style: Floats, noise: float) -> Floats:
    """The largest gap between classes of each feature's released sums, in scales of the noise."""
    by_words = np.abs(words[0]) if len(words) == 1 else np.ptp(words, axis=0)
    clearness: Floats = np.concatenate([by_words, np.ptp(style, axis=0)]) / noise
    return clearness


def _style_odds(style: Floats, noise: float, binary: bool) -> Floats:
    """Log-odds of each style bin, shrunk by the noise: for two classes of the second, else of each against the rest."""
    total = np.maximum(style.sum(axis=0), 0)
    ahead = style[1:2] - style[0:1] if binary else 2 * style - style.sum(axis=0)
    ratio = np.clip(ahead / (total + 2 * noise), -0.95, 0.95)
    odds: Floats = np.clip(2 * np.arctanh(ratio), -STYLE_CAP, STYLE_CAP)
    return odds
