"""The Margitron (Panagiotakopoulos & Tsampouka 2008): the Perceptron with a margin that grows with its vector."""

from typing import NamedTuple


class MargitronRule(NamedTuple):
    """``a.y <= margin |a|^(1 - epsilon)``: ``a += y``. epsilon = 1 is the Perceptron with margin."""

    margin: float
    epsilon: float

    def violates(self, m, s):
        return m <= self.margin * s.norm2 ** (0.5 - 0.5 * self.epsilon)

    def gain(self, m, s):
        return 1.0
