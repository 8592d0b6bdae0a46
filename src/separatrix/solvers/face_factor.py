"""Cholesky factor of the Gram matrix of the rows of a face, kept from face to face.

    A = Y_F Y_F^t + diagonal + ridge |y|^2 = L L^t

Row i of L depends on the rows before it alone. So rows that may leave come last, a face keeps what stands before the
first row that left, and the columns that its other rows have there; rows that enter are appended. The ridge makes a
factor of dependent rows, duplicates for example; what it changes is small beside rounding errors of their products.
Work is done in blocks, so that nobody waits for more than one of them.
"""

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.solvers.problem import Problem
from separatrix.space import Vector

BLOCK = 128  # columns of the factor that are computed at a time
ROOM = 1.3  # times what is needed: matrices are rarely moved
SPARSE_WORK, DENSE_WORK = 1e8, 1e9  # multiplications of inner products between two looks at the limits

Matrix = NDArray[np.float64]


class FaceFactor:
    """``rows``: those of the face, in the order of the factor."""

    def __init__(self, problem: Problem, largest: int):
        self.problem, self.largest = problem, largest
        self.diagonal = problem.diagonal
        self.norm2 = problem.patterns.squares + problem.patterns.space.rho**2
        self.known: np.ndarray = np.zeros(0, np.int64)  # rows whose inner products are in `gram`
        self.place: np.ndarray = np.full(problem.patterns.n, -1)  # of a row among them
        self.gram: Matrix = np.zeros((0, 0))
        self.L: Matrix = np.zeros((0, 0))
        self._forget()

    def _forget(self) -> None:
        self.rows: np.ndarray = np.zeros(0, np.int64)
        self.inverses: list[Matrix] = []  # of the blocks on the diagonal of L
        self.ridge = -1.0

    def has_diagonal(self, diagonal: Vector) -> None:
        """Take another diagonal; inner products stay."""
        if not np.array_equal(diagonal, self.diagonal):
            self.diagonal = diagonal
            self._forget()

    def of(self, face: np.ndarray, weight: Vector, ridge: float) -> bool:
        """Factor the matrix of these rows, the least ``weight`` last; False if it is singular or time is up."""
        on_face: NDArray[np.bool_] = np.zeros(self.problem.patterns.n, dtype=bool)
        on_face[face] = True
        stays = on_face[self.rows]
        kept = 0 if ridge != self.ridge else int(np.argmin(np.append(stays, False))) // BLOCK * BLOCK
        tail = kept + np.flatnonzero(stays[kept:])
        tail = tail[np.argsort(-weight[self.rows[tail]], kind="stable")]
        on_face[self.rows[stays]] = False
        fresh = np.flatnonzero(on_face)
        fresh = fresh[np.argsort(-weight[fresh], kind="stable")]
        order = np.concatenate([self.rows[:kept], self.rows[tail], fresh])
        old, inverses = self.L, self.inverses[: kept // BLOCK]
        self._forget()
        if not self._bring(order):
            return False
        if len(order) > len(old):
            self.L = np.empty((self._room(len(order)),) * 2)
            self.L[:kept, :kept] = old[:kept, :kept]
        self.L[kept : kept + len(tail), :kept] = old[tail, :kept]
        self.inverses = inverses
        if not self._eliminate(order, kept, kept + len(tail), ridge):
            self._forget()
            return False
        self.rows, self.ridge = order, ridge
        return True

    def _eliminate(self, order: np.ndarray, kept: int, old: int, ridge: float) -> bool:
        """Compute the columns of L from number ``kept`` on, and those before of the rows from number ``old`` on."""
        L, n = self.L, len(order)
        for j in range(0, n, BLOCK):
            end, first = min(j + BLOCK, n), j if j >= kept else old
            if first == n:
                continue
            part = self.gram[np.ix_(self.place[order[first:]], self.place[order[j:end]])]
            part -= L[first:n, :j] @ L[j:end, :j].T
            if j >= kept:
                rows = order[j:end]
                part[np.diag_indices(end - j)] += self.diagonal[rows] + ridge * self.norm2[rows]
                try:
                    L[j:end, j:end] = np.linalg.cholesky(part[: end - j])
                except np.linalg.LinAlgError:
                    return False
                self.inverses.append(la.solve_triangular(L[j:end, j:end], np.eye(end - j), lower=True))
                part, first = part[end - j :], end
            L[first:n, j:end] = part @ self.inverses[j // BLOCK].T
            if self.problem.interrupted():
                return False
        return True

    def solve(self, right: Vector) -> Vector:
        """A x = right, both in the order of ``rows``."""
        x, L, n = right.copy(), self.L, len(self.rows)
        for j in range(0, n, BLOCK):
            part = slice(j, j + BLOCK)
            x[part] = self.inverses[j // BLOCK] @ (x[part] - L[j : min(j + BLOCK, n), :j] @ x[:j])
        for j in reversed(range(0, n, BLOCK)):
            part, end = slice(j, j + BLOCK), min(j + BLOCK, n)
            x[part] = self.inverses[j // BLOCK].T @ (x[part] - L[end:n, j:end].T @ x[end:])
        return x

    def _room(self, size: int) -> int:
        return max(min(int(ROOM * size) + 1, self.largest), size)

    def _bring(self, rows: np.ndarray) -> bool:
        """Compute the inner products of these rows that are not known yet; False if time is up."""
        if len(rows) + len(self.known) - np.count_nonzero(self.place[rows] >= 0) > self.largest:
            self.place[self.known] = -1
            self.known = np.zeros(0, np.int64)
        fresh, patterns = rows[self.place[rows] < 0], self.problem.patterns
        first, n = len(self.known), len(self.known) + len(fresh)
        if n > len(self.gram):
            gram = np.empty((self._room(n),) * 2)
            gram[:first, :first], self.gram = self.gram[:first, :first], gram
        self.known = np.append(self.known, fresh)
        self.problem.passes += len(fresh) / max(patterns.n, 1)
        step = max(1, int((SPARSE_WORK if patterns.sparse else DENSE_WORK) / (n * (1.0 + patterns.entries_per_row))))
        for begin in range(first, n, step):
            end = min(begin + step, n)
            patterns.fill_inner_products(self.known, begin, end, self.gram)
            self.place[self.known[begin:end]] = np.arange(begin, end)
            if self.problem.interrupted():
                self.known = self.known[:end]
                return False
        return True
