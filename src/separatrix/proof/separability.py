"""Is there a hyperplane at all? With a proof either way."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.linalg as la
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from separatrix.errors import DataError
from separatrix.geometry import Hyperplane
from separatrix.optimum import solvers
from separatrix.optimum.problem import Problem
from separatrix.patterns.base import PatternSet
from separatrix.patterns.binary_problems import binary_labels
from separatrix.patterns.device_patterns import passed
from separatrix.patterns.kesler_patterns import KeslerPatterns
from separatrix.patterns.plain_patterns import Patterns
from separatrix.proof.certificate import Certificate
from separatrix.proof.certify import certify, separates_exactly, upper_bound
from separatrix.proof.exact import LARGEST_SYSTEM
from separatrix.proof.gordan import Gordan, gordan
from separatrix.rows.base import Rows
from separatrix.rows.device import DeviceRows, is_array
from separatrix.rows.memory import MemoryRows
from separatrix.rows.scaled import ScaledRows
from separatrix.space import Space, Vector

ENOUGH = 0.5  # gap at which a separating hyperplane is good enough
TINY = 1e-12  # a bound on the margin below this, as a fraction of R, is as good as 0
WEAK = 100.0  # rounding errors by which a row may lie beyond a hyperplane that it is meant to lie on
LARGEST_WEAK = 50_000_000  # values of a dense table up to which, if larger than the data, it is worth its memory


@dataclass(frozen=True, eq=False, repr=False)
class Separability:
    """The answer of `separability`.

    ``separable``: True, False, or None (undecided). ``kind``: "complete", "quasi" (weakly: a hyperplane has every row
    on its side or on it, and not all on it), "none" (also where that would take too much memory to find out, as
    ``explanation`` says), or "undecided". ``hyperplane`` and ``margin`` (geometric) where there is one; ``gordan``, the
    rows and weights whose combination vanishes, where there is none. ``exact``: the answer is a proof in rational
    arithmetic or by bounds on rounding errors, not one "at tolerance". For more than
    two classes ``separable``, ``certificate`` and ``margin`` speak of one linear machine (``certificate.verify(X, y)``;
    the rows of ``gordan`` are patterns of Kesler's construction), and ``total`` (each class against the rest, DHS
    problem 5) and ``pairwise`` (problem 6) hold the other answers.
    """

    separable: bool | None
    kind: str
    exact: bool
    certificate: Certificate | None = None
    hyperplane: Hyperplane | None = None
    margin: float | None = None
    gordan: Gordan | None = None
    explanation: str = ""
    total: dict[Any, "Separability"] = field(default_factory=dict)
    pairwise: dict[tuple[Any, Any], "Separability"] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.separable is True

    def __str__(self) -> str:
        return self.explanation

    def __repr__(self) -> str:
        return f"Separability({self.kind}: {self.explanation})"


def separability(
    X: Any,
    y: ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    max_time: float = np.inf,
    tol: float = TINY,
    n_jobs: int | None = None,
) -> Separability:
    """Decide whether a hyperplane separates the classes, with a proof.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or a home of rows
        A home (`separatrix.rows`) holds the labels too, and rows that need not fit into memory. Under scikit-learn's
        ``config_context(array_api_dispatch=True)`` an array on a device (torch, CuPy) stays there.
    y : array-like of shape (n,)
        Labels of two or more classes.
    fit_intercept : bool, default=True
        False: only hyperplanes through the origin.
    max_time : float, default=inf
        Seconds for each binary question, at most.
    tol : float, default=1e-12
        A bound on the margin below ``tol`` R without an exact proof is reported as False "at tolerance",
        ``exact=False``.
    n_jobs : int or None, default=None
        Threads over blocks of rows; the answer does not depend on them.

    Returns
    -------
    Separability

    Examples
    --------
    >>> from separatrix import separability
    >>> print(separability([[0.0], [1.0], [3.0]], ["a", "a", "b"]))
    Separable: a hyperplane has every row on its side, the nearest at a distance of 1.
    >>> print(separability([[0.0], [2.0], [1.0]], ["a", "a", "b"]))
    Not separable: 3 rows with positive weights combine to exactly 0, so no hyperplane has all of them on their sides.
    """
    from sklearn import get_config
    from sklearn.utils import check_array, check_consistent_length, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets

    if not isinstance(fit_intercept, (bool, np.bool_)):
        raise ValueError(f"fit_intercept={fit_intercept!r} must be True or False.")
    if not (max_time > 0 and tol >= 0):
        raise ValueError(f"max_time={max_time!r} must be positive and tol={tol!r} not negative.")
    ask = _Question(1.0 if fit_intercept else 0.0, max_time, tol)
    if get_config()["array_api_dispatch"] and is_array(X) and not isinstance(X, np.ndarray):
        X = DeviceRows.of(X, y)
    if isinstance(X, Rows):
        return ask.about_home(X)
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    y = column_or_1d(y)
    check_consistent_length(X, y)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise _one_class(classes)
    rows = MemoryRows(X, n_jobs=effective_n_jobs(n_jobs))
    if len(classes) == 2:
        return ask.binary(rows, binary_labels(codes, 2)[0])
    names = classes.tolist()
    total = {c: ask.binary(rows, l) for c, l in zip(names, binary_labels(codes, len(names)), strict=True)}
    pairwise = {}
    for i in range(len(names)):
        for j in range(i):
            two = np.flatnonzero((codes == i) | (codes == j))
            pairwise[names[j], names[i]] = ask.binary(rows.take(two), np.where(codes[two] == i, 1.0, -1.0))
    return _joint(ask.linear_machine(rows, codes, len(names)), total, pairwise)


def _one_class(classes: np.ndarray) -> DataError:
    return DataError(f"Separability is a question about at least 2 classes; these data have 1 class: {classes[0]!r}.")


def decide(patterns: PatternSet) -> Separability:
    """`separability` for patterns that are already there."""
    return _Question(patterns.space.rho, np.inf, TINY).decide(patterns)


def _joint(linear: Separability, total: dict, pairwise: dict) -> Separability:
    def words(answers: dict) -> str:
        no = [name for name, a in answers.items() if a.separable is False]
        unknown = [name for name, a in answers.items() if a.separable is None]
        if not no and not unknown:
            return "yes"
        parts = [f"no for {no}"] if no else []
        return ", ".join([*parts, f"undecided for {unknown}"] if unknown else parts)

    verdict = {True: "yes", False: "no", None: "undecided"}[linear.separable]
    text = (
        f"By one linear machine: {verdict}. Totally (each class against the rest): {words(total)}. "
        f"Pairwise: {words(pairwise)}."
    )
    return Separability(
        linear.separable,
        linear.kind,
        linear.exact,
        linear.certificate,
        None,
        linear.margin,
        linear.gordan,
        text,
        total,
        pairwise,
    )


class _Question:
    def __init__(self, rho: float, max_time: float, tol: float):
        self.space, self.max_time, self.tol = Space(rho), max_time, tol

    def binary(self, X: Any, labels: Vector) -> Separability:
        return self.decide(Patterns(X, labels, self.space))

    def about_home(self, home: Rows) -> Separability:
        """Of rows that live elsewhere: two classes, or one linear machine."""
        if len(home.classes) < 2:
            raise _one_class(home.classes)
        return self.decide(passed(home, 1 if len(home.classes) == 2 else None, self.space))

    def linear_machine(self, X: Any, codes: np.ndarray, c: int) -> Separability:
        """One vector in Kesler's space; its certificate speaks of X and y as they are."""
        return self.decide(KeslerPatterns(X, codes, c, self.space))

    def decide(self, patterns: Any) -> Separability:
        if not np.isfinite(patterns.radius2):
            row = patterns.shape.bad * patterns.rows_in_all // patterns.n
            raise DataError(
                f"Row {row} is not finite, or its squared norm overflows float64. Mend it, or scale your features."
            )
        support, bound = 0, np.inf
        for attempt in (self._solve, self._solve_scaled):
            problem = attempt(patterns)
            certificate = certify(patterns, problem.a, None)
            if certificate.separable or separates_exactly(patterns, problem.a):
                return self._yes(patterns, problem)
            witness = gordan(patterns, problem.alpha_index, problem.alpha)
            if witness is not None:
                return self._no(patterns, witness)
            support, bound = len(problem.alpha_index), problem.upper / max(problem.patterns.radius, 1e-300)
        certificate = _certificate(patterns, problem)
        if support > LARGEST_SYSTEM and bound <= self.tol:
            text = (
                f"Not separable at tolerance {self.tol:g} R: {support} rows combine to nearly 0, too many for an exact "
                "proof."
            )
            return Separability(False, "none", False, certificate, explanation=text)
        text = (
            "Undecided: no separating hyperplane was found, and no exact proof that there is none. No margin above "
            f"{certificate.upper:.3g} exists."
        )
        return Separability(None, "undecided", False, certificate, explanation=text)

    def _solve(self, patterns: Any) -> Problem:
        problem = Problem(patterns, np.inf, None, tol=ENOUGH, max_time=self.max_time)
        if not patterns.radius2 > 0:
            return problem
        solvers.solve(problem, solvers.choose(problem)[0])
        return problem

    def _solve_scaled(self, patterns: Any) -> Problem:
        """The same question with every column centred (if there is a bias) and scaled to size 1.

        The answer does not change, the arithmetic does. The vector is carried back to the data as they are.
        """
        range_ = patterns.column_range()
        centre = np.zeros(patterns.features)
        if patterns.space.rho and not (patterns.here and patterns.sparse):
            centre = range_.total / range_.n
        size = np.maximum(np.abs(range_.largest - centre), np.abs(range_.smallest - centre))
        size = np.where(size > 0, size, 1.0)
        problem = self._solve(patterns.through(lambda home: ScaledRows(home, centre, size)))
        with np.errstate(over="ignore", invalid="ignore"):
            for a in problem.a.reshape(-1, patterns.features + 1):  # one vector, or those of a machine
                a[:-1] /= size
                if patterns.space.rho:
                    a[-1] -= a[:-1] @ centre / patterns.space.rho
        return problem

    def _yes(self, patterns: Any, problem: Problem) -> Separability:
        certificate = replace(_certificate(patterns, problem), separable=True)
        if patterns.categories > 2:
            nearest = patterns.distance(problem.a)
            text = (
                f"Separable: a linear machine has every row in its category, the nearest {nearest:.6g} from a border."
            )
            return Separability(True, "complete", True, certificate, None, nearest, None, text)
        w, b = patterns.space.split(problem.a)
        plane = Hyperplane(w, b) if np.any(w) else None
        margin = patterns.distance(problem.a) if plane is not None else None
        text = "Separable: a hyperplane has every row on its side"
        text += f", the nearest at a distance of {margin:.6g}." if margin is not None else "."
        return Separability(True, "complete", True, certificate, plane, margin, None, text)

    def _no(self, patterns: Any, witness: Gordan) -> Separability:
        certificate = Certificate(
            lower=None,
            upper=witness.norm,
            separable=False,
            space=patterns.space,
            radius=patterns.radius,
            alpha_index=witness.rows,
            alpha=witness.weight,
            categories=patterns.categories,
        )
        text = (
            f"Not separable: {len(witness.rows)} rows with positive weights combine to exactly 0, so no hyperplane "
            f"{'' if patterns.space.rho else 'through the origin '}has all of them on their sides."
        )
        if patterns.categories > 2:
            text = (
                f"Not separable: {len(witness.rows)} patterns of Kesler's construction with positive weights combine "
                "to exactly 0, so no linear machine has all rows in their categories."
            )
        height, width = max(patterns.n, patterns.d + 1), patterns.d + 1
        if not patterns.here or height * width > max(LARGEST_WEAK, 2 * patterns.home.stored):
            text += f" Weak separability was not looked for: that takes a dense table of {height:,} x {width:,}."
            return Separability(False, "none", True, certificate, None, None, witness, text)
        weak = self._weak(patterns, witness)
        if weak is not None:
            text += " It is weakly separable: a hyperplane has every row on its side or on itself."
            w, b = patterns.space.split(weak)
            plane = Hyperplane(w, b) if np.any(w) and patterns.categories == 2 else None
            return Separability(False, "quasi", True, certificate, plane, 0.0, witness, text)
        return Separability(False, "none", True, certificate, None, None, witness, text)

    def _weak(self, patterns: Any, witness: Gordan) -> Vector | None:
        """A vector with a.y_k >= 0 for all k and > 0 for some, None if there is none: facial reduction.

        sum lambda_k a.y_k = 0 with lambda > 0 forces a.y_k = 0 on the witness's rows. In what is left of the space
        the rows that do not vanish are asked again.
        """
        basis: NDArray[np.float64] = np.eye(patterns.d + 1)
        if not patterns.space.rho:
            basis = basis[:, :-1]
        rows = np.arange(patterns.n)
        tight = witness.rows
        while True:
            orthogonal = la.null_space(patterns.dense_rows(tight) @ basis, rcond=1e-10)
            if orthogonal.shape[1] == 0:
                return None
            basis = basis @ orthogonal
            products = np.column_stack([patterns.margins(_padded(b, patterns.d)) for b in basis.T])
            rows = np.flatnonzero(np.linalg.norm(products, axis=1) > 1e-9 * np.sqrt(patterns.norms2))
            if len(rows) == 0:
                return None
            rest = Patterns(np.ascontiguousarray(products[rows]), np.ones(len(rows)), Space(0.0))
            problem = self._solve(rest)
            if problem.lower > 0:
                a = _padded(basis @ problem.a[:-1], patterns.d)
                return a if patterns.margins(a).min() >= -patterns.margin_error(a) * WEAK else None
            if problem.upper > 1e-9 * rest.radius or len(problem.alpha_index) == 0:
                return None
            tight = rows[problem.alpha_index]


def _padded(vector: Vector, d: int) -> Vector:
    return vector if len(vector) == d + 1 else np.append(vector, 0.0)


def _certificate(patterns: Any, problem: Problem) -> Certificate:
    """Of the vector and the multipliers that a solver found, perhaps on scaled rows."""
    certificate = certify(patterns, problem.a, None)
    upper = upper_bound(patterns, problem.alpha_index, problem.alpha)
    if not np.isfinite(upper):
        return certificate
    return replace(certificate, upper=upper, alpha_index=problem.alpha_index, alpha=problem.alpha)
