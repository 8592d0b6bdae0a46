"""Steps down a loss, one row at a time: LMS, recursive least squares, the hinge loss with a penalty."""

import math
from typing import NamedTuple

import numpy as np

from separatrix.rules.aggressive import repeated
from separatrix.rules.base import rule, weighted_gain

# LMS, the Widrow-Hoff rule (DHS alg. 10, eq. 61).


@rule(additive=False)
class LmsRule(NamedTuple):
    """Always: ``a += eta(k) (1 - a.y) y`` with eta(k) = eta / (1 + (k - 1)/n)^power, k counting presentations.

    The fit ends when no step of an epoch is longer than ``tol |a|``.
    """

    eta: float
    n: float
    power: float
    tol: float

    def violates(self, m, s):
        return True

    def weighted_gain(self, m, s):
        rate = self.eta / (1.0 + (s.visit - 1.0) / self.n) ** self.power
        return repeated(rate * s.yy, s.weight) / s.yy * (1.0 - m) if s.yy > 0.0 else 0.0

    def negligible(self, m, s):
        return abs(weighted_gain(self, m, s)) * math.sqrt(s.yy) <= self.tol * math.sqrt(s.norm2)


@rule(additive=False)
class TabulatedLmsRule(NamedTuple):
    """LMS with rates from a table: ``rates[k - first]`` for presentation k."""

    first: float
    rates: np.ndarray
    tol: float

    def violates(self, m, s):
        return True

    def weighted_gain(self, m, s):
        rate = self.rates[int(s.visit - self.first)]
        return repeated(rate * s.yy, s.weight) / s.yy * (1.0 - m) if s.yy > 0.0 else 0.0

    def negligible(self, m, s):
        return abs(weighted_gain(self, m, s)) * math.sqrt(s.yy) <= self.tol * math.sqrt(s.norm2)


@rule(additive=False)
class TargetLmsRule(NamedTuple):
    """LMS with a target for each row: ``a += eta(k) (b - a.y) y``. The weight of a row is its place in the tables
    ``targets`` and ``repeats``, which hold b and the sample weight. Rates: those of the table where there is one."""

    eta: float
    n: float
    power: float
    tol: float
    first: float
    rates: np.ndarray
    targets: np.ndarray
    repeats: np.ndarray

    def violates(self, m, s):
        return True

    def weighted_gain(self, m, s):
        k = int(s.weight)
        rate = self.eta / (1.0 + (s.visit - 1.0) / self.n) ** self.power
        if self.rates.shape[0] > 0:
            rate = self.rates[int(s.visit - self.first)]
        return repeated(rate * s.yy, self.repeats[k]) / s.yy * (self.targets[k] - m) if s.yy > 0.0 else 0.0

    def negligible(self, m, s):
        return abs(weighted_gain(self, m, s)) * math.sqrt(s.yy) <= self.tol * math.sqrt(s.norm2)


# Recursive least squares (DHS eqs. 71-73).


@rule(additive=False, loop="least_squares")
class RlsRule(NamedTuple):
    """Always: ``R <- (R^-1 + c y y^t)^-1``, ``a += c R (1 - a.y) y``. R_1 = I/ridge gives the ridge solution."""

    ridge: float

    def violates(self, m, s):
        return True


# Stochastic gradient steps on the hinge loss with a penalty: Pegasos and NORMA.


class ShrinkingHingeRule(NamedTuple):
    """Always: ``a <- (1 - eta_k penalty) a``, and ``a += eta_k y`` where ``a.y < margin``; eta_k = eta k^-power.

    k counts presentations. A step descends penalty/2 |a|^2 + max(0, margin - a.y). Pegasos (Shalev-Shwartz, Singer,
    Srebro & Cotter 2011, fig. 1 without the projection): eta = 1/penalty, power = 1, margin = 1. NORMA (Kivinen,
    Smola & Williamson 2004): a rate of its own, power = 1/2 or 0.
    """

    penalty: float
    eta: float
    power: float
    margin: float

    def violates(self, m, s):
        return True

    def keep(self, m, s):
        return max(0.0, 1.0 - self.eta * s.visit**-self.power * self.penalty)

    def gain(self, m, s):
        return self.eta * s.visit**-self.power if m < self.margin else 0.0

    def negligible(self, m, s):
        return m >= self.margin
