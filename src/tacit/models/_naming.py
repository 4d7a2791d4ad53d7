"""Names of released models: what tells one question about private rows from another. Public side."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np

from tacit.models._base import Floats
from tacit.models.chain import SelectingClassifier
from tacit.models.logistic import LogisticRegression
from tacit.models.naive_bayes import BernoulliNB
from tacit.models.tabular import TabularClassifier
from tacit.models.text import TextClassifier

STEPS = 1 << 20
"""Numbers are told apart by so many parts of their power of two: the last bits differ from machine to machine."""


def model_name(model: Any) -> str:
    """A name for what a model says of rows: made of public numbers alone, and the same for equal models.

    What cannot be looked into, such as a black box, is known by the entry of its fit in the ledger; and what has none
    is never the same twice.
    """
    state = hashlib.sha256()
    for part in _parts(model):
        state.update(hashlib.sha256(part).digest())
    return state.hexdigest()


def _parts(model: Any) -> Iterator[bytes]:
    yield type(model).__name__.encode()
    yield json.dumps(np.asarray(model.classes_).tolist()).encode()
    if isinstance(model, SelectingClassifier):
        yield b"" if model.schema is None else str(model.schema.digest).encode()
        yield b"" if model.selector_ is None else np.packbits(model.selector_.support_).tobytes()
        yield model_name(model.classifier_).encode()
    elif isinstance(model, TextClassifier) or hasattr(model, "rules_"):
        rules = model.rules_
        yield model.table_.schema.digest.encode() if isinstance(model, TabularClassifier) else b""
        topics = None if rules.topics is None else rules.topics.digest()
        yield repr((int(model.choice_), rules.words, rules.power, rules.least, topics)).encode()
        yield from map(_rounded, (rules.weights, rules.mixtures, rules.thresholds))
        yield b"" if rules.offsets is None else _rounded(rules.offsets)
    elif isinstance(model, LogisticRegression):
        yield f"{model.loss} {model.norm_}".encode()
        yield from map(_rounded, (model.coef_, model.intercept_))
    elif isinstance(model, BernoulliNB | TabularClassifier):
        yield model.table_.schema.digest.encode() if isinstance(model, TabularClassifier) else b""
        yield from map(_rounded, (model.weights_, model.intercept_))
    else:
        receipt = getattr(model, "receipt_", None)
        yield secrets.token_bytes(32) if receipt is None else str(receipt.to_json()).encode()


def _rounded(values: Floats) -> bytes:
    parts, powers = np.frexp(np.asarray(values, dtype=np.float64))
    parts = np.nan_to_num(parts, nan=2, posinf=3, neginf=-3)  # those of finite numbers are between -1 and 1
    numbers = np.stack([np.rint(parts * STEPS), powers]).astype("<i4")
    return repr(numbers.shape).encode() + bytes(numbers.tobytes())
