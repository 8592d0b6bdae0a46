"""Squared error, one pattern after the other: LMS by steps along the gradient, recursive least squares exactly."""

from dataclasses import field
from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.estimators._fit.class_weight import CLASS_WEIGHT, ClassWeightMixin
from separatrix.estimators._fit.declare import estimator
from separatrix.estimators._fit.former_names import FORMER_TOL, FormerTolMixin
from separatrix.estimators._fit.online import OnlineClassifier
from separatrix.estimators._fit.rates import RateTable
from separatrix.estimators._fit.recipe import Recipe, Record
from separatrix.estimators.sklearn_api import NOT_NEGATIVE, POSITIVE, between, one_of
from separatrix.loops.recursive_least_squares import Triangle
from separatrix.loops.state import UPDATES
from separatrix.rules.lms import LmsRule, TabulatedLmsRule
from separatrix.rules.rls import RlsRule
from separatrix.space import Vector
from separatrix.training.base import Training


@estimator
class LMS(FormerTolMixin, ClassWeightMixin, OnlineClassifier):
    """LMS, the Widrow-Hoff rule: one step of gradient descent on the squared error (1 - a.y)^2 per presentation.

    ``a += eta(k) (1 - a.y) y`` for every pattern, right or wrong. It approaches the least-squares solution, which need
    not separate separable data (DHS fig. 5.17). It converges when no step of an epoch is longer than ``step_tol |a|``.

    A sample weight c counts as c repeated steps.

    Parameters
    ----------
    eta : float, "1/k" or callable, default=1.0
        A number, 0 < eta < 2: eta(k) = eta / (R^2 (1 + (k - 1)/n)), k counting presentations, which stays bounded.
        "1/k", the book's choice, diverges on nearly everything that is not scaled to R < 1. Or a function of k.
    step_tol : float, default=1e-3
        Where steps end to matter.
    {tol is step_tol}
    {class_weight}
    {shared}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RecursiveLeastSquares : The exact solution in one pass.
    LeastSquares : All rows at once.

    References
    ----------
    Widrow & Hoff (1960); Duda, Hart & Stork, algorithm 10.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from separatrix import LMS
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> LMS().fit(scale(X), y).score(scale(X), y) > 0.95
    True
    """

    eta: Any = 1.0
    step_tol: float = 1e-3

    _former_names = {"tol": "step_tol"}
    _parameter_constraints = {
        **OnlineClassifier._parameter_constraints,
        **CLASS_WEIGHT,
        "eta": [between(0, 2, "neither"), one_of("1/k"), callable],
        "step_tol": [NOT_NEGATIVE],
        **FORMER_TOL,
    }
    _refuses = {"kesler": "fits targets of two classes"}

    def _recipe(self, record: Record) -> Recipe:
        tol = self._under_either_name()
        if callable(self.eta):
            rule: Any = TabulatedLmsRule(1.0, np.zeros(0), tol)
        elif self.eta == "1/k":
            rule = LmsRule(1.0, 1.0, 1.0, tol)
        else:
            rule = LmsRule(float(self.eta) / record.radius2, float(record.n), 1.0, tol)
        rates = RateTable(self.eta) if callable(self.eta) else None
        return Recipe(rule, rates=rates, predicting=self._finite_vector)

    def _finite_vector(self, training: Training) -> Vector:
        if not np.all(np.isfinite(training.vector)):
            shown = int(training.state.counts[UPDATES])
            raise DataError(
                f"LMS diverged after {shown} presentations with eta={self.eta!r}. Scale your "
                "features or use a number for eta, which is divided by R^2."
            )
        return training.vector


@estimator
class RecursiveLeastSquares(ClassWeightMixin, OnlineClassifier):
    """Recursive least squares: the ridge solution of Y a = 1, exactly, in one pass.

    ``R <- (R^-1 + c y y^t)^-1``, ``a += c R (1 - a.y) y`` with R_1 = I/ridge, so that after one pass
    ``a = (ridge I + sum c y y^t)^-1 sum c y``. A visit costs (d + 1)^2 operations. The bias is part of the ridge.

    A sample weight c is exact: the same as c copies.

    Parameters
    ----------
    ridge : float, default=1e-3
        The penalty on |a|^2.
    {class_weight}
    {shared}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LMS : Steps that cost d instead of d^2.
    LeastSquares : All rows at once.
    SecondOrderPerceptron : The same on mistakes alone.

    References
    ----------
    Duda, Hart & Stork, eqs. 71-73.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import RecursiveLeastSquares
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    >>> model = RecursiveLeastSquares(ridge=0.5).fit(X, y)
    >>> Y = np.column_stack([X, np.ones(4)])
    >>> a = np.linalg.solve(0.5 * np.eye(2) + Y.T @ Y, Y.T @ y)
    >>> bool(np.allclose([model.coef_[0, 0], model.intercept_[0]], a))
    True
    """

    ridge: float = 1e-3
    max_epochs: int = field(default=1, kw_only=True)

    _parameter_constraints = {
        **OnlineClassifier._parameter_constraints,
        **CLASS_WEIGHT,
        "ridge": [POSITIVE],
    }
    _refuses = {"kesler": "fits targets of two classes"}

    def _recipe(self, record: Record) -> Recipe:
        gigabytes = (record.d + 1) ** 2 * 8 / 1e9
        if gigabytes > 4:
            raise DataError(
                f"RecursiveLeastSquares keeps a matrix of {record.d + 1} x {record.d + 1}, that is {gigabytes:.0f} GB. "
                "Use LMS, which keeps a vector."
            )
        return Recipe(RlsRule(float(self.ridge)), memory=self._triangle, complete_after="max_epochs")

    def _triangle(self, training: Training) -> Triangle:
        width, root = training.patterns.d + 1, float(np.sqrt(self.ridge))
        return Triangle(root * np.eye(width), root * training.state.v, np.zeros(width))
