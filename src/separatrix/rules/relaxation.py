"""Single-sample relaxation with margin (DHS alg. 9), and how a weight enters steps that contract."""

import math
from typing import NamedTuple

from numba.extending import register_jitable


@register_jitable
def repeated(eta, c):
    """1 - (1 - eta)^c: what c steps that each remove the fraction eta of the rest remove together.

    For eta > 1 and a fractional c the power is continued by its real part.
    """
    if c == 1.0:
        return eta
    rest = 1.0 - eta
    if rest >= 0.0:
        return 1.0 - rest**c
    return 1.0 - (-rest) ** c * math.cos(math.pi * c)


class RelaxationRule(NamedTuple):
    """``a.y <= b (1 - tol)``: ``a += eta (b - a.y)/|y|^2 y``, 0 < eta < 2, b > 0.

    With tol = 0 and eta <= 1 it would approach a.y = b and never pass it in finitely many steps.
    """

    margin: float
    eta: float
    tol: float

    def violates(self, m, s):
        return m <= self.margin * (1.0 - self.tol)

    def weighted_gain(self, m, s):
        return repeated(self.eta, s.weight) * (self.margin - m) / s.yy if s.yy > 0.0 else 0.0
