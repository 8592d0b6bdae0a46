"""Descent on a criterion over all patterns at once: gradient, Newton, batch Perceptron and batch relaxation."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.errors import DataError
from separatrix.fit.batch import IterativeClassifier, Outcome, row_values
from separatrix.fit.checkpointed import Checkpoint
from separatrix.fit.declare import NOT_NEGATIVE, POSITIVE, between, estimator, one_of
from separatrix.fit.recipe import POWERS, rate_function
from separatrix.fit.result import total
from separatrix.fit.training_data import ClassWeightMixin, Data
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers.batch_descent import METHODS, NEWTON, Descent, PassedDescent, safe_rate
from separatrix.solvers.criteria import (
    Criterion,
    PerceptronCriterion,
    QuadraticCriterion,
    RelaxationCriterion,
    SquaredErrorCriterion,
)
from separatrix.space import Vector

CRITERIA = {
    "perceptron": PerceptronCriterion,
    "quadratic": QuadraticCriterion,
    "relaxation": RelaxationCriterion,
    "squared-error": SquaredErrorCriterion,
}
LARGEST_HESSIAN = 3000  # columns
FEW_PASSES = 100  # of methods whose passes approach their end ever more slowly


@estimator
class BatchPerceptron(ClassWeightMixin, IterativeClassifier):
    """The batch Perceptron: all violated patterns are added at once.

    ``a += eta(k) sum of the y with a.y <= margin``, until there are none: gradient descent on the Perceptron criterion
    J_p. Its path is smoother than that of the single-sample rule, and on separable data it ends for every eta(k) that
    is constant, 1/k or k. If no hyperplane separates it does not end, unless the violated patterns happen to add up to
    0, which proves that; `LinearProgram` finds the minimum of J_p.

    A sample weight c is the same as c copies.

    Parameters
    ----------
    eta : float, "1/k", "k" or callable, default=1.0
        The rate; k counts corrections. A constant one only sets the scale if ``margin`` is 0. A function whose sum
        over k is finite, as 1/k^2, may stop short of every solution (DHS eq. 29).
    theta : float, default=0.0
        The threshold of algorithm 3: a correction ``eta(k) sum y`` shorter than this ends the fit, also where patterns
        are still violated; such a fit counts as converged. 0 goes on until none is.
    until : {"accurate", "separated"}, default="accurate"
        What predicts: "accurate", the vector with the smallest J_p/|a| of all epochs, which is the last one if it
        exceeds the margin; "separated", the last vector, as the algorithm is printed.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    Perceptron : One pattern at a time.
    BatchRelaxation : Steps that grow with the violation.
    GradientDescent : Other criteria, and Newton's method.

    References
    ----------
    Duda, Hart & Stork, algorithms 3 and 6.

    Examples
    --------
    >>> from separatrix import BatchPerceptron
    >>> model = BatchPerceptron().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.certificate_.separable, model.n_updates_
    (True, 4)
    """

    margin: Annotated[float, NOT_NEGATIVE, "The b of ``a.y <= b``."] = 0.0
    eta: Annotated[float | str | Callable, POSITIVE, one_of(*POWERS)] = 1.0
    theta: Annotated[float, NOT_NEGATIVE] = 0.0
    _: KW_ONLY
    until: Annotated[str, one_of("accurate", "separated")] = "accurate"
    max_iter: int = FEW_PASSES
    checkpoint: Checkpoint = None

    _accepts_row_sources = True

    def _has_multipliers(self) -> bool:
        return True

    def _solvers(self, patterns: list[Patterns], data: Data, starts: Sequence[Vector | None]) -> list[Any]:
        criterion, rate = PerceptronCriterion(float(self.margin)), rate_function(self.eta)
        enough = criterion.margin
        return [
            _descent(p, data.weight, criterion, rate, enough=enough, theta=float(self.theta), start=start)
            for p, start in zip(patterns, starts, strict=True)
        ]

    def _answer(self, solver: Descent) -> Vector:
        best, ratio = solver.best
        return best if self.until == "accurate" and ratio < np.inf else solver.a


@estimator
class BatchRelaxation(ClassWeightMixin, IterativeClassifier):
    """Batch relaxation with margin: every violated pattern pulls with its distance from the margin.

    ``a += eta(k) sum over a.y <= margin of (margin - a.y)/|y|^2 y``, gradient descent on J_r. It ends when every
    ``a.y > margin (1 - margin_tol)``, by default when every pattern is on its side. A constant eta has to stay below
    2/lambda_max(sum y y^t/|y|^2), which lies between 2/n and 2; the single-sample rule, `Relaxation`, has no such
    limit.

    A sample weight c is the same as c copies.

    Parameters
    ----------
    eta : float, "1/k", "k", callable or "auto", default="auto"
        The rate; k counts corrections. "auto": 1/lambda_max, half of the limit.
    margin_tol : float, default=1.0
        How far below the margin a pattern may stay, as a fraction. The margin itself is only approached, and slowly.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    Relaxation : One pattern at a time.
    BatchPerceptron : The same step for every violation.
    GradientDescent : Other criteria, and Newton's method.

    References
    ----------
    Duda, Hart & Stork, algorithm 8.

    Examples
    --------
    >>> from separatrix import BatchRelaxation
    >>> BatchRelaxation().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).certificate_.separable
    True
    """

    margin: Annotated[float, POSITIVE, "The b that is to be exceeded. From a = 0 it only sets the scale of a."] = 1.0
    eta: Annotated[float | str | Callable, POSITIVE, one_of("auto", *POWERS)] = "auto"
    margin_tol: Annotated[float, between(0, 1, "both")] = 1.0
    _: KW_ONLY
    max_iter: int = FEW_PASSES
    checkpoint: Checkpoint = None

    _accepts_row_sources = True

    def _has_multipliers(self) -> bool:
        return True

    def _solvers(self, patterns: list[Patterns], data: Data, starts: Sequence[Vector | None]) -> list[Any]:
        criterion = RelaxationCriterion(float(self.margin))
        rate = _rate(self.eta, patterns[0], data.weight, criterion)
        enough = criterion.margin * (1.0 - float(self.margin_tol))
        return [
            _descent(p, data.weight, criterion, rate, enough=enough, start=start)
            for p, start in zip(patterns, starts, strict=True)
        ]


@estimator
class GradientDescent(ClassWeightMixin, IterativeClassifier):
    """Descent on a criterion: by Newton's method, along its gradient, or with the optimal step.

    Nothing penalizes the length of the vector: Newton's method, the default, is two points less accurate than
    scikit-learn's LinearSVC in the mean over eight data sets, and 11 on 145 rows with 60 columns.
    ``method="optimal-step", max_iter=30`` is half a point more accurate.

    ``"gradient"``: ``a -= eta(k) grad J``. ``"optimal-step"``: the same with ``eta = |grad J|^2 / (grad J.H grad J)``,
    which minimises the second-order expansion of J along the gradient. ``"newton"``: ``a -= H^-1 grad J``; where the
    Hessian H is singular (fewer violated patterns than dimensions, or dependent features) the shortest of the steps
    that minimise the expansion is taken, and ``n_singular_`` counts how often; a step that would raise J, which is only
    piecewise quadratic, is halved until it does not. ``"undamped-newton"``: never halved, as algorithm 2 is printed;
    on J_q and J_r it may repeat its vectors for ever. It converges when a step is no longer than ``step_tol |a|`` or
    shorter than ``theta``, or no pattern is violated.

    The criteria, sums over the patterns with ``a.y <= margin`` except for the last:

    - ``"perceptron"``, J_p: ``margin - a.y``; piecewise linear, so it has no Hessian and takes ``"gradient"`` only;
    - ``"quadratic"``, J_q: ``(a.y - margin)^2``;
    - ``"relaxation"``, J_r: ``(a.y - margin)^2 / (2 |y|^2)``;
    - ``"squared-error"``, J_s: ``(a.y - margin)^2`` over all patterns, which `LeastSquares` solves at once.

    A sample weight c is the same as c copies.

    Parameters
    ----------
    criterion : {"perceptron", "quadratic", "relaxation", "squared-error"} or Criterion, default="relaxation"
        What is minimised: a name, or an object of `separatrix.theory` with a margin of its own; a subclass of
        `separatrix.theory.Criterion` with three formulas is a criterion of one's own.
    eta : float, "1/k", "k", callable or "auto", default="auto"
        The rate of ``"gradient"``, as it is; the other methods have none. "auto": 1/lambda_max of the Hessian with
        every pattern violated, half of the largest rate that cannot diverge; J_p, which has none, knows no limit.
    method : {"auto", "gradient", "newton", "optimal-step", "undamped-newton"}, default="auto"
        The procedure. "auto": Newton's method up to 3,000 columns, and the optimal step beyond; the gradient if a rate
        ``eta`` is given, or the criterion has no Hessian.
    theta : float, default=0.0
        The threshold of algorithms 1 and 2: a step shorter than this, whatever the length of a, ends the fit.

    Attributes
    ----------
    {attributes}
    n_singular_ : int
        Newton's steps with a singular Hessian.

    See Also
    --------
    BatchPerceptron : Its Perceptron criterion with rates of one's own.
    BatchRelaxation : Its relaxation criterion.
    LeastSquares : The minimum of the squared error at once.

    References
    ----------
    Duda, Hart & Stork, algorithms 1 and 2, eqs. 12-15.

    Examples
    --------
    >>> from separatrix import GradientDescent
    >>> X, y = [[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]], [1, 1, 0, 0]
    >>> model = GradientDescent("squared-error", method="newton").fit(X, y)
    >>> model.n_updates_, (3 * model.intercept_).round(6).tolist(), (3 * model.coef_).round(6).tolist()
    (2, [11.0], [[-4.0, -2.0]])
    """

    criterion: Annotated[Any, one_of(*CRITERIA), Criterion] = "relaxation"
    eta: Annotated[float | str | Callable, POSITIVE, one_of("auto", *POWERS)] = "auto"
    method: Annotated[str, one_of("auto", *METHODS)] = "auto"
    margin: Annotated[float, NOT_NEGATIVE, "The b of the criterion."] = 1.0
    step_tol: Annotated[float, NOT_NEGATIVE, "Relative length of a step at which to stop."] = 1e-4
    _: KW_ONLY
    theta: Annotated[float, NOT_NEGATIVE] = 0.0
    checkpoint: Checkpoint = None

    _accepts_row_sources = True

    _joins = {**IterativeClassifier._joins, "n_singular_": total}

    def _criterion(self) -> Criterion:
        if isinstance(self.criterion, Criterion):
            return self.criterion
        return CRITERIA[self.criterion](float(self.margin))

    def _procedure(self, features: int) -> str:
        """The method, with "auto" decided."""
        if self.method != "auto":
            return self.method
        if not (isinstance(self.eta, str) and self.eta == "auto" and self._criterion().curved):
            return "gradient"
        return "newton" if features <= LARGEST_HESSIAN else "optimal-step"

    def _has_multipliers(self) -> bool:
        return self._criterion().additive and self._procedure(self.n_features_in_) not in NEWTON

    def _solvers(self, patterns: list[Patterns], data: Data, starts: Sequence[Vector | None]) -> list[Any]:
        criterion, method = self._criterion(), self._procedure(self.n_features_in_)
        if not criterion.curved and method != "gradient":
            raise ValueError(
                f"method={self.method!r} needs a Hessian, and that of {type(criterion).__name__}, which is piecewise "
                'linear, is 0: use method="gradient" or another criterion.'
            )
        if np.ndim(criterion.margin) and not data.here:
            raise DataError("Out-of-core data need one number as margin, not one per row.")
        if method in NEWTON and patterns[0].d > LARGEST_HESSIAN:
            raise DataError(
                f"Newton's method needs a Hessian of {patterns[0].d + 1} x {patterns[0].d + 1}; at most "
                f'{LARGEST_HESSIAN} columns are supported. method="optimal-step" needs only passes over the data.'
            )
        if np.ndim(criterion.margin):
            margin: Any = row_values(criterion.margin, "margin", data, positive=False)
            criterion = replace(criterion, margin=margin)
        if starts[0] is None and not _slopes_at_zero(patterns[0], criterion):
            raise ValueError(
                f"{type(criterion).__name__} without a margin has no slope at a = 0, where the descent begins and "
                "would end: give a margin > 0, or coef_init."
            )
        rate = None
        if method == "gradient":
            rate = _rate(self.eta, patterns[0], data.weight, criterion)
        return [
            _descent(
                p,
                data.weight,
                criterion,
                rate,
                method=method,
                tol=float(self.step_tol),
                theta=float(self.theta),
                enough=float(criterion.margin) if criterion.additive else np.inf,
                start=start,
            )
            for p, start in zip(patterns, starts, strict=True)
        ]

    def _own(self, outcome: Outcome, certificate: Certificate, data: Data) -> dict[str, Any]:
        return {"n_singular_": int(outcome.solver.singular)}


def _descent(patterns: Any, *given: Any, **options: Any) -> Descent:
    return (Descent if patterns.here else PassedDescent)(patterns, *given, **options)


def _slopes_at_zero(patterns: Any, criterion: Criterion) -> bool:
    """Does a pattern pull at a = 0, where all have the margin 0?"""
    if patterns.here:
        return bool(np.any(criterion.slopes(np.zeros(patterns.n), patterns.norms2)))
    return bool(criterion.slopes(np.zeros(1), np.ones(1))[0])


def _rate(eta: Any, patterns: Patterns, weight: Vector, criterion: Criterion) -> Callable[[int], float]:
    """eta(k); the automatic rate does not depend on labels."""
    automatic = isinstance(eta, str) and eta == "auto"
    if automatic and not patterns.here and criterion.curved and patterns.d > LARGEST_HESSIAN:
        raise DataError(f'eta="auto" needs a Hessian of {patterns.d + 1} columns for out-of-core rows: give a rate.')
    return rate_function(safe_rate(patterns, weight, criterion) if automatic else eta)
