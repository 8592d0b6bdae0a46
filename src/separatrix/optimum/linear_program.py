"""Separation by linear programming (DHS 5.10), by HiGHS.

    minimax       minimise tau            subject to  a.y_k + tau >= b_k,    tau >= 0                    5.10.2
    perceptron    minimise sum c_k tau_k  subject to  a.y_k + tau_k >= b_k,  tau_k >= 0                  5.10.3

Both are 0 exactly where a hyperplane separates, and then every a with ``Y a >= b`` will do: of these the one with the
smallest sum |a_i| is taken, which depends neither on the order of rows nor on their weights. Otherwise the dual
variables lambda >= 0 have ``Y^t lambda = 0`` and ``lambda.b > 0``: the Gordan vector.
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
    """One binary problem, solved in one step. ``value``: the minimum; ``alpha``: the dual variables."""

    def __init__(self, patterns: Patterns, weight: Vector, b: Vector, criterion: str, max_time: float | None = None):
        self.patterns, self.weight, self.b, self.criterion, self.max_time = patterns, weight, b, criterion, max_time
        self.a, self.alpha = np.zeros(patterns.d + 1), np.zeros(patterns.n)
        self.epochs = self.updates = self.iterations = 0
        self.values: list[float] = []

    def step(self) -> str:
        """Solve; "max_time" if HiGHS was stopped, "failed" if its arithmetic broke down."""
        Y, n = self._matrix(), self.patterns.n
        width = Y.shape[1]
        if self.criterion == "minimax":
            slack, cost = sp.csc_matrix(np.ones((n, 1))), np.ones(1)
        else:
            slack, cost = sp.identity(n, format="csc"), self.weight / self.weight.max()
        found = self._solve(sp.hstack([Y, slack]), np.append(np.zeros(width), cost), free=width)
        if found.x is None:
            return ENDS.get(found.status, "failed")
        ended = self._take(found, found.x[:width])
        if found.fun <= NOTHING * self.b.max():
            # a = a+ - a- (eqs. 99-101), whose sum is to be as small as can be
            best = self._solve(sp.hstack([Y, -Y]), np.ones(2 * width), free=0)
            if best.x is not None:
                ended = self._take(best, best.x[:width] - best.x[width:])
        self.values.append(float(found.fun) * (1.0 if self.criterion == "minimax" else float(self.weight.max())))
        return ended

    def _take(self, found: Any, a: Vector) -> str:
        noise = norm(a) * self.patterns.radius <= NOISE * self.b.max()
        self.a[: len(a)] = 0.0 if noise else a
        self.alpha = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)
        self.iterations += int(found.nit)
        return ENDS.get(found.status, "failed")

    def _matrix(self) -> sp.csc_matrix:
        """Y, the patterns as rows, without the column of a bias that is not there."""
        patterns, everything = self.patterns, np.arange(self.patterns.n)
        if isinstance(patterns.rows, Dense):
            Y = patterns.dense_rows(everything)
            return sp.csc_matrix(Y if patterns.space.rho else Y[:, :-1])
        X = sp.diags(patterns.labels) @ patterns.sparse_rows(everything)
        return sp.hstack([X, patterns.space.rho * patterns.labels[:, None]], format="csc") if patterns.space.rho else X

    def _solve(self, A: Any, cost: Vector, free: int) -> Any:
        bounds = [(None, None)] * free + [(0.0, None)] * (A.shape[1] - free)
        options = {} if self.max_time is None else {"time_limit": float(self.max_time)}
        return linprog(cost, A_ub=-A.tocsc(), b_ub=-self.b, bounds=bounds, method="highs", options=options)

    def running_upper(self) -> float:
        return np.inf
