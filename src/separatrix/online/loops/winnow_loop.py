"""The loop of balanced Winnow: additive in theta, and w = 2 sinh(rate theta) decides (DHS alg. 7).

w is kept divided by e^shift, with one shift for all coordinates: exponents never overflow, and the sign of w.y does not
change. If each class corrects a vector of its own, w = alpha^theta+ - alpha^theta- = e^(rate tilt) 2 sinh(rate theta)
with theta = theta+ - theta-, tilt = theta+ + theta-, the sum of the rows as they are, and rate = ln(alpha)/2.
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
    tilt: np.ndarray = np.zeros(0)  # d + 1 where each class has a vector of its own
    mean: Mean = NO_MEAN


@register_jitable
def shifted_sinh(x, shift):
    """2 sinh(x) e^-shift."""
    size = math.exp(abs(x) - shift) - math.exp(-abs(x) - shift)
    return size if x >= 0.0 else -size


@register_jitable
def exponent(theta, tilt, rate, j):
    """ln |w_j|, about; of a tilted weight that is 0, however large both its parts are, nothing is left to shift."""
    if tilt.shape[0] == 0:
        return rate * abs(theta[j])
    return rate * (abs(theta[j]) + tilt[j]) if theta[j] != 0.0 else -math.inf


@register_jitable
def weight_of(theta, tilt, rate, j, shift):
    if tilt.shape[0] == 0:
        return shifted_sinh(rate * theta[j], shift)
    return shifted_sinh(rate * theta[j], shift - rate * tilt[j]) if theta[j] != 0.0 else 0.0


@inlined
def set_weight(memory, j, value):
    """w_j, and what that changes in the sum of w."""
    memory.mean.late[j] += memory.mean.sums[FACTORS] * (value - memory.w[j])
    memory.w[j] = value


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
        tilt = state.memory.tilt
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
                if tilt.shape[0] > 0:
                    axpy(g, X, i, tilt)
                    tilt[d] += g * frame.rho
                add_multiple(state, i, g)
                top = exponent(theta, tilt, rate, d)
                for j in columns(X, i):
                    top = max(top, exponent(theta, tilt, rate, j))
                if top < shift[0] - HEADROOM:  # have all exponents fallen, so that w might vanish?
                    for j in range(d + 1):
                        top = max(top, exponent(theta, tilt, rate, j))
                if end > 0.0 and state.counts[UPDATES] >= end:  # the mean begins anew as well
                    set_mean_aside(state.memory, 0.0)
                    if state.memory.mean.sums[BEGUN] >= 0.0:
                        state.memory.mean.sums[BEGUN] = state.memory.mean.sums[COUNTED] = state.counts[VISITS]
                    theta[:], w[:], state.alpha[:] = 0.0, 0.0, 0.0
                    shift[0], state.real[NORM2], state.real[TOTAL] = 0.0, 0.0, 0.0
                elif abs(top - shift[0]) > HEADROOM and top > -math.inf:
                    set_mean_aside(state.memory, math.exp(min(shift[0] - top, 700.0)))
                    shift[0] = top
                    for j in range(d + 1):
                        w[j] = weight_of(theta, tilt, rate, j, shift[0])
                else:
                    for j in columns(X, i):
                        set_weight(state.memory, j, weight_of(theta, tilt, rate, j, shift[0]))
                    set_weight(state.memory, d, weight_of(theta, tilt, rate, d, shift[0]))
                if state.counts[UPDATES] >= max_updates:
                    status = EXHAUSTED
            status = end_visit(state.counts, order, status)
        return status

    return compiled(run, at_once=True)
