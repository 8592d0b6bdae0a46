"""A combination of many patterns, all with positive weights, that vanishes: found and proved by floats.

The loss sum log(1 + exp(-a.y_k)) has a minimum where the classes overlap. There the l_k = 1/(1 + exp(a.y_k)) combine
the patterns to 0, and long before: with Newton's step s = H^-1 sum l_k y_k, H = sum l_k (1 - l_k) y_k y_k^t,

    l_k - l_k (1 - l_k) y_k.s   combine to 0, but for rounding errors, and are positive if (1 - l_k) y_k.s < 1.

Where some are not they are raised and the rest makes up for it, with the same H: projections in turns onto the weights
that combine to 0 and onto those that are positive. That takes one or two matrices of columns by columns, where a vertex
(`separatrix.certificates.gordan`) takes as many exchanges of rows as there are columns. The proof: for any weights
alpha > 0, g = sum alpha_k y_k and H = sum q_k y_k y_k^t with eigenvalues of at least mu > 0, the alpha_k - q_k y_k.H^-1
g combine to 0 exactly, and are positive if

    q_k |y_k| |g| < mu alpha_k.

mu comes from H - t in floats: if it has a Cholesky factor then no eigenvalue of H is below t minus bounds on the
rounding errors of H and of the factor (Higham 2002, theorem 10.3; Rump 2006).
"""

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray
from scipy.special import expit

from separatrix.cancellation import check_cancelled
from separatrix.certificates.enclosure import SMALLEST_VALUE, scaled_columns
from separatrix.passes.patterns import EPS, TINY
from separatrix.space import Vector

STEPS, ROUNDS = 6, 6  # of Newton's method, each of which forms a matrix of columns by columns; projections in each
FARTHEST = 8.0  # a margin changes by no more in a step
ENOUGH_WEIGHT, RAISED_WEIGHT = 0.02, 0.2  # parts of l_k that a weight has to be, and that one which is less is set to
SHIFT = 1000.0  # t, in bounds on rounding errors
FEWEST_PER_COLUMN, MOST_PER_COLUMN = 2.25, 5  # rows that are worth a try: fewer may well be separated, more cost more
OVERLAP = 1.15  # rows, in those whose margins have the sum 0


def overlapping_rows(m: Vector, width: int) -> np.ndarray:
    """Of margins those with which to look: the smallest ones, up to where those on the wrong side and those on the
    right side balance each other, so that the vector itself has no say among them; some of them where they are many."""
    order = np.argsort(m)
    balanced = int(np.searchsorted(np.cumsum(m[order]) > 0, True))
    count = min(int(max(OVERLAP * balanced, FEWEST_PER_COLUMN * width)), len(m))
    return order[: count : -(-count // (MOST_PER_COLUMN * width))]


def interior_weights(V: NDArray[np.float64], m: Vector) -> Vector | None:
    """Weights > 0 of sum 1 near which, this is proved, others combine the rows of V to 0 exactly; None if none were
    found. ``m``: the products of the rows with a vector that is nearly right for most of them."""
    A = scaled_columns(V)
    if A is None:
        return None
    m = m * _best_multiple(m)
    for _ in range(STEPS):
        check_cancelled()
        l = expit(-m)
        found = _Weighted.of(A, np.sqrt(l * (1.0 - l)))
        if found is None or m.min() > 0:  # dependent columns; or these rows are separated
            return None
        moved = A @ found.solve(A.T @ l)
        alpha = l - found.q * moved
        for _ in range(ROUNDS):
            if np.all(alpha > ENOUGH_WEIGHT * l):
                weight = found.proved(alpha)
                return None if weight is None else weight / weight.sum()
            alpha = found.projected(np.maximum(alpha, RAISED_WEIGHT * l))
        m = m + moved * min(1.0, FARTHEST / max(float(np.abs(moved).max()), TINY))
    return None


def weights_exist(A: NDArray[np.float64], alpha: Vector) -> bool:
    """Are there weights > 0 near alpha > 0 that combine the rows of A, of values up to 1, to 0 exactly? False if floats
    do not prove it."""
    found = _Weighted.of(A, np.sqrt(alpha))
    return found is not None and found.proved(alpha) is not None


def _best_multiple(m: Vector) -> float:
    """b > 0 near which sum log(1 + exp(-b m)) is smallest: a few of Newton's steps."""
    b = 0.0
    for _ in range(4):
        l = expit(-b * m)
        bend = float((l * (1.0 - l)) @ (m * m))
        b = max(b + float(l @ m) / bend, 0.5 * b) if bend > 0 else b
    return b if b > 0 else 0.0


class _Weighted:
    """H = sum r_k^2 y_k y_k^t, a Cholesky factor of H - t, and how small an eigenvalue of H can be."""

    def __init__(self, A: NDArray[np.float64], r: Vector, factor: NDArray[np.float64], least: float):
        self.A, self.q, self.factor, self.least = A, r * r, factor, least

    @classmethod
    def of(cls, A: NDArray[np.float64], r: Vector) -> "_Weighted | None":
        k, width = A.shape
        Z = A * r[:, None]
        H = Z.T @ Z
        # Values of Z lose one rounding, sums k, the diagonal one, the factor width + 1: halves of EPS, each in units
        # of sum |z|^2 in the 2-norm. What is left of these terms pays for their own rounding.
        error = (k + width + 16.0) * EPS * float(np.trace(H)) + 8.0 * k * width * TINY
        H.flat[:: width + 1] -= SHIFT * error
        factor, failed = la.lapack.dpotrf(H.T, lower=1, clean=0, overwrite_a=1)
        return None if failed or not np.isfinite(error) else cls(A, r, factor, (SHIFT - 1.0) * error)

    def solve(self, g: Vector) -> Vector:
        return la.lapack.dpotrs(self.factor, g, lower=1)[0]

    def projected(self, alpha: Vector) -> Vector:
        """The nearest weights that combine to 0, each in units of r_k."""
        return alpha - self.q * (self.A @ self.solve(self.A.T @ alpha))

    def proved(self, alpha: Vector) -> Vector | None:
        """The weights, their combination as near to 0 as floats can; None where it is not proved that some vanish."""
        A, q = self.A, self.q
        for _ in range(2):
            alpha = self.projected(alpha)
        (k, width), total = A.shape, float(alpha.sum())
        if not float(alpha.min()) > SMALLEST_VALUE * total:
            return None
        terms = (k + width + 16.0) * EPS
        # no value of A exceeds 1 in size, so that each sum of products loses at most ``terms`` of the weights' sum
        g = float(np.linalg.norm(A.T @ alpha)) + np.sqrt(width) * (terms * total + 4.0 * k * TINY)
        length = np.sqrt(np.einsum("ij,ij->i", A, A)) + 4.0 * width * TINY
        return alpha if float((q * length / alpha).max()) * g * (1.0 + 4.0 * terms) < self.least else None
