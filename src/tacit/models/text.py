"""From raw texts to a private classifier. Public side: sees releases only.

One charge pays for three steps: how many rows each class has; one vector of sums, to which every text adds a vector of
norm 1 made of its words; and the choice of a rule, a mixture of words, votes of the clearest ones and style, from a
public grid by how many texts it gets right. Where there are many rows for their ε, a regression on the clearest words
takes the place of the choice.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from tacit.desk.counts import GRID, Rules, Visit, check_classes, mix, mix_classes
from tacit.desk.objective import Regressors, regress
from tacit.desk.text import STYLES, TEXT_PARTS, score_texts, text_visit
from tacit.errors import bad_parameter
from tacit.ledger import Account
from tacit.models._base import Floats, PrivateClassifier, check_fitted
from tacit.models._rules import THRESHOLDS, Weighed
from tacit.models._topics import Found, find_topics
from tacit.models._words import LEAST_WORDS, Prior
from tacit.privacy.mechanisms import Selection
from tacit.privacy.unit import check_count

LABELS = Fraction(2, 100)
"""Part of ε for the class sizes, which only set scales."""

CHOICE, MARGIN = 6.0, 2.0
"""Parts of ε for the choice of a rule and for its margins, times the root of rows times ε: a choice misses by a few
times 1/ε rows, which is much of few rows. The sums have the rest."""

LEAST_CHOICE, INFORMED_CHOICE, MOST_CHOICE = 0.12, 0.21, 0.4
"""The bounds of the choice's part; the second is the least where there are public texts, which make more of the same
sums."""

LEAST_MARGIN, MOST_MARGIN = 0.03, 0.06
"""The bounds of the margins' part."""

LEARNING = {step: Fraction(part, 100) for step, part in {"sums": 48, "regression": 47, "margins": 3}.items()}
"""Parts where the last step is a regression."""

ENOUGH = 10_000
"""From so many rows, times ε, a regression beats the choice of a rule. Where classes are even it does so only from half
as many more, but rare ones gain much."""

LEAST_LEARNING = Fraction(1, 100)
"""No regression below this ε for each row of a unit: on its finer grid noise would be too large for exact samplers."""

CLEAREST = 500
"""Words that a regression learns about: those with the largest sums."""

ROOM = {"words": 0.65, "style": 0.15, "score": 0.15, "constant": 0.05}
"""Parts of a row's norm in a regression."""

REACH = 3.0
"""Where the score of words is clipped in a regression, in deviations."""

CROWD = 2
"""A text of n words usually has fewer than this times √n of the clearest ones."""

STYLE_SHARE = 0.2
"""Part of a text's vector that tells its style rather than its words, unless the choice of a rule finds that out: it
does for two classes, unless one is surely rare."""

RARE = 0.1
"""Part of the larger class below which the other is rare: then rules that never name it are hard to beat, and chance
would decide on their style."""

WORDS_SHARE = 0.3
"""Part of a text's vector that tells single words where public texts give topics and there are rows enough."""

TOTALS_PART = 0.1
"""Part of the words' room that tells how common they are, where nothing public does and rows are many."""

ENOUGH_FOR_TOTALS = 6_000
"""Rows, times ε, from which that part is not missed."""

ENOUGH_FOR_WORDS = 4_000
"""Rows, times ε: with fewer, the sum of a word that is in a hundredth of the texts drowns in the noise."""

SLOPE = 2.0
"""From the distance to the threshold, in deviations of the score, to log-odds: a first guess."""

SLOPE_SPREAD = 0.7
"""Deviation of the logarithm of the slope around the first guess."""

MARGINS: Floats = 2.0 ** np.arange(-3.0, 3.0)
"""Distances to the threshold at which bins of margins begin."""


class TextClassifier(PrivateClassifier):
    """The recommended way from raw texts to a private classifier.

    Parameters
    ----------
    epsilon, delta : float
        What one fit costs. ``delta`` above 0 allows Gaussian noise, which helps for texts of more than some ten words.
    classes : sequence, default (0, 1)
        The declared labels; texts with any other are left out.
    public_text : sequence of str, optional
        Public texts of the same kind, without labels: the best help there is, because they tell which words are common
        and which go together. The first 65,536 are read.
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
    rules_ : the linear rule for two classes; for more, the public grid of rules, of which ``choice_`` was chosen
    clearness_ : array, one number for each bucket and bin of style
        How far its released sums are from what noise alone would give, in scales of the noise. The style of two
        classes usually has no sums: it is as clear as the rule, the best of many, beats always saying the larger class.
    receipt_ : Receipt

    Examples
    --------
    >>> texts = ["win cash now", "see you at lunch"] * 500
    >>> model = TextClassifier(epsilon=1.0, random_state=0).fit(texts, [1, 0] * 500)
    >>> model.predict(["win cash today", "see you at dinner"]).tolist()
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
        if not 4 <= check_count(owner, "bits", self.bits) <= 22:
            raise bad_parameter(owner, "bits", "a whole number from 4 to 22", self.bits)
        prior = self._prior(owner)
        visit = text_visit(
            X,
            y,
            bits=int(self.bits),
            classes=classes,
            owner=owner,
            epsilon=self.epsilon,
            delta=self.delta,
            account=self.account,
            random_state=self.random_state,
            persons=persons,
        )
        name = f"{2 ** int(self.bits)} buckets; public: {'nothing' if prior is None else prior.name}"
        first = visit.noise(LABELS, delta_share=0)
        visit.start_freely(name, {"labels": first, "sums": visit.noise_of_sums(LEARNING["sums"])})
        visit.then("labels", first)
        labels = np.maximum(visit.labels("labels").astype(np.float64), 1.0)
        strength = float(visit.epsilon) * labels.sum() / visit.unit.max_rows
        binary = len(classes) == 2
        if binary and strength >= ENOUGH and visit.epsilon >= LEAST_LEARNING * visit.unit.max_rows:
            self._learn(visit, labels, prior)
            self._calibrate(visit, labels, LEARNING["margins"])
        else:
            shares = _shares(prior, strength, binary=binary)
            tried = self._choose(visit, labels, strength, prior, shares)
            if binary:
                clear = self._calibrate(visit, labels, shares["margins"])
                # The rule was chosen as the best of many on the very rows that are counted.
                self.clearness_[self.rules_.words :] = max(clear - math.log(tried), 0.0)
        self.classes_ = np.array(classes)
        self.receipt_ = visit.receipt()
        return self

    def _choose(
        self, visit: Visit, labels: Floats, strength: float, prior: Prior | None, shares: dict[str, Fraction]
    ) -> int:
        """Release sums of words, and choose a rule from a grid; returns how many rules there were."""
        binary = len(labels) == 2
        visit.then("sums", visit.noise_of_sums(shares["sums"]))
        found = find_topics(prior, visit.norm("sums"), strength)
        surely = labels + 2 * visit.deviation("labels")
        room = _room(prior, found, strength, style_is_chosen=binary and surely.min() >= RARE * labels.max())
        self.rules_ = self._rules_from_sums(visit, labels, prior, found, room)
        visit.then("rule", Selection(visit.epsilon * shares["rule"]), last=not binary)
        self.choice_ = visit.choose("rule", self.rules_)
        tried = self.rules_.candidates
        if binary:
            mixture = self.rules_.mixtures[self.choice_ // len(THRESHOLDS)]
            threshold = self.rules_.thresholds[self.choice_ % len(THRESHOLDS)]
            self.rules_, self.choice_ = _one_rule(self.rules_, mixture, threshold), 0
        return tried

    def _calibrate(self, visit: Visit, labels: Floats, share: Fraction) -> float:
        """Turn the rule's scores into log-odds by how often it is right at which distance from its threshold.

        Returns how clearly it beats always saying the larger class: −log of the chance that noise alone does so.
        """
        visit.then("margins", visit.noise(share, delta_share=0), last=True)
        wrong, right = visit.margins("margins", self.rules_, 0, MARGINS)
        noise = visit.deviation("margins")
        slope = _slope(wrong, right, noise)
        rule = self.rules_
        self.rules_ = replace(rule, weights=rule.weights * slope, thresholds=rule.thresholds * slope)
        ahead = (labels.sum() + right.sum() - wrong.sum()) / 2 - labels.max()
        return float(-log_ndtr(-ahead / math.sqrt(labels.sum() / 4 + right.size * noise**2 / 2)))

    def _rules_from_sums(
        self, visit: Visit, labels: Floats, prior: Prior | None, found: Found | None, shares: dict[str, float]
    ) -> Rules:
        weighed = Weighed.of(
            labels,
            prior,
            found,
            bits=int(self.bits),
            epsilon=float(visit.epsilon),
            norm=visit.norm("sums"),
            shares=shares,
        )
        words, topics, style = visit.sums("sums", weighed.weighing)
        rules, self.clearness_ = weighed.rules(words, topics, style, visit.deviation("sums") / GRID)
        return rules

    def _learn(self, visit: Visit, labels: Floats, prior: Prior | None) -> None:
        """Release sums of words, and regress labels on their score, on the clearest words and on style."""
        visit.then("sums", visit.noise_of_sums(LEARNING["sums"]))
        # The regression learns which words go together, so that sums of single words serve it better than topics.
        shares = {"words": 1.0, "totals": 0.0, "style": 0.0, "topics": 0.0}
        rules = self._rules_from_sums(visit, labels, prior, None, shares)
        by_root = np.array([power == "root" for power in rules.power])  # neither votes nor style
        blend = by_root / math.sqrt(by_root.sum())
        buckets = rules.words // TEXT_PARTS
        clear = np.argsort(-self.clearness_[: rules.words : TEXT_PARTS], kind="stable")[:CLEAREST]
        chosen = np.full(buckets, -1, dtype=np.int64)
        chosen[clear] = np.arange(len(clear))
        regressors = Regressors(
            score=replace(rules, mixtures=blend[None, :], thresholds=np.zeros(1)),
            reach=REACH,
            chosen=chosen,
            copies=TEXT_PARTS,
            others=STYLES,
            shares={part: int(GRID * share) for part, share in ROOM.items()},
            crowd=CROWD,
            least=LEAST_WORDS,
        )
        found = regress(visit, "regression", regressors, visit.epsilon * LEARNING["regression"], labels.sum())
        by_word = found[: len(clear)] * ROOM["words"] / CROWD
        one = _one_rule(rules, blend * (found[-2] * ROOM["score"] / REACH), -found[-1] * ROOM["constant"])
        one.weights[: rules.words, 0] += np.repeat(np.where(chosen >= 0, by_word[chosen], 0.0), TEXT_PARTS)
        one.weights[rules.words :, 1][: rules.others] += found[len(clear) : -2] * ROOM["style"] / STYLES
        self.rules_, self.choice_ = one, 0

    def _prior(self, owner: str) -> Prior | None:
        if self.public_text is not None and self.word_list is not None:
            raise bad_parameter(owner, "word_list", "None where public_text is given", self.word_list)
        if self.public_text is not None:
            return Prior.of_texts(self.public_text, int(self.bits), owner)
        if self.word_list is not None:
            return Prior.of_list(self.word_list, int(self.bits), owner)
        return None

    def _log_scores(self, X: Any) -> Floats:
        check_fitted(self)
        rules = self.rules_
        scores = score_texts(X, int(self.bits), rules, "TextClassifier")
        mixture = rules.mixtures[self.choice_ // len(rules.thresholds)]
        threshold = rules.thresholds[self.choice_ % len(rules.thresholds)]
        if len(self.classes_) == 2:
            half: Floats = (mix(scores, mixture) - threshold) / 2
            return np.column_stack([-half, half])
        offsets = np.zeros(len(self.classes_)) if rules.offsets is None else rules.offsets
        spread: Floats = SLOPE * (mix_classes(scores, mixture, len(self.classes_)) + threshold * offsets)
        return spread


def _one_rule(rules: Rules, mixture: Floats, threshold: float) -> Rules:
    """A single rule: weights of words, over the root of their number, and of style and topics."""
    by_root = np.array(rules.power) == "root"
    weights = np.column_stack([rules.weights @ (mixture * by_root), rules.weights @ (mixture * ~by_root)])
    thresholds = np.array([threshold], dtype=np.float64)
    return replace(rules, weights=weights, mixtures=np.ones((1, 2)), thresholds=thresholds, power=("root", "none"))


def _slope(wrong: Floats, right: Floats, deviation: float) -> float:
    """The factor from scores to log-odds that explains best how often the rule is wrong at which distance.

    Least squares on shares of wrong rows, each as uncertain as chance and noise make it, around a first guess.
    """
    steps = np.linspace(-3, 3, 121)
    factors = SLOPE * np.exp(steps * SLOPE_SPREAD)
    middle = np.concatenate([MARGINS[:1] / 2, np.sqrt(MARGINS[1:] * MARGINS[:-1]), MARGINS[-1:] * math.sqrt(2)])
    rows = np.maximum(wrong + right, 1.0)
    share = np.clip(wrong / rows, 0.0, 0.5)
    variance = share.mean() / rows + 2 * (deviation / rows) ** 2
    misfit = (share - 1 / (1 + np.exp(np.outer(factors, middle)))) ** 2 / variance
    return float(factors[np.argmin(misfit.sum(axis=1) + steps**2)])


def _shares(prior: Prior | None, strength: float, *, binary: bool) -> dict[str, Fraction]:
    """Parts of ε, by how many rows there are, times ε."""
    informed = prior is not None and prior.kind == "text"
    rule = min(max(CHOICE / math.sqrt(strength), INFORMED_CHOICE if informed else LEAST_CHOICE), MOST_CHOICE)
    margins = min(max(MARGIN / math.sqrt(strength), LEAST_MARGIN), MOST_MARGIN) if binary else 0.0
    parts = {"rule": Fraction(round(100 * rule), 100), "margins": Fraction(round(100 * margins), 100)}
    return parts | {"sums": 1 - LABELS - sum(parts.values())}


def _room(prior: Prior | None, found: Found | None, strength: float, *, style_is_chosen: bool) -> dict[str, float]:
    """Parts of a text's vector, by how many rows there are, times ε."""
    style = 0.0 if style_is_chosen else STYLE_SHARE
    if found is not None:
        words = WORDS_SHARE * (1 - style) if strength >= ENOUGH_FOR_WORDS else 0.0
        return {"words": words, "totals": 0.0, "style": style, "topics": 1 - style - words}
    words = 1 - style
    totals = TOTALS_PART * words if strength >= ENOUGH_FOR_TOTALS and style_is_chosen and prior is None else 0.0
    return {"words": words - totals, "totals": totals, "style": style, "topics": 0.0}
