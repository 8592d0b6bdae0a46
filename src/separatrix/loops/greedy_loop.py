"""The loop of the greedy Perceptron (GREEDY alg. 2): one pass over the data per update.

With z = Y y_k the losses after the update are counts of m + eta z <= 0, so a pass serves all rates. The margins m = Y a
are kept and updated.
"""

from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.loops.state import EXHAUSTED, NORM2, POSITION, RUNNING, UPDATES, add_multiple, end_visit
from separatrix.rows.access import axpy, dot


class Margins(NamedTuple):
    m: np.ndarray  # n, the margins of the current vector
    z: np.ndarray  # n, the products of all patterns with the one that is corrected
    row: np.ndarray  # d, that pattern, unfolded


@on_first_use
def greedy_kernel(key: str) -> Any:
    def run(rule, patterns, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        X, labels = patterns.X, patterns.labels
        v, d, n = state.v, state.v.shape[0] - 1, labels.shape[0]
        m, z, row = state.memory.m, state.memory.z, state.memory.row
        status = RUNNING
        while budget > 0 and status == RUNNING:
            i = order.sequence[state.counts[POSITION]]
            budget -= 1
            if m[i] <= 0.0:
                axpy(1.0, X, i, row)
                for k in range(n):
                    z[k] = labels[k] * labels[i] * (dot(X, k, row) + frame.rho * frame.rho)
                row[:] = 0.0
                z[i] += frame.delta2
                best, g = np.inf, 0.0
                for eta in rule.etas:
                    loss = 0.0
                    for k in range(n):
                        if m[k] + eta * weight[i] * z[k] <= 0.0:
                            loss += weight[k]
                    if loss < best:
                        best, g = loss, eta * weight[i]
                state.real[NORM2] += 2.0 * g * m[i] + g * g * norm2[i]
                for k in range(n):
                    m[k] += g * z[k]
                axpy(g * labels[i], X, i, v)
                v[d] += g * labels[i] * frame.rho
                add_multiple(state, i, g)
                if state.counts[UPDATES] >= max_updates:
                    status = EXHAUSTED
            status = end_visit(state.counts, order, status)
        return status

    return compiled(run)
