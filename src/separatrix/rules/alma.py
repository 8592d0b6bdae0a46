"""ALMA_2, Gentile's approximate large margin algorithm (JMLR 2, 2001; CRAMMA note 1)."""

import math
from typing import NamedTuple

from separatrix.rules.base import rule


@rule(unit_patterns=True)
class AlmaRule(NamedTuple):
    """``w.y <= (1 - alpha) B / sqrt(k)``: ``w += C / sqrt(k) y``, then projected on the unit ball.

    Patterns are divided by R; B = sqrt(8)/alpha and C = sqrt(2) are those of the theorem; k starts at 1.
    """

    alpha: float

    def violates(self, m, s):
        return m <= (1.0 - self.alpha) * math.sqrt(8.0) / self.alpha / math.sqrt(s.t)

    def gain(self, m, s):
        return math.sqrt(2.0) / math.sqrt(s.t)

    def shrink(self, s):
        return 1.0 / math.sqrt(s.norm2) if s.norm2 > 1.0 else 1.0
