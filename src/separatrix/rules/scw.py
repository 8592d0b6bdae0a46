"""Soft confidence-weighted learning I and II (Wang, Zhao & Hoi, ICML 2012)."""

import math
from typing import NamedTuple

from separatrix.rules.base import rule, weighted_gain


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
