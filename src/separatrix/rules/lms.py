"""LMS, the Widrow-Hoff rule (DHS alg. 10, eq. 61)."""

import math
from typing import NamedTuple

import numpy as np

from separatrix.rules.base import rule, weighted_gain
from separatrix.rules.relaxation import repeated


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
