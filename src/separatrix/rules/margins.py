"""Rules that ask for a margin: Perceptrons with a margin, ALMA, CRAMMA and what led to them."""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from separatrix.rules.base import rule

# The margin Perceptron and its incremental search (TAO 16-20).


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


# The Perceptron with margin whose vector shrinks before every correction (Panagiotakopoulos & Tsampouka 2012).


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


# The Margitron (Panagiotakopoulos & Tsampouka 2008): the Perceptron with a margin that grows with its vector.


class MargitronRule(NamedTuple):
    """``a.y <= margin |a|^(1 - epsilon)``: ``a += y``. epsilon = 1 is the Perceptron with margin."""

    margin: float
    epsilon: float

    def violates(self, m, s):
        return m <= self.margin * s.norm2 ** (0.5 - 0.5 * self.epsilon)

    def gain(self, m, s):
        return 1.0


# The Perceptron with dynamic margin (Panagiotakopoulos & Tsampouka, 2011).


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


# Fixed directional margin (CRAMMA section 2, reference 8).


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


# CRAMMA^eps, the constant rate approximate maximum margin algorithm (CRAMMA fig. 1, theorem 1).


@rule(unit_patterns=True, starts_on_first=True)
class CrammaRule(NamedTuple):
    """``u.y <= beta / t^power``: ``u <- (u + eta y) / |.|``, patterns divided by R, t = 1 at the first pattern.

    ``eta`` is the effective rate eta_0 (beta/R)^-delta of theorem 1.
    """

    beta: float
    power: float
    eta: float

    def violates(self, m, s):
        return m <= self.beta * s.t**-self.power * math.sqrt(s.norm2)

    def gain(self, m, s):
        return self.eta * math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0

    def shrink(self, s):
        return 1.0 / math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0


# MICRA^(eps, zeta), rules controlled by the number of mistakes (Tsampouka & Shawe-Taylor, ICML 2007).


@rule(unit_patterns=True, starts_on_first=True)
class MicraRule(NamedTuple):
    """``u.y <= beta / t^power``: ``u <- (u + eta t^-decay y) / |.|``, patterns divided by R.

    CRAMMA is the case decay = 0; here the effective rate falls with the number of mistakes as well.
    """

    beta: float
    power: float
    eta: float
    decay: float

    def violates(self, m, s):
        return m <= self.beta * s.t**-self.power * math.sqrt(s.norm2)

    def gain(self, m, s):
        return self.eta * s.t**-self.decay * math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0

    def shrink(self, s):
        return 1.0 / math.sqrt(s.norm2) if s.norm2 > 0.0 else 1.0


# ALMA_2, Gentile's approximate large margin algorithm (JMLR 2, 2001; CRAMMA note 1).


@rule(unit_patterns=True)
class AlmaRule(NamedTuple):
    """``w.y <= (1 - alpha) B / sqrt(k)``: ``w += C / sqrt(k) y``, then projected on the unit ball.

    Patterns are divided by R; B = sqrt(8)/alpha and C = sqrt(2) are those of the theorem; k starts at 1.
    """

    alpha: float

    def violates(self, m, s):
        return m <= (1.0 - self.alpha) * math.sqrt(8.0) / self.alpha / math.sqrt(s.t)

    def gain(self, m, s):
        return math.sqrt(2.0) / math.sqrt(s.t)

    def shrink(self, s):
        return 1.0 / math.sqrt(s.norm2) if s.norm2 > 1.0 else 1.0


# The Ballseptron (Shalev-Shwartz & Singer, COLT 2005).


@rule(additive=False)
class BallseptronRule(NamedTuple):
    """``u.y <= ball``, u = a/|a|: a mistake adds y; otherwise ``a += y - ball u``, the worst point of a ball around y.

    Every point of a ball of this radius is to be on its side. a may become a combination with negative multiples.
    """

    ball: float

    def violates(self, m, s):
        return m <= self.ball * math.sqrt(s.norm2)

    def keep(self, m, s):
        return 1.0 if m <= 0.0 else 1.0 - self.ball * s.weight / math.sqrt(s.norm2)

    def gain(self, m, s):
        return 1.0
