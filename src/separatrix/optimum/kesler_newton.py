"""The maximum margin of a linear machine: the solvers of the optimum on Kesler's patterns, which are not written out.

Hard: the working set method, as for a hyperplane. Soft: the finite Newton method on

    P(a) = |a|^2/2 + C sum_k c_k sum_{j != i} max(0, 1 - (a_i - a_j).y_k)^2

a slack for every row and rival, so that it is the hard margin of the extended space. (Crammer and Singer's machine has
one slack per row, the largest, and counts it without the square; without slack the two are the same.) The Hessian is
made of the blocks sum y y^t over the active patterns of two categories; where it is too wide, conjugate gradients.
"""

import numpy as np
from numpy.typing import NDArray

from separatrix.optimum import newton
from separatrix.optimum import solvers as choose
from separatrix.optimum.problem import Problem
from separatrix.patterns.kesler_patterns import KeslerPatterns
from separatrix.space import Vector

CHUNK = 1_000_000  # values copied at a time while the Hessian is formed


def solver_of(problem: Problem) -> tuple[str, str]:
    """Name and reason, for people."""
    if problem.hard:
        return "active-set", "hard margin of a linear machine: few patterns are tight"
    return "newton", f"soft margin of a linear machine, {problem.patterns.d + 1} numbers"


def solve(problem: Problem, start: Vector | None = None) -> None:
    """What was found is in the problem."""
    if problem.hard:
        choose.solve(problem, "active-set")
        return
    C, stages = problem.C / newton.STRIDE, []
    while start is None and C * float(np.mean(problem.patterns.norms2)) > newton.EASY:
        stages.append(problem.softer(C, newton.ROUGH))
        C /= newton.STRIDE
    for stage in [*reversed(stages), problem]:
        stage.passes = problem.passes
        _newton(stage, start)
        start, problem.passes = stage.a, stage.passes
    if problem.gap > problem.tol and problem.C * problem.patterns.radius2 > choose.EXTREME:
        choose._as_hard(problem)


def _newton(problem: Problem, start: Vector | None) -> None:
    patterns = problem.patterns
    assert isinstance(patterns, KeslerPatterns)
    width = patterns.d + 1
    a = np.zeros(width) if start is None else start.copy()
    m, penalty = problem.margins(a), np.ones(width)
    while True:
        problem.primal(a, m)
        index, alpha = problem.slack_multipliers(m)
        v = problem.combine(index, alpha)
        problem.dual(index, alpha, v)
        if problem.done():
            return
        if width <= newton.LARGEST_HESSIAN:
            step = newton._newton_step(hessian(problem, patterns, index), a - v)
        else:
            step = _conjugate_gradients(problem, index, a - v)
        change = problem.margins(step)
        t = newton.line_search(problem, a, m, step, change, penalty)
        following = a + t * step
        if not t > 0 or np.array_equal(following, a):
            return
        same_piece = t == 1.0 and np.array_equal(m + change < 1.0, m < 1.0)
        a, m = following, m + t * change
        if same_piece or problem.passes % 8 < 1:  # from scratch: the sum of steps drifts
            m = problem.margins(a)
        if same_piece and problem.tol < 1e-10:  # a full step that stays on its piece has found the minimum
            problem.primal(a, m)
            index, alpha = problem.slack_multipliers(m)
            problem.dual(index, alpha, problem.combine(index, alpha))
            problem.done()
            return


def hessian(problem: Problem, patterns: KeslerPatterns, index: np.ndarray) -> NDArray[np.float64]:
    """1 + 2 C sum c eta eta^t over the active patterns: S = sum c y y^t of two categories enters four blocks."""
    problem.passes += len(index) / max(patterns.n, 1)
    c, width = patterns.categories, patterns.features + 1
    rows, rivals = patterns.rivals_of(index)
    own, curvature = patterns.codes[rows], 2.0 * problem.C * problem.weight[index]
    H = np.zeros((c, width, c, width))
    step = max(1, CHUNK // width)
    for i in range(c):
        for j in range(c):
            of_pair = np.flatnonzero((own == i) & (rivals == j))
            for first in range(0, len(of_pair), step):
                part = of_pair[first : first + step]
                Y = patterns.one.dense_rows(rows[part])
                S = Y.T @ (curvature[part, None] * Y)
                H[i, :, i] += S
                H[j, :, j] += S
                H[i, :, j] -= S
                H[j, :, i] -= S
    square = H.reshape(c * width, c * width)
    square[np.diag_indices(c * width)] += 1.0
    return square


def _conjugate_gradients(problem: Problem, index: np.ndarray, gradient: Vector) -> Vector:
    """H p = -g, to a residual that falls with the gap."""
    curvature = 2.0 * problem.C * problem.weight[index]
    p, r = np.zeros_like(gradient), -gradient
    q, rr = r.copy(), float(r @ r)
    enough = rr * min(0.1, max(problem.gap, 1e-8)) ** 2
    for _ in range(500):
        if rr <= enough or problem.passes >= problem.max_passes:
            break
        problem.passes += 1.0
        Hq = q + problem.combine(index, curvature * problem.patterns.margins_of(index, q))
        step = rr / float(q @ Hq)
        p += step * q
        r -= step * Hq
        rr, before = float(r @ r), rr
        q = r + (rr / before) * q
    return p
