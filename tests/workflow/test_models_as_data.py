"""Models go out as data and come back the same to the last bit; files that are not right are refused."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline

import tacit
from tacit.models import storage
from tacit.models.convert import TextFeatures

rng = np.random.default_rng(1)
X = (rng.random((1500, 12)) < 0.3).astype(float)
Y = ((X[:, 0] + X[:, 1]) > 0).astype(int)
TEXTS = ["win cash now 12", "see you at lunch", "", "CALL me", "ünïcode 你好"] * 200
COLOURS = ["red", " blue", "green", "", "?"]
TABLE = pl.DataFrame(
    {
        "colour": [COLOURS[i % 5] for i in range(1500)],
        "size": [float(i % 4) if i % 9 else None for i in range(1500)],
        "age": [float(i % 120) - 10 if i % 11 else None for i in range(1500)],
        "half": [float(i % 3) for i in range(1500)],
    }
)
SCHEMA = tacit.Schema.from_dict(
    {
        "missing": ["", "?"],
        "label": {"classes": [0, 1]},
        "columns": {
            "colour": {"kind": "category", "values": ["red", "blue"]},
            "size": {"kind": "category", "values": [0, 1, 2]},
            "age": {"kind": "number", "low": 0, "high": 100, "bins": 7},
            "half": {"kind": "number", "edges": [0, 1]},
        },
    }
)


def models() -> dict[str, tuple[Any, Any]]:
    three = ["a", "b", "c"]
    simulated: dict[str, Any] = {"random_state": 0}
    frame = pd.DataFrame(X[:, :4], columns=["one", "two", "three", "four"])
    selector = tacit.TopKSelector(4, score="dc", **simulated)
    binary = tacit.BernoulliNB(epsilon=0.7, **simulated)
    chain = tacit.SelectingClassifier
    return {
        "naive Bayes": (binary.fit(X, Y), X),
        "naive Bayes, three classes": (
            tacit.BernoulliNB(classes=three, **simulated).fit(X, [three[i % 3] for i in range(len(X))]),
            X,
        ),
        "naive Bayes, truth values": (tacit.BernoulliNB(classes=(False, True), **simulated).fit(X, Y > 0), X),
        "text, truth values": (
            tacit.TextClassifier(classes=[False, True], bits=8, **simulated).fit(TEXTS, [True, False] * 500),
            TEXTS,
        ),
        "table, truth values": (
            tacit.TabularClassifier(schema=SCHEMA, classes=(False, True), **simulated).fit(TABLE, Y > 0),
            TABLE,
        ),
        "naive Bayes, named": (tacit.BernoulliNB(**simulated).fit(frame, Y), frame),
        "logistic": (tacit.LogisticRegression(**simulated).fit(X, Y), X),
        "logistic, Gaussian": (tacit.LogisticRegression(delta=1e-6, **simulated).fit(X, Y), X),
        "huber": (tacit.LogisticRegression(loss="huber", **simulated).fit(sp.csr_array(X), Y), sp.csr_array(X)),
        "text": (tacit.TextClassifier(**simulated).fit(TEXTS, [1, 0, 0, 1, 0] * 200), TEXTS),
        "text, three classes": (
            tacit.TextClassifier(classes=three, bits=8, **simulated).fit(TEXTS, ["a", "b", "c", "a", "b"] * 200),
            TEXTS,
        ),
        "table": (tacit.TabularClassifier(schema=SCHEMA, max_ones=4, **simulated).fit(TABLE, Y), TABLE),
        "table, by regression": (tacit.TabularClassifier(schema=SCHEMA, **simulated).fit(TABLE, Y), TABLE),
        "selected": (chain(clone(binary), clone(selector)).fit(X, Y), X),
        "selected, named": (chain(clone(binary), tacit.TopKSelector(2, **simulated)).fit(frame, Y), frame),
        "selected, logistic": (chain(tacit.LogisticRegression(**simulated), clone(selector)).fit(X, Y), X),
        "selected from a table": (chain(clone(binary), clone(selector), SCHEMA).fit(TABLE, Y), TABLE),
        "encoded": (chain(clone(binary), schema=SCHEMA).fit(TABLE, Y), TABLE),
    }


MODELS = models()


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_the_same_to_the_last_bit(name: str, tmp_path: Path) -> None:
    model, rows = MODELS[name]
    model.save(tmp_path / "model.json")
    loaded = tacit.load(tmp_path / "model.json")
    assert type(loaded) is type(model)
    assert (loaded.predict_proba(rows) == model.predict_proba(rows)).all()
    assert (loaded.predict(rows) == model.predict(rows)).all()
    assert loaded.receipt_.to_json() == model.receipt_.to_json()
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    assert loaded.receipt_["status"] == "simulation: not private"


@pytest.mark.parametrize("name", MODELS)
def test_scikit_learn_objects_predict_the_same(name: str) -> None:
    model, rows = MODELS[name]
    plain = model.to_sklearn()
    last = plain[-1] if isinstance(plain, Pipeline) else plain
    assert type(last).__module__.startswith("sklearn.")
    np.testing.assert_allclose(plain.predict_proba(rows), model.predict_proba(rows), rtol=1e-9, atol=1e-12)
    assert (plain.predict(rows) == model.predict(rows)).all()


@pytest.mark.parametrize("name", MODELS)
def test_onnx_computes_the_same(name: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    model, rows = MODELS[name]
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    labels, chances = session.run(None, feeds(session, rows, model))
    np.testing.assert_allclose(chances, model.predict_proba(rows), rtol=1e-9, atol=1e-12)
    assert (np.asarray(labels) == model.predict(rows)).all()


def feeds(session: Any, rows: Any, model: Any) -> dict[str, Any]:
    inputs = {entry.name: entry for entry in session.get_inputs()}
    if isinstance(rows, list):
        return {"X": TextFeatures.of(model).transform(rows).toarray()}
    if isinstance(rows, pl.DataFrame):
        columns = {}
        for name, entry in inputs.items():
            series = rows[name]
            text = entry.type == "tensor(string)"
            values = series.str.strip_chars().to_numpy() if text else series.fill_null(np.nan).to_numpy()
            columns[name] = values[:, None]
        return columns
    return {"X": rows.toarray() if sp.issparse(rows) else np.asarray(rows, dtype=np.float64)}


def test_onnx_counts_presence_as_we_do() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    model, _ = MODELS["naive Bayes"]
    odd = np.where(X[:40] > 0, -2.5, 0.0)
    odd[0, 0] = np.nan
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    np.testing.assert_allclose(session.run(["probabilities"], {"X": odd})[0], model.predict_proba(odd), rtol=1e-9)


def test_text_columns_cannot_go_into_a_graph() -> None:
    pytest.importorskip("onnx")
    schema = tacit.Schema.text((0, 1), bits=6)
    model = tacit.TabularClassifier(schema=schema, random_state=0).fit(TEXTS, [1, 0, 0, 1, 0] * 200)
    with pytest.raises(tacit.ParameterError, match="a text column"):
        model.to_onnx()


def body_of(name: str, tmp_path: Path) -> dict[str, Any]:
    MODELS[name][0].save(tmp_path / "model.json")
    body: dict[str, Any] = json.loads((tmp_path / "model.json").read_text())
    return body


def load_changed(body: dict[str, Any], tmp_path: Path, *, sign: bool = True) -> Any:
    if sign:
        text = json.dumps(body["model"], ensure_ascii=True, sort_keys=True, separators=(",", ":"))
        body["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (tmp_path / "changed.json").write_text(json.dumps(body))
    return tacit.load(tmp_path / "changed.json")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "1",
        '{"format": "other"}',
        '{"a": NaN}',
        "[" * 100_000,
        "\x80\x04pickle",
        '{"x": ' + "9" * 5000 + "}",
    ],
    ids=range(10),
)
def test_foreign_files(content: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(content)
    with pytest.raises(tacit.ModelError, match=r"model.json' cannot be used"):
        tacit.load(tmp_path / "model.json")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(tacit.ModelError, match="Check the path"):
        tacit.load(tmp_path / "nothing.json")
    with pytest.raises(tacit.ModelError, match="cannot be read"):
        tacit.load(tmp_path)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(tacit.ModelError, match="not valid JSON"):
        tacit.load(tmp_path / "bytes.json")


def test_an_edited_file_and_a_newer_one(tmp_path: Path) -> None:
    body = body_of("naive Bayes", tmp_path)
    edited = copy.deepcopy(body)
    edited["model"]["arrays"]["intercept_"][0] += 1e-9
    with pytest.raises(tacit.ModelError, match="damaged or edited"):
        load_changed(edited, tmp_path, sign=False)
    with pytest.raises(tacit.ModelError, match="Install a newer tacit"):
        load_changed(body | {"version": storage.VERSION + 1}, tmp_path)
    with pytest.raises(tacit.ModelError, match="Fit the model anew"):
        load_changed(body | {"version": 1}, tmp_path)
    with pytest.raises(tacit.ModelError, match="unknown fields"):
        load_changed(body | {"__reduce__": "os.system"}, tmp_path)


def at(path: str, value: Any) -> Any:
    def change(model: dict[str, Any]) -> None:
        *front, last = path.split("/")
        for key in front:
            model = model[int(key)] if isinstance(model, list) else model[key]  # type: ignore[index]
        if value is ...:
            del model[last]
        else:
            model[last] = value

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("naive Bayes", at("kind", "os.system")),
        ("naive Bayes", at("kind", ["x"])),
        ("naive Bayes", at("classes", [0])),
        ("naive Bayes", at("classes", [0, "a"])),
        ("naive Bayes", at("classes", [0, 1, 2])),
        ("naive Bayes", at("classes", [0, 0])),
        ("naive Bayes", at("classes", ...)),
        ("naive Bayes", at("arrays/weights_", [[1.0], [2.0, 3.0]])),
        ("naive Bayes", at("arrays/weights_", [["a"] * 12] * 2)),
        ("naive Bayes", at("arrays/weights_", [[True] * 12] * 2)),
        ("naive Bayes", at("arrays/weights_", "AAAA")),
        ("naive Bayes", at("arrays/weights_", ...)),
        ("naive Bayes", at("arrays/intercept_", [0.0])),
        ("naive Bayes", at("arrays/class_count_", [0.5, 1])),
        ("naive Bayes", at("arrays/class_count_", [2**70, 1])),
        ("naive Bayes", at("arrays/strange", [1])),
        ("naive Bayes", at("parameters/epsilon", [1])),
        ("naive Bayes", at("parameters/account", 1)),
        ("naive Bayes", at("receipt", ...)),
        ("naive Bayes", at("input", {"text": 1})),
        ("naive Bayes, named", at("feature_names", ["a"])),
        ("logistic", at("parameters/loss", "hinge")),
        ("logistic", at("norm", "L3")),
        ("logistic", at("arrays/coef_", [[0.0], [1.0]])),
        ("text", at("rules/choice", 10**6)),
        ("text", at("rules/choice", -1)),
        ("text", at("rules/power", ["root", "os"])),
        ("text", at("rules/weights", [[0.0, 0.0]])),
        ("text", at("rules/least", 0)),
        ("text", at("rules/words", 5)),
        ("text", at("parameters/bits", 40)),
        ("text", at("parameters/bits", None)),
        ("table", at("schema", {})),
        ("table", at("schema/columns/age/edges", [0, 1])),
        ("table", at("schema/label/classes", [0, 2])),
        ("selected", at("selector/chosen", [3, 2, 1, 0])),
        ("selected", at("selector/chosen", [0, 1, 2, 99])),
        ("selected", at("selector/chosen", [0])),
        ("selected", at("selector/features", 0)),
        ("selected", at("classifier/kind", "SelectingClassifier")),
        ("selected from a table", at("schema/columns/half/edges", [0, 1, 2])),
    ],
)
def test_what_does_not_fit_is_refused(name: str, change: Any, tmp_path: Path) -> None:
    body = body_of(name, tmp_path)
    change(body["model"])
    with pytest.raises(tacit.ModelError, match=r"changed.json' cannot be used"):
        load_changed(body, tmp_path)


def test_only_fitted_models_of_ours_can_be_saved(tmp_path: Path) -> None:
    with pytest.raises(tacit.ParameterError, match="fitted"):
        tacit.BernoulliNB().save(tmp_path / "model.json")
    with pytest.raises(tacit.ParameterError, match="writable"):
        MODELS["logistic"][0].save(tmp_path / "no" / "such" / "folder.json")

    class Mine(tacit.BernoulliNB):
        """Somebody's own."""

    with pytest.raises(tacit.ParameterError, match="'model'"):
        storage.save(Mine(random_state=0).fit(X, Y), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_where_nothing_is_selected_all_features_stay() -> None:
    selector = tacit.ThresholdSelector(threshold=1e6, max_selected=2, random_state=0)
    model = tacit.SelectingClassifier(tacit.BernoulliNB(random_state=0), selector).fit(X, Y)
    assert model.selector_.support_.all()
    assert model.receipt_["epsilon"] == 2.0
    with pytest.raises(tacit.ParameterError, match="'classifier'"):
        tacit.SelectingClassifier("none").fit(X, Y)
    with pytest.raises(tacit.ParameterError, match="'selector'"):
        tacit.SelectingClassifier(tacit.BernoulliNB(), SelectKBest(k=1)).fit(X, Y)


@pytest.mark.parametrize("name", ["selector", "schema"])
def test_halves_that_declare_other_classes_are_refused(name: str) -> None:
    """Before, one half saw no rows, and nothing said so."""
    account = tacit.Ledger.open().account("rows", budget=tacit.Budget(2.0))
    parts = {"selector": tacit.CountSelector(k=1, account=account), "schema": tacit.Schema.matrix(3, (0, 1))}
    classifier = tacit.BernoulliNB(classes=("no", "yes"), account=account)
    with pytest.raises(tacit.ParameterError, match=rf"'{name}'.*\('no', 'yes'\).*Got \(0, 1\)"):
        tacit.SelectingClassifier(classifier, **{name: parts[name]}).fit(X, Y)
    assert account.entries() == []
