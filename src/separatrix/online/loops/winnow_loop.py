"""The loop of balanced Winnow: additive in theta, and w = 2 sinh(rate theta) decides (DHS alg. 7).

w is kept divided by e^shift, with one shift for all coordinates: exponents never overflow, and the sign of w.y does not
change.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from separatrix.compile_cache import compiled, on_first_use
from separatrix.data.access import axpy, columns, dot
from separatrix.online.loops.averaging import BEGUN, COUNTED, FACTORS, NO_MEAN, Mean, count_visits
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
)

HEADROOM = 200.0  # the largest exponent moves the shift when they differ by more than this


class Sinh(NamedTuple):
    w: np.ndarray  # d + 1, 2 sinh(rate theta) e^-shift
    shift: np.ndarray  # 1
    mean: Mean = NO_MEAN


@register_jitable
def shifted_sinh(x, shift):
    """2 sinh(x) e^-shift."""
    size = math.exp(abs(x) - shift) - math.exp(-abs(x) - shift)
    return size if x >= 0.0 else -size


@inlined
def set_weight(memory, j, x):
    """w_j of its exponent, and what that changes in the sum of w."""
    before = memory.w[j]
    memory.w[j] = shifted_sinh(x, memory.shift[0])
    memory.mean.late[j] += memory.mean.sums[FACTORS] * (memory.w[j] - before)


@inlined
def set_mean_aside(memory, factor):
    """The sum of w, before w is measured in other units."""
    mean = memory.mean
    for j in range(memory.w.shape[0]):
        mean.base[j] = factor * (mean.base[j] + mean.sums[FACTORS] * memory.w[j] - mean.late[j])
        mean.late[j] = 0.0
    mean.sums[FACTORS] = 0.0


@on_first_use
def winnow_kernel(key: str) -> Any:
    def run(rule, patterns, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        X, labels = patterns.X, patterns.labels
        theta, w, shift, d = state.v, state.memory.w, state.memory.shift, state.v.shape[0] - 1
        status = RUNNING
        while budget > 0 and status == RUNNING:
            i = order.sequence[state.counts[POSITION]]
            budget -= 1
            if labels[i] * (dot(X, i, w) + frame.rho * w[d]) <= 0.0:
                rate, end = rule.rate, rule.stage_updates
                if end > 0.0:  # stage j ends after stage_updates (1 + 4 + ... + 4^j) updates in all
                    stage = end
                    while state.counts[UPDATES] >= end:
                        rate, stage = 0.5 * rate, 4.0 * stage
                        end += stage
                g = weight[i]
                count_visits(state.memory.mean, state.counts[VISITS], 1.0, 0.0)
                m = labels[i] * (dot(X, i, theta) + frame.rho * theta[d])
                state.real[NORM2] = max(state.real[NORM2] + 2.0 * g * m + g * g * norm2[i], 0.0)
                axpy(g * labels[i], X, i, theta)
                theta[d] += g * labels[i] * frame.rho
                add_multiple(state, i, g)
                top = rate * abs(theta[d])
                for j in columns(X, i):
                    top = max(top, rate * abs(theta[j]))
                if top < shift[0] - HEADROOM:  # have all exponents fallen, so that w might vanish?
                    for j in range(d + 1):
                        top = max(top, rate * abs(theta[j]))
                if end > 0.0 and state.counts[UPDATES] >= end:  # the mean begins anew as well
                    set_mean_aside(state.memory, 0.0)
                    if state.memory.mean.sums[BEGUN] >= 0.0:
                        state.memory.mean.sums[BEGUN] = state.memory.mean.sums[COUNTED] = state.counts[VISITS]
                    theta[:], w[:], state.alpha[:] = 0.0, 0.0, 0.0
                    shift[0], state.real[NORM2], state.real[TOTAL] = 0.0, 0.0, 0.0
                elif abs(top - shift[0]) > HEADROOM:
                    set_mean_aside(state.memory, math.exp(min(shift[0] - top, 700.0)))
                    shift[0] = top
                    for j in range(d + 1):
                        w[j] = shifted_sinh(rate * theta[j], shift[0])
                else:
                    for j in columns(X, i):
                        set_weight(state.memory, j, rate * theta[j])
                    set_weight(state.memory, d, rate * theta[d])
                if state.counts[UPDATES] >= max_updates:
                    status = EXHAUSTED
            status = end_visit(state.counts, order, status)
        return status

    return compiled(run, at_once=True)
