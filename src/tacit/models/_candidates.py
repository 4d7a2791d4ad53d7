"""Candidates of a tuning, and what each may spend. Public side: sees releases only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from sklearn.base import clone

from tacit._settings import SHARES
from tacit.desk.payer import check_one_payer
from tacit.desk.tuning import OWNER
from tacit.errors import bad_parameter
from tacit.models._base import PrivateClassifier
from tacit.models.blackbox import BlackBoxClassifier
from tacit.models.chain import SelectingClassifier, check_halves
from tacit.privacy.budget import Budget, as_float


def check_candidates(candidates: Any, account: Any) -> list[Any]:
    """Check that they are classifiers that can be told a price, of pure ε and for rows, without another account."""
    models = list(candidates) if isinstance(candidates, Iterable) else []
    for model in models:
        if isinstance(model, SelectingClassifier):
            check_halves(model.classifier, model.selector, "SelectingClassifier")
    if not models or not all(_is_candidate(model) for model in models):
        empty = "none" if isinstance(candidates, Iterable) else type(candidates).__name__
        got = [type(model).__name__ for model in models] or empty
        remedy = "A selector with a classifier behind it is a tacit.SelectingClassifier."
        raise bad_parameter(OWNER, "candidates", "a list of one or more tacit classifiers", got, remedy)
    if any(getattr(part, "delta", 0.0) for model in models for part, _ in _payers(model)):
        raise bad_parameter(OWNER, "candidates", "of pure ε (delta = 0)", "a candidate with delta above 0")
    check_one_payer(account, [part for model in models for part, _ in _payers(model)], OWNER)
    units = [getattr(getattr(model, "schema", None), "unit", None) for model in models]
    persons = [str(unit) for unit in units if unit is not None and unit.column is not None]
    if persons:
        remedy = "Tuning protects rows alone. Take the person out of the schema if a row is what you want to protect."
        raise bad_parameter(OWNER, "candidates", "of schemas whose unit is a row", persons[0], remedy)
    return models


def _is_candidate(model: Any) -> bool:
    return isinstance(model, PrivateClassifier) and all(hasattr(part, "epsilon") for part, _ in _payers(model))


def _payers(model: Any) -> list[tuple[Any, Fraction]]:
    """The estimators that pay for a fit, and their shares of it: those of a workflow."""
    if not isinstance(model, SelectingClassifier):
        return [(model, Fraction(1))]
    if model.selector is None:
        return [(model.classifier, Fraction(1))]
    return [(model.selector, SHARES["select"]), (model.classifier, SHARES["train"])]


def black_boxes(models: list[Any]) -> list[BlackBoxClassifier]:
    """The black boxes among candidates, alone or behind a selector."""
    return [part for model in models for part, _ in _payers(model) if isinstance(part, BlackBoxClassifier)]


def seeded_inside(models: list[Any]) -> bool:
    """Whether a black box has a seed inside, which is not replaced as its own is."""
    return any(clone(box).set_params(random_state=None).is_seeded for box in black_boxes(models))


def check_stated_costs(models: list[Any], epsilon: Fraction) -> None:
    """Refuse black boxes that cost more than their share of a fit, and cannot be told to cost less."""
    for model in models:
        for part, share in _payers(model):
            if isinstance(part, BlackBoxClassifier):
                part.check_price(Budget(epsilon * share), OWNER, "candidates")


def at_price(candidate: Any, epsilon: Fraction, draw_seed: Callable[[], int | None]) -> Any:
    """A copy of a candidate whose fit costs this much, paid from accounts of its own.

    A selector learns from rows of the classes that the classifier declares.
    """
    model = clone(candidate)
    for part, share in _payers(model):
        part.set_params(epsilon=as_float(epsilon * share), account=None, random_state=draw_seed())
    if isinstance(model, SelectingClassifier) and model.selector is not None:
        model.selector.set_params(classes=model.classifier.classes)
    return model
