"""AROW (Crammer, Kulesza & Dredze, NIPS 2009), and the second-order Perceptron as its conservative form."""

from typing import NamedTuple

from separatrix.rules.base import rule


@rule(additive=False, loop="confidence")
class ArowRule(NamedTuple):
    """``a.y <= threshold``: ``a += (1 - a.y)/(v + r) S y``, ``S^-1 += y y^t / r`` with v = y.S y, S_1 = I.

    threshold = 1 - tol is AROW (their fig. 1; its beta S y y^t S taken from S is the same as adding to the inverse).
    threshold = 0 with r = a is the second-order Perceptron (Cesa-Bianchi, Conconi & Gentile 2005): from its sums
    V = sum y and A = a I + sum y y^t over mistakes, a.y has the sign of V.(A + y y^t)^-1 y, and A^-1 V is this a.
    A weight c divides r by c: c copies in a row, where all of them are corrected.
    """

    threshold: float
    r: float

    def violates(self, m, s):
        return m <= self.threshold

    def weighted_gain(self, m, s):
        return (1.0 - m) / (s.yy + self.r / s.weight)

    def precision(self, m, s):
        return s.weight / self.r
