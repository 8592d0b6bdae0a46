"""Patterns that are known by their inner products alone: y_k = l_k (phi(x_k), rho), K(x, z) = phi(x).phi(z).

A vector is a combination of the rows, ``a = sum beta_k (phi(x_k), rho)``, and is written as ``(beta, b)``; b is an
unpenalised bias and otherwise 0. Bounds are about the kernel's values as floating point computes them; they allow for
what another order of summation makes of these values.

That multipliers bound a margin rests on |u|.|a| >= u.a, which needs a positive semi-definite matrix of inner products.
Linear, Gaussian and ordinary polynomial kernels have one; of all others the matrix is factored, and where this fails or
there are too many rows, nothing is said to bound the margin.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.patterns.plain_patterns import EPS, Patterns
from separatrix.rows.access import Dense, Storage
from separatrix.space import Space, Vector

BLOCK = 8_000_000  # values of the Gram matrix that are computed at a time
LARGEST_CHECKED = 4000  # rows up to which the Gram matrix of an unknown kernel is factored

Matrix = Any  # dense or CSR, n rows


class Kernel(NamedTuple):
    """K(x, z): "linear", "poly" (gamma x.z + coef0)^degree, "rbf" exp(-gamma |x - z|^2), "sigmoid" tanh(gamma x.z +
    coef0), "precomputed", or a function of two matrices."""

    name: str | Callable = "rbf"
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 0.0

    def values(self, A: Matrix, B: Matrix, squares: Vector | None = None) -> NDArray[np.float64]:
        """K of each row of A with each row of B; ``squares`` are those of B, where they are at hand."""
        if callable(self.name):
            out = np.asarray(self.name(A, B), dtype=np.float64)
            if out.shape != (A.shape[0], B.shape[0]):
                raise DataError(
                    f"The kernel gave a matrix of shape {out.shape} for {A.shape[0]} and {B.shape[0]} rows: it has to "
                    "take two matrices and return the inner products of their rows."
                )
            if not np.all(np.isfinite(out)):
                raise DataError("The kernel gave a value that is not finite. Scale your features, or mend the kernel.")
            return out
        products = _dense(A @ B.T)
        if self.name == "linear":
            return products
        if self.name == "rbf":
            products *= -2.0
            products += _squares(A)[:, None]
            products += _squares(B) if squares is None else squares
            np.maximum(products, 0.0, out=products)
            products *= -self.gamma
            return np.exp(products, out=products)
        return self._of_products(products)

    def diagonal(self, A: Matrix) -> Vector:
        """K(x, x) of each row."""
        if callable(self.name):
            step = max(1, min(1000, A.shape[0]))
            parts = [np.diag(self.values(A[i : i + step], A[i : i + step])) for i in range(0, A.shape[0], step)]
            return np.concatenate(parts)
        if self.name == "rbf":
            return np.ones(A.shape[0])
        squares = _squares(A)
        if self.name == "linear":
            return squares
        return self._of_products(squares)

    def _of_products(self, products: NDArray[np.float64]) -> NDArray[np.float64]:
        argument = self.gamma * products + self.coef0
        if self.name == "sigmoid":
            return np.tanh(argument)
        smallest = float(argument.min(initial=0.0))
        if smallest < 0 and not float(self.degree).is_integer():
            raise DataError(
                f"gamma x.z + coef0 is {smallest:.3g} for some rows, and a negative number has no power of "
                f"{self.degree:g}: use an integer for degree, or a larger coef0."
            )
        return argument**self.degree

    @property
    def mercer(self) -> bool:
        """Is it known to be an inner product, whatever the data?"""
        if self.name == "poly":
            return float(self.degree).is_integer() and self.gamma >= 0 and self.coef0 >= 0
        return self.name == "linear" or (self.name == "rbf" and self.gamma >= 0)

    def rounding(self, largest: float, width: int) -> float:
        """How far two ways of computing a value may differ, rows being of a squared length up to ``largest``."""
        product = (width + 4) * EPS * largest
        if self.name == "linear":
            return product
        if self.name == "rbf":
            return 4.0 * self.gamma * product + 4.0 * EPS
        base = abs(self.gamma) * largest + abs(self.coef0)
        slip = abs(self.gamma) * product + 2.0 * EPS * base
        if self.name == "poly":
            if self.degree < 1:  # |s^p - t^p| <= |s - t|^p: near 0 a root is as steep as can be
                return (slip**self.degree if self.degree > 0 else 0.0) + 4.0 * EPS * max(base, 1.0)
            return self.degree * base ** (self.degree - 1.0) * slip + 4.0 * EPS * base**self.degree
        return slip + 4.0 * EPS


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


def _dense(products: Any) -> NDArray[np.float64]:
    return np.asarray(products.toarray() if sp.issparse(products) else products, dtype=np.float64)


def _squares(A: Matrix) -> Vector:
    squares = A.multiply(A).sum(axis=1) if sp.issparse(A) else np.einsum("ij,ij->i", A, A)
    return np.asarray(squares, dtype=np.float64).ravel()


def as_matrix(rows: Storage) -> Matrix:
    """What the kernels of patterns.py hold, as a float64 matrix."""
    if isinstance(rows, Dense):
        return np.asarray(rows.data, dtype=np.float64)
    shape = (len(rows.indptr) - 1, rows.width)
    return sp.csr_matrix((rows.data.astype(np.float64), rows.indices.astype(np.int64), rows.indptr), shape=shape)


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
        self.centres = self if centres is None else centres
        self._like: KernelPatterns | None = None  # patterns of the same rows

    def in_space(self, space: Space) -> "KernelPatterns":
        return self._again(self.labels, space)

    def relabelled(self, labels: Vector) -> "KernelPatterns":
        return self._again(labels, self.space)

    def _again(self, labels: Vector, space: Space) -> "KernelPatterns":
        other = KernelPatterns(self.rows, labels, space, self.kernel, self.weight, self.columns)
        other.matrix, other.squares, other._like = self.matrix, self.squares, self
        return other

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

    @cached_property
    def squares(self) -> Vector:
        """K(x_k, x_k)."""
        if self.precomputed:
            assert self.columns is not None
            return np.array(self.matrix[np.arange(self.n), self.columns], dtype=np.float64).ravel()
        return np.ascontiguousarray(self.kernel.diagonal(self.matrix))

    @cached_property
    def _row_squares(self) -> Vector:
        """|x_k|^2 of the features."""
        return _squares(self.matrix)

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
        skew = self.centres.definiteness.skew
        if self.precomputed or callable(self.kernel.name):
            return 4.0 * EPS * self.peak() + skew
        longest = max(float(p._row_squares.max(initial=0.0)) for p in (self, self.centres))
        return self.kernel.rounding(longest, self.features) + skew

    def peak(self) -> float:
        return max(float(np.abs(self.squares).max(initial=0.0)), float(np.abs(self.centres.squares).max(initial=0.0)))

    def gram(self, index: np.ndarray, among: np.ndarray | None = None) -> NDArray[np.float64]:
        """K of some centres with the rows, or with some of them: (len(index), n)."""
        centres = self.centres
        if self.precomputed:
            assert centres.columns is not None
            chosen = self.matrix if among is None else self.matrix[among]
            return np.ascontiguousarray(_dense(chosen[:, centres.columns[index]]).T)
        matrix, squares = self.matrix, self._row_squares
        if among is not None:
            matrix, squares = matrix[among], squares[among]
        return self.kernel.values(centres.matrix[index], matrix, squares)

    def _gram_among(self, index: np.ndarray) -> NDArray[np.float64]:
        """K of some rows with each other, (k, k), symmetric."""
        K = np.empty((len(index), len(index)))
        step = max(1, BLOCK // max(len(index), 1))
        for first in range(0, len(index), step):
            K[first : first + step] = self.gram(index[first : first + step], index)
        return (K + K.T) / 2.0

    def _products(self, beta: Vector, among: np.ndarray | None = None) -> Vector:
        """sum_k beta_k (K(x_k, x_i) + rho^2), in blocks of the Gram matrix."""
        support = np.flatnonzero(beta)
        size = self.n if among is None else len(among)
        out, step = np.zeros(size), max(1, BLOCK // max(size, 1))
        for first in range(0, len(support), step):
            part = support[first : first + step]
            out += beta[part] @ self.gram(part, among)
        return out + self._rho2 * float(beta.sum())

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
        return size * (self.value_error + terms * EPS * (self.peak() + self._rho2)) + 4.0 * EPS * abs(a[-1]) + shifted

    def length(self, a: Vector) -> float:
        return self.length_range(a)[1]

    def length_range(self, a: Vector) -> tuple[float, float]:
        """By what is uncertain about the quadratic form."""
        centres, beta = self.centres, a[:-1]
        support = np.flatnonzero(beta)
        square = float(beta[support] @ centres._products(beta, support))
        error = float(np.abs(beta).sum()) * self.margin_error(np.append(beta, 0.0))  # >= shift sum beta_k^2
        if square < -4.0 * error:
            raise indefinite(f"a combination of rows has the squared length {square:.3g}")
        return float(np.sqrt(max(square - error, 0.0))), float(np.sqrt(max(square + error, 0.0)))

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
        flat.centres = self.centres if self.centres is not self else flat
        with np.errstate(divide="ignore", invalid="ignore"):
            margins = self.margins(a) if margins is None else margins
            return float(margins.min() / np.float64(flat.length(a)))

    def values(self, index: np.ndarray) -> Any:
        return self.matrix[index]

    def dense_rows(self, index: np.ndarray) -> NDArray[np.float64]:
        raise DataError("The patterns of a kernel cannot be written out.")


class GramRows:
    """Rows of l_i l_k (K + rho^2), times a factor, in a cache of bounded size; the oldest make room."""

    def __init__(self, patterns: KernelPatterns, megabytes: float, factor: float = 1.0):
        self.patterns, self.factor = patterns, factor
        n = patterns.n
        size = int(np.clip(megabytes * 1e6 / (8.0 * n), min(n, 2), n))
        self.rows = np.empty((size, n))
        self.slot = np.full(n, -1, dtype=np.int64)
        self.owner = np.full(size, -1, dtype=np.int64)
        self.next = 0
        self.computed = 0
        self.batch = max(1, min(size // 2, 64, 200_000 // n))  # to compute at a time: few are thrown away unused

    def fetch(self, index: np.ndarray) -> None:
        """Bring rows into the cache; the first of them is there for sure afterwards."""
        fresh = index[self.slot[index] < 0][: self.batch]
        if len(fresh) == 0:
            return
        p = self.patterns
        block = p.gram(fresh)
        block += p._rho2
        block *= p.labels
        block *= (self.factor * p.labels[fresh])[:, None]
        self.computed += len(fresh)
        for i, row in zip(fresh.tolist(), block, strict=True):
            place = self.next
            self.next = (self.next + 1) % len(self.owner)
            if self.owner[place] >= 0:
                self.slot[self.owner[place]] = -1
            self.rows[place], self.owner[place], self.slot[i] = row, i, place

    def row(self, i: int) -> Vector:
        if self.slot[i] < 0:
            self.fetch(np.array([i]))
        return self.rows[self.slot[i]]
