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
from separatrix.certificates.enclosure import enclosed_weights, scaled_columns
from separatrix.certificates.exact import BROKEN, LARGEST_SYSTEM, vanishing_weights
from separatrix.certificates.interior import FEWEST_PER_COLUMN, interior_weights, overlapping_rows
from separatrix.certificates.twins import twins
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import working_set
from separatrix.solvers.problem import Problem
from separatrix.space import Space, Vector

ROWS_OF_A_FIT, SECONDS_OF_A_FIT = 600, 20.0  # for a proof within a fit
ENCLOSED = 300  # rows for a proof in floats: exact arithmetic, which `verify` asks, repeats it in time
VALUES_FOR_MANY = 20_000  # from which many rows are a proof: of less, few that anybody can look at are found as soon
SAMPLE_ROWS_PER_COLUMN = 32  # of which those are chosen
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
    for smallest in (0.0, 1e-12, 1e-8, None):
        rows = index[alpha > (smallest or 0.0) * alpha.max()]
        if smallest is not None and not (0 < len(rows) <= largest and len(rows) != tried):
            continue
        if smallest is None and len(rows) * (patterns.d + 1) > VERTEX:
            return None
        tried = len(rows)
        V, _ = patterns.narrow_rows(rows)
        if smallest is None:
            scaled = scaled_columns(V)
            problem = Problem(
                Patterns(V if scaled is None else scaled, np.ones(len(V)), Space(0.0)),
                np.inf,
                tol=0.5,
                max_time=clock.left,
            )
            try:
                with np.errstate(all="ignore"):
                    working_set.solve(problem)
            except BROKEN:
                return None
            clock.look()
            rows, V = rows[problem.alpha_index], V[problem.alpha_index]
        weight = vanishing_weights(V, clock) if len(rows) <= largest else None
        if weight is not None:
            return witness(patterns, rows, weight)
    return None


def refuting_pair(patterns: Any, rows: int, clock: Clock) -> Gordan | None:
    """The shortest proof, which anybody can read: two equal rows of different classes. Not looked for where it would
    take longer than a proof with so many rows."""
    if not (patterns.here and patterns.n_classes == 2):
        return None
    if patterns.rows.data.size + patterns.n > VALUES_PER_ROW * rows:
        return None
    pair = twins(patterns.rows, patterns.labels, clock.look)
    return None if pair is None else witness(patterns, np.array(pair), [1, 1])


def gordan_soon(patterns: Any, index: np.ndarray, alpha: Vector) -> Gordan | None:
    """The same for a fit, which was not asked for a proof: of fewer rows, not for long, and in floats where bounds on
    their rounding errors prove that there are exact weights: these are not computed then."""
    if 0 < len(index) <= ENCLOSED and upper_bound(patterns, index, alpha) <= NEARLY_ZERO * patterns.radius:
        weight = enclosed_weights(patterns.narrow_rows(index)[0])
        if weight is not None:
            return Gordan(index, weight, upper_bound(patterns, index, weight))
    try:
        return gordan(patterns, index, alpha, Clock(SECONDS_OF_A_FIT), ROWS_OF_A_FIT)
    except OutOfTimeError:
        return None


def gordan_of_many(patterns: Any, a: Vector) -> Gordan | None:
    """The same of many patterns, from a vector that separates most of them: proved in floats, without exchanges of
    rows; None where it was not found or is not worth it."""
    width = patterns.d + 1
    if not (patterns.here and patterns.explicit and patterns.n_classes == 2 and width < ENCLOSED):
        return None
    if patterns.n * width < VALUES_FOR_MANY or patterns.n < FEWEST_PER_COLUMN * width or not np.all(np.isfinite(a)):
        return None
    m = patterns.margins(a)
    sample = np.arange(0, patterns.n, max(patterns.n // (SAMPLE_ROWS_PER_COLUMN * width), 1))
    rows = np.sort(sample[overlapping_rows(m[sample], width)])
    weight = interior_weights(patterns.narrow_rows(rows)[0], m[rows])
    return None if weight is None else Gordan(rows, weight, upper_bound(patterns, rows, weight))


def witness(patterns: Any, rows: np.ndarray, weight: list[int]) -> Gordan:
    """From exact weights >= 0, up to a common factor."""
    kept = [i for i, w in enumerate(weight) if w > 0]
    rows, exact, total = rows[kept], tuple(weight[i] for i in kept), sum(weight)
    rounded = np.array([max(w / total, nextafter(0.0, 1.0)) for w in exact])
    return Gordan(rows, rounded, upper_bound(patterns, rows, rounded), exact)


def refuted(certificate: Certificate, witness: Gordan, rows: np.ndarray) -> Certificate:
    """The same certificate with the proof that no hyperplane separates. ``rows``: the witness's in the user's data."""
    return replace(certificate, upper=witness.norm, separable=False, alpha_index=rows, alpha=witness.weight)
