"""Rules whose weights are a function of a sum of patterns: balanced Winnow, p-norm Perceptron, ALMA_p."""

import math
from typing import NamedTuple

from separatrix.rules.base import rule

# Balanced Winnow (DHS alg. 7) as an additive rule behind a hyperbolic sine.


@rule(loop="winnow")
class WinnowRule(NamedTuple):
    """``w.y <= 0``: ``theta += y``, ``w = 2 sinh(rate theta)``, rate = ln alpha.

    The same as a+ *= alpha^y, a- *= alpha^-y with w = a+ - a-, started at ones. With ``stage_updates`` > 0 it searches:
    stage j has rate/2^j and stage_updates 4^j updates, then starts afresh.
    """

    rate: float
    stage_updates: float = 0.0

    def violates(self, m, s):
        return m <= 0.0


@rule(loop="winnow")
class OneSidedWinnowRule(NamedTuple):
    """A mistake on the positive class corrects a+ alone, one on the other class a- alone: ``a *= alpha^x`` with the row
    as it is (the text above DHS alg. 7). rate = ln(alpha)/2."""

    rate: float
    stage_updates: float = 0.0

    def violates(self, m, s):
        return m <= 0.0


# The p-norm Perceptron and ALMA_p (Grove, Littlestone & Schuurmans 2001; Gentile 2003; Gentile, JMLR 2, 2001).


@rule(loop="p_norm")
class PNormRule(NamedTuple):
    """``w.y <= 0``: ``theta += y``, w = grad |theta|_p^2/2, that is ``w_j ~ sign(theta_j) |theta_j|^(p - 1)``.

    p = 2 is the Perceptron.
    """

    p: float

    def violates(self, m, s):
        return m <= 0.0

    def gain(self, m, s):
        return 1.0


@rule(loop="p_norm")
class AlmaPRule(NamedTuple):
    """``w.y/X <= (1 - alpha) B sqrt((p - 1)/k)``: ``theta += C/sqrt((p - 1) k) y/X``, then ``w /= max(1, |w|_q)``.

    X >= |y|_p of all patterns; B = sqrt(8)/alpha and C = sqrt(2) are those of the theorem; k starts at 1. p = 2 is
    ALMA_2.
    """

    p: float
    alpha: float
    peak: float

    def violates(self, m, s):
        threshold = (1.0 - self.alpha) * math.sqrt(8.0) / self.alpha * math.sqrt((self.p - 1.0) / s.t)
        return m <= threshold * self.peak

    def gain(self, m, s):
        return math.sqrt(2.0) / math.sqrt((self.p - 1.0) * s.t) / self.peak

    def shrink(self, s):
        return 1.0 / math.sqrt(s.norm2) if s.norm2 > 1.0 else 1.0


def p_norm_radius(peak: float, radius: float, p: float) -> float:
    """max |y|_p is at most max |y_j|^(1 - 2/p) R^(2/p), as |y|_p^p <= max |y_j|^(p - 2) |y|_2^2."""
    return peak ** (1.0 - 2.0 / p) * radius ** (2.0 / p)
