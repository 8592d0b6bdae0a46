"""Which method solves a maximum margin problem, and how it is run.

Users name a side: "newton", by matrices of columns or working sets of rows, or "dual", by sweeps over the rows.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from separatrix.solvers import (
    coordinate_descent,
    crammer_singer,
    engine,
    l1_penalty,
    sample_newton,
    sign_constraints,
    working_set,
)
from separatrix.solvers.hinge_problem import HingeProblem
from separatrix.solvers.newton_steps import LARGEST_MATRIX
from separatrix.solvers.problem import Problem
from separatrix.solvers.small_problem import is_small
from separatrix.solvers.thread_limit import one_blas_thread
from separatrix.solvers.working_set import SAMPLE_IN_MEMORY
from separatrix.space import Vector, norm

SIDES = ("auto", "newton", "dual")
LARGE_BLAS = 1000  # dense columns from which more threads pay; below, they only wait for each other on a busy machine
ROWS_FOR_SAMPLE, ROWS_PER_COLUMN = 80_000, 1000  # and for each column, from which a sample is worth solving first
VALUES_WITHOUT_THREADS = 5000  # BLAS makes none of so few: setting their number would take longer than the solution
TALL = 2  # sparse rows per column, if columns are too many for a matrix, from which sweeps stall sooner than products
LONGEST_START = 1e150
SHORTEST = 1e-280  # R^2 from which sweeps of a hard margin move: their curvatures have inverses
AS_MANY_THREADS: Any = nullcontext()  # as BLAS has
FINE_ENOUGH = 1e-9  # gap that is left as it is where Newton's steps do not reach the one that was asked for
EXTREME = 1e8  # C R^2 from which a soft margin may be beyond arithmetic


class Method(NamedTuple):
    side: str
    what: str
    run: Callable[[Problem, Vector | None], None]


FACES = Method("dual", "coordinate descent, then Newton steps on faces", coordinate_descent.solve)
RIVALS = Method("dual", "coordinate descent, a row with its rivals at a time", crammer_singer.solve)
ENGINE = Method("newton", "Newton steps in proximal stages", engine.solve)
COLUMNS = Method("newton", "Newton steps on a working set of columns", l1_penalty.solve)
SIGNED = Method("newton", "Newton steps in the cone of signs", sign_constraints.solve)
WORKING_SET = Method("newton", "solutions on a working set, which rows near the boundary join", working_set.solve)
SAMPLE = Method("newton", "Newton steps from the solution of a sample", sample_newton.solve)


def choose(problem: Problem, side: str = "auto") -> Method:
    """Return the method: that of the side, or of the cheaper one."""
    patterns = problem.patterns
    _check(problem, side)
    if patterns.space.l1:
        return COLUMNS
    if patterns.here and patterns.space.signs:
        return SIGNED
    if isinstance(problem, HingeProblem) and patterns.n_classes > 2:
        return RIVALS
    if side == "dual" or (side == "auto" and _suits_sweeps(problem)):
        return FACES
    if problem.hard:
        return WORKING_SET
    return SAMPLE if not patterns.here or (side == "auto" and _worth_a_sample(problem)) else ENGINE


def _check(problem: Problem, side: str) -> None:
    """Raise an error if a problem is not one for a side."""
    patterns = problem.patterns
    joint = patterns.n_classes > 2
    if side == "newton" and joint and isinstance(problem, HingeProblem):
        raise ValueError('solver="newton" has no hinge loss with multi_class="joint"; use "dual" or "auto".')
    if side != "dual" or (joint and isinstance(problem, HingeProblem)):
        return
    lacking = "rows in memory" if not patterns.here else "two classes" if joint else ""
    lacking = lacking or ("the l2 penalty" if patterns.space.l1 else "")
    lacking = lacking or ("coefficients of any sign, not positive=" if patterns.space.signs else "")
    lacking = lacking or ('a penalized intercept, not fit_intercept="unpenalized"' if problem.free else "")
    if lacking:
        raise ValueError(f'solver="dual" needs {lacking}; use "newton" or "auto".')


def _suits_sweeps(problem: Problem) -> bool:
    """Are there few rows for the columns? Exact solutions of hard margins are quicker if rows are dense, and compiled
    loops if a problem is small."""
    patterns, width = problem.patterns, problem.patterns.d + 1
    if not patterns.here or patterns.n_classes > 2 or problem.free:
        return False
    wide = patterns.sparse and width > LARGEST_MATRIX
    hinge = isinstance(problem, HingeProblem)
    few = patterns.n <= (TALL * width if wide and not hinge else width)
    if problem.hard:
        return (few or wide) and patterns.sparse and patterns.radius2 > SHORTEST
    return few and (patterns.sparse or hinge or not is_small(problem))


def _worth_a_sample(problem: Problem) -> bool:
    """Are dense rows so many that the solution of a sample saves passes? One without rows of a rare class does not."""
    patterns, width = problem.patterns, problem.patterns.d + 1
    many = not patterns.sparse and patterns.rows_in_all >= max(ROWS_FOR_SAMPLE, ROWS_PER_COLUMN * width)
    if not many or isinstance(problem, HingeProblem):
        return False
    if patterns.n_classes > 2:
        return True
    positive = int(np.count_nonzero(patterns.labels > 0))
    return min(positive, patterns.n - positive) * SAMPLE_IN_MEMORY >= width * patterns.n


def solve(problem: Problem, start: Vector | None = None, side: str = "auto") -> str:
    """Solve a problem; what is found is in it. Return the method in words."""
    patterns, method = problem.patterns, choose(problem, side)
    large = patterns.here and not patterns.sparse and patterns.d >= LARGE_BLAS
    tiny = patterns.n * (patterns.d + 1) <= VALUES_WITHOUT_THREADS
    if start is not None and not norm(start) < LONGEST_START:
        start = None  # products with it may overflow
    # the certificate is the judge of its numbers, an overflow on the way says nothing of the result
    with np.errstate(all="ignore"), AS_MANY_THREADS if large or tiny else one_blas_thread:
        method.run(problem, start)
        if not (problem.hard or patterns.space.l1):
            _rescue(problem, method)
    return f"{method.side} ({method.what})"


def _rescue(problem: Problem, method: Method) -> None:
    """Where rows change sides one by one, faces lead on; with an extreme C the hard margin is the solution."""
    plain = problem.patterns.here and problem.patterns.n_classes == 2 and not problem.free
    if plain and method is ENGINE and problem.gap > max(problem.tol, FINE_ENOUGH) and not problem.limited:
        problem.go_on()
        coordinate_descent.solve(problem, problem.a)
    extreme = problem.C * problem.patterns.radius2 > EXTREME
    if extreme and problem.gap > problem.tol and not problem.limited:
        problem.go_on()
        _as_hard(problem)


def _as_hard(problem: Problem) -> None:
    """With an extreme C slack is unaffordable: where the data are separable, the hard margin is the solution."""
    hard = problem.harder(0.1 * problem.tol)
    choose(hard).run(hard, None)
    if hard.lower > 0:
        hard.a = hard.a / (hard.lower * problem.patterns.space.length(hard.a))  # with a smallest margin of 1
        problem.adopt(hard)
    problem.passes = max(problem.passes, hard.passes)
