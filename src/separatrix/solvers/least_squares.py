"""The shortest a that minimises sum c_k (a.y_k - b_k)^2 (DHS eqs. 43-48).

Many rows of few columns go through the normal equations, where their condition allows (`normal_equations`); other tall
data through a triangle of their QR factorisation, wide dense data through LAPACK's singular values, and large sparse
data through LSMR, which only needs products.
"""

import numpy as np
import scipy.linalg as la
from scipy.sparse.linalg import LinearOperator, lsmr

from separatrix.passes.patterns import EPS
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.factor import factorable, triangle, width_of, worth_a_triangle
from separatrix.solvers.normal_equations import NormalEquations
from separatrix.space import Vector

LSMR_TOL = 1e-10  # relative residuals at which LSMR stops
MOST_STEPS = 10  # times the shorter side: after so many it gives up


class LeastSquares:
    """One binary problem, solved in one step."""

    alpha: Vector | None = None

    def __init__(self, patterns: Patterns, weight: Vector, target: Vector, equations: NormalEquations | None = None):
        self.patterns, self.weight, self.target = patterns, weight, target
        self.equations = NormalEquations(patterns, weight) if equations is None else equations
        self.a = np.zeros(patterns.d + 1)
        self.epochs = self.updates = 0
        self.values: list[float] = []

    def step(self) -> str:
        """Solve; "max_iter" if LSMR gave up."""
        self.updates = 1
        a = self.equations.solve(self.patterns, self.target)
        if a is not None:
            self.a, self.epochs, ended = a, 1, "converged"
        elif factorable(self.patterns) and worth_a_triangle(self.patterns):
            ended = self._directly()
        else:
            ended = self._by_products()
        error = self.patterns.margins(self.a) - self.target
        self.values.append(float(np.sum(self.weight * error * error)))
        return ended

    def _directly(self) -> str:
        patterns, width = self.patterns, width_of(self.patterns)
        self.epochs = 1
        if patterns.n >= width:
            R = triangle(patterns, self.weight, self.target)
            Z, right = R[:, :width], R[:, width]
        else:
            root = np.sqrt(self.weight)
            Z = root[:, None] * patterns.dense_rows(np.arange(patterns.n))[:, :width]
            right = root * self.target
        a = la.lstsq(Z, right, cond=EPS * max(patterns.n, width))[0]
        a[~np.any(Z, axis=0)] = 0.0  # a column of zeros gets a coefficient of exactly 0
        self.a[:width] = a
        return "converged"

    def _by_products(self) -> str:
        patterns, n, width = self.patterns, self.patterns.n, width_of(self.patterns)
        root, everything = np.sqrt(self.weight), np.arange(self.patterns.n)

        def product(a: Vector) -> Vector:
            return root * patterns.margins(np.append(a, np.zeros(patterns.d + 1 - width)))

        def transposed(e: Vector) -> Vector:
            return patterns.combine(everything, root * e)[:width]

        operator = LinearOperator((n, width), matvec=product, rmatvec=transposed, dtype=np.float64)
        most = MOST_STEPS * min(n, width)
        found = lsmr(operator, root * self.target, atol=LSMR_TOL, btol=LSMR_TOL, conlim=0.0, maxiter=most)
        self.a[:width] = found[0]
        self.epochs = int(found[2])
        return "max_iter" if found[1] == 7 else "converged"

    def running_upper(self) -> float:
        return np.inf
