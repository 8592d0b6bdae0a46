"""Objectives of soft and hard margins by formulas that share nothing with the package, and random problems for them."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from separatrix import data
from separatrix.data.device import DeviceRows

INF = float("inf")
EPS = np.finfo(np.float64).eps
SLACK = 64.0  # rounding errors of the formulas here and of a vector that is written as coef_ and intercept_


class Reached(NamedTuple):
    """The objective of a vector, and what rounding errors may make of it."""

    value: float
    rounding: float


def paid(margins, c, C, loss, sizes):
    """The price of slack, and how much it may be off if margins are off by SLACK EPS ``sizes``."""
    xi = np.maximum(0.0, 1.0 - margins)
    error = SLACK * EPS * (sizes + np.abs(margins) + 1.0)
    if loss == "hinge":
        return C * np.sum(c * xi), C * np.sum(c * error)
    return C * np.sum(c * xi**2), C * np.sum(c * error * (2.0 * xi + error))


def objective(square, margins, c, C, loss, sizes):
    """|a|^2/2 + C sum c xi or C sum c xi^2. The hard margin: of the multiple whose smallest margin is 1."""
    if np.isinf(C):
        smallest, error = margins.min(), SLACK * EPS * (sizes.max() + 1.0)
        if not smallest > 2.0 * error:
            return Reached(INF, 0.0) if smallest < -error else Reached(square, INF)  # who knows
        return Reached(square / 2.0 / smallest**2, square * 3.0 * error / smallest**3)
    price, error = paid(margins, c, C, loss, sizes)
    return Reached(square / 2.0 + price, error + SLACK * EPS * (square + price))


def of_plane(w, b, X, l, c, case):
    """A hyperplane; a penalized intercept counts as b/rho."""
    penalized = case["fit_intercept"] is True and case["intercept_scaling"] > 0
    square = w @ w + (b / case["intercept_scaling"]) ** 2 if penalized else w @ w
    sizes = np.abs(X) @ np.abs(w) + abs(b)
    return objective(square, l * (X @ w + b), c, case["C"], case["loss"], sizes)


def of_machine(W, b, X, codes, c, case):
    """All vectors of a joint machine: each rival has its slack, or the hinge loss the largest."""
    square = np.sum(W**2) + (np.sum(b**2) / case["intercept_scaling"] ** 2 if case["fit_intercept"] is True else 0.0)
    scores, sizes = X @ W.T + b, np.abs(X) @ np.abs(W.T) + np.abs(b)
    n, rivals = len(X), W.shape[0] - 1
    others = np.arange(rivals + 1) != codes[:, None]
    margins = (scores[np.arange(n), codes][:, None] - scores)[others].reshape(n, rivals)
    sizes = np.repeat(2.0 * sizes.max(axis=1), rivals).reshape(n, rivals)
    if case["loss"] == "hinge" and np.isfinite(case["C"]):
        margins, sizes, rivals = margins.min(axis=1), sizes[:, 0], 1
    return objective(square, margins.ravel(), np.repeat(c, rivals), case["C"], case["loss"], sizes.ravel())


def of_kernel(beta, b, K, l, c, case):
    """A combination of rows in the space of a kernel; without an unpenalized intercept K is joined by rho^2."""
    constant = (
        0.0
        if case["fit_intercept"] == "unpenalized"
        else (case["intercept_scaling"] if case["fit_intercept"] else 0.0) ** 2
    )
    square, peak = beta @ (K + constant) @ beta, float(np.abs(np.diag(K)).max()) + constant
    size = np.abs(beta).sum()
    sizes = np.full(len(K), len(K) * peak * size + abs(b))
    found = objective(max(square, 0.0), l * (K @ beta + b), c, case["C"], case["loss"], sizes)
    return found._replace(rounding=found.rounding + SLACK * EPS * len(K) * peak * size**2)


# Problems


def table(rng):
    """Rows of many kinds: continuous, whole numbers, copies, rare columns, all the same, far from 0, of any size."""
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 8))
    if rng.random() < 0.15:
        n, d = int(rng.integers(2, 25)), int(rng.integers(20, 90))
    kinds = ["normal", "whole", "copies", "rare", "same", "far", "zeros"]
    kind = rng.choice(kinds, p=[0.4, 0.2, 0.15, 0.1, 0.05, 0.05, 0.05])
    X = rng.normal(size=(n, d))
    if kind == "whole":
        X = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == "copies":
        X = X[rng.integers(0, max(n // 3, 1), n)]
    elif kind == "rare":
        X = (rng.random((n, d)) < 0.15).astype(float)
    elif kind == "same":
        X = np.tile(X[:1], (n, 1))
    elif kind == "far":
        X = X + 1e3 * rng.normal(size=d)
    elif kind == "zeros":
        X = np.where(rng.random((n, 1)) < 0.5, 0.0, X)
    if rng.random() < 0.2:
        X = X * 10.0 ** rng.integers(-4, 5)
    return X


def labels(X, classes, rng):
    if rng.random() < 0.5:
        codes = np.argmax(X @ rng.normal(size=(X.shape[1], classes)) + rng.normal(size=classes), axis=1)
        codes = np.where(rng.random(len(X)) < rng.choice([0.0, 0.1]), rng.integers(0, classes, len(X)), codes)
    else:
        codes = np.arange(len(X)) % classes
    codes[:classes] = np.arange(classes)
    return codes


def weights(codes, classes, rng):
    """Sample weights or None, with zeros; every class keeps a row."""
    if rng.random() < 0.6:
        return None
    weight = rng.choice([0.0, 0.5, 1.0, 2.0, 100.0], len(codes))
    weight[:classes] = 1.0
    return weight


def factors_of(class_weight, codes, classes):
    if class_weight == "balanced":
        return len(codes) / (classes * np.bincount(codes, minlength=classes))
    return np.array([class_weight[k] for k in range(classes)]) if class_weight else np.ones(classes)


def settings(rng, hard=0.06):
    C = 10.0 ** rng.uniform(-5, 6) if rng.random() > hard else INF
    return {
        "C": float(rng.choice([1e-12, 1e12])) if rng.random() < 0.03 else float(C),
        "loss": str(rng.choice(["squared_hinge", "hinge"])),
        "fit_intercept": [True, True, False, "unpenalized"][rng.integers(4)],
        "intercept_scaling": float(rng.choice([1.0, 1.0, 0.1, 7.0])),
        "tol": float(rng.choice([1e-4, 1e-4, 1e-2, 1e-9])),
    }


def problems_of(codes, classes, mode):
    """Rows, labels -1 and +1, and the classes, of each binary problem."""
    if classes == 2:
        return [(np.arange(len(codes)), 2.0 * codes - 1.0)]
    if mode == "ovr":
        return [(np.arange(len(codes)), np.where(codes == k, 1.0, -1.0)) for k in range(classes)]
    pairs = [(np.flatnonzero((codes == i) | (codes == j)), j) for i, j in combinations(range(classes), 2)]
    return [(part, np.where(codes[part] == j, 1.0, -1.0)) for part, j in pairs]


SOURCES = {
    "dense": 0.3, "csr": 0.2, "float32": 0.08, "csr-float32": 0.05, "columns": 0.05, "lists": 0.04,
    "blocks": 0.12, "files": 0.08, "dask": 0.03, "device": 0.05,
}  # fmt: skip


def source(X, codes, weight, rng, folder):
    """X and y as they are given to fit (y is None where the source holds it), its further arguments, and X as float64.
    Sources of rows take positive weights only: with others the rows are in memory."""
    kind = str(rng.choice(list(SOURCES), p=list(SOURCES.values())))
    c = np.ones(len(codes)) if weight is None else weight
    elsewhere = kind in ("blocks", "files", "dask", "device")
    if elsewhere and c.all():
        return kind, elsewhere_rows(kind, X, codes, weight, rng, folder), None, {}, X
    more = {} if weight is None else {"sample_weight": weight}
    seen = X.astype(np.float32).astype(np.float64) if "float32" in kind else X
    given = X.astype(np.float32) if "float32" in kind else X
    if "csr" in kind:
        return kind, sp.csr_matrix(given), codes, more, seen
    given = {"lists": X.tolist(), "columns": np.asfortranarray(X)}.get(kind, given)
    return "dense" if elsewhere else kind, given, codes, more, seen


def elsewhere_rows(kind, X, codes, weight, rng, folder):
    cut = int(rng.integers(1, len(X)))
    if kind == "dask":
        import dask.array as da

        return data.from_dask(da.from_array(X, ((cut, len(X) - cut), (X.shape[1],))), codes, weight=weight)
    if kind == "device":
        import array_api_strict

        return DeviceRows.of(array_api_strict.asarray(X), array_api_strict.asarray(codes), weight)
    arrays = [X, codes] if weight is None else [X, codes, weight]
    if kind == "blocks":
        return data.from_blocks([[array[part] for array in arrays] for part in (slice(0, cut), slice(cut, None))])
    for name, array in zip(("X", "y", "c"), arrays, strict=False):
        np.save(folder / f"{name}.npy", array)
    weighted = {} if weight is None else {"weight": folder / "c.npy"}
    return data.open_files(folder / "X.npy", target=folder / "y.npy", **weighted)
