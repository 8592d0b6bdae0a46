"""Descent on the dual of the maximum margin over a working set of rows, whose Gram matrix Q is at hand.

    minimise alpha.Q.alpha/2 + sum alpha_k^2 diagonal_k/2 + sum alpha_k s_k,   0 <= alpha <= cap

with a gradient that other rows have a part in; a free bias keeps sum alpha_k l_k as it is. Without one, the coordinate
with the largest gain is moved to its minimum; with one, a pair, the first by its gradient and the second by its gain
(second-order selection, Fan, Chen & Lin 2005). Maxima are looked for block by block: within a block the largest value
is found in vector registers, its place only in the best block. Squared slack has diagonal = 1/(2 C c) and cap = inf,
plain slack diagonal = 0 and cap = C c.
"""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use

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
    """With a free bias, in signed multipliers beta_k = l_k alpha_k between ``low`` and ``high``, and slopes
    v_k = -l_k (gradient of alpha_k), which a pair changes by -move (K_ik - K_jk): labels no longer occur."""

    def run(K, diagonal, low, high, beta, slope, enough, budget):
        """At most ``budget`` steps, until no pair of slopes is further apart than ``enough``; K has no labels."""
        key  # noqa: B018
        q = beta.shape[0]
        grows, falls, square = np.empty(q), np.empty(q), np.empty(q)  # 0 where beta_k may move that way
        flat = 0.0
        for k in range(q):
            flat = max(flat, FLAT * K[k, k])
            grows[k] = 0.0 if beta[k] < high[k] else -FAR
            falls[k] = 0.0 if beta[k] > low[k] else FAR
            square[k] = K[k, k] + diagonal[k]
        for step in range(budget):
            top, bottom, place = -FAR, FAR, 0
            for first in range(0, q, BLOCK):
                most, least = -FAR, FAR
                for k in range(first, min(first + BLOCK, q)):
                    most = max(most, slope[k] + grows[k])
                    least = min(least, slope[k] + falls[k])
                if most > top:
                    top, place = most, first
                bottom = min(bottom, least)
            if top - bottom <= enough or top <= -0.5 * FAR or bottom >= 0.5 * FAR:
                return step
            i = place
            while slope[i] + grows[i] != top:
                i += 1
            row, own = K[i], square[i]
            best, place = 0.0, -1
            for first in range(0, q, BLOCK):
                most = 0.0
                for k in range(first, min(first + BLOCK, q)):
                    apart = max(top - slope[k] - falls[k], 0.0)
                    most = max(most, apart * apart / max(own + square[k] - 2.0 * row[k], flat))
                if most > best:
                    best, place = most, first
            best, j = 0.0, -1
            for k in range(max(place, 0), min(place + BLOCK, q) if place >= 0 else 0):
                apart = max(top - slope[k] - falls[k], 0.0)
                gain = apart * apart / max(own + square[k] - 2.0 * row[k], flat)
                if gain > best:
                    best, j = gain, k
            if j < 0:
                return step
            move = (top - slope[j]) / max(own + square[j] - 2.0 * row[j], flat)
            room_i, room_j = high[i] - beta[i], beta[j] - low[j]
            move = min(move, room_i, room_j)
            if move <= 0.0:
                return step
            # at a bound exactly, so that the row is known to be there
            beta[i] = high[i] if move == room_i else beta[i] + move
            beta[j] = low[j] if move == room_j else beta[j] - move
            other = K[j]
            for k in range(q):
                slope[k] -= move * (row[k] - other[k])
            slope[i] -= move * diagonal[i]
            slope[j] += move * diagonal[j]
            grows[i] = 0.0 if beta[i] < high[i] else -FAR
            falls[j] = 0.0 if beta[j] > low[j] else FAR
            falls[i] = grows[j] = 0.0
        return budget

    return compiled(run, any_order=True, extremes=True)


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
