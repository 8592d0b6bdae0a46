"""Dual coordinate descent of a linear machine, a row with all its rivals at a time.

    minimise |sum alpha_kj eta_kj|^2/2 + sum alpha_kj^2 diagonal_k/2 - sum alpha_kj,   alpha >= 0

The c - 1 patterns of row k share |y_k|^2 = s: their inner products are s (1 + [j = j']), so that the minimum over the
multipliers of one row is found exactly. With g_j = 1 - m_j + s (alpha_j + sigma), sigma = sum alpha_j, it is

    alpha_j = max(0, g_j - s sigma) / (s + diagonal),   sigma = sum_A g / (s + diagonal + |A| s)

over A = {j: g_j > s sigma}, which shrinks to its place from all of g > 0 (as in Michelot 1986). Rows come in a fresh
random order in every sweep; a row without multipliers whose margins are far beyond 1 is left out of later ones.
"""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.data.access import add_row, prefetch, scores
from separatrix.online.loops.rivals import LOOK_AHEAD
from separatrix.solvers.loops.dual_coordinate_loop import shuffle


@on_first_use
def machine_sweep(key: str) -> Any:
    def run(X, codes, rho, diagonal, norm2, active, size, seed, bound, V, alpha):
        """One sweep over ``active[:size]``; returns the new size and the largest violation.

        ``norm2``: s of each row; ``diagonal``: of each row; ``alpha``: (n, c - 1), its columns the rivals in order.
        """
        key  # noqa: B018  a closure cell, for numba's cache key
        n_classes = V.shape[0]
        rivals = n_classes - 1
        out, g = np.empty(n_classes), np.empty(rivals)
        shuffle(active, size, seed)
        largest = 0.0
        k = 0
        while k < size:
            i = active[k]
            prefetch(X, active[min(k + LOOK_AHEAD, size - 1)])
            own, s, extra = codes[i], norm2[i], diagonal[i]
            scores(X, i, V, rho, out)
            sigma = 0.0
            for q in range(rivals):
                sigma += alpha[i, q]
            idle, far, violation = sigma == 0.0, np.inf, 0.0
            for q in range(rivals):
                m = out[own] - out[q if q < own else q + 1]
                gradient = m - 1.0 + extra * alpha[i, q]
                far = min(far, gradient)
                if alpha[i, q] > 0.0 or gradient < 0.0:
                    violation = max(violation, abs(gradient))
                g[q] = 1.0 - m + s * (alpha[i, q] + sigma)
            if idle and far >= 0.0:
                if far > bound:
                    size -= 1
                    active[k], active[size] = active[size], active[k]
                    continue
                k += 1
                continue
            largest = max(largest, violation)
            level, count = 0.0, -1
            while True:  # A = {g > level} only shrinks
                total, members = 0.0, 0
                for q in range(rivals):
                    if g[q] > level:
                        total += g[q]
                        members += 1
                if members == count:
                    break
                count = members
                level = s * total / (s + extra + members * s)
            change = 0.0
            for q in range(rivals):
                after = max(g[q] - level, 0.0) / (s + extra)
                step = after - alpha[i, q]
                if step != 0.0:
                    alpha[i, q] = after
                    change += step
                    add_row(-step, X, i, rho, V[q if q < own else q + 1])
            if change != 0.0:
                add_row(change, X, i, rho, V[own])
            k += 1
        return size, largest

    return compiled(run)
