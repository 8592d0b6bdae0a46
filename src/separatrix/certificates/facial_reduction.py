"""Is there a vector with a.y_k >= 0 for all rows and > 0 for some? Facial reduction, in exact arithmetic: slow, and
for what floats do not see (`separatrix.certificates.quasi_complete`), such as rows that are tight but for rounding
errors.

sum lambda_k a.y_k = 0 with lambda > 0 forces a.y_k = 0 on the rows of a vanishing combination. On the vectors that are
orthogonal to them, a = N b with the columns of N a basis, the question is asked again of the rows that do not vanish
there: they are Y N. It ends with a vector, which is > 0 on all rows that are left, or with no row left: then every
vector with a.y_k >= 0 for all rows vanishes on all of them.
"""

from typing import Any

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.exact import dot, without_factor
from separatrix.certificates.integer_rows import IntegerRows
from separatrix.certificates.integer_systems import PRIMES, Integers, basis, basis_columns, limbs, residues, solve
from separatrix.certificates.wolfe import decide

LONGEST_STEP = 3e7  # rows^2 columns bits of an elimination that FLINT makes in some tenths of a second


def weak_vector(table: list[Integers], tight: list[int], clock: Clock) -> Integers | None:
    """A vector of integers, or None where there is none. ``tight``: rows that a combination with weights > 0 makes 0.

    Raises `OutOfTimeError` where the clock ends it, or where it would take steps that are too long.
    """
    if not any(any(row) for row in table):
        return None
    columns = _spanning(table, clock)
    if len(columns) < len(table[0]):
        found = weak_vector([[row[j] for j in columns] for row in table], tight, clock)
        values = dict(zip(columns, found or [], strict=False))
        return None if found is None else [values.get(j, 0) for j in range(len(table[0]))]
    everything = _distinct(table, clock)
    N: list[Integers] | None = None  # columns of the basis; None: all vectors
    left, rows = everything, [table[k] for k in tight]
    while True:
        basis = orthogonal(rows, clock)
        N = basis if N is None else [_times(b, N) for b in basis]
        if not N:
            return None
        left = [r for r in ([dot(row, b) for b in N] for row in everything) if any(r)]
        if not left:
            return None
        left = _distinct(left, clock)
        clock.look()
        answer = decide(IntegerRows(left, clock), clock)
        if answer.vector is not None:
            return without_factor(_times(answer.vector, N))
        rows = [left[k] for k in answer.rows]


def _spanning(table: list[Integers], clock: Clock) -> list[int]:
    """Return columns that span all, if there are more than rows: more vectors than they have ask nothing new.

    Independent modulo a prime means independent; that they span all is proved by every other row being a combination of
    as many rows.
    """
    everything = list(range(len(table[0])))
    if len(everything) <= len(table):
        return everything
    rows, columns, _ = basis(residues(limbs(table), PRIMES[0]), PRIMES[0], clock)
    chosen = [table[k] for k in rows.tolist()]
    transposed = [[row[j] for row in chosen] for j in columns]
    for k in set(range(len(table))) - set(rows.tolist()):
        found = solve(transposed, [table[k][j] for j in columns], clock)
        if found is None:
            return everything
        combination = [dot(found[0], list(column)) for column in zip(*chosen, strict=True)]
        if combination != [x * found[1] for x in table[k]]:
            return everything
    return sorted(columns)


def _distinct(table: list[Integers], clock: Clock) -> list[Integers]:
    found: dict[tuple[int, ...], None] = {}
    for row in table:
        clock.look()
        if any(row):
            found[tuple(without_factor(row))] = None
    return [list(row) for row in found]


def _times(b: Integers, N: list[Integers]) -> Integers:
    """N b, N given by its columns."""
    return [sum(x * column[i] for x, column in zip(b, N, strict=True)) for i in range(len(N[0]))]


def orthogonal(rows: list[Integers], clock: Clock) -> list[Integers]:
    """A basis of the vectors that are orthogonal to some rows, each without a common factor."""
    from flint import fmpz_mat

    width, p = len(rows[0]), PRIMES[0]
    rows = [row for row in rows if any(row)]
    if not rows:
        return [[int(i == j) for i in range(width)] for j in range(width)]
    table = limbs(rows)
    rank = len(basis_columns(residues(table, p), p, clock))
    if rank == width:
        return []  # the rank modulo p is full, so it is full
    bits = max(max(abs(x).bit_length() for x in row) for row in rows)
    if float(rank) ** 3 * width * bits > LONGEST_STEP * 64:
        raise OutOfTimeError
    clock.look()
    reduced: Any
    reduced, denominator, rank = fmpz_mat(rows).rref()
    return _null_space([[int(reduced[i, j]) for j in range(width)] for i in range(rank)], int(denominator), width)


def _null_space(reduced: list[Integers], denominator: int, width: int) -> list[Integers]:
    """From a reduced echelon form with one common denominator: one vector for each column without a pivot."""
    pivots = [next(j for j, x in enumerate(row) if x) for row in reduced]
    basis = []
    for j in sorted(set(range(width)) - set(pivots)):
        b = [0] * width
        b[j] = denominator
        for row, pivot in zip(reduced, pivots, strict=True):
            b[pivot] = -row[j]
        basis.append(without_factor(b))
    return basis
