"""What estimators with a kernel share: the kernel's parameters, and predictions from the rows that support a vector."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from separatrix.data.memory import as_rows
from separatrix.errors import DataError
from separatrix.fit.declare import FINITE, NOT_NEGATIVE, POSITIVE, estimator, one_of
from separatrix.fit.prediction import scores_of
from separatrix.fit.result import joined, joined_duals
from separatrix.fit.separator import LinearSeparator
from separatrix.fit.training_data import Data
from separatrix.passes.binary_problems import binary_labels
from separatrix.passes.kernel_functions import FORMS, Kernel
from separatrix.passes.kernel_patterns import GRAM_VALUES_AT_A_TIME, KernelPatterns, as_matrix
from separatrix.passes.patterns import TINY
from separatrix.space import Vector


@estimator
class KernelParameters:
    """The parameters of a kernel.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
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
        Megabytes for rows of the Gram matrix, in all problems together.
    """

    _: KW_ONLY
    kernel: Annotated[str | Callable, one_of(*FORMS)] = "rbf"
    gamma: Annotated[float | str, one_of("scale", "auto"), NOT_NEGATIVE] = "scale"
    degree: Annotated[float, NOT_NEGATIVE] = 3
    coef0: Annotated[float, FINITE] = 0.0
    cache_size: Annotated[float, POSITIVE] = 500


class KernelMixin(KernelParameters, LinearSeparator):
    """What estimators with a kernel share."""

    n_features_in_: int
    classes_: np.ndarray
    support_: np.ndarray
    support_vectors_: Any
    dual_coef_: np.ndarray
    _predicting = ("_kernel_", "support_", "dual_coef_", "intercept_", "support_vectors_")

    def _prepare_data(self, data: Data) -> Data:
        """All problems are in the space of one kernel."""
        return data._replace(kernel=self._kernel(data))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
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

    def _problems(self, data: Data, weight: Vector | None = None, mode: str = "") -> list[Any]:
        """A binary problem for each class. ``weight``: that of slack, if the space is weighted."""
        kernel: Kernel = data.kernel or self._kernel(data)
        if self.kernel == "precomputed" and data.width != data.size:
            raise DataError(
                f"A precomputed kernel is a square matrix of inner products of the rows; X has shape "
                f"({data.size}, {data.width})."
            )
        labels = binary_labels(data.codes, len(data.classes))
        columns = data.kept if self.kernel == "precomputed" else None
        first = KernelPatterns(data.rows, labels[0], self._space(), kernel, weight, columns)
        if not np.all(np.isfinite(first.squares)):
            row = int(data.kept[np.flatnonzero(~np.isfinite(first.squares))[0]])
            raise DataError(f"The kernel of row {row} with itself is not finite. Scale your features.")
        if first.squares.min() < 0:
            row = int(data.kept[first.squares.argmin()])
            raise DataError(
                f"The kernel of row {row} with itself is {first.squares.min():.3g}: it is no inner product on these "
                "data. Use another kernel or other parameters of it."
            )
        self._check_scale(first, data.kept)
        return [first, *(first.relabelled(l) for l in labels[1:])]

    def _megabytes(self, data: Data, problems: int) -> float:
        """Those of a problem's cache, of which so many are at work at a time."""
        return float(self.cache_size) / (problems * data.at_once)

    def _attributes_of(
        self, patterns: KernelPatterns, vector: Vector, data: Data, training: Any = None
    ) -> dict[str, Any]:
        """The attributes that predict, from a vector (beta, b) over the rows of ``patterns``."""
        beta = vector[:-1]
        rho2 = 0.0 if patterns.space.free else patterns.space.rho**2
        support = np.flatnonzero(beta)
        return {
            "_kernel_": patterns.kernel,
            "support_": data.kept[support],
            "dual_coef_": beta[None, support],
            "intercept_": rho2 * np.array([beta.sum()]) + vector[-1:],
        }

    def _scores(self, X: Any) -> np.ndarray:
        """Values of the discriminants, in blocks of the kernel's matrix: (n,) for one, else one column each. Those of a
        linear kernel are the scores of its hyperplanes."""
        if self.kernel == "linear":
            return scores_of(X, self.coef_, self.intercept_)
        out = np.zeros((X.shape[0], len(self.dual_coef_)))
        if self.kernel == "precomputed":
            out += np.asarray(X[:, self.support_] @ self.dual_coef_.T)
        else:
            step = max(1, GRAM_VALUES_AT_A_TIME // max(len(self.support_), 1))
            for first in range(0, X.shape[0], step):
                part = as_matrix(as_rows(X[first : first + step]))
                out[first : first + step] = self._kernel_.values(part, self.support_vectors_) @ self.dual_coef_.T
        out += self.intercept_
        return out.ravel() if out.shape[1] == 1 else out

    def _margins_of(self, patterns: Any, a: Vector, measured: Any = None) -> tuple[float, float]:
        """The two margins, in the space of the kernel; nan for a zero vector."""
        m = patterns.margins(a)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(m.min() / np.float64(np.hypot(patterns.length(a), a[-1]))), patterns.distance(a, m)

    def _join_predicting(self, parts: Sequence[dict[str, Any]], data: Data) -> dict[str, Any]:
        """The duals of all problems, over all rows that support any of them."""
        rows, dual = joined_duals([part["support_"] for part in parts], [part["dual_coef_"] for part in parts])
        return {
            "_kernel_": parts[0]["_kernel_"],
            "support_": rows,
            "dual_coef_": dual,
            "intercept_": joined([part["intercept_"] for part in parts]),
            "support_vectors_": self._rows_of(data, rows),
        }

    def _rows_of(self, data: Data, numbers: np.ndarray) -> Any:
        if self.kernel == "precomputed":
            return np.zeros((len(numbers), 0))
        return super()._rows_of(data, numbers).astype(np.float64, copy=False)

    @property
    def coef_(self) -> np.ndarray:
        """The vectors themselves, which a linear kernel alone has."""
        if self.kernel != "linear":
            raise AttributeError(f'coef_ is there for kernel="linear" only; this one has kernel={self.kernel!r}.')
        products = self.dual_coef_ @ self.support_vectors_
        return np.asarray(products, dtype=np.float64)

    @property
    def signed_distance(self):
        raise AttributeError(
            f"{type(self).__name__} measures distances in the space of its kernel: decision_function(X) has them up to "
            "a factor."
        )

    radius = signed_distance


def _variance(X: Any, weight: Vector) -> float:
    """Of all values of X, rows counted by their weights: as if they were repeated."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(X.sum(axis=1)).ravel()
        squares = np.asarray((X.multiply(X) if sp.issparse(X) else X * X).sum(axis=1)).ravel()
        size = float(weight.sum()) * X.shape[1]
        mean = weight @ sums / size
        variance = float(weight @ squares / size - mean * mean)
    if not np.isfinite(variance) or 0 < variance * X.shape[1] < TINY:
        raise DataError(
            f'The variance of X is {variance:g}, so gamma="scale", which is 1 / (n_features * variance), has no value '
            "in float64. Scale your features."
        )
    return variance
