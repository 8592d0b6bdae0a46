"""Patterns as tables of integers, and the questions about them that are answered exactly.

Patterns that are few enough are written out, the columns in which none has a value left out: another unit of a column
asks the same.
"""

from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.exact import LARGEST_SYSTEM, dot, residues_of_floats
from separatrix.certificates.faces import weak_vector
from separatrix.certificates.gordan import Gordan, witness
from separatrix.certificates.integer_systems import PRIMES, Integers, basis_columns, independent, limbs, residues, solve
from separatrix.certificates.minimum_norm import LARGEST_TABLE, FloatRows, decide
from separatrix.certificates.quasi_complete import Answer, decide_quasi_complete
from separatrix.space import Vector, norm

FACTORS = tuple(Fraction(k, 16) for k in range(16, 32)) + tuple(Fraction(k, 97) for k in range(98, 194, 5))


class Alternative:
    """Either a vector that separates, or a combination that vanishes, of patterns as they are: `decide`.

    ``vector``: exact, as fractions; None where there is none. ``near``: a vector of floats that separates too, exactly;
    None where none was found. ``infeasibility_proof``: the combination where there is no vector.
    """

    vector: list[Fraction] | None = None
    near: Vector | None = None
    infeasibility_proof: Gordan | None = None

    def __init__(self, patterns: Any, clock: Clock):
        self.patterns = patterns
        Y, self.columns = patterns.narrow_rows(np.arange(patterns.n))
        clock.look()
        if not patterns.space.rho:  # the column of a bias that is not there
            used = np.any(Y != 0, axis=0)
            Y, self.columns = Y[:, used], self.columns[used]
        self.rows = FloatRows(Y, clock)
        self.unit = self.rows.unit.tolist()
        clock.look()

    @cached_property
    def radius(self) -> float:
        return max((norm(y) for y in self.rows.floats), default=0.0)

    def decide(self, clock: Clock) -> None:
        if not len(self.columns):
            self.infeasibility_proof = witness(self.patterns, np.array([0]), [1])  # a pattern of zeros
            return
        answer = decide(self.rows, clock)
        if answer.vector is None:
            order = np.argsort(answer.rows)
            self.infeasibility_proof = witness(
                self.patterns, np.array(answer.rows)[order], [answer.weight[i] for i in order]
            )
        else:
            self.vector = self._written_out(answer.vector)
            self.near = self._in_floats(answer.vector, clock)

    def distance(self, clock: Clock) -> float:
        """min a.y_k / |w| of the vector of floats, with the sums exact: they may be far smaller than their terms."""
        assert self.near is not None
        a, whole = self._in_integers(self.near)
        smallest = None
        for k in range(self.rows.n):
            clock.look()
            value = dot(self.rows.row(k), a)
            smallest = value if smallest is None else min(smallest, value)
        length = norm(self.near[:-1])
        return float(Fraction(smallest or 0, whole) / Fraction(length)) if length > 0 else float("inf")

    @staticmethod
    def affordable(patterns: Any, most: int = LARGEST_TABLE) -> bool:
        """Whether the patterns may be written out."""
        return bool(patterns.here and patterns.explicit) and patterns.n * _width(patterns) <= most

    def weak(self, tight: np.ndarray, clock: Clock) -> Vector | list[Fraction] | None:
        """A vector with a.y_k >= 0 for all patterns and > 0 for some, in floats where they hold one; None: there is
        none. ``tight``: patterns that a combination with weights > 0 makes 0. Raises `OutOfTimeError` where it was not
        decided."""
        if not len(self.columns):
            return None
        answer = decide_quasi_complete(self.rows, clock)
        if answer is None:
            if self.rows.n * self.rows.m > LARGEST_TABLE:
                raise OutOfTimeError
            answer = Answer(self._weak_by_faces(tight, clock))
        return None if answer.vector is None else self._weak_in_floats(answer.vector, clock)

    def _weak_by_faces(self, tight: np.ndarray, clock: Clock) -> Integers | None:
        table = self.rows.table()
        chosen = self._spanning(clock)
        if chosen is None:
            return weak_vector(table, tight.tolist(), clock)
        found = weak_vector([[row[j] for j in chosen] for row in table], tight.tolist(), clock)
        if found is None:
            return None
        whole = [0] * len(self.columns)
        for j, x in zip(chosen, found, strict=True):
            whole[j] = x
        return whole

    def _spanning(self, clock: Clock) -> list[int] | None:
        """Columns that span all, where there are more of these than rows: more vectors than they have ask nothing new.

        Independent modulo a prime means independent; that they span all is proved by every other row being a
        combination of as many rows.
        """
        rows = self.rows.table()
        if len(rows[0]) <= len(rows):
            return None
        columns, basis, _ = independent(residues(limbs(rows), PRIMES[0]), PRIMES[0], clock)
        transposed = [[rows[k][j] for k in basis] for j in columns]
        for k in set(range(len(rows))) - set(basis):
            found = solve(transposed, [rows[k][j] for j in columns], clock)
            if found is None:
                return None
            combination = [dot(found[0], list(column)) for column in zip(*(rows[i] for i in basis), strict=True)]
            if combination != [x * found[1] for x in rows[k]]:
                return None
        return columns

    def _written_out(self, a: Integers) -> list[Fraction]:
        """In the units of the data, with zeros for the columns that were left out."""
        whole = [Fraction(0)] * (self.patterns.d + 1)
        for j, x, u in zip(self.columns.tolist(), a, self.unit, strict=True):
            whole[j] = Fraction(x) / Fraction(2) ** u
        return whole

    def _rounded(self, a: Integers, factor: Fraction) -> tuple[Vector, Integers] | None:
        """A multiple of a vector in the units of the data, in floats, and what it is in integers."""
        exact = [Fraction(x) * factor / Fraction(2) ** u for x, u in zip(a, self.unit, strict=True)]
        top = max(abs(x.numerator).bit_length() - x.denominator.bit_length() for x in exact)
        scale = Fraction(2) ** -top
        near = np.zeros(self.patterns.d + 1)
        near[self.columns] = [float(x * scale) for x in exact]
        return (near, self._in_integers(near)[0]) if np.any(near) else None

    def _in_integers(self, a: Vector) -> tuple[Integers, int]:
        """A vector of floats in the table's units, and the factor that makes it integers."""
        back = [Fraction(x) * Fraction(2) ** u for x, u in zip(a[self.columns].tolist(), self.unit, strict=True)]
        whole = lcm(*(x.denominator for x in back))
        return [int(x * whole) for x in back], whole

    def _in_floats(self, a: Integers, clock: Clock) -> Vector | None:
        """A multiple that still separates when it is rounded."""
        for factor in FACTORS:
            rounded = self._rounded(a, factor)
            if rounded is not None and self.rows.sides(rounded[1], clock) == (-1, []):
                return rounded[0]
        return None

    def _weak_in_floats(self, a: Integers, clock: Clock) -> Vector | list[Fraction]:
        rounded = self._rounded(a, Fraction(1))
        if rounded is not None and self.rows.supports(rounded[1], clock):
            return rounded[0]
        return self._written_out(a)


def _width(patterns: Any) -> int:
    """Columns that a table of the patterns may need."""
    if not patterns.sparse:
        return patterns.d + 1
    return int(min(patterns.d + 1, patterns.n_classes * (patterns.home.stored + 1)))


def spans_everything(patterns: Any, rows: np.ndarray, clock: Clock) -> bool:
    """Do these patterns span the space of all? Then every vector with a.y_k >= 0 that vanishes on them vanishes."""
    width = patterns.features + (1 if patterns.space.rho else 0)
    most = width * (patterns.n_classes - 1)  # of a machine the sum of the vectors does not matter
    if not most <= len(rows) <= LARGEST_SYSTEM:
        return False
    V, _ = patterns.narrow_rows(rows)
    return len(basis_columns(residues_of_floats(V, PRIMES[0]), PRIMES[0], clock)) == most
