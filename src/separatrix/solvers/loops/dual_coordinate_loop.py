"""Dual coordinate descent (Hsieh, Chang, Lin, Keerthi & Sundararajan 2008, algorithm 2, with shrinking).

    minimise |sum alpha_k y_k|^2/2 + sum alpha_k^2 diagonal_k/2 - sum alpha_k,   0 <= alpha <= cap

Squared slack has diagonal = 1/(2 C c) and cap = inf, hinge loss diagonal = 0 and cap = C c. It is minimised
one coordinate at a time, in a fresh random order for every sweep: visiting rows as they come needs ten times more
sweeps. Rows are asked for ahead of time, which halves the price of the random order.
"""

from typing import Any

import numpy as np
from numba.extending import register_jitable

from separatrix.compile_cache import compiled, on_first_use
from separatrix.data.access import axpy, dot, prefetch
from separatrix.online.loops.order import mix

LOOK_AHEAD = 6
HALF_WAY = 0.5  # of the gap that a sweep sees is left at its end, at most
SMALLEST = 1e-300  # curvature whose inverse is a float


@register_jitable
def shuffle(active, size, seed):
    """Put ``active[:size]`` into the random order of a sweep (Fisher-Yates)."""
    state = mix(np.uint64(seed))
    for i in range(size - 1, 0, -1):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        j = np.int64(((mix(state) >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32))
        active[i], active[j] = active[j], active[i]


@register_jitable
def sweep(X, labels, rho, diagonal, cap, inverse, active, size, seed, bound, a, alpha):
    """One sweep over ``active[:size]``; returns the new size, the largest violation and P - D as it was on the way.

    A row at a bound whose gradient points outwards by more than ``bound`` is shrunk away. The price of a slack s
    is max t s - t^2 diagonal/2 over 0 <= t <= cap: C c s^2, or C c s. With the t of each row

        P - D = sum_k (t_k - alpha_k) (1 - m_k - (t_k + alpha_k) diagonal_k/2),   m_k = a.y_k

    and no term is negative. Each is taken when its row is visited, before alpha_k changes. (P from such m_k and D from
    the sums at the end of the sweep would not do: their difference is mostly that the m_k are not of one vector.)
    """
    d = a.shape[0] - 1
    shuffle(active, size, seed)
    largest = apart = 0.0
    k = 0
    while k < size:
        i = active[k]
        prefetch(X, active[min(k + LOOK_AHEAD, size - 1)])
        l = labels[i]
        m = l * (dot(X, i, a) + rho * a[d])
        gradient = m - 1.0 + alpha[i] * diagonal[i]
        t = 0.0
        if m < 1.0:
            t = cap[i] if diagonal[i] == 0.0 else min((1.0 - m) / diagonal[i], cap[i])
            if t == np.inf:  # no slack: P counts what is without it
                t = 0.0
        apart += (t - alpha[i]) * (1.0 - m - 0.5 * (t + alpha[i]) * diagonal[i])
        if (alpha[i] == 0.0 and gradient >= 0.0) or (alpha[i] == cap[i] and gradient <= 0.0):
            if abs(gradient) > bound:
                size -= 1
                active[k], active[size] = active[size], active[k]
                continue
        else:
            largest = max(largest, abs(gradient))
            before = alpha[i]
            alpha[i] = min(max(before - gradient * inverse[i], 0.0), cap[i])
            step = alpha[i] - before
            if step != 0.0:
                axpy(step * l, X, i, a)
                a[d] += step * l * rho
        k += 1
    return size, largest, apart


@register_jitable
def relative(diagonal, a, alpha, apart):
    """(P - D)/P, with the D at the end of a sweep."""
    square = total = 0.0
    for j in range(a.shape[0]):
        square += a[j] * a[j]
    for k in range(alpha.shape[0]):
        total += alpha[k] - 0.5 * alpha[k] * alpha[k] * diagonal[k]
    primal = total - 0.5 * square + apart
    return apart / primal if primal > 0.0 else 1.0


@register_jitable
def at_the_end(now, before):
    """The gap at the end of a sweep, from what this one and the one before saw on their way: nearly free, and good
    enough to know when to look.

    What this one saw is about what the one before left. So the factor is that of the gaps, where they are small. At
    first they are near 1, because P is far above D, and hardly differ while (P - D)/D falls by orders of magnitude:
    the factor between both comes closest. Where rows meet each other often, half of the gap is left.
    """
    if not before < 1.0:
        return HALF_WAY * now
    factor = now / before * np.sqrt((1.0 - before) / (1.0 - now)) if 0.0 < now < 1.0 and before > 0.0 else 1.0
    return now * min(factor, HALF_WAY)


@on_first_use
def sweeps(key: str) -> Any:
    """``most`` sweeps, the first with number ``count``, or fewer: until the gap seems to be ``<= tol``, or no row is
    active. The gaps that they see on their way go to ``seen``. From the sweep with number ``first`` on they also end
    where the gap, as it fell in the ``recent`` ones, would take more than ``too_far`` sweeps to ``tol``.

    Returns the rows that are active, the bound of the next sweep, the number of sweeps so far, the visits of these, and
    whether they were too slow.
    """

    def run(
        X, labels, rho, diagonal, cap, norm2, active, size, count, bound, a, alpha, seen, tol, most, first, recent,
        too_far,
    ):  # fmt: skip
        key  # noqa: B018  a closure cell, for numba's cache key
        visits, slow, end = 0, False, count + most
        inverse = np.zeros(norm2.shape[0])  # of the curvature; a row without goes to its cap, or stays if there is none
        for k in range(norm2.shape[0]):
            curvature = norm2[k] + diagonal[k]
            inverse[k] = 1.0 / curvature if curvature > SMALLEST else 1.0 / SMALLEST if np.isfinite(cap[k]) else 0.0
        while count < end:
            size, largest, apart = sweep(X, labels, rho, diagonal, cap, inverse, active, size, count, bound, a, alpha)
            visits += size
            bound = largest if largest > 0.0 else np.inf
            now = relative(diagonal, a, alpha, apart)
            seen[count] = now
            reached = at_the_end(now, seen[count - 1] if count else 1.0) <= tol
            count += 1
            if count >= first and not reached:
                before = seen[count - recent - 1]
                slow = not now < before or recent * np.log(now / tol) > too_far * np.log(before / now)
            if slow or reached or size == 0:
                break
        return size, bound, count, visits, slow

    return compiled(run)
