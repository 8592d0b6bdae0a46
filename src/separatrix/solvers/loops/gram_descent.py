"""Descent on the dual of the maximum margin over a working set of rows, whose Gram matrix Q is at hand.

    minimise alpha.Q.alpha/2 + sum alpha_k^2 diagonal_k/2 + sum alpha_k s_k,   0 <= alpha <= cap

with a gradient that other rows have a part in; an unpenalized intercept keeps sum alpha_k l_k as it is. Without one,
the coordinate
with the largest gain is moved to its minimum; with one, a pair, the first by its gradient and the second by its gain
(second-order selection, Fan, Chen & Lin 2005). Maxima are looked for block by block: within a block the largest value
is found in vector registers, its place only in the best block and in what is left behind the last one. Squared slack
has diagonal = 1/(2 C c) and cap = inf, hinge loss diagonal = 0 and cap = C c.
"""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.solvers.loops.extremes import larger, smaller

BLOCK = 64  # rows whose maximum is taken at once
FAR = 1e300  # beyond every slope
FLAT = 1e-12  # of the largest |y|^2: a curvature below it is one of rounding errors


@on_first_use
def descend(key: str) -> Any:
    def run(Q, diagonal, cap, alpha, gradient, enough, budget):
        """At most ``budget`` steps, until no gradient exceeds ``enough``; returns the number of steps."""
        key  # noqa: B018
        q = alpha.shape[0]
        flat = 0.0
        for k in range(q):
            flat = max(flat, FLAT * Q[k, k])
        for step in range(budget):
            best, i, to = 0.0, -1, 0.0
            for k in range(q):
                g = gradient[k]
                if g >= -enough and (alpha[k] == 0.0 or g <= enough):
                    continue
                curvature = max(Q[k, k] + diagonal[k], flat)
                target = min(max(alpha[k] - g / curvature, 0.0), cap[k])
                move = target - alpha[k]
                gain = -move * (g + 0.5 * curvature * move)
                if gain > best:
                    best, i, to = gain, k, target
            if i < 0:
                return step
            move = to - alpha[i]
            alpha[i] = to
            for k in range(q):
                gradient[k] += move * Q[i, k]
            gradient[i] += move * diagonal[i]
        return budget

    return compiled(run)


@on_first_use
def descend_pairs(key: str) -> Any:
    """With an unpenalized intercept, in signed multipliers beta_k = l_k alpha_k between ``low`` and ``high``, and
    slopes
    v_k = -l_k (gradient of alpha_k), which a pair changes by -move (K_ik - K_jk): labels no longer occur.

    Row k of K is ``rows[slot[k]]``; where it is not there, slot[k] < 0, whoever calls has to bring it. ``used`` says of
    each place when it was last used, counted in steps from ``clock``; ``square`` is K_kk + diagonal_k.
    """

    def run(rows, slot, used, clock, square, diagonal, low, high, beta, slope, enough, budget):
        """At most ``budget`` steps, until no pair of slopes is further apart than ``enough``: the number of steps, and
        the row that the next one lacks, or -1."""
        key  # noqa: B018
        q = beta.shape[0]
        whole = q // BLOCK
        grows, falls = np.empty(q), np.empty(q)  # 0 where beta_k may move that way
        flat = 0.0
        for k in range(q):
            flat = max(flat, FLAT * square[k])
            grows[k] = 0.0 if beta[k] < high[k] else -FAR
            falls[k] = 0.0 if beta[k] > low[k] else FAR
        for step in range(budget):
            top, bottom, place = -FAR, FAR, 0
            for b in range(whole):
                most, least = -FAR, FAR
                for k in range(b * BLOCK, b * BLOCK + BLOCK):
                    most = larger(most, slope[k] + grows[k])
                    least = smaller(least, slope[k] + falls[k])
                if most > top:
                    top, place = most, b * BLOCK
                bottom = min(bottom, least)
            for k in range(whole * BLOCK, q):
                if slope[k] + grows[k] > top:
                    top, place = slope[k] + grows[k], k
                bottom = min(bottom, slope[k] + falls[k])
            if top - bottom <= enough or top <= -0.5 * FAR or bottom >= 0.5 * FAR:
                return step, -1
            i = place
            while i < q - 1 and slope[i] + grows[i] != top:  # it ends also where slopes are no numbers
                i += 1
            if slot[i] < 0:
                return step, i
            row, own = rows[slot[i]], square[i]
            used[slot[i]] = clock + step
            best, place = 0.0, -BLOCK
            for b in range(whole):
                most = 0.0
                for k in range(b * BLOCK, b * BLOCK + BLOCK):
                    apart = larger(top - slope[k] - falls[k], 0.0)
                    most = larger(most, apart * apart / larger(own + square[k] - 2.0 * row[k], flat))
                if most > best:
                    best, place = most, b * BLOCK
            best, j = 0.0, -1
            for start, end in ((max(place, 0), place + BLOCK), (whole * BLOCK, q)):
                for k in range(start, end):
                    apart = max(top - slope[k] - falls[k], 0.0)
                    gain = apart * apart / max(own + square[k] - 2.0 * row[k], flat)
                    if gain > best:
                        best, j = gain, k
            if j < 0:
                return step, -1
            if slot[j] < 0:
                return step, j
            other = rows[slot[j]]
            used[slot[j]] = clock + step
            move = (top - slope[j]) / max(own + square[j] - 2.0 * row[j], flat)
            room_i, room_j = high[i] - beta[i], beta[j] - low[j]
            move = min(move, room_i, room_j)
            if move <= 0.0:
                return step, -1
            # at a bound exactly, so that the row is known to be there
            beta[i] = high[i] if move == room_i else beta[i] + move
            beta[j] = low[j] if move == room_j else beta[j] - move
            for k in range(q):
                slope[k] -= move * (row[k] - other[k])
            slope[i] -= move * diagonal[i]
            slope[j] += move * diagonal[j]
            grows[i] = 0.0 if beta[i] < high[i] else -FAR
            falls[j] = 0.0 if beta[j] > low[j] else FAR
            falls[i] = grows[j] = 0.0
        return budget, -1

    return compiled(run, any_order=True, extremes=True)


@on_first_use
def likely_rows(key: str) -> Any:
    """The rows that pairs of multipliers will ask for next: of those that are not there, slot < 0, so many with the
    largest slopes that may grow, and with the smallest that may fall."""

    def run(slot, low, high, beta, slope, count):
        key  # noqa: B018
        q = beta.shape[0]
        found = np.full((2, count), -1)
        for side in range(2):
            sign = 1.0 - 2.0 * side
            values, at, least = np.full(count, -FAR), 0, -FAR
            for k in range(q):
                if sign * slope[k] <= least or slot[k] >= 0:
                    continue
                if (beta[k] < high[k]) if side == 0 else (beta[k] > low[k]):
                    values[at], found[side, at] = sign * slope[k], k
                    at = int(np.argmin(values))
                    least = values[at]
        return found.ravel()

    return compiled(run)


@on_first_use
def add_rows(key: str) -> Any:
    """``f += sum_s change[s] rows[slots[s]]``, so many columns at a time that they stay in the cache."""

    def run(rows, slots, change, f):
        key  # noqa: B018
        for first in range(0, f.shape[0], 2048):
            end = min(first + 2048, f.shape[0])
            for s in range(slots.shape[0]):
                c, row = change[s], slots[s]
                for k in range(first, end):
                    f[k] += c * rows[row, k]

    return compiled(run, any_order=True)
