"""Which rows are separated, and which coefficients of a logistic regression are infinite? Exact, with a proof.

The patterns are y_k = l_k (x_k, 1). Of c > 2 classes the first is the reference: its coefficients are 0, and a row has
a pattern against each of the c - 1 other classes. The directions of recession are the vectors a with a.y_k >= 0 for all
patterns. Along them the likelihood never falls, so the estimate diverges along one that is in the relative interior (J.
A. Anderson, A. Albert, 1984).

- By Goldman and Tucker (1956), one vector is positive on all patterns on which any is. All others are tight: weights
  > 0 combine them to 0. `maximal_vector` finds both.
- A coefficient is 0 on all these vectors if e_j is a combination of tight patterns. It never is negative if e_j is a
  combination of patterns with multipliers >= 0 on those that are not tight. Otherwise two vectors show both signs.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.exact import dot, pieces_of, regular_part, without_factor
from separatrix.certificates.facial_reduction import orthogonal
from separatrix.certificates.integer_rows import FloatRows, IntegerRows
from separatrix.certificates.integer_systems import Integers, solve
from separatrix.certificates.quasi_complete import Answer, decide_quasi_complete
from separatrix.certificates.witness import dense, integer_columns
from separatrix.certificates.wolfe import decide
from separatrix.space import Vector

MOST_VALUES = 5_000_000  # of patterns that are written out


@dataclass(frozen=True, eq=False)
class Separation:
    """Separated rows and infinite coefficients, with what it takes to check them.

    Attributes
    ----------
    rows : ndarray of int
        The largest set of rows that a hyperplane has strictly on their sides, while no row is on the wrong side.
    infinite : ndarray of shape (d + 1,), or (n_classes - 1, d + 1)
        Per column, and last for the intercept if there is one: +1.0 or -1.0 if the maximum-likelihood estimate of a
        logistic regression diverges to +inf or -inf, 0.0 if it does not, nan if the sign is open. Of more than two
        classes a row per class, against the first class.
    vectors : list of list of int
        Vectors that have no row on the wrong side. Together they show which rows are separated and which signs occur.
    weight : dict
        Weights > 0 that combine all patterns that are not separated to 0.
    multipliers : dict
        For each coefficient with a sign or 0: multipliers whose combination of patterns is a multiple of e_j.
    fit_intercept : bool
        Whether the hyperplanes have an intercept.
    """

    rows: np.ndarray
    infinite: np.ndarray
    vectors: list[Integers] = field(repr=False)
    weight: dict[int, int] = field(repr=False)
    multipliers: dict[int, dict[int, int]] = field(repr=False)
    fit_intercept: bool = True

    def verify(self, X: Any, y: Any) -> bool:
        """Decide all claims from the data alone, in integers and without a solver.

        Examples
        --------
        >>> from separatrix import separability
        >>> X, y = [[0.0, 1.0], [0.0, 2.0], [0.0, 2.0], [0.0, 1.0], [1.0, 1.0]], [0, 0, 1, 1, 1]
        >>> separation = separability(X, y).separation
        >>> separation.infinite, separation.rows, separation.verify(X, y)
        (array([1., 0., 0.]), array([4]), True)
        """
        from separatrix.certificates.separability import check_table

        X, y = check_table(X, y)
        codes = np.unique(y, return_inverse=True)[1]
        table, factor = integer_columns(patterns_of(X, codes, self.fit_intercept))
        return _holds(self, table, factor, int(codes.max(initial=0)))


def patterns_of(X: Any, codes: np.ndarray, fit_intercept: bool) -> np.ndarray:
    """Write out the patterns: row k against its r-th rival is pattern k (c - 1) + r, with c - 1 blocks of columns."""
    X = dense(X, fit_intercept)
    n, m = X.shape
    rivals = int(codes.max(initial=0))
    if rivals == 1:
        return np.where(codes == 1, 1.0, -1.0)[:, None] * X
    Y = np.zeros((n, rivals, rivals, m))
    rows = np.arange(n)
    for r in range(rivals):
        other = r + (r >= codes)
        for sign, classes in ((1.0, codes), (-1.0, other)):
            here = classes > 0  # the first class is the reference
            Y[rows[here], r, classes[here] - 1] += sign * X[here]
    return Y.reshape(n * rivals, rivals * m)


def _holds(claim: Separation, table: np.ndarray, factor: Integers, rivals: int) -> bool:
    n, m = table.shape
    infinite = np.asarray(claim.infinite, dtype=float).ravel()
    if rivals < 1 or infinite.shape != (m,) or not all(len(a) == m for a in claim.vectors):
        return False
    if not all(
        type(k) is int and 0 <= k < n for k in [*claim.weight, *(k for v in claim.multipliers.values() for k in v)]
    ):
        return False
    positive = np.zeros(n, dtype=bool)
    for a in claim.vectors:
        if not all(type(x) is int for x in a):
            return False
        products = table @ np.array([x * (max(factor) // q) for x, q in zip(a, factor, strict=True)], dtype=object)
        if any(value < 0 for value in products.tolist()):
            return False
        positive |= (products > 0).astype(bool)
    tight = np.flatnonzero(~positive)
    if sorted(claim.weight) != tight.tolist() or not all(type(w) is int and w > 0 for w in claim.weight.values()):
        return False
    if np.any(_combined(table, claim.weight)):
        return False
    rows = np.flatnonzero(positive.reshape(-1, rivals).all(axis=1))
    if not np.array_equal(rows, claim.rows):
        return False
    if not positive.any():
        return not np.any(infinite)  # NaN counts as true
    return all(_sign_holds(claim, table, positive, j, infinite[j]) for j in range(m))


def _combined(table: np.ndarray, multipliers: dict[int, int]) -> np.ndarray:
    rows = np.fromiter(multipliers, dtype=np.int64, count=len(multipliers))
    weight = np.array(list(multipliers.values()), dtype=object)
    return weight @ table[rows] if len(rows) else np.zeros(table.shape[1], dtype=object)


def _sign_holds(claim: Separation, table: np.ndarray, positive: np.ndarray, j: int, sign: float) -> bool:
    signs = {(a[j] > 0) - (a[j] < 0) for a in claim.vectors}
    if np.isnan(sign):
        return {1, -1} <= signs
    multipliers = claim.multipliers.get(j)
    if not multipliers or sign not in (-1.0, 0.0, 1.0) or (sign and sign not in signs):
        return False
    if any(w < 0 and positive[k] for k, w in multipliers.items()) or (
        sign == 0 and any(positive[k] for k in multipliers)
    ):
        return False
    found = _combined(table, multipliers)
    value, found[j] = found[j], 0
    return not np.any(found) and (value != 0 if sign == 0 else value * int(sign) > 0)


class SeparationSearch:
    """Finds a `Separation` of patterns that are written out. ``start``: a vector without negative product, or None."""

    def __init__(self, Y: np.ndarray, rivals: int, fit_intercept: bool, start: list[Any] | None, clock: Clock):
        self.rows, self.rivals, self.fit_intercept, self.clock = FloatRows(Y, clock), rivals, fit_intercept, clock
        vector = None if start is None else without_factor(self.rows.integers(start)[0])
        if vector is not None and not self.rows.supports(vector, clock):
            vector = None
        self.vectors, self.signs, self.weight = self._maximal(vector)
        self.multipliers: dict[int, dict[int, int]] = {}

    @property
    def separated_rows(self) -> np.ndarray:
        """Return the rows of which all patterns can be positive."""
        return np.flatnonzero((self.signs > 0).reshape(-1, self.rivals).all(axis=1))

    def separation(self) -> Separation:
        """Return the rows, the signs and all that proves them."""
        self.clock = Clock()
        infinite = self._directions()
        return Separation(
            self.separated_rows,
            infinite if self.rivals == 1 else infinite.reshape(self.rivals, -1),
            self._in_units_of_data(),
            self.weight,
            self.multipliers,
            self.fit_intercept,
        )

    def _in_units_of_data(self) -> list[Integers]:
        """Return the vectors in the units of the data, times a power of two."""
        unit = self.rows.unit.tolist()
        top = max(unit, default=0)
        return [without_factor([x << top - u for x, u in zip(a, unit, strict=True)]) for a in self.vectors]

    def _maximal(self, vector: Integers | None) -> tuple[list[Integers], np.ndarray, dict[int, int]]:
        """Return vectors, which products are positive, and weights > 0 that combine the other patterns to 0."""
        rows, clock = self.rows, self.clock
        signs = np.zeros(rows.n, dtype=np.int64) if vector is None else rows.signs(vector, clock)
        while True:
            rest = np.flatnonzero(signs == 0)
            if not len(rest):
                return [vector] if vector else [], signs, {}
            answer = self._of_the_rest(rest)
            if answer.vector is None:
                if answer.weight is None:
                    raise OutOfTimeError
                return [vector] if vector else [], signs, dict(zip(rest.tolist(), answer.weight, strict=True))
            vector, signs = self._added(vector, signs, answer.vector)

    def _of_the_rest(self, rest: np.ndarray) -> Answer:
        part = FloatRows(self.rows.floats[rest], self.clock)
        answer = decide_quasi_complete(part, self.clock, explicit=True)
        if answer.vector is None:
            return answer
        return Answer(_moved(answer.vector, part.unit, self.rows.unit))  # units of fewer rows may be larger

    def _added(self, vector: Integers | None, signs: np.ndarray, other: Integers) -> tuple[Integers, np.ndarray]:
        """Return a multiple of a vector, so large that what is positive stays so, plus another vector."""
        old, factor = vector or [0] * self.rows.m, 1
        while True:
            self.clock.look()
            found = without_factor([factor * x + z for x, z in zip(old, other, strict=True)])
            now = self.rows.signs(found, self.clock)
            if now.min() >= 0 and np.all(now[signs > 0] > 0):
                return found, now
            factor *= 4

    def _directions(self) -> Vector:
        """Return +1, -1, 0 or nan for every coefficient; fill ``multipliers``, and add vectors that show signs."""
        infinite = np.zeros(self.rows.m)
        if not self.vectors:
            return infinite
        tight, self.free = np.flatnonzero(self.signs == 0), np.flatnonzero(self.signs > 0)
        self._span(tight)
        for j in range(self.rows.m):
            self.clock.look()
            if self.null is not None and not any(b[j] for b in self.null):
                self.multipliers[j] = self._completed([int(i == j) for i in range(self.rows.m)], {}, -1)
                continue
            sign = self._sign(j)
            infinite[j] = np.nan if sign == 0 else sign
        return infinite

    def _span(self, tight: np.ndarray) -> None:
        """Find independent tight patterns, the columns that determine them, and a basis of what is orthogonal."""
        rows = self.rows
        self.null: list[Integers] | None = None
        self.basis, self.columns = tight[:0], []
        if len(tight) and rows.floats[tight].any():
            part = rows.floats[tight]
            chosen, columns, _ = regular_part(pieces_of(part, rows.unit), np.arange(len(tight)), self.clock)
            self.basis, self.columns = tight[chosen], columns.tolist()
            self.null = orthogonal([rows.row(k) for k in self.basis.tolist()], self.clock)
            if any(np.any(rows.signs(b, self.clock)[tight]) for b in self.null):
                raise OutOfTimeError  # modulo the prime, fewer are independent
            reduced: dict[tuple[int, ...], int] = {}
            for k in self.free.tolist():
                self.clock.look()
                reduced.setdefault(tuple(dot(rows.row(k), b) for b in self.null), k)
            self.reduced, self.places = [list(z) for z in reduced], list(reduced.values())

    def _sign(self, j: int) -> int:
        """Return the only sign that coefficient j has on these vectors, or 0 if it has both."""
        for sign in (1, -1):
            if any(a[j] * sign > 0 for a in self.vectors):
                continue
            m = self.rows.m
            if self.null is None:
                unit = np.zeros((1, m))
                unit[0, j] = sign * max(np.abs(self.rows.floats[:, j]).max(), np.finfo(np.float64).tiny)
                table: IntegerRows = FloatRows(np.vstack([self.rows.floats[self.free], unit]), self.clock)
                places = self.free.tolist()
            else:
                table = IntegerRows([*self.reduced, [sign * b[j] for b in self.null]], self.clock)
                places = self.places
            found = decide(table, self.clock)
            if found.vector is not None:
                a = found.vector
                if self.null is not None:
                    a = [sum(x * b[i] for x, b in zip(a, self.null, strict=True)) for i in range(m)]
                elif isinstance(table, FloatRows):
                    a = _moved(a, table.unit, self.rows.unit)
                self.vectors.append(without_factor(a))
                continue
            weight = {places[k]: w for k, w in zip(found.rows, found.weight, strict=True) if k < len(places)}
            total = [0] * m
            for k, w in weight.items():
                total = [t + w * x for t, x in zip(total, self.rows.row(k), strict=True)]
            if self.null is not None:
                own = next(w for k, w in zip(found.rows, found.weight, strict=True) if k == len(places))
                total[j] += sign * own
                weight = self._completed(total, weight, 1)
            self.multipliers[j] = weight
            return -sign
        return 0

    def _completed(self, total: Integers, weight: dict[int, int], sign: int) -> dict[int, int]:
        """Return ``weight`` with multipliers of tight patterns that combine to minus ``sign`` times ``total``."""
        if not len(self.basis):
            return weight
        table = [self.rows.row(k) for k in self.basis.tolist()]
        system = [[row[c] for row in table] for c in self.columns]
        found = solve(system, [-sign * total[c] for c in self.columns], self.clock)
        if found is None:
            raise OutOfTimeError
        out = {k: w * found[1] for k, w in weight.items()}
        for k, w in zip(self.basis.tolist(), found[0], strict=True):
            if w:
                out[k] = out.get(k, 0) + w
        return out


def _moved(a: Integers, old: np.ndarray, new: np.ndarray) -> Integers:
    """Return a vector of integers for columns in other powers of two, times a power of two."""
    shift = [int(u) - int(v) for u, v in zip(new, old, strict=True)]
    least = min(shift)
    return [x << s - least for x, s in zip(a, shift, strict=True)]
