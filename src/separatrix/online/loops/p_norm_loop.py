"""The loop of p-norm rules: additive in theta, and w = grad |theta|_p^2/2 decides.

    visit y;   m = w.y,   w_j = sign(theta_j) |theta_j|^(p - 1) / |theta|_p^(p - 2)
    if the rule is violated:   theta <- shrink (theta + gain y)

In a rule's formulas ``s.norm2`` is |theta|_p^2 = |w|_q^2, 1/p + 1/q = 1; ``rule.p`` is p.
"""

from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import one_per_rule
from separatrix.data.access import axpy, dot
from separatrix.online.loops.averaging import NO_MEAN, Mean, sum_up
from separatrix.online.loops.state import (
    EXHAUSTED,
    NORM2,
    POSITION,
    RUNNING,
    TOTAL,
    UPDATES,
    VISITS,
    add_multiple,
    end_visit,
    inlined,
    rescale,
)
from separatrix.rules.base import Scalars, shrink, violates, weighted_gain


class Powers(NamedTuple):
    w: np.ndarray  # d + 1
    mean: Mean = NO_MEAN


@inlined
def set_gradient(theta, p, w):
    """w of theta; returns |theta|_p. Powers are of |theta_j|/max |theta|, which never overflow."""
    top, total = 0.0, 0.0
    for j in range(theta.shape[0]):
        top = max(top, abs(theta[j]))
    if top == 0.0:
        for j in range(theta.shape[0]):
            w[j] = 0.0
        return 0.0
    for j in range(theta.shape[0]):
        size = (abs(theta[j]) / top) ** (p - 1.0)
        total += size * abs(theta[j]) / top
        w[j] = size if theta[j] >= 0.0 else -size
    rescale(w, top * total ** (2.0 / p - 1.0))
    return top * total ** (1.0 / p)


@one_per_rule
def p_norm_kernel(key: str) -> Any:
    def run(rule, patterns, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        X, labels, real, count = patterns.X, patterns.labels, state.real, state.counts
        theta, w, d = state.v, state.memory.w, state.v.shape[0] - 1
        size, status = set_gradient(theta, rule.p, w), RUNNING
        while budget > 0 and status == RUNNING:
            i = order.sequence[count[POSITION]]
            budget -= 1
            m = labels[i] * (dot(X, i, w) + frame.rho * w[d])
            t, visit = count[UPDATES] + 1.0, count[VISITS] + 1.0
            s = Scalars(t, visit, size * size, 0.0, real[TOTAL], norm2[i], frame.radius2, weight[i])
            if violates(rule, m, s):
                sum_up(state.memory.mean, count[VISITS], w)
                g = weighted_gain(rule, m, s)
                inner = labels[i] * (dot(X, i, theta) + frame.rho * theta[d])
                real[NORM2] = max(real[NORM2] + 2.0 * g * inner + g * g * norm2[i], 0.0)
                axpy(g * labels[i], X, i, theta)
                theta[d] += g * labels[i] * frame.rho
                add_multiple(state, i, g)
                size = set_gradient(theta, rule.p, w)
                after = Scalars(t + 1.0, visit, size * size, 0.0, real[TOTAL], norm2[i], frame.radius2, weight[i])
                factor = shrink(rule, after)
                if factor != 1.0:
                    rescale(theta, factor)
                    rescale(state.alpha, factor)
                    size = set_gradient(theta, rule.p, w)
                    real[TOTAL] *= factor
                    real[NORM2] *= factor * factor
                if count[UPDATES] >= max_updates:
                    status = EXHAUSTED
            status = end_visit(count, order, status)
        return status

    return run
