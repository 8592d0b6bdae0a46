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
