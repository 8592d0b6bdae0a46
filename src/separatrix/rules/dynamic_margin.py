"""The Perceptron with dynamic margin (Panagiotakopoulos & Tsampouka, 2011)."""

from typing import NamedTuple


class DynamicMarginRule(NamedTuple):
    """``a.y <= (1 - epsilon) |a|^2 / sum alpha``: ``a += y``.

    |a| / sum alpha bounds gamma_d from above, so it ends with a margin of at least (1 - epsilon) gamma_d and needs no
    guess.
    """

    epsilon: float

    def violates(self, m, s):
        return m * s.total <= (1.0 - self.epsilon) * s.norm2

    def gain(self, m, s):
        return 1.0
