"""Dual coordinate descent of a linear machine, a row at a time (Keerthi, Sundararajan, Chang, Hsieh & Lin 2008).

    minimise  sum_m |w_m|^2/2 + sum_i sum_(m != y_i) b_im,   w_m = sum_i b_im y_i
    subject to  b_im <= C_i if m = y_i, else 0;   sum_m b_im = 0

-b_im is the multiplier of row i against its rival m. The b of one row, all others fixed, are found exactly: with
A = |y_i|^2 and B_m = w_m.y_i + [m != y_i] - A b_im they are min(cap_m, (t - B_m)/A), t such that their sum is 0, which
sorting gives (LIBLINEAR's solver 4).
"""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.data.access import add_row, scores


@on_first_use
def sweep(key: str) -> Any:
    def run(X, codes, rho, caps, norm2, order, V, multiples, scratch):
        """Visit the rows of ``order``; returns the largest change of a multiple times |y|."""
        key  # noqa: B018  a closure cell, for numba's cache key
        n_classes, largest = V.shape[0], 0.0
        linear, ranked = scratch[0], scratch[1]
        for k in range(order.shape[0]):
            i = order[k]
            own, cap, A = codes[i], caps[i], norm2[i]
            if not A > 0.0:  # its slack is 1 whatever the vectors: one rival takes all
                multiples[i, :] = 0.0
                multiples[i, own] = cap
                multiples[i, 1 if own == 0 else 0] = -cap
                continue
            scores(X, i, V, rho, linear)
            for m in range(n_classes):
                linear[m] += (0.0 if m == own else 1.0) - A * multiples[i, m]
                value = linear[m] + (A * cap if m == own else 0.0)
                place = m
                while place > 0 and ranked[place - 1] < value:
                    ranked[place] = ranked[place - 1]
                    place -= 1
                ranked[place] = value
            # Without rounding errors where the row needs no multiples: these are exactly 0 then.
            t, count = linear[own] if ranked[0] == linear[own] + A * cap else ranked[0] - A * cap, 1
            while count < n_classes and t < count * ranked[count]:
                t += ranked[count]
                count += 1
            t /= count
            for m in range(n_classes):
                now = min(cap if m == own else 0.0, (t - linear[m]) / A)
                step = now - multiples[i, m]
                if step != 0.0:
                    multiples[i, m] = now
                    add_row(step, X, i, rho, V[m])
                    largest = max(largest, abs(step) * np.sqrt(A))
        return largest

    return compiled(run)
