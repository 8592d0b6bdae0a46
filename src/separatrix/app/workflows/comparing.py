"""Algorithms on the same data: what each reaches, in what time."""

import os
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix.app.ranking import Ranking, ranked
from separatrix.app.tables.formats import as_table
from separatrix.app.tables.prepare import prepare
from separatrix.app.tables.table import Table
from separatrix.app.workflows.cross_validation import Folds, cross_validated
from separatrix.app.workflows.known_algorithms import chosen_algorithms
from separatrix.app.workflows.options import DEFAULTS, Options, Tell, begin
from separatrix.app.workflows.progress import limited_and_shown
from separatrix.certificates.certify import plain_margin
from separatrix.data.memory import as_rows
from separatrix.errors import DataError, NotSeparableError
from separatrix.estimators.max_margin import MaxMargin
from separatrix.estimators.own_rule import PerceptronLike
from separatrix.fit.separator import is_complete
from separatrix.passes.binary_problems import binary_labels
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space

WHOLE = 55.0  # seconds for all algorithms together, unless the options give each a limit
WARM_UP = 20  # rows of each class on which a fit compiles before it is timed

Seen = Callable[["Result"], None]


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
    stopped: str = ""  # "time", or the parameter whose limit ended a fit that did not converge
    why_not: str = ""

    @property
    def margin(self) -> float | None:
        return None if self.margins is None else min(self.margins)

    def as_dict(self) -> dict[str, Any]:
        notes = {"margin" if name == "margins" else name: value for name, value in vars(self).items()}
        return {**notes, "margin": self.margin}


def contestants(wanted: Sequence[str] = ()) -> list[tuple[str, Any]]:
    """Names and estimators with their defaults: every public one that needs nothing but data.

    ``wanted``: names, patterns like ``*Perceptron``, or families, see
    `separatrix.app.workflows.known_algorithms.FAMILIES`; none: all of them.
    """
    entries: list[tuple[str, Any]] = []
    for algorithm in chosen_algorithms(wanted):
        estimator = algorithm.cls()
        if isinstance(estimator, MaxMargin):
            entries += [("MaxMargin (hard)", algorithm.cls(C=np.inf)), (f"MaxMargin (C = {estimator.C:g})", estimator)]
        elif not isinstance(estimator, PerceptronLike):  # a rule of one's own has no default worth comparing
            entries.append((algorithm.name, estimator))
    # first what the others are compared with, which has its first row soonest: small fits of it need no compiler
    return sorted(entries, key=lambda entry: not isinstance(entry[1], MaxMargin))


@dataclass(frozen=True)
class Comparison:
    """The data, and what each algorithm came to: the best first, then those that did not converge, then those that do
    not apply. ``left``: how many were not tried, because Ctrl-C ended it. ``each``: the seconds that each had."""

    table: Table
    results: list[Result]
    left: int
    each: float


def compare(
    data: Any,
    options: Options = DEFAULTS,
    tell: Tell | None = None,
    seen: Seen | None = None,
    wanted: Sequence[str] = (),
    jobs: int = 1,
    **reading: Any,
) -> Comparison:
    """Fit algorithms with their defaults to a table or a file.

    Parameters
    ----------
    data, options, tell, reading :
        As in `separatrix.app.workflows.fit`. ``options.max_time`` is the limit of each algorithm, cross-validation
        included; without one, all of them share about a minute.
    seen : callable or None, default=None
        Called with each result as soon as it is there.
    wanted : sequence of str, default=()
        The algorithms, as in `contestants`.
    jobs : int, default=1
        Algorithms that run at the same time; they share the cores, so that times grow.
    """
    begin(tell, "Reading")
    table = as_table(data, **reading)
    raw, X, steps = prepare(table, **options.preparation)
    entries = contestants(wanted)
    each = options.max_time or WHOLE * max(jobs, 1) / len(entries)
    contest = _Contest(X, table.y, Folds(raw, table.y, steps, options.folds), each)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a fit did not converge is a column of the table
        contest.run(entries, max(jobs, 1), tell, seen)
    return Comparison(table, contest.ranked(), len(entries) - len(contest.found), each)


def check_ranks(files: Sequence[str], options: Options, wanted: Sequence[str]) -> None:
    """Raise before the work where several files could not be ranked after it."""
    if options.folds < 2:
        raise DataError("Several files are ranked by cross-validated accuracy: --cv has to be 2 or more.")
    if len({os.path.realpath(file) for file in files}) < len(files):
        raise DataError("A file is named twice. Ranks count every data set once.")
    if len(contestants(wanted)) < 2:
        raise DataError("Ranks need at least two algorithms.")


def ranked_over_files(comparisons: Sequence[Comparison]) -> Ranking:
    """Average ranks by cross-validated accuracy, of the algorithms that were tried on all; no answer is last."""
    if len(comparisons) < 2:
        raise DataError("Ranking needs at least two data files on which all algorithms finished.")
    scores = [{r.name: np.nan if r.cv is None else r.cv for r in c.results} for c in comparisons]
    names = [name for name in scores[0] if all(name in row for row in scores)]
    for comparison, row in zip(comparisons, scores, strict=True):
        if all(np.isnan(row[name]) for name in names):
            raise DataError(f"{comparison.table.source} has no cross-validated accuracies to rank by.")
    return ranked(names, [[row[name] for name in names] for row in scores])


class _Contest:
    """Algorithms on the same rows and folds; what is found stays when Ctrl-C ends it."""

    def __init__(self, X: Any, y: np.ndarray, folds: Folds, each: float):
        self.X, self.y, self.folds, self.each = X, y, folds, each
        self.problems = each_against_the_rest(X, y)
        self.parts = list(folds)  # prepared once for all
        self.found: list[Result] = []
        self.bounds: np.ndarray | None = None

    def run(self, entries: list[tuple[str, Any]], jobs: int, tell: Tell | None, seen: Seen | None) -> None:
        pool = ThreadPoolExecutor(jobs)
        try:
            tasks = [pool.submit(self._try, name, estimator) for name, estimator in entries]
            names = {task: name for task, (name, _) in zip(tasks, entries, strict=True)}
            for task in as_completed(tasks):
                result, uppers = task.result()
                self.found.append(result)
                if uppers is not None:
                    self.bounds = uppers if self.bounds is None else np.minimum(self.bounds, uppers)
                if seen is not None:
                    seen(result)
                if tell is not None:
                    tell("Comparing", len(self.found) / len(entries), f"{names[task]} is done")
        except KeyboardInterrupt:
            if not self.found:
                raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _try(self, name: str, estimator: Any) -> tuple[Result, np.ndarray | None]:
        """Half of the time for the fit, half for the folds."""
        share = 0.5 if self.parts else 1.0
        result, uppers = _measure(name, estimator, self.X, self.y, self.problems, share * self.each)
        if self.parts and not result.why_not:
            with suppress(ValueError):
                limit = 0.5 * self.each / len(self.parts)
                result.cv = cross_validated(estimator, self.folds, limit, parts=self.parts).mean
        return result, uppers

    def ranked(self) -> list[Result]:
        if self.bounds is not None and any(r.margin is not None and r.margin > 0 for r in self.found):
            for result in self.found:
                if result.margins is not None:
                    result.share = float(np.min(np.array(result.margins) / self.bounds))

        def rank(r: Result) -> tuple[Any, ...]:
            reached = -max(r.share or 0.0, 0.0)
            return bool(r.why_not), not r.converged, reached, -(r.train if r.cv is None else r.cv), r.seconds

        return sorted(self.found, key=rank)


def each_against_the_rest(X: Any, y: np.ndarray) -> list[Patterns]:
    """The problems whose margins compare: one for two classes, else one per class, with rho = 1."""
    classes, codes = np.unique(y, return_inverse=True)
    return [Patterns(as_rows(X), labels, Space(1.0)) for labels in binary_labels(codes, len(classes))]


def plain_margins(fitted: Any, problems: list[Patterns]) -> list[float] | None:
    """The certified margin of a classifier in each of the problems; None where its vectors answer other ones."""
    if getattr(fitted, "multi_class_", "ovr") != "ovr" or not hasattr(fitted, "coef_"):
        return None
    coef = np.atleast_2d(fitted.coef_)
    if coef.shape != (len(problems), problems[0].d):
        return None
    vectors = [np.append(w, b) for w, b in zip(coef, np.ravel(fitted.intercept_), strict=True)]
    return [plain_margin(p, a) for p, a in zip(problems, vectors, strict=True)]


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
        ways = {"ovr": " one-vs-rest", "ovo": " one-vs-one", "joint": " jointly"}
        way = ways[getattr(estimator, "multi_class", "ovr")] if len(np.unique(y)) > 2 else ""
        result.why_not = f"the classes are not separable{way}"
        return result, None
    except (ValueError, MemoryError) as error:
        result.why_not = str(error).splitlines()[0]
        return result, None
    result.updates = getattr(fitted, "n_updates_", None)
    result.converged = is_complete(fitted)
    if not result.converged:
        reason = getattr(fitted, "stop_reason_", "time")
        result.stopped = "time" if reason in ("callback", "max_time") else reason
    result.train = float(np.mean(fitted.predict(X) == y))
    result.margins = plain_margins(fitted, problems)
    if result.margins is None:
        return result, None
    same_space = all(c.space == Space(1.0) for c in fitted.certificates_)
    return result, np.array([c.upper for c in fitted.certificates_]) if same_space else None


def _fit(estimator: Any, X: Any, y: np.ndarray, max_time: float) -> Any:
    estimator = clone(estimator)
    with limited_and_shown(estimator, max_time):
        return estimator.fit(X, y)


def _warm_up(estimator: Any, X: Any, y: np.ndarray) -> None:
    rows = np.sort(np.concatenate([np.flatnonzero(y == c)[:WARM_UP] for c in np.unique(y)]))
    _fit(estimator, X[rows], y[rows], 1.0)
