"""The maximum margin problem as solvers see it: passes over the data, and a record of the best bounds so far.

    minimise  P(a) = |a|^2/2 + C sum c_k xi_k^2,   xi_k = max(0, 1 - a.y_k)          (C = inf: a.y_k >= 1)
    maximise  D(alpha) = sum alpha_k - |sum alpha_k y_k|^2/2 - sum alpha_k^2/(4 C c_k),   alpha >= 0

|a| leaves the bias out where it is free; then sum alpha_k l_k = 0. With C = 1/(2 Delta^2) both are margins in the
extended space: P = 1/(2 lower^2) and, for the best multiple of alpha, D = 1/(2 upper^2), so that
(P - D)/P = 1 - (lower/upper)^2. A solver may do what it likes: only what it shows to `primal` and `dual` counts. Of
the vector that it shows, the best multiple is kept: ``lower`` is what that multiple reaches as it is.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.cancellation import Clock
from separatrix.passes import compiled as passes
from separatrix.passes.summaries import Extremes, Piece, Sides
from separatrix.space import Space, Vector

SECONDS_BETWEEN_LOOKS = 0.2  # at whoever watches
PRECISE_GAP = 1e-13  # of problems that are solved to machine precision
STALLED = 60  # rounds without progress after which a solver has to stop
ROUNDING, STALLED_THERE = 1e-10, 3  # a gap that may be rounding errors, and the same there
NOTHING_LEFT = 1e-14  # a bound on the hard margin, as a part of R, that is rounding error
CERTAIN = 4.0  # errors of a margin by which a certificate, which allows for its own, sees it smaller at most


class Problem:
    """The c_k are the prices of the patterns. ``watch`` receives the state after each pass and may stop the solver by
    returning True.

    ``slack_vector``: where it is not None, the multipliers of the upper bound are the slacks of this vector,
    alpha = 2 C c max(0, 1 - a.y), and are not listed.
    """

    def __init__(
        self,
        patterns: Any,  # a PatternSet; solvers that need rows in memory ask for more
        C: float,
        *,
        tol: float,
        max_passes: float = np.inf,
        max_time: float = np.inf,
        watch: Callable[["Problem"], bool] | None = None,
    ):
        self.patterns = patterns
        self.C, self.hard = C, math.isinf(C)
        self.tol, self.max_passes, self.watch = tol, max_passes, watch
        self.clock, self.passes, self.stopped = Clock(max_time), 0.0, False
        self.limited = False  # was it stopped by a limit or by whoever watches, rather than by arithmetic?
        self._looked = time.perf_counter()
        self.lower, self.upper = -np.inf, np.inf
        self._gap, self._lower, self._stale = np.inf, -np.inf, 0
        self.a: Vector = np.zeros(patterns.d + 1)
        self.alpha_index: np.ndarray = np.zeros(0, np.int64)
        self.alpha: Vector = np.zeros(0)
        self.slack_vector: Vector | None = None

    def softer(self, C: float, tol: float) -> "Problem":
        """The same problem with another C and accuracy, on the same clock and count of passes; of squared hinge
        loss."""
        return self._with(C, self.patterns.space._replace(delta=(2.0 * C) ** -0.5, weighted=True), tol)

    def harder(self, tol: float) -> "Problem":
        """The hard margin of the same patterns, likewise."""
        return self._with(np.inf, self.patterns.space._replace(delta=0.0, hinge=0.0), tol, Problem)

    def unbiased(self, tol: float) -> "Problem":
        """The same with a bias that is part of |a|, likewise."""
        return self._with(self.C, self.patterns.space._replace(free=False), tol)

    def _with(self, C: float, space: Space, tol: float, kind: type["Problem"] | None = None) -> "Problem":
        other = self.part(self.patterns.in_space(space), C, tol, kind or type(self))
        other.max_passes, other.passes = self.max_passes, self.passes
        return other

    def part(self, patterns: Any, C: float, tol: float, kind: type["Problem"] | None = None) -> "Problem":
        """A problem whose solution serves this one, on the same clock; whoever watches this one stops it too."""
        other = (kind or Problem)(patterns, C, tol=tol, watch=self._heed)
        other.clock = self.clock
        return other

    def _heed(self, _: "Problem") -> bool:
        """Is this problem stopped, for another reason than want of progress?"""
        self.interrupted()
        return self.limited

    def adopt(self, other: "Problem") -> None:
        """Take over the passes of another problem on the same patterns, and what it found as far as it is good here."""
        self.passes = other.passes
        if self.hard:
            self.reached(other.a, self.smallest(other.a))
        elif self.patterns.here:
            self.primal(other.a, self.margins(other.a))
        else:
            self.enter_piece(other.a, self.piece(other.a, hessian=False))
        self.dual(other.alpha_index, other.alpha, self.combine(other.alpha_index, other.alpha))

    def measure(self, a: Vector) -> None:
        """Enter a vector of rows that are here, and multipliers of all rows that are the same in each class."""
        patterns, alpha = self.patterns, np.ones(self.patterns.n)
        if self.hard:
            self.reached(a, self.smallest(a))
        else:
            self.primal(a, self.margins(a))
        if patterns.n_classes == 2:
            positive = patterns.labels > 0
            alpha = np.where(positive, 1.0 / np.count_nonzero(positive), 1.0 / np.count_nonzero(~positive))
        self.dual(np.arange(patterns.n), alpha, self.combine(np.arange(patterns.n), alpha))

    def can_be_measured(self) -> bool:
        """Whether a certificate of the vector takes no longer than a few passes; there is none of no vector."""
        return self.lower > -np.inf

    @property
    def free(self) -> bool:
        return self.patterns.space.free

    @property
    def weight(self) -> Vector:
        """The c_k, of rows that are here."""
        return self.patterns.prices

    @property
    def penalty(self) -> Vector:
        """The factors on the squares of a in P: none on an unpenalized intercept."""
        penalty = np.ones(self.patterns.d + 1)
        if self.free:
            penalty[-1] = 0.0
        return penalty

    @property
    def diagonal(self) -> Vector:
        """What squared hinge loss adds to the diagonal of the dual's matrix: 1/(2 C c)."""
        return 1.0 / (2.0 * self.C * self.weight)

    @property
    def caps(self) -> Vector:
        """The largest multiplier of each pattern."""
        return np.full(self.patterns.n, np.inf)

    # passes

    def margins(self, a: Vector) -> Vector:
        self.passes += 1.0
        return self.patterns.margins(a)

    def extremes(self, a: Vector, k: int) -> Extremes:
        self.passes += 1.0
        return self.patterns.extremes(a, k)

    def smallest(self, a: Vector) -> float:
        self.passes += 1.0
        return self.patterns.smallest(a)

    def sides(self, a: Vector, k: int) -> Sides:
        self.passes += 1.0
        return self.patterns.sides(a, k)

    def piece(self, a: Vector, hessian: bool = True) -> Piece:
        self.passes += 1.0
        return self.patterns.piece(a, hessian)

    def mean(self) -> Vector:
        """The mean pattern."""
        self.passes += 1.0
        vector, total = self.patterns.sum()
        return vector / total

    def combine(self, index: np.ndarray, alpha: Vector) -> Vector:
        self.passes += len(index) / max(self.patterns.n, 1)
        return self.patterns.combine(index, alpha)

    # what solvers show

    def reached(self, a: Vector, smallest: float) -> float:
        """Enter a vector with its smallest margin; returns the hard margin that it reaches."""
        length = self.patterns.space.length(a)
        return self._enter(smallest / length, a) if length > 0 else -np.inf

    def primal(self, a: Vector, margins: Vector) -> float:
        """Enter a vector with its margins, of a soft margin its best multiple; returns the margin that it reaches in
        the space of the problem."""
        if self.hard:
            if self.free:
                a, margins = self.with_middle_bias(a, margins)
            return self.reached(a, float(margins.min()))
        length = self.patterns.space.length(a)
        s = 0.0
        if length > 0:
            s, value = best_multiple(length, margins, self.C, self.weight, self.patterns.margin_error(a))
        if s == 0.0:
            a, s = self._without_direction(), 1.0
            slacks = 1.0 - self.patterns.space.rho * a[-1] * self.patterns.labels
            value = self.C * float(self.weight @ slacks**2)
        return self._enter((2.0 * value) ** -0.5 if 0 < value < np.inf else -np.inf, a, s)

    def _without_direction(self) -> Vector:
        """The best vector with w = 0: 0, or an unpenalized intercept alone."""
        a = np.zeros(self.patterns.d + 1)
        return self.with_best_bias(a, np.zeros(self.patterns.n))[0] if self.free else a

    def _enter(self, reached: float, a: Vector, multiple: float = 1.0) -> float:
        if reached > self.lower:
            self.lower, self.a = reached, multiple * a
        return reached

    def dual(self, index: np.ndarray, alpha: Vector, combination: Vector) -> float:
        """Enter multipliers with the combination of the patterns that they make; returns the upper bound.

        An unpenalized intercept needs sum alpha_k l_k = 0: what is left of it meets a bias of at most R per unit of
        length.
        """
        total = float(alpha.sum())
        if not total > 0:
            return np.inf
        extension = self.patterns.extension(index, alpha)
        bound = float(np.hypot(self.patterns.space.bound_length(combination), extension)) / total
        if self.free:
            bound += abs(float(combination[-1])) / (self.patterns.space.rho * total) * self.patterns.radius
        fewer = self.hard and bound <= self._nothing and len(index) < len(self.alpha_index)
        if bound < self.upper or fewer:
            self.upper, self.alpha_index, self.alpha = bound, index.copy(), alpha.copy()
            self.slack_vector = None
        return bound

    def enter_piece(self, a: Vector, piece: Piece) -> float:
        """Enter a soft margin's vector with its piece, and its slacks as multipliers; returns the value P(a). Where C
        makes slack of the size of rounding errors too expensive, its multiple without slack.

        sum alpha_k^2 Delta_k^2 = 2 C sum c s^2, because alpha = 2 C c s and Delta_k^2 = 1/(2 C c_k).
        """
        half, error = 0.5 * self.patterns.space.length(a) ** 2, CERTAIN * self.patterns.margin_error(a)
        value, smallest = half + self.C * piece.squares, piece.minimum - error
        doubtful = self.C * error * (2.0 * piece.slack + error * self.patterns.weight_in_all)
        if smallest > 0 and 0 < half < (value + doubtful) * smallest**2:
            self._enter((2.0 * half) ** -0.5 * smallest, a, 1.0 / smallest)
        elif 0 < value < np.inf:
            self._enter((2.0 * value) ** -0.5, a)
        total = 2.0 * self.C * piece.slack
        length = self.patterns.space.bound_length(2.0 * self.C * piece.pull)
        balanced = not self.free or abs(piece.pull[-1]) <= 1e-9 * piece.slack * self.patterns.space.rho
        if total > 0 and balanced:
            bound = float(np.hypot(length, np.sqrt(2.0 * self.C * piece.squares))) / total
            if bound < self.upper:
                self.upper, self.slack_vector = bound, a.copy()
        return value

    def vanishes(self) -> bool:
        """Do the multipliers of a hard margin combine to what is 0 but for rounding errors? Then nothing separates."""
        return self.upper <= self._nothing

    @property
    def _nothing(self) -> float:
        return NOTHING_LEFT * self.patterns.radius * math.sqrt(self.patterns.d + 1)

    def multipliers(self) -> tuple[np.ndarray, Vector]:
        """Numbers and multipliers of the patterns behind the upper bound, listed."""
        if self.slack_vector is None:
            return self.alpha_index, self.alpha
        return self.slack_multipliers(self.margins(self.slack_vector))

    @property
    def gap(self) -> float:
        if not (self.upper < np.inf and self.lower > 0):
            return 1.0
        return max(0.0, 1.0 - (self.lower / self.upper) ** 2)

    def done(self) -> bool:
        """To be asked once per round: is the gap reached, or a limit?"""
        gap = self.gap
        if gap <= self.tol:
            return True
        # Bounds that no longer move are as good as arithmetic can make them; lower counts while there is no gap yet.
        progress = gap < 0.999 * self._gap or (gap == 1.0 and self.lower > self._lower + 1e-9 * abs(self._lower))
        self._gap, self._lower = min(self._gap, gap), max(self._lower, self.lower)
        self._stale = 0 if progress else self._stale + 1
        if self.watch is not None and self.watch(self):
            self.limited = True
        if self.passes >= self.max_passes or self.clock.expired:
            self.limited = True
        self.stopped = self.stopped or self.limited or self._stalled
        return self.stopped

    def tell(self) -> None:
        """To be called where a first round may be the last: whoever watches has not heard of it."""
        if self.gap <= self.tol and self.watch is not None and self.watch(self):
            self.stopped = self.limited = True

    @property
    def _stalled(self) -> bool:
        return self._stale >= (STALLED if self.gap > ROUNDING else STALLED_THERE)

    def go_on(self) -> None:
        """To be called where another solver takes over from one that made no progress."""
        self.stopped, self._stale = self.limited, 0

    def interrupted(self) -> bool:
        """Check within a round: the time at once, callbacks and other threads a few times a second."""
        now = time.perf_counter()
        if now - self._looked >= SECONDS_BETWEEN_LOOKS:
            self._looked = now
            self.limited = self.limited or (self.watch is not None and self.watch(self))
        self.limited = self.limited or self.clock.expired
        self.stopped = self.stopped or self.limited
        return self.stopped

    def slack_multipliers(self, margins: Vector) -> tuple[np.ndarray, Vector]:
        """The dual point of a soft margin's vector: alpha = 2 C c max(0, 1 - m), rows and values."""
        index = (margins < 1.0).nonzero()[0]
        return index, 2.0 * self.C * self.weight[index] * (1.0 - margins[index])

    def with_middle_bias(self, a: Vector, m: Vector) -> tuple[Vector, Vector]:
        """A vector with the intercept that makes the smallest margins of both classes equal, and its margins."""
        labels = self.patterns.labels
        b = 0.5 * float(m[labels < 0].min(initial=np.inf) - m[labels > 0].min(initial=np.inf))
        if not np.isfinite(b):
            return a, m
        moved = a.copy()
        moved[-1] += b / self.patterns.space.rho
        return moved, m + labels * b

    def with_best_bias(self, a: Vector, m: Vector) -> tuple[Vector, Vector]:
        """A soft margin's vector with the bias that minimises P, and its margins: there sum alpha_k l_k = 0, which the
        dual point needs."""
        labels = self.patterns.labels
        b = best_bias(m, labels, self.weight)
        moved = a.copy()
        moved[-1] += b / self.patterns.space.rho
        return moved, m + labels * b


def best_multiple(length: float, margins: Vector, C: float, weight: Vector, error: float) -> tuple[float, float]:
    """The s >= 0 with the smallest P(s a), and P(s a), of a vector with this length and these margins.

    Newton's steps on P', which is piecewise linear and concave where s >= 0: the first, from the s = 1 that a solver
    aims at, ends left of its zero, and the others grow towards it. ``error``: a bound on the error of each margin.
    Certificates take it off each margin, which matters if C is extreme, and if nothing but it keeps s from 0.
    """
    sums, nothing, seen, s = passes.slack_sums(), np.zeros(len(margins)), margins - CERTAIN * error, 1.0
    for step in range(100):
        _, products, curvature = sums(nothing, seen, weight, s)
        bend = length * length + 2.0 * C * curvature
        change = max(-s, (2.0 * C * products - s * length * length) / bend) if bend > 0 else 0.0
        if not error * s < abs(change) < np.inf or (step and change < 0):
            break
        s += change
    return s, 0.5 * (s * length * s * length) + C * sums(nothing, margins, weight, s)[0]


def best_bias(m: Vector, labels: Vector, weight: Vector) -> float:
    """The b that minimises sum c_k max(0, 1 - m_k - l_k b)^2: Newton's steps on a piecewise quadratic. The second on
    the same piece corrects rounding errors, and a third would have no others to correct."""
    b, before = 0.0, np.zeros(0, dtype=bool)
    for _ in range(100):
        slack = 1.0 - m - labels * b
        active = slack > 0.0
        if not active.any():
            break
        change = float((weight * labels)[active] @ slack[active]) / float(weight[active].sum())
        b += change
        if abs(change) <= 1e-15 * abs(b) or np.array_equal(active, before):
            break
        before = active
    return b
