"""A linear machine with one hinge loss per row (Crammer & Singer 2001), by dual coordinate descent.

    minimise  sum_m |w_m|^2/2 + C sum_i c_i xi_i,   xi_i = max(0, 1 - min_(m != k_i) (w_k_i - w_m).y_i)

where k_i is the class of row i.

Sweeps over all rows take turns with sweeps over those whose multiples moved, which most rows do not; after each turn
the bounds are taken. The order is drawn from a fixed seed, so that a fit can be repeated.
"""

import numpy as np

from separatrix.solvers.loops.crammer_singer_loop import sweep
from separatrix.solvers.problem import Problem
from separatrix.space import Vector

INNER = 1000  # sweeps over the rows that move, for each over all rows
MOST_TURNS = 2000
STILL = 0.01  # of the change in a full sweep, below which the rows that move have come to rest


def solve(problem: Problem, start: Vector | None = None) -> None:
    """Multipliers are what it goes by: a ``start`` is a vector without them, and is only entered."""
    patterns = problem.patterns
    if start is not None:
        problem.primal(start, problem.margins(start))
    n, n_classes = len(patterns.codes), patterns.n_classes
    V, multiples = np.zeros((n_classes, patterns.features + 1)), np.zeros((n, n_classes))
    scratch = np.zeros((2, n_classes))
    others = np.arange(n_classes) != patterns.codes[:, None]
    rng, visit = np.random.default_rng(0), sweep()

    def over(rows: np.ndarray) -> float:
        problem.passes += len(rows) / n
        return float(visit(
            patterns.rows, patterns.codes, patterns.space.rho, patterns.row_caps, patterns.one.norms2, rows, V,
            multiples, scratch,
        ))  # fmt: skip

    for _ in range(MOST_TURNS):
        before = multiples.copy()
        change = over(rng.permutation(n))
        moving = np.flatnonzero((multiples != before).any(axis=1))
        for _ in range(INNER):
            spent = problem.passes >= problem.max_passes or problem.interrupted()
            if not len(moving) or spent or over(rng.permutation(moving)) < STILL * change:
                break
        problem.primal(V.ravel(), problem.margins(V.ravel()))
        alpha = np.maximum(-multiples[others], 0.0)  # row by row, the rivals in order: as patterns are numbered
        index = np.flatnonzero(alpha)
        problem.dual(index, alpha[index], problem.combine(index, alpha[index]))
        if problem.done() or change == 0.0:
            break
