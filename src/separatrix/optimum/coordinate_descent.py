"""Many columns: dual coordinate descent, then Newton steps on the face that it found: solver (3).

Coordinate descent is fast while C is moderate and stalls when it is large, unless rows have few columns in common: its
pace tells after some sweeps. Where C is too large a moderate one gives a good guess of the active rows, from which
`faces` goes on; small problems have a loop of their own. Where that fails too, Newton's method on the primal with its
line search has the last word; the hard margin is then approached by a large C.
"""

import numpy as np

from separatrix.optimum import face_newton as faces
from separatrix.optimum import newton
from separatrix.optimum.dual_sweeps import MOST_SWEEPS, Patience, Sweeps
from separatrix.optimum.problem import Problem
from separatrix.optimum.small_problem import is_small
from separatrix.space import Vector

EASY_C = 10.0  # C |y|^2 up to which coordinate descent is at home
GUESS_GAP = 1e-2  # gap that is good enough as a guess of the active rows
HARD_C = 1e7  # C |y|^2 that stands for the hard margin, at the last
SMALLEST_GAP = 1e-15  # gap that floats may reach
DRIFT = 1e-9  # gap from which the rounding errors of a sum that sweeps keep up to date are too large
LARGEST_ERROR = 0.3  # of a gap that sweeps see, against the true one: beyond, it is that of rows they left out
CHEAP_SWEEP = 40_000  # stored values that a sweep visits in a tenth of a millisecond: what follows is written in Python
VALUES_BETWEEN_LOOKS = 1_000_000  # stored values between two looks at the limits: some milliseconds

LONG_PATIENCE = Patience(25, 10, 160.0)


def solve(problem: Problem, start: Vector | None = None) -> None:
    """``start``: the vector of a smaller C, whose active rows are the first guess of the face."""
    scale = problem.patterns.mean_square or 1.0
    if problem.hard:
        scale *= float(problem.weight.mean())  # where weights do not matter, nor should they here
    if start is not None:
        alpha = np.maximum(0.0, 1.0 - problem.margins(start))
    elif problem.C <= 2.0 * EASY_C / scale:
        alpha = descend(problem)
    else:
        if not problem.hard:
            descend(problem)
            if problem.done():
                return
            if is_small(problem):
                newton.follow(problem)
                return
        easy = problem.softer(EASY_C / scale, GUESS_GAP)
        alpha = descend(easy)
        problem.adopt(easy)
    if not problem.done():
        faces.solve(problem, alpha)
    if not problem.done():
        _last_resort(problem, scale)


def _last_resort(problem: Problem, scale: float) -> None:
    if not problem.hard:
        newton.solve(problem, problem.a)
        return
    soft = problem.softer(HARD_C / scale, 0.1 * problem.tol)
    newton.solve(soft, problem.a)
    problem.adopt(soft)


def descend(problem: Problem) -> Vector:
    """Coordinate descent until the gap is reached or it no longer pays; returns the multipliers."""
    sweeps = Sweeps(problem)
    tol = seeming = max(problem.tol, SMALLEST_GAP)
    stored = problem.patterns.home.stored + problem.patterns.n + 1  # a visit of an empty row is not free
    at_once, patience = 1 + VALUES_BETWEEN_LOOKS // stored, LONG_PATIENCE
    if stored <= CHEAP_SWEEP:
        patience = Patience(40, 10, 100.0 + 2.0 * VALUES_BETWEEN_LOOKS / stored)
    while sweeps.count < MOST_SWEEPS:
        slow = sweeps.sweep(int(min(at_once, 1 + problem.max_passes - problem.passes)), seeming, patience)
        spent = problem.passes >= problem.max_passes or problem.interrupted()
        leaving = slow or spent or sweeps.count == MOST_SWEEPS
        if sweeps.gap <= seeming or sweeps.size == 0 or leaving:
            margins = problem.margins(sweeps.a)
            problem.primal(sweeps.a, margins)
            index = np.flatnonzero(sweeps.alpha)
            alpha = sweeps.alpha[index]
            problem.dual(index, alpha, sweeps.a if tol > DRIFT else problem.combine(index, alpha))
            if problem.done() or leaving:
                break
            seeming = tol * min(max(sweeps.gap / problem.gap, LARGEST_ERROR), 1.0)
            sweeps.bring_back(margins)  # with a larger gap than that of fewer rows before: their pace is no measure
            patience = patience._replace(first=max(patience.first, sweeps.count + patience.recent + 1))
    return sweeps.alpha
