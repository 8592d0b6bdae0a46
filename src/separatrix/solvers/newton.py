"""Soft margin by a finite Newton method on the primal: solver (2), after Mangasarian and Keerthi & DeCoste.

    P(a) = |a|^2/2 + C sum c_k max(0, 1 - a.y_k)^2

is convex and piecewise quadratic. On the active rows A (a.y < 1) its Hessian is I + 2C Y_A^t c Y_A, without the 1 of a
free bias; a Newton step with an exact line search ends on the right piece after finitely many steps. The Hessian is
formed where d is small, otherwise the step is found by conjugate gradients, each one pass over the active rows.
The dual point of a vector is alpha = 2 C c max(0, 1 - m). Of a linear machine every row and rival has a slack of its
own. (Crammer and Singer's machine has one per row, the largest, not squared; without slack the two are the same.)
"""

from collections.abc import Callable

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.passes import compiled as passes
from separatrix.passes.patterns import EPS
from separatrix.solvers import truncated_newton
from separatrix.solvers.dual_sweeps import Sweeps
from separatrix.solvers.problem import Problem
from separatrix.solvers.small_problem import PATH_FROM_C, is_small, minimiser, size
from separatrix.solvers.truncated_newton import LARGEST_HESSIAN, MOST_PRODUCTS
from separatrix.space import Vector

PRODUCTS_BETWEEN_LOOKS = 4e9  # multiplications for a Hessian, about
HESSIAN_ERROR = 1e-8  # rounding errors in it, against the 1 of the penalty
STRIDE, PATH_GAP = 10.0, 0.3  # factor between the C of a path, and the gap to which it is followed
FEW_STEPS = 20  # without a Hessian: then with one
PRODUCT = 3.0  # times as long as in the compiled loop takes a product of conjugate gradients here
SPAN = 2.0  # times the rows: columns from which products with sparse rows stall at a large C
ROUNDS = 300  # of Newton, which needs about ten: more are steps that rounding errors make tiny
SWEEPS = 2  # of coordinate descent at its beginning: each costs less than a Newton step, two save half of them


def follow(problem: Problem, start: Vector | None = None) -> None:
    """From a few sweeps of coordinate descent, along a path of growing C: Newton's steps are few near the solution.

    Few rows or columns are a matter of one compiled loop; what is left is to check its vector. Sparse rows have a loop
    without a matrix, which needs no path.
    """
    if start is not None:
        solve(problem, start)
        return
    if _without_a_matrix(problem) and truncated_newton.solve(problem):
        return
    if is_small(problem):
        start = minimiser(problem)
    C = problem.C / STRIDE
    stages = []
    while start is None and C * float(np.mean(problem.patterns.norms2)) > PATH_FROM_C:
        stages.append(problem.softer(C, PATH_GAP))
        C /= STRIDE
    if start is None and problem.patterns.n_classes == 2:
        first = stages[-1] if stages else problem
        sweeps = Sweeps(first)
        sweeps.sweep(SWEEPS)
        start, problem.passes = sweeps.a, first.passes
    for stage in reversed(stages):
        if problem.limited:
            break
        stage.passes = problem.passes
        _with_line_search(stage, start)
        start, problem.passes = stage.a, stage.passes
    _with_line_search(problem, start)


def _without_a_matrix(problem: Problem) -> bool:
    """Is it a matter of products with sparse rows? Not of few rows, unless C is small."""
    patterns = problem.patterns
    if not patterns.sparse or (SPAN * patterns.n <= patterns.d + 1 and problem.C * size(problem) > PATH_FROM_C):
        return False
    return truncated_newton.suits(problem)


def solve(problem: Problem, start: Vector) -> None:
    """From a vector, at the problem's own C."""
    if _without_a_matrix(problem):
        if truncated_newton.solve(problem, start):
            return
        start = problem.a
    _with_line_search(problem, start)


def _with_line_search(problem: Problem, start: Vector | None) -> None:
    patterns = problem.patterns
    width = patterns.d + 1
    a = np.zeros(width) if start is None else start.copy()
    m = problem.margins(a)
    penalty = problem.penalty
    steps: Steps
    first = True
    for round_ in range(ROUNDS):
        if problem.free:
            a, m = problem.with_best_bias(a, m)
        problem.primal(a, m)
        index, alpha = problem.slack_multipliers(m)
        v = problem.combine(index, alpha)
        problem.dual(index, alpha, v)
        if first:
            problem.tell()
        if problem.done():
            return
        if first:
            steps, first = _steps(problem, penalty), False
        step = steps.step(m < 1.0, a, penalty * a - v)
        if isinstance(steps, ConjugateGradients) and steps.too_many and width <= LARGEST_HESSIAN:
            steps = Hessian(problem, penalty)
        change = problem.margins(step)
        t = line_search(_slope(problem, a, m, step, change, penalty))
        following, m_following = a + t * step, m + t * change
        stuck = not t > 0 or np.array_equal(following, a)
        if not isinstance(steps, Hessian) and width <= LARGEST_HESSIAN and (stuck or round_ == FEW_STEPS):
            steps = Hessian(problem, penalty)
            continue
        if stuck:
            return
        if problem.passes % 8 < 1:  # now and then from scratch: the sum of steps drifts
            m_following = problem.margins(following)
        if t == 1.0 and problem.tol < 1e-10 and np.array_equal(m_following < 1.0, m < 1.0):
            m_following = problem.margins(following)
            _finish(problem, following, m_following)
            return
        a, m = following, m_following


def _finish(problem: Problem, a: Vector, m: Vector) -> None:
    """A full step that stays on its piece has found the minimum."""
    if problem.free:
        a, m = problem.with_best_bias(a, m)
    problem.primal(a, m)
    index, alpha = problem.slack_multipliers(m)
    problem.dual(index, alpha, problem.combine(index, alpha))
    problem.done()


class Hessian:
    """diag(penalty) + 2 C Y_A^t c Y_A, its lower triangle, kept from step to step: few rows enter or leave A."""

    def __init__(self, problem: Problem, penalty: Vector):
        self.problem, self.penalty = problem, penalty
        self.norms2 = problem.patterns.norms2 - problem.patterns.delta**2
        self._forget()

    def _forget(self) -> None:
        self.active = np.zeros(self.problem.patterns.n, dtype=bool)
        self.matrix = np.diag(self.penalty)
        self.removed = 0.0  # the sum of what left it, whose rounding errors stay

    def at(self, active: NDArray[np.bool_]) -> NDArray[np.float64]:
        """For the rows that are active now. The matrix may be overwritten by the next call only."""
        entering, leaving = np.flatnonzero(active & ~self.active), np.flatnonzero(self.active & ~active)
        self.removed += 2.0 * self.problem.C * float(self.problem.weight[leaving] @ self.norms2[leaving])
        if len(entering) + len(leaving) > active.sum() or EPS * self.removed > HESSIAN_ERROR:
            self._forget()
            entering, leaving = np.flatnonzero(active), leaving[:0]
        self._add(entering, 1.0)
        self._add(leaving, -1.0)
        self.active = active
        return self.matrix

    def step(self, active: NDArray[np.bool_], a: Vector, gradient: Vector) -> Vector:
        return newton_step(self.at(active), gradient)

    def _add(self, index: np.ndarray, sign: float) -> None:
        rows = max(1, int(PRODUCTS_BETWEEN_LOOKS / len(self.matrix) ** 2))
        for first in range(0, len(index), rows):
            if first and self.problem.interrupted():
                return  # what is left out makes a step worse, and this one is the last
            part = index[first : first + rows]
            self.problem.passes += len(part) / self.problem.patterns.n
            curvature = 2.0 * self.problem.C * self.problem.weight[part]
            self.matrix += sign * self.problem.patterns.outer_products(part, curvature)


def newton_step(H: NDArray[np.float64], gradient: Vector) -> Vector:
    """-H^-1 g; none where squares of the data overflow."""
    if not (np.isfinite(np.sum(np.abs(gradient))) and np.isfinite(np.sum(np.abs(H)))):
        return np.zeros_like(gradient)
    if H[-1, -1] <= 0.0:  # a space without bias, or no active row and a free one
        H = H.copy()
        H[-1, -1] = 1.0
    try:
        return -la.cho_solve(la.cho_factor(H, lower=True), gradient)
    except la.LinAlgError:
        return -la.lstsq(np.tril(H) + np.tril(H, -1).T, gradient)[0]


class ConjugateGradients:
    """Newton's steps without a matrix; ``most``: products in one step that cost as much as the matrix, from which on it
    is formed."""

    def __init__(self, problem: Problem, penalty: Vector, most: float = MOST_PRODUCTS):
        self.problem, self.penalty, self.most, self.too_many = problem, penalty, most, False

    def step(self, active: NDArray[np.bool_], a: Vector, gradient: Vector) -> Vector:
        index = np.flatnonzero(active)
        curvature = 2.0 * self.problem.C * self.problem.weight[index]
        p, reached = conjugate_gradients(self.problem, index, curvature, self.penalty, gradient, self.most)
        self.too_many = not reached
        return p


def conjugate_gradients(
    problem: Problem,
    index: np.ndarray,
    curvature: Vector,
    penalty: Vector,
    gradient: Vector,
    most: float = MOST_PRODUCTS,
) -> tuple[Vector, bool]:
    """(diag(penalty) + Y_A^t curvature Y_A) p = -g by conjugate gradients, to a residual that falls with the gap.

    Each of its at most so many products is a pass over the active rows. Whether they were enough is told as well; if
    not, p is still a direction in which P falls.
    """
    p, r = np.zeros_like(gradient), -gradient
    q, rr = r.copy(), float(r @ r)
    enough = rr * min(0.01, max(problem.gap, 1e-16))  # squares: a gap is of second order in the residual
    products = 0
    while rr > enough:
        if products >= most or problem.passes >= problem.max_passes or problem.interrupted():
            break
        Hq = penalty * q + problem.patterns.curvature_product(index, curvature, q)
        problem.passes += len(index) / problem.patterns.n
        products += 1
        step = rr / float(q @ Hq)
        p += step * q
        r -= step * Hq
        rr, before = float(r @ r), rr
        q = r + (rr / before) * q
    return p, rr <= enough


Steps = Hessian | ConjugateGradients


def _steps(problem: Problem, penalty: Vector) -> Steps:
    """How Newton's equations are solved: what costs least."""
    if problem.patterns.d + 1 > LARGEST_HESSIAN:
        return ConjugateGradients(problem, penalty)
    if problem.free and truncated_newton.avoids_a_matrix(problem):  # which the compiled loop does not know
        most = truncated_newton.worth_of_a_hessian(problem) / PRODUCT
        return ConjugateGradients(problem, penalty, most)
    return Hessian(problem, penalty)


Slope = Callable[[float], tuple[float, float]]


def _slope(problem: Problem, a: Vector, m: Vector, step: Vector, change: Vector, penalty: Vector) -> Slope:
    """The derivative of P(a + t step) in t, and its own."""
    linear, square = float(np.sum(penalty * a * step)), float(np.sum(penalty * step * step))
    sums, C2 = passes.slack_sums(), 2.0 * problem.C

    def slope(t: float) -> tuple[float, float]:
        _, products, curvature = sums(m, change, problem.weight, t)
        return linear + t * square - C2 * products, square + C2 * curvature

    return slope


def line_search(slope: Slope) -> float:
    """The minimiser of a convex function over t >= 0: Newton's steps on its piecewise linear derivative, bracketed."""
    value, curvature = slope(1.0)
    if value == 0:
        return 1.0
    low, high, t = (1.0, np.inf, 1.0) if value < 0 else (0.0, 1.0, 1.0)
    for _ in range(60):
        following = t - value / curvature if curvature > 0 else np.inf
        if not low < following < high:
            following = 2.0 * t if np.isinf(high) else (low + high) / 2.0
        if abs(following - t) <= 1e-12 * t:
            return following
        t = following
        value, curvature = slope(t)
        if value < 0:
            low = t
        else:
            high = t
    return t
