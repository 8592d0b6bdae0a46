"""The margin of data that nothing separates: the margin form of Gordan's theorem (A. Ramdas, J. Pena, 2016).

Where 0 lies in the convex hull of the patterns, the best margin gamma = max over |u| = 1 of min u.y is not positive,
and -gamma is the radius of the largest ball around 0 in it: every hyperplane has a row that far on its wrong side.
To find it is a search through the facets of the hull; here it is bounded from both sides.

    gamma >= min u.y                for every unit vector u: here normals of facets, which rays from 0 meet
    gamma <= -(sum s_j^-2)^(-1/2)   if the hull holds the points s_j q_j and -s_j q_j of orthogonal axes q_j

The second, because max s_j |u.q_j| is at least that for every unit vector u.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix.cancellation import Clock, OutOfTimeError, check_cancelled, limited, run_in_thread
from separatrix.certificates.certify import SLACK, plain_margin
from separatrix.certificates.separability import check_switch, check_table, separability
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError
from separatrix.passes.patterns import EPS, TINY
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space, Vector, default_errstate

MOST_ENTRIES = 5_000_000  # of a table that is written out
SEPARABLE = "A hyperplane separates the classes: their margin is positive, and MaxMargin finds it."
NEARER = 1e-9  # part of the radius by which a facet has to be nearer than the last one


@dataclass(frozen=True)
class NegativeMargin:
    """Report the result of `negative_margin`: bounds on a best margin that is at most 0.

    Attributes
    ----------
    lower : float
        Margin achieved by ``direction``.
    upper : float
        No direction has a larger margin.
    direction : ndarray
        Unit vector; its last entry is the intercept divided by ``intercept_scaling``.
    """

    lower: float
    upper: float
    direction: Vector

    def __str__(self) -> str:
        found = f"the best one that was found has none beyond {-self.lower:.3g} in the augmented space"
        if self.upper == 0:
            return f"Every hyperplane has a row on its wrong side or on itself; {found}."
        return f"Every hyperplane has a row on its wrong side, at least {-self.upper:.3g} from it; {found}."


class Shot(NamedTuple):
    """Where a ray q from 0 leaves the hull: at s q, up to ``error``; ``normal``: of a facet there, pointing inwards."""

    s: float
    error: float
    normal: Vector


@default_errstate()
def negative_margin(
    X: Any, y: ArrayLike, *, fit_intercept: bool = True, intercept_scaling: float = 1.0, max_time: float = 10.0
) -> NegativeMargin:
    """Bounds on the best margin of two classes that no hyperplane separates, which is 0 or negative.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes.
    fit_intercept : bool, default=True
        False: only hyperplanes through the origin.
    intercept_scaling : float, default=1.0
        The augmenting constant, positive and finite: margins are those of the augmented space.
    max_time : float, default=10.0
        Seconds, at most; what is found until then holds. That nothing separates is proved first: if there is no time
        for it, a `DataError` says so.

    Returns
    -------
    NegativeMargin

    Examples
    --------
    >>> from separatrix import negative_margin
    >>> X, y = [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]], [1, 1, 0, 0]
    >>> answer = negative_margin(X, y)
    >>> print(answer)
    Every hyperplane has a row on its wrong side, at least 0.4... from it; the best one ...
    """
    check_switch(fit_intercept)
    if not 0 < intercept_scaling < np.inf:
        raise ValueError(f"intercept_scaling={intercept_scaling!r} must be positive and finite.")
    with limited(max_time):
        X, labels = two_classes(X, y)
        entries = X.shape[0] * X.shape[1]
        if entries > MOST_ENTRIES:
            raise DataError(f"X has {entries:,} entries; the margin is bounded for at most {MOST_ENTRIES:,}.")
        decided = separability(X, labels, fit_intercept=fit_intercept, max_time=Clock().left, check_quasi=False)
        if decided.separable:
            raise DataError(SEPARABLE)
        if decided.separable is None:
            raise DataError("Whether a hyperplane separates the classes could not be decided. Raise max_time.")
        return _in_units(Patterns(MemoryRows(X), labels, Space(float(intercept_scaling) if fit_intercept else 0.0)))


def two_classes(X: Any, y: ArrayLike) -> tuple[Any, Vector]:
    """The rows, checked, and their labels as -1 and +1."""
    X, labels = check_table(X, y)
    classes = np.unique(labels)
    if len(classes) != 2:
        raise DataError(f"The best margin is that of two classes; these data have {len(classes)}.")
    return X, np.where(labels == classes[1], 1.0, -1.0)


def _in_units(patterns: Patterns) -> NegativeMargin:
    """The bounds, found of patterns in a unit in which their largest value is about 1, a power of two: no square
    overflows or vanishes, and no bit of a number changes that matters beside the largest. A rho must not vanish:
    without a bias margins are others."""
    range_, rho = patterns.column_range(), patterns.space.rho
    largest = max(np.abs(range_.largest).max(), np.abs(range_.smallest).max(), rho)
    exponent = int(np.frexp(largest)[1]) - 1
    rows = patterns.home.scaled(np.zeros(patterns.d), np.full(patterns.d, np.ldexp(1.0, exponent)))
    space = Space(max(float(np.ldexp(rho, -exponent)), TINY) if rho else 0.0)
    found = _Hull(Patterns(rows, patterns.labels, space)).run()
    lower, upper = _times(found.lower, exponent, -np.inf), _times(found.upper, exponent, np.inf)
    return NegativeMargin(lower, upper, found.direction)


def _times(value: float, exponent: int, towards: float) -> float:
    """value 2^exponent, rounded towards -inf or inf where it overflows or loses digits."""
    with np.errstate(over="ignore"):
        result = float(np.ldexp(value, exponent))
        exact = np.ldexp(result, -exponent) == value
    return result if exact else float(np.nextafter(result, towards))


class _Hull:
    def __init__(self, patterns: Patterns):
        self.patterns, self.rows = patterns, np.arange(patterns.n)
        Y = patterns.dense_rows(self.rows)
        self.width = Y.shape[1] if patterns.space.rho > 0 else Y.shape[1] - 1
        self.radius = float(patterns.radius) or 1.0  # no radius: all rows are zero
        self.Y = Y[:, : self.width] / self.radius
        self.lower, self.direction = -np.inf, np.zeros(Y.shape[1])

    def run(self) -> NegativeMargin:
        upper = 0.0
        mean = self.Y.mean(axis=0)
        self._look(mean if mean.any() else np.eye(self.width)[0])  # there is an answer, whenever the time is up
        try:
            cost = len(self.Y) * float(self.width) ** 2
            values, axes = run_in_thread(lambda: np.linalg.eigh(self.Y.T @ self.Y), cost)
            if values[0] <= 1e-12 * values[-1]:  # the hull is flat: a vector at right angles to it has the margin 0
                self._look(axes[:, 0])
            else:
                upper = self._within(axes.T)
                frame = np.column_stack([self.direction[: self.width], np.eye(self.width)])
                turned = run_in_thread(lambda: np.linalg.qr(frame)[0], cost)
                upper = min(upper, self._within(turned.T))
        except OutOfTimeError:
            pass
        return NegativeMargin(min(self.lower, 0.0), upper, self.direction)

    def _look(self, u: Vector) -> bool:
        """Is this vector the best so far?"""
        full = np.append(u, np.zeros(len(self.direction) - self.width))
        reached = plain_margin(self.patterns, full)
        if reached <= self.lower + NEARER * self.radius:
            return False
        self.lower, self.direction = reached, self.patterns.unit(full)
        return True

    def _within(self, axes: NDArray[np.float64]) -> float:
        """A bound on gamma by the points of the hull on these axes; facets that are met on the way are looked at."""
        reach, error = np.zeros(len(axes)), 0.0
        for j, q in enumerate(axes):
            shots = [self._shoot(q), self._shoot(-q)]
            reach[j], error = min(shot.s for shot in shots), max(error, *(shot.error for shot in shots))
            for shot in shots:
                self._nearer(shot)
        if not np.all(reach > 0):
            return 0.0
        within = float(np.sum(reach**-2.0) ** -0.5) * (1.0 - 1e-12) - error
        return min(0.0, float(-within * self.radius))

    def _nearer(self, shot: Shot) -> None:
        """Go on to the facet that the normal of the last one meets, as long as that is nearer to 0."""
        while self._look(shot.normal):
            shot = self._shoot(-shot.normal)

    def _shoot(self, q: Vector) -> Shot:
        """max s with sum lambda_k y_k = s q, lambda >= 0, sum lambda = 1."""
        from scipy.optimize import linprog

        check_cancelled()
        n, width = self.Y.shape
        A = np.vstack([np.column_stack([self.Y.T, -q]), np.append(np.ones(n), 0.0)])
        right, low = np.append(np.zeros(width), 1.0), np.append(np.zeros(n), -np.inf)
        bounds, left = np.column_stack([low, np.full(n + 1, np.inf)]), Clock().left
        options = {"time_limit": left} if np.isfinite(left) else {}
        found = run_in_thread(
            lambda: linprog(np.append(np.zeros(n), -1.0), A_eq=A, b_eq=right, bounds=bounds, options=options)
        )
        if found.status == 1:
            raise OutOfTimeError
        if found.x is None or not found.x[:-1].any():  # rounding errors defeated the solver: no bound from this ray
            return Shot(0.0, 0.0, q)
        weight = np.maximum(found.x[:-1], 0.0)
        weight, s = weight / weight.sum(), max(float(found.x[-1]), 0.0)
        point = self.patterns.combine(self.rows, weight)[: self.width] / self.radius
        rounding = SLACK * (self.patterns.combination_error(weight) / self.radius + 4.0 * EPS * width)
        normal = -np.asarray(found.eqlin.marginals[:width])
        error = float(np.linalg.norm(point - s * q)) + rounding
        return Shot(s, error, normal / max(float(np.linalg.norm(normal)), EPS))
