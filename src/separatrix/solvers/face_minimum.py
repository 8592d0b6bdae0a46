"""The minimum of a convex quadratic function over a working set, exactly: alpha >= 0, and sum alpha_k l_k = 0 where the
bias is free."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.passes.kernel_patterns import indefinite
from separatrix.space import Vector

ZERO_GRADIENT = 1e-11  # a gradient that counts as 0, where that of alpha = 0 is 1
WELL_DIAGONAL = 1e-6  # of the largest |y|^2: a diagonal from which the matrix is well conditioned
RIDGE = 1e-14  # of the largest |y|^2: keeps the factor of a singular Gram matrix in hand
REFINED_RIDGE = 1e-9  # up to which refinement takes the ridge back
LARGEST_RIDGE = 1e-3  # what the rounding errors of single precision may ask for


def nonnegative_minimum(
    Q: NDArray[np.float64],
    diagonal: Vector,
    labels: Vector | None,
    start: Vector,
    stop: Callable[[], bool] = lambda: False,
) -> NDArray[np.float64]:
    """argmin alpha.(Q + diagonal).alpha/2 - sum alpha over alpha >= 0, and sum alpha_k l_k = 0 if there are labels.

    When ``stop`` says so, what has been reached.
    """
    face = _Face(Q, diagonal, labels)
    well = diagonal.min(initial=np.inf) > WELL_DIAGONAL * face.size
    x = _by_blocks(face, start > 0, stop) if well or face.feasible(start > 0) else None
    x = _one_by_one(face, start, stop) if x is None else x
    return x if labels is None else _balanced(x, labels)


def _by_blocks(face: "_Face", positive: NDArray[np.bool_], stop: Callable[[], bool]) -> Vector | None:
    """Block principal pivoting (Judice & Pires 1994): solve on the positive variables, then exchange all that have the
    wrong sign. Quick where the matrix is well conditioned; None where the number of these does not fall."""
    positive = positive.copy()
    if not face.feasible(positive):
        positive[:] = True
    fewest, chances = face.n + 1, 10
    while chances > 0:
        x, gradient = face.solve(positive)
        wrong = np.where(positive, x < 0, gradient < -ZERO_GRADIENT)
        number = int(np.count_nonzero(wrong))
        if number == 0:
            return x
        if stop():
            return np.maximum(x, 0.0)
        fewest, chances = (number, 10) if number < fewest else (fewest, chances - 1)
        positive ^= wrong
        if not face.feasible(positive):
            return None
    return None


def _one_by_one(face: "_Face", start: Vector, stop: Callable[[], bool]) -> Vector:
    """The active set method: the variable with the steepest descent joins, those that would turn negative leave."""
    x = start.copy()
    if not face.feasible(x > 0):
        x[:] = 0.0
    positive = x > 0
    gradient = face.solve(positive)[1] if positive.any() else np.full(face.n, -1.0)
    refused: NDArray[np.bool_] = np.zeros(face.n, dtype=bool)
    for _ in range(20 * face.n + 100):
        candidates = np.where(positive | refused, np.inf, gradient)
        joining = face.first() if not positive.any() else np.array([int(np.argmin(candidates))])
        if positive.any() and not candidates[joining[0]] < -ZERO_GRADIENT:
            break
        positive[joining] = True
        for first in range(face.n + 1):
            z, gradient = face.solve(positive)
            leaving = positive & (z <= 0)
            if first == 0 and np.any(leaving[joining]):  # only rounding can do that
                positive[joining] = False
                refused[joining] = True
                break
            if not leaving.any():
                x = z
                refused[:] = False
                break
            t = float(np.min(x[leaving] / np.maximum(x[leaving] - z[leaving], 1e-300)))
            x = np.where(positive, x + t * (z - x), 0.0)
            positive &= ~(leaving & (x <= 1e-14 * x.max(initial=0.0)))
            x[~positive] = 0.0
            if not face.feasible(positive) or stop():
                return x
        if stop():
            break
    return x


class _Face:
    """The minimum over some variables, the others being 0: (Q + diagonal) x + mu l = 1, x.l = 0 where there are labels.

    A small ridge keeps the factor of a singular matrix in hand; refinement takes it back. One that has to be larger
    makes up for rounding errors of Q, and stays.
    """

    def __init__(self, Q: NDArray[np.float64], diagonal: Vector, labels: Vector | None):
        self.n, self.Q, self.diagonal, self.labels, self.ridge = len(Q), Q, diagonal, labels, RIDGE
        self.size = float(np.abs(np.diag(Q)).max(initial=0.0))

    def feasible(self, positive: NDArray[np.bool_]) -> bool:
        if self.labels is None:
            return bool(positive.any())
        return bool(np.any(positive & (self.labels > 0)) and np.any(positive & (self.labels < 0)))

    def first(self) -> np.ndarray:
        """Where to begin: the shortest pattern, or with labels the nearest rows of two classes."""
        square = np.diag(self.Q)
        if self.labels is None:
            return np.array([int(np.argmin(square))])
        plus, minus = np.flatnonzero(self.labels > 0), np.flatnonzero(self.labels < 0)
        distance = square[plus, None] + square[minus] + 2.0 * self.Q[np.ix_(plus, minus)]
        i, j = np.unravel_index(int(np.argmin(distance)), distance.shape)
        return np.array([plus[i], minus[j]])

    def solve(self, positive: NDArray[np.bool_]) -> tuple[Vector, Vector]:
        """The minimum, and the gradient there with the multiplier of the constraint in it."""
        rows = np.flatnonzero(positive)
        Q, diagonal = self.Q[np.ix_(rows, rows)], self.diagonal[rows]
        factor = self._factor(Q, diagonal)

        def inverse(right: Vector) -> Vector:
            x = la.cho_solve(factor, right, check_finite=False)
            for _ in range(3 if self.ridge < REFINED_RIDGE else 0):
                x += la.cho_solve(factor, right - Q @ x - diagonal * x, check_finite=False)
            return x

        part = inverse(np.ones(len(rows)))
        multiplier = 0.0
        if self.labels is not None:
            l = self.labels[rows]
            z = inverse(l)
            multiplier = float(l @ part) / float(l @ z)
            part = part - multiplier * z
        x = np.zeros(self.n)
        x[rows] = part
        gradient = self.Q[:, rows] @ part + self.diagonal * x - 1.0
        return x, gradient if self.labels is None else gradient + multiplier * self.labels

    def _factor(self, Q: NDArray[np.float64], diagonal: Vector) -> Any:
        while True:
            try:
                return la.cho_factor(Q + np.diag(diagonal + self.ridge * self.size), lower=True, check_finite=False)
            except la.LinAlgError:
                self.ridge *= 100.0
                if self.ridge > LARGEST_RIDGE:
                    raise indefinite("its matrix has a negative eigenvalue") from None


def _balanced(x: Vector, labels: Vector) -> Vector:
    """The two classes' sums made equal, which rounding and clipping leave nearly so."""
    plus, minus = float(x[labels > 0].sum()), float(x[labels < 0].sum())
    if plus > 0 and minus > 0:
        mean = (plus + minus) / 2.0
        return np.where(labels > 0, x * (mean / plus), x * (mean / minus))
    return x
