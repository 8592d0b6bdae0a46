"""Row access, written once: the same few names for a dense matrix and for CSR, in Python and in compiled code."""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload, register_jitable

from separatrix.compile_cache import compiled, on_first_use
from separatrix.rules.base import UNWRAPPED


class Dense(NamedTuple):
    data: np.ndarray  # (n, d), C order


class CSR(NamedTuple):
    data: np.ndarray
    indices: np.ndarray  # uint32: unsigned saves the wrap-around test of negative indices
    indptr: np.ndarray  # int64
    width: int


Storage = Dense | CSR


def dot(X, i, v):
    """x_i . v, with v at least as long as a row."""
    if isinstance(X, Dense):
        return float(X.data[i].astype(np.float64) @ v[: X.data.shape[1]])
    a, b = X.indptr[i], X.indptr[i + 1]
    return float(X.data[a:b].astype(np.float64) @ v[X.indices[a:b]])


def axpy(c, X, i, v):
    """v += c x_i."""
    if isinstance(X, Dense):
        v[: X.data.shape[1]] += c * X.data[i].astype(np.float64)
    else:
        a, b = X.indptr[i], X.indptr[i + 1]
        v[X.indices[a:b]] += c * X.data[a:b].astype(np.float64)


def square(X, i):
    """|x_i|^2 in float64."""
    x = _stored(X, i).astype(np.float64)
    return float(x @ x)


def largest(X, i):
    """max_j |x_ij|, 0 for an empty row."""
    x = _stored(X, i)
    return float(np.abs(x).max()) if len(x) else 0.0


def _stored(X, i):
    return X.data[i] if isinstance(X, Dense) else X.data[X.indptr[i] : X.indptr[i + 1]]


def places(X, i):
    """Return the places at which row i may differ from 0; `column_of` tells their columns."""
    return range(X.data.shape[1]) if isinstance(X, Dense) else range(X.indptr[i], X.indptr[i + 1])


def column_of(X, k):
    """Return the column of a place."""
    return k if isinstance(X, Dense) else X.indices[k]


def outer(X, rho, rows, c, H):
    """``H += sum_k c[k] y y^t`` over ``i = rows[k]``, y = (x_i, rho); the lower triangle is enough."""
    d = H.shape[0] - 1
    for k, i in enumerate(rows):
        y = np.zeros(d + 1)
        axpy(1.0, X, i, y)
        y[d] = rho
        H += c[k] * np.outer(y, y)


def prefetch(X, i):
    """Ask for row i before it is needed. Rows in random order would otherwise wait for memory, one after the other."""


def touch(array, k):
    """Ask for element k; it need not exist."""


def _is_dense(X):
    return X.instance_class is Dense


# A row function that is called instead of inlined gets the 30 words of its arguments over the stack, for every row:
# on CSR half of the time. The dense update is better called: inlined, it takes registers from the visits around it.
_INLINED = {"forceinline": True, **UNWRAPPED}
# Reassociation makes the dense product six times faster at d = 500; on CSR vector gathers make it twice as slow.
_DENSE_OPTIONS = {"fastmath": {"reassoc", "contract"}, **_INLINED}
# Unsigned positions save the wrap-around test of negative indices.
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@overload(dot, jit_options=_DENSE_OPTIONS)
def _dense_dot(X, i, v):
    if not _is_dense(X):
        return None

    def impl(X, i, v):
        s = 0.0
        for j in range(X.data.shape[1]):
            s += X.data[i, j] * v[j]
        return s

    return impl


@overload(dot, jit_options=_INLINED)
def _csr_dot(X, i, v):
    if _is_dense(X):
        return None

    def impl(X, i, v):
        p = q = r = s = 0.0
        k, end = np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])
        while k + _THREE < end:
            p += X.data[k] * v[X.indices[k]]
            q += X.data[k + _ONE] * v[X.indices[k + _ONE]]
            r += X.data[k + _TWO] * v[X.indices[k + _TWO]]
            s += X.data[k + _THREE] * v[X.indices[k + _THREE]]
            k += _FOUR
        while k < end:
            p += X.data[k] * v[X.indices[k]]
            k += _ONE
        return (p + q) + (r + s)

    return impl


@overload(axpy, jit_options=UNWRAPPED)
def _dense_axpy(c, X, i, v):
    if not _is_dense(X):
        return None

    def impl(c, X, i, v):
        for j in range(X.data.shape[1]):
            v[j] += c * X.data[i, j]

    return impl


@overload(axpy, jit_options=_INLINED)
def _csr_axpy(c, X, i, v):
    if _is_dense(X):
        return None

    def impl(c, X, i, v):
        for k in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
            v[X.indices[k]] += c * X.data[k]

    return impl


@overload(square, jit_options=_DENSE_OPTIONS)
def _dense_square(X, i):
    if not _is_dense(X):
        return None

    def impl(X, i):
        s = 0.0
        for j in range(X.data.shape[1]):
            x = np.float64(X.data[i, j])
            s += x * x
        return s

    return impl


@overload(square, jit_options=UNWRAPPED)
def _csr_square(X, i):
    if _is_dense(X):
        return None

    def impl(X, i):
        s = 0.0
        for k in range(X.indptr[i], X.indptr[i + 1]):
            x = np.float64(X.data[k])
            s += x * x
        return s

    return impl


@overload(largest, jit_options=UNWRAPPED)
def _largest(X, i):
    if _is_dense(X):

        def impl(X, i):
            s = 0.0
            for j in range(X.data.shape[1]):
                s = max(s, abs(np.float64(X.data[i, j])))
            return s

    else:

        def impl(X, i):
            s = 0.0
            for k in range(X.indptr[i], X.indptr[i + 1]):
                s = max(s, abs(np.float64(X.data[k])))
            return s

    return impl


@overload(places, jit_options=_INLINED)
def _places(X, i):
    if _is_dense(X):
        return lambda X, i: range(X.data.shape[1])
    return lambda X, i: range(X.indptr[i], X.indptr[i + 1])


@overload(column_of, jit_options=_INLINED)
def _column_of(X, k):
    return (lambda X, k: k) if _is_dense(X) else (lambda X, k: X.indices[k])


@overload(outer, jit_options={"fastmath": {"reassoc", "contract"}, **UNWRAPPED})
def _dense_outer(X, rho, rows, c, H):
    if not _is_dense(X):
        return None

    def impl(X, rho, rows, c, H):
        """Four rows at a time, so that a value of H is read and written once for all of them."""
        Y, d, count = X.data, H.shape[0] - 1, rows.shape[0]
        for k in range(0, count, 4):
            more, yet_more, last = min(k + 1, count - 1), min(k + 2, count - 1), min(k + 3, count - 1)
            p, q, r, s = rows[k], rows[more], rows[yet_more], rows[last]
            cp, cq = c[k], c[k + 1] if k + 1 < count else 0.0
            cr, cs = c[k + 2] if k + 2 < count else 0.0, c[k + 3] if k + 3 < count else 0.0
            for i in range(d):
                x, y, z, w = cp * Y[p, i], cq * Y[q, i], cr * Y[r, i], cs * Y[s, i]
                for j in range(i + 1):
                    H[i, j] += (x * Y[p, j] + y * Y[q, j]) + (z * Y[r, j] + w * Y[s, j])
                H[d, i] += rho * ((x + y) + (z + w))
            H[d, d] += rho * rho * ((cp + cq) + (cr + cs))

    return impl


@overload(outer, jit_options=UNWRAPPED)
def _csr_outer(X, rho, rows, c, H):
    if _is_dense(X):
        return None

    def impl(X, rho, rows, c, H):
        d = H.shape[0] - 1
        for k in range(rows.shape[0]):
            first, end = X.indptr[rows[k]], X.indptr[rows[k] + 1]
            for p in range(first, end):
                x, row = c[k] * X.data[p], X.indices[p]
                for q in range(first, p + 1):
                    column = X.indices[q]
                    H[max(row, column), min(row, column)] += x * X.data[q]
                H[d, row] += x * rho
            H[d, d] += c[k] * rho * rho

    return impl


# The same for the vectors of several categories or pieces at once.


def scores(X, i, V, rho, out):
    """``out[j] = V[j].(x_i, rho)`` for all categories."""
    for j in range(V.shape[0]):
        out[j] = dot(X, i, V[j]) + rho * V[j, -1]


@overload(scores, jit_options={"fastmath": {"reassoc", "contract"}, **UNWRAPPED})
def _dense_scores(X, i, V, rho, out):
    if not _is_dense(X):
        return None

    def impl(X, i, V, rho, out):
        c, d = V.shape[0], X.data.shape[1]
        j = 0
        while j + 3 < c:  # four at a time: a value of the row is loaded and widened once for all of them
            p = q = r = s = 0.0
            for f in range(d):
                x = X.data[i, f]
                p += x * V[j, f]
                q += x * V[j + 1, f]
                r += x * V[j + 2, f]
                s += x * V[j + 3, f]
            out[j], out[j + 1], out[j + 2], out[j + 3] = p, q, r, s
            j += 4
        while j < c:
            p = 0.0
            for f in range(d):
                p += X.data[i, f] * V[j, f]
            out[j] = p
            j += 1
        for j in range(c):
            out[j] += rho * V[j, d]

    return impl


@overload(scores, jit_options=UNWRAPPED)
def _csr_scores(X, i, V, rho, out):
    if _is_dense(X):
        return None

    def impl(X, i, V, rho, out):
        c, d = V.shape[0], V.shape[1] - 1
        first, end = X.indptr[i], X.indptr[i + 1]
        j = 0
        while j + 3 < c:
            p = q = r = s = 0.0
            for k in range(first, end):
                x, f = X.data[k], X.indices[k]
                p += x * V[j, f]
                q += x * V[j + 1, f]
                r += x * V[j + 2, f]
                s += x * V[j + 3, f]
            out[j], out[j + 1], out[j + 2], out[j + 3] = p, q, r, s
            j += 4
        while j < c:
            p = 0.0
            for k in range(first, end):
                p += X.data[k] * V[j, X.indices[k]]
            out[j] = p
            j += 1
        for j in range(c):
            out[j] += rho * V[j, d]

    return impl


@register_jitable(**UNWRAPPED)
def add_row(step, X, i, rho, v):
    """v += step (x_i, rho)."""
    axpy(step, X, i, v)
    v[v.shape[0] - 1] += step * rho


LINE = 64  # bytes in a line of the cache
AHEAD = 16  # lines of a row that are asked for; the hardware sees the run and fetches the rest


@intrinsic
def _prefetch_element(typingctx, array, k):
    """LLVM's prefetch of element k, counted in memory order."""

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        pointer = builder.bitcast(builder.gep(view.data, [args[1]]), cgutils.voidptr_t)
        i32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(call, [pointer, i32(0), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


@overload(touch, jit_options=UNWRAPPED)
def _touch(array, k):
    return lambda array, k: _prefetch_element(array, k)


@overload(prefetch, jit_options=_INLINED)
def _prefetch(X, i):
    if _is_dense(X):

        def impl(X, i):
            step = LINE // X.data.itemsize
            first, end = i * X.data.shape[1], (i + 1) * X.data.shape[1]
            for k in range(first, min(end, first + AHEAD * step), step):
                _prefetch_element(X.data, k)

    else:

        def impl(X, i):
            first, end = X.indptr[i], X.indptr[i + 1]
            step = LINE // X.data.itemsize
            for k in range(first, min(end, first + AHEAD * step), step):
                _prefetch_element(X.data, k)
            step = LINE // X.indices.itemsize
            for k in range(first, min(end, first + AHEAD * step), step):
                _prefetch_element(X.indices, k)

    return impl


@on_first_use
def repeats_columns(key: str) -> Any:
    """Does a row of CSR name a column twice? ``last``: one -1 per column."""

    def run(X, last):
        key  # noqa: B018
        for i in range(X.indptr.shape[0] - 1):
            for k in range(X.indptr[i], X.indptr[i + 1]):
                if last[X.indices[k]] == i:
                    return True
                last[X.indices[k]] = i
        return False

    return compiled(run)
