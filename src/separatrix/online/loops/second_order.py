"""Memories of rules that weigh directions by what they have seen: a covariance of the weights, or least squares.

    visit y:   m = a.y,  the variance v = y.S y
    if the rule is violated:   a += gain S y,   S^-1 += precision y y^t

S is kept in full, as the triangle U with U^t U = S^-1, or by its diagonal. Both add to S^-1 and never subtract from S,
so that S stays positive whatever the scale of the features.

Recursive least squares (DHS eqs. 71-73) keeps the triangle U with U^t U = ridge I + sum c y y^t, by Givens rotations,
instead of its inverse, the R of the book: the same a after every visit, but R loses twice the digits and all of them
once R^2/ridge passes 1e16, as with features in the millions.
"""

import math
from typing import NamedTuple

import numpy as np

from separatrix.data.access import axpy, column_of, places
from separatrix.online.loops.averaging import FACTORS, NO_MEAN, Mean, count_visits
from separatrix.online.loops.rows import product
from separatrix.online.loops.state import NORM2, VISITS, copy, inlined, squared_length
from separatrix.rules.base import precision, weighted_gain


@inlined
def rotate(U, j, y):
    """Turn row j of U and the rest of y so that y[j] becomes 0; return cosine and sine."""
    if y[j] == 0.0:
        return 1.0, 0.0
    length = math.hypot(U[j, j], y[j])
    c, s = U[j, j] / length, y[j] / length
    for k in range(j, y.shape[0]):
        U[j, k], y[k] = c * U[j, k] + s * y[k], c * y[k] - s * U[j, k]
    return c, s


@inlined
def unfold(rows, i, c, y):
    """y = c times pattern i."""
    d = y.shape[0] - 1
    for j in range(d):
        y[j] = 0.0
    axpy(c * rows.labels[i], rows.X, i, y)
    y[d] = c * rows.labels[i] * rows.frame.rho


class Covariance(NamedTuple):
    """S in full. A visit that needs the variance costs (d + 1)^2/2 operations, an update three times that."""

    matrix: np.ndarray  # (d + 1, d + 1): U, upper triangular, U^t U = S^-1
    row: np.ndarray  # d + 1: the pattern
    half: np.ndarray  # d + 1: z with U^t z = y, so that v = |z|^2 and S y = U^-1 z
    mean: Mean = NO_MEAN

    def note(self, rows, state, norm2):
        count_visits(self.mean, state.counts[VISITS] - 1, 1.0, norm2)

    def score(self, rows, i, c, state):
        U, y, z = self.matrix, self.row, self.half
        unfold(rows, i, 1.0, y)
        copy(y, z)
        v = 0.0
        for j in range(z.shape[0]):
            if z[j] != 0.0:
                z[j] /= U[j, j]
                v += z[j] * z[j]
                for k in range(j + 1, z.shape[0]):
                    z[k] -= U[j, k] * z[j]
        return product(rows, i, state.v), v

    def apply(self, rule, rows, i, m, s, state):
        U, z, y, late = self.matrix, self.half, self.row, self.mean.late
        g = weighted_gain(rule, m, s)
        times = g * self.mean.sums[FACTORS]
        for j in range(z.shape[0] - 1, -1, -1):
            rest = z[j]
            for k in range(j + 1, z.shape[0]):
                rest -= U[j, k] * z[k]
            z[j] = rest / U[j, j]
            state.v[j] += g * z[j]
            late[j] += times * z[j]
        root = math.sqrt(precision(rule, m, s))
        for j in range(y.shape[0]):
            y[j] *= root
        for j in range(y.shape[0]):
            rotate(U, j, y)

    def finish(self, state):
        state.real[NORM2] = squared_length(state.v)


class Variances(NamedTuple):
    """The diagonal of S^-1 alone: off-diagonal entries of y y^t are dropped. A visit costs what the row has entries."""

    precisions: np.ndarray  # d + 1
    row: np.ndarray  # d + 1, zeros between visits
    mean: Mean = NO_MEAN

    def note(self, rows, state, norm2):
        count_visits(self.mean, state.counts[VISITS] - 1, 1.0, norm2)

    def score(self, rows, i, c, state):
        d, rho = self.row.shape[0] - 1, rows.frame.rho
        axpy(rows.labels[i], rows.X, i, self.row)
        v = rho * rho / self.precisions[d]
        for k in places(rows.X, i):
            j = column_of(rows.X, k)
            v += self.row[j] * self.row[j] / self.precisions[j]
            self.row[j] = 0.0
        return product(rows, i, state.v), v

    def apply(self, rule, rows, i, m, s, state):
        a, late, times = state.v, self.mean.late, self.mean.sums[FACTORS]
        d, rho, g, c = self.row.shape[0] - 1, rows.frame.rho, weighted_gain(rule, m, s), precision(rule, m, s)
        axpy(g * rows.labels[i], rows.X, i, self.row)
        for k in places(rows.X, i):
            j = column_of(rows.X, k)
            change = self.row[j] / self.precisions[j]
            a[j] += change
            late[j] += times * change
            self.row[j] = 0.0
        change = g * rows.labels[i] * rho / self.precisions[d]
        a[d] += change
        late[d] += times * change
        axpy(math.sqrt(c) * rows.labels[i], rows.X, i, self.row)
        for k in places(rows.X, i):
            j = column_of(rows.X, k)
            self.precisions[j] += self.row[j] * self.row[j]
            self.row[j] = 0.0
        self.precisions[d] += c * rho * rho

    def finish(self, state):
        state.real[NORM2] = squared_length(state.v)


class Triangle(NamedTuple):
    """The triangle of recursive least squares. The vector is computed when the visits of a call end."""

    matrix: np.ndarray  # (d + 1, d + 1): U, upper triangular
    target: np.ndarray  # d + 1: U a
    row: np.ndarray  # d + 1: the pattern that is rotated in

    def score(self, rows, i, c, state):
        return 0.0, 0.0

    def apply(self, rule, rows, i, m, s, state):
        b, goal = self.target, math.sqrt(s.weight)
        unfold(rows, i, goal, self.row)
        for j in range(b.shape[0]):
            c, t = rotate(self.matrix, j, self.row)
            b[j], goal = c * b[j] + t * goal, c * goal - t * b[j]

    def finish(self, state):
        U, b, a = self.matrix, self.target, state.v
        for j in range(a.shape[0] - 1, -1, -1):
            rest = b[j]
            for k in range(j + 1, a.shape[0]):
                rest -= U[j, k] * a[k]
            a[j] = rest / U[j, j]
        state.real[NORM2] = squared_length(a)
