"""Soft margin by Newton's steps from the solution of a sample: for rows so many, or so far away, that passes are the
price.

    P(a) = |a|^2/2 + C sum c_k max(0, 1 - a.y_k)^2

The minimiser of a sample of k rows, with C n/k in the place of C, is near that of all n; from there a few of Newton's
steps end on the right piece. A pass returns value, gradient and Hessian of the piece at a vector
(`separatrix.passes.summaries.Piece`): nothing of length n is kept.
"""

import numpy as np
from numpy.typing import NDArray

from separatrix.data.base import evenly
from separatrix.solvers import engine, sign_constraints
from separatrix.solvers.newton_steps import newton_step
from separatrix.solvers.problem import Problem
from separatrix.solvers.working_set import SAMPLE, SAMPLE_IN_MEMORY, VALUES
from separatrix.space import Vector, symmetric

SAMPLE_GAP = 1e-4  # to which the sample is solved
PAYS = 0.3  # part of the gradient that may be left by a step with the Hessian of a sample
SUFFICIENT = 1e-4  # part of the decrease that the slope promises, at least
SHORTENINGS = 20
Matrix = NDArray[np.float64]


def solve(problem: Problem, start: Vector | None = None) -> None:
    patterns, penalty = problem.patterns, problem.penalty
    signs = patterns.space.column_signs().astype(np.float64) if patterns.space.signs else None
    known: Matrix | None = None  # a Hessian that stands for that of all rows
    if start is None:
        a, known = _from_sample(problem)
    else:
        a = patterns.space.project(start.copy())
    piece = problem.piece(a, hessian=known is None)
    value = problem.enter_piece(a, piece)
    while not problem.done():
        gradient = penalty * a - 2.0 * problem.C * piece.pull
        hessian = np.diag(penalty) + 2.0 * problem.C * piece.matrix if known is None else known
        if signs is not None:
            step = sign_constraints.feasible_step(
                signs, a, gradient, sign_constraints.model_of(hessian, problem.interrupted)
            )[0]
        else:
            step = newton_step(hessian, gradient)
        slope, t = float(gradient @ step), 1.0
        for _ in range(SHORTENINGS):
            following = a + t * step
            trial = problem.piece(following, hessian=known is None)
            reached = problem.enter_piece(following, trial)
            if reached <= value + SUFFICIENT * t * slope or problem.done():
                break
            # P' along the step, here and there: its zero between them, as if it were linear
            there = float((penalty * following - 2.0 * problem.C * trial.pull) @ step)
            t *= min(max(slope / (slope - there), 0.1), 0.9) if there > 0 else 0.5
        better = reached < value and not np.array_equal(following, a)
        if better:
            a, piece, value = following, trial, reached
        elif known is None:
            return
        if known is not None and not problem.done():
            change = penalty * a - 2.0 * problem.C * piece.pull - gradient
            if better and np.linalg.norm(gradient + change) <= PAYS * np.linalg.norm(gradient):
                known = _learned(known, t * step, change)
            else:
                known, piece = None, problem.piece(a)


def _learned(hessian: Matrix, step: Vector, change: Vector) -> Matrix:
    """The Hessian, corrected by what a step has changed of the gradient (Broyden, Fletcher, Goldfarb & Shanno)."""
    before = hessian @ step
    return hessian + np.outer(change, change) / (change @ step) - np.outer(before, before) / (before @ step)


def _from_sample(problem: Problem) -> tuple[Vector, Matrix | None]:
    """The minimiser of a sample. With the Hessian of its piece, scaled to all rows, where these are here: passes
    without one cost half; an unpenalized intercept needs exact steps, because its multipliers have to be in balance."""
    patterns = problem.patterns
    everything = patterns.rows_in_all
    sample = SAMPLE_IN_MEMORY if patterns.here else SAMPLE
    rows = evenly(everything, max(min(sample, VALUES // (patterns.features + 1)), 10 * patterns.features))
    C = problem.C * everything / len(rows)
    part = patterns.sample(rows).in_space(patterns.space._replace(delta=(2.0 * C) ** -0.5))
    small = problem.part(part, C, max(SAMPLE_GAP, problem.tol))
    (sign_constraints if small.patterns.space.signs else engine).solve(small)
    problem.passes += small.passes * len(rows) / everything
    if problem.free or not patterns.here:
        return small.a, None
    matrix = symmetric(part.piece(small.a).matrix)
    return small.a, np.eye(len(matrix)) + 2.0 * C * matrix  # C is that of the sample, n/k times as large
