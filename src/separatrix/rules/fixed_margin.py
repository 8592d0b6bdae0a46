"""Fixed directional margin (CRAMMA section 2, reference 8)."""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from separatrix.rules.base import rule


@rule(unit_patterns=True, starts_on_first=True)
class FixedMarginRule(NamedTuple):
    """``u.y <= beta``: ``u <- (u + eta y/R) / |.|``; patterns are divided by R, so beta here is beta/R.

    The effective rate eta is constant. It ends only if beta < gamma_d, with a margin above beta.
    """

    beta: float
    eta: float

    def violates(self, m, s):
        return m <= self.beta * math.sqrt(s.norm2)

    def gain(self, m, s):
        return self.eta * math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0

    def shrink(self, s):
        return 1.0 / math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0


@register_jitable
def stage(ends, update):
    """The number of the stage that an update belongs to; beyond all of them the last."""
    return min(np.searchsorted(ends, update), ends.shape[0] - 1)


@rule(unit_patterns=True, starts_on_first=True)
class FixedMarginSearchRule(NamedTuple):
    """The same with a beta that is not known: stage j asks for ``betas[j]`` at the rate ``etas[j]``, until updates in
    all come to ``ends[j]``; the next one starts afresh. The tables are those of `search_stages`."""

    betas: np.ndarray
    etas: np.ndarray
    ends: np.ndarray

    def violates(self, m, s):
        return m <= self.betas[stage(self.ends, s.t)] * math.sqrt(s.norm2)

    def gain(self, m, s):
        return self.etas[stage(self.ends, s.t)] * math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0

    def shrink(self, s):
        if self.ends[stage(self.ends, s.t - 1.0)] == s.t - 1.0:
            return 0.0
        return 1.0 / math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0


def search_stages(factor: float, eta: float, least: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """betas, rates and ends of the stages: guesses g = 1, factor, factor^2, ... of gamma_d/R, down to ``least``.

    A stage asks for beta = factor g. With the rate min(eta, g (1 - factor)/3) the bracket of CRAMMA eq. 9 is positive
    for every gamma_d >= g R, so that such a stage ends by itself before its updates are used up; the first of them is
    the start.
    """
    count = 1 + math.floor(math.log(least) / math.log(factor) + 1e-9)
    guesses = factor ** np.arange(count)
    etas = np.minimum(eta, guesses * (1.0 - factor) / 3.0)
    brackets = guesses - (1.0 + etas) * (etas / 2.0 + factor * guesses)
    return factor * guesses, etas, np.cumsum(np.ceil(1.0 / (etas * brackets)) + 1.0)
