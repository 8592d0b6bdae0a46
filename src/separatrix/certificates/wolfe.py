"""Gordan's alternative, decided: a vector with a.y_k > 0 for all rows, or rows that combine to 0, in exact arithmetic.

The point of the rows' convex hull nearest to the origin, by Wolfe's algorithm (P. Wolfe, Finding the nearest point in a
polytope, 1976): a corral of affinely independent rows S, and x the point of their affine hull nearest to 0. Where x = 0
the weights of the corral are the combination. Where y_k.x > 0 for all rows, x is the vector. Otherwise a row with
y_k.x <= 0 joins, and rows whose weight would be negative leave. |x| decreases strictly, so it ends; nothing is rounded,
so it ends with a proof. A float solution tells where to begin, and an error bound tells which rows need no exact look.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.exact import BROKEN, dot, without_factor
from separatrix.certificates.integer_rows import IntegerRows
from separatrix.certificates.integer_systems import PRIMES, Integers, basis, limbs, residues, solve
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import Problem
from separatrix.space import Space

LARGEST_TABLE = 1_000_000  # values that are written out as integers
SPARE = 0.3  # of the time that is left, for a start in floats


@dataclass
class Decision:
    """``vector``: integers a with a.y_k > 0 for all rows, or None; then ``rows`` with weights > 0 combine to 0."""

    vector: Integers | None
    rows: list[int]
    weight: Integers


def decide(rows: IntegerRows, clock: Clock) -> Decision:
    empty = np.flatnonzero(~rows.Z.any(axis=1))
    if len(empty):
        return Decision(None, [int(empty[0])], [1])
    corral, weight, vector = _start(rows, clock)
    if vector is not None:
        return Decision(vector, [], [])
    gram: dict[tuple[int, int], int] = {}
    corral, weight = _nearest(rows, corral, weight, gram, clock)
    while True:
        x = combined(rows, corral, weight)
        if not any(x):
            return Decision(None, corral, weight)
        worst = rows.first_not_positive(x, clock)
        if worst < 0:
            return Decision(x, [], [])
        corral, weight = _nearest(rows, [*corral, worst], [*weight, 0], gram, clock)


def combined(rows: IntegerRows, corral: list[int], weight: Integers) -> Integers:
    chosen = [rows.row(k) for k in corral]
    return without_factor([dot(weight, list(column)) for column in zip(*chosen, strict=True)])


def _nearest(
    rows: IntegerRows, corral: list[int], weight: Integers, gram: dict[tuple[int, int], int], clock: Clock
) -> tuple[list[int], Integers]:
    """Wolfe's minor cycles: the nearest point of the corral's affine hull, rows leaving until its weights are > 0."""
    while True:
        best = _affine(rows, corral, gram, clock)
        if min(best) < 0:
            total, other = sum(weight), sum(best)
            old, new = [w * other for w in weight], [w * total for w in best]  # of equal sums
            p, q = 1, 1
            for u, v in zip(old, new, strict=True):  # the largest p/q <= 1 with old + (new - old) p/q >= 0
                if v < 0 and u * q < p * (u - v):
                    p, q = u, u - v
            best = [u * (q - p) + v * p for u, v in zip(old, new, strict=True)]
            done = False
        else:
            done = True
        left = [i for i, w in enumerate(best) if w > 0]
        corral, weight = [corral[i] for i in left], without_factor([best[i] for i in left])
        if done:
            return corral, weight


def _affine(rows: IntegerRows, corral: list[int], gram: dict[tuple[int, int], int], clock: Clock) -> Integers:
    """Weights of the point of the affine hull nearest to 0, up to their sum: (Y Y^t + 1 1^t) w = 1."""
    for i, k in enumerate(corral):
        clock.look()
        for j in corral[: i + 1]:
            if (k, j) not in gram:
                gram[k, j] = gram[j, k] = dot(rows.row(k), rows.row(j))
    found = solve([[gram[k, j] + 1 for j in corral] for k in corral], [1] * len(corral), clock)
    if found is None:
        raise OutOfTimeError  # more rows than a system may have
    return found[0]


def _start(rows: IntegerRows, clock: Clock) -> tuple[list[int], Integers, Integers | None]:
    """Affinely independent rows and weights near the solution, or a vector that floats found, exactly checked."""
    problem = Problem(
        Patterns(rows.Z, np.ones(rows.n), Space(0.0)),
        np.inf,
        tol=0.5,
        max_passes=200,
        max_time=SPARE * clock.left,
    )
    with suppress(*BROKEN):  # if arithmetic breaks down, what was found before is a start
        solvers.solve(problem, side="newton")
    if np.all(np.isfinite(problem.a)) and np.any(problem.a[:-1]):
        a = rows.vector(problem.a[:-1])
        if rows.first_not_positive(a, clock) < 0:
            return [], [], a
    chosen, weight = problem.alpha_index.tolist(), problem.alpha.tolist()
    if not chosen or not all(0 < w < np.inf for w in weight):
        return [0], [1], None
    order = np.argsort(weight)[::-1].tolist()
    table = [[*rows.row(chosen[i]), 1] for i in order]
    kept = [order[i] for i in basis(residues(limbs(table), PRIMES[0]), PRIMES[0], clock)[0].tolist()]
    ratios = [float(weight[i]).as_integer_ratio() for i in kept]
    top = max(q for _, q in ratios)
    return [chosen[i] for i in kept], [p * (top // q) for p, q in ratios], None
