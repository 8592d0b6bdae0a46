"""Mistakes of Perceptrons that keep a budget of rows, on any sequence of patterns, separable or not."""

import math


def forgetron(size: float, budget: int, loss: float = 0.0) -> float:
    """The Forgetron makes at most 2 |g|^2 + 4 ``loss`` mistakes, for every g with 4 |g| <= ((B + 1)/ln(B + 1))^(1/2).

    ``size`` = |g|, for patterns divided by R: R/gamma where g has margin 1 on all; ``loss`` = sum max(0, 1 - g.y) over
    the sequence presented; B = ``budget`` of at least 83. Dekel, Shalev-Shwartz & Singer (2008), theorem 5.1.

    >>> forgetron(2.0, budget=500), forgetron(2.0, budget=500, loss=10.0), forgetron(5.0, budget=500)
    (8.0, 48.0, inf)
    """
    if budget < 83 or size > 0.25 * math.sqrt((budget + 1.0) / math.log(budget + 1.0)):
        return math.inf
    return 2.0 * size**2 + 4.0 * loss


def forgetron_run(size: float, shrunk: float, loss: float = 0.0) -> float:
    """`forgetron` after the run, for every g and every budget: at most 32/17 (|g|^2 (1 + S) + 2 ``loss``) mistakes.

    ``shrunk`` = S = the sum of 1 - phi over its steps. Derived here, as the proof of the theorem: a mistake brings the
    vector nearer to g by at least 1 - 2 loss (its square), shrinking takes away at most (1 - phi) |g|^2, and all
    removals together 15/32 of the mistakes.

    >>> forgetron_run(2.0, shrunk=0.0625)
    8.0
    """
    return 32.0 / 17.0 * (size**2 * (1.0 + shrunk) + 2.0 * loss)


def projectron(size: float, error: float, loss: float = 0.0) -> float:
    """The Projectron makes at most (|g|^2 + 2 ``loss``)/(1 - 2 eta |g|) mistakes, for every g with 2 eta |g| < 1.

    ``error`` = eta, the largest distance of a projected pattern from its projection; ``size`` and ``loss`` as of
    `forgetron`. Orabona, Keshet & Caputo (2008), theorem 1.

    >>> projectron(2.0, 0.0), projectron(2.0, 0.125), projectron(2.0, 0.25)
    (4.0, 8.0, inf)
    """
    rest = 1.0 - 2.0 * error * size
    return (size**2 + 2.0 * loss) / rest if rest > 0 else math.inf
