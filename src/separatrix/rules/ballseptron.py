"""The Ballseptron (Shalev-Shwartz & Singer, COLT 2005)."""

import math
from typing import NamedTuple

from separatrix.rules.base import rule


@rule(additive=False)
class BallseptronRule(NamedTuple):
    """``u.y <= ball``, u = a/|a|: a mistake adds y; otherwise ``a += y - ball u``, the worst point of a ball around y.

    Every point of a ball of this radius is to be on its side. a may become a combination with negative multiples.
    """

    ball: float

    def violates(self, m, s):
        return m <= self.ball * math.sqrt(s.norm2)

    def keep(self, m, s):
        return 1.0 if m <= 0.0 else 1.0 - self.ball * s.weight / math.sqrt(s.norm2)

    def gain(self, m, s):
        return 1.0
