"""The loop of additive rules over single patterns, resumable after any number of visits, soft margin included.

    visit y = scale l (x, rho) with the extension Delta e_k;   m = a.y
    if the rule is violated:   a <- shrink (keep a + gain y)

The correction is that of update.py. Besides what it asks of the patterns, the loop asks for ``product(self, k, v)``,
which is v.y of pattern k; ``ask_for(self, k)`` tells that k will come soon, and ``lacking(self, k)`` is asked whether a
correction by k has to wait.
"""

from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import one_per_rule
from separatrix.data.access import Storage, add_row, dot, prefetch, touch
from separatrix.online.loops.state import (
    FACTOR,
    NORM2,
    POSITION,
    RUN,
    RUNNING,
    TOTAL,
    UPDATES,
    VISITS,
    Frame,
    end_epoch,
    squared_length,
)
from separatrix.online.loops.update import bias2, correct, nothing
from separatrix.rules.base import Scalars, verb, violates

LACKING = 3  # a status besides those of state.py: a correction needs what is not at hand
LOOK_AHEAD = 6  # visits between asking for a row and using it, in shuffled epochs
STREAM = 32  # the same in epochs as the rows come, for the numbers that only corrections read


product, ask_for, lacking = verb("product"), verb("ask_for", nothing), verb("lacking", False)


class SignedRows(NamedTuple):
    """Patterns of two classes: a row and its label."""

    X: Storage
    labels: np.ndarray
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


@one_per_rule
def additive_kernel(key: str) -> Any:
    def run(rule, patterns, order, weight, norm2, frame, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        v, alpha, real, count = state.v, state.alpha, state.real, state.counts
        n, status = order.sequence.shape[0], RUNNING
        while budget > 0 and status == RUNNING:
            # Visits up to the next correction: without a store into v, what depends on a alone leaves this loop.
            c, nn, total = real[FACTOR], real[NORM2], real[TOTAL]
            start, t, visits = count[POSITION], count[UPDATES] + 1.0, count[VISITS]
            position, end, violated, m = start, min(n, start + budget), False, 0.0
            while position < end:
                i = position if order.seed < 0 else order.sequence[position]
                if order.seed >= 0 and order.together <= 1:
                    ask_for(patterns, order.sequence[min(position + LOOK_AHEAD, n - 1)])
                else:  # rows follow each other
                    touch(weight, i + STREAM)
                    touch(norm2, i + STREAM)
                    touch(alpha, i + STREAM)
                m = product(patterns, i, v)
                if frame.delta2 > 0.0:
                    m += frame.delta2 * alpha[i]
                m *= c
                flat2 = max(nn - bias2(patterns, c, v), 0.0)
                visit = float(visits + position - start + 1)
                s = Scalars(t, visit, nn, flat2, c * total, norm2[i], frame.radius2, weight[i])
                position += 1
                if violates(rule, m, s):
                    violated = True
                    break
            i = position - 1
            if order.seed >= 0:
                i = order.sequence[i]
            if violated and lacking(patterns, i):
                position -= 1
                violated, status = False, LACKING
            count[POSITION] = position
            count[VISITS] += position - start
            count[RUN] += position - start
            budget -= position - start
            if violated:
                flat2 = max(nn - bias2(patterns, c, v), 0.0)
                s = Scalars(t, float(count[VISITS]), nn, flat2, c * total, norm2[i], frame.radius2, weight[i])
                status = correct(rule, patterns, i, i, m, s, frame.delta2, state, max_updates)
            if position == n:
                status = end_epoch(count, order, status)
        return status

    return run
