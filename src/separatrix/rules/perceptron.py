"""The Perceptron, with margin and with a variable increment (PERC fig. 3.2, GREEDY alg. 1, DHS algs. 4 and 5)."""

from typing import NamedTuple

import numpy as np


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
