"""Dual coordinate descent, sweep by sweep: a solver while C is moderate, and a good start for others."""

import numpy as np

from separatrix.loops import dual_coordinate_loop as dual
from separatrix.optimum.problem import Problem


class Sweeps:
    """The vector ``a = sum alpha_k y_k`` and its multipliers, improved by one sweep over the active rows at a time."""

    def __init__(self, problem: Problem):
        patterns = problem.patterns
        self.problem, self.count = problem, 0
        self.diagonal, self.cap = problem.diagonal, problem.caps
        self.norm2 = patterns.squares + patterns.space.rho**2
        self.a, self.alpha = np.zeros(patterns.d + 1), np.zeros(patterns.n)
        self.price = 0.0
        self.all_active()

    def all_active(self) -> None:
        """Forget what was shrunk away."""
        self.active, self.size, self.bound = np.arange(self.problem.patterns.n), self.problem.patterns.n, np.inf

    def sweep(self) -> None:
        """Visit the active rows once, in a fresh random order."""
        patterns = self.problem.patterns
        with np.errstate(over="ignore"):  # the mixing of order.py, where numba is switched off
            self.size, largest, self.price = dual.sweep()(
                patterns.rows, patterns.labels, patterns.space.rho, self.diagonal, self.cap, self.norm2, self.active,
                self.size, self.count, self.bound, self.a, self.alpha,
            )  # fmt: skip
        self.count += 1
        self.problem.passes += self.size / max(patterns.n, 1)
        self.bound = largest if largest > 0 else np.inf

    def guess(self) -> float:
        """(P - D)/P from what the last sweep saw on its way: free, and good enough to know when to look."""
        square = float(np.sum(self.a * self.a))
        primal = square / 2.0 + self.price
        gain = float(np.sum(self.alpha)) - square / 2.0 - float(np.sum(self.alpha * self.alpha * self.diagonal)) / 2.0
        return (primal - gain) / primal if primal > 0 else 1.0
