"""Many columns: dual coordinate descent, then Newton steps along a path of growing C: solver (3).

Coordinate descent is fast while C is moderate and stalls when it is large. Newton's method started at a large C has to
find the active rows in many short steps; started from the solution of a somewhat smaller C it knows nearly all of them.
The hard margin is the end of the path: there the vector's margin on all patterns and the bound of its multipliers, both
taken without slack, come together.
"""

import numpy as np

from separatrix.kernels import dual
from separatrix.optimum import newton
from separatrix.optimum.problem import Problem
from separatrix.space import Vector

PATIENCE = 0.7  # a sweep that leaves more than this part of the gap is a slow one
SLOW_SWEEPS = 25  # after so many slow ones in a row Newton takes over
MOST_SWEEPS = 400
EASY = 10.0  # C |y|^2 up to which coordinate descent is at home
FACTOR = 3.0  # from one C of the path to the next
STEEP, STEEP_FACTOR = 1e3, 10.0  # C |y|^2 from which the active rows hardly change, and the factor there
HARD = 5e4  # C |y|^2 from which a solution may already have the hard margin
ROUGH = 1e-2  # gap to which the path is followed
LAST = 1e12  # C |y|^2 at which the way to the hard margin ends


def solve(problem: Problem, start: Vector | None = None) -> None:
    """``start``: a vector to go on from, with which coordinate descent is left out."""
    scale = float(np.mean(problem.patterns.squares)) or 1.0
    C = EASY / scale
    a = start
    while 2.0 * C < problem.C and not problem.done():
        stage = problem.softer(C, min(ROUGH, 0.3 * problem.tol) if C * scale >= HARD else ROUGH)
        _stage(stage, a)
        a = stage.a
        problem.passes = stage.passes
        if problem.hard:
            _show(problem, stage)
            if C * scale >= LAST:
                return
        C *= FACTOR if C * scale < STEEP else STEEP_FACTOR
    if not problem.hard and not problem.done():
        _stage(problem, a)


def _stage(problem: Problem, a: Vector | None) -> None:
    if a is None:
        a = descend(problem)
    if not problem.done():
        newton.solve(problem, a)


def _show(problem: Problem, stage: Problem) -> None:
    """What a soft solution is worth without slack."""
    problem.primal(stage.a, problem.margins(stage.a))
    problem.dual(stage.alpha_index, stage.alpha, problem.combine(stage.alpha_index, stage.alpha))


def descend(problem: Problem) -> Vector:
    """Coordinate descent until the gap is reached or it no longer pays; returns the vector."""
    patterns, n = problem.patterns, problem.patterns.n
    diagonal = 1.0 / (2.0 * problem.C * problem.weight)
    norm2 = patterns.squares + patterns.space.rho**2
    a, alpha = np.zeros(patterns.d + 1), np.zeros(n)
    active, size, bound = np.arange(n), n, np.inf
    sweep, slow, last = dual.sweep(), 0, 1.0
    for epoch in range(MOST_SWEEPS):
        with np.errstate(over="ignore"):
            size, largest, slack2 = sweep(
                patterns.rows,
                patterns.labels,
                patterns.space.rho,
                diagonal,
                norm2,
                active,
                size,
                epoch,
                bound,
                a,
                alpha,
            )
        problem.passes += size / n
        bound = largest if largest > 0 else np.inf
        guess = _guess(a, alpha, diagonal, slack2)
        if guess <= problem.tol or size == 0:
            problem.primal(a, problem.margins(a))
            index = np.flatnonzero(alpha)
            problem.dual(index, alpha[index], problem.combine(index, alpha[index]))
            if problem.done():
                break
            active, size, bound = np.arange(n), n, np.inf
        slow = slow + 1 if guess > PATIENCE * last else 0
        last = guess
        if slow >= SLOW_SWEEPS or problem.passes >= problem.max_passes:
            break
    return a


def _guess(a: Vector, alpha: Vector, diagonal: Vector, slack2: float) -> float:
    """(P - D)/P from what a sweep saw on its way: free, and good enough to know when to look."""
    square = float(np.sum(a * a))
    primal = square / 2.0 + slack2 / 2.0
    gain = float(np.sum(alpha)) - square / 2.0 - float(np.sum(alpha * alpha * diagonal)) / 2.0
    return (primal - gain) / primal if primal > 0 else 1.0
