"""The passes over a block of rows in memory: a function for each summary.

A function takes the patterns of a block and the number of the first of them. on_device.py has the same for a block on a
device, in functions of the array API; `separatrix.passes.patterns.ON_DEVICE` is the table of both.
"""

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from separatrix.passes.compiled import slacks
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
    Smallest,
    k_smallest,
)
from separatrix.space import Vector

if TYPE_CHECKING:
    from separatrix.passes.plain_patterns import Patterns


def shape(rows: "Patterns", first: int) -> Shape:
    squares, norms2 = rows.squares, rows.norms2
    finite = np.isfinite(norms2)
    return Shape(
        rows.n,
        float(rows.prices.sum()),
        float(norms2.max(initial=0.0)),
        float(squares.max(initial=0.0)),
        float(squares.sum()),
        rows.home.longest,
        -1 if finite.all() else first + int(np.flatnonzero(~finite)[0]),
    )


def extremes(rows: "Patterns", first: int, a: Vector, k: int) -> Extremes:
    return extremes_among(rows.margins(a), k, first)


def sides(rows: "Patterns", first: int, a: Vector, k: int) -> Sides:
    m = rows.margins(a)
    plus, minus = np.flatnonzero(rows.labels > 0), np.flatnonzero(rows.labels < 0)
    return Sides(extremes_among(m[plus], k, first, plus), extremes_among(m[minus], k, first, minus))


def extremes_among(m: Vector, k: int, first: int = 0, numbers: np.ndarray | None = None) -> Extremes:
    """Return the k smallest of some margins: those of the patterns from ``first`` on, or of ``numbers`` among them."""
    places = k_smallest(m, k)
    errors = int(np.count_nonzero(~(m > 0)))
    chosen = places if numbers is None else numbers[places]
    return Extremes(float(m.min(initial=np.inf)), errors, chosen + first, m[places], k)


def piece(rows: "Patterns", first: int, a: Vector, hessian: bool) -> Piece:
    if not hessian and rows.per_row == 1:  # without its Hessian: each row is read once
        a, pull = np.ascontiguousarray(a, dtype=np.float64), np.zeros(rows.d + 1)
        squares, slack, active, smallest, near = slacks()(
            rows.rows, rows.labels, rows.space.rho, rows.prices, a, 1.0 + NEAR, rows.block_rows, pull
        )
        return Piece(squares, slack, pull, np.zeros((0, 0)), active, smallest, near)
    step, n = rows.rows_in_cache, rows.home.n
    if not hessian or rows.sparse or n <= step:
        return _whole_piece(rows, a, hessian)
    parts = (rows.of_block(rows.home.part(i, min(i + step, n))) for i in range(0, n, step))
    return reduce(Piece.merge, (_whole_piece(part, a, hessian) for part in parts))


def _whole_piece(rows: "Patterns", a: Vector, hessian: bool) -> Piece:
    m = rows.margins(a)
    index = np.flatnonzero(m < 1.0)
    s, c = 1.0 - m[index], rows.prices[index]
    cs = c * s
    matrix = rows.outer_products(index, c) if hessian else np.zeros((0, 0))
    pull, smallest = rows.combine(index, cs), float(m.min(initial=np.inf))
    near = float(rows.prices[m < 1.0 + NEAR].sum())
    return Piece(float(cs @ s), float(cs.sum()), pull, matrix, len(index), smallest, near)


def slope(rows: "Patterns", first: int, a: Vector, criterion: Criterion, hessian: bool) -> Slope:
    m, c = rows.margins(a), rows.prices
    pull = -c * criterion.slopes(m, rows.norms2)
    index = np.flatnonzero(pull)
    matrix = np.zeros((0, 0))
    if hessian:
        bends = c * criterion.curvatures(m, rows.norms2)
        matrix = rows.outer_products(np.flatnonzero(bends), bends[bends != 0])
    value, smallest = float(np.sum(c * criterion.losses(m, rows.norms2))), float(m.min(initial=np.inf))
    return Slope(value, rows.combine(index, pull[index]), float(pull.sum()), matrix, smallest)


def moments(rows: "Patterns", first: int, codes: np.ndarray, n_classes: int) -> Moments:
    """Return the moments of the rows themselves, whatever their labels here."""
    members = [np.flatnonzero(codes == k) for k in range(n_classes)]
    signed = rows.prices * rows.labels
    return Moments(
        np.array([len(index) for index in members]),
        np.array([rows.prices[index].sum() for index in members]),
        np.array([rows.combine(index, signed[index]) for index in members]),
        rows.outer_products(np.arange(rows.n), rows.prices),
    )


def distance(rows: "Patterns", first: int, a: Vector) -> Smallest:
    return Smallest(rows.distance(a))


def total(rows: "Patterns", first: int) -> Combination:
    return Combination(rows.combine(np.arange(rows.n), np.ones(rows.n)), float(rows.n))


def columns(rows: "Patterns", first: int) -> Columns:
    return Columns(rows.home.n, *rows.home.column_extremes())
