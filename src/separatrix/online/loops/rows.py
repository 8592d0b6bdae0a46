"""Rows as the loop sees them: verbs that rows in memory and rows known by their inner products both have.

``product(rows, k, v)``
    v.y of pattern k.
``ask_for(rows, k)``, ``lacking(rows, k)``
    pattern k will be needed soon; does an update by it have to wait (never unless defined)?
``add(rows, at, g, c, v)``
    v += g y / c, y being the pattern at this place.
``remember(rows, at, g, times, late)``
    late += times g y, for a mean of the vectors.
``fold(rows, state, times, base)``
    base += times v, in the form of ``late`` (v itself unless defined).
``length2(rows, state, multiplied)``
    |v|^2 summed again; ``multiplied``: a was not only added to.
``bias2(rows, c, v)``
    the square of a's bias coordinate, the last one unless defined.
``number(rows, at)``
    the number of the pattern at this place, which is the place itself unless defined.
``errors(rows, v)``
    the number of wrongly classified rows.
``rescale_rest(rows, factor)``
    multiply what else is kept in units of v (nothing unless defined).
``set_margins(rows, state, m)``, ``products_with(rows, k, row, z)``
    the margins of all patterns, if they are not kept; z = Y y_k, with ``row`` for the pattern, unfolded (greedy.py).
"""

from typing import NamedTuple

import numpy as np

from separatrix.data.access import Storage, add_row, axpy, dot, prefetch
from separatrix.online.loops.state import Frame, copy, squared_length
from separatrix.rules.base import verb


def nothing(self, *arguments):
    return None


def _same(self, at):
    return at


def _last2(self, c, v):
    b = c * v[v.shape[0] - 1]
    return b * b


def _fold_v(self, state, times, base):
    for j in range(base.shape[0]):
        base[j] += times * state.v[j]


product, add, remember, length2, errors = (verb(name) for name in ("product", "add", "remember", "length2", "errors"))
ask_for, rescale_rest = verb("ask_for", nothing), verb("rescale_rest", nothing)
set_margins, products_with = verb("set_margins", nothing), verb("products_with")
lacking, number, bias2, fold = (
    verb("lacking", False),
    verb("number", _same),
    verb("bias2", _last2),
    verb("fold", _fold_v),
)


class SignedRows(NamedTuple):
    """Patterns of two classes: a row and its label."""

    X: Storage
    labels: np.ndarray
    weight: np.ndarray
    norms2: np.ndarray
    frame: Frame

    def product(self, k, v):
        return self.labels[k] * self.frame.scale * (dot(self.X, k, v) + self.frame.rho * v[v.shape[0] - 1])

    def ask_for(self, k):
        prefetch(self.X, k)

    def add(self, k, g, c, v):
        add_row(g * (self.labels[k] * self.frame.scale) / c, self.X, k, self.frame.rho, v)

    def remember(self, k, g, times, late):
        add_row(g * (self.labels[k] * self.frame.scale) * times, self.X, k, self.frame.rho, late)

    def length2(self, state, multiplied):
        return squared_length(state.v)

    def errors(self, v):
        wrong = 0
        for k in range(self.labels.shape[0]):
            if product(self, k, v) <= 0.0:
                wrong += 1
        return wrong

    def products_with(self, k, row, z):
        axpy(1.0, self.X, k, row)
        for i in range(z.shape[0]):
            z[i] = self.labels[i] * self.labels[k] * (dot(self.X, i, row) + self.frame.rho * self.frame.rho)
        for j in range(row.shape[0]):
            row[j] = 0.0


class InnerProducts(NamedTuple):
    """Patterns by their inner products: ``rows[slot[k]]`` are those of pattern k with all, if they are in the cache.

    ``state.v`` holds a.y_k of all patterns, in units of the factor c, and the bias coordinate behind them; a visit
    costs nothing, an update one row of the Gram matrix.
    """

    rows: np.ndarray
    slot: np.ndarray
    labels: np.ndarray
    weight: np.ndarray
    norms2: np.ndarray
    frame: Frame

    def product(self, k, v):
        return v[k]

    def lacking(self, k):
        return self.slot[k] < 0

    def add(self, k, g, c, v):
        n, row, step = self.slot.shape[0], self.slot[k], g / c
        for j in range(n):
            v[j] += step * self.rows[row, j]
        v[n] += step * self.labels[k] * self.frame.scale * self.frame.rho

    def remember(self, k, g, times, late):
        late[k] += g * self.labels[k] * self.frame.scale * times

    def fold(self, state, times, base):
        for k in range(self.slot.shape[0]):
            base[k] += times * state.alpha[k] * self.labels[k] * self.frame.scale

    def length2(self, state, multiplied):
        s = 0.0
        for j in range(state.alpha.shape[0]):
            s += state.alpha[j] * state.v[j]
        return max(s, 0.0)

    def set_margins(self, state, m):
        for k in range(m.shape[0]):
            m[k] = state.v[k] + self.frame.delta2 * state.alpha[k]

    def products_with(self, k, row, z):
        copy(self.rows[self.slot[k]], z)
