"""Soft margins whose C leaves next to no slack: the hard margin in the extended space, on a working set.

    minimise |a|^2 + |b|^2  subject to  a.y_k + b_k Delta_k >= 1,   Delta_k^2 = 1/(2 C c_k)

Newton's steps stall there, because rows change sides one by one. They lead near the solution, though: its tight rows
are among those of smallest margin.
"""

import numpy as np

from separatrix.passes.summaries import k_smallest
from separatrix.solvers.nearest_point import nearest_point
from separatrix.solvers.nearest_with_bias import nearest_with_bias
from separatrix.solvers.problem import Problem

ADD = 800  # rows that join in a round, at most
MOST = 2000  # rows of a working set whose matrix is not too much
ROUNDS = 10
VALUES = 2_000_000  # of the rows that join at first, beyond which exact solves take seconds


def is_affordable(problem: Problem) -> bool:
    return bool(min(problem.patterns.n, ADD) * (problem.patterns.d + 1) <= VALUES)


def solve(problem: Problem) -> None:
    """From the vector that was found last."""
    patterns, labels = problem.patterns, problem.patterns.labels
    working, rows, margins = np.zeros(0, np.int64), np.zeros(0, np.int64), problem.margins(problem.a)
    for _ in range(ROUNDS):
        size = len(working)
        working = np.union1d(working, k_smallest(margins, min(ADD, patterns.n)))
        if len(working) == size or len(working) > MOST:
            return
        Y = patterns.narrow_rows(working)[0]
        slack = np.diag(np.sqrt(problem.diagonal[working]))
        guess = np.searchsorted(working, rows) if len(rows) else None
        if problem.free:
            Z = np.hstack([Y[:, :-1], slack])
            found = nearest_with_bias(Z, labels[working], guess, problem.interrupted)
            u = None if found is None else found[1]
        else:
            point = nearest_point(np.hstack([Y, slack]), np.ones(len(Y)), guess, problem.interrupted)
            u = None if point is None else point.u
        if u is None or not u.any():
            return
        support = np.flatnonzero(u)
        rows, alpha = working[support], u[support]
        a = combination = problem.combine(rows, alpha)
        margins = problem.margins(a)
        if problem.free:
            a, margins = problem.with_best_bias(a, margins)
        problem.primal(a, margins)
        problem.dual(rows, alpha, combination)
        if problem.done():
            return
