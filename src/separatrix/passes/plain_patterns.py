"""The patterns of hyperplanes, from rows of this process: single passes with bounds on their rounding errors."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.data.access import Storage
from separatrix.data.base import RowSource
from separatrix.data.memory import MemoryRows, frozen
from separatrix.passes import compiled as passes
from separatrix.passes import in_memory
from separatrix.passes.patterns import Pass, PassedPatterns, PatternSet
from separatrix.passes.summaries import Extremes
from separatrix.space import Space, Vector, norm, per_length

IN_CACHE = 1 << 17  # values that stay in a processor's cache while they are used twice
LONG_SUM = 128 * passes.BLOCK  # multipliers of a combination that are summed by one thread
SHARED = {"squares", "prices"}  # numbers of the rows that do not depend on labels and space


class Patterns(PatternSet):
    """Patterns ``y_k = l_k (x_k, rho)``, extended by delta, that are only ever passed over.

    ``X``: dense or CSR, float32 or float64, or `MemoryRows` or what these hold. ``labels``: -1.0 or +1.0. ``weight``:
    sample weights, which matter in a weighted space.
    """

    long_sums = True  # sums of wide sparse rows may do without blocks

    def __init__(self, X: Any, labels: Vector, space: Space, weight: Vector | None = None):
        self.home = X if isinstance(X, MemoryRows) else MemoryRows(X)
        self.labels = frozen(np.ascontiguousarray(labels, dtype=np.float64))
        self.space = space
        self.weight = weight

    @property
    def delta(self) -> float | Vector:
        """The extension: one number, or one per row where the space is weighted."""
        return self.space.delta if self.weight is None or not self.space.weighted else self._deltas

    @cached_property
    def _deltas(self) -> Vector:
        assert self.weight is not None
        return self.space.delta / np.sqrt(self.weight)

    def in_space(self, space: Space) -> "Patterns":
        return self._sharing(Patterns(self.home, self.labels, space, self.weight))

    def relabelled(self, labels: Vector) -> "Patterns":
        """The same rows with other labels; what does not depend on labels is not computed again."""
        return self._sharing(Patterns(self.home, labels, self.space, self.weight))

    def _sharing(self, other: "Patterns") -> "Patterns":
        for name in SHARED & vars(self).keys():
            setattr(other, name, getattr(self, name))
        return other

    def through(self, wrap: Callable[[RowSource], RowSource]) -> PassedPatterns:
        home = MemoryRows(self.rows, (self.labels > 0).astype(np.int64), self.weight, classes=np.arange(2))
        return PassedPatterns(wrap(home), 1, self.space)

    def sample(self, rows: np.ndarray) -> "Patterns":
        weight = None if self.weight is None else self.weight[rows]
        return Patterns(self.home.take(rows), self.labels[rows], self.space, weight)

    def few(self, index: np.ndarray) -> tuple["Patterns", np.ndarray]:
        return self, index

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def d(self) -> int:
        return self.home.width

    @property
    def rows_in_all(self) -> int:
        return self.home.n

    def in_all_columns(self, a: Vector) -> Vector:
        if self.home.columns is None:
            return a
        return self.home.in_all_columns(a.reshape(-1, self.home.width + 1)).ravel()

    def in_these_columns(self, a: Vector) -> Vector:
        if self.home.columns is None:
            return a
        return self.home.in_these_columns(a.reshape(-1, self.home.data_width + 1)).ravel()

    # Passes, block by block.

    def run(self, work: Pass, *args: Any) -> Any:
        if len(self.home.borders) == 1 or not self.explicit:
            return work(self, 0, *args)
        per_row, first = self.per_row, self.home.first
        return self.home.run(lambda block: work(self.of_block(block), (block.first - first) * per_row, *args))

    def of_block(self, block: MemoryRows) -> "Patterns":
        """Return the patterns of a block of the rows."""
        rows = slice(block.first - self.home.first, block.first - self.home.first + block.n)
        other = Patterns(block, self.labels[rows], self.space, None if self.weight is None else self.weight[rows])
        other.long_sums = self.block_rows == LONG_SUM
        for name in SHARED & vars(self).keys():
            setattr(other, name, getattr(self, name)[rows])
        return other

    # Prices of slack, and the multipliers that they allow.

    @cached_property
    def prices(self) -> Vector:
        """The factor on each pattern's squared hinge loss."""
        return np.ones(self.n) if self.weight is None else self.weight

    @cached_property
    def caps(self) -> Vector:
        """The largest multipliers C c_k in a space with hinge loss, rounded down: proofs rest on alpha <= C c."""
        caps = self.space.hinge * self.prices
        return frozen(caps if self.weight is None else np.where(self.prices == 1.0, caps, np.nextafter(caps, 0.0)))

    def paid_slack(self, slacks: Vector) -> float:
        """sum c_k xi_k of hinge loss, one for each row."""
        return float(self.prices @ slacks)

    def room(self, index: np.ndarray, alpha: Vector) -> float:
        """The largest multiple of positive multipliers that hinge loss allows: alpha_k <= C c_k."""
        return float((self.caps[index] / alpha).min(initial=np.inf))

    def capped(self, index: np.ndarray, alpha: Vector) -> Vector:
        """Multipliers that rounding may have lifted above their caps, put back."""
        return np.minimum(alpha, self.caps[index])

    def keeps_caps(self, index: np.ndarray, alpha: Vector) -> bool:
        return bool((alpha <= self.caps[index]).all())

    # Sizes and margins.

    @cached_property
    def squares(self) -> Vector:
        """|x_k|^2."""
        return squares_of(self.home)

    @cached_property
    def norms2(self) -> Vector:
        """|y_k|^2 in this space."""
        with np.errstate(over="ignore"):  # of a row of a tiny weight, and inf is refused
            return frozen(self.squares + ((0.0 if self.space.free else self.space.rho**2) + self.delta**2))

    @property
    def row_norms2(self) -> Vector:
        """|y|^2 of the patterns of each row of the data, of which there may be several."""
        return self.norms2

    @cached_property
    def radius2(self) -> float:
        if isinstance(self.delta, float) and type(self) is Patterns:  # rounding is monotone: the same bits
            return self.largest_square + ((0.0 if self.space.free else self.space.rho**2) + self.delta**2)
        return float(self.row_norms2.max(initial=0.0))

    @cached_property
    def largest_square(self) -> float:
        return float(self.squares.max(initial=0.0))

    @cached_property
    def mean_square(self) -> float:
        return float(self.squares.sum()) / max(self.n, 1)

    @property
    def longest_row(self) -> int:
        return self.home.longest

    def peak(self) -> float:
        """max |y_ki|, the radius that matters to Winnow."""
        out = np.empty(self.home.n)
        passes.peaks()(self.rows, out)
        return max(float(out.max(initial=0.0)), self.space.rho)

    def extremes(self, a: Vector, k: int) -> Extremes:
        return in_memory.extremes(self, 0, a, k)

    def smallest(self, a: Vector) -> float:
        return float(self.margins(a).min(initial=np.inf))

    def distance(self, a: Vector, margins: Vector | None = None) -> float:
        """The geometric margin: the smallest distance from the hyperplane, negative for an error."""
        margins = self.margins(a) if margins is None else margins
        return per_length(float(margins.min()), norm(a[:-1]))

    def errors(self, a: Vector) -> int:
        """Rows that are not on their side."""
        return int(np.count_nonzero(~(self.margins(a) > 0)))

    # Products: with a vector, with multipliers, with each other. Each is one pass over the rows.

    @property
    def rows(self) -> Storage:
        """The data, for compiled loops."""
        return self.home.storage

    @property
    def sparse(self) -> bool:
        return self.home.sparse

    @property
    def entries_per_row(self) -> float:
        """Average number of stored values in a row."""
        return self.home.stored / max(self.n, 1)

    @property
    def block_rows(self) -> int:
        """Rows summed before they enter a total: more where its columns outnumber the values of a block."""
        wide = self.sparse and self.d > passes.BLOCK * self.entries_per_row
        return LONG_SUM if wide and self.long_sums else passes.BLOCK

    def margins(self, a: Vector) -> Vector:
        """a.y_k, without the extension."""
        a, out, rho = np.ascontiguousarray(a, dtype=np.float64), np.empty(self.n), self.space.rho
        if self.home.threads == 1:
            passes.products()(self.rows, self.labels, rho, a, out)
        else:
            products = passes.products()
            self.home.each_block(
                lambda i, j: products(self.home.part(i, j).storage, self.labels[i:j], rho, a, out[i:j])
            )
        return out

    def margins_of(self, index: np.ndarray, a: Vector) -> Vector:
        """a.y_k of some rows."""
        out = np.empty(len(index))
        passes.products_of()(self.rows, self.labels, self.space.rho, index, np.ascontiguousarray(a), out)
        return out

    # Some rows, written out.

    def values(self, index: np.ndarray) -> Any:
        """Some rows of the data as they are."""
        return self.home.values(index)

    def in_float64(self) -> Storage:
        """The rows themselves; a copy where they are not yet of this type."""
        rows = self.rows
        return rows if rows.data.dtype == np.float64 else rows._replace(data=frozen(rows.data.astype(np.float64)))

    def sparse_rows(self, index: np.ndarray) -> sp.csr_matrix:
        """Some rows of CSR data as a float64 matrix, without label and bias."""
        return self.home.matrix(index)

    def dense_rows(self, index: np.ndarray) -> NDArray[np.float64]:
        return self._multiples_of(index, self.labels[index])

    def _multiples_of(self, index: np.ndarray, c: Vector) -> NDArray[np.float64]:
        """``c_k (x_k, rho)`` of some rows, written out."""
        out = np.empty((len(index), self.d + 1))
        passes.written_out()(self.rows, self.space.rho, np.ascontiguousarray(index, dtype=np.int64), c, out)
        return out

    def sparse_patterns(self, index: np.ndarray) -> sp.csr_matrix:
        """The patterns of some rows as a sparse matrix, (k, d + 1), with label and bias."""
        if not self.sparse:
            return sp.csr_matrix(self.dense_rows(index))
        signs = self.labels[index, None]
        return sp.hstack([self.sparse_rows(index).multiply(signs), self.space.rho * signs], format="csr")

    def narrow_rows(self, index: np.ndarray) -> tuple[NDArray[np.float64], np.ndarray]:
        if not self.sparse:
            return self.dense_rows(index), np.arange(self.d + 1)
        Y = self.sparse_patterns(index)
        occurring = np.unique(Y.indices)
        return Y[:, occurring].toarray(), occurring

    # Sums over some rows.

    def combine(self, index: np.ndarray, alpha: Vector) -> Vector:
        index, alpha = np.ascontiguousarray(index, dtype=np.int64), np.ascontiguousarray(alpha)
        kernel, rho = passes.combination(), self.space.rho
        if len(index) <= LONG_SUM:
            out = np.zeros(self.d + 1)
            kernel(self.rows, self.labels, rho, index, alpha, self.block_rows, out)
            return out

        def part(first: int) -> Vector:
            out = np.zeros(self.d + 1)
            rows = slice(first, first + LONG_SUM)
            kernel(self.rows, self.labels, rho, index[rows], alpha[rows], self.block_rows, out)
            return out

        return self.home.sum_of(part, len(index), LONG_SUM, np.zeros(self.d + 1))

    def inner_products(self, index: np.ndarray, bias: bool = True) -> NDArray[np.float64]:
        """y_i.y_j of some rows with each other; ``bias``: with that of the constant coordinate."""
        out = np.empty((len(index), len(index)))
        self.fill_inner_products(index, 0, len(index), out, bias)
        return out

    def fill_inner_products(
        self, index: np.ndarray, first: int, end: int, out: NDArray[np.float64], bias: bool = True
    ) -> None:
        """`inner_products` of ``index[first:end]`` with all rows of ``index[:end]``, in their places of ``out``."""
        index, rho = np.ascontiguousarray(index[:end], dtype=np.int64), self.space.rho if bias else 0.0
        if self.sparse:
            passes.sparse_gram()(self.rows, self.labels, rho, index, first, end, out)
            return
        Z, labels = self.home.dense(index), self.labels[index]
        part = Z[first:] @ Z.T
        part += rho**2
        part *= labels
        part *= labels[first:, None]
        out[first:end, :end], out[:first, first:end] = part, part[:, :first].T

    def curvature_product(self, index: np.ndarray, c: Vector, q: Vector) -> Vector:
        """``sum c_k y_k (y_k.q)`` over some rows, each read once."""
        out = np.zeros(self.d + 1)
        passes.curvature_product()(self.rows, self.space.rho, index, c, q, out)
        return out

    def outer_products(self, index: np.ndarray, c: Vector) -> NDArray[np.float64]:
        """``sum c_k y_k y_k^t`` over some rows, its lower triangle; c >= 0."""
        d, rho = self.d, self.space.rho
        if self.sparse:
            H = np.zeros((d + 1, d + 1))
            passes.outer_products()(self.rows, rho, index, c, H)
            return H
        root, step = np.sqrt(c), self.rows_in_cache

        def part(first: int) -> NDArray[np.float64]:
            Z = self._multiples_of(index[first : first + step], root[first : first + step])
            return Z.T @ Z

        return self.home.sum_of(part, len(index), step, np.zeros((d + 1, d + 1)))

    @property
    def rows_in_cache(self) -> int:
        """Rows that are worked on at a time, so that they are read once; matrices of columns cost less than they do."""
        width = self.d + 1
        return max(passes.BLOCK, IN_CACHE // width, 4 * width)


def squares_of(home: MemoryRows) -> Vector:
    """|x_k|^2, as a sum of squares: exact on integers, where ties at a threshold matter. Not finite where a value
    of the row is not."""
    out = np.empty(home.n)
    squares = passes.squares()
    with np.errstate(over="ignore", invalid="ignore"):
        if home.threads == 1:
            squares(home.storage, out)
        else:
            home.each_block(lambda i, j: squares(home.part(i, j).storage, out[i:j]))
    return frozen(out)
