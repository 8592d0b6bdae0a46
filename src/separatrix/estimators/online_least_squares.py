"""Squared error, one pattern after the other: LMS by steps along the gradient, recursive least squares exactly."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from functools import partial
from typing import Annotated, Any

import numpy as np

from separatrix.errors import DataError, UnavailableError
from separatrix.fit.batch import row_values
from separatrix.fit.declare import NOT_NEGATIVE, POSITIVE, between, estimator, one_of
from separatrix.fit.online import OnlineClassifier
from separatrix.fit.recipe import RateTable, Recipe, Record
from separatrix.fit.training_data import ClassWeightMixin, Data
from separatrix.online.loops.second_order import Triangle
from separatrix.online.loops.state import UPDATES
from separatrix.online.training import Training
from separatrix.rules.descent import LmsRule, RlsRule, TabulatedLmsRule, TargetLmsRule
from separatrix.space import Vector


@estimator
class LMS(ClassWeightMixin, OnlineClassifier):
    """LMS, the Widrow-Hoff rule: one step of gradient descent on the squared error (b - a.y)^2 per presentation.

    ``a += eta(k) (b - a.y) y`` for every pattern, right or wrong, with targets b of 1 unless others are given. It
    approaches the least-squares solution, which need not separate separable data (DHS fig. 5.17). It converges when no
    step of an epoch is longer than ``step_tol |a|``.

    A sample weight c counts as c repeated steps.

    Parameters
    ----------
    eta : float, "1/k" or callable, default=1.0
        A number, 0 < eta < 2: eta(k) = eta / (R^2 (1 + (k - 1)/n)), k counting presentations, which stays bounded.
        "1/k", the book's choice, diverges on nearly everything that is not scaled to R < 1. Or a function of k.
    target : {"ones", "fisher"} or array-like of shape (n,), default="ones"
        The b of each row, as of `LeastSquares`; an array is for `fit` alone. "fisher": n/n_i of the n_i rows of a
        class, which leads to Fisher's discriminant.

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

    eta: Annotated[float | str | Callable, between(0, 2, "neither"), one_of("1/k")] = 1.0
    step_tol: Annotated[float, NOT_NEGATIVE, "Where steps end to matter."] = 1e-3
    _: KW_ONLY
    target: Annotated[Any, one_of("ones", "fisher"), "array-like"] = "ones"

    _refuses = {"joint": "fits targets of two classes"}

    def _recipe(self, record: Record) -> Recipe:
        tol = float(self.step_tol)
        if callable(self.eta):
            rate = 0.0, 1.0, 0.0
        elif self.eta == "1/k":
            rate = 1.0, 1.0, 1.0
        else:
            rate = float(self.eta) / record.radius2, float(record.n), 1.0
        nothing = np.zeros(0)
        rates = RateTable(self.eta) if callable(self.eta) else None
        if not (isinstance(self.target, str) and self.target == "ones"):
            rule: Any = TargetLmsRule(*rate, tol, 1.0, nothing, nothing, nothing)
            return Recipe(rule, rates=rates, weight=self._with_targets, predicting=self._finite_vector)
        rule = TabulatedLmsRule(1.0, nothing, tol) if callable(self.eta) else LmsRule(*rate, tol)
        return Recipe(rule, rates=rates, predicting=self._finite_vector)

    def _on_rows(self, recipe: Recipe, data: Data) -> Recipe:
        if isinstance(self.target, str):
            return recipe
        targets = row_values(self.target, "target", data, positive=False)
        return recipe._replace(weight=partial(self._with_targets, targets=targets))

    def _with_targets(self, training: Training, own: dict[str, Any], targets: Vector | None = None) -> Vector:
        """Give the rule its tables; the weight of a row is its place there."""
        if isinstance(self.target, str):
            sizes, positive = own.setdefault("sizes", np.zeros(2)), training.patterns.labels > 0
            for k, rows in enumerate((~positive, positive)):
                sizes[k] += training.weight[rows].sum()
            shares = sizes / sizes.sum()
            targets = 1.0 / np.where(shares > 0, shares, 1.0)[positive.astype(int)]
        elif targets is None:
            raise UnavailableError('LMS(target=array) needs all rows at once, in memory: use fit, or target="fisher".')
        training.rule = training.rule._replace(targets=targets, repeats=training.weight)
        return np.arange(float(len(targets)))

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

    It is three points less accurate than scikit-learn's LinearSVC in the mean over nine data sets: targets pull in rows
    that are far on the right side. `MaxMargin` leaves them alone.

    ``R <- (R^-1 + c y y^t)^-1``, ``a += c R (1 - a.y) y`` with R_1 = I/ridge, so that after one pass
    ``a = (ridge I + sum c y y^t)^-1 sum c y``. A visit costs (d + 1)^2 operations. The bias is part of the ridge.

    A sample weight c is exact: the same as c copies.

    Parameters
    ----------
    {parameters}

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

    ridge: Annotated[float, POSITIVE, "The penalty on |a|^2."] = 1e-3
    _: KW_ONLY
    max_iter: int = 1

    _refuses = {"joint": "fits targets of two classes"}

    def _recipe(self, record: Record) -> Recipe:
        gigabytes = (record.d + 1) ** 2 * 8 / 1e9
        if gigabytes > 4:
            raise DataError(
                f"RecursiveLeastSquares keeps a matrix of {record.d + 1} x {record.d + 1}, that is {gigabytes:.0f} GB. "
                "Use LMS, which keeps a vector."
            )
        return Recipe(RlsRule(float(self.ridge)), memory=self._triangle, complete_after="max_iter")

    def _triangle(self, training: Training) -> Triangle:
        width, root = training.patterns.d + 1, float(np.sqrt(self.ridge))
        return Triangle(root * np.eye(width), root * training.state.v, np.zeros(width))
