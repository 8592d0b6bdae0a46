"""Passive-aggressive I and II (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, JMLR 7, 2006)."""

from typing import NamedTuple


class PassiveAggressiveRule(NamedTuple):
    """``a.y < 1 - tol``: ``a += min(cap, (1 - a.y) / (|y|^2 + soften/weight)) y``.

    PA-I: cap = C weight, soften = 0. PA-II: no cap, soften = 1/(2C). C = inf is the plain algorithm, that is
    relaxation with b = 1, eta = 1.
    """

    cap: float
    soften: float
    tol: float

    def violates(self, m, s):
        return m < 1.0 - self.tol

    def weighted_gain(self, m, s):
        bottom = s.yy + self.soften / s.weight
        return min(self.cap * s.weight, (1.0 - m) / bottom) if bottom > 0.0 else 0.0
