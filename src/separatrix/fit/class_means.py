"""Vectors between the means of classes, for problems that a fit had no time to begin.

They come from one pass over all rows, however many problems there are. In the space of a kernel they are the means of a
few rows of each class: a Gram matrix of all rows would take as long as a solver. Nothing is claimed about them.
"""

from typing import Any

import numpy as np
import scipy.linalg as la

from separatrix.certificates.certificate import Certificate
from separatrix.space import Vector

ROWS_OF_KERNEL = 16  # of each class


class ClassMeans:
    """``patterns``: of all rows, whatever their labels. ``codes``: the number of the class of each row."""

    def __init__(self, patterns: Any, codes: np.ndarray, classes: int):
        self.patterns, self.count = patterns, np.bincount(codes, minlength=classes).astype(np.float64)
        order = np.argsort(codes, kind="stable")
        first = np.searchsorted(codes[order], np.arange(classes))
        self.norms2 = np.maximum.reduceat(patterns.norms2[order], first)
        sides = np.split(order, first[1:])
        with np.errstate(all="ignore"):
            if patterns.explicit:
                means = [patterns.combine(side, patterns.labels[side] / len(side)) for side in sides]
                self.table = np.array(means)[:, :-1]
                self.products = self.table @ self.table.T
                return
            some = [side[:: -(-len(side) // ROWS_OF_KERNEL)] for side in sides]
            self.rows = np.concatenate(some)
            self.shares = la.block_diag(*(np.full((1, len(rows)), 1.0 / len(rows)) for rows in some))
            self.products = self.shares @ patterns._gram_among(self.rows) @ self.shares.T

    def against_the_rest(self, k: int) -> Vector:
        """The vector of class k against all others."""
        positive = np.arange(len(self.count)) == k
        rest = np.where(positive, 0.0, self.count)
        return self._between(positive.astype(np.float64), rest / rest.sum())

    def of_pair(self, i: int, j: int) -> Vector:
        """The vector of class j against class i."""
        classes = np.arange(len(self.count))
        return self._between((classes == j).astype(np.float64), (classes == i).astype(np.float64))

    def of_machine(self) -> Vector:
        """The vectors of a linear machine whose largest score is that of the nearest mean."""
        shift = -0.5 * np.diag(self.products)
        return _finite(np.concatenate([self._vector(row, b) for row, b in zip(np.eye(len(shift)), shift, strict=True)]))

    def unmeasured_pair(self, i: int, j: int, data: Any) -> tuple[Vector, Certificate]:
        """The vector of class j against class i, and its certificate."""
        a, radius = self.of_pair(i, j), float(max(self.norms2[i], self.norms2[j]) ** 0.5)
        return a, unmeasured(self.patterns, a, data.given_weight, radius)

    def _between(self, positive: Vector, negative: Vector) -> Vector:
        """The scores of the two means, which are weighted means of classes, are 1 and -1."""
        shares = positive - negative
        above, below = (float(shares @ self.products @ mean) for mean in (positive, negative))
        half = (above - below) / 2.0
        return _finite(self._vector(shares, -(above + below) / 2.0) / half) if half > 0 else self._vector(0 * shares, 0)

    def _vector(self, shares: Vector, bias: float) -> Vector:
        """A combination of the means, with a bias if the space has one."""
        space = self.patterns.space
        if self.patterns.explicit:
            return space.project(space.join(shares @ self.table, bias if space.rho else 0.0))
        beta = np.zeros(self.patterns.n + 1)
        beta[self.rows] = self.shares.T @ shares
        beta[-1] = bias if space.free else 0.0
        return beta


def class_means(estimator: Any, data: Any) -> ClassMeans:
    """In the space of an estimator. ``data``: of two classes or more."""
    two = data._replace(codes=np.minimum(data.codes, 1), classes=data.classes[:2])
    patterns = estimator._problems(two, data.weight if estimator._space().weighted else None, "ovr")[0]
    return ClassMeans(patterns, data.codes, len(data.classes))


def _finite(a: Vector) -> Vector:
    """Zero where arithmetic overflows."""
    return a if np.all(np.isfinite(a)) else np.zeros_like(a)


def unmeasured(patterns: Any, a: Vector, sample_weight: Vector | None, radius: float | None = None) -> Certificate:
    """A certificate without claims, for a vector that there is no time to measure."""
    return Certificate(
        None,
        np.inf,
        None,
        patterns.space,
        patterns.radius if radius is None else radius,
        direction=patterns.in_all_columns(a),
        sample_weight=sample_weight,
        n_classes=patterns.n_classes,
        kernel=getattr(patterns, "kernel", None),
    )
