"""Least squares of many rows by the normal equations Y^t c Y a = Y^t c b: half the work of a QR factorisation.

They square the condition of Y, so they are used only where an estimate of it allows: then steps of refinement, whose
residuals are those of the rows and not of the equations, win back the digits that the square has cost (Bjorck 1987).
"""

from functools import cached_property

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.cancellation import run_in_thread
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.factor import width_of
from separatrix.space import Vector, symmetric

LEAST_VALUES, ROWS_PER_COLUMN = 20_000, 4  # values of Y, and rows per column, from which it pays
MOST_COLUMNS = 2000
WELL_CONDITIONED = 1e-9  # reciprocal of the condition of Y^t c Y, its columns scaled to length 1
STEPS = 4  # of refinement
LAST_CORRECTION, GOOD_CORRECTION = 1e-15, 1e-11  # relative: one that ends them, and one that lets the result stand


class NormalEquations:
    """Y^t c Y, factorised once: labels have no part in it, so the problems of several classes share it."""

    def __init__(self, patterns: Patterns, weight: Vector):
        self.patterns, self.weight = patterns, weight

    @cached_property
    def factor(self) -> tuple[NDArray[np.float64], Vector] | None:
        """The Cholesky factor of the scaled matrix, and the scales; None where the condition forbids it."""
        n, width = self.patterns.n, width_of(self.patterns)
        if n * width < LEAST_VALUES or n < ROWS_PER_COLUMN * width or width > MOST_COLUMNS:
            return None
        everything, cost = np.arange(n), n * float(width) ** 2
        matrix = run_in_thread(lambda: self.patterns.outer_products(everything, self.weight), cost)[:width, :width]
        diagonal = np.diag(matrix)
        if not np.all((diagonal > 0) & np.isfinite(diagonal)):
            return None
        scale = diagonal**-0.5
        scaled = symmetric(matrix) * np.multiply.outer(scale, scale)
        size = float(np.abs(scaled).sum(axis=0).max())
        try:
            factor = run_in_thread(lambda: la.cholesky(scaled, lower=True, overwrite_a=True, check_finite=False), cost)
        except la.LinAlgError:
            return None
        reciprocal, _ = la.lapack.dpocon(factor, size, uplo="L")
        return (factor, scale) if reciprocal > WELL_CONDITIONED else None

    def solve(self, patterns: Patterns, target: Vector) -> Vector | None:
        """The minimiser for these labels, or None where the equations are not good enough."""
        if self.factor is None:
            return None
        (factor, scale), everything = self.factor, np.arange(patterns.n)
        a, residual = np.zeros(patterns.d + 1), target
        for _ in range(STEPS):
            right = patterns.combine(everything, self.weight * residual)[: len(scale)]
            step = scale * la.cho_solve((factor, True), scale * right, check_finite=False)
            a[: len(scale)] += step
            relative = float(np.abs(step / scale).max()) / max(float(np.abs(a[: len(scale)] / scale).max()), 1e-300)
            if relative <= LAST_CORRECTION:
                break
            residual = target - patterns.margins(a)
        return a if relative <= GOOD_CORRECTION else None
