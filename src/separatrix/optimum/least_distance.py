"""The point of a polytope nearest to the origin, and the vector behind it (Lawson & Hanson, chapter 23)."""

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray
from scipy.optimize import nnls

from separatrix.space import Vector


def least_distance(V: NDArray[np.float64], scale: float) -> tuple[Vector, Vector]:
    """The shortest w with ``V w >= 1``, and u >= 0 with ``V^t u`` parallel to w.

    NNLS on [V^t/scale; 1^t] u = (0, 1) finds which constraints are tight; with ``scale`` near the distance
    |V^t u|/sum u the two parts of the residual are of one size, which is what keeps them accurate. The tight
    constraints alone then give w by a QR factorisation, to full accuracy. Without a solution (0 lies in the hull) V^t
    u is as good as 0.
    """
    E = np.vstack([V.T / scale, np.ones(len(V))])
    f = np.zeros(E.shape[0])
    f[-1] = 1.0
    u, _ = nnls(E, f, maxiter=max(50 * E.shape[1], 1000))
    total = u.sum()
    if not total > 0:
        raise FloatingPointError("no multiplier is positive")
    u = u / total
    v = V.T @ u
    length2 = float(v @ v)
    w = v / length2 if length2 > 0 else v
    support = np.flatnonzero(u > 0)
    polished = _tight(V[support])
    if polished is not None:
        w_tight, u_tight = polished
        if np.all(u_tight >= 0) and 0 < u_tight.sum() < np.inf and (V @ w_tight).min() >= min((V @ w).min(), 1 - 1e-9):
            w, u = w_tight, np.zeros(len(V))
            u[support] = u_tight / u_tight.sum()
    return w, u


def _tight(S: NDArray[np.float64]) -> tuple[Vector, Vector] | None:
    """The shortest w with S w = 1 and its multipliers (S S^t)^-1 1, by QR; None where S is numerically dependent."""
    k, d = S.shape
    if k == 0 or k > d:
        return None
    Q, R = la.qr(S.T, mode="economic")
    diagonal = np.abs(np.diag(R))
    if diagonal.min() <= 1e-14 * diagonal.max():
        return None
    z = la.solve_triangular(R, np.ones(k), trans="T")
    return Q @ z, la.solve_triangular(R, z)
