"""Every applicable algorithm on the same data: what each reaches, in what time."""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix.callbacks import Callback
from separatrix.errors import NotSeparableError
from separatrix.estimators._fit.batch import IterativeClassifier
from separatrix.estimators._fit.online import OnlineClassifier
from separatrix.estimators.max_margin import MaxMargin
from separatrix.estimators.own_rule import PerceptronLike
from separatrix.patterns.binary_problems import binary_labels
from separatrix.patterns.plain_patterns import Patterns
from separatrix.proof.certify import plain_margin
from separatrix.report.registry import algorithms
from separatrix.rows.memory import as_rows
from separatrix.space import Space

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
        return {
            "name": self.name,
            "seconds": self.seconds,
            "updates": self.updates,
            "margin": self.margin,
            "share": self.share,
            "train": self.train,
            "cv": self.cv,
            "converged": self.converged,
            "why_not": self.why_not,
        }


class Deadline(Callback):
    """Callback that ends a fit after so many seconds; it keeps what it has."""

    def __init__(self, seconds: float):
        self.seconds, self.start = seconds, time.perf_counter()

    def setup(self, estimator: Any, context: Any) -> None:
        self.start = time.perf_counter()

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        return time.perf_counter() - self.start > self.seconds


def limited(estimator: Any, max_time: float) -> Any:
    """The estimator with a limit in seconds for its fit."""
    if hasattr(estimator, "set_callbacks"):
        estimator.set_callbacks(Deadline(max_time))
    if "max_time" in estimator.get_params():
        estimator.set_params(max_time=max_time)
    return estimator


def can_be_limited(estimator: Any) -> bool:
    """Whether a fit returns to Python in between, or has a limit of its own; what is solved at once does neither."""
    return "max_time" in estimator.get_params() or isinstance(estimator, (OnlineClassifier, IterativeClassifier))


def contestants() -> Iterator[tuple[str, Any]]:
    """Names and estimators with their defaults: every public one that needs nothing but data."""
    for algorithm in algorithms():
        estimator = algorithm.make()
        if isinstance(estimator, MaxMargin):
            yield "MaxMargin (hard)", algorithm.make(C=np.inf)
            yield f"MaxMargin (C = {estimator.C:g})", estimator
        elif not isinstance(estimator, PerceptronLike):  # a rule of one's own has no default worth comparing
            yield algorithm.name, estimator


def compare(
    X: Any, y: np.ndarray, folds: Callable[[], Any] | None, max_time: float, tell: Callable[[float, str], None]
) -> list[Result]:
    """Fit all of them; best first. ``folds`` yields prepared training and test parts."""
    found, bounds, entries = [], None, list(contestants())
    classes, codes = np.unique(y, return_inverse=True)
    problems = [Patterns(as_rows(X), labels, Space(1.0)) for labels in binary_labels(codes, len(classes))]
    for k, (name, estimator) in enumerate(entries):
        tell(k / len(entries), name)
        result, uppers = _measure(name, estimator, X, y, problems, max_time)
        if uppers is not None:
            bounds = uppers if bounds is None else np.minimum(bounds, uppers)
        if folds is not None and not result.why_not:
            result.cv = _accuracy(estimator, folds, max_time)
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
    estimator = limited(clone(estimator), max_time)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a fit did not converge is a column of the table
        return estimator.fit(X, y)


def _warm_up(estimator: Any, X: Any, y: np.ndarray) -> None:
    rows = np.sort(np.concatenate([np.flatnonzero(y == c)[:WARM_UP] for c in np.unique(y)]))
    _fit(estimator, X[rows], y[rows], 1.0)


def _accuracy(estimator: Any, folds: Callable[[], Any], max_time: float) -> float | None:
    scores = []
    for train, labels, test, truth in folds():
        try:
            scores.append(float(np.mean(_fit(estimator, train, labels, max_time).predict(test) == truth)))
        except ValueError:
            return None
    return float(np.mean(scores))
