"""Which solver for which problem, and why."""

from collections.abc import Callable

import numpy as np

from separatrix.optimum import active_set, newton
from separatrix.optimum import coordinate_descent as dual_coordinates
from separatrix.optimum.problem import Problem
from separatrix.optimum.thread_limit import calm
from separatrix.rows.access import CSR, Dense
from separatrix.space import Vector

WIDE = 3000  # columns from which a matrix of columns by columns is too much
LARGE_BLAS = 1000  # dense columns from which more threads pay; below, they only wait for each other on a busy machine

NEARLY_HARD = 1e5  # C |y|^2 of a soft margin whose vector is near the hard one
EXTREME = 1e8  # C R^2 from which a soft margin may be beyond arithmetic

SOLVERS = ("active-set", "newton", "dual-coordinates")


def choose(problem: Problem) -> tuple[str, str]:
    """Name of the solver, and the reason in words."""
    width, sparse = problem.patterns.d + 1, isinstance(problem.patterns.rows, CSR)
    if problem.hard:
        if sparse and width > WIDE and not problem.free:
            return "dual-coordinates", f"hard margin, sparse with {width - 1} columns: follow a path of soft margins"
        return "active-set", "hard margin: few patterns are tight, so an exact solve on a working set"
    if width <= WIDE or problem.free:
        what = "unpenalised bias" if problem.free else f"soft margin with {width - 1} columns"
        return "newton", f"{what}: few passes with exact Newton steps"
    return "dual-coordinates", f"soft margin with {width - 1} columns: coordinate descent, then Newton steps"


def check(problem: Problem, name: str) -> None:
    """A solver says what it cannot do."""
    if name == "active-set" and not problem.hard:
        raise ValueError('solver="active-set" is for the hard margin (C=inf); use "newton" or "auto".')
    if name == "newton" and problem.hard:
        raise ValueError('solver="newton" is for a soft margin; for C=inf use "active-set" or "auto".')
    if name == "dual-coordinates" and problem.free:
        raise ValueError('solver="dual-coordinates" cannot leave the bias free; use "newton", "active-set" or "auto".')


def solve(problem: Problem, name: str, start: Vector | None = None) -> None:
    """Run a solver; what it found is in the problem."""
    runs: dict[str, Callable[[], None]] = {
        "active-set": lambda: active_set.solve(problem, _near(problem) if start is None else start),
        "newton": lambda: newton.follow(problem, start),
        "dual-coordinates": lambda: dual_coordinates.solve(problem, start),
    }
    large = isinstance(problem.patterns.rows, Dense) and problem.patterns.d >= LARGE_BLAS
    with calm(one_thread=not large):
        runs[name]()
        if not problem.hard and problem.gap > problem.tol and problem.C * problem.patterns.radius2 > EXTREME:
            _as_hard(problem)


def _near(problem: Problem) -> Vector | None:
    """A soft margin's vector as the start of a hard one, where rows are cheap: it saves most of the exact solves."""
    patterns = problem.patterns
    if patterns.categories > 2 or isinstance(patterns.rows, Dense) or problem.free or patterns.d >= WIDE:
        return None
    scale = float(np.mean(patterns.squares)) + patterns.space.rho**2
    if not scale > 0:
        return None
    soft = problem.softer(NEARLY_HARD / scale, 1e-2)
    newton.follow(soft)
    problem.passes = soft.passes
    return soft.a


def _as_hard(problem: Problem) -> None:
    """With an extreme C slack is unaffordable: where the data are separable, the hard margin is the solution."""
    space = problem.patterns.space._replace(delta=0.0)
    hard = Problem(
        problem.patterns.in_space(space),
        np.inf,
        problem.weight,
        tol=0.1 * problem.tol,
        max_passes=problem.max_passes,
        max_time=problem.max_time,
    )
    hard.clock, hard.passes = problem.clock, problem.passes
    if choose(hard)[0] != "active-set":
        return
    active_set.solve(hard)
    if hard.lower > 0:
        margins = problem.margins(hard.a)
        problem.primal(hard.a / margins.min(), margins / margins.min())
        problem.dual(hard.alpha_index, hard.alpha, problem.combine(hard.alpha_index, hard.alpha))
