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
from separatrix.certificates.enclosure import scaled_columns
from separatrix.certificates.integer_systems import (
    LIMB,
    MOST_UNKNOWNS,
    PRIMES,
    WORD,
    Integers,
    Table,
    basis_columns,
    combine_to_zero,
    independent,
    is_short,
    solve,
    with_the_sum,
)

LARGEST_SYSTEM = MOST_UNKNOWNS  # rows of a combination that is solved exactly
BROKEN = (FloatingPointError, RuntimeError, ValueError, np.linalg.LinAlgError)  # what float arithmetic may end with
COLUMNS_AT_A_TIME = 64  # columns that are checked at a time
VALUES_AT_A_TIME = 1 << 18  # values whose bits are counted at a time


def integer_table(V: NDArray[np.float64]) -> tuple[list[Integers], list[int]]:
    """V with every column in units of a power of two in which it consists of integers; and the exponents of these."""
    odd, shift, unit = _odd_parts(V)
    lines = zip(odd.tolist(), shift.tolist(), strict=True)
    return [[x << s for x, s in zip(*row, strict=True)] for row in lines], unit.tolist()


def machine_integers(V: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """The same table, where its numbers are machine integers."""
    odd, shift, _ = _odd_parts(V)
    bits = np.frexp(odd.astype(np.float64))[1] + shift
    return odd << shift if bits.max(initial=0) < WORD else None


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


def vanishing_weights(V: NDArray[np.float64], clock: Clock) -> Integers | None:
    """Integers lambda >= 0, not all 0, with ``V^t lambda = 0`` exactly; None if none were found.

    The rows have to be affinely independent, as those of a vertex of the set of solutions are; then lambda is unique up
    to a factor. Equations that are independent modulo a prime, one less than there are rows, and the sum determine it.
    The other equations are checked, a block of columns at a time.
    """
    k = len(V)
    if not 0 < k <= min(LARGEST_SYSTEM, V.shape[1] + 1):
        return None
    p, whole = PRIMES[0], machine_integers(V)
    residues = residues_of_floats(V, p) if whole is None else (whole % p).astype(np.float64)
    inverse = None
    if whole is None or is_short(residues):
        columns = basis_columns(residues, p, clock)
    else:
        columns, _, T = independent(residues, p, clock)
        inverse = with_the_sum(T, p) if len(columns) == k - 1 else None
    if len(columns) != k - 1:
        return None
    system: Table
    if whole is None:
        system = [list(equation) for equation in zip(*integer_table(V[:, columns])[0], strict=True)] + [[1] * k]
    else:
        system = np.concatenate([whole[:, columns].T, np.ones((1, k), dtype=np.int64)])
    found = solve(system, [0] * (k - 1) + [1], clock, inverse)
    if found is None or min(found[0]) < 0:
        return None
    weight = without_factor(found[0])
    if whole is not None:
        return weight if combine_to_zero(whole, weight, clock) else None
    for first in range(0, V.shape[1], COLUMNS_AT_A_TIME):
        clock.look()
        table, _ = integer_table(V[:, first : first + COLUMNS_AT_A_TIME])
        if any(dot(list(equation), weight) for equation in zip(*table, strict=True)):
            return None
    return weight


def weights_near(V: NDArray[np.float64], alpha: NDArray[np.float64], clock: Clock) -> Integers | None:
    """Integers >= 0, nearly in the ratio of alpha > 0, with ``V^t lambda = 0`` exactly; None if none were found.

    As many rows as there are columns, which a QR factorisation with pivots finds independent and of large weights, make
    up for what all the others, with their weights rounded, combine to.
    """
    A = scaled_columns(V)
    if A is None or not 0 < A.shape[1] <= min(len(V), LARGEST_SYSTEM):
        return None
    pivots = la.qr((A * np.sqrt(alpha)[:, None]).T, mode="r", pivoting=True, check_finite=False)[1]
    basis = np.sort(pivots[: A.shape[1]])
    clock.look()
    table = integer_table(V[:, np.any(V, axis=0)])[0]
    weight = [int(w) for w in np.ldexp(alpha / alpha.sum(), 62)]
    for k in basis.tolist():
        weight[k] = 0
    clock.look()
    columns = list(zip(*table, strict=True))
    right = [-sum(map(mul, column, weight)) for column in columns]
    found = solve([[column[k] for k in basis.tolist()] for column in columns], right, clock)
    if found is None or min(found[0]) < 0:
        return None
    weight = [w * found[1] for w in weight]
    for k, w in zip(basis.tolist(), found[0], strict=True):
        weight[k] = w
    return without_factor(weight)


def residues_of_floats(V: NDArray[np.float64], p: int) -> NDArray[np.float64]:
    """Floats modulo p, in which 2 has an inverse: a mantissa times a power of two."""
    mantissa, exponent = np.frexp(V)
    occurring, place = np.unique(exponent, return_inverse=True)
    powers = np.array([pow(2, e - 53, p) for e in occurring.tolist()], dtype=np.int64)
    whole = np.ldexp(mantissa, 53).astype(np.int64) % p
    return (whole * powers[place.reshape(V.shape)] % p).astype(np.float64)


def product_sign(row: NDArray[np.float64], a: NDArray[np.float64]) -> int:
    """The sign of ``row . a``, exactly."""
    total = sum((Fraction(x) * Fraction(w) for x, w in zip(row.tolist(), a.tolist(), strict=True)), Fraction(0))
    return (total > 0) - (total < 0)
