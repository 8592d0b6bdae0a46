"""Single passes over the data, dense or CSR, in float64 whatever the data's type, without copies of the data."""

import numpy as np

from separatrix.compile_cache import Kernel, compiled, on_first_use
from separatrix.data.access import axpy, dot, largest, outer, square

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
