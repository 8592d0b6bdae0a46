"""Soft margins of sparse rows by truncated Newton steps, one compiled loop: what suits it, and how it heeds limits."""

import math
from typing import Any

import numpy as np

from separatrix.passes.patterns import TINY
from separatrix.solvers.loops.truncated_newton_loop import (
    ALL_PRODUCTS,
    COUNT,
    PAUSED,
    REACHED,
    Descent,
    truncated_newton,
)
from separatrix.solvers.problem import Problem
from separatrix.solvers.small_problem import LITTLE_SLACK, size
from separatrix.space import Vector

LARGEST_HESSIAN = 3000  # columns up to which the Hessian is formed
FINEST_BY_CG = 1e-8  # accuracy up to which conjugate gradients are as good as a Hessian
MANY_PRODUCTS = 15.0  # that a Hessian is worth, from which they are tried first
SOME_PRODUCTS, EVEN = 0.5, 0.7  # the same where columns weigh about as much as each other: 1 where they are equal
PLACES, TOGETHER = 20, 1000  # where stored values tell how much columns weigh, and how many at each
STEP, HESSIANS = 3.0, 10.0  # Hessians that the products of a step, and all at one C, may cost before one is formed
FEW_IN_STEP, FEW = (
    10.0,
    25.0,
)  # products of a step, and all at one C, beside one Hessian where this is worth few of them
FIRST_C, FACTOR, FIRST_GAP = 10.0, 4.0, 0.1  # C |y|^2 where a path begins, the factor between its C, and their gap
MOST_PRODUCTS = 500  # of conjugate gradients in a step
VISITED = 10_000_000  # stored values between two looks at the limits: some hundredths of a second


def suits(problem: Problem) -> bool:
    """Is it one for this loop, which knows no free bias?"""
    if problem.free:
        return False
    return avoids_a_matrix(problem) or (avoids_a_matrix(problem, SOME_PRODUCTS) and _even(problem))


def avoids_a_matrix(problem: Problem, products: float = MANY_PRODUCTS) -> bool:
    """Are so many products with the rows cheaper than a matrix of columns by columns?"""
    patterns = problem.patterns
    if not (patterns.here and patterns.sparse) or patterns.n_classes > 2 or problem.hard:
        return False
    return problem.tol >= FINEST_BY_CG and worth_of_a_hessian(problem) > products


def _even(problem: Problem) -> bool:
    """Do columns weigh about as much as each other? Then the Hessian's eigenvalues differ little, as a rule.

    By (sum s)^2/(d sum s^2), s the sums of squares of the columns in some of the stored values.
    """
    rows, d = problem.patterns.rows, problem.patterns.d
    some: Any = slice(None)
    if len(rows.data) > PLACES * TOGETHER:
        first = np.linspace(0, len(rows.data) - TOGETHER, PLACES).astype(np.int64)
        some = (first[:, None] + np.arange(TOGETHER)).ravel()
    values = rows.data[some].astype(np.float64)
    values /= max(float(np.max(np.abs(values))), TINY)
    s = np.bincount(rows.indices[some], values * values, d)
    return bool(np.sum(s) ** 2 >= EVEN * d * np.sum(s * s))


def worth_of_a_hessian(problem: Problem) -> float:
    """Products with sparse rows that take as long as the Hessian of columns by columns and its factors.

    In nanoseconds, about: a product 1 per stored value, an entry of an outer product 1, of the matrix 5 and 1/20 for
    each of the width^3/3 multiplications of its factors.
    """
    n, width, stored = problem.patterns.n, problem.patterns.d + 1, max(problem.patterns.home.stored, 1)
    outer = n * (stored / n) ** 2 / 2.0
    return (outer + 5.0 * width**2 + width**3 / 60.0) / stored


def solve(problem: Problem, start: Vector | None = None) -> bool:
    """From a vector, or from 0 along a path of growing C; is it done, rather than slower than a matrix would be?"""
    n, width = problem.patterns.n, problem.patterns.d + 1
    path = [problem.C] if start is not None else _path(problem)
    a = np.zeros(width) if start is None else start.copy()
    descent = Descent.from_vector(a, np.zeros(n) if start is None else problem.margins(a))
    for C in path:
        price = 2.0 * C * problem.weight
        if not _descend(problem, descent, price, problem.tol if C == problem.C else FIRST_GAP):
            break
    _enter(problem, descent, price)
    problem.tell()
    return problem.done()


def _enter(problem: Problem, descent: Descent, price: Vector) -> None:
    """Enter the vector, and its slacks as multipliers: whatever their C, they prove a bound."""
    problem.primal(descent.a, descent.m)
    index = descent.active[: int(descent.numbers[COUNT])]
    problem.dual(index, price[index] * (1.0 - descent.m[index]), descent.v)


def _path(problem: Problem) -> list[float]:
    """The C to be followed: smaller ones first where rows are so few that a large C leaves little slack."""
    path = [problem.C]
    while problem.patterns.n <= LITTLE_SLACK * problem.patterns.d and path[-1] * size(problem) > FIRST_C:
        path.append(path[-1] / FACTOR)
    return path[::-1]


def _descend(problem: Problem, descent: Descent, price: Vector, tol: float) -> bool:
    """Is the gap reached, at the prices of some C?"""
    patterns, n = problem.patterns, problem.patterns.n
    most, most_in_all = float(MOST_PRODUCTS), math.inf
    if patterns.d < LARGEST_HESSIAN:
        hessian = worth_of_a_hessian(problem)
        most, most_in_all = min(STEP * hessian, most), HESSIANS * hessian
        if hessian <= MANY_PRODUCTS:
            most, most_in_all = FEW_IN_STEP, FEW + hessian
    descent.numbers[ALL_PRODUCTS] = 0.0
    at_once = 1 + n * VISITED // (patterns.home.stored + n)
    while True:
        visits = int(min(at_once, 1 + n * (problem.max_passes - problem.passes)))
        why, visited = truncated_newton()(
            patterns.rows, patterns.labels, patterns.space.rho, price, descent, tol, most, most_in_all, visits
        )
        problem.passes += visited / n
        if why != PAUSED or problem.passes >= problem.max_passes:
            return bool(why == REACHED)
        _enter(problem, descent, price)  # for whoever watches
        if problem.interrupted():
            return False
