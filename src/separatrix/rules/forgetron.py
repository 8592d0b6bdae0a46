"""The Forgetron: a Perceptron in a budget of rows, which shrinks its vector and drops the oldest of them.

Dekel, Shalev-Shwartz & Singer, The Forgetron: A Kernel-Based Perceptron on a Budget, SIAM J. Computing 37 (2008), the
self-tuned form. Patterns are divided by R, so that K(x, x) <= 1.
"""

import math

SHARE = 15.0 / 32.0  # of the mistakes that all removals may cost


def removal_cost(size: float, mu: float) -> float:
    """Psi = l^2 + 2l - 2 l mu: what the removal of l y costs at most, where mu = a.y before it (eq. 3.3)."""
    return size * size + 2.0 * size - 2.0 * size * mu


def shrinking(sigma: float, mu: float, spent: float, mistakes: float) -> float:
    """The largest phi <= 1 with spent + Psi(sigma phi, mu phi) <= 15/32 mistakes (section 5).

    ``sigma``: the multiple of the oldest pattern y, ``mu`` = a.y; Psi = a phi^2 + b phi with a = sigma^2 - 2 sigma mu,
    b = 2 sigma. A phi of 1 does, or the first zero of a phi^2 + b phi + c does, c = spent - 15/32 mistakes < 0.
    """
    a, b, c = sigma * sigma - 2.0 * sigma * mu, 2.0 * sigma, spent - SHARE * mistakes
    if a + b + c <= 0.0:
        return 1.0
    return min(1.0, -2.0 * c / (b + math.sqrt(max(b * b - 4.0 * a * c, 0.0))))
