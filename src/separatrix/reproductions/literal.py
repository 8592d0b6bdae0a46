"""CRAMMA and ALMA as the paper's authors seem to have computed them: a vector that is divided after every update.

The loop of this library never divides its vector, it keeps a factor beside it, so that an update rounds each coordinate
once; where that was tried (CRAMMA 10 and 10^12), its counts are those of extended precision. Dividing rounds twice,
always at about the same digits of a vector that hardly changes any more, and the errors add up: after some ten million
updates a visit comes out otherwise. Which one depends on the length that the vector is brought back to, and for CRAMMA
on nothing else that was tried: not on the order of sums, not on whether one divides or multiplies by a reciprocal, not
on registers of 53 or 64 bits. For the 1.7 billion updates of ALMA 0.03 the order of the operations matters as well.

The length beta for CRAMMA, with the patterns as they are, was found by trying 112 lengths on CRAMMA 10 and 10^12: it is
the only one that gives both counts. It then gave 10^13 as well, where each of 16 other lengths gives another count,
but not CRAMMA 30.1. For ALMA 0.03 two of three radii tried, R and 1/R, give the count of the paper; 1, with patterns
divided by R, does not. In units of the paper:

    CRAMMA^eps  a.y <= beta^2/t^eps:                a += eta y with eta = eta_eff beta/R, then |a| = beta
    ALMA_2      a.y <= (1 - alpha) B R^2/sqrt(t):   a += C/sqrt(t) y, then |a| <= R; B = sqrt(8)/alpha, C = sqrt(2)
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from separatrix.compile_cache import compiled

PAUSE = 10_000_000  # updates after which Python is asked whether to go on


class Literal(NamedTuple):
    """``a.y <= threshold / t^power``: ``a += step / t^decay y``, then brought back to ``length``."""

    threshold: float
    power: float
    step: float
    decay: float
    length: float
    ball: bool  # only a longer vector is brought back

    def run(
        self, Y: np.ndarray, a: np.ndarray, tell: Callable[[int], None], stopped: Callable[[], bool]
    ) -> tuple[int, np.ndarray]:
        """t and a at the end, from t = 1 and ``a``; patterns are visited cyclically until none is corrected."""
        a = np.array(a, dtype=np.float64)
        t, i, quiet = 1, 0, 0
        while quiet < len(Y) and not stopped():
            t, i, quiet = _visit(Y, a, t, i, quiet, t + PAUSE, *self)
            tell(t)
        return t, a


def literal_cramma(Y: np.ndarray, beta: float, power: float, rate: float) -> tuple[Literal, np.ndarray]:
    """The procedure and its start, for ``beta`` and the effective ``rate`` in units of R."""
    R = _radius(Y)
    length = beta * R
    return Literal(length * length, power, rate * beta, 0.0, length, False), Y[0] * (length / np.linalg.norm(Y[0]))


def literal_alma(Y: np.ndarray, alpha: float) -> tuple[Literal, np.ndarray]:
    R = length = _radius(Y)
    threshold = (1.0 - alpha) * np.sqrt(8.0) / alpha * length * R
    return Literal(threshold, 0.5, np.sqrt(2.0) * length / R, 0.5, length, True), np.zeros(Y.shape[1])


def _radius(Y: np.ndarray) -> float:
    return float(np.sqrt((Y**2).sum(axis=1).max()))


@njit(nogil=True, fastmath={"reassoc"})
def _product(Y, i, a):  # pragma: no cover - compiled
    """In any order: products decide, but do not enter the vector, where errors would add up."""
    m = 0.0
    for j in range(len(a)):
        m += Y[i, j] * a[j]
    return m


@njit(nogil=True)
def _power(t, exponent):  # pragma: no cover - compiled
    return np.sqrt(t) if exponent == 0.5 else t**exponent


@compiled
def _visit(Y, a, t, i, quiet, pause, threshold, power, step, decay, length, ball):  # pragma: no cover - compiled
    """Visits from pattern i on, until n of them in a row were quiet or ``t`` has reached ``pause``.

    What rounds the vector is computed as written, one operation after the other.
    """
    n, d = Y.shape
    bar = threshold / _power(t, power)
    while quiet < n and t < pause:
        if _product(Y, i, a) <= bar:
            rate = step / _power(t, decay)
            square = 0.0
            for j in range(d):
                a[j] += rate * Y[i, j]
                square += a[j] * a[j]
            norm = np.sqrt(square)
            if not ball or norm > length:
                for j in range(d):
                    a[j] = length * a[j] / norm
            t += 1
            bar = threshold / _power(t, power)
            quiet = 0
        else:
            quiet += 1
        i += 1
        if i == n:
            i = 0
    return t, i, quiet
