"""The data of a question about separation, kept until somebody asks for details; and the answer in words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from separatrix.cancellation import Clock, OutOfTimeError, limited
from separatrix.certificates.separation import MOST_VALUES, Separation, SeparationSearch, patterns_of
from separatrix.solvers.thread_limit import one_blas_thread

T = TypeVar("T")

MOST_NAMED = 3  # columns that are named in a sentence


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
        told = [f"{len(found.rows)} of {len(self.codes)} rows {'is' if len(found.rows) == 1 else 'are'} separated."]
        names = self.names or [f"column {j}" for j in range(self.X.shape[1])]
        names = [*(f"The coefficient of {name}" for name in names), "The intercept"]
        infinite = found.infinite.reshape(len(self.classes) - 1, -1)
        where = [tuple(place) for place in np.argwhere(np.abs(infinite) == 1).tolist()]
        for r, j in where[:MOST_NAMED]:
            reason = self._reason(j) if len(self.classes) == 2 else ""
            against = f" for {self._class(r + 1)} against {self._class(0)}" if len(self.classes) > 2 else ""
            value = f"{'+' if infinite[r, j] > 0 else '-'}infinity."
            told.append(f"{reason}, so its coefficient is {value}" if reason else f"{names[j]}{against} is {value}")
        if len(where) > MOST_NAMED:
            told.append(f"{len(where) - MOST_NAMED} more {'is' if len(where) == MOST_NAMED + 1 else 'are'} infinite.")
        open_ = int(np.isnan(infinite).sum())
        if open_:
            told.append(f"{open_} {'has' if open_ == 1 else 'have'} no certain sign.")
        return " ".join(told)

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
