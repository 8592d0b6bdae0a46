"""Sparse linear classifiers: the l1 penalty, with squared hinge and hinge loss.

    minimise  P(a) = sum |a_i| + C sum c_k loss(1 - a.y_k),   without an unpenalized intercept in the first sum
    maximise  D(alpha) = sum alpha_k - sum diagonal_k alpha_k^2/2,   |sum alpha_k y_k|_i <= 1,  0 <= alpha_k <= cap_k

Any multipliers are a dual point after division by the largest |sum alpha_k y_k|_i. Within an orthant P is smooth: the
engine takes projected Newton steps in that of the vector (Andrew & Gao, Scalable training of L1-regularized log-linear
models, 2007), where a coefficient of 0 has the sign that lowers P. Columns are few at first: those whose
|sum alpha_k y_k|_i exceeds 1 most join a working set, as in celer and skglm.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.data.memory import MemoryRows
from separatrix.passes import compiled as passes
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.engine import Engine, line_search
from separatrix.solvers.problem import Problem
from separatrix.solvers.sign_constraints import SignedEngine, held_columns
from separatrix.space import Vector

COLUMNS = 100  # that join the working set, at least
FINER, ENOUGH = 0.1, 0.5  # gap of a working set, against the gap of all columns and against the one asked for
CAUTION, SINGULAR = 0.1, 10.0  # of the gradient per length of the vector, as a ridge: with more rows than columns, else
RIDGE = 1e-9  # of |y|^2 s: columns of a face may depend on each other


class L1Problem(Problem):
    """A `Problem` with the l1 penalty; bounds are (2 P)^(-1/2) and (2 D)^(-1/2)."""

    @property
    def diagonal(self) -> Vector:
        return np.zeros(self.patterns.n) if self.patterns.space.hinge else super().diagonal

    @property
    def caps(self) -> Vector:
        return self.patterns.caps if self.patterns.space.hinge else super().caps

    @property
    def penalty(self) -> Vector:
        return np.zeros(self.patterns.d + 1)

    def primal(self, a: Vector, margins: Vector) -> float:
        slacks = np.maximum(0.0, 1.0 - margins)
        loss = self.patterns.paid_slack(slacks if self.patterns.space.hinge else slacks**2)
        value = float(np.abs(a[:-1] if self.free else a).sum()) + self.C * loss
        return self._enter((2.0 * value) ** -0.5, a) if 0 < value < np.inf else -np.inf

    def dual(self, index: np.ndarray, alpha: Vector, combination: Vector) -> float:
        """Enter multipliers, or the best of their multiples."""
        total = float(alpha.sum())
        largest = float(np.abs(combination[:-1] if self.free else combination).max(initial=0.0))
        square = self.patterns.extension(index, alpha) ** 2
        best = total / square if square > 0 else np.inf
        if self.patterns.space.hinge:
            best = self.patterns.room(index[alpha > 0], alpha[alpha > 0])
        t = min(best, 1.0 / largest if largest > 0 else np.inf)
        value = t * (total - 0.5 * t * square) if 0 < t < np.inf else 0.0
        bound = (2.0 * value) ** -0.5 if value > 0 else np.inf
        if bound < self.upper:
            self.upper, self.alpha_index, self.alpha = bound, index.copy(), t * alpha
            if self.patterns.space.hinge:
                self.alpha = self.patterns.capped(index, self.alpha)
        return bound

    def in_columns(self, columns: np.ndarray, tol: float) -> "L1Problem":
        """Return the problem of some columns, on the same clock."""
        p, rows = self.patterns, self.patterns.home.whole
        part = sp.csr_array(rows[:, columns]) if p.sparse else np.ascontiguousarray(rows[:, columns])
        narrow: Any = self.part(Patterns(MemoryRows(part), p.labels, p.space, p.weight), self.C, tol, L1Problem)
        return narrow


class L1Engine(SignedEngine):
    """The engine in the orthant of its vector."""

    def __init__(self, problem: Problem, sigma: float | None):
        super().__init__(problem)
        self.start = sigma

    def _first_sigma(self, alpha: Vector | None) -> float:
        if self.diagonal[0] > 0.0:
            return 0.0
        return 1.0 / float(self.caps.mean()) if self.start is None else self.start

    def _orthant(self) -> tuple[Vector, Vector]:
        gradient = Engine._gradient(self)
        signs = np.where(self.a != 0.0, np.sign(self.a), np.where(gradient > 0.0, -1.0, 1.0))
        if self.problem.free:
            signs[-1] = 0.0
        slope = gradient + signs
        free = ~held_columns(signs, self.a, slope)
        caution = 0.0 if self.sigma else CAUTION if np.count_nonzero(self.face) >= np.count_nonzero(free) else SINGULAR
        left = float(np.linalg.norm(slope[free]))
        size = max(float(np.linalg.norm(self.a)), self.scale**-0.5)
        self.ridge = max(RIDGE * float(self.s.max()) * self.scale, caution * left / size)
        return signs, slope

    def _line_search(self, step: Vector, change: Vector) -> float:
        linear, sums = float(self._orthant()[0] @ step), passes.clipped_sums()

        def slope(t: float) -> tuple[float, float]:
            products, curvature = sums(self.shift, self.caps, self.s, self.m, change, t)
            return linear - products, curvature

        return line_search(slope, 1e-10 * abs(linear))


def solve(problem: Problem, start: Vector | None = None) -> None:
    """``start``: a vector near which the solution is expected."""
    assert isinstance(problem, L1Problem)
    a = np.zeros(problem.patterns.d + 1) if start is None else start.copy()
    m, sigma = problem.margins(a), None
    alpha = np.where(m < 1.0, problem.caps, 0.0)
    known = np.zeros(0, np.int64)
    while True:
        if not problem.patterns.space.hinge:
            a, m = problem.with_best_bias(a, m) if problem.free else (a, m)
            alpha = np.maximum(0.0, 1.0 - m) / problem.diagonal
        v = _enter(problem, a, m, alpha)
        if problem.done():
            return
        support, outside = np.flatnonzero(a[:-1]), (a[:-1] == 0.0) & (np.abs(v[:-1]) > 1.0)
        most = np.argsort(-np.abs(v[:-1]) * outside)[: max(COLUMNS, len(support))]
        columns = np.union1d(support, most[outside[most]])
        tol = max(FINER * problem.gap, ENOUGH * problem.tol)
        settled = np.array_equal(columns, known) and tol <= ENOUGH * problem.tol
        known = columns
        narrow = problem.in_columns(columns, tol)
        engine = L1Engine(narrow, sigma)
        inside = np.append(columns, problem.patterns.d)
        engine.begin(a[inside], alpha if problem.patterns.space.hinge else None)
        engine.follow()
        problem.passes += narrow.passes * len(columns) / max(problem.patterns.d, 1)
        a = np.zeros_like(a)
        a[inside], m, alpha, sigma = engine.a, engine.m, engine.alpha.copy(), engine.sigma
        if settled:
            _enter(problem, a, m, alpha)
            problem.done()
            return


def _enter(problem: L1Problem, a: Vector, m: Vector, alpha: Vector) -> Vector:
    """Enter a vector and multipliers, balanced for an unpenalized intercept; return their combination."""
    problem.primal(a, m)
    index = alpha.nonzero()[0]
    if problem.free:
        positive = problem.patterns.labels > 0
        sums = float(alpha[positive].sum()), float(alpha[~positive].sum())
        alpha = alpha * np.where(positive, min(sums) / (sums[0] or 1.0), min(sums) / (sums[1] or 1.0))
    v = problem.combine(index, alpha[index])
    problem.dual(index, alpha[index], v)
    return v
