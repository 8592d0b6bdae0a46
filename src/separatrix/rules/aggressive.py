"""Rules that correct a pattern as far as it asks: relaxation, passive-aggressive steps, ROMMA, MIRA."""

import math
from typing import NamedTuple

from numba.extending import register_jitable

# Single-sample relaxation with margin (DHS alg. 9), and how a weight enters steps that contract.


@register_jitable
def repeated(eta, c):
    """1 - (1 - eta)^c: what c steps that each remove the fraction eta of the rest remove together.

    For eta > 1 and a fractional c the power is continued by its real part.
    """
    if c == 1.0:
        return eta
    rest = 1.0 - eta
    if rest >= 0.0:
        return 1.0 - rest**c
    return 1.0 - (-rest) ** c * math.cos(math.pi * c)


class RelaxationRule(NamedTuple):
    """``a.y <= b (1 - tol)``: ``a += eta (b - a.y)/|y|^2 y``, 0 < eta < 2, b > 0.

    With tol = 0 and eta <= 1 it would approach a.y = b and never pass it in finitely many steps.
    """

    margin: float
    eta: float
    tol: float

    def violates(self, m, s):
        return m <= self.margin * (1.0 - self.tol)

    def weighted_gain(self, m, s):
        return repeated(self.eta, s.weight) * (self.margin - m) / s.yy if s.yy > 0.0 else 0.0


# Passive-aggressive I and II (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, JMLR 7, 2006).


class PassiveAggressiveRule(NamedTuple):
    """``a.y < 1 - tol``: ``a += min(cap, (1 - a.y) / (|y|^2 + soften/weight)) y``.

    PA-I: cap = C weight, soften = 0. PA-II: no cap, soften = 1/(2C). C = inf is the plain algorithm, that is
    relaxation with b = 1, eta = 1.
    """

    cap: float
    soften: float
    tol: float

    def violates(self, m, s):
        return m < 1.0 - self.tol

    def weighted_gain(self, m, s):
        bottom = s.yy + self.soften / s.weight
        return min(self.cap * s.weight, (1.0 - m) / bottom) if bottom > 0.0 else 0.0


# ROMMA, the relaxed online maximum margin algorithm (Li & Long, Machine Learning 46, 2002).


class RommaRule(NamedTuple):
    """``a.y <= threshold``: a becomes the shortest vector with a'.y >= 1 and a'.a >= |a|^2.

    threshold = 0 corrects mistakes only, 1 - tol is the aggressive form. Both constraints tight give
    ``a' = c a + d y``; where y/|y|^2 alone satisfies the second one (a.y >= |a|^2 |y|^2), it is the answer, c = 0.
    So c and d are never negative, and the multipliers of the patterns stay a certificate.
    """

    threshold: float

    def violates(self, m, s):
        return m <= self.threshold

    def keep(self, m, s):
        both = s.yy * s.norm2
        return (both - m) / (both - m * m) if both > m and both > m * m else 0.0

    def gain(self, m, s):
        both = s.yy * s.norm2
        if both > m and both > m * m:
            return s.norm2 * (1.0 - m) / (both - m * m)
        return 1.0 / s.yy if s.yy > 0.0 else 0.0

    def shrink(self, s):
        # Where nothing separates, a grows without end; once it is that long, the 1 of a'.y >= 1 no longer matters.
        return 1e-12 if s.norm2 * s.radius2 > 1e60 else 1.0


# MIRA: passive-aggressive I and II with all rivals of a row at once.


@register_jitable
def steps(losses, square, delta2, cap, soften, tau):
    """Set tau of each rival from its loss; ``square`` = |y|^2 without the extension (MIRA: Crammer & Singer, JMLR 3,
    2003; Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, JMLR 7, 2006, for C).

    Row y of class i, with the losses l_j = 1 - (a_i - a_j).y, changes a as little as possible:

        minimise  |a' - a|^2/2 + C xi (I) or C xi^2 (II)    with  (a'_i - a'_j).y >= 1 - xi for every rival j

    The minimum is ``a_i += sum tau_j y``, ``a_j -= tau_j y`` with tau_j = max(0, l_j - level)/(|y|^2 + Delta^2): the
    largest losses are levelled. Without a cap level = (|y|^2 + soften) S, S = sum tau, soften = 0 (I) or 1/(2C) (II);
    in I S is at most C, which raises the level.
    """
    total, k, level = 0.0, 0, 0.0
    for j in range(losses.shape[0]):
        tau[j] = 0.0
    while True:  # take in the largest loss that is left, as long as it is above the level
        best = -1
        for j in range(losses.shape[0]):
            if tau[j] == 0.0 and losses[j] > level and (best < 0 or losses[j] > losses[best]):
                best = j
        if best < 0:
            break
        tau[best] = 1.0
        total, k = total + losses[best], k + 1
        level = level_of(total, k, square, delta2, cap, soften)
    for j in range(losses.shape[0]):
        tau[j] = max(0.0, losses[j] - level) / (square + delta2) if tau[j] > 0.0 else 0.0


@register_jitable
def level_of(total, k, square, delta2, cap, soften):
    """Return the level of k losses with this sum."""
    sum_of_steps = total / (square + delta2 + k * (square + soften))
    if sum_of_steps > cap:
        return (total - cap * (square + delta2)) / k
    return (square + soften) * sum_of_steps
