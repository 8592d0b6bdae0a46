"""Patterns as tables of integers, and the questions about them that are answered exactly.

Patterns that are few enough are written out, the columns in which none has a value left out: another unit of a column
asks the same.
"""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.cancellation import Clock
from separatrix.certificates.exact import LARGEST_SYSTEM, dot, pieces_of, regular_part, units_of, without_factor
from separatrix.certificates.gordan import Gordan, witness
from separatrix.certificates.integer_rows import FloatRows
from separatrix.certificates.integer_systems import Integers
from separatrix.certificates.quasi_complete import decide_quasi_complete
from separatrix.certificates.wolfe import LARGEST_TABLE, decide
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
        a, whole = self.rows.integers(self.near[self.columns].tolist())
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
        answer = decide_quasi_complete(self.rows, clock, tight.tolist())
        return None if answer.vector is None else self._weak_in_floats(answer.vector, clock)

    def _written_out(self, a: Integers) -> list[Fraction]:
        """In the units of the data, with zeros for the columns that were left out."""
        whole = [Fraction(0)] * (self.patterns.d + 1)
        for j, x in zip(self.columns.tolist(), self.rows.fractions(a), strict=True):
            whole[j] = x
        return whole

    def _rounded(self, a: Integers, factor: Fraction) -> tuple[Vector, Integers]:
        """A multiple of a vector in the units of the data, in floats, and what it is in integers."""
        exact = [x * factor for x in self.rows.fractions(a)]
        top = max(abs(x.numerator).bit_length() - x.denominator.bit_length() for x in exact)
        near = np.array([float(x * Fraction(2) ** -top) for x in exact])
        whole = np.zeros(self.patterns.d + 1)
        whole[self.columns] = near
        return whole, self.rows.integers(near.tolist())[0]

    def _in_floats(self, a: Integers, clock: Clock) -> Vector | None:
        """A multiple that still separates when it is rounded."""
        for factor in FACTORS:
            near, whole = self._rounded(a, factor)
            if self.rows.first_not_positive(whole, clock) < 0:
                return near
        return None

    def _weak_in_floats(self, a: Integers, clock: Clock) -> Vector | list[Fraction]:
        near, whole = self._rounded(a, Fraction(1))
        same = without_factor(whole) == without_factor(a)
        return near if same or self.rows.supports(whole, clock) else self._written_out(a)


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
    return len(regular_part(pieces_of(V, units_of(V, clock)), np.arange(len(rows)), clock)[0]) == most
