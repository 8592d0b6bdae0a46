"""The cells of the map: their data, our model and the peers that solve the same problem."""

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks import peers
from benchmarks.objective import (
    hinge_bound,
    hinge_gap,
    kernel_hinge_gap,
    machine_margin,
    missing_margin,
    one_vs_rest_gap,
    soft_gap,
)
from separatrix import KernelMaxMargin, LeastSquares, MaxMargin

TARGET = 1e-3
ROWS = (30, 100, 1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (3, 10, 50, 200, 1_000, 10_000, 1_000_000)
VALUES = 60_000_000  # of a dense matrix, at most
STORED = 30_000_000  # of a sparse one
PER_ROW = (3, 30, 300)
CS = (0.01, 1.0, 100.0, 1e4, math.inf)
HINGE_VALUES = 6_000_000
KERNEL_ROWS = (500, 2_000, 5_000, 10_000, 20_000)
MANY_CLASSES = ((1_000, 50, 10), (20_000, 50, 10), (20_000, 50, 100), (5_000, 500, 10))
MACHINES = ((300, 20, 3), (1_000, 50, 10), (5_000, 100, 10))

Run = Callable[[], Any]


class Cell(NamedTuple):
    """``per_row``: stored values of a sparse row, or 0 if it is dense. ``kind``: squared hinge, hinge, rbf (hinge
    with a Gaussian kernel), least squares, machine (Kesler's)."""

    n: int
    d: int
    per_row: int
    C: float
    noise: float
    condition: float
    kind: str = "squared"
    classes: int = 2
    dtype: str = "float64"

    @property
    def problem(self) -> str:
        words = {"squared": "", "hinge": "hinge, ", "rbf": "rbf, hinge, ", "machine": "machine, "}.get(self.kind)
        if words is None:
            return self.kind
        many = f"{self.classes} classes, " if self.classes > 2 else ""
        price = "hard" if math.isinf(self.C) else f"C = {self.C:g}"
        return words + many + price + (", float32" if self.dtype == "float32" else "")

    @property
    def layout(self) -> str:
        return f"{self.per_row} values a row" if self.per_row else "dense"

    def __str__(self) -> str:
        return f"{self.problem}, {self.layout}, {self.n:,} x {self.d:,}"


def cells(small: bool) -> list[Cell]:
    if small:
        found = _margins((30, 300), (3, 100), (3,))
        return [*found, Cell(300, 10, 0, 1.0, 0.05, 1.0, "rbf"), Cell(200, 10, 0, 1.0, 0.05, 1.0, classes=4),
                Cell(100, 8, 0, math.inf, 0.0, 1.0, "machine", 3)]  # fmt: skip
    found = [*_margins(ROWS, COLUMNS, PER_ROW), *_margins((3_000_000,), (3, 10), ())]
    found += [Cell(n, 20, 0, C, 0.05, 1.0, "rbf") for n in KERNEL_ROWS for C in CS[:4]]
    found += [Cell(n, d, 0, C, 0.05, 1.0, classes=c) for n, d, c in MANY_CLASSES for C in (1.0, 100.0)]
    found += [Cell(n, d, 0, math.inf, 0.0, 1.0, "machine", c) for n, d, c in MACHINES]
    return found


def _margins(rows: Iterable[int], columns: Iterable[int], per_row: Iterable[int]) -> list[Cell]:
    found = []
    for n in rows:
        for d in columns:
            condition = 100.0 if (n + d) % 3 == 0 else 1.0
            if n * d <= VALUES:
                found += [Cell(n, d, 0, C, 0.0 if math.isinf(C) else 0.05, condition) for C in CS]
                found += [
                    Cell(n, d, 0, C, 0.0 if math.isinf(C) else 0.05, condition, dtype="float32") for C in CS[1::3]
                ]
                if n > 4 * d:
                    found.append(Cell(n, d, 0, math.nan, 0.05, condition, "least squares"))
                if n * d <= HINGE_VALUES:
                    found += [Cell(n, d, 0, C, 0.05, condition, "hinge") for C in CS[1:3]]
            for k in per_row:
                if k < d and d >= 100 and n * k <= STORED:
                    found += [Cell(n, d, k, C, 0.05, 1.0) for C in CS if not math.isinf(C)]
    return found


def data(cell: Cell, seed: int) -> tuple[Any, np.ndarray]:
    """Rows of a hyperplane with a margin of 0.05, or labels of which some are wrong; of many classes, those of a linear
    machine."""
    rng = np.random.default_rng([seed, cell.n, cell.d, cell.per_row])
    if cell.classes > 2:
        return _of_machine(cell, rng)
    w = rng.standard_normal(cell.d)
    if cell.per_row:
        columns = rng.integers(0, cell.d, (cell.n, cell.per_row))
        start = np.arange(0, columns.size + 1, cell.per_row)
        X = sp.csr_matrix((rng.random(columns.size) + 0.1, columns.ravel(), start), (cell.n, cell.d))
        X.sum_duplicates()
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        score = X @ w
        y = np.where(score > np.median(score), 1, -1)
    else:
        X = rng.standard_normal((cell.n, cell.d))
        score = X @ w / np.linalg.norm(w)
        y = np.where(score > 0, 1, -1)
        X += np.outer(0.05 * y, w / np.linalg.norm(w))
        X *= np.geomspace(1.0, cell.condition, cell.d)
        X = X.astype(cell.dtype)
    wrong = rng.random(cell.n) < cell.noise
    y[wrong] = -y[wrong]
    y[0], y[-1] = (1, -1) if len(np.unique(y)) < 2 else (y[0], y[-1])
    return X, y


def _of_machine(cell: Cell, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """Clouds around a centre for each class, and the class whose centre is nearest."""
    centres = rng.standard_normal((cell.classes, cell.d)) * 2.0
    X = centres[rng.integers(0, cell.classes, cell.n)] + rng.standard_normal((cell.n, cell.d))
    y = np.argmax(X @ centres.T - 0.5 * np.sum(centres**2, axis=1), axis=1)
    wrong = rng.random(cell.n) < cell.noise
    y[wrong] = rng.integers(0, cell.classes, int(wrong.sum()))
    y[: cell.classes] = np.arange(cell.classes) if cell.noise else y[: cell.classes]
    return X, y


class Contest(NamedTuple):
    """Our model, the peers' runs at falling tolerances, and what judges their results once ours is fitted."""

    model: Any
    runs: dict[str, list[Run]]
    judge: Callable[[Any], Callable[[Any], float]]


def ours(cell: Cell) -> tuple[str, dict[str, Any]]:
    """The public name of our estimator for a cell, and its parameters."""
    if cell.kind == "least squares":
        return "LeastSquares", {}
    if cell.kind == "rbf":
        return "KernelMaxMargin", {"C": cell.C, "loss": "hinge", "gamma": 1.0 / cell.d}
    how = {"hinge": {"loss": "hinge"}, "machine": {"multi_class": "joint"}}.get(cell.kind, {})
    return "MaxMargin", {"C": cell.C, **how}


def contest(cell: Cell, X: Any, y: np.ndarray) -> Contest:
    """Who takes part in a cell."""
    C = cell.C
    name, parameters = ours(cell)
    if cell.kind == "least squares":
        return Contest(LeastSquares(), {"RidgeClassifier": [functools.partial(_ridge, X, y)]}, lambda _: lambda _: 0.0)
    model = {"MaxMargin": MaxMargin, "KernelMaxMargin": KernelMaxMargin}[name](**parameters, tol=TARGET)
    if cell.kind == "rbf":
        gamma = parameters["gamma"]
        return Contest(model, peers.kernel_hinge(X, y, C, gamma), functools.partial(_judge_kernel, X, y, C, gamma))
    if cell.kind == "hinge":
        return Contest(model, peers.hinge(X, y, C), functools.partial(_judge_hinge, X, y, C))
    if cell.kind == "machine":
        return Contest(model, peers.machine(X, y), functools.partial(_judge_margin, machine_margin, X, y))
    if cell.classes > 2:
        return Contest(model, peers.one_vs_rest(X, y, C), lambda _: functools.partial(one_vs_rest_gap, X, y, C))
    if math.isinf(C):
        return Contest(model, peers.hard_margin(X, y), functools.partial(_judge_margin, missing_margin, X, y))
    return Contest(model, peers.soft_margin(X, y, C), lambda _: functools.partial(soft_gap, X, y, C))


def _ridge(X: Any, y: np.ndarray) -> Any:
    from sklearn.linear_model import RidgeClassifier

    return RidgeClassifier(alpha=1e-10).fit(X, y).coef_


def _judge_margin(missing: Callable[..., float], X: Any, y: np.ndarray, model: Any) -> Callable[[Any], float]:
    return functools.partial(missing, X, y, best=model.certificate_.upper)


def _judge_hinge(X: Any, y: np.ndarray, C: float, model: Any) -> Callable[[Any], float]:
    alpha = np.minimum(np.abs(model.dual_coef_[0]), C)
    signed = alpha * y[model.support_]
    combination = np.append(np.ravel(X[model.support_].T @ signed), signed.sum())
    return functools.partial(hinge_gap, X, y, C, hinge_bound(alpha.sum(), combination @ combination))


def _judge_kernel(X: Any, y: np.ndarray, C: float, gamma: float, model: Any) -> Callable[[Any], float]:
    kernel = functools.partial(rbf_kernel, gamma=gamma)
    beta = np.clip(model.dual_coef_[0], -C, C)
    square = float(beta @ kernel(X[model.support_]) @ beta)
    return functools.partial(kernel_hinge_gap, kernel, X, y, C, hinge_bound(np.abs(beta).sum(), square))
