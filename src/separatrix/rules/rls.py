"""Recursive least squares (DHS eqs. 71-73)."""

from typing import NamedTuple

from separatrix.rules.base import rule


@rule(additive=False, loop="least_squares")
class RlsRule(NamedTuple):
    """Always: ``R <- (R^-1 + c y y^t)^-1``, ``a += c R (1 - a.y) y``. R_1 = I/ridge gives the ridge solution."""

    ridge: float
