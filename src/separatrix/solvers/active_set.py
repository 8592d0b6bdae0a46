"""Hard margin by a working set: solver (1).

    minimise |a|  subject to  a.y_k >= 1 for all k

Each round: one pass for the margins, the most violated patterns join the working set, the problem is solved there
exactly. Where many are violated still after some rounds, those that a soft margin's vector violates join next. The
solution's multipliers bound the best margin from above, its vector is tried on all patterns. With a free bias the
polytope is the difference of the two classes' hulls: its vertices are (x_i - x_j)/2 with i positive and j negative.
"""

import itertools
import math
from typing import Any

import numpy as np

from separatrix.passes.summaries import Sides
from separatrix.solvers import newton
from separatrix.solvers.dual_sweeps import Sweeps
from separatrix.solvers.least_distance import least_distance
from separatrix.solvers.machine_start import near_hard_machine
from separatrix.solvers.nearest_with_bias import nearest_with_bias
from separatrix.solvers.problem import Problem
from separatrix.solvers.small_problem import size
from separatrix.space import Vector

ADD = 400  # patterns that join in a round
ALL_AT_ONCE = 3000  # patterns that join at once, at most: to leave some out would cost more rounds
PER_COLUMN, PER_SPARSE_COLUMN = 20, 10  # and a column
VALUES_AT_A_GLANCE = 20_000  # of patterns that are solved before anybody could stop it
ADD_OF_CLASS = 20  # patterns of each class that join where vertices are pairs
VALUES_FROM_MEAN = 100_000  # of a linear machine, up to which exact solves need no better start than the mean
TRIALS = 2  # rounds from the mean, before the vector of a soft margin shows the way
MANY_ERRORS = 0.02  # of the mean, from which it shows the way at once
MODERATE_C = 100.0  # its C |y|^2: a larger one costs more than it saves
START_GAP = 1e-2  # its gap
WORST = 3  # patterns a column that join then
LIKELY = 0.6  # patterns a column that are taken for tight then
FEW_ERRORS = 10  # of it, up to which so many join
MANY_COLUMNS = 150  # from which exact solves are so dear that it pays
FAR_WIDER = 4  # columns a row from which sweeps are tried first,
VALUES_FOR_SWEEPS = 1_000_000  # with so many values,
COARSE_GAP = 1e-5  # and up to this accuracy
SWEEPS = 40  # in all, at most
SWEEPS_AT_ONCE = 5  # between two looks at the gap, at most
VALUES_BETWEEN_LOOKS = 1e8  # that they visit, about
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
    if _swept(problem):
        return
    if all_join(patterns):
        _solve_at_once(problem)
        return
    if start is None and patterns.n_classes > 2 and patterns.n * width > VALUES_FROM_MEAN:
        start = near_hard_machine(problem)
    a = start if start is not None and np.any(start) and np.all(np.isfinite(start)) else problem.mean()
    working = rows = np.zeros(0, np.int64)
    add = ADD
    helped = start is None and patterns.n_classes == 2 and width >= MANY_COLUMNS
    for round_ in itertools.count():
        worst = problem.extremes(a, add)
        problem.reached(a, worst.minimum)
        if problem.done():
            return
        joining = worst.numbers
        lost = worst.errors >= (ADD if round_ else MANY_ERRORS * patterns.n)
        if helped and lost and round_ in (0, TRIALS) and (near := near_hard(problem, MODERATE_C)) is not None:
            helped = False
            worst = problem.extremes(near, max(add, min(WORST * width, ALL_AT_ONCE)))
            problem.reached(near, worst.minimum)
            if problem.done():
                return
            add = worst.k if worst.errors <= FEW_ERRORS else add  # data that nothing separates need few rows to show it
            joining = worst.numbers[np.argsort(worst.margins)[:add]]
            working, rows = rows[:0], np.sort(joining[: int(LIKELY * width)])
        size = len(working)
        working = np.union1d(working, joining) if size else np.sort(joining)
        if len(working) == size:
            return  # nothing new is violated: this is as far as arithmetic goes
        a, rows = _solve_on(problem, working, rows)
        if vanishes(problem):
            return
        if len(working) > 1.5 * width + add:  # looking for the worst of them is not free
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


def near_hard(problem: Problem, product: float) -> Vector | None:
    """The vector of a soft margin with this C c |y|^2, on average; None where squares are out of range."""
    scale = size(problem) * float(problem.weight.mean())
    if not (scale > 0 and product / scale > 0):
        return None
    soft = problem.softer(product / scale, START_GAP)
    newton.follow(soft)
    problem.passes = soft.passes
    return soft.a


def _swept(problem: Problem) -> bool:
    """Whether coordinate descent on the dual reaches the gap, where rows are far fewer than columns: they hardly meet
    each other then, and their inner products alone cost as much as a hundred sweeps."""
    patterns, width = problem.patterns, problem.patterns.d + 1
    few = not patterns.sparse and patterns.n_classes == 2 and FAR_WIDER * patterns.n <= width
    if not few or patterns.n * width < VALUES_FOR_SWEEPS or problem.tol < COARSE_GAP:
        return False
    sweeps, at_once = Sweeps(problem), int(min(max(VALUES_BETWEEN_LOOKS / (patterns.n * width), 1), SWEEPS_AT_ONCE))
    while sweeps.count < SWEEPS:
        sweeps.all_active()
        sweeps.sweep(at_once, -np.inf)  # of a hard margin they know no gap
        problem.reached(sweeps.a, problem.smallest(sweeps.a))
        index = np.flatnonzero(sweeps.alpha)
        problem.dual(index, sweeps.alpha[index], problem.combine(index, sweeps.alpha[index]))
        if problem.done():
            return True
    return False


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
