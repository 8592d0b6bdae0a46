"""What the procedures over all patterns at once share: validate -> space -> solver -> certificate -> attributes."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from functools import partial
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np

from separatrix.cancellation import OutOfTimeError, StoppedError, stoppable
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import certify, lower_bound
from separatrix.certificates.certify_with_search import certify_with_search
from separatrix.compile_cache import at_once
from separatrix.errors import DataError
from separatrix.fit.class_means import class_means, unmeasured
from separatrix.fit.declare import COUNT, POSITIVE, estimator, one_of
from separatrix.fit.result import UNKNOWN, Result, each, total
from separatrix.fit.separator import LinearSeparator, starting_vectors
from separatrix.fit.sklearn_api import fit_method
from separatrix.fit.training_data import Data
from separatrix.fit.watch import Watch
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Vector


class Solver(Protocol):
    """One binary problem: ``step`` makes one epoch and returns how it ended, None while it goes on."""

    patterns: Patterns
    a: Vector
    alpha: Vector | None
    epochs: int
    updates: int
    values: list[float]

    def step(self) -> str | None: ...

    def running_upper(self) -> float: ...


class Outcome(NamedTuple):
    """What one problem came to: its solver, the vector that predicts, and how it ended."""

    solver: Any
    a: Vector
    reason: str
    stopped: bool = False  # by a callback, Ctrl-C or the time, which want an answer now
    planes: Sequence[Any] = ()  # that it combines
    measured: bool = True  # False: a vector between the means of the classes, when there was no time for any other


@estimator
class BatchClassifier(LinearSeparator):
    """Base of the procedures that look at all patterns before they correct, or that solve directly.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Learn a bias by augmenting every row with the constant ``intercept_scaling``. False: a hyperplane through the
        origin.
    intercept_scaling : float, default=1.0
        The augmenting constant (the rho of the sources, not LIBSVM's).
    multi_class : {"ovr", "ovo"}, default="ovr"
        More than two classes: a hyperplane for each against the rest, or one for each pair.
    n_jobs : int or None, default=None
        Threads over the problems of several classes; -1 takes all cores. With callbacks there is one.
    random_state : int, RandomState or None, default=None
        Taken for the sake of tools that set it, and ignored: nothing here is random.

    Attributes
    ----------
    classes_ : ndarray
        The labels; of two, the second is the positive class.
    coef_, intercept_ : ndarray
        The vectors, (1, d) for two classes and (c, d) for c, one per pair for "ovo", and their biases.
    multi_class_ : str
        How several classes were distinguished; of two classes "ovr".
    certificate_ : Certificate
        What the fit proves: lower and upper bound of the margin, separability. ``certificates_``: one per problem.
    directional_margin_, geometric_margin_ : float
        min u.y_k in the augmented space, and the smallest distance from the hyperplane (negative: an error).
    converged_ : bool
        The procedure came to its end. ``stop_reason_`` says how the fit ended.
    criterion_values_ : ndarray
        The criterion at each epoch, or at the end of a direct solution; a list of them if there are several problems.
    n_updates_, n_visits_, n_epochs_ : int
        Corrections of the vector, rows looked at, passes over the data; ``n_iter_``, scikit-learn's name, is the
        last.
    """

    _: KW_ONLY
    fit_intercept: bool = True
    intercept_scaling: Annotated[float, POSITIVE] = 1.0
    multi_class: Annotated[str, one_of("ovr", "ovo")] = "ovr"
    n_jobs: int | None = None
    random_state: Annotated[Any, "random_state"] = None

    _joins = {
        "n_updates_": total, "n_visits_": total, "n_epochs_": max, "n_iter_": max, "criterion_values_": each,
    }  # fmt: skip

    # What a subclass says of its algorithm.

    def _solvers(self, patterns: list[Patterns], data: Data, starts: Sequence[Vector | None]) -> list[Any]:
        raise NotImplementedError

    def _answer(self, solver: Any) -> Vector:
        """Return the vector that predicts, as it is now."""
        return solver.a

    def _epoch_limit(self) -> float:
        return np.inf

    def _has_multipliers(self) -> bool:
        """Whether the solver's alpha is the whole proof; otherwise a certificate is looked for."""
        return False

    def _ended(self, reason: str, certificate: Certificate) -> str:
        """How a problem ended, in the light of its certificate."""
        return "converged" if reason == "stationary" and certificate.separable is not None else reason

    def _advice(self) -> str:
        return "Raise max_iter or scale your features; separability(X, y) decides whether a hyperplane exists."

    # The steps of a fit.

    def _doubt(self, n: int) -> tuple[str, str]:
        return self.stop_reason_, self._advice()

    def _results(
        self, data: Data, watch: Watch, before: None, coef_init: Any = None, intercept_init: Any = None
    ) -> list[Result]:
        patterns = self._problems(data)
        starts = starting_vectors(self._space(), data, "ovr", coef_init, intercept_init)
        solvers = self._solvers(patterns, data, starts)
        reasons = [""] * len(solvers)

        def task(k: int) -> None:
            reasons[k] = self._run(k, solvers, data, watch)

        watch.run_each(task, len(solvers), self.n_jobs)
        if not data.here:
            for p in patterns:
                self._check_scale(p, None)
        outcomes = [
            Outcome(s, self._answer(s), r or watch.stop.reason, bool(watch.stop.reason))
            for s, r in zip(solvers, reasons, strict=True)
        ]
        late = [k for k, o in enumerate(outcomes) if o.reason == "max_time" and not np.any(o.a)]
        if late:
            means = class_means(self, data)
            for k in late:
                a = means.against_the_rest(k if data.planes > 1 else 1)
                outcomes[k] = outcomes[k]._replace(a=a, measured=False)
        outcomes = self._combined(outcomes, data)
        with stoppable(lambda: self._look(len(solvers) - 1, solvers, data, watch)):
            return self._certified(outcomes, data, watch)

    def _combined(self, outcomes: list[Outcome], data: Data) -> list[Outcome]:
        """What predicts, if it is not what the solvers found."""
        return outcomes

    def _look(self, k: int, solvers: list[Solver], data: Data, watch: Watch) -> str:
        def parts() -> list[dict[str, Any]]:
            return [self._attributes_of(s.patterns, self._answer(s), data) for s in solvers]

        return watch.look(k, lambda: _measures(solvers[k]), parts)

    def _run(self, k: int, solvers: list[Solver], data: Data, watch: Watch) -> str:
        limit, solver, look = self._epoch_limit(), solvers[k], partial(self._look, k, solvers, data, watch)
        while solver.epochs < limit:
            try:
                with np.errstate(over="ignore", invalid="ignore", divide="ignore"), stoppable(look):
                    ended = solver.step()
            except OutOfTimeError:
                return "max_time"
            except StoppedError:
                return watch.stop.reason
            if not np.all(np.isfinite(solver.a)):
                raise DataError(
                    f"The vector of {type(self).__name__} overflows float64 after {solver.updates} updates. Use a "
                    "smaller rate, and scale your features and sample weights."
                )
            stopped = look()
            if ended or stopped:
                return ended or stopped
        return "max_iter"

    def _certified(self, outcomes: list[Outcome], data: Data, watch: Watch) -> list[Result]:
        """The results. After an interruption bounds are measured, and not looked for."""
        proved = self._has_multipliers() and data.here  # elsewhere no multipliers are listed
        thorough = [
            not o.stopped and o.reason != "max_time" and (o.reason == "stationary" or not proved) for o in outcomes
        ]
        certificates: list[Certificate] = []
        try:
            for o, more in zip(outcomes, thorough, strict=True):
                certificates.append(self._certificate(o, data, more))
        except (KeyboardInterrupt, StoppedError) as stop:  # while bounds were looked for
            if isinstance(stop, KeyboardInterrupt):
                watch.interrupt(stop)
            reason = watch.stop.reason or ("max_time" if isinstance(stop, OutOfTimeError) else "callback")
            known = len(certificates)
            outcomes = outcomes[:known] + [o._replace(reason=reason) for o in outcomes[known:]]
            certificates += [self._certificate(o, data, False) for o in outcomes[known:]]
        return [self._result(o, c, data) for o, c in zip(outcomes, certificates, strict=True)]

    def _result(self, outcome: Outcome, certificate: Certificate, data: Data) -> Result:
        solver = outcome.solver
        own = {
            "n_updates_": int(solver.updates),
            "n_visits_": int(solver.epochs * solver.patterns.n),
            "n_epochs_": int(solver.epochs),
            "n_iter_": int(solver.epochs),
            "criterion_values_": np.array(solver.values),
            **self._own(outcome, certificate, data),
        }
        margins = self._margins_of(solver.patterns, outcome.a) if outcome.measured else UNKNOWN
        predicting = self._attributes_of(solver.patterns, outcome.a, data)
        return Result(predicting, self._ended(outcome.reason, certificate), certificate, margins, own)

    def _own(self, outcome: Outcome, certificate: Certificate, data: Data) -> dict[str, Any]:
        """Attributes of a problem that not all batch estimators have."""
        return {}

    def _certificate(self, outcome: Outcome, data: Data, thorough: bool) -> Certificate:
        solver, make = outcome.solver, certify_with_search if thorough else certify
        if not outcome.measured:
            return unmeasured(solver.patterns, outcome.a, data.given_weight)
        return make(solver.patterns, outcome.a, solver.alpha, kept=data.kept, sample_weight=data.given_weight)


@estimator
class IterativeClassifier(BatchClassifier):
    """Base of those that iterate.

    Parameters
    ----------
    max_iter : int, default=1000
        Iterations, each a pass over the data, per binary problem.
    """

    _: KW_ONLY
    max_iter: Annotated[int, COUNT] = 1000

    def _epoch_limit(self) -> float:
        return int(self.max_iter)

    @fit_method
    def fit(self, X, y=None, sample_weight=None, coef_init=None, intercept_init=None):
        """Fit the separator.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), Dask array or data frame, or a row source
            A row source (``separatrix.data``) holds the labels too, and rows that need not fit into memory.
        y : array-like of shape (n,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n,), default=None
            A weight c is the same as c copies of the row; rows of weight 0 are left out. Certificates concern the
            unweighted margins.
        coef_init, intercept_init : array-like, default=None
            Where to start.

        Returns
        -------
        self
            The fitted estimator.
        """
        with at_once():  # no decorator: its frame would stand between a warning and the user's line
            return self._fit(X, y, sample_weight, coef_init=coef_init, intercept_init=intercept_init)


@estimator
class DirectClassifier(BatchClassifier):
    """Base of those that solve at once."""

    @fit_method
    def fit(self, X, y=None, sample_weight=None):
        """Fit the separator.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), Dask array or data frame, or a row source
            A row source (``separatrix.data``) holds the labels too, and rows that need not fit into memory.
        y : array-like of shape (n,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n,), default=None
            A weight c is the same as c copies of the row; rows of weight 0 are left out. Certificates concern the
            unweighted margins.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)


def _measures(solver: Solver) -> dict[str, Any]:
    return {
        "visits": solver.epochs * solver.patterns.n,
        "epochs": solver.epochs,
        "updates": solver.updates,
        "upper": solver.running_upper(),
        "lower": lambda: lower_bound(solver.patterns, solver.a),
        "criterion": solver.values[-1] if solver.values else None,
    }


def row_values(value: Any, name: str, data: Data, *, positive: bool = True) -> Vector:
    """A number per row that takes part: one for all, or one for each row of the user's data."""
    values = np.asarray(value, dtype=np.float64)
    if values.ndim and values.shape != (data.size,):
        raise DataError(f"{name} has shape {values.shape}; expected a number or one per row, ({data.size},).")
    values = np.broadcast_to(values, (data.size,))[data.kept].copy()
    wrong = np.flatnonzero(~np.isfinite(values) | (positive & (values <= 0)))
    if len(wrong):
        wanted = "positive and finite" if positive else "finite"
        raise DataError(f"{name} of row {data.kept[wrong[0]]} is {values[wrong[0]]:g}; it must be {wanted}.")
    return values
