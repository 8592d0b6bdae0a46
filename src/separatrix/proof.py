"""The certificate of a vector whose multipliers are unknown or signed: bounds by a polish, and Gordan's proof.

`certify` judges what an algorithm shows. Here what it does not show is looked for as well: multipliers that bound the
best margin from above, or that combine the patterns to 0 exactly.
"""

from dataclasses import replace

import numpy as np

from separatrix.certificate import Certificate, certify, separates_exactly, upper_bound
from separatrix.optimum.polish import polish
from separatrix.patterns import Patterns
from separatrix.separable import Gordan, gordan
from separatrix.space import Vector


def prove(
    patterns: Patterns,
    a: Vector,
    alpha: Vector | None = None,
    *,
    kept: np.ndarray | None = None,
    sample_weight: Vector | None = None,
) -> Certificate:
    """Lower bound by ``a``; upper bound by ``alpha`` or by a polish, whichever is smaller; separability either way.

    ``kept``: the row numbers of the patterns in the user's data.
    """
    rows = np.arange(patterns.n) if kept is None else kept
    certificate = certify(patterns, a, alpha, kept=kept, sample_weight=sample_weight)
    if certificate.separable is None and separates_exactly(patterns, a):
        certificate = replace(certificate, separable=True)
    polished = polish(patterns, a)
    bound = upper_bound(patterns, polished.alpha_index, polished.alpha)
    if bound < certificate.upper:
        certificate = replace(
            certificate, upper=bound, alpha_index=rows[polished.alpha_index], alpha=polished.alpha.copy()
        )
    if certificate.separable is None and not polished.lower > 0:
        witness = gordan(patterns, polished.alpha_index, polished.alpha)
        if witness is None and alpha is not None:
            index = np.flatnonzero(alpha)
            witness = gordan(patterns, index, alpha[index])
        if witness is not None:
            certificate = refuted(certificate, witness, rows)
    return certificate


def refuted(certificate: Certificate, witness: Gordan, rows: np.ndarray) -> Certificate:
    """The same certificate with the proof that no hyperplane separates."""
    return replace(
        certificate, upper=witness.norm, separable=False, alpha_index=rows[witness.rows], alpha=witness.weight
    )
