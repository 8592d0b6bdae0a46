"""What the procedures over all patterns at once share: validate -> space -> solver -> certificate -> attributes."""

import threading
import time
from collections.abc import Sequence
from dataclasses import field
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from separatrix.errors import DataError
from separatrix.estimators._fit.declare import estimator
from separatrix.estimators._fit.one_vs_one import fit_members, members_of
from separatrix.estimators._fit.parallel import run_each
from separatrix.estimators._fit.separator import Data, LinearSeparator, warn_not_converged
from separatrix.estimators._fit.starts import starting_vectors, starts_of_pairs
from separatrix.estimators._fit.watch import Progress, with_callbacks
from separatrix.patterns.binary_problems import binary_labels
from separatrix.patterns.plain_patterns import Patterns
from separatrix.proof.certificate import Certificate
from separatrix.proof.certify import certify, lower_bound
from separatrix.proof.prove import prove
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


@estimator
class BatchClassifier(LinearSeparator):
    """Base of the procedures that look at all patterns before they correct, or that solve directly."""

    fit_intercept: bool = field(default=True, kw_only=True)
    rho: float = field(default=1.0, kw_only=True)
    multi_class: str = field(default="ovr", kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    _parameter_constraints = {
        "fit_intercept": ["boolean"],
        "rho": [Interval(Real, 0, None, closed="neither")],
        "multi_class": [StrOptions({"ovr", "ovo"})],
        "n_jobs": [Integral, None],
    }
    _no_machine = "solves problems of two categories"

    # What a subclass says of its algorithm.

    def _solvers(self, patterns: list[Patterns], data: Data, starts: Sequence[Vector | None]) -> list[Any]:
        raise NotImplementedError

    def _epoch_limit(self) -> float:
        return np.inf

    def _has_multipliers(self) -> bool:
        """Whether the solver's alpha is the whole proof; otherwise a certificate is looked for."""
        return False

    def _ended(self, reason: str, certificate: Certificate) -> str:
        """How a problem ended, in the light of its certificate."""
        return "converged" if reason == "stationary" and certificate.separable is not None else reason

    def _advice(self) -> str:
        return "Raise max_epochs or scale your features; separability(X, y) decides whether a hyperplane exists."

    # The steps of a fit.

    def _fit(self, X: Any, y: Any, sample_weight: Any, coef_init: Any = None, intercept_init: Any = None) -> Any:
        progress = Progress(self, X, y)
        data = self._check_training_data(X, y, sample_weight)
        if self.multi_class == "ovo" and len(data.classes) > 2:
            members = self._members(data)
            options = starts_of_pairs(len(members), data.width, coef_init, intercept_init)
            fit_members(self, members, data, progress, options)
        else:
            self._fit_data(data, progress, coef_init, intercept_init)
        progress.end()
        if not self.converged_ and self.stop_reason_ != "callback":
            warn_not_converged(type(self).__name__, self.stop_reason_, self._advice(), depth=6)
        return self

    def _members(self, data: Data) -> list[Any]:
        """The estimators of the pairs."""
        return members_of(self, len(data.classes))

    def _fit_data(
        self, data: Data, progress: Any, coef_init: Any = None, intercept_init: Any = None, idle: str = ""
    ) -> None:
        """Fit to checked data; ``idle`` is a reason to stop at the start."""
        patterns = self._problems(data)
        starts: Sequence[Vector | None] = [None] * len(patterns)
        if coef_init is not None or intercept_init is not None:
            starts = starting_vectors(data, self._space(), coef_init, intercept_init)
        self.classes_, self.multi_class_ = data.classes, "ovr"
        solvers = self._solvers(patterns, data, starts)
        reasons = [idle or "interrupted"] * len(solvers)
        stop = getattr(self, "_stop_", None) or threading.Event()
        watch = _Watch(solvers, progress, stop)

        def task(k: int) -> None:
            reasons[k] = self._run(k, solvers[k], watch)
            if reasons[k] == "callback":
                stop.set()

        try:
            if not idle:
                run_each(task, len(solvers), None if progress.watched else self.n_jobs, stop)
        except KeyboardInterrupt:
            self._finish(solvers, reasons, data)
            raise
        if not idle:
            reasons = ["callback" if r == "interrupted" else r for r in reasons]
        self._finish(solvers, reasons, data)

    def _problems(self, data: Data) -> list[Patterns]:
        labels = binary_labels(data.codes, len(data.classes))
        first = Patterns(data.rows, labels[0], self._space())
        self._check_scale(first, data.kept)
        return [first, *(first.relabelled(l) for l in labels[1:])]

    def _run(self, k: int, solver: Solver, watch: "_Watch") -> str:
        limit = self._epoch_limit()
        while solver.epochs < limit:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                ended = solver.step()
            if not np.all(np.isfinite(solver.a)):
                raise DataError(
                    f"The vector of {type(self).__name__} overflows float64 after {solver.updates} updates. Use a "
                    "smaller rate, and scale your features and sample weights."
                )
            told = watch(k)
            reason = ended or told
            if reason:
                return reason
        return "max_epochs"

    def _finish(self, solvers: list[Any], reasons: list[str], data: Data) -> None:
        """Set the attributes. After an interruption bounds are measured, and not looked for."""
        vectors = [s.a for s in solvers]
        self._set_vectors(self._space(), vectors)
        wanting = [r != "max_time" and (r == "stationary" or not self._has_multipliers()) for r in reasons]
        late = None
        try:
            certificates = [
                self._certificate(s, data, "interrupted" not in reasons and more)
                for s, more in zip(solvers, wanting, strict=True)
            ]
        except KeyboardInterrupt as interrupt:  # while bounds were looked for
            late = interrupt
            certificates = [self._certificate(s, data, False) for s in solvers]
            reasons = ["interrupted"] * len(solvers)
        self._set_margins(certificates)
        self._measure_margins([s.patterns for s in solvers], vectors)
        self.n_updates_ = int(sum(s.updates for s in solvers))
        self.n_visits_ = int(sum(s.epochs * s.patterns.n for s in solvers))
        self.n_epochs_ = int(max(s.epochs for s in solvers))
        values = [np.array(s.values) for s in solvers]
        self.criterion_values_: Any = values[0] if len(values) == 1 else values
        self._set_ends([self._ended(*each) for each in zip(reasons, self.certificates_, strict=True)])
        if late is not None:
            raise late

    def _set_ends(self, reasons: list[str]) -> None:
        self.converged_: bool = all(r == "converged" for r in reasons)
        order = {"interrupted": 0, "callback": 1, "converged": 3}
        self.stop_reason_: str = min(reasons, key=lambda r: order.get(r, 2))

    def _gather(self, members: list[Any]) -> None:
        """What `pairs.gather` leaves to the estimator."""
        self.n_updates_ = int(sum(m.n_updates_ for m in members))
        self.n_visits_ = int(sum(m.n_visits_ for m in members))
        self.n_epochs_ = int(max(m.n_epochs_ for m in members))
        self.criterion_values_ = [m.criterion_values_ for m in members]
        self._set_ends([m.stop_reason_ for m in members])

    def _certificate(self, solver: Any, data: Data, thorough: bool) -> Certificate:
        return (prove if thorough else certify)(
            solver.patterns, solver.a, solver.alpha, kept=data.kept, sample_weight=data.given_weight
        )


@estimator
class IterativeClassifier(BatchClassifier):
    """Base of those that iterate."""

    max_epochs: int = field(default=1000, kw_only=True)

    _parameter_constraints = {
        **BatchClassifier._parameter_constraints,
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
    }

    def _epoch_limit(self) -> float:
        return int(self.max_epochs)

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, coef_init=None, intercept_init=None):
        """Fit the separator.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
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
        """
        return self._fit(X, y, sample_weight, coef_init, intercept_init)


@estimator
class DirectClassifier(BatchClassifier):
    """Base of those that solve at once."""

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the separator.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
        y : array-like of shape (n,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n,), default=None
            A weight c is the same as c copies of the row; rows of weight 0 are left out. Certificates concern the
            unweighted margins.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)


class _Watch:
    """Tells callbacks, after every epoch, where the fit stands; returns why it is to end, if it is."""

    def __init__(self, solvers: list[Solver], progress: Any, stop: threading.Event):
        self.solvers, self.progress, self.stop, self.clock = solvers, progress, stop, time.perf_counter()

    def __call__(self, k: int) -> str | None:
        if self.stop.is_set():
            return "interrupted"
        if not self.progress.watched:
            return None
        solver = self.solvers[k]
        measures = {
            "problem": k,
            "visits": solver.epochs * solver.patterns.n,
            "epochs": solver.epochs,
            "updates": solver.updates,
            "upper": solver.running_upper(),
            "lower": lambda: lower_bound(solver.patterns, solver.a),
            "criterion": solver.values[-1] if solver.values else None,
            "seconds": time.perf_counter() - self.clock,
        }
        return "callback" if self.progress.report(measures, self._attributes_now) else None

    def _attributes_now(self) -> dict[str, Any]:
        parts = [s.patterns.space.split(s.a) for s in self.solvers]
        return {"coef_": np.array([w for w, _ in parts]), "intercept_": np.array([b for _, b in parts])}


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
