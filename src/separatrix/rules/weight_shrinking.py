"""The Perceptron with margin whose vector shrinks before every correction (Panagiotakopoulos & Tsampouka 2012)."""

from typing import NamedTuple


class WeightShrinkingRule(NamedTuple):
    """``a.y <= margin``: ``a <- (1 - shrinking) a + y``. shrinking = 0 is the Perceptron with margin."""

    margin: float
    shrinking: float

    def violates(self, m, s):
        return m <= self.margin

    def keep(self, m, s):
        return 1.0 - self.shrinking

    def gain(self, m, s):
        return 1.0
