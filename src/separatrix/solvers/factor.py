"""Factorisations behind the pseudo-inverse, of the size of Y's shorter side; Y itself is only passed over.

Rows carry weights c: with Z = sqrt(c) Y, ``Z^dagger = (Z^t Z)^dagger Z^t = Z^t (Z Z^t)^dagger``. Tall data are reduced
to a triangle R, Z = QR, by QR factorisations of blocks, which lose nothing of the accuracy of Y; large sparse data by
the matrix Z^t Z, which costs less and squares the condition number.
"""

import copy
from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.cancellation import run_in_thread
from separatrix.errors import DataError
from separatrix.passes.patterns import EPS
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Vector

LARGEST_FACTOR = 5000  # shorter side up to which a matrix is factorised
QR_WORK = 2e9  # multiplications up to which sparse rows are worth a QR factorisation
CHUNK = 1_000_000  # values of rows that are copied and scaled at a time
Matrix = NDArray[np.float64]


def width_of(patterns: Patterns) -> int:
    """Columns of Y: without a bias the last one is nothing."""
    return patterns.d + (1 if patterns.space.rho else 0)


def factorable(patterns: Patterns) -> bool:
    return min(patterns.n, width_of(patterns)) <= LARGEST_FACTOR


def worth_a_triangle(patterns: Patterns) -> bool:
    return not patterns.sparse or patterns.n * float(width_of(patterns)) ** 2 <= QR_WORK


def chunks(n: int, columns: int) -> Iterator[np.ndarray]:
    """Numbers of rows that are copied at a time."""
    step = max(4 * columns, CHUNK // columns)
    return (np.arange(first, min(first + step, n)) for first in range(0, n, step))


def triangle(patterns: Patterns, weight: Vector, targets: Matrix | None = None) -> Matrix:
    """R of the QR factorisation of sqrt(c) Y, or of sqrt(c) [Y, targets]; at most as many rows as columns."""
    width = width_of(patterns)
    columns = width + (0 if targets is None else targets.shape[1])
    root = np.sqrt(weight)
    R = np.zeros((0, columns))

    def joined(R: Matrix, rows: np.ndarray) -> Matrix:
        block = patterns.dense_rows(rows)[:, :width]
        if targets is not None:
            block = np.column_stack([block, targets[rows]])
        block *= root[rows, None]
        return _upper(np.vstack([R, block]))[:columns]

    for rows in chunks(patterns.n, columns):
        R = run_in_thread(partial(joined, R, rows), len(rows) * float(columns) ** 2)
    return R


def _upper(A: Matrix) -> Matrix:
    return la.qr(A, mode="r", overwrite_a=True, check_finite=False)[0]


class PseudoInverse:
    """Y^dagger, weighted, as ``H H^t`` around passes over the data: factorised once, applied often."""

    def __init__(self, patterns: Patterns, weight: Vector):
        self.patterns, self.weight, self.root = patterns, weight, np.sqrt(weight)
        self.wide = patterns.n < width_of(patterns)
        if not factorable(patterns):
            raise DataError(
                f"A pseudo-inverse needs a factorisation of size {min(patterns.n, width_of(patterns))}; at most "
                f'{LARGEST_FACTOR} is supported. HoKashyap(variant="descent") needs none.'
            )
        self.half = self._half_wide() if self.wide else self._half_tall()

    def relabelled(self, patterns: Patterns) -> "PseudoInverse":
        """That of the same rows with other labels, which only change signs."""
        other = copy.copy(self)
        other.patterns = patterns
        if self.wide:
            other.half = (patterns.labels * self.patterns.labels)[:, None] * self.half
        return other

    def _half_tall(self) -> Matrix:
        patterns, width = self.patterns, width_of(self.patterns)
        if worth_a_triangle(patterns):
            R = triangle(patterns, self.weight)
            _, s, Vt = run_in_thread(lambda: la.svd(R, full_matrices=False))
            half, empty = _scaled(Vt.T, s, EPS * max(patterns.n, width)), ~np.any(R, axis=0)
            half[empty] = 0.0  # a column of zeros gets a coefficient of exactly 0
            return half
        lower = patterns.outer_products(np.arange(patterns.n), self.weight)[:width, :width]
        squares, V = run_in_thread(lambda: la.eigh(lower))
        half = _scaled(V, np.sqrt(np.maximum(squares, 0.0)), np.sqrt(EPS * width))
        half[np.diag(lower) == 0] = 0.0
        return half

    def _half_wide(self) -> Matrix:
        patterns, everything = self.patterns, np.arange(self.patterns.n)
        if worth_a_triangle(patterns):
            Z = self.root[:, None] * patterns.dense_rows(everything)
            U, s, _ = run_in_thread(lambda: la.svd(Z, full_matrices=False))
            return _scaled(U, s, EPS * max(Z.shape))
        signed = self.root * patterns.labels
        Z = sp.diags(signed) @ patterns.sparse_rows(everything)
        gram = (Z @ Z.T).toarray() + patterns.space.rho**2 * np.outer(signed, signed)
        squares, U = run_in_thread(lambda: la.eigh(gram))
        return _scaled(U, np.sqrt(np.maximum(squares, 0.0)), np.sqrt(EPS * patterns.n))

    def solve(self, residual: Vector, gradient: Vector | None = None) -> Vector:
        """Y^dagger residual; ``gradient`` is Y^t (c residual), where it is known."""
        everything = np.arange(self.patterns.n)
        if self.wide:
            inner = self.half @ (self.half.T @ (self.root * residual))
            return self.patterns.combine(everything, self.root * inner)
        if gradient is None:
            gradient = self.patterns.combine(everything, self.weight * residual)
        a = np.zeros(self.patterns.d + 1)
        width = len(self.half)
        a[:width] = self.half @ (self.half.T @ gradient[:width])
        return a


def _scaled(V: Matrix, s: Vector, cutoff: float) -> Matrix:
    """V/s with the directions left out in which s is as good as 0."""
    kept = s > cutoff * s.max(initial=0.0)
    return np.ascontiguousarray(V[:, kept] / s[kept])
