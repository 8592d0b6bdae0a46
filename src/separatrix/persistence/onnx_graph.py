"""ONNX: a classifier as a graph in double precision, with its preprocessing inside.

The graph is written node by node, so that its decisions are those of the model: the operators for classifiers that
ONNX offers compute in single precision. Inputs, each if the model has such columns, in its order: ``numbers``, a (n, k)
tensor of doubles with NaN for missing values, and ``text``, a (n, k) tensor of strings with "" for missing ones.
Outputs: ``label``, and ``decision``, which is NaN for a row that the model refuses.
"""

from typing import Any, Protocol

import numpy as np

from separatrix.errors import MissingExtraError, ModelError
from separatrix.passes.binary_problems import pairs
from separatrix.persistence.portable import ALL_ZERO, Decision, Numbers, Portable, Step, Texts

OPSET, ML_OPSET = 17, 3
OPERATORS = {"subtract": "Sub", "divide": "Div", "multiply": "Mul", "add": "Add"}


class Graph(Protocol):
    """Somewhere to put nodes and constants; values are known by their names."""

    def constant(self, array: Any) -> str: ...

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str: ...


def require_onnx() -> Any:
    """Return the package, or raise an error with the line that installs it."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError.of("onnx", "onnx", "Export to ONNX") from error
    return onnx


def to_onnx(model: Portable) -> Any:
    """Return the ONNX model."""
    graph = OwnGraph(require_onnx())
    value = _features(graph, model)
    for step in model.steps:
        value = _apply(graph, step, value)
    proto = graph.onnx.TensorProto
    double, kinds = proto.DOUBLE, {"i": proto.INT64, "f": proto.DOUBLE}
    classes = plain_classes(model.decision.classes)
    scores, place = decide(graph, model.decision, value, double)
    graph.node("Gather", graph.constant(classes), place, output="label")
    shape: list[Any] = ["n", len(classes)]
    if len(classes) == 2:
        scores, shape = graph.node("Reshape", scores, graph.constant(np.array([-1]))), ["n"]
    graph.node("Identity", scores, output="decision")
    graph.output("label", kinds.get(classes.dtype.kind, proto.STRING), ["n"])
    graph.output("decision", double, shape)
    return graph.finished()


def plain_classes(classes: np.ndarray) -> np.ndarray:
    """Return labels as ONNX has them: 64-bit integers, doubles or strings."""
    return classes.astype(np.int64) if classes.dtype.kind in "biu" else classes


class OwnGraph:
    """A graph that becomes a model of its own."""

    def __init__(self, onnx: Any):
        self.onnx, self.helper = onnx, onnx.helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, array: Any) -> str:
        name, array = f"c{len(self.constants)}", np.asarray(array)
        if array.dtype.kind in "UO":
            tensor = self.helper.make_tensor(name, self.onnx.TensorProto.STRING, array.shape, _encoded(array.ravel()))
        else:
            tensor = self.onnx.numpy_helper.from_array(array, name)
        self.constants.append(tensor)
        return name

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def input(self, name: str, kind: int, width: int) -> str:
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, ["n", width]))
        return name

    def output(self, name: str, kind: int, shape: list[Any]) -> None:
        self.outputs.append(self.helper.make_tensor_value_info(name, kind, shape))

    def finished(self) -> Any:
        graph = self.helper.make_graph(self.nodes, "separatrix", self.inputs, self.outputs, self.constants)
        opsets = [self.helper.make_opsetid("", OPSET), self.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = self.helper.make_model(graph, opset_imports=opsets, producer_name="separatrix", ir_version=8)
        self.onnx.checker.check_model(model)
        return model


def _encoded(texts: Any) -> list[bytes]:
    try:
        return [str(text).encode() for text in texts]
    except UnicodeEncodeError as error:
        raise ModelError(f"UTF-8 cannot encode {error.object[:40]!a}. Use other labels or texts.") from error


def _features(graph: OwnGraph, model: Portable) -> str:
    """The parts one beside the other."""
    proto, found = graph.onnx.TensorProto, []
    places: dict[type, list[int]] = {}
    for kind, name, type_ in ((Numbers, "numbers", proto.DOUBLE), (Texts, "text", proto.STRING)):
        places[kind] = model.columns_of(kind)
        if places[kind]:
            graph.input(name, type_, len(places[kind]))
    for part in model.parts:
        if isinstance(part, Texts):
            found.append(_one_hot(graph, part, places[Texts].index(part.column)))
            continue
        index = [places[Numbers].index(column) for column in part.columns]
        whole = index == list(range(len(places[Numbers])))
        value = "numbers" if whole else graph.node("Gather", "numbers", graph.constant(np.array(index)), axis=1)
        for step in part.steps:
            value = _apply(graph, step, value)
        found.append(value)
    return found[0] if len(found) == 1 else graph.node("Concat", *found, axis=1)


def _apply(graph: Graph, step: Step, value: str) -> str:
    name, values = step
    constant = graph.constant(values[None, :])
    if name == "fill":
        return graph.node("Where", graph.node("IsNaN", value), constant, value)
    return graph.node(OPERATORS[name], value, constant)


def _one_hot(graph: OwnGraph, part: Texts, place: int) -> str:
    """The features of a text; a code beyond the last feature makes them 0, or NaN if the model refuses the text."""
    refused = part.width + 1
    number = {None: refused, ALL_ZERO: part.width}
    codes = {"": part.missing, **part.codes}
    code = graph.node(
        "LabelEncoder",
        graph.node("Gather", "text", graph.constant(np.array([place])), axis=1),
        domain="ai.onnx.ml",
        keys_strings=_encoded(codes),
        values_int64s=[number.get(c, c) for c in codes.values()],
        default_int64=number.get(part.unknown, part.unknown),
    )
    hot = graph.node("Equal", code, graph.constant(np.arange(part.width, dtype=np.int64)[None, :]))
    hot = graph.node("Cast", hot, to=graph.onnx.TensorProto.DOUBLE)
    if None not in (part.missing, part.unknown):
        return hot
    wrong = graph.node("Equal", code, graph.constant(np.array([[refused]])))
    return graph.node("Where", wrong, graph.constant(np.array([[np.nan]])), hot)


def decide(graph: Graph, decision: Decision, value: str, double: int) -> tuple[str, str]:
    """The scores, (n, 1) of two classes, else (n, c), and the number of the class of each row."""
    if decision.kernel is not None:
        value = _kernel(graph, decision, value)
    product = graph.node("MatMul", value, graph.constant(np.ascontiguousarray(decision.coef.T)))
    scores = graph.node("Add", product, graph.constant(decision.intercept[None, :]))
    if len(decision.coef) == 1:
        positive = graph.node("Cast", graph.node("Greater", scores, graph.constant(np.array(0.0))), to=INT64)
        return scores, graph.node("Reshape", positive, graph.constant(np.array([-1])))
    winner = scores
    if decision.rule == "votes":
        won, scores = _votes(graph, scores, len(decision.classes), double)
        winner = scores if decision.ties else won
    return scores, graph.node("ArgMax", winner, axis=1, keepdims=0)


INT64 = 7  # TensorProto.INT64, part of the format


def _kernel(graph: Graph, decision: Decision, value: str) -> str:
    """The kernel of each row with each vector."""
    kernel: Any = decision.kernel
    vectors: Any = decision.vectors
    scale = 2.0 * kernel.gamma if kernel.name == "rbf" else kernel.gamma
    products = graph.node("MatMul", value, graph.constant(np.ascontiguousarray(scale * vectors.T)))
    if kernel.name == "rbf":
        ones = graph.constant(np.full((vectors.shape[1], 1), kernel.gamma))
        own = graph.node("MatMul", graph.node("Mul", value, value), ones)
        others = graph.constant(kernel.gamma * np.sum(vectors * vectors, axis=1)[None, :])
        exponent = graph.node("Sub", graph.node("Sub", products, own), others)
        return graph.node("Exp", graph.node("Min", exponent, graph.constant(np.array(0.0))))
    argument = graph.node("Add", products, graph.constant(np.array(kernel.coef0)))
    if kernel.name == "sigmoid":
        return graph.node("Tanh", argument)
    return graph.node("Pow", argument, graph.constant(np.array(float(kernel.degree))))


def _votes(graph: Graph, scores: str, classes: int, double: int) -> tuple[str, str]:
    """The votes for each class, and with the sum of its scores between them: `passes.binary_problems.votes`."""
    first, second = (np.zeros((len(pairs(classes)), classes)) for _ in range(2))
    for p, (i, j) in enumerate(pairs(classes)):
        first[p, i] = second[p, j] = 1.0
    positive = graph.node("Cast", graph.node("Greater", scores, graph.constant(np.array(0.0))), to=double)
    other = graph.node("Sub", graph.constant(np.array(1.0)), positive)
    won = graph.node(
        "Add",
        graph.node("MatMul", positive, graph.constant(second)),
        graph.node("MatMul", other, graph.constant(first)),
    )
    sums = graph.node("MatMul", scores, graph.constant(second - first))
    size = graph.node("Add", graph.node("Abs", sums), graph.constant(np.array(1.0)))
    squeezed = graph.node("Div", sums, graph.node("Mul", size, graph.constant(np.array(3.0))))
    return won, graph.node("Add", won, squeezed)
