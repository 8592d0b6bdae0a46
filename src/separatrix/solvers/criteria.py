"""Criteria J(a) = sum c_k phi(a.y_k) with their gradients and Hessians (DHS 5.5, 5.6, 5.8).

Each is a function phi of the margin m = a.y of one pattern, with its first and second derivative; what belongs to the
data, ``grad J = sum c phi'(m) y`` and ``H = sum c phi''(m) y y^t``, is written once. The convention at the boundary:
a pattern is violated if ``m <= margin``. c_k are sample weights, 1 where none are given.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Vector, symmetric


@dataclass(frozen=True)
class Criterion:
    """Base of the criteria. ``margin``: the b of ``a.y <= b``."""

    margin: float = 1.0

    additive: ClassVar[bool] = True  # -grad J is a combination of patterns with multipliers >= 0
    curved: ClassVar[bool] = True  # there is a Hessian other than 0

    def losses(self, m: Vector, norms2: Vector) -> Vector:
        """phi(m) of each pattern."""
        raise NotImplementedError

    def slopes(self, m: Vector, norms2: Vector) -> Vector:
        """phi'(m)."""
        raise NotImplementedError

    def curvatures(self, m: Vector, norms2: Vector) -> Vector:
        """phi''(m)."""
        raise NotImplementedError

    def value(self, patterns: Patterns, a: Vector, weight: Vector | None = None) -> float:
        """J(a)."""
        losses = self.losses(patterns.margins(a), patterns.norms2)
        return float(np.sum(losses if weight is None else weight * losses))

    def gradient(self, patterns: Patterns, a: Vector, weight: Vector | None = None) -> Vector:
        """The gradient of J at a; where J_p has none, the one that its descent uses."""
        slopes = self.slopes(patterns.margins(a), patterns.norms2)
        return patterns.combine(np.arange(patterns.n), slopes if weight is None else weight * slopes)

    def hessian(self, patterns: Patterns, a: Vector, weight: Vector | None = None) -> NDArray[np.float64]:
        """The matrix of second derivatives of J at a."""
        bends = self.curvatures(patterns.margins(a), patterns.norms2)
        lower = patterns.outer_products(np.arange(patterns.n), bends if weight is None else weight * bends)
        return symmetric(lower)


@dataclass(frozen=True)
class PerceptronCriterion(Criterion):
    """J_p = sum over ``a.y <= b`` of ``b - a.y`` (DHS eqs. 16, 103): piecewise linear."""

    margin: float = 0.0

    curved: ClassVar[bool] = False

    def losses(self, m: Vector, norms2: Vector) -> Vector:
        return np.maximum(self.margin - m, 0.0)

    def slopes(self, m: Vector, norms2: Vector) -> Vector:
        return np.where(m <= self.margin, -1.0, 0.0)

    def curvatures(self, m: Vector, norms2: Vector) -> Vector:
        return np.zeros_like(m)


@dataclass(frozen=True)
class QuadraticCriterion(Criterion):
    """J_q = sum over ``a.y <= b`` of ``(a.y - b)^2`` (DHS eq. 32, with a margin as in problem 17).

    With b = 0 it is smallest at a = 0, which solves nothing.
    """

    def losses(self, m: Vector, norms2: Vector) -> Vector:
        return np.maximum(self.margin - m, 0.0) ** 2

    def slopes(self, m: Vector, norms2: Vector) -> Vector:
        return -2.0 * np.maximum(self.margin - m, 0.0)

    def curvatures(self, m: Vector, norms2: Vector) -> Vector:
        return np.where(m <= self.margin, 2.0, 0.0)


@dataclass(frozen=True)
class RelaxationCriterion(Criterion):
    """J_r = 1/2 sum over ``a.y <= b`` of ``(a.y - b)^2/|y|^2`` (DHS eq. 33): long patterns do not dominate it."""

    def losses(self, m: Vector, norms2: Vector) -> Vector:
        return 0.5 * np.maximum(self.margin - m, 0.0) ** 2 * _inverse(norms2)

    def slopes(self, m: Vector, norms2: Vector) -> Vector:
        return -np.maximum(self.margin - m, 0.0) * _inverse(norms2)

    def curvatures(self, m: Vector, norms2: Vector) -> Vector:
        return np.where(m <= self.margin, _inverse(norms2), 0.0)


@dataclass(frozen=True)
class SquaredErrorCriterion(Criterion):
    """J_s = sum of ``(a.y - b)^2`` over all patterns, right or wrong (DHS eq. 43); ``margin`` may be a vector."""

    margin: Any = 1.0

    additive: ClassVar[bool] = False

    def losses(self, m: Vector, norms2: Vector) -> Vector:
        return (m - self.margin) ** 2

    def slopes(self, m: Vector, norms2: Vector) -> Vector:
        return 2.0 * (m - self.margin)

    def curvatures(self, m: Vector, norms2: Vector) -> Vector:
        return np.full_like(m, 2.0)


def _inverse(norms2: Vector) -> Vector:
    """1/|y|^2; a pattern of length 0 cannot be corrected and has no part."""
    return 1.0 / np.where(norms2 > 0, norms2, np.inf)
