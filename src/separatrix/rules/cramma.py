"""CRAMMA^eps, the constant rate approximate maximum margin algorithm (CRAMMA fig. 1, theorem 1)."""

import math
from typing import NamedTuple

from separatrix.rules.base import rule


@rule(unit_patterns=True, starts_on_first=True)
class CrammaRule(NamedTuple):
    """``u.y <= beta / t^power``: ``u <- (u + eta y) / |.|``, patterns divided by R, t = 1 at the first pattern.

    ``eta`` is the effective rate eta_0 (beta/R)^-delta of theorem 1.
    """

    beta: float
    power: float
    eta: float

    def violates(self, m, s):
        return m <= self.beta * s.t**-self.power * math.sqrt(s.norm2)

    def gain(self, m, s):
        return self.eta * math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0

    def shrink(self, s):
        return 1.0 / math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0
