"""The margin-fuzzy Perceptron (GREEDY alg. 4)."""

import math
from typing import NamedTuple


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


class MarginFuzzyPrintedRule(NamedTuple):
    """Algorithm 4 as it is printed: ``a.y <= 0``: ``a += eta y``. It ends when no correction of an epoch was one of an
    error beyond the band, ``a.y <= -width |w|``."""

    width: float
    eta: float

    def violates(self, m, s):
        return m <= 0.0

    def gain(self, m, s):
        return self.eta

    def negligible(self, m, s):
        return m > -self.width * math.sqrt(s.flat2)
