"""Memories of rules that are additive in theta, while w, a function of theta, decides.

Balanced Winnow (DHS alg. 7): w = 2 sinh(rate theta), kept divided by e^shift, with one shift for all coordinates:
exponents never overflow, and the sign of w.y does not change. If each class corrects a vector of its own, w =
alpha^theta+ - alpha^theta- = e^(rate tilt) 2 sinh(rate theta) with theta = theta+ - theta-, tilt = theta+ + theta-, the
sum of the rows as they are, and rate = ln(alpha)/2.

p-norm rules: w = grad |theta|_p^2/2, that is w_j = sign(theta_j) |theta_j|^(p - 1) / |theta|_p^(p - 2). In a rule's
formulas ``s.norm2`` is |theta|_p^2 = |w|_q^2, 1/p + 1/q = 1; ``rule.p`` is p.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from separatrix.data.access import axpy, column_of, places
from separatrix.online.loops.averaging import BEGUN, COUNTED, FACTORS, NO_MEAN, Mean, count_visits, sum_up
from separatrix.online.loops.rows import add, product
from separatrix.online.loops.state import NORM2, TOTAL, UPDATES, VISITS, add_multiplier, inlined, rescale
from separatrix.rules.base import Scalars, shrink, weighted_gain

HEADROOM = 200.0  # the largest exponent moves the shift when they differ by more than this
SIZE = 4  # place in State.real: |theta|_p, computed at the begin of each call


@inlined
def add_to_theta(rows, i, g, state):
    """theta += g y_i, with its length and multiplier."""
    m = product(rows, i, state.v)
    state.real[NORM2] = max(state.real[NORM2] + 2.0 * g * m + g * g * rows.norms2[i], 0.0)
    add(rows, i, g, 1.0, state.v)
    add_multiplier(state, i, g)


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


class Sinh(NamedTuple):
    w: np.ndarray  # d + 1, 2 sinh(rate theta) e^-shift
    shift: np.ndarray  # 1
    tilt: np.ndarray = np.zeros(0)  # d + 1 where each class has a vector of its own
    mean: Mean = NO_MEAN

    def score(self, rows, i, c, state):
        return product(rows, i, self.w), rows.norms2[i]

    def note(self, rows, state, norm2):
        count_visits(self.mean, state.counts[VISITS] - 1, 1.0, norm2)

    def apply(self, rule, rows, i, m, s, state):
        theta, w, shift, tilt, mean = state.v, self.w, self.shift, self.tilt, self.mean
        d, updates, rate, end = w.shape[0] - 1, state.counts[UPDATES], rule.rate, rule.stage_updates
        if end > 0.0:  # stage j ends after stage_updates (1 + 4 + ... + 4^j) updates in all
            stage = end
            while updates >= end:
                rate, stage = 0.5 * rate, 4.0 * stage
                end += stage
        add_to_theta(rows, i, s.weight, state)
        if tilt.shape[0] > 0:
            axpy(s.weight, rows.X, i, tilt)
            tilt[d] += s.weight * rows.frame.rho
        top = exponent(theta, tilt, rate, d)
        for k in places(rows.X, i):
            j = column_of(rows.X, k)
            top = max(top, exponent(theta, tilt, rate, j))
        if top < shift[0] - HEADROOM:  # have all exponents fallen, so that w might vanish?
            for j in range(d + 1):
                top = max(top, exponent(theta, tilt, rate, j))
        if end > 0.0 and updates + 1 >= end:  # the mean begins again as well
            set_mean_aside(self, 0.0)
            if mean.sums[BEGUN] >= 0.0:
                mean.sums[BEGUN] = mean.sums[COUNTED] = state.counts[VISITS] - 1
            rescale(theta, 0.0)
            rescale(w, 0.0)
            rescale(state.alpha, 0.0)
            shift[0], state.real[NORM2], state.real[TOTAL] = 0.0, 0.0, 0.0
        elif abs(top - shift[0]) > HEADROOM and top > -math.inf:
            set_mean_aside(self, math.exp(min(shift[0] - top, 700.0)))
            shift[0] = top
            for j in range(d + 1):
                w[j] = weight_of(theta, tilt, rate, j, shift[0])
        else:
            for k in places(rows.X, i):
                j = column_of(rows.X, k)
                set_weight(self, j, weight_of(theta, tilt, rate, j, shift[0]))
            set_weight(self, d, weight_of(theta, tilt, rate, d, shift[0]))


class Powers(NamedTuple):
    w: np.ndarray  # d + 1
    mean: Mean = NO_MEAN

    def begin(self, rule, rows, state):
        state.real[SIZE] = set_gradient(state.v, rule.p, self.w)

    def lengths(self, rows, state):
        return state.real[SIZE] * state.real[SIZE], 0.0

    def score(self, rows, i, c, state):
        return product(rows, i, self.w), rows.norms2[i]

    def note(self, rows, state, norm2):
        sum_up(self.mean, state.counts[VISITS] - 1, self.w)

    def apply(self, rule, rows, i, m, s, state):
        theta, w, real = state.v, self.w, state.real
        add_to_theta(rows, i, weighted_gain(rule, m, s), state)
        size = set_gradient(theta, rule.p, w)
        after = Scalars(s.t + 1.0, s.visit, size * size, 0.0, real[TOTAL], s.yy, s.radius2, s.weight)
        factor = shrink(rule, after)
        if factor != 1.0:
            rescale(theta, factor)
            rescale(state.alpha, factor)
            size = set_gradient(theta, rule.p, w)
            real[TOTAL] *= factor
            real[NORM2] *= factor * factor
        real[SIZE] = size


@inlined
def set_gradient(theta, p, w):
    """w of theta; return |theta|_p. Powers are of |theta_j|/max |theta|, which never overflow."""
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
