"""Separation by linear programming (DHS 5.10), by HiGHS.

    minimax       minimise tau            subject to  a.y_k + tau >= b_k,    tau >= 0                    5.10.2
    perceptron    minimise sum c_k tau_k  subject to  a.y_k + tau_k >= b_k,  tau_k >= 0                  5.10.3
    l1            minimise sum |a_i| + C sum c_k tau_k   subject to the same: the soft margin of the 1-norm

Solved are their duals, which have as many constraints as there are columns instead of rows, and so cost a fraction:

    maximise lambda.b  subject to  Y^t lambda = 0, lambda >= 0, and  sum lambda <= 1  or  lambda_k <= c_k
    maximise lambda.b  subject to  |Y^t lambda|_i <= 1 for all i,  0 <= lambda_k <= C c_k               (l1)

with a as the multipliers of the equations. Whatever lambda a solver gives, a multiple of it keeps the constraints of
the last one, and its lambda.b is a value below which no vector gets. The value of the others is 0 exactly where a
hyperplane separates; otherwise lambda is the Gordan vector. Every column of Y is measured in units of its largest
entry: HiGHS's tolerances are absolute, and would overlook a small one. Where a hyperplane separates, every a with ``Y a
>= b`` will do: of these the one with the smallest sum |a_i| in these units is taken (dual: ``|Y^t lambda| <= 1``),
which depends neither on the order of rows nor on their weights. Few rows decide that question, so it is asked on a
working set first; only a minimum above 0 may need a program over all rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from separatrix.cancellation import Clock, check_cancelled, run_in_thread
from separatrix.passes.patterns import EPS
from separatrix.passes.plain_patterns import Patterns
from separatrix.passes.summaries import k_smallest
from separatrix.space import Vector

CRITERIA = ("minimax", "perceptron", "l1")
NOISE = 1e-12  # margins below this, as a fraction of b, are rounding errors
HIGHS_ERROR = 1e-7  # what HiGHS leaves of constraints, as a fraction of the margins
ALL_AT_ONCE, ADD = 2000, 500  # rows that are taken all at once; rows that join a working set
ENDS = {0: "converged", 1: "max_time"}


class LinearProgram:
    """One binary problem, solved in one step. ``separates``: the exact judge of a vector. ``alpha``: the dual variables
    lambda. ``witness``: rows that combine to 0, so few that an exact proof is likely, and their multipliers; none where
    a vector separates, or where "l1" did not ask. ``bound``: of "l1", a value below which no vector gets."""

    def __init__(
        self,
        patterns: Patterns,
        weight: Vector,
        b: Vector,
        criterion: str,
        separates: Callable[[Vector], bool],
        C: float = 1.0,
    ):
        self.patterns, self.weight, self.b, self.criterion = patterns, weight, b, criterion
        self.C, self.bound = C, -np.inf
        self.separates = separates
        self.a, self.alpha = np.zeros(patterns.d + 1), np.zeros(patterns.n)
        self.epochs = self.updates = self.iterations = 0
        self.values: list[float] = []
        self.size = np.ones(0)  # of the columns
        self.witness = np.zeros(0, np.int64), np.zeros(0)
        self.clock = Clock()

    def step(self) -> str:
        """Solve; returns "converged" with a vector that separates, or "positive" where HiGHS finds that none does,
        about which it may be wrong; "max_time" if it was stopped, "failed" if arithmetic broke down."""
        Yt = self._transposed()
        if self.criterion == "l1":
            return self._least_sum(Yt)
        ended = self._separate(Yt)
        if ended is not None:
            return ended
        if self.criterion == "minimax":
            found = self._minimax(Yt, self.b)
            scale = self.b.max()
        else:
            n = self.patterns.n
            shares, scale = self.weight / self.weight.max(), self.b.max() * self.weight.max()
            found = self._solve(
                self.b, A_eq=Yt, b_eq=np.zeros(Yt.shape[0]), bounds=np.column_stack([np.zeros(n), shares])
            )
        if found.x is None or found.status == 1 or found.eqlin.marginals is None:
            return ENDS.get(found.status, "failed")
        self.values.append(float(max(-found.fun, 0.0) * scale))
        return self._positive(self._take(found, -found.eqlin.marginals, np.arange(self.patterns.n)))

    def _separate(self, Yt: sp.csc_matrix) -> str | None:
        """The vector with the smallest sum that separates; None if there is none, or nothing to be had so.

        Few rows are tight in it: a working set grows by those that its solution violates most.
        """
        patterns, n = self.patterns, self.patterns.n
        everything = np.arange(n)
        rows = everything
        if n > ALL_AT_ONCE:
            rows = patterns.extremes(patterns.sum().vector, ADD).numbers
        while True:
            part, b = Yt[:, rows], self.b[rows]
            test = self._minimax(part, b)
            if test.x is None:
                return "max_time" if test.status == 1 else None
            if -test.fun > HIGHS_ERROR:
                support = np.flatnonzero(test.x > 0)
                self.witness = rows[support], test.x[support]
                if self.criterion == "perceptron" or np.ptp(self.b) > 0:
                    return None
                self.values.append(float(self.b[0]))  # with equal b the minimum is b, and a = 0 reaches it
                return self._positive(self._take(test, np.zeros(Yt.shape[0]), rows))
            both = sp.vstack([part, -part], format="csc")
            best = self._solve(b, A_ub=both, b_ub=np.ones(2 * Yt.shape[0]), bounds=(0.0, None))
            if best.x is None or best.status == 1 or best.ineqlin.marginals is None:
                return ENDS.get(best.status, "failed") if best.status == 1 else None
            plus, minus = np.split(-best.ineqlin.marginals, 2)  # a = a+ - a- (eqs. 99-101)
            ended = self._take(best, plus - minus, rows)
            m = patterns.margins(self.a)
            size = len(rows)
            if np.any(m < self.b * (1.0 - 10.0 * HIGHS_ERROR)):
                rows = np.union1d(rows, k_smallest(m / self.b, ADD))
            if len(rows) == size:
                self.values.append(0.0)
                return "failed" if ended == "converged" and not self.separates(self.a) else ended

    def _least_sum(self, Yt: sp.csc_matrix) -> str:
        """The soft margin of the 1-norm, and its bound."""
        n = self.patterns.n
        both = sp.vstack([Yt, -Yt], format="csc")
        caps = np.column_stack([np.zeros(n), self.C * self.weight])
        found = self._solve(self.b, A_ub=both, b_ub=np.tile(1.0 / self.size, 2), bounds=caps)
        if found.x is None or found.status == 1 or found.ineqlin.marginals is None:
            return ENDS.get(found.status, "failed")
        plus, minus = np.split(-found.ineqlin.marginals, 2)
        ended = self._take(found, plus - minus, np.arange(n))
        self.alpha = np.minimum(self.alpha, caps[:, 1])
        self.values.append(self.least_sum(self.a))
        self.bound = self._bound_of(self.alpha)
        return ended

    def least_sum(self, a: Vector) -> float:
        """sum |a_i| + C sum c_k max(0, b_k - a.y_k), rounded up."""
        patterns = self.patterns
        short = np.maximum(self.b - patterns.margins(a) + patterns.margin_error(a), 0.0)
        value = float(np.abs(a).sum()) + self.C * float(self.weight @ short)
        return value * (1.0 + 2.0 * (patterns.n + len(a)) * EPS)

    def _bound_of(self, alpha: Vector) -> float:
        """lambda.b of the largest multiple, at most 1, that keeps |Y^t lambda|_i <= 1, rounded down."""
        patterns = self.patterns
        sides = np.abs(patterns.combine(np.arange(patterns.n), alpha)) + patterns.combination_error(alpha)
        return float(alpha @ self.b) / max(1.0, float(sides.max())) * (1.0 - 2.0 * (patterns.n + 8) * EPS)

    @staticmethod
    def _positive(ended: str) -> str:
        return "positive" if ended == "converged" else ended

    def _minimax(self, Yt: sp.csc_matrix, b: Vector) -> Any:
        one = np.ones((1, Yt.shape[1]))
        return self._solve(b, A_eq=Yt, b_eq=np.zeros(Yt.shape[0]), A_ub=one, b_ub=[1.0], bounds=(0.0, None))

    def _take(self, found: Any, a: Vector, rows: np.ndarray) -> str:
        noise = np.abs(a).sum() <= NOISE  # in these units no margin is larger
        self.a[: len(a)] = 0.0 if noise else a * self.b.max() / self.size
        self.alpha = np.zeros(self.patterns.n)
        self.alpha[rows] = np.maximum(found.x, 0.0)
        self.iterations += int(found.nit)
        return ENDS.get(found.status, "failed")

    def _transposed(self) -> sp.csc_matrix:
        """Y^t, every row in units of its largest entry, without that of a bias that is not there."""
        patterns, everything = self.patterns, np.arange(self.patterns.n)
        Y = patterns.sparse_patterns(everything)
        Yt = (Y if patterns.space.rho else Y[:, :-1]).T.tocsc()
        largest = abs(Yt).max(axis=1).toarray().ravel()
        self.size = np.where(largest > 0, largest, 1.0)
        Yt.data = Yt.data / self.size[Yt.indices]
        return Yt

    def _solve(self, b: Vector, **constraints: Any) -> Any:
        check_cancelled()
        options = {"time_limit": self.clock.left} if np.isfinite(self.clock.left) else {}
        return run_in_thread(lambda: linprog(-b / self.b.max(), method="highs-ds", options=options, **constraints))

    def running_upper(self) -> float:
        return np.inf
