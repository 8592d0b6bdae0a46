"""The shortest vector with V w >= b, exactly, for some hundreds or thousands of rows.

First a guess of the tight rows by large matrix operations: the rows that were tight before, or block principal
pivoting (Portugal, Judice & Vicente 1994), which exchanges all rows of wrong sign at once. From there the compiled dual
active set method goes on, row by row; it needs no more than multipliers that are positive, and right guesses leave it
nothing to do. Where rows are fewer than columns everything happens in their span, whose coordinates are a Cholesky
factor of V V^t; what this loses of the accuracy is won back by steps of refinement on V itself.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.passes.patterns import EPS
from separatrix.solvers.loops.dual_active_set import INFEASIBLE, OPTIMAL, dual_active_set
from separatrix.space import Vector

Matrix = NDArray[np.float64]

WIDER = 1.0  # columns per row from which the rows' own span is the smaller space, and their inner products are regular
SHORTEST, LONGEST = 1e-60, 1e60  # lengths of rows between which nothing can overflow
WORK_BETWEEN_LOOKS, MATRIX_WORK = 2e7, 3e9  # multiplications before the clock is looked at: one by one, of matrices
EXCHANGES, PATIENCE = 40, 3  # of block pivoting: rounds at most, and rounds without progress
REFINEMENTS = 4
FEASIBLE = 1e-9  # what a product may lack of b, relative, for a solution in the span to be good
SINGULAR = 1e-13  # ratio of a triangle's diagonal from which rows count as dependent
LEFT = 1e-13  # length of a convex combination, of that of the longest row, that is as good as 0


class Nearest(NamedTuple):
    """The vector, and ``u >= 0`` with w = V^t u; where nothing satisfies all rows (``feasible`` False) V^t u is as good
    as 0. ``optimal`` is False where it was stopped."""

    w: Vector
    u: Vector
    optimal: bool = True
    feasible: bool = True


def nearest_point(
    V: Matrix, right: Vector, guess: np.ndarray | None = None, stop: Callable[[], bool] = lambda: False
) -> Nearest | None:
    """The shortest w with ``V w >= right``; None where arithmetic fails. ``guess``: numbers of rows that may be tight;
    ``stop``: asked a few times a second."""
    count, width = V.shape
    norms = np.sqrt(np.einsum("ij,ij->i", V, V))
    if not (count and norms.min() > SHORTEST and norms.max() < LONGEST):
        return None
    if width > WIDER * count:
        found = _in_span(V, right, guess, stop)
        if found is not None:
            return found
    return _by_rows(V, norms, right, guess, stop)


def _in_span(V: Matrix, right: Vector, guess: np.ndarray | None, stop: Callable[[], bool]) -> Nearest | None:
    gram = _inner_products(V, stop)
    if gram is None:
        return None
    pivoted = None
    if guess is None:
        guess, pivoted = block_pivoting(gram, right, stop)
    if pivoted is not None:
        assert guess is not None
        found = _refined(V, right, guess, pivoted, gram)
        if found is not None:
            return found
    L = span_coordinates(gram)
    norms = np.sqrt(np.einsum("ij,ij->i", L, L))
    if not norms.min() > SHORTEST:
        return None
    found = _by_rows(L, norms, right, guess, stop)
    if found is None or not found.optimal or not found.feasible:
        return None if found is None or found.optimal else found._replace(w=V.T @ found.u)
    S = np.flatnonzero(found.u)
    return _refined(V, right, S, found.u[S], gram)


def _refined(V: Matrix, right: Vector, S: np.ndarray, u: Vector, gram: Matrix) -> Nearest | None:
    """The solution of which the rows S are tight, from multipliers near it; None where it is not one after all."""
    try:
        factor = la.cho_factor(gram[np.ix_(S, S)], lower=True, overwrite_a=True, check_finite=False)
    except la.LinAlgError:
        return None
    whole = np.zeros(len(V))
    whole[S] = u
    w, longest = whole @ V, float(np.sqrt(gram.diagonal().max()))
    for _ in range(REFINEMENTS):
        margins = V @ w
        rest = (right - margins)[S]
        if float(np.abs(rest).max()) <= 4.0 * EPS * float(np.linalg.norm(w)) * longest:
            break
        whole[S] += la.cho_solve(factor, rest, check_finite=False)
        w = whole @ V
    else:
        margins = V @ w
    good = np.all(whole >= 0) and np.all(margins >= right - FEASIBLE * np.maximum(np.abs(right), 1.0))
    return Nearest(w, whole) if good else None


def _inner_products(V: Matrix, stop: Callable[[], bool]) -> Matrix | None:
    """V V^t, in pieces where it takes long; None where it was stopped."""
    n, width = V.shape
    step = max(int(MATRIX_WORK / (n * width)), 1)
    if step >= n:
        return V @ V.T
    gram = np.empty((n, n))
    for first in range(0, n, step):
        rows = slice(first, first + step)
        gram[rows, : first + step] = V[rows] @ V[: first + step].T
        gram[:first, rows] = gram[rows, :first].T
        if stop():
            return None
    return gram


def span_coordinates(gram: Matrix) -> Matrix:
    """Coordinates of rows in an orthonormal basis of their span, (n, rank), from their inner products: a Cholesky
    factor, with pivots because the rank may be smaller than n."""
    factor, pivots, rank, _ = la.lapack.dpstrf(gram, lower=1, tol=-1.0)
    L = np.empty((len(gram), max(rank, 1)))
    L[pivots - 1] = np.tril(factor)[:, : max(rank, 1)]
    return L


def block_pivoting(
    gram: Matrix, right: Vector, stop: Callable[[], bool] = lambda: False
) -> tuple[np.ndarray | None, Vector | None]:
    """A guess of the tight rows from all inner products: (G u)_i = b_i on them with u >= 0, (G u)_i >= b_i beside. With
    the multipliers of these rows, where it is the solution as far as G can tell."""
    n = len(gram)
    tight = np.ones(n, dtype=bool)
    best, patience = n + 1, PATIENCE
    small = 1e-10 * float(np.abs(right).max(initial=0.0))
    for _ in range(EXCHANGES):
        S = np.flatnonzero(tight)
        try:
            factor = la.cho_factor(gram[np.ix_(S, S)], lower=True, overwrite_a=True, check_finite=False)
        except la.LinAlgError:
            return None, None
        u = np.zeros(n)
        u[S] = la.cho_solve(factor, right[S], check_finite=False)
        wrong = np.where(tight, u < 0, gram @ u < right - small)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return S, u[S]
        if count < best:
            best, patience = count, PATIENCE
        elif patience == 0:
            break
        else:
            patience -= 1
        tight ^= wrong
        if not tight.any() or stop():
            return None, None
    return np.flatnonzero(tight), None


class _Tight(NamedTuple):
    """Rows that are tight, with positive multipliers, and the factors of their matrix."""

    rows: np.ndarray
    Q: Matrix
    R: Matrix
    u: Vector
    w: Vector


def _tight(V: Matrix, right: Vector, rows: np.ndarray, stop: Callable[[], bool]) -> _Tight | None:
    """Of some rows those that support the shortest vector on which they are tight; None if they are dependent or time
    is up."""
    while 0 < len(rows) <= V.shape[1]:
        factors = _orthogonal_basis(V, rows, stop)
        if factors is None:
            return None
        Q, R = factors
        diagonal = np.abs(np.diag(R))
        if not diagonal.min() > SINGULAR * diagonal.max():
            return None
        z, u = _normal_solution(R, right[rows])
        if np.all(u >= 0):
            return _Tight(rows, Q, R, u, Q @ z)
        rows = rows[u > 0]
    return None


def _orthogonal_basis(V: Matrix, rows: np.ndarray, stop: Callable[[], bool]) -> tuple[Matrix, Matrix] | None:
    """Q, R of the transposed rows; in pieces if it takes long (Gram-Schmidt twice with what is there, then
    Householder); None if it was stopped."""
    width, count = V.shape[1], len(rows)
    step = max(int(MATRIX_WORK / (4.0 * width * count)), 1)
    if step >= count:
        return la.qr(V[rows].T, mode="economic", overwrite_a=True, check_finite=False)
    Q, R = np.empty((width, count), order="F"), np.zeros((count, count))
    for first in range(0, count, step):
        part, before = V[rows[first : first + step]].T, Q[:, :first]
        end = first + part.shape[1]
        for _ in range(2):
            along = before.T @ part
            part = part - before @ along
            R[:first, first:end] += along
        Q[:, first:end], R[first:end, first:end] = la.qr(part, mode="economic", overwrite_a=True, check_finite=False)
        if stop():
            return None
    return Q, R


def _normal_solution(R: Matrix, right: Vector) -> tuple[Vector, Vector]:
    """R^t z = b and R u = z, which solve R^t R u = b. LAPACK itself: scipy's checks take longer in small data."""
    z, singular = la.lapack.dtrtrs(R, right, trans=1)
    if singular:
        raise la.LinAlgError("a row of the triangle has no pivot")
    return z, la.lapack.dtrtrs(R, z)[0]


def _by_rows(
    V: Matrix, norms: Vector, right: Vector, guess: np.ndarray | None, stop: Callable[[], bool]
) -> Nearest | None:
    count, width = V.shape
    most = min(count, width) + 1
    w, u, active = np.zeros(width), np.zeros(most + 1), np.zeros(most + 1, np.int64)
    Q, R, size = np.zeros((most, width)), np.zeros((most, most)), 0
    start = None if guess is None else _tight(V, right, guess, stop)
    if start is not None:
        size = len(start.rows)
        active[:size], u[:size], w[:] = start.rows, start.u, start.w
        Q[:size], R[:size, :size] = start.Q.T, start.R
    V = np.ascontiguousarray(V)
    steps_in_all = 20 * (count + width) + 1000
    while True:
        steps = max(1, int(WORK_BETWEEN_LOOKS / (V.size + 4.0 * (size + 1) * width)))
        ended, size = dual_active_set()(V, norms, right, w, Q, R, active, u, size, 4.0 * EPS, steps)
        steps_in_all -= steps
        if ended in (OPTIMAL, INFEASIBLE) or stop():
            break
        if steps_in_all <= 0 or not np.all(np.isfinite(w)):
            return None
    whole = np.zeros(count)
    if ended == INFEASIBLE:
        whole[active[: size + 1]] = u[: size + 1]
        v = V.T @ (whole / whole.sum())
        return Nearest(v, whole, feasible=False) if np.linalg.norm(v) <= LEFT * norms.max() else None
    # what the steps have added up, once more from the factors
    z, polished = _normal_solution(R[:size, :size], right[active[:size]])
    if (polished > 0.0).all():
        u[:size], w = polished, z @ Q[:size]
    whole[active[:size]] = np.maximum(u[:size], 0.0)
    return Nearest(w, whole, optimal=ended == OPTIMAL)
