"""The maximum margin with a kernel: solver (4).

    minimise  D(alpha) = alpha.Q.alpha/2 + sum alpha_k^2/(4 C c_k) - sum alpha_k,   alpha >= 0

with Q_ij = l_i l_j (K(x_i, x_j) + rho^2); a free bias leaves rho out and asks for sum alpha_k l_k = 0. Small problems
are solved at once on the Gram matrix; large ones begin with greedy descent over cached Gram rows, and where few rows
support the vector they end on these rows in the same exact way.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.loops import gram_descent
from separatrix.patterns.gram_rows import GramRows
from separatrix.patterns.kernel_patterns import KernelPatterns, indefinite
from separatrix.space import Vector, best_gamma, objective

AT_ONCE = 1500  # rows up to which the whole Gram matrix is factored
LARGEST_FACE = 3000  # support up to which the end is exact
ROUGH = 0.02  # gap at which descent has found most of the support
ROUGH_HARD = 0.3  # the same of a hard margin, which has little support and is approached slowly
PIECE = 0.2  # seconds between two looks at the gap
ADD = 300  # rows that join in a round of the exact end
SMALL = 1e-11  # a gradient that counts as 0, where that of alpha = 0 is 1
WELL = 1e-6  # of the largest |y|^2: a diagonal from which the matrix is well conditioned
RIDGE = 1e-14  # of the largest |y|^2: keeps the factor of a singular Gram matrix in hand
REFINED_RIDGE = 1e-9  # up to which refinement takes the ridge back
LARGEST_RIDGE = 1e-3  # what the rounding errors of single precision may ask for


class KernelProblem:
    """One binary problem: its bounds so far, the vector (beta, b) and the multipliers behind them."""

    def __init__(
        self,
        patterns: KernelPatterns,
        C: float,
        weight: Vector,
        *,
        tol: float,
        megabytes: float,
        max_time: float = np.inf,
        watch: Callable[["KernelProblem"], bool] | None = None,
    ):
        self.patterns, self.C, self.tol, self.megabytes, self.max_time = patterns, C, tol, megabytes, max_time
        self.hard, self.watch = bool(np.isinf(C)), watch
        self.diagonal = np.zeros(patterns.n) if self.hard else 1.0 / (2.0 * C * weight)
        self.weight, self.clock, self.stopped = weight, time.perf_counter(), False
        self.looked = self.clock
        self.lower, self.upper, self.steps = -np.inf, np.inf, 0
        self.a: Vector = np.zeros(patterns.n + 1)
        self.alpha: Vector = np.zeros(patterns.n)

    @property
    def gap(self) -> float:
        if not (np.isfinite(self.upper) and self.lower > 0):
            return 1.0
        return max(0.0, 1.0 - (self.lower / self.upper) ** 2)

    def done(self) -> bool:
        if self.watch is not None and self.watch(self):
            self.stopped = True
        self.stopped = self.stopped or time.perf_counter() - self.clock >= self.max_time
        return self.stopped or self.gap <= self.tol

    def interrupted(self) -> bool:
        """To ask between two bounds: heeds the time at once, callbacks and other threads a few times a second."""
        now = time.perf_counter()
        if now - self.looked >= PIECE:
            self.looked = now
            self.done()
        self.stopped = self.stopped or now - self.clock >= self.max_time
        return self.stopped

    def enter(self, alpha: Vector, f: Vector) -> None:
        """Multipliers, and f = Q alpha: the bounds that they give."""
        p, total = self.patterns, float(alpha.sum())
        square = max(float(alpha @ f), 0.0)
        if not total > 0:
            return
        upper = float(np.sqrt(square + float(np.sum(self.diagonal * alpha * alpha)))) / total
        if upper < self.upper:
            self.upper, self.alpha = upper, alpha.copy()
        if square == 0:
            return
        b = self._bias(f) if p.space.free else 0.0
        m = (f + p.labels * b) / np.sqrt(square)
        lower = float(m.min())
        if not self.hard:
            delta = np.sqrt(self.diagonal)
            gamma = best_gamma(m, delta)
            if np.isfinite(gamma):
                lower = max(lower, objective(m, gamma, delta) ** -0.5)
        if lower > self.lower:
            self.lower, self.a = lower, np.append(alpha * p.labels, b)

    def _bias(self, f: Vector) -> float:
        """Of a hard margin the middle; of a soft one the minimiser of sum c_k max(0, 1 - f_k - l_k b)^2."""
        labels = self.patterns.labels
        if self.hard:
            return float(f[labels < 0].min() - f[labels > 0].min()) / 2.0
        b = 0.0
        for _ in range(100):
            slack = 1.0 - f - labels * b
            active = slack > 0
            if not active.any():
                break
            change = float((self.weight * labels)[active] @ slack[active]) / float(self.weight[active].sum())
            b += change
            if abs(change) <= 1e-15 * max(abs(b), 1e-300):
                break
        return b


def solve(problem: KernelProblem) -> None:
    """What was found is in the problem."""
    n = problem.patterns.n
    if n <= AT_ONCE:
        _exactly(problem, np.arange(n), np.zeros(n))
        return
    alpha = _descend(problem, max(ROUGH_HARD if problem.hard else ROUGH, problem.tol))
    support = np.flatnonzero(alpha)
    if not problem.done() and len(support) <= LARGEST_FACE:
        _exactly(problem, support, alpha)
    if not problem.done():
        _descend(problem, problem.tol, alpha)


def _descend(problem: KernelProblem, tol: float, alpha: Vector | None = None) -> Vector:
    p = problem.patterns
    gram = GramRows(p, problem.megabytes)
    alpha = np.zeros(p.n) if alpha is None else alpha.copy()
    f = np.zeros(p.n) if not alpha.any() else p.labels * p._products(alpha * p.labels)
    norm2 = p.squares + p._rho2
    run = gram_descent.descend_pairs() if p.space.free else gram_descent.descend()
    count, budget, clock = np.zeros(1, np.int64), 100, time.perf_counter()
    while True:
        asked = run(gram.rows, gram.slot, p.labels, problem.diagonal, norm2, alpha, f, budget, 1e-12, count)
        if asked >= 0:
            slope = f + problem.diagonal * alpha
            slope[alpha > 0] = -np.abs(slope[alpha > 0] - 1.0) + 1.0
            likely = np.argpartition(slope, min(gram.batch, p.n - 1))[: gram.batch]
            gram.fetch(np.concatenate([[asked], likely[likely != asked]]))
            if time.perf_counter() - clock < PIECE:
                continue
        elif time.perf_counter() - clock < PIECE / 2:
            budget *= 2
        clock = time.perf_counter()
        problem.enter(alpha, f)
        problem.steps += int(count[0])
        count[0] = 0
        if asked == gram_descent.DONE or problem.gap <= tol or problem.done():
            return alpha


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
        b = problem._bias(f) if p.space.free else 0.0
        slack = 1.0 - f - p.labels * b
        slack[working] = -np.inf
        worst = np.argpartition(-slack, min(ADD, p.n - 1))[:ADD]
        worst = worst[slack[worst] > 1e-12]
        kept = working[part > 0]
        if len(worst) == 0 or len(kept) + len(worst) > LARGEST_FACE + ADD:
            return
        working = np.union1d(kept, worst)


def nonnegative_minimum(
    Q: NDArray[np.float64],
    diagonal: Vector,
    labels: Vector | None,
    start: Vector,
    stop: Callable[[], bool] = lambda: False,
) -> NDArray[np.float64]:
    """argmin alpha.(Q + diagonal).alpha/2 - sum alpha over alpha >= 0, and sum alpha_k l_k = 0 if there are labels.

    When ``stop`` says so, what has been reached.
    """
    face = _Face(Q, diagonal, labels)
    well = diagonal.min(initial=np.inf) > WELL * face.size
    x = _by_blocks(face, start > 0, stop) if well or face.feasible(start > 0) else None
    x = _one_by_one(face, start, stop) if x is None else x
    return x if labels is None else _balanced(x, labels)


def _by_blocks(face: "_Face", positive: NDArray[np.bool_], stop: Callable[[], bool]) -> Vector | None:
    """Block principal pivoting (Judice & Pires 1994): solve on the positive variables, then exchange all that have the
    wrong sign. Quick where the matrix is well conditioned; None where the number of these does not fall."""
    positive = positive.copy()
    if not face.feasible(positive):
        positive[:] = True
    fewest, chances = face.n + 1, 10
    while chances > 0:
        x, gradient = face.solve(positive)
        wrong = np.where(positive, x < 0, gradient < -SMALL)
        number = int(np.count_nonzero(wrong))
        if number == 0:
            return x
        if stop():
            return np.maximum(x, 0.0)
        fewest, chances = (number, 10) if number < fewest else (fewest, chances - 1)
        positive ^= wrong
        if not face.feasible(positive):
            return None
    return None


def _one_by_one(face: "_Face", start: Vector, stop: Callable[[], bool]) -> Vector:
    """The active set method: the variable with the steepest descent joins, those that would turn negative leave."""
    x = start.copy()
    if not face.feasible(x > 0):
        x[:] = 0.0
    positive = x > 0
    gradient = face.solve(positive)[1] if positive.any() else np.full(face.n, -1.0)
    refused: NDArray[np.bool_] = np.zeros(face.n, dtype=bool)
    for _ in range(20 * face.n + 100):
        candidates = np.where(positive | refused, np.inf, gradient)
        joining = face.first() if not positive.any() else np.array([int(np.argmin(candidates))])
        if positive.any() and not candidates[joining[0]] < -SMALL:
            break
        positive[joining] = True
        for first in range(face.n + 1):
            z, gradient = face.solve(positive)
            leaving = positive & (z <= 0)
            if first == 0 and np.any(leaving[joining]):  # only rounding can do that
                positive[joining] = False
                refused[joining] = True
                break
            if not leaving.any():
                x = z
                refused[:] = False
                break
            t = float(np.min(x[leaving] / np.maximum(x[leaving] - z[leaving], 1e-300)))
            x = np.where(positive, x + t * (z - x), 0.0)
            positive &= ~(leaving & (x <= 1e-14 * x.max(initial=0.0)))
            x[~positive] = 0.0
            if not face.feasible(positive) or stop():
                return x
        if stop():
            break
    return x


class _Face:
    """The minimum over some variables, the others being 0: (Q + diagonal) x + mu l = 1, x.l = 0 where there are labels.

    A small ridge keeps the factor of a singular matrix in hand; refinement takes it back. One that has to be larger
    makes up for rounding errors of Q, and stays.
    """

    def __init__(self, Q: NDArray[np.float64], diagonal: Vector, labels: Vector | None):
        self.n, self.Q, self.diagonal, self.labels, self.ridge = len(Q), Q, diagonal, labels, RIDGE
        self.size = float(np.abs(np.diag(Q)).max(initial=0.0))

    def feasible(self, positive: NDArray[np.bool_]) -> bool:
        if self.labels is None:
            return bool(positive.any())
        return bool(np.any(positive & (self.labels > 0)) and np.any(positive & (self.labels < 0)))

    def first(self) -> np.ndarray:
        """Where to begin: the shortest pattern, or with labels the nearest rows of two classes."""
        square = np.diag(self.Q)
        if self.labels is None:
            return np.array([int(np.argmin(square))])
        plus, minus = np.flatnonzero(self.labels > 0), np.flatnonzero(self.labels < 0)
        distance = square[plus, None] + square[minus] + 2.0 * self.Q[np.ix_(plus, minus)]
        i, j = np.unravel_index(int(np.argmin(distance)), distance.shape)
        return np.array([plus[i], minus[j]])

    def solve(self, positive: NDArray[np.bool_]) -> tuple[Vector, Vector]:
        """The minimum, and the gradient there with the multiplier of the constraint in it."""
        rows = np.flatnonzero(positive)
        Q, diagonal = self.Q[np.ix_(rows, rows)], self.diagonal[rows]
        factor = self._factor(Q, diagonal)

        def inverse(right: Vector) -> Vector:
            x = la.cho_solve(factor, right, check_finite=False)
            for _ in range(3 if self.ridge < REFINED_RIDGE else 0):
                x += la.cho_solve(factor, right - Q @ x - diagonal * x, check_finite=False)
            return x

        part = inverse(np.ones(len(rows)))
        multiplier = 0.0
        if self.labels is not None:
            l = self.labels[rows]
            z = inverse(l)
            multiplier = float(l @ part) / float(l @ z)
            part = part - multiplier * z
        x = np.zeros(self.n)
        x[rows] = part
        gradient = self.Q[:, rows] @ part + self.diagonal * x - 1.0
        return x, gradient if self.labels is None else gradient + multiplier * self.labels

    def _factor(self, Q: NDArray[np.float64], diagonal: Vector) -> Any:
        while True:
            try:
                return la.cho_factor(Q + np.diag(diagonal + self.ridge * self.size), lower=True, check_finite=False)
            except la.LinAlgError:
                self.ridge *= 100.0
                if self.ridge > LARGEST_RIDGE:
                    raise indefinite("its matrix has a negative eigenvalue") from None


def _balanced(x: Vector, labels: Vector) -> Vector:
    """The two classes' sums made equal, which rounding and clipping leave nearly so."""
    plus, minus = float(x[labels > 0].sum()), float(x[labels < 0].sum())
    if plus > 0 and minus > 0:
        mean = (plus + minus) / 2.0
        return np.where(labels > 0, x * (mean / plus), x * (mean / minus))
    return x
