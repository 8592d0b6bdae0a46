"""Soft margin by dual coordinate descent, then Newton steps: solver (3), for data with many columns.

Coordinate descent is fast while C is moderate and stalls when it is large; by then it has found most of the active rows,
and Newton's method with conjugate gradients goes on from its vector. For the hard margin C grows until the vector's
margin on all patterns and the bound of its multipliers, both without slack, come together.
"""

import numpy as np

from separatrix.kernels import dual
from separatrix.optimum import newton
from separatrix.optimum.problem import Problem
from separatrix.space import Vector

PATIENCE = 0.7  # a sweep that leaves more than this part of the gap is a slow one
SLOW_SWEEPS = 25  # after so many slow ones Newton takes over
MOST_SWEEPS = 400


def solve(problem: Problem, start: Vector | None = None) -> None:
    a = descend(problem)
    if not problem.done():
        newton.solve(problem, a)


def descend(problem: Problem) -> Vector:
    """Coordinate descent until the gap is reached or it no longer pays; returns the vector."""
    patterns, n = problem.patterns, problem.patterns.n
    diagonal = 1.0 / (2.0 * problem.C * problem.weight)
    norm2 = patterns.norms2 - patterns.delta**2
    a, alpha = np.zeros(patterns.d + 1), np.zeros(n)
    active, size, bound = np.arange(n), n, np.inf
    sweep, slow, last = dual.sweep(), 0, 1.0
    everything = np.arange(n)
    for epoch in range(MOST_SWEEPS):
        with np.errstate(over="ignore"):
            size, largest, slack2 = sweep(
                patterns.rows, patterns.labels, patterns.space.rho, diagonal, norm2, active, size, epoch, bound, a, alpha
            )
        problem.passes += size / n
        bound = largest if largest > 0 else np.inf
        guess = _guess(a, alpha, diagonal, slack2)
        if guess <= problem.tol or size == 0:
            m = problem.margins(a)
            problem.primal(a, m)
            index = np.flatnonzero(alpha)
            problem.dual(index, alpha[index], problem.combine(index, alpha[index]))
            if problem.done():
                break
            active, size, bound = everything.copy(), n, np.inf
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
