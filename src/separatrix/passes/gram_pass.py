"""Inner products of sparse patterns with each other, of which some may be known already."""

from typing import Any

import numpy as np

from separatrix.compile_cache import compiled, on_first_use


@on_first_use
def gram_pass(key: str) -> Any:
    """``out[k, l] = out[l, k] = y_i.y_j`` over ``i = index[k]``, ``j = index[l]`` with l <= k and first <= k < end,
    y = label (x, rho); CSR. Only rows that share a column meet."""

    def run(X, labels, rho, index, first, end, out):
        key  # noqa: B018  a closure cell, for numba's cache key
        stored = 0
        start = np.zeros(X.width + 1, np.int64)  # of each column's values, then where its next one goes
        for k in range(end):
            for p in range(X.indptr[index[k]], X.indptr[index[k] + 1]):
                start[X.indices[p] + 1] += 1
                stored += 1
        for c in range(X.width):
            start[c + 1] += start[c]
        row, value = np.empty(stored, np.uint32), np.empty(stored)
        beginning = start[:-1].copy()
        for k in range(end):
            i, known = index[k], k < first
            l = labels[i]
            if not known:
                for j in range(k + 1):
                    out[k, j] = rho * rho * l * labels[index[j]]
            for p in range(X.indptr[i], X.indptr[i + 1]):
                c, x = X.indices[p], l * np.float64(X.data[p])
                row[start[c]], value[start[c]] = k, x
                start[c] += 1
                if not known:
                    for q in range(beginning[c], start[c]):
                        out[k, row[q]] += x * value[q]
        for k in range(first, end):
            for j in range(k):
                out[j, k] = out[k, j]

    return compiled(run)
