"""A fitted classifier as plain numbers and texts: what exported files compute, whatever their format."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import ModelError
from separatrix.fit.kernel_separator import KernelMixin
from separatrix.fit.prediction import LinearPredictor
from separatrix.fit.sklearn_api import LinearClassifierMixin
from separatrix.passes.binary_problems import pairs
from separatrix.passes.kernel_functions import Kernel
from separatrix.persistence.files import classifier_of

Step = tuple[str, np.ndarray]  # "fill", "subtract", "divide", "multiply" or "add", with a value for each column
ALL_ZERO = -1  # the code of a text for which no feature is 1
SUPPORTED = (
    "SimpleImputer, StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, OneHotEncoder, ColumnTransformer and "
    "Pipelines of them can be exported"
)


class Numbers(NamedTuple):
    """Columns of numbers, and what is done to them in order; a missing value is NaN."""

    columns: list[int]
    steps: list[Step]

    @property
    def width(self) -> int:
        return len(self.columns)


class Texts(NamedTuple):
    """A column of texts, one-hot encoded: of its features, the one that is 1. None: the model refuses the row."""

    column: int
    codes: dict[str, int]
    width: int
    missing: int | None
    unknown: int | None


class Decision(NamedTuple):
    """How scores decide. Without a kernel they are x.coef + intercept, else K(x, vectors).coef + intercept.

    ``rule``: "largest" (of two classes: the sign), or "votes": each pair of classes votes with the sign of its score;
    ``ties`` says whether the sum of the scores decides between equal numbers of votes, or the order of the classes.
    """

    classes: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    rule: str = "largest"
    ties: bool = True
    kernel: Kernel | None = None
    vectors: np.ndarray | None = None


class Portable(NamedTuple):
    """Columns, the parts of the feature vector in their order, steps on the whole of it, and the decision."""

    names: list[str]
    parts: list[Numbers | Texts]
    steps: list[Step]
    decision: Decision

    @property
    def width(self) -> int:
        return sum(part.width for part in self.parts)

    def columns_of(self, kind: type) -> list[int]:
        """The columns of numbers or of texts, in the order of the model."""
        if kind is Numbers:
            return sorted({c for part in self.parts if isinstance(part, Numbers) for c in part.columns})
        return sorted({part.column for part in self.parts if isinstance(part, Texts)})


def portable(model: Any) -> Portable:
    """Read a classifier, alone or at the end of a Pipeline.

    Raises `ModelError` if a step or the classifier computes what no export can express.
    """
    check_is_fitted(model)
    decision = decision_of(classifier_of(model))
    steps = list(model.steps)[:-1] if isinstance(model, Pipeline) else []
    width = int(model.n_features_in_)
    given = getattr(model, "feature_names_in_", None)
    names = [f"feature {i + 1}" for i in range(width)] if given is None else [str(name) for name in given]
    parts: list[Numbers | Texts] = [Numbers(list(range(width)), [])]
    if steps and isinstance(steps[0][1], ColumnTransformer):
        parts = _parts(steps.pop(0)[1], names)
    found = Portable(names, parts, [s for _, step in steps for s in elementwise(step)], decision)
    wanted = decision.coef.shape[1] if decision.vectors is None else decision.vectors.shape[1]
    if found.width != wanted or any(len(values) != wanted for _, values in found.steps):
        raise ModelError(f"The preprocessing makes {found.width} features, the classifier has {wanted}.")
    return found


def decision_of(separator: Any) -> Decision:
    """Read a classifier that decides by the scores of hyperplanes or of a kernel."""
    check_is_fitted(separator)
    cls, linear = type(separator), isinstance(separator, LinearClassifierMixin)
    classes = np.asarray(separator.classes_) if hasattr(separator, "classes_") else np.zeros(0)
    home: Any = LinearClassifierMixin if linear else LinearPredictor
    if isinstance(separator, SVC):
        return _of_svc(separator, classes)
    known = linear or isinstance(separator, LinearPredictor)
    known = known and cls.predict is home.predict and cls.decision_function is home.decision_function
    if known and isinstance(separator, KernelMixin) and separator.kernel != "linear":
        _check_kernel(separator.kernel)
        coef, kernel = np.asarray(separator.dual_coef_), separator._kernel_
        vectors = _dense(separator.support_vectors_)
    else:
        plain = linear or cls._scores in (LinearPredictor._scores, KernelMixin._scores)
        known = known and plain and hasattr(separator, "coef_")
        coef, kernel, vectors = np.asarray(separator.coef_ if known else np.zeros((0, 0))), None, None
    votes = getattr(separator, "multi_class_", "ovr") == "ovo" and len(classes) > 2
    count = 1 if len(classes) == 2 else len(pairs(len(classes))) if votes else len(classes)
    if not known or len(coef) != count:
        raise ModelError(
            f"{cls.__name__} predicts otherwise than by the largest score of its hyperplanes, so it cannot be exported."
        )
    coef = np.ascontiguousarray(coef, dtype=np.float64)
    intercept = np.broadcast_to(np.asarray(separator.intercept_, dtype=np.float64).ravel(), len(coef)).copy()
    return Decision(classes, coef, intercept, "votes" if votes else "largest", True, kernel, vectors)


def _of_svc(separator: Any, classes: np.ndarray) -> Decision:
    """scikit-learn's SVC or its subclass: pairs of classes whose score is positive for the first, and votes."""
    _check_kernel(separator.kernel)
    if separator.break_ties and len(classes) > 2:
        raise ModelError("SVC(break_ties=True) cannot be exported.")
    sizes = np.concatenate([[0], np.cumsum(separator.n_support_)])
    duals = _dense(separator.dual_coef_)
    coef = np.zeros((len(pairs(len(classes))), duals.shape[1]))
    for p, (i, j) in enumerate(pairs(len(classes))):  # LIBSVM's table: line j - 1 of the rows of class i, i of class j
        coef[p, sizes[i] : sizes[i + 1]] = duals[j - 1, sizes[i] : sizes[i + 1]]
        coef[p, sizes[j] : sizes[j + 1]] = duals[i, sizes[j] : sizes[j + 1]]
    sign = 1.0 if len(classes) == 2 else -1.0  # of two classes scikit-learn has turned it round
    intercept = sign * np.asarray(separator.intercept_, dtype=np.float64)
    rule, coef, vectors = "largest" if len(classes) == 2 else "votes", sign * coef, _dense(separator.support_vectors_)
    if separator.kernel == "linear":
        return Decision(classes, coef @ vectors, intercept, rule, ties=False)
    kernel = Kernel(separator.kernel, float(separator._gamma), float(separator.degree), float(separator.coef0))
    return Decision(classes, coef, intercept, rule, False, kernel, vectors)


def _check_kernel(kernel: Any) -> None:
    if callable(kernel) or kernel == "precomputed":
        raise ModelError("A kernel that is a function or a matrix cannot be exported; rbf, poly, sigmoid, linear can.")


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)


def elementwise(step: Any) -> list[Step]:
    """The steps of a transformer that treats each column by itself."""
    kind = type(step)
    if step == "passthrough" or (kind is FunctionTransformer and step.func is None):
        return []
    if kind is Pipeline:
        return [found for _, inner in step.steps for found in elementwise(inner)]
    if kind is SimpleImputer and np.asarray(step.statistics_).dtype.kind == "f":
        numeric = isinstance(step.missing_values, float) and np.isnan(step.missing_values)
        if not numeric or np.isnan(step.statistics_).any() or step.indicator_ is not None:
            raise ModelError("SimpleImputer can be exported if it fills in NaN, drops no column and adds no indicator.")
        return [("fill", step.statistics_)]
    found: list[tuple[str, Any]]
    if kind is StandardScaler:
        found = [("subtract", step.mean_ if step.with_mean else None), ("divide", step.scale_)]
    elif kind is RobustScaler:
        found = [("subtract", step.center_), ("divide", step.scale_)]
    elif kind is MaxAbsScaler and not getattr(step, "clip", False):
        found = [("divide", step.scale_)]
    elif kind is MinMaxScaler and not step.clip:
        found = [("multiply", step.scale_), ("add", step.min_)]
    else:
        raise ModelError(f"The step {kind.__name__} cannot be exported; {SUPPORTED}.")
    return [(name, np.asarray(values, dtype=np.float64)) for name, values in found if values is not None]


def _parts(step: ColumnTransformer, names: list[str]) -> list[Numbers | Texts]:
    """The parts that a ColumnTransformer makes, one after the other."""
    if step.transformer_weights:
        raise ModelError("A ColumnTransformer with transformer_weights cannot be exported.")
    parts: list[Numbers | Texts] = []
    for _, inner, columns in step.transformers_:
        places = _places(columns, names)
        steps = [s for _, s in inner.steps] if isinstance(inner, Pipeline) else [inner]
        if inner == "drop" or not places:
            continue
        if type(steps[-1]) is OneHotEncoder:
            parts += _texts(steps, places, names)
        else:
            parts.append(Numbers(places, [s for one in steps for s in elementwise(one)]))
    return parts


def _places(columns: Any, names: list[str]) -> list[int]:
    """The numbers of the columns that a ColumnTransformer names in one of its ways."""
    if not isinstance(columns, slice) and len(columns) and isinstance(columns[0], str):
        return [names.index(column) for column in columns]
    return [int(place) for place in np.arange(len(names))[columns]]


def _texts(steps: list[Any], places: list[int], names: list[str]) -> list[Numbers | Texts]:
    """Each column of a OneHotEncoder, perhaps with missing values filled in before."""
    encoder, fills = steps[-1], [None] * len(places)
    if len(steps) > 1:
        plain = type(steps[0]) is SimpleImputer and steps[0].missing_values is None and len(steps) == 2
        if not plain or steps[0].indicator_ is not None:
            raise ModelError(
                "Before a OneHotEncoder only SimpleImputer(missing_values=None) without indicators can be exported."
            )
        fills = list(steps[0].statistics_)
    if getattr(encoder, "drop_idx_", None) is not None:
        raise ModelError("OneHotEncoder(drop=...) cannot be exported.")
    parts: list[Numbers | Texts] = []
    for j, (place, categories) in enumerate(zip(places, encoder.categories_, strict=True)):
        codes = _codes(encoder, j, len(categories))
        width, rare = int(codes.max()) + 1, len(set(codes.tolist())) < len(codes)
        unknown = None if encoder.handle_unknown == "error" else ALL_ZERO
        if rare and encoder.handle_unknown in ("infrequent_if_exist", "warn"):
            unknown = width - 1
        known, missing = {}, unknown
        for category, code in zip(categories, codes.tolist(), strict=True):
            if isinstance(category, str):
                known[str(category)] = code
            elif category is None or category != category:
                missing = code
            else:
                raise ModelError(
                    f"The column {names[place]!r} is one-hot encoded from {type(category).__name__}, not from text, so "
                    "it cannot be exported."
                )
        if fills[j] is not None:
            missing = known.get(str(fills[j]), unknown)
        parts.append(Texts(place, known, width, missing, unknown))
    return parts


def _codes(encoder: Any, j: int, count: int) -> np.ndarray:
    """The feature of each category of a column; infrequent ones share the last."""
    groups = getattr(encoder, "_default_to_infrequent_mappings", None)
    if not getattr(encoder, "_infrequent_enabled", False) or groups is None or groups[j] is None:
        return np.arange(count)
    return np.asarray(groups[j])
