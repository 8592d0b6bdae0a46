"""Fixed directional margin (CRAMMA section 2, reference 8)."""

import math
from typing import NamedTuple

from separatrix.rules.base import rule


@rule(unit_patterns=True, starts_on_first=True)
class FixedMarginRule(NamedTuple):
    """``u.y <= beta``: ``u <- (u + eta y/R) / |.|``; patterns are divided by R, so beta here is beta/R.

    The effective rate eta is constant. It ends only if beta < gamma_d, with a margin above beta.
    """

    beta: float
    eta: float

    def violates(self, m, s):
        return m <= self.beta * math.sqrt(s.norm2)

    def gain(self, m, s):
        return self.eta * math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0

    def shrink(self, s):
        return 1.0 / math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0
