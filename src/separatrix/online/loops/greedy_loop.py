"""The loops of the greedy Perceptron (GREEDY alg. 2): one pass over the data per update.

With z = Y y_k the losses after the update are counts of m + eta z <= 0, so a pass serves all rates. The margins m = Y a
are kept and updated. With a kernel z is a row of the Gram matrix, and where that is not at hand the loop asks for it.
"""

from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.data.access import axpy, dot
from separatrix.online.loops.additive import LACKING
from separatrix.online.loops.averaging import BEGUN, COUNTED, NO_MEAN, Mean, sum_up
from separatrix.online.loops.state import (
    EXHAUSTED,
    NORM2,
    POSITION,
    RUNNING,
    UPDATES,
    VISITS,
    add_multiple,
    copy,
    end_visit,
    inlined,
)


class Margins(NamedTuple):
    m: np.ndarray  # n, the margins of the current vector
    z: np.ndarray  # n, the products of all patterns with the one that is corrected
    row: np.ndarray  # d, that pattern, unfolded
    used: np.ndarray = np.zeros(0, np.int64)  # how often each increment was taken; models of 0.1.0 did not count it
    mean: Mean = NO_MEAN


@inlined
def take_best(etas, weight, i, state):
    """The increment that leaves the least loss, times the weight of pattern i; margins and counts follow it."""
    m, z, used = state.memory.m, state.memory.z, state.memory.used
    n, best, g, taken = m.shape[0], np.inf, 0.0, 0
    for j in range(etas.shape[0]):
        loss, step = 0.0, etas[j] * weight[i]
        for k in range(n):
            if m[k] + step * z[k] <= 0.0:
                loss += weight[k]
        if loss < best:
            best, g, taken = loss, step, j
    if used.shape[0] > 0:
        used[taken] += 1
    for k in range(n):
        m[k] += g * z[k]
    return g


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
                sum_up(state.memory.mean, state.counts[VISITS], v)
                axpy(1.0, X, i, row)
                for k in range(n):
                    z[k] = labels[k] * labels[i] * (dot(X, k, row) + frame.rho * frame.rho)
                row[:] = 0.0
                z[i] += frame.delta2
                before = m[i]
                g = take_best(rule.etas, weight, i, state)
                state.real[NORM2] += 2.0 * g * before + g * g * norm2[i]
                axpy(g * labels[i], X, i, v)
                v[d] += g * labels[i] * frame.rho
                add_multiple(state, i, g)
                if state.counts[UPDATES] >= max_updates:
                    status = EXHAUSTED
            status = end_visit(state.counts, order, status)
        return status

    return compiled(run, at_once=True)


@on_first_use
def greedy_dual_kernel(key: str) -> Any:
    """The same over the inner products of dual_form.py: ``state.v`` holds a.y_k of all patterns."""

    def run(rule, patterns, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018
        v, n, m, z = state.v, patterns.slot.shape[0], state.memory.m, state.memory.z
        for k in range(n):
            m[k] = v[k] + frame.delta2 * state.alpha[k]
        status = RUNNING
        while budget > 0 and status == RUNNING:
            i = order.sequence[state.counts[POSITION]]
            if m[i] <= 0.0:
                if patterns.slot[i] < 0:
                    return LACKING
                copy(patterns.rows[patterns.slot[i]], z)
                z[i] += frame.delta2
                before, mean = m[i], state.memory.mean
                times = state.counts[VISITS] - mean.sums[COUNTED] if mean.sums[BEGUN] >= 0.0 else 0.0
                mean.sums[COUNTED] = state.counts[VISITS]
                g = take_best(rule.etas, weight, i, state)
                state.real[NORM2] += 2.0 * g * before + g * g * norm2[i]
                for k in range(n):
                    mean.base[k] += times * patterns.labels[k] * state.alpha[k]
                    v[k] += g * patterns.rows[patterns.slot[i], k]
                v[n] += g * patterns.labels[i] * frame.rho
                add_multiple(state, i, g)
                if state.counts[UPDATES] >= max_updates:
                    status = EXHAUSTED
            budget -= 1
            status = end_visit(state.counts, order, status)
        return status

    return compiled(run, at_once=True)
