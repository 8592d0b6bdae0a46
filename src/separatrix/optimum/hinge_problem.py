"""The 1-norm soft margin as solvers see it: the problem of `LinearSVC(loss="hinge")` and `SVC`.

    minimise  P(a) = |a|^2/2 + C sum c_k xi_k,   xi_k = max(0, 1 - a.y_k)
    maximise  D(alpha) = sum alpha_k - |sum alpha_k y_k|^2/2,   0 <= alpha_k <= C c_k

|a| leaves the bias out where it is free; then sum alpha_k l_k = 0. A linear machine has one slack for each row, the
largest of its rivals', and the multipliers of a row's rivals together are at most C c_k (Crammer & Singer 2001). Bounds
are kept as (2 P)^(-1/2) and (2 D)^(-1/2), so that the gap (P - D)/P is 1 - (lower/upper)^2, as with squared slack;
where no row needs slack they are margins.
"""

import numpy as np

from separatrix.optimum.problem import CERTAIN, Problem
from separatrix.space import Vector


class HingeProblem(Problem):
    """A `Problem` with plain slack; its patterns live in a space with a hinge."""

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

    def _paid(self, slacks: Vector) -> float:
        return self.C * self.patterns.paid_slack(np.maximum(0.0, slacks))

    def dual(self, index: np.ndarray, alpha: Vector, combination: Vector) -> float:
        """Enter multipliers, or the best of their multiples that the caps allow."""
        total, square = float(alpha.sum()), self.patterns.space.length(combination) ** 2
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
