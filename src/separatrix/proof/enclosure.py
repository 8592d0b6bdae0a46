"""A combination that vanishes, proved to exist by floats with bounds on their rounding errors (Rump 1983).

Of k affinely independent patterns of k - 1 columns exactly one combination with weights of sum 1 vanishes: A l = e with
the patterns as columns of A, a row of ones below them, and e = (0, ..., 0, 1). For any matrix R and any vector l_0

    |I - R A| <= q < 1   implies that A is regular, and   |l - l_0| <= |R (e - A l_0)| / (1 - q)

in the maximum norm. If no entry of l_0 is as small as this bound, all of l are positive: no hyperplane separates
(Gordan). R is the inverse in floats, which need not be a good one. The weights themselves remain unknown; who wants to
see them solves the equations exactly, as `separatrix.proof.exact` does.
"""

import numpy as np
from numpy.typing import NDArray

from separatrix.space import Vector

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
SMALLEST = 1e-250  # a value that columns in units of their largest ones may hold: its products do not underflow


def enclosed_weights(V: NDArray[np.float64]) -> Vector | None:
    """Weights > 0 within rounding errors of those with sum 1 whose combination of the rows vanishes, which are proved
    to be positive; None where floats do not prove it."""
    k, width = V.shape
    if width != k - 1 or not np.all(np.isfinite(V)):
        return None
    A = np.ones((k, k))
    # powers of two: a column in other units asks the same, and no bit is lost of values that do not underflow
    A[:-1] = np.ldexp(V, -np.frexp(np.abs(V).max(axis=0))[1]).T
    if np.any((V.T != 0) & (np.abs(A[:-1]) < SMALLEST)):
        return None
    e = np.zeros(k)
    e[-1] = 1.0
    with np.errstate(all="ignore"):
        try:
            R: NDArray[np.float64] = np.linalg.inv(A).astype(np.float64, copy=False)
        except np.linalg.LinAlgError:
            return None
        weight = R[:, -1].copy()
        weight += R @ (e - A @ weight)
        if not np.all(weight > 0):
            return None
        # Sums of k products in any order are wrong by at most k EPS times the sum of their sizes (2 k times the unit of
        # rounding, where k would do: the rest pays for this bound's own rounding), and by what underflows.
        terms, lost = (k + 8) * EPS, 4.0 * k * TINY
        size = np.abs(R)
        defect = np.abs(np.eye(k) - R @ A) + terms * (size @ np.abs(A) + 1.0) + lost
        q = float(defect.sum(axis=1).max()) * (1.0 + terms)
        residual = np.abs(e - A @ weight) + terms * (np.abs(A) @ weight + 1.0) + lost
        moved = float((size @ residual).max()) * (1.0 + terms) + lost
        if not (q < 0.5 and moved < np.inf):
            return None
        error = 2.0 * moved  # 1/(1 - q) < 2
    return weight if float(weight.min()) > error else None
