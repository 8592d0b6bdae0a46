"""Perceptrons: every mistake adds its pattern, whatever the margin (PERC fig. 3.2, GREEDY, DHS algs. 4 and 5)."""

import math
from typing import NamedTuple

import numpy as np

from separatrix.rules.base import rule

# The Perceptron, with margin and with a variable increment (PERC fig. 3.2, GREEDY alg. 1, DHS algs. 4 and 5).


class PerceptronRule(NamedTuple):
    """``a.y <= b``: ``a += eta k^power y``; k counts corrections, so power = -1 is eta/k and power = 1 is eta k."""

    margin: float = 0.0
    eta: float = 1.0
    power: float = 0.0

    def violates(self, m, s):
        return m <= self.margin

    def gain(self, m, s):
        return self.eta if self.power == 0.0 else self.eta * s.t**self.power


class TabulatedPerceptronRule(NamedTuple):
    """The same with rates from a table: ``rates[k - first]`` for correction k. It serves any Python function eta(k)."""

    margin: float
    first: float
    rates: np.ndarray

    def violates(self, m, s):
        return m <= self.margin

    def gain(self, m, s):
        return self.rates[int(s.t - self.first)]


# The greedy Perceptron (GREEDY alg. 2).


@rule(loop="greedy")
class GreedyRule(NamedTuple):
    """``a.y <= 0``: ``a += eta* y``, eta* the first of ``etas`` that minimises the 0-1 loss after the update."""

    etas: np.ndarray

    def violates(self, m, s):
        return m <= 0.0


# The fuzzy Perceptron (GREEDY alg. 3, definitions 19-21; Keller & Hunt 1985).


class FuzzyRule(NamedTuple):
    """``a.y <= 0`` and the pattern is not fuzzy: ``a += eta |p1 - p2|^m y``.

    |p1 - p2|^m reaches the rule as the pattern's weight, which is 0 for a fuzzy pattern.
    """

    eta: float

    def violates(self, m, s):
        return m <= 0.0 and s.weight > 0.0

    def gain(self, m, s):
        return self.eta


def membership(own: np.ndarray, other: np.ndarray, between: float, c: float) -> np.ndarray:
    """How much a pattern belongs to its own class, in [0.5, 1] near the two means (definition 21).

    ``own`` and ``other`` are the distances to the mean of its class and of the other class, ``between`` that of the
    two means.
    """
    x = (other - own) / between
    return 0.5 + np.expm1(c * (x + 1.0)) / (2.0 * np.expm1(2.0 * c))


def fuzzy_weights(p: np.ndarray, m: float, fuzz: float) -> np.ndarray:
    """|p1 - p2|^m, 0 where both memberships lie in [0.5 - fuzz, 0.5 + fuzz] (definitions 19 and 20)."""
    return np.where(np.abs(p - 0.5) <= fuzz, 0.0, np.abs(2.0 * p - 1.0) ** m)


# The margin-fuzzy Perceptron (GREEDY alg. 4).


class MarginFuzzyRule(NamedTuple):
    """``a.y <= -width |w|`` (a = 0 counts as an error): ``a += eta y``. Errors closer than ``width`` are left alone.

    |w| is a without the bias coordinate, so the width is a distance in the space of the data; measured with |a| a
    constant classifier would pass once width > rho.
    """

    width: float
    eta: float

    def violates(self, m, s):
        return m <= -self.width * math.sqrt(s.flat2)

    def gain(self, m, s):
        return self.eta
