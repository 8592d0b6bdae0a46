"""Gordan's alternative, decided: a vector with a.y_k > 0 for all rows, or rows that combine to 0, in exact arithmetic.

The point of the rows' convex hull nearest to the origin, by Wolfe's algorithm (P. Wolfe, Finding the nearest point in a
polytope, 1976): a corral of affinely independent rows S, and x the point of their affine hull nearest to 0. Where x = 0
the weights of the corral are the combination. Where y_k.x > 0 for all rows, x is the vector. Otherwise a row with
y_k.x <= 0 joins, and rows whose weight would be negative leave. |x| decreases strictly, so it ends; nothing is rounded,
so it ends with a proof. A float solution tells where to begin, and an error bound tells which rows need no exact look.
"""

from contextlib import suppress
from dataclasses import dataclass
from math import ldexp

import numpy as np
from numpy.typing import NDArray

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.exact import BROKEN, bits_of, dot, integer_row, pieces_of, units_of, without_factor
from separatrix.certificates.integer_systems import (
    PRIMES,
    Integers,
    independent,
    limbs,
    pieces_combine_to_zero,
    residues,
    solve,
)
from separatrix.passes.patterns import EPS
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import working_set
from separatrix.solvers.problem import Problem
from separatrix.space import Space, Vector

LARGEST_TABLE = 1_000_000  # values that are written out as integers
MOST_BITS = 160  # of integers that are cut into pieces: ordinary floats have 53, and as many more as their sizes differ
SPARE = 0.3  # of the time that is left, for a start in floats


@dataclass
class Decision:
    """``vector``: integers a with a.y_k > 0 for all rows, or None; then ``rows`` with weights > 0 combine to 0."""

    vector: Integers | None
    rows: list[int]
    weight: Integers


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

    def table(self) -> list[Integers]:
        return [self.row(k) for k in range(self.n)]

    def vector(self, z: Vector) -> Integers:
        """The vector of integers that is a positive multiple of z in the table's units, exactly."""
        parts = [float(v).as_integer_ratio() for v in z]
        # a_j = z_j 2^-u_j: numerators over one power of two
        top = max(q.bit_length() - 1 + u for (_, q), u in zip(parts, self.size, strict=True))
        return without_factor([p << top - (q.bit_length() - 1) - u for (p, q), u in zip(parts, self.size, strict=True)])

    def sides(self, a: Integers, clock: Clock) -> tuple[int, list[int]]:
        """The number of a row with y.a < 0, the worst as far as floats can tell, or -1; and those with y.a = 0."""
        m, size, error = self._products(a)
        worst = int(np.argmin(m / np.maximum(size, 2.0**-900)))
        if m[worst] < -error[worst]:
            return worst, []
        zero, least, negative = [], 0, -1
        for k in np.flatnonzero(m <= error).tolist():
            clock.look()
            value = dot(self.row(k), a)
            if value < least:
                least, negative = value, k
            elif value == 0:
                zero.append(k)
        return negative, zero

    def signs(self, a: Integers, clock: Clock) -> NDArray[np.int64]:
        """Return the signs of the products with all rows, exactly."""
        m, _, error = self._products(a)
        signs = np.where(np.abs(m) > error, np.sign(m), 0.0).astype(np.int64)
        doubtful = np.flatnonzero(np.abs(m) <= error)
        for k in [] if self._vanish(doubtful, a, clock) else doubtful.tolist():
            clock.look()
            value = dot(self.row(k), a)
            signs[k] = (value > 0) - (value < 0)
        return signs

    def supports(self, a: Integers, clock: Clock) -> bool:
        """Is no product with a row negative, and one positive, exactly?"""
        m, _, error = self._products(a)
        if np.any(m < -error):
            return False
        doubtful = np.flatnonzero(m <= error)
        positive = len(doubtful) < self.n
        if self._vanish(doubtful, a, clock):
            return positive
        for k in doubtful.tolist():
            clock.look()
            value = dot(self.row(k), a)
            if value < 0:
                return False
            positive = positive or value > 0
        return positive

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

    def _vanish(self, rows: np.ndarray, a: Integers, clock: Clock) -> bool:
        used = np.flatnonzero([x != 0 for x in a])
        V, unit = self.floats[np.ix_(rows, used)], self.unit[used]
        if not V.size or bits_of(V, unit) > MOST_BITS:
            return False
        signs = np.array([1.0 if a[j] > 0 else -1.0 for j in used])
        pieces = [(piece * signs).T for piece in pieces_of(V, unit)]
        return pieces_combine_to_zero(pieces, [abs(a[j]) for j in used], clock)


def _near(x: int, exponent: int) -> float:
    """x 2^exponent, rounded; x may be of any size."""
    spare = max(x.bit_length() - 64, 0)
    return ldexp(x >> spare, max(exponent + spare, -2000))


def decide(rows: IntegerRows, clock: Clock) -> Decision:
    empty = np.flatnonzero(~rows.Z.any(axis=1))
    if len(empty):
        return Decision(None, [int(empty[0])], [1])
    corral, weight, vector = _start(rows, clock)
    if vector is not None:
        return Decision(vector, [], [])
    gram: dict[tuple[int, int], int] = {}
    corral, weight = _nearest(rows, corral, weight, gram, clock)
    while True:
        x = combined(rows, corral, weight)
        if not any(x):
            return Decision(None, corral, weight)
        worst, zero = rows.sides(x, clock)
        if worst < 0 and not zero:
            return Decision(x, [], [])
        corral, weight = _nearest(rows, [*corral, worst if worst >= 0 else zero[0]], [*weight, 0], gram, clock)


def combined(rows: IntegerRows, corral: list[int], weight: Integers) -> Integers:
    chosen = [rows.row(k) for k in corral]
    return without_factor([dot(weight, list(column)) for column in zip(*chosen, strict=True)])


def _nearest(
    rows: IntegerRows, corral: list[int], weight: Integers, gram: dict[tuple[int, int], int], clock: Clock
) -> tuple[list[int], Integers]:
    """Wolfe's minor cycles: the nearest point of the corral's affine hull, rows leaving until its weights are > 0."""
    while True:
        best = _affine(rows, corral, gram, clock)
        if min(best) < 0:
            total, other = sum(weight), sum(best)
            old, new = [w * other for w in weight], [w * total for w in best]  # of equal sums
            p, q = 1, 1
            for u, v in zip(old, new, strict=True):  # the largest p/q <= 1 with old + (new - old) p/q >= 0
                if v < 0 and u * q < p * (u - v):
                    p, q = u, u - v
            best = [u * (q - p) + v * p for u, v in zip(old, new, strict=True)]
            done = False
        else:
            done = True
        left = [i for i, w in enumerate(best) if w > 0]
        corral, weight = [corral[i] for i in left], without_factor([best[i] for i in left])
        if done:
            return corral, weight


def _affine(rows: IntegerRows, corral: list[int], gram: dict[tuple[int, int], int], clock: Clock) -> Integers:
    """Weights of the point of the affine hull nearest to 0, up to their sum: (Y Y^t + 1 1^t) w = 1."""
    for i, k in enumerate(corral):
        clock.look()
        for j in corral[: i + 1]:
            if (k, j) not in gram:
                gram[k, j] = gram[j, k] = dot(rows.row(k), rows.row(j))
    found = solve([[gram[k, j] + 1 for j in corral] for k in corral], [1] * len(corral), clock)
    if found is None:
        raise OutOfTimeError  # more rows than a system may have
    return found[0]


def _start(rows: IntegerRows, clock: Clock) -> tuple[list[int], Integers, Integers | None]:
    """Affinely independent rows and weights near the solution, or a vector that floats found, exactly checked."""
    problem = Problem(
        Patterns(rows.Z, np.ones(rows.n), Space(0.0)),
        np.inf,
        tol=0.5,
        max_passes=200,
        max_time=SPARE * clock.left,
    )
    with suppress(*BROKEN), np.errstate(all="ignore"):
        working_set.solve(problem)  # where arithmetic breaks down, what was found before is a start
    if np.all(np.isfinite(problem.a)) and np.any(problem.a[:-1]):
        a = rows.vector(problem.a[:-1])
        worst, zero = rows.sides(a, clock)
        if worst < 0 and not zero:
            return [], [], a
    chosen, weight = problem.alpha_index.tolist(), problem.alpha.tolist()
    if not chosen or not all(0 < w < np.inf for w in weight):
        return [0], [1], None
    order = np.argsort(weight)[::-1].tolist()
    table = [[*rows.row(chosen[i]), 1] for i in order]
    _, affine, _ = independent(residues(limbs(table), PRIMES[0]), PRIMES[0], clock)
    kept = [order[i] for i in affine]
    ratios = [float(weight[i]).as_integer_ratio() for i in kept]
    top = max(q for _, q in ratios)
    return [chosen[i] for i in kept], [p * (top // q) for p, q in ratios], None
