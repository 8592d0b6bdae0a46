"""The p-norm Perceptron (Grove, Littlestone & Schuurmans 2001; Gentile 2003)."""

from typing import NamedTuple

from separatrix.rules.base import rule


@rule(loop="p_norm")
class PNormRule(NamedTuple):
    """``w.y <= 0``: ``theta += y``, ``w_j ~ sign(theta_j) |theta_j|^(p - 1)``. p = 2 is the Perceptron."""

    p: float
