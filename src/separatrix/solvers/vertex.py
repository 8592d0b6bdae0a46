"""Few rows whose positive combination is that of many (Carathéodory's theorem).

    sum w_k (y_k, 1) = sum u_k (y_k, 1),   w >= 0,   w_k > 0 only on affinely independent rows

Rows outside a basis are taken away one by one. Each is a combination of the basis, which takes over its weight; if a
weight of the basis is used up first, the row takes the place of that one.
"""

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.space import Vector

DEPENDENT = 1e-12  # of the largest pivot: what is left of a row that others combine to


def affine_vertex(V: NDArray[np.float64], u: Vector) -> tuple[np.ndarray, Vector]:
    """Return rows of V and their weights; ``u``: the weights of all rows, > 0."""
    rows, weights, step = np.zeros(0, np.int64), np.zeros(0), 4 * (V.shape[1] + 1)
    size = float(np.abs(V).max(initial=0.0)) or 1.0
    for first in range(0, len(V), step):
        rows = np.append(rows, np.arange(first, min(first + step, len(V))))
        weights = np.append(weights, u[first : first + step])
        kept, weights = _basic(np.vstack([V[rows].T / size, np.ones(len(rows))]), weights)
        rows = rows[kept]
    return rows, weights


def _basic(A: NDArray[np.float64], u: Vector) -> tuple[np.ndarray, Vector]:
    """Independent columns of A and their weights, with the same combination."""
    R, order = la.qr(A, mode="r", pivoting=True, check_finite=False)
    pivots = np.abs(np.diag(R))
    rank = int(np.count_nonzero(pivots > DEPENDENT * pivots[0]))
    table = la.solve_triangular(R[:rank, :rank], R[:rank, rank:], check_finite=False)
    basis, weights = order[:rank].copy(), u[order[:rank]]
    for j, row in enumerate(order[rank:]):
        column, weight = table[:, j].copy(), u[row]
        lasts = np.full(rank, np.inf)
        np.divide(weights, -column, out=lasts, where=column < 0.0)
        leaving = int(np.argmin(lasts))
        weights = np.maximum(weights + min(weight, lasts[leaving]) * column, 0.0)
        if lasts[leaving] < weight:
            basis[leaving], weights[leaving] = row, weight - lasts[leaving]
            share = table[leaving, j + 1 :] / column[leaving]
            table[:, j + 1 :] -= np.outer(column, share)
            table[leaving, j + 1 :] = share
    kept = weights > 0.0
    return basis[kept], weights[kept]
