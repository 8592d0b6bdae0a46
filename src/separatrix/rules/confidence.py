"""Rules that keep a covariance of their weights: AROW and soft confidence-weighted learning."""

import math
from typing import NamedTuple

from separatrix.rules.base import rule, weighted_gain

# AROW (Crammer, Kulesza & Dredze, NIPS 2009), and the second-order Perceptron as its conservative form.


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


# Soft confidence-weighted learning I and II (Wang, Zhao & Hoi, ICML 2012).


@rule(additive=False, loop="confidence")
class ScwRule(NamedTuple):
    """``a.y <= phi sqrt(v) (1 - tol)``: ``a += g S y``, ``S^-1 += g phi/sqrt(u) y y^t`` with v = y.S y, S_1 = I.

    g = (phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2)) - m (2 n + phi^2 v)) / (2 n (n + v phi^2)), at most ``cap``, with
    m = a.y and n = v + soften; sqrt(u) = (sqrt(g^2 v^2 phi^2 + 4 v) - g v phi)/2. SCW-I (proposition 1): cap = C,
    soften = 0. SCW-II (proposition 2): no cap, soften = 1/(2C). A weight multiplies C. phi is the quantile of the
    confidence: after an uncapped correction the pattern is right with that probability.
    """

    phi: float
    cap: float
    soften: float
    tol: float

    def violates(self, m, s):
        return m <= self.phi * math.sqrt(s.yy) * (1.0 - self.tol)

    def weighted_gain(self, m, s):
        v, phi2 = s.yy, self.phi * self.phi
        if v == 0.0:
            return 0.0
        n = v + self.soften / s.weight
        root = self.phi * math.sqrt(phi2 * m * m * v * v + 4.0 * n * v * (n + v * phi2))
        g = (root - m * (2.0 * n + phi2 * v)) / (2.0 * n * (n + v * phi2))
        return min(self.cap * s.weight, max(0.0, g))

    def precision(self, m, s):
        # g phi/sqrt(u), with sqrt(u) = 2 v / (sqrt(..) + g v phi), which does not cancel
        g, v = weighted_gain(self, m, s) * self.phi, s.yy
        return g * (math.sqrt(g * g * v * v + 4.0 * v) + g * v) / (2.0 * v) if v > 0.0 else 0.0
