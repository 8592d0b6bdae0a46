"""The 1-norm soft margin by Newton's steps on its augmented Lagrangian: solver (5), after Yan & Li 2020.

    P(a) = |a|^2/2 + C sum c_k max(0, 1 - a.y_k)

has kinks, its augmented Lagrangian has none: for multipliers alpha and a sigma > 0

    L(a) = |a|^2/2 + sum_k (u_k^2 - (u_k - clip(u_k, 0, C c_k))^2 - alpha_k^2)/(2 sigma)
    u_k = alpha_k + sigma (1 - a.y_k)
    grad L = a - sum clip(u_k, 0, C c_k) y_k,   Hessian = I + sigma sum_J y_k y_k^t,   J = {k: 0 < u_k < C c_k},

the identity without the 1 of a free bias. Newton's method with an exact line search finds its minimum; then
alpha = clip(u) are better multipliers, and sigma grows. Only the rows of J, whose multipliers are strictly between
their bounds, enter the Hessian: near the solution they are no more than the columns. Every step shows a vector and
multipliers within their bounds, so the gap is known all the time.
"""

from contextlib import suppress

import numpy as np
import scipy.linalg as la

from separatrix.passes import compiled as passes
from separatrix.solvers.coordinate_descent import descend
from separatrix.solvers.dual_sweeps import Sweeps
from separatrix.solvers.newton import conjugate_gradients, line_search, newton_step
from separatrix.solvers.problem import Problem
from separatrix.solvers.small_problem import is_small, small_minimum
from separatrix.space import Vector

SWEEPS = 3  # of coordinate descent at the beginning
START_GAP = 1e-2  # gap of a start
FIRST_SIGMA = 1.0  # sigma |y|^2 of the first Lagrangian, at least; sigma itself is no less than a multiplier
SIGMA_GROWTH = 4.0  # its growth, where the last one took at most QUICK_STEPS
QUICK_STEPS = 4
LAGRANGIAN_TOL = 0.1  # how well a Lagrangian is minimised, in units of what its multipliers move
LARGEST_FACTOR = 3000  # size of the largest matrix that is factored
PRODUCT, WORTH_IT = 15.0, 10.0  # a matrix costs as much as size / PRODUCT products; so many are worth a try
FINE_GAP, PATIENCE = 1e-9, 4  # a gap that no longer falls is as good as arithmetic makes it
NEWTON_STEPS = 50  # of Newton's method on one Lagrangian, at most
IDLE_STEPS = 400  # to minima of Lagrangians that bring no progress, after which it has to stop
STAGES = 30  # Lagrangians of a small problem, at most


def solve(problem: Problem, start: Vector | None = None) -> None:
    """``start``: a vector near which the solution is expected."""
    lagrangian = Lagrangian(problem)
    if start is not None:
        lagrangian.begin(start, np.zeros(problem.patterns.n))
    elif problem.patterns.d + 1 > min(LARGEST_FACTOR, problem.patterns.n):
        # A sweep costs as much as a pass, and matrices cost more. Fewer rows than columns are nearly always separable,
        # and then sweeps arrive.
        near = problem
        if problem.free:  # with a bias that is part of |a|: near enough for multipliers to begin with
            near = problem.unbiased(max(problem.tol, START_GAP))
        alpha = descend(near, Sweeps(near))
        problem.passes = near.passes
        if problem.done():
            return
        lagrangian.begin(_combined(problem, alpha), alpha)
    else:
        found = _of_few_columns(problem, lagrangian.sigma)
        lagrangian.begin(*(_of_sweeps(problem) if found is None else found))
    lagrangian.follow()


def _combined(problem: Problem, alpha: Vector) -> Vector:
    index = alpha.nonzero()[0]
    return problem.combine(index, alpha[index])


def _of_few_columns(problem: Problem, sigma: float) -> tuple[Vector, Vector] | None:
    """The vector and the multipliers of a small problem by one compiled loop; None where it does not get there."""
    patterns, caps = problem.patterns, problem.caps
    if not is_small(problem) or patterns.n < patterns.d:
        return None
    a, alpha = np.zeros(patterns.d + 1), np.zeros(patterns.n)
    sigmas = np.full(patterns.n, max(sigma, float(caps.mean())))
    return (a, alpha) if small_minimum(problem, patterns.in_float64(), alpha, sigmas, a, STAGES) else None


def _of_sweeps(problem: Problem) -> tuple[Vector, Vector]:
    """A vector and multipliers to begin with."""
    sweeps = Sweeps(problem)
    sweeps.sweep(SWEEPS)
    return sweeps.a, sweeps.alpha


class Lagrangian:
    """The vector, its margins, the multipliers at the centre, and those of the Lagrangian's gradient."""

    def __init__(self, problem: Problem):
        self.problem, patterns = problem, problem.patterns
        self.caps, self.space = problem.caps, patterns.space
        self.direct = False  # whether a step has needed more products than a matrix costs
        self.penalty = problem.penalty
        scale = patterns.mean_square + (0.0 if problem.free else self.space.rho**2)
        self.sigma = FIRST_SIGMA / scale if scale > 0 else 1.0

    def begin(self, a: Vector, alpha: Vector) -> None:
        """``alpha``: any multipliers between 0 and their caps."""
        self.a, self.alpha = a, alpha
        positive = alpha[alpha > 0.0]
        if len(positive):
            self.sigma = max(self.sigma, float(positive.sum()) / len(positive))
        self._from_scratch()

    def _from_scratch(self) -> None:
        """The margins and the combination, whose sums of steps drift."""
        self.m = self.problem.margins(self.a)
        self.clipped, self.v = np.zeros(self.problem.patterns.n), np.zeros(self.problem.patterns.d + 1)
        self._clip()

    def _clip(self) -> None:
        """The multipliers of the gradient, their combination, and the bounds that they and the vector give."""
        if self.problem.free:
            self._best_bias()
        self.u = self.alpha + self.sigma * (1.0 - self.m)
        clipped = np.minimum(np.maximum(self.u, 0.0), self.caps)  # numpy's own function for it takes longer
        changed = (clipped != self.clipped).nonzero()[0]
        self.v += self.problem.combine(changed, clipped[changed] - self.clipped[changed])
        self.clipped = clipped

    def _enter(self) -> None:
        problem = self.problem
        problem.primal(self.a, self.m)
        index = self.clipped.nonzero()[0]
        problem.dual(index, *self._balanced(index))

    def _balanced(self, index: np.ndarray) -> tuple[Vector, Vector]:
        """Multipliers and their combination; of a free bias with the same sum in both classes, as D asks for."""
        alpha = self.clipped[index]
        if not self.problem.free:
            return alpha, self.v
        labels = self.problem.patterns.labels[index]
        sums = float(alpha[labels > 0].sum()), float(alpha[labels < 0].sum())
        least, most = min(sums), max(sums)
        if not least > 0:
            return np.zeros(len(index)), self.v
        alpha = alpha * np.where(labels > 0, least / sums[0], least / sums[1])
        return alpha, self.v if most - least <= 1e-14 * most else self.problem.combine(index, alpha)

    def follow(self) -> None:
        problem = self.problem
        best, stale = np.inf, 0
        reached, idle, steps = np.inf, 0, 0
        while np.isfinite(self.sigma) and idle < IDLE_STEPS:
            reached, idle = (problem.gap, 0) if problem.gap < 0.999 * reached else (reached, idle + steps + 1)
            problem.go_on()  # bounds need not move while rows change sides one by one: a Lagrangian is minimised first
            steps = 0
            while steps < NEWTON_STEPS:
                self._enter()
                best, stale = (problem.gap, 0) if problem.gap < 0.5 * best else (best, stale + 1)
                if problem.done() or (problem.gap < FINE_GAP and stale >= PATIENCE):
                    return
                gradient = self.penalty * self.a - self.v
                moved = float(np.linalg.norm(self.clipped - self.alpha)) / np.sqrt(self.sigma)
                if float(np.linalg.norm(gradient)) <= LAGRANGIAN_TOL * moved or not self._newton(gradient):
                    break
                steps += 1
            self.alpha = self.clipped
            if steps <= QUICK_STEPS:
                self.sigma *= SIGMA_GROWTH
            self._from_scratch()

    def _newton(self, gradient: Vector) -> bool:
        """One step; False where it no longer moves anything."""
        problem = self.problem
        between = np.flatnonzero((self.u > 0) & (self.u < self.caps))
        step = self._step(between, gradient)
        change = problem.margins(step)
        t = self._line_search(step, change)
        following = self.a + t * step
        if not t > 0 or np.array_equal(following, self.a):
            return False
        self.a, self.m = following, self.m + t * change
        self._clip()
        return True

    def _step(self, rows: np.ndarray, gradient: Vector) -> Vector:
        """Newton's: by conjugate gradients while these need few products, else by a matrix of columns or of the rows in
        J, where these are not too many."""
        width, patterns = len(gradient), self.problem.patterns
        if len(rows) == 0:
            return -gradient * self.penalty
        most = min(width, len(rows)) / PRODUCT
        if not self.direct and most >= WORTH_IT:
            curvature = np.full(len(rows), self.sigma)
            step, reached = conjugate_gradients(self.problem, rows, curvature, self.penalty, gradient, most)
            if reached or self.problem.stopped:
                return step
            self.direct = True
        if width <= min(LARGEST_FACTOR, 2 * len(rows)):
            self.problem.passes += len(rows) / patterns.n
            H = patterns.outer_products(rows, np.full(len(rows), self.sigma))
            H[np.diag_indices(width)] += self.penalty
            return newton_step(H, gradient)
        if len(rows) <= LARGEST_FACTOR:
            with suppress(la.LinAlgError):  # rows that depend on each other, and a large sigma
                return self._by_rows(rows, gradient)
        curvature = np.full(len(rows), self.sigma)
        return conjugate_gradients(self.problem, rows, curvature, self.penalty, gradient)[0]

    def _by_rows(self, rows: np.ndarray, gradient: Vector) -> Vector:
        """By the change q of the multipliers in J: (Y Y^t + 1/sigma) q = -Y g, step = -g - Y^t q; with a free bias,
        which Y then leaves out, (Y Y^t + 1/sigma) q - rho l b = -Y g and rho l.q = -g_b."""
        problem, patterns = self.problem, self.problem.patterns
        problem.passes += 2.0 * len(rows) / patterns.n
        bent = gradient * self.penalty
        G = patterns.inner_products(rows, bias=not problem.free)
        G[np.diag_indices(len(rows))] += 1.0 / self.sigma
        factor = la.cho_factor(G, lower=True, check_finite=False)
        q = la.cho_solve(factor, -patterns.margins_of(rows, bent), check_finite=False)
        bias = 0.0
        if problem.free:
            l = self.space.rho * patterns.labels[rows]
            z = la.cho_solve(factor, l, check_finite=False)
            bias = -(gradient[-1] + float(l @ q)) / float(l @ z)
            q += bias * z
        step = -bent - problem.combine(rows, q)
        if problem.free:
            step[-1] = bias
        return step

    def _line_search(self, step: Vector, change: Vector) -> float:
        linear, square = (float(np.sum(self.penalty * x * step)) for x in (self.a, step))
        sums = passes.clipped_sums()

        def slope(t: float) -> tuple[float, float]:
            products, curvature = sums(self.alpha, self.caps, self.sigma, self.m, change, t)
            return linear + t * square - products, square + self.sigma * curvature

        return line_search(slope)

    def _best_bias(self) -> None:
        """The free bias that minimises the Lagrangian: there the multipliers of both classes have the same sum."""
        patterns = self.problem.patterns
        lean = float(patterns.labels @ np.clip(self.alpha + self.sigma * (1.0 - self.m), 0.0, self.caps))
        if lean == 0:
            return
        step = np.zeros(patterns.d + 1)
        step[-1] = np.sign(lean) / self.space.rho
        change = np.sign(lean) * patterns.labels
        t = self._line_search(step, change)
        self.a, self.m = self.a + t * step, self.m + t * change
