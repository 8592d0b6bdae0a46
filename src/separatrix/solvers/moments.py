"""Least squares of out-of-core rows: one pass brings the moments of all classes, the rest is a small matrix.

    M a = v,   M = sum c y y^t,   v = sum c b y = sum over the classes of b times their sums

M squares the condition of Y. So the solution is corrected by what passes tell is left of v - M a, with M a summed over
rows and not taken from the matrix, until nothing is gained.
"""

from typing import Any

import numpy as np
import scipy.linalg as la

from separatrix.passes.summaries import Moments
from separatrix.solvers.criteria import SquaredErrorCriterion
from separatrix.space import Vector, norm, symmetric

SQUARES = SquaredErrorCriterion(0.0)  # its slope at a is -2 M a, its value a.M a
LAST_CORRECTION = 1e-12  # relative length of a correction that is worth no other pass
MOST_PASSES = 5
CUTOFF = 1e-14  # eigenvalues of the scaled M below this part of the largest count as 0


class MomentSquares:
    """One class against the rest. ``targets``: b of the class ``positive`` and of the others."""

    alpha: Vector | None = None

    def __init__(self, patterns: Any, moments: Moments, targets: tuple[float, float]):
        self.patterns, self.moments, self.targets = patterns, moments, targets
        self.a = np.zeros(patterns.d + 1)
        self.epochs, self.updates = 1, 0  # the pass that brought the moments
        self.values: list[float] = []

    def step(self) -> str:
        ours = np.arange(len(self.moments.sums)) == self.patterns.positive
        b = np.where(ours, self.targets[0], -self.targets[1])  # y = -z of the rest
        v = b @ self.moments.sums
        squares = float(np.square(b) @ self.moments.weights)
        solve = _Inverse(symmetric(self.moments.matrix))
        left, best = v, np.inf
        for _ in range(MOST_PASSES):
            change = solve(left)
            a = self.a + change
            slope = self.patterns.slope(a, SQUARES)
            image = -0.5 * slope.downhill
            self.epochs += 1
            value = max(squares - 2.0 * float(a @ v) + slope.value, 0.0)
            if self.values and not norm(v - image) < 0.5 * best:
                break
            self.a, left, best = a, v - image, norm(v - image)
            self.updates += 1
            self.values.append(value)
            if norm(change) <= LAST_CORRECTION * norm(a) or best <= LAST_CORRECTION * norm(v):
                break
        return "converged"

    def running_upper(self) -> float:
        return np.inf


class _Inverse:
    """The shortest solution of M a = v in the units in which M has a diagonal of ones; a column of zeros gets a 0."""

    def __init__(self, M: np.ndarray):
        diagonal = np.diag(M)
        self.kept = diagonal > 0
        self.scale = np.where(self.kept, np.where(self.kept, diagonal, 1.0) ** -0.5, 0.0)
        squares, self.V = la.eigh(self.scale[:, None] * M * self.scale)
        self.inverse = np.where(squares > CUTOFF * squares[-1], 1.0 / np.where(squares > 0, squares, 1.0), 0.0)

    def __call__(self, v: Vector) -> Vector:
        return self.scale * (self.V @ (self.inverse * (self.V.T @ (self.scale * v))))
