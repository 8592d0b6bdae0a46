"""The answer of `separability`: verdict and proof, and details that are computed at their first use, in words too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from html import escape
from typing import Any, TypeVar

import numpy as np

from separatrix.cancellation import Clock, OutOfTimeError, limited
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.gordan import Gordan
from separatrix.certificates.notebook import figures_of
from separatrix.certificates.separation import MOST_VALUES, Separation, SeparationSearch, patterns_of
from separatrix.geometry import Hyperplane
from separatrix.solvers.thread_limit import one_blas_thread

T = TypeVar("T")

MOST_NAMED = 3  # columns and answers that are named in a sentence
SECONDS_OF_A_SENTENCE = 2.0  # on infinite coefficients, within what is printed


@dataclass(frozen=True, eq=False)
class AskedData:
    """Rows with the codes of their classes. ``rows``: those that take part; None: all. ``values``: whether values of
    columns are those that users know."""

    X: Any
    codes: np.ndarray
    classes: list[Any]
    fit_intercept: bool
    max_time: float
    names: list[str] | None = None
    target: str | None = None
    values: bool = True
    rows: np.ndarray | None = None

    def part(self, codes: np.ndarray, classes: list[Any], rows: np.ndarray | None = None) -> "AskedData":
        """Return the same question about two classes."""
        return replace(self, codes=codes, classes=classes, rows=rows)

    def table(self) -> Any:
        return self.X if self.rows is None else self.X[self.rows]

    def zeros(self) -> np.ndarray:
        """Return a 0 per coefficient, in the shape of `Separation.infinite`."""
        width, rivals = self.X.shape[1] + self.fit_intercept, len(self.classes) - 1
        return np.zeros(width if rivals == 1 else (rivals, width))

    def answered(self, work: Callable[[], T], max_time: float) -> T | None:
        """Return what ``work`` does, within the time of the call and ``max_time``; None if that is not enough."""
        with limited(min(self.max_time, max_time)), one_blas_thread, np.errstate(all="ignore"):
            try:
                return work()
            except OutOfTimeError:
                return None

    def search(self, start: list[Any] | None) -> SeparationSearch:
        """``start``: a vector that has no row on the wrong side, or None."""
        rivals = len(self.classes) - 1
        if len(self.codes) * rivals**2 * (self.X.shape[1] + self.fit_intercept) > MOST_VALUES:
            raise OutOfTimeError
        Y = patterns_of(self.table(), self.codes, self.fit_intercept)
        return SeparationSearch(Y, rivals, self.fit_intercept, start, Clock())

    def words(self, found: Separation) -> str:
        """Return which coefficients are infinite, and the values of a column that show it."""
        if not len(found.rows) and not np.any(found.infinite):
            return "All coefficients of a logistic regression are finite."
        parts = [f"{len(found.rows)} of {len(self.codes)} rows {'is' if len(found.rows) == 1 else 'are'} separated."]
        names = self.names or [f"column {j}" for j in range(self.X.shape[1])]
        names = [*(f"The coefficient of {name}" for name in names), "The intercept"]
        infinite = found.infinite.reshape(len(self.classes) - 1, -1)
        where = [tuple(place) for place in np.argwhere(np.abs(infinite) == 1).tolist()]
        for r, j in where[:MOST_NAMED]:
            reason = self._reason(j) if len(self.classes) == 2 else ""
            against = f" for {self._class(r + 1)} against {self._class(0)}" if len(self.classes) > 2 else ""
            value = f"{'+' if infinite[r, j] > 0 else '-'}infinity."
            parts.append(f"{reason}, so its coefficient is {value}" if reason else f"{names[j]}{against} is {value}")
        if len(where) > MOST_NAMED:
            parts.append(f"{len(where) - MOST_NAMED} more {'is' if len(where) == MOST_NAMED + 1 else 'are'} infinite.")
        open_ = int(np.isnan(infinite).sum())
        if open_:
            parts.append(f"{open_} {'has' if open_ == 1 else 'have'} no certain sign.")
        return " ".join(parts)

    def _class(self, code: int) -> str:
        name = self.classes[code]
        return f"{name:g}" if isinstance(name, float) else str(name)

    def _reason(self, j: int) -> str:
        """Return values of one column that occur in one class alone, if a sentence can state them."""
        if not self.values or j == self.X.shape[1]:
            return ""
        x, name, target = _column(self.table(), j), f"column {j}", self.target or "the class"
        name = self.names[j] if self.names else name
        values = np.unique(x)
        if len(values) == 2:
            for value in values[::-1]:
                codes = np.unique(self.codes[x == value])
                if len(codes) == 1:
                    return f"{name} = {value:g} occurs only with {target} = {self._class(codes[0])}"
            return ""
        for low, high in ((0, 1), (1, 0)):
            border, next_ = x[self.codes == low].max(), x[self.codes == high].min()
            if border <= next_:
                return (
                    f"{name} < {next_:g} occurs only with {target} = {self._class(low)} and {name} > {border:g} "
                    f"only with {target} = {self._class(high)}"
                )
        return ""


def _column(X: Any, j: int) -> np.ndarray:
    column = X[:, [j]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()


def names_of(X: Any, y: Any) -> tuple[list[str] | None, str | None]:
    """Return the names of the columns of a data frame and of a series of labels, if there are any."""
    names = getattr(X, "columns", None)
    target = getattr(y, "name", None)
    return (
        None if names is None or callable(names) else [str(name) for name in names],
        None if target is None or callable(target) else str(target),
    )


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

        >>> from separatrix import separability
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

        >>> from separatrix import separability
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
