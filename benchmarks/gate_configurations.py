"""What the gate measures: 85 configurations of real data, 66 of generated data, other calls, and rows of results.

Parameters are written in the current public names; `gate.toml` translates them for versions before a rename.
"""

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris

from benchmarks import regime_cells
from benchmarks.data import overlapping, real, separable, svmlight, text_like

SEED = 20261118
MAX_TIME = 15.0  # seconds of a fit, for estimators that have such a limit
GENERATED = 66
MOST_VALUES = 2_000_000  # of generated data


class Data(NamedTuple):
    X: Any
    y: np.ndarray
    weight: np.ndarray | None = None
    files: bool = False  # fitted from files on disk


class Configuration(NamedTuple):
    """A call to be timed. ``group``: real, generated or other. ``key``: the name of its data."""

    name: str
    group: str
    key: str
    make: Callable[[], Data]
    estimator: str
    parameters: dict[str, Any]

    @property
    def is_certified(self) -> bool:
        """Is the answer expected to have a certified gap of at most ``tol``?"""
        return self.estimator in ("MaxMargin", "KernelMaxMargin")


def configurations() -> list[Configuration]:
    return [*real_data(), *generated_data(), *other_calls()]


# Real data

C_AND_LOSS = [
    *((C, "squared_hinge") for C in (0.01, 1.0, 100.0, 1e4, 1e6, math.inf)),
    *((C, "hinge") for C in (0.01, 1.0, 100.0)),
]
INSEPARABLE = {"WBC", "a9a", "a9a, dense", "w8a", "MNIST 4-9"}
TOO_LARGE_FOR_HINGE = {"a9a, dense", "MNIST 0-1", "MNIST 4-9"}  # dense, more than 3,000,000 values


def _breast_cancer() -> Data:
    X, y = load_breast_cancer(return_X_y=True)
    return Data((X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, 1, -1))


def _dense(name: str) -> Data:
    X, y = real(name)
    return Data(np.ascontiguousarray(X.toarray()), y)


def _sector() -> Data:
    X, y = svmlight("sector", "sector.scale")
    return Data(X, np.where(y == 1, 1, -1))


def _real(name: str) -> Data:
    return Data(*real(name))


REAL: dict[str, Callable[[], Data]] = {
    "breast cancer": _breast_cancer,
    **{name: partial(_real, name) for name in ("sonar", "WBC", "mushrooms", "a9a", "w8a")},
    **{f"{name}, dense": partial(_dense, name) for name in ("mushrooms", "a9a")},
    "sector, class 1": _sector,
    **{name: partial(_real, name) for name in ("MNIST 0-1", "MNIST 4-9")},
}


def real_data() -> list[Configuration]:
    found = []
    for key, make in REAL.items():
        for C, loss in C_AND_LOSS:
            if (math.isinf(C) and key in INSEPARABLE) or (loss == "hinge" and key in TOO_LARGE_FOR_HINGE):
                continue
            words = "hard" if math.isinf(C) else f"C = {C:g}" + (", hinge" if loss == "hinge" else "")
            found.append(Configuration(f"{key}: {words}", "real", key, make, "MaxMargin", {"C": C, "loss": loss}))
    return found


# Generated data


def generated_data() -> list[Configuration]:
    """Draw from the cells of the map: one of each problem and layout in turn, until there are enough."""
    rng = np.random.default_rng(SEED)
    kinds: dict[tuple[str, str], list[regime_cells.Cell]] = {}
    for cell in regime_cells.cells(small=False):
        if cell.n * (cell.per_row or cell.d) <= MOST_VALUES and not (cell.kind == "rbf" and cell.n > 2_000):
            kinds.setdefault((cell.problem, cell.layout), []).append(cell)
    drawn = [[cells[k] for k in rng.permutation(len(cells))] for cells in kinds.values()]
    turns = [cells[turn] for turn in range(max(map(len, drawn))) for cells in drawn if turn < len(cells)]
    return [_generated(cell) for cell in turns[:GENERATED]]


def _generated(cell: regime_cells.Cell) -> Configuration:
    estimator, parameters = regime_cells.ours(cell)
    return Configuration(str(cell), "generated", str(cell), partial(_cell_data, cell), estimator, parameters)


def _cell_data(cell: regime_cells.Cell) -> Data:
    return Data(*regime_cells.data(cell, SEED))


# Other calls


def other_calls() -> list[Configuration]:
    """Epochs, many classes, squared error, separability: what the other two groups leave out."""
    found = []

    def add(name: str, key: str, make: Callable[..., Any], estimator: str, **parameters: Any) -> None:
        found.append(Configuration(name, "other", key, lambda: Data(*make()), estimator, parameters))

    for dtype in ("float64", "float32"):
        key, make = f"100,000 x 100, {dtype}", partial(overlapping, 100_000, 100, 1.0, dtype=dtype)
        for shuffle, order in ((False, "in order"), (True, "shuffled")):
            add(f"20 epochs {order}, {dtype}", key, make, "Perceptron", until="separated", max_iter=20, shuffle=shuffle)
    add("20 epochs, CSR", "a9a", REAL["a9a"], "Perceptron", until="separated", max_iter=20)
    add("Perceptron, 100 x 5", "100 x 5, separable", partial(separable, 100, 5), "Perceptron", until="separated")
    iris = partial(load_iris, return_X_y=True)
    add("Perceptron, joint", "iris", iris, "Perceptron", multi_class="joint", until="separated", max_iter=50)
    for multi_class in ("ovr", "ovo", "joint"):
        add(f"iris, {multi_class}", "iris", iris, "MaxMargin", multi_class=multi_class)
    add("text", "text", partial(text_like, 20_000, 50_000, 60), "MaxMargin")
    add("least squares, 100,000 x 50", "100,000 x 50", partial(overlapping, 100_000, 50, 1.0), "LeastSquares")
    noisy = partial(overlapping, 20_000, 20, 1.0)
    add("Ho-Kashyap, 20,000 x 20", "20,000 x 20", noisy, "HoKashyap", max_iter=50)
    add("separability, not separable", "20,000 x 20", noisy, "separability")
    add("separability, separable", "20,000 x 20, separable", partial(separable, 20_000, 20), "separability")
    return found


# Results

RESULT_OPTIONS = {"until": "separated", "max_iter": 50, "random_state": 0}  # for estimators that have them
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "MaxMargin": [
        {"C": math.inf},
        {"loss": "hinge"},
        {"fit_intercept": "unpenalized"},
        {"multi_class": "ovo"},
        {"multi_class": "joint"},
    ],
    "KernelMaxMargin": [{"loss": "hinge", "kernel": "linear"}],
    "Perceptron": [{"average": True}, {"multi_class": "joint"}, {"intercept_scaling": 2.0}],
}


@cache
def result_data() -> dict[str, tuple[Data, dict[str, Any]]]:
    """Return 12 small data sets, with the parameters that belong to them."""
    rng = np.random.default_rng(SEED)
    X, y = separable(120, 6, gap=0.1)
    noisy, labels = overlapping(120, 6, 2.0)
    y, labels = (y > 0).astype(int), (labels > 0).astype(int)
    words = sp.random(150, 60, 0.15, format="csr", random_state=rng)
    score = words @ rng.standard_normal(60)
    topics = (score > np.median(score)).astype(int)
    three = np.arange(90) % 3
    clouds = 4.0 * np.eye(3)[three] + 0.4 * rng.standard_normal((90, 3))
    thirds = np.digitize(score + 0.3 * rng.standard_normal(150), np.quantile(score, (1 / 3, 2 / 3)))
    grid = np.array([[i, j] for i in range(-3, 4) for j in range(-3, 4)] * 2, dtype=np.float64)
    plain = {
        "dense": Data(X, y),
        "CSR": Data(words, topics),
        "float32": Data(X.astype(np.float32), y),
        "CSR, float32": Data(words.astype(np.float32), topics),
        "sample weights": Data(noisy, labels, weight=rng.uniform(0.5, 2.0, len(noisy))),
        "three classes": Data(clouds, three),
        "three classes, CSR, not separable": Data(words, thirds),
        "not separable": Data(noisy, labels),
        "wide": Data(rng.standard_normal((20, 200)), np.arange(20) % 2),
        "integers, equal rows": Data(grid, (grid.sum(axis=1) > 0).astype(int)),
        "files": Data(X, y, files=True),
    }
    class_weights = Data(noisy, labels), {"class_weight": "balanced"}
    return {name: (data, {}) for name, data in plain.items()} | {"class weights": class_weights}


# A part of everything that takes about three minutes: every solver, kind of data and loss, and no fit of a second

QUICK = (
    "breast cancer: C = 1",
    "breast cancer: C = 1, hinge",
    "sonar: hard",
    "sonar: C = 100, hinge",
    "WBC: C = 1e+06",
    "mushrooms: C = 1",
    "mushrooms: hard",
    "mushrooms, dense: C = 100",
    "a9a: C = 1",
    "a9a: C = 100, hinge",
    "a9a, dense: C = 1",
    "w8a: C = 10000",
    "sector, class 1: C = 1",
    "sector, class 1: C = 0.01, hinge",
    "MNIST 0-1: hard",
    "MNIST 4-9: C = 1",
    "C = 100, dense, 1,000 x 1,000",
    "hard, dense, 10,000 x 10",
    "C = 1, float32, dense, 100,000 x 10",
    "hinge, C = 1, dense, 10,000 x 3",
    "C = 1, 30 values a row, 10,000 x 1,000,000",
    "rbf, hinge, C = 1, dense, 500 x 20",
    "10 classes, C = 1, dense, 1,000 x 50",
    "machine, 10 classes, hard, dense, 1,000 x 50",
    "least squares, dense, 10,000 x 3",
    "20 epochs in order, float32",
    "20 epochs, CSR",
    "iris, ovo",
    "Ho-Kashyap, 20,000 x 20",
    "separability, not separable",
)
QUICK_RESULTS = ("CSR", "sample weights", "three classes")
