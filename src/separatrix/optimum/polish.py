"""Multipliers for a vector that came without: a certified solve on the patterns nearest to its boundary."""

import numpy as np

from separatrix.optimum import choose
from separatrix.optimum.problem import Problem
from separatrix.patterns import Patterns
from separatrix.space import Vector

ENOUGH = 1e-2  # gap at which an upper bound is tight enough
MOST_PASSES = 60


def polish(patterns: Patterns, a: Vector) -> Problem:
    """The hard margin problem, solved roughly from ``a``: its multipliers bound the best margin, or prove it absent."""
    problem = Problem(patterns, np.inf, np.ones(patterns.n), tol=ENOUGH, max_passes=MOST_PASSES)
    solver = choose.choose(problem)[0]
    usable = solver == "active-set" and np.any(a) and np.all(np.isfinite(a))  # others expect margins near 1
    choose.solve(problem, solver, a if usable else None)
    return problem
