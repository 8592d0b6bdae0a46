"""hinge loss with an unpenalized intercept by pairs of multipliers: the method of LIBSVM.

A pair is moved to its minimum, the first by its slope and the second by its gain (Fan, Chen & Lin 2005), until no two
slopes are further apart than asked for. Rows of the Gram matrix are computed when they are asked for, together with
those that are likely to be next: many at once take less than half of the time that one by one does. Rows that are at a
bound, and whose slopes say that they stay there, are left out for a while (shrinking, Joachims 1999), and so are their
columns; before the end the slopes of all are computed again. Many rows start from the minimum over a quarter of them.
Then the equations of the rows between their bounds are solved once; where that leaves them there, the end is exact.
"""

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.passes.gram_rows import TOGETHER, GramRows
from separatrix.solvers.kernel_problem import KernelHingeProblem
from separatrix.solvers.loops.gram_descent import descend_pairs, likely_rows
from separatrix.space import Vector

STEPS_BETWEEN_LOOKS = 1000  # at which rows can be left out
MOST_STEPS, MOST_STEPS_OF_ROW = 10_000_000, 100  # steps in all, whatever the slopes are: LIBSVM's
PARTS_OF_ENOUGH = (1.0, 0.1, 0.01)  # parts of what is enough, while the gap is not,
PARTS_ROWS = 2500  # for up to so many rows
LARGEST_FACE = 300  # rows between their bounds whose equations are solved
LARGEST_WORTH = 1600  # the same where the gap is still not small enough: they take less time than more steps
ROUNDING = 1e-11  # how far slopes are apart by rounding errors, of the largest product
SMALL_CHANGE = 0.1  # of the multipliers: a change whose products are added to what is known
WORTH_COPYING = 0.8  # of the rows: if no more are left, a smaller matrix is worth its copy
ROWS_TOGETHER = 1500  # up to which all stay in it
ROWS_FOR_SAMPLE, SAMPLE_ONE_IN = 4000, 4  # rows from which a part of them is solved first, and one in how many


def solve(
    problem: KernelHingeProblem, enough: float, most: int | None = None, K: NDArray[np.float64] | None = None
) -> bool:
    """Until no two slopes are further apart than ``enough``, and of few rows closer where the gap is larger than that;
    or after ``most`` steps: False. What was found is in the problem. ``K``: the Gram matrix, if it is known."""
    pairs = Pairs(problem, most, K)
    rounds = PARTS_OF_ENOUGH if problem.patterns.n <= PARTS_ROWS else PARTS_OF_ENOUGH[:1]
    for part in rounds:
        done = pairs.settle(part * enough)
        pairs.finish(LARGEST_FACE)
        next_will_do = part == rounds[0] and len(rounds) > 1 and problem.gap * rounds[1] <= enough
        if problem.gap > enough and not next_will_do:
            pairs.finish(LARGEST_WORTH)
        if not done or problem.gap <= enough:
            return done
    return True


class Pairs:
    """Signed multipliers beta = l alpha between their bounds, and the slopes v = l - K beta, which are up to date for
    the rows that take part."""

    def __init__(self, problem: KernelHingeProblem, most: int | None, K: NDArray[np.float64] | None = None):
        p, cap, self.problem = problem.patterns, problem.cap, problem
        self.low, self.high = np.where(p.labels > 0, 0.0, -cap), np.where(p.labels > 0, cap, 0.0)
        self.beta, self.slope = np.zeros(p.n), p.labels.copy()
        self.most = max(MOST_STEPS, MOST_STEPS_OF_ROW * p.n) if most is None else most
        self.gram = GramRows(p, problem.megabytes, signed=False, K=K)
        if p.n >= ROWS_FOR_SAMPLE:
            self.gram.widen(_sample(p.labels))

    def settle(self, enough: float) -> bool:
        """Until no two slopes of all rows are further apart; False where that takes too many steps."""
        everyone = False  # do all rows that may move take part, with slopes that are up to date?
        while self.problem.steps < self.most and not self.problem.interrupted():
            before = self.problem.steps
            if not self.move(enough):
                kept, everyone = np.flatnonzero(self._open(self.gram.members)), False
                if len(kept):
                    self.gram.narrow(kept)
                continue
            rounding = ROUNDING * self.bring_up_to_date()
            stalled, moving = everyone and self.problem.steps == before, np.flatnonzero(self._open(slice(None)))
            if (
                self._apart() <= max(enough, rounding) or stalled or not len(moving)
            ):  # none, where slopes are no numbers
                return True
            self.take_part(moving)
            everyone = True
        self.bring_up_to_date()
        return False

    def take_part(self, rows: np.ndarray) -> None:
        members = self.gram.members
        known = np.isin(rows, members, assume_unique=True).all()
        self.gram.narrow(np.searchsorted(members, rows)) if known else self.gram.widen(rows)

    def move(self, enough: float) -> bool:
        """Pairs among the rows that take part, until these are done (True), or until many of them can be left out."""
        gram, run, members, problem = self.gram, descend_pairs(), self.gram.members, self.problem
        parts = [whole[members] for whole in (self.low, self.high, self.beta, self.slope)]
        square, none = self.problem.patterns.squares[members], np.zeros(len(members))
        piece = min(STEPS_BETWEEN_LOOKS, self.most)
        done = False
        while True:
            steps, lacking = run(gram.rows, gram.slot, gram.used, gram.clock, square, none, *parts, enough, piece)
            gram.clock += int(steps)
            problem.steps += int(steps)
            piece -= int(steps)
            if lacking >= 0:
                self.bring(int(lacking), parts)
            else:
                done = piece > 0
                self.beta[members], self.slope[members] = parts[2:]
                many = len(members) > ROWS_TOGETHER
                if done or (many and np.count_nonzero(self._open(members)) <= WORTH_COPYING * len(members)):
                    break
                piece = STEPS_BETWEEN_LOOKS
            if problem.steps >= self.most or problem.interrupted():
                break
        self.beta[members], self.slope[members] = parts[2:]
        return done

    def bring(self, lacking: int, parts: list[Vector]) -> None:
        """A row of the Gram matrix, and those that are likely to be asked for next."""
        gram = self.gram
        places, q = gram.rows.shape
        together = min(places // 2, TOGETHER // q)
        if places == q and q * q <= 2 * TOGETHER:
            gram.bring(np.arange(q))
        elif together < 3:
            gram.bring(np.array([lacking]))
        else:
            likely = likely_rows()(gram.slot, *parts, (together - 1) // 2)
            gram.bring(np.unique(np.append(likely[likely >= 0], lacking)))

    def bring_up_to_date(self) -> float:
        """All slopes, from products that are summed again; returns the largest of these."""
        products = self._products(self.beta)
        self.slope = self.problem.patterns.labels - products
        return max(float(np.abs(products).max()), 1.0)

    def _products(self, beta: Vector) -> Vector:
        products = self.gram.combination(beta)
        if products is None:
            return self.problem.patterns._products(beta)
        self.problem.patterns.remember(beta, products)
        return products

    def _open(self, rows: np.ndarray | slice) -> np.ndarray:
        """Rows that may move: between their bounds, and at one where the slope reaches that of the other side."""
        slope, grows, falls = self.slope[rows], (self.beta < self.high)[rows], (self.beta > self.low)[rows]
        top, bottom = slope[grows].max(initial=-np.inf), slope[falls].min(initial=np.inf)
        return (grows & (slope >= bottom)) | (falls & (slope <= top))

    def finish(self, largest_face: int) -> bool:
        """Enter the multipliers with their products with the Gram matrix. Is this the minimum, but for rounding
        errors?"""
        p = self.problem.patterns
        between = (self.beta > self.low) & (self.beta < self.high)
        exact = self._on_face(np.flatnonzero(between)) if np.count_nonzero(between) <= largest_face else None
        if exact is not None and not self._improve(exact):
            exact = None
        products = p._products(self.beta)
        self.problem.enter(np.abs(self.beta), p.labels * products)
        largest = max(float(np.abs(products).max()), 1.0)
        known = exact is not None or not between.any()
        return known and self._apart() <= ROUNDING * largest

    def _improve(self, exact: Vector) -> bool:
        """Take these multipliers where their slopes are no further apart than those of the present ones."""
        p, change, former, apart = self.problem.patterns, exact - self.beta, (self.beta, self.slope), self._apart()
        # Where the change is small, two sums err less than what a certificate allows for one: 2 eps for each term.
        if np.abs(change).sum() <= SMALL_CHANGE * np.abs(exact).sum():
            products = p._products(self.beta) + self._products(change)
            p.remember(exact, products)
        else:
            products = self._products(exact)
        self.beta, self.slope = exact, p.labels - products
        if self._apart() <= apart:
            return True
        self.beta, self.slope = former
        return False

    def _on_face(self, face: np.ndarray) -> Vector | None:
        """K beta + b = l on the rows between their bounds, with sum beta = 0; None where they do not stay there.

        A constant that is added to K changes nothing, since sum beta = 0, and makes K definite on d + 1 rows of R^d.
        """
        if not len(face):
            return None
        M = self.gram.among(face)
        shift = float(np.trace(M)) / len(face)
        others = float(self.beta.sum() - self.beta[face].sum())
        right = self.slope[face] + M @ self.beta[face] - shift * others
        _, solved, failed = la.lapack.dposv(M + shift, np.column_stack([right, np.ones(len(face))]), lower=True)
        if failed:
            return None
        x, unit = solved.T
        x -= (x.sum() + others) / unit.sum() * unit
        if not np.all((self.low[face] < x) & (x < self.high[face])):
            return None
        exact = self.beta.copy()
        exact[face] = x
        return exact

    def _apart(self) -> float:
        """How far the slopes are apart, over all pairs that could move."""
        return float(self.slope[self.beta < self.high].max() - self.slope[self.beta > self.low].min())


def _sample(labels: Vector) -> np.ndarray:
    """Rows of both classes, in ascending order."""
    shuffled = np.random.default_rng(0).permutation(len(labels))
    sides = [shuffled[labels[shuffled] > 0], shuffled[labels[shuffled] < 0]]
    return np.sort(np.concatenate([side[: max(1, len(side) // SAMPLE_ONE_IN)] for side in sides]))
