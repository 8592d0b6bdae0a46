"""Gordan's theorem: a vector has a.y_k > 0 for all patterns, or some of them with weights > 0 combine to 0.

The second case is proved in rational arithmetic.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from separatrix.optimum.least_distance import least_distance
from separatrix.patterns.plain_patterns import Patterns
from separatrix.proof.certificate import Certificate
from separatrix.proof.certify import upper_bound
from separatrix.proof.exact import LARGEST_SYSTEM, vanishing_combination
from separatrix.space import Vector

SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


class Gordan(NamedTuple):
    """Rows and weights >= 0, with sum 1, whose combination of patterns vanishes: no hyperplane separates.

    The weights are the exact ones, rounded to floats; ``norm`` is what rounding leaves of the combination.
    """

    rows: np.ndarray
    weight: Vector
    norm: float


def gordan(patterns: Patterns, index: np.ndarray, alpha: Vector) -> Gordan | None:
    """An exact proof that no hyperplane separates, near approximate multipliers; None if none was found there.

    Multipliers that are rounding errors may stand for rows that do not belong: without them it is tried again, and at
    last with a vertex of what these rows combine to.
    """
    for smallest in (0.0, 1e-12, 1e-8, None):
        rows = index[alpha > (smallest or 0.0) * alpha.max(initial=0.0)]
        if not 0 < len(rows) <= LARGEST_SYSTEM:
            continue
        V, _ = patterns.narrow_rows(rows)
        if smallest is None:
            u = least_distance(V, max(patterns.radius, 1e-300))[1]
            rows, V = rows[u > 0], V[u > 0]
        solution = vanishing_combination(V)
        if solution is not None:
            kept = np.array([x > 0 for x in solution])
            weight = np.maximum(
                [float(x) for x in solution], SMALLEST
            )  # one that vanishes in floats belongs all the same
            return Gordan(rows[kept], weight[kept], upper_bound(patterns, rows[kept], weight[kept]))
    return None


def refuted(certificate: Certificate, witness: Gordan, rows: np.ndarray) -> Certificate:
    """The same certificate with the proof that no hyperplane separates."""
    return replace(
        certificate, upper=witness.norm, separable=False, alpha_index=rows[witness.rows], alpha=witness.weight
    )
