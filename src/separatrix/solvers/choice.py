"""The solvers: what each needs, which one suits a problem and why, and how it is run."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from separatrix.solvers import (
    active_set,
    augmented_lagrangian,
    coordinate_descent,
    crammer_singer,
    newton,
    sample_newton,
    sift,
)
from separatrix.solvers.hinge_problem import HingeProblem
from separatrix.solvers.problem import Problem
from separatrix.solvers.sift import SAMPLE_HERE
from separatrix.solvers.small_problem import PATH_FROM_C, is_small, size
from separatrix.solvers.thread_limit import one_blas_thread
from separatrix.space import Vector, norm

WIDE = 3000  # columns from which a matrix of columns by columns is too much
LARGE_BLAS = 1000  # dense columns from which more threads pay; below, they only wait for each other on a busy machine
ROWS_FOR_SIFT, SIFT_PER_COLUMN = 200_000, 500  # rows, and for each column, from which a sample is worth solving first
ROWS_FOR_SAMPLE, ROWS_PER_COLUMN = 80_000, 1000  # the same of soft margins of two classes
TALL = 2  # sparse rows per column, from which sweeps over the rows stall sooner than conjugate gradients do
NARROW, NARROW_SPARSE = 100, 50  # columns up to which a matrix of them costs nothing
FEW_SWEEPS_C = 4.0  # C |y|^2 up to which coordinate descent needs a few sweeps
APART = 4  # columns per row from which sparse rows hardly meet: then sweeps arrive at once
FEW_VALUES = 10  # of a sparse row, with which a product takes hardly longer than a sweep
FEWEST_VALUES = 5  # with which sweeps are so slow that products pay for a C that depends on the values
C_OF_ONE_VALUE = 24_000.0  # C |y|^2 up to which they do with one value and as many rows as columns
MANY_ROWS_C, MOST_C = 100.0, 300.0  # the same of more rows than columns, and at most
FINEST_BY_SWEEPS = 1e-8  # accuracy beyond which coordinate descent is no match for Newton's steps
VALUES_WITHOUT_THREADS = 5000  # BLAS makes none of so few: setting their number would take longer than the solution
LONGEST_START = 1e150
SHORTEST = 1e-280  # R^2 from which sweeps of a hard margin move: their curvatures have inverses
AS_MANY_THREADS: Any = nullcontext()  # as BLAS has
FINE_ENOUGH = 1e-9  # gap that is left as it is where Newton's steps do not reach the one that was asked for
EXTREME = 1e8  # C R^2 from which a soft margin may be beyond arithmetic


class Solver(NamedTuple):
    """``lacking``: what a problem lacks for it, in words, or None."""

    run: Callable[[Problem, Vector | None], None]
    lacking: Callable[[Problem], str | None]


def choose(problem: Problem) -> tuple[str, str]:
    """Name of the solver, and the reason in words."""
    patterns, width = problem.patterns, problem.patterns.d + 1
    machine = " of a linear machine" if patterns.n_classes > 2 else ""
    if isinstance(problem, HingeProblem) and machine:
        return "crammer-singer", "hinge loss of a linear machine: dual coordinate descent, a row at a time"
    if isinstance(problem, HingeProblem):
        if patterns.here and not problem.free and patterns.n <= width:
            return "dual-coordinates", "hinge loss of few rows: coordinate descent, then Newton steps on the face"
        return "augmented-lagrangian", "hinge loss: few passes with Newton steps on the rows at the margin"
    if not patterns.here:
        if problem.hard:
            return "sift", f"hard margin{machine}, rows elsewhere: few passes bring the rows near the boundary"
        return "sample-newton", f"soft margin{machine}, rows elsewhere: few passes from the solution of a sample"
    if _worth_a_sample(problem):
        if problem.hard and not problem.free:
            return "sift", f"hard margin{machine}, many rows: few passes bring those near the boundary"
        if not problem.hard:
            return "sample-newton", f"soft margin{machine}, many rows: few passes from the solution of a sample"
    if problem.hard:
        by_faces = patterns.sparse and not problem.free and patterns.radius2 > SHORTEST
        if not machine and by_faces and (patterns.n <= width or width > WIDE):
            return "dual-coordinates", "hard margin of sparse rows: coordinate descent, then Newton steps on the face"
        return "active-set", f"hard margin{machine}: few patterns are tight, so an exact solve on a working set"
    sweeps = _dual_side(problem)
    small = is_small(problem) and not (patterns.sparse and sweeps)
    if small or (width <= WIDE and not sweeps) or problem.free or machine:
        what = "unpenalised bias" if problem.free else f"soft margin{machine} with {width - 1} columns"
        return "newton", f"{what}: few passes with exact Newton steps"
    if patterns.sparse and not sweeps and (patterns.n >= TALL * width or _easy_for_products(problem)):
        return "newton", f"soft margin of sparse rows with {width - 1} columns: Newton steps without a matrix"
    return "dual-coordinates", f"soft margin with {width - 1} columns: coordinate descent, then Newton steps"


def _worth_a_sample(problem: Problem) -> bool:
    """Are dense rows so many that the solution of a sample saves passes? One without rows of a rare class does not."""
    patterns, width = problem.patterns, problem.patterns.d + 1
    if patterns.sparse:
        return False
    if problem.hard or patterns.n_classes > 2:
        return bool(patterns.rows_in_all >= max(ROWS_FOR_SIFT, SIFT_PER_COLUMN * width))
    if patterns.n < max(ROWS_FOR_SAMPLE, ROWS_PER_COLUMN * width):
        return False
    positive = int(np.count_nonzero(patterns.labels > 0))
    return min(positive, patterns.n - positive) * SAMPLE_HERE >= width * patterns.n


def _dual_side(problem: Problem) -> bool:
    """Are sweeps over the rows cheaper than matrices of columns by columns, and do they lead to the solution?"""
    patterns, width = problem.patterns, problem.patterns.d + 1
    if width < (NARROW_SPARSE if patterns.sparse else NARROW):
        return False
    if not patterns.sparse:
        few_sweeps = problem.tol >= FINEST_BY_SWEEPS and problem.C * size(problem) <= FEW_SWEEPS_C
        return patterns.n <= width or few_sweeps
    few = patterns.home.stored <= FEW_VALUES * patterns.n
    return patterns.n <= width and not (few and patterns.n * APART > width and _easy_for_products(problem))


def _easy_for_products(problem: Problem) -> bool:
    """Are Newton's steps by products with sparse rows at home with this C?

    Rows of one to three values are those that sweeps are worst at: a visit takes long by itself and moves little.
    The border falls with the fourth power of the values and grows with the square of the rows per column: so it was
    measured, with columns that are equally frequent.
    Where some are more frequent than others sweeps need more time by far, and products do not.
    """
    patterns, width = problem.patterns, problem.patterns.d + 1
    values, most = max(patterns.entries_per_row, 1.0), FEW_SWEEPS_C
    if patterns.n > width and values <= FEW_VALUES:
        most = MANY_ROWS_C
    elif values <= FEWEST_VALUES:
        most = max(most, C_OF_ONE_VALUE / values**4 * (patterns.n / width) ** 2)
    most = min(most, MOST_C if patterns.n * newton.SPAN > width else PATH_FROM_C)
    return problem.C * size(problem) <= most


def check(problem: Problem, name: str) -> None:
    """A solver says what it cannot do."""
    lacking = SOLVERS[name].lacking(problem)
    if isinstance(problem, HingeProblem) and name not in ("augmented-lagrangian", "crammer-singer", "dual-coordinates"):
        lacking = 'is for squared slack; with loss="hinge" use "augmented-lagrangian", "dual-coordinates" or "auto".'
    if lacking:
        raise ValueError(f"solver={name!r} {lacking}".replace("'", '"'))


def solve(problem: Problem, name: str, start: Vector | None = None) -> None:
    """Run a solver; what it found is in the problem."""
    patterns = problem.patterns
    large = patterns.here and not patterns.sparse and patterns.d >= LARGE_BLAS
    tiny = patterns.n * (patterns.d + 1) <= VALUES_WITHOUT_THREADS
    if start is not None and not norm(start) < LONGEST_START:
        start = None  # products with it may overflow
    # the certificate is the judge of its numbers, an overflow on the way says nothing of the result
    with np.errstate(all="ignore"), AS_MANY_THREADS if large or tiny else one_blas_thread:
        SOLVERS[name].run(problem, start)
        if problem.hard or problem.gap <= problem.tol:
            return
        if name == "newton" and problem.gap > max(problem.tol, FINE_ENOUGH) and _coordinates(problem) is None:
            if problem.limited:
                return
            problem.go_on()
            coordinate_descent.solve(problem, problem.a)  # where rows change sides one by one, faces lead on
        if problem.gap > problem.tol and problem.C * patterns.radius2 > EXTREME and not problem.limited:
            problem.go_on()
            _as_hard(problem)


def _as_hard(problem: Problem) -> None:
    """With an extreme C slack is unaffordable: where the data are separable, the hard margin is the solution."""
    hard = problem.harder(0.1 * problem.tol)
    name = choose(hard)[0]
    if name not in ("active-set", "sift", "dual-coordinates"):
        return
    SOLVERS[name].run(hard, None)
    if hard.lower > 0:
        hard.a = hard.a / (hard.lower * problem.patterns.space.length(hard.a))  # with a smallest margin of 1
        problem.adopt(hard)
    problem.passes = max(problem.passes, hard.passes)


def _hard_here(problem: Problem) -> str | None:
    if not problem.hard:
        return 'is for the hard margin (C=inf); use "newton" or "auto".'
    return _here(problem)


def _soft_here(problem: Problem) -> str | None:
    if problem.hard:
        return 'is for a soft margin; for C=inf use "active-set" or "auto".'
    return _here(problem)


def _here(problem: Problem) -> str | None:
    return None if problem.patterns.here else 'needs the rows in the memory of this process; use "auto".'


def _coordinates(problem: Problem) -> str | None:
    if problem.free:
        return 'cannot leave the bias free; use "newton", "active-set" or "auto".'
    if problem.patterns.n_classes > 2:
        return 'trains no linear machine; use "newton", "active-set" or "auto".'
    return _here(problem)


def _hinge(problem: Problem) -> str | None:
    plain = isinstance(problem, HingeProblem) and problem.patterns.n_classes == 2
    return None if plain else 'is for loss="hinge" without a linear machine; use "auto".'


def _machine_hinge(problem: Problem) -> str | None:
    plain = isinstance(problem, HingeProblem) and problem.patterns.n_classes > 2
    return None if plain else 'is for a linear machine with loss="hinge"; use "auto".'


SOLVERS = {
    "augmented-lagrangian": Solver(augmented_lagrangian.solve, _hinge),
    "crammer-singer": Solver(crammer_singer.solve, _machine_hinge),
    "active-set": Solver(active_set.solve, _hard_here),
    "newton": Solver(newton.follow, _soft_here),
    "dual-coordinates": Solver(coordinate_descent.solve, _coordinates),
    "sift": Solver(sift.solve, lambda problem: None if problem.hard else 'is for the hard margin (C=inf); use "auto".'),
    "sample-newton": Solver(
        sample_newton.solve, lambda problem: 'is for a soft margin; use "auto".' if problem.hard else None
    ),
}
