"""The maximum margin with a kernel: solver (4).

hinge loss with an unpenalized intercept goes by pairs of multipliers. Other small problems are solved at once: squared
hinge loss on the
Gram matrix, hinge loss, where pairs are slow too, on the rows of the matrix's factor K = L L^t, which are features.
Large ones go by working sets of rows (decomposition, after Joachims 1999): the rows that violate their conditions most,
and those that were moved last, are solved for among themselves; then their Gram rows, which a cache keeps, bring all
gradients up to date. Where few rows support a vector with squared hinge loss, the end is exact.
"""

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.passes.gram_rows import GramRows
from separatrix.passes.kernel_patterns import indefinite
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import engine
from separatrix.solvers.face_minimum import nonnegative_minimum
from separatrix.solvers.gram_pairs import Pairs
from separatrix.solvers.hinge_problem import HingeProblem
from separatrix.solvers.kernel_problem import KernelHingeProblem, KernelProblem
from separatrix.solvers.loops import gram_descent
from separatrix.solvers.problem import PRECISE_GAP
from separatrix.space import Vector

ROWS_FACTORED = 1500  # rows up to which the whole Gram matrix is factored, and the end is exact
LARGEST_FACE = 3000  # support up to which the end is exact
SUPPORT_GAP = 0.02  # gap at which descent has found most of the support
SUPPORT_GAP_HARD = 0.3  # the same of a hard margin, which has little support and is approached slowly
ADD = 300  # rows that join in a round of the exact end
WORKING = 512  # rows of a working set
VIOLATION_LEFT = 0.1  # part of the largest violation that is left in it
MOST_STEPS = 20_000  # in a working set, at most
ZERO_GRADIENT = 1e-12  # a gradient that counts as 0, where that of alpha = 0 is 1
DEPENDENT = 1e-14  # of the largest |y|^2: what is left of a row that others combine to
STEPS_OF_ROW, SLOPES_APART = 20, (1e-3, 1e-4, 1e-5)  # of pairs of multipliers, and how close their slopes come


def solve(problem: KernelProblem) -> None:
    """What was found is in the problem."""
    n = problem.patterns.n
    if isinstance(problem, KernelHingeProblem):
        if not _by_pairs(problem) and n <= ROWS_FACTORED:
            _by_features(problem)
        if not problem.done():
            descend(problem, problem.tol, problem.alpha)
        return
    if n <= ROWS_FACTORED:
        _exactly(problem, np.arange(n), np.zeros(n))
        return
    alpha = descend(problem, max(SUPPORT_GAP_HARD if problem.hard else SUPPORT_GAP, problem.tol), np.zeros(n))
    support = np.flatnonzero(alpha)
    if not problem.done() and len(support) <= LARGEST_FACE:
        _exactly(problem, support, alpha)
    if not problem.done():
        descend(problem, problem.tol, alpha)


def _by_pairs(problem: KernelHingeProblem) -> bool:
    """hinge loss with an unpenalized intercept by pairs of multipliers, until the rows between their bounds are those
    of the
    solution: then their equations end it. False where they do not get there soon."""
    p = problem.patterns
    if not (p.space.free and p.definite):
        return False
    pairs = Pairs(problem, MOST_STEPS + STEPS_OF_ROW * p.n)
    for enough in SLOPES_APART:
        if not pairs.settle(enough):
            break
        if pairs.finish(ROWS_FACTORED) or (p.n > ROWS_FACTORED and problem.gap <= problem.tol):
            return True
    return problem.stopped


def _by_features(problem: KernelHingeProblem) -> None:
    """hinge loss by the linear solver on the rows of a factor of the Gram matrix."""
    p = problem.patterns
    K = p._gram_among(np.arange(p.n))
    explicit = Patterns(_factor(K), p.labels, p.space, p.weight)
    small = HingeProblem(explicit, problem.C, tol=min(problem.tol, PRECISE_GAP))

    def watch(small: object) -> bool:
        enter()
        return problem.watch is not None and problem.watch(problem)

    def enter() -> None:
        alpha = np.zeros(p.n)
        alpha[small.alpha_index] = small.alpha
        problem.enter(alpha, p.labels * (K @ (alpha * p.labels) + p._rho2 * float(alpha @ p.labels)))

    small.watch = None if problem.watch is None else watch
    try:
        engine.solve(small)
    finally:
        small.watch = None  # a circle, which would keep rows and matrix in memory after the fit
    problem.steps += int(small.passes)
    problem.stopped = problem.stopped or small.limited
    enter()


def _factor(K: NDArray[np.float64]) -> NDArray[np.float64]:
    """L with K = L L^t, and as many columns as the rank: Cholesky's method with the largest pivot first."""
    peak = float(np.diag(K).max(initial=0.0))
    packed, order, rank, _ = la.lapack.dpstrf(K, tol=DEPENDENT * peak, lower=1)
    L = np.tril(packed)[:, : max(rank, 1)]
    out = np.empty_like(L)
    out[order - 1] = L
    if float(np.abs(np.einsum("ij,ij->i", out, out) - np.diag(K)).max(initial=0.0)) > 1e-6 * peak:
        raise indefinite("its matrix has a negative eigenvalue")
    return out


def descend(problem: KernelProblem, tol: float, alpha: Vector) -> Vector:
    """Decomposition until the gap is at most ``tol``, or there is no reason to move a multiplier."""
    p, gram = problem.patterns, GramRows(problem.patterns, problem.megabytes)
    alpha = alpha.copy()
    f = np.zeros(p.n) if not alpha.any() else p.labels * p._products(alpha * p.labels)
    add = gram_descent.add_rows()
    size = max(2, min(WORKING, p.n, len(gram.owner) // 2))
    working, chosen = np.zeros(0, np.int64), np.zeros(p.n, dtype=bool)
    while True:
        violators, violation = _violators(problem, alpha, f + problem.diagonal * alpha - 1.0, size)
        problem.enter(alpha, f)
        if problem.done() or problem.gap <= tol or violation <= ZERO_GRADIENT:
            return alpha
        chosen[violators] = True
        working = np.concatenate([violators, working[~chosen[working]]])[:size]
        chosen[violators] = False
        gram.bring(working)
        slots = gram.slot[working]
        Q = np.array([gram.rows[slot].take(working) for slot in slots.tolist()])
        part = alpha[working]
        gradient = f[working] + problem.diagonal[working] * part - 1.0
        problem.steps += _within(problem, working, Q, part, gradient, VIOLATION_LEFT * violation)
        change = part - alpha[working]
        moved = np.flatnonzero(change)
        add(gram.rows, slots[moved], change[moved], f)
        alpha[working] = part
        working = working[np.argsort(change == 0, kind="stable")]


def _within(
    problem: KernelProblem, working: np.ndarray, Q: NDArray[np.float64], alpha: Vector, gradient: Vector, enough: float
) -> int:
    """Steps among the rows of a working set; they change ``alpha``."""
    labels, diagonal, cap = problem.patterns.labels[working], problem.diagonal[working], problem.cap[working]
    if not problem.patterns.space.free:
        return int(gram_descent.descend()(Q, diagonal, cap, alpha, gradient, enough, MOST_STEPS))
    Q *= labels[:, None]
    Q *= labels
    beta = alpha * labels
    low, high = np.where(labels > 0, 0.0, -cap), np.where(labels > 0, cap, 0.0)
    slot, used = np.arange(len(working)), np.zeros(len(working), dtype=np.int64)
    run, square = gram_descent.descend_pairs(), np.diag(Q) + diagonal
    steps, _ = run(Q, slot, used, 0, square, diagonal, low, high, beta, -labels * gradient, enough, MOST_STEPS)
    np.abs(beta, out=alpha)
    return int(steps)


def _violators(problem: KernelProblem, alpha: Vector, gradient: Vector, size: int) -> tuple[np.ndarray, float]:
    """Half a working set of rows whose multipliers have most reason to move; how much they have."""
    half, labels = max(size // 2, 2), problem.patterns.labels
    grows, falls = alpha < problem.cap, alpha > 0
    if not problem.patterns.space.free:
        reason = np.maximum(np.where(grows, -gradient, 0.0), np.where(falls, gradient, 0.0))
        return _largest(reason, half), float(reason.max())
    slope = -labels * gradient
    up = np.where(np.where(labels > 0, grows, falls), slope, -np.inf)
    down = np.where(np.where(labels > 0, falls, grows), -slope, -np.inf)
    first, second = _largest(up, half // 2), _largest(down, half // 2)
    return np.unique(np.concatenate([first, second])), float(up.max()) + float(down.max())


def _largest(values: Vector, count: int) -> np.ndarray:
    worst = np.argpartition(-values, min(count, len(values) - 1))[:count]
    return worst[values[worst] > -np.inf]


def _exactly(problem: KernelProblem, working: np.ndarray, alpha: Vector) -> None:
    """The minimum over a working set, joined by the worst of the other rows until there are none."""
    p = problem.patterns
    while True:
        Q = p.labels[working, None] * (p._gram_among(working) + p._rho2) * p.labels[working]
        labels = p.labels[working] if p.space.free else None
        part = nonnegative_minimum(Q, problem.diagonal[working], labels, alpha[working], problem.interrupted)
        alpha = np.zeros(p.n)
        alpha[working] = part
        f = Q @ part if len(working) == p.n else p.labels * p._products(alpha * p.labels)
        problem.enter(alpha, f)
        problem.steps += 1
        if problem.done() or len(working) == p.n:
            return
        b = problem.bias(f) if p.space.free else 0.0
        slack = 1.0 - f - p.labels * b
        slack[working] = -np.inf
        worst = np.argpartition(-slack, min(ADD, p.n - 1))[:ADD]
        worst = worst[slack[worst] > 1e-12]
        kept = working[part > 0]
        if len(worst) == 0 or len(kept) + len(worst) > LARGEST_FACE + ADD:
            return
        working = np.union1d(kept, worst)
