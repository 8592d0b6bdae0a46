"""Newton's steps on the face of rows between their bounds: by columns, by rows, or by products with the rows.

    (diag(penalty) + Y_F^t S Y_F) p = -g,   S = diag(s)

F are the rows between their bounds, s their curvatures; the penalty is 1, and 0 for an unpenalized intercept.
The matrix of columns is d + 1 by d + 1. The matrix of rows is that of the change q of the multipliers:

    (Y_F Y_F^t + 1/S) q = -Y_F g,   p = -g - Y_F^t q

Counted multiplications decide which of them is formed. Conjugate gradients are tried first if many products with the
rows cost no more than the matrix; they know neither.
"""

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.passes.patterns import EPS
from separatrix.solvers.face_factor import FaceFactor
from separatrix.solvers.problem import Problem
from separatrix.space import Vector

LARGEST_MATRIX = 3000  # columns, or rows, of the largest matrix that is formed
MOST_PRODUCTS = 500  # of conjugate gradients in a step
ENOUGH_PRODUCTS = 15.0  # that a matrix has to be worth, for conjugate gradients to be tried first
DENSE, DENSE_ROW = 0.05, 0.3  # time of a multiplication in BLAS, against one of sparse rows; in a product with a row
WORK_BETWEEN_LOOKS = 4e9  # multiplications for a matrix of columns between two looks at the limits, about
MATRIX_ERROR = 1e-8  # rounding errors in it, against the penalty
PRECISE = 1e-10  # accuracy that is machine precision, which matrices reach sooner
RIDGE, LARGEST_RIDGE = 1e-13, 1e-2  # of |y|^2, for rows that depend on each other
REFINEMENTS = 4


class NewtonSteps:
    """``direct``: whether a matrix is formed if it can be, because a step has needed more products than it costs, or
    because of the accuracy; ``exact``: whether the last step came from one."""

    def __init__(self, problem: Problem):
        self.problem, self.penalty = problem, problem.penalty
        self.columns = Columns(problem, self.penalty)
        self.rows: Rows | None = None
        self.direct, self.exact = problem.tol < PRECISE, False

    def step(self, face: NDArray[np.bool_], s: Vector, weight: Vector, gradient: Vector) -> Vector:
        """Return the step p; ``weight``: rows with the least are likely to leave the face."""
        F = np.flatnonzero(face)
        if len(F) == 0:
            return -gradient * self.penalty
        by_rows, most = self._sides(len(F))
        self.exact = False
        if most >= MOST_PRODUCTS or (not self.direct and most >= ENOUGH_PRODUCTS):
            step, reached = conjugate_gradients(self.problem, F, s[F], self.penalty, gradient, most)
            if reached or most >= MOST_PRODUCTS or self.problem.stopped:
                return step
            self.direct = True
        if by_rows:
            if self.rows is None:
                self.rows = Rows(self.problem)
            step_by_rows = self.rows.step(F, s, weight, gradient)
            if step_by_rows is not None:
                self.exact = True
                return step_by_rows
            if self.problem.stopped:
                return -gradient * self.penalty
        if len(gradient) > LARGEST_MATRIX:
            return conjugate_gradients(self.problem, F, s[F], self.penalty, gradient)[0]
        self.exact = True
        return self.columns.step(face, s, gradient)

    def solve_face(self, face: np.ndarray, alpha: Vector, a: Vector) -> tuple[np.ndarray, Vector, Vector] | None:
        """Return rows, multipliers and vector with a margin of 1 on these rows; None if that fails."""
        if self.rows is None:
            self.rows = Rows(self.problem)
        return self.rows.solve_equations(face, alpha, float(a[-1]))

    def _sides(self, count: int) -> tuple[bool, float]:
        """Is the matrix of rows the cheaper one, and how many products with the rows does the cheaper one cost?"""
        patterns, width = self.problem.patterns, self.problem.patterns.d + 1
        values, unit = patterns.entries_per_row + 1.0, 1.0 if patterns.sparse else DENSE
        product = 2.0 * count * values * (1.0 if patterns.sparse else DENSE_ROW)
        meet = min(values, values * values / width) if patterns.sparse else values
        by_columns = count * values * values / 2.0 * unit + (DENSE * width**3 / 3.0 + 5.0 * width * width)
        by_rows = count * count * meet * unit + (DENSE * count**3 / 3.0 + 5.0 * count * count)
        if width > LARGEST_MATRIX:
            by_columns = np.inf
        if count > LARGEST_MATRIX:
            by_rows = np.inf
        return by_rows < by_columns, min(min(by_rows, by_columns) / product, MOST_PRODUCTS)


class Columns:
    """Y_F^t R Y_F, its lower triangle, with R = S/max s; kept from step to step: few rows enter or leave F."""

    def __init__(self, problem: Problem, penalty: Vector):
        self.problem, self.penalty = problem, penalty
        self.ratio: Vector = np.zeros(0)
        self.norm2 = problem.patterns.norms2 - problem.patterns.delta**2

    def _forget(self) -> None:
        self.face = np.zeros(self.problem.patterns.n, dtype=bool)
        self.matrix = np.zeros((len(self.penalty),) * 2)
        self.removed = 0.0  # the sum of what left it, whose rounding errors stay

    def step(self, face: NDArray[np.bool_], s: Vector, gradient: Vector) -> Vector:
        H, unit = self.hessian(face, s)
        return newton_step(H, gradient / unit)

    def hessian(self, face: NDArray[np.bool_], s: Vector) -> tuple[NDArray[np.float64], float]:
        """Return the lower triangle of the matrix of the step, in units of max s, and the unit."""
        largest = float(s.max())
        ratio = s / largest
        if not np.array_equal(ratio, self.ratio):
            self.ratio = ratio
            self._forget()
        entering, leaving = np.flatnonzero(face & ~self.face), np.flatnonzero(self.face & ~face)
        self.removed += float(ratio[leaving] @ self.norm2[leaving])
        if len(entering) + len(leaving) > np.count_nonzero(face) or EPS * self.removed * largest > MATRIX_ERROR:
            self._forget()
            entering, leaving = np.flatnonzero(face), leaving[:0]
        self._add(entering, 1.0)
        self._add(leaving, -1.0)
        self.face = face.copy()
        H = self.matrix.copy()
        H[np.diag_indices_from(H)] += self.penalty / largest
        return H, largest

    def _add(self, index: np.ndarray, sign: float) -> None:
        rows = max(1, int(WORK_BETWEEN_LOOKS / len(self.matrix) ** 2))
        for first in range(0, len(index), rows):
            if first and self.problem.interrupted():
                return  # what is left out makes a step worse, and this one is the last
            part = index[first : first + rows]
            self.problem.passes += len(part) / self.problem.patterns.n
            self.matrix += sign * self.problem.patterns.outer_products(part, self.ratio[part])


class Rows:
    """Y_F Y_F^t + 1/S, factored; its inner products are kept."""

    def __init__(self, problem: Problem):
        self.problem, self.ridge = problem, RIDGE
        self.factor = FaceFactor(problem, LARGEST_MATRIX)

    def step(self, F: np.ndarray, s: Vector, weight: Vector, gradient: Vector) -> Vector | None:
        """Return the step, or None if the matrix is singular or time is up.

        With an unpenalized intercept b: (Y Y^t + 1/S) q - rho l b = -Y g and rho l.q = -g_b. In both Y may have the
        constant column or not: it changes the left side by rho l (rho l.q).
        """
        problem, factor, patterns = self.problem, self.factor, self.problem.patterns
        factor.has_diagonal(1.0 / s)
        while not factor.of(F, weight, self.ridge):
            if problem.stopped or self.ridge >= LARGEST_RIDGE:
                return None
            self.ridge *= 100.0
        rows = factor.rows
        problem.passes += 2.0 * len(rows) / patterns.n
        q = factor.solve(-patterns.margins_of(rows, gradient))
        bias = 0.0
        if problem.free:
            l = patterns.space.rho * patterns.labels[rows]
            z = factor.solve(l)
            bias = -(float(gradient[-1]) + float(l @ q)) / float(l @ z)
            q += bias * z
        step = -gradient * problem.penalty - patterns.combine(rows, q)
        if problem.free:
            step[-1] = bias
        return step

    def solve_equations(self, F: np.ndarray, alpha: Vector, bias: float) -> tuple[np.ndarray, Vector, Vector] | None:
        """Solve Y_F v = 1, v = Y_F^t alpha, by steps of refinement; None if the matrix is singular or time is up.

        With an unpenalized intercept b: Y_F v + l b = 1 and l.alpha = 0, v without its last coordinate.
        """
        problem, factor, patterns = self.problem, self.factor, self.problem.patterns
        factor.has_diagonal(np.zeros(patterns.n))
        if len(F) > LARGEST_MATRIX or not factor.of(F, alpha, RIDGE):
            return None
        rows, found = factor.rows, alpha[factor.rows]
        l = patterns.space.rho * patterns.labels[rows]
        along = factor.solve(l) if problem.free else l
        for _ in range(REFINEMENTS):
            a = patterns.combine(rows, found)
            lean = float(a[-1])
            if problem.free:
                a[-1] = bias
            step = factor.solve(1.0 - patterns.margins_of(rows, a))
            if problem.free:
                change = (float(l @ step) + lean) / float(l @ along)
                step, bias = step - change * along, bias + change
            found = found + step
        problem.passes += 2.0 * REFINEMENTS * len(rows) / patterns.n
        a = patterns.combine(rows, found)
        if problem.free:
            a[-1] = bias
        return rows, found, a


def newton_step(H: NDArray[np.float64], gradient: Vector) -> Vector:
    """-H^-1 g; none where squares of the data overflow."""
    if not (np.isfinite(np.sum(np.abs(gradient))) and np.isfinite(np.sum(np.abs(H)))):
        return np.zeros_like(gradient)
    if H[-1, -1] <= 0.0:  # a space without bias, or no row on the face and an unpenalized intercept
        H = H.copy()
        H[-1, -1] = 1.0
    try:
        return -la.cho_solve(la.cho_factor(H, lower=True), gradient)
    except la.LinAlgError:
        return -la.lstsq(np.tril(H) + np.tril(H, -1).T, gradient)[0]


def conjugate_gradients(
    problem: Problem,
    index: np.ndarray,
    s: Vector,
    penalty: Vector,
    gradient: Vector,
    most: float = MOST_PRODUCTS,
    free: NDArray[np.bool_] | bool = True,
) -> tuple[Vector, bool]:
    """(diag(penalty) + Y_F^t S Y_F) p = -g by conjugate gradients, to a residual that falls with the gap.

    Each of its at most so many products is a pass over the rows of the face. Returns whether they were enough as well;
    if not, p is still a direction in which the objective falls. ``free``: the columns that may move; the gradient of
    the others is 0.
    """
    p, r = np.zeros_like(gradient), -gradient
    q, rr = r.copy(), float(r @ r)
    enough = rr * min(0.01, max(problem.gap, 1e-16))  # squares: a gap is of second order in the residual
    products = 0
    while rr > enough:
        if products >= most or problem.passes >= problem.max_passes or problem.interrupted():
            break
        Hq = free * (penalty * q + problem.patterns.curvature_product(index, s, q))
        problem.passes += len(index) / problem.patterns.n
        products += 1
        step = rr / float(q @ Hq)
        p += step * q
        r -= step * Hq
        rr, before = float(r @ r), rr
        q = r + (rr / before) * q
    return p, rr <= enough
