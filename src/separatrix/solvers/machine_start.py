"""Where the hard margin of a linear machine begins: near the vector of a soft one, found by sweeps.

Each sweep solves for every row with all its rivals exactly (`separatrix.solvers.loops.machine_dual_loop`). A hundred of
them cost little beside the exact solves that follow, and the patterns near the boundary of their vector are nearly
those that will be tight: it halves the exact solves, and more where they are easy.
"""

import numpy as np

from separatrix.data.base import evenly
from separatrix.solvers.loops.machine_dual_loop import machine_sweep
from separatrix.solvers.problem import Problem
from separatrix.space import Vector

START_C = 1e3  # C |y|^2 of the soft margin whose vector is the start
SWEEPS, ROWS = 100, 5000  # of so many rows at most
SHARE = 0.25  # of the passes that may be made


def near_hard_machine(problem: Problem) -> Vector:
    """The vector; 0 where the rows are too long or too short for one."""
    everything = problem.patterns.rows_in_all
    rows = evenly(everything, ROWS)
    part = problem.patterns if len(rows) == everything else problem.patterns.sample(rows)
    n, rho, norm2 = len(rows), part.space.rho, part.one.squares + part.space.rho**2
    V, alpha = np.zeros((part.n_classes, part.features + 1)), np.zeros((n, part.n_classes - 1))
    scale = float(np.mean(norm2))
    if not 0 < scale / START_C < np.inf:
        return V.ravel()
    diagonal = np.full(n, scale / (2.0 * START_C))
    active, size, bound, spent = np.arange(n), n, np.inf, 0.0
    for count in range(SWEEPS):
        if size == 0 or spent >= SHARE * problem.max_passes or problem.interrupted():
            break
        with np.errstate(over="ignore"):  # the mixing of order.py, where numba is switched off
            size, largest = machine_sweep()(
                part.rows, part.codes, rho, diagonal, norm2, active, size, count, bound, V, alpha
            )
        bound = largest if largest > 0 else np.inf
        spent += size / everything
    problem.passes += spent
    return V.ravel()
