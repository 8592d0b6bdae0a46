"""The dual of a small soft margin with plain slack, to machine precision and without Python.

    minimise  alpha^t G alpha/2 - sum alpha,   0 <= alpha <= cap,   G_ij = y_i.y_j

Two sweeps of coordinate descent find out which multipliers are at a bound. On the others, J, the minimum solves
G_JJ q = -gradient_J; the way there ends at the first bound that it meets, and that multiplier leaves J, until a whole
step fits. More sweeps follow until none of those at a bound wants to leave it; a last solve with the gradient as it
then is takes the rounding errors out.
"""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use

SWEEPS = 2
RIDGE = 1e-13  # of the largest |y|^2, on the diagonal: rows may depend on each other
NOTHING = 1e-13  # a gradient that is rounding error, of the sizes that it is the difference of


@on_first_use
def box_minimum(key: str) -> Any:
    """``alpha`` moves to the minimum; returns whether it got there in so many rounds."""

    def run(G, cap, alpha, rounds):
        key  # noqa: B018  a closure cell, for numba's cache key
        n = G.shape[0]
        gradient, size = np.empty(n), np.empty(n)  # and the sum of the absolute values behind it
        L, q, inside = np.empty((n, n)), np.empty(n), np.empty(n, np.int64)
        refined, largest = False, 0.0
        for i in range(n):
            largest = max(largest, G[i, i])
        for _ in range(rounds):
            for i in range(n):
                total, absolute = -1.0, 1.0
                for j in range(n):
                    if alpha[j] != 0.0:
                        total += G[i, j] * alpha[j]
                        absolute += abs(G[i, j]) * alpha[j]
                gradient[i], size[i] = total, absolute
            settled = True
            for i in range(n):
                down = gradient[i] > NOTHING * size[i] and alpha[i] > 0.0
                up = gradient[i] < -NOTHING * size[i] and alpha[i] < cap[i]
                settled = settled and not (down or up)
            if settled and refined:
                return True
            refined = settled
            for _sweep in range(0 if settled else SWEEPS):
                for i in range(n):
                    if G[i, i] > 0.0:
                        following = min(max(alpha[i] - gradient[i] / G[i, i], 0.0), cap[i])
                        step = following - alpha[i]
                        if step != 0.0:
                            alpha[i] = following
                            for j in range(n):
                                gradient[j] += step * G[i, j]
            while True:
                count = 0
                for i in range(n):
                    if 0.0 < alpha[i] < cap[i]:
                        inside[count] = i
                        count += 1
                if count == 0:
                    break
                broken = False
                for i in range(count):  # Cholesky's factor, and what it makes of the right side
                    for j in range(i + 1):
                        total = G[inside[i], inside[j]]
                        if i == j:
                            total += RIDGE * largest
                        for l in range(j):
                            total -= L[i, l] * L[j, l]
                        if i == j:
                            broken = broken or not total > 0.0
                            L[i, i] = np.sqrt(abs(total))
                        else:
                            L[i, j] = total / L[j, j]
                    total = -gradient[inside[i]]
                    for l in range(i):
                        total -= L[i, l] * q[l]
                    q[i] = total / L[i, i]
                if broken:
                    break
                for i in range(count - 1, -1, -1):
                    total = q[i]
                    for l in range(i + 1, count):
                        total -= L[l, i] * q[l]
                    q[i] = total / L[i, i]
                t, first = 1.0, -1
                for i in range(count):
                    k = inside[i]
                    room = cap[k] - alpha[k] if q[i] > 0.0 else alpha[k]
                    if abs(q[i]) * t > room:
                        t, first = room / abs(q[i]), i
                for i in range(count):
                    k = inside[i]
                    step = t * q[i]
                    before = alpha[k]
                    if i == first:
                        alpha[k] = cap[k] if q[i] > 0.0 else 0.0
                    else:
                        alpha[k] = min(max(before + step, 0.0), cap[k])
                    step = alpha[k] - before
                    for j in range(n):
                        gradient[j] += step * G[k, j]
                if first < 0:
                    break
        return False

    return compiled(run, any_order=True)
