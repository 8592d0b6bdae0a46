"""The loop of the p-norm Perceptron: additive in theta, and w = sign(theta) (|theta| / max |theta|)^(p - 1) decides.

The factor that would make w the gradient of |theta|_p^2 / 2 is positive and left out; with this one nothing overflows.
"""

from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.loops.state import EXHAUSTED, NORM2, POSITION, RUNNING, UPDATES, add_multiple, end_visit
from separatrix.rows.access import axpy, dot


class Powers(NamedTuple):
    w: np.ndarray  # d + 1


@on_first_use
def p_norm_kernel(key: str) -> Any:
    def run(rule, patterns, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        X, labels = patterns.X, patterns.labels
        theta, w, d = state.v, state.memory.w, state.v.shape[0] - 1
        status = RUNNING
        while budget > 0 and status == RUNNING:
            i = order.sequence[state.counts[POSITION]]
            budget -= 1
            if labels[i] * (dot(X, i, w) + frame.rho * w[d]) <= 0.0:
                g = weight[i]
                m = labels[i] * (dot(X, i, theta) + frame.rho * theta[d])
                state.real[NORM2] = max(state.real[NORM2] + 2.0 * g * m + g * g * norm2[i], 0.0)
                axpy(g * labels[i], X, i, theta)
                theta[d] += g * labels[i] * frame.rho
                add_multiple(state, i, g)
                top = np.max(np.abs(theta))
                for j in range(d + 1):
                    size = (abs(theta[j]) / top) ** (rule.p - 1.0) if top > 0.0 else 0.0
                    w[j] = size if theta[j] >= 0.0 else -size
                if state.counts[UPDATES] >= max_updates:
                    status = EXHAUSTED
            status = end_visit(state.counts, order, status)
        return status

    return compiled(run)
