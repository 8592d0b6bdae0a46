"""Many columns: dual coordinate descent, then Newton steps on the face that it found: solver (3).

Coordinate descent is fast while C is moderate and stalls when it is large, unless rows have few columns in common: a
trial of a few sweeps tells. It is run at C, or at a moderate C if that is smaller, until it has the gap or a good guess
of the active rows; `faces` goes on from there. Where that fails too,
Newton's method on the primal with its line search has the last word; the hard margin is then approached by a large C.
"""

from typing import NamedTuple

import numpy as np

from separatrix.optimum import face_newton as faces
from separatrix.optimum import newton
from separatrix.optimum.dual_sweeps import Sweeps
from separatrix.optimum.problem import Problem
from separatrix.space import Vector

MOST_SWEEPS = 400
EASY = 10.0  # C |y|^2 up to which coordinate descent is at home
ROUGH = 1e-2  # gap that is good enough as a guess of the active rows
HARD = 1e7  # C |y|^2 that stands for the hard margin, at the last


class Patience(NamedTuple):
    """``first``: sweeps before the pace is judged, by the last ``recent`` ones. ``too_far``: sweeps to go at that pace,
    from which the next method is the faster one."""

    first: int
    recent: int
    too_far: float


LONG, SHORT = Patience(25, 10, 160.0), Patience(6, 3, 12.0)


def solve(problem: Problem, start: Vector | None = None) -> None:
    """``start``: the vector of a smaller C, whose active rows are the first guess of the face."""
    scale = float(np.mean(problem.patterns.squares)) or 1.0
    if start is not None:
        alpha = np.maximum(0.0, 1.0 - problem.margins(start))
    elif problem.C <= 2.0 * EASY / scale:
        alpha = descend(problem)
    else:
        if not problem.hard:
            descend(problem, SHORT)
            if problem.done():
                return
        easy = problem.softer(EASY / scale, ROUGH)
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
    soft = problem.softer(HARD / scale, 0.1 * problem.tol)
    newton.solve(soft, problem.a)
    problem.adopt(soft)


def descend(problem: Problem, patience: Patience = LONG) -> Vector:
    """Coordinate descent until the gap is reached or it no longer pays; returns the multipliers."""
    sweeps, guesses = Sweeps(problem), []
    for _ in range(MOST_SWEEPS):
        sweeps.sweep()
        guess = sweeps.guess()
        guesses.append(guess)
        spent = problem.passes >= problem.max_passes or problem.interrupted()
        leaving = (
            _sweeps_to_go(guesses, problem.tol, patience) > patience.too_far or spent or sweeps.count == MOST_SWEEPS
        )
        if guess <= problem.tol or sweeps.size == 0 or leaving:
            problem.primal(sweeps.a, problem.margins(sweeps.a))
            index = np.flatnonzero(sweeps.alpha)
            problem.dual(index, sweeps.alpha[index], problem.combine(index, sweeps.alpha[index]))
            if problem.done() or leaving:
                break
            sweeps.all_active()
    return sweeps.alpha


def _sweeps_to_go(guesses: list[float], tol: float, patience: Patience) -> float:
    """How many more it takes to ``tol`` if the gap goes on to fall as it did in the last sweeps."""
    if len(guesses) < patience.first:
        return 0.0
    before, now = guesses[-patience.recent - 1], guesses[-1]
    if now <= max(tol, 1e-15):
        return 0.0
    return patience.recent * np.log(now / max(tol, 1e-15)) / np.log(before / now) if now < before else np.inf
