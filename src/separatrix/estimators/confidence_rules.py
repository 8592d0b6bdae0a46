"""Rules that keep a covariance beside the vector: directions seen often are corrected less."""

from dataclasses import KW_ONLY
from operator import attrgetter
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import ndtri

from separatrix.errors import DataError
from separatrix.fit.declare import POSITIVE, POSITIVE_OR_INF, between, estimator, one_of
from separatrix.fit.online import OnlineClassifier
from separatrix.fit.recipe import Recipe, Record, averaged
from separatrix.fit.training_data import ClassWeightMixin
from separatrix.online.loops.averaging import room_for_a_mean
from separatrix.online.loops.second_order import Covariance, Variances
from separatrix.online.training import Training
from separatrix.rules.confidence import ArowRule, ScwRule

MOST_COLUMNS = 512  # with the intercept: a triangle of 2 MB, which a visit reads as a whole, stays in a core's cache


@estimator
class ConfidenceClassifier(ClassWeightMixin, OnlineClassifier):
    """Base of the rules with a covariance S: the mean a predicts."""

    _: KW_ONLY
    covariance: Annotated[str, one_of("auto", "full", "diagonal")] = "auto"

    _refuses = {"joint": "keeps a covariance of the weights of two classes"}
    _averaging: ClassVar[str] = "none"  # the last steps are small: their vector is nearly a mean
    _epochs = 2  # a third one changes no score by a tenth of a point

    def _rule(self) -> Any:
        raise NotImplementedError

    def _recipe(self, record: Record) -> Recipe:
        gigabytes = (record.d + 1) ** 2 * 8 / 1e9
        if self.covariance == "full" and gigabytes > 4:
            raise DataError(
                f'{type(self).__name__}(covariance="full") keeps a matrix of {record.d + 1} x {record.d + 1}, that is '
                f'{gigabytes:.0f} GB. Use covariance="diagonal", which keeps a vector.'
            )
        predicting = averaged(attrgetter("vector"))
        return Recipe(self._rule(), memory=self._identity, predicting=predicting, averaging=self._averaging)

    def _identity(self, training: Training) -> Any:
        width = training.patterns.d + 1
        mean = room_for_a_mean(width)
        if self.covariance == "full" or (self.covariance == "auto" and width <= MOST_COLUMNS):
            return Covariance(np.eye(width), np.zeros(width), np.zeros(width), mean)
        return Variances(np.ones(width), np.zeros(width), mean)


@estimator
class SecondOrderPerceptron(ConfidenceClassifier):
    """The second-order Perceptron: the Perceptron on whitened patterns, whitened by the mistakes so far.

    Update when ``a.y <= 0``: ``V += y``, ``A += y y^t``, ``a = A^-1 V`` with A_1 = ``ridge`` I. That is least squares
    over the mistakes alone, with targets 1. It makes few mistakes where the patterns lie along few directions; with a
    large ridge it is the Perceptron. A correction costs (d + 1)^2 operations.

    A sample weight c enters V and A c times, so that a common factor of all weights changes what ``ridge`` is worth.

    Parameters
    ----------
    covariance : {"auto", "full", "diagonal"}, default="auto"
        All of A, or its diagonal alone: a += (1 - a.y)/(1 + v) A^-1 y with v = y.A^-1 y before the correction. "auto":
        all of it up to 511 columns.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    AROW : Corrects small margins too.
    Perceptron : Without a covariance.

    References
    ----------
    Cesa-Bianchi, Conconi & Gentile, A Second-Order Perceptron Algorithm, SIAM Journal on Computing 34 (2005).

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import Perceptron, SecondOrderPerceptron
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2)) @ [[10.0, 9.9], [0.0, 1.0]]
    >>> y = X[:, 1] > X[:, 0]
    >>> SecondOrderPerceptron().fit(X, y).n_updates_ < 0.1 * Perceptron().fit(X, y).n_updates_
    True
    """

    ridge: Annotated[float, POSITIVE, "The multiple a of the identity in A_1. It has the unit of |y|^2."] = 1.0

    _averaging = "visits"

    def _rule(self) -> Any:
        return ArowRule(0.0, float(self.ridge))


@estimator
class AROW(ConfidenceClassifier):
    """AROW, adaptive regularisation of weights: a normal distribution of separators, mean a and covariance S.

    Update when ``a.y <= 1 - margin_tol``: ``a += (1 - a.y)/(v + r) S y``, ``S -= S y y^t S/(v + r)``, v = y.S y, from
    S_1 = I.
    Directions that were seen often have a small variance and are corrected less, so that a single wrong label does
    little. The papers show each row once; a few epochs do no harm.

    A sample weight divides r, so that also a common factor of all weights matters.

    Parameters
    ----------
    r : float, default=1.0
        How much a pattern is distrusted: the larger, the smaller the corrections. It has the unit of |y|^2.
    covariance : {"auto", "full", "diagonal"}, default="auto"
        All of S, or the diagonal of its inverse alone: for many features, and sparse ones. "auto": all of S up to 511
        columns.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SCW : A confidence that is asked for, instead of a ridge.
    SecondOrderPerceptron : The same covariance, corrections on mistakes alone.
    PassiveAggressive : Corrections without a covariance.

    References
    ----------
    Crammer, Kulesza & Dredze, Adaptive Regularization of Weight Vectors, NIPS 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from separatrix import AROW
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> AROW().fit(scale(X), y).score(scale(X), y) > 0.97
    True
    """

    r: Annotated[float, POSITIVE] = 1.0
    margin_tol: Annotated[float, between(0, 1, "left"), "How far below 1 a margin may stay."] = 1e-3

    def _rule(self) -> Any:
        return ArowRule(1.0 - float(self.margin_tol), float(self.r))


@estimator
class SCW(ConfidenceClassifier):
    """Soft confidence-weighted learning I and II: each row is to be right with a given probability under N(a, S).

    Update when ``a.y <= phi sqrt(v) (1 - margin_tol)``, v = y.S y: to the nearest normal distribution, in relative
    entropy, with a.y >= phi sqrt(v), tempered by C as in `PassiveAggressive`. ``a += g S y``,
    ``S^-1 += g phi/sqrt(u) y y^t``, from S_1 = I; g and u are in `separatrix.rules.ScwRule`. Unlike AROW it asks for a
    smaller margin where the variance is small.

    A sample weight multiplies C, so that also a common factor of all weights matters.

    Parameters
    ----------
    confidence : float, default=0.9
        The probability, above 1/2; phi is its quantile, Phi^-1(confidence). The paper calls it eta.
    margin_tol : float, default=1e-3
        How far below phi sqrt(v) a margin may stay, as a fraction.
    covariance : {"auto", "full", "diagonal"}, default="auto"
        All of S, or the diagonal of its inverse alone: for many features, and sparse ones. "auto": all of S up to 511
        columns.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    AROW : A ridge instead of a confidence that is asked for.
    PassiveAggressive : Corrections without a covariance.

    References
    ----------
    Wang, Zhao & Hoi, Exact Soft Confidence-Weighted Learning, ICML 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from separatrix import SCW
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SCW(C=0.1).fit(scale(X), y).score(scale(X), y) > 0.97
    True
    """

    confidence: Annotated[float, between(0.5, 1, "neither")] = 0.9
    C: Annotated[float, POSITIVE_OR_INF, "Aggressiveness; inf is confidence-weighted learning without softness."] = 1.0
    variant: Annotated[str, one_of("I", "II"), "A cap on the step, or a softer step."] = "I"
    margin_tol: Annotated[float, between(0, 1, "left")] = 1e-3

    def _rule(self) -> Any:
        phi, C, tol = float(ndtri(self.confidence)), float(self.C), float(self.margin_tol)
        return ScwRule(phi, C, 0.0, tol) if self.variant == "I" else ScwRule(phi, np.inf, 0.5 / C, tol)
