"""Descent on a criterion, all patterns at once: DHS algorithms 1, 2, 3, 6 and 8.

    a <- a - eta(k) grad J              gradient; eta(k) given, or the optimal step |grad|^2 / grad.H.grad of eq. 14
    a <- a - H^-1 grad J                Newton (eq. 15); where H is singular, the shortest step that minimises the
                                        second-order expansion of J, which exists because grad J lies in H's range;
                                        halved while it would raise J, which has other pieces than that expansion;
                                        "undamped-newton" takes it whole, as alg. 2 is printed

-grad J = sum c_k |phi'| y_k, so that without Newton's steps the multipliers behind a are known, and with them an upper
bound on the margin.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.passes.summaries import Slope
from separatrix.solvers.criteria import Criterion
from separatrix.space import Vector, norm, symmetric

METHODS = ("gradient", "newton", "optimal-step", "undamped-newton")
NEWTON = ("newton", "undamped-newton")
OVERSHOOT = 10.0  # margins by which the automatic rate of J_p corrects the longest pattern
POWER_STEPS = 20  # of the power method behind the automatic rate
NEARLY_SINGULAR = 1e-7  # pivot of a Cholesky factor of the scaled Hessian below which it counts as singular
MOST_HALVINGS = 30


class Descent:
    """One binary problem. ``rate(k)`` is eta(k), k counting updates from 1.

    ``step`` makes one epoch and returns "converged" if there is nothing more to do: every margin exceeds ``enough``, or
    the step was no longer than ``tol |a|`` or shorter than ``theta``. "stationary": patterns are violated and grad J is
    0 all the same, so that
    they combine to 0; ``alpha`` then holds this combination, which is Gordan's vector if it is so exactly.

    Along a criterion without curvature ``a`` never comes to rest if the classes overlap: ``best`` is the vector with
    the smallest J/|a| so far, and that ratio.
    """

    def __init__(
        self,
        patterns: Any,
        weight: Any,
        criterion: Criterion,
        rate: Callable[[int], float] | None,
        *,
        method: str = "gradient",
        tol: float = 0.0,
        enough: float = np.inf,
        theta: float = 0.0,
        start: Vector | None = None,
    ):
        self.patterns, self.weight, self.criterion = patterns, weight, criterion
        self.rate, self.method, self.tol, self.enough, self.theta = rate, method, tol, enough, theta
        self.a = np.zeros(patterns.d + 1) if start is None else start.copy()
        additive = criterion.additive and method not in NEWTON
        self.alpha: Vector | None = np.zeros(patterns.n) if additive and patterns.here else None
        self.from_zero = start is None
        self.epochs = self.updates = self.singular = 0
        self.values: list[float] = []
        self.best: tuple[Vector, float] = self.a, np.inf

    def _enter(self, value: float) -> None:
        self.epochs += 1
        self.values.append(value)
        length = norm(self.a)
        if not self.criterion.curved and length > 0 and value / length < self.best[1]:
            self.best = self.a.copy(), value / length

    def step(self) -> str | None:
        patterns, criterion, norms2 = self.patterns, self.criterion, self.patterns.norms2
        m = patterns.margins(self.a)
        self._enter(float(np.sum(self.weight * criterion.losses(m, norms2))))
        if m.min() > self.enough:
            return "converged"
        pull = -self.weight * criterion.slopes(m, norms2)
        rows = np.flatnonzero(pull)
        downhill = patterns.combine(rows, pull[rows])
        if not np.any(downhill):
            if self.alpha is not None and len(rows):
                self.alpha = pull
            return "stationary" if criterion.additive else "converged"
        if self.method in NEWTON:
            change = self._newton_step(self._hessian(m), downhill)
            if self.method == "newton":
                change *= self._shortened(m, patterns.margins(change))
        else:
            eta = self._rate(rows, m, downhill)
            change = eta * downhill
            if self.alpha is not None:
                self.alpha[rows] += eta * pull[rows]
        self.a += change
        self.updates += 1
        return self._ended(change)

    def _ended(self, change: Vector) -> str | None:
        length = norm(change)
        return "converged" if (self.tol > 0 and length <= self.tol * norm(self.a)) or length < self.theta else None

    def _rate(self, rows: np.ndarray, m: Vector, downhill: Vector) -> float:
        if self.method == "gradient":
            assert self.rate is not None
            return self.rate(self.updates + 1)
        steep = self.patterns.margins_of(rows, downhill)
        return float(np.sum(downhill * downhill) / np.sum(self._bends(m)[rows] * steep * steep))

    def _bends(self, m: Vector) -> Vector:
        return self.weight * self.criterion.curvatures(m, self.patterns.norms2)

    def _hessian(self, m: Vector) -> NDArray[np.float64]:
        """Its lower triangle."""
        bends = self._bends(m)
        rows = np.flatnonzero(bends)
        return self.patterns.outer_products(rows, bends[rows])

    def _newton_step(self, H: NDArray[np.float64], downhill: Vector) -> Vector:
        width = self.patterns.d + (1 if self.patterns.space.rho else 0)
        H = H[:width, :width]
        change = np.zeros_like(downhill)
        diagonal = np.diag(H)
        if np.all(diagonal > 0):
            scale = diagonal**-0.5  # features of other units make no Hessian singular
            try:
                factor = la.cho_factor(scale[:, None] * H * scale, lower=True)
            except la.LinAlgError:
                pass
            else:
                if np.diag(factor[0]).min() > NEARLY_SINGULAR:
                    change[:width] = scale * la.cho_solve(factor, scale * downhill[:width])
                    return change
        self.singular += 1
        change[:width] = la.lstsq(symmetric(H), downhill[:width], cond=1e-12)[0]
        return change

    def _shortened(self, m: Vector, slope: Vector) -> float:
        """The factor on Newton's step: 1, or 1/2, 1/4, ... with which J does not rise."""
        t = 1.0
        for _ in range(MOST_HALVINGS):
            value = float(np.sum(self.weight * self.criterion.losses(m + t * slope, self.patterns.norms2)))
            if value <= self.values[-1]:
                break
            t /= 2.0
        return t

    def running_upper(self) -> float:
        """|a| / sum alpha, free; inf where there are no multipliers."""
        if self.alpha is None or not self.from_zero:
            return np.inf
        total = float(self.alpha.sum())
        return norm(self.a) / total if total > 0 else np.inf


class PassedDescent(Descent):
    """The same for out-of-core rows: a step is a pass that returns sums, and no multiplier is listed."""

    total = 0.0  # sum of the multipliers behind a

    def step(self) -> str | None:
        found = self._slope(self.a)
        self._enter(found.value)
        if found.minimum > self.enough:
            return "converged"
        downhill = found.downhill
        if not np.any(downhill):
            return "stationary" if self.criterion.additive else "converged"
        if self.method in NEWTON:
            change = self._newton_step(found.matrix, downhill)
            for _ in range(MOST_HALVINGS if self.method == "newton" else 0):
                if self._slope(self.a + change).value <= found.value:
                    break
                change /= 2.0
        else:
            bend = float(downhill @ symmetric(found.matrix) @ downhill) if self.method == "optimal-step" else 0.0
            eta = float(downhill @ downhill) / bend if bend else self.rate(self.updates + 1)  # type: ignore[misc]
            change = eta * downhill
            self.total += eta * found.pull
        self.a = self.a + change
        self.updates += 1
        return self._ended(change)

    def _slope(self, a: Vector) -> Slope:
        return self.patterns.slope(a, self.criterion, self.method != "gradient")

    def running_upper(self) -> float:
        known = self.total > 0 and self.from_zero and self.criterion.additive and self.method not in NEWTON
        return norm(self.a) / self.total if known else np.inf


def safe_rate(patterns: Any, weight: Any, criterion: Criterion) -> float:
    """A constant rate with which descent converges: 1/lambda_max of the Hessian with every pattern violated.

    Twice that is the limit, so the power method's estimate is good enough. J_p has no Hessian, and no limit: there a
    correction by the longest pattern alone takes it well over the margin.
    """
    if not criterion.curved:
        return OVERSHOOT * (float(criterion.margin) or 1.0) / patterns.radius2
    if not patterns.here:  # at a = 0 every pattern is violated: the first step needs this pass too
        matrix = patterns.slope(np.zeros(patterns.d + 1), criterion, True).matrix
        largest = float(la.eigvalsh(matrix, subset_by_index=[len(matrix) - 1] * 2)[0])
        return 1.0 / largest if largest > 0 else 1.0
    bends = weight * criterion.curvatures(np.full(patterns.n, -np.inf), patterns.norms2)
    everything = np.arange(patterns.n)
    v = np.random.default_rng(0).standard_normal(patterns.d + 1)
    largest = 0.0
    for _ in range(POWER_STEPS):
        v /= norm(v)
        image = patterns.combine(everything, bends * patterns.margins(v))
        largest = max(largest, norm(image))
        if not largest > 0:
            break
        v = image
    return 1.0 / largest if largest > 0 else 1.0
