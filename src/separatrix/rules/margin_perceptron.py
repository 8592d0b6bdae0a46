"""The margin Perceptron and its incremental search (TAO 16-20)."""

import math
from typing import NamedTuple


class MarginPerceptronRule(NamedTuple):
    """``u.y < g/2`` or ``a.y <= 0``, with a guess g of the margin: ``a += y``.

    If g <= gamma_d it ends after at most 12 R^2/gamma_d^2 updates, with a margin of at least g/2.
    """

    guess: float

    def violates(self, m, s):
        return m <= 0.0 or m < 0.5 * self.guess * math.sqrt(s.norm2)

    def gain(self, m, s):
        return 1.0


class IncrementalMarginRule(NamedTuple):
    """The same with g = R, halved and started afresh whenever 12 R^2/g^2 updates pass without an end.

    Stage j has g = R/2^j and 12 4^j updates, so it ends after 4 (4^(j+1) - 1) updates in all: stage and guess are
    functions of the number of updates alone.
    """

    radius: float

    def violates(self, m, s):
        if m <= 0.0:
            return True
        guess, end = self.radius, 16.0
        while s.t + 3.0 >= end:
            guess, end = 0.5 * guess, 4.0 * end
        return m < 0.5 * guess * math.sqrt(s.norm2)

    def gain(self, m, s):
        return 1.0

    def shrink(self, s):
        end = 16.0
        while s.t + 3.0 > end:
            end *= 4.0
        return 0.0 if s.t + 3.0 == end else 1.0


def stages(radius: float, min_guess: float) -> int:
    """How many guesses R, R/2, R/4, ... are at least ``min_guess``."""
    return max(1, 1 + math.floor(math.log2(radius) - math.log2(min_guess) + 1e-12))


def updates_of_stages(count: int) -> int:
    """All updates that so many stages may take: 12 + 48 + ... = 4 (4^count - 1)."""
    return 4 * (4**count - 1)
