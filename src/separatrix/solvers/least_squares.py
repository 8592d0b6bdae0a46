"""The shortest a that minimises sum c_k (a.y_k - b_k)^2 (DHS eqs. 43-48), for the targets of all classes at once.

The labels of a problem only change signs of rows, so the problems of several classes share one factorisation: many rows
of few columns go through the normal equations, where their condition allows (`normal_equations`); other tall data
through a triangle of their QR factorisation, wide dense data through LAPACK's singular values, and large sparse data
through LSMR, which only needs products.
"""

from functools import partial
from threading import Lock
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, lsmr

from separatrix.cancellation import run_in_thread
from separatrix.passes.patterns import EPS
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.factor import factorable, triangle, width_of, worth_a_triangle
from separatrix.solvers.normal_equations import solve_normal_equations
from separatrix.space import Vector

LSMR_TOL = 1e-10  # relative residuals at which LSMR stops
MOST_STEPS = 10  # times the shorter side: after so many it gives up


class Minimizer(NamedTuple):
    """The solution of one problem, the squared error that it leaves, and what it took."""

    a: Vector
    value: float
    epochs: int = 1
    ended: str = "converged"


class SharedLeastSquares:
    """Problems of the same rows. ``patterns``: with the labels of any of them. ``targets``: (n, problems), for these
    labels."""

    def __init__(self, patterns: Patterns, weight: Vector, targets: NDArray[np.float64]):
        self.patterns, self.weight, self.targets = patterns, weight, targets
        self._lock, self._found = Lock(), dict[int, Minimizer]()

    def solve(self, k: int) -> Minimizer:
        """Solve problem k, and all others with it where that costs little more."""
        with self._lock:
            if k not in self._found:
                self._found.update(self._solve(k))
            return self._found[k]

    def _solve(self, k: int) -> dict[int, Minimizer]:
        solved = solve_normal_equations(self.patterns, self.weight, self.targets)
        if solved is None and not (factorable(self.patterns) and worth_a_triangle(self.patterns)):
            return {k: self._by_products(self.targets[:, k])}
        A, values = self._directly() if solved is None else solved
        return {j: Minimizer(a, float(value)) for j, (a, value) in enumerate(zip(A, values, strict=True))}

    def _directly(self) -> tuple[NDArray[np.float64], Vector]:
        patterns, width = self.patterns, width_of(self.patterns)
        if patterns.n >= width:
            R = triangle(patterns, self.weight, self.targets)
            Z, right = R[:, :width], R[:, width:]
        else:
            root = np.sqrt(self.weight)[:, None]
            Z, right = root * patterns.dense_rows(np.arange(patterns.n))[:, :width], root * self.targets
        cut, cost = EPS * max(patterns.n, width), float(len(Z)) * width**2
        found = run_in_thread(partial(la.lstsq, Z, right, cond=cut), cost)[0]
        found[~np.any(Z, axis=0)] = 0.0  # a column of zeros gets a coefficient of exactly 0
        A = np.zeros((right.shape[1], patterns.d + 1))
        A[:, :width] = found.T
        return A, np.sum((right - Z @ found) ** 2, axis=0)

    def _by_products(self, target: Vector) -> Minimizer:
        patterns, n, width = self.patterns, self.patterns.n, width_of(self.patterns)
        root, everything = np.sqrt(self.weight), np.arange(self.patterns.n)

        def product(a: Vector) -> Vector:
            return root * patterns.margins(np.append(a, np.zeros(patterns.d + 1 - width)))

        def transposed(e: Vector) -> Vector:
            return patterns.combine(everything, root * e)[:width]

        operator = LinearOperator((n, width), matvec=product, rmatvec=transposed, dtype=np.float64)
        most = MOST_STEPS * min(n, width)
        found = lsmr(operator, root * target, atol=LSMR_TOL, btol=LSMR_TOL, conlim=0.0, maxiter=most)
        a = np.append(found[0], np.zeros(patterns.d + 1 - width))
        ended = "max_iter" if found[1] == 7 else "converged"
        return Minimizer(a, float(found[3]) ** 2, int(found[2]), ended)


class LeastSquares:
    """Number k of problems that are solved together, in one step."""

    alpha: Vector | None = None

    def __init__(self, patterns: Patterns, shared: SharedLeastSquares, k: int):
        self.patterns, self.shared, self.k = patterns, shared, k
        self.a = np.zeros(patterns.d + 1)
        self.epochs = self.updates = 0
        self.values: list[float] = []

    def step(self) -> str:
        """Solve; "max_iter" if LSMR gave up."""
        self.a, value, self.epochs, ended = self.shared.solve(self.k)
        self.updates = 1
        self.values.append(value)
        return ended

    def running_upper(self) -> float:
        return np.inf
