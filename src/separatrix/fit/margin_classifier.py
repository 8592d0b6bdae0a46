"""What the maximum margins with and without a kernel share: class weight, a fit by solvers, bounds, the gap."""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from math import isfinite
from typing import Annotated, Any

import numpy as np

from separatrix.cancellation import out_of_time
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import certify, measured_multiple
from separatrix.fit.class_means import ClassMeans, class_means, unmeasured
from separatrix.fit.declare import NOT_NEGATIVE, POSITIVE, POSITIVE_OR_INF, estimator, one_of
from separatrix.fit.result import Result
from separatrix.fit.separator import LinearSeparator, starting_vectors
from separatrix.fit.sklearn_api import fit_method
from separatrix.fit.training_data import ClassWeightMixin, Data
from separatrix.fit.watch import Watch, threads_for
from separatrix.space import Space, Vector

VALUES_AFTERWARDS = 10_000_000  # of patterns that are measured when no time is left: some hundredths of a second
REACHED = 1e-9  # rounding outwards may cost the last digits of a gap that was reached


@dataclass(frozen=True)
class Solution:
    """One problem, solved: its vector, the patterns with multipliers and these, and by what it was solved. ``exact``: a
    vector that separates by less than floats can tell, where needed. ``certificate``: None until it is made."""

    problem: Any
    a: Vector
    index: np.ndarray
    alpha: Vector
    how: str
    exact: Vector | None = None
    certificate: Certificate | None = None
    margins: tuple[float, float] = (np.nan, np.nan)  # directional and geometric


@estimator
class MarginClassifier(ClassWeightMixin, LinearSeparator):
    """Base of `MaxMargin` and `KernelMaxMargin`.

    Subclasses make problems (``patterns``, ``a``, ``alpha``, ``lower``, ``upper``, ``gap``, ``watch``) and solve them.
    """

    C: Annotated[float, POSITIVE_OR_INF] = 1.0
    _: KW_ONLY
    loss: Annotated[str, one_of("squared_hinge", "hinge")] = "squared_hinge"
    fit_intercept: Annotated[bool | str, one_of("unpenalized")] = True
    intercept_scaling: Annotated[float, POSITIVE] = 1.0
    tol: Annotated[float, NOT_NEGATIVE] = 1e-4
    max_time: Annotated[float | None, POSITIVE] = None
    multi_class: str = "ovr"
    n_jobs: int | None = None
    random_state: Annotated[Any, "random_state"] = None

    def _problem(self, patterns: Any, data: Data, threads: int) -> Any:
        raise NotImplementedError

    def _solve(self, problem: Any, data: Data, start: Vector | None = None) -> Solution:
        raise NotImplementedError

    def _solution(self, problem: Any, how: str) -> Solution:
        """The best vector that a problem has seen, and its multipliers; of a hard margin scaled to a margin of 1."""
        raise NotImplementedError

    def _attributes_of(self, patterns: Any, vector: Vector, data: Data, training: Any = None) -> dict[str, Any]:
        plane = super()._attributes_of(patterns, vector, data)
        if data.here:  # empty columns have been left out, where they were many
            plane["coef_"] = patterns.home.in_all_columns(plane["coef_"])
        return plane

    def _measures(self, problem: Any) -> dict[str, Any]:
        """How far a solver is, for callbacks."""
        upper = problem.upper if problem.patterns.definite else np.inf
        return {"upper": upper, "lower": lambda: problem.lower, "gap": problem.gap}

    def _space(self) -> Space:
        """The space in which the soft margin at C is a hard one; with hinge loss one that knows its price."""
        soft = isfinite(self.C)
        hinge = float(self.C) if soft and self.loss == "hinge" else 0.0
        delta = (2.0 * float(self.C)) ** -0.5 if soft and not hinge else 0.0
        if isinstance(self.fit_intercept, str):  # free
            return Space(1.0, delta, True, weighted=soft, hinge=hinge, fixed_length=soft)
        rho = float(self.intercept_scaling) if self.fit_intercept else 0.0
        return Space(rho, delta, weighted=soft, hinge=hinge, fixed_length=soft)

    @fit_method
    def fit(self, X, y=None, sample_weight=None, coef_init=None, intercept_init=None):
        """Fit the maximum margin.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), Dask array or data frame, or a row source
            A row source (``separatrix.data``) holds the labels too, and rows that need not fit into memory.
        y : array-like of shape (n,), Dask array or series, or the name of a column of a Dask data frame
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n,), default=None
            Factors c_k on the price of slack; rows of weight 0 are left out.
        coef_init, intercept_init : array-like, default=None
            A vector near which the solution is expected, from which a solver may start; without a kernel.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight, coef_init=coef_init, intercept_init=intercept_init)

    def _doubt(self, n: int) -> tuple[str, str]:
        undecided = np.isinf(self.C) and any(c.separable is None for c in self.certificates_)
        return (
            f"a gap of {max(np.inf if c.gap is None else c.gap for c in self.certificates_):.1e} > tol={self.tol:g}"
            + (", and whether a hyperplane separates is undecided" if undecided else ""),
            self._advice(n),
        )

    def _results(
        self, data: Data, watch: Watch, before: None, coef_init: Any = None, intercept_init: Any = None
    ) -> list[Result]:
        patterns = self._problems(data, data.weight if self._space().weighted else None)
        threads = 1 if watch.watched else threads_for(self.n_jobs, len(patterns))
        problems = [self._problem(p, data, threads) for p in patterns]

        def look(k: int, problem: Any) -> bool:
            def parts() -> list[dict[str, Any]]:
                return [self._attributes_of(p.patterns, p.a, data) for p in problems]

            return bool(watch.look(k, lambda: self._measures(problem), parts))

        for k, problem in enumerate(problems):
            problem.watch = partial(look, k)
        starts = starting_vectors(patterns[0].space, data, self._mode(data.classes), coef_init, intercept_init)
        solved: dict[int, Solution] = {}

        def task(k: int) -> None:
            start = starts[k]
            near = None if start is None else patterns[k].in_these_columns(start)
            solved[k] = self._solve(problems[k], data, near)
            if problems[k].can_be_measured() or not (out_of_time() or watch.stop.reason):
                solved[k] = self._certified(solved[k], data)

        watch.run_each(task, len(problems), self.n_jobs)
        for problem in problems:
            problem.watch = None  # which knows all problems: a circle would keep the rows in memory after the fit
        solutions = [solved.get(k) or self._solution(p, watch.stop.reason) for k, p in enumerate(problems)]
        return [self._result(s, data, watch.stop.reason) for s in self._in_time(solutions, data)]

    def _in_time(self, solutions: list[Solution], data: Data) -> list[Solution]:
        """After a stop: means of classes stand in for vectors, and when the time is up only little is measured."""
        means: ClassMeans | None = None
        values = sum(s.problem.patterns.n * (s.problem.patterns.d + 1) for s in solutions if s.certificate is None)
        for k, s in enumerate(solutions):
            problem, patterns = s.problem, s.problem.patterns
            if s.certificate is not None or (problem.lower > -np.inf and not out_of_time()):
                continue
            if data.here and not problem.lower > -np.inf:
                means = means or class_means(self, data)
                machine = patterns.n_classes > 2
                a = means.of_machine() if machine else means.against_the_rest(k if data.planes > 1 else 1)
                s = replace(s, a=a)
                if patterns.explicit and values <= VALUES_AFTERWARDS:
                    problem.measure(a)
                    s = self._certified(self._solution(problem, s.how), data)
            solutions[k] = replace(s, certificate=s.certificate or unmeasured(patterns, s.a, data.given_weight))
        return solutions

    def _certified(self, solution: Solution, data: Data) -> Solution:
        """With its certificate and its margins."""
        patterns = solution.problem.patterns
        # out-of-core rows were passed with the vector of the problem, of which this one may be a multiple
        a = solution.a if data.here else solution.problem.a
        measured = measured_multiple(patterns, a) if patterns.explicit and patterns.here else None
        certificate = certify(
            patterns,
            a,
            (solution.index, solution.alpha),
            slack_vector=getattr(solution.problem, "slack_vector", None),
            kept=data.kept,
            sample_weight=data.given_weight,
            measured=measured,
        )
        if solution.exact is not None and certificate.separable is None:
            direction = patterns.in_all_columns(solution.exact)
            certificate = replace(certificate, separable=True, direction=direction)
        return replace(solution, certificate=certificate, margins=self._margins_of(patterns, a, measured))

    def _result(self, solution: Solution, data: Data, stopped: str = "") -> Result:
        s = solution if solution.certificate is not None else self._certified(solution, data)
        assert s.certificate is not None
        limit = "max_passes" if getattr(s.problem, "limited", False) else "stalled"
        why = stopped or ("max_time" if out_of_time() else limit)
        reason = why if stopped == "interrupted" or not self._is_reached(s.certificate) else "converged"
        predicting = self._attributes_of(s.problem.patterns, s.a, data)
        return Result(predicting, reason, s.certificate, s.margins, self._own(s, data))

    def _own(self, solution: Solution, data: Data) -> dict[str, Any]:
        """Attributes of a problem that only some maximum margins have."""
        return {}

    def _attributes(self, results: list[Result], data: Data) -> dict[str, Any]:
        found = super()._attributes(results, data)
        gaps = [np.inf if (value := c.value) is None else value - c.bound for c in found["certificates_"]]
        return {**found, "dual_gap_": gaps[0] if len(gaps) == 1 else np.array(gaps)}

    def _is_reached(self, certificate: Certificate) -> bool:
        gap = certificate.gap
        return gap is not None and gap <= max(self.tol, REACHED)
