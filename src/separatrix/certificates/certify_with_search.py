"""The certificate of a vector whose multipliers are unknown or signed: bounds by a polish, and Gordan's proof.

`certify` judges what an algorithm shows. Here what it does not show is looked for as well: multipliers that bound the
best margin from above, or that combine the patterns to 0 exactly.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.cancellation import check_cancelled
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import certify, upper_bound
from separatrix.certificates.gordan import gordan_of_many, gordan_soon, refuted
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import Problem
from separatrix.space import Vector

TIGHT_GAP = 1e-2  # gap at which an upper bound is tight enough
MOST_PASSES = 60
WIDE = 1000  # columns from which exact solves on a working set cost more than what is to be certified


def certify_with_search(
    patterns: Any,
    a: Vector,
    alpha: Vector | None = None,
    *,
    kept: np.ndarray | None = None,
    sample_weight: Vector | None = None,
) -> Certificate:
    """Lower bound by ``a``; upper bound by ``alpha`` or by a polish, whichever is smaller; separability either way.

    ``kept``: the row numbers of the patterns in the user's data.
    """
    certificate = certify(patterns, a, alpha, kept=kept, sample_weight=sample_weight)
    if certificate.separable is None:
        witness = gordan_of_many(patterns, a)
        if witness is not None:
            return refuted(certificate, witness, patterns.renumbered(witness.rows, kept))
    polished = polish(patterns, a)
    bound = upper_bound(patterns, polished.alpha_index, polished.alpha)
    if bound < certificate.upper:
        certificate = replace(
            certificate,
            upper=bound,
            alpha_index=patterns.renumbered(polished.alpha_index, kept),
            alpha=polished.alpha.copy(),
        )
    if certificate.separable is None and not polished.lower > 0:
        witness = gordan_soon(patterns, polished.alpha_index, polished.alpha)
        if witness is None and alpha is not None:
            index = np.flatnonzero(alpha)
            witness = gordan_soon(patterns, index, alpha[index])
        if witness is not None:
            certificate = refuted(certificate, witness, patterns.renumbered(witness.rows, kept))
    return certificate


def polish(patterns: Any, a: Vector) -> Problem:
    """The hard margin problem, solved roughly from ``a``: its multipliers bound the best margin, or prove it absent."""
    problem = Problem(patterns, np.inf, tol=TIGHT_GAP, max_passes=MOST_PASSES, watch=_heeding)
    if not patterns.here:
        solvers.solve(problem)
    elif patterns.d > WIDE:
        solvers.solve(problem, side="dual")
    else:
        usable = np.any(a) and np.all(np.isfinite(a))
        solvers.solve(problem, a if usable else None, "newton")
    return problem


def _heeding(_: Problem) -> bool:
    """A watch that never says stop: `check_cancelled` raises."""
    check_cancelled()
    return False
