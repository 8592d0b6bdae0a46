"""Single passes over the data, dense or CSR, in float64 whatever the data's type, without copies of the data."""

import numpy as np

from separatrix.compile_cache import Kernel, compiled, on_first_use
from separatrix.data.access import add_row, axpy, dot, largest, outer, scores, square

BLOCK = 512  # rows summed before they enter the total: rounding errors grow with n/BLOCK + BLOCK instead of n


@on_first_use
def squares(key: str) -> Kernel:
    """``out[i] = |x_i|^2``."""

    def run(X, out):
        key  # noqa: B018
        for i in range(out.shape[0]):
            out[i] = square(X, i)

    return compiled(run)


@on_first_use
def peaks(key: str) -> Kernel:
    """``out[i] = max_j |x_ij|``."""

    def run(X, out):
        key  # noqa: B018
        for i in range(out.shape[0]):
            out[i] = largest(X, i)

    return compiled(run)


@on_first_use
def products(key: str) -> Kernel:
    """``out[i] = labels[i] (x_i.v + rho v_d)``."""

    def run(X, labels, rho, v, out):
        key  # noqa: B018
        bias = rho * v[v.shape[0] - 1]
        for i in range(out.shape[0]):
            out[i] = labels[i] * (dot(X, i, v) + bias)

    return compiled(run)


@on_first_use
def products_of(key: str) -> Kernel:
    """``out[k] = labels[i] (x_i.v + rho v_d)`` over ``i = index[k]``."""

    def run(X, labels, rho, index, v, out):
        key  # noqa: B018
        bias = rho * v[v.shape[0] - 1]
        for k in range(index.shape[0]):
            out[k] = labels[index[k]] * (dot(X, index[k], v) + bias)

    return compiled(run)


@on_first_use
def combination(key: str) -> Kernel:
    """``out += sum_k alpha[k] labels[i_k] (x_{i_k}, rho)`` over ``i = index``, by sums over so many rows."""

    def run(X, labels, rho, index, alpha, rows, out):
        key  # noqa: B018
        d = out.shape[0] - 1
        block = out if index.shape[0] <= rows else np.zeros(d + 1)
        for first in range(0, index.shape[0], rows):
            for k in range(first, min(first + rows, index.shape[0])):
                step = alpha[k] * labels[index[k]]
                axpy(step, X, index[k], block)
                block[d] += step * rho
            if index.shape[0] > rows:
                for c in range(d + 1):
                    out[c] += block[c]
                    block[c] = 0.0

    return compiled(run)


@on_first_use
def written_out(key: str) -> Kernel:
    """``out[k] = c[k] (x_i, rho)`` over ``i = index[k]``."""

    def run(X, rho, index, c, out):
        key  # noqa: B018
        d = out.shape[1] - 1
        for k in range(index.shape[0]):
            out[k] = 0.0
            axpy(c[k], X, index[k], out[k])
            out[k, d] = c[k] * rho

    return compiled(run)


@on_first_use
def outer_products(key: str) -> Kernel:
    """``out += sum_k c[k] y y^t`` over the rows ``i = index``, y = (x_i, rho); CSR, for a small number of columns."""

    def run(X, rho, index, c, out):
        key  # noqa: B018
        outer(X, rho, index, c, out)

    return compiled(run)


@on_first_use
def slack_sums(key: str) -> Kernel:
    """Over the rows with s = 1 - m - t z > 0: the sums of c s^2, c s z and c z^2."""

    def run(m, z, c, t):
        key  # noqa: B018
        squares = products = curvature = 0.0
        for k in range(m.shape[0]):
            s = max(1.0 - m[k] - t * z[k], 0.0)
            squares += c[k] * s * s
            products += c[k] * s * z[k]
            curvature += c[k] * z[k] * z[k] if s > 0.0 else 0.0
        return squares, products, curvature

    return compiled(run, any_order=True)


@on_first_use
def signed_row(key: str) -> Kernel:
    """``out[k] = c labels[k] (row[k] + shift)``."""

    def run(row, shift, c, labels, out):
        key  # noqa: B018
        for k in range(out.shape[0]):
            out[k] = c * labels[k] * (row[k] + shift)

    return compiled(run)


@on_first_use
def clipped_sums(key: str) -> Kernel:
    """With u = shift + s (1 - m - t z): the sums of clip(u, 0, cap) z, and of s z^2 over 0 < u < cap."""

    def run(shift, cap, s, m, z, t):
        key  # noqa: B018
        products = curvature = 0.0
        for k in range(m.shape[0]):
            u = shift[k] + s[k] * (1.0 - m[k] - t * z[k])
            products += min(max(u, 0.0), cap[k]) * z[k]
            curvature += s[k] * z[k] * z[k] if 0.0 < u < cap[k] else 0.0
        return products, curvature

    return compiled(run, any_order=True)


@on_first_use
def clip_multipliers(key: str) -> Kernel:
    """Move ``alpha`` to clip(u, 0, cap), u = shift + s (1 - m), and ``face`` to 0 < u < cap. Return how many
    multipliers changed, with their rows and changes first in ``rows`` and ``change``, and how many rows of the face.
    """

    def run(shift, cap, s, m, alpha, face, rows, change):
        key  # noqa: B018
        count = crossed = 0
        for k in range(m.shape[0]):
            u = shift[k] + s[k] * (1.0 - m[k])
            t = min(max(u, 0.0), cap[k])
            between = 0.0 < u < cap[k]
            if between != face[k]:
                face[k] = between
                crossed += 1
            if t != alpha[k]:
                rows[count] = k
                change[count] = t - alpha[k]
                alpha[k] = t
                count += 1
        return count, crossed

    return compiled(run)


@on_first_use
def curvature_product(key: str) -> Kernel:
    """``out += sum_k c[k] y (y.q)`` over the rows ``i = index``, y = (x_i, rho), each row read once."""

    def run(X, rho, index, c, q, out):
        key  # noqa: B018
        d = out.shape[0] - 1
        for k in range(index.shape[0]):
            step = c[k] * (dot(X, index[k], q) + rho * q[d])
            axpy(step, X, index[k], out)
            out[d] += step * rho

    return compiled(run)


@on_first_use
def keep_columns(key: str) -> Kernel:
    """Rows of ``wide`` numbers, one behind the other, from which some are kept, and of these some columns. Both
    are in ascending order, so nothing is overwritten that is still to be read."""

    def run(store, wide, kept, columns):
        key  # noqa: B018
        narrow = columns.shape[0]
        for r in range(kept.shape[0]):
            for c in range(narrow):
                store[r * narrow + c] = store[kept[r] * wide + columns[c]]

    return compiled(run)


@on_first_use
def slacks(key: str) -> Kernel:
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


@on_first_use
def sparse_gram(key: str) -> Kernel:
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


# For the vectors of all classes at once.


@on_first_use
def all_scores(key: str) -> Kernel:
    """``out[i, j] = V[j].(x_i, rho)``."""

    def run(X, rho, V, out):
        key  # noqa: B018
        for i in range(out.shape[0]):
            scores(X, i, V, rho, out[i])

    return compiled(run)


@on_first_use
def class_combination(key: str) -> Kernel:
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
