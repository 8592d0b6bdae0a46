"""Dual coordinate descent, some sweeps at a time: a solver while C is moderate, and a good start for others."""

from typing import NamedTuple

import numpy as np

from separatrix.solvers.loops import dual_coordinate_loop as dual
from separatrix.solvers.problem import Problem
from separatrix.space import Vector

MOST_SWEEPS = 400
VALUES_BETWEEN_LOOKS = 1_000_000  # stored values between two looks at the limits: some milliseconds


class Patience(NamedTuple):
    """``first``: sweeps before the pace is judged, by the last ``recent`` ones. ``too_far``: sweeps to go at that pace,
    from which the next method is the faster one."""

    first: int
    recent: int
    too_far: float


ENDLESS = Patience(MOST_SWEEPS + 1, 1, np.inf)


class Sweeps:
    """The vector ``a = sum alpha_k y_k`` and its multipliers, improved by sweeps over the active rows."""

    def __init__(self, problem: Problem):
        patterns = problem.patterns
        self.problem, self.count = problem, 0
        self.diagonal, self.cap = problem.diagonal, problem.caps
        self.norm2 = patterns.squares + patterns.space.rho**2
        self.a, self.alpha = np.zeros(patterns.d + 1), np.zeros(patterns.n)
        self.seen = np.ones(MOST_SWEEPS)
        self.all_active()

    def all_active(self) -> None:
        """Forget what was shrunk away."""
        self.active, self.size, self.bound = np.arange(self.problem.patterns.n), self.problem.patterns.n, np.inf

    def bring_back(self, margins: Vector) -> None:
        """Rows that were shrunk away on the wrong side: without a multiplier but with slack, or the other way round."""
        kept, away = self.active[: self.size], self.active[self.size :]
        back = np.where(self.alpha[away] > 0, margins[away] > 1.0, margins[away] < 1.0)
        if back.any():
            self.active, self.bound = np.concatenate([kept, away[back], away[~back]]), np.inf
            self.size += int(np.count_nonzero(back))

    def sweep(self, most: int, tol: float = 0.0, patience: Patience = ENDLESS) -> bool:
        """Visit the active rows so many times, each in a fresh random order, or until the gap seems to be ``tol``; or
        until that is too far away, which is returned."""
        patterns = self.problem.patterns
        if self.count + most > len(self.seen):
            self.seen = np.append(self.seen, np.ones(most + MOST_SWEEPS))
        with np.errstate(over="ignore"):  # the mixing of order.py, where numba is switched off
            self.size, self.bound, self.count, visits, slow = dual.sweeps()(
                patterns.rows, patterns.labels, patterns.space.rho, self.diagonal, self.cap, self.norm2, self.active,
                self.size, self.count, self.bound, self.a, self.alpha, self.seen, tol, most, *patience,
            )  # fmt: skip
        self.problem.passes += visits / max(patterns.n, 1)
        return bool(slow)

    def repeat(self, count: int) -> None:
        """So many sweeps, whatever they see of the gap, or until a limit of the problem."""
        problem, values = self.problem, 1.0 + self.problem.patterns.entries_per_row
        while count > 0 and self.size and problem.passes < problem.max_passes and not problem.interrupted():
            together = int(
                min(count, 1 + VALUES_BETWEEN_LOOKS // (self.size * values), 1 + problem.max_passes - problem.passes)
            )
            self.sweep(together, -np.inf)
            count -= together

    @property
    def gap(self) -> float:
        """(P - D)/P, as the last sweeps saw it."""
        before = self.seen[self.count - 2] if self.count > 1 else 1.0
        return float(dual.at_the_end(self.seen[self.count - 1], before))
