"""The 1-norm soft margin as solvers see it: the problem of `LinearSVC(loss="hinge")` and `SVC`.

    minimise  P(a) = |a|^2/2 + C sum c_k xi_k,   xi_k = max(0, 1 - a.y_k)
    maximise  D(alpha) = sum alpha_k - |sum alpha_k y_k|^2/2,   0 <= alpha_k <= C c_k

|a| leaves the bias out where it is free; then sum alpha_k l_k = 0. A linear machine has one slack for each row, the
largest of its rivals', and the multipliers of a row's rivals together are at most C c_k (Crammer & Singer 2001). Bounds
are kept as (2 P)^(-1/2) and (2 D)^(-1/2), so that the gap (P - D)/P is 1 - (lower/upper)^2, as with squared hinge loss;
where no row needs slack they are margins.

For a vector w the unpenalized intercepts that minimize P are an interval, usually a single point. The interval is
longer if the negative and the positive rows that need slack have caps of the same sum: every multiplier is then 0 or at
its cap. Fits return the middle of the interval, as LIBSVM does. Fits return w = 0 if w is 0 up to rounding errors: all
rows, and all such classes against the rest, then have exactly equal scores.
"""

from typing import Any

import numpy as np

from separatrix.passes.patterns import EPS
from separatrix.solvers.problem import CERTAIN, Problem
from separatrix.space import Vector, norm


class HingeProblem(Problem):
    """A `Problem` with hinge loss; its patterns live in a space with a hinge."""

    @property
    def diagonal(self) -> Vector:
        return np.zeros(self.patterns.n)

    @property
    def caps(self) -> Vector:
        return self.patterns.caps

    def primal(self, a: Vector, margins: Vector) -> float:
        """Enter a vector with its margins; where it needs no slack, its multiple with a smallest margin of 1.

        A certificate sees margins less their rounding errors, each at the price C: that multiple pays for them.
        """
        half, error = 0.5 * self.patterns.space.length(a) ** 2, CERTAIN * self.patterns.margin_error(a)
        value, smallest = half + self._paid(1.0 - margins), float(margins.min()) - error
        if smallest > 0:
            seen = half + self._paid(1.0 + error - margins)
            if half < seen * smallest**2:
                value, a = half / smallest**2, a / smallest
        return self._enter((2.0 * value) ** -0.5, a) if 0 < value < np.inf else -np.inf

    def vector_to_predict(self) -> Vector:
        """Return the best vector found, with the middle intercept, and without rounding errors if w = 0."""
        p = self.patterns
        if p.n_classes > 2:
            return self.a
        if norm(self.a[:-1]) <= p.combination_error(self.alpha):
            alone = self._intercept_alone()
            if self._value(alone) <= self._value(self.a) * (1.0 + (p.n + 8) * EPS):
                return alone
        return center_intercept(p, self.a) if self.free else self.a

    def _intercept_alone(self) -> Vector:
        """Return the best vector with w = 0, the minimizer of t^2/2 + sum cap_k max(0, 1 - l_k rho t).

        Its derivative jumps at rho t = -1 and 1, and in between it is t - rho sum cap_k l_k.
        """
        p, alone = self.patterns, np.zeros_like(self.a)
        if self.free:
            return center_intercept(p, alone)
        if rho := p.space.rho:
            alone[-1] = np.clip(rho * float(p.labels @ p.caps), -1.0 / rho, 1.0 / rho)
        return alone

    def _value(self, a: Vector) -> float:
        return 0.5 * self.patterns.space.length(a) ** 2 + self._paid(1.0 - self.patterns.margins(a))

    def _paid(self, slacks: Vector) -> float:
        return self.C * self.patterns.paid_slack(np.maximum(0.0, slacks))

    def dual(self, index: np.ndarray, alpha: Vector, combination: Vector) -> float:
        """Enter multipliers, or the best of their multiples that the caps allow."""
        total, square = float(alpha.sum()), self.patterns.space.bound_length(combination) ** 2
        if not total > 0:
            return np.inf
        positive = slice(None) if alpha.min() > 0 else alpha > 0
        most = self.patterns.room(index[positive], alpha[positive])
        multiple = min(total / square if square > 0 else np.inf, most)
        if not 0 < multiple < np.inf:
            return np.inf
        value = multiple * (total - 0.5 * multiple * square)
        bound = (2.0 * value) ** -0.5 if value > 0 else np.inf
        if bound < self.upper:
            self.upper, self.alpha_index = bound, index.copy()
            self.alpha = self.patterns.capped(index, multiple * alpha)
        return bound


def center_intercept(patterns: Any, a: Vector) -> Vector:
    """Return the vector with the middle of the intercepts that minimize P; the rows are in memory."""
    step = middle_intercept(patterns.margins(a), patterns.labels, patterns.caps)
    centered = a.copy()
    centered[-1] += step / patterns.space.rho
    return centered if np.isfinite(step) else a


def middle_intercept(margins: Vector, labels: Vector, caps: Vector) -> float:
    """Return the middle of the b that minimize sum cap_k max(0, 1 - m_k - l_k b).

    The slope changes at the kinks l_k (1 - m_k). Between two kinks it is the caps of the negative rows on the left less
    the caps of the positive rows on the right: these rows need slack. A slope within the rounding errors of the two
    sums counts as 0, which changes P by at most (n + 8) eps P.
    """
    kinks = labels * (1.0 - margins)
    order = np.argsort(kinks, kind="stable")
    signed = (labels * caps)[order]
    left = np.cumsum(np.maximum(-signed, 0.0))
    right = np.append(np.cumsum(np.maximum(signed, 0.0)[:0:-1])[::-1], 0.0)
    slope, rounding = left - right, (len(kinks) + 8) * EPS * (left + right)
    first, last = int(np.argmax(slope >= -rounding)), int(np.argmax(slope > rounding))
    return float(kinks[order[first]] + kinks[order[last]]) / 2.0
