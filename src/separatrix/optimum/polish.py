"""Multipliers for a vector that came without: a certified solve on the patterns nearest to its boundary."""

import numpy as np

from separatrix.optimum import choose
from separatrix.optimum.problem import Problem
from separatrix.patterns import Patterns
from separatrix.space import Vector

ENOUGH = 1e-2  # gap at which an upper bound is tight enough
MOST_PASSES = 60
WIDE = 1000  # columns from which exact solves on a working set cost more than what is to be certified


def polish(patterns: Patterns, a: Vector) -> Problem:
    """The hard margin problem, solved roughly from ``a``: its multipliers bound the best margin, or prove it absent."""
    problem = Problem(patterns, np.inf, np.ones(patterns.n), tol=ENOUGH, max_passes=MOST_PASSES)
    if patterns.d > WIDE:
        choose.solve(problem, "dual-coordinates")
    else:
        usable = np.any(a) and np.all(np.isfinite(a))
        choose.solve(problem, "active-set", a if usable else None)
    return problem
