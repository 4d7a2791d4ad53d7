"""Learning from texts, alone or beside the columns of a table. Public side: sees releases only.

One charge pays for three steps: how many rows each class has; one vector of sums, to which every row adds a vector of
norm 1 made of its words (and of its columns); and the choice of a rule, a mixture of words, votes of the clearest ones,
columns and style, from a public grid by how many rows it gets right. Where there are many rows for their ε, a
regression on the clearest words and the columns takes the place of the choice.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy.special import log_ndtr

from tacit.desk.counts import GRID, Rules, Visit, mix, mix_classes
from tacit.desk.objective import LossName, Regressors, regress
from tacit.desk.text import STYLE_MARKS, STYLES, TEXT_PARTS
from tacit.models._base import Floats
from tacit.models._clearness import Noise, of_coefficients, of_counts, ridge_of_step
from tacit.models._rules import THRESHOLDS, Columns, Power, Weighed, preference
from tacit.models._topics import Found, find_topics
from tacit.models._words import LEAST_WORDS, Prior
from tacit.privacy.mechanisms import Selection

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

SUMS, MARGINS_PART = Fraction(48, 100), Fraction(3, 100)
"""Parts where the last step is a regression, for texts alone; the regression has the rest. Beside columns, words have
less of both."""

ENOUGH = 10_000
"""From so many rows, times ε, a regression beats the choice of a rule. Where classes are even it does so only from half
as many more, but rare ones gain much."""

LEAST_LEARNING = Fraction(1, 100)
"""No regression below this ε for each row of a unit: on its finer grid noise would be too large for exact samplers."""

CLEAREST = 500
"""Words that a regression learns about: those with the largest sums."""

MOST_FEATURES = (1 << 20) - CLEAREST - STYLE_MARKS - 2
"""Of columns: objective perturbation takes 2^20 coefficients, those of words, style, score and constant among them."""

ROOM = {"words": 0.65, "style": 0.15, "score": 0.15, "constant": 0.05}
"""Parts of a row's norm in a regression of texts alone."""

TONE_ROOM = 0.05
"""What a score of tone takes from the words, and adds to the score's part, which the two scores share evenly."""

ENOUGH_FOR_COLUMNS = 15
"""The same for each feature, where columns are more than a usual text has words."""

LOSSES: dict[bool, tuple[LossName, Fraction]] = {
    True: ("huber", Fraction(20, 100)),
    False: ("logistic", Fraction(2, 100)),
}
"""The loss of a regression, and the part of its ε that hides the curvature: where words lead, and where columns do."""

LIKE_WORDS = {"sums": 12, "regression": 13}
"""A column of a table, or a style, has as much room as one word of a text would that has so many."""

REACH = 3.0
"""Where the score of words is clipped in a regression, in deviations."""

CROWD = 2
"""A text of n words usually has fewer than this times √n of the clearest ones."""

RARE = 0.1
"""Part of the larger class below which the other is rare: then rules that never name it are hard to beat, and chance
would decide on their style, so that style has sums. Else, for two classes, the choice of a rule finds it out."""

WORDS_SHARE = 0.45
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


class Learner:
    """One visit for labelled private texts, with the columns of a table beside them or without.

    Parameters
    ----------
    visit : Visit
        Its rows have the features of a styled text, then those of the columns, one of each.
    bits : int
        Words are hashed into 2^bits buckets.
    prior : Prior, optional
        What is publicly known of words.
    columns : Columns
        How many columns there are beside the text, and their features.

    Attributes
    ----------
    rules, choice : the linear rule for two classes; for more, the public grid of rules, and which was chosen
    clearness : array, one number for each feature
    """

    rules: Rules
    choice: int
    clearness: Floats

    def __init__(self, visit: Visit, bits: int, prior: Prior | None = None, columns: Columns = Columns()) -> None:  # noqa: B008 - frozen
        self.visit = visit
        self.bits = bits
        self.prior = prior
        self.columns = columns

    def learn(self) -> None:
        """Pay for everything, and learn."""
        visit = self.visit
        name = f"{2**self.bits} buckets; public: {'nothing' if self.prior is None else self.prior.name}"
        first = visit.noise(LABELS, delta_share=0)
        visit.start_freely(name, {"labels": first, "sums": visit.noise_of_sums(self._part * SUMS)})
        visit.then("labels", first)
        labels = np.maximum(visit.labels("labels").astype(np.float64), 1.0)
        strength = float(visit.epsilon) * labels.sum() / visit.unit.max_rows
        binary = len(labels) == 2
        enough = ENOUGH if self._words_lead else ENOUGH_FOR_COLUMNS * (STYLE_MARKS + self.columns.features)
        fits = self.columns.features <= MOST_FEATURES and visit.epsilon >= LEAST_LEARNING * visit.unit.max_rows
        if binary and strength >= enough and fits:
            self._regress(labels)
            self._calibrate(labels, MARGINS_PART)
            return
        shares = _shares(self.prior, strength, binary=binary)
        signed = self._choose(labels, strength, shares)
        if binary:
            self._settle(labels, shares["margins"])
            own = self._own_weights()
            self.clearness[len(self.clearness) - len(own) :] = np.maximum(signed * np.sign(own), 0.0)

    @property
    def _words_lead(self) -> bool:
        """Whether a usual text has as many words as there are columns."""
        return self.columns.number <= LIKE_WORDS["regression"]

    @property
    def _told(self) -> bool:
        """Whether the tone of words is publicly known."""
        return self.prior is not None and self.prior.tone is not None

    @property
    def _part(self) -> Fraction:
        """What words have in a regression beside columns, of what they would have without."""
        alone = LIKE_WORDS["regression"] + STYLES
        return Fraction(alone, alone + self.columns.number)

    def _choose(self, labels: Floats, strength: float, shares: dict[str, Fraction]) -> Floats:
        """Release sums of words, and choose a rule from a grid; returns how clear the features of columns are."""
        visit, binary = self.visit, len(labels) == 2
        visit.then("sums", visit.noise_of_sums(shares["sums"]))
        found = find_topics(self.prior, visit.norm("sums"), strength)
        surely = labels + 2 * visit.deviation("labels")
        by_choice = binary and bool(surely.min() >= RARE * labels.max())
        room = _room(self.prior, found, strength, self.columns.number, style_is_chosen=by_choice)
        signed = self._rules_from_sums(labels, found, room, style_is_chosen=by_choice)
        epsilon = visit.epsilon * shares["rule"]
        if binary:
            styles = STYLES + self._told if by_choice else 0
            self.rules = replace(self.rules, preference=preference(self.rules, styles, float(epsilon)))
        visit.then("rule", Selection(epsilon), last=not binary)
        self.choice = visit.choose("rule", self.rules)
        return signed

    def _settle(self, labels: Floats, share: Fraction) -> None:
        """Of two classes, keep the chosen rule alone, and learn its margins."""
        grid, chosen = self.rules, self.choice
        mixture, threshold = grid.mixtures[chosen // len(THRESHOLDS)], grid.thresholds[chosen % len(THRESHOLDS)]
        self.rules, self.choice = _one_rule(grid, mixture, threshold), 0
        clear = self._calibrate(labels, share)
        # The rule was chosen as the best of many on the very rows that are counted.
        self.clearness[grid.words : grid.words + STYLE_MARKS] = max(clear - math.log(grid.candidates), 0.0)

    def _calibrate(self, labels: Floats, share: Fraction) -> float:
        """Turn the rule's scores into log-odds by how often it is right at which distance from its threshold.

        Returns how clearly it beats always saying the larger class: −log of the chance that noise alone does so.
        """
        visit = self.visit
        visit.then("margins", visit.noise(share, delta_share=0), last=True)
        wrong, right = visit.margins("margins", self.rules, 0, MARGINS)
        noise = visit.deviation("margins")
        slope = _slope(wrong, right, noise)
        rule = self.rules
        self.rules = replace(rule, weights=rule.weights * slope, thresholds=rule.thresholds * slope)
        ahead = (labels.sum() + right.sum() - wrong.sum()) / 2 - labels.max()
        return float(-log_ndtr(-ahead / math.sqrt(labels.sum() / 4 + right.size * noise**2 / 2)))

    def _rules_from_sums(
        self, labels: Floats, found: Found | None, shares: dict[str, float], *, style_is_chosen: bool
    ) -> Floats:
        """Release sums, and make rules of them; returns how clearly features of columns go with the last class."""
        visit = self.visit
        weighed = Weighed.of(
            labels,
            self.prior,
            found,
            bits=self.bits,
            epsilon=float(visit.epsilon),
            norm=visit.norm("sums"),
            shares=shares,
            columns=self.columns,
            style_is_chosen=style_is_chosen,
        )
        words, topics, others = visit.sums("sums", weighed.weighing)
        self.rules, self.clearness = weighed.rules(words, topics, others, visit.deviation("sums") / GRID)
        if not others.size or not self.columns.number:
            return np.zeros(self.columns.features)
        receipt, row = visit.receipt(), weighed.row_of_others
        counts = others[:, others.shape[1] - self.columns.features :] / row[:, None]
        noise = Noise.of_step(receipt, "sums").times(1 / (GRID * float(row.min())))
        return of_counts(counts, labels, noise, Noise.of_step(receipt, "labels"), visit.unit.max_rows)

    def _own_weights(self) -> Floats:
        """What each feature of the columns adds."""
        own: Floats = self.rules.weights[self.rules.words + STYLE_MARKS :][: self.columns.features, 1]
        return own

    def _regress(self, labels: Floats) -> None:
        """Release sums of words, and regress labels on their score, on the clearest words, on style and on columns."""
        visit, part = self.visit, self._part
        visit.then("sums", visit.noise_of_sums(part * SUMS))
        # The regression learns which words go together, so that sums of single words serve it better than topics.
        shares = {"words": 1.0, "totals": 0.0, "others": 0.0, "topics": 0.0}
        self._rules_from_sums(labels, None, shares, style_is_chosen=True)
        rules = self.rules
        scores = _scores(rules, told=self._told)
        buckets = rules.words // TEXT_PARTS
        clear = np.argsort(-self.clearness[: rules.words : TEXT_PARTS], kind="stable")
        clear = clear[: CLEAREST if self._words_lead else 0]
        chosen = np.full(buckets, -1, dtype=np.int64)
        chosen[clear] = np.arange(len(clear))
        room = self._room_of_regressors()
        others = STYLES + self.columns.number
        regressors = Regressors(
            score=replace(rules, mixtures=scores, thresholds=np.zeros(1)),
            reach=REACH,
            chosen=chosen,
            copies=TEXT_PARTS,
            others=others,
            shares={part: int(GRID * share) for part, share in room.items()},
            crowd=CROWD,
            least=LEAST_WORDS,
        )
        epsilon = visit.epsilon * (1 - LABELS - MARGINS_PART - part * SUMS)
        loss, hidden = LOSSES[self._words_lead]
        found = regress(visit, "regression", regressors, epsilon, labels.sum(), loss=loss, share=hidden)
        by_word = np.append(found[: len(clear)] * room["words"] / CROWD, 0.0)  # the last one: of words not chosen
        last = len(found) - 1
        style, by_score = np.split(found[len(clear) : last], [last - len(clear) - len(scores)])
        by_score *= room["score"] / len(scores) / REACH
        one = _one_rule(rules, by_score @ scores, -found[last] * room["constant"])
        one.weights[: rules.words, 0] += np.repeat(by_word[chosen], TEXT_PARTS)
        one.weights[rules.words :, 1][: rules.others] += style * room["style"] / others
        self.rules, self.choice = one, 0
        if self.columns.features:
            receipt, own = visit.receipt(), style[STYLE_MARKS:]
            law, ridge = Noise.of_step(receipt, "regression"), ridge_of_step(receipt, "regression")
            # Of a rule that says one class to all, a column may hold it all: log-odds, or 1 where Huber's loss ends.
            held = math.log(labels[1] / labels[0]) if loss == "logistic" else math.copysign(1, labels[1] - labels[0])
            usual = held * others / room["style"]
            self.clearness[-len(own) :] = of_coefficients(own, usual, law, ridge, visit.unit.max_rows)

    def _room_of_regressors(self) -> dict[str, float]:
        """Parts of a row's norm in a regression: columns, among style, have what words leave."""
        tone = TONE_ROOM * self._told
        words = (ROOM["words"] - tone) * float(self._part) if self._words_lead else 0.0
        style = ROOM["words"] - tone + ROOM["style"] - words
        return ROOM | {"words": words, "style": style, "score": ROOM["score"] + tone}


def log_scores(scores: Floats, rules: Rules, choice: int, classes: int) -> Floats:
    """From scores of rows under each column of weights to logarithms of chances, up to a constant of each row."""
    mixture = rules.mixtures[choice // len(rules.thresholds)]
    threshold = rules.thresholds[choice % len(rules.thresholds)]
    if classes == 2:
        half: Floats = (mix(scores, mixture) - threshold) / 2
        return np.column_stack([-half, half])
    offsets = np.zeros(classes) if rules.offsets is None else rules.offsets
    spread: Floats = SLOPE * (mix_classes(scores, mixture, classes) + threshold * offsets)
    return spread


def _scores(rules: Rules, *, told: bool) -> Floats:
    """Mixtures that a regression learns about: all ways to weigh words, without votes and style, and the tone."""
    by_root = np.array(rules.power) == "root"
    tone = np.zeros((int(told), len(by_root)))
    tone[:, -1] = 1
    by_root &= ~tone.any(axis=0)
    return np.vstack([by_root / math.sqrt(by_root.sum()), tone])


def _one_rule(rules: Rules, mixture: Floats, threshold: float) -> Rules:
    """A single rule: weights of words, over the root of their number, and of style, columns and topics."""
    by_root = np.array(rules.power) == "root"
    weights = np.column_stack([rules.weights @ (mixture * by_root), rules.weights @ (mixture * ~by_root)])
    thresholds = np.array([threshold], dtype=np.float64)
    parts: tuple[Power, ...] = ("root", "none")
    alone = replace(rules, weights=weights, mixtures=np.ones((1, 2)), thresholds=thresholds, power=parts)
    return replace(alone, preference=None)


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


def _room(
    prior: Prior | None, found: Found | None, strength: float, columns: int, *, style_is_chosen: bool
) -> dict[str, float]:
    """Parts of a row's vector, by how many rows there are, times ε; style and columns are ``others``."""
    number = columns + (0 if style_is_chosen else STYLES)
    others = number / (number + LIKE_WORDS["sums"])
    if found is not None:
        words = WORDS_SHARE * (1 - others) if strength >= ENOUGH_FOR_WORDS else 0.0
        return {"words": words, "totals": 0.0, "others": others, "topics": 1 - others - words}
    words = 1 - others
    totals = TOTALS_PART * words if strength >= ENOUGH_FOR_TOTALS and style_is_chosen and prior is None else 0.0
    return {"words": words - totals, "totals": totals, "others": others, "topics": 0.0}
