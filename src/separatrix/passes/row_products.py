"""Products of the patterns of hyperplanes whose rows are in this process: with a vector, with multipliers, with each
other. Each is one pass over the rows."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.data.access import Storage
from separatrix.data.memory import MemoryRows, frozen
from separatrix.passes import compiled as passes
from separatrix.passes.gram_pass import gram_pass
from separatrix.passes.patterns import PatternSet
from separatrix.space import Vector

IN_CACHE = 1 << 17  # values that stay in a processor's cache while they are used twice
LONG_SUM = 128 * passes.BLOCK  # multipliers of a combination that are summed by one thread


class RowProducts(PatternSet):
    """Patterns ``y_k = l_k (x_k, rho)`` of the rows x_k of ``home``, with labels l_k = -1.0 or +1.0."""

    home: MemoryRows
    labels: Vector
    long_sums = True  # sums of wide sparse rows may do without blocks

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
            gram_pass()(self.rows, self.labels, rho, index, first, end, out)
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
        root, step = np.sqrt(c), self._rows_in_cache()

        def part(first: int) -> NDArray[np.float64]:
            Z = self._multiples_of(index[first : first + step], root[first : first + step])
            return Z.T @ Z

        return self.home.sum_of(part, len(index), step, np.zeros((d + 1, d + 1)))

    def _rows_in_cache(self) -> int:
        """Rows that are worked on at a time, so that they are read once; matrices of columns cost less than they do."""
        width = self.d + 1
        return max(passes.BLOCK, IN_CACHE // width, 4 * width)
