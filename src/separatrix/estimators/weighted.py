"""Estimators whose patterns or weights are transformed: fuzzy, Winnow, and the squared-error rules."""

from dataclasses import field
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from separatrix.errors import DataError
from separatrix.estimators._fit.declare import estimator
from separatrix.estimators._fit.online import OnlineClassifier
from separatrix.estimators._fit.rates import RateTable
from separatrix.estimators._fit.work import Facts, Record
from separatrix.estimators.perceptrons import AdditiveClassifier
from separatrix.loops.recursive_least_squares import Triangle
from separatrix.loops.winnow_loop import Sinh
from separatrix.rules.fuzzy import FuzzyRule, fuzzy_weights, membership
from separatrix.rules.lms import LmsRule, TabulatedLmsRule
from separatrix.rules.rls import RlsRule
from separatrix.rules.winnow import WinnowRule
from separatrix.space import Vector
from separatrix.training.base import Training

POSITIVE = Interval(Real, 0, None, closed="neither")


@estimator
class FuzzyPerceptron(AdditiveClassifier):
    """The fuzzy Perceptron: patterns between the two class means count less, the fuzzy ones not at all.

    A pattern at distances d1 and d2 from the mean of its class and of the other one, d apart, has the membership
    ``p = 0.5 + (e^(c (d2 - d1)/d) - e^-c) / (2 (e^c - e^-c))``. It is fuzzy if ``|p - 0.5| <= fuzz``. Update when
    ``a.y <= 0`` and the pattern is not fuzzy: ``a += eta |2p - 1|^m y``. It ends if the patterns that are not fuzzy are
    separable. An equidistant pattern has p = 0.5 + 1/(2(e^c + 1)), 0.634 at c = 1 and 0.503 at
    c = 5, so c and fuzz go together.

    Sample weights multiply the increment and enter the class means.

    Parameters
    ----------
    eta : float, default=1.0
        The increment.
    m : float, default=2.0
        Exponent of the membership: the larger, the less doubtful patterns count.
    fuzz : float, default=0.1
        Patterns with a membership this close to 0.5 are ignored.
    c : float, default=1.0
        How sharply membership falls with distance.
    {shared}
    {delta}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Keller & Hunt, IEEE PAMI 7 (1985); Steiner (2023), algorithm 3.

    Examples
    --------
    >>> from separatrix import FuzzyPerceptron
    >>> X, y = [[0.0], [1.0], [2.6], [1.4], [3.0], [4.0]], [0, 0, 0, 1, 1, 1]
    >>> model = FuzzyPerceptron(fuzz=0.2).fit(X, y)
    >>> model.converged_, model.certificate_.separable
    (True, None)
    """

    eta: float = 1.0
    m: float = 2.0
    fuzz: float = 0.1
    c: float = 1.0

    _parameter_constraints = {
        **AdditiveClassifier._parameter_constraints,
        "eta": [POSITIVE],
        "m": [Interval(Real, 0, None, closed="left")],
        "fuzz": [Interval(Real, 0, 0.5, closed="left")],
        "c": [Interval(Real, 0, 300, closed="right")],
    }
    _no_machine = "compares the means of two classes"

    def _rule(self, facts: Facts) -> Any:
        return FuzzyRule(float(self.eta))

    def _prepare(self, training: Training, record: Record, fresh: bool) -> None:
        """Turn sample weights into weights times |p1 - p2|^m; class sums go on over the blocks of partial_fit."""
        patterns, own = training.patterns, record.own
        labels, width = patterns.labels, patterns.d + 1
        whole = len(training.state.alpha) > 0
        if whole or "sums" not in own:
            own["sums"], own["mass"] = np.zeros((2, width)), np.zeros(2)
        for k, sign in enumerate((-1.0, 1.0)):
            rows = np.flatnonzero(labels == sign)
            own["sums"][k] += sign * patterns.combine(rows, training.weight[rows])
            own["mass"][k] += training.weight[rows].sum()
        if not np.all(own["mass"] > 0):
            raise DataError("FuzzyPerceptron needs rows of both classes in the first block: it compares class means.")
        means = own["sums"] / own["mass"][:, None]
        means[:, -1] = 0.0
        between = float(np.linalg.norm(means[1] - means[0]))
        if not between > 1e-12 * patterns.radius:
            raise DataError("The two classes have the same mean, so no membership can be told from it. Use Perceptron.")
        square = patterns.norms2 - patterns.space.rho**2 - patterns.space.delta**2
        distance = [
            np.sqrt(np.maximum(square - 2.0 * labels * patterns.margins(mean) + mean @ mean, 0.0)) for mean in means
        ]
        positive = labels > 0
        own_mean, other_mean = (
            np.where(positive, distance[1], distance[0]),
            np.where(positive, distance[0], distance[1]),
        )
        p = membership(own_mean, other_mean, between, float(self.c))
        training.weight = training.weight * fuzzy_weights(p, float(self.m), float(self.fuzz))


@estimator
class BalancedWinnow(OnlineClassifier):
    """Balanced Winnow: multiplicative updates, for many features of which few matter.

    Two positive vectors start at ones; update when ``(a+ - a-).y <= 0``: ``a+ *= alpha^y``, ``a- *= alpha^-y``.
    Computed as ``theta += y``, ``w = 2 sinh(ln(alpha) theta)`` with shifted exponents, which never overflow; ``coef_``
    is w up to a positive factor, and |theta| / (number of updates) is the upper bound on the margin.

    Sample weights multiply y in the exponent.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        The base, > 1; no fixed one is safe. "auto": ln alpha = g/X^2 with X = max |y_ki| and a guess g = X, halved and
        started afresh after 2 X^2 ln(2d)/g^2 updates without an end.
    {shared}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Littlestone (1988); Duda, Hart & Stork, algorithm 7.

    Examples
    --------
    >>> from separatrix import BalancedWinnow
    >>> BalancedWinnow().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).certificate_.separable
    True
    """

    alpha: Any = "auto"

    _parameter_constraints = {
        **OnlineClassifier._parameter_constraints,
        "alpha": [Interval(Real, 1, None, closed="neither"), StrOptions({"auto"})],
    }
    _needs_peak = True
    _no_machine = "multiplies the weights of two classes"

    def _rule(self, facts: Facts) -> Any:
        if self.alpha != "auto":
            return WinnowRule(float(np.log(float(self.alpha))))
        return WinnowRule(1.0 / facts.peak, float(np.ceil(2.0 * np.log(2.0 * (facts.d + 1)))))

    def _prepare(self, training: Training, record: Record, fresh: bool) -> None:
        if not isinstance(training.state.memory, Sinh):
            theta = training.state.v  # it holds w where the fit starts from a given one
            training.state = training.state._replace(memory=Sinh(theta.copy(), np.zeros(1)))
            theta[:] = np.arcsinh(0.5 * theta) / training.rule.rate

    def _predicting(self, training: Training) -> Vector:
        return training.state.memory.w.copy()


@estimator
class LMS(OnlineClassifier):
    """LMS, the Widrow-Hoff rule: one step of gradient descent on the squared error (1 - a.y)^2 per presentation.

    ``a += eta(k) (1 - a.y) y`` for every pattern, right or wrong. It approaches the least-squares solution, which need
    not separate separable data (DHS fig. 5.17). It converges when no step of an epoch is longer than ``tol |a|``.

    A sample weight c counts as c repeated steps.

    Parameters
    ----------
    eta : float, "1/k" or callable, default=1.0
        A number, 0 < eta < 2: eta(k) = eta / (R^2 (1 + (k - 1)/n)), k counting presentations, which stays bounded.
        "1/k", the book's choice, diverges on nearly everything that is not scaled to R < 1. Or a function of k.
    tol : float, default=1e-3
        Where steps end to matter.
    {shared}

    Attributes
    ----------
    {attributes}

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
    tol: float = 1e-3

    _parameter_constraints = {
        **OnlineClassifier._parameter_constraints,
        "eta": [Interval(Real, 0, 2, closed="neither"), StrOptions({"1/k"}), callable],
        "tol": [Interval(Real, 0, None, closed="left")],
    }
    _no_machine = "fits targets of two classes"

    def _rule(self, facts: Facts) -> Any:
        if callable(self.eta):
            return TabulatedLmsRule(1.0, np.zeros(0), float(self.tol))
        if self.eta == "1/k":
            return LmsRule(1.0, 1.0, 1.0, float(self.tol))
        return LmsRule(float(self.eta) / facts.radius2, float(facts.n), 1.0, float(self.tol))

    def _prepare(self, training: Training, record: Record, fresh: bool) -> None:
        if callable(self.eta):
            training.table = RateTable(self.eta)

    def _predicting(self, training: Training) -> Vector:
        if not np.all(np.isfinite(training.vector)):
            raise DataError(
                f"LMS diverged after {int(training.state.counts[2])} presentations with eta={self.eta!r}. Scale your "
                "features or use a number for eta, which is divided by R^2."
            )
        return training.vector


@estimator
class RecursiveLeastSquares(OnlineClassifier):
    """Recursive least squares: the ridge solution of Y a = 1, exactly, in one pass.

    ``R <- (R^-1 + c y y^t)^-1``, ``a += c R (1 - a.y) y`` with R_1 = I/ridge, so that after one pass
    ``a = (ridge I + sum c y y^t)^-1 sum c y``. A visit costs (d + 1)^2 operations. The bias is part of the ridge.

    A sample weight c is exact: the same as c copies.

    Parameters
    ----------
    ridge : float, default=1e-3
        The penalty on |a|^2.
    {shared}

    Attributes
    ----------
    {attributes}

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

    _parameter_constraints = {**OnlineClassifier._parameter_constraints, "ridge": [POSITIVE]}
    _complete_after = "max_epochs"
    _no_machine = "fits targets of two classes"

    def _rule(self, facts: Facts) -> Any:
        gigabytes = (facts.d + 1) ** 2 * 8 / 1e9
        if gigabytes > 4:
            raise DataError(
                f"RecursiveLeastSquares keeps a matrix of {facts.d + 1} x {facts.d + 1}, that is {gigabytes:.0f} GB. "
                "Use LMS, which keeps a vector."
            )
        return RlsRule(float(self.ridge))

    def _prepare(self, training: Training, record: Record, fresh: bool) -> None:
        if not isinstance(training.state.memory, Triangle):
            width, root = training.patterns.d + 1, float(np.sqrt(self.ridge))
            memory = Triangle(root * np.eye(width), root * training.state.v, np.zeros(width))
            training.state = training.state._replace(memory=memory)
