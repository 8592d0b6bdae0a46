"""The loop of linear machines: every additive rule in Kesler's space, which is never written out (DHS 5.12.1).

A machine has a vector a_j per category; row k of category i stands for c - 1 patterns, one per rival j:

    eta_kj has y_k = scale (x_k, rho) in block i and -y_k in block j, and the extension Delta e_kj;   m = (a_i - a_j).y
    if the rule is violated:   a <- shrink (keep a + gain eta_kj)                              (eq. 115: gain 1)

A visit to a row looks at its strongest rival, the one with the smallest m, or at every rival in turn. ``state.v`` holds
the blocks one after the other, ``state.alpha`` the multiples of the patterns, row by row, or nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import one_per_rule
from separatrix.data.access import Storage, add_row, prefetch, scores
from separatrix.online.loops.state import (
    FACTOR,
    NORM2,
    PLACE,
    POSITION,
    RUN,
    RUNNING,
    TOTAL,
    UPDATES,
    VISITS,
    Frame,
    inlined,
    next_row,
    rescale,
    squared_length,
)
from separatrix.online.loops.update import bias2, correct
from separatrix.rules.base import Scalars, violates

LOOK_AHEAD = 3  # visits between asking for a row and using it; a visit takes longer than that of a hyperplane


class RivalPairs(NamedTuple):
    """Kesler's patterns: a row, its category and a rival; number (c - 1) i + r is row i with its r-th rival."""

    X: Storage
    codes: np.ndarray
    norm2: np.ndarray
    V: np.ndarray  # state.v, a row per category
    scores: np.ndarray  # V[j].(x, rho) of the row at hand
    others: np.ndarray  # the same of other rows
    frame: Frame

    def add(self, at, g, c, v):
        step, frame = g * self.frame.scale / c, self.frame
        i, own, rival = at
        add_row(step, self.X, i, frame.rho, self.V[own])
        add_row(-step, self.X, i, frame.rho, self.V[rival])
        # What the correction does to the scores of this row: it matters to the rivals that follow.
        change = g / c * 0.5 * (self.norm2[i] - frame.delta2) / frame.scale
        self.scores[own] += change
        self.scores[rival] -= change

    def remember(self, at, g, times, late):
        step, d = g * self.frame.scale * times, self.V.shape[1]
        i, own, rival = at
        add_row(step, self.X, i, self.frame.rho, late[own * d : (own + 1) * d])
        add_row(-step, self.X, i, self.frame.rho, late[rival * d : (rival + 1) * d])

    def length2(self, state, multiplied):
        if multiplied:
            remove_common(self.V)
        return squared_length(state.v)

    def bias2(self, c, v):
        s, d = 0.0, self.V.shape[1] - 1
        for j in range(self.V.shape[0]):
            s += self.V[j, d] * self.V[j, d]
        return c * c * s

    def errors(self, v):
        wrong, out = 0, self.others
        for k in range(self.codes.shape[0]):
            scores(self.X, k, self.V, self.frame.rho, out)
            for j in range(self.V.shape[0]):
                if j != self.codes[k] and out[j] >= out[self.codes[k]]:
                    wrong += 1
                    break
        return wrong

    def rescale_rest(self, factor):
        rescale(self.scores, factor)


@inlined
def remove_common(V):
    """Take from all categories what they have in common. It is 0 but for rounding errors, no correction ever acts on
    it, and a rule that multiplies a from update to update would let it outgrow everything else."""
    for f in range(V.shape[1]):
        mean = 0.0
        for j in range(V.shape[0]):
            mean += V[j, f]
        mean /= V.shape[0]
        for j in range(V.shape[0]):
            V[j, f] -= mean


@one_per_rule
def machine_kernel(key: str) -> Any:
    def run(rule, X, codes, order, weight, norm2, frame, state, budget, max_updates, scratch, every):
        key  # noqa: B018  a closure cell, for numba's cache key
        alpha, real, count = state.alpha, state.real, state.counts
        n, n_classes = codes.shape[0], scratch.shape[1]
        rivals, out = n_classes - 1, scratch[0]
        V = state.v.reshape((n_classes, state.v.shape[0] // n_classes))
        patterns = RivalPairs(X, codes, norm2, V, out, scratch[1], frame)
        status = RUNNING
        while budget > 0 and status == RUNNING:
            position = i = count[POSITION]
            if order.seed >= 0:
                i = order.sequence[position]
                prefetch(X, order.sequence[min(position + LOOK_AHEAD, n - 1)])
            code, first = codes[i], i * rivals
            if count[PLACE] == 0:
                budget -= 1
                count[VISITS] += 1
                count[RUN] += 1
            scores(X, i, V, frame.rho, out)
            r, last = count[PLACE], rivals
            if not every:
                smallest = np.inf
                for q in range(rivals):
                    m = (out[code] - out[q if q < code else q + 1]) * frame.scale
                    if frame.delta2 > 0.0:
                        m += frame.delta2 * alpha[first + q]
                    if m < smallest:
                        smallest, r = m, q
                last = r + 1
            while r < last and status == RUNNING:
                rival = r if r < code else r + 1
                m = (out[code] - out[rival]) * frame.scale
                if frame.delta2 > 0.0:
                    m += frame.delta2 * alpha[first + r]
                c, nn = real[FACTOR], real[NORM2]
                m *= c
                flat2 = max(nn - bias2(patterns, c, state.v), 0.0)
                t, visit = count[UPDATES] + 1.0, float(count[VISITS])
                s = Scalars(t, visit, nn, flat2, c * real[TOTAL], norm2[i], frame.radius2, weight[i])
                if violates(rule, m, s):
                    at = (i, code, rival)
                    status = correct(rule, patterns, at, first + r, m, s, frame.delta2, state, max_updates)
                r += 1
            count[PLACE] = r if r < last else 0
            if r < last:
                break
            status = next_row(count, order, status)
        return status

    return run
