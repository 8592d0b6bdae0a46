"""The fuzzy Perceptron (GREEDY alg. 3, definitions 19-21; Keller & Hunt 1985)."""

from typing import NamedTuple

import numpy as np


class FuzzyRule(NamedTuple):
    """``a.y <= 0`` and the pattern is not fuzzy: ``a += eta |p1 - p2|^m y``.

    |p1 - p2|^m reaches the rule as the pattern's weight, which is 0 for a fuzzy pattern.
    """

    eta: float

    def violates(self, m, s):
        return m <= 0.0 and s.weight > 0.0

    def gain(self, m, s):
        return self.eta


def membership(own: np.ndarray, other: np.ndarray, between: float, c: float) -> np.ndarray:
    """How much a pattern belongs to its own class, in [0.5, 1] near the two means (definition 21).

    ``own`` and ``other`` are the distances to the mean of its class and of the other class, ``between`` that of the
    two means.
    """
    x = (other - own) / between
    return 0.5 + np.expm1(c * (x + 1.0)) / (2.0 * np.expm1(2.0 * c))


def fuzzy_weights(p: np.ndarray, m: float, fuzz: float) -> np.ndarray:
    """|p1 - p2|^m, 0 where both memberships lie in [0.5 - fuzz, 0.5 + fuzz] (definitions 19 and 20)."""
    return np.where(np.abs(p - 0.5) <= fuzz, 0.0, np.abs(2.0 * p - 1.0) ** m)
