"""The data's side of the space: the one door to the kernels, and single passes with bounds on their rounding errors."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.passes import compiled as passes
from separatrix.rows.access import CSR, Dense, Rows
from separatrix.rows.memory import as_rows, frozen
from separatrix.space import Space, Vector, norm

EPS = float(np.finfo(np.float64).eps)
CHUNK = 1_000_000  # values copied at a time where dense rows have to be scaled


class Patterns:
    """Patterns ``y_k = l_k (x_k, rho)``, extended by delta, that are only ever passed over.

    ``X``: dense or CSR, float32 or float64, or what `as_rows` made of it. ``labels``: -1.0 or +1.0. ``weight``: sample
    weights, which matter in a weighted space.
    """

    categories = 2
    explicit = True  # a pattern can be written out as a row of numbers

    def __init__(self, X: Any, labels: Vector, space: Space, weight: Vector | None = None):
        self.rows: Rows = X if isinstance(X, (Dense, CSR)) else as_rows(X)
        self.labels = frozen(np.ascontiguousarray(labels, dtype=np.float64))
        self.space = space
        self.weight = weight

    @cached_property
    def delta(self) -> float | Vector:
        """The extension: one number, or one per row where the space is weighted."""
        if self.weight is None or not self.space.weighted:
            return self.space.delta
        return self.space.delta / np.sqrt(self.weight)

    def in_space(self, space: Space) -> "Patterns":
        """The same rows and labels in another space."""
        other = Patterns(self.rows, self.labels, space, self.weight)
        other.squares = self.squares
        return other

    def relabelled(self, labels: Vector) -> "Patterns":
        """The same rows with other labels; what does not depend on labels is not computed again."""
        other = Patterns(self.rows, labels, self.space, self.weight)
        other.squares = self.squares
        return other

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def d(self) -> int:
        return self.rows.data.shape[1] if isinstance(self.rows, Dense) else self.rows.width

    @property
    def features(self) -> int:
        """Number of columns of the data."""
        return self.d

    @property
    def entries_per_row(self) -> float:
        """Average number of stored values in a row."""
        return self.rows.data.size / max(self.n, 1)

    @cached_property
    def longest_row(self) -> int:
        return self.d if isinstance(self.rows, Dense) else int(np.diff(self.rows.indptr).max(initial=0))

    @cached_property
    def squares(self) -> Vector:
        """|x_k|^2, as a sum of squares: exact on integers, where ties at a threshold matter."""
        out = np.empty(self.n)
        passes.squares()(self.rows, out)
        return frozen(out)

    @cached_property
    def norms2(self) -> Vector:
        """|y_k|^2 in this space."""
        return frozen(self.squares + ((0.0 if self.space.free else self.space.rho**2) + self.delta**2))

    @property
    def row_norms2(self) -> Vector:
        """|y|^2 of the patterns of each row of the data, of which there may be several."""
        return self.norms2

    @cached_property
    def radius2(self) -> float:
        """R^2 = max |y_k|^2."""
        return float(self.row_norms2.max(initial=0.0))

    @property
    def radius(self) -> float:
        return float(np.sqrt(self.radius2))

    def peak(self) -> float:
        """max |y_ki|, the radius that matters to Winnow."""
        out = np.empty(self.n)
        passes.peaks()(self.rows, out)
        return max(float(out.max(initial=0.0)), self.space.rho)

    def margins(self, a: Vector) -> Vector:
        """a.y_k, without the extension."""
        out = np.empty(self.n)
        passes.products()(self.rows, self.labels, self.space.rho, np.ascontiguousarray(a, dtype=np.float64), out)
        return out

    def margins_of(self, index: np.ndarray, a: Vector) -> Vector:
        """a.y_k of some rows."""
        out = np.empty(len(index))
        passes.products_of()(self.rows, self.labels, self.space.rho, index, np.ascontiguousarray(a), out)
        return out

    def margin_error(self, a: Vector) -> float:
        """A bound on the rounding error of each of `margins`, gamma_k (|x| |w| + rho |b|), for any order of sums."""
        longest = max(float(np.sqrt(self.squares.max(initial=0.0))), 2e-154 * np.sqrt(self.longest_row))  # underflow
        size = float(longest * np.linalg.norm(a[:-1]) + self.space.rho * abs(a[-1]))
        return (self.longest_row + 4) * EPS * size + np.finfo(np.float64).tiny

    @property
    def definite(self) -> bool | None:
        """Is |u|.|a| >= u.a here, so that multipliers bound margins? None: nobody knows."""
        return True

    def numbering(self, kept: np.ndarray) -> np.ndarray:
        """The patterns' numbers in the user's data, of which the rows ``kept`` take part."""
        return kept

    def length(self, a: Vector) -> float:
        """|a| in this space, without the extension, rounded up where it is uncertain."""
        return self.space.length(a)

    def length_range(self, a: Vector) -> tuple[float, float]:
        """Between which numbers |a| lies, where it is uncertain by more than a norm's rounding errors."""
        length = self.length(a)
        return length, length

    def unit(self, a: Vector) -> Vector:
        """a / |a|, whatever the size of a; a itself where it has no direction."""
        peak = float(np.abs(a[:-1] if self.space.free else a).max(initial=0.0))
        if not 0 < peak < np.inf:
            return a
        a = np.ldexp(a, -int(np.frexp(peak)[1]))  # a power of two: no bit is lost, and squares stay in range
        length = self.length(a)
        return a / length if length > 0 else a

    def distance(self, a: Vector, margins: Vector | None = None) -> float:
        """The geometric margin: the smallest distance from the hyperplane, negative for an error."""
        margins = self.margins(a) if margins is None else margins
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(margins.min() / norm(a[:-1]))

    def errors(self, a: Vector) -> int:
        """Rows that are not on their side."""
        return int(np.count_nonzero(~(self.margins(a) > 0)))

    def values(self, index: np.ndarray) -> Any:
        """Some rows of the data as they are."""
        return np.array(self.rows.data[index]) if isinstance(self.rows, Dense) else self.sparse_rows(index)

    def dense_rows(self, index: np.ndarray) -> NDArray[np.float64]:
        """The patterns of some rows, (k, d + 1), written out."""
        if isinstance(self.rows, Dense):
            X = self.rows.data[index].astype(np.float64)
        else:
            X = self.sparse_rows(index).toarray()
        return self.labels[index, None] * np.column_stack([X, np.full(len(index), self.space.rho)])

    def sparse_rows(self, index: np.ndarray) -> sp.csr_matrix:
        """Some rows of CSR data as a float64 matrix, without label and bias."""
        assert isinstance(self.rows, CSR)
        matrix = sp.csr_matrix(
            (self.rows.data, self.rows.indices.view(np.int32), self.rows.indptr), shape=(self.n, self.d)
        )
        return matrix[index].astype(np.float64)

    def sparse_patterns(self, index: np.ndarray) -> sp.csr_matrix:
        """The patterns of some rows of CSR data, (k, d + 1), with label and bias."""
        signs = self.labels[index, None]
        return sp.hstack([self.sparse_rows(index).multiply(signs), self.space.rho * signs], format="csr")

    def narrow_rows(self, index: np.ndarray) -> tuple[NDArray[np.float64], np.ndarray]:
        """`dense_rows` without the columns in which none of these rows of CSR data has a value; and which are left."""
        if isinstance(self.rows, Dense):
            return self.dense_rows(index), np.arange(self.d + 1)
        Y = self.sparse_patterns(index)
        occurring = np.unique(Y.indices)
        return Y[:, occurring].toarray(), occurring

    def combine(self, index: np.ndarray, alpha: Vector) -> Vector:
        """sum alpha_k y_{i_k}, without the extension."""
        out = np.zeros(self.d + 1)
        index = np.ascontiguousarray(index, dtype=np.int64)
        passes.combination()(self.rows, self.labels, self.space.rho, index, np.ascontiguousarray(alpha), out)
        return out

    def outer_products(self, index: np.ndarray, c: Vector) -> NDArray[np.float64]:
        """``sum c_k y_k y_k^t`` over some rows, its lower triangle; c >= 0."""
        H = np.zeros((self.d + 1, self.d + 1))
        if not isinstance(self.rows, Dense):
            passes.outer_products()(self.rows, self.space.rho, index, c, H)
            return H
        d, rho = self.d, self.space.rho
        root = np.sqrt(c)
        step = max(1, CHUNK // max(d, 1))
        for first in range(0, len(index), step):
            part = slice(first, first + step)
            Z = self.rows.data[index[part]].astype(np.float64)
            Z *= root[part, None]
            H[:d, :d] += Z.T @ Z
            H[d, :d] += rho * (root[part] @ Z)
        H[d, d] = rho * rho * c.sum()
        return H

    def combination_error(self, alpha: Vector) -> float:
        """A bound on the norm of the rounding error of `combine` for ``alpha >= 0``."""
        depth = min(len(alpha), passes.BLOCK) + len(alpha) / passes.BLOCK + 4
        return depth * EPS * self.radius * float(alpha.sum()) + np.finfo(np.float64).tiny
