"""Hard margins of some hundred or thousand rows, exactly, by the dual active set method.

    minimise |a|^2/2  subject to  a.y_k >= 1;    a = sum u_k y_k,   u >= 0 on the support and 0 elsewhere

The compiled loop (`separatrix.solvers.loops.dual_active_set`) adds the support row by row; what its steps add up is
computed once more from the factors. If nothing separates, it ends with affinely independent rows that combine to 0.
An unpenalized intercept is one that costs next to nothing here, on centered rows: the engine ends from these rows.
"""

import numpy as np
import scipy.linalg as la

from separatrix.passes.patterns import EPS
from separatrix.solvers.loops.dual_active_set import INFEASIBLE, OPTIMAL, dual_active_set
from separatrix.solvers.newton_steps import NewtonSteps
from separatrix.solvers.problem import Problem
from separatrix.space import Vector

SHORTEST, LONGEST = 1e-60, 1e60  # lengths of rows between which nothing overflows
FREE = 30.0  # the constant column of an unpenalized intercept, in lengths of the longest row
WORK_BETWEEN_LOOKS = 2e7  # multiplications between two looks at the limits


def solve(problem: Problem) -> Vector:
    """Enter what is found; return the multipliers of all rows, for another solver to go on from."""
    patterns = problem.patterns
    n, alpha = patterns.n, np.zeros(patterns.n)
    V, columns = patterns.narrow_rows(np.arange(n))
    if problem.free:
        V = V.copy()
        V[:, :-1] -= np.multiply.outer(patterns.labels, patterns.labels @ V[:, :-1] / n)
        V[:, -1] = patterns.labels * (FREE * np.sqrt(np.einsum("ij,ij->i", V[:, :-1], V[:, :-1]).max()))
    norms = np.sqrt(np.einsum("ij,ij->i", V, V))
    if not (norms.min() > SHORTEST and norms.max() < LONGEST):
        return alpha
    V, most = np.ascontiguousarray(V), min(V.shape) + 1
    w, u, active = np.zeros(V.shape[1]), np.zeros(most + 1), np.zeros(most + 1, np.int64)
    Q, R, size, ended = np.zeros((most, V.shape[1])), np.zeros((most, most)), 0, -1
    left = 20 * sum(V.shape) + 1000
    while ended not in (OPTIMAL, INFEASIBLE) and left > 0 and np.all(np.isfinite(w)) and not problem.interrupted():
        steps = max(1, int(WORK_BETWEEN_LOOKS / (V.size + 4.0 * (size + 1) * V.shape[1])))
        ended, size = dual_active_set()(V, norms, np.ones(n), w, Q, R, active, u, size, 4.0 * EPS, steps)
        left -= steps
    rows, weights = active[: size + 1], u[: size + 1]
    if ended != INFEASIBLE:
        rows, weights = rows[:-1], weights[:-1]
        z = la.solve_triangular(R[:size, :size], np.ones(size), trans=1, check_finite=False)
        exact = la.solve_triangular(R[:size, :size], z, check_finite=False)
        weights = exact if np.all(exact > 0.0) else weights
        w = z @ Q[:size]
    alpha[rows], a = weights, np.zeros(patterns.d + 1)
    if problem.free and ended == OPTIMAL and (equal := NewtonSteps(problem).solve_face(rows, alpha, a)) is not None:
        rows, weights, a = equal
    else:
        a[columns] = w
    problem.primal(a, problem.margins(a))
    if problem.free:
        weights = _balanced(weights, patterns.labels[rows])
    if np.all(weights >= 0.0):
        problem.dual(rows, weights, patterns.combine(rows, weights))
    return alpha


def _balanced(weights: Vector, labels: Vector) -> Vector:
    """Multipliers with the same sum in both classes; 0 if there is only one."""
    positive, negative = float(weights[labels > 0].sum()), float(weights[labels < 0].sum())
    least = min(positive, negative)
    return weights * np.where(labels > 0, least / positive, least / negative) if least > 0 else 0.0 * weights
