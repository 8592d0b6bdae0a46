"""Models for other programs: ONNX, in double precision, with the preparation inside.

The graph is written node by node, so that its decisions are those of the model: the operators for classifiers that
ONNX offers compute in single precision. Inputs: ``numbers``, a (n, d) tensor of doubles with NaN for missing values,
and, where the model takes text, ``text``, a (n, k) tensor of strings with "" for missing ones. Outputs: ``label`` and
``decision``.
"""

from pathlib import Path
from typing import Any

import numpy as np

from separatrix.errors import MissingExtraError, ModelError
from separatrix.passes.binary_problems import pairs
from separatrix.persistence.files import classifier_of
from separatrix.persistence.output import write_atomically

OPSET, ML_OPSET = 17, 3


def export_onnx(model: Any, path: str | Path) -> None:
    """Export a linear separator, alone or at the end of a Pipeline that `separatrix fit` makes.

    Parameters
    ----------
    model : estimator
        Fitted; its predictions must come from hyperplanes (``coef_``, ``intercept_``). Before it: SimpleImputer,
        StandardScaler, OneHotEncoder, and a ColumnTransformer of them.
    path : str or Path
    """
    content = to_onnx(model).SerializeToString()
    write_atomically(path, content)


def check_export(path: str | Path) -> None:
    """Raise where a model cannot be exported under this name, before the work."""
    if Path(path).suffix.lower() != ".onnx":
        raise ModelError(f"{path}: models are exported as ONNX, to a file that ends with .onnx.")
    require_onnx()


def require_onnx() -> Any:
    """The package, or an error with the line that installs it."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError.of("onnx", "onnx", "Export to ONNX") from error
    return onnx


def to_onnx(model: Any) -> Any:
    """The ONNX model."""
    onnx = require_onnx()
    separator = classifier_of(model)
    if not hasattr(separator, "coef_") or _predicts_otherwise(separator):
        raise ModelError(
            f"{type(separator).__name__} predicts otherwise than by the largest score of its hyperplanes, so it "
            "cannot be exported."
        )
    graph = _Graph(onnx)
    steps = list(getattr(model, "steps", []))[:-1]
    if len(steps) == 1 and hasattr(steps[0][1], "transformers_"):
        value = graph.columns(steps[0][1])
    else:
        value = graph.numbers(int(model.n_features_in_))
        for _, step in steps:
            value = graph.transform(step, value)
    graph.classify(separator, value)
    return graph.finished()


def _predicts_otherwise(separator: Any) -> bool:
    from separatrix.fit.separator import LinearSeparator

    cls = type(separator)
    plain = cls.predict is LinearSeparator.predict and cls.decision_function is LinearSeparator.decision_function
    if not (isinstance(separator, LinearSeparator) and plain):
        return True
    classes = len(separator.classes_)
    return len(separator.coef_) != (1 if classes == 2 else len(pairs(classes)) if _votes(separator) else classes)


def _votes(separator: Any) -> bool:
    return getattr(separator, "multi_class_", "ovr") == "ovo" and len(separator.classes_) > 2


def _places(encoder: Any, j: int, count: int) -> np.ndarray:
    """The column of each category of a feature; rare ones share the last one."""
    groups = getattr(encoder, "_default_to_infrequent_mappings", None)
    if not getattr(encoder, "_infrequent_enabled", False) or groups is None or groups[j] is None:
        return np.arange(count)
    return np.asarray(groups[j])


class _Graph:
    """An ONNX graph under construction; values are known by their names."""

    def __init__(self, onnx: Any):
        self.onnx, self.helper = onnx, onnx.helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        array = np.asarray(array)
        if array.dtype.kind in "UO":
            words = [str(x).encode() for x in array.ravel()]
            tensor = self.helper.make_tensor(name, self.onnx.TensorProto.STRING, array.shape, words)
        else:
            tensor = self.onnx.numpy_helper.from_array(array, name)
        self.constants.append(tensor)
        return name

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def numbers(self, width: int) -> str:
        return self._input("numbers", self.onnx.TensorProto.DOUBLE, width)

    def _input(self, name: str, kind: int, width: int) -> str:
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, ["n", width]))
        return name

    # The steps before the separator.

    def transform(self, step: Any, value: str) -> str:
        """One step on a tensor of numbers."""
        kind = type(step).__name__
        if kind == "SimpleImputer" and np.asarray(step.statistics_).dtype.kind == "f":
            if np.isnan(step.statistics_).any() or step.indicator_ is not None:
                raise ModelError("An imputer that drops columns or adds indicators cannot be exported.")
            return self.node("Where", self.node("IsNaN", value), self.constant(step.statistics_[None, :]), value)
        if kind == "StandardScaler":
            if step.mean_ is not None and step.with_mean:
                value = self.node("Sub", value, self.constant(step.mean_[None, :]))
            return self.node("Div", value, self.constant(step.scale_[None, :])) if step.with_std else value
        if kind == "Pipeline":
            for _, inner in step.steps:
                value = self.transform(inner, value)
            return value
        if kind == "FunctionTransformer" and step.func is None:
            return value
        raise ModelError(f"The step {kind} cannot be exported; SimpleImputer, StandardScaler and OneHotEncoder can.")

    def columns(self, step: Any) -> str:
        """A ColumnTransformer: the numbers first, then every text column one-hot encoded."""
        parts = []
        for name, inner, columns in step.transformers_:
            if not len(columns):
                continue
            if name == "numbers":
                parts.append(self.transform(inner, self.numbers(len(columns))))
            elif name == "text":
                parts += self._words(inner, len(columns))
            else:
                raise ModelError(f"The columns {name!r} of a ColumnTransformer cannot be exported.")
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=1)

    def _words(self, inner: Any, width: int) -> list[str]:
        steps = [step for _, step in getattr(inner, "steps", [("encode", inner)])]
        encoder, fill = steps[-1], steps[0].statistics_ if len(steps) > 1 else [None] * width
        text = self._input("text", self.onnx.TensorProto.STRING, width)
        parts = []
        for j, categories in enumerate(encoder.categories_):
            words = [str(c) for c in categories]
            places = _places(encoder, j, len(words))
            width = int(places.max()) + 1
            codes = dict(zip(words, places.tolist(), strict=True))
            if fill[j] is not None:
                codes[""] = codes[str(fill[j])]
            grouped = len(words) > width
            column = self.node("Gather", text, self.constant(np.array([j])), axis=1)
            code = self.node(
                "LabelEncoder",
                column,
                domain="ai.onnx.ml",
                keys_strings=list(codes),
                values_int64s=list(codes.values()),
                default_int64=width - 1 if grouped else width,  # unknown: a rare one, or no column is hot
            )
            hot = self.node("Equal", code, self.constant(np.arange(width, dtype=np.int64)[None, :]))
            parts.append(self.node("Cast", hot, to=self.onnx.TensorProto.DOUBLE))
        return parts

    # The separator.

    def classify(self, separator: Any, value: str) -> None:
        scores = self.node("MatMul", value, self.constant(np.ascontiguousarray(separator.coef_.T, dtype=np.float64)))
        bias = self.constant(np.asarray(separator.intercept_, dtype=np.float64)[None, :])
        if len(separator.coef_) == 1:
            scores = self.node("Add", scores, bias)
            scores = self.node("Squeeze", scores, self.constant(np.array([1])), output="decision")
            positive = self.node("Greater", scores, self.constant(np.array(0.0)))
            place = self.node("Cast", positive, to=self.onnx.TensorProto.INT64)
        else:
            if _votes(separator):
                scores = self._duels(self.node("Add", scores, bias), len(separator.classes_))
            else:
                scores = self.node("Add", scores, bias, output="decision")
            place = self.node("ArgMax", scores, axis=1, keepdims=0)
        classes = np.asarray(separator.classes_)
        classes = classes.astype(np.int64) if classes.dtype.kind in "biu" else classes
        self.node("Gather", self.constant(classes), place, output="label")
        kinds = {"i": self.onnx.TensorProto.INT64, "f": self.onnx.TensorProto.DOUBLE}
        kind = kinds.get(classes.dtype.kind, self.onnx.TensorProto.STRING)
        shape = ["n"] if len(separator.coef_) == 1 else ["n", len(separator.classes_)]
        self.outputs = [
            self.helper.make_tensor_value_info("label", kind, ["n"]),
            self.helper.make_tensor_value_info("decision", self.onnx.TensorProto.DOUBLE, shape),
        ]

    def _duels(self, scores: str, classes: int) -> str:
        """The duels that each class wins, ties broken by its scores: `separatrix.passes.binary_problems.votes`."""
        first, second = (np.zeros((len(pairs(classes)), classes)) for _ in range(2))
        for p, (i, j) in enumerate(pairs(classes)):
            first[p, i] = second[p, j] = 1.0
        to_double = {"to": self.onnx.TensorProto.DOUBLE}
        positive = self.node("Cast", self.node("Greater", scores, self.constant(np.array(0.0))), **to_double)
        other = self.node("Sub", self.constant(np.array(1.0)), positive)
        won = self.node(
            "Add",
            self.node("MatMul", positive, self.constant(second)),
            self.node("MatMul", other, self.constant(first)),
        )
        sums = self.node("MatMul", scores, self.constant(second - first))
        size = self.node("Add", self.node("Abs", sums), self.constant(np.array(1.0)))
        squeezed = self.node("Div", sums, self.node("Mul", size, self.constant(np.array(3.0))))
        return self.node("Add", won, squeezed, output="decision")

    def finished(self) -> Any:
        graph = self.helper.make_graph(self.nodes, "separatrix", self.inputs, self.outputs, self.constants)
        opsets = [self.helper.make_opsetid("", OPSET), self.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = self.helper.make_model(graph, opset_imports=opsets, producer_name="separatrix", ir_version=8)
        self.onnx.checker.check_model(model)
        return model
