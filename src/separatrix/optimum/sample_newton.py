"""Soft margin by Newton's steps from the solution of a sample: for rows so many, or so far away, that passes are the
price.

    P(a) = |a|^2/2 + C sum c_k max(0, 1 - a.y_k)^2

The minimiser of a sample of k rows, with C n/k in the place of C, is near that of all n; from there a few of Newton's
steps end on the right piece. A pass returns value, gradient and Hessian of the piece at a vector
(`separatrix.passes.summaries.Piece`): nothing of length n is kept.
"""

import numpy as np

from separatrix.optimum import newton
from separatrix.optimum.problem import Problem
from separatrix.optimum.sift import VALUES, evenly
from separatrix.space import Vector

SAMPLE = 200_000  # rows of the sample
NEAR = 1e-4  # gap to which it is solved
LARGEST_HESSIAN = 3000  # columns up to which a pass returns a Hessian
SUFFICIENT = 1e-4  # part of the decrease that the slope promises, at least
SHORTENINGS = 20


def solve(problem: Problem, start: Vector | None = None) -> None:
    patterns = problem.patterns
    penalty = np.ones(patterns.d + 1)
    if problem.free:
        penalty[-1] = 0.0
    a = _from_sample(problem) if start is None else start.copy()
    piece = problem.piece(a)
    value = problem.enter_piece(a, piece)
    while not problem.done():
        gradient = penalty * a - 2.0 * problem.C * piece.pull
        step = newton.newton_step(np.diag(penalty) + 2.0 * problem.C * piece.matrix, gradient)
        slope, t = float(gradient @ step), 1.0
        for _ in range(SHORTENINGS):
            following = a + t * step
            trial = problem.piece(following)
            reached = problem.enter_piece(following, trial)
            if reached <= value + SUFFICIENT * t * slope or problem.done():
                break
            # P' along the step, here and there: its zero between them, as if it were linear
            there = float((penalty * following - 2.0 * problem.C * trial.pull) @ step)
            t *= min(max(slope / (slope - there), 0.1), 0.9) if there > 0 else 0.5
        if not reached < value or np.array_equal(following, a):
            return
        a, piece, value = following, trial, reached


def _from_sample(problem: Problem) -> Vector:
    patterns = problem.patterns
    everything = patterns.rows_in_all
    rows = evenly(everything, max(min(SAMPLE, VALUES // (patterns.features + 1)), 10 * patterns.features))
    C = problem.C * everything / len(rows)
    part = patterns.sample(rows).in_space(patterns.space._replace(delta=(2.0 * C) ** -0.5))
    small = Problem(part, C, part.prices, tol=max(NEAR, problem.tol), max_time=problem.time_left())
    newton.follow(small)
    problem.passes += small.passes * len(rows) / everything
    return small.a
