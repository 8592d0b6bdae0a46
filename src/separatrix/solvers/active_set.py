"""Hard margin by a working set: solver (1).

    minimise |a|  subject to  a.y_k >= 1 for all k

Each round: one pass for the margins, the most violated patterns join the working set, the problem is solved there
exactly. The solution's multipliers bound the best margin from above, its vector is tried on all patterns. With a free
bias the polytope is the difference of the two classes' hulls: its vertices are (x_i - x_j)/2 with i positive and j
negative.
"""

import math
from typing import Any

import numpy as np

from separatrix.passes.summaries import Sides
from separatrix.solvers.least_distance import least_distance
from separatrix.solvers.machine_start import near_hard_machine
from separatrix.solvers.nearest_with_bias import nearest_with_bias
from separatrix.solvers.problem import Problem
from separatrix.space import Vector

ADD = 400  # patterns that join in a round
ALL_AT_ONCE = 3000  # patterns that join at once, at most: to leave some out would cost more rounds
PER_COLUMN, PER_SPARSE_COLUMN = 20, 10  # and a column
VALUES_AT_A_GLANCE = 20_000  # of patterns that are solved before anybody could stop it
ADD_OF_CLASS = 20  # patterns of each class that join where vertices are pairs
VALUES_FROM_MEAN = 100_000  # of a linear machine, up to which exact solves need no better start than the mean
NOTHING_LEFT = 1e-14  # a distance below this, as a fraction of R, is rounding error


def solve(problem: Problem, start: Vector | None = None) -> None:
    """``start``: a vector near whose boundary the tight patterns are expected; a free bias has no use for it."""
    if problem.free:
        _solve_free(problem)
    else:
        _solve_augmented(problem, start)


def _solve_augmented(problem: Problem, start: Vector | None) -> None:
    patterns = problem.patterns
    width = patterns.d + 1
    if all_join(patterns):
        _solve_at_once(problem)
        return
    if start is None and patterns.n_classes > 2 and patterns.n * width > VALUES_FROM_MEAN:
        start = near_hard_machine(problem)
    a = start if start is not None and np.any(start) and np.all(np.isfinite(start)) else problem.mean()
    working = rows = np.zeros(0, np.int64)
    while True:
        worst = problem.extremes(a, ADD)
        problem.reached(a, worst.minimum)
        if problem.done():
            return
        size = len(working)
        working = np.union1d(working, worst.numbers)
        if len(working) == size:
            return  # nothing new is violated: this is as far as arithmetic goes
        a, rows = _solve_on(problem, working, rows)
        if vanishes(problem):
            return
        if len(working) > 1.5 * width + ADD:  # looking for the worst of them is not free
            working = rows


def _solve_at_once(problem: Problem) -> None:
    patterns = problem.patterns
    if patterns.n * (patterns.d + 1) > VALUES_AT_A_GLANCE and _try(problem, problem.mean()):
        return  # stopped: the mean has most of them on their sides, what an unfinished solve has found may not
    a, _ = _solve_on(problem, np.arange(patterns.n), np.zeros(0, np.int64))
    _try(problem, problem.mean() if vanishes(problem) else a)
    problem.tell()


def _try(problem: Problem, a: Vector) -> bool:
    """Enter a vector; is the problem done?"""
    problem.reached(a, problem.smallest(a))
    return problem.done()


def _solve_on(problem: Problem, working: np.ndarray, rows: np.ndarray) -> tuple[Vector, np.ndarray]:
    """The exact solution on some patterns, of which ``rows`` may be tight, and those that are; their multipliers are
    entered."""
    patterns, width = problem.patterns, problem.patterns.d + 1
    V, columns = patterns.narrow_rows(working)  # the solution is a combination of these rows, and 0 elsewhere
    a, combination = np.zeros(width), np.zeros(width)
    guess = np.searchsorted(working, rows) if len(rows) else None
    a[columns], u = least_distance(V, _scale(problem), problem.interrupted, guess)
    support = u.nonzero()[0]
    alpha = u[support]
    combination[columns] = V[support].T @ alpha
    problem.dual(working[support], alpha, combination)
    return a, working[support]


def vanishes(problem: Problem) -> bool:
    """Do the multipliers combine to what is 0 but for rounding errors?"""
    return problem.upper <= NOTHING_LEFT * problem.patterns.radius * math.sqrt(problem.patterns.d + 1)


def all_join(patterns: Any) -> bool:
    """Are so many patterns solved at once?"""
    per_column = PER_SPARSE_COLUMN if patterns.sparse else PER_COLUMN
    return patterns.n <= max(min(per_column * (patterns.d + 1), ALL_AT_ONCE), 2 * ADD)


def _solve_free(problem: Problem) -> None:
    patterns = problem.patterns
    w = problem.mean()[:-1]
    working = rows = np.zeros(0, np.int64)
    add = patterns.n if all_join(patterns) else ADD // 2
    while not _try_with_bias(problem, w, sides := problem.sides(np.append(w, 0.0), add)):
        size = len(working)
        working = np.unique(np.concatenate([working, sides.positive.numbers, sides.negative.numbers]))
        if len(working) == size:
            return
        V, columns = patterns.narrow_rows(working)
        guess = np.searchsorted(working, rows) if len(rows) else None
        found = nearest_with_bias(V[:, :-1], np.sign(V[:, -1]), guess, problem.interrupted)
        if found is None or not found[1].any():
            _solve_by_pairs(problem, w)
            return
        w, combination = np.zeros(patterns.d), np.zeros(patterns.d + 1)
        w[columns[:-1]], u = found
        support = np.flatnonzero(u)
        rows = working[support]
        combination[columns[:-1]] = u[support] @ V[support, :-1]
        problem.dual(rows, u[support], combination)
        if vanishes(problem):
            return
        if len(working) > 1.5 * patterns.d + add:
            working = rows


def _try_with_bias(problem: Problem, w: Vector, sides: Sides) -> bool:
    """Enter a vector with its best bias; is the problem done?"""
    plus, minus = sides
    b = (minus.minimum - plus.minimum) / 2.0
    problem.reached(np.append(w, b / problem.patterns.space.rho), (plus.minimum + minus.minimum) / 2.0)
    return problem.done()


def _solve_by_pairs(problem: Problem, w: Vector) -> None:
    """The same where lengths are extreme or rows depend on each other: the vertices are written out."""
    patterns = problem.patterns
    pairs = np.zeros((0, 2), np.int64)
    while not _try_with_bias(problem, w, sides := problem.sides(np.append(w, 0.0), ADD_OF_CLASS)):
        size = len(pairs)
        i, j = sides.positive.numbers, sides.negative.numbers
        fresh = np.stack(np.meshgrid(i, j, indexing="ij"), axis=-1).reshape(-1, 2)
        pairs = np.unique(np.vstack([pairs, fresh]), axis=0)
        if len(pairs) == size:
            return
        V = 0.5 * (patterns.dense_rows(pairs[:, 0]) + patterns.dense_rows(pairs[:, 1]))[:, :-1]
        w, u = least_distance(V, _scale(problem), problem.interrupted)
        support = np.flatnonzero(u)
        rows, alpha = _multipliers(pairs[support], u[support])
        problem.dual(rows, alpha, np.append(V[support].T @ u[support], 0.0))
        if vanishes(problem):
            return
        if len(pairs) > 2 * (patterns.d + 1) + ADD_OF_CLASS * ADD_OF_CLASS:
            pairs = pairs[support]


def _multipliers(pairs: np.ndarray, u: Vector) -> tuple[np.ndarray, Vector]:
    """Rows and multipliers with sum 1 of a combination of vertices (y_i + y_j)/2."""
    rows, where = np.unique(pairs, return_inverse=True)
    alpha = np.bincount(where.ravel(), weights=np.repeat(u / 2.0, 2), minlength=len(rows))
    return rows, alpha.astype(np.float64)


def _scale(problem: Problem) -> float:
    return problem.upper if 0 < problem.upper < np.inf else problem.patterns.radius
