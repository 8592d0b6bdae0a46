"""What estimators with a kernel share: the kernel's parameters, and predictions from the rows that support a vector."""

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from separatrix.errors import DataError
from separatrix.estimators._fit.separator import Data
from separatrix.patterns.kernel_patterns import BLOCK, Kernel, KernelPatterns, as_matrix
from separatrix.patterns.plain_patterns import Patterns
from separatrix.rows.memory import as_rows
from separatrix.space import Space, Vector

NAMES = ("linear", "poly", "rbf", "sigmoid", "precomputed")

KERNEL = """kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The inner product; a function takes two matrices and returns those of their rows. Precomputed: X holds them,
        (n, n) for `fit` and (m, n) for `predict`. Sigmoid, own and precomputed kernels and poly with a negative coef0
        need not be inner products: up to 4,000 rows this is looked at, and beyond nothing bounds the margin.
    gamma : {"scale", "auto"} or float, default="scale"
        Of rbf, poly and sigmoid: 1/(d var(X)), 1/d, or a number.
    degree : float, default=3
        Of poly. One that is no integer needs gamma x.z + coef0 >= 0.
    coef0 : float, default=0.0
        Of poly and sigmoid.
    cache_size : float, default=500
        Megabytes for rows of the Gram matrix, in all problems together."""

SUPPORT = """support_ : ndarray
        Rows that support a vector, in all problems together; ``support_vectors_`` are these rows of X.
    dual_coef_ : ndarray of shape (number of vectors, number of support vectors)
        Multiples of these rows.
    intercept_ : ndarray
        The biases."""

CONSTRAINTS = {
    "kernel": [StrOptions(set(NAMES)), callable],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="left")],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
}


class KernelMixin:
    """Expects the parameters ``kernel``, ``gamma``, ``degree``, ``coef0`` and ``cache_size``."""

    kernel: Any
    gamma: Any
    degree: float
    coef0: float
    cache_size: float
    n_features_in_: int
    classes_: np.ndarray

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _kernel(self, data: Data) -> Kernel:
        """The kernel with its gamma, fixed by the data of the fit."""
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1.0 / data.width
        elif gamma == "scale":
            variance = _variance(as_matrix(data.rows), data.weight)
            gamma = 1.0 / (data.width * variance) if variance > 0 and self.kernel != "precomputed" else 1.0
        return Kernel(self.kernel, float(gamma), float(self.degree), float(self.coef0))

    def _kernel_patterns(self, data: Data, labels: list[Vector], space: Space, weight: Any = None) -> list[Patterns]:
        if self.kernel == "precomputed" and data.width != data.size:
            raise DataError(
                f"A precomputed kernel is a square matrix of inner products of the rows; X has shape "
                f"({data.size}, {data.width})."
            )
        kernel = getattr(self, "_fixed_kernel_", None) or self._kernel(data)
        columns = data.kept if self.kernel == "precomputed" else None
        first = KernelPatterns(data.rows, labels[0], space, kernel, weight, columns)
        if not np.all(np.isfinite(first.squares)):
            row = int(data.kept[np.flatnonzero(~np.isfinite(first.squares))[0]])
            raise DataError(f"The kernel of row {row} with itself is not finite. Scale your features.")
        if first.squares.min() < 0:
            row = int(data.kept[first.squares.argmin()])
            raise DataError(
                f"The kernel of row {row} with itself is {first.squares.min():.3g}: it is no inner product on these "
                "data. Use another kernel or other parameters of it."
            )
        return [first, *(first.relabelled(l) for l in labels[1:])]

    def _set_duals(self, patterns: KernelPatterns, vectors: list[Vector], kept: np.ndarray) -> None:
        """Attributes from vectors (beta, b) over the rows of ``patterns``."""
        betas = np.array([a[:-1] for a in vectors])
        rho2 = 0.0 if patterns.space.free else patterns.space.rho**2
        support = np.flatnonzero(np.any(betas != 0, axis=0))
        self._kernel_ = patterns.kernel
        self.support_ = kept[support]
        self.dual_coef_ = betas[:, support]
        self.intercept_ = rho2 * betas.sum(axis=1) + np.array([a[-1] for a in vectors])
        if patterns.precomputed:
            self.support_vectors_ = np.zeros((len(support), 0))
        else:
            self.support_vectors_ = patterns.values(support)

    def _scores(self, X: Any) -> np.ndarray:
        """Values of the discriminants, in blocks of the kernel's matrix: (n,) for one, else one column each."""
        out = np.zeros((X.shape[0], len(self.dual_coef_)))
        if self.kernel == "precomputed":
            out += np.asarray(X[:, self.support_] @ self.dual_coef_.T)
        else:
            step = max(1, BLOCK // max(len(self.support_), 1))
            for first in range(0, X.shape[0], step):
                part = as_matrix(as_rows(X[first : first + step]))
                out[first : first + step] = self._kernel_.values(part, self.support_vectors_) @ self.dual_coef_.T
        out += self.intercept_
        return out.ravel() if out.shape[1] == 1 else out

    def _measure_margins(self, patterns: list[Any], vectors: list[Vector], margins: list[Vector] | None = None) -> None:
        """The two margins, in the space of the kernel; nan for a zero vector."""
        if margins is None:
            margins = [p.margins(a) for p, a in zip(patterns, vectors, strict=True)]
        directional, geometric = [], []
        for p, a, m in zip(patterns, vectors, margins, strict=True):
            with np.errstate(divide="ignore", invalid="ignore"):
                directional.append(m.min() / np.float64(np.hypot(p.length(a), a[-1])))
            geometric.append(p.distance(a, m))
        self.directional_margin_ = float(min(directional))
        self.geometric_margin_ = float(min(geometric))

    def _gather(self, members: list[Any]) -> None:
        """The duals of pairs, over all rows that support any of them."""
        gather = getattr(super(), "_gather", None)
        if gather is not None:
            gather(members)
        rows, first = np.unique(np.concatenate([m.support_ for m in members]), return_index=True)
        stack = sp.vstack if sp.issparse(members[0].support_vectors_) else np.vstack
        self.support_, self._kernel_ = rows, members[0]._kernel_
        self.support_vectors_ = stack([m.support_vectors_ for m in members])[first]
        self.dual_coef_ = np.zeros((len(members), len(rows)))
        for member, line in zip(members, self.dual_coef_, strict=True):
            line[np.searchsorted(rows, member.support_)] = member.dual_coef_[0]

    @property
    def signed_distance(self):
        raise AttributeError(
            f"{type(self).__name__} measures distances in the space of its kernel: decision_function(X) has them up to "
            "a factor."
        )


def _variance(X: Any, weight: Vector) -> float:
    """Of all values of X, rows counted by their weights: as if they were repeated."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(X.sum(axis=1)).ravel()
        squares = np.asarray((X.multiply(X) if sp.issparse(X) else X * X).sum(axis=1)).ravel()
        size = float(weight.sum()) * X.shape[1]
        mean = weight @ sums / size
        variance = float(weight @ squares / size - mean * mean)
    if not np.isfinite(variance):
        raise DataError('The variance of X overflows float64, so gamma="scale" has no value. Scale your features.')
    return variance
