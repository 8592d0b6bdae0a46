"""Newton steps on the identified face, for data with many columns.

    minimise |sum alpha_k y_k|^2/2 + sum alpha_k^2 diagonal_k/2 - sum alpha_k,   alpha >= 0,   diagonal = 1/(2 C c)

On a face, where only the rows S have a multiplier, the minimum solves (Y_S Y_S^t + diagonal) alpha = 1; conjugate
gradients find it with two passes over S each, started from the last alpha. Then rows with a negative multiplier leave
S and rows with a.y < 1 enter it (the primal-dual active set method of Hintermueller, Ito & Kunisch 2003, that is a
Newton method without a line search). From a good guess of S it needs few rounds; where it runs in circles the caller
takes over.
"""

import numpy as np

from separatrix.optimum.problem import Problem
from separatrix.space import Vector

ROUNDS = 60
PATIENCE = 8  # rounds without progress
STEPS = 400  # of conjugate gradients in a round
FIRST_RESIDUAL = 0.1  # per row in the first round: its face is a guess
FINEST_RESIDUAL = 0.03  # of the tolerance: a smaller one does not show in the gap, unless a round makes no progress


def solve(problem: Problem, alpha: Vector) -> None:
    """From multipliers, whose support is the first guess of the face."""
    patterns = problem.patterns
    diagonal = problem.diagonal
    on_face = alpha > 0
    if not on_face.any():
        on_face[:] = True
    accuracy, best, stale = FIRST_RESIDUAL, problem.gap, 0
    for _ in range(ROUNDS):
        rows = np.flatnonzero(on_face)
        x = _minimum(problem, rows, alpha[rows], diagonal[rows], accuracy)
        kept = x > 0
        a = problem.combine(rows, x)
        m = problem.margins(a)
        problem.primal(a, m)
        bounding = a if kept.all() else problem.combine(rows[kept], x[kept])
        problem.dual(rows[kept], x[kept], bounding)
        if problem.done():
            return
        stale = 0 if problem.gap < 0.9 * best else stale + 1
        best = min(best, problem.gap)
        if stale >= PATIENCE:
            return
        alpha = np.zeros(patterns.n)
        alpha[rows] = np.maximum(x, 0.0)
        following = m < 1.0
        following[rows] = kept
        changed = np.count_nonzero(following != on_face)
        accuracy = min(accuracy, 0.1 * problem.gap) * (0.1 if changed <= 0.01 * len(rows) else 1.0)
        accuracy = max(accuracy, FINEST_RESIDUAL * problem.tol / 10.0**stale, 1e-10)
        on_face = following
        if not on_face.any():
            return


def _minimum(problem: Problem, rows: np.ndarray, x: Vector, diagonal: Vector, accuracy: float) -> Vector:
    """(Y_S Y_S^t + diagonal) x = 1 by conjugate gradients, to a residual of ``accuracy`` per row."""
    patterns = problem.patterns
    share = len(rows) / patterns.n

    def product(q: Vector) -> Vector:
        problem.passes += share
        return patterns.margins_of(rows, problem.combine(rows, q)) + diagonal * q

    x = x.copy()
    r = 1.0 - product(x)
    q, rr = r.copy(), float(np.sum(r * r))
    enough = len(rows) * accuracy**2
    for _ in range(STEPS):
        if rr <= enough or problem.passes >= problem.max_passes or problem.interrupted():
            break
        Gq = product(q)
        curvature = float(np.sum(q * Gq))
        if not curvature > 0:
            break
        x += (rr / curvature) * q
        r -= (rr / curvature) * Gq
        rr, before = float(np.sum(r * r)), rr
        q = r + (rr / before) * q
    return x
