"""The Perceptron on data that nothing separates: mistakes in one pass (PERC theorem 2)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_LOOKS = 100  # of `best_freund_schapire`: a dozen is usual
ROUNDS, LEAST_GAIN = 60, 1e-7  # of `least_freund_schapire`


def freund_schapire(radius: float, gamma: float, deviation: float) -> float:
    """In one pass the Perceptron makes at most ((R + D)/gamma)^2 mistakes, on any data, for any unit u and gamma > 0.

    D = ``deviation`` = (sum_k max(0, gamma - u.y_k)^2)^(1/2) over the sequence presented. PERC theorem 2.

    >>> freund_schapire(2.0, 0.5, 0.5)
    25.0
    """
    return ((radius + deviation) / gamma) ** 2 if gamma > 0 else math.inf


def deviation(margins: ArrayLike, gamma: float) -> float:
    """D of `freund_schapire`, from the margins u.y_k of a unit vector.

    >>> deviation([1.0, 0.6, -0.3], 1.0)
    1.36...
    """
    return float(np.linalg.norm(np.maximum(0.0, gamma - np.asarray(margins, dtype=np.float64))))


def best_freund_schapire(margins: ArrayLike, radius: float) -> tuple[float, float]:
    """The least of `freund_schapire` over gamma, for the margins u.y_k of a unit vector, and that gamma.

    With s = R/gamma, (R + D)/gamma is s + |max(0, 1 - s u.y_k/R)|, a convex function of s, whose minimum Newton's steps
    find, each a look at all margins, and halves of an interval where a step would leave it.

    >>> from separatrix.bounds import best_freund_schapire, novikoff
    >>> bound, gamma = best_freund_schapire([1.0] * 30 + [-0.2], radius=1.2)
    >>> round(bound, 2), round(gamma, 2)
    (5.57, 1.06)
    >>> best_freund_schapire([0.5, 0.5], radius=2.0)[0] <= novikoff(2.0, 0.5)
    True
    """
    m = np.asarray(margins, dtype=np.float64)
    if np.isnan(m).any():
        raise ValueError("margins: a value is NaN.")
    if not (radius > 0 and len(m)):
        return float(len(m)), math.inf
    from separatrix.passes.compiled import slack_sums

    m, sums = np.ascontiguousarray(m / radius), slack_sums()
    nothing, ones = np.zeros(len(m)), np.ones(len(m))

    def look(s: float) -> tuple[float, float, float]:
        """The value, its slope and its bend."""
        squares, products, curvature = sums(nothing, m, ones, s)
        size = math.sqrt(squares)
        if size == 0.0:
            return s, 1.0, 0.0
        pull = products / size
        return s + size, 1.0 - pull, max(curvature - pull**2, 0.0) / size

    low, high = 0.0, math.sqrt(len(m))  # beyond it the first term alone exceeds the value at s = 0
    best, s = math.inf, 0.5 * high
    for _ in range(MOST_LOOKS):
        value, slope, bend = look(s)
        if value < best:
            best, at = value, s
        low, high = (s, high) if slope < 0 else (low, s)
        following = s - slope / bend if bend > 0 else math.inf
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - s) <= 1e-9 * s:  # where the value is flat
            break
        s = following
    smallest = float(m.min(initial=math.inf))
    if 0 < smallest < math.inf and 1.0 / smallest <= best:  # without slack: Novikoff's own
        best = at = 1.0 / smallest
    return best**2, radius / at


class LeastBound(NamedTuple):
    """The smallest bound of `freund_schapire`.

    Attributes
    ----------
    bound : float
        The smallest bound.
    gamma : float
        The gamma that minimizes the bound.
    direction : ndarray
        The unit vector that minimizes the bound.
    """

    bound: float
    gamma: float
    direction: NDArray[np.float64]


def least_freund_schapire(patterns: ArrayLike) -> LeastBound:
    """The least of `freund_schapire` over all unit vectors u and all gamma > 0: the trade-off of PERC section 3.3.

    ``patterns``: the y_k, a row each: reflected, with the bias as their last coordinate. With w = u/gamma it is the
    square of the minimum of R |w| + |s|, s_k = max(0, 1 - w.y_k), a convex function. Since |w| <= |w|^2/(2p) + p/2 for
    every p, with equality at p = |w|, and |s| likewise, each round minimises |w|^2/2 + C |s|^2 with 2C = |w|/(R |s|) of
    the round before, a squared soft margin, and never climbs. Whatever it stops with is a bound that holds.

    >>> Y = np.array([[1.0, 1.0], [2.0, 1.0], [1.5, -1.0], [-0.2, 1.0]] * 10)
    >>> best = least_freund_schapire(Y)
    >>> round(best.bound, 1), best.direction.round(2).tolist()
    (19.1, [0.86, 0.52])
    >>> best_freund_schapire(Y @ [0.6, 0.8], radius=5**0.5)[0] > best.bound
    True
    """
    from separatrix.data.memory import as_rows, frozen
    from separatrix.solvers.loops.small_newton import small_newton

    Y = np.ascontiguousarray(patterns, dtype=np.float64)
    if Y.ndim != 2 or not np.all(np.isfinite(Y)):
        raise ValueError(f"patterns of shape {Y.shape}: a table of finite numbers is wanted, a pattern per row.")
    radius = float(np.linalg.norm(Y, axis=1).max(initial=0.0))
    a = np.zeros(Y.shape[1] + 1)  # with a bias of 0, since the patterns have rho = 0
    w = a[:-1]
    best = LeastBound(float(len(Y)), math.inf, w)  # of w = 0: a mistake on every pattern
    if radius == 0.0:
        return best
    C, X, labels, no_cap = 1.0 / radius**2, as_rows(Y), frozen(np.ones(len(Y))), frozen(np.full(len(Y), np.inf))
    for _ in range(ROUNDS):
        alpha, sigma = np.zeros(len(Y)), np.full(len(Y), 2.0 * C)
        if not small_newton()(X, labels, 0.0, alpha, sigma, no_cap, np.ones(len(a)), a, 1):
            break
        size, slack = float(np.linalg.norm(w)), float(np.linalg.norm(np.maximum(0.0, 1.0 - Y @ w)))
        if size == 0.0:
            break
        before = best.bound
        bound, gamma = best_freund_schapire(Y @ w / size, radius)
        if bound < best.bound:
            best = LeastBound(bound, gamma, w / size)
        if slack == 0.0 or best.bound > (1.0 - LEAST_GAIN) * before:
            break
        C = 0.5 * size / (radius * slack)
    return best
