"""Every applicable algorithm on the same data: what each reaches, in what time."""

import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix.errors import NotSeparableError
from separatrix.estimators.max_margin import MaxMargin
from separatrix.estimators.own_rule import PerceptronLike
from separatrix.io.data.formats import as_table
from separatrix.io.data.prepare import prepare
from separatrix.io.data.table import Table
from separatrix.patterns.binary_problems import binary_labels
from separatrix.patterns.plain_patterns import Patterns
from separatrix.proof.certify import plain_margin
from separatrix.rows.memory import as_rows
from separatrix.space import Space
from separatrix.workflows.asked import DEFAULTS, Options, Tell, begin
from separatrix.workflows.cross_validation import Folds, cross_validated
from separatrix.workflows.known_algorithms import algorithms
from separatrix.workflows.watched import watched

EACH = 10.0  # seconds for a fit, unless the options say otherwise
WARM_UP = 20  # rows of each class on which a fit compiles before it is timed


@dataclass
class Result:
    """What one algorithm came to; ``why_not`` where it does not apply."""

    name: str
    seconds: float = 0.0
    updates: int | None = None
    margins: list[float] | None = None  # certified, one per problem
    share: float | None = None  # of the best margin, certified
    train: float = 0.0
    cv: float | None = None
    converged: bool = False
    why_not: str = ""

    @property
    def margin(self) -> float | None:
        return None if self.margins is None else min(self.margins)

    def as_dict(self) -> dict[str, Any]:
        told = {"margin" if name == "margins" else name: value for name, value in vars(self).items()}
        return {**told, "margin": self.margin}


def contestants() -> Iterator[tuple[str, Any]]:
    """Names and estimators with their defaults: every public one that needs nothing but data."""
    for algorithm in algorithms():
        estimator = algorithm.cls()
        if isinstance(estimator, MaxMargin):
            yield "MaxMargin (hard)", algorithm.cls(C=np.inf)
            yield f"MaxMargin (C = {estimator.C:g})", estimator
        elif not isinstance(estimator, PerceptronLike):  # a rule of one's own has no default worth comparing
            yield algorithm.name, estimator


@dataclass(frozen=True)
class Comparison:
    """The data, and what each algorithm came to, the best first; those that do not apply last."""

    table: Table
    results: list[Result]


def compare(data: Any, options: Options = DEFAULTS, tell: Tell | None = None, **reading: Any) -> Comparison:
    """Fit every algorithm with its defaults to a table or a file; ``reading`` as in `read_table`."""
    begin(tell, "Reading")
    table = as_table(data, **reading)
    raw, X, steps = prepare(table, **options.preparation)
    folds = Folds(raw, table.y, steps, options.folds)
    return Comparison(table, _compare(X, table.y, folds, options.max_time or EACH, tell))


def _compare(X: Any, y: np.ndarray, folds: Folds, max_time: float, tell: Tell | None) -> list[Result]:
    found, bounds, entries = [], None, list(contestants())
    classes, codes = np.unique(y, return_inverse=True)
    problems = [Patterns(as_rows(X), labels, Space(1.0)) for labels in binary_labels(codes, len(classes))]
    parts = list(folds)  # prepared once for all
    for k, (name, estimator) in enumerate(entries):
        if tell is not None:
            tell("Comparing", k / len(entries), name)
        result, uppers = _measure(name, estimator, X, y, problems, max_time)
        if uppers is not None:
            bounds = uppers if bounds is None else np.minimum(bounds, uppers)
        if parts and not result.why_not:
            with warnings.catch_warnings(), suppress(ValueError):
                warnings.simplefilter("ignore")
                result.cv = cross_validated(estimator, folds, max_time, parts=parts).mean
        found.append(result)
    if bounds is not None and any(r.margin is not None and r.margin > 0 for r in found):
        for result in found:
            if result.margins is not None:
                result.share = float(np.min(np.array(result.margins) / bounds))
    return sorted(
        found,
        key=lambda r: (bool(r.why_not), -max(r.share or 0.0, 0.0), -(r.train if r.cv is None else r.cv), r.seconds),
    )


def _measure(
    name: str, estimator: Any, X: Any, y: np.ndarray, problems: list[Patterns], max_time: float
) -> tuple[Result, np.ndarray | None]:
    """The result of one estimator, and the upper bounds that it proves for the plain margins."""
    result = Result(name)
    try:
        _warm_up(estimator, X, y)
        clock = time.perf_counter()
        fitted = _fit(estimator, X, y, max_time)
        result.seconds = time.perf_counter() - clock
    except NotSeparableError:
        result.why_not = "the data are not separable"
        return result, None
    except (ValueError, MemoryError) as error:
        result.why_not = str(error).splitlines()[0]
        return result, None
    result.updates = getattr(fitted, "n_updates_", None)
    result.converged = bool(getattr(fitted, "converged_", True))
    result.train = float(np.mean(fitted.predict(X) == y))
    coef = getattr(fitted, "coef_", None)
    each_against_the_rest = getattr(fitted, "multi_class_", "ovr") == "ovr"
    if not each_against_the_rest or coef is None or coef.shape != (len(problems), problems[0].d):
        return result, None  # it has no margins that compare with those of others
    vectors = [np.append(w, b) for w, b in zip(coef, fitted.intercept_, strict=True)]
    result.margins = [plain_margin(p, a) for p, a in zip(problems, vectors, strict=True)]
    same_space = all(c.space == Space(1.0) for c in fitted.certificates_)
    return result, np.array([c.upper for c in fitted.certificates_]) if same_space else None


def _fit(estimator: Any, X: Any, y: np.ndarray, max_time: float) -> Any:
    estimator = clone(estimator)
    with warnings.catch_warnings(), watched(estimator, max_time):
        warnings.simplefilter("ignore")  # that a fit did not converge is a column of the table
        return estimator.fit(X, y)


def _warm_up(estimator: Any, X: Any, y: np.ndarray) -> None:
    rows = np.sort(np.concatenate([np.flatnonzero(y == c)[:WARM_UP] for c in np.unique(y)]))
    _fit(estimator, X[rows], y[rows], 1.0)
