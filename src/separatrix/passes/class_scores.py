"""Single passes over the data for the vectors of all classes at once."""

import numpy as np

from separatrix.compile_cache import Kernel, compiled, on_first_use
from separatrix.data.access import add_row, scores

BLOCK = 512  # rows summed before they enter the total


@on_first_use
def all_scores(key: str) -> Kernel:
    """``out[i, j] = V[j].(x_i, rho)``."""

    def run(X, rho, V, out):
        key  # noqa: B018
        for i in range(out.shape[0]):
            scores(X, i, V, rho, out[i])

    return compiled(run)


@on_first_use
def combination(key: str) -> Kernel:
    """``out[j] = sum_k B[k, j] (x_{i_k}, rho)`` over ``i = index``; B is mostly zeros."""

    def run(X, rho, index, B, out):
        key  # noqa: B018
        block = np.zeros(out.shape)
        for first in range(0, index.shape[0], BLOCK):
            block[:] = 0.0
            for k in range(first, min(first + BLOCK, index.shape[0])):
                for j in range(B.shape[1]):
                    if B[k, j] != 0.0:
                        add_row(B[k, j], X, index[k], rho, block[j])
            out += block

    return compiled(run)
