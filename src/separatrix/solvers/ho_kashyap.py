"""Ho-Kashyap: minimise |Y a - b|^2 over a and over b > 0 (DHS 5.9).

    e = Y a - b,   b <- b + eta (e + |e|),   a <- Y^dagger b                                   algorithm 11
    e = Y a - b,   b <- b + (e + |e|),       a <- a + eta R Y^t |e|                            eq. 90

Algorithm 12 (eq. 88), ``a <- a + eta Y^dagger |e|``, is the first iteration written otherwise, because
``Y^dagger e = 0``. Rows carry weights c, as if each were repeated: Y^t stands for Y^t c.

It ends with ``Y a > 0``, which separates; or with multipliers lambda >= 0 that combine the patterns to 0, which proves
that nothing does (Gordan): lambda = -e in the first form, where Y^t e = 0 and b changes until e <= 0; lambda = |e| in
the second. How near lambda is to that is measured in every iteration by |Y^t lambda| / sum lambda, and where it falls
below ``tol`` R the caller's ``refuted(a, lambda)`` has to find the exact proof (lambda is None where no list of them is
kept); if it finds none the iteration goes on.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.criteria import QuadraticCriterion
from separatrix.solvers.factor import PseudoInverse
from separatrix.solvers.loops.ho_kashyap_step import correct
from separatrix.space import Vector, norm, symmetric

STRICTER = 1e-2  # factor on tol after evidence that led to no proof
FRESH = 50  # iterations after which margins are computed from scratch: a sum of steps drifts

Rate = Callable[[int], float]


class _Iteration:
    """What both forms share. ``outcome``: "separable", "not separable", or "undecided" while neither is proved."""

    alpha: Vector | None = None

    def __init__(
        self,
        patterns: Any,
        weight: Any,
        b: Vector,
        *,
        tol: float,
        b_min: float,
        separates: Callable[[Vector], bool],
        refuted: Callable[[Vector, Any], bool],
    ):
        self.patterns, self.weight, self.b = patterns, weight, b.copy()
        self.tol, self.b_min, self.separates, self.refuted = tol, b_min, separates, refuted
        self.a = np.zeros(patterns.d + 1)
        self.outcome = "undecided"
        self.epochs = self.updates = 0
        self.values: list[float] = []

    def _separates(self, smallest: float) -> bool:
        """Is a a solution, and |e| as small as it is to be?"""
        if smallest > 0 and self.outcome != "separable" and self.separates(self.a):
            self.outcome = "separable"
        return smallest > 0 and self.outcome == "separable" and self.values[-1] <= self.b_min**2

    def _refutes(self, evidence: float, multipliers: Callable[[], Any]) -> bool:
        if evidence <= self.tol * self.patterns.radius:
            alpha = multipliers()
            if self.refuted(self.a, alpha):
                self.alpha, self.outcome = alpha, "not separable"
            self.tol *= STRICTER
        return self.outcome == "not separable"

    def running_upper(self) -> float:
        return np.inf


class HoKashyap(_Iteration):
    """Algorithms 11 and 12, by a factorisation of Y that is made once."""

    def __init__(
        self, patterns: Patterns, weight: Vector, b: Vector, rate: Rate, inverse: PseudoInverse, **options: Any
    ):
        super().__init__(patterns, weight, b, **options)
        self.rate, self.inverse = rate, inverse
        self.a = self.inverse.solve(self.b)
        self.residual, self.gradient = np.empty(patterns.n), np.empty(patterns.d + 1)
        self.following = b.copy()

    def step(self) -> str | None:
        eta, patterns = self.rate(self.updates + 1), self.patterns
        np.copyto(self.following, self.b)
        smallest, largest, behind, squares = correct()(
            patterns.rows,
            patterns.labels,
            patterns.space.rho,
            self.a,
            self.weight,
            eta,
            self.following,
            self.residual,
            self.gradient,
        )
        self.epochs += 1
        self.values.append(squares)
        if self._separates(smallest):
            return "converged"
        # Y^t residual = 2 eta Y^t e+ = 2 eta Y^t e-, because Y^t e = 0
        evidence = norm(self.gradient) / (2.0 * eta) / behind if behind > 0 else np.inf
        if largest <= 0 or self._refutes(evidence, self._multipliers):
            if self.outcome == "undecided":
                self._refutes(0.0, self._multipliers)
            return "converged"  # without a positive e nothing changes any more
        # Not Y^dagger b but the correction of a by what is left: the same, and rounding errors do not add up.
        self.a += self.inverse.solve(self.residual, self.gradient)
        self.b, self.following = self.following, self.b
        self.updates += 1
        return None

    def _multipliers(self) -> Vector:
        e = self.patterns.margins(self.a) - self.b
        return self.weight * np.maximum(-e, 0.0)


class HoKashyapDescent(_Iteration):
    """Eq. 90, by passes alone. ``rate`` None: the optimal step of eqs. 94 and 95. ``R`` None: the identity."""

    def __init__(
        self,
        patterns: Patterns,
        weight: Vector,
        b: Vector,
        rate: Rate | None,
        R: NDArray[np.float64] | None = None,
        start: Vector | None = None,
        **options: Any,
    ):
        super().__init__(patterns, weight, b, **options)
        self.rate, self.R = rate, R
        if start is not None:
            self.a = start.copy()
        self.margins, self.everything = np.empty(0), np.arange(patterns.n)

    def step(self) -> str | None:
        patterns = self.patterns
        if self.epochs % FRESH == 0:
            self.margins = patterns.margins(self.a)
        self.epochs += 1
        e = self.margins - self.b
        pull = np.abs(e)
        pull *= self.weight
        self.values.append(float(np.sum(pull * np.abs(e))))
        if self._separates(float(self.margins.min())):
            return "converged"
        gradient = patterns.combine(self.everything, pull)
        total = float(pull.sum())
        if self._refutes(norm(gradient) / total if total > 0 else np.inf, lambda: pull):
            return "converged"
        change = gradient if self.R is None else self.R @ gradient
        slope = patterns.margins(change)
        eta = self._optimal(gradient, change, slope) if self.rate is None else self.rate(self.updates + 1)
        self.b += 2.0 * np.maximum(e, 0.0, out=e)
        self.a += eta * change
        self.margins += eta * slope
        self.updates += 1
        return None

    def _optimal(self, gradient: Vector, change: Vector, slope: Vector) -> float:
        bend = float(np.sum(self.weight * slope * slope))
        return float(gradient @ change) / bend if bend > 0 else 0.0


class PassedHoKashyap(_Iteration):
    """Eq. 90 for out-of-core rows, without a b of every row: for each a the best ``b >= b_0`` is taken at
    once, b = max(b_0, Y a), instead of a step towards it. Then |e| = max(0, b_0 - Y a), and |e|^2 is the quadratic
    criterion with the margin b_0."""

    def __init__(
        self,
        patterns: Any,
        margin: float,
        rate: Rate | None,
        R: NDArray[np.float64] | None = None,
        start: Vector | None = None,
        **options: Any,
    ):
        super().__init__(patterns, None, np.zeros(0), **options)
        self.criterion, self.rate, self.R = QuadraticCriterion(margin), rate, R
        if start is not None:
            self.a = start.copy()

    def step(self) -> str | None:
        found = self.patterns.slope(self.a, self.criterion, self.rate is None)
        self.epochs += 1
        self.values.append(found.value)
        if self._separates(found.minimum):
            return "converged"
        gradient, total = found.downhill / 2.0, found.pull / 2.0
        if self._refutes(norm(gradient) / total, lambda: None):
            return "converged"
        change = gradient if self.R is None else self.R @ gradient
        eta = self._optimal(gradient, change, found.matrix) if self.rate is None else self.rate(self.updates + 1)
        self.a = self.a + eta * change
        self.updates += 1
        return None

    def _optimal(self, gradient: Vector, change: Vector, bends: NDArray[np.float64]) -> float:
        bend = float(change @ symmetric(bends) @ change) / 2.0
        return float(gradient @ change) / bend if bend > 0 else 0.0
