"""The passes over a block of rows on a device, in the functions of the array API: float64, without copies but one.

``rows`` are `separatrix.data.device.DeviceRows`. Sums are made of pieces of `BLOCK` rows, as in memory, so that bounds
on their rounding errors hold in whatever order a library adds.
"""

from typing import Any, TypeAlias

import numpy as np

from separatrix.data.device import DeviceRows, to_numpy
from separatrix.passes.compiled import BLOCK
from separatrix.passes.summaries import (
    NEAR,
    Columns,
    Combination,
    Criterion,
    Extremes,
    Moments,
    Piece,
    Shape,
    Sides,
    Slope,
    Vector,
)
from separatrix.space import Space

Array: TypeAlias = Any  # of a library that follows the array API
SAMPLE = 20_000  # margins whose order statistics tell a threshold


class Block:
    """The patterns ``y = l (x, rho)`` of a block of rows: l = +1 for the class ``positive``, -1 for the rest."""

    def __init__(self, rows: DeviceRows, positive: int, space: Space):
        self.rows, self.space, self.xp = rows, space, rows.xp
        self.X = self.xp.astype(rows.X, self.xp.float64)
        self.labels = 2.0 * self.xp.astype(rows.codes == positive, self.xp.float64) - 1.0

    @property
    def prices(self) -> Array:
        """The factor on each pattern's squared hinge loss."""
        return self.xp.ones_like(self.labels) if self.rows.weight is None else self.rows.weight

    def margins(self, a: Vector) -> Array:
        """a.y_k, without the extension."""
        return self.labels * (self.X @ self.rows.vector(a[:-1]) + float(self.space.rho * a[-1]))

    def sum(self, v: Array) -> float:
        """The sum of a number per row."""
        return float(to_numpy(self._combine(v, None)))

    def combine(self, alpha: Array) -> Vector:
        """sum alpha_k y_k."""
        signed = alpha * self.labels
        return np.append(to_numpy(self._combine(signed, self.X)), self.space.rho * self.sum(signed))

    def _combine(self, v: Array, X: Array) -> Array:
        """sum v_k x_k, or sum v_k, from sums over BLOCK rows."""
        xp, whole = self.xp, self.rows.n // BLOCK
        end = whole * BLOCK

        def part(v: Array, X: Array, count: int) -> Array:
            if X is None:
                return xp.sum(xp.sum(xp.reshape(v, (count, -1)), axis=1))
            products = xp.matmul(xp.reshape(v, (count, 1, -1)), xp.reshape(X, (count, -1, X.shape[1])))
            return xp.sum(products[:, 0, :], axis=0)

        parts = [part(v[:end], None if X is None else X[:end, :], whole)] if whole else []
        if end < self.rows.n or not parts:
            parts.append(part(v[end:], None if X is None else X[end:, :], 1))
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    # Summaries, named as the functions of in_memory.py.

    @property
    def norms2(self) -> Array:
        """|y_k|^2 in this space."""
        return self._extended(self.xp.sum(self.X * self.X, axis=1))

    def _extended(self, squares: Array) -> Array:
        space = self.space
        delta2 = space.delta**2 / (self.prices if space.weighted else 1.0)
        return squares + ((0.0 if space.free else space.rho**2) + delta2)

    def shape(self, first: int) -> Shape:
        xp = self.xp
        squares = xp.sum(self.X * self.X, axis=1)
        norms2 = self._extended(squares)
        finite = xp.isfinite(norms2)
        bad = -1 if bool(xp.all(finite)) else first + int(xp.argmin(xp.astype(finite, xp.int8)))
        return Shape(
            self.rows.n,
            self.sum(self.prices),
            float(xp.max(norms2)),
            float(xp.max(squares)),
            self.sum(squares),
            self.rows.width,
            bad,
        )

    def extremes(self, first: int, a: Vector, k: int) -> Extremes:
        return self._extremes(self.margins(a), None, first, k)

    def sides(self, first: int, a: Vector, k: int) -> Sides:
        m = self.margins(a)
        return Sides(
            self._extremes(m, self.labels > 0.0, first, k),
            self._extremes(m, self.labels < 0.0, first, k),
        )

    def _extremes(self, m: Array, side: Array, first: int, k: int) -> Extremes:
        xp = self.xp
        wrong = xp.logical_not(m > 0.0)
        if side is not None:
            wrong = xp.logical_and(wrong, side)
            m = xp.where(side, m, xp.asarray(np.inf, dtype=m.dtype, device=m.device))
        places = k_smallest(xp, m, k)
        margins = to_numpy(xp.take(m, places, axis=0))
        numbers = to_numpy(places).astype(np.int64) + first
        if side is not None:  # an infinite margin belongs to the other side
            there = to_numpy(xp.take(side, places, axis=0))
            numbers, margins = numbers[there], margins[there]
        minimum = float(margins.min(initial=np.inf))
        return Extremes(minimum, int(xp.count_nonzero(wrong)), numbers, margins, k)

    def piece(self, first: int, a: Vector, hessian: bool) -> Piece:
        xp = self.xp
        m = self.margins(a)
        s, c = xp.clip(1.0 - m, min=0.0), self.prices
        active = xp.astype(s > 0.0, xp.float64)
        matrix = self.outer_products(c * active) if hessian else np.zeros((0, 0))
        count, near = int(xp.count_nonzero(active)), self.sum(xp.where(m < 1.0 + NEAR, c, xp.zeros_like(c)))
        return Piece(self.sum(c * s * s), self.sum(c * s), self.combine(c * s), matrix, count, float(xp.min(m)), near)

    def slope(self, first: int, a: Vector, criterion: Criterion, hessian: bool) -> Slope:
        """The formulas of a criterion are numpy's: a number per row comes here, and one goes back."""
        xp, m, norms2 = self.xp, to_numpy(self.margins(a)), to_numpy(self.norms2)
        c = to_numpy(self.prices)
        pull = self.rows.vector(-c * criterion.slopes(m, norms2))
        matrix = self.outer_products(self.rows.vector(c * criterion.curvatures(m, norms2))) if hessian else None
        value, smallest = float(np.sum(c * criterion.losses(m, norms2))), float(m.min(initial=np.inf))
        empty = np.zeros((0, 0))
        return Slope(value, self.combine(pull), float(xp.sum(pull)), empty if matrix is None else matrix, smallest)

    def moments(self, first: int, codes: Array, classes: int) -> Moments:
        xp = self.xp
        members = [xp.astype(codes == k, xp.float64) for k in range(classes)]
        return Moments(
            np.array([int(xp.count_nonzero(member)) for member in members]),
            np.array([self.sum(member * self.prices) for member in members]),
            np.array([self.combine(member * self.prices * self.labels) for member in members]),
            self.outer_products(self.prices),
        )

    def outer_products(self, c: Array) -> np.ndarray:
        """sum c_k y_k y_k^t, its lower triangle."""
        xp, d, rho = self.xp, self.rows.width, self.space.rho
        H = np.zeros((d + 1, d + 1))
        cX = c[:, None] * self.X
        H[:d, :d] = to_numpy(cX.T @ self.X)
        H[d, :d] = rho * to_numpy(xp.sum(cX, axis=0))
        H[d, d] = rho * rho * self.sum(c)
        return H

    def total(self, first: int) -> Combination:
        return Combination(self.combine(self.xp.ones_like(self.labels)), float(self.rows.n))

    def columns(self, first: int) -> Columns:
        xp = self.xp
        total = to_numpy(self._combine(xp.ones_like(self.labels), self.X))
        return Columns(self.rows.n, total, to_numpy(xp.min(self.X, axis=0)), to_numpy(xp.max(self.X, axis=0)))


def k_smallest(xp: Any, values: Array, k: int) -> Array:
    """Places of the k smallest values (NaN counts as smallest), found by a threshold: sorting all is dear."""
    values = xp.where(xp.isnan(values), xp.asarray(-np.inf, dtype=values.dtype, device=values.device), values)
    n = values.shape[0]
    if n <= k:
        return xp.arange(n, device=values.device)
    if n > 50 * k:
        sample = xp.sort(values[:: max(1, n // SAMPLE)])
        rank = min(sample.shape[0] - 1, int(2.0 * k * sample.shape[0] / n) + 2)
        below = xp.nonzero(values <= sample[rank])[0]
        if below.shape[0] >= k:
            chosen = xp.argsort(xp.take(values, below, axis=0), stable=True)[:k]
            return xp.sort(xp.take(below, chosen, axis=0))
    return xp.sort(xp.argsort(values, stable=True)[:k])
