"""The two bounds, and certificates made of them.

For any ``alpha >= 0``, not all zero, and ``a = sum alpha_k y_k``, every unit vector u has
``|a| >= u.a = sum alpha_k u.y_k >= (min_k u.y_k) sum alpha_k``. Hence

    lower = min_k u.y_k  <=  gamma_d  <=  |a| / sum alpha_k = upper.

With hinge loss (a space with a hinge) the two bounds are (2 P)^(-1/2) and (2 D)^(-1/2), P the value that a vector
reaches and D one that none can beat: `separatrix.solvers.hinge_problem` has the formulas.

Nothing here trusts a solver: both bounds are computed in float64 from data, a direction and multipliers, and rounded
outwards by bounds on their rounding errors, so ``lower <= upper`` always and `verify` can repeat the proof.
``patterns`` are a `separatrix.passes.patterns.PatternSet`, wherever their rows live.
"""

from collections.abc import Sequence
from math import frexp, fsum, isfinite
from typing import Any

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.exact import product_sign
from separatrix.passes.kernel_patterns import KernelPatterns
from separatrix.passes.patterns import EPS, TINY
from separatrix.passes.summaries import NEAR
from separatrix.space import Vector, best_gamma, is_finite, norm, objective

# A certificate claims its bounds with this many times the rounding error, `verify` asks for once: a proof survives
# another order of summation.
SLACK = 2.0
MOST_DOUBTFUL = 1000  # rows that are settled in rationals
MOST_PASSES, NOTHING_TO_GAIN = 40, 1e-7  # of Newton's steps for J for out-of-core rows


def separates_exactly(patterns: Any, a: Vector) -> bool:
    """Is every a.y_k > 0? In floating point where its error bound allows, else in rationals."""
    near = np.ldexp(a, -int(np.frexp(np.abs(a).max(initial=0.0))[1]))  # entries up to 1: no product overflows
    worst, error = patterns.extremes(near, MOST_DOUBTFUL + 1), patterns.margin_error(near)
    if not (np.all(np.isfinite(a)) and worst.minimum >= -error and np.isfinite(error) and patterns.space.holds(a)):
        return False
    doubtful = worst.numbers[~(worst.margins > error)]
    if len(doubtful) > (MOST_DOUBTFUL if patterns.explicit else 0):
        return False
    return all(product_sign(row, a) > 0 for i in doubtful for row in patterns.dense_rows(np.array([i])))


def separates(patterns: Any, a: Vector) -> bool:
    """Is every a.y_k > 0, certainly?"""
    return plain_margin(patterns, a) > 0


def plain_margin(patterns: Any, a: Vector, slack: float = SLACK, margins: Vector | None = None) -> float:
    """A certain lower bound on min_k u.y_k in the unextended space, u = a/|a|."""
    a = _sized(patterns, a) if margins is None else a
    if not (is_finite(a) and patterns.space.holds(a)):
        return -np.inf
    smallest = float(patterns.smallest(a) if margins is None else margins.min()) - slack * patterns.margin_error(a)
    shortest, longest = patterns.length_range(a, slack)
    if shortest == 0:
        return _down(-patterns.radius, slack, len(a))  # no direction at all: what every unit vector reaches
    return _down(smallest / (longest if smallest > 0 else shortest), slack, len(a))


def _sized(patterns: Any, a: Vector) -> Vector:
    """a / |a|; the vector as it is for out-of-core rows: a pass over it may be known from its solver."""
    peak = float(np.abs(a).max(initial=0.0))
    return a if not patterns.here and (peak == 0.0 or 1e-100 < peak < 1e100) else patterns.unit(a)


def lower_bound(patterns: Any, a: Vector, slack: float = SLACK, margins: Vector | None = None) -> float:
    """A certain lower bound on the margin of a in its space: min u.y, or J^(-1/2) where the space is extended. In a
    space that counts lengths, (2 P)^(-1/2) of a as it is."""
    if not patterns.space.holds(a):
        return -np.inf
    if patterns.space.counts_length:
        return _reached_as_it_is(patterns, a, slack, margins)
    a = _sized(patterns, a) if margins is None else a
    if patterns.space.delta == 0 or not is_finite(a):
        return plain_margin(patterns, a, slack, margins)
    if not patterns.here:
        return _soft_bound_out_of_core(patterns, a, slack)
    delta = patterns.delta
    shortest, longest = patterns.length_range(a, slack)
    if longest == 0:  # only an unpenalized intercept is left, which costs nothing
        slacks = 1.0 - (patterns.margins(a) if patterns.space.free else 0.0) + slack * patterns.margin_error(a)
        return _down(np.sum((np.maximum(slacks, 0.0) / delta) ** 2 * np.ones(patterns.n)) ** -0.5, slack, patterns.n)
    m = (patterns.margins(a) if margins is None else margins) - slack * patterns.margin_error(a)
    shortest = max(shortest, TINY)
    with np.errstate(over="ignore", invalid="ignore"):  # a length that may be 0: such a gamma is worth nothing
        m = m / longest if shortest == longest else np.where(m > 0, m / longest, m / shortest)
        gamma = best_gamma(m, delta)
    J = objective(m, gamma, delta) if isfinite(gamma) else np.sum(np.broadcast_to(delta, patterns.n) ** -2.0)
    with_slack = 1.0 / np.sqrt(J * (1.0 + slack * (patterns.n + 8) * EPS))
    # without slack gamma = min m and J = gamma^-2
    return _down(max(float(with_slack), float(m.min())), slack, len(a))


def _reached_as_it_is(patterns: Any, a: Vector, slack: float, margins: Vector | None) -> float:
    """(2 P)^(-1/2) of a vector as it is. With an error e of the margins sum c s^2 grows by at most
    2 e sum c s + e^2 sum c."""
    error, space = slack * patterns.margin_error(a), patterns.space
    longest = patterns.length_range(a, slack)[1]
    if space.l1:
        longest = float(np.sqrt(2.0 * np.abs(a[:-1] if space.free else a).sum()))
    if patterns.here:
        slacks = np.maximum(1.0 - (patterns.margins(a) if margins is None else margins) + error, 0.0)
        if space.hinge:
            price = float(np.sqrt(2.0 * space.hinge * patterns.paid_slack(slacks)))
        else:
            price = norm(slacks / patterns.delta)
    else:
        piece, everything = patterns.piece(a, hessian=False), patterns.weight_in_all
        squares = piece.squares + error * (2.0 * piece.slack + error * everything)
        price = np.sqrt(squares) / space.delta if piece.minimum - error < 1.0 else 0.0
    root = float(np.hypot(longest, price)) * np.sqrt(1.0 + slack * (patterns.n + 8) * EPS)  # (2 P)^(1/2)
    return _down(1.0 / root, slack, len(a)) if 0 < root < np.inf else -np.inf


def _hinge_bound(patterns: Any, index: np.ndarray, alpha: Vector, slack: float) -> float:
    """(2 D)^(-1/2), D = sum alpha_k - |sum alpha_k y_k|^2/2 with alpha_k <= C c_k.

    An unpenalized intercept needs e = |sum alpha_k l_k| = 0. What is left of it meets the best bias, which is where
    some row has
    a margin of 1, so that |b| <= 1 + R |w|; with |w|^2/2 <= P and x = (2 P)^(1/2): x^2/2 + e R x >= D - e.
    """
    if not patterns.keeps_caps(index, alpha):
        return np.inf
    a = patterns.space.project(patterns.combine(index, alpha))
    length = patterns.length_range(a, slack)[1] * (1.0 + slack * len(a) * EPS)
    length += slack * patterns.combination_error(alpha)
    rounding = slack * (len(alpha) + 8) * EPS
    D2 = 2.0 * float(alpha.sum()) * (1.0 - rounding) - length**2 * (1.0 + slack * 4.0 * EPS)
    lean = 0.0
    if patterns.space.free:
        lean = slack * abs(fsum(alpha * patterns.labels[index])) * (1.0 + 4.0 * EPS)
        D2 -= 2.0 * lean
    if not D2 > 0:
        return np.inf
    meets = lean * patterns.radius
    # 1/x of the larger root of x^2 + 2 meets x = D2, without a difference
    return float((np.hypot(meets, np.sqrt(D2)) + meets) / D2 * (1.0 + slack * 16.0 * EPS))


def _l1_bound(patterns: Any, index: np.ndarray, alpha: Vector, slack: float) -> float:
    """(2 D)^(-1/2), D = t sum alpha_k - t^2 sum Delta_k^2 alpha_k^2/2 with t = 1/max(1, max |sum alpha_k y_k|).

    What is left of e = t |sum alpha_k l_k| meets the best unpenalized intercept b, for which |b| <= 1 + R sum |w_j|:
    P + e (1 + R P) >= D.
    """
    space = patterns.space
    if space.hinge and not patterns.keeps_caps(index, alpha):
        return np.inf
    v, rounding = patterns.combine(index, alpha), slack * (len(alpha) + 16) * EPS
    largest = float(np.abs(v[:-1] if space.free else v).max(initial=0.0)) + slack * patterns.combination_error(alpha)
    t = 1.0 / max(1.0, largest)
    own = 0.5 * (t * patterns.extension(index, alpha)) ** 2
    value = t * float(alpha.sum()) * (1.0 - rounding) - own * (1.0 + rounding)
    lean = t * slack * abs(fsum(alpha * patterns.labels_of(index))) * (1.0 + 4.0 * EPS) if space.free else 0.0
    value = (value - lean) / (1.0 + lean * patterns.radius) * (1.0 - 16.0 * EPS)
    return float((2.0 * value) ** -0.5 * (1.0 + 4.0 * EPS)) if value > 0 else np.inf


def _soft_bound_out_of_core(patterns: Any, a: Vector, slack: float) -> float:
    """J^(-1/2) by passes that return sums. Every multiple t a has J = |t a|^2 + sum c s^2 / Delta^2, s = 1 - t a.y > 0.

    The first is a itself; others are tried where Newton's step in t promises something.
    """
    delta2, everything, best = patterns.space.delta**2, patterns.weight_in_all, np.inf
    # who verifies is satisfied with no less than who claimed
    enough = NOTHING_TO_GAIN if slack >= SLACK else 0.5 * (patterns.n + 8) * EPS
    for _ in range(MOST_PASSES):
        length2 = patterns.length(a) ** 2 * (1.0 + slack * (len(a) + 4) * EPS)
        error, piece = slack * patterns.margin_error(a), patterns.piece(a, hessian=False)
        J = length2 + (piece.squares + error * (2.0 * piece.slack + error * everything)) / delta2
        if piece.minimum > error:  # without slack
            J = min(J, length2 / (piece.minimum - error) ** 2)
        best = min(best, J)
        slope = length2 - (piece.slack - piece.squares) / delta2  # sum c s a.y = sum c s (1 - s)
        active = piece.active / patterns.n * everything  # as if weights were equal: it decides about the next t only
        bend = length2 + max(active - 2.0 * piece.slack + piece.squares, 0.0) / delta2
        if not 2.0 * slope * slope > enough * best * bend:
            break
        a = a * max(1.0 - slope / bend, 0.5)
    return _down(1.0 / np.sqrt(best * (1.0 + slack * (patterns.n + 8) * EPS)), slack, len(a))


def slack_bound(patterns: Any, a: Vector, slack: float = SLACK) -> float:
    """A certain upper bound on the best margin by the multipliers alpha = c max(0, 1 - a.y): one pass, none listed.

    Another order of summation moves each of them by what it does to a margin.
    """
    piece = patterns.piece(a, hessian=False)
    if not piece.slack > 0:
        return np.inf
    total = piece.slack
    rows = patterns.block_rows
    terms = slack * (min(patterns.n, rows) + patterns.n / rows + len(a) + 8) * EPS
    error = slack * patterns.margin_error(a)
    moved = error * (min(piece.near, patterns.weight_in_all) if error < NEAR else patterns.weight_in_all)
    length = patterns.length(patterns.space.project(piece.pull)) + (terms * total + moved) * patterns.radius
    length = float(np.hypot(length, patterns.space.delta * np.sqrt(piece.squares * (1.0 + terms))))
    if patterns.space.free:
        left = abs(piece.pull[-1]) / patterns.space.rho + terms * total + moved
        length += left * patterns.radius
    return float(length / (total - min(moved, 0.5 * total)) * (1.0 + terms))


def upper_bound(patterns: Any, index: np.ndarray, alpha: Vector, slack: float = SLACK) -> float:
    """A certain upper bound on the best margin: |sum alpha_k y_k^ext| / sum alpha_k, inf without multipliers."""
    largest = float(alpha.max(initial=0.0))
    if not (0 < largest < np.inf and patterns.definite):
        return np.inf
    if patterns.space.l1:
        return _l1_bound(patterns, index, alpha, slack)
    if patterns.space.hinge:
        return _hinge_bound(patterns, index, alpha, slack)
    alpha = np.ldexp(alpha, -frexp(largest)[1])  # the bound does not depend on the scale, its squares do
    total = float(alpha.sum())
    a = patterns.space.project(patterns.combine(index, alpha))
    extension = patterns.extension(index, alpha)
    error = slack * patterns.combination_error(alpha)
    longest = patterns.length_range(a, slack)[1]
    length = float(np.hypot(longest * (1.0 + slack * len(a) * EPS) + error, extension))
    if patterns.space.free:
        # sum alpha_k l_k ought to be 0; what is left of it meets a bias of at most R per unit of length: rows of both
        # classes are on their sides
        length += slack * abs(fsum(alpha * patterns.labels_of(index))) * patterns.radius
    rounding = slack * (len(alpha) + 8) * EPS
    return float(length / total * (1.0 + rounding))


def _down(value: float, slack: float, terms: int) -> float:
    """Rounded down by the relative error of a norm of so many terms, and of what else was computed with it."""
    return float(value - (terms + 4.0) * slack * EPS * abs(value))


def certify(
    patterns: Any,
    direction: Vector,
    alpha: Vector | tuple[np.ndarray, Vector] | None,
    *,
    slack_vector: Vector | None = None,
    predicts: bool = True,
    kept: np.ndarray | None = None,
    sample_weight: Vector | None = None,
    measured: tuple[Vector, Vector] | None = None,
) -> Certificate:
    """The certificate of a fitted direction and of the multipliers behind it: of all patterns, or numbers of patterns
    and theirs; None where there are none.

    ``predicts``: whether the direction is what predicts; otherwise it only witnesses separability. ``kept``: the
    numbers of the rows in the user's data. ``measured``: the direction's multiple that is measured, and its margins,
    where they are at hand.
    """
    margins = None
    if patterns.here:
        direction, margins = measured or measured_multiple(patterns, direction)
    index: np.ndarray | None = None
    multipliers: Vector | None = None
    upper = np.inf
    if alpha is not None:
        index, multipliers = alpha if isinstance(alpha, tuple) else (np.arange(len(alpha)), alpha)
        positive = multipliers.min(initial=np.inf) > 0
        if positive:
            index, multipliers = index.copy(), multipliers.copy()
        else:
            listed = multipliers != 0
            index, multipliers = index[listed], multipliers[listed]
            positive = multipliers.min(initial=np.inf) > 0
        if positive:
            upper = upper_bound(patterns, index, multipliers)
    if slack_vector is not None:
        upper = slack_bound(patterns, slack_vector)
    if np.isinf(upper):
        index = multipliers = slack_vector = None
    elif index is not None:
        index = patterns.renumbered(index, kept)
    plain = lower = plain_margin(patterns, direction, margins=margins)
    if predicts and (patterns.space.delta or patterns.space.hinge):
        lower = lower_bound(patterns, direction, margins=margins)
    return Certificate(
        lower=lower if predicts else None,
        upper=upper,
        separable=True if plain > 0 else None,
        space=patterns.space,
        radius=patterns.radius,
        direction=patterns.in_all_columns(direction if patterns.here else patterns.measured(direction)),
        alpha_index=index,
        alpha=multipliers,
        slack_vector=slack_vector,
        sample_weight=sample_weight,
        n_classes=patterns.n_classes,
        kernel=patterns.kernel if isinstance(patterns, KernelPatterns) else None,
    )


def measured_multiple(patterns: Any, a: Vector) -> tuple[Vector, Vector]:
    """The multiple of a vector that certificates speak of, and its margins; of rows in this process."""
    a = patterns.measured(a)
    return a, patterns.margins(a)


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


def accumulated(patterns: Any, direction: Vector, upper: float, radius: float) -> Certificate:
    """The certificate of a run over blocks: nothing is measured, and the bound rests on sums that were kept."""
    return Certificate(None, upper, None, patterns.space, radius, direction, n_classes=patterns.n_classes)


def refutation(
    patterns: Any,
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
        alpha_index=patterns.renumbered(rows, kept),
        alpha=weight,
        sample_weight=sample_weight,
        n_classes=patterns.n_classes,
        kernel=getattr(patterns, "kernel", None),
    )
