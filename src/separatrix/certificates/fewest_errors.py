"""The fewest errors of a hyperplane, with a proof: both bounds, and the exact number where they meet.

An error is a row that is not strictly on its side, so the errors are the fewest rows whose removal leaves separable
classes. The number is NP-hard to find (E. Amaldi, V. Kann, 1995), but not for few columns: see
`separatrix.certificates.error_tree`. For more columns bounds from below are packings of witnesses
(`separatrix.certificates.packing`), and those from above are found by soft margins.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, lcm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.cancellation import Clock, StoppedError, limited
from separatrix.certificates.cone_search import ConeSearch
from separatrix.certificates.decision import decide
from separatrix.certificates.error_tree import BrokenTreeError, ErrorTree, integer_weights
from separatrix.certificates.packing import Packing, PackingSearch, Witness
from separatrix.certificates.separability import check_switch, check_table
from separatrix.certificates.witness import dense, integer_columns
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError
from separatrix.geometry import Hyperplane
from separatrix.passes.patterns import EPS
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers.loops import cone_tree
from separatrix.solvers.problem import Problem
from separatrix.space import Space, Vector, default_errstate

SOFT_MARGINS = (1e-2, 1.0, 1e2)  # C whose errors are looked at, in units of 1/R^2
MOST_COLUMNS, MOST_VALUES = 64, 500_000  # of data for a tree
LARGEST_BASIS = 7  # vectors of a basis, whose orthants are cut
ROWS_AT_A_TIME = 4096  # whose sides are decided in integers

Progress = Callable[[float, float], Any]


@dataclass(frozen=True, eq=False)
class FewestErrors:
    """Report the result of `fewest_errors`.

    Attributes
    ----------
    lower, upper : float
        No hyperplane has errors of less weight than ``lower``, and ``rows`` have the weight ``upper``. Without weights
        they are numbers of rows. Of more than two classes they are the rows to remove until all pairs are separable.
    rows : ndarray of int
        The errors of the best hyperplane that was found.
    hyperplane : Hyperplane or None
        That hyperplane; None if one class is predicted for all rows, and for several classes.
    tree, packing : object or None
        The proof of ``lower``.
    one_vs_one : dict
        Of more than two classes: the answers for all pairs.
    stop_reason : str
        "proved", "max_time", "interrupted", "callback", or "precision" if the cones became too small for floats.
    fit_intercept : bool
        Whether the hyperplanes have an intercept.
    vector : tuple
        (w, b) of the hyperplane as fractions.
    """

    lower: float
    upper: float
    rows: np.ndarray
    hyperplane: Hyperplane | None
    tree: ErrorTree | None = field(default=None, repr=False)
    packing: Packing | None = field(default=None, repr=False)
    one_vs_one: dict[tuple[Any, Any], "FewestErrors"] = field(default_factory=dict, repr=False)
    stop_reason: str = "proved"
    fit_intercept: bool = True
    vector: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return self.lower == self.upper

    def __str__(self) -> str:
        what = "rows" if self.upper != 1 or not self.exact else "row"
        if not self.upper:
            return "No errors: a hyperplane separates the classes."
        if self.one_vs_one:
            pairs = ", ".join(f"{a} | {b}: {_span(found)}" for (a, b), found in self.one_vs_one.items())
            return f"Errors of pairs of classes: {pairs}. {_span(self)} {what} to remove until all are separable."
        if self.exact:
            return f"Exactly {self.upper:g} {'error' if self.upper == 1 else 'errors'}: no hyperplane has fewer."
        return f"At least {self.lower:g} and at most {self.upper:g} errors."

    def verify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> bool:
        """Decide both bounds from the data alone, in integers and without a solver.

        Examples
        --------
        >>> from separatrix import fewest_errors
        >>> X, y = [[0.0], [1.0], [2.0], [9.0], [3.0], [4.0]], [0, 0, 0, 0, 1, 1]
        >>> fewest_errors(X, y).verify(X, y)
        True
        """
        X, y, weight = _checked(X, y, sample_weight)
        classes = np.unique(y).tolist()
        if len(classes) > 2:
            return self._pairs_hold(X, y, weight, classes)
        if self.one_vs_one:
            return False
        sign = np.where(y == classes[-1], 1.0, -1.0)
        whole, factor = integer_weights(weight)
        rows = np.asarray(self.rows)
        right = np.ones(len(sign), dtype=bool)
        if rows.dtype.kind not in "iu" or np.any((rows < 0) | (rows >= len(sign))) or len(np.unique(rows)) < len(rows):
            return False
        right[rows] = False
        if len(self.vector) != X.shape[1] + 1 or not np.all(
            strict_sides(X[right], sign[right], self.vector, self.fit_intercept)
        ):
            return False
        if self.upper != float(Fraction(sum(whole[k] for k in rows.tolist()), factor)):
            return False
        if self.lower <= 0:
            return True
        proof = self.tree if self.packing is None else self.packing
        if proof is None:
            return False
        try:
            bound = proof.bound(dense(X) if self.packing is None else X, sign, whole, self.fit_intercept)
        except (BrokenTreeError, TypeError, ValueError, OverflowError, ZeroDivisionError):
            return False
        return bool(self.lower <= float(Fraction(bound, factor)))

    def _pairs_hold(self, X: Any, y: np.ndarray, weight: Vector, classes: list[Any]) -> bool:
        pairs = _pairs(classes)
        if list(self.one_vs_one) != pairs:
            return False
        for pair, found in self.one_vs_one.items():
            part = np.flatnonzero((y == pair[0]) | (y == pair[1]))
            own = np.searchsorted(part, found.rows)
            if np.any(own >= len(part)) or not np.array_equal(part[np.minimum(own, len(part) - 1)], found.rows):
                return False
            if not found._for_rows(own).verify(X[part], y[part], weight[part]):
                return False
        lower, upper, rows = _of_pairs(self.one_vs_one, weight, len(classes))
        return lower == self.lower and upper == self.upper and np.array_equal(rows, self.rows)

    def _for_rows(self, rows: np.ndarray) -> "FewestErrors":
        return replace(self, rows=rows)


def _span(found: FewestErrors) -> str:
    return f"{found.upper:g}" if found.exact else f"{found.lower:g} to {found.upper:g}"


@default_errstate()
def fewest_errors(
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
    max_time: float = 10.0,
    callback: Progress | None = None,
) -> FewestErrors:
    """Find the fewest errors that a hyperplane makes, with a proof.

    An error is a row that is not strictly on its side, so that the others are strictly separable. The answer is exact
    for up to four columns in general; otherwise both bounds are proved.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes. Of more classes every pair is answered.
    sample_weight : array-like of shape (n,), optional
        The weight of each row's error.
    fit_intercept : bool, default=True
        False: only hyperplanes through the origin.
    max_time : float, default=10.0
        Seconds, at most, without those for compiling on the first use. Bounds that were found by then hold; so do those
        after an interrupt (Ctrl-C).
    callback : callable, optional
        Called as ``callback(lower, upper)`` while the bounds close; stops the search if it returns True.

    Returns
    -------
    FewestErrors

    Examples
    --------
    >>> from separatrix import fewest_errors
    >>> answer = fewest_errors([[0.0], [1.0], [2.0], [9.0], [3.0], [4.0]], ["a", "a", "a", "a", "b", "b"])
    >>> print(answer)
    Exactly 1 error: no hyperplane has fewer.
    >>> answer.rows
    array([3])
    """
    check_switch(fit_intercept)
    if not max_time > 0:
        raise ValueError(f"max_time={max_time!r} must be positive.")
    X, y, weight = _checked(X, y, sample_weight)
    classes = np.unique(y).tolist()
    if len(classes) < 2:
        raise DataError(f"Errors are counted for at least 2 classes; these data have 1 class: {classes[0]!r}.")
    if X.shape[0] * (X.shape[1] + 1) <= MOST_VALUES and X.shape[1] <= LARGEST_BASIS:
        cone_tree.load(X.shape[0], X.shape[1] + 1)
    with limited(max_time):
        if len(classes) == 2:
            sign = np.where(y == classes[1], 1.0, -1.0)
            return _Question(X, sign, weight, bool(fit_intercept), Clock(), callback).answer()
        found: dict[tuple[Any, Any], FewestErrors] = {}
        pairs = _pairs(classes)
        for k, (a, b) in enumerate(pairs):
            rows = np.flatnonzero((y == a) | (y == b))
            stopped = any(f.stop_reason == "interrupted" for f in found.values())
            clock = Clock(0.0 if stopped else Clock().left / (len(pairs) - k))
            question = _Question(
                X[rows], np.where(y[rows] == b, 1.0, -1.0), weight[rows], bool(fit_intercept), clock, None
            )
            answer = question.answer()
            found[a, b] = answer._for_rows(rows[answer.rows])
    lower, upper, rows = _of_pairs(found, weight, len(classes))
    if callback is not None:
        callback(lower, upper)
    reason = next((f.stop_reason for f in found.values() if f.stop_reason != "proved"), "proved")
    return FewestErrors(
        lower, upper, rows, None, one_vs_one=found, stop_reason=reason, fit_intercept=bool(fit_intercept)
    )


def _pairs(classes: list[Any]) -> list[tuple[Any, Any]]:
    return [(a, b) for i, b in enumerate(classes) for a in classes[:i]]


def _of_pairs(found: dict[Any, FewestErrors], weight: Vector, n_classes: int) -> tuple[float, float, np.ndarray]:
    """Return bounds for all pairs together: a row is an error of at most n_classes - 1 pairs."""
    rows = np.unique(np.concatenate([f.rows for f in found.values()])).astype(np.int64)
    lower = max(f.lower for f in found.values())
    if np.all(weight == np.rint(weight)):
        lower = max(lower, float(ceil(sum(Fraction(f.lower) for f in found.values()) / (n_classes - 1))))
    return lower, float(np.sum(weight[rows])), rows


def _checked(X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, Vector]:
    from sklearn.utils import check_array, check_consistent_length

    X, y = check_table(X, y)
    if sample_weight is None:
        return X, y, np.ones(len(y))
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    check_consistent_length(X, weight)
    if weight.ndim != 1:
        raise ValueError(f"sample_weight: {weight.ndim} dimensions instead of 1. Pass one weight per row.")
    if np.any(weight < 0):
        raise ValueError(f"sample_weight: negative (row {int(np.argmax(weight < 0))}). Weights must be at least 0.")
    return X, y, weight


def strict_sides(X: Any, sign: Vector, vector: tuple[Any, ...], intercept: bool) -> np.ndarray:
    """Return which rows are strictly on their sides: by floats if rounding errors cannot matter, else in integers."""
    exact = [Fraction(v) for v in vector]
    right = np.zeros(len(sign), dtype=bool)
    if not any(exact):
        return right
    for first in range(0, len(sign), ROWS_AT_A_TIME):
        block = dense(X[first : first + ROWS_AT_A_TIME])
        table = np.hstack([block, np.full((len(block), 1), float(intercept))])
        side = _float_sides(table, exact)
        near = np.flatnonzero(side == 0)
        if len(near):
            side[near] = _integer_sides(table[near], exact)
        right[first : first + len(block)] = side == sign[first : first + len(block)]
    return right


def _float_sides(table: np.ndarray, vector: list[Fraction]) -> np.ndarray:
    """Return the sign of each product with the vector, 0 if rounding errors might decide it.

    |fl(x.w) - x.w| <= (n + 1) u sum |x_i w_i| + O(u^2), the rounding of w included; (n + 3) 2u is above it. What
    underflows, in w or in a product, is below 2^-1073 (1 + |x_i|).
    """
    try:
        w = np.array([float(v) for v in vector])
    except OverflowError:
        return np.zeros(len(table))
    with np.errstate(all="ignore"):
        sizes, n = np.abs(table), len(w)
        products = table @ w
        error = (n + 3) * EPS * (sizes @ np.abs(w)) + (sizes.sum(axis=1) + n) * 2.0**-1073
        return np.where(np.abs(products) > error, np.sign(products), 0.0)


def _integer_sides(table: np.ndarray, vector: list[Fraction]) -> np.ndarray:
    """Return the sign of each product with the vector."""
    columns, factor = integer_columns(table)
    scaled = [v / q for v, q in zip(vector, factor, strict=True)]
    common = lcm(*(v.denominator for v in scaled))
    products = columns @ np.array([int(v * common) for v in scaled], dtype=object)
    return np.array([(p > 0) - (p < 0) for p in products.tolist()], dtype=np.float64)


class _Question:
    """Two classes, from the first bounds to the answer."""

    def __init__(self, X: Any, sign: Vector, weight: Vector, intercept: bool, clock: Clock, callback: Progress | None):
        self.X, self.sign, self.weight, self.intercept = X, sign, weight, intercept
        self.clock, self.callback = clock, callback
        self.whole, self.factor = integer_weights(weight)
        self.lower, self.upper, self.reason = 0, sum(self.whole) + 1, "proved"
        self.vector: tuple[Any, ...] = ()
        self.rows = np.arange(len(sign))
        self.tree: ErrorTree | None = None
        self.packing: Packing | None = None
        home = MemoryRows(X).without_empty_columns()
        self.patterns = Patterns(home, sign, Space(1.0 if intercept else 0.0))

    def answer(self) -> FewestErrors:
        zero = [0.0] * self.X.shape[1]
        for b in (0.0, 1.0, -1.0) if self.intercept else (0.0,):
            self._offer((*zero, b))
        try:
            self._close()
        except KeyboardInterrupt:
            self.reason = "interrupted"
        except StoppedError:
            self.reason = "max_time" if self.clock.expired else "precision"
        except _EnoughError:
            self.reason = "callback"
        return self._answered()

    def _answered(self) -> FewestErrors:
        w = np.array([float(v) for v in self.vector[:-1]])
        plane = None
        if np.any(w):
            exact = any(isinstance(v, Fraction) for v in self.vector)
            plane = Hyperplane.from_fractions(self.vector) if exact else Hyperplane(w, float(self.vector[-1]))
        lower, upper = (float(Fraction(v, self.factor)) for v in (min(self.lower, self.upper), self.upper))
        return FewestErrors(
            lower,
            upper,
            self.rows,
            plane,
            self.tree,
            self.packing,
            stop_reason=self.reason if lower < upper else "proved",
            fit_intercept=self.intercept,
            vector=self.vector,
        )

    def _offer(self, vector: tuple[Any, ...]) -> None:
        """Keep a vector with fewer errors, counted exactly."""
        rows = np.flatnonzero(~strict_sides(self.X, self.sign, vector, self.intercept))
        errors = sum(self.whole[k] for k in rows.tolist())
        if errors < self.upper:
            self.upper, self.rows, self.vector = errors, rows, vector

    def _tell(self) -> None:
        if self.callback is not None and self.callback(self.lower / self.factor, self.upper / self.factor):
            raise _EnoughError

    def _close(self) -> None:
        self.clock.look()
        answer = decide(self.patterns, self.clock.left / 3.0)  # most of the time is for the bounds
        if answer.separable:
            direction = answer.certificate.direction if answer.certificate is not None else None
            self._offer(tuple(answer.vector) if answer.vector is not None else tuple(np.asarray(direction).tolist()))
        proof = answer.infeasibility_proof
        if proof is not None and proof.exact:  # one of these rows is an error
            share = min(self.whole[k] for k in proof.rows.tolist())
            self.packing = Packing([Witness(proof.rows.tolist(), list(proof.exact), Fraction(share))])
            self.lower = share
        self._tell()
        if self.lower < self.upper and not self._by_cones():
            self._by_witnesses()

    def _by_cones(self) -> bool:
        """Return whether the data are of the kind that cones decide."""
        n, d = self.X.shape
        if d > MOST_COLUMNS or n * (d + 1) > MOST_VALUES:
            return False
        search = ConeSearch(dense(self.X), self.sign, self.weight, self.intercept, self.clock)
        if not 0 < search.prepare() <= LARGEST_BASIS:
            return False

        def tell() -> None:
            if search.tree is not None and (search.lower > self.lower or search.lower == self.upper):
                self.lower, self.tree, self.packing = search.lower, search.tree, None
            if search.upper < self.upper:
                self._offer(search.vector)
            self._tell()

        try:
            search.run(self.upper, tell)
        finally:
            with suppress(_EnoughError):
                tell()
        return True

    def _by_witnesses(self) -> None:
        search = PackingSearch(self.patterns, self.whole, self.clock)
        try:
            for step in (self._soft_margins, search.disjoint, search.fractional):
                more = step()
                while more and search.bound < self.upper:
                    self._take(search)
                    more = step()
                self._take(search)
        finally:
            with suppress(_EnoughError):
                self._take(search)

    def _take(self, search: PackingSearch) -> None:
        for vector in search.vectors:
            self._offer(tuple(vector.tolist()))
        search.vectors.clear()
        if search.bound > self.lower:
            self.lower, self.packing = search.bound, search.packing
        self._tell()

    def _soft_margins(self) -> None:
        """Look at the errors of soft margins, of rows scaled so that no square overflows or vanishes."""
        patterns = self.patterns
        range_ = patterns.column_range()
        exponent = int(np.frexp(max(np.abs(range_.largest).max(), np.abs(range_.smallest).max()))[1]) - 1
        scaled = patterns.home.scaled(np.zeros(patterns.d), np.full(patterns.d, np.ldexp(1.0, exponent)))
        plain = Patterns(scaled, patterns.labels, patterns.space)
        for price in SOFT_MARGINS if plain.radius2 else ():
            self.clock.look()
            C = price / plain.radius2
            problem = Problem(
                plain.in_space(Space(plain.space.rho, (2.0 * C) ** -0.5)), C, tol=1e-3, max_time=self.clock.left
            )
            solvers.solve(problem)
            with np.errstate(over="ignore"):
                a = (
                    patterns.in_all_columns(problem.a)
                    if plain.home.columns is None
                    else plain.in_all_columns(problem.a)
                )
                a[:-1] = np.ldexp(a[:-1], -exponent)
            if np.all(np.isfinite(a)):
                self._offer(tuple(a.tolist()))


class _EnoughError(Exception):
    """Raised if the callback stops the search."""
