"""The point of the patterns' convex hull nearest to 0, by first-order methods with bounds at every iterate.

    minimise |v|^2 / 2  over  v = sum lambda_k y_k,  lambda >= 0,  sum lambda = 1

|v| is an upper bound on every margin, min v.y / |v| a margin that is reached; they meet in the nearest point, which is
the direction of the maximum margin. Where 0 is in the hull, v goes to 0, and lambda to Gordan's vector. With s = y_k,
the pattern of the smallest v.y, and l, that of the largest among those with lambda > 0:

    gilbert     v <- the nearest point of the segment [v, s]                              E. G. Gilbert (1966)
    kozinec     the same with the next pattern in order whose v.y is too small            B. N. Kozinec (1964)
    away        the same, or away from l, whichever descends faster                       J. Guelat, P. Marcotte (1986)
    mdm         v <- v + t (s - l): weight moves from l to s              B. Mitchell, V. Dem'yanov, V. Malozemov (1974)
    smooth      the smooth Perceptron - von Neumann method                                N. Soheili, J. Pena (2012)
    rescaled    the rescaled Perceptron: a vector that separates, in another space        J. Dunagan, S. Vempala (2008)
"""

from typing import Any

import numpy as np

from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Vector, norm

METHODS = ("gilbert", "kozinec", "away", "mdm", "smooth", "rescaled")
REFRESH = 50  # steps after which v is summed again: increments drift
NOTHING = 1e-10  # of the radius: a point this near is 0


class HullDescent:
    """One binary problem. ``step`` makes one pass and returns "converged" when the gap between the bounds is at most
    ``tol`` of the upper one, "stationary" when v is 0 as far as floats tell."""

    def __init__(self, patterns: Patterns, weight: Vector, method: str, tol: float):
        self.patterns, self.weight, self.method, self.tol = patterns, weight, method, tol
        self.epochs = self.updates = 0
        self.values: list[float] = []
        self.alpha: Any = np.zeros(patterns.n)
        self.alpha[int(np.argmin(patterns.norms2))] = 1.0
        self.v = self._sum()
        self.a, self.best = self.v, (np.inf, np.inf)  # the best iterate: fewest errors, then largest margin
        self.errors: list[float] = []  # the fewest so far, by weight
        self.next = 0  # where kozinec goes on

    def _sum(self) -> Vector:
        rows = np.flatnonzero(self.alpha)
        return self.patterns.combine(rows, self.alpha[rows])

    def running_upper(self) -> float:
        """|v|, free."""
        return norm(self.v)

    def step(self) -> str | None:
        self.epochs += 1
        v = self.v
        m = self.patterns.margins(v)
        square = float(v @ v)
        self.values.append(0.5 * square)
        quality = (float(self.weight[m <= 0].sum()), -float(m.min()) / max(np.sqrt(square), np.finfo(np.float64).tiny))
        if quality < self.best:
            self.a, self.best = v, quality
        self.errors.append(self.best[0])
        if square <= (NOTHING * self.patterns.radius) ** 2:
            return "stationary"
        worst = int(np.argmin(m))
        if m[worst] >= (1.0 - self.tol) * square:
            return "converged"
        self._move(m, worst, square)
        self.updates += 1
        if self.updates % REFRESH == 0:
            self.alpha /= self.alpha.sum()
            self.v = self._sum()
        return None

    def _move(self, m: Vector, worst: int, square: float) -> None:
        if self.method == "kozinec":
            late = np.flatnonzero(m < (1.0 - self.tol) * square)
            worst = int(late[np.searchsorted(late, self.next) % len(late)])
            self.next = worst + 1
        if self.method in ("gilbert", "kozinec"):
            self._towards(worst)
            return
        support = np.flatnonzero(self.alpha)
        last = int(support[np.argmax(m[support])])
        if self.method == "mdm":
            self._exchange(worst, last, float(m[last] - m[worst]))
        elif square - m[worst] >= m[last] - square:
            self._towards(worst)
        else:
            self._away(last, float(m[last] - square))

    def _towards(self, k: int) -> None:
        """The nearest point of [v, y_k]: t = v.(v - y)/|v - y|^2, at most 1."""
        y = self.patterns.dense_rows(np.array([k]))[0]
        d = y - self.v
        t = min(1.0, float(-(self.v @ d) / (d @ d)))
        self.v = self.v + t * d
        self.alpha *= 1.0 - t
        self.alpha[k] += t

    def _away(self, k: int, descent: float) -> None:
        """v <- v + t (v - y_k), at most until lambda_k = 0."""
        d = self.v - self.patterns.dense_rows(np.array([k]))[0]
        most = self.alpha[k] / (1.0 - self.alpha[k])
        t = min(most, descent / float(d @ d))
        self.v = self.v + t * d
        self.alpha *= 1.0 + t
        self.alpha[k] = 0.0 if t == most else self.alpha[k] - t

    def _exchange(self, k: int, l: int, descent: float) -> None:
        """v <- v + t (y_k - y_l), at most until lambda_l = 0."""
        y = self.patterns.dense_rows(np.array([k, l]))
        d = y[0] - y[1]
        most = self.alpha[l]
        t = min(most, descent / float(d @ d))
        self.v = self.v + t * d
        self.alpha[k] += t
        self.alpha[l] = 0.0 if t == most else most - t


class SmoothPerceptron:
    """The smooth Perceptron on patterns of length 1. ``a`` is the vector that separates after about sqrt(log n)/gamma
    steps, ``alpha`` the combination that goes to 0 where none does.

    With x_mu(a) the weights proportional to c_k e^(-a.y_k/mu), theta = 2/(k + 3):

        a <- (1 - theta)(a + theta Y^t x) + theta^2 Y^t x_mu(a)
        mu <- (1 - theta) mu,  x <- (1 - theta) x + theta x_mu(a)
    """

    def __init__(self, patterns: Patterns, weight: Vector, tol: float):
        self.patterns, self.weight, self.tol = patterns, weight, tol
        self.epochs = self.updates = 0
        self.values: list[float] = []
        self.lengths = np.sqrt(np.maximum(patterns.norms2, np.finfo(np.float64).tiny))
        self.mu, self.all = 1.0, np.arange(patterns.n)
        self.a = self._combination(weight / weight.sum())
        self.x = self._soft(patterns.margins(self.a))
        self.alpha: Any = self.x / self.lengths

    def _combination(self, x: Vector) -> Vector:
        return self.patterns.combine(self.all, x / self.lengths)

    def _soft(self, m: Vector) -> Vector:
        exponent = -m / (self.lengths * self.mu)
        x = self.weight * np.exp(exponent - exponent.max())
        return x / x.sum()

    def running_upper(self) -> float:
        return norm(self._combination(self.x)) / float(self.alpha.sum())

    def step(self) -> str | None:
        self.epochs += 1
        m = self.patterns.margins(self.a)
        pull = self._combination(self.x)
        shortest = norm(pull)
        self.values.append(0.5 * shortest * shortest)
        if shortest <= NOTHING:
            return "stationary"
        lower = float(m.min()) / max(norm(self.a), np.finfo(np.float64).tiny)
        if lower > 0 and lower >= (1.0 - self.tol) * shortest / float(self.alpha.sum()):
            return "converged"
        theta = 2.0 / (self.updates + 3.0)
        soft = self._combination(self._soft(m))
        self.a = (1.0 - theta) * (self.a + theta * pull) + theta * theta * soft
        self.mu *= 1.0 - theta
        self.x = (1.0 - theta) * self.x + theta * self._soft(self.patterns.margins(self.a))
        self.alpha = self.x / self.lengths
        self.updates += 1
        return None


class RescaledPerceptron:
    """The rescaled Perceptron: where the cone of solutions is thin, the space is stretched until it is not.

    With y'_k = M y_k/|M y_k| and M = I at first, two phases take turns; d is the number of dimensions.

        Perceptron     z = 0;         y'_k.z <= 0 for the worst k:              z += y'_k                (32 d^2 steps)
        improvement    x random;      y'_k.x < -|x|/(32 d) for the worst k:     x -= (y'_k.x) y'_k   (32 d^2 ln d steps)

    If z separates, so does a = M^t z. An improved x is right or nearly right for all patterns: M <- (I + x x^t/|x|^2) M
    makes the cone wider, by a constant factor of its volume with constant probability, so that about d ln(1/gamma) of
    them do. (The proof has 1024 d^2 steps in the place of 32 d^2.) Multipliers of the Perceptron's z are multipliers
    of the y_k: they bound the margin as ever.
    """

    def __init__(self, patterns: Patterns, weight: Vector, tol: float):
        self.patterns, self.weight, self.tol = patterns, weight, tol
        self.epochs = self.updates = self.rescalings = 0
        self.values: list[float] = []
        width = patterns.d + 1
        self.M, self.limit = np.eye(width), 32 * width**2
        self.lengths2 = np.maximum(patterns.norms2, np.finfo(np.float64).tiny)
        self.rng = np.random.default_rng(0)
        self.z, self.c = np.zeros(width), np.zeros(patterns.n)
        self.x: Vector | None = None  # of an improvement
        self.made = 0  # steps of the phase
        self.alpha: Any = np.zeros(patterns.n)
        self.upper, self.a = np.inf, np.zeros(width)
        self.errors = [np.inf]  # the fewest so far, by weight: the vector that has them predicts

    def running_upper(self) -> float:
        return self.upper

    def step(self) -> str | None:
        self.epochs += 1
        if self.x is None:
            return self._perceptron()
        self._improve(self.x)
        return None

    def _products(self, vector: Vector) -> Vector:
        """y'_k.vector of all patterns."""
        return np.asarray(self.patterns.margins(self.M.T @ vector)) / np.sqrt(self.lengths2)

    def _stretched(self, k: int) -> Vector:
        """y'_k."""
        return np.asarray(self.M @ self.patterns.dense_rows(np.array([k]))[0]) / np.sqrt(self.lengths2[k])

    def _perceptron(self) -> str | None:
        m = self._products(self.z)
        worst = int(np.argmin(m))
        self.values.append(0.5 * float(self.z @ self.z))
        wrong = float(self.weight[m <= 0].sum())
        if wrong < self.errors[-1] or m[worst] > 0:
            self.a = self.M.T @ self.z
        self.errors.append(min(wrong, self.errors[-1]))
        if m[worst] > 0:
            lower = float(self.patterns.margins(self.a).min()) / norm(self.a)
            if lower >= (1.0 - self.tol) * self.upper or self.tol == 1.0:
                return "converged"
        self.z = self.z + self._stretched(worst)
        self.c[worst] += 1.0 / np.sqrt(self.lengths2[worst])
        self.updates, self.made = self.updates + 1, self.made + 1
        bound = norm(self.patterns.combine(np.flatnonzero(self.c), self.c[self.c > 0])) / float(self.c.sum())
        if bound < self.upper:
            self.upper, self.alpha = bound, self.c.copy()
        if bound <= NOTHING * self.patterns.radius:
            return "stationary"
        if self.made >= self.limit and not m[worst] > 0:
            self._begin(self.rng.standard_normal(len(self.z)))
        return None

    def _begin(self, x: Vector | None) -> None:
        """An improvement, or where there is no x the Perceptron."""
        self.made, self.x = 0, x
        if x is None:
            self.z, self.c = np.zeros_like(self.z), np.zeros_like(self.c)

    def _improve(self, x: Vector) -> None:
        m, size = self._products(x), norm(x)
        self.values.append(self.values[-1])
        worst = int(np.argmin(m))
        if m[worst] >= -size / (32.0 * len(x)):
            along = m * np.sqrt(self.lengths2) / size
            self.lengths2 = self.lengths2 + 3.0 * along**2  # |y + (x.y) x|^2 of a unit vector x
            self.M = self.M + np.outer(x, x @ self.M) / size**2
            self.rescalings += 1
            self._begin(None)
            return
        self.x = x - m[worst] * self._stretched(worst)
        self.made += 1
        if self.made >= self.limit * max(1.0, np.log(len(x))) or norm(self.x) <= NOTHING * size:
            self._begin(self.rng.standard_normal(len(x)))
