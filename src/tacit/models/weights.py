"""What a fitted classifier looks at: names and weights of its features, from what was released. Public side."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.desk.text import STYLE, STYLE_MARKS, TEXT_PARTS, bucket_names
from tacit.models._base import Floats
from tacit.models._clearness import last_against_others

BY_CHANCE = 0.2
"""How many features of a table, words of a text, or marks of style, noise alone puts on the list: at most, expected."""

USUAL_WORDS = 16
"""Words of a text in which a word's weight is told: it is divided by the root of their number."""

ROUNDING = 1e-9
"""Weights that are no larger may be differences of equal numbers."""


def feature_weights(model: Any, *, language: str | None = None) -> list[tuple[str, float]] | None:
    """Names and weights of features: what the presence of each adds to the log-odds of the last class.

    Of a text's style it is what twice as many words, digits or capitals add, and of a word what it adds in a text of
    sixteen words. The heaviest come first. Returns None for a model without such weights. A pipeline of selectors and
    a classifier gives the weights of the selected features under their own names. A model that has a ``clearness_``, as
    those of tables and texts and regressions have, gives those that can be told from noise.

    Parameters
    ----------
    model : fitted classifier, or a scikit-learn Pipeline
        An object of your own may have a method ``feature_weights`` that returns the same.
    language : str, optional
        Such as ``"en"``: names the hashed words of a text classifier that was given neither texts nor a list of words.

    Examples
    --------
    >>> from tacit import BernoulliNB
    >>> model = BernoulliNB(epsilon=1.0, random_state=0).fit([[1, 0], [0, 1]] * 500, [0, 1] * 500)
    >>> sorted((name, weight > 0) for name, weight in feature_weights(model))
    [('x0', False), ('x1', True)]
    """
    if callable(own := getattr(model, "feature_weights", None)):
        given = own()
        return None if given is None else _ordered((str(name), float(weight)) for name, weight in given)
    if hasattr(model, "rules_"):
        return _of_texts(model, language)
    names: Any = None
    if hasattr(model, "steps"):
        selected, model = model[:-1], model[-1]
        names = selected.get_feature_names_out() if len(selected) else None
    weights = _linear(model)
    if weights is None:
        return None
    if names is None:
        names = getattr(model, "feature_names_", getattr(model, "feature_names_in_", None))
    if names is None:
        names = [f"x{j}" for j in range(len(weights))]
    shown = clear_features(model, len(weights))
    return _ordered((str(names[place]), float(weights[place])) for place in shown)


def lists_clear_ones(model: Any) -> bool:
    """Whether the list of a model's features leaves out those that cannot be told from noise."""
    for part in (model, getattr(model, "classifier_", None), model[-1] if hasattr(model, "steps") else None):
        if hasattr(part, "clearness_"):
            return True
    return False


def clear_features(model: Any, width: int) -> NDArray[np.intp]:
    """The features of a linear model that can be told from noise; all, where nobody knows."""
    clearness = getattr(model, "clearness_", None)
    if clearness is None:
        return np.arange(width)
    return np.flatnonzero(clearness > math.log(width / BY_CHANCE))


def _ordered(pairs: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(pairs, key=lambda pair: -abs(pair[1]))


def _linear(model: Any) -> Floats | None:
    weights = getattr(model, "weights_", getattr(model, "coef_", None))
    if weights is None:
        return None
    return last_against_others(np.atleast_2d(np.asarray(weights, dtype=np.float64)))


def _of_texts(model: Any, language: str | None) -> list[tuple[str, float]] | None:
    """Weights of words, of style and of columns, for two classes.

    A bucket is named by the most frequent public word in it.

    Thousands of rare words have large weights by noise, so only those whose released sums stand out are listed.
    """
    rules = model.rules_
    if len(model.classes_) != 2:
        return None
    scale = np.where(np.array(rules.power) == "root", 1 / math.sqrt(USUAL_WORDS), 1.0)
    parts = rules.weights @ (scale * rules.mixtures[model.choice_ // len(rules.thresholds)])
    buckets, end = rules.words // TEXT_PARTS, rules.words + rules.others
    shown_of = np.r_[: rules.words : TEXT_PARTS, rules.words : end]  # words as a text begins; later ones weigh less
    weights = parts[shown_of]
    if rules.topics is not None:
        weights[:buckets] += rules.topics.by_cell(parts[end:])
    listed, texts = getattr(model, "word_list", None) or language, getattr(model, "public_text", None)
    public = bucket_names(buckets.bit_length() - 1, listed, texts, "feature_weights")
    words = [f"“{public[bucket]}”" if bucket in public else f"bucket {bucket}" for bucket in range(buckets)]
    style = [f"twice as many {what}" for what in STYLE]
    marks = buckets + STYLE_MARKS
    doublings = np.diff(weights[buckets:marks].reshape(len(STYLE), -1)[:, :-1], axis=1)  # the last mark: missing
    of_columns = getattr(model, "feature_names_", [])[rules.words + STYLE_MARKS :]
    names = [*words, *style, *of_columns]
    weights = np.concatenate([weights[:buckets], doublings.mean(axis=1), weights[marks:]])
    clear = getattr(model, "clearness_", np.full(end, np.inf))[shown_of]
    clear = np.concatenate([clear[: buckets + len(style)], clear[marks:]])
    # Laplace noise passes t scales with probability exp(−t).
    sizes = [len(words), len(style), len(of_columns)]
    least = np.repeat(np.log(np.maximum(sizes, 1) / BY_CHANCE), sizes)
    shown = np.flatnonzero((clear > least) & (np.abs(weights) > ROUNDING))
    return _ordered((names[place], float(weights[place])) for place in shown)
