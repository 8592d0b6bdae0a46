"""How far two classes are from separable: the smallest number of rows whose removal separates, from both sides.

Rows whose patterns combine to 0 (Gordan) cannot all stay: of every such set one row has to go. Disjoint sets therefore
bound the number from below. Whoever removes the rows that a vector has on the wrong side separates the rest: that
bounds it from above. The number itself is NP-hard to find (E. Amaldi, V. Kann, 1995): a search through the rows of
witnesses goes as deep as time allows.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from separatrix.cancellation import Clock, limited
from separatrix.certificates.separability import check_switch, check_table, decide
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import Problem
from separatrix.space import Space, Vector, default_errstate

PRICES = (1e-2, 1.0, 1e2)  # C of the soft margins whose errors are looked at, in units of 1/R^2
NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class SeparabilityDistance:
    """The answer of `rows_to_remove`. ``at_least`` and ``at_most`` rows have to go. ``witnesses``: disjoint sets of
    rows, each of which proves by itself that no hyperplane separates. ``rows``: rows whose removal separates."""

    at_least: int
    at_most: int
    witnesses: list[np.ndarray]
    rows: np.ndarray

    def __str__(self) -> str:
        if not self.at_most:
            return "No row has to be removed: a hyperplane separates the classes."
        if self.at_least == self.at_most:
            return f"Exactly {self.at_most} {_rows(self.at_most)} to be removed until a hyperplane separates the rest."
        return (
            f"At least {self.at_least} and at most {self.at_most} rows have to be removed until a hyperplane separates "
            "the rest."
        )


def _rows(count: int) -> str:
    return "row has" if count == 1 else "rows have"


@default_errstate()
def rows_to_remove(X: Any, y: ArrayLike, *, fit_intercept: bool = True, max_time: float = 10.0) -> SeparabilityDistance:
    """Bounds on how many rows have to be removed until a hyperplane separates the rest, both proved.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes.
    fit_intercept : bool, default=True
        False: only hyperplanes through the origin.
    max_time : float, default=10.0
        Seconds, at most; what is found until then holds. Small problems are searched to the end.

    Returns
    -------
    SeparabilityDistance

    Examples
    --------
    >>> from separatrix import rows_to_remove
    >>> answer = rows_to_remove([[0.0], [1.0], [2.0], [9.0], [3.0], [4.0]], ["a", "a", "a", "a", "b", "b"])
    >>> print(answer)
    Exactly 1 row has to be removed until a hyperplane separates the rest.
    >>> answer.rows
    array([3])
    """
    check_switch(fit_intercept)
    with limited(max_time):
        X, labels = two_classes(X, y)
        rows = MemoryRows(X).without_empty_columns()
        return _Search(Patterns(rows, labels, Space(1.0 if fit_intercept else 0.0)), Clock()).run()


def two_classes(X: Any, y: ArrayLike) -> tuple[Any, Vector]:
    """The rows, checked, and their labels as -1 and +1."""
    X, labels = check_table(X, y)
    classes = np.unique(labels)
    if len(classes) != 2:
        raise DataError(f"How far classes are from separable is told for two classes; these data have {len(classes)}.")
    return X, np.where(labels == classes[1], 1.0, -1.0)


class _Left(NamedTuple):
    """What holds of the rows that are left: whether a hyperplane separates them (None: no time), a vector that does,
    or the numbers of rows that prove that none does."""

    separable: bool | None
    vector: Vector | None = None
    witness: np.ndarray = NONE


class _Search:
    def __init__(self, patterns: Patterns, clock: Clock):
        self.patterns, self.clock = patterns, clock

    def run(self) -> SeparabilityDistance:
        witnesses: list[np.ndarray] = []
        half = Clock(self.clock.left / 2.0)  # the rest is for rows that are enough
        left = self.without(NONE, half)
        while left.separable is False:
            witnesses.append(left.witness)
            left = self.without(np.concatenate(witnesses), half)
        rows, at_least = self._enough(witnesses, left), len(witnesses)
        while at_least < len(rows):
            decided, fewer = self._hits(NONE, at_least)
            if fewer is not None:
                rows = fewer
            if fewer is not None or not decided:
                break
            at_least += 1
        return SeparabilityDistance(at_least, len(rows), witnesses, np.sort(rows))

    def without(self, out: np.ndarray, clock: Clock) -> _Left:
        stay = np.setdiff1d(np.arange(self.patterns.n), out)
        classes = len(np.unique(self.patterns.labels[stay]))
        if not classes or (classes == 1 and self.patterns.space.rho):  # a bias alone separates one class
            return _Left(True)
        if clock.expired:
            return _Left(None)
        answer = decide(self.patterns.sample(stay), clock.left)
        if answer.separable is False and answer.infeasibility_proof is not None:
            return _Left(False, witness=stay[np.sort(answer.infeasibility_proof.rows)])
        certificate = answer.certificate
        return _Left(answer.separable or None, None if certificate is None else certificate.direction)

    def _hits(self, out: np.ndarray, more: int) -> tuple[bool, np.ndarray | None]:
        """Whether the time was enough, and rows that are enough, at most ``more`` of them besides ``out``: of every
        witness one has to go, so that a search through its rows misses nothing."""
        left = self.without(out, self.clock)
        if left.separable is not False:
            return left.separable is True, out if left.separable else None
        for row in left.witness if more else ():
            decided, fewer = self._hits(np.append(out, row), more - 1)
            if fewer is not None or not decided:
                return decided, fewer
        return True, None

    def _enough(self, witnesses: list[np.ndarray], left: _Left) -> np.ndarray:
        """Return the fewest rows that are known to be enough: all, a class, those not surely right, or none."""
        classes = [np.flatnonzero(self.patterns.labels == sign) for sign in (-1.0, 1.0)]
        known = [np.arange(self.patterns.n), *(rows for rows in classes if self.without(rows, self.clock).separable)]
        if left.separable:
            known.append(np.concatenate([*witnesses, NONE]))
        if witnesses or left.separable is None:
            known += _wrong_sides(self.patterns, left.vector)
        return min(known, key=len)


def _not_surely_right(patterns: Patterns, vector: Vector) -> np.ndarray:
    return np.flatnonzero(~(patterns.margins(vector) > patterns.margin_error(vector)))


def _wrong_sides(patterns: Patterns, vector: Vector | None) -> list[np.ndarray]:
    """Return the rows that may be on the wrong side of a vector, and of some soft margins; it separates all others.

    The soft margins are of rows scaled to a size of about 1, so that no square overflows or vanishes. Values that
    become 0 there are far below the error that margins may have.
    """
    found = [] if vector is None else [_not_surely_right(patterns, patterns.in_these_columns(vector))]
    range_ = patterns.column_range()
    size = np.frexp(max(np.abs(range_.largest).max(), np.abs(range_.smallest).max()))[1]
    scaled = patterns.home.scaled(np.zeros(patterns.d), np.full(patterns.d, np.ldexp(1.0, size - 1)))
    plain = Patterns(scaled, patterns.labels, patterns.space)
    for price in PRICES if plain.radius2 else ():
        C = price / plain.radius2
        problem = Problem(plain.in_space(Space(plain.space.rho, (2.0 * C) ** -0.5)), C, tol=1e-3)
        solvers.solve(problem)
        found.append(_not_surely_right(plain, problem.a))
    return found
