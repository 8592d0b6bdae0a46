"""Many columns: dual coordinate descent, then Newton's steps on the face that it found: solver (3).

    minimise |sum alpha_k y_k|^2/2 + sum diagonal_k alpha_k^2/2 - sum alpha_k,   0 <= alpha_k <= cap_k

Hard margin: diagonal 0, cap inf. Squared hinge: diagonal 1/(2 C c), cap inf. Hinge: diagonal 0, cap C c.
Coordinate descent (Hsieh et al. 2008) is fast while C is moderate and stalls when it is large, unless rows have few
columns in common: its pace tells after some sweeps. For a hard margin the pace is unknown before the first face.
"""

import numpy as np

from separatrix.solvers import face_newton
from separatrix.solvers.dual_sweeps import MOST_SWEEPS, VALUES_BETWEEN_LOOKS, Patience, Sweeps
from separatrix.solvers.problem import Problem
from separatrix.space import Vector

FIRST = 60  # sweeps of a hard margin before the first face
NEAR = 0.99  # smallest margin of a start that has no slack
PRECISE, HANDOVER = 1e-10, 1e-8  # accuracy that is machine precision, and the gap from which a face leads there
SMALLEST_GAP = 1e-15  # gap that floats may reach
DRIFT = 1e-9  # gap from which the rounding errors of a sum that sweeps keep up to date are too large
LARGEST_ERROR = 0.3  # of a gap that sweeps see, against the true one: beyond, it is that of rows they left out
CHEAP_SWEEP = 40_000  # stored values that a sweep visits in a tenth of a millisecond: what follows is written in Python

LONG_PATIENCE = Patience(25, 10, 160.0)


def solve(problem: Problem, start: Vector | None = None) -> None:
    """``start``: a vector near which the solution is expected; its slacks are the first multipliers."""
    sweeps = Sweeps(problem)
    if start is not None:
        _begin(sweeps, start)
    elif problem.hard:
        sweeps.repeat(FIRST)
    else:
        descend(problem, sweeps, HANDOVER if problem.tol < PRECISE else 0.0)
        if problem.gap <= problem.tol or problem.stopped:
            return
    face_newton.follow(problem, sweeps)


def _begin(sweeps: Sweeps, start: Vector) -> None:
    """Multipliers in proportion to the slacks of a vector, or of its multiple that makes the smallest margin NEAR."""
    problem = sweeps.problem
    margins = problem.margins(start)
    problem.primal(start, margins)
    smallest = float(margins.min())
    slack = np.maximum(0.0, 1.0 - margins * (NEAR / smallest if smallest > NEAR else 1.0)) * problem.weight
    index = np.flatnonzero(slack)
    combination = problem.combine(index, slack[index])
    square = float(combination @ combination) + float(problem.diagonal @ (slack * slack))
    multiple = float(slack.sum()) / square if square > 0 else 0.0
    if 0 < multiple < np.inf:
        sweeps.alpha[:] = np.minimum(multiple * slack, sweeps.cap)


def descend(problem: Problem, sweeps: Sweeps, enough: float = 0.0) -> Vector:
    """Coordinate descent until the gap is reached, or ``enough``, or it is too slow; returns the multipliers."""
    tol = seeming = max(problem.tol, enough, SMALLEST_GAP)
    stored = problem.patterns.home.stored + problem.patterns.n + 1  # a visit of an empty row is not free
    at_once, patience = 1 + VALUES_BETWEEN_LOOKS // stored, LONG_PATIENCE
    if stored <= CHEAP_SWEEP:
        patience = Patience(40, 10, 100.0 + 2.0 * VALUES_BETWEEN_LOOKS / stored)
    while sweeps.count < MOST_SWEEPS:
        slow = sweeps.sweep(int(min(at_once, 1 + problem.max_passes - problem.passes)), seeming, patience)
        spent = problem.passes >= problem.max_passes or problem.interrupted()
        leaving = slow or spent or sweeps.count >= MOST_SWEEPS
        if sweeps.gap <= seeming or sweeps.size == 0 or leaving:
            margins = problem.margins(sweeps.a)
            problem.primal(sweeps.a, margins)
            index = np.flatnonzero(sweeps.alpha)
            alpha = sweeps.alpha[index]
            problem.dual(index, alpha, sweeps.a if tol > DRIFT else problem.combine(index, alpha))
            if problem.done() or problem.gap <= enough or leaving:
                break
            seeming = tol * min(max(sweeps.gap / problem.gap, LARGEST_ERROR), 1.0)
            sweeps.bring_back(margins)  # with a larger gap than that of fewer rows before: their pace is no measure
            patience = patience._replace(first=max(patience.first, sweeps.count + patience.recent + 1))
    return sweeps.alpha
