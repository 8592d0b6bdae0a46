"""ROMMA, the relaxed online maximum margin algorithm (Li & Long, Machine Learning 46, 2002)."""

from typing import NamedTuple


class RommaRule(NamedTuple):
    """``a.y <= threshold``: a becomes the shortest vector with a'.y >= 1 and a'.a >= |a|^2.

    threshold = 0 corrects mistakes only, 1 - tol is the aggressive form. Both constraints tight give
    ``a' = c a + d y``; where y/|y|^2 alone satisfies the second one (a.y >= |a|^2 |y|^2), it is the answer, c = 0.
    So c and d are never negative, and the multipliers of the patterns stay a certificate.
    """

    threshold: float

    def violates(self, m, s):
        return m <= self.threshold

    def keep(self, m, s):
        both = s.yy * s.norm2
        return (both - m) / (both - m * m) if both > m and both > m * m else 0.0

    def gain(self, m, s):
        both = s.yy * s.norm2
        if both > m and both > m * m:
            return s.norm2 * (1.0 - m) / (both - m * m)
        return 1.0 / s.yy if s.yy > 0.0 else 0.0

    def shrink(self, s):
        # Where nothing separates, a grows without end; once it is that long, the 1 of a'.y >= 1 no longer matters.
        return 1e-12 if s.norm2 * s.radius2 > 1e60 else 1.0
