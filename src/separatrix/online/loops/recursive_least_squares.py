"""The loop of recursive least squares (DHS eqs. 71-73), by Givens rotations.

Kept is the triangle U with U^t U = ridge I + sum c y y^t instead of its inverse, the R of the book: the same a after
every visit, but R loses twice the digits and all of them once R^2/ridge passes 1e16, as with features in the millions.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.data.access import axpy
from separatrix.online.loops.state import (
    EXHAUSTED,
    FRESH,
    NORM2,
    POSITION,
    RUNNING,
    UPDATES,
    end_visit,
    inlined,
    squared_length,
)


class Triangle(NamedTuple):
    matrix: np.ndarray  # (d + 1, d + 1): U, upper triangular
    target: np.ndarray  # d + 1: U a
    row: np.ndarray  # d + 1: the pattern that is rotated in


@inlined
def rotate(U, j, y):
    """Turn row j of U and the rest of y so that y[j] becomes 0; returns cosine and sine."""
    if y[j] == 0.0:
        return 1.0, 0.0
    length = math.hypot(U[j, j], y[j])
    c, s = U[j, j] / length, y[j] / length
    for k in range(j, y.shape[0]):
        U[j, k], y[k] = c * U[j, k] + s * y[k], c * y[k] - s * U[j, k]
    return c, s


@on_first_use
def least_squares_kernel(key: str) -> Any:
    def run(rule, patterns, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        X, labels = patterns.X, patterns.labels
        a, d = state.v, state.v.shape[0] - 1
        U, b, y = state.memory.matrix, state.memory.target, state.memory.row
        status = RUNNING
        while budget > 0 and status == RUNNING:
            i = order.sequence[state.counts[POSITION]]
            budget -= 1
            goal = math.sqrt(weight[i])
            y[:] = 0.0
            axpy(goal * labels[i], X, i, y)
            y[d] = goal * labels[i] * frame.rho
            for j in range(d + 1):
                c, s = rotate(U, j, y)
                b[j], goal = c * b[j] + s * goal, c * goal - s * b[j]
            state.counts[UPDATES] += 1
            state.counts[FRESH] += 1
            if state.counts[UPDATES] >= max_updates:
                status = EXHAUSTED
            status = end_visit(state.counts, order, status)
        for j in range(d, -1, -1):
            rest = b[j]
            for k in range(j + 1, d + 1):
                rest -= U[j, k] * a[k]
            a[j] = rest / U[j, j]
        state.real[NORM2] = squared_length(a)
        return status

    return compiled(run, at_once=True)
