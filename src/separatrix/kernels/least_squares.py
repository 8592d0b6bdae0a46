"""The loop of recursive least squares (DHS eqs. 71-73): a rank-one change of R = (ridge I + sum c y y^t)^-1 a visit."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from separatrix.kernels.cache import compiled, shared_digest
from separatrix.kernels.epochs import EXHAUSTED, FRESH, NORM2, POSITION, RUNNING, UPDATES, end_visit
from separatrix.kernels.rows import dot


class Inverse(NamedTuple):
    matrix: np.ndarray  # (d + 1, d + 1): R
    product: np.ndarray  # d + 1: R y


@cache
def least_squares_kernel(rule_class: type) -> Any:
    return _make(shared_digest())


def _make(key: str) -> Any:
    def run(rule, X, labels, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        a, d = state.v, state.v.shape[0] - 1
        R, Ry = state.memory.matrix, state.memory.product
        status = RUNNING
        while budget > 0 and status == RUNNING:
            i = order.sequence[state.counts[POSITION]]
            budget -= 1
            residual = 1.0 - labels[i] * (dot(X, i, a) + frame.rho * a[d])
            for j in range(d + 1):
                Ry[j] = labels[i] * (dot(X, i, R[j]) + frame.rho * R[j, d])
            yRy = labels[i] * (dot(X, i, Ry) + frame.rho * Ry[d])
            step = weight[i] / (1.0 + weight[i] * yRy)
            for j in range(d + 1):
                a[j] += step * residual * Ry[j]
                for k in range(d + 1):
                    R[j, k] -= step * Ry[j] * Ry[k]
            state.counts[UPDATES] += 1
            state.counts[FRESH] += 1
            if state.counts[UPDATES] >= max_updates:
                status = EXHAUSTED
            end_visit(state.counts, order)
        state.real[NORM2] = np.sum(a * a)
        return status

    return compiled(run)
