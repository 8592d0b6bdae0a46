"""That no hyperplane separates in the space of a kernel, exactly.

Multipliers combine patterns y_k = l_k (phi(x_k), rho) to 0 if and only if Q alpha = 0, Q_kj = y_k.y_j: the squared
length of the combination is alpha.Q alpha, and Q is positive semi-definite. The inner products of a polynomial kernel
of integer degree are rational, so this is decided in integers. Whatever the kernel, rows that are equal are one point
of its space: with different labels they combine to 0.
"""

from fractions import Fraction

import numpy as np

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.decision import decide as decide_in_features
from separatrix.certificates.gordan import Gordan, refuting_pair, witness
from separatrix.certificates.integer_rows import IntegerRows
from separatrix.certificates.integer_systems import Integers
from separatrix.certificates.wolfe import decide
from separatrix.passes.kernel_patterns import KernelPatterns
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space

LARGEST_GRAM = 300  # rows whose inner products are computed exactly
LARGEST_DEGREE = 16
MOST_SECONDS = 5.0


def refute(patterns: KernelPatterns, index: np.ndarray, max_time: float = MOST_SECONDS) -> Gordan | None:
    """Patterns with weights that combine to exactly 0: two equal rows, or some of those of ``index``.

    None where there are none, where the values of the kernel are not known exactly, and beyond the limits.
    """
    finite = np.all(np.isfinite([patterns.kernel.gamma, patterns.kernel.coef0]))
    if patterns.precomputed or not (patterns.kernel.mercer and finite):
        return None
    clock = Clock(max_time)
    try:
        pair = refuting_pair(patterns, patterns.n, clock)
    except OutOfTimeError:
        return None
    if pair is not None:
        return pair
    if patterns.kernel.name == "linear":
        found = decide_in_features(_in_features(patterns), max_time).infeasibility_proof
        return None if found is None else witness(patterns, found.rows, list(found.exact))
    known = patterns.kernel.name == "poly" and 1 <= patterns.kernel.degree <= LARGEST_DEGREE
    if not known or not 0 < len(index) <= LARGEST_GRAM:
        return None
    try:
        answer = decide(IntegerRows(_inner_products(patterns, index, clock), clock), clock)
    except OutOfTimeError:
        return None
    if answer.vector is not None:
        return None
    order = np.argsort(index[answer.rows])
    return witness(patterns, index[answer.rows][order], [answer.weight[i] for i in order])


def _in_features(patterns: KernelPatterns) -> Patterns:
    """The patterns of the linear kernel, as they are."""
    space = Space(1.0 if patterns.space.free else patterns.space.rho)
    return Patterns(patterns.rows, patterns.labels, space)


def _inner_products(patterns: KernelPatterns, index: np.ndarray, clock: Clock) -> list[Integers]:
    """Q as integers, up to a factor; of an unpenalized intercept, which has no length, with the column of what
    multiplies it.

    With x = z / s for integers z and g, c the fractions gamma and coef0, K = ((g z.z' + c s^2) / s^2)^degree.
    """
    V = patterns.matrix[index]
    rows = [[Fraction(v) for v in row] for row in (V.toarray() if hasattr(V, "toarray") else np.asarray(V)).tolist()]
    clock.look()
    s = max((v.denominator for row in rows for v in row), default=1)
    Z = [[int(v * s) for v in row] for row in rows]
    kernel, rho, degree = patterns.kernel, Fraction(patterns.space.rho), int(patterns.kernel.degree)
    g, c = Fraction(kernel.gamma), Fraction(kernel.coef0)
    common = g.denominator * c.denominator
    bias = 0 if patterns.space.free else rho * rho * (common * s * s) ** degree
    whole = Fraction(bias).denominator
    labels = patterns.labels[index].astype(int).tolist()
    table = []
    for z, l in zip(Z, labels, strict=True):
        clock.look()
        products = (int(common * (g * sum(map(int.__mul__, z, other)) + c * s * s)) for other in Z)
        row = [l * m * int(whole * (p**degree + bias)) for p, m in zip(products, labels, strict=True)]
        table.append([*row, l] if patterns.space.free else row)
    return table
