"""Fill the cache of compiled code, so that no later process waits for the compiler."""

import os
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from separatrix import dropin
from separatrix.app.workflows.known_algorithms import chosen_algorithms
from separatrix.certificates.fewest_errors import fewest_errors
from separatrix.certificates.separability import separability
from separatrix.compile_cache import Forms, forms
from separatrix.dropin import SVC, LinearSVC
from separatrix.errors import SeparatrixError

# Rows and columns: solvers for few rows, for many, and for more columns than rows.
SHAPES = ((60, 4), (2_000, 15), (40, 150))
SECONDS = 20.0  # of a fit, if the estimator takes a limit
QUESTIONS: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "separability": separability,
    "fewest_errors": partial(fewest_errors, max_time=0.1),
}
BESIDES = ("LinearSVC", "SVC", *QUESTIONS)  # what can be compiled besides the algorithms


class Course(NamedTuple):
    """One call that compiles."""

    name: str
    run: Callable[[Any, np.ndarray], Any]


def precompile(names: Sequence[str], narrow: bool = False, watch: Any = None) -> Forms:
    """Compile what these estimators need for dense and sparse rows of float64 (``narrow``: of float32 too).

    The estimators are fitted to small tables of two and three classes, for two epochs if they have epochs.
    """
    courses, tables = _courses(names), _tables(narrow)
    before, mode = forms(), os.environ.get("SEPARATRIX_COMPILE")
    os.environ["SEPARATRIX_COMPILE"] = "always"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=Warning)
            warnings.filterwarnings("error", "separatrix cannot write", RuntimeWarning)
            for k, (X, y) in enumerate(tables):
                for i, course in enumerate(courses):
                    if watch is not None:
                        watch("Compiling", (k + i / len(courses)) / len(tables), course.name)
                    _try(course, X, y)
    except RuntimeWarning as warning:
        raise SeparatrixError(str(warning)) from None
    finally:
        if mode is None:
            del os.environ["SEPARATRIX_COMPILE"]
        else:
            os.environ["SEPARATRIX_COMPILE"] = mode
    after = forms()
    return Forms(after.loaded - before.loaded, after.compiled - before.compiled, after.folder)


def _try(course: Course, X: Any, y: np.ndarray) -> None:
    try:
        course.run(X, y)
    except (
        SeparatrixError,
        ValueError,
    ):  # classes that nothing separates, a rule for two classes: compiled all the same
        return


def _tables(narrow: bool) -> list[tuple[Any, np.ndarray]]:
    rng, found = np.random.default_rng(0), []
    for n, d in SHAPES:
        X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3)
        score = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=n)
        for classes in (2, 3):
            y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
            for table in (X, sp.csr_matrix(X)):
                found += [(table.astype(dtype), y) for dtype in ((np.float64, np.float32) if narrow else (np.float64,))]
    return found


def _courses(names: Sequence[str]) -> list[Course]:
    words = [word.strip() for name in names for word in name.split(",") if word.strip()]
    besides = [word for word in words if word in BESIDES]
    others = [word for word in words if word not in BESIDES]
    chosen = [] if besides and not others else chosen_algorithms(others)
    courses = [course for algorithm in chosen for course in _fits(algorithm.cls)]
    for name in besides if words else BESIDES:
        courses += [Course(name, QUESTIONS[name])] if name in QUESTIONS else _fits(getattr(dropin, name))
    return courses


def _fits(cls: type) -> list[Course]:
    known = set(cls().get_params())
    if issubclass(cls, LinearSVC):
        given: list[dict[str, Any]] = [{}, {"loss": "hinge"}]
    elif issubclass(cls, SVC):
        given = [{}, {"kernel": "linear"}]
    elif {"loss", "C"} <= known:
        given = [{}, {"C": np.inf}, {"loss": "hinge"}]
    else:
        given = [{"max_iter": 2} if "max_iter" in known else {}]
    limit = {"max_time": SECONDS} if "max_time" in known else {}
    return [Course(cls.__name__, _fit(cls, each | limit)) for each in given]


def _fit(cls: type, given: dict[str, Any]) -> Callable[[Any, np.ndarray], Any]:
    return lambda X, y: cls(**given).fit(X, y).predict(X)
