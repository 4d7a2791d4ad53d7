"""Released models as ONNX graphs that compute the same, up to rounding. Public side; needs ``tacit[onnx]``.

- a model of matrices has the input ``X``: doubles; a feature is present where the entry is neither 0 nor NaN;
- a :class:`TabularClassifier` without text has an input for each column, of shape (rows, 1): texts, or doubles;
- a :class:`TextClassifier` has the input ``X``: what ``tacit.models.convert.TextFeatures.of(model)`` makes of texts.

Outputs are ``label`` and ``probabilities``. ONNX cannot hash words, so texts are encoded outside of the graph. Texts of
a category must come without outer white space; a missing number is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.desk.schemas import CategoryColumn, NumberColumn, Schema, TextColumn
from tacit.errors import MissingExtraError, bad_parameter
from tacit.models._base import check_fitted
from tacit.models.blackbox import BlackBoxClassifier
from tacit.models.chain import SelectingClassifier
from tacit.models.convert import text_coefficients
from tacit.models.logistic import LEAST_ONES, LogisticRegression, words_scale
from tacit.models.tabular import TabularClassifier
from tacit.models.text import TextClassifier

OPSET, ML_OPSET = 17, 3


class _Graph:
    """Nodes, constants and inputs of a graph; every method returns the name of a value."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError as error:
            raise MissingExtraError("Converting to ONNX needs the package onnx: pip install 'tacit[onnx]'.") from error
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = f"{op}_{len(self.nodes)}"
        node = self.onnx.helper.make_node(op, list(inputs), [name], name=name, domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def constant(self, value: Any) -> str:
        name = f"constant_{len(self.constants)}"
        array = np.asarray(value)
        if array.dtype.kind in "UO":
            kind, texts = self.onnx.TensorProto.STRING, np.array([str(item).encode() for item in array.ravel()])
            tensor = self.onnx.helper.make_tensor(name, kind, list(array.shape), texts)
        else:
            tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.constants.append(tensor)
        return name

    def input(self, name: str, kind: str, width: int) -> str:
        code = getattr(self.onnx.TensorProto, kind)
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, code, ["rows", width]))
        return name

    def doubles(self, value: str) -> str:
        return self.add("Cast", value, to=self.onnx.TensorProto.DOUBLE)

    def finish(self, scores: str, classes: Any) -> Any:
        """Close the graph: probabilities of scores, and the label of the largest."""
        make, proto = self.onnx.helper, self.onnx.TensorProto
        texts = classes.dtype.kind in "UO"
        labels = classes if texts or classes.dtype.kind == "f" else classes.astype(np.int64)
        kind = proto.STRING if texts else proto.DOUBLE if labels.dtype.kind == "f" else proto.INT64
        best = self.add("ArgMax", scores, axis=1, keepdims=0)
        self.nodes.append(make.make_node("Gather", [self.constant(labels), best], ["label"], name="label"))
        self.nodes.append(make.make_node("Softmax", [scores], ["probabilities"], name="probabilities", axis=1))
        outputs = [
            make.make_tensor_value_info("label", kind, ["rows"]),
            make.make_tensor_value_info("probabilities", proto.DOUBLE, ["rows", len(classes)]),
        ]
        graph = make.make_graph(self.nodes, "tacit", self.inputs, outputs, initializer=self.constants)
        versions = [make.make_opsetid("", OPSET), make.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = make.make_model(graph, producer_name="tacit", opset_imports=versions, ir_version=8)
        self.onnx.checker.check_model(model, full_check=True)
        return model


def to_onnx(model: Any) -> Any:
    """Convert a fitted model; ``onnx.save(to_onnx(model), "model.onnx")`` writes it."""
    check_fitted(model)
    graph = _Graph()
    if isinstance(model, BlackBoxClassifier):
        raise bad_parameter("to_onnx", "model", "a classifier of tacit's own", "a black box")
    if isinstance(model, TextClassifier):
        coef, intercept = text_coefficients(model)
        return graph.finish(_linear(graph, graph.input("X", "DOUBLE", coef.shape[1]), coef, intercept), model.classes_)
    schema = model.table_.schema if isinstance(model, TabularClassifier) else getattr(model, "schema", None)
    features = _presence(graph, model.n_features_in_) if schema is None else _table(graph, schema)
    if isinstance(model, SelectingClassifier):
        if model.selector_ is not None:
            columns = graph.constant(np.flatnonzero(model.selector_.support_).astype(np.int64))
            features = graph.add("Gather", features, columns, axis=1)
        model = model.classifier_
    return graph.finish(_scores(graph, features, model), model.classes_)


def _scores(graph: _Graph, features: str, model: Any) -> str:
    if not isinstance(model, LogisticRegression):
        return _linear(graph, features, model.weights_, model.intercept_)
    ones = graph.add("ReduceSum", features, graph.constant(np.array([1])), keepdims=1)
    length = graph.add("Max", ones, graph.constant(np.array([[float(LEAST_ONES)]])))
    scaled = graph.add("Div", features, length if model.norm_ == "L1" else graph.add("Sqrt", length))
    factor = 1.0 if model.loss == "logistic" else 2.0
    weights = factor * words_scale(model.norm_, np.ones(1)) * model.coef_
    return _linear(graph, scaled, weights, factor * model.intercept_)


def _linear(graph: _Graph, features: str, weights: Any, intercept: Any) -> str:
    """Scores of the classes; one row of weights means log-odds of the second of two."""
    if len(weights) == 1:
        weights, intercept = np.vstack([0 * weights, weights]), np.array([0.0, intercept[0]])
    product = graph.add("MatMul", features, graph.constant(np.asarray(weights, dtype=np.float64).T))
    return graph.add("Add", product, graph.constant(np.asarray(intercept, dtype=np.float64)))


def _presence(graph: _Graph, width: int) -> str:
    X = graph.input("X", "DOUBLE", width)
    absent = graph.add("Or", graph.add("Equal", X, graph.constant(np.array(0.0))), graph.add("IsNaN", X))
    return graph.doubles(graph.add("Not", absent))


def _table(graph: _Graph, schema: Schema) -> str:
    """The binary features of a table, column after column."""
    blocks = []
    for column in schema.columns:
        if isinstance(column, NumberColumn):
            place = _bin(graph, column)
        elif isinstance(column, CategoryColumn):
            place = _category(graph, column, schema.missing)
        else:
            kind = "text" if isinstance(column, TextColumn) else "sparse"
            raise bad_parameter("to_onnx", "model", "one of a table of categories and numbers", f"a {kind} column")
        blocks.append(graph.doubles(graph.add("Equal", place, graph.constant(np.arange(column.width)[None, :]))))
    return graph.add("Concat", *blocks, axis=1)


def _bin(graph: _Graph, column: NumberColumn) -> str:
    X = graph.input(column.name, "DOUBLE", 1)
    inner = np.array(column.edges[1:-1])[None, :]
    if inner.size:
        reached = graph.doubles(graph.add("GreaterOrEqual", X, graph.constant(inner)))
        place = graph.add("ReduceSum", reached, graph.constant(np.array([1])), keepdims=1)
    else:
        place = graph.add("Mul", graph.doubles(graph.add("IsNaN", X)), graph.constant(np.array(0.0)))
    missing = graph.constant(np.array([[float(len(column.edges) - 1)]]))
    return graph.add("Cast", graph.add("Where", graph.add("IsNaN", X), missing, place), to=graph.onnx.TensorProto.INT64)


def _category(graph: _Graph, column: CategoryColumn, missing: tuple[str, ...]) -> str:
    other = len(column.values)
    if all(isinstance(value, str) for value in column.values):
        X = graph.input(column.name, "STRING", 1)
        codes = dict.fromkeys(missing, other + 1) | {str(value).strip(): i for i, value in enumerate(column.values)}
        table = {"keys_strings": list(codes), "values_int64s": list(codes.values()), "default_int64": other}
        return graph.add("LabelEncoder", X, domain="ai.onnx.ml", **table)
    X = graph.input(column.name, "DOUBLE", 1)
    same = graph.doubles(graph.add("Equal", X, graph.constant(np.array(column.values, dtype=np.float64)[None, :])))
    # Each match gives its position minus "other", so that no match at all gives "other".
    shift = graph.constant((np.arange(other, dtype=np.float64) - other)[:, None])
    place = graph.add("Add", graph.add("MatMul", same, shift), graph.constant(np.array(float(other))))
    absent = graph.constant(np.array([[float(other + 1)]]))
    return graph.add("Cast", graph.add("Where", graph.add("IsNaN", X), absent, place), to=graph.onnx.TensorProto.INT64)
