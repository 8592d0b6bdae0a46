"""The point of a polytope nearest to the origin, and the vector behind it (Lawson & Hanson, chapter 23)."""

from collections.abc import Callable

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray
from scipy.optimize import nnls

from separatrix.solvers.nearest_point import nearest_point
from separatrix.solvers.thread_limit import no_warnings
from separatrix.space import Vector

SHORT = 1e8  # values of the matrix times its smaller side of what scipy solves in some tenths of a second


def least_distance(
    V: NDArray[np.float64],
    scale: float,
    stop: Callable[[], bool] = lambda: False,
    guess: np.ndarray | None = None,
) -> tuple[Vector, Vector]:
    """The shortest w with ``V w >= 1``, and u >= 0 of sum 1 with ``V^t u`` parallel to w.

    ``guess``: numbers of rows that may be tight. ``scale``: about the distance |V^t u|. Without a solution (0 lies in
    the hull) V^t u is as good as 0. When ``stop`` says so, what has been reached: u is not optimal then, and the vector
    may not be feasible.
    """
    found = nearest_point(V, np.ones(len(V)), guess, stop)
    total = 0.0 if found is None else found.u.sum()
    if found is None or not total > 0:
        return _by_least_squares(V, scale, stop)
    return found.w, found.u / total


def _by_least_squares(V: NDArray[np.float64], scale: float, stop: Callable[[], bool]) -> tuple[Vector, Vector]:
    """The same where lengths are extreme or rows depend on each other. NNLS on [V^t/scale; 1^t] u = (0, 1) finds which
    constraints are tight; with ``scale`` near the distance |V^t u|/sum u the two parts of the residual are of one size,
    which is what keeps them accurate. The tight constraints alone then give w by a QR factorisation."""
    E = np.vstack([V.T / scale, np.ones(len(V))])
    f = np.zeros(E.shape[0])
    f[-1] = 1.0
    u = _at_once(E, f) if E.size * min(E.shape) <= SHORT else None
    u = nnls_in_steps(E, f, stop) if u is None else u
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


def _at_once(E: NDArray[np.float64], f: Vector) -> Vector | None:
    try:
        with no_warnings:  # older ones solve equations that may be ill-conditioned
            return np.asarray(nnls(E, f, maxiter=max(50 * E.shape[1], 1000))[0])
    except RuntimeError:  # it went in circles
        return None


def nnls_in_steps(E: NDArray[np.float64], f: Vector, stop: Callable[[], bool] = lambda: False) -> Vector:
    """argmin |E u - f| over u >= 0, as `scipy.optimize.nnls`, which cannot be interrupted: columns join and leave a QR
    factorisation, and after each of these steps ``stop`` is asked."""
    m, n = E.shape
    u, positive, refused = np.zeros(n), np.zeros(0, np.int64), np.zeros(n, dtype=bool)
    Q, R, right = np.zeros((m, min(m, n)), order="F"), np.zeros((min(m, n),) * 2, order="F"), np.zeros(min(m, n))
    small = 10.0 * max(m, n) * np.finfo(np.float64).eps * float(np.abs(E).sum(axis=0).max(initial=0.0))
    for _ in range(max(50 * n, 1000)):
        k = len(positive)
        gradient = E.T @ (f - Q[:, :k] @ right[:k])
        gradient[positive] = gradient[refused] = -np.inf
        joining = int(np.argmax(gradient))
        if not gradient[joining] > small or k == min(m, n):
            break
        rest, along = E[:, joining], np.zeros(k)
        for _ in range(2):  # Gram and Schmidt lose digits where the column nearly depends on the others
            more = Q[:, :k].T @ rest
            rest, along = rest - Q[:, :k] @ more, along + more
        length = float(np.linalg.norm(rest))
        if not length > 1e-14 * float(np.linalg.norm(E[:, joining])):
            refused[joining] = True
            continue
        Q[:, k], R[:k, k], R[k, : k + 1] = rest / length, along, 0.0
        R[k, k], right[k] = length, f @ Q[:, k]
        positive = np.append(positive, joining)
        while len(positive):
            k = len(positive)
            z = la.solve_triangular(R[:k, :k], right[:k], check_finite=False)
            leaving = np.flatnonzero(z <= 0)
            if len(leaving) == 0:
                u[positive] = z
                refused[:] = False
                break
            refused[joining] |= leaving[-1] == k - 1 and u[positive[-1]] == 0  # only rounding sends it back at once
            x = u[positive]
            share = x[leaving] / np.maximum(x[leaving] - z[leaving], 1e-300)
            u[positive] = x + share.min() * (z - x)
            gone = leaving[share <= share.min()]
            u[positive[gone]] = 0.0
            positive = np.delete(positive, gone)
            for i in gone[::-1].tolist():
                shorter = la.qr_delete(Q[:, :k], R[:k, :k], i, which="col", check_finite=False)
                k -= 1
                Q[:, :k], R[:k, :k] = shorter[0][:, :k], shorter[1][:k]
            right[:k] = Q[:, :k].T @ f
            if stop():
                return u
        if stop() and u.any():
            break
    return u


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
    if not np.all(np.isfinite(z)):  # rows so short that a vector with S w = 1 overflows
        return None
    return Q @ z, la.solve_triangular(R, z, check_finite=False)
