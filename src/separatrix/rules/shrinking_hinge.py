"""Stochastic gradient steps on the hinge loss with a penalty: Pegasos and NORMA."""

from typing import NamedTuple


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
