"""Released models as data: ``model.json``. Public side.

A file holds numbers and texts alone, and loading it runs no code: every field is checked for its type, its shape and
its place. Floats are written so that they read back as the same number, so predictions do not change by a bit. A digest
shows a file that was damaged or edited by hand; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tacit._version import __version__
from tacit.desk.counts import Rules
from tacit.desk.schemas import Schema, table_schema
from tacit.desk.text import TEXT_PARTS, Topics, text_width
from tacit.errors import ModelError, TacitError, bad_parameter
from tacit.models._base import PrivateClassifier
from tacit.models._reader import Json, Reader, is_whole, read_json
from tacit.models.chain import ChosenFeatures, SelectingClassifier
from tacit.models.logistic import LogisticRegression
from tacit.models.naive_bayes import BernoulliNB
from tacit.models.tabular import TabularClassifier
from tacit.models.text import TextClassifier
from tacit.privacy.release import Receipt

FORMAT = "tacit-model"
VERSION = 4
"""2: words of texts are told apart by their beginning, and counted where they stand first. 3: texts may have topics.
4: tables and regressions tell how clear each feature is."""

_ARRAYS: dict[str, dict[str, tuple[str, str]]] = {
    "BernoulliNB": {
        "weights_": ("f8", "cd"),
        "intercept_": ("f8", "c"),
        "feature_count_": ("i8", "cd"),
        "class_count_": ("i8", "c"),
    },
    "LogisticRegression": {"coef_": ("f8", "1d"), "intercept_": ("f8", "1"), "clearness_": ("f8", "d")},
    "TabularClassifier": {"weights_": ("f8", "cd"), "intercept_": ("f8", "c"), "clearness_": ("f8", "d")},
    "TextClassifier": {"clearness_": ("f8", "d")},
}
"""Fitted arrays of each kind: type, and what each dimension is: c classes, d features, or a number."""

_KINDS: dict[str, type[PrivateClassifier]] = {
    "BernoulliNB": BernoulliNB,
    "LogisticRegression": LogisticRegression,
    "TabularClassifier": TabularClassifier,
    "TextClassifier": TextClassifier,
}

_PARAMETERS: dict[str, tuple[str, ...]] = {
    "BernoulliNB": ("epsilon", "delta", "max_ones", "alpha"),
    "LogisticRegression": ("epsilon", "delta", "loss"),
    "TabularClassifier": ("epsilon", "delta", "max_ones"),
    "TextClassifier": ("epsilon", "delta", "bits", "word_list"),
}

_RULES = {"weights": "we", "mixtures": "mp", "thresholds": "t"}
_TOPICS = {"cells": "k", "loadings": "ko", "parts": "r"}


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model of tacit's as JSON."""
    packed = pack(model)
    head = {"format": FORMAT, "version": VERSION, "library": f"tacit {__version__}"}
    body = head | {"model": packed, "sha256": _digest(packed)}
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise bad_parameter("save", "path", f"writable ({error.strerror})", str(path)) from None


def load(path: str | Path) -> Any:
    """Load a released model from the file that its method ``save`` wrote, or from the folder of a saved result.

    The file is data: nothing in it is executed, and what does not fit is refused.

    Examples
    --------
    >>> import tempfile, tacit
    >>> model = tacit.BernoulliNB(epsilon=1.0, random_state=0).fit([[1, 0], [0, 1]] * 500, [0, 1] * 500)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.json")
    ...     tacit.load(f"{folder}/model.json").predict([[1, 0], [0, 1]]).tolist()
    [0, 1]
    """
    file = Path(path)
    file = file / "model.json" if file.is_dir() else file
    body = read_json(file)
    reader = Reader(body, str(file))
    if body.get("format") != FORMAT:
        what = "it is no model of tacit's. Models are written by model.save or by 'tacit run'"
        is_curve = body.get("format") == "tacit-curve"
        raise reader.error("it is a curve, which tacit.load_curve reads" if is_curve else what)
    version = reader.whole("version", 1)
    if version != VERSION:
        remedy = (
            "Install a newer tacit" if version > VERSION else "Fit the model anew: models were written otherwise then"
        )
        raise reader.error(f"it has version {version}, and this tacit reads version {VERSION}. {remedy}")
    reader.only({"format", "version", "library", "model", "sha256"})
    model = reader.mapping("model")
    if body.get("sha256") != _digest(model):
        raise reader.error("its content does not fit its digest: it was damaged or edited. Get it anew from its maker")
    try:
        return unpack(model, str(file))
    except ModelError:
        raise
    except (TacitError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise reader.error(f"a part of it makes no sense ({type(error).__name__}: {error})") from None


def pack(model: Any) -> Json:
    """A fitted model as plain data."""
    kind = type(model).__name__
    if not hasattr(model, "receipt_"):
        raise bad_parameter("save", "model", "fitted", kind, "Call fit first.")
    if isinstance(model, SelectingClassifier):
        return _pack_chain(model)
    if kind not in _KINDS or type(model) is not _KINDS[kind]:
        remedy = "A black box is written by the library that it is from."
        raise bad_parameter("save", "model", f"one of {sorted([*_KINDS, 'SelectingClassifier'])}", kind, remedy)
    body: Json = {
        "kind": kind,
        "classes": model.classes_.tolist(),
        "parameters": {name: _plain(getattr(model, name)) for name in _PARAMETERS[kind]},
        "arrays": {name: getattr(model, name).tolist() for name in _arrays(kind, rules=hasattr(model, "rules_"))},
        "receipt": model.receipt_.to_dict(),
    }
    if isinstance(model, TabularClassifier):
        body["schema"] = model.table_.schema.to_dict()
    if hasattr(model, "rules_"):
        body["rules"] = _pack_rules(model)
    if isinstance(model, LogisticRegression):
        body["norm"] = model.norm_
    return body | _names(model) | _input(model)


def _pack_chain(model: SelectingClassifier) -> Json:
    chosen = None
    if model.selector_ is not None:
        support = model.selector_.support_
        chosen = {
            "features": len(support),
            "chosen": np.flatnonzero(support).tolist(),
            "receipt": model.selector_.receipt_.to_dict(),
        }
    return (
        {
            "kind": "SelectingClassifier",
            "schema": None if model.schema is None else model.schema.to_dict(),
            "selector": chosen,
            "classifier": pack(model.classifier_),
            "receipt": model.receipt_.to_dict(),
        }
        | _names(model)
        | _input(model)
    )


def _arrays(kind: str, *, rules: bool) -> dict[str, tuple[str, str]]:
    """Fitted arrays of a model: what has rules, as texts and tables with text have, has no other weights."""
    return _ARRAYS["TextClassifier" if rules else kind]


def _pack_rules(model: Any) -> Json:
    rules = model.rules_
    return {name: getattr(rules, name).tolist() for name in _RULES} | {
        "words": rules.words,
        "power": list(rules.power),
        "least": rules.least,
        "offsets": None if rules.offsets is None else rules.offsets.tolist(),
        "choice": int(model.choice_),
        "topics": None if rules.topics is None else _pack_topics(rules.topics),
    }


def _pack_topics(topics: Topics) -> Json:
    cells = np.flatnonzero(topics.places >= 0)
    loadings = topics.loadings[topics.places[cells]]
    arrays = {"cells": cells.tolist(), "loadings": loadings.tolist(), "parts": topics.parts.tolist()}
    return arrays | {"floor": topics.floor, "norm": topics.norm}


def _names(model: Any) -> Json:
    described = getattr(model, "schema", None) is not None  # which names the columns
    names = None if described else getattr(model, "feature_names_in_", None)
    return {} if names is None else {"feature_names": [str(name) for name in names]}


def _input(model: Any) -> Json:
    """Which columns the model was made for, where that is known."""
    columns = getattr(model, "input_", None)
    return {} if columns is None else {"input": dict(columns)}


def unpack(body: Mapping[str, Any], place: str) -> Any:
    """Build a model from plain data, all of which is checked."""
    reader = Reader(body, place)
    kind = body.get("kind")
    if kind == "SelectingClassifier":
        model = _unpack_chain(reader)
    elif isinstance(kind, str) and kind in _KINDS:
        model = _unpack_single(reader, kind)
    else:
        raise reader.error(f"this tacit knows no model of kind {kind!r}. Install a newer tacit")
    model.receipt_ = Receipt(reader.mapping("receipt"))
    if "input" in body:
        columns = reader.mapping("input")
        if not all(isinstance(value, str) for value in columns.values()):
            raise reader.error("'input' must name columns")
        model.input_ = dict(columns)
    return model


def _unpack_single(reader: Reader, kind: str) -> Any:
    extra = {
        "TabularClassifier": {"schema", "rules"},
        "TextClassifier": {"rules"},
        "LogisticRegression": {"feature_names", "norm"},
    }
    reader.only({"kind", "classes", "parameters", "arrays", "receipt", "input"} | extra.get(kind, {"feature_names"}))
    classes = reader.classes()
    given = reader.inner("parameters")
    given.only(set(_PARAMETERS[kind]))
    parameters = {name: given.parameter(name) for name in _PARAMETERS[kind]}
    model: Any = _KINDS[kind](**parameters, classes=classes)
    model.classes_ = np.array(classes)
    arrays = reader.inner("arrays")
    expected = _arrays(kind, rules="rules" in reader.body)
    arrays.only(set(expected))
    sizes = {"c": len(classes)}
    for name, (dtype, shape) in expected.items():
        setattr(model, name, arrays.array(name, dtype, shape, sizes))
    if kind == "TabularClassifier":
        _unpack_table(reader, model, sizes["d"])
    elif kind == "TextClassifier":
        if not is_whole(model.bits) or not 4 <= model.bits <= 22 or sizes["d"] != text_width(model.bits):
            raise reader.error("'bits' must be a whole number from 4 to 22 that fits its arrays")
        _unpack_rules(reader.inner("rules"), model, model.bits, sizes["d"])
    else:
        model.n_features_in_ = sizes["d"]
        if "feature_names" in reader.body:
            model.feature_names_in_ = reader.names("feature_names", sizes["d"])
    if kind == "LogisticRegression":
        model.norm_ = reader.body.get("norm")
        if model.loss not in ("logistic", "huber") or model.norm_ not in ("L1", "L2") or len(classes) != 2:
            raise reader.error("it has an unknown loss or norm, or not two classes")
    return model


def _unpack_table(reader: Reader, model: TabularClassifier, width: int) -> None:
    schema, classes = Schema.from_dict(reader.mapping("schema")), tuple(model.classes_.tolist())
    table = table_schema(schema, classes, "load")
    described = table.styled if "rules" in reader.body else schema
    if described is None or described.n_features != width or schema.classes != classes:
        raise reader.error("its schema does not fit its weights or classes")
    model.schema, model.table_, model.feature_names_ = schema, table, described.feature_names()
    if "rules" in reader.body:
        _unpack_rules(reader.inner("rules"), model, table.bits, width)


def _unpack_rules(reader: Reader, model: Any, bits: int, width: int) -> None:
    reader.only({*_RULES, "words", "power", "least", "offsets", "choice", "topics"})
    classes = len(model.classes_)
    topics = None if reader.body.get("topics") is None else _unpack_topics(reader.inner("topics"), 1 << bits)
    sizes = {"w": width + (0 if topics is None else topics.number), "c": classes}
    arrays = {name: reader.array(name, "f8", shape, sizes) for name, shape in _RULES.items()}
    offsets = None if reader.body.get("offsets") is None else reader.array("offsets", "f8", "c", sizes)
    power = reader.body.get("power")
    columns = sizes["p"] * (1 if classes == 2 else classes)
    if not isinstance(power, list) or len(power) != columns or any(p not in ("none", "root", "full") for p in power):
        raise reader.error("'power' must name 'none', 'root' or 'full' for each column of weights")
    if sizes["e"] != columns:
        raise reader.error("its rules do not fit together")
    words = reader.whole("words", TEXT_PARTS << bits, TEXT_PARTS << bits)
    least, form = reader.whole("least", 1), tuple(power)
    model.rules_ = Rules(**arrays, words=words, power=form, least=least, offsets=offsets, topics=topics)
    model.choice_ = reader.whole("choice", 0, sizes["m"] * sizes["t"] - 1)


def _unpack_topics(reader: Reader, cells: int) -> Topics:
    reader.only({*_TOPICS, "floor", "norm"})
    sizes: dict[str, int] = {"r": TEXT_PARTS}
    arrays = {name: reader.array(name, "i8", shape, sizes) for name, shape in _TOPICS.items()}
    known, norm = arrays["cells"], reader.body.get("norm")
    if norm not in ("L1", "L2") or np.any(np.diff(known) <= 0) or not 0 <= known.min(initial=0) <= known.max() < cells:
        raise reader.error("its topics do not fit together")
    places = np.full(cells, -1, dtype=np.int64)
    places[known] = np.arange(len(known))
    return Topics(places, arrays["loadings"], arrays["parts"], reader.whole("floor", 1), norm)


def _unpack_chain(reader: Reader) -> Any:
    reader.only({"kind", "schema", "selector", "classifier", "receipt", "feature_names", "input"})
    classifier = unpack(reader.mapping("classifier"), reader.place)
    schema = None if reader.body.get("schema") is None else Schema.from_dict(reader.mapping("schema"))
    model = SelectingClassifier(classifier, schema=schema)
    model.classifier_, model.classes_, model.selector_ = classifier, classifier.classes_, None
    if isinstance(classifier, SelectingClassifier | TabularClassifier | TextClassifier):
        raise reader.error("its classifier is none of matrices")
    width = classifier.n_features_in_
    if reader.body.get("selector") is not None:
        model.selector = model.selector_ = _unpack_selection(reader.inner("selector"), width)
        width = len(model.selector_.support_)
    if schema is None:
        model.n_features_in_ = width
        if "feature_names" in reader.body:
            model.feature_names_in_ = reader.names("feature_names", width)
    elif schema.n_features != width:
        raise reader.error("its schema does not fit its features")
    else:
        model._name_columns()
    return model


def _unpack_selection(reader: Reader, width: int) -> ChosenFeatures:
    reader.only({"features", "chosen", "receipt"})
    features = reader.whole("features", 1, 2**31 - 1)
    chosen = reader.array("chosen", "i8", "k", {"k": width})
    if (np.diff(chosen) <= 0).any():
        raise reader.error("its selection must be ascending numbers of features")
    if not 0 <= chosen[0] <= chosen[-1] < features:
        raise reader.error("its selection is outside its features")
    selected = ChosenFeatures()
    selected.support_ = np.zeros(features, dtype=np.bool_)
    selected.support_[chosen] = True
    selected.receipt_ = Receipt(reader.mapping("receipt"))
    return selected


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    number = value.item() if isinstance(value, np.generic) else value
    return number if isinstance(number, int) else float(number)


def _digest(model: Mapping[str, Any]) -> str:
    text = json.dumps(model, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
