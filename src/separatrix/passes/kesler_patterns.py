"""Kesler's construction: a linear machine of c categories is one vector that separates c - 1 patterns per row.

Row k of category i and its rival j give the pattern eta_kj with y_k = (x_k, rho) in block i and -y_k in block j (DHS
5.12.1). The vector holds the machine's c vectors one after the other; its margin (a_i - a_j).y_k / |a| and the bound
|sum alpha_kj eta_kj| / sum alpha_kj are those of two categories, so the same certificate speaks of it. Nothing is
written out: patterns are numbered k (c - 1) + r, r counting the rivals in the order of their categories.
"""

from collections.abc import Callable
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.data.base import RowSource
from separatrix.data.memory import MemoryRows
from separatrix.passes.compiled import all_scores, class_combination
from separatrix.passes.patterns import EPS, PassedPatterns, machine_error
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space, Vector, symmetric


class KeslerPatterns(Patterns):
    """The patterns of a linear machine; ``codes`` are the numbers of the rows' categories."""

    def __init__(self, X: Any, codes: np.ndarray, n_classes: int, space: Space, weight: Vector | None = None):
        if space.free:
            raise ValueError('multi_class="joint" has no unpenalized intercept: use fit_intercept=True or False.')
        self.codes = np.ascontiguousarray(codes, dtype=np.int64)
        self.n_classes = n_classes
        rivals = n_classes - 1
        super().__init__(X, np.ones(len(codes)), space)
        self.one = Patterns(self.home, self.labels, space._replace(delta=0.0))  # the rows as they are
        self.labels = np.broadcast_to(np.float64(1.0), len(codes) * rivals)
        self.row_weight = weight
        self.weight = None if weight is None else np.repeat(weight, rivals)

    def in_space(self, space: Space) -> "KeslerPatterns":
        other = KeslerPatterns(self.home, self.codes, self.n_classes, space, self.row_weight)
        self.one._sharing(other.one)
        return other

    def through(self, wrap: Callable[[RowSource], RowSource]) -> PassedPatterns:
        home = MemoryRows(self.rows, self.codes, self.row_weight, classes=np.arange(self.n_classes))
        return PassedPatterns(wrap(home), None, self.space)

    def sample(self, rows: np.ndarray) -> "KeslerPatterns":
        weight = None if self.row_weight is None else self.row_weight[rows]
        return KeslerPatterns(self.home.take(rows), self.codes[rows], self.n_classes, self.space, weight)

    def of_block(self, block: MemoryRows) -> "KeslerPatterns":
        rows = slice(block.first - self.home.first, block.first - self.home.first + block.n)
        weight = None if self.row_weight is None else self.row_weight[rows]
        return KeslerPatterns(block, self.codes[rows], self.n_classes, self.space, weight)

    @property
    def features(self) -> int:
        return self.one.d

    @property
    def d(self) -> int:
        """One less than the length of a vector, as for a hyperplane."""
        return self.n_classes * (self.features + 1) - 1

    @property
    def entries_per_row(self) -> float:
        return self.one.entries_per_row * self.n_classes

    @property
    def longest_row(self) -> int:
        return 2 * (self.home.longest + 1)

    @cached_property
    def row_norms2(self) -> Vector:
        """|eta_kj|^2 of each row, the same for all its rivals."""
        delta2 = self.space.delta**2
        if self.row_weight is not None and self.space.weighted:
            with np.errstate(over="ignore"):  # of a tiny weight, and inf is refused
                return 2.0 * self.one.norms2 + delta2 / self.row_weight
        return 2.0 * self.one.norms2 + delta2

    @cached_property
    def squares(self) -> Vector:
        return np.repeat(2.0 * self.one.squares, self.n_classes - 1)

    @cached_property
    def norms2(self) -> Vector:
        return np.repeat(self.row_norms2, self.n_classes - 1)

    @property
    def per_row(self) -> int:
        return self.n_classes - 1

    # hinge loss: one for each row, that of its strongest rival (Crammer & Singer 2001). The multipliers of a row's
    # rivals together are at most C c_k.

    @cached_property
    def row_caps(self) -> Vector:
        prices = np.ones(len(self.codes)) if self.row_weight is None else self.row_weight
        return self.space.hinge * prices * (1.0 - 8.0 * self.n_classes * EPS)  # sums of so many are rounded

    def paid_slack(self, slacks: Vector) -> float:
        largest = slacks.reshape(len(self.codes), self.n_classes - 1).max(axis=1)
        return float(largest.sum() if self.row_weight is None else self.row_weight @ largest)

    def _in_rows(self, index: np.ndarray, alpha: Vector) -> Vector:
        """The sum of the multipliers of each row."""
        sums = np.bincount(index // (self.n_classes - 1), alpha, len(self.codes))
        return np.asarray(sums, dtype=np.float64)  # an empty list counts in whole numbers

    def room(self, index: np.ndarray, alpha: Vector) -> float:
        sums = self._in_rows(index, alpha)
        return float(np.min(self.row_caps[sums > 0] / sums[sums > 0], initial=np.inf))

    def capped(self, index: np.ndarray, alpha: Vector) -> Vector:
        sums = self._in_rows(index, alpha)
        share = np.minimum(1.0, self.row_caps / np.where(sums > 0, sums, 1.0))
        return alpha * np.where(sums > self.row_caps, share, 1.0)[index // (self.n_classes - 1)]

    def keeps_caps(self, index: np.ndarray, alpha: Vector) -> bool:
        exact = self.row_caps * (1.0 + 0.5 * self.n_classes * EPS)  # still below C c_k, with the rounding of the sums
        return bool(np.all(self._in_rows(index, alpha) <= exact))

    def rivals_of(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Row and rival of each pattern."""
        k, r = np.divmod(index, self.n_classes - 1)
        return k, r + (r >= self.codes[k])

    def machine(self, a: Vector) -> NDArray[np.float64]:
        """The vectors of the categories, (c, d + 1)."""
        return np.ascontiguousarray(a, dtype=np.float64).reshape(self.n_classes, self.features + 1)

    def scores(self, a: Vector) -> NDArray[np.float64]:
        """a_j.y_k of all rows and categories."""
        out, V, rho = np.empty((len(self.codes), self.n_classes)), self.machine(a), self.space.rho
        scores = all_scores()
        self.home.each_block(lambda i, j: scores(self.home.part(i, j).storage, rho, V, out[i:j]))
        return out

    def _against_rivals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """What stands at the rivals of each row, (n, c - 1)."""
        others = np.arange(self.n_classes) != self.codes[:, None]
        return table[others].reshape(len(self.codes), self.n_classes - 1)

    def margins(self, a: Vector) -> Vector:
        table = self.scores(a)
        table -= table[np.arange(len(self.codes)), self.codes][:, None]
        return -self._against_rivals(table).ravel()

    def margins_of(self, index: np.ndarray, a: Vector) -> Vector:
        return self.margins(a)[index]

    def margin_error(self, a: Vector) -> float:
        """The errors of two scores, and a quarter of that for their difference."""
        return 2.5 * max(self.one.margin_error(v) for v in self.machine(a))

    def errors(self, a: Vector) -> int:
        right = self.margins(a).reshape(len(self.codes), -1) > 0
        return int(np.count_nonzero(~right.all(axis=1)))

    def distance(self, a: Vector, margins: Vector | None = None) -> float:
        """The smallest (g_i - g_j) / |w_i - w_j| over rows and rivals: the distance from the boundary between them."""
        w = self.machine(a)[:, :-1]
        table = (self.margins(a) if margins is None else margins).reshape(len(self.codes), self.n_classes - 1)
        nearest = []
        for i in np.unique(self.codes).tolist():
            with np.errstate(divide="ignore", invalid="ignore"):
                nearest.append(np.min(table[self.codes == i].min(axis=0) / _lengths_to_rivals(w, i)))
        return float(np.min(nearest))

    def values(self, index: np.ndarray) -> Any:
        return self.one.values(index // (self.n_classes - 1))

    def dense_rows(self, index: np.ndarray) -> NDArray[np.float64]:
        k, j = self.rivals_of(index)
        y, here = self.one.dense_rows(k), np.arange(len(index))
        out = np.zeros((len(index), self.n_classes, self.features + 1))
        out[here, self.codes[k]] = y
        out[here, j] = -y
        return out.reshape(len(index), -1)

    def sparse_patterns(self, index: np.ndarray) -> sp.csr_matrix:
        k, j = self.rivals_of(index)
        rows = self.one.sparse_patterns(k).tocoo()
        here, block = np.tile(rows.row, 2), np.concatenate([self.codes[k][rows.row], j[rows.row]])
        column = block * (self.features + 1) + np.tile(rows.col, 2)
        return sp.csr_matrix((np.append(rows.data, -rows.data), (here, column)), shape=(len(index), self.d + 1))

    def _table(self, index: np.ndarray, alpha: Vector) -> tuple[np.ndarray, NDArray[np.float64]]:
        """Rows, and their multiples in each of the machine's vectors."""
        k, j = self.rivals_of(np.asarray(index, dtype=np.int64))
        rows, place = np.unique(k, return_inverse=True)
        B = np.zeros((len(rows), self.n_classes))
        np.add.at(B, (place, self.codes[k]), alpha)
        np.subtract.at(B, (place, j), alpha)
        return rows, B

    def multiples(self, index: np.ndarray, alpha: Vector) -> tuple[np.ndarray, NDArray[np.float64]]:
        """Rows that support a combination of some patterns, and their multiples in the vectors, (k, c)."""
        return self._table(index[alpha > 0], alpha[alpha > 0])

    def combine(self, index: np.ndarray, alpha: Vector) -> Vector:
        rows, B = self._table(index, alpha)
        out = np.zeros((self.n_classes, self.features + 1))
        class_combination()(self.rows, self.space.rho, rows, B, out)
        return out.ravel()

    def fill_inner_products(
        self, index: np.ndarray, first: int, end: int, out: NDArray[np.float64], bias: bool = True
    ) -> None:
        Y = self.sparse_patterns(index[:end])
        part = (Y[first:] @ Y.T).toarray()
        out[first:end, :end], out[:first, first:end] = part, part[:, :first].T

    def curvature_product(self, index: np.ndarray, c: Vector, q: Vector) -> Vector:
        return self.combine(index, c * self.margins_of(index, q))

    def outer_products(self, index: np.ndarray, c: Vector) -> NDArray[np.float64]:
        """sum c eta eta^t: S = sum c y y^t over the patterns between two categories enters four blocks."""
        n_classes, width = self.n_classes, self.features + 1
        rows, rivals = self.rivals_of(index)
        own = self.codes[rows]
        first, second = np.minimum(own, rivals), np.maximum(own, rivals)
        H = np.zeros((n_classes, width, n_classes, width))
        for i, j in combinations(range(n_classes), 2):
            between = np.flatnonzero((first == i) & (second == j))
            if len(between):
                S = symmetric(self.one.outer_products(rows[between], c[between]))
                H[i, :, i] += S
                H[j, :, j] += S
                H[i, :, j] = H[j, :, i] = -S
        return H.reshape(n_classes * width, n_classes * width)

    def combination_error(self, alpha: Vector) -> float:
        return machine_error(self, alpha)


def _lengths_to_rivals(w: NDArray[np.float64], i: int) -> Vector:
    """|w_i - w_j| for all j but i; one category at a time, since all pairs at once take c^2 d values."""
    return np.delete(np.linalg.norm(w - w[i], axis=1), i)


def distances_from_borders(scores: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smallest (g_i - g_j) / |w_i - w_j| over the rivals j of each category i, (n, c), from the scores g."""
    out = np.empty_like(scores)
    for i in range(len(w)):
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps = (scores[:, [i]] - np.delete(scores, i, axis=1)) / _lengths_to_rivals(w, i)
        out[:, i] = gaps.min(axis=1)
    return out
