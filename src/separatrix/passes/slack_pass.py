"""The slacks of a soft margin's vector, their sums and what they pull at, in one pass that keeps no number per row."""

import numpy as np

from separatrix.compile_cache import Kernel, compiled, on_first_use
from separatrix.data.access import axpy, dot
from separatrix.passes.compiled import BLOCK


@on_first_use
def slack_pass(key: str) -> Kernel:
    """Over the rows with slack s = 1 - a.y > 0: ``pull += sum c s y`` by sums over ``rows`` rows; returns the sums of
    c s^2 and c s, how many they are, the smallest margin of all, and the sum of c over margins below ``almost``."""

    def run(X, labels, rho, c, a, almost, rows, pull):
        key  # noqa: B018  a closure cell, for numba's cache key
        n, d = labels.shape[0], a.shape[0] - 1
        bias, smallest, active = rho * a[d], np.inf, 0
        squares = slack = near = 0.0
        block = pull if n <= rows else np.zeros(d + 1)
        for first in range(0, n, BLOCK):
            block_squares = block_slack = block_near = 0.0
            end = min(first + BLOCK, n)
            for i in range(first, end):
                m = labels[i] * (dot(X, i, a) + bias)
                smallest = min(smallest, m)
                if m < almost:
                    block_near += c[i]
                if m < 1.0:
                    active += 1
                    cs = c[i] * (1.0 - m)
                    block_slack += cs
                    block_squares += cs * (1.0 - m)
                    axpy(cs * labels[i], X, i, block)
                    block[d] += cs * labels[i] * rho
            squares += block_squares
            slack += block_slack
            near += block_near
            if n > rows and (end % rows == 0 or end == n):
                for j in range(d + 1):
                    pull[j] += block[j]
                    block[j] = 0.0
        return squares, slack, active, smallest, near

    return compiled(run)
