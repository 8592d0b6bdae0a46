"""The fewest columns with which two classes are separable, with a proof.

Rows with weights > 0 that combine to 0 in some columns prove that these columns do not separate (Gordan). Columns in
which the combination is not 0 are a set of which every separating choice has one: otherwise the same rows would refute
it. So the fewest columns meet all such sets (`separatrix.certificates.hitting`). The search adds a set as long as the
fewest columns that meet all sets do not separate; each set is made small by columns that are added to the refuted ones.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, milp

from separatrix.cancellation import Clock, OutOfTimeError, StoppedError, limited
from separatrix.certificates.decision import decide
from separatrix.certificates.fewest_errors import strict_sides
from separatrix.certificates.hitting import NoTreeError, hitting_tree, proved_by
from separatrix.certificates.negative_margin import two_classes
from separatrix.certificates.separability import check_switch
from separatrix.certificates.witness import combined
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError, NotSeparableError
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space, Vector, default_errstate

Refutation = tuple[list[int], list[int]]  # rows and integers > 0


@dataclass(frozen=True, eq=False)
class FewestFeatures:
    """The answer of `fewest_features`.

    Attributes
    ----------
    lower, upper : int
        No fewer than ``lower`` columns separate the classes, and ``columns``, of which there are ``upper``, do.
    columns : ndarray of int
        If ``irreducible``, no column can be left out of them.
    vector : tuple
        (w, b) of a hyperplane that separates, 0 in all other columns.
    needed : dict
        Rows and weights for each of these columns, unless time ended first: they refute the others of these columns.
    refutations, tree : list
        Rows and weights, and the tree that proves ``lower`` from them.
    stop_reason : str
        "proved", "max_time", "interrupted" or "callback".
    fit_intercept : bool
        Whether the hyperplanes have an intercept.
    """

    lower: int
    upper: int
    columns: np.ndarray
    vector: tuple[Any, ...] = field(repr=False)
    needed: dict[int, Refutation] = field(repr=False)
    refutations: list[Refutation] = field(repr=False)
    tree: list[int] = field(repr=False)
    stop_reason: str = "proved"
    fit_intercept: bool = True

    @property
    def exact(self) -> bool:
        """Whether no fewer columns separate."""
        return self.lower == self.upper

    @property
    def irreducible(self) -> bool:
        """Whether rows prove of each of the columns that it cannot be left out."""
        return set(self.needed) == set(np.asarray(self.columns).tolist())

    def __str__(self) -> str:
        if self.exact:
            columns = "column separates" if self.upper == 1 else "columns separate"
            return f"{self.upper} {columns} the classes: no fewer do."
        needed = ", and none of them can be left out" if self.irreducible else ""
        return f"{self.upper} columns separate the classes{needed}. No fewer than {self.lower} do."

    def verify(self, X: Any, y: ArrayLike) -> bool:
        """Decide from the data alone, in integers, that the columns separate, those that are needed, and the bound.

        Examples
        --------
        >>> from separatrix import fewest_features
        >>> X, y = [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]], [0, 0, 1, 1]
        >>> answer = fewest_features([[*x, x[0] + 2 * c] for x, c in zip(X, y)], y)
        >>> answer.columns, answer.verify([[*x, x[0] + 2 * c] for x, c in zip(X, y)], y)
        (array([3]), True)
        """
        X, sign = two_classes(X, y)
        columns = np.asarray(self.columns).tolist()
        if len(set(columns)) != len(columns) or self.upper != len(columns) or len(self.vector) != X.shape[1] + 1:
            return False
        if any(v and j not in columns for j, v in enumerate(self.vector[:-1])):
            return False
        if not np.all(strict_sides(X, sign, self.vector, self.fit_intercept)):
            return False
        try:
            for j in self.needed:
                if j not in columns or columns_met(X, sign, self.needed[j], self.fit_intercept) & (set(columns) - {j}):
                    return False
            sets = [columns_met(X, sign, one, self.fit_intercept) for one in self.refutations]
            return self.lower <= 0 or self.lower <= proved_by(sets, self.tree)
        except (NoTreeError, KeyError, TypeError, ValueError, IndexError):
            return False


def columns_met(X: Any, sign: Vector, refutation: Refutation, intercept: bool) -> frozenset[int]:
    """Return the columns in which rows with weights do not combine to 0; the intercept has to vanish."""
    sums = combined(X, sign, *refutation, intercept)
    if intercept and sums.pop():
        raise ValueError
    return frozenset(j for j, value in enumerate(sums) if value)


@default_errstate()
def fewest_features(
    X: Any,
    y: ArrayLike,
    *,
    fit_intercept: bool = True,
    max_time: float = 10.0,
    callback: Callable[[int, int], Any] | None = None,
) -> FewestFeatures:
    """Find the fewest columns with which two classes are separable, with a proof.

    If time ends first, the columns are an irreducible choice: rows prove of each that it cannot be left out.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes that a hyperplane separates; otherwise `NotSeparableError` is raised.
    fit_intercept : bool, default=True
        False: only hyperplanes through the origin.
    max_time : float, default=10.0
        Seconds, at most. Before a first choice is irreducible, all columns that are left count.
    callback : callable, optional
        Called as ``callback(lower, upper)`` while the bounds close; stops the search if it returns True.

    Returns
    -------
    FewestFeatures

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import fewest_features
    >>> X, y = load_iris(return_X_y=True)
    >>> print(fewest_features(X, y == 0))
    1 column separates the classes: no fewer do.
    """
    check_switch(fit_intercept)
    if not max_time > 0:
        raise ValueError(f"max_time={max_time!r} must be positive.")
    X, sign = two_classes(X, y)
    with limited(max_time):
        return _Search(X, sign, bool(fit_intercept), callback).answer()


def _in_units(X: Any) -> tuple[Any, Vector]:
    """Return columns times powers of two, so that no value exceeds 1, and these; as they are if that loses bits."""
    largest = np.abs(X).max(axis=0)
    largest = np.asarray(largest.toarray() if sp.issparse(largest) else largest, dtype=np.float64).ravel()
    factor = np.ldexp(1.0, -np.clip(np.frexp(largest)[1], -1000, 1000))
    by_column = (X.tocsc() if sp.issparse(X) else X).astype(np.float64)
    if sp.issparse(X):
        scaled = by_column @ sp.diags_array(factor)
        kept = np.array_equal((scaled @ sp.diags_array(1.0 / factor)).tocsc().data, by_column.data)
        return (scaled.tocsc(), factor) if kept else (by_column, np.ones(len(factor)))
    scaled = by_column * factor
    return (scaled, factor) if np.array_equal(scaled / factor, by_column) else (by_column, np.ones(len(factor)))


class _EnoughError(Exception):
    """Raised if the callback stops the search."""


class _Search:
    def __init__(self, X: Any, sign: Vector, intercept: bool, callback: Callable[[int, int], Any] | None):
        self.X, self.sign, self.intercept, self.callback = X, sign, intercept, callback
        self.by_column, self.factor = _in_units(X)
        self.clock = Clock()
        self.random = np.random.default_rng(0)
        self.columns = list(range(X.shape[1]))
        self.vector: tuple[Any, ...] = ()
        self.needed: dict[int, Refutation] = {}
        self.refutations: list[Refutation] = []
        self.sets: list[frozenset[int]] = []
        self.proof: tuple[int, list[Refutation], list[int]] = (0, [], [])

    def answer(self) -> FewestFeatures:
        try:
            vector = self._separates(self.columns)
        except OutOfTimeError:
            raise DataError("fewest_features: not decided whether the classes are separable. Raise max_time.") from None
        if vector is None:
            raise NotSeparableError(
                "fewest_features: no hyperplane separates the classes, even with all columns. "
                "fewest_errors(X, y) finds how many rows are in the way."
            )
        self.vector = vector
        reason = "proved"
        try:
            self._reduce()
            self._tell()
            self._close()
        except KeyboardInterrupt:
            reason = "interrupted"
        except StoppedError:
            reason = "max_time"
        except _EnoughError:
            reason = "callback"
        lower, refutations, tree = self.proof
        columns = np.array(sorted(self.columns), dtype=np.int64)
        stop = "proved" if lower == len(columns) else reason
        return FewestFeatures(
            lower, len(columns), columns, self.vector, self.needed, refutations, tree, stop, self.intercept
        )

    def _tell(self) -> None:
        if self.callback is not None and self.callback(self.proof[0], len(self.columns)):
            raise _EnoughError

    def _separates(self, columns: list[int]) -> tuple[Any, ...] | None:
        """Return (w, b) of a hyperplane in these columns, or None; then the last refutation proves that."""
        self.clock.look()
        if not columns:
            self.last = self._of_no_column()
            return None
        part = self.by_column[:, columns]
        home = MemoryRows(part.tocsr() if sp.issparse(part) else np.ascontiguousarray(part))
        answer = decide(Patterns(home, self.sign, Space(1.0 if self.intercept else 0.0)), self.clock.left)
        if answer.separable is None:
            raise OutOfTimeError
        if answer.infeasibility_proof is not None:
            proof = answer.infeasibility_proof
            self.last = proof.rows.tolist(), list(proof.exact)
            return None
        direction = answer.vector
        if direction is None:
            assert answer.certificate is not None
            assert answer.certificate.direction is not None
            direction = answer.certificate.direction.tolist()
        vector: list[Any] = [0.0] * (self.X.shape[1] + 1)
        for j, v in zip(columns, direction[:-1], strict=True):
            w = float(v) * float(self.factor[j])
            exact = Fraction(v) * Fraction(float(self.factor[j]))
            vector[j] = w if np.isfinite(w) and Fraction(w) == exact else exact
        vector[-1] = direction[-1]
        return tuple(vector)

    def _of_no_column(self) -> Refutation:
        if not self.intercept:
            return [0], [1]
        return [int(np.argmax(self.sign > 0)), int(np.argmax(self.sign < 0))], [1, 1]

    def _take(self, columns: list[int], vector: tuple[Any, ...]) -> None:
        used = [j for j in columns if vector[j]]
        self.columns, self.vector = used, vector

    def _reduce(self) -> None:
        """Leave columns out, those of small weight first, until none can be."""
        self._take(self.columns, self.vector)
        self.needed = {}
        size = len(self.columns) // 2  # columns that are left out together: fewer as soon as these are needed
        while True:
            left = [j for j in self.columns if j not in self.needed]
            if not left:
                return
            left.sort(key=lambda j: abs(Fraction(self.vector[j]) / Fraction(float(self.factor[j]))))
            out = set(left[: max(min(size, len(left)), 1)])
            rest = [c for c in self.columns if c not in out]
            vector = self._separates(rest)
            if vector is not None:
                self._take(rest, vector)
                self.needed = {c: r for c, r in self.needed.items() if c in self.columns}
            elif len(out) == 1:
                self.needed[out.pop()] = self.last
            size = size if vector is not None else size // 2

    def _close(self) -> None:
        """Add sets that the fewest columns have to meet, until such columns separate."""
        for j in list(self.needed):
            self._add([c for c in self.columns if c != j], self.needed[j])
        while self.proof[0] < len(self.columns):
            chosen = self._fewest_that_meet()
            self._prove(len(chosen))
            self._tell()
            if self.proof[0] >= len(self.columns):
                return
            vector = self._separates(chosen)
            if vector is None:
                self._add(chosen, self.last)
            elif len(chosen) < len(self.columns):
                before = self.columns
                self._take(chosen, vector)
                self.needed = {}
                self._reduce()
                assert len(self.columns) < len(before)
                self._tell()
            else:
                return

    def _add(self, columns: list[int], refutation: Refutation) -> None:
        """Add the set of a refutation, made small: further columns are refuted with these as long as that is so."""
        met = columns_met(self.X, self.sign, refutation, self.intercept)
        refuted = sorted(set(range(self.X.shape[1])) - met)
        for j in self.random.permutation(sorted(met)).tolist():
            if j in refuted:
                continue
            if self._separates([*refuted, j]) is None:
                refutation = self.last
                met = columns_met(self.X, self.sign, refutation, self.intercept)
                refuted = sorted(set(range(self.X.shape[1])) - met)
        self.refutations.append(refutation)
        self.sets.append(met)

    def _fewest_that_meet(self) -> list[int]:
        """Return a smallest choice of columns that meets all sets, as HiGHS proposes it."""
        rows = np.repeat(np.arange(len(self.sets)), [len(one) for one in self.sets])
        columns = np.concatenate([sorted(one) for one in self.sets])
        d = self.X.shape[1]
        A = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(self.sets), d))
        cost = 1.0 + 1e-4 * self.random.random(d) / d
        found = milp(
            cost, constraints=LinearConstraint(A, 1.0), integrality=np.ones(d), bounds=Bounds(0, 1),
            options={"time_limit": self.clock.left},
        )  # fmt: skip
        if found.x is None or found.status != 0:
            raise OutOfTimeError
        return np.flatnonzero(found.x > 0.5).tolist()

    def _prove(self, least: int) -> None:
        if least > self.proof[0]:
            try:
                tree = hitting_tree(self.sets, least, self.clock)
            except NoTreeError:
                return
            self.proof = least, list(self.refutations), tree
