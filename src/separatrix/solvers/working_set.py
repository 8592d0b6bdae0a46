"""Hard margins of many rows: those of a few, which the rows join that their solution violates.

    minimise |a|  subject to  a.y_k >= 1 for all k

The solution on some rows bounds the best margin from above. A pass over all rows tells what its vector reaches and
brings the rows with the smallest margins; these join. Few passes are enough, because a vector that is right for some
rows errs on few others, and they are among those that come.
"""

import numpy as np

from separatrix.data.base import evenly
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import coordinate_descent, engine, exact, sign_constraints
from separatrix.solvers.newton_steps import LARGEST_MATRIX, PRECISE
from separatrix.solvers.problem import Problem
from separatrix.solvers.vertex import affine_vertex
from separatrix.space import Space, Vector

SAMPLE, COLLECT = 200_000, 50_000  # rows of the first sample, at most; patterns that a pass brings: rows out of core
SAMPLE_IN_MEMORY, ADD = 25_000, 400  # the same of rows in memory, where a pass costs less
VALUES = 20_000_000  # values of a sample, and of rows that are written out
FINER = 0.1  # the part of the gap that the solution of a sample may use up
SHORTEST = 1e-200  # R^2 up to which rows are solved in another unit: curvatures need inverses
ALL = 5  # rows per column up to which all of them are solved at once


def solve(problem: Problem, start: Vector | None = None) -> None:
    """``start``: a vector near whose boundary the support is expected."""
    patterns = problem.patterns
    width = patterns.features + 1
    if patterns.here and (patterns.space.signs or patterns.n <= max(ALL * (patterns.d + 1), 2 * ADD)):
        solve_few(problem)
        problem.tell()
        return
    add = max(ADD, 2 * width) if patterns.here else COLLECT
    most = max(min(SAMPLE, VALUES // width), 10 * width)
    if patterns.here and patterns.n_classes > 2 and problem.patterns.d < LARGEST_MATRIX:
        _solve_written_out(problem, start, add)
        return
    if patterns.here:
        rows = np.unique(_try(problem, problem.mean() if start is None else start, add) // patterns.per_row)
    elif start is not None:
        rows = np.unique(_try(problem, start, add) // patterns.per_row)
    else:
        rows = evenly(patterns.rows_in_all, most)
    alpha = np.zeros(patterns.n) if patterns.here else np.zeros(0)
    while not problem.done():
        part = patterns.sample(rows)
        small = problem.part(part, np.inf, FINER * problem.tol)
        if patterns.here:
            solve_few(small, alpha[patterns.numbering(rows)])
        else:
            solve(small)
        index = patterns.renumbered(small.alpha_index, rows)
        problem.dual(index, small.alpha, part.combine(*small.multipliers()))
        if problem.vanishes():
            return  # these rows alone have no separator
        brought = _try(problem, small.a, add) // patterns.per_row
        joined = np.union1d(rows, brought)
        if len(joined) == len(rows):
            problem.done()
            return  # nothing new is violated: this is as far as arithmetic goes
        if patterns.here:
            alpha[:] = 0.0
            alpha[index] = small.alpha
        support = rows[np.unique(small.alpha_index // patterns.per_row)]
        rows = joined if len(rows) < (1.5 * width + add if patterns.here else most) else np.union1d(support, brought)


def _solve_written_out(problem: Problem, start: Vector | None, add: int) -> None:
    """Solve a joint machine on single patterns, not on rows with all their rivals."""
    patterns, a = problem.patterns, problem.mean() if start is None else start
    working = np.zeros(0, np.int64)
    while True:
        joined = np.union1d(working, _try(problem, a, add))
        if problem.done() or len(joined) == len(working):
            return
        V, columns = patterns.narrow_rows(joined)
        small = problem.part(Patterns(V, np.ones(len(V)), Space(0.0)), np.inf, FINER * problem.tol)
        solve_few(small)
        a = np.zeros(patterns.d + 1)
        a[columns] = small.a[:-1]
        problem.dual(joined[small.alpha_index], small.alpha, problem.combine(joined[small.alpha_index], small.alpha))
        if problem.vanishes():
            return
        working = joined if len(joined) < 1.5 * len(a) + add else joined[small.alpha_index]


def solve_few(problem: Problem, alpha: Vector | None = None) -> None:
    """Solve a problem without a working set; ``alpha``: multipliers near those of the solution.

    If nothing separates, the multipliers are those of affinely independent rows, from which proofs begin.
    """
    patterns = problem.patterns
    n, d = patterns.n, patterns.d
    plain = patterns.n_classes == 2 and not problem.free
    if patterns.space.signs:
        sign_constraints.solve(problem)
        return
    if patterns.n_classes == 2 and 0.0 < patterns.radius2 <= SHORTEST:
        R = patterns.radius  # a hard margin depends on no unit
        rows, space = patterns.values(np.arange(n)) * (1.0 / R), patterns.space
        unit = problem.part(Patterns(rows, patterns.labels, space._replace(rho=space.rho / R)), np.inf, problem.tol)
        solve_few(unit)
        problem.adopt(unit)
        return
    if plain and n <= d + 1:
        coordinate_descent.solve(problem)
        alpha = np.zeros(n)
        alpha[problem.alpha_index] = problem.alpha
    elif n * (d + 1) <= VALUES and (n > d + 1 or patterns.n_classes > 2):
        alpha = exact.solve(problem)
    if problem.gap > max(problem.tol, PRECISE) and not problem.limited and not problem.vanishes():
        problem.go_on()
        engine.solve(problem, alpha=alpha)
    if problem.vanishes():
        V, columns = patterns.narrow_rows(problem.alpha_index)
        few, weights = affine_vertex(V, problem.alpha)
        combination = np.zeros(patterns.d + 1)
        combination[columns] = weights @ V[few]
        problem.dual(problem.alpha_index[few], weights, combination)


def _try(problem: Problem, a: Vector, count: int) -> np.ndarray:
    """One pass: what the vector reaches; the numbers of the patterns with the smallest margins."""
    if problem.free and problem.patterns.here:
        plus, minus = problem.sides(a, count // 2)
        b = 0.5 * (minus.minimum - plus.minimum) / problem.patterns.space.rho
        if np.isfinite(b):
            problem.reached(np.append(a[:-1], a[-1] + b), 0.5 * (plus.minimum + minus.minimum))
        return np.concatenate([plus.numbers, minus.numbers])
    worst = problem.extremes(a, count)
    problem.reached(a, worst.minimum)
    return worst.numbers
