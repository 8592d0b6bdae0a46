"""Gordan's theorem: a vector has a.y_k > 0 for all patterns, or some of them with weights > 0 combine to 0.

The second case is proved in integers; within a fit by floats with bounds on rounding errors, where these suffice.
"""

from dataclasses import replace
from math import nextafter
from typing import Any, NamedTuple

import numpy as np

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import upper_bound
from separatrix.certificates.conflicting_duplicates import conflicting_duplicates
from separatrix.certificates.exact import BROKEN, LARGEST_SYSTEM, scaled_columns, vanishing_weights
from separatrix.certificates.logistic_witness import overlapping_weights, proved_weights
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import working_set
from separatrix.solvers.problem import Problem
from separatrix.space import Space, Vector

ROWS_OF_A_FIT, SECONDS_OF_A_FIT = 600, 20.0  # for a proof within a fit: `verify` repeats it in exact arithmetic
VALUES_FOR_MANY = 20_000  # from which many rows are a proof: of less, few that anybody can look at are found as soon
SAMPLE_ROWS_PER_COLUMN = 32  # of which those are chosen
FEWEST_PER_COLUMN, MOST_PER_COLUMN = 2.25, 5  # rows that are worth a try: fewer may well be separated, more cost more
OVERLAP = 1.15  # rows, in those whose margins have the sum 0
VALUES_PER_ROW = 5_000  # of the data, looked through for equal rows, per row of a proof that they save
VERTEX = 20_000_000  # values of the rows among which a vertex is looked for
NEARLY_ZERO = 1e-6  # a combination longer than this part of R is no sign that one vanishes


class Gordan(NamedTuple):
    """Rows and weights > 0, with sum 1, whose combination of patterns vanishes: no hyperplane separates.

    The weights are the exact ones, rounded to floats, and ``norm`` is what rounding leaves of the combination; a weight
    that underflows is the smallest float. ``exact``: the exact weights up to a common factor, as integers; empty where
    they are only proved to exist, and ``weight`` is near them.
    """

    rows: np.ndarray
    weight: Vector
    norm: float
    exact: tuple[int, ...] = ()


def gordan(
    patterns: Any, index: np.ndarray, alpha: Vector, clock: Clock, largest: int = LARGEST_SYSTEM
) -> Gordan | None:
    """An exact proof that no hyperplane separates, near approximate multipliers; None if none was found there.

    Multipliers that are rounding errors may stand for rows that do not belong: without them it is tried again, and at
    last with a vertex of what these rows combine to. A clock raises `separatrix.cancellation.OutOfTimeError`.
    """
    if not (len(index) and upper_bound(patterns, index, alpha) <= NEARLY_ZERO * patterns.radius):
        return None

    tried = 0
    for smallest in (0.0, 1e-8):
        rows = index[alpha > smallest * alpha.max()]
        if not 0 < len(rows) <= largest or len(rows) == tried:
            continue
        V, tried = patterns.narrow_rows(rows)[0], len(rows)
        if tried <= V.shape[1] + 1:
            weight = vanishing_weights(V, alpha[alpha > smallest * alpha.max()], clock)
            if weight is not None:
                return witness(patterns, rows, weight)
    rows = index[alpha > 0]
    if len(rows) * (patterns.d + 1) > VERTEX:
        return None
    V = patterns.narrow_rows(rows)[0]
    scaled = scaled_columns(V)
    unit = Patterns(V if scaled is None else scaled, np.ones(len(V)), Space(0.0))
    problem = Problem(unit, np.inf, tol=0.5, max_time=clock.left)
    try:
        with np.errstate(all="ignore"):
            working_set.solve(problem)
    except BROKEN:
        return None
    clock.look()
    few, u = problem.alpha_index, problem.alpha
    weight = vanishing_weights(V[few], u, clock) if 0 < len(few) <= largest else None
    return None if weight is None else witness(patterns, rows[few], weight)


def refuting_pair(patterns: Any, rows: int, clock: Clock) -> Gordan | None:
    """The shortest proof, which anybody can read: two equal rows of different classes. Not looked for where it would
    take longer than a proof with so many rows."""
    if not (patterns.here and patterns.n_classes == 2):
        return None
    if patterns.rows.data.size + patterns.n > VALUES_PER_ROW * rows:
        return None
    pair = conflicting_duplicates(patterns.rows, patterns.labels, clock.look)
    return None if pair is None else witness(patterns, np.array(pair), [1, 1])


def gordan_soon(patterns: Any, index: np.ndarray, alpha: Vector) -> Gordan | None:
    """The same for a fit, which was not asked for a proof: of fewer rows, not for long, and in floats where bounds on
    their rounding errors prove that there are exact weights: these are not computed then."""
    if 0 < len(index) <= ROWS_OF_A_FIT and upper_bound(patterns, index, alpha) <= NEARLY_ZERO * patterns.radius:
        A = scaled_columns(patterns.narrow_rows(index)[0])
        weight = None if A is None or not alpha.min() > 0 else proved_weights(A, alpha / alpha.max())
        if weight is not None:
            weight = weight / weight.sum()
            return Gordan(index, weight, upper_bound(patterns, index, weight))
    try:
        return gordan(patterns, index, alpha, Clock(SECONDS_OF_A_FIT), ROWS_OF_A_FIT)
    except OutOfTimeError:
        return None


def gordan_of_many(patterns: Any, a: Vector) -> Gordan | None:
    """The same of many patterns, from a vector that separates most of them: proved in floats, without exchanges of
    rows; None where it was not found or is not worth it."""
    width = patterns.d + 1
    if not (patterns.here and patterns.explicit and patterns.n_classes == 2 and width < ROWS_OF_A_FIT):
        return None
    if patterns.n * width < VALUES_FOR_MANY or patterns.n < FEWEST_PER_COLUMN * width or not np.all(np.isfinite(a)):
        return None
    m = patterns.margins(a)
    sample = np.arange(0, patterns.n, max(patterns.n // (SAMPLE_ROWS_PER_COLUMN * width), 1))
    rows = np.sort(sample[overlapping_rows(m[sample], width)])
    weight = overlapping_weights(patterns.narrow_rows(rows)[0], m[rows])
    return None if weight is None else Gordan(rows, weight, upper_bound(patterns, rows, weight))


def overlapping_rows(m: Vector, width: int) -> np.ndarray:
    """Return those of the smallest margins, up to where both sides balance each other: without a say of the vector.

    If they are many, some of them."""
    order = np.argsort(m)
    balanced = int(np.searchsorted(np.cumsum(m[order]) > 0, True))
    count = min(int(max(OVERLAP * balanced, FEWEST_PER_COLUMN * width)), len(m))
    return order[: count : -(-count // (MOST_PER_COLUMN * width))]


def witness(patterns: Any, rows: np.ndarray, weight: list[int]) -> Gordan:
    """From exact weights >= 0, up to a common factor."""
    kept = [i for i, w in enumerate(weight) if w > 0]
    rows, exact, total = rows[kept], tuple(weight[i] for i in kept), sum(weight)
    rounded = np.array([max(w / total, nextafter(0.0, 1.0)) for w in exact])
    return Gordan(rows, rounded, upper_bound(patterns, rows, rounded), exact)


def refuted(certificate: Certificate, witness: Gordan, rows: np.ndarray) -> Certificate:
    """The same certificate with the proof that no hyperplane separates. ``rows``: the witness's in the user's data."""
    return replace(certificate, upper=witness.norm, separable=False, alpha_index=rows, alpha=witness.weight)
