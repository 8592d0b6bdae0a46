"""Plain slack with a free bias by pairs of multipliers, where the whole Gram matrix is at hand: the method of LIBSVM.

A pair is moved to its minimum, the first by its slope and the second by its gain (Fan, Chen & Lin 2005), until no two
slopes are further apart than asked for. Rows that are at a bound, and whose slopes say that they stay there, are left
out of a smaller matrix for a while (shrinking, Joachims 1999); before the end all take part again. Then the equations
of the rows between their bounds are solved once; where that leaves them there, the end is exact.
"""

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.loops.gram_descent import descend_pairs
from separatrix.optimum.kernel_problem import KernelHingeProblem
from separatrix.space import Vector

PIECE = 1000  # steps between two looks at which rows can be left out
MOST, MOST_OF_ROW = 10_000_000, 100  # steps in all, whatever the slopes are: LIBSVM's
CLOSER = (1.0, 0.1, 0.01)  # parts of what is enough, while the gap is not
LARGEST_FACE = 300  # rows between their bounds whose equations are solved
ROUNDING = 1e-11  # how far slopes are apart by rounding errors, of the largest product
WORTH = 0.8  # of the rows: if no more are left, a smaller matrix is worth its copy


def solve(problem: KernelHingeProblem, enough: float, most: int | None = None) -> bool:
    """Until no two slopes are further apart than ``enough``, and closer where the gap is larger than that; or after
    ``most`` steps: False. What was found is in the problem."""
    pairs = Pairs(problem, most)
    for part in CLOSER:
        done = pairs.settle(part * enough)
        pairs.finish()
        if not done or problem.gap <= enough:
            return done
    return True


class Pairs:
    """Signed multipliers beta = l alpha between their bounds, and the slopes v = l - K beta."""

    def __init__(self, problem: KernelHingeProblem, most: int | None, largest_face: int = LARGEST_FACE):
        p, cap, self.problem, self.largest_face = problem.patterns, problem.cap, problem, largest_face
        self.K: NDArray[np.float64] = p.gram(np.arange(p.n))
        self.low, self.high = np.where(p.labels > 0, 0.0, -cap), np.where(p.labels > 0, cap, 0.0)
        self.beta, self.slope = np.zeros(p.n), p.labels.copy()
        self.most = max(MOST, MOST_OF_ROW * p.n) if most is None else most

    def settle(self, enough: float) -> bool:
        """Until no two slopes of all rows are further apart; False where that takes too many steps."""
        everything = active = np.arange(len(self.beta))
        while self.problem.steps < self.most and not self.problem.interrupted():
            done = self.move(active, enough)
            if done and active is everything:
                return True
            active = everything if done else active[self.open_among(active)]
        return False

    def move(self, active: np.ndarray, enough: float) -> bool:
        """Pairs among some rows, until these are done (True), or until many of them can be left out."""
        whole = len(active) == len(self.beta)
        K, beta, slope, low, high = self.K, self.beta, self.slope, self.low, self.high
        if not whole:
            K, low, high = K[np.ix_(active, active)], low[active], high[active]
            beta, slope = beta[active], slope[active]
        run, diagonal, piece = descend_pairs(), np.zeros(len(active)), min(PIECE, self.most)
        while True:
            steps = int(run(K, diagonal, low, high, beta, slope, enough, piece))
            self.problem.steps += steps
            done = steps < piece
            left = np.count_nonzero(_open(beta, slope, low, high))
            if done or left <= WORTH * len(active) or self.problem.steps >= self.most:
                break
        if not whole:
            change = beta - self.beta[active]
            moved = np.flatnonzero(change)
            self.beta[active] = beta
            self.slope -= change[moved] @ self.K[active[moved]]
        return done

    def open_among(self, active: np.ndarray) -> np.ndarray:
        return _open(self.beta[active], self.slope[active], self.low[active], self.high[active])

    def finish(self) -> bool:
        """The multipliers, their products with the Gram matrix, and the bias, as LIBSVM has it: the mean slope of the
        rows between their bounds, else the middle of what the others allow. Is this the minimum, but for rounding
        errors?"""
        p = self.problem.patterns
        products = self.K @ self.beta
        between = (self.beta > self.low) & (self.beta < self.high)
        exact = self._on_face(np.flatnonzero(between), products)
        if exact is not None and self._apart(exact) <= self._apart(self.beta, products):
            self.beta, products = exact, self.K @ exact
        self.slope = slope = p.labels - products
        if between.any():
            bias = float(slope[between].mean())
        else:
            grows, falls = self.beta < self.high, self.beta > self.low
            bias = float(slope[grows].max() + slope[falls].min()) / 2.0
        p.remember(self.beta, products)
        self.problem.enter(np.abs(self.beta), p.labels * products, bias)
        largest = max(float(np.abs(products).max()), 1.0)
        known = exact is not None or not between.any()
        return known and self._apart(self.beta, products) <= ROUNDING * largest

    def _on_face(self, face: np.ndarray, products: Vector) -> Vector | None:
        """K beta + b = l on the rows between their bounds, with sum beta = 0; None where they do not stay there.

        A constant that is added to K changes nothing, since sum beta = 0, and makes K definite on d + 1 rows of R^d.
        """
        if not 0 < len(face) <= self.largest_face:
            return None
        M = self.K[np.ix_(face, face)]
        shift = float(np.trace(M)) / len(face)
        others = float(self.beta.sum() - self.beta[face].sum())
        right = self.problem.patterns.labels[face] - products[face] + M @ self.beta[face] - shift * others
        try:
            factor = la.cho_factor(M + shift, lower=True, check_finite=False)
        except la.LinAlgError:
            return None
        x, unit = (la.cho_solve(factor, side, check_finite=False) for side in (right, np.ones(len(face))))
        x -= (x.sum() + others) / unit.sum() * unit
        if not np.all((self.low[face] < x) & (x < self.high[face])):
            return None
        exact = self.beta.copy()
        exact[face] = x
        return exact

    def _apart(self, beta: Vector, products: Vector | None = None) -> float:
        """How far the slopes are apart, over all pairs that could move."""
        slope = self.problem.patterns.labels - (self.K @ beta if products is None else products)
        return float(slope[beta < self.high].max() - slope[beta > self.low].min())


def _open(beta: Vector, slope: Vector, low: Vector, high: Vector) -> np.ndarray:
    """Rows that may move: those between their bounds, and those at one whose slope reaches that of the other side."""
    grows, falls = beta < high, beta > low
    top, bottom = slope[grows].max(initial=-np.inf), slope[falls].min(initial=np.inf)
    return (grows & (slope >= bottom)) | (falls & (slope <= top))
