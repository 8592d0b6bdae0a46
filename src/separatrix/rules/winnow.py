"""Balanced Winnow (DHS alg. 7) as an additive rule behind a hyperbolic sine."""

from typing import NamedTuple

from separatrix.rules.base import rule


@rule(loop="winnow")
class WinnowRule(NamedTuple):
    """``w.y <= 0``: ``theta += y``, ``w = 2 sinh(rate theta)``, rate = ln alpha.

    The same as a+ *= alpha^y, a- *= alpha^-y with w = a+ - a-, started at ones. With ``stage_updates`` > 0 it searches:
    stage j has rate/2^j and stage_updates 4^j updates, then starts afresh.
    """

    rate: float
    stage_updates: float = 0.0


@rule(loop="winnow")
class OneSidedWinnowRule(NamedTuple):
    """A mistake on the positive class corrects a+ alone, one on the other class a- alone: ``a *= alpha^x`` with the row
    as it is (the text above DHS alg. 7). rate = ln(alpha)/2."""

    rate: float
    stage_updates: float = 0.0
