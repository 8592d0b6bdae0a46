"""Newton's method for small soft margins (`separatrix.solvers.engine`), without Python.

    minimise  L(a) = sum p_j a_j^2/2 + sum h_k(a.y_k),   -h_k'(m) = clip(u, 0, cap_k),   u = alpha_k + sigma_k (1 - m)

Squared slack has alpha = 0, sigma = 2 C c and no cap: L is the criterion itself. hinge loss has the cap C c, and L is
the augmented Lagrangian of its multipliers alpha: where it is minimised, clip(u) are better ones, and sigma grows, from
stage to stage. Steps p = -H^-1 g with H = diag(p) + sum sigma_k y_k y_k^t over the rows with 0 < u < cap, each with the
exact line search; a full step that leaves every row between the same bounds has found the minimum. H is kept from step
to step, because few rows change.
"""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.data.access import axpy, dot, outer, square

ROUNDS, TRIALS = 60, 60
NOTHING = 1e-12  # a step, relative to the vector, that is rounding error
NEGLIGIBLE = 1e-8 * 2.0**52  # the sum of what left H, whose rounding errors stay, against the 1 of the penalty
GROW = 4.0  # of sigma from stage to stage
SETTLED = 1e-13  # how far a margin may be from where its multiplier wants it


@on_first_use
def small_newton(key: str) -> Any:
    """``a`` moves to the minimum, and ``alpha`` and ``sigma`` with it where there are several ``stages``; returns
    whether they got there. ``X``: rows, whose patterns are labels (x, rho); ``penalty``: the p_j."""

    def run(X, labels, rho, alpha, sigma, cap, penalty, a, stages):
        key  # noqa: B018  a closure cell, for numba's cache key
        n, width = labels.shape[0], a.shape[0]
        d = width - 1
        m, z, place = np.zeros(n), np.zeros(n), np.zeros(n, np.int8)  # place: at 0, between, or at the cap
        H, L, step = np.zeros((width, width)), np.zeros((width, width)), np.zeros(width)
        entering, leaving, c = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n)
        for _stage in range(stages):
            full, found, between, removed = False, False, 0, np.inf
            place[:] = 0
            for _ in range(ROUNDS):
                same, count, gone = True, 0, 0
                for j in range(width):
                    step[j] = -penalty[j] * a[j]
                for k in range(n):
                    m[k] = labels[k] * (dot(X, k, a) + rho * a[d])
                    u = alpha[k] + sigma[k] * (1.0 - m[k])
                    now = 0 if u <= 0.0 else (1 if u < cap[k] else 2)
                    if now > 0:
                        v = labels[k] * min(u, cap[k])
                        axpy(v, X, k, step)
                        step[d] += v * rho
                    if now != place[k]:
                        same = False
                        if now == 1:
                            entering[count] = k
                            count += 1
                        elif place[k] == 1:
                            leaving[gone] = k
                            gone += 1
                            removed += sigma[k] * (square(X, k) + rho * rho)
                        place[k] = now
                if same and full:
                    found = True
                    break
                between += count - gone
                if count + gone > between or not removed <= NEGLIGIBLE:
                    H[:, :] = 0.0
                    for j in range(width):
                        H[j, j] = penalty[j]
                    removed, count, gone = 0.0, 0, 0
                    for k in range(n):
                        if place[k] == 1:
                            entering[count] = k
                            count += 1
                for k in range(count):
                    c[k] = sigma[entering[k]]
                outer(X, rho, entering[:count], c, H)
                for k in range(gone):
                    c[k] = -sigma[leaving[k]]
                outer(X, rho, leaving[:gone], c, H)
                for i in range(width):  # Cholesky's factor, and the step in the place of -g
                    for j in range(i + 1):
                        total = H[i, j]
                        for l in range(j):
                            total -= L[i, l] * L[j, l]
                        if i == j:
                            if H[i, i] <= 0.0 and penalty[i] == 0.0:
                                total = 1.0  # an unpenalized intercept without a row that needs one
                            if not total > 0.0:
                                return False
                            L[i, i] = np.sqrt(total)
                        else:
                            L[i, j] = total / L[j, j]
                    total = step[i]
                    for l in range(i):
                        total -= L[i, l] * step[l]
                    step[i] = total / L[i, i]
                for i in range(width - 1, -1, -1):
                    x = step[i] / L[i, i]
                    step[i] = x
                    for l in range(i):
                        step[l] -= L[i, l] * x
                linear = bent = moved = size = 0.0
                for j in range(width):
                    linear += penalty[j] * a[j] * step[j]
                    bent += penalty[j] * step[j] * step[j]
                    moved += step[j] * step[j]
                    size += a[j] * a[j]
                if moved <= NOTHING * NOTHING * size:  # beyond it a line search sees rounding errors alone
                    for j in range(width):
                        a[j] += step[j]
                    found = True
                    break
                for k in range(n):
                    z[k] = labels[k] * (dot(X, k, step) + rho * step[d])
                t, low, high = 1.0, 0.0, np.inf
                for _trial in range(TRIALS):  # the zero of L'(a + t step), which is piecewise linear and grows
                    slope, bend = linear + t * bent, bent
                    for k in range(n):
                        u = alpha[k] + sigma[k] * (1.0 - m[k] - t * z[k])
                        slope -= min(max(u, 0.0), cap[k]) * z[k]
                        bend += sigma[k] * z[k] * z[k] if 0.0 < u < cap[k] else 0.0
                    if slope < 0.0:
                        low = t
                    else:
                        high = t
                    following = t - slope / bend if bend > 0.0 else t
                    if not low < following < high:
                        following = 2.0 * t if np.isinf(high) else 0.5 * (low + high)
                    if slope == 0.0 or abs(following - t) <= 1e-13 * t:
                        break
                    t = following
                full = abs(t - 1.0) <= 1e-9
                for j in range(width):
                    a[j] += step[j] if full else t * step[j]
            if not found or stages == 1:
                return found
            worst = 0.0
            for k in range(n):
                better = min(max(alpha[k] + sigma[k] * (1.0 - m[k]), 0.0), cap[k])
                worst = max(worst, abs(better - alpha[k]) / sigma[k])
                alpha[k] = better
                sigma[k] *= GROW
            if worst <= SETTLED:
                return True
        return False

    return compiled(run, any_order=True)
