"""Proofs in integers: every float is an integer times a power of two, so nothing here is rounded.

Columns of floats are turned into integers by powers of two: a column in other units asks the same question.
"""

from fractions import Fraction
from functools import reduce
from math import gcd
from operator import mul

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from separatrix.cancellation import Clock
from separatrix.certificates.integer_systems import (
    LIMB,
    MOST_UNKNOWNS,
    PRIMES,
    WORD,
    Integers,
    Table,
    basis,
    limbs,
    pieces_combine_to_zero,
    residues,
    solve,
)

LARGEST_SYSTEM = MOST_UNKNOWNS  # rows of a combination that is solved exactly
BROKEN = (FloatingPointError, RuntimeError, ValueError, np.linalg.LinAlgError)  # what float arithmetic may end with
VALUES_AT_A_TIME = 1 << 18  # values whose bits are counted at a time
WEIGHT_BITS, HALF = 30, 15  # of weights, and of their halves
SMALLEST_VALUE = 1e-250  # a value that columns in units of their largest ones may hold: its products do not underflow
LONGEST_PIECES = 900  # bits of integers whose pieces floats can hold


def _odd_parts(V: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Odd integers, or 0, and exponents that are at least 0 in units of 2^unit, one unit for each column."""
    mantissa, exponent = np.frexp(V)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    low = whole & -whole  # the lowest bit of each: a power of two, and exact as a float
    trailing = np.where(whole != 0, np.frexp(low.astype(np.float64))[1] - 1, 0)
    exponent = np.where(whole != 0, exponent.astype(np.int64) - 53 + trailing, np.iinfo(np.int64).max)
    unit = exponent.min(axis=0, initial=np.iinfo(np.int64).max)
    shift = np.where(whole != 0, exponent - unit, 0)
    return whole >> trailing, shift, np.where(unit == np.iinfo(np.int64).max, 0, unit)


def units_of(V: NDArray[np.float64], clock: Clock) -> NDArray[np.int64]:
    """Return exponents of powers of two in which the columns of V consist of integers."""
    if V.size and float(np.abs(V).max()) < 2.0**53 and not np.any(V != np.rint(V)):
        return np.zeros(V.shape[1], np.int64)
    step, units = max(1, VALUES_AT_A_TIME // max(V.shape[1], 1)), []
    for first in range(0, len(V), step):
        clock.look()
        units.append(_odd_parts(V[first : first + step])[2])
    return np.array(units).min(axis=0)


def pieces_of(V: NDArray[np.float64], unit: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """Return the integers ``V 2^-unit`` in pieces of `LIMB` bits with the sign of the value, the lowest first."""
    if bits_of(V, unit) > LONGEST_PIECES:
        return limbs(integers_of(V, unit), LIMB)
    count = -(-bits_of(V, unit) // LIMB)
    rest, pieces = np.ldexp(V, -unit - LIMB * (count - 1)), []
    for _ in range(count):
        pieces.append(np.trunc(rest))
        rest = (rest - pieces[-1]) * 2.0**LIMB
    return pieces[::-1]


def bits_of(V: NDArray[np.float64], unit: NDArray[np.int64]) -> int:
    """Return the bits of the largest of the integers ``V 2^-unit``; 1 if all are 0."""
    peak = np.abs(V).max(axis=0, initial=0.0)
    return int(np.where(peak > 0, np.frexp(peak)[1] - unit, 1).max(initial=1))


def integers_of(V: NDArray[np.float64], unit: NDArray[np.int64]) -> Table:
    """Return the integers ``V 2^-unit``, as machine integers if these hold them."""
    if bits_of(V, unit) < WORD:
        return np.ldexp(V, -unit).astype(np.int64)
    return [integer_row(v, unit) for v in V]


def integer_row(v: NDArray[np.float64], unit: NDArray[np.int64]) -> Integers:
    """Return a row of the integers ``V 2^-unit``."""
    row = []
    for (p, q), u in zip(map(float.as_integer_ratio, v.tolist()), unit.tolist(), strict=True):
        row.append((p << -u) // q if u < 0 else p // (q << u))
    return row


def dot(x: Integers, y: Integers) -> int:
    return sum(map(mul, x, y))


def without_factor(x: Integers) -> Integers:
    """x divided by the greatest common divisor of its numbers."""
    common = reduce(gcd, x, 0)
    return [v // common for v in x] if common > 1 else x


def scaled_columns(V: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return V without columns of zeros, the others in units of powers of two in which no value exceeds 1.

    Other units ask the same question, and no bit is lost. None if values are not finite or if products may underflow.
    """
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


def heavy_rows(V: NDArray[np.float64], alpha: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order of rows in which a basis is looked for: large weights first.

    Of more rows than columns, the pivots of Gaussian elimination come first: large, and independent but for rounding.
    """
    A = scaled_columns(V) if len(V) > V.shape[1] else None
    if A is None:
        return np.argsort(-alpha, kind="stable")
    order = np.arange(len(A))
    for i, other in enumerate(la.lapack.dgetrf(A * np.sqrt(alpha)[:, None])[1].tolist()):
        order[[i, other]] = order[[other, i]]
    return order


def regular_part(
    pieces: list[NDArray[np.float64]], order: NDArray[np.intp], clock: Clock
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64] | None]:
    """Return rows, the first in an order, and columns of a regular part of a table of its rank, modulo a prime.

    What is regular modulo a prime is regular. The third is the inverse of the transposed part modulo the first prime,
    if it is at hand.
    """
    if not pieces[0].size:
        return order[:0], order[:0], None
    rows, columns, inverse = basis(residues(pieces, PRIMES[0], LIMB)[order], PRIMES[0], clock)
    return order[rows], np.array(columns, dtype=np.intp), inverse


def vanishing_weights(V: NDArray[np.float64], alpha: NDArray[np.float64], clock: Clock) -> Integers | None:
    """Return integers >= 0, nearly in the ratio of alpha > 0, with ``V^t lambda = 0`` exactly; None if not found.

    Independent rows, as many as there are, make up for what all others, with their weights rounded, combine to: one
    linear system. The rows of a vertex have one other row, so that their weights are found from any alpha.
    """
    V = V[:, np.any(V, axis=0)]
    if not V.size:
        return [1] * len(V) or None
    if min(V.shape) > LARGEST_SYSTEM:
        return None
    unit = units_of(V, clock)
    pieces = pieces_of(V, unit)
    rows, columns, inverse = regular_part(pieces, heavy_rows(V, alpha), clock)
    whole = np.maximum(np.rint(np.ldexp(alpha / alpha.max(), WEIGHT_BITS)), 1.0)
    whole[rows] = 0.0
    others = _combined(pieces, whole, clock)
    system = integers_of(V[np.ix_(rows, columns)], unit[columns])
    transposed: Table = (
        system.T.copy() if isinstance(system, np.ndarray) else list(map(list, zip(*system, strict=True)))
    )
    found = solve(transposed, [-others[j] for j in columns.tolist()], clock, inverse) if len(rows) else ([], 1)
    if found is None or min(found[0], default=0) < 0:
        return None
    # all columns: the others' combination in pieces, which are rows with multiples of their weight
    extra = [piece[0] for piece in limbs([others], LIMB)]
    zeros = np.zeros((len(extra), V.shape[1]))
    stacked = [np.vstack([piece[rows], extra if i == 0 else zeros]) for i, piece in enumerate(pieces)]
    if not pieces_combine_to_zero(stacked, [*found[0], *(found[1] << LIMB * i for i in range(len(extra)))], clock):
        return None
    exact = [int(w) * found[1] for w in whole]
    for k, w in zip(rows.tolist(), found[0], strict=True):
        exact[k] = w
    return without_factor(exact) if any(exact) else None


def _combined(pieces: list[NDArray[np.float64]], weight: NDArray[np.float64], clock: Clock) -> Integers:
    """Return sum_k weight_k V_k exactly, for a table in pieces and integers of at most `WEIGHT_BITS` bits.

    The products of pieces of `LIMB` bits with halves of weights sum to less than 2^53.
    """
    total = [0] * pieces[0].shape[1]
    at_a_time = 1 << 53 - LIMB - HALF - 1
    low = weight % 2.0**HALF
    halves = ((0, low), (HALF, (weight - low) * 2.0**-HALF))
    for first in range(0, len(weight), at_a_time):
        clock.look()
        part = slice(first, first + at_a_time)
        for i, piece in enumerate(pieces):
            for shift, half in halves:
                sums = (half[part] @ piece[part]).tolist()
                total = [t + (int(x) << LIMB * i + shift) for t, x in zip(total, sums, strict=True)]
    return total


def product_sign(row: NDArray[np.float64], a: NDArray[np.float64]) -> int:
    """The sign of ``row . a``, exactly."""
    total = sum((Fraction(x) * Fraction(w) for x, w in zip(row.tolist(), a.tolist(), strict=True)), Fraction(0))
    return (total > 0) - (total < 0)
