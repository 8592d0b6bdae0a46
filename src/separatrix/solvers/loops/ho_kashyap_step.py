"""One iteration of Ho-Kashyap in a single pass: each row is read once for its margin and for its correction."""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.data.access import axpy, dot
from separatrix.passes.compiled import BLOCK


@on_first_use
def correct(key: str) -> Any:
    """``b += rate (e + |e|)`` with ``e = Y a - b``; then ``residual = b - Y a`` and ``out = Y^t (c residual)``.

    Returns the smallest margin, the largest e, the sum of c max(-e, 0) and that of c e^2.
    """

    def run(X, labels, rho, a, c, rate, b, residual, out):
        key  # noqa: B018
        d = out.shape[0] - 1
        bias = rho * a[d]
        smallest, largest, behind, squares = np.inf, -np.inf, 0.0, 0.0
        block = np.zeros(d + 1)
        out[:] = 0.0
        for first in range(0, b.shape[0], BLOCK):
            block[:] = 0.0
            end = min(first + BLOCK, b.shape[0])
            for i in range(first, end):
                residual[i] = labels[i] * (dot(X, i, a) + bias)
            for i in range(first, end):  # without branches: which rows are behind is hard to predict
                m = residual[i]
                e = m - b[i]
                ahead = max(e, 0.0)
                smallest, largest = min(smallest, m), max(largest, e)
                squares += c[i] * e * e
                behind += c[i] * (ahead - e)
                b[i] += 2.0 * rate * ahead
                residual[i] = b[i] - m
            for i in range(first, end):
                step = c[i] * residual[i] * labels[i]
                axpy(step, X, i, block)
                block[d] += step * rho
            out += block
        return smallest, largest, behind, squares

    return compiled(run)
