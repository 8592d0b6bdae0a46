"""Quasi-complete separation: is there a vector a with a.y_k >= 0 for all rows, and > 0 for some?

Floats propose an answer, integers prove it. Newton's method minimizes sum log(1 + exp(-a.y_k)), with the best step
along each direction. By Goldman and Tucker (1956) the rows fall into two parts: the tight ones, on which every such
vector vanishes, and the others, which one vector makes positive together. Along the iterates the margins of the tight
rows converge and all others grow, so that after a few steps the two parts are known.

- No row grows: the weights l_k = 1/(1 + exp(a.y_k)) combine the rows to nearly 0. If positive ones near them do so
  exactly, no such vector exists (Stiemke). Floats prove that for independent columns
  (`separatrix.certificates.interior`). Otherwise the weights are rounded to integers, and as many independent rows as
  there are make up for what the others combine to, exactly.
- Some rows grow: the vector is rounded to integers in the coordinates that the tight rows leave free. The others follow
  from one linear system. If all products are >= 0 exactly, and one is > 0, this is such a vector.

A proof that fails is tried again after more steps. What is not proved remains undecided.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from separatrix.cancellation import Clock
from separatrix.certificates.exact import bits_of, dot, integers_of, pieces_of, without_factor
from separatrix.certificates.integer_systems import (
    LIMB,
    PRIMES,
    Integers,
    Table,
    basis_columns,
    limbs,
    pieces_combine_to_zero,
    residues,
    solve,
)
from separatrix.certificates.interior import weights_exist
from separatrix.certificates.minimum_norm import MOST_BITS, FloatRows
from separatrix.space import Vector

STEPS = 60  # of Newton's method
LONG_STEP, LONGEST_STEP = 16.0, 2.0**20  # times Newton's: a long one is nearly along a vector that is looked for
GROWING = 0.25  # change of a margin in a step from which its row is taken for one that grows
ENOUGH_WEIGHT = 0.02  # part of l_k that a corrected weight has to be
FAR = 40.0  # margin of a row that has no weight any more
RIDGE = 1e-13  # added to a matrix with ones on its diagonal: rows that grew leave columns without curvature
SPARSE = 0.1  # share of values that are not 0, below which products of sparse matrices are quicker
WEIGHT_BITS, HALF = 30, 15  # of weights, and of their halves
VECTOR_BITS = (3, 10, 30)  # of free coordinates: few, if they suffice
ROWS_AT_A_TIME = 2048  # products of residues modulo p that sum to less than 2^53

Floats = NDArray[np.float64]


class Answer(NamedTuple):
    """``vector``: integers a with a.y_k >= 0 for all rows and > 0 for some; None: it is proved that there is none.

    ``weight``: then integers > 0 that combine all rows to 0, if they were requested."""

    vector: Integers | None
    weight: Integers | None = None


def decide_quasi_complete(rows: FloatRows, clock: Clock, explicit: bool = False) -> Answer | None:
    """Return a vector, or that none exists, each with an exact proof; None if neither was proved.

    ``explicit``: that none exists is proved by weights, which are returned, and not by bounds on rounding errors."""
    V, unit = rows.floats, rows.unit
    if bits_of(V, unit) > MOST_BITS:
        return None
    columns = independent_columns(V, unit, clock)
    if not len(columns):  # rows of zeros, or of multiples of the prime
        return None if V.any() else Answer(None, [1] * rows.n)
    scale = unit[columns] + np.array(rows.size)[columns]  # no value exceeds 1
    A = np.ldexp(V[:, columns], -scale)
    for proposal in _proposals(A, clock):
        if proposal.tight is None:
            independent = len(columns) == rows.m  # otherwise floats do not see whether other columns vanish too
            if not explicit and independent and weights_exist(A, proposal.weight):
                return Answer(None)
            weight = _vanishing_weights(V, unit, A, columns, proposal.weight, clock)
            if weight is not None:
                return Answer(None, weight)
            continue
        found = _weak_vector(rows, A, columns, proposal, clock)
        if found is not None:
            return Answer(found)
    return None


def independent_columns(V: Floats, unit: NDArray[np.int64], clock: Clock) -> np.ndarray:
    """Return a basis of the columns modulo a prime: these columns are independent.

    Of many rows, as many random combinations as there are columns have the same basis (but for accidents).
    """
    p = PRIMES[0]
    n, width = V.shape
    if n <= width:
        return np.array(basis_columns(residues(pieces_of(V, unit), p, LIMB), p, clock), dtype=np.int64)
    random, total = np.random.default_rng(0), np.zeros((width, width))
    for first in range(0, n, ROWS_AT_A_TIME):
        clock.look()
        part = residues(pieces_of(V[first : first + ROWS_AT_A_TIME], unit), p, LIMB)
        total = (total + random.integers(0, p, size=(width, len(part))).astype(np.float64) @ part % p) % p
    return np.array(basis_columns(total, p, clock), dtype=np.int64)


def one_sided_columns(patterns: Any) -> Vector | None:
    """Return the sum of all vectors with one coordinate, 1 or -1, and no negative product; None if there are none.

    Such a column is not negative in one class and not positive in all others, or the other way round: that of a rare
    category, which occurs in one class alone. Signs are the proof.
    """
    codes = patterns.codes if patterns.n_classes > 2 else (patterns.labels > 0).astype(np.int64)
    extremes = [patterns.home.take(np.flatnonzero(codes == c)).column_extremes() for c in range(patterns.n_classes)]
    smallest, largest = (np.array([e[i] for e in extremes], dtype=np.float64) for i in (1, 2))
    used = np.any((smallest != 0) | (largest != 0), axis=0)
    a = np.zeros((patterns.n_classes, smallest.shape[1] + 1))
    for c in range(patterns.n_classes):
        others = np.arange(patterns.n_classes) != c
        up = (smallest[c] >= 0) & np.all(largest[others] <= 0, axis=0)
        down = (largest[c] <= 0) & np.all(smallest[others] >= 0, axis=0)
        a[c, :-1] = np.where(used, up.astype(np.float64) - down, 0.0)
    if not np.any(a):
        return None
    return a.ravel() if patterns.n_classes > 2 else a[1]


class _Proposal(NamedTuple):
    """``tight``: which rows do not grow, and ``vectors`` near such ones that vanish on them; or ``weight``, if no row
    grows: weights > 0 that combine the rows to nearly 0."""

    tight: np.ndarray | None
    vectors: tuple[Vector, ...]
    weight: Vector


def _proposals(A: Floats, clock: Clock) -> Iterator[_Proposal]:
    """Run Newton's method; yield a proposal after 2, 4, 8 ... steps in which the same rows grew, and in long steps."""
    n, width = A.shape
    S: Any = sp.csr_array(A) if np.count_nonzero(A) <= SPARSE * A.size else A
    transposed = S.T.tocsr() if sp.issparse(S) else S.T
    a, m, before, repeated = np.zeros(width), np.zeros(n), np.zeros(n, bool), 0
    for _ in range(STEPS):
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
                yield _Proposal(None, (), weight)
        elif t >= LONG_STEP or (repeated > 1 and repeated & (repeated - 1) == 0):
            yield _Proposal(~growing, (s, a + t * s), weight)
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


def _spread_rows(A: Floats) -> np.ndarray:
    """Return as many rows as there are columns, which are independent and large: the pivots of Gaussian elimination."""
    pivots = la.lu_factor(A, check_finite=False)[1]
    order = np.arange(len(A))
    for i, other in enumerate(pivots.tolist()):
        order[[i, other]] = order[[other, i]]
    return order[: A.shape[1]]


def _vanishing_weights(
    V: Floats, unit: NDArray[np.int64], A: Floats, columns: np.ndarray, weight: Vector, clock: Clock
) -> Integers | None:
    """Return integers > 0 near these weights that combine all rows to 0, exactly; None if none were found."""
    basis = _spread_rows(A * np.sqrt(weight)[:, None])
    clock.look()
    whole = np.maximum(np.rint(np.ldexp(weight / weight.max(), WEIGHT_BITS)), 1.0)
    whole[basis] = 0.0
    others = _combined(V, unit, whole, clock)
    system = _transposed(integers_of(V[np.ix_(basis, columns)], unit[columns]))
    found = solve(system, [-others[j] for j in columns.tolist()], clock)
    if found is None or min(found[0]) <= 0:
        return None
    # the equations of all columns: the others' combination in pieces, which are rows with multiples of their weight
    pieces = [piece[0] for piece in limbs([others], LIMB)]
    table = pieces_of(V[basis], unit)
    zeros = np.zeros((len(pieces), len(others)))
    stacked = [np.concatenate([piece, np.array(pieces) if i == 0 else zeros]) for i, piece in enumerate(table)]
    if not pieces_combine_to_zero(stacked, [*found[0], *(found[1] << LIMB * i for i in range(len(pieces)))], clock):
        return None
    exact = [int(w) * found[1] for w in whole]
    for k, w in zip(basis.tolist(), found[0], strict=True):
        exact[k] = w
    return exact


def _transposed(table: Table) -> Table:
    if isinstance(table, np.ndarray):
        return np.ascontiguousarray(table.T)
    return [list(column) for column in zip(*table, strict=True)]


def _combined(V: Floats, unit: NDArray[np.int64], weight: Vector, clock: Clock) -> Integers:
    """Return sum_k weight_k V_k 2^-unit, exactly, for integers of at most `WEIGHT_BITS` bits.

    The products of pieces of `LIMB` bits with halves of weights sum to less than 2^53.
    """
    total = [0] * V.shape[1]
    at_a_time = 1 << 53 - LIMB - HALF - 1
    low = weight % 2.0**HALF
    halves = ((0, low), (HALF, (weight - low) * 2.0**-HALF))
    for first in range(0, len(V), at_a_time):
        clock.look()
        part = slice(first, first + at_a_time)
        for i, piece in enumerate(pieces_of(V[part], unit)):
            for shift, half in halves:
                sums = (half[part] @ piece).tolist()
                total = [t + (int(x) << LIMB * i + shift) for t, x in zip(total, sums, strict=True)]
    return total


def _weak_vector(rows: FloatRows, A: Floats, columns: np.ndarray, proposal: _Proposal, clock: Clock) -> Integers | None:
    """Return integers near a proposed vector that vanish on the tight rows, if no product with a row is negative."""
    V, tight = rows.floats, proposal.tight
    assert tight is not None
    unit, size = rows.unit[columns], np.array(rows.size)[columns]
    here = np.flatnonzero(tight)
    bound = independent_columns(V[np.ix_(here, columns)], unit, clock)
    free = np.setdiff1d(np.arange(len(columns)), bound)
    if not len(free):
        return None
    basis = here[_spread_rows(A[np.ix_(here, bound)])] if len(bound) else here[:0]
    fixed, loose, others = A[np.ix_(basis, bound)], A[np.ix_(basis, free)], A[~tight]
    for vector, bits in product(proposal.vectors, VECTOR_BITS):
        clock.look()
        largest = float(np.abs(vector[free]).max())
        if not 0 < largest < np.inf:
            continue
        z = np.zeros(len(columns))
        z[free] = np.rint(np.ldexp(vector[free] / largest, bits))
        with suppress(np.linalg.LinAlgError):
            z[bound] = -np.linalg.solve(fixed, loose @ z[free])
        if float((others @ z).min()) < 0:
            continue
        top = int(size[free].max())  # z in the units of the integers
        chosen = [int(x) << top - u for x, u in zip(z[free].tolist(), size[free].tolist(), strict=True)]
        rest = integers_of(V[np.ix_(basis, columns[free])], unit[free])
        right = [-dot(row, chosen) for row in (rest.tolist() if isinstance(rest, np.ndarray) else rest)]
        found: tuple[Integers, int] | None = ([], 1)
        if len(bound):
            found = solve(integers_of(V[np.ix_(basis, columns[bound])], unit[bound]), right, clock)
        if found is None:
            return None
        x = [0] * rows.m
        for j, v in zip(columns[bound].tolist(), found[0], strict=True):
            x[j] = v
        for j, v in zip(columns[free].tolist(), chosen, strict=True):
            x[j] = v * found[1]
        x = without_factor(x)
        if rows.supports(x, clock):
            return x
    return None
