"""The maximum margin with a kernel as solvers see it: its bounds so far, and what is behind them.

    minimise  D(alpha) = alpha.Q.alpha/2 + sum alpha_k^2 diagonal_k/2 - sum alpha_k,   0 <= alpha <= cap

with Q_ij = l_i l_j (K(x_i, x_j) + rho^2); an unpenalized intercept leaves rho out and asks for sum alpha_k l_k = 0.
Squared slack
has diagonal = 1/(2 C c) and no cap, hinge loss no diagonal and cap = C c.
"""

import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.cancellation import Clock
from separatrix.passes.kernel_patterns import KernelPatterns
from separatrix.solvers.hinge_problem import middle_intercept
from separatrix.solvers.problem import SECONDS_BETWEEN_LOOKS, best_bias, best_multiple
from separatrix.space import Vector

TRIAL_ROWS = 16  # of the Gram matrix, from which the time of others is estimated
MOMENT = 0.2  # seconds that a certificate may take after the deadline


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
        watch: Callable[["KernelProblem"], bool] | None = None,
    ):
        self.patterns, self.C, self.tol, self.megabytes = patterns, C, tol, megabytes
        self.hard, self.watch = bool(np.isinf(C)), watch
        with np.errstate(over="ignore"):  # tiny weights are refused, but for the hinge loss, which has no diagonal
            self.diagonal = np.zeros(patterns.n) if self.hard else 1.0 / (2.0 * C * weight)
        self.cap = np.full(patterns.n, np.inf)
        self.weight, self.clock, self.stopped = weight, Clock(), False
        self.looked = time.perf_counter()
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
        self.stopped = self.stopped or self._expired()
        return self.stopped or self.gap <= self.tol

    def _expired(self) -> bool:
        """Whether no more time is left than a certificate takes, but for half of all."""
        if self.clock.end == np.inf:
            return False
        _, most = self._costs
        return self.clock.left <= min(self._seconds_to_measure(), most) or self.clock.expired

    @cached_property
    def _costs(self) -> tuple[float, float]:
        """Seconds that a row of the Gram matrix takes, and half of those that are left for everything."""
        start, left, rows = time.perf_counter(), self.clock.left, min(TRIAL_ROWS, self.patterns.n)
        self.patterns.gram(np.arange(rows))
        return (time.perf_counter() - start) / rows, left / 2.0

    def _seconds_to_measure(self) -> float:
        """For the products of the support with all rows: of the best vector, and of the best multipliers."""
        return self._costs[0] * (np.count_nonzero(self.a) + np.count_nonzero(self.alpha))

    def can_be_measured(self) -> bool:
        """Whether a certificate of the vector takes no longer than the time that is left, or a moment."""
        return self.lower > -np.inf and self._seconds_to_measure() <= max(self.clock.left, MOMENT)

    def interrupted(self) -> bool:
        """Check between two bounds: the time at once, callbacks and other threads a few times a second."""
        now = time.perf_counter()
        if now - self.looked >= SECONDS_BETWEEN_LOOKS:
            self.looked = now
            self.done()
        self.stopped = self.stopped or self._expired()
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
        if self.hard and square == 0:
            return
        b = self.bias(f) if p.space.free else 0.0
        m, a, s = f + p.labels * b, np.append(alpha * p.labels, b), 0.0
        if self.hard:
            lower, s = float(m.min()) / np.sqrt(square), 1.0
        else:
            if square > 0:
                s, value = best_multiple(np.sqrt(square), m, self.C, self.weight, p.margin_error(a))
            if s == 0.0:
                b = self.bias(np.zeros(p.n)) if p.space.free else 0.0
                a, s = np.append(np.zeros(p.n), b), 1.0
                value = self.C * float(self.weight @ (1.0 - p.labels * b) ** 2)
            lower = (2.0 * value) ** -0.5 if 0 < value < np.inf else -np.inf
        if lower > self.lower:
            self.lower, self.a = lower, s * a

    def bias(self, f: Vector) -> float:
        """Of a hard margin the middle; of a soft one the minimiser of sum c_k max(0, 1 - f_k - l_k b)^2."""
        if self.hard:
            return middle_bias(f, self.patterns.labels)
        return best_bias(f, self.patterns.labels, self.weight)


class KernelHingeProblem(KernelProblem):
    """The same with hinge loss: `separatrix.solvers.hinge_problem` has the formulas."""

    def __init__(self, patterns: KernelPatterns, C: float, weight: Vector, **limits: Any):
        super().__init__(patterns, C, weight, **limits)
        self.diagonal, self.cap = np.zeros(patterns.n), patterns.caps

    def enter(self, alpha: Vector, f: Vector) -> None:
        p, square = self.patterns, max(float(alpha @ f), 0.0)
        bound = float(alpha.sum()) - 0.5 * square
        if bound > 0 and (2.0 * bound) ** -0.5 < self.upper:
            self.upper, self.alpha = (2.0 * bound) ** -0.5, alpha.copy()
        b = self.bias(f) if p.space.free else 0.0
        value = 0.5 * square + float(self.cap @ np.maximum(0.0, 1.0 - f - p.labels * b))
        if 0 < value < np.inf and (2.0 * value) ** -0.5 > self.lower:
            self.lower, self.a = (2.0 * value) ** -0.5, np.append(alpha * p.labels + 0.0, b)  # 0.0, not -0.0

    def bias(self, f: Vector) -> float:
        return middle_intercept(f, self.patterns.labels, self.cap)


def middle_bias(f: Vector, labels: Vector) -> float:
    """The bias with which both classes have the same smallest margin."""
    return float(f[labels < 0].min() - f[labels > 0].min()) / 2.0
