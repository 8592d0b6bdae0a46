"""Soft margins of few rows or few columns, by one compiled loop (`separatrix.solvers.loops.small_newton`): what suits
it, and how its solution is carried back."""

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.data.access import Storage
from separatrix.data.memory import as_rows, frozen
from separatrix.solvers.loops.small_newton import small_newton
from separatrix.solvers.problem import Problem
from separatrix.space import Vector, is_finite

PATH_FROM_C = 100.0  # C |y|^2 above which a path of smaller C leads there
MOST_MULTIPLICATIONS = 1e7  # of a Hessian and its factor, up to which a loop without Python is the quickest
MOST_VALUES = 200_000  # up to which the loop need not check limits: it takes milliseconds
MOST_SPARSE_VALUES = 20_000  # the same of sparse rows: beyond, conjugate gradients are as quick or quicker
STAGES = 30  # of hinge loss, at most
LONG_STRIDE = 100.0  # factor between the C of such a path
LITTLE_SLACK = 4.0  # rows per column up to which a large C leaves little slack, and Newton's method needs a path


def is_small(problem: Problem) -> bool:
    """Is one compiled loop the quickest?"""
    patterns, width = problem.patterns, problem.patterns.d + 1
    if not patterns.here or patterns.n_classes > 2:
        return False
    stored = patterns.entries_per_row
    values = patterns.n * stored
    # Empty rows are visited too.
    if values + patterns.n > MOST_SPARSE_VALUES if patterns.sparse else values > MOST_VALUES:
        return False
    if _few(problem):  # dense rows meet each other in BLAS
        return patterns.n**3 + (values**2 / width if patterns.sparse else 0.0) <= MOST_MULTIPLICATIONS
    return width**3 / 3 + values * min(stored, width) <= MOST_MULTIPLICATIONS


def _few(problem: Problem) -> bool:
    """Are there fewer rows than columns, so that a matrix of rows by rows is the smaller one?"""
    return problem.patterns.n < problem.patterns.d


def small_minimum(problem: Problem, X: Storage, alpha: Vector, sigma: Vector, a: Vector, stages: int = 1) -> bool:
    """`small_newton` from a vector of these rows, which are those of the problem or their coordinates."""
    patterns, penalty = problem.patterns, np.ones(len(a))  # of which there may be fewer than the problem has
    if problem.free:
        penalty[-1] = 0.0
    found = small_newton()(
        X, patterns.labels, patterns.space.rho, alpha, sigma, frozen(problem.caps), penalty, a, stages
    )
    return bool(found) and is_finite(a)


def _along_a_path(problem: Problem, X: Storage, d: int) -> Vector | None:
    """The minimiser, at once or by smaller C first: first what is the quicker way, then the other."""
    patterns, path = problem.patterns, [problem.C]
    while path[-1] * size(problem) > PATH_FROM_C:
        path.append(path[-1] / LONG_STRIDE)
    ways = [[problem.C], path[::-1]]
    for way in reversed(ways) if d <= patterns.n <= LITTLE_SLACK * d else ways:
        a = np.zeros(d + 1)
        if all(small_minimum(problem, X, np.zeros(patterns.n), 2.0 * C * problem.weight, a) for C in way):
            return a
    return None


def minimiser(problem: Problem, start: Vector | None = None) -> Vector | None:
    """The minimiser of a small problem; of fewer rows than columns in coordinates of their span, where
    a = sum alpha_k y_k leads back."""
    patterns = problem.patterns
    if start is not None:
        near, sigma = start.copy(), 2.0 * problem.C * problem.weight
        return near if small_minimum(problem, patterns.in_float64(), np.zeros(patterns.n), sigma, near) else None
    if not _few(problem):
        return _along_a_path(problem, patterns.in_float64(), patterns.d)
    everything, labels, rho = np.arange(patterns.n), patterns.labels, patterns.space.rho
    G = patterns.inner_products(everything, bias=False)
    L = span_coordinates(G)
    a = _along_a_path(problem, as_rows(labels[:, None] * L), L.shape[1])
    if a is None:
        return None
    index, alpha = problem.slack_multipliers(L @ a[:-1] + rho * a[-1] * labels)
    if problem.free:
        combination = patterns.combine(index, alpha)
        combination[-1] = a[-1]
        return combination
    exact = None
    if problem.C * size(problem) > PATH_FROM_C:  # slacks are differences from 1, which lose digits where C is large
        bias = rho * labels[index]
        G = G[np.ix_(index, index)] + np.outer(bias, bias)
        exact = on_face(G, problem.diagonal[index], np.ones(len(index)))
    if exact is None or not np.all(exact > 0):
        return patterns.combine(index, alpha)
    combination = patterns.combine(index, exact)
    problem.dual(index, exact, combination)
    return combination


def small_solution(problem: Problem, start: Vector | None = None) -> tuple[Vector, Vector | None] | None:
    """The vector of a small problem, of hinge loss with its multipliers, by one compiled loop; None where it does not
    get there. ``start``: a vector near the solution, which serves squared hinge loss of more rows than columns."""
    if problem.hard or not is_small(problem):
        return None
    patterns, caps = problem.patterns, problem.caps
    hinge = bool(np.any(np.isfinite(caps)))
    if start is not None and (hinge or _few(problem)):
        return None
    if not hinge:
        a = minimiser(problem, start)
        return None if a is None else (a, None)
    if patterns.n < patterns.d:
        return None
    a, alpha = np.zeros(patterns.d + 1), np.zeros(patterns.n)
    scale = patterns.mean_square + (0.0 if problem.free else patterns.space.rho**2)
    sigmas = np.full(patterns.n, max(1.0 / scale if scale > 0 else 1.0, float(caps.mean())))
    return (a, alpha) if small_minimum(problem, patterns.in_float64(), alpha, sigmas, a, STAGES) else None


def span_coordinates(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates of rows in an orthonormal basis of their span, (n, rank), from their inner products: a Cholesky
    factor, with pivots because the rank may be smaller than n."""
    factor, pivots, rank, _ = la.lapack.dpstrf(gram, lower=1, tol=-1.0)
    L = np.empty((len(gram), max(rank, 1)))
    L[pivots - 1] = np.tril(factor)[:, : max(rank, 1)]
    return L


def size(problem: Problem) -> float:
    """The mean |y|^2."""
    return problem.patterns.mean_square + problem.patterns.space.rho**2


def on_face(G: NDArray[np.float64], diagonal: Vector, right: Vector) -> Vector | None:
    """(G + diagonal) x = right, the equations of multipliers; None where they say nothing. G is overwritten."""
    G[np.diag_indices_from(G)] += diagonal
    try:
        alpha = la.cho_solve(la.cho_factor(G, lower=True, check_finite=False), right, check_finite=False)
    except la.LinAlgError:
        return None
    return alpha if np.all(np.isfinite(alpha)) else None
