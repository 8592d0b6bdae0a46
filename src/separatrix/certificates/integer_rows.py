"""Rows of integers with floats near them: signs of products are exact, by floats if rounding errors cannot matter."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import lcm, ldexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.cancellation import Clock
from separatrix.certificates.exact import dot, integer_row, pieces_of, units_of, without_factor
from separatrix.certificates.integer_systems import Integers, pieces_combine_to_zero
from separatrix.passes.patterns import EPS
from separatrix.space import Vector


class IntegerRows:
    """Rows of integers. ``Z`` is a table of floats near to them, each column and row in a power of two.

    ``size``: the bits of each column.
    """

    Z: NDArray[np.float64]
    size: list[int]

    def __init__(self, table: list[Integers], clock: Clock):
        self.n, self.m = len(table), len(table[0])
        self._rows = dict(enumerate(table))
        lengths = []
        for row in table:
            clock.look()
            lengths.append([x.bit_length() for x in row])
        sizes = np.array(lengths, dtype=np.int64).reshape(self.n, self.m)
        columns = sizes.max(axis=0)
        self.size = columns.tolist()
        shift = np.where(sizes > 0, sizes - columns, -(1 << 40)).max(axis=1, initial=-(1 << 40))
        self.Z = np.zeros((self.n, self.m))
        for k, row in enumerate(table):
            clock.look()
            s = max(int(shift[k]), -(1 << 30))
            self.Z[k] = [_near(x, -u - s) for x, u in zip(row, self.size, strict=True)]

    def row(self, k: int) -> Integers:
        return self._rows[k]

    def table(self, clock: Clock) -> list[Integers]:
        rows = []
        for k in range(self.n):
            clock.look()
            rows.append(self.row(k))
        return rows

    def vector(self, z: Vector) -> Integers:
        """The vector of integers that is a positive multiple of z in the table's units, exactly."""
        parts = [float(v).as_integer_ratio() for v in z]
        # a_j = z_j 2^-u_j: numerators over one power of two
        top = max(q.bit_length() - 1 + u for (_, q), u in zip(parts, self.size, strict=True))
        return without_factor([p << top - (q.bit_length() - 1) - u for (p, q), u in zip(parts, self.size, strict=True)])

    def signs(self, a: Integers, clock: Clock) -> NDArray[np.int64]:
        """Return the signs of the products with all rows, exactly."""
        m, _, error = self._products(a)
        signs = np.where(np.abs(m) > error, np.sign(m), 0.0).astype(np.int64)
        doubtful = np.flatnonzero(np.abs(m) <= error)
        signs[doubtful] = list(self._exact_signs(doubtful, a, clock))
        return signs

    def supports(self, a: Integers, clock: Clock) -> bool:
        """Is no product with a row negative, and one positive, exactly?"""
        m, _, error = self._products(a)
        if np.any(m < -error):
            return False
        doubtful = np.flatnonzero(m <= error)
        positive = len(doubtful) < self.n
        for sign in self._exact_signs(doubtful, a, clock):
            if sign < 0:
                return False
            positive = positive or sign > 0
        return positive

    def _exact_signs(self, rows: np.ndarray, a: Integers, clock: Clock) -> Iterator[int]:
        if self._vanish(rows, a, clock):
            yield from [0] * len(rows)
            return
        for k in rows.tolist():
            clock.look()
            value = dot(self.row(k), a)
            yield (value > 0) - (value < 0)

    def first_not_positive(self, a: Integers, clock: Clock) -> int:
        """Return a row whose product is not positive, the worst as far as floats can tell, or -1."""
        m, size, error = self._products(a)
        worst = int(np.argmin(m / np.maximum(size, 2.0**-900)))
        if m[worst] < -error[worst]:
            return worst
        doubtful = np.flatnonzero(m <= error).tolist()
        values = []
        for k in doubtful:
            clock.look()
            values.append(dot(self.row(k), a))
        least = min(values, default=1)
        return -1 if least > 0 else doubtful[values.index(least)]

    def _products(self, a: Integers) -> tuple[Vector, Vector, Vector]:
        """Products with all rows, the sums of the sizes of their terms, and bounds on their errors, each row's in a
        power of two."""
        top = max((x.bit_length() + u for x, u in zip(a, self.size, strict=True) if x), default=0)
        z = np.array([_near(x, u - top) for x, u in zip(a, self.size, strict=True)])
        m, size = self.Z @ z, np.abs(self.Z) @ np.abs(z)
        # Products and sums err by m EPS of |Z||z|, Z and z by another EPS each; what underflows is below 2^-1000.
        return m, size, (self.m + 8) * EPS * size + 2.0**-1000

    def _vanish(self, rows: np.ndarray, a: Integers, clock: Clock) -> bool:
        """Are the products of these rows with a all 0? False also if that is not seen at once."""
        return False


class FloatRows(IntegerRows):
    """The integers ``floats 2^-unit``; rows are written out when they are needed."""

    def __init__(self, floats: NDArray[np.float64], clock: Clock):
        self.n, self.m = floats.shape
        self.floats, self.unit = floats, units_of(floats, clock)
        self._rows = {}
        exponent = np.frexp(np.abs(floats).max(axis=0))[1].astype(np.int64)
        self.size = (exponent - self.unit).tolist()
        mantissa, own = np.frexp(floats)
        below = np.where(mantissa != 0, own - exponent, -(1 << 30))
        self.Z = np.ldexp(mantissa, np.maximum(below - below.max(axis=1, initial=-(1 << 30))[:, None], -2000))

    def row(self, k: int) -> Integers:
        if k not in self._rows:
            self._rows[k] = integer_row(self.floats[k], self.unit)
        return self._rows[k]

    def integers(self, a: Iterable[Any]) -> tuple[Integers, int]:
        """Return a vector of the data times a power of two for each column and a factor, as integers; the factor."""
        scaled = [Fraction(x) * Fraction(2) ** u for x, u in zip(a, self.unit.tolist(), strict=True)]
        factor = lcm(*(x.denominator for x in scaled))
        return [int(x * factor) for x in scaled], factor

    def fractions(self, a: Integers) -> list[Fraction]:
        """Return a vector of integers in the units of the data."""
        return [Fraction(x) / Fraction(2) ** u for x, u in zip(a, self.unit.tolist(), strict=True)]

    def _vanish(self, rows: np.ndarray, a: Integers, clock: Clock) -> bool:
        used = np.flatnonzero([x != 0 for x in a])
        V, unit = self.floats[np.ix_(rows, used)], self.unit[used]
        if not V.size:
            return False
        signs = np.array([1.0 if a[j] > 0 else -1.0 for j in used])
        pieces = [(piece * signs).T for piece in pieces_of(V, unit)]
        return pieces_combine_to_zero(pieces, [abs(a[j]) for j in used], clock)


def _near(x: int, exponent: int) -> float:
    """x 2^exponent, rounded; x may be of any size."""
    spare = max(x.bit_length() - 64, 0)
    return ldexp(x >> spare, max(exponent + spare, -2000))
