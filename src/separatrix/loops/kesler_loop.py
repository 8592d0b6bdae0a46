"""The loop of linear machines: every additive rule in Kesler's space, which is never written out (DHS 5.12.1).

A machine has a vector a_j per category; row k of category i stands for c - 1 patterns, one per rival j:

    eta_kj has y_k = scale (x_k, rho) in block i and -y_k in block j, and the extension Delta e_kj;   m = (a_i - a_j).y
    if the rule is violated:   a <- shrink (keep a + gain eta_kj)                              (eq. 115: gain 1)

A visit to a row looks at its strongest rival, the one with the smallest m, or at every rival in turn. ``state.v`` holds
the blocks one after the other, ``state.alpha`` the multiples of the patterns, row by row, or nothing.
"""

from functools import cache
from typing import Any

import numpy as np
from numba.extending import overload, register_jitable

from separatrix.compile_cache import compiled, importable, on_first_use, shared_digest
from separatrix.loops.averaging import Mean, Nothing, Pocket, Voters
from separatrix.loops.order import draw
from separatrix.loops.state import (
    CONVERGED,
    DOUBT,
    EPOCHS,
    EXHAUSTED,
    FACTOR,
    FRESH,
    NORM2,
    PLACE,
    POSITION,
    RUN,
    RUNNING,
    SPREAD,
    TOTAL,
    UPDATES,
    VISITS,
    rescale,
    squared_length,
)
from separatrix.rows.access import add_row, prefetch, scores
from separatrix.rules.base import Scalars, digest, keep, negligible, shrink, violates, weighted_gain

LOOSE = 1e4  # |a|^2 is summed anew when its rounding error may be that many times the unit roundoff
LOOK_AHEAD = 3  # visits between asking for a row and using it; a visit takes longer than that of a hyperplane
BLOCK = 512  # rows summed before they enter the total


@register_jitable
def bias2(V):
    """The squared length of the bias coordinates."""
    s, d = 0.0, V.shape[1] - 1
    for j in range(V.shape[0]):
        s += V[j, d] * V[j, d]
    return s


@register_jitable
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


# What a fit remembers besides the current machine, as memory.py says it for a hyperplane.


def _ignore(memory, X, codes, i, j, rho, V, g, visits, run):
    return None


def _average(memory, X, codes, i, j, rho, V, g, visits, run):
    late = memory.late.reshape(V.shape)
    add_row(g * (visits - 1), X, i, rho, late[codes[i]])
    add_row(-g * (visits - 1), X, i, rho, late[j])


def _vote(memory, X, codes, i, j, rho, V, g, visits, run):
    last = np.argmin(memory.votes)
    votes = min(run + 1, visits - 1)
    if votes > memory.votes[last]:
        memory.votes[last] = votes
        memory.vectors[last] = V.ravel()


def _pocket(memory, X, codes, i, j, rho, V, g, visits, run):
    if run <= memory.best[0]:
        return
    if memory.ratchet:
        out, errors = np.empty(V.shape[0]), 0
        for k in range(codes.shape[0]):
            scores(X, k, V, rho, out)
            for r in range(V.shape[0]):
                if r != codes[k] and out[r] >= out[codes[k]]:
                    errors += 1
                    break
        if errors >= memory.best[1]:
            return
        memory.best[1] = errors
    memory.best[0] = run
    memory.best[2] += 1
    memory.vector[:] = V.ravel()


_NOTES = {Nothing: _ignore, Mean: _average, Voters: _vote, Pocket: _pocket}


def note(memory, X, codes, i, j, rho, V, g, visits, run):
    """Called just before an update by g times the pattern of row i and rival j."""
    return _NOTES[type(memory)](memory, X, codes, i, j, rho, V, g, visits, run)


@overload(note)
def _note(memory, X, codes, i, j, rho, V, g, visits, run):
    return _NOTES[memory.instance_class]


@cache
def machine_kernel(rule_class: type) -> Any:
    key = digest(rule_class)
    return _make(shared_digest() + key, importable(rule_class), f"{rule_class.__qualname__}-{key[:12]}")


def _make(key: str, cacheable: bool, name: str) -> Any:
    def run(rule, X, codes, order, weight, norm2, frame, state, budget, max_updates, categories, every):
        key  # noqa: B018  a closure cell, for numba's cache key
        v, real, count, rho, delta2 = state.v, state.real, state.counts, frame.rho, frame.delta2
        n, rivals, keeping = codes.shape[0], categories - 1, state.alpha.shape[0] > 0
        V = v.reshape((categories, v.shape[0] // categories))
        alpha = state.alpha.reshape((n if keeping else 0, rivals))
        c, nn, total, spread, doubt = real[FACTOR], real[NORM2], real[TOTAL], real[SPREAD], real[DOUBT]
        position, fresh, epochs, place = count[POSITION], count[FRESH], count[EPOCHS], count[PLACE]
        updates, visits, survived = count[UPDATES], count[VISITS], count[RUN]
        out = np.empty(categories)
        status = RUNNING
        while budget > 0 and status == RUNNING:
            i = position
            if order.seed >= 0:
                i = order.sequence[position]
                prefetch(X, order.sequence[min(position + LOOK_AHEAD, n - 1)])
            code = codes[i]
            if place == 0:
                budget -= 1
                visits += 1
                survived += 1
            scores(X, i, V, rho, out)
            r, last = place, rivals
            if not every:
                smallest = np.inf
                for q in range(rivals):
                    m = (out[code] - out[q if q < code else q + 1]) * frame.scale
                    if delta2 > 0.0:
                        m += delta2 * alpha[i, q]
                    if m < smallest:
                        smallest, r = m, q
                last = r + 1
            while r < last and status == RUNNING:
                j = r if r < code else r + 1
                m = (out[code] - out[j]) * frame.scale
                if delta2 > 0.0:
                    m += delta2 * alpha[i, r]
                m *= c
                flat2 = max(nn - c * c * bias2(V), 0.0)
                s = Scalars(updates + 1.0, float(visits), nn, flat2, c * total, norm2[i], frame.radius2, weight[i])
                if violates(rule, m, s):
                    g = weighted_gain(rule, m, s)
                    k = keep(rule, m, s)
                    note(state.memory, X, codes, i, j, rho, V, g * frame.scale, visits, survived - 1)
                    whole = k * k * nn + g * g * norm2[i]
                    doubt = k * k * doubt + 2.0 * whole
                    nn = max(whole + 2.0 * k * g * m, 0.0)
                    c *= k
                    if c == 0.0:
                        rescale(v, 0.0)
                        rescale(state.alpha, 0.0)
                        rescale(out, 0.0)
                        total, spread, c = 0.0, 0.0, 1.0
                    step = g * frame.scale / c
                    add_row(step, X, i, rho, V[code])
                    add_row(-step, X, i, rho, V[j])
                    # What the correction does to the scores of this row: it matters to the rivals that follow.
                    change = g / c * 0.5 * (norm2[i] - delta2) / frame.scale
                    out[code] += change
                    out[j] -= change
                    if delta2 > 0.0:
                        spread += (2.0 * alpha[i, r] + g / c) * g / c
                    if keeping:
                        alpha[i, r] += g / c
                    total += g / c
                    if k != 1.0:
                        remove_common(V)
                    if k != 1.0 or doubt > LOOSE * nn:
                        nn, doubt = c * c * (squared_length(v) + delta2 * spread), 0.0
                    updates += 1
                    survived = 0
                    if not negligible(rule, m, s):
                        fresh += 1
                    flat2 = max(nn - c * c * bias2(V), 0.0)
                    after = Scalars(
                        updates + 1.0, float(visits), nn, flat2, c * total, norm2[i], frame.radius2, weight[i]
                    )
                    k = shrink(rule, after)
                    if k != 1.0:
                        c *= k
                        nn *= k * k
                        doubt *= k * k
                    if c < 1e-100 or c > 1e100:
                        rescale(v, c)
                        rescale(state.alpha, c)
                        rescale(out, c)
                        total, spread, c = total * c, spread * c * c, 1.0
                    if updates >= max_updates:
                        status = EXHAUSTED
                r += 1
            if r < last:
                place = r
                break
            place = 0
            position += 1
            if position == n:
                position = 0
                epochs += 1
                if fresh == 0:
                    status = CONVERGED
                fresh = 0
                draw(order, epochs)
        real[FACTOR], real[NORM2], real[TOTAL], real[SPREAD], real[DOUBT] = c, nn, total, spread, doubt
        count[POSITION], count[FRESH], count[EPOCHS], count[PLACE] = position, fresh, epochs, place
        count[UPDATES], count[VISITS], count[RUN] = updates, visits, survived
        return status

    run.__qualname__ = f"run-{name}"
    return compiled(run, cacheable)


# Single passes over the data, for all categories at once.


@on_first_use
def all_scores(key: str) -> Any:
    """``out[i, j] = V[j].(x_i, rho)``."""

    def run(X, rho, V, out):
        key  # noqa: B018
        for i in range(out.shape[0]):
            scores(X, i, V, rho, out[i])

    return compiled(run)


@on_first_use
def combination(key: str) -> Any:
    """``out[j] = sum_k B[k, j] (x_{i_k}, rho)`` over ``i = index``; B is mostly zeros."""

    def run(X, rho, index, B, out):
        key  # noqa: B018
        block = np.zeros(out.shape)
        for first in range(0, index.shape[0], BLOCK):
            block[:] = 0.0
            for k in range(first, min(first + BLOCK, index.shape[0])):
                for j in range(B.shape[1]):
                    if B[k, j] != 0.0:
                        add_row(B[k, j], X, index[k], rho, block[j])
            out += block

    return compiled(run)
