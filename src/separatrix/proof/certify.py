"""The two bounds, and certificates made of them.

For any ``alpha >= 0``, not all zero, and ``a = sum alpha_k y_k``, every unit vector u has
``|a| >= u.a = sum alpha_k u.y_k >= (min_k u.y_k) sum alpha_k``. Hence

    lower = min_k u.y_k  <=  gamma_d  <=  |a| / sum alpha_k = upper.

Nothing here trusts a solver: both bounds are computed in float64 from data, a direction and multipliers, and rounded
outwards by bounds on their rounding errors, so ``lower <= upper`` always and `verify` can repeat the proof.
"""

from collections.abc import Sequence
from math import fsum

import numpy as np

from separatrix.patterns.kernel_patterns import KernelPatterns
from separatrix.patterns.plain_patterns import EPS, Patterns
from separatrix.proof.certificate import Certificate
from separatrix.proof.exact import product_sign
from separatrix.space import Vector, best_gamma, norm, objective

# A certificate claims its bounds with this many times the rounding error, `verify` asks for once: a proof survives
# another order of summation.
SLACK = 2.0
MOST_DOUBTFUL = 1000  # rows that are settled in rationals


def separates_exactly(patterns: Patterns, a: Vector) -> bool:
    """Is every a.y_k > 0? In floating point where its error bound allows, else in rationals."""
    margins, error = patterns.margins(a), patterns.margin_error(a)
    if margins.min() < -error:
        return False
    doubtful = np.flatnonzero(margins <= error)
    if len(doubtful) > (MOST_DOUBTFUL if patterns.explicit else 0):
        return False
    return all(product_sign(row, a) > 0 for i in doubtful for row in patterns.dense_rows(np.array([i])))


def separates(patterns: Patterns, a: Vector) -> bool:
    """Is every a.y_k > 0, certainly?"""
    return plain_margin(patterns, a) > 0


def plain_margin(patterns: Patterns, a: Vector, slack: float = SLACK, margins: Vector | None = None) -> float:
    """A certain lower bound on min_k u.y_k in the unextended space, u = a/|a|."""
    a = patterns.unit(a) if margins is None else a
    if not np.all(np.isfinite(a)):
        return -np.inf
    smallest = float((patterns.margins(a) if margins is None else margins).min()) - slack * patterns.margin_error(a)
    shortest, longest = patterns.length_range(a)
    if shortest == 0:
        return -patterns.radius  # no direction at all: what every unit vector reaches
    return _down(smallest / (longest if smallest > 0 else shortest), slack, len(a))


def lower_bound(patterns: Patterns, a: Vector, slack: float = SLACK, margins: Vector | None = None) -> float:
    """A certain lower bound on the margin of a in its space: min u.y, or J^(-1/2) where the space is extended."""
    a = patterns.unit(a) if margins is None else a
    delta = patterns.delta
    if patterns.space.delta == 0 or not np.all(np.isfinite(a)):
        return plain_margin(patterns, a, slack, margins)
    shortest, longest = patterns.length_range(a)
    if longest == 0:  # only a free bias is left, which costs nothing
        slacks = 1.0 - (patterns.margins(a) if patterns.space.free else 0.0) + slack * patterns.margin_error(a)
        return _down(np.sum((np.maximum(slacks, 0.0) / delta) ** 2 * np.ones(patterns.n)) ** -0.5, slack, patterns.n)
    m = (patterns.margins(a) if margins is None else margins) - slack * patterns.margin_error(a)
    m = np.where(m > 0, m / longest, m / max(shortest, np.finfo(np.float64).tiny))
    gamma = best_gamma(m, delta)
    J = objective(m, gamma, delta) if np.isfinite(gamma) else np.sum(np.broadcast_to(delta, patterns.n) ** -2.0)
    with_slack = 1.0 / np.sqrt(J * (1.0 + slack * (patterns.n + 8) * EPS))
    # without slack gamma = min m and J = gamma^-2
    return _down(max(float(with_slack), float(m.min())), slack, len(a))


def upper_bound(patterns: Patterns, index: np.ndarray, alpha: Vector, slack: float = SLACK) -> float:
    """A certain upper bound on the best margin: |sum alpha_k y_k^ext| / sum alpha_k, inf without multipliers."""
    largest = float(alpha.max(initial=0.0))
    if not (0 < largest < np.inf and patterns.definite):
        return np.inf
    alpha = np.ldexp(alpha, -int(np.frexp(largest)[1]))  # the bound does not depend on the scale, its squares do
    total = float(alpha.sum())
    a = patterns.combine(index, alpha)
    delta = np.broadcast_to(patterns.delta, patterns.n)[index]
    error = slack * patterns.combination_error(alpha)
    length = float(np.hypot(patterns.length(a) * (1.0 + slack * len(a) * EPS) + error, norm(delta * alpha)))
    if patterns.space.free:
        # sum alpha_k l_k ought to be 0; what is left of it meets a bias of at most R + margin per unit of length.
        length += slack * abs(fsum(alpha * patterns.labels[index])) * (patterns.radius + length / total)
    rounding = slack * (len(alpha) + 8) * EPS
    return float(length / total * (1.0 + rounding))


def _down(value: float, slack: float, terms: int) -> float:
    """Rounded down by the relative error of a norm of so many terms, and of what else was computed with it."""
    return float(value - (terms + 4.0) * slack * EPS * abs(value))


def certify(
    patterns: Patterns,
    direction: Vector,
    alpha: Vector | None,
    *,
    predicts: bool = True,
    kept: np.ndarray | None = None,
    sample_weight: Vector | None = None,
    margins: Vector | None = None,
) -> Certificate:
    """The certificate of a fitted direction and of the multipliers behind it, None where there are none.

    ``predicts``: whether the direction is what predicts; otherwise it only witnesses separability. ``kept``: the
    numbers of the rows in the user's data. ``margins``: those of the direction's unit vector, where they are at hand.
    """
    direction = patterns.unit(direction)
    if margins is None:
        margins = patterns.margins(direction)
    index, upper = None, np.inf
    if alpha is not None and np.all(np.isfinite(alpha)) and np.all(alpha >= 0):
        index = np.flatnonzero(alpha)
        alpha = np.array(alpha[index])
        upper = upper_bound(patterns, index, alpha)
    if np.isinf(upper):
        index = alpha = None
    elif kept is not None:
        index = patterns.numbering(kept)[index]
    return Certificate(
        lower=lower_bound(patterns, direction, margins=margins) if predicts else None,
        upper=upper,
        separable=True if plain_margin(patterns, direction, margins=margins) > 0 else None,
        space=patterns.space,
        radius=patterns.radius,
        direction=direction,
        alpha_index=index,
        alpha=alpha,
        sample_weight=sample_weight,
        categories=patterns.categories,
        kernel=patterns.kernel if isinstance(patterns, KernelPatterns) else None,
    )


def joint_certificate(certificates: Sequence[Certificate]) -> Certificate:
    """The weakest of several claims: the smallest lower and the smallest upper bound. One claim stands as it is."""
    if len(certificates) == 1:
        return certificates[0]
    lowers = [c.lower for c in certificates]
    measured = [x for x in lowers if x is not None]
    decided = [c.separable for c in certificates]
    separable = False if any(s is False for s in decided) else (True if all(decided) else None)
    return Certificate(
        lower=min(measured) if len(measured) == len(lowers) else None,
        upper=min(c.upper for c in certificates),
        separable=separable,
        space=certificates[0].space,
        radius=max(c.radius for c in certificates),
        sample_weight=certificates[0].sample_weight,
    )


def accumulated(patterns: Patterns, direction: Vector, upper: float, radius: float) -> Certificate:
    """The certificate of a run over blocks: nothing is measured, and the bound rests on sums that were kept."""
    return Certificate(None, upper, None, patterns.space, radius, direction, categories=patterns.categories)


def refutation(
    patterns: Patterns,
    rows: np.ndarray,
    weight: Vector,
    upper: float,
    *,
    exact: bool,
    kept: np.ndarray,
    sample_weight: Vector | None,
) -> Certificate:
    """The certificate that no vector separates: patterns whose combination vanishes, exactly or as good as."""
    return Certificate(
        lower=None,
        upper=upper,
        separable=False if exact else None,
        space=patterns.space,
        radius=patterns.radius,
        alpha_index=patterns.numbering(kept)[rows],
        alpha=weight,
        sample_weight=sample_weight,
        categories=patterns.categories,
    )
