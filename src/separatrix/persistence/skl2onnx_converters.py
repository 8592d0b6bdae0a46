"""Converters of skl2onnx for classifiers that decide by scores: ours, linear and with kernels, and `separatrix.dropin`.

`register` is called when skl2onnx is imported, so that its ``to_onnx`` converts our estimators alone, in Pipelines and
in meta-estimators. Scores are computed in double precision, whatever the type of the input, and are those of
``decision_function``; of two classes there are two columns, -s and s.
"""

from typing import Any

import numpy as np

import separatrix
from separatrix.persistence.onnx_graph import decide
from separatrix.persistence.portable import decision_of

OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [False, True],
    "raw_scores": [True, False],  # accepted, because meta-estimators ask for it: scores are always raw
}


def register() -> None:
    """Tell skl2onnx how to convert every classifier of separatrix."""
    from sklearn.base import ClassifierMixin

    skl2onnx: Any = __import__("skl2onnx")
    for home in (separatrix, separatrix.dropin):
        for name in home.__all__:
            cls = getattr(home, name)
            if isinstance(cls, type) and issubclass(cls, ClassifierMixin):
                alias = f"{home.__name__}.{name}"
                skl2onnx.update_registered_converter(cls, alias, _shapes, _convert, overwrite=True, options=OPTIONS)


def _shapes(operator: Any) -> None:
    """Declare the types of label and scores."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
    from skl2onnx.common.utils_classifier import get_label_classes

    rows = operator.inputs[0].get_first_dimension()
    classes = get_label_classes(operator.scope_inst, operator.raw_operator)
    text = np.asarray(classes).dtype.kind in "UO"
    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    operator.outputs[0].type = (StringTensorType if text else Int64TensorType)([rows])
    operator.outputs[1].type = (DoubleTensorType if double else FloatTensorType)([rows, len(classes)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a classifier."""
    from skl2onnx.common.data_types import guess_proto_type
    from skl2onnx.common.utils_classifier import get_label_classes
    from skl2onnx.proto import onnx_proto

    double = onnx_proto.TensorProto.DOUBLE
    graph, model = _Container(scope, container), operator.raw_operator
    decision = decision_of(model)
    value = graph.node("Cast", operator.inputs[0].full_name, to=double)
    scores, place = decide(graph, decision, value, double)
    if len(decision.coef) == 1:
        scores = graph.node("Concat", graph.node("Neg", scores), scores, axis=1)
    classes = np.asarray(get_label_classes(scope, model))
    classes = classes if classes.dtype.kind in "UO" else classes.astype(np.int64)
    graph.node("Gather", graph.constant(classes), place, output=operator.outputs[0].full_name)
    kind = guess_proto_type(operator.outputs[1].type)
    graph.node("Cast", scores, output=operator.outputs[1].full_name, to=kind)


class _Container:
    """The graph that skl2onnx is making."""

    def __init__(self, scope: Any, container: Any):
        self.scope, self.container = scope, container

    def constant(self, array: Any) -> str:
        from skl2onnx.proto import onnx_proto

        name, array = self.scope.get_unique_variable_name("separatrix"), np.asarray(array)
        proto = onnx_proto.TensorProto
        kind = {"f": proto.DOUBLE, "i": proto.INT64}.get(array.dtype.kind, proto.STRING)
        values = [str(v).encode() for v in array.ravel()] if kind == proto.STRING else array.ravel().tolist()
        self.container.add_initializer(name, kind, list(array.shape), values)
        return name

    def node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or self.scope.get_unique_variable_name("separatrix")
        name = self.scope.get_unique_operator_name(operator)
        self.container.add_node(operator, list(inputs), [output], name=name, **attributes)
        return output
