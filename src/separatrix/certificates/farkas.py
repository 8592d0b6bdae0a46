"""Separation by coefficients with given signs, decided exactly: Farkas's lemma by Gordan's theorem.

If a vector with the signs separates, so does one with s_j w_j > 0 in every constrained column: move it a little along
s. So the patterns are separable with these signs if and only if the patterns and the unit vectors s_j e_j together are
separable. Otherwise a combination of both vanishes (Gordan); its patterns alone combine to a v with a.v <= 0 for all
vectors a with the signs, and some of its weights belong to patterns, since no s_j e_j combine to 0.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from separatrix.certificates.decision import decide
from separatrix.certificates.gordan import Gordan, witness
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space, Vector

WIDEST_DENSE = 500  # columns up to which the unit vectors are written out


class SignedAnswer(NamedTuple):
    """``vector``: one that separates, with the signs; ``proof``: that none does. None, None: undecided."""

    vector: Vector | None
    proof: Gordan | None


def decide_with_signs(patterns: Any, max_time: float, alpha_index: np.ndarray, alpha: Vector) -> SignedAnswer:
    """Decide if a vector with the signs of the space separates; ``alpha``: multipliers that nearly prove the contrary.

    The rows are in memory. An intercept becomes a column, so that the unit vectors have none.
    """
    n, signs, rho = patterns.n, patterns.space.column_signs(), patterns.space.rho
    columns = np.flatnonzero(signs)
    left = signs * patterns.combine(alpha_index, alpha)
    helping = columns[left[columns] < 0.0]
    near = np.append(alpha_index, n + np.searchsorted(columns, helping)), np.append(alpha, -left[helping])
    bias, rows = np.full((n, 1), rho), patterns.values(np.arange(n)).astype(np.float64)
    units = sp.csr_array((signs[columns].astype(float), (np.arange(len(columns)), columns)), (len(columns), len(signs)))
    if not sp.issparse(rows) and len(signs) <= WIDEST_DENSE:
        X: Any = np.vstack([np.hstack([rows, bias]), units.toarray()])
    else:
        X = sp.vstack([sp.hstack([sp.csr_array(rows), sp.csr_array(bias)]), units]).tocsr()
    together = Patterns(X, np.append(patterns.labels, np.ones(len(columns))), Space(0.0))
    answer = decide(together, max_time, near)
    if answer.separable and answer.certificate is not None and answer.certificate.direction is not None:
        return SignedAnswer(patterns.space.project(answer.certificate.direction[:-1]), None)
    proof = answer.infeasibility_proof
    if answer.separable is not False or proof is None:
        return SignedAnswer(None, None)
    own = proof.rows < n
    exact = [w for w, mine in zip(proof.exact, own, strict=True) if mine] if proof.exact else None
    if exact is None:
        return SignedAnswer(None, None)
    return SignedAnswer(None, witness(patterns, proof.rows[own], exact))
