"""Plain slack with a free bias by pairs of multipliers, where the whole Gram matrix is at hand: the method of LIBSVM.

A pair is moved to its minimum, the first by its slope and the second by its gain (Fan, Chen & Lin 2005), until no two
slopes are further apart than asked for. Rows that are at a bound, and whose slopes say that they stay there, are left
out of a smaller matrix for a while (shrinking, Joachims 1999); before the end all take part again.
"""

import numpy as np
from numpy.typing import NDArray

from separatrix.loops.gram_descent import descend_pairs
from separatrix.optimum.kernel_problem import KernelHingeProblem
from separatrix.space import Vector

PIECE = 1000  # steps between two looks at which rows can be left out
WORTH = 0.8  # of the rows: if no more are left, a smaller matrix is worth its copy


def solve(problem: KernelHingeProblem, enough: float) -> None:
    """Until no two slopes are further apart than ``enough``; what was found is in the problem."""
    pairs = _Pairs(problem)
    everything = active = np.arange(problem.patterns.n)
    while not problem.interrupted():
        done = pairs.move(active, enough)
        if done and active is everything:
            break
        active = everything if done else active[pairs.open_among(active)]
    pairs.enter()


class _Pairs:
    """Signed multipliers beta = l alpha between their bounds, and the slopes v = l - K beta."""

    def __init__(self, problem: KernelHingeProblem):
        p, cap, self.problem = problem.patterns, problem.cap, problem
        self.K: NDArray[np.float64] = p.gram(np.arange(p.n))
        self.low, self.high = np.where(p.labels > 0, 0.0, -cap), np.where(p.labels > 0, cap, 0.0)
        self.beta, self.slope = np.zeros(p.n), p.labels.copy()

    def move(self, active: np.ndarray, enough: float) -> bool:
        """Pairs among some rows, until these are done (True), or until many of them can be left out."""
        whole = len(active) == len(self.beta)
        K, beta, slope, low, high = self.K, self.beta, self.slope, self.low, self.high
        if not whole:
            K, low, high = K[np.ix_(active, active)], low[active], high[active]
            beta, slope = beta[active], slope[active]
        run, diagonal, piece = descend_pairs(), np.zeros(len(active)), min(len(active), PIECE)
        while True:
            steps = int(run(K, diagonal, low, high, beta, slope, enough, piece))
            self.problem.steps += steps
            done = steps < piece
            if done or np.count_nonzero(_open(beta, slope, low, high)) <= WORTH * len(active):
                break
        if not whole:
            change = beta - self.beta[active]
            moved = np.flatnonzero(change)
            self.beta[active] = beta
            self.slope -= change[moved] @ self.K[active[moved]]
        return done

    def open_among(self, active: np.ndarray) -> np.ndarray:
        return _open(self.beta[active], self.slope[active], self.low[active], self.high[active])

    def enter(self) -> None:
        """The multipliers, their products with the Gram matrix, and the bias, as LIBSVM has it: the mean slope of the
        rows between their bounds, else the middle of what the others allow."""
        p = self.problem.patterns
        products = self.K @ self.beta
        slope = p.labels - products
        between = (self.beta > self.low) & (self.beta < self.high)
        if between.any():
            bias = float(slope[between].mean())
        else:
            grows, falls = self.beta < self.high, self.beta > self.low
            bias = float(slope[grows].max() + slope[falls].min()) / 2.0
        p.remember(self.beta, products)
        self.problem.enter(np.abs(self.beta), p.labels * products, bias)


def _open(beta: Vector, slope: Vector, low: Vector, high: Vector) -> np.ndarray:
    """Rows that may move: those between their bounds, and those at one whose slope reaches that of the other side."""
    grows, falls = beta < high, beta > low
    top, bottom = slope[grows].max(initial=-np.inf), slope[falls].min(initial=np.inf)
    return (grows & (slope >= bottom)) | (falls & (slope <= top))
