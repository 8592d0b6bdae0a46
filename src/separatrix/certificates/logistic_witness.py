"""Weights > 0 that combine rows to 0, or directions in which rows grow: proposed by Newton's method, proved by floats.

The loss sum log(1 + exp(-a.y_k)) has a minimum if the classes overlap. There l_k = 1/(1 + exp(a.y_k)) combine the rows
to 0, and long before: with Newton's step s = H^-1 sum l_k y_k, H = sum l_k (1 - l_k) y_k y_k^t,

    l_k - l_k (1 - l_k) y_k.s   combine to 0, but for rounding errors, and are positive if (1 - l_k) y_k.s < 1.

By Goldman and Tucker (1956) rows fall into two parts: the tight ones, on which every vector a with a.y_k >= 0 for all
rows vanishes, and the others, which one vector makes positive together. Along the iterates the margins of the tight
rows converge and all others grow, so that after a few steps the two parts are known.

The proof of weights: for any alpha > 0, g = sum alpha_k y_k and H = sum q_k y_k y_k^t with eigenvalues of at least
mu > 0, the alpha_k - q_k y_k.H^-1 g combine to 0 exactly, and are positive if

    q_k |y_k| |g| < mu alpha_k.

mu comes from H - t in floats: if it has a Cholesky factor then no eigenvalue of H is below t minus bounds on the
rounding errors of H and of the factor (Higham 2002, theorem 10.3; Rump 2006).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from separatrix.cancellation import Clock
from separatrix.certificates.exact import SMALLEST_VALUE, scaled_columns
from separatrix.passes.patterns import EPS, TINY
from separatrix.space import Vector

STEPS, FEW_STEPS = 60, 6  # of Newton's method, and of it in a fit
LONG_STEP, LONGEST_STEP = 16.0, 2.0**20  # times Newton's: a long one is nearly along a vector that is looked for
GROWING = 0.25  # change of a margin in a step from which its row is taken for one that grows
ENOUGH_WEIGHT = 0.02  # part of l_k that a corrected weight has to be
FAR = 40.0  # margin of a row that has no weight any more
RIDGE = 1e-13  # added to a matrix with ones on its diagonal: rows that grew leave columns without curvature
SPARSE = 0.1  # share of values that are not 0, below which products of sparse matrices are quicker
SHIFT = 1000.0  # t, in bounds on rounding errors

Floats = NDArray[np.float64]


class Proposal(NamedTuple):
    """``tight``: which rows do not grow, and ``vectors`` near such ones that vanish on them; or ``weight``, if no row
    grows: weights > 0 that combine the rows to nearly 0."""

    tight: np.ndarray | None
    vectors: tuple[Vector, ...]
    weight: Vector


def proposals(A: Floats, clock: Clock, m: Vector | None = None, steps: int = STEPS) -> Iterator[Proposal]:
    """Run Newton's method; yield a proposal after 1, 2, 4 ... steps in which the same rows grew, and in long steps.

    ``m``: margins of the rows from which it starts, those of the best multiple of a vector."""
    n, width = A.shape
    S: Any = sp.csr_array(A) if np.count_nonzero(A) <= SPARSE * A.size else A
    transposed = S.T.tocsr() if sp.issparse(S) else S.T
    a, before, repeated = np.zeros(width), np.zeros(n, bool), 0
    m = np.zeros(n) if m is None else m * _best_step(np.zeros(n), m)
    for _ in range(steps):
        clock.look()
        l = expit(-m)
        q = l * (1.0 - l)
        H = transposed @ (sp.diags_array(q) @ S) if sp.issparse(S) else transposed @ (S * q[:, None])
        s = _solve_definite(H.toarray() if sp.issparse(S) else H, transposed @ l)
        if s is None:
            return
        moved = S @ s
        weight = l - q * moved
        t = _best_step(m, moved)
        growing = (t * moved > GROWING) | (m > FAR)
        if np.all(weight > ENOUGH_WEIGHT * l):
            growing[:] = False
        repeated = repeated + 1 if np.array_equal(growing, before) else 1
        before = growing
        if not growing.any():
            if repeated & (repeated - 1) == 0 and np.all(weight > 0):
                yield Proposal(None, (), weight)
        elif t >= LONG_STEP or (repeated > 1 and repeated & (repeated - 1) == 0):
            yield Proposal(~growing, (s, a + t * s), weight)
        a, m = a + t * s, m + t * moved
        if not np.all(np.isfinite(m)):
            return


def _solve_definite(H: Floats, g: Vector) -> Vector | None:
    size = np.sqrt(np.diag(H))
    size[~(size > 0)] = 1.0
    K = H / size / size[:, None]
    K.flat[:: len(K) + 1] += RIDGE
    factor, failed = la.lapack.dpotrf(K, lower=1)
    return None if failed else la.lapack.dpotrs(factor, g / size, lower=1)[0] / size


def _best_step(m: Vector, moved: Vector) -> float:
    """Return t > 0 near which sum log(1 + exp(-m - t moved)) is smallest: it may be far, if a vector separates."""

    def falls(t: float) -> bool:
        return float(expit(-(m + t * moved)) @ moved) > 0

    low, high = 0.0, 1.0
    while falls(high):
        low, high = high, 2.0 * high
        if high > LONGEST_STEP:
            return low
    while high - low > 0.25 * high and high > 1.0 / LONGEST_STEP:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if falls(middle) else (low, middle)
    return low or high


def overlapping_weights(V: Floats, m: Vector) -> Vector | None:
    """Return weights > 0 of sum 1 near which others combine the rows of V to 0 exactly; None if that is not proved.

    ``m``: the products of the rows with a vector that is nearly right for most of them."""
    A = scaled_columns(V)
    if A is None:
        return None
    with np.errstate(all="ignore"):
        for proposal in proposals(A, Clock(), m, FEW_STEPS):
            weight = proved_weights(A, proposal.weight) if proposal.tight is None else None
            if weight is not None:
                return weight / weight.sum()
    return None


def proved_weights(A: Floats, alpha: Vector) -> Vector | None:
    """Return weights near alpha > 0 next to which others > 0 combine the rows of A to 0 exactly; None if not proved.

    ``A`` has values up to 1 (`scaled_columns`)."""
    k, width = A.shape
    if width == 0:  # rows without columns are 0
        return alpha
    Z = A * np.sqrt(alpha)[:, None]
    H = Z.T @ Z
    # Values of Z lose one rounding, sums k, the diagonal one, the factor width + 1: halves of EPS, each in units of
    # sum |z|^2 in the 2-norm. What is left of these terms pays for their own rounding.
    error = (k + width + 16.0) * EPS * float(np.trace(H)) + 8.0 * k * width * TINY
    H.flat[:: width + 1] -= SHIFT * error
    factor, failed = la.lapack.dpotrf(H.T, lower=1, clean=0, overwrite_a=1)
    if failed or not np.isfinite(error):
        return None
    q = alpha
    for _ in range(2):  # the nearest weights that combine to 0, each in units of q_k^(1/2)
        alpha = alpha - q * (A @ la.lapack.dpotrs(factor, A.T @ alpha, lower=1)[0])
    total = float(alpha.sum())
    if not float(alpha.min()) > SMALLEST_VALUE * total:
        return None
    terms = (k + width + 16.0) * EPS
    # no value of A exceeds 1 in size, so that each sum of products loses at most ``terms`` of the weights' sum
    g = float(np.linalg.norm(A.T @ alpha)) + np.sqrt(width) * (terms * total + 4.0 * k * TINY)
    length = np.sqrt(np.einsum("ij,ij->i", A, A)) + 4.0 * width * TINY
    holds = float((q * length / alpha).max()) * g * (1.0 + 4.0 * terms) < (SHIFT - 1.0) * error
    return alpha if holds else None
