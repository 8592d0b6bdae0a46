"""A combination that vanishes, proved to exist by floats with bounds on their rounding errors (Rump 1983).

Of k affinely independent patterns of k - 1 columns exactly one combination with weights of sum 1 vanishes: A l = e with
the patterns as columns of A, a row of ones below them, and e = (0, ..., 0, 1). For any matrix R and any vector l_0

    |I - R A| <= q < 1   implies that A is regular, and   |l - l_0| <= |R (e - A l_0)| / (1 - q)

in the maximum norm. If no entry of l_0 is as small as this bound, all of l are positive: no hyperplane separates
(Gordan). R is the inverse in floats, which need not be a good one. The weights themselves remain unknown; who wants to
see them solves the equations exactly, as `separatrix.certificates.exact` does.
"""

import numpy as np
from numpy.typing import NDArray

from separatrix.passes.patterns import EPS, TINY
from separatrix.space import Vector

SMALLEST_VALUE = 1e-250  # a value that columns in units of their largest ones may hold: its products do not underflow


def scaled_columns(V: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """V without columns of zeros, the others in units of powers of two in which no value exceeds 1: other units ask
    the same, and no bit is lost. None where values are not finite, or so small that products would underflow."""
    peak = np.maximum(V.max(axis=0, initial=0.0), -V.min(axis=0, initial=0.0))
    if not np.all(peak < np.inf):
        return None
    used = peak > 0
    if not used.all():
        V, peak = V[:, used], peak[used]
    exponent = np.frexp(peak)[1]
    extreme = np.abs(exponent).max(initial=0) > 1000
    A: NDArray[np.float64] = np.ldexp(V, -exponent) if extreme else V * np.ldexp(1.0, -exponent)
    return A if np.count_nonzero(np.abs(A) >= SMALLEST_VALUE) == np.count_nonzero(V) else None


def enclosed_weights(V: NDArray[np.float64]) -> Vector | None:
    """Weights > 0 within rounding errors of those with sum 1 whose combination of the rows vanishes, which are proved
    to be positive; None where floats do not prove it."""
    scaled, k = scaled_columns(V), len(V)
    if scaled is None or scaled.shape[1] != k - 1:
        return None
    A = np.ones((k, k))
    A[:-1] = scaled.T
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
