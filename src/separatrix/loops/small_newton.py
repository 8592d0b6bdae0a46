"""The finite Newton method of a soft margin (`separatrix.optimum.newton`) on a small matrix, without Python.

    minimise  sum p_j a_j^2/2 + C sum c_k max(0, 1 - a.y_k)^2

Steps p = -H^-1 g with H = diag(p) + 2C Y_A^t c Y_A on the rows A with slack, each with the exact line search; a full
step that leaves A as it was has found the minimum.
"""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use

ROUNDS, TRIALS = 60, 60
NOTHING = 1e-12  # a step, relative to the vector, that is rounding error


@on_first_use
def small_newton(key: str) -> Any:
    """``a`` moves to the minimum; returns whether it got there. ``Y``: patterns, ``penalty``: the p_j."""

    def run(Y, c, C, penalty, a):
        key  # noqa: B018  a closure cell, for numba's cache key
        n, width = Y.shape
        m, z, active = np.zeros(n), np.zeros(n), np.zeros(n, np.bool_)
        H, step = np.zeros((width, width)), np.zeros(width)
        C2, full = 2.0 * C, False
        for _ in range(ROUNDS):
            same = True
            H[:, :] = 0.0
            for j in range(width):
                H[j, j] = penalty[j]
                step[j] = -penalty[j] * a[j]
            for k in range(n):
                total = 0.0
                for j in range(width):
                    total += Y[k, j] * a[j]
                m[k] = total
                now = total < 1.0
                same = same and now == active[k]
                active[k] = now
                if now:
                    weight = C2 * c[k]
                    for i in range(width):
                        x = weight * Y[k, i]
                        step[i] += x * (1.0 - total)
                        for j in range(i + 1):
                            H[i, j] += x * Y[k, j]
            if same and full:
                return True
            for i in range(width):  # Cholesky's factor in the place of H, and the step in the place of -g
                if H[i, i] <= 0.0 and penalty[i] == 0.0:
                    H[i, i] = 1.0  # a free bias without a row that needs one
                for j in range(i + 1):
                    total = H[i, j]
                    for l in range(j):
                        total -= H[i, l] * H[j, l]
                    if i == j:
                        if not total > 0.0:
                            return False
                        H[i, i] = np.sqrt(total)
                    else:
                        H[i, j] = total / H[j, j]
                total = step[i]
                for l in range(i):
                    total -= H[i, l] * step[l]
                step[i] = total / H[i, i]
            for i in range(width - 1, -1, -1):
                total = step[i]
                for l in range(i + 1, width):
                    total -= H[l, i] * step[l]
                step[i] = total / H[i, i]
            linear = square = moved = size = 0.0
            for j in range(width):
                linear += penalty[j] * a[j] * step[j]
                square += penalty[j] * step[j] * step[j]
                moved += step[j] * step[j]
                size += a[j] * a[j]
            if moved <= NOTHING * NOTHING * size:  # beyond it a line search sees rounding errors alone
                for j in range(width):
                    a[j] += step[j]
                return True
            for k in range(n):
                total = 0.0
                for j in range(width):
                    total += Y[k, j] * step[j]
                z[k] = total
            t, low, high = 1.0, 0.0, np.inf
            for _trial in range(TRIALS):  # the zero of P'(a + t step), which is piecewise linear and grows
                slope, bend = linear + t * square, square
                for k in range(n):
                    s = 1.0 - m[k] - t * z[k]
                    if s > 0.0:
                        slope -= C2 * c[k] * s * z[k]
                        bend += C2 * c[k] * z[k] * z[k]
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
        return False

    return compiled(run, any_order=True)
