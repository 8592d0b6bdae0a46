"""Rules whose weights are a steep function of a sum of patterns: for many features of which few matter."""

from dataclasses import KW_ONLY, replace
from typing import Annotated, Any

import numpy as np

from separatrix.fit.declare import between, estimator, one_of
from separatrix.fit.online import OnlineClassifier
from separatrix.fit.recipe import Recipe, Record, averaged
from separatrix.fit.result import joined
from separatrix.fit.training_data import ClassWeightMixin
from separatrix.online.loops.averaging import room_for_a_mean
from separatrix.online.loops.multiplicative import Powers, Sinh
from separatrix.online.training import Training
from separatrix.passes.plain_patterns import Patterns
from separatrix.rules.multiplicative import AlmaPRule, OneSidedWinnowRule, PNormRule, WinnowRule, p_norm_radius
from separatrix.space import Vector


class Peaked(OnlineClassifier):
    """Rules that need max |y_ki|, the largest entry of a pattern."""

    def _record(self, patterns: Patterns) -> Record:
        return replace(super()._record(patterns), peak=patterns.peak())


@estimator
class BalancedWinnow(ClassWeightMixin, Peaked):
    """Balanced Winnow: multiplicative updates, for many features of which few matter.

    Two positive vectors start at ones; update when ``(a+ - a-).y <= 0``: ``a+ *= alpha^y``, ``a- *= alpha^-y``.
    Computed as ``theta += y``, ``w = 2 sinh(ln(alpha) theta)`` with shifted exponents, which never overflow; ``coef_``
    is w up to a positive factor, and |theta| / (number of updates) is the upper bound on the margin.

    Sample weights multiply y in the exponent, so their size matters: it is that of the steps.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        The base, > 1; no fixed one is safe. "auto": ln alpha = g/X^2 with X = max |y_ki| and a guess g = X, halved and
        started afresh after 2 X^2 ln(2d)/g^2 updates without an end.
    corrects : {"both", "own"}, default="both"
        The vectors that a mistake corrects. "both": as algorithm 7 is printed. "own", as the text above it describes:
        one on the positive class corrects a+ alone, ``a+ *= alpha^x``, one on the other class a- alone, with the row
        x as it is. It needs a number for ``alpha``; no theorem bounds its mistakes.

    Attributes
    ----------
    {attributes}
    log_weights_ : ndarray of shape (1 or c, d + 1)
        ln a+ of the two vectors of each problem, the bias last; ln a- is its negative. Their own values may overflow.
        For ``corrects="own"`` half of ln a+ - ln a-.

    See Also
    --------
    PNormPerceptron : Between Winnow and the Perceptron.
    Perceptron : Adds where Winnow multiplies.

    References
    ----------
    Littlestone (1988); Duda, Hart & Stork, algorithm 7.

    Examples
    --------
    >>> from separatrix import BalancedWinnow
    >>> BalancedWinnow().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).certificate_.separable
    True
    """

    alpha: Annotated[float | str, between(1, None, "neither"), one_of("auto")] = "auto"
    _: KW_ONLY
    corrects: Annotated[str, one_of("both", "own")] = "both"

    _joins = {**OnlineClassifier._joins, "log_weights_": joined}
    _refuses = {"joint": "multiplies the weights of two classes"}

    def _recipe(self, record: Record) -> Recipe:
        if self.corrects == "own":
            if self.alpha == "auto":
                raise ValueError('BalancedWinnow: corrects="own" has no automatic alpha. Give a number, such as 1.1.')
            rule: Any = OneSidedWinnowRule(0.5 * float(np.log(float(self.alpha))))
        elif self.alpha != "auto":
            rule = WinnowRule(float(np.log(float(self.alpha))))
        else:
            rule = WinnowRule(1.0 / record.peak, float(np.ceil(2.0 * np.log(2.0 * (record.d + 1)))))
        return Recipe(rule, memory=_exponents, predicting=averaged(_weights))

    def _own(self, training: Training, record: Record) -> dict[str, Any]:
        return {"log_weights_": training.rule.rate * training.state.v[None]}


def _exponents(training: Training) -> Sinh:
    """Where a fit starts from a given w, the vector holds it; the loop wants theta there."""
    theta = training.state.v
    tilt = np.zeros(len(theta) if isinstance(training.rule, OneSidedWinnowRule) else 0)
    memory = Sinh(theta.copy(), np.zeros(1), tilt, room_for_a_mean(len(theta)))
    theta[:] = np.arcsinh(0.5 * theta) / training.rule.rate
    return memory


def _weights(training: Training) -> Vector:
    return np.array(training.state.memory.w)


@estimator
class PNormPerceptron(ClassWeightMixin, Peaked):
    """The p-norm Perceptron: between the Perceptron (p = 2) and Winnow (p about 2 ln d).

    Update when ``w.y <= 0``: ``theta += y``, where ``w_j = sign(theta_j) |theta_j|^(p - 1)`` up to a positive factor.
    It makes at most (p - 1) (max |y|_p / g)^2 updates, g the margin of the best u with |u|_q = 1, 1/p + 1/q = 1: for
    large p the number of features enters by its logarithm alone. ``coef_`` is w with its largest entry +-1, and
    |theta| / (number of updates) is the upper bound on the margin.

    Sample weights multiply y; a common factor of all weights makes no difference.

    Parameters
    ----------
    p : float or "auto", default="auto"
        At least 2. "auto": 2 ln(d + 1), or 2 where that is less.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    Perceptron : The case p = 2.
    BalancedWinnow : Near the case of a large p.

    References
    ----------
    Grove, Littlestone & Schuurmans, General Convergence Results for Linear Discriminant Updates, Machine Learning 43
    (2001); Gentile, The Robustness of the p-Norm Algorithms, Machine Learning 53 (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import Perceptron, PNormPerceptron
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (400, 200))
    >>> y = X[:, 0] + X[:, 1] + X[:, 2] > 0
    >>> PNormPerceptron().fit(X, y).n_updates_ < 0.5 * Perceptron().fit(X, y).n_updates_
    True
    """

    p: Annotated[float | str, between(2, None, "left"), one_of("auto")] = "auto"

    _refuses = {"joint": "has a steep function of the weights of two classes"}

    def _recipe(self, record: Record) -> Recipe:
        return Recipe(PNormRule(_exponent(self.p, record)), memory=_powers, predicting=_scaled_weights)


def _exponent(p: Any, record: Record) -> float:
    return max(2.0, 2.0 * float(np.log(record.d + 1))) if p == "auto" else float(p)


def _scaled_weights(training: Training) -> Vector:
    w = averaged(_weights)(training)
    top = float(np.abs(w).max(initial=0.0))
    return w / top if top > 0 else w


def _powers(training: Training) -> Powers:
    """Where a fit starts from a given w, the vector holds it; the loop wants theta = grad |w|_q^2/2 there."""
    w = training.state.v
    memory, top = Powers(w.copy(), room_for_a_mean(len(w))), float(np.abs(w).max(initial=0.0))
    if top > 0:
        q = training.rule.p / (training.rule.p - 1.0)
        part = np.abs(w) / top
        w[:] = np.sign(w) * top * part ** (q - 1.0) * np.sum(part**q) ** (2.0 / q - 1.0)
    return memory


@estimator
class PNormALMA(Peaked):
    """ALMA_p, the approximate large margin algorithm for other norms: for many features of which few matter.

    Update when ``w.y/X <= (1 - alpha) B sqrt((p - 1)/k)``: ``theta += C/sqrt((p - 1) k) y/X``, where w is the gradient
    of |theta|_p^2/2, that is ``w_j ~ sign(theta_j) |theta_j|^(p - 1)``; then w is divided by |w|_q if that exceeds 1.
    B = sqrt(8)/alpha, C = sqrt(2), 1/p + 1/q = 1; X = max |y_j|^(1 - 2/p) R^(2/p), which no |y|_p exceeds. It ends with
    at least (1 - alpha) of the largest margin that a w with |w|_q = 1 has (`separatrix.bounds.alma`). p = 2 is `ALMA`.

    Sample weights, divided by their mean, multiply the step; that shifts the boundary only weakly. `partial_fit` takes
    them as they are.

    Parameters
    ----------
    alpha : float, default=0.9
        How much of the margin may be missing. The number of updates grows like 1/alpha^2.
    p : float or "auto", default="auto"
        At least 2. "auto": 2 ln(d + 1), or 2 where that is less.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    ALMA : The case p = 2, which also has a soft margin, kernels and machines.
    PNormPerceptron : The same vectors, without a margin.

    References
    ----------
    Gentile, A New Approximate Maximal Margin Classification Algorithm, JMLR 2 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import ALMA, PNormALMA
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], (400, 200))
    >>> y = X[:, 0] + X[:, 1] + X[:, 2] > 0
    >>> PNormALMA().fit(X, y).n_updates_ < 0.5 * ALMA().fit(X, y).n_updates_
    True
    """

    alpha: Annotated[float, between(0, 1, "right")] = 0.9
    p: Annotated[float | str, between(2, None, "left"), one_of("auto")] = "auto"

    _refuses = {"joint": "has a steep function of the weights of two classes"}

    def _recipe(self, record: Record) -> Recipe:
        p = _exponent(self.p, record)
        size = p_norm_radius(record.peak, float(np.sqrt(record.radius2)), p)
        return Recipe(
            AlmaPRule(p, float(self.alpha), size), memory=_powers, relative=True, predicting=averaged(_weights)
        )
