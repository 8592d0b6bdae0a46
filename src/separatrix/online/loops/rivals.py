"""The loop over rivals, for joint multiclass: every additive rule in Kesler's space, never written out (DHS 5.12.1).

There is a vector a_j per class; row k of class i stands for c - 1 patterns, one per rival j:

    eta_kj has y_k = scale (x_k, rho) in block i and -y_k in block j, and the extension Delta e_kj;   m = (a_i - a_j).y
    if the rule is violated:   a <- shrink (keep a + gain eta_kj)                              (eq. 115: gain 1)

A visit to a row looks at its strongest rival, the one with the smallest m, or at every rival in turn; or it corrects
all rivals together, by the steps of MIRA in rules/aggressive.py. ``state.v`` holds the blocks one after the other,
``state.alpha`` the multiples of the patterns, row by row, or nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import Kernel, one_per_rule
from separatrix.data.access import Storage, add_row, prefetch, scores
from separatrix.online.loops.order import scattered
from separatrix.online.loops.rows import bias2
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
    count_update,
    end_epoch,
    inlined,
    not_negative,
    rescale,
    squared_length,
)
from separatrix.online.loops.update import correct, note
from separatrix.rules.aggressive import steps
from separatrix.rules.base import Scalars, verb, violates

LOOK_AHEAD = 3  # visits between asking for a row and using it; a visit takes longer than that of a hyperplane


class RivalPairs(NamedTuple):
    """Kesler's patterns: a row, its class and a rival; number (c - 1) i + r is row i with its r-th rival."""

    X: Storage
    codes: np.ndarray
    weight: np.ndarray
    norms2: np.ndarray
    V: np.ndarray  # state.v, a row per class
    scores: np.ndarray  # V[j].(x, rho) of the row at hand
    others: np.ndarray  # the same of other rows
    frame: Frame
    how: Any  # OneByOne, or Together for `PassiveAggressiveRule`

    def number(self, at):
        i, own, rival = at
        return i * (self.V.shape[0] - 1) + (rival if rival < own else rival - 1)

    def add(self, at, g, c, v):
        step, frame = g * self.frame.scale / c, self.frame
        i, own, rival = at
        add_row(step, self.X, i, frame.rho, self.V[own])
        add_row(-step, self.X, i, frame.rho, self.V[rival])
        # What the update does to the scores of this row: it matters to the rivals that follow.
        change = g / c * 0.5 * (self.norms2[i] - frame.delta2) / frame.scale
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
    """Take from all classes what they have in common. It is 0 but for rounding errors, no update ever acts on it, and
    a rule that multiplies a from update to update would let it outgrow everything else."""
    for f in range(V.shape[1]):
        mean = 0.0
        for j in range(V.shape[0]):
            mean += V[j, f]
        mean /= V.shape[0]
        for j in range(V.shape[0]):
            V[j, f] -= mean


@inlined
def rival_margin(rows, i, r, state):
    """Return m of row i and its r-th rival, in units of v, with the class of the rival."""
    code, rivals = rows.codes[i], rows.V.shape[0] - 1
    rival = r if r < code else r + 1
    m = (rows.scores[code] - rows.scores[rival]) * rows.frame.scale
    if rows.frame.delta2 > 0.0:
        m += rows.frame.delta2 * state.alpha[i * rivals + r]
    return m, rival


class OneByOne(NamedTuple):
    """Correct the strongest rival, or every rival in turn."""

    every: bool

    def correct_rivals(self, rule, rows, i, r, m, s, state):
        at = (i, rows.codes[i], r if r < rows.codes[i] else r + 1)
        correct(state.memory, rule, rows, at, m, s, state)


class Together(NamedTuple):
    """Correct all rivals of a row at once. An update corrects a row, whatever the number of its rivals."""

    every: bool
    losses: np.ndarray
    tau: np.ndarray

    def correct_rivals(self, rule, rows, i, r, m, s, state):
        losses, tau, c, delta2 = self.losses, self.tau, state.real[FACTOR], rows.frame.delta2
        for q in range(losses.shape[0]):
            losses[q] = 1.0 - c * rival_margin(rows, i, q, state)[0]
        square = 0.5 * (rows.norms2[i] - delta2)
        steps(losses, square, delta2, rule.cap * s.weight, rule.soften / s.weight, tau)
        for q in range(losses.shape[0]):
            if tau[q] > 0.0:
                own, rival = rival_margin(rows, i, q, state)
                now = Scalars(s.t, s.visit, state.real[NORM2], 0.0, s.total, s.yy, s.radius2, s.weight)
                at, step = (i, rows.codes[i], rival), Step(tau[q])
                correct(state.memory, step, rows, at, c * own, now, state)


class Step(NamedTuple):
    """An update of a known size, as the one update of update.py asks for it."""

    size: float

    def weighted_gain(self, m, s):
        return self.size


correct_rivals = verb("correct_rivals")


@one_per_rule
def rivals_kernel(key: str) -> Kernel:
    """Return the kernel that runs rules of this class over rivals."""

    def run(rule, rows, order, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        real, count, rivals, status = state.real, state.counts, rows.V.shape[0] - 1, RUNNING
        while budget > 0 and status == RUNNING:
            position = count[POSITION]
            i = position if order.seed < 0 else order.sequence[position]
            if scattered(order):
                prefetch(rows.X, order.sequence[min(position + LOOK_AHEAD, order.sequence.shape[0] - 1)])
            if count[PLACE] == 0:
                budget -= 1
                count[VISITS] += 1
                count[RUN] += 1
            scores(rows.X, i, rows.V, rows.frame.rho, rows.scores)
            r, last = count[PLACE], rivals
            if not rows.how.every:
                smallest = np.inf
                for q in range(rivals):
                    m, _ = rival_margin(rows, i, q, state)
                    if m < smallest:
                        smallest, r = m, q
                last = r + 1
            while r < last and status == RUNNING:
                m, _ = rival_margin(rows, i, r, state)
                c, norm2 = real[FACTOR], real[NORM2]
                m *= c
                flat2 = not_negative(norm2 - bias2(rows, c, state.v))
                t, visit, total = count[UPDATES] + 1.0, float(count[VISITS]), c * real[TOTAL]
                s = Scalars(t, visit, norm2, flat2, total, rows.norms2[i], rows.frame.radius2, rows.weight[i])
                if violates(rule, m, s):
                    note(state.memory, rows, state, norm2)
                    correct_rivals(rows.how, rule, rows, i, r, m, s, state)
                    status = count_update(rule, m, s, count, max_updates)
                r += 1
            if r < last:
                count[PLACE] = r
                break
            count[PLACE] = 0
            count[POSITION] += 1
            if count[POSITION] == order.sequence.shape[0]:
                status = end_epoch(count, order, status)
        return status

    return run
