"""Truncated Newton steps on the squared slack of sparse rows, without a matrix (`separatrix.solvers.truncated_newton`).

    minimise  P(a) = |a|^2/2 + sum price_k max(0, 1 - a.y_k)^2/2,   price = 2 C c

A step solves H p = -g, H = I + sum price_k y_k y_k^t over the rows with slack, by conjugate gradients to a residual
that falls with the gap; a line search follows. Where a step needs many products its equations are scaled by the
diagonal of H from then on, which helps where columns differ in size or in how often they occur. The bias, which every
row has, is scaled like the mean column: with its own diagonal the residual would hardly see it.
"""

from typing import Any, NamedTuple

import numpy as np

from separatrix.compile_cache import compiled, on_first_use
from separatrix.data.access import add_row, dot

REACHED, PAUSED, TOO_MANY, STUCK = 0, 1, 2, 3
SCALE_FROM = 8  # products of a step, from which the next ones are scaled
UNSCALED = 24  # products of a step that is not; a step that is cut short still goes downhill
TRIALS = 30
NEAR = 1e-2  # of a line search's steps: the next one is exact where no row changes sides
LEAST = 1e-16  # of the squared residual, relative


class Descent(NamedTuple):
    """A vector on its way to the minimum, and what conjugate gradients need to go on where they paused."""

    a: np.ndarray
    m: np.ndarray  # a.y_k
    v: np.ndarray  # sum alpha_k y_k, alpha = price max(0, 1 - m)
    scale: np.ndarray  # the diagonal by which the equations are scaled, or ones
    step: np.ndarray
    residual: np.ndarray
    direction: np.ndarray
    image: np.ndarray  # H direction
    change: np.ndarray  # of the margins, by the step
    active: np.ndarray  # rows with slack
    numbers: np.ndarray  # those named below

    @classmethod
    def from_vector(cls, a: np.ndarray, m: np.ndarray) -> "Descent":
        n, width = len(m), len(a)
        v, step, residual, direction, image = (np.zeros(width) for _ in range(5))
        rows, numbers = np.zeros(n, np.int64), np.zeros(NUMBERS)
        return cls(a, m, v, np.ones(width), step, residual, direction, image, np.zeros(n), rows, numbers)


# Places in ``numbers``: rows with slack, whether a step is under way, its products, residual and goal; whether steps
# are scaled; all products; the gap (P - D)/P.
COUNT, WITHIN, PRODUCTS, RESIDUAL, GOAL, SCALED, ALL_PRODUCTS, GAP, NUMBERS = range(9)


@on_first_use
def truncated_newton(key: str) -> Any:
    """Steps until the gap is ``tol``, or about ``visits`` rows were visited (PAUSED: it may be called again), or a
    step or all of them took too many products (never where ``most_in_all`` is infinite), or rounding errors leave no
    way down.

    Returns why it ended, and the visits. In the end ``m``, ``v`` and the active rows are those of ``a``.
    """

    def run(X, labels, rho, price, descent, tol, most, most_in_all, visits):
        key  # noqa: B018  a closure cell, for numba's cache key
        a, m, v, scale, step, residual, direction, image, change, active, numbers = descent
        n, width = labels.shape[0], a.shape[0]
        d, visited, slow = width - 1, 0, False
        while True:
            if numbers[WITHIN] == 0.0:  # a new point: its bounds, and the equations of the next step
                v[:] = 0.0
                count, squares, total = 0, 0.0, 0.0
                for k in range(n):
                    slack = 1.0 - m[k]
                    if slack > 0.0:
                        alpha = price[k] * slack
                        squares += alpha * slack
                        total += alpha
                        add_row(alpha * labels[k], X, k, rho, v)
                        active[count] = k
                        count += 1
                visited += count
                length2 = combined2 = 0.0
                for j in range(width):
                    length2 += a[j] * a[j]
                    combined2 += v[j] * v[j]
                primal = 0.5 * (length2 + squares)
                dual = 0.5 * total * total / (combined2 + squares) if total > 0.0 else 0.0
                gap = 1.0 - dual / primal if primal > 0.0 else 1.0
                numbers[COUNT], numbers[GAP] = count, gap
                if gap <= tol:
                    return REACHED, visited
                if not gap <= 1.0:
                    return STUCK, visited
                if slow or numbers[ALL_PRODUCTS] >= most_in_all:
                    return TOO_MANY, visited
                if numbers[PRODUCTS] >= SCALE_FROM:
                    numbers[SCALED] = 1.0
                if numbers[SCALED] != 0.0:
                    scale[:] = 1.0
                    for k in range(count):
                        i = active[k]
                        for e in range(X.indptr[i], X.indptr[i + 1]):
                            scale[X.indices[e]] += price[i] * X.data[e] * X.data[e]
                    visited += count
                    mean = 0.0
                    for j in range(d):
                        mean += scale[j]
                    scale[d] = mean / max(d, 1)
                size = 0.0
                for j in range(width):
                    step[j] = 0.0
                    residual[j] = v[j] - a[j]
                    direction[j] = residual[j] / scale[j]
                    size += residual[j] * direction[j]
                numbers[RESIDUAL], numbers[GOAL] = size, size * min(0.01, max(gap, LEAST))
                numbers[WITHIN], numbers[PRODUCTS] = 1.0, 0.0
            count, size = int(numbers[COUNT]), numbers[RESIDUAL]
            bound = most if numbers[SCALED] != 0.0 else min(most, UNSCALED)
            while size > numbers[GOAL] and numbers[PRODUCTS] < bound:
                if visited >= visits:
                    numbers[RESIDUAL] = size
                    return PAUSED, visited
                for j in range(width):
                    image[j] = direction[j]
                bias = rho * direction[d]
                for k in range(count):
                    i = active[k]
                    add_row(price[i] * (dot(X, i, direction) + bias), X, i, rho, image)
                visited += count
                bend = 0.0
                for j in range(width):
                    bend += direction[j] * image[j]
                t, before, size = size / bend, size, 0.0
                for j in range(width):
                    step[j] += t * direction[j]
                    residual[j] -= t * image[j]
                    size += residual[j] * (residual[j] / scale[j])
                for j in range(width):
                    direction[j] = residual[j] / scale[j] + (size / before) * direction[j]
                numbers[PRODUCTS] += 1.0
                numbers[ALL_PRODUCTS] += 1.0
            linear = bent = 0.0
            for j in range(width):
                linear += a[j] * step[j]
                bent += step[j] * step[j]
            bias = rho * step[d]
            for k in range(n):
                change[k] = labels[k] * (dot(X, k, step) + bias)
            visited += n
            t, low, high = 1.0, 0.0, np.inf
            for _ in range(TRIALS):  # the zero of P'(a + t step), which is piecewise linear and grows
                slope, bend = linear + t * bent, bent
                for k in range(n):
                    slack = max(1.0 - m[k] - t * change[k], 0.0)
                    slope -= price[k] * slack * change[k]
                    bend += price[k] * change[k] * change[k] if slack > 0.0 else 0.0
                if slope < 0.0:
                    low = t
                else:
                    high = t
                following = t - slope / bend if bend > 0.0 else t
                if not low <= following <= high:
                    following = 2.0 * t if np.isinf(high) else 0.5 * (low + high)
                near, t = abs(following - t) <= NEAR * t, following
                if near:
                    break
            moved = False
            if t > 0.0 and bent < np.inf:
                for j in range(width):
                    before = a[j]
                    a[j] += t * step[j]
                    moved = moved or a[j] != before
            if not moved:
                return STUCK, visited
            for k in range(n):
                m[k] += t * change[k]
            numbers[WITHIN] = 0.0
            slow = numbers[SCALED] != 0.0 and size > numbers[GOAL] and most_in_all < np.inf

    return compiled(run, any_order=True)
