"""Hard margin by sifting: for rows so many, or so far away, that passes are the price.

    minimise |a|  subject to  a.y_k >= 1 for all k

A sample is solved exactly, which bounds the best margin from above; one pass over all rows tells what its vector
reaches and brings the rows with the smallest margins; these join the sample. Two or three passes are enough: a vector
that is right for a sample errs on few rows, and they are among those that come.
"""

import numpy as np

from separatrix.data.base import evenly
from separatrix.solvers import active_set, sign_constraints
from separatrix.solvers.problem import Problem
from separatrix.space import Vector

SAMPLE = 200_000  # rows of the first sample, at most
VALUES = 20_000_000  # values that may be brought here
COLLECT = 50_000  # patterns that a pass brings
SAMPLE_HERE, COLLECT_HERE = 25_000, 10_000  # the same of rows that are here, where a pass costs less
FINER = 0.1  # the part of the gap that the solution of a sample may use up


def solve(problem: Problem, start: Vector | None = None) -> None:
    """``start``: a vector near whose boundary the tight patterns are expected."""
    patterns = problem.patterns
    per_row = patterns.per_row
    sample = SAMPLE_HERE if patterns.here else SAMPLE
    most = int(max(min(sample, VALUES // (patterns.features + 1)), 10 * patterns.features, 100))
    rows = evenly(patterns.rows_in_all, most) if start is None else np.unique(_try(problem, start) // per_row)
    while not problem.done():
        part = patterns.sample(rows)
        small = problem.part(part, np.inf, FINER * problem.tol)
        (sign_constraints if part.space.signs else active_set).solve(small)
        problem.dual(patterns.renumbered(small.alpha_index, rows), small.alpha, part.combine(*small.multipliers()))
        if active_set.vanishes(problem):
            return  # these rows alone have no separator
        brought = _try(problem, small.a)
        joined = _union(rows, brought // per_row)
        if len(joined) == len(rows):
            problem.done()
            return  # nothing new is violated: this is as far as arithmetic goes
        support = rows[np.unique(small.alpha_index // per_row)]
        rows = joined if len(rows) < most else _union(support, brought // per_row)


def _union(rows: np.ndarray, more: np.ndarray) -> np.ndarray:
    """The numbers in either, in order; by a merge, which is quicker than looking each of them up."""
    both = np.sort(np.concatenate([rows, more]), kind="stable")
    return both[np.append(True, both[1:] != both[:-1])]


def _try(problem: Problem, a: Vector) -> np.ndarray:
    """One pass: what the vector reaches; the numbers of the patterns with the smallest margins."""
    worst = problem.extremes(a, COLLECT_HERE if problem.patterns.here else COLLECT)
    problem.reached(a, worst.minimum)
    return worst.numbers
