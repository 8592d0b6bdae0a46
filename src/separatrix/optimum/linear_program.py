"""Separation by linear programming (DHS 5.10), by HiGHS.

    minimax       minimise tau            subject to  a.y_k + tau >= b_k,    tau >= 0                    5.10.2
    perceptron    minimise sum c_k tau_k  subject to  a.y_k + tau_k >= b_k,  tau_k >= 0                  5.10.3

Solved are their duals, which have as many constraints as there are columns instead of rows, and so cost a fraction:

    maximise lambda.b  subject to  Y^t lambda = 0, lambda >= 0, and  sum lambda <= 1  or  lambda_k <= c_k

with a as the multipliers of the equations. The value is 0 exactly where a hyperplane separates; otherwise lambda is the
Gordan vector. Where one separates, every a with ``Y a >= b`` will do: of these the one with the smallest sum |a_i| is
taken (dual: ``|Y^t lambda| <= 1``), which depends neither on the order of rows nor on their weights.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from separatrix.kernels.rows import Dense
from separatrix.patterns import Patterns
from separatrix.space import Vector, norm

CRITERIA = ("minimax", "perceptron")
NOISE = 1e-12  # margins below this, as a fraction of b, are rounding errors
NOTHING = 1e-7  # what HiGHS leaves of constraints, as a fraction of the margins
ENDS = {0: "converged", 1: "max_time"}


class LinearProgram:
    """One binary problem, solved in one step. ``alpha``: the dual variables lambda."""

    def __init__(self, patterns: Patterns, weight: Vector, b: Vector, criterion: str, max_time: float | None = None):
        self.patterns, self.weight, self.b, self.criterion, self.max_time = patterns, weight, b, criterion, max_time
        self.a, self.alpha = np.zeros(patterns.d + 1), np.zeros(patterns.n)
        self.epochs = self.updates = self.iterations = 0
        self.values: list[float] = []
        self.size = patterns.peak()

    def step(self) -> str:
        """Solve; "max_time" if HiGHS was stopped, "failed" if its arithmetic broke down."""
        Yt = self._transposed()
        width, n = Yt.shape
        equations = {"A_eq": Yt, "b_eq": np.zeros(width)}
        if self.criterion == "minimax":
            found = self._solve(**equations, A_ub=np.ones((1, n)), b_ub=[1.0], bounds=(0.0, None))
        else:
            shares = self.weight / self.weight.max()
            found = self._solve(**equations, bounds=np.column_stack([np.zeros(n), shares]))
        if found.x is None or found.eqlin.marginals is None:
            return ENDS.get(found.status, "failed")
        ended = self._take(found, -found.eqlin.marginals)
        value = -float(found.fun)
        if value <= NOTHING:
            both = sp.vstack([Yt, -Yt], format="csc")
            best = self._solve(A_ub=both, b_ub=np.ones(2 * width), bounds=(0.0, None))
            if best.x is not None and best.ineqlin.marginals is not None:
                plus, minus = np.split(-best.ineqlin.marginals, 2)  # a = a+ - a- (eqs. 99-101)
                ended = self._take(best, plus - minus)
        scale = self.b.max() * (1.0 if self.criterion == "minimax" else self.weight.max())
        self.values.append(float(max(value, 0.0) * scale))
        return ended

    def _take(self, found: Any, a: Vector) -> str:
        a = a * (self.b.max() / self.size)
        noise = norm(a) * self.patterns.radius <= NOISE * self.b.max()
        self.a[: len(a)] = 0.0 if noise else a
        self.alpha = np.maximum(found.x, 0.0)
        self.iterations += int(found.nit)
        return ENDS.get(found.status, "failed")

    def _transposed(self) -> sp.csc_matrix:
        """Y^t in units of its largest entry, without the row of a bias that is not there."""
        patterns, everything = self.patterns, np.arange(self.patterns.n)
        if isinstance(patterns.rows, Dense):
            Y = sp.csr_matrix(patterns.dense_rows(everything))
        else:
            signs = patterns.labels[:, None]
            Y = sp.hstack([patterns.sparse_rows(everything).multiply(signs), patterns.space.rho * signs], format="csr")
        return (Y if patterns.space.rho else Y[:, :-1]).T.tocsc() / self.size

    def _solve(self, **constraints: Any) -> Any:
        options = {} if self.max_time is None else {"time_limit": float(self.max_time)}
        return linprog(-self.b / self.b.max(), method="highs-ds", options=options, **constraints)

    def running_upper(self) -> float:
        return np.inf
