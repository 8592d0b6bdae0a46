"""Margins whose coefficients have given signs: the engine, with its vector in a cone.

    minimise P(a) over a in K = {s_j w_j >= 0},   D(alpha) = sum alpha_k - |P_K(sum alpha_k y_k)|^2/2 - ...

A stage of the engine minimises a smooth function L over K. Columns are held at 0 if they are there and the gradient
pushes them out of K; Newton's steps move the others (Bertsekas, Projected Newton methods for optimization problems with
simple constraints, 1982). A hard margin has neither a diagonal nor caps: its stages are those of the hinge loss.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.solvers.engine import FOUND, MOVED, STUCK, Engine
from separatrix.solvers.newton_steps import LARGEST_MATRIX, NewtonSteps, conjugate_gradients, newton_step
from separatrix.solvers.problem import Problem
from separatrix.space import Vector, symmetric

MODEL_STEPS = 20  # to the minimum of a model, at most
SHORTER = (1.0, 0.5, 0.25, 0.125)  # parts of a step that are tried with projection
ROUNDED = 1e-13  # of the largest coefficient, is 0: what is left after steps to 0 would stop projected steps
Mask = NDArray[np.bool_]


def solve(problem: Problem, start: Vector | None = None) -> None:
    """``start``: a vector near which the solution is expected."""
    engine = SignedEngine(problem)
    a = np.zeros(problem.patterns.d + 1) if start is None else start
    engine.begin(problem.patterns.space.project(a))
    engine.follow()


class SignedEngine(Engine):
    """The engine with its vector in the cone of the space."""

    def __init__(self, problem: Problem):
        super().__init__(problem)
        self.signs = problem.patterns.space.column_signs().astype(np.float64)
        self.ridge = 0.0

    def _first_sigma(self, alpha: Vector | None) -> float:
        return 0.0 if self.diagonal[0] > 0.0 else self.scale

    def _orthant(self) -> tuple[Vector, Vector]:
        """Return the signs of the coefficients, 0 for any, and the gradient of the objective among such vectors."""
        return self.signs, super()._gradient()

    def _gradient(self) -> Vector:
        signs, gradient = self._orthant()
        return np.where(held_columns(signs, self.a, gradient), 0.0, gradient)

    def _newton(self, from_scratch: bool) -> int:
        problem = self.problem
        if self.steps is None:
            self.steps = NewtonSteps(problem)
        signs, gradient = self._orthant()
        held = held_columns(signs, self.a, gradient)
        step, plain = feasible_step(signs, self.a, gradient, self._model())
        change = problem.margins(step)
        t = min(self._line_search(step, change), _room(signs, self.a, step))
        following = clip_to(signs, self.a + t * step)
        small = np.abs(following) <= ROUNDED * np.abs(following[:-1]).max(initial=0.0)
        following[small & (signs != 0)] = 0.0
        if not t > 0 or np.array_equal(following, self.a):
            return STUCK
        self.a, self.m = following, self.m + t * change
        if from_scratch:
            self._from_scratch()
        else:
            self._clip()
        settled = np.array_equal(held, held_columns(*self._here()))
        if t != 1.0 or not plain or problem.patterns.d >= LARGEST_MATRIX or self.crossed or not settled:
            return MOVED
        self._from_scratch()
        return FOUND

    def _here(self) -> tuple[Vector, Vector, Vector]:
        signs, gradient = self._orthant()
        return signs, self.a, gradient

    def _best_intercept(self) -> None:
        """With no row between its bounds an interval of intercepts is best: in its middle no row stops a step."""
        super()._best_intercept()
        u = self.shift + self.s * (1.0 - self.m)
        below, above = u <= 0.0, u >= self.caps
        if not np.all(below | above):
            return
        room = np.where(below, -u, u - self.caps) / self.s
        labels = self.problem.patterns.labels
        upwards = (labels > 0) == above  # rows that change sides if the intercept grows
        ends = -float(room[~upwards].min(initial=np.inf)), float(room[upwards].min(initial=np.inf))
        if np.isfinite(middle := sum(ends) / 2.0):
            self.a = self.a.copy()
            self.a[-1] += middle / self.problem.patterns.space.rho
            self.m = self.m + middle * labels

    def _model(self) -> "Model":
        """Return the quadratic model of L, whose matrix is that of Newton's step."""
        assert self.steps is not None
        face, problem = self.face.copy(), self.problem
        if problem.patterns.d < LARGEST_MATRIX:
            matrix, unit = self.steps.columns.hessian(face, self.s)
            return model_of(unit * matrix + self.ridge * np.eye(len(matrix)), problem.interrupted)
        F, penalty = np.flatnonzero(face), self.penalty + self.ridge

        def newton(free: Mask, gradient: Vector) -> Vector:
            if 0 < len(F) <= LARGEST_MATRIX and not self.ridge:
                return _step_by_rows(problem, F, self.s[F], free, gradient)
            return conjugate_gradients(problem, F, self.s[F], penalty, gradient, free=free)[0]

        def product(p: Vector) -> Vector:
            problem.passes += len(F) / problem.patterns.n
            return penalty * p + problem.patterns.curvature_product(F, self.s[F], p)

        return Model(newton, product, problem.interrupted)


def _step_by_rows(problem: Problem, F: np.ndarray, s: Vector, free: Mask, gradient: Vector) -> Vector:
    """Return the step by the matrix of rows, as `newton_steps` describes it; the rows without their fixed columns."""
    patterns, columns = problem.patterns, free.copy()
    columns[-1] &= not problem.free
    Y = patterns.sparse_patterns(F) if patterns.sparse else patterns.dense_rows(F)
    Y = Y[:, np.flatnonzero(columns)]
    K = Y @ Y.T
    K = K.toarray() if patterns.sparse else K
    K[np.diag_indices_from(K)] += 1.0 / s
    problem.passes += 2.0 * len(F) / patterns.n
    ends = patterns.space.rho * patterns.labels[F]
    q, z = la.solve(K, np.column_stack([-(Y @ gradient[columns]), ends]), assume_a="pos", check_finite=False).T
    step = np.zeros_like(gradient)
    if problem.free:
        step[-1] = -(gradient[-1] + float(ends @ q)) / float(ends @ z)
        q = q + step[-1] * z
    step[columns] = -gradient[columns] - Y.T @ q
    return step


class Model(NamedTuple):
    """A quadratic model. ``newton``: returns its Newton step in some columns, 0 in others, if its gradient is 0 in
    these; ``product``: returns the product of its matrix with a vector; ``stop``: is time up?"""

    newton: Callable[[Mask, Vector], Vector]
    product: Callable[[Vector], Vector]
    stop: Callable[[], bool]


def model_of(lower: NDArray[np.float64], stop: Callable[[], bool]) -> Model:
    """Return the model of a matrix, which is given by its lower triangle."""
    matrix = symmetric(lower)

    def newton(free: Mask, gradient: Vector) -> Vector:
        step = np.zeros_like(gradient)
        if free.any():
            step[free] = newton_step(matrix[np.ix_(free, free)], gradient[free])
        return step

    return Model(newton, matrix.__matmul__, stop)


def clip_to(signs: Vector, v: Vector) -> Vector:
    return np.where(signs * v < 0.0, 0.0, v)


def held_columns(signs: Vector, a: Vector, gradient: Vector) -> Mask:
    """Return which columns are 0 and would leave the cone against the gradient."""
    return (signs != 0) & (a == 0.0) & (signs * gradient >= 0.0)


def feasible_step(signs: Vector, a: Vector, gradient: Vector, model: Model) -> tuple[Vector, bool]:
    """Return a step p with a + p in the cone that lowers the model, near its minimum there; and if it is plain Newton.

    Projected Newton steps on the model: those columns at 0 that a step would cut are held as well, so that the
    step leads downwards up to its first bound.
    """
    p, slope = np.zeros_like(a), gradient
    for count in range(MODEL_STEPS):
        here = a + p
        free = ~held_columns(signs, here, slope)
        step = model.newton(free, np.where(free, slope, 0.0))
        while not model.stop() and (blocked := free & (here == 0.0) & (signs * step < 0.0)).any():
            free &= ~blocked
            step = model.newton(free, np.where(free, slope, 0.0))
        for t in (*SHORTER, min(1.0, _room(signs, here, step))):  # up to the first bound a step always lowers it
            change = clip_to(signs, here + t * step) - here
            bend = model.product(change)
            if float(slope @ change) + float(change @ bend) / 2.0 < 0.0:
                break
        else:
            return p, False
        plain = t == 1.0 and bool(np.all(signs * (here + step) >= 0.0))
        p, slope = clip_to(signs, here + t * step) - a, slope + bend
        if plain or model.stop():
            return p, plain and count == 0
    return p, False


def _room(signs: Vector, a: Vector, step: Vector) -> float:
    """Return the largest t with a + t step in the cone."""
    leaving = signs * step < 0.0
    return float((-a[leaving] / step[leaving]).min(initial=np.inf))
