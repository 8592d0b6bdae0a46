"""The shortest vector with l_i (w.x_i + b) >= 1 for some b: the nearest point where a bias is free.

    minimise |w|^2/2  subject to  z_i.w + l_i b >= 1,   z_i = l_i x_i;     w = sum u_i z_i,   sum u_i l_i = 0

A bias that costs next to nothing, (b - b_0)^2/(2 rho^2) with a large rho, makes it a problem of `nearest_point`, whose
tight rows are as good as always the right ones; the two equations above, solved on them exactly, say whether they are.
Where they are not, b_0 moves to the b that was found, and again (the proximal point method, finite for such problems).
"""

from collections.abc import Callable

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.passes.patterns import EPS
from separatrix.solvers.nearest_point import FEASIBLE, REFINEMENTS, nearest_point
from separatrix.space import Vector

Matrix = NDArray[np.float64]

STRONG = 30.0  # rho in lengths of the longest row
ROUNDS = 6


def nearest_with_bias(
    Z: Matrix, labels: Vector, guess: np.ndarray | None = None, stop: Callable[[], bool] = lambda: False
) -> tuple[Vector, Vector] | None:
    """w, and multipliers whose sums over the two classes are equal; None where arithmetic fails or one class is
    missing. When ``stop`` says so, what has been reached."""
    if not (np.any(labels > 0) and np.any(labels < 0)):
        return None
    V = np.empty((len(Z), Z.shape[1] + 1))
    centre = labels @ Z / len(Z)  # where the origin is does not matter to a free bias, but to arithmetic
    np.subtract(Z, np.multiply.outer(labels, centre), out=V[:, :-1])
    rho = STRONG * float(np.sqrt(np.einsum("ij,ij->i", V[:, :-1], V[:, :-1]).max()))
    V[:, -1] = rho * labels
    bias = 0.0
    for _ in range(ROUNDS):
        found = nearest_point(V, 1.0 - labels * bias, guess, stop)
        if found is None:
            return None
        if not (found.optimal and found.feasible):
            return found.w[:-1], _in_balance(found.u, labels)
        guess = np.flatnonzero(found.u)
        exact = _on_tight_rows(V, labels, guess, found.u[guess], rho)
        if exact is not None:
            return exact
        bias += rho * float(found.w[-1])
    return None


def _on_tight_rows(V: Matrix, labels: Vector, S: np.ndarray, u: Vector, rho: float) -> tuple[Vector, Vector] | None:
    """Both equations with the rows S tight, by steps of refinement; None where the signs are wrong.

    With M = Z_S Z_S^t + rho^2 l l^t:  M du + l db = r + rho^2 l t,  l.du = t,  of what is left of them, r and t.
    """
    rows, l = V[S, :-1], labels[S]
    try:
        factor = la.cho_factor(V[S] @ V[S].T, lower=True, overwrite_a=True, check_finite=False)
    except la.LinAlgError:
        return None
    along = la.cho_solve(factor, l, check_finite=False)
    b, longest = 0.0, rho / STRONG
    for _ in range(REFINEMENTS):
        w = u @ rows
        r, t = 1.0 - rows @ w - l * b, -float(l @ u)
        step = la.cho_solve(factor, r + rho**2 * t * l, check_finite=False)
        change = (float(l @ step) - t) / float(l @ along)
        u, b = u + step - change * along, b + change
        if float(np.abs(r).max()) <= 4.0 * EPS * longest * float(np.linalg.norm(w)) and abs(t) <= EPS * abs(u).sum():
            break
    w = u @ rows
    if not (np.all(u >= 0) and np.all(V[:, :-1] @ w + labels * b >= 1.0 - FEASIBLE)):
        return None
    whole = np.zeros(len(V))
    whole[S] = u
    return w, whole


def _in_balance(u: Vector, labels: Vector) -> Vector:
    """Multipliers whose sums over the two classes are equal."""
    positive, negative = float(u[labels > 0].sum()), float(u[labels < 0].sum())
    if not (positive > 0 and negative > 0):
        return np.zeros_like(u)
    return np.where(labels > 0, u / positive, u / negative)
