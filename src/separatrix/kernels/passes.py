"""Single passes over the data, dense or CSR, in float64 whatever the data's type, without copies of the data."""

from functools import cache
from typing import Any

import numpy as np

from separatrix.kernels.cache import compiled, shared_digest
from separatrix.kernels.order import draw
from separatrix.kernels.rows import axpy, dot, largest, square

BLOCK = 512  # rows summed before they enter the total: rounding errors grow with n/BLOCK + BLOCK instead of n


@cache
def squares() -> Any:
    """``out[i] = |x_i|^2``."""
    return _squares(shared_digest())


@cache
def peaks() -> Any:
    """``out[i] = max_j |x_ij|``."""
    return _peaks(shared_digest())


@cache
def products() -> Any:
    """``out[i] = labels[i] (x_i.v + rho v_d)``."""
    return _products(shared_digest())


@cache
def products_of() -> Any:
    """``out[k] = labels[i] (x_i.v + rho v_d)`` over ``i = index[k]``."""
    return _products_of(shared_digest())


@cache
def combination() -> Any:
    """``out = sum_k alpha[k] labels[i_k] (x_{i_k}, rho)`` over ``i = index``."""
    return _combination(shared_digest())


@cache
def outer_products() -> Any:
    """``out += sum_k c[k] y y^t`` over the rows ``i = index``, y = (x_i, rho); CSR, for a small number of columns."""
    return _outer_products(shared_digest())


@cache
def curvature_product() -> Any:
    """``out += sum_k c[k] y (y.q)`` over the rows ``i = index``, y = (x_i, rho), each row read once."""
    return _curvature_product(shared_digest())


@cache
def slack_sums() -> Any:
    """Over the rows with s = 1 - m - t z > 0: the sums of c s^2, c s z and c z^2."""
    return _slack_sums(shared_digest())


@cache
def permutation() -> Any:
    """Put the order of an epoch into ``order.sequence``, as the loops do at the end of one."""
    return _permutation(shared_digest())


def _permutation(key: str) -> Any:
    def run(order, epoch):
        key  # noqa: B018  a closure cell, for numba's cache key
        draw(order, epoch)

    return compiled(run)


def _squares(key: str) -> Any:
    def run(X, out):
        key  # noqa: B018
        for i in range(out.shape[0]):
            out[i] = square(X, i)

    return compiled(run)


def _peaks(key: str) -> Any:
    def run(X, out):
        key  # noqa: B018
        for i in range(out.shape[0]):
            out[i] = largest(X, i)

    return compiled(run)


def _products(key: str) -> Any:
    def run(X, labels, rho, v, out):
        key  # noqa: B018
        bias = rho * v[v.shape[0] - 1]
        for i in range(out.shape[0]):
            out[i] = labels[i] * (dot(X, i, v) + bias)

    return compiled(run)


def _products_of(key: str) -> Any:
    def run(X, labels, rho, index, v, out):
        key  # noqa: B018
        bias = rho * v[v.shape[0] - 1]
        for k in range(index.shape[0]):
            out[k] = labels[index[k]] * (dot(X, index[k], v) + bias)

    return compiled(run)


def _combination(key: str) -> Any:
    def run(X, labels, rho, index, alpha, out):
        key  # noqa: B018
        d = out.shape[0] - 1
        block = np.zeros(d + 1)
        for first in range(0, index.shape[0], BLOCK):
            block[:] = 0.0
            for k in range(first, min(first + BLOCK, index.shape[0])):
                step = alpha[k] * labels[index[k]]
                axpy(step, X, index[k], block)
                block[d] += step * rho
            out += block

    return compiled(run)


def _outer_products(key: str) -> Any:
    def run(X, rho, index, c, out):
        key  # noqa: B018
        d = out.shape[0] - 1
        for k in range(index.shape[0]):
            first, end = X.indptr[index[k]], X.indptr[index[k] + 1]
            for p in range(first, end):
                x = c[k] * X.data[p]
                row = X.indices[p]
                for q in range(first, p + 1):  # columns ascend: the lower triangle is enough
                    out[row, X.indices[q]] += x * X.data[q]
                out[d, row] += x * rho
            out[d, d] += c[k] * rho * rho

    return compiled(run)


def _slack_sums(key: str) -> Any:
    def run(m, z, c, t):
        key  # noqa: B018
        squares = products = curvature = 0.0
        for k in range(m.shape[0]):
            s = 1.0 - m[k] - t * z[k]
            if s > 0.0:
                squares += c[k] * s * s
                products += c[k] * s * z[k]
                curvature += c[k] * z[k] * z[k]
        return squares, products, curvature

    return compiled(run)


def _curvature_product(key: str) -> Any:
    def run(X, rho, index, c, q, out):
        key  # noqa: B018
        d = out.shape[0] - 1
        for k in range(index.shape[0]):
            step = c[k] * (dot(X, index[k], q) + rho * q[d])
            axpy(step, X, index[k], out)
            out[d] += step * rho

    return compiled(run)
