"""Patterns that are known by their inner products alone, in the loop of additive rules.

``state.v`` holds a.y_k of all patterns, in units of the factor c, and the bias coordinate behind them; a visit costs
nothing, an update one row of the Gram matrix. Where that row is not in the cache the loop returns and asks for it.
"""

from typing import NamedTuple

import numpy as np

from separatrix.online.loops.state import Frame


class InnerProducts(NamedTuple):
    """Patterns by their inner products: ``rows[slot[k]]`` are those of pattern k with all."""

    rows: np.ndarray
    slot: np.ndarray
    labels: np.ndarray
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
