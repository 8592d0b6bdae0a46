"""The engine of soft margins: Newton's method on the dual, in proximal stages.

    minimise |sum alpha_k y_k|^2/2 + sum diagonal_k alpha_k^2/2 - sum alpha_k,   0 <= alpha_k <= cap_k

Squared hinge: diagonal 1/(2 C c), no cap. Hinge: diagonal 0, cap C c. A stage adds sigma |alpha - centre|^2/2. Its
minimum has

    alpha_k = clip(u_k, 0, cap_k),   u_k = s_k (1 - a.y_k + sigma centre_k),   s_k = 1/(diagonal_k + sigma)

where a minimises the smooth function (of hinge loss the augmented Lagrangian, Yan & Li 2020)

    L(a) = |a|^2/2 + sum_k (u_k^2 - (u_k - clip(u_k, 0, cap_k))^2)/(2 s_k),   grad L = a - sum alpha_k y_k

|a| leaves an unpenalized intercept out. Newton's steps with an exact line search find its minimum
(`separatrix.solvers.newton_steps`); only rows between their bounds enter the matrix. Then the centre moves to alpha,
and sigma falls, to 0 if there is a diagonal. Every step shows a vector and multipliers within their bounds, so the gap
is known all the time. Before it come sweeps of dual coordinate descent; small problems have a compiled loop.
"""

from collections.abc import Callable

import numpy as np

from separatrix.passes import compiled as passes
from separatrix.solvers.coordinate_descent import descend
from separatrix.solvers.dual_sweeps import Sweeps
from separatrix.solvers.newton_steps import LARGEST_MATRIX, PRECISE, NewtonSteps
from separatrix.solvers.problem import Problem
from separatrix.solvers.small_problem import small_solution
from separatrix.space import Vector

SWEEPS = 2  # of coordinate descent before the first stage; 1 if there is a diagonal
START_GAP = 1e-2  # to which sweeps with a penalized intercept go, as a start for an unpenalized one
FIRST, LARGEST, DIAGONAL = (
    5e-4,
    1.0,
    1e-2,
)  # sigma at first: without multipliers, with them, with a diagonal; of the mean |y|^2
NEAR = 5.0  # sigma/diagonal from which a stage with a sigma pays
FALL, SLOW_FALL, QUICK_STEPS = 0.1, 0.5, 6  # of sigma from stage to stage: after a quick stage, and a slow one
LEAST = 1e-14  # sigma, of the mean |y|^2, unless it is too large for the caps:
ACROSS = 0.1  # margins that differ from 1 by this much move a multiplier from 0 to its cap in one stage
STAGE_TOL = 0.1  # how well a stage is minimised, in units of what its multipliers move
STAGE_STEPS, IDLE_STEPS = 50, 400  # of a stage, at most; without progress
FINE_GAP, PATIENCE = 1e-9, 4  # a gap that no longer falls is as good as arithmetic makes it
DRIFT = 8  # steps after which sums are computed from scratch
TRIALS, ENOUGH = 60, 1e-3  # of a line search, and how near it comes


def solve(problem: Problem, start: Vector | None = None, alpha: Vector | None = None) -> None:
    """``start``: a vector near which the solution is expected; ``alpha``: multipliers near those of the solution."""
    patterns, engine = problem.patterns, Engine(problem)
    if (found := small_solution(problem, start)) is not None:
        engine.begin(*found)
    elif alpha is not None:
        index = alpha.nonzero()[0]
        engine.begin(problem.combine(index, alpha[index]), alpha)
    elif start is not None:
        engine.begin(start)
    elif patterns.n_classes > 2:
        engine.begin(np.zeros(patterns.d + 1), np.zeros(patterns.n))
    elif patterns.n > patterns.d + 1 and (problem.diagonal[0] > 0.0 or patterns.d < LARGEST_MATRIX):
        sweeps = Sweeps(problem)
        sweeps.sweep(1 if problem.diagonal[0] > 0.0 else SWEEPS)
        engine.begin(sweeps.a, sweeps.alpha)
    else:
        near = problem.unbiased(max(problem.tol, START_GAP)) if problem.free else problem
        alpha = descend(near, Sweeps(near))
        problem.passes = near.passes
        if problem.done() and (problem.gap <= problem.tol or problem.limited):
            return
        problem.go_on()
        index = alpha.nonzero()[0]
        engine.begin(problem.combine(index, alpha[index]), alpha)
    engine.follow()


class Engine:
    """The vector, its margins, the multipliers at the centre of the stage, and those of the gradient."""

    def __init__(self, problem: Problem):
        self.problem, patterns = problem, problem.patterns
        self.caps, self.diagonal, self.penalty = problem.caps, problem.diagonal, problem.penalty
        self.steps = NewtonSteps(problem)
        self.tried: np.ndarray = np.zeros(0, np.int64)  # the last support whose equations were solved
        n = patterns.n
        self.alpha, self.v, self.face = np.zeros(n), np.zeros(patterns.d + 1), np.zeros(n, dtype=bool)
        self.room = np.empty(n, np.int64), np.empty(n)
        self.crossed = 0  # rows that the last step has moved to the face or from it
        self.scale = patterns.mean_square + (0.0 if problem.free else patterns.space.rho**2) or 1.0
        cap = float(self.caps.max())
        self.least = min(LEAST * self.scale, ACROSS / cap) if np.isfinite(cap) else LEAST * self.scale

    def begin(self, a: Vector, alpha: Vector | None = None) -> None:
        """``alpha``: any multipliers between their bounds. With a diagonal a vector alone is begun with at sigma 0."""
        self.a, self.centre = a, np.zeros(self.problem.patterns.n) if alpha is None else alpha
        self._set_sigma(self._first_sigma(alpha), NEAR)
        self._from_scratch()

    def _first_sigma(self, alpha: Vector | None) -> float:
        curved = bool(self.diagonal[0] > 0.0)
        if alpha is None and curved:
            return 0.0
        positive = self.centre[self.centre > 0.0]
        if len(positive) == 0:
            return FIRST * self.scale
        return min((DIAGONAL if curved else LARGEST) * self.scale, len(positive) / float(positive.sum()))

    def _set_sigma(self, sigma: float, near: float = 1.0) -> None:
        self.sigma = 0.0 if sigma <= near * float(self.diagonal.min()) else max(sigma, self.least)
        self.s = 1.0 / (self.diagonal + self.sigma)
        self.shift = self.s * self.sigma * self.centre if self.sigma else np.zeros(len(self.s))

    def _from_scratch(self) -> None:
        """The margins and the combination, whose sums of steps drift."""
        self.m = self.problem.margins(self.a)
        self.alpha[:], self.v[:] = 0.0, 0.0
        self._clip()

    def _clip(self) -> None:
        """The multipliers of the gradient and their combination."""
        if self.problem.free:
            self._best_intercept()
        rows, change = self.room
        count, self.crossed = passes.clip_multipliers()(
            self.shift, self.caps, self.s, self.m, self.alpha, self.face, rows, change
        )
        self.v += self.problem.combine(rows[:count], change[:count])

    def _enter(self) -> None:
        problem = self.problem
        problem.primal(self.a, self.m)
        index = self.alpha.nonzero()[0]
        problem.dual(index, *self._balanced(index))

    def _balanced(self, index: np.ndarray) -> tuple[Vector, Vector]:
        """Multipliers and their combination; of an unpenalized intercept with the same sum in both classes, as D asks
        for."""
        alpha = self.alpha[index]
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
        """Steps and stages until the problem is done."""
        problem, first = self.problem, True
        best, stale, inner, count = np.inf, 0, 0, 0
        reached, idle = np.inf, 0
        while True:
            self._enter()
            if first:
                problem.tell()
                first = False
            best, stale = (problem.gap, 0) if problem.gap < 0.5 * best else (best, stale + 1)
            if problem.done() or (problem.gap < FINE_GAP and stale >= PATIENCE and not self._solve_face()):
                return
            ended = False
            if self.sigma > 0.0:
                moved = float(np.linalg.norm(self.alpha - self.centre)) * self.sigma**0.5
                ended = float(np.linalg.norm(self._gradient())) <= STAGE_TOL * moved
            if not ended:
                count += 1
                inner += 1
                how = self._newton(count % DRIFT == 0)
                ended = how != MOVED or inner > STAGE_STEPS
                if self.sigma == 0.0 and how != MOVED:
                    if how == FOUND:
                        self._enter()
                        problem.done()
                    return
            if ended and self.sigma > 0.0:
                if problem.vanishes() or (self._solve_face() and problem.gap <= problem.tol and problem.done()):
                    return
                reached, idle = (problem.gap, 0) if problem.gap < 0.999 * reached else (reached, idle + inner + 1)
                if idle >= IDLE_STEPS:
                    return
                problem.go_on()  # bounds need not move while rows change sides one by one
                self.centre = self.alpha.copy()
                self._set_sigma(self.sigma * (FALL if inner <= QUICK_STEPS else SLOW_FALL))
                self._clip()
                inner = 0

    def _solve_face(self) -> bool:
        """Enter the solution of the equations of a hard margin's support; False if it was entered before."""
        problem, face = self.problem, np.flatnonzero(self.face)
        plain = problem.hard and not problem.patterns.space.signs
        if not plain or not 0 < len(face) <= len(self.a) or np.array_equal(face, self.tried):
            return False
        self.tried = face
        exact = self.steps.solve_face(face, self.alpha, self.a)
        if exact is not None:
            rows, alpha, a = exact
            problem.primal(a, problem.margins(a))
            if np.all(alpha >= 0.0):
                problem.dual(rows, alpha, problem.combine(rows, alpha))
        return True

    def _gradient(self) -> Vector:
        return self.penalty * self.a - self.v

    def _newton(self, from_scratch: bool) -> int:
        """One step; whether it moved, found the minimum of the stage, or no longer moves anything."""
        problem, gradient = self.problem, self._gradient()
        step = self.steps.step(self.face, self.s, self.alpha, gradient)
        change = problem.margins(step)
        t = self._line_search(step, change)
        following = self.a + t * step
        if not t > 0 or np.array_equal(following, self.a):
            if self.steps.direct or self.sigma > 0.0:
                return STUCK
            self.steps.direct = True
            return MOVED
        self.a, self.m = following, self.m + t * change
        if from_scratch:
            self._from_scratch()
        else:
            self._clip()
        if t != 1.0 or not self.steps.exact or self.crossed or problem.tol >= PRECISE:
            return MOVED
        self._from_scratch()
        return FOUND

    def _line_search(self, step: Vector, change: Vector) -> float:
        linear, square = (float(np.sum(self.penalty * x * step)) for x in (self.a, step))
        sums = passes.clipped_sums()

        def slope(t: float) -> tuple[float, float]:
            products, curvature = sums(self.shift, self.caps, self.s, self.m, change, t)
            return linear + t * square - products, square + curvature

        return line_search(slope, 1e-10 * abs(linear))

    def _best_intercept(self) -> None:
        """The unpenalized intercept that minimises L: there the multipliers of both classes have the same sum."""
        patterns = self.problem.patterns
        if self.sigma == 0.0:
            self.a, self.m = self.problem.with_best_bias(self.a, self.m)
            return
        lean = float(patterns.labels @ np.clip(self.shift + self.s * (1.0 - self.m), 0.0, self.caps))
        if lean == 0:
            return
        step = np.zeros(patterns.d + 1)
        step[-1] = np.sign(lean) / patterns.space.rho
        change = np.sign(lean) * patterns.labels
        sums = passes.clipped_sums()

        def slope(t: float) -> tuple[float, float]:
            products, curvature = sums(self.shift, self.caps, self.s, self.m, change, t)
            return -products, curvature

        t = line_search(slope, 0.0, 1e-12)
        self.a, self.m = self.a + t * step, self.m + t * change


STUCK, MOVED, FOUND = range(3)

Slope = Callable[[float], tuple[float, float]]


def line_search(slope: Slope, nothing: float, enough: float = ENOUGH) -> float:
    """The minimiser of a convex function over t >= 0: Newton's steps on its piecewise linear derivative, bracketed.

    1 if the derivative is ``nothing`` there.
    """
    value, curvature = slope(1.0)
    if abs(value) <= nothing:
        return 1.0
    low, high, t = (1.0, np.inf, 1.0) if value < 0 else (0.0, 1.0, 1.0)
    for _ in range(TRIALS):
        following = t - value / curvature if curvature > 0 else np.inf
        if not low < following < high:
            following = 2.0 * t if np.isinf(high) else (low + high) / 2.0
        if abs(following - t) <= enough * t:
            return following
        t = following
        value, curvature = slope(t)
        if value < 0:
            low = t
        else:
            high = t
    return t
