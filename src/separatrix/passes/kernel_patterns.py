"""Patterns that are known by their inner products alone: y_k = l_k (phi(x_k), rho), K(x, z) = phi(x).phi(z).

A vector is a combination of the rows, ``a = sum beta_k (phi(x_k), rho)``, and is written as ``(beta, b)``; b is an
unpenalised bias and otherwise 0. Bounds are about the kernel's values as floating point computes them; they allow for
what another order of summation makes of these values.

That multipliers bound a margin rests on |u|.|a| >= u.a, which needs a positive semi-definite matrix of inner products.
Linear, Gaussian and ordinary polynomial kernels have one; of all others the matrix is factored, and where this fails or
there are too many rows, nothing is said to bound the margin.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.data.access import Storage
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError
from separatrix.passes.kernel_functions import Kernel, Matrix, squared_lengths
from separatrix.passes.patterns import EPS
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space, Vector

GRAM_VALUES_AT_A_TIME = 1_000_000  # values of the Gram matrix that are computed at a time
RECENT = 6  # combinations of the rows that are kept
LARGEST_CHECKED = 4000  # rows up to which the Gram matrix of an unknown kernel is factored


class Definiteness(NamedTuple):
    """Is a matrix of inner products positive semi-definite? None: nobody knows.

    ``shift``: what its diagonal may lack for that, and ``skew``: by how much K(x, z) and K(z, x) differ, both as
    rounding errors make them; bounds allow for them.
    """

    holds: bool | None
    shift: float = 0.0
    skew: float = 0.0


def definiteness(K: NDArray[np.float64]) -> Definiteness:
    """Is K positive semi-definite, up to rounding errors between those of double and those of single precision?

    Cholesky's method comes to its end only on a matrix without an eigenvalue below -(n + 2) eps trace (Rump 2006).
    """
    n, diagonal = len(K), np.diag(K)
    peak, skew = float(np.abs(diagonal).max(initial=0.0)), float(np.abs(K - K.T).max(initial=0.0))
    for eps in np.geomspace(EPS, np.finfo(np.float32).eps, 5).tolist():
        shift = 16.0 * np.sqrt(n) * eps * peak + float(np.finfo(np.float64).tiny)
        if not skew <= shift:
            continue
        A = (K + K.T) / 2.0
        A[np.diag_indices(n)] += shift
        trace = float(np.trace(A))
        try:
            la.cholesky(A, lower=True, overwrite_a=True, check_finite=False)
        except la.LinAlgError:
            continue
        return Definiteness(True, shift + (n + 2) * EPS * trace, skew)
    return Definiteness(False)


def indefinite(why: str) -> DataError:
    return DataError(
        f"The kernel is not positive semi-definite on these data: {why}. Use another kernel or other parameters of it."
    )


def as_matrix(rows: Storage) -> Matrix:
    """What compiled code reads, as a float64 matrix of numpy or scipy."""
    return MemoryRows(rows).whole.astype(np.float64, copy=False)


class KernelPatterns(Patterns):
    """``columns``: of a precomputed matrix, the columns that belong to the rows. ``centres``: what the betas of a
    vector multiply, where these are not the rows themselves."""

    explicit = False

    def __init__(
        self,
        rows: Storage,
        labels: Vector,
        space: Space,
        kernel: Kernel,
        weight: Vector | None = None,
        columns: np.ndarray | None = None,
        centres: "KernelPatterns | None" = None,
    ):
        super().__init__(rows, labels, space, weight)
        self.kernel, self.columns = kernel, columns
        self.matrix = as_matrix(self.rows)
        self._centres = centres  # None: these patterns themselves, which do not hold on to themselves
        self._like: KernelPatterns | None = None  # patterns of the same rows
        self._recent: dict[tuple[bytes, bytes | None], Vector] = {}  # the last few combinations of the rows
        self._measured: tuple[bytes, float, float] = (b"", 0.0, 0.0)  # the last of them whose length was asked for

    def in_space(self, space: Space) -> "KernelPatterns":
        other = self._again(self.labels, space)
        other._recent = self._recent
        return other

    def relabelled(self, labels: Vector) -> "KernelPatterns":
        return self._again(labels, self.space)

    def _again(self, labels: Vector, space: Space) -> "KernelPatterns":
        other = KernelPatterns(self.rows, labels, space, self.kernel, self.weight, self.columns)
        other.matrix, other.squares, other._like = self.matrix, self.squares, self
        return other

    @property
    def centres(self) -> "KernelPatterns":
        """The patterns of which vectors are combinations."""
        return self if self._centres is None else self._centres

    @property
    def d(self) -> int:
        """One less than the length of a vector."""
        return self.centres.n

    @property
    def features(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def precomputed(self) -> bool:
        return self.kernel.name == "precomputed"

    @property
    def points(self) -> Matrix:
        """The rows as a kernel takes them for centres."""
        return self.kernel.form.points(self.matrix, self.columns)

    @cached_property
    def squares(self) -> Vector:
        """K(x_k, x_k)."""
        return np.ascontiguousarray(self.kernel.diagonal(self.matrix, self.points))

    @cached_property
    def _row_squares(self) -> Vector:
        """|x_k|^2 of the features."""
        return squared_lengths(self.matrix)

    @cached_property
    def definiteness(self) -> Definiteness:
        """Of the rows' Gram matrix; it does not depend on labels and space."""
        if self.kernel.mercer:
            return Definiteness(True)
        if self._like is not None:
            return self._like.definiteness
        if self.centres is not self or self.n > LARGEST_CHECKED:
            return Definiteness(None)
        return definiteness(self.gram(np.arange(self.n)))

    @property
    def definite(self) -> bool | None:
        return self.definiteness.holds

    @cached_property
    def value_error(self) -> float:
        """What is uncertain about a value of the kernel."""
        longest = max(float(p._row_squares.max(initial=0.0)) for p in (self, self.centres))
        return self.kernel.rounding(longest, self.features, self._peak) + self.centres.definiteness.skew

    @cached_property
    def _peak(self) -> float:
        return max(float(np.abs(self.squares).max(initial=0.0)), float(np.abs(self.centres.squares).max(initial=0.0)))

    def gram(self, index: np.ndarray, among: np.ndarray | None = None) -> NDArray[np.float64]:
        """K of some centres with the rows, or with some of them: (len(index), n)."""
        return self.kernel.values(self.centres.points[index], *self.part(among))

    def part(self, among: np.ndarray | None) -> tuple[Matrix, Vector]:
        """The rows, or some of them, and their |x_k|^2."""
        if among is None:
            return self.matrix, self._row_squares
        return self.matrix[among], self._row_squares[among]

    def _gram_among(self, index: np.ndarray) -> NDArray[np.float64]:
        """K of some rows with each other, (k, k), symmetric."""
        K = np.empty((len(index), len(index)))
        step = max(1, GRAM_VALUES_AT_A_TIME // max(len(index), 1))
        for first in range(0, len(index), step):
            K[first : first + step] = self.gram(index[first : first + step], index)
        return (K + K.T) / 2.0

    def pattern_products(self, index: np.ndarray) -> NDArray[np.float64]:
        """y_i.y_j of some patterns with each other, with their extension."""
        labels, delta = self.labels[index], np.broadcast_to(self.delta, self.n)[index]
        return labels[:, None] * (self._gram_among(index) + self._rho2) * labels + np.diag(delta**2)

    def _products(self, beta: Vector, among: np.ndarray | None = None) -> Vector:
        """sum_k beta_k (K(x_k, x_i) + rho^2), in blocks of the Gram matrix; several bounds ask for the same in turn."""
        key = beta.tobytes(), None if among is None else among.tobytes()
        out, whole = self._recent.get(key), self._recent.get((key[0], None))
        if whole is not None and among is not None:
            out = whole[among]
        if out is None:
            support = np.flatnonzero(beta)
            size = self.n if among is None else len(among)
            out, step = np.zeros(size), max(1, GRAM_VALUES_AT_A_TIME // max(size, 1))
            for first in range(0, len(support), step):
                part = support[first : first + step]
                out += beta[part] @ self.gram(part, among)
            self._remember(key, out)
        return out + self._rho2 * float(beta.sum())

    def _remember(self, key: tuple[bytes, bytes | None], products: Vector) -> None:
        for former in list(self._recent)[: 1 - RECENT]:
            del self._recent[former]
        self._recent[key] = products

    def remember(self, beta: Vector, products: Vector) -> None:
        """``products``: sum_k beta_k K(x_k, x_i), from a solver that had the whole Gram matrix at hand."""
        self._remember((beta.tobytes(), None), products)

    @property
    def _rho2(self) -> float:
        return 0.0 if self.space.free else self.space.rho**2

    def margins(self, a: Vector) -> Vector:
        return self.labels * (self._products(a[:-1]) + a[-1])

    def margins_of(self, index: np.ndarray, a: Vector) -> Vector:
        return self.labels[index] * (self._products(a[:-1], index) + a[-1])

    def margin_error(self, a: Vector) -> float:
        size, terms = float(np.abs(a[:-1]).sum()), np.count_nonzero(a) + 8
        shifted = self.centres.definiteness.shift * float(np.abs(a[:-1]).max(initial=0.0))
        return size * (self.value_error + terms * EPS * (self._peak + self._rho2)) + 4.0 * EPS * abs(a[-1]) + shifted

    def length(self, a: Vector) -> float:
        return self.length_range(a)[1]

    def length_range(self, a: Vector, slack: float = 1.0) -> tuple[float, float]:
        """By what is uncertain about the quadratic form; ``slack``: so many times."""
        beta = a[:-1]
        key = beta.tobytes()
        if self._measured[0] != key:  # several bounds ask for the same in turn
            support = np.flatnonzero(beta)
            square = float(beta[support] @ self.centres._products(beta, support))
            error = float(np.abs(beta).sum()) * self.margin_error(np.append(beta, 0.0))  # >= shift sum beta_k^2
            self._measured = key, square, error
        _, square, error = self._measured
        if square < -4.0 * error:
            raise indefinite(f"a combination of rows has the squared length {square:.3g}")
        return float(np.sqrt(max(square - slack * error, 0.0))), float(np.sqrt(max(square + slack * error, 0.0)))

    def unit(self, a: Vector) -> Vector:
        length = self.length(a)
        return a / length if length > 0 else a

    def combine(self, index: np.ndarray, alpha: Vector) -> Vector:
        out = np.zeros(self.n + 1)
        np.add.at(out, index, alpha * self.labels[index])
        return out

    def combination_error(self, alpha: Vector) -> float:
        """Nothing is summed: `length` answers for all of it."""
        return 0.0

    def distance(self, a: Vector, margins: Vector | None = None) -> float:
        """The geometric margin in the space of phi, where the bias is not part of the length."""
        flat = self.in_space(self.space._replace(free=True))
        flat._centres = self._centres
        with np.errstate(divide="ignore", invalid="ignore"):
            margins = self.margins(a) if margins is None else margins
            return float(margins.min() / np.float64(flat.length(a)))

    def values(self, index: np.ndarray) -> Any:
        return self.matrix[index]

    def dense_rows(self, index: np.ndarray) -> NDArray[np.float64]:
        raise DataError("The patterns of a kernel cannot be written out.")
