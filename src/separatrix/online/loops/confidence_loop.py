"""The loop of rules that know how sure they are of each weight: a normal distribution of mean a and covariance S.

    visit y:   m = a.y,  the variance v = y.S y
    where the rule is violated:   a += gain S y,   S^-1 += precision y y^t

The memory holds S: in full, as the triangle U with U^t U = S^-1 of recursive_least_squares.py, or by its diagonal. Both
add to S^-1 and never subtract from S, so that S stays positive whatever the scale of the features.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import one_per_rule
from separatrix.data.access import axpy, columns, dot
from separatrix.online.loops.averaging import FACTORS, NO_MEAN, Mean, count_visits
from separatrix.online.loops.recursive_least_squares import rotate
from separatrix.online.loops.state import (
    EXHAUSTED,
    FRESH,
    NORM2,
    POSITION,
    RUNNING,
    UPDATES,
    VISITS,
    copy,
    end_visit,
    squared_length,
)
from separatrix.rules.base import ALLOCATES, Scalars, precision, verb, violates, weighted_gain

variance, step, sharpen = (verb(name, **ALLOCATES) for name in ("variance", "step", "sharpen"))


class Covariance(NamedTuple):
    """S in full. A visit that needs the variance costs (d + 1)^2/2 operations, a correction three times that."""

    matrix: np.ndarray  # (d + 1, d + 1): U, upper triangular, U^t U = S^-1
    row: np.ndarray  # d + 1: the pattern
    half: np.ndarray  # d + 1: z with U^t z = y, so that v = |z|^2 and S y = U^-1 z
    mean: Mean = NO_MEAN

    def variance(self, X, i, label, rho):
        U, y, z = self.matrix, self.row, self.half
        d = y.shape[0] - 1
        y[:] = 0.0
        axpy(label, X, i, y)
        y[d] = label * rho
        copy(y, z)
        v = 0.0
        for j in range(d + 1):
            if z[j] != 0.0:
                z[j] /= U[j, j]
                v += z[j] * z[j]
                for k in range(j + 1, d + 1):
                    z[k] -= U[j, k] * z[j]
        return v

    def step(self, X, i, label, rho, g, a):
        U, z, late = self.matrix, self.half, self.mean.late
        times = g * self.mean.sums[FACTORS]
        for j in range(z.shape[0] - 1, -1, -1):
            rest = z[j]
            for k in range(j + 1, z.shape[0]):
                rest -= U[j, k] * z[k]
            z[j] = rest / U[j, j]
            a[j] += g * z[j]
            late[j] += times * z[j]

    def sharpen(self, X, i, label, rho, c):
        root = math.sqrt(c)
        for j in range(self.row.shape[0]):
            self.row[j] *= root
        for j in range(self.row.shape[0]):
            rotate(self.matrix, j, self.row)


class Variances(NamedTuple):
    """The diagonal of S^-1 alone: off-diagonal entries of y y^t are dropped. A visit costs what the row has entries."""

    precisions: np.ndarray  # d + 1
    row: np.ndarray  # d + 1, zeros between visits
    mean: Mean = NO_MEAN

    def variance(self, X, i, label, rho):
        d = self.row.shape[0] - 1
        axpy(label, X, i, self.row)
        v = rho * rho / self.precisions[d]
        for j in columns(X, i):
            v += self.row[j] * self.row[j] / self.precisions[j]
            self.row[j] = 0.0
        return v

    def step(self, X, i, label, rho, g, a):
        d, late, times = self.row.shape[0] - 1, self.mean.late, self.mean.sums[FACTORS]
        axpy(g * label, X, i, self.row)
        for j in columns(X, i):
            change = self.row[j] / self.precisions[j]
            a[j] += change
            late[j] += times * change
            self.row[j] = 0.0
        change = g * label * rho / self.precisions[d]
        a[d] += change
        late[d] += times * change

    def sharpen(self, X, i, label, rho, c):
        d = self.row.shape[0] - 1
        axpy(math.sqrt(c) * label, X, i, self.row)
        for j in columns(X, i):
            self.precisions[j] += self.row[j] * self.row[j]
            self.row[j] = 0.0
        self.precisions[d] += c * rho * rho


@one_per_rule
def confidence_kernel(key: str) -> Any:
    def run(rule, patterns, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        X, labels, memory = patterns.X, patterns.labels, state.memory
        a, d, count = state.v, state.v.shape[0] - 1, state.counts
        status = RUNNING
        while budget > 0 and status == RUNNING:
            i = order.sequence[count[POSITION]]
            budget -= 1
            m = labels[i] * (dot(X, i, a) + frame.rho * a[d])
            v = variance(memory, X, i, labels[i], frame.rho)
            s = Scalars(count[UPDATES] + 1.0, count[VISITS] + 1.0, 0.0, 0.0, 0.0, v, frame.radius2, weight[i])
            if violates(rule, m, s):
                count_visits(memory.mean, count[VISITS], 1.0, 0.0)
                step(memory, X, i, labels[i], frame.rho, weighted_gain(rule, m, s), a)
                sharpen(memory, X, i, labels[i], frame.rho, precision(rule, m, s))
                count[UPDATES] += 1
                count[FRESH] += 1
                if count[UPDATES] >= max_updates:
                    status = EXHAUSTED
            status = end_visit(count, order, status)
        state.real[NORM2] = squared_length(a)
        return status

    return run
