"""Is there a hyperplane at all? With a proof either way."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from html import escape
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike

from separatrix.cancellation import Clock, OutOfTimeError, limited
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import certify, separates_exactly, upper_bound
from separatrix.certificates.exact import BROKEN
from separatrix.certificates.gordan import Gordan, gordan, refuting_pair
from separatrix.certificates.gordan_exact import Alternative, spans_everything
from separatrix.certificates.notebook import figures_of
from separatrix.certificates.quasi_complete import one_sided_columns
from separatrix.certificates.separated_data import AskedData, names_of
from separatrix.certificates.separation import MOST_VALUES, Separation, SeparationSearch
from separatrix.data.base import RowSource
from separatrix.data.changed_rows import ScaledRows
from separatrix.data.elsewhere import home_of
from separatrix.data.memory import MemoryRows
from separatrix.data.validate import check_labels, check_numbers, check_structure
from separatrix.errors import DataError
from separatrix.geometry import Hyperplane
from separatrix.passes.binary_problems import binary_labels
from separatrix.passes.device_patterns import passed
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.passes.patterns import PatternSet
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import Problem
from separatrix.solvers.thread_limit import one_blas_thread
from separatrix.space import Space, Vector, default_errstate

MOST_NAMED = 3  # answers that are told by their names
SECONDS_OF_A_SENTENCE = 2.0  # on infinite coefficients, within what is printed
SEPARATING_GAP = 0.5  # gap at which a separating hyperplane is good enough
LEAST_SHARE = 0.1  # of the time that is left, for each of many questions: the first ones load compiled code
QUASI_SHARE = 0.5  # of the time, for the question whether a hyperplane separates weakly
SMALLEST_R2 = float(np.finfo(np.float64).tiny) / float(np.finfo(np.float64).eps)  # R^2 below which squares lose digits

Multipliers = tuple[np.ndarray, Vector]


@dataclass(frozen=True, eq=False, repr=False)
class Separability:
    """Report the result of `separability`; true if the classes are linearly separable.

    With more than two classes, ``separable``, ``certificate`` and ``margin`` are about one joint linear classifier.

    Attributes
    ----------
    separable : bool or None
        None: undecided. ``certificate`` has the bounds then.
    kind : str
        "complete": a hyperplane classifies every row correctly. "quasi-complete": a hyperplane has no row on the wrong
        side, and some rows on it. "none": neither. "undecided".
    exact : bool
        The answer is a proof in integers or fractions, or by bounds on rounding errors.
    certificate : Certificate or None
        Bounds on the margin; ``certificate.verify(X, y)`` checks them.
    hyperplane : Hyperplane or None
        A separating or quasi-separating hyperplane.
    margin : float or None
        Geometric margin of ``hyperplane``.
    infeasibility_proof : object or None
        Rows and weights whose combination is exactly 0, if no hyperplane separates; of several classes, rows of
        Kesler's construction.
    explanation : str
        The answer in a sentence.
    one_vs_rest : dict or None
        Several classes: the answer for each class against the others (DHS problem 5).
    one_vs_one : dict or None
        Several classes: the answer for each pair (DHS problem 6).
    vector : tuple or None
        The separating vector (w, b) as fractions, if no floats separate.
    separated_rows : ndarray
        The largest set of rows that a hyperplane separates strictly while no row is on the wrong side.
    infinite : ndarray
        Per column and for the intercept +1, -1, 0 or nan: the sign of an infinite coefficient of a logistic regression.
    separation : Separation
        The proof of ``separated_rows`` and ``infinite``; ``separation.verify(X, y)`` checks it.
    """

    separable: bool | None
    kind: str
    exact: bool
    certificate: Certificate | None = None
    hyperplane: Hyperplane | None = None
    margin: float | None = None
    infeasibility_proof: Gordan | None = None
    explanation: str = ""
    one_vs_rest: dict[Any, "Separability"] = field(default_factory=dict)
    one_vs_one: dict[tuple[Any, Any], "Separability"] = field(default_factory=dict)
    vector: list[Fraction] | None = None
    asked: AskedData | None = field(default=None, repr=False)
    _found: dict[str, Any] = field(default_factory=dict, repr=False, init=False)

    def __bool__(self) -> bool:
        return self.separable is True

    def __str__(self) -> str:
        return " ".join(filter(None, [self.explanation, self.sentence() if self.kind == "quasi-complete" else ""]))

    @property
    def separated_rows(self) -> np.ndarray | None:
        """The largest set of rows strictly on their sides of one hyperplane that has no row on the wrong side.

        None if undecided, as for rows out of core. Computed at the first use, within ``max_time`` of the call.

        >>> answer = separability([[0.0], [0.0], [1.0], [1.0]], [0, 1, 1, 1])
        >>> answer.separated_rows, answer.infinite
        (array([2, 3]), array([1., 0.]))
        """
        if self.asked is not None and self.kind in ("complete", "none"):  # all rows, or none of them
            return np.arange(len(self.asked.codes) if self.kind == "complete" else 0)
        search = self._search
        return None if search is None else search.separated_rows

    @property
    def infinite(self) -> np.ndarray | None:
        """Signs of the infinite coefficients of a logistic regression; the last one is that of the intercept.

        +1.0 or -1.0 if the maximum-likelihood estimate diverges to +inf or -inf, 0.0 if it does not, and nan if
        separating hyperplanes of both signs exist, as is usual under complete separation. Of more than two classes a
        row per class, against the first class. None if undecided.
        """
        if self.asked is not None and self.kind == "none":  # no direction of recession
            return self.asked.zeros()
        separation = self.separation
        return None if separation is None else separation.infinite

    @property
    def separation(self) -> Separation | None:
        """`separated_rows` and `infinite` with their proof, which ``verify(X, y)`` checks; None if undecided."""
        return self._within(np.inf)

    @property
    def _search(self) -> SeparationSearch | None:
        return self._begin(np.inf)

    def _begin(self, max_time: float) -> SeparationSearch | None:
        asked = self.asked
        if asked is not None and self._found.get("search") is None:
            self._found["search"] = asked.answered(lambda: asked.search(self._start(asked)), max_time)
        return self._found.get("search")

    def _within(self, max_time: float) -> Separation | None:
        search = self._begin(max_time)
        if search is not None and self.asked is not None and self._found.get("separation") is None:
            self._found["separation"] = self.asked.answered(search.separation, max_time)
        return self._found.get("separation")

    def _start(self, asked: AskedData) -> list[Any] | None:
        """Return a vector that has no row on the wrong side, if one is known."""
        a: Any = None
        if self.one_vs_rest:
            if self.certificate is not None and self.certificate.separable and self.certificate.direction is not None:
                machine = self.certificate.direction.reshape(len(asked.classes), -1)
                machine = machine[1:] - machine[0]
                a = (machine if asked.fit_intercept else machine[:, :-1]).ravel().tolist()
        elif self.hyperplane is not None:
            a = list(self.hyperplane.exact or [*self.hyperplane.w.tolist(), float(self.hyperplane.b)])
            a = a if asked.fit_intercept else a[:-1]
        return a

    def named(self, names: Sequence[str] | None, target: str | None = None, values: bool = True) -> "Separability":
        """Return this answer for columns with these names.

        ``target`` is the name of the labels. ``values`` False: values of columns are not mentioned, as if scaled.
        """
        if self.asked is None:
            return self
        return replace(
            self, asked=replace(self.asked, names=None if names is None else list(names), target=target, values=values)
        )

    def sentence(self, max_time: float = SECONDS_OF_A_SENTENCE) -> str:
        """Return which coefficients are infinite and why, with names of columns and values.

        The names are those of the data frame, or of `named`. It is empty if this takes more than ``max_time`` seconds.

        >>> answer = separability([[0.0], [0.0], [1.0], [1.0]], [0, 1, 1, 1])
        >>> answer.named(["NV"], "HG").sentence()
        '2 of 4 rows are separated. NV = 1 occurs only with HG = 1, so its coefficient is +infinity.'
        """
        separation = self._within(max_time)
        return self.asked.words(separation) if self.asked is not None and separation is not None else ""

    def __repr__(self) -> str:
        return f"Separability({self.kind}: {self})"

    def _repr_html_(self) -> str:
        """For notebooks: the answer in words, and the proof as a figure."""
        return f"<p>{escape(str(self))}</p>{figures_of(self)}"


@default_errstate()
def separability(
    X: Any,
    y: ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    max_time: float = np.inf,
    n_jobs: int | None = None,
    check_quasi: bool = True,
) -> Separability:
    """Decide whether a hyperplane separates the classes, with a proof.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), Dask array or data frame, or a home of rows
        A home (``separatrix.data``) holds the labels too, and rows that need not fit into memory. Under scikit-learn's
        ``config_context(array_api_dispatch=True)`` an array on a device (torch, CuPy) stays there.
    y : array-like of shape (n,)
        Labels of two or more classes.
    fit_intercept : bool, default=True
        False: only hyperplanes through the origin.
    max_time : float, default=inf
        Seconds, at most; what is not decided then is undecided.
    n_jobs : int or None, default=None
        Threads over blocks of rows; the answer does not depend on them.
    check_quasi : bool, default=True
        False: if no hyperplane separates, the question whether one separates weakly (quasi-completely) is left out.
        ``kind`` is "undecided" then, unless the proof answers this question too.

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
    check_switch(fit_intercept)
    if not max_time > 0:
        raise ValueError(f"max_time={max_time!r} must be positive.")
    names, target = names_of(X, y)
    with limited(max_time):
        question = _Question(1.0 if fit_intercept else 0.0, max_time, check_quasi)
        keep = partial(AskedData, fit_intercept=bool(fit_intercept), max_time=max_time, names=names, target=target)
        return _answer(X, y, question, n_jobs, keep)


def _answer(
    X: Any, y: ArrayLike | None, ask: "_Question", n_jobs: int | None, keep: Callable[..., AskedData]
) -> Separability:

    home = home_of(X, y)
    if home is not None:
        return ask.about_home(home)
    X, y = check_table(X, y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise _one_class(classes)
    rows = MemoryRows(X, n_jobs=effective_n_jobs(n_jobs)).without_empty_columns()
    names = classes.tolist()
    asked = keep(X, codes, names)
    if len(classes) == 2:
        return replace(ask.binary(rows, binary_labels(codes, 2)[0]), asked=asked)
    several = _SeveralClasses(ask, rows, codes, names, asked)
    pairwise, total = several.pairs(), several.each_against_the_rest()
    return replace(_joint(several.machine(), total, pairwise), asked=asked)


class _SeveralClasses:
    """The questions about more than two classes, the cheapest first: pairs, each class against the rest, one machine.

    Two classes that no hyperplane separates decide the others: the same rows and weights combine to 0 if more rows are
    there, and in Kesler's construction, where the row of each of the two classes has the other one as its rival.
    """

    def __init__(self, ask: "_Question", rows: MemoryRows, codes: np.ndarray, names: list[Any], asked: AskedData):
        self.ask, self.rows, self.codes, self.names, self.asked = ask, rows, codes, names, asked
        self.proofs: dict[tuple[int, int], Gordan] = {}  # of pairs, with the numbers of all rows
        self.planes: dict[int, Separability] = {}  # of each class against the rest, where one separates
        c = len(names)
        self.left = c * (c - 1) // 2 + 2 * c  # questions that share the time; that about all classes counts c times

    def _next(self) -> "_Question":
        self.left -= 1
        return self.ask.with_share(self.left + 1)

    def pairs(self) -> dict[tuple[Any, Any], Separability]:
        found = {}
        for i in range(len(self.names)):
            for j in range(i):
                two = np.flatnonzero((self.codes == i) | (self.codes == j))
                answer = self._next().binary(self.rows.take(two), np.where(self.codes[two] == i, 1.0, -1.0))
                if answer.infeasibility_proof is not None:
                    self.proofs[j, i] = answer.infeasibility_proof._replace(rows=two[answer.infeasibility_proof.rows])
                part = self.asked.part((self.codes[two] == i).astype(np.int64), [self.names[j], self.names[i]], two)
                found[self.names[j], self.names[i]] = replace(answer, asked=part)
        return found

    def each_against_the_rest(self) -> dict[Any, Separability]:
        found = {}
        for k, (name, labels) in enumerate(zip(self.names, binary_labels(self.codes, len(self.names)), strict=True)):
            proof = next((self.proofs[pair] for pair in self.proofs if k in pair), None)
            answer = self._next().binary(self.rows, labels, proof)
            if answer.separable and answer.hyperplane is not None:
                self.planes[k] = answer
            part = self.asked.part((labels > 0).astype(np.int64), [f"not {name}", name])
            found[name] = replace(answer, asked=part)
        return found

    def machine(self) -> Separability:
        """One vector in Kesler's space; its certificate speaks of X and y as they are."""
        ask, count = self.ask, len(self.names)
        patterns = KeslerPatterns(self.rows, self.codes, count, ask.space)
        if self.proofs:
            pair, proof = next(iter(self.proofs.items()))
            own = self.codes[proof.rows]
            rival = np.where(own == pair[0], pair[1], pair[0])
            numbers = proof.rows * (count - 1) + rival - (rival > own)
            order = np.argsort(numbers)
            exact = tuple(proof.exact[k] for k in order) if proof.exact else ()
            return ask.refuted(patterns, Gordan(numbers[order], proof.weight[order], proof.norm, exact))
        answer = ask.decide(patterns)
        if answer.separable is None and len(self.planes) == count:
            return ask.machine_of(patterns, [self.planes[k].hyperplane for k in range(count)]) or answer
        return answer


def check_switch(fit_intercept: Any) -> None:
    if not isinstance(fit_intercept, (bool, np.bool_)):
        raise ValueError(f"fit_intercept={fit_intercept!r} must be True or False.")


def check_table(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Rows in memory and their labels, as arrays."""
    from sklearn.utils import check_array, check_consistent_length, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets

    check_structure(X)
    check_numbers(X)
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    y = column_or_1d(y) if getattr(y, "ndim", 1) > 1 else check_labels(y)
    check_consistent_length(X, y)
    check_classification_targets(y)
    return X, y


def _one_class(classes: np.ndarray) -> DataError:
    return DataError(f"Separability is a question about at least 2 classes; these data have 1 class: {classes[0]!r}.")


def decide(patterns: PatternSet, max_time: float = np.inf, near: Multipliers | None = None) -> Separability:
    """`separability` for patterns that are already there, without the question of weak separability.

    ``near``: rows and multipliers that combine to nearly 0."""
    return _Question(patterns.space.rho, max_time, kinds=False).decide(patterns, near)


def _joint(linear: Separability, total: dict, pairwise: dict) -> Separability:
    def names(answers: dict, verdict: bool | None) -> str:
        found = [
            " | ".join(map(str, n)) if isinstance(n, tuple) else str(n)
            for n in answers
            if answers[n].separable is verdict
        ]
        return ", ".join(found) if len(found) <= MOST_NAMED else f"{len(found)} of {len(answers)}"

    def words(answers: dict) -> str:
        told = [
            f"{word} for {names(answers, v)}" for v, word in ((False, "no"), (None, "undecided")) if names(answers, v)
        ]
        return ", ".join(told) or "yes"

    verdict = {True: "yes", False: "no", None: "undecided"}[linear.separable]
    text = (
        f"Jointly separable (one hyperplane per class): {verdict}. One-vs-rest: {words(total)}. "
        f"One-vs-one: {words(pairwise)}."
    )
    return Separability(
        linear.separable,
        linear.kind,
        linear.exact,
        linear.certificate,
        None,
        linear.margin,
        linear.infeasibility_proof,
        text,
        total,
        pairwise,
        linear.vector,
    )


class _Question:
    """``weak``: whether a vector separates weakly is asked; ``kinds``: or read off the proof, at least."""

    def __init__(self, rho: float, max_time: float, weak: bool = True, kinds: bool = True):
        self.space, self.clock, self.weak, self.kinds = Space(rho), Clock(max_time), weak, kinds
        self.max_time = max_time

    def with_share(self, parts: int) -> "_Question":
        """The same for one of so many parts that share the time: none gets less than a tenth of what is left."""
        if np.isinf(self.clock.end):
            return self
        part = copy(self)
        part.clock = Clock(self.clock.left * max(1.0 / parts, LEAST_SHARE))
        return part

    def binary(self, X: Any, labels: Vector, proof: Gordan | None = None) -> Separability:
        """``proof``: that no hyperplane separates, if it is known."""
        patterns = Patterns(X, labels, self.space)
        return self.decide(patterns) if proof is None else self.refuted(patterns, proof)

    def refuted(self, patterns: Any, proof: Gordan) -> Separability:
        """The answer that rows and weights prove which combine to 0 for other patterns, and so for these."""
        if not SMALLEST_R2 <= patterns.radius2 < np.inf:
            return self.decide(patterns)  # where bounds need exact arithmetic, and rows are few
        return self._no(patterns, proof._replace(norm=upper_bound(patterns, proof.rows, proof.weight)))

    def machine_of(self, patterns: Any, planes: list[Any]) -> Separability | None:
        """The linear machine of hyperplanes that separate each class from the rest, if rounding leaves it separating.

        The score of its class is above 0 for each row, and those of all others below.
        """
        rho = self.space.rho
        a = np.concatenate([np.append(plane.w, plane.b / rho if rho else 0.0) for plane in planes])
        a = patterns.in_these_columns(a)
        if not separates_exactly(patterns, a):
            return None
        return self._yes(patterns, a, None, patterns.distance(a))

    def about_home(self, home: RowSource) -> Separability:
        """Of rows that live elsewhere: two classes, or one linear machine."""
        if len(home.classes) < 2:
            raise _one_class(home.classes)
        return self.decide(passed(home, 1 if len(home.classes) == 2 else None, self.space))

    def decide(self, patterns: Any, near: Multipliers | None = None) -> Separability:
        """Floats first, where their squares neither overflow nor vanish; then integers, where they are few enough."""
        in_range = SMALLEST_R2 <= patterns.radius2 < np.inf
        affordable = Alternative.affordable(patterns)
        if not np.isfinite(patterns.radius2) and not affordable:
            row = patterns.shape.bad * patterns.rows_in_all // patterns.n
            raise DataError(
                f"Row {row} is not finite, or its squared norm overflows float64. Fix it, or standardize the features."
            )
        best, pair = _Best(patterns), cache(lambda rows: refuting_pair(patterns, rows, self.clock))
        try:
            self.clock.look()
            if in_range and near is not None:
                found = pair(len(near[0])) or gordan(patterns, *near, self.clock)
                if found is not None:
                    return self._no(patterns, found)
            attempts = [self._solve] if affordable else [self._solve, self._solve_scaled]
            for attempt in attempts if in_range else []:
                problem = attempt(patterns)
                if certify(patterns, problem.a, None).separable or separates_exactly(patterns, problem.a):
                    return self._yes(patterns, problem.a, problem, patterns.distance(problem.a))
                best.look(problem)
                index, alpha = problem.alpha_index, problem.alpha
                found = pair(len(index)) or gordan(patterns, index, alpha, self.clock)
                if found is not None:
                    return self._no(patterns, found)
            if affordable:
                return self._exactly(patterns, best)
        except OutOfTimeError:
            pass
        text = "Undecided: no separating hyperplane was found, and no exact proof that there is none."
        if best.certificate.upper < np.inf:
            text += f" No margin above {best.certificate.upper:.3g} exists."
        return Separability(None, "undecided", False, best.certificate, explanation=text)

    def _solve(self, patterns: Any) -> Problem:
        problem = Problem(patterns, np.inf, tol=SEPARATING_GAP, max_time=self.clock.left)
        with suppress(*BROKEN), np.errstate(all="ignore"):
            solvers.solve(problem)  # where arithmetic breaks down, what was found counts
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

    def _exactly(self, patterns: Any, best: "_Best") -> Separability:
        exact = Alternative(patterns, self.clock)
        exact.decide(self.clock)
        if exact.infeasibility_proof is not None:
            return self._no(patterns, exact.infeasibility_proof, exact)
        if exact.near is not None:
            distance = exact.distance(self.clock) if patterns.n_classes == 2 else patterns.distance(exact.near)
            return self._yes(patterns, exact.near, best.problem, distance, exact.radius)
        text = (
            "Separable: exact arithmetic finds a vector that has every row on its side, and no vector of floats that "
            "does. Scale your features, and subtract what they have in common."
        )
        vector = _spread(patterns, exact.vector)
        plane = Hyperplane.from_fractions(vector) if vector and patterns.n_classes == 2 else None
        return Separability(True, "complete", True, best.certificate, plane, explanation=text, vector=vector)

    def _yes(
        self, patterns: Any, a: Vector, problem: Problem | None, distance: float, radius: float | None = None
    ) -> Separability:
        certificate = _certificate(patterns, a, problem, radius)
        if patterns.n_classes > 2:
            text = (
                f"Separable: a linear machine has every row in its category, the nearest {distance:.6g} from a border."
            )
            return Separability(True, "complete", True, certificate, None, distance, None, text)
        w, b = patterns.space.split(patterns.in_all_columns(a))
        plane = Hyperplane(w, b) if np.any(w) else None
        margin = distance if plane is not None else None
        text = "Separable: a hyperplane has every row on its side"
        text += f", the nearest at a distance of {margin:.6g}." if margin is not None else "."
        return Separability(True, "complete", True, certificate, plane, margin, None, text)

    def _no(self, patterns: Any, witness: Gordan, exact: Alternative | None = None) -> Separability:
        certificate = Certificate(
            lower=None,
            upper=witness.norm,
            separable=False,
            space=patterns.space,
            radius=patterns.radius if exact is None else exact.radius,
            alpha_index=witness.rows,
            alpha=witness.weight,
            n_classes=patterns.n_classes,
        )
        text = (
            f"Not separable: {len(witness.rows)} rows with positive weights combine to exactly 0, so no hyperplane "
            f"{'' if patterns.space.rho else 'through the origin '}has all of them on their sides."
        )
        if patterns.n_classes > 2:
            text = (
                f"Not separable: {len(witness.rows)} patterns of Kesler's construction with positive weights combine "
                "to exactly 0, so no linear machine has all rows in their classes."
            )
        kind, weak = self._kind(patterns, witness, exact)
        if kind == "undecided":
            text += " Whether a hyperplane has every row on its side or on itself (weakly separable) was not decided."
        if kind == "quasi-complete":
            text += " It is weakly separable: a hyperplane has every row on its side or on itself."
        plane, vector = None, None
        if isinstance(weak, list):
            vector = _spread(patterns, weak)
            plane = Hyperplane.from_fractions(vector) if vector and patterns.n_classes == 2 else None
        elif weak is not None and patterns.n_classes == 2:
            w, b = patterns.space.split(patterns.in_all_columns(weak))
            plane = Hyperplane(w, b) if np.any(w) else None
        margin = 0.0 if kind == "quasi-complete" else None
        return Separability(False, kind, True, certificate, plane, margin, witness, text, vector=vector)

    def _kind(
        self, patterns: Any, witness: Gordan, exact: Alternative | None
    ) -> tuple[str, Vector | list[Fraction] | None]:
        """ "quasi-complete" with a vector, "none", or "undecided" where time or memory do not allow more."""
        if not self.kinds:
            return "undecided", None
        clock = Clock(min(QUASI_SHARE * self.max_time, self.clock.left))
        try:
            if spans_everything(patterns, witness.rows, clock):
                return "none", None
            if not self.weak:
                return "undecided", None
            found = one_sided_columns(patterns) if patterns.here and patterns.explicit else None
            if found is not None:
                return "quasi-complete", found
            if not Alternative.affordable(patterns, MOST_VALUES):
                return "undecided", None
            with one_blas_thread, np.errstate(all="ignore"):  # many short products, which several threads delay
                weak = (exact or Alternative(patterns, clock)).weak(witness.rows, clock)
        except OutOfTimeError:
            return "undecided", None
        return ("none" if weak is None else "quasi-complete"), weak


def _spread(patterns: Any, vector: list[Fraction] | None) -> list[Fraction] | None:
    """A vector of fractions as one of the data, where empty columns were left out."""
    if vector is None:
        return None
    return [Fraction(x) for x in patterns.in_all_columns(np.array(vector, dtype=object))]


class _Best:
    """The bounds that floats found, for an answer that is undecided."""

    def __init__(self, patterns: Any):
        self.patterns = patterns
        self.problem: Problem | None = None
        self.certificate = Certificate(
            None, np.inf, None, patterns.space, patterns.radius, n_classes=patterns.n_classes
        )

    def look(self, problem: Problem) -> None:
        certificate = _certificate(self.patterns, problem.a, problem)
        if certificate.upper <= self.certificate.upper:
            self.certificate, self.problem = certificate, problem


def _certificate(patterns: Any, a: Vector, problem: Problem | None, radius: float | None = None) -> Certificate:
    """Of a vector, and of the multipliers that a solver found, perhaps on scaled rows. ``radius``: the vector separates
    by an exact proof, and squares of the data may be out of range."""
    if radius is not None and not SMALLEST_R2 <= patterns.radius2 < np.inf:
        whole = patterns.in_all_columns(a)
        return Certificate(None, np.inf, True, patterns.space, radius, direction=whole, n_classes=patterns.n_classes)
    certificate = certify(patterns, a, None)
    if radius is not None or separates_exactly(patterns, a):
        certificate = replace(certificate, separable=True, direction=patterns.in_all_columns(a))
    if problem is None:
        return certificate
    upper = upper_bound(patterns, problem.alpha_index, problem.alpha)
    if not np.isfinite(upper):
        return certificate
    return replace(certificate, upper=upper, alpha_index=problem.alpha_index, alpha=problem.alpha)
