"""MICRA^(eps, zeta), rules controlled by the number of mistakes (Tsampouka & Shawe-Taylor, ICML 2007)."""

import math
from typing import NamedTuple

from separatrix.rules.base import rule


@rule(unit_patterns=True, starts_on_first=True)
class MicraRule(NamedTuple):
    """``u.y <= beta / t^power``: ``u <- (u + eta t^-decay y) / |.|``, patterns divided by R.

    CRAMMA is the case decay = 0; here the effective rate falls with the number of mistakes as well.
    """

    beta: float
    power: float
    eta: float
    decay: float

    def violates(self, m, s):
        return m <= self.beta * s.t**-self.power * math.sqrt(s.norm2)

    def gain(self, m, s):
        return self.eta * s.t**-self.decay * math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0

    def shrink(self, s):
        return 1.0 / math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0
