"""Least squares of many rows by the normal equations Y^t c Y A = Y^t c B: half the work of a QR factorisation.

They square the condition of Y, so they are used only where an estimate of it allows: then steps of refinement, whose
residuals are those of the rows and not of the equations, win back the digits that the square has cost (Bjorck 1987).
Columns that depend on others, such as the last of a group of one-hot columns beside an intercept, are found by pivots:
the others are solved for, and the shortest solution is that without its part in the null space of Y.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.cancellation import run_in_thread
from separatrix.passes.patterns import EPS
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.factor import chunks, width_of
from separatrix.space import Vector, norm, symmetric

LEAST_VALUES, ROWS_PER_COLUMN = 20_000, 4  # values of Y, and rows per column, from which it pays
MOST_COLUMNS = 2000
WELL_CONDITIONED = 1e-9  # reciprocal of the condition of Y^t c Y, its columns scaled to length 1
STEPS = 4  # of refinement
LAST_CORRECTION = 1e-8  # relative: steps shrink by a factor of their own, so its square is left
Matrix = NDArray[np.float64]


class _Factor(NamedTuple):
    """The Cholesky factor of the scaled matrix of independent columns, their numbers and scales, and an orthonormal
    basis of the null space of Y."""

    lower: Matrix
    columns: np.ndarray
    scale: Vector
    null: Matrix


def solve_normal_equations(patterns: Patterns, weight: Vector, targets: Matrix) -> tuple[Matrix, Vector] | None:
    """Return the shortest minimiser for each column of ``targets`` and the squared error that it leaves; None where the
    equations are not good enough. A column of zeros gets a coefficient of 0."""
    factor = _factor(patterns, weight)
    if factor is None:
        return None
    lower, columns, scale, null = factor
    A = np.zeros((targets.shape[1], patterns.d + 1))
    for _ in range(STEPS):
        right, values = _gradient(patterns, weight, targets, A)
        scaled = scale[:, None] * right[:, columns].T
        change = la.cho_solve((lower, True), scaled, check_finite=False)
        values = np.maximum(values - np.sum(change * scaled, axis=0), 0.0)  # |r - Y s|^2 = |r|^2 - s.Y^t r
        A[:, columns] += (scale[:, None] * change).T
        largest = np.maximum(np.abs(A[:, columns] / scale).max(axis=1), 1e-300)
        if np.all(np.abs(change).max(axis=0) <= LAST_CORRECTION * largest):
            A[:, : len(null)] -= (A[:, : len(null)] @ null) @ null.T
            return A, values
    return None


def _factor(patterns: Patterns, weight: Vector) -> _Factor | None:
    """Factorise; None where the condition forbids it."""
    n, width = patterns.n, width_of(patterns)
    if n * width < LEAST_VALUES or n < ROWS_PER_COLUMN * width or width > MOST_COLUMNS:
        return None
    cost = n * float(width) ** 2
    matrix = run_in_thread(lambda: patterns.outer_products(np.arange(n), weight), cost)
    diagonal = np.diag(matrix)[:width]
    kept = np.flatnonzero(diagonal)
    if not np.all((diagonal[kept] > 0) & np.isfinite(diagonal[kept])):
        return None
    scale = diagonal[kept] ** -0.5
    scaled = symmetric(matrix)[np.ix_(kept, kept)] * np.multiply.outer(scale, scale)
    size = float(np.abs(scaled).sum(axis=0).max())
    # what is left of a column that depends on others is rounding errors of sums of n products
    factor, pivots, rank, _ = run_in_thread(lambda: la.lapack.dpstrf(scaled, n * EPS, lower=1), cost)
    lower, order = np.tril(factor[:rank, :rank]), pivots - 1
    reciprocal, _ = la.lapack.dpocon(lower, size, uplo="L")
    if not reciprocal > WELL_CONDITIONED:
        return None
    null = np.zeros((width, len(kept) - rank))
    if null.size:  # S (x, z) = 0, L_11^t x = -L_21^t z
        null[kept[order[:rank]]] = -la.solve_triangular(lower, factor[rank:, :rank].T, lower=True, trans="T")
        null[kept[order[rank:]]] = np.eye(null.shape[1])
        null[kept] *= scale[:, None]
        null = la.qr(null, mode="economic")[0]
        # LAPACK's least squares count such a singular value as 0
        if not _vanishes(patterns, weight, null, EPS * n * float(np.sqrt(diagonal.max()))):
            return None
    first = order[:rank]
    return _Factor(lower, kept[first], scale[first], null)


def _vanishes(patterns: Patterns, weight: Vector, null: Matrix, cut: float) -> bool:
    """Is |sqrt(c) Y q| <= ``cut`` for every column q?"""
    vectors = np.zeros((patterns.d + 1, null.shape[1]))
    vectors[: len(null)] = null
    return all(norm(np.sqrt(weight) * patterns.margins(q)) <= cut for q in vectors.T)


def _gradient(patterns: Patterns, weight: Vector, targets: Matrix, A: Matrix) -> tuple[Matrix, Vector]:
    """Y^t c R and sum c R^2 of the residuals R = B - Y A, a row and a number for each target; one pass."""
    right, values = np.zeros(A.shape), np.zeros(len(A))
    if patterns.sparse:
        everything = np.arange(patterns.n)
        for j, a in enumerate(A):
            residual = targets[:, j] - patterns.margins(a) if a.any() else targets[:, j]
            right[j] = patterns.combine(everything, weight * residual)
            values[j] = weight @ residual**2
        return right, values
    for rows in chunks(patterns.n, patterns.d + 1):
        Y = patterns.dense_rows(rows)
        residual = targets[rows] - Y @ A.T
        weighted = weight[rows, None] * residual
        right += weighted.T @ Y
        values += np.sum(weighted * residual, axis=0)
    return right, values
